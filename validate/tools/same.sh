#!/bin/sh
# same.sh OLD NEW - two builds of npusim, each run in its own checkout, over what a change of structure must leave as it
# is: whole runs as JSON on both NPUs and on the H200 (both fidelities, cold and steady, both traces), configurations as
# they resolve, programs, limits, validation of the GPU model, and every study as CSV. Prints one line an output, the
# first differing lines of those that differ, and the sum. QUICK=1 leaves out the studies. Exit 1: something differs.
#   sh validate/tools/same.sh ../before/build/release/npusim build/release/npusim
set -u

[ $# = 2 ] || { echo "usage: same.sh OLD NEW" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
same=0 different=0

# Which build it is, and that the error in configs/accuracy was found with another one.
builds='/"build":/d; s|\\n *warning: that was found with another build[^\\"]*||; /^ *warning: that was found with another build/d; /^npusim: .* points.* workers/d'

# of SIDE NPUSIM ARGUMENT...: what it prints, and its exit code, with what names a build or a folder taken out
of() {
	side=$1 bin=$2
	shift 2
	root=$(cd "$(dirname "$bin")/../.." && pwd)
	rm -f "$work/timeline"
	ln -sfn "$side.dbs" "$work/dbs"
	(cd "$root" && "$bin" "$@" 2>&1; echo "exit $?"; cat "$work/timeline" 2>/dev/null) |
		sed "s|$work|WORK|g; s|$root|ROOT|g; $builds" >"$work/$side"
}

compare() { # ARGUMENT...: of npusim
	of old "$old" "$@"
	of new "$new" "$@"
	if cmp -s "$work/old" "$work/new"; then
		same=$((same + 1))
	else
		different=$((different + 1))
		echo "differs: npusim $(echo "$*" | sed "s|$work|WORK|g")"
		diff "$work/old" "$work/new" | cut -c 1-300 | head -n "${LINES_SHOWN:-6}"
	fi
}

old=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
new=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
# Each build reads what it imported itself, under one name: a schema may be newer.
dsocr=$work/dbs/dsocr.db llama=$work/dbs/llama.db operators=$work/dbs/operators.db
for side in old new; do
	mkdir "$work/$side.dbs"
	ln -sfn "$side.dbs" "$work/dbs"
	bin=$old
	[ $side = old ] || bin=$new
	"$bin" trace import traces/h200/kineto_dsocr_b1_c1024.json.gz -o "$dsocr" >/dev/null 2>&1
	"$bin" trace import traces/h200/kineto_llama1b_b1_c256.json.gz -o "$llama" >/dev/null 2>&1
	"$bin" trace import traces/h200/operators/*.json.gz -o "$operators" >/dev/null 2>&1
done

for trace in "$dsocr" "$llama"; do
	for npu in dsocr edge; do
		for fidelity in event analytic; do
			for start in cold steady; do
				compare run -c configs/npu/$npu.yaml -t "$trace" --range decode_step_1 --fidelity $fidelity --start $start --format json
			done
		done
		compare run -c configs/npu/$npu.yaml -t "$trace" --range decode_step_1 --set fusion.enabled=false --set weights.dtype=int4 --format json
		compare run -c configs/npu/$npu.yaml -t "$trace" --range decode_step_1 --set gemv.units=0 --set matrix.rows=128 --format json
		compare run -c configs/npu/$npu.yaml -t "$trace" --range decode_step_1
		compare run -c configs/npu/$npu.yaml -t "$trace" --range decode_step_1 --explain-fusion
		compare limits -c configs/npu/$npu.yaml -t "$trace" --range decode_step_1 --format json
		compare run -c configs/npu/$npu.yaml -t "$trace" --range decode_step_1 --ops 0 --timeline "$work/timeline"
	done
	for gpu in h200 h100 rtx5090; do
		compare run -c configs/gpu/$gpu.yaml -t "$trace" --range decode_step_1 --format json
		compare run -c configs/gpu/$gpu.yaml -t "$trace" --range decode_step_1
	done
	compare trace ops "$trace" --format json
	compare trace top "$trace" --format json
	compare trace classify "$trace" --range decode_step_1 --format json
	compare trace roofline "$trace" --range decode_step_1 --format json
	compare trace hist "$trace" --range decode_step_1 --format json
done
compare run -c configs/npu/dsocr.yaml -t traces/rtx5090/dsocr.yaml --format json
compare run -c configs/gpu/rtx5090.yaml -t traces/rtx5090/dsocr.yaml --format json
compare trace review traces/rtx5090/review.yaml
compare validate -c configs/gpu/h200.yaml -t "$operators" --format json
for config in configs/npu/*.yaml configs/gpu/*.yaml; do
	compare config show "$config"
	compare config show "$config" --format json
	compare config check "$config"
	compare probe latency -c "$config" --format json
	compare probe stream -c "$config" --format json
done
compare config explain
compare man
for shell in bash zsh fish; do compare completion $shell; done
if [ "${QUICK-}" != 1 ]; then
	for study in $(grep -l "^sweep:" configs/studies/*.yaml); do
		compare sweep "$study" --format csv
	done
fi
echo "$same the same, $different different"
[ "$different" = 0 ]
