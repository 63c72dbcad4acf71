# npusim validate on devices that were not traced: a published profile, a table of our own making, and what is refused.
# Measured numbers only: those of the model may change, and are bounded.
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
profile="-t $TMP/t.db --profile traces/rtx5090/dsocr_decode.csv"
"$NPUSIM" validate -c configs/gpu/rtx5090.yaml $profile --range decode_step_1 --steps 64 --max-mape '10 %' --format csv >"$TMP/p"
echo "kernels of a token within 10 %: exit $?"
cut -d, -f1,2,4,7 "$TMP/p"
try validate -c configs/gpu/rtx5090.yaml $profile --range decode_step_1 --steps 1 --max-mape '10 %' 2>&1 | grep 'max-mape allows' | sed 's/are [-0-9.]* %/are N %/'
try validate -c configs/gpu/rtx5090.yaml --profile traces/rtx5090/dsocr_decode.csv
try validate -c configs/gpu/rtx5090.yaml $profile --steps 0
try validate -c configs/gpu/rtx5090.yaml -t "$TMP/t.db" --range decode_step_1
try validate -c configs/gpu/rtx5090.yaml
# A replay has no grids: it is run, or held by family; both say the same.
try validate -c configs/gpu/rtx5090.yaml -t traces/rtx5090/dsocr.yaml
"$NPUSIM" validate -c configs/gpu/rtx5090.yaml -t validate/data/engines/gemm_square_rtx5090.csv --max-mape '15 %' >/dev/null
echo "products at the clock that such a card boosts to: exit $?"
"$NPUSIM" run -c configs/gpu/rtx5090.yaml -t traces/rtx5090/dsocr.yaml --ops 0 | awk '/^  kernels alone/ { printf "%.1f us of kernels\n", $3 }' >"$TMP/run.us"
"$NPUSIM" validate -c configs/gpu/rtx5090.yaml -t traces/rtx5090/dsocr.yaml --profile traces/rtx5090/dsocr_decode.csv --steps 64 |
	awk '$1 == "all" { printf "%.1f us of kernels\n", $5 }' | cmp - "$TMP/run.us" && echo "one figure"
try validate -c $CONFIG --table traces/rtx5090/dsocr_decode.csv
try validate -c configs/gpu/a100.yaml --table traces/rtx5090/dsocr_decode.csv
printf 'gpu,kernel,dtype,m,n,k,time_us\nG,x,bfloat16,1,4096,4096,22\nG,x,bfloat16,16,4096,4096,24\n' >"$TMP/g.csv"
try validate -c configs/gpu/a100.yaml --table "$TMP/g.csv" --format csv | cut -d, -f1-7
try validate -c configs/gpu/a100.yaml --table "$TMP/g.csv" --max-mape '0.01 %' --worst 0 2>&1 | grep 'max-mape allows' | sed 's/is [0-9.]* %/is N %/'
printf 'gpu,kernel,dtype,m,n,k,time_us\nG,x,fp8_block,1,4096,4096,300\nG,x,nvfp4,1,4096,4096,9\nG,x,bfloat16,1,4096,4096,22\n' >"$TMP/h.csv"
"$NPUSIM" validate -c configs/gpu/l40s.yaml --table "$TMP/h.csv" --worst 0 | grep '^left out'
echo "a trace of another device: refused where SMs and capability tell, told where only the name does"
try validate -c configs/gpu/rtx5090.yaml -t "$TMP/t.db"
"$NPUSIM" validate -c configs/gpu/h100.yaml -t "$TMP/t.db" --worst 0 2>&1 >/dev/null | sed "s|$TMP|TMP|"

# An NPU with a GPU's resources beside the GPU's kernels, op by op.
"$NPUSIM" trace import traces/h200/operators/own_prefill.json.gz -o "$TMP/p.db" >/dev/null
echo "the twin: rows of $("$NPUSIM" validate -c configs/npu/h200-twin.yaml -t "$TMP/p.db" --twin --fidelity analytic --format csv | cut -d, -f2 | sort | uniq -c | sed 's/^ *//' | tr '\n' ';')"
"$NPUSIM" validate -c configs/gpu/h200.yaml -t "$TMP/p.db" --twin; echo "exit $?"
