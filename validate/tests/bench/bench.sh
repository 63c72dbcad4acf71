#!/bin/sh
# bench.sh [--update] - speed of the demo's work: importing the trace of traces/h200, an Nsight Systems export of many
# kernels (mknsys.sh), decode_step_1 on configs/npu/dsocr.yaml at both fidelities, and sweeps of it. Uses the release build.
#
# Times are processor times, the best of several runs, and depend on the host; peaks are of the whole process. What is
# compared with baseline.txt are instruction counts (valgrind's callgrind, else perf), which do not: the ratio is
# printed, and --update makes today's counts the baseline. The import is counted whole; of the run only run_stream, the
# machine at work, and only its one pass of a cold start, since `events` are those of the measured pass.
# BENCH_RUNS is the number of runs (default 5).
set -eu

BUILD=${BUILD:-build}
npusim=$BUILD/release/npusim
rusage=$BUILD/release/rusage
trace=traces/h200/kineto_dsocr_b1_c1024.json.gz
baseline=validate/tests/bench/baseline.txt
runs=${BENCH_RUNS:-5}
update=no
[ "${1-}" = --update ] && update=yes

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

import() { rm -f "$work"/t.db*; "$@" "$npusim" trace import "$trace" -o "$work/t.db" >"$work/import.out" 2>"$work/err"; }
run="$npusim run -c configs/npu/dsocr.yaml -t $work/t.db --range decode_step_1 --format json"
# shellcheck disable=SC2086
step() { "$@" $run >"$work/run.json" 2>"$work/err"; }
# shellcheck disable=SC2086
cold() { "$@" $run --start cold >"$work/run.json" 2>"$work/err"; }

# best COMMAND: leaves the least processor time (us) in `cpu` and the greatest peak (KiB) in `peak`
best() {
	: >"$work/all"
	i=0
	while [ "$i" -lt "$runs" ]; do
		"$1" "$rusage" "$work/use" || { cat "$work/err" >&2; exit 1; }
		cat "$work/use" >>"$work/all"
		i=$((i + 1))
	done
	cpu=$(awk '{ t = $1 + $2; if (NR == 1 || t < best) best = t } END { print best }' "$work/all")
	peak=$(awk '$4 > peak { peak = $4 } END { print peak }' "$work/all")
}

# instructions COMMAND [FUNCTION]: prints the count of one run, or of one function in it; nothing where it cannot be had
instructions() {
	if command -v valgrind >/dev/null 2>&1; then
		"$1" valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$work/count" ${2:+--toggle-collect="$2"} || return 0
		sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$work/count"
	elif [ -z "${2-}" ] && command -v perf >/dev/null 2>&1; then
		"$1" perf stat -x, -e instructions:u -o "$work/count" || return 0
		sed -n 's/^\([0-9][0-9]*\),.*/\1/p' "$work/count"
	fi
}

row() { printf '  %-34s %14s %-14s %s\n' "$@"; }
div() { awk -v a="$1" -v b="$2" -v f="$3" 'BEGIN { printf f, b ? a / b : 0 }'; }

# counted NAME COUNT PER: a row with the ratio to the baseline
counted() {
	case $2 in
	'') row "$1" - "" "not counted: that takes valgrind"; return ;;
	0) row "$1" - "" "nothing counted: has the function another name?"; return ;;
	esac
	per=$(div "$2" "$3" %.1f)
	was=$(awk -v name="$1" '$1 == name { print $2 }' "$baseline" 2>/dev/null || :)
	row "$1" "$per" "" "$([ -z "$was" ] && echo "no baseline" || echo "baseline $was, ratio $(div "$per" "$was" %.3f)")"
	echo "$1 $per" >>"$work/new"
}

echo "import of $trace"
best import
bytes=$(gzip -dc "$trace" | wc -c)
row "JSON" "$(div "$bytes" 1000000 %.1f)" MB ""
row "import rate" "$(div "$bytes" "$cpu" %.0f)" MB/s "at least 50"
row "peak memory" "$(div "$peak" 1024 %.1f)" MiB "at most 190 (200 MB)"
counted import_instructions_per_byte "$(instructions import)" "$bytes"

echo "an Nsight Systems export"
kernels=50000
if command -v sqlite3 >/dev/null 2>&1; then
	sh validate/tests/bench/mknsys.sh "$kernels" "$work/n.sqlite" >"$work/out"
	nsys() { rm -f "$work"/n.db*; "$@" "$npusim" trace import "$work/n.sqlite" -o "$work/n.db" >"$work/import.out" 2>"$work/err"; }
	shell() { "$@" sqlite3 "$work/n.sqlite" .dump >"$work/dump" 2>"$work/err"; }
	top() { "$@" "$npusim" trace top "$work/n.db" >"$work/top.out" 2>"$work/err"; }
	best shell
	shelled=$cpu
	best nsys
	row "import" "$(div "$cpu" "$kernels" %.2f)" us/kernel "$(div "$cpu" "$shelled" %.2f) times what '.dump' of the sqlite3 shell takes; at most 3"
	row "peak memory" "$(div "$peak" 1024 %.1f)" MiB "at most 286 (300 MB)"
	counted nsys_instructions_per_kernel "$(instructions nsys)" "$kernels"
	best top
	row "trace top" "$(div "$cpu" "$kernels" %.3f)" us/kernel "at most 0.5"
	counted top_instructions_per_kernel "$(instructions top)" "$kernels"
else
	row "import" - "" "not run: sqlite3, which makes the export, is not installed"
fi

