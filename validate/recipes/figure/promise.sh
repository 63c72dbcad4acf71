# It is in the document, in the stored row, in a sweep's table and CSV, and in expressions, with one value; stages of a request
# sum it, and a pipeline has it.
commands() { value commands run -c edge -m llama-3.2-1b --layers "$1" --format json --fidelity analytic; }
one=$(commands 1) two=$(commands 2)
holds "a run has it: '$one' of one layer, '$two' of two" more "$two" "$one" 0
run run -c edge -m llama-3.2-1b --layers 2 --fidelity analytic -o "$TMP/r.db" >/dev/null
prints "commands,.*$two" export "$TMP/r.db" run-stats
event=$(value commands run -c edge -m llama-3.2-1b --layers 1 --format json)
holds "events run the same commands: $event" [ "$event" = "$one" ]

cat >"$TMP/s.yaml" <<'Y'
sweep: 1
base: configs/npu/edge.yaml
workload: {name: llama-3.2-1b, layers: 2}
fidelity: analytic
axes: {l2.size: [4 MiB]}
columns: {half: commands / 2}
Y
run sweep "$TMP/s.yaml" -j 1 -o "$TMP/s.db" --format csv >"$TMP/points.csv" 2>/dev/null
column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR == 2 && at { print $at }' "$TMP/points.csv"; }
holds "a sweep's row has it: '$(column commands)'" [ "$(column commands)" = "$two" ]
prints "^1,0,commands,$two," export "$TMP/s.db" stats
holds "an expression has it: '$(column half)'" awk -v h="$(column half)" -v n="$two" 'BEGIN { exit h * 2 != n }'

stages() { value commands run -c edge -m llama-3.2-1b --layers 1 --fidelity analytic --format json --stages "$1"; }
holds "a request is the sum of its stages" \
	[ "$(stages 'prefill:tokens=64; decode:tokens=1')" = "$(($(stages 'prefill:tokens=64') + $(stages 'decode:tokens=1')))" ]
pipe=$(value commands run -c dsocr-8 -m llama-3.2-1b --layers 2 --pp 2 --fidelity analytic --format json)
whole=$(value commands run -c dsocr -m llama-3.2-1b --layers 2 --fidelity analytic --format json)
holds "a chip of a pipeline has a part of them: '$pipe' of $whole" more "$whole" "$pipe" 0
