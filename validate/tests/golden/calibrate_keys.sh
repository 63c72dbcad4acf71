# npusim calibrate of an NPU: the error it tells is the one that npusim validate finds of the file it writes, whatever key it fits, those
# from which others follow too (a memory's pin rate from its bandwidth); a key that no row moves is refused; two odd rows of ten do
# not decide.
# tier: gate
. validate/tests/golden/common
TPU=configs/npu/tpu-v6e.yaml
cat >"$TMP/ops.csv" <<END
op,name,m,n,k,measured_us
gemm,one,1,2048,2048,10
gemm,some,64,1024,2048,7
gemm,many,1024,1024,1024,12
END
# NAME SETS... with KEY=FROM=TO=START lines on stdin
keys() {
	name=$1
	shift
	while IFS='=' read -r key from to start; do
		printf 'calibrate: 1\nfit:\n- {key: %s, from: %s, to: %s, start: %s, reason: "a test"}\n' "$key" "$from" "$to" "$start" >"$TMP/plan.yaml"
		"$NPUSIM" calibrate -c $TPU "$@" -p "$TMP/plan.yaml" -t "$TMP/ops.csv" --folds 0 -o "$TMP/found.yaml" \
			>"$TMP/said" 2>"$TMP/why" || { echo "$name, $key: refused"; cat "$TMP/why"; continue; }
		told=$(awk '/^mean absolute error/ { print $6 }' "$TMP/said")
		found=$("$NPUSIM" validate -c "$TMP/found.yaml" -t "$TMP/ops.csv" --fidelity analytic --worst 0 2>/dev/null | awk '$1 == "all" && !n++ { print $3 }')
		[ "$told" = "$found" ] && echo "$name, $key: told as found" || echo "$name, $key: told $told, found $found"
	done
}
keys 'HBM' <<END
clock=500 MHz=2 GHz=1 GHz
dispatch.latency=100 ns=50 us=500 ns
dispatch.floor=100 ns=200 us=1 us
dma.setup=10 ns=5 us=50 ns
matrix.efficiency=0.2=1=0.9
matrix.feed=64 B=8 KiB=256 B
dma.sync=10 ns=2 us=300 ns
dram.bandwidth=500 GB/s=2000 GB/s=1600 GB/s
dram.reached=0.1=1=0.9
dram.t_controller=1 ns=10 us=10 ns
END
keys 'one pipe' --set dram.kind=fixed --set 'dram.bandwidth=1 TB/s' <<END
dram.bandwidth=50 GB/s=2000 GB/s=1600 GB/s
dram.fixed_latency=10 ns=50 us=100 ns
END
keys 'pins alone' <<END
dram.pin_mbps=2000=9000=6400
END

# where mappings are searched for, searches go by some that are held
TPU=configs/npu/trainium1.yaml
keys 'by search' <<END
dispatch.latency=100 ns=50 us=500 ns
matrix.efficiency=0.2=1=0.9
matrix.feed=64 B=8 KiB=256 B
dram.reached=0.1=1=0.9
mapping.tile_k=128=2048=512
END
TPU=configs/npu/tpu-v6e.yaml

# a key that no row moves; two that say the same
plan() { printf 'calibrate: 1\nfit:\n- {key: %s, from: %s, to: %s, start: %s, reason: "a test"}\n' "$@" >"$TMP/plan.yaml"; }
plan l2.latency '10 ns' '1 us' '100 ns'
try calibrate -c $TPU -p "$TMP/plan.yaml" -t "$TMP/ops.csv" --folds 0
plan dram.fixed_bandwidth '10 GB/s' '1 TB/s' '100 GB/s'
try calibrate -c $TPU --set dram.kind=fixed --set dram.bandwidth=1TB/s -p "$TMP/plan.yaml" -t "$TMP/ops.csv" --folds 0

