#!/bin/sh
# fuzz.sh gate|nightly|N|libfuzzer PROGRAM [TARGET...] - runs fuzz targets (all of them) over validate/tests/fuzz/corpus/TARGET.
#
# PROGRAM is build/PROFILE/npusim-fuzz. With the standalone mutator it makes a number of mutations from a fixed seed: a count and
# not a time, so that a run repeats. `gate` makes 150 to 500 by what one costs, `nightly` 3000, and a number says it.
# `fuzz.sh libfuzzer PROGRAM` is for libFuzzer's program: each target runs for FUZZ_SECONDS and keeps what it learned in build/fuzz/corpus. That
# begins with what earlier runs learned: validate/tests/fuzz/learned, the fewest inputs that reach all that those reached (libFuzzer's
# -set_cover_merge=1). The input that made a target fail is left in build/fuzz/found by libFuzzer, and next to the program by the
# mutator, which prints where. Ends with a line "N passed, N failed".
set -u

[ $# -ge 2 ] || { echo "usage: fuzz.sh gate|nightly|N|libfuzzer PROGRAM [TARGET...]" >&2; exit 2; }
size=$1 program=$2
shift 2
tests=validate/tests/fuzz
BUILD=${BUILD:-build}
found=$BUILD/fuzz/found
[ $# -gt 0 ] || set -- $(ls "$tests" | sed -n 's/^f_\(.*\)\.c$/\1/p')
passed=0 failed=0

mutations() { # TARGET: those that read more or compute on what they read get fewer
	case $size in
	gate) case $1 in
		api) echo 150 ;; # runs machines: 90 ms each
		capture | csv | foreign | kineto | nsys | ops | replay) echo 250 ;; # each makes a database: 12 ms
		*) echo 500 ;; # 1 to 3 ms
		esac ;;
	nightly) echo 3000 ;;
	*) echo "$size" ;;
	esac
}

by_libfuzzer() { # TARGET
	corpus=$BUILD/fuzz/corpus/$1 learned=$tests/learned/$1.tar.gz
	mkdir -p "$corpus" "$found"
	[ ! -f "$learned" ] || tar -xzf "$learned" -C "$corpus"
	echo "$1: ${FUZZ_SECONDS:-60} s of libFuzzer"
	"$program" "$1" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-verbosity=0 -artifact_prefix="$found/$1-" "$corpus" "$tests/corpus/$1"
}

for t in "$@"; do
	case $size in
	libfuzzer) by_libfuzzer "$t" ;;
	*) "$program" "$t" -n "$(mutations "$t")" "$tests/corpus/$t" ;;
	esac
	if [ $? = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
