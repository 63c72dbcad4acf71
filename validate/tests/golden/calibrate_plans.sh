# npusim calibrate by every key of every plan in configs/calibrate, each alone and all of a plan together: the error and bias it tells
# are those that npusim validate finds of the file it writes. Each plan is held on a machine that it is for, by few rows which its
# keys move; a plan that is not in the list below says so.
# tier: nightly
. validate/tests/golden/common

# products; attention of prompts as a fused kernel does it; as a TPU's kernels do it
cat >"$TMP/products.csv" <<END
op,name,m,n,k,dtype,measured_us
gemm,one,1,1024,1024,bf16,40
gemm,some,32,512,1024,bf16,37
gemm,many,512,1024,1024,bf16,50
gemm,wide,256,1024,256,bf16,45
END
sed -e 's/,40$/,9/' -e 's/,37$/,7/' -e 's/,50$/,11/' -e 's/,45$/,8/' "$TMP/products.csv" >"$TMP/fast.csv"
cat >"$TMP/flash.csv" <<END
op,name,batch,heads,kv_heads,q_len,kv_len,head_dim,causal,algorithm,dtype,measured_us
attention,narrow,1,8,8,512,512,64,1,flash,bf16,60
attention,wide,1,8,8,1024,1024,128,1,flash,bf16,150
attention,long,1,8,2,2048,2048,64,1,flash,bf16,300
END
sed -e 's/,60$/,900/' -e 's/,150$/,1700/' -e 's/,300$/,2900/' "$TMP/flash.csv" >"$TMP/flash_slow.csv"
cat >"$TMP/tpu.csv" <<END
op,name,batch,heads,kv_heads,q_len,kv_len,head_dim,causal,algorithm,dtype,measured_us
attention,token,1,24,8,1,512,128,0,grouped,bf16,7.5
attention,prompt,1,24,8,512,512,128,1,grouped,bf16,30
attention,encoder,1,12,12,256,256,64,0,per_head,bf16,12
attention,long,1,4,4,1024,1024,128,0,per_head,bf16,16
END

# A plan's options of calibrate: its machine and assignments; its table; the options of both commands that say how a row is run.
machine() {
	how='--fidelity analytic'
	case $1 in
	npu) on='-c gaudi2' table=products ;;
	npu-op-by-op) on='-c gaudi2 -s dispatch.queue=1' table=products ;;
	npu-blocks) on='-c wormhole -s cores=4 -s noc.columns=2' table=products ;;
	npu-host) on='-c b60' table=products ;;
	npu-attention) on='-c b60-calibrated' table=flash ;;
	npu-attention-blocks) on='-c xdna2-calibrated' table=flash_slow ;;
	tpu-v6e) on='-c tpu-v6e' table=fast how='--fidelity event' ;;
	tpu-v6e-attention) on='-c tpu-v6e-calibrated' table=tpu how='--fidelity event' ;;
	*) return 1 ;;
	esac
}

# WHAT: the plan in $TMP/plan.yaml, by the machine that was said last
agree() {
	"$NPUSIM" calibrate $on $how -p "$TMP/plan.yaml" -t "$TMP/$table.csv" --folds 0 -o "$TMP/found.yaml" >"$TMP/said" 2>"$TMP/why" ||
		{ echo "$1: $(cat "$TMP/why")"; return; }
	told=$(awk '$1 ~ /csv$/ { print $(NF - 1), $NF }' "$TMP/said")
	found=$("$NPUSIM" validate -c "$TMP/found.yaml" $how -t "$TMP/$table.csv" --worst 0 2>/dev/null |
		awk '$1 == "all" && !n++ { print $3, $6 }')
	[ -n "$told" ] && [ "$told" = "$found" ] && echo "$1: told as found" || echo "$1: told $told, found $found"
}

for file in configs/calibrate/*.yaml; do
	plan=$(basename "$file" .yaml)
	case $plan in h200*) continue ;; esac # a GPU's: golden calibrate_gpu
	machine "$plan" || { echo "$plan: on no machine here"; continue; }
	grep '^- {key: ' "$file" >"$TMP/keys"
	[ "$(wc -l <"$TMP/keys")" = "$(grep -c 'key:' "$file")" ] || echo "$plan: not all keys stand on a line of their own"
	while read -r line; do
		printf 'calibrate: 1\nfit:\n%s\n' "$line" >"$TMP/plan.yaml"
		key=${line#*key: }
		agree "$plan, ${key%%,*}"
	done <"$TMP/keys"
	cp "$file" "$TMP/plan.yaml"
	agree "$plan, all of it"
done
