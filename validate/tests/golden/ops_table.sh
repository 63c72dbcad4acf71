# Tables of ops: operations a byte by sizes and formats, a database of one, each row alone on a GPU and an NPU, what has no
# kernel and what is not modelled, and how a bad table is refused.
. validate/tests/golden/common
OPS=workloads/ops
try trace ops $OPS/gb200-decode.csv
try trace import $OPS/gb200-decode.csv $OPS/attention.csv -o "$TMP/o.db"
try trace import $OPS/gb200-decode.csv -o "$TMP/o.db" --from ops
"$NPUSIM" trace ops "$TMP/o.db" --format csv | sed -n '1,2p;7p;12p'
cat >"$TMP/few.csv" <<END
op,name,heads,kv_heads,q_len,kv_len,head_dim,algorithm,m,n,k,measured_us,measured_uj,measured_mhz
gemm,up,,,,,,,1,8192,2048,10.7,5000,1755.5
attention,,32,8,1,257,64,per_head
END
try run -c $CONFIG -t "$TMP/few.csv" --format csv | cut -d, -f1-4,12-14
"$NPUSIM" run -c $CONFIG -t "$TMP/few.csv" --start resident --all 2>/dev/null | sed -n '/^workload/,/^start/p; /^read/p'
"$NPUSIM" trace ops "$TMP/few.csv" --format json | sed -n '/"ops"/,$p'
try validate -c configs/gpu/h200.yaml -t $OPS/llama1b-decode.csv --worst 2
"$NPUSIM" validate -c $CONFIG -t $OPS/llama1b-decode.csv --format json --worst 1 |
	sed 's/: [0-9.e-]*\(,*\)$/: N\1/; s/"bound": .*/"bound": a resource,/; s/"op": .*/"op": its name,/'
"$NPUSIM" validate -c $CONFIG -t $OPS/llama1b-decode.csv --start resident --fidelity analytic --max-mape '0.01 %' \
	--format csv 2>&1 >"$TMP/rows.csv" | sed 's/is [0-9.]* %/is N %/'
wc -l <"$TMP/rows.csv"
try validate -c $CONFIG -t "$TMP/few.csv" --start steady
try validate -c $CONFIG -t "$TMP/few.csv" --groups
try validate -c $CONFIG -t $OPS/attention.csv
try validate -c $CONFIG -t $SMALL
try validate -c configs/gpu/h200.yaml -t $OPS/llama1b-decode.csv -t $SMALL
try validate -c configs/gpu/h200.yaml -t $SMALL --start cold
try validate -c configs/gpu/h200.yaml -t $OPS/gb200-decode.csv
# On the GPU they are of.
"$NPUSIM" run -c configs/gpu/gb200.yaml -t $OPS/gb200-decode-b128.csv --ops 11 | sed -n '/^ops that/,/^$/p'
printf 'op,rows,cols\nsort,1,8\n' >"$TMP/sort.csv"
try run -c configs/gpu/h200.yaml -t "$TMP/sort.csv"
bad() { # a table
	printf '%b' "$1" >"$TMP/bad.csv"
	try trace ops "$TMP/bad.csv"
}
bad 'op,m,n,k\ngemm,1,0,3\n'
bad 'op,m,n,kk\ngemm,1,2,3\n'
bad '# from nowhere\nop,m,n,k\n\ngemm,1,2\n'
bad 'op,m,n,k\ngemm,1,2,3,\n'
bad 'op,heads,kv_heads,q_len,kv_len,head_dim\nattention,32,5,1,64,64\n'
bad 'op,m,n,k\nmatmul,1,2,3\n'
bad 'op\n'
