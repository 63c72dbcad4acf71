# Requests as a sweep's workload: rows are what npusim serve says of each machine, whoever works on them, and lie in the database.
. validate/tests/golden/common

cat >"$TMP/s.yaml" <<'END'
sweep: 1
base: configs/npu/tpu-v6e.yaml
workload: {name: qwen2-0.5b}
serve: {rate: 5/s, number: 6, prompt: 32, output: exp:4, max_batch: 2, slo_ttft: 90 ms}
fidelity: analytic
axes:
  dram.bandwidth: [800 GB/s, 1600 GB/s]
objectives: [area_mm2, {name: user, maximize: tokens_per_s_user}]
constraints: within_bounds > 0
END
# Without the times, which are the mapper's.
try sweep "$TMP/s.yaml" -o "$TMP/r.db" 2>/dev/null | sed 's/[0-9][0-9]*\.[0-9]*/#/g; s/  */ /g; s/--*/-/g'
"$NPUSIM" sweep "$TMP/s.yaml" -j 1 --format csv 2>/dev/null >"$TMP/one.csv"
"$NPUSIM" sweep "$TMP/s.yaml" -j 3 --format csv 2>/dev/null | cmp - "$TMP/one.csv" && echo "rows do not depend on workers"
sed -n 1p "$TMP/one.csv"
"$NPUSIM" sweep "$TMP/s.yaml" -o "$TMP/r.db" 2>&1 >/dev/null | grep "there already"
"$NPUSIM" export "$TMP/r.db" sweeps | grep -o "requests: [^\"]*"
sed 's/number: 6/number: 7/' "$TMP/s.yaml" >"$TMP/other.yaml"
"$NPUSIM" sweep "$TMP/other.yaml" -o "$TMP/r.db" 2>&1 >/dev/null | grep -c "there already"
"$NPUSIM" serve -c configs/npu/tpu-v6e.yaml --set 'dram.bandwidth=1600 GB/s' -m qwen2-0.5b --rate 5/s --number 6 --prompt 32 \
	--output exp:4 --max-batch 2 --slo-ttft '90 ms' --format json >"$TMP/serve.json"
p99=$(sed -n '/"ttft_ms"/,/}/s/^ *"p99": \([0-9.]*\).*/\1/p' "$TMP/serve.json")
echo "as serve says: $(tail -n 1 "$TMP/one.csv" | tr , '\n' | grep -cx "$p99")"
try pareto "$TMP/r.db" --sweep 1 --maximize 1/ttft_p99_ms | sed 's/[0-9][0-9]*\.[0-9]*/#/g; s/  */ /g; s/--*/-/g'

echo "the largest rate within bounds"
sed 's|^serve:.*|serve: {find_rate: true, slo_ttft: 3 ms, number: 4, prompt: 32, output: 3, max_batch: 2}|; s/user, maximize.*}/rate, maximize: max_rate}/' "$TMP/s.yaml" >"$TMP/f.yaml"
"$NPUSIM" sweep "$TMP/f.yaml" --format csv 2>/dev/null | cut -d, -f6 | sed 's/\..*//' | awk 'NR == 1 { print } NR > 1 { print ($1 > 0), (NR == 2 || $1 >= was); was = $1 }'

fails() { # SED EXPRESSION
	sed "$1" "$TMP/s.yaml" >"$TMP/bad.yaml"
	try sweep "$TMP/bad.yaml" --dry-run 2>&1
}
fails 's/rate: 5/rat: 5/'
fails 's/rate: 5.s/rate: 5/'
fails 's/number: 6/number: 0/'
fails 's/number: 6/find_rate: maybe/'
fails 's/slo_ttft: 90 ms/slo_ttft: 90/'
fails 's/rate: 5.s, number: 6, prompt: 32, output: exp:4, max_batch: 2/requests: absent.csv/'
fails 's/^serve:.*/serve: 4/'
fails 's/^workload:.*/trace: x.db/'
fails 's/dram.bandwidth: .*/model.batch: [1, 2]/'
fails 's/tokens_per_s_user/roofline_us/'
fails 's/^serve.*//'
