# A model as a sweep's workload, and its parameters as axes beside a machine's.
. validate/tests/golden/common

cat >"$TMP/s.yaml" <<'END'
sweep: 1
base: configs/npu/dsocr.yaml
workload: {name: llama-3.2-1b, style: npu, context: 2048}
fidelity: analytic
axes:
  model.batch: [1, 16]
  model.quant: [bf16, w4a16_g128]
  dram.bandwidth: [1 TB/s, 2 TB/s]
columns: {tokens_per_s: "1e6 * model.batch / latency_us"}
where: model.batch < 16 or dram.bandwidth > 1e12
objectives: [latency_us, {name: rate, maximize: tokens_per_s}]
END
# Without the times, which are the mapper's.
try sweep "$TMP/s.yaml" -j 2 -o "$TMP/r.db" 2>/dev/null | sed 's/^\( *[0-9]  .* TB.s\) .*/\1/; s/, [0-9.]* with/ with/'
"$NPUSIM" sweep "$TMP/s.yaml" -j 1 --format csv 2>/dev/null >"$TMP/one.csv"
"$NPUSIM" sweep "$TMP/s.yaml" -j 3 --format csv 2>/dev/null | cmp - "$TMP/one.csv" && echo "rows do not depend on workers"
"$NPUSIM" sweep "$TMP/s.yaml" -o "$TMP/r.db" 2>&1 >/dev/null | grep "there already"
"$NPUSIM" run -c $CONFIG -m llama-3.2-1b --batch 16 --context 2048 --quant w4a16_g128 --set 'dram.bandwidth=2 TB/s' \
	--fidelity analytic --format json >"$TMP/run.json"
[ "$(field total_us "$TMP/run.json")" = "$(tail -n 1 "$TMP/one.csv" | cut -d, -f6)" ] && echo "the last point is that run"

# What cannot be built is a row that says so.
sed 's/quant: \[.*\]/context: [1024, 200000]/' "$TMP/s.yaml" >"$TMP/far.yaml"
try sweep "$TMP/far.yaml" --format csv 2>/dev/null | cut -d, -f1-4,34,36

fails() { # SED EXPRESSION
	sed "$1" "$TMP/s.yaml" >"$TMP/bad.yaml"
	try sweep "$TMP/bad.yaml" --dry-run 2>&1
}
fails 's/model.batch:/model.bach:/'
fails 's/model.batch: \[1, 16\]/model.batch: [0]/'
fails 's/^workload:.*/trace: x/'
fails 's/^workload:.*/workload: {batch: 2}/'
fails 's/^workload:.*/workload: {name: llama-3.2-1b, contexts: 5}/'
fails 's/^workload:.*/workload: llama-3.2-1b/'
fails 's/name: llama-3.2-1b/name: llama-3.2-2b/'
fails 's/^fidelity/trace: x.db\nfidelity/'
