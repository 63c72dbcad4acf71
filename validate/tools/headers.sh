#!/bin/sh
# headers.sh - every header compiles alone, so that include order never matters. A header that is the first include of a source
# has been compiled so already, with warnings as errors, when that source was built. The others are compiled here.
# The last line is "N passed, N failed". CC and CPPFLAGS come from the Makefile. `--all` compiles all of them.
set -u

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

find sim arch workloads traces results validate -name '*.h' | LC_ALL=C sort >"$work/all"
# The first line that is no comment, of sources that every build compiles.
find sim arch workloads traces results validate/tests -name '*.c' ! -path 'sim/live/*' ! -path 'sim/examples/*' ! -path 'traces/capture/*' \
	! -path '*/bench/*' ! -path '*/same/*' ! -name dies.c -exec awk '
	FNR == 1 { inside = seen = 0 }
	seen { next }
	inside { if (/\*\//) inside = 0; next }
	/^\/\*/ { if (!/\*\//) inside = 1; next }
	/^[ \t]*$/ { next }
	{ seen = 1 }
	/^#include "/ { split($0, part, "\""); print part[2] }' {} + | LC_ALL=C sort -u >"$work/built"
[ "${1-}" != --all ] || : >"$work/built"
LC_ALL=C comm -23 "$work/all" "$work/built" >"$work/alone"

# `-x c -` asks for a source; an empty one is refused.
echo 'int a_header_of_macros_alone_is_no_empty_file;' >"$work/empty.c"
failed=0
while IFS= read -r h; do
	# shellcheck disable=SC2086
	${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror ${CPPFLAGS:--I.} -fsyntax-only -include "$h" "$work/empty.c" || failed=$((failed + 1))
done <"$work/alone"
echo "$(($(wc -l <"$work/all") - failed)) passed, $failed failed"
[ "$failed" = 0 ]
