#!/bin/sh
# fuzz.sh [--smoke] TARGET... - runs the fuzz targets over validate/tests/fuzz/corpus/TARGET.
#
# With libFuzzer's programs in build/fuzz each target runs for FUZZ_SECONDS and keeps what it learned in
# build/fuzz/corpus. Without them, and with --smoke, the standalone mutator of build/(check/)asan makes FUZZ_RUNS
# mutations from a fixed seed. The input that made a target fail is left in build/fuzz/found.
set -u

BUILD=${BUILD:-build}
top=$PWD
found=$top/$BUILD/fuzz/found
failed=0
smoke=no
[ "${1-}" = --smoke ] && { smoke=yes; shift; }

# mutate PROGRAM TARGET RUNS: once fast, and after a failure once more keeping each input before it runs
mutate() {
	rm -rf "${found:?}/$2" && mkdir -p "$found/$2" && cd "$found/$2" || return 1
	"$1" -n "$3" "$corpus" || { "$1" -v -n "$3" "$corpus" >/dev/null 2>&1; echo "$2: the input is in $found/$2/fuzz-last" >&2; false; }
	rc=$?
	cd "$top" || return 1
	return $rc
}

for t in "$@"; do
	corpus=$top/validate/tests/fuzz/corpus/$t
	if [ "$smoke" = yes ]; then
		mutate "$top/$BUILD/check/asan/fuzz/$t" "$t" "${FUZZ_RUNS:-3000}" || failed=1
	elif [ -x "$BUILD/fuzz/fuzz/$t" ]; then
		mkdir -p "$BUILD/fuzz/corpus/$t" "$found"
		echo "$t: ${FUZZ_SECONDS:-60} s of libFuzzer"
		"$BUILD/fuzz/fuzz/$t" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
			-verbosity=0 -artifact_prefix="$found/$t-" "$BUILD/fuzz/corpus/$t" "$corpus" || failed=1
	else
		mutate "$top/$BUILD/asan/fuzz/$t" "$t" "${FUZZ_RUNS:-100000}" || failed=1
	fi
done
exit "$failed"
