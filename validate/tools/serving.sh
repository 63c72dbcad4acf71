# serving.sh NPUSIM WORK - requests that real machines served, beside what is simulated of them: tables of validate/ACCURACY.md.
#
# They lie in SHARED/data/serving (default ../shared) and are not part of the project. No constant was fitted to any of these times; what
# vLLM's host takes of a request (configs/engine/vllm.yaml) is from prompts that its cache had, on the RTX 5090 of the published rows.
set -eu

npusim=$1 work=$2
data=${SHARED:-../shared}/data/serving
[ -f "$data/published.csv" ] || { echo "not run: serving/published.csv is absent" >&2; exit 0; }

# member KEY [OF]: a number of WORK/serve.json, the first after the object OF begins
member() { awk -F': ' -v k="\"$1\"" -v o="\"${2-}\": {" 'index($0, o) || o == "\"\": {" { on = 1 } on && index($1, k) { print $2 + 0; exit }' "$work/serve.json"; }

# ends FIGURE [OF]: "LOW HIGH" of a figure in WORK/serve.json, in its block of intervals
ends() {
	awk -F': ' -v k="\"$1\": {" -v o="\"${2-}\": {" '/"interval": \{/ { block = 1 } block && (index($0, o) || o == "\"\": {") { on = 1 }
		on && index($0, k) { at = 1 } at && index($1, "\"low\"") { low = $2 + 0 } at && index($1, "\"high\"") { print low, $2 + 0; exit }' "$work/serve.json"
}

# The engine's own log: its clock begins when a request is queued. Blocks of its cache as it told them.
awk -F, '{ sub(/\r$/, "") } NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "arrival_s,prompt,output,measured_ttft_ms,measured_total_ms"; next }
	{ q = $at["queued_ts"]; if (NR == 2) zero = q
	  printf "%.6f,%d,%d,%.3f,%.3f\n", q - zero, $at["input_toks"], $at["output_toks"], 1000 * ($at["first_token_ts"] - q), 1000 * ($at["last_token_ts"] - q) }' \
	"$data/vllm_rtx4090_llama8b.csv" >"$work/log.csv"
blocks=$(sed -n 's/.*"num_gpu_blocks": \([0-9]*\).*/\1/p' "$data/vllm_rtx4090_llama8b.json" | head -n 1)
"$npusim" serve -c rtx4090 -m llama-3.1-8b -r "$work/log.csv" --engine vllm --kv-memory "$((blocks * 2)) MiB" --check 0 --format json >"$work/serve.json"
echo '| log of an engine, not seen | requests | figure | error of each, mean % | bias % | medians % |'
echo '|---|---:|---|---:|---:|---:|'
for f in 'ttft TTFT' 'tpot TPOT' 'total end to end'; do
	of=${f%% *}
	printf '| RTX 4090, vLLM 0.19, Llama-3.1-8B bf16 | %d | %s | %.1f | %+.1f | %+.1f |\n' "$(member samples "$of")" "${f#* }" "$(member mape "$of")" \
		"$(member bias "$of")" "$(member p50_off "$of")"
done
echo
echo '| published, not seen | asked | figure | measured | simulated | error % | interval | within |'
echo '|---|---|---|---:|---:|---:|---:|---|'
# As long as a row takes: those of thirty thousand requests are a minute each.
awk -F, 'NR > 1 && $10 <= 3000 { e = tolower($4); e = e ~ /vllm/ ? "vllm" : e ~ /tensorrt/ ? "trtllm" : "none"; gsub(/"/, "")
	print $2 "|" $4 "|" $3 "|" $6 "|" $7 "|" $8 "|" $9 "|" $10 "|" ($11 ? $11 : "-") "|" ($12 ? $12 : "-") "|" $14 "|" ($19 ? $19 : "-") "|" ($21 ? $21 : "-") "|" e "|" $22 }' "$data/published.csv" |
	while IFS='|' read -r gpu name config model quant isl osl n rate conc tps p50 mean engine extra; do
		how="--arrivals at-once"
		[ "$rate" = - ] || how="--rate $rate/s"
		[ "$conc" = - ] || how="--concurrency $conc"
		# The configuration is of the SXM card: NVIDIA A100 data sheet (80 GB PCIe); of its pins streams reach what they do there.
		case $gpu in "A100 80GB PCIe") how="$how --set dram.bandwidth=1935GB/s --set gpu.dram_read=1685GB/s --set gpu.dram_write=1613GB/s --set power.cap=300W" ;; esac
		# shellcheck disable=SC2086 # options are words
		"$npusim" serve -c "configs/$config" -m "$model" $how --number "$n" --prompt "$isl" --output "$osl" --engine "$engine" $extra --check 0 \
			--format json >"$work/serve.json" || continue
		awk -v g="$gpu, $name, $model $quant, $isl to $osl" -v how="$(echo "${how#--}" | sed 's/ --set.*//')" -v p="$p50" -v m="$mean" -v t="$tps" -v sp="$(member p50 tpot_ms)" \
			-v sm="$(member mean tpot_ms)" -v st="$(member tokens_per_s)" -v ep="$(ends p50 tpot_ms)" -v em="$(ends mean tpot_ms)" \
			-v et="$(ends tokens_per_s)" 'BEGIN {
			if (p != "-") { what = "TPOT p50, ms"; a = p; b = sp; split(ep, x, " ") } else if (m != "-") { what = "TPOT mean, ms"; a = m; b = sm; split(em, x, " ") } else { what = "tokens/s"; a = t; b = st; split(et, x, " ") }
			printf "| %s | %s | %s | %.4g | %.4g | %+.1f | %.4g to %.4g | %s |\n", g, how, what, a, b, 100 * (b / a - 1), x[1], x[2],
				(a >= x[1] && a <= x[2]) ? "yes" : "no" }'
	done
