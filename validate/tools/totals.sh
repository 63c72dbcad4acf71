#!/bin/sh
# totals.sh NPUSIM WORK - whole decode steps as CSV, simulated beside measured, with what classes of op their time is: what the
# intervals of npusim run are held against (configs/accuracy/totals.csv; sim/accuracy/interval.h). No step is in any fit.
#
# kernels: the sum of a step's kernels, copies and sets as profiled; graph: its wall time under a CUDA graph, unprofiled
# (traces/DEVICE/steps.jsonl). Classes are those of configs/accuracy, each with its share of the simulated time.
set -eu

npusim=$1 work=$2

echo 'device,model,step,way,measured_us,simulated_us,classes'
for f in traces/h200/kineto_*.json.gz traces/h200/steps/kineto_*.json.gz traces/h100/steps/kineto_*.json.gz; do
	device=${f#traces/}; device=${device%%/*}
	step=$(basename "$f" .json.gz); step=${step#kineto_}
	model=${step%%_b*} batch=${step#*_b}
	graph=$(awk -v m="$model" -v b="${batch%%_c*}" -v c="${batch#*_c}" -F'[:,}]' '
		{ gsub(/[ "]/, "") } $2 == m && $4 == b && $6 == c && $9 == "graph_ms" { printf "%.1f", $10 * 1000 }' "traces/$device/steps.jsonl")
	rm -f "$work/step.db"
	"$npusim" trace import "$f" -o "$work/step.db" >/dev/null
	"$npusim" run -c "configs/gpu/$device.yaml" -t "$work/step.db" --range decode_step_1 --format json |
		awk -v device="$device" -v model="$model" -v step="$step" -v graph="$graph" '
			{ key = $1; gsub(/[":]/, "", key); value = $2; gsub(/[",]/, "", value) }
			key == "total_us" { total = value }
			key == "wall_graph_us" { wall = value }
			key == "ops" && /\[/ { ops = 1 }
			ops && key == "us" { us = value }
			ops && key == "measured_us" { measured += value }
			ops && key == "family" { if (!(value in of)) name[++n] = value; of[value] += us }
			END {
				for (i = 1; i <= n; i++) classes = classes (i > 1 ? " " : "") sprintf("%s:%.4f", name[i], of[name[i]] / total)
				printf "%s,%s,%s,kernels,%.1f,%.1f,%s\n", device, model, step, measured, total, classes
				if (graph) printf "%s,%s,%s,graph,%.1f,%.1f,%s\n", device, model, step, graph, wall, classes
			}'
done
rm -f "$work/step.db"
