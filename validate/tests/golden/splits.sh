# tier: gate
# A model over several chips: stages, replicas, experts; what is refused. R1 whole on eight chips, on one screen.
set -u
run() { "$NPUSIM" run --fidelity analytic "$@" || echo "exit $?"; }
run -c dsocr-8 -m llama-3.2-1b --pp 4 --tp 2 --batch 8 | head -12
run -c dsocr-8 -m llama-3.2-1b --pp 4 --batch 4 --phase prefill --tokens 128 --format json >"$TMP/run.json"
grep -E '"(chips|bubble_us|links_bytes|total_us|passes)"' "$TMP/run.json"
for on in dsocr-8 gb200-nvl72; do
	run -c $on -m deepseek-r1 --quant nvfp4 --tp 8 --ep 8 --batch 16 >"$TMP/r1"
	[ "$(wc -l <"$TMP/r1")" -le 40 ] && echo "40 lines at most"
	head -n 5 "$TMP/r1"
done
run -c gb200-nvl72 -m deepseek-r1 --quant nvfp4 --ep 8 --batch 64 | head -5
run -c dsocr-8 -m llama-3.1-8b --pp 4 --batch 4 --program "$TMP/p.txt"
run -c dsocr-8 -m llama-3.1-8b --pp 4 --batch 4 --rewrite kv-append
run -c dsocr-8 -m llama-3.1-8b --pp 16 --batch 16
run -c dsocr-8 -m llama-3.1-8b --dp 3 --batch 4
run -c dsocr -m llama-3.1-8b --dp 2 --batch 4 --layers 2 | head -1
run -c dsocr -m llama-3.1-8b --pp 2
run -c dsocr-8 -m deepseek-v2-lite --tp auto --pp auto --dp auto --ep auto --batch 64 | grep -A 1 '^split'
run -c dsocr-8,hgx-h200 -m llama-3.2-1b --tp auto | grep '^split'
run -c dsocr-8 -m llama-3.2-1b --tp auto --stages 'prefill:tokens=64; decode:tokens=4'
"$NPUSIM" limits -c dsocr-8 -m llama-3.2-1b --layers 2 --tp auto --fidelity analytic --pairs 0 | grep -c 'links'
run -c dsocr-8 -m llama-3.2-1b --tp autoo
"$NPUSIM" workload build llama-3.2-1b --tp auto || echo "exit $?"
cat >"$TMP/s.yaml" <<EOF
sweep: 1
base: $PWD/configs/system/dsocr-8.yaml
workload: {name: llama-3.2-1b, batch: 8}
axes: {model.tp: [1, 2, auto], links.bandwidth: [50 GB/s, 450 GB/s]}
fidelity: analytic
objectives: [latency_us, {name: size, minimize: chips}]
EOF
"$NPUSIM" sweep "$TMP/s.yaml" -j 1 --format csv 2>/dev/null | cut -d, -f1-3,5
"$NPUSIM" design -c dsocr-8 -m llama-3.2-1b --tp auto --axis links.chips=1,2,4,8 --axis links.bandwidth=x0.25,x1 \
	--reach 'tokens/s >= 2500' --minimize chips -n 20 -j 1 --fidelity analytic 2>/dev/null | head -2
# A step as Chakra execution traces, a file a chip.
"$NPUSIM" export --chakra "$TMP/step" -c dsocr-8 -m llama-3.2-1b --tp 2 --pp 2 --batch 2 --layers 4
cat "$TMP/step.groups.json"
wc -c "$TMP"/step.*.et | awk '{ print ($1 > 1000) }'
"$NPUSIM" export --chakra "$TMP/step" -c dsocr-8 || echo "exit $?"
"$NPUSIM" export || echo "exit $?"
"$NPUSIM" export "$TMP/r.db" -c dsocr-8 || echo "exit $?"
