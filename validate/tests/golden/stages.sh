# tier: gate
# The stages of a request as one answer: of a model, of ranges, on an NPU and on a GPU; what is kept of it; what is refused.
. validate/tests/golden/common

# How long it takes is the machine's affair, and none of this text: what ran, and that it adds up.
staged() { # OPTIONS...
	echo "\$ npusim run $*"
	"$NPUSIM" run "$@" >"$TMP/text"
	sed -n '1s/ in .*//p; /^workload/,/^interval/{ /^interval/!p; }' "$TMP/text"
	"$NPUSIM" run "$@" --format csv | cut -d, -f1-5
	echo
}

page='vision:image=640; vision:image=512,batch=2; prefill:tokens=240; decode:tokens=33'
staged -c $CONFIG -m deepseek-ocr --fidelity analytic --stages "$page"
"$NPUSIM" run -c $CONFIG -m deepseek-ocr --fidelity analytic --stages "$page" --format json >"$TMP/run.json"
for f in answer_tokens request_steps fidelity; do
	echo "$f $(field $f "$TMP/run.json")"
done
# Stages' figures are the whole's: those of the list below the one of the head.
for f in total_us energy_uj dram_read_bytes flops; do
	sed -n "s/^\(  \|      \)\"$f\": \([0-9.e+]*\),*\$/\2/p" "$TMP/run.json" |
		awk -v f=$f 'NR == 1 { all = $1; next } { sum += $1 } END {
			off = sum / all - 1; print f ":", NR - 1, "stages", off * off < 1e-14 ? "add up" : "do not add up" }'
done

# A single stage is the plain run, and stored as it.
for f in "-c $CONFIG" "-c $CONFIG --fidelity analytic" "-c configs/gpu/h200.yaml"; do
	"$NPUSIM" run $f -m qwen3-0.6b --layers 2 --context 300 -o "$TMP/r.db" --format json >"$TMP/plain.json"
	"$NPUSIM" run $f -m qwen3-0.6b --layers 2 --stages decode:context=300 -o "$TMP/r.db" --format json >"$TMP/one.json"
	for v in total_us energy_uj dram_read_bytes roofline_us fused_us spread_ppm run; do
		[ "$(field $v "$TMP/plain.json")" = "$(field $v "$TMP/one.json")" ] || echo "$f: $v differs"
	done
done

# Of ranges that were measured, on the GPU that ran them too; and kept, as any run is.
staged -c $CONFIG -t $TRACE --fidelity analytic --stages 'decode:range=decode_step_1,tokens=3; decode:range=decode_step_2' -o "$TMP/r.db"
staged -c configs/gpu/h200.yaml -t $TRACE --stages 'decode:range=decode_step_1; decode:range=decode_step_2,tokens=9,context=2000' -o "$TMP/r.db"
staged -c configs/gpu/h200.yaml --stages "vision:model=deepseek-ocr,image=640; prefill:model=deepseek-ocr,tokens=111; decode:trace=$TRACE,range=decode_step_1,tokens=4"
"$NPUSIM" compare 4 5 -r "$TMP/r.db" | awk '/what it is/ { at = index($0, "what it is") } at && /^ *[45] / { print substr($0, at) }'
"$NPUSIM" export "$TMP/r.db" ops 2>&1 | grep '^5,' | sed -n '1p; $p' | cut -d, -f1-4
quiet report "$TMP/r.db" --still -o "$TMP/r.html"

for s in decod:tokens=4 decode:tokns=4 decode:tokens=4,context decode:tokens=0 prefill:image=640 decode:phase=prefill decode:range=r \
	decode:tokens=9000 'prefill; vision:image=650' ';'; do
	try run -c $CONFIG -m deepseek-ocr --stages "$s" 2>&1
done
try run -c $CONFIG -m deepseek-ocr --stages decode --phase decode 2>&1
try run -c $CONFIG -m deepseek-ocr --stages decode --timeline "$TMP/t.json" 2>&1
try run -c $CONFIG -m deepseek-ocr --stages decode --rewrite kv-append,native-bf17 2>&1
try run -c configs/gpu/h200.yaml -m deepseek-ocr --stages 'vision; decode:rewrite=kv-append' 2>&1
