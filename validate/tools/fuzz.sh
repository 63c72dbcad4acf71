#!/bin/sh
# fuzz.sh [--smoke] TARGET... - runs the fuzz targets over validate/tests/fuzz/corpus/TARGET.
#
# With libFuzzer's programs in build/fuzz each target runs for FUZZ_SECONDS and keeps what it learned in
# build/fuzz/corpus, which begins with what earlier runs learned: validate/tests/fuzz/learned, the fewest inputs that reach
# all that those reached (libFuzzer's -set_cover_merge=1). Without them, and with --smoke, the standalone mutator of
# build/(check/)asan makes FUZZ_RUNS mutations from a fixed seed. The input that made a target fail is left in
# build/fuzz/found by libFuzzer, and beside the program by the mutator, which says where.
set -u

BUILD=${BUILD:-build}
found=$BUILD/fuzz/found
failed=0
smoke=no
[ "${1-}" = --smoke ] && { smoke=yes; shift; }

for t in "$@"; do
	corpus=validate/tests/fuzz/corpus/$t
	if [ "$smoke" = yes ]; then
		"$BUILD/check/asan/fuzz/$t" -n "${FUZZ_RUNS:-3000}" "$corpus" || failed=1
	elif [ -x "$BUILD/fuzz/fuzz/$t" ]; then
		mkdir -p "$BUILD/fuzz/corpus/$t" "$found"
		learned=validate/tests/fuzz/learned/$t.tar.gz
		[ -f "$learned" ] && tar -xzf "$learned" -C "$BUILD/fuzz/corpus/$t"
		echo "$t: ${FUZZ_SECONDS:-60} s of libFuzzer"
		"$BUILD/fuzz/fuzz/$t" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
			-verbosity=0 -artifact_prefix="$found/$t-" "$BUILD/fuzz/corpus/$t" "$corpus" || failed=1
	else
		"$BUILD/asan/fuzz/$t" -n "${FUZZ_RUNS:-100000}" "$corpus" || failed=1
	fi
done
exit "$failed"
