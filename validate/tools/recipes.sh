#!/bin/sh
# recipes.sh [NAME...] - does the READMEs' recipes keep what they promise? Each "how to add" is done to a toy of
# validate/recipes, step by step, in a copy of the tree under build/recipes, and its promise.sh asks the program that comes out.
# The laws over tables (suites t_law*) run there, too, with the toys in their tables. One line a recipe, and the sum.
#
# All toys go into one copy, because half of them change a header that nearly every file includes: together they compile the
# tree once. It is compiled without optimisation, which is faster than to compile those files with it; asserts are on. Where
# that build fails each toy is tried by itself, to find whose it is. Uses tracked files, as they are now.
set -u

BUILD=${BUILD:-build}
here=validate/recipes
out=$PWD/$BUILD/recipes
# The make above hands down its job server, which is not ours, and its variables, which are.
MAKEFLAGS=$(printf '%s\n' "${MAKEFLAGS-}" | sed 's/-j[0-9]*//; s/--jobserver-[a-z]*=[^ ]*//')
export MAKEFLAGS
[ -f $here/apply.py ] || { echo "recipes.sh: run it at the top of the source tree" >&2; exit 2; }
[ $# -gt 0 ] || set -- $(for toy in $here/*/toy; do basename "$(dirname "$toy")"; done)

# A copy of the tree with these toys. Of the suites only laws and the toys' own are there.
copy() { # TREE NAME...
	tree=$1
	shift
	rm -rf "$tree" && mkdir -p "$tree/build" || return 1
	git ls-files -z | tar --null --ignore-failed-read -T - -cf - 2>/dev/null | tar -xf - -C "$tree" || return 1
	find "$tree"/validate/tests/unit "$tree"/validate/tests/contract "$tree"/validate/tests/model "$tree"/validate/tests/property \
		-name '[a-z]_*.c' ! -name 't_law*' -exec rm -f {} + || return 1
	cp -Rp "$BUILD/report" "$tree/build/report" || return 1
	python3 $here/apply.py "$tree" "$@"
}

build() { # TREE
	make -C "$1" --no-print-directory -j"$(nproc 2>/dev/null || echo 2)" BUILD=build PROFILE=release DEPS=ok REPORT=build/report \
		CFLAGS='-O0 -UNDEBUG -Wno-error=format-truncation' \
		build/release/npusim test-program
}

promise() { # TREE NAME
	cd "$1" || exit 1
	TOY=$2 NPUSIM=$1/build/release/npusim NPUSIM_TEST=$1/build/release/npusim-test TMP=$1/build/tmp
	rm -rf "$TMP" && mkdir -p "$TMP" || exit 1
	. "$1/$here/promises.sh"
	. "$1/$here/$2/promise.sh"
	exit "$((broken > 0))"
}

passed=0 failed=0
say() { # NAME RESULT
	if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
	printf '  %-10s %s\n' "$1" "$([ "$2" = 0 ] && echo 'keeps its promise' || echo FAILED)"
}

failing() { # NAME: why
	tail -n 20 "$out/log"
	say "$1" 1
}

# All of them together; where one is in the way of the others, without it.
try() { # NAME...
	tree=$out/tree
	if copy "$tree" "$@" >"$out/log" 2>&1; then
		build "$tree" >>"$out/log" 2>&1 || { each build "$@"; return; }
	elif [ $# -gt 1 ]; then
		each copy "$@"
		return
	else
		failing "$1"
		return
	fi
	for name; do
		(promise "$tree" "$name")
		say "$name" $?
	done
	laws
}

# After a copy that failed: those whose recipe can be done, together. After a build that failed: each alone.
each() { # copy|build NAME...
	how=$1 good=
	shift
	[ $# -gt 1 ] || { failing "$1"; return; }
	if [ "$how" = build ]; then
		grep -e 'error:' -e 'Error' "$out/log" | head -n 5
		echo "  all together do not build; each by itself:"
	fi
	for name; do
		if [ "$how" = build ]; then
			try "$name"
		elif copy "$out/tree" "$name" >"$out/log" 2>&1; then
			good="$good $name"
		else
			failing "$name"
		fi
	done
	# shellcheck disable=SC2086
	[ -z "$good" ] || [ "$good" = " $*" ] || try $good
}

laws() {
	ls "$tree"/validate/tests/unit/t_law*.c >/dev/null 2>&1 || return
	"$tree/build/release/npusim-test" ^t_law >"$out/log" 2>&1
	rc=$?
	[ $rc = 0 ] || tail -n 20 "$out/log"
	say laws $rc
}

mkdir -p "$out" || exit 1
try "$@"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
