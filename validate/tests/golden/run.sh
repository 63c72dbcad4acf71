#!/bin/sh
# run.sh [--update] [-j N] [NAME...] - whole runs of the program, compared as text: NAME.sh runs, NAME.out is what it must print.
#
# A case is a shell script run from the top of the source tree with NPUSIM set to the program and TMP to an empty folder
# of its own; stdout and stderr count, and so does an exit status other than 0 (as a last line "exit N"). In the output
# the folder's name reads TMP and the tree's reads ROOT, so texts are the same on every host. --update rewrites the .out
# files: read the diff before you commit it. A case that prints "not run: REASON" alone is counted apart. Cases run side
# by side, N of them or one a processor, and none may depend on another; what they say comes in the order of their names.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
: "${NPUSIM:?the program to test}"
export NPUSIM LC_ALL=C LANG=C TZ=UTC NO_COLOR=1 TERM=dumb COLUMNS=100
unset NPUSIM_DATA

# One case: what it says and its verdict are files in $work.
one() { # NAME
	TMP=$work/$1
	export TMP
	mkdir "$TMP"
	(cd "$root" && exec sh "$here/$1.sh") >"$work/$1.raw" 2>&1 </dev/null
	rc=$?
	[ "$rc" = 0 ] || echo "exit $rc" >>"$work/$1.raw"
	sed -e "s|$TMP|TMP|g" -e "s|$root|ROOT|g" "$work/$1.raw" >"$work/$1.got"
	rm -rf "$TMP"
	if [ "$(wc -l <"$work/$1.got")" -eq 1 ] && grep -q '^not run: ' "$work/$1.got"; then
		echo "$1: $(cat "$work/$1.got")"
		verdict=skipped
	elif [ "$update" = yes ]; then
		verdict=same
		cmp -s "$work/$1.got" "$here/$1.out" || { cp "$work/$1.got" "$here/$1.out"; echo "$1: rewritten"; verdict=changed; }
	elif [ ! -f "$here/$1.out" ]; then
		echo "$1: there is no $1.out (make golden-update writes it)"
		verdict=failed
	elif diff -u --label "$1.out" --label "this build" "$here/$1.out" "$work/$1.got"; then
		verdict=passed
	else
		echo "$1: differs"
		verdict=failed
	fi
	echo "$verdict" >"$work/$1.verdict"
}
if [ "${1-}" = --one ]; then
	one "$2" >"$work/$2.said" 2>&1
	exit 0
fi

update=no jobs=$(nproc 2>/dev/null || echo 2)
[ "${1-}" = --update ] && { update=yes; shift; }
[ "${1-}" = -j ] && { jobs=${2:?-j wants a number}; shift 2; }
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(cd "$here" && for f in *.sh; do [ "$f" = run.sh ] || echo "${f%.sh}"; done)

work=$(mktemp -d)
export work update
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

printf '%s\n' "$@" | xargs -P "$jobs" -n 1 sh "$here/run.sh" --one

count() { # VERDICT
	n=0
	for name in $all; do [ "$(cat "$work/$name.verdict" 2>/dev/null)" = "$1" ] && n=$((n + 1)); done
	echo $n
}
all=$*
for name in "$@"; do
	[ -f "$work/$name.verdict" ] || { echo "$name: it did not end"; echo failed >"$work/$name.verdict"; }
	[ ! -f "$work/$name.said" ] || cat "$work/$name.said"
done
passed=$(count passed) failed=$(count failed) skipped=$(count skipped) changed=$(count changed)
for out in "$here"/*.out; do
	[ -e "$out" ] || continue
	[ -f "${out%.out}.sh" ] || { echo "$(basename "$out"): no script writes it"; failed=$((failed + 1)); }
done

if [ "$update" = yes ]; then
	echo "$changed of $# texts rewritten"
else
	echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped not run")"
fi
[ "$failed" = 0 ]
