#!/bin/sh
# check.sh test | check | dist COMPILER/PROFILE... - runs every test step over programs the Makefile has built, two or more at
# a time, one line a step as it ends, and the whole log of a step that failed. The last line is the sum over all steps,
# "N passed, N failed"; a step that prints no such line of its own counts as one test. Any failure exits 1.
#
# From the Makefile: BUILD, PREFIX, REPORT (the page's folder), LISTED (sources), FORMATTED (what .clang-format holds), GPU_MODEL (files), FUZZ (targets), CC, MAKE_COMMAND, V.
# FUZZ_RUNS is the number of mutations a target gets in `check`: a count and not a time, so that a run repeats.
set -u

: "${BUILD:?run it by make check or make distcheck}" "${PREFIX:?}" "${REPORT:?}" "${LISTED:?}" "${FORMATTED?}" "${GPU_MODEL:?}" "${CC:?}" "${MAKE_COMMAND:?}"
FUZZ_RUNS=${FUZZ_RUNS:-3000}
self=validate/tools/check.sh
export FUZZ_RUNS
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1" TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1"
export ASAN_OPTIONS="detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1"

# Sanitizers on a busy host are slow: a test that hangs still ends.
export NPUSIM_TEST_TIMEOUT="${NPUSIM_TEST_TIMEOUT:-1800}"

# ThreadSanitizer wants address-space randomisation out of its way on some kernels. It costs some twenty times the
# normal time, for programs of one thread, and AddressSanitizer some five: random tests in their short form. Of the release
# NPUSIM_TEST_SIZE says how many samples they draw; before a release (dist) all. In `check` AddressSanitizer has what it is
# for, readers and every module by its unit and contract suites: the others are physics, over the same code once more.
suites() { # PROGRAM
	case $1 in
	*/check/asan/*) NPUSIM_TEST_SIZE=short "$@" ^t_ ^c_ ;;
	*/asan/*) NPUSIM_TEST_SIZE=short "$@" ;;
	*/tsan/*)
		if setarch -R true 2>/dev/null; then set -- setarch -R "$1"; fi
		NPUSIM_TEST_SIZE=short "$@"
		;;
	*/dist/*/release/*) NPUSIM_TEST_SIZE=${NPUSIM_TEST_SIZE:-long} "$@" ;;
	*) "$@" ;;
	esac
}

# Installs into a folder and uses it as a stranger would: the program away from the tree, the library by pkg-config.
# It builds in a copy: whatever make finds out of date there, nothing is built anew under the feet of the other steps.
installed() {
	dest=$PWD/$BUILD/check/root
	there=$dest$PREFIX
	own=$BUILD/check/install
	rm -rf "$dest" "$own"
	mkdir -p "$own" && cp -Rp "$BUILD/check/release" "$own/release" || return 1
	# The variables of the outer make hold here too; its job server does not.
	MAKEFLAGS=$(printf '%s\n' "${MAKEFLAGS-}" | sed 's/-j[0-9]*//; s/--jobserver-[a-z]*=[^ ]*//') \
		"$MAKE_COMMAND" -s --no-print-directory BUILD="$own" REPORT="$REPORT" PROFILE=release WERROR=1 DEPS=ok DESTDIR="$dest" install || return 1
	(cd / && "$there/bin/npusim" --version) || return 1
	for f in configs/npu/dsocr.yaml traces/h200/kineto_dsocr_b1_c1024.json.gz; do
		cmp "$f" "$there/share/npusim/$f" || return 1
	done
	# Its own data and no tree's: a memory that is only there.
	cp configs/dram/hbm3-6400.yaml "$there/share/npusim/configs/dram/of-the-installed.yaml" || return 1
	(cd / && "$there/bin/npusim" config show "$there/share/npusim/configs/npu/dsocr.yaml" --set dram.kind=of-the-installed |
		grep -q of-the-installed) || { echo "the installed program does not find its configurations"; return 1; }
	"$there/bin/npusim" man | cmp - "$there/share/man/man1/npusim.1" || return 1
	for f in $(sed -n 's/^NPUSIM_API .*[ *]\(npusim_[a-z_]*\)(.*/\1/p' sim/npusim.h); do
		grep -q "$f" "$there/share/man/man3/npusim.3" || return 1
	done
	for f in README.md results/schema.md; do cmp "$f" "$there/share/doc/npusim/$f" || return 1; done # man names the second
	if command -v bash >/dev/null 2>&1; then
		# As bash-completion does it: the file named like the command is sourced.
		[ "$(cd / && PATH=$there/bin:$PATH bash -c '. "$1"; COMP_WORDS=(npusim par); COMP_CWORD=1; _npusim; echo "${COMPREPLY[@]}"' \
			- "$there/share/bash-completion/completions/npusim")" = pareto ] || { echo "the installed completion does not complete"; return 1; }
	fi
	command -v pkg-config >/dev/null 2>&1 || { echo "not run: no pkg-config to link with"; return 0; }
	CC=$CC sh validate/tools/api.sh "$dest" "$PREFIX" "$(readlink "$there/lib/libnpusim.so")"
}

