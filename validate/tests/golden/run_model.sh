# tier: gate
# A model without a trace on an NPU and on a GPU.
. validate/tests/golden/common

totals() { # OPTIONS...: the head and the totals
	echo "\$ npusim run $*"
	"$NPUSIM" run "$@" --all --ops 0 | sed -n '/^workload/p; /^total/,/^$/p'
}

# On an NPU the mapper says how long it takes, which is none of this text.
on_npu() { # OPTIONS...
	totals -c $CONFIG "$@" | awk '
	/^simulated/ { us = $2 }
	/^roofline/ { us_least = $2 }
	/^tokens a/ { tokens = us * $4 / 1e6 }
	!/^(simulated|roofline|mapped|  |tokens a|total|-|$)/
	END { printf "%s its roofline, %.2f tokens in its time\n", us < us_least ? "under" : "at or above", tokens }'
}

on_npu -m deepseek-ocr --context 1024 --fidelity analytic
on_npu -m deepseek-ocr --context 1024 --style eager --fidelity analytic
on_npu -m llama-3.2-1b --batch 16 --context 8192 --quant w4a16_g128 --fidelity analytic
on_npu -m llama-3.2-1b --phase prefill --tokens 256 --fidelity analytic
on_npu -m qwen2-0.5b --tokens 3 --context 100 --fidelity analytic
totals -c configs/gpu/h200.yaml -m deepseek-ocr --context 1024 --style eager
totals -c configs/gpu/h200.yaml -m qwen2-0.5b --context 1024
totals -c configs/gpu/gb200.yaml -m deepseek-r1-nvfp4-v2 --batch 16 --layers 4 --experts 32

"$NPUSIM" run -c configs/gpu/h200.yaml -m deepseek-ocr --phase vision --style eager --all --ops 0 | sed -n '/^unknown/p; /^simulated  /p'
"$NPUSIM" run -c configs/gpu/h200.yaml -m deepseek-ocr --phase vision --style eager | sed -n '/^unknown/p'

totals -c configs/gpu/rtx5090.yaml -m deepseek-ocr --phase vision --style eager --image 640 --batch 6
try run -c $CONFIG -m deepseek-ocr --phase vision --image 650 2>&1
try run -c $CONFIG -m deepseek-ocr --image 640 2>&1

# Scripts: nothing is measured, so nothing is said to be.
"$NPUSIM" run -c $CONFIG -m deepseek-ocr --context 1024 --fidelity analytic --format json >"$TMP/run.json"
for f in measured_us measured_wall_us speedup_kernels workload range; do
	echo "$f $(field $f "$TMP/run.json")"
done
"$NPUSIM" run -c $CONFIG -m deepseek-ocr --context 1024 --fidelity analytic --format csv | head -n 4 | cut -d, -f1-4

# Kept as any run is, and the same workload is told from another.
quiet run -c $CONFIG -m deepseek-ocr --context 1024 --fidelity analytic -o "$TMP/r.db"
quiet run -c $CONFIG -m deepseek-ocr --context 2048 --fidelity analytic -o "$TMP/r.db"
"$NPUSIM" compare 1 2 -r "$TMP/r.db" 2>&1 | grep "different workloads"

try run -c configs/gpu/gb200.yaml -m deepseek-r1-nvfp4-v2 --batch 16 2>&1
# What the tensor cores do not take, and what is taken in its place.
try run -c configs/gpu/h200.yaml -m llama-3.1-8b --quant nvfp4 2>&1
try run -c configs/gpu/a100.yaml -m llama-3.1-8b --quant fp8 2>&1
quiet run -c configs/gpu/h200.yaml -m llama-3.1-8b --quant nvfp4a16
try run -c $CONFIG 2>&1
try run -c $CONFIG -m deepseek-ocr -t $SMALL 2>&1
try run -c $CONFIG -t $SMALL --batch 4 2>&1
try run -c $CONFIG -m deepseek-ocr --range decode_step_1 2>&1
try run -c $CONFIG -m llama-3.1-8b --context 200000 2>&1
