# Algorithms of attention by name: what each is by count, simulated on an NPU and on GPUs, as an axis of a sweep.
# tier: gate
. validate/tests/golden/common
try workload attend llama-3.1-8b --context 8192
try workload attend deepseek-v3 --batch 16 --context 4096 --format csv
try workload attend llama-3.2-1b --phase prefill --tokens 512 --format json

# 'simulated' of a run, in words against what flash takes: times are the machines' own business.
us() {
	"$NPUSIM" run --fidelity analytic --ops 0 --layers 1 "$@" | awk '/^simulated  / { print $2; exit }'
}
against_flash() { # TEXT OPTION...
	text=$1
	shift
	for how in split_kv materialised mla; do
		[ $how = mla ] && case $* in *llama*) continue ;; esac
		echo "$how $(us "$@" --attention flash) $(us "$@" --attention $how)" |
			awk -v of="$text" '{ r = $3 / $2; print of ": " $1 " takes " (r > 1.01 ? "longer" : r < 0.99 ? "less" : "as long") }'
	done
}
for c in dsocr h100; do
	against_flash "$c, a token past 32768" -c $c -m llama-3.2-1b --context 32768 --batch 4
	against_flash "$c, a prompt of 1024" -c $c -m llama-3.2-1b --phase prefill --tokens 1024
	against_flash "$c, over a latent" -c $c -m deepseek-v2-lite --context 4096
done

cat >"$TMP/axis.yaml" <<'END'
sweep: 1
base: configs/npu/dsocr.yaml
workload: {name: llama-3.2-1b, context: 4096, layers: 1}
fidelity: analytic
axes: {model.attention: [flash, split_kv, materialised], model.batch: [1, 16]}
columns: {ms: latency_us / 1000}
END
try sweep "$TMP/axis.yaml" --format csv 2>/dev/null | cut -d, -f1-4
sed 's/split_kv/split_vk/' "$TMP/axis.yaml" >"$TMP/bad.yaml"
try sweep "$TMP/bad.yaml" --format csv 2>/dev/null | grep -o "unknown attention.*"

# What cannot be.
try run -c h100 -m llama-3.2-1b --attention flsh
try run -c h100 -m llama-3.2-1b --attention mla
try run -c dsocr -m llama-3.2-1b --style llamacpp --attention flash
try run -c dsocr -t "$TRACE" --attention flash
try workload attend deepseek-ocr --phase vision
