#!/bin/sh
# coverage.sh SOURCE... - runs the suites of the cov profile and prints how much of each source they reach, least first.
set -u

BUILD=${BUILD:-build}
command -v gcov >/dev/null 2>&1 || { echo "coverage needs gcov, which comes with gcc" >&2; exit 1; }
find "$BUILD/cov" -name '*.gcda' -exec rm -f {} +
"$BUILD/cov/npusim-test" >"$BUILD/cov/suites.log" 2>&1 || { tail -n 50 "$BUILD/cov/suites.log"; exit 1; }
for f in "$@"; do
	gcov -n -o "$BUILD/cov/${f%.c}.o" "$f" 2>/dev/null | awk -v file="$f" '
		/^File / { mine = index($0, "\047" file "\047") }
		mine && /^Lines executed/ { sub(/.*:/, ""); sub(/% of/, ""); printf "%6.1f %% of %5d  %s\n", $1, $2, file; exit }'
done | sort -n
