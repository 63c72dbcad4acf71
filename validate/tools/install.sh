#!/bin/sh
# install.sh BUILD - installs BUILD/release into a folder and uses it as a stranger would: the program away from the tree, the
# completion in bash, the library by pkg-config. The folder's name has a blank and a quote.
#
# From the Makefile: PREFIX, REPORT (the page's folder), CC, MAKE_COMMAND.
set -u

[ $# = 1 ] || { echo "usage: install.sh BUILD" >&2; exit 2; }
: "${PREFIX:?}" "${REPORT:?}" "${MAKE_COMMAND:?}"
fail() { echo "install: $*"; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
dest="$work/it's there"
there=$dest$PREFIX
# It builds in a copy: whatever make finds out of date there, nothing is built anew under the feet of the other steps.
own=$work/build
mkdir "$own" "$dest" && cp -Rp "$1/release" "$own/release" || exit 1
# The variables of the outer make hold here too; its job server does not.
MAKEFLAGS=$(printf '%s\n' "${MAKEFLAGS-}" | sed 's/-j[0-9]*//; s/--jobserver-[a-z]*=[^ ]*//') \
	"$MAKE_COMMAND" -s --no-print-directory BUILD="$own" REPORT="$REPORT" PROFILE=release DEPS=ok DESTDIR="$dest" install || fail "make install"
(cd / && "$there/bin/npusim" --version) || fail "the program does not start"
for f in configs/npu/dsocr.yaml traces/h200/kineto_dsocr_b1_c1024.json.gz; do
	cmp "$f" "$there/share/npusim/$f" || exit 1
done
# Its own data and no tree's: a memory that is only there.
cp configs/dram/hbm3-6400.yaml "$there/share/npusim/configs/dram/of-the-installed.yaml" || exit 1
(cd / && "$there/bin/npusim" config show "$there/share/npusim/configs/npu/dsocr.yaml" --set dram.kind=of-the-installed |
	grep -q of-the-installed) || fail "the installed program does not find its configurations"
"$there/bin/npusim" man | cmp - "$there/share/man/man1/npusim.1" || exit 1
for f in $(sed -n 's/^NPUSIM_API .*[ *]\(npusim_[a-z_]*\)(.*/\1/p' sim/npusim.h); do
	grep -q "$f" "$there/share/man/man3/npusim.3" || fail "npusim.3 does not describe $f"
done
for f in README.md results/schema.md; do cmp "$f" "$there/share/doc/npusim/$f" || exit 1; done # man names the second
if command -v bash >/dev/null 2>&1; then
	# As bash-completion does it: the file named like the command is sourced.
	[ "$(cd / && PATH=$there/bin:$PATH bash -c '. "$1"; COMP_WORDS=(npusim par); COMP_CWORD=1; _npusim; echo "${COMPREPLY[@]}"' \
		- "$there/share/bash-completion/completions/npusim")" = pareto ] || fail "the installed completion does not complete"
fi
command -v pkg-config >/dev/null 2>&1 || { echo "not run: no pkg-config to link with"; exit 0; }
CC=${CC:-cc} sh validate/tools/api.sh "$dest" "$PREFIX" "$(readlink "$there/lib/libnpusim.so")"