echo "decode_step_1 on configs/npu/dsocr.yaml"
# A steady run is two passes, a cold one is one: their difference is a step, without reading and lowering the trace.
best cold
once=$cpu
best step
events() { sed -n 's/.*"events": *\([0-9][0-9]*\).*/\1/p' "$work/run.json" | head -n 1; }
row "one step" "$(div "$((cpu - once))" 1000 %.1f)" ms "at most 50"
row "steps" "$(div 1000000 "$((cpu - once))" %.1f)" /s ""
row "whole command, cold" "$(div "$once" 1000 %.1f)" ms "trace read, lowered, mapped, one pass"
row "whole command, steady" "$(div "$cpu" 1000 %.1f)" ms "the same with two passes"
row "peak memory" "$(div "$peak" 1024 %.1f)" MiB "at most 190 (200 MB)"
n=$(events)
if [ "${n:-0}" -gt 0 ]; then
	row "events" "$n" "" "of the measured pass"
	row "event rate" "$(div "${n}000000" "$((cpu - once))" %.0f)" /s ""
	counted run_instructions_per_event "$(instructions cold run_stream)" "$(events)"
else
	row "events" - "" "the run's JSON has none"
fi

echo "the same in closed form (--fidelity analytic)"
closed() { "$@" "$BUILD/release/b_step" "configs/npu/$machine.yaml" "$trace" decode_step_1 "$steps" >"$work/step.out" 2>"$work/err"; }
for machine in dsocr edge; do
	steps=200
	: >"$work/all"
	i=0
	while [ "$i" -lt "$runs" ]; do
		closed || { cat "$work/err" >&2; exit 1; }
		cat "$work/step.out" >>"$work/all"
		i=$((i + 1))
	done
	us=$(sort -n "$work/all" | head -n 1)
	row "$machine, one step" "$us" us "at most 1000"
	row "$machine, steps" "$(div 1000000 "$us" %.0f)" /s ""
	steps=1
	counted "analytic_instructions_${machine}_step" "$(instructions closed analytic_step)" 1
done

# Chips that do the same are simulated once: eight cost what two do, and two at most what two machines of their own would and a tenth.
echo "a decode step over chips, llama-3.2-1b's first four layers on configs/system/dsocr-8.yaml"
# shellcheck disable=SC2086
chips() { "$@" "$npusim" run -c dsocr-8 -m llama-3.2-1b --layers 4 --batch 8 $split --start cold >"$work/chips.out" 2>"$work/err"; }
law=
for split in "--tp 1" "--tp 2" "--tp 8" "--pp 2"; do
	n=$(instructions chips run_stream)
	counted "chips_$(echo "$split" | tr -d ' -')_instructions" "$n" 1
	law="$law ${n:-0}"
done
echo "$law" | awk '$1 && ($2 > 2.2 * $1 || $4 > 2.2 * $1 || $3 > 1.1 * $2) {
	print "chips cost more than they may: two at most 2.2 times one, eight as two"; exit 1 }'

echo "npusim sweep, one worker: points of configs/studies/balance.yaml, all that a point costs from check to stored row"
sweep() { rm -f "$work"/s.db*; "$@" "$npusim" sweep "$work/s.yaml" -j1 -o "$work/s.db" --rows 0 >"$work/sweep.out" 2>"$work/err"; }
for fidelity in analytic event; do
	points=$([ $fidelity = event ] && echo 50 || echo 500)
	sed -e "s/^fidelity:.*/fidelity: $fidelity/" -e "s|^trace:.*|trace: $work/t.db|" \
		-e "\$a sample: {kind: random, n: $points, seed: 1}" configs/studies/balance.yaml >"$work/s.yaml"
	best sweep
	row "$fidelity, one point" "$(div "$cpu" "$((points * 1000))" %.2f)" ms \
		"at most $([ $fidelity = event ] && echo "60: 10,000 in 5 minutes" || echo "4: 10,000 in 20 s") of two cores"
	row "$fidelity, points" "$(div "${points}000000" "$cpu" %.0f)" "/s of one core" ""
	row "$fidelity, stored" "$(div "$(wc -c <"$work/s.db")" "$points" %.0f)" "bytes/point" ""
	row "$fidelity, peak memory" "$(div "$peak" 1024 %.1f)" MiB "at most 95 (100 MB), of a worker"
done

echo "DRAM, one channel, one core"
bursts=300000
dram() { "$@" "$BUILD/release/b_dram" "configs/dram/$kind.yaml" "$stream" "$bursts" >"$work/dram.out" 2>"$work/err"; }
fastest() {
	i=0
	: >"$work/all"
	while [ "$i" -lt "$runs" ]; do
		dram
		cat "$work/dram.out" >>"$work/all"
		i=$((i + 1))
	done
	sort -n "$work/all" | tail -n 1
}
for kind in hbm2-2000 hbm3-6400; do
	for stream in seq random; do
		row "$kind $stream" "$(div "$(fastest)" 1000000 %.1f)" "M bursts/s" "$([ "$stream" = seq ] && echo "at least 10" || echo "at least 3")"
		counted "${kind}_${stream}_per_burst" "$(instructions dram)" "$bursts"
	done
done
row "tiles of 64 KiB, hbm3-6400" "$("$BUILD/release/b_dram" configs/dram/hbm3-6400.yaml tile 65536 200000)" "ns/tile" "at most 60"

if [ "$update" = yes ] && [ -s "$work/new" ]; then
	{
		echo "# Instruction counts of \`make bench-update\`: compiler $(${CC:-cc} --version | head -n 1)"
		cat "$work/new"
	} >"$baseline"
	echo "$baseline rewritten"
fi
