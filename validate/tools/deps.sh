#!/bin/sh
# deps.sh - what the build needs: finds it, says what is missing, and on Debian installs it when root runs it.
#
#   deps.sh cflags | libs   compiler or linker flags of the libraries (pkg-config where it knows them)
#   deps.sh need            silent when all is there; else installs it, or prints the one command to run and fails
#   deps.sh dev             the same for what `make nightly` needs on top
#   deps.sh plot            the same for rsvg-convert, without which `npusim plot` draws SVG alone: never fails
#   deps.sh docs            the same for what tests of the manual page and of completion use: mandoc, groff, bash, zsh,
#                           fish; of results: sqlite3
#   deps.sh cluster         the same for Slurm and Open MPI, with which `make gate` tests configs/cluster: never fails
#   deps.sh python          the same for what tests of results/python use: never fails
#   deps.sh deb             the same for what makes Debian packages; fails without
#   deps.sh live            the same for what `make live` compiles to WebAssembly with; fails without
#   deps.sh page            the same for npm, without which all but `npusim report` and `npusim plot` works: never fails
#   deps.sh browser         the same for npm and the browser that the report's page is tested in; fails without
#   deps.sh fuzz            fails, and says why, when there is no clang with libFuzzer
#   deps.sh list            what was found
#
# CC names the compiler to probe with (default cc).
set -eu

CC=${CC:-cc}
PKG_CONFIG=${PKG_CONFIG:-pkg-config}

# name : header : pkg-config module : fallback : package in Debian : Fedora : Alpine : Arch, Homebrew
LIBRARIES="
libyaml:yaml.h:yaml-0.1:-lyaml:libyaml-dev:libyaml-devel:yaml-dev:libyaml
sqlite3:sqlite3.h:sqlite3:-lsqlite3:libsqlite3-dev:sqlite-devel:sqlite-dev:sqlite
yajl:yajl/yajl_parse.h:yajl:-lyajl:libyajl-dev:yajl-devel:yajl-dev:yajl
zlib:zlib.h:zlib:-lz:zlib1g-dev:zlib-devel:zlib-dev:zlib
nlopt:nlopt.h:nlopt:-lnlopt:libnlopt-dev:NLopt-devel:nlopt-dev:nlopt
"

say() { printf '%s\n' "$*" >&2; }
field() { printf '%s\n' "$1" | cut -d: -f"$2"; }
have() { command -v "$1" >/dev/null 2>&1; }

lib_cflags() { $PKG_CONFIG --cflags "$(field "$1" 3)" 2>/dev/null || :; }
lib_libs() { $PKG_CONFIG --libs "$(field "$1" 3)" 2>/dev/null || field "$1" 4; }

all_cflags() { for l in $LIBRARIES; do lib_cflags "$l"; done | tr '\n' ' '; }
all_libs() { for l in $LIBRARIES; do lib_libs "$l"; done | tr '\n' ' '; }

# compiles LIBRARY...: can a program with these headers be compiled and linked?
compiles() {
	dir=$(mktemp -d)
	echo '#include <stdio.h>' >"$dir/probe.c"
	flags='' libs=''
	for l in "$@"; do
		printf '#include <%s>\n' "$(field "$l" 2)" >>"$dir/probe.c"
		flags="$flags $(lib_cflags "$l")"
		libs="$libs $(lib_libs "$l")"
	done
	echo 'int main(void) { return puts("") < 0; }' >>"$dir/probe.c"
	# shellcheck disable=SC2086
	if $CC ${CPPFLAGS:-} ${CFLAGS:-} $flags -o "$dir/probe" "$dir/probe.c" ${LDFLAGS:-} $libs >/dev/null 2>&1; then rc=0; else rc=1; fi
	rm -rf "$dir"
	return $rc
}

