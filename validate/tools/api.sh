#!/bin/sh
# api.sh ROOT PREFIX LIBRARY - holds the installed library to what sim/npusim.h says: it exports npusim_* alone, asks the C library
# for nothing that ends, forks or prints, and the examples, built by pkg-config against the installed tree (shared, then static),
# print the figures of the installed program. ROOT: a DESTDIR. LIBRARY: the shared one's file name.
# One line a step; exit 1 where one fails.
set -u

[ $# = 3 ] || { echo "usage: api.sh ROOT PREFIX LIBRARY" >&2; exit 2; }
root=$1 there=$1$2
so=$there/lib/$3
CC=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

say() { # NAME RC
	if [ "$2" = 0 ]; then echo "$1 ok"; else echo "$1 FAILED"; failed=1; fi
}

nm -D --defined-only "$so" | awk '$2 != "A" { sub(/@.*/, "", $3); if ($3 !~ /^npusim_[a-z_]+$/) { print "exports " $3; bad = 1 } else n++ }
	END { exit bad || !n }'
say "shared library: npusim_* alone" $?
sed -n 's/^NPUSIM_API .*[ *]\(npusim_[a-z_]*\)[^a-z_ *;].*/\1/p' "$there/include/npusim.h" | sort >"$work/said"
nm -D --defined-only "$so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort | cmp -s - "$work/said"
say "shared library: what the header says" $?
nm --defined-only -g "$there/lib/libnpusim.a" 2>/dev/null | awk 'NF == 3 { if ($3 !~ /^npusim_[a-z_]+$/) { print "exports " $3; bad = 1 } else n++ }
	END { exit bad || !n }'
say "static library: npusim_* alone" $?
# What ends or forks a process, changes what is the process's, or prints.
nm -D --undefined-only "$so" | awk '{ sub(/@.*/, "", $NF); print $NF }' |
	grep -E '^(_?_?(exit|_exit|quick_exit)|abort|__assert_fail|v?fork|exec[a-z]*|posix_spawnp?|system|popen|kill|raise|signal|sigaction|alarm|umask|getenv|secure_getenv|setenv|unsetenv|putenv|setlocale|chdir|(__)?v?f?printf(_chk)?|puts|putchar|putc|fputs|fputc|fwrite|perror|stdout|stderr|stdin|dup2?|socket|connect)$'
say "shared library: no exit, fork, getenv, print" "$([ $? = 1 ]; echo $?)"
[ "$(readlink "$there/lib/libnpusim.so")" = "$3" ] && [ -e "$there/lib/$(objdump -p "$so" | awk '$1 == "SONAME" { print $2 }')" ]
say "shared library: its soname is there" $?

# pkg-config finds nothing below a root with a blank or a quote in its name, so that the root gets another name.
ln -s "$root" "$work/root"
export PKG_CONFIG_SYSROOT_DIR="$work/root" PKG_CONFIG_PATH="$work/root$2/lib/pkgconfig"
data=$there/share/npusim
compile() { # shared|static PROGRAM SOURCE
	how=$1 program=$2 source=$3
	# shellcheck disable=SC2046
	case $how in
	shared) set -- $(pkg-config --libs npusim) ;;
	static) set -- "$there/lib/libnpusim.a" $(PKG_CONFIG_SYSROOT_DIR='' pkg-config --libs yaml-0.1 sqlite3 yajl zlib) -lm ;;
	esac
	# shellcheck disable=SC2046,SC2086
	$CC -std=c11 -Wall -Wextra -Wpedantic -Werror ${CFLAGS-} -DDATA="\"$data\"" -o "$program" "$source" $(pkg-config --cflags npusim) "$@"
}

for how in shared static; do
	for x in step two_machines memory; do
		compile "$how" "$work/$x.$how" "sim/examples/$x.c"
		say "$x.c, $how: built" $?
	done
done

LD_LIBRARY_PATH=$there/lib
export LD_LIBRARY_PATH

