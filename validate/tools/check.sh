#!/bin/sh
# check.sh [check] [gate] [nightly COMPILER/PROFILE...] - runs the steps of these tiers over programs the Makefile has built,
# as many at a time as there are processors: one line a step as it ends, and the whole log of a step that failed. The last
# line is the sum, "N passed, N failed"; a step that prints no such line of its own counts as one test. Any failure exits 1.
#
# From the Makefile: BUILD, PREFIX, REPORT (the page's folder), CC, CPPFLAGS, MAKE_COMMAND, V.
# Random tests draw their samples by NPUSIM_SEED. `check` has a fixed one, so that a newcomer's run is everyone's; `gate` takes
# one of validate/tests/seeds by the number of the commit, and `nightly` that number itself. The log names it.
set -u

: "${BUILD:?run it by make check, make gate or make nightly}" "${PREFIX:?}" "${REPORT:?}" "${CC:?}" "${MAKE_COMMAND:?}"
self=validate/tools/check.sh
case $BUILD in /*) build=$BUILD ;; *) build=$PWD/$BUILD ;; esac
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1" TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1"
export ASAN_OPTIONS="allocator_may_return_null=1"
# Sanitizers on a busy host are slow: a test that hangs still ends.
export NPUSIM_TEST_TIMEOUT="${NPUSIM_TEST_TIMEOUT:-1800}"

# Every profile of nightly. ThreadSanitizer costs some twenty times the normal time and AddressSanitizer five: they get the
# short form of random tests. On some kernels ThreadSanitizer wants address-space randomisation out of its way.
dist_suites() { # PROGRAM
	case $1 in
	*/asan/*) # a quarter dearer, so not in gate
		NPUSIM_TEST_SIZE=short ASAN_OPTIONS="$ASAN_OPTIONS:detect_stack_use_after_return=1:strict_string_checks=1" "$@"
		;;
	*/tsan/*)
		if setarch -R true 2>/dev/null; then set -- setarch -R "$1"; fi
		NPUSIM_TEST_SIZE=short "$@"
		;;
	*/release/*) NPUSIM_TEST_SIZE=${NPUSIM_TEST_SIZE:-long} "$@" ;;
	*) NPUSIM_TEST_SIZE=short "$@" ;;
	esac
}

# Every C source and header that is tracked; without git, every one there is.
sources() {
	git ls-files '*.c' '*.h' 2>/dev/null | grep . || find arch results sim traces validate workloads -name '*.[ch]'
}

# shellcheck disable=SC2046
run_step() {
	case $1 in
	suites-fast) "$build/release/npusim-test" -F ;;
	suites-slow) "$build/release/npusim-test" -S ;;
	suites-asan) NPUSIM_TEST_SIZE=short "$build/asan/npusim-test" -F ;;
	golden:*) NPUSIM=$build/release/npusim sh validate/tests/golden/run.sh --tier "${1#golden:}" ;;
	figures) NPUSIM=$build/release/npusim python3 validate/tools/figures.py check ;;
	format) sh validate/tools/format.sh check $(sources) ;;
	layers) sh validate/tools/layers.sh validate/layers.txt ;;
	layers-can-fail) sh validate/tools/layers.sh --self-test ;;
	calls) V='' sh validate/tools/calls.sh validate/layers.txt "$BUILD/release" ;;
	calls-can-fail) sh validate/tools/calls.sh --self-test ;;
	headers) sh validate/tools/headers.sh ;;
	links) sh validate/tools/links.sh ;;
	links-can-fail) sh validate/tools/links.sh --self-test ;;
	install) sh validate/tools/install.sh "$BUILD" ;;
	page) NPUSIM=$build/release/npusim sh validate/tests/page/run.sh gate ;;
	page-nightly) NPUSIM=$build/release/npusim sh validate/tests/page/run.sh nightly ;;
	python) sh validate/tools/python.sh gate "$build/release" ;;
	python-nightly) sh validate/tools/python.sh nightly "$build/release" ;;
	same) sh validate/tests/same/same.sh gate "$build/release" ;;
	same-nightly) sh validate/tests/same/same.sh nightly "$build/release" ;;
	kills) sh validate/tools/kills.sh gate "$build/release/npusim" "$build/release/dies.so" ;;
	kills-nightly) sh validate/tools/kills.sh nightly "$build/release/npusim" "$build/release/dies.so" "$NPUSIM_SEED" ;;
	fuzz) sh validate/tools/fuzz.sh gate "$build/asan/npusim-fuzz" ;;
	fuzz-nightly) sh validate/tools/fuzz.sh nightly "$build/asan/npusim-fuzz" ;;
	headers-nightly) sh validate/tools/headers.sh --all ;;
	stale) python3 validate/tools/stale.py "$build/release/npusim" --sample "$NPUSIM_SEED" ;;
	stale-nightly) python3 validate/tools/stale.py "$build/release/npusim" --all ;;
	recipes) sh validate/tools/recipes.sh ;;
	dist:*) dist_suites "$build/dist/${1#dist:}/npusim-test" ;;
	memcheck:*) # some fifty times the normal time
		NPUSIM_TEST_NOFORK=1 NPUSIM_TEST_SIZE=short valgrind -q --error-exitcode=9 --leak-check=full \
			--errors-for-leak-kinds=definite,indirect,possible --track-fds=no "$build/dist/${1#memcheck:}/npusim-test" -F
		;;
	*) echo "no such step: $1"; return 1 ;;
	esac
}

# One step: its log and its result are files next to each other, its line is printed at once.
if [ "${1-}" = step ]; then
	log=$LOGS/$(printf '%s' "$2" | tr '/:' '__')
	start=$(date +%s)
	run_step "$2" >"$log.log" 2>&1 </dev/null
	rc=$?
	counts=$(grep -Eo '[0-9]+ passed, [0-9]+ failed' "$log.log" | tail -n 1)
	if [ -n "$counts" ]; then
		passed=${counts%% *}
		failed=${counts##*, }; failed=${failed%% *}
		[ "$rc" = 0 ] || [ "$failed" != 0 ] || failed=1
	elif [ "$rc" = 0 ]; then
		passed=1 failed=0
	else
		passed=0 failed=1
	fi
	echo "$passed $failed $2" >"$log.result"
	times >"$log.times" # a line of this shell's processor time and one of its children's, each "0m1.2s 0m0.3s"
	cpu=$(awk -F '[ms ]+' 'END { printf "%.0f", $1 * 60 + $2 + $3 * 60 + $4 }' "$log.times")
	line=$(printf '  %-16s %5d passed, %d failed  (%d s, %d s of processor)' "$2" "$passed" "$failed" $(($(date +%s) - start)) "$cpu")
	[ "$rc" = 0 ] || line="$line, exit $rc"
	printf '%s\n' "$line"
	exit 0
fi

# Long steps first, so that no processor waits for them at the end.
steps='' after=''
LOGS=$BUILD/logs/${1:-none}
while [ $# -gt 0 ]; do
	case $1 in
	check)
		steps="$steps golden:check suites-fast figures headers"
		after="$after format layers layers-can-fail calls calls-can-fail links links-can-fail"
		;;
	gate)
		commit=$(git rev-parse --short=7 HEAD 2>/dev/null) || commit=0
		seeds=$(grep -v '^#' validate/tests/seeds)
		: "${NPUSIM_SEED:=$(echo $seeds | cut -d' ' -f$((0x$commit % $(echo $seeds | wc -w) + 1)))}"
		steps="suites-slow suites-asan golden:gate python page fuzz kills $steps install same stale"
		LOGS=$BUILD/logs/gate
		;;
	nightly)
		commit=$(git rev-parse --short=7 HEAD 2>/dev/null) && : "${NPUSIM_SEED:=$((0x$commit))}"
		LOGS=$BUILD/logs/nightly
		steps="golden:nightly same-nightly python-nightly page-nightly fuzz-nightly kills-nightly headers-nightly stale-nightly recipes"
		shift
		for p in "$@"; do
			steps="dist:$p $steps"
			case $p in gcc/debug) steps="memcheck:$p $steps" ;; esac
		done
		break
		;;
	*) echo "usage: check.sh [check] [gate] [nightly COMPILER/PROFILE...]" >&2; exit 2 ;;
	esac
	shift
done
NPUSIM_SEED=${NPUSIM_SEED:-1}
export LOGS NPUSIM_SEED
steps="$steps $after"
echo "random tests: NPUSIM_SEED=$NPUSIM_SEED"

rm -rf "$LOGS" && mkdir -p "$LOGS" || exit 1
# shellcheck disable=SC2086
printf '%s\n' $steps | xargs -P "$(nproc 2>/dev/null || echo 2)" -n 1 sh "$self" step || exit 1

# Tests whose data is not here say so; each reason once, whichever program said it.
cat "$LOGS"/*.log | grep -h 'not run: ' | sed 's|^ *||' | LC_ALL=C sort -u

passed=0 failed=0
for s in $steps; do
	log=$LOGS/$(printf '%s' "$s" | tr '/:' '__')
	[ -f "$log.result" ] || echo "0 1 $s" >"$log.result"
	read -r p f _ <"$log.result"
	passed=$((passed + p)) failed=$((failed + f))
	if [ "$f" != 0 ]; then
		printf '\n--- %s failed (%s):\n' "$s" "$log.log"
		if [ "${V-}" = 1 ]; then cat "$log.log"; else tail -n 200 "$log.log"; fi
	elif [ "${V-}" = 1 ]; then
		printf '\n--- %s:\n' "$s"
		cat "$log.log"
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
