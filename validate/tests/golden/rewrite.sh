# A measured step as another program would have computed it: what is said of it, what is stored, and what is refused.
. validate/tests/golden/common

step=traces/h200/kineto_dsocr_b1_c1024.json.gz
of="-c $CONFIG -t $step --range decode_step_1 --fidelity analytic --ops 0"
try run $of --rewrite kv-append,native-bf16 --all -o "$TMP/r.db" 2>&1 | sed -n '1p; /^machine/,/^start/p; /^simulated  /p; /^measured, /p'
"$NPUSIM" run $of --rewrite kv-append --format json | sed -n '/"rewrites"/,/]/p'
"$NPUSIM" export "$TMP/r.db" runs | cut -d, -f 1-8
# Nothing to rewrite: it is the run that it was, and stored as that one.
try run $of --rewrite native-fp16 -o "$TMP/r.db" 2>&1 | sed -n '/^workload/,/^start/p; /^stored/p'
try run $of -o "$TMP/r.db" 2>&1 | sed -n '/^workload/p; /^stored/p'
try run -c $CONFIG -t $step --ops 0 --fidelity analytic --rewrite kv-append | grep ^workload
try run $of --rewrite kv-apend
try run $of --rewrite kv-append,kv-append
try run -c configs/gpu/h200.yaml -t $step --rewrite kv-append