# The program of README.md as it stands, but for where its data lie.
awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' README.md |
	sed 's/npusim_open(NULL,/npusim_open(\&(struct npusim_source){ sizeof(struct npusim_source), DATA, NULL, NULL, NULL },/' >"$work/ask.c"
compile shared "$work/ask" "$work/ask.c" && (cd / && "$work/ask") >"$work/ask.out" &&
	for set in dram.channels=32 dram.channels=48 dram.channels=64; do
		"$there/bin/npusim" run -c "$data/configs/npu/dsocr.yaml" -m llama-3.2-1b --context 2048 --fidelity analytic \
			--set $set --format json | awk -v set=$set -F '[:,]' '/^  "total_us"/ { printf "%s: %.1f us\n", set, $2 }'
	done | cmp - "$work/ask.out" && [ -s "$work/ask.out" ]
say "README.md: its program prints what npusim run says" $?

# And its program in Python, with the installed package, library and data.
if command -v python3 >/dev/null 2>&1; then
	awk '/^```python$/ { inside = 1; next } /^```/ { inside = 0 } inside' README.md >"$work/ask.py"
	(cd / && env -u NPUSIM_LIBRARY -u LD_LIBRARY_PATH PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$there/lib/python3/dist-packages" \
		python3 "$work/ask.py") >"$work/py.out"
	"$there/bin/npusim" run -c "$data/configs/npu/dsocr.yaml" -m llama-3.1-8b --batch 16 --set 'l2.size=256 MiB' --format json |
		sed -n '/^  "verdict"/{n;s/^    "\(.*\)",*$/\1/p;}; s/^  "total_us": \(.*\),$/\1/p' >"$work/run.out"
	[ "$(awk 'NR == 1 { v = $0 } NR == 2 { print $0, v }' "$work/run.out")" = "$(cat "$work/py.out")" ] && [ -s "$work/py.out" ]
	say "README.md: its program in Python prints what npusim run says" $?
else
	echo "not run: there is no python3 for README.md's program"
fi

# As `npusim run` prints it: the value of a key at the left margin of the document.
member() { sed -n "s/^  \"$1\": \([^,]*\),*\$/\1/p" "$work/run.json"; }
(cd / && "$there/bin/npusim" run -c "$data/configs/npu/dsocr.yaml" -m llama-3.2-1b --format json) >"$work/run.json"
for how in shared static; do
	(cd / && "$work/step.$how" dsocr model=llama-3.2-1b) >"$work/step.out"
	rc=$?
	for key in total_us roofline_us mfu bandwidth_use energy_uj dram_bytes; do
		[ "$(awk -v k=$key '$1 == k { print $2 }' "$work/step.out")" = "$(member $key)" ] && [ -n "$(member $key)" ] ||
			{ echo "$key: '$(awk -v k=$key '$1 == k { print $2 }' "$work/step.out")', npusim run says '$(member $key)'"; rc=1; }
	done
	sed -n '/^  "verdict"/,/^  ]/s/^    "\(.*\)",*$/\1/p' "$work/run.json" >"$work/verdict"
	tail -n "$(wc -l <"$work/verdict")" "$work/step.out" | cmp -s - "$work/verdict" && [ -s "$work/verdict" ] || rc=1
	say "step.c, $how: the figures of npusim run" $rc
	(cd / && "$work/two_machines.$how") >"$work/two.out" && [ "$(wc -l <"$work/two.out")" = 3 ] &&
		awk '{ t[NR] = $(NF - 1) } END { exit !(t[1] > 0 && t[2] > 0 && t[3] > 0 && t[3] < t[1] && t[2] != t[1]) }' "$work/two.out"
	say "two_machines.c, $how" $?
	[ "$(cd / && "$work/memory.$how" "$data" | awk '{ print $1 }')" = "$(member total_us)" ]
	say "memory.c, $how: the same from memory" $?
done
exit $failed