# Ten rows of a machine that starts in 20 us, two of which took ten times as long: what is found is still about 20 us.
plan dispatch.launch '1 us' '1 ms' '5 us'
i=0
for k in 512 768 1024 1280 1536 1792 2048 2560 3072 4096; do echo "gemm,k$k,1,1024,$k,1"; done |
	{ echo op,name,m,n,k,measured_us; cat; } >"$TMP/ten.csv"
"$NPUSIM" validate -c $TPU --set 'dispatch.launch=20 us' -t "$TMP/ten.csv" --fidelity analytic --format csv 2>/dev/null |
	awk -F, 'NR == FNR { t[$1] = $5; next } FNR == 1 { print; next } { odd = FNR == 3 || FNR == 6; sub(/,1$/, "," t[$2] * (odd ? 10 : 1)); print }' \
		- "$TMP/ten.csv" >"$TMP/odd.csv"
"$NPUSIM" calibrate -c $TPU -p "$TMP/plan.yaml" -t "$TMP/odd.csv" --folds 0 2>/dev/null |
	sed -n 's/^\(dispatch.launch *[0-9.]* us\) .*/\1/p; /^rows that/,/^$/p' | sed 's/   */  /g; s/---*/--/g'

# Fitted to five of them, the others kept
"$NPUSIM" calibrate -c $TPU -p "$TMP/plan.yaml" -t "$TMP/odd.csv" --rows 5 --folds 5 -o "$TMP/five.yaml" 2>/dev/null | tail -n 3

# as validate finds them of the file, the same rows apart; tables go together, and so many rows are taken of all of them
"$NPUSIM" validate -c "$TMP/five.yaml" -t "$TMP/odd.csv" --fidelity analytic --worst 0 --taken 5 | sed -n '/by table/,$s/   */  /gp' | grep -v '^-'
{ head -n 1 "$TMP/odd.csv"; sed -n '2,4p' "$TMP/odd.csv"; } >"$TMP/a.csv"
{ head -n 1 "$TMP/odd.csv"; sed -n '5,$p' "$TMP/odd.csv"; } >"$TMP/b.csv"
"$NPUSIM" validate -c "$TMP/five.yaml" -t "$TMP/a.csv" -t "$TMP/b.csv" --fidelity analytic --format json --taken 5 |
	sed -n '/"tables"/,/^  \]/p'
try validate -c configs/gpu/h200.yaml -t $SMALL --taken 5

# A count between whose values the loss is flat is found, beside what hides it; what products say of a machine stays where one row of
# attention is decode's.
cat >"$TMP/heads.csv" <<END
op,name,batch,heads,kv_heads,q_len,kv_len,head_dim,causal,algorithm,dtype,measured_us
attention,a,8,32,8,4096,4096,64,1,flash,bf16,1
attention,b,8,32,8,4096,4096,128,1,flash,bf16,1
attention,c,8,32,8,8192,8192,64,1,flash,bf16,1
attention,d,8,32,8,8192,8192,128,1,flash,bf16,1
attention,e,1,16,8,1,4096,64,0,flash,bf16,1
END
"$NPUSIM" validate -c b60-calibrated --set attention.softmax=20 --set attention.efficiency=0.9 -t "$TMP/heads.csv" --fidelity analytic \
	--format csv 2>/dev/null |
	awk -F, 'NR == FNR { t[$1] = $5; next } FNR == 1 { print; next } { sub(/,1$/, "," t[$2]); print }' - "$TMP/heads.csv" >"$TMP/made.csv"
plan attention.efficiency 0.02 1 0.6 attention.softmax 1 100 8
sed -i '4,5d' "$TMP/plan.yaml"
"$NPUSIM" calibrate -c b60-calibrated -p "$TMP/plan.yaml" -t "$TMP/made.csv" --folds 0 -o "$TMP/found.yaml" 2>/dev/null |
	sed -n 's/^\(attention.[a-z]* *[0-9.]*\) .*/\1/p'
sed -n 's/, source.*//; /decode_rows\|attention_rows/p' "$TMP/found.yaml"
