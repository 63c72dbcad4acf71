#!/bin/sh
# run.sh [--update] [NAME...] - whole runs of the program, compared as text: NAME.sh runs, NAME.out is what it must print.
#
# A case is a shell script run from the top of the source tree with NPUSIM set to the program and TMP to an empty folder
# of its own; stdout and stderr count, and so does an exit status other than 0 (as a last line "exit N"). In the output
# the folder's name reads TMP and the tree's reads ROOT, so texts are the same on every host. --update rewrites the .out
# files: read the diff before you commit it. A case that prints "not run: REASON" alone is counted apart.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
: "${NPUSIM:?the program to test}"
export NPUSIM LC_ALL=C LANG=C TZ=UTC NO_COLOR=1 TERM=dumb COLUMNS=100
unset NPUSIM_DATA

update=no
[ "${1-}" = --update ] && { update=yes; shift; }
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(cd "$here" && for f in *.sh; do [ "$f" = run.sh ] || echo "${f%.sh}"; done)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

passed=0 failed=0 skipped=0 changed=0
for name in "$@"; do
	TMP=$work/$name
	export TMP
	mkdir "$TMP"
	(cd "$root" && exec sh "$here/$name.sh") >"$work/raw" 2>&1 </dev/null
	rc=$?
	[ "$rc" = 0 ] || echo "exit $rc" >>"$work/raw"
	sed -e "s|$TMP|TMP|g" -e "s|$root|ROOT|g" "$work/raw" >"$work/got"
	rm -rf "$TMP"
	if [ "$(wc -l <"$work/got")" -eq 1 ] && grep -q '^not run: ' "$work/got"; then
		echo "$name: $(cat "$work/got")"
		skipped=$((skipped + 1))
	elif [ "$update" = yes ]; then
		cmp -s "$work/got" "$here/$name.out" || { cp "$work/got" "$here/$name.out"; echo "$name: rewritten"; changed=$((changed + 1)); }
	elif [ ! -f "$here/$name.out" ]; then
		echo "$name: there is no $name.out (make golden-update writes it)"
		failed=$((failed + 1))
	elif diff -u --label "$name.out" --label "this build" "$here/$name.out" "$work/got"; then
		passed=$((passed + 1))
	else
		echo "$name: differs"
		failed=$((failed + 1))
	fi
done
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