# shellcheck disable=SC2086
run_step() {
	case $1 in
	sources) sh validate/tools/sources.sh $LISTED ;;
	format) sh validate/tools/format.sh check $FORMATTED ;;
	layers) sh validate/tools/layers.sh validate/layers.txt ;;
	layers-can-fail) sh validate/tools/layers.sh --self-test ;;
	gpu-model) sh validate/tools/gpu_model.sh $GPU_MODEL ;;
	gpu-model-can-fail) sh validate/tools/gpu_model.sh --self-test $GPU_MODEL ;;
	calls:*) V='' sh validate/tools/calls.sh validate/layers.txt "$BUILD/${1#calls:}" ;;
	calls-can-fail) sh validate/tools/calls.sh --self-test ;;
	headers) sh validate/tools/headers.sh ;;
	links) sh validate/tools/links.sh ;;
	links-can-fail) sh validate/tools/links.sh --self-test ;;
	install) installed ;;
	suites:*) suites "$BUILD/${1#suites:}/npusim-test" ;;
	golden:*) NPUSIM=$PWD/$BUILD/${1#golden:}/npusim sh validate/tests/golden/run.sh ;;
	page:*) NPUSIM=$PWD/$BUILD/${1#page:}/npusim BUILD=$BUILD/check WERROR=1 sh validate/tests/page/run.sh check ;;
	# At changes of files, not by the clock: the same 18 in every run.
	kills:*) MOMENTS=changes sh validate/tools/kills.sh "$BUILD/${1#kills:}/npusim" "$BUILD/${1#kills:}/dies.so" 18 1 ;;
	python:*) sh validate/tools/python.sh "$BUILD/${1#python:}" ;;
	same:*) sh validate/tests/same/same.sh "$BUILD/${1#same:}" 10 ;;
	fuzz:*) sh validate/tools/fuzz.sh --smoke "${1#fuzz:}" ;;
	memcheck:*)
		# One under valgrind costs some fifty times its normal time.
		NPUSIM_TEST_NOFORK=1 NPUSIM_TEST_SIZE=short valgrind -q --error-exitcode=9 --leak-check=full \
			--errors-for-leak-kinds=definite,indirect,possible --track-fds=no "$BUILD/${1#memcheck:}/npusim-test"
		;;
	*) echo "no such step: $1"; return 1 ;;
	esac
}

# One step: its log and its result are files beside each other, its line is printed at once.
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
	line=$(printf '  %-26s %5d passed, %d failed  (%d s)' "$2" "$passed" "$failed" $(($(date +%s) - start)))
	[ "$rc" = 0 ] || line="$line, exit $rc"
	printf '%s\n' "$line"
	exit 0
fi

mode=${1-}
case $mode in
test)
	LOGS=$BUILD/test/logs
	steps="suites:release golden:release"
	;;
check)
	LOGS=$BUILD/check/logs
	# The long ones first, so that no core waits for them at the end.
	steps="suites:check/asan suites:check/release golden:check/release page:check/release python:check/release same:check/release"
	for f in ${FUZZ-}; do steps="$steps fuzz:$f"; done
	steps="$steps kills:check/release install headers format sources layers layers-can-fail calls:check/release calls-can-fail"
	steps="$steps gpu-model gpu-model-can-fail links links-can-fail"
	;;
dist)
	shift
	LOGS=$BUILD/dist/logs
	steps='' golden='' calls=''
	for p in "$@"; do
		steps="$steps suites:dist/$p"
		case $p in
		*/debug) [ -n "${valgrind-}" ] || { valgrind=memcheck:dist/$p; steps="$valgrind $steps"; } ;;
		*/release | */asan) golden="$golden golden:dist/$p" ;;
		esac
		case $p in
		*/release) [ -n "$calls" ] || calls=calls:dist/$p ;;
		esac
	done
	steps="$steps $golden headers format sources layers layers-can-fail $calls calls-can-fail gpu-model gpu-model-can-fail links links-can-fail"
	;;
*) echo "usage: check.sh test | check | dist COMPILER/PROFILE..." >&2; exit 2 ;;
esac
export LOGS

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
