# A measured decode step asked at another batch and context: the head and totals of a run, and what is refused.
# tier: gate
. validate/tests/golden/common

step=traces/h200/steps/kineto_llama8b_b1_c2048.json.gz
try run -c $CONFIG -t $step --range decode_step_1 --batch 16 --context 512 --fidelity analytic --all | grep -E "^(. npusim|workload|measured|kind|[a-z]+ +[0-9]+ )" |
	cut -c1-150 | sed 's/ [0-9]*\.[0-9].*//'
dsocr=traces/h200/kineto_dsocr_b1_c1024.json.gz
for skew in 0 1; do
	try run -c $CONFIG -t $dsocr --range decode_step_1 --batch 8 --skew $skew --fidelity analytic --all |
		grep -E "^(. npusim|workload|experts|[a-z]+ +[0-9]+ )" | cut -c1-150 | sed 's/ [0-9]*\.[0-9].*//; s/ *$//' | sort
done
try run -c $CONFIG -t $dsocr --range decode_step_1 --context 8 --skew 1 2>&1
try run -c $CONFIG -t traces/h200/steps/kineto_olmoe_b1_c1024.json.gz --range decode_step_1 --batch 8 2>&1
try run -c $CONFIG -t workloads/ops/gb200-decode.csv --context 8 2>&1
try run -c $CONFIG -t $step --range decode_step_1 --batch 65537 2>&1
try run -c $CONFIG -t $step --range decode_step_1 --batch 16 --tokens 4 2>&1

# What 'run' takes of a trace, 'limits', a sweep and an ablation take, too, and all start from the same time.
STEP="-t traces/h200/steps/kineto_llama8b_b1_c2048.json.gz --range decode_step_1"
"$NPUSIM" run -c $CONFIG $STEP --batch 16 --context 512 --rewrite native-bf16 --fidelity analytic --format json >"$TMP/run.json"
"$NPUSIM" limits -c $CONFIG $STEP --batch 16 --context 512 --rewrite native-bf16 --pairs 0 --fidelity analytic --format json >"$TMP/limits.json"
cat >"$TMP/s.yaml" <<END
sweep: 1
base: $PWD/$CONFIG
trace: $PWD/traces/h200/steps/kineto_llama8b_b1_c2048.json.gz
range: decode_step_1
rewrite: native-bf16
workload: {context: 512}
fidelity: analytic
axes: {model.batch: [1, 16]}
columns: {of_one: latency_us / model.batch}
objectives: [latency_us]
END
"$NPUSIM" sweep "$TMP/s.yaml" -j 1 --format csv 2>/dev/null >"$TMP/s.csv"
cat >"$TMP/a.yaml" <<END
ablation: 1
base: $PWD/$CONFIG
workloads:
- {name: w, trace: $PWD/traces/h200/steps/kineto_llama8b_b1_c2048.json.gz, range: decode_step_1, batch: 16, context: 512, rewrite: native-bf16}
changes:
- {name: c, set: {cores: 4}}
END
"$NPUSIM" ablate "$TMP/a.yaml" --fidelity analytic --format json >"$TMP/a.json"
us=$(field total_us "$TMP/run.json")
[ "$(field total_us "$TMP/limits.json")" = "$us" ] && echo "limits start from what run says"
grep -q ",$us," "$TMP/s.csv" && echo "so does a point of a sweep"
grep -q "us\": $us" "$TMP/a.json" && echo "so does an ablation"
sed 's/^axes.*/axes: {cores: [4]}\nwhere: model.batch > 1/' "$TMP/s.yaml" >"$TMP/bad.yaml"
try sweep "$TMP/bad.yaml" --dry-run 2>&1
sed 's/model.batch:.*/model.phase: [decode]}/' "$TMP/s.yaml" >"$TMP/bad.yaml"
try sweep "$TMP/bad.yaml" --dry-run 2>&1
sed 's/^workload:.*/workload: {tokens: 4}/' "$TMP/s.yaml" >"$TMP/bad.yaml"
try sweep "$TMP/bad.yaml" --dry-run 2>&1
sed 's|npu/dsocr.yaml|gpu/h200.yaml|' "$TMP/s.yaml" >"$TMP/bad.yaml"
try sweep "$TMP/bad.yaml" --dry-run 2>&1
sed '/^rewrite/d; s|npu/dsocr.yaml|gpu/h200.yaml|; s/model.batch:.*/model.rewrite: [native-bf16]}/' "$TMP/s.yaml" >"$TMP/bad.yaml"
try sweep "$TMP/bad.yaml" --dry-run 2>&1
