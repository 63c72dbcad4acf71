#!/bin/sh
# headers.sh - every header compiles alone, so that include order never matters. One line N passed, N failed.
# CC and CPPFLAGS come from the Makefile.
set -u

passed=0 failed=0
for h in $(find sim arch workloads traces results validate -name '*.h' | LC_ALL=C sort); do
	# shellcheck disable=SC2086
	if echo 'int a_header_of_macros_alone_is_no_empty_file;' | ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror ${CPPFLAGS:--I.} -fsyntax-only -include "$h" -x c -; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