# Without a compiler only the place of the header can be looked at.
library_there() {
	if [ "$cc_works" = yes ]; then compiles "$1"; return; fi
	for dir in /usr/include /usr/include/*-linux-* /usr/local/include; do
		[ -f "$dir/$(field "$1" 2)" ] && return 0
	done
	return 1
}

# Fills `missing`, for people, and `wanted`: rows of LIBRARIES, and "cc".
probe() {
	missing='' wanted='' cc_works=no
	# shellcheck disable=SC2086
	compiles $LIBRARIES && return
	if compiles; then cc_works=yes; else missing="a working C compiler (CC=$CC)" wanted=cc; fi
	for l in $LIBRARIES; do
		library_there "$l" && continue
		missing="${missing:+$missing, }$(field "$l" 1) ($(field "$l" 2))"
		wanted="${wanted:+$wanted }$l"
	done
}

# packages COLUMN: names of what is wanted, of the column's distribution
packages() {
	for w in $wanted; do
		case $w in
		cc) compiler_packages "$1" ;;
		*) field "$w" "$1" ;;
		esac
	done | tr '\n' ' '
}

compiler_packages() {
	name=$(basename "${CC%% *}")
	[ "$name" = cc ] && name=gcc
	case $1 in
	5) echo "$name libc6-dev" ;;
	7) echo "$name musl-dev" ;;
	*) echo "$name" ;;
	esac
}

# Which command installs what is wanted here; empty where no package manager is known.
command_for() {
	if have apt-get; then echo "apt-get install -y $(packages 5)pkg-config make"
	elif have dnf; then echo "dnf install -y $(packages 6)pkgconf make"
	elif have apk; then echo "apk add $(packages 7)pkgconf make"
	elif have pacman; then echo "pacman -S --needed $(packages 8)pkgconf make"
	elif have brew; then echo "brew install $(packages 8)pkgconf"
	fi
}

# apt PACKAGES...: quiet unless it fails
apt() {
	log=$(mktemp)
	if { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } >"$log" 2>&1 </dev/null; then
		rm -f "$log"
		return 0
	fi
	cat "$log" >&2
	rm -f "$log"
	return 1
}

need() {
	probe
	[ -n "$missing" ] || return 0
	say "missing: $missing"
	cmd=$(command_for)
	if have apt-get && [ "$(id -u)" = 0 ]; then
		say "installing (root on Debian): $cmd"
		# shellcheck disable=SC2046
		apt $(packages 5) pkg-config make || { say "that failed; see above"; return 1; }
		probe
		[ -z "$missing" ] && return 0
		say "still missing after the installation: $missing"
	elif [ -n "$cmd" ]; then
		sudo=sudo
		case $cmd in brew*) sudo='' ;; esac
		say "install it with: ${sudo:+$sudo }$cmd"
	else
		say "install the development files of libyaml, sqlite3, yajl, zlib and nlopt, a C11 compiler and pkg-config (on Debian:"
		say "  apt-get install gcc libc6-dev make pkg-config libyaml-dev libsqlite3-dev libyajl-dev zlib1g-dev libnlopt-dev)"
	fi
	return 1
}

clang_works() {
	dir=$(mktemp -d)
	echo '#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) { return p && n > 9 ? 0 : 0; }' >"$dir/probe.c"
	if clang -fsanitize=fuzzer,address,undefined -o "$dir/probe" "$dir/probe.c" >/dev/null 2>&1; then rc=0; else rc=1; fi
	rm -rf "$dir"
	return $rc
}

# Fills `what` and `want` with what nightly lacks.
probe_dev() {
	want='' what=''
	have gcc || { want="gcc libc6-dev" what="gcc"; }
	clang_works || { want="${want:+$want }clang libclang-rt-dev" what="${what:+$what, }clang with sanitizers and libFuzzer"; }
	valgrind -q true >/dev/null 2>&1 || { want="${want:+$want }valgrind libc6-dbg" what="${what:+$what, }valgrind"; }
}

dev() {
	probe_dev
	[ -n "$want" ] || return 0
	say "missing: $what"
	if have apt-get && [ "$(id -u)" = 0 ]; then
		say "installing (root on Debian): apt-get install -y $want"
		# shellcheck disable=SC2086
		apt $want || return 1
		probe_dev
		[ -n "$want" ] || return 0
		say "still missing after the installation: $what"
	elif have apt-get; then
		say "install it with: sudo apt-get install -y $want"
	else
		say "install gcc, clang with its compiler-rt (sanitizers, libFuzzer), and valgrind"
	fi
	return 1
}

plot() {
	have rsvg-convert && return 0
	if have apt-get && [ "$(id -u)" = 0 ]; then
		say "installing (root on Debian): apt-get install -y librsvg2-bin fonts-dejavu-core"
		apt librsvg2-bin fonts-dejavu-core && return 0
	fi
	say "'npusim plot' makes PNG and PDF with rsvg-convert, which is not here; on Debian: sudo apt-get install librsvg2-bin"
}

docs() {
	want=''
	for p in mandoc groff bash zsh fish sqlite3; do have $p || want="${want:+$want }$p"; done
	[ -n "$want" ] || return 0
	if have apt-get && [ "$(id -u)" = 0 ]; then
		say "installing (root on Debian): apt-get install -y $want"
		# shellcheck disable=SC2086
		apt $want && return 0
	fi
	say "tests of the manual page and of completion use these, which are not here: $want"
}

cluster() {
	miss=$(PATH=$PATH:/usr/sbin; for p in slurmctld slurmd sbatch munged mpirun; do have $p || echo $p; done | tr '\n' ' ')
	[ -n "$miss" ] || return 0
	set -- slurmctld slurmd slurm-client munge openmpi-bin
	if have apt-get && [ "$(id -u)" = 0 ]; then
		say "installing (root on Debian): apt-get install -y $*"
		apt "$@" && return 0
	fi
	say "the launchers of configs/cluster are tested where there is ${miss% }; on Debian: sudo apt-get install $*"
}

# Debian's own Python alone: packages are for that one.
python() {
	[ -x /usr/bin/python3 ] && /usr/bin/python3 -c 'import nlopt, numpy, pandas, pip, setuptools, wheel' 2>/dev/null && return 0
	set -- python3 python3-nlopt python3-numpy python3-pandas python3-pip python3-setuptools python3-wheel
	if have apt-get && [ "$(id -u)" = 0 ]; then
		say "installing (root on Debian): apt-get install -y $*"
		apt "$@" && return 0
	fi
	say "tests of results/python run as far as there is Python; on Debian: sudo apt-get install $*"
}

deb() {
	have dpkg-buildpackage && have dh && return 0
	if have apt-get && [ "$(id -u)" = 0 ]; then
		say "installing (root on Debian): apt-get install -y debhelper dpkg-dev"
		apt debhelper dpkg-dev && return 0
	fi
	say "Debian packages are made with debhelper and dpkg-dev, which are not here: sudo apt-get install debhelper dpkg-dev"
	return 1
}

live_works() {
	dir=$(mktemp -d)
	printf '#include <stdlib.h>\nvoid *f(void);\nvoid *f(void) { return malloc(9); }\n' >"$dir/probe.c"
	if "${CLANG:-clang}" --target=wasm32-wasi -mexec-model=reactor -o "$dir/probe" "$dir/probe.c" >/dev/null 2>&1; then rc=0; else rc=1; fi
	rm -rf "$dir"
	return $rc
}

live() {
	live_works && return 0
	if have apt-get && [ "$(id -u)" = 0 ]; then
		set -- clang lld wasi-libc "libclang-rt-$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)-dev-wasm32"
		say "installing (root on Debian): apt-get install -y $*"
		apt "$@" && live_works && return 0
	fi
	say "the library as WebAssembly is made with clang, wasm-ld, wasi-libc and clang's builtins for wasm32, which are not here;"
	say "on Debian: sudo apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32 (of your clang's version)"
	return 1
}

have_npm() { have node && have npm; }

page() {
	have_npm && return 0
	if have apt-get && [ "$(id -u)" = 0 ]; then
		say "installing (root on Debian): apt-get install -y nodejs npm"
		apt nodejs npm && have_npm && return 0
	fi
	say "'npusim report' and 'npusim plot' need npm when they are built, which is not here; on Debian: sudo apt-get install nodejs npm"
}

browser() {
	page
	have_npm || return 1
	have chromium && return 0
	if have apt-get && [ "$(id -u)" = 0 ]; then
		say "installing (root on Debian): apt-get install -y chromium fonts-dejavu-core"
		apt chromium fonts-dejavu-core && have chromium && return 0
	fi
	say "the test of the report's page needs the browser chromium, which is not here; on Debian: sudo apt-get install chromium"
	return 1
}

fuzz() {
	clang_works && return 0
	say "libFuzzer needs clang with its compiler-rt (make deps-dev gets it on Debian); using the standalone mutator instead"
	return 1
}

list() {
	for l in $LIBRARIES; do
		if compiles "$l"; then
			printf '  %-8s %s\n' "$(field "$l" 1)" "$($PKG_CONFIG --modversion "$(field "$l" 3)" 2>/dev/null || echo found)"
		fi
	done
	have rsvg-convert && printf '  %-8s %s\n' rsvg "$(rsvg-convert --version)"
	have_npm && printf '  %-8s %s\n' npm "$(npm --version 2>/dev/null), node $(node --version)"
	printf '  %-8s %s\n' "$CC" "$($CC --version 2>/dev/null | head -n 1)"
}

case ${1-} in
cflags) all_cflags ;;
libs) all_libs ;;
need) need ;;
dev) dev ;;
plot) plot ;;
page) page ;;
browser) browser ;;
docs) docs ;;
cluster) cluster ;;
python) python ;;
deb) deb ;;
live) live ;;
fuzz) fuzz ;;
list) list ;;
*) say "usage: deps.sh cflags | libs | need | dev | plot | page | browser | docs | cluster | python | deb | live | fuzz | list"; exit 2 ;;
esac
