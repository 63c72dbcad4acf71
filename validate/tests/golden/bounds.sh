# What asks for more than there is: memory of the machine, work in one op, a worker's time. One line each, and soon.
# tier: gate
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
step() { try run -c "$1" -t "$TMP/t.db" --range decode_step_1 --set 'dram.capacity=1 GiB'; }
step $CONFIG
step configs/gpu/h200.yaml
printf 'sweep: 1\nbase: %s\nrange: decode_step_1\nfidelity: analytic\naxes: {dram.capacity: [1 GiB, 8 GiB, "0"]}\n' $CONFIG >"$TMP/s.yaml"
"$NPUSIM" sweep "$TMP/s.yaml" -t "$TMP/t.db" --format csv 2>"$TMP/said" | cut -d , -f 1-3
tail -n 1 "$TMP/said"

# A product of one number too many, in a trace of 1 kB; of a card without a model, which would doubt it.
product() { # M K N >FILE
	cat <<END
{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA X1", "computeMajor": 9, "computeMinor": 0, "numSms": 132}],
 "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "args": {"External id": 10,
  "Input Dims": [[$1, $2], [$2, $3]], "Input type": ["c10::BFloat16", "c10::BFloat16"], "Concrete Inputs": ["", ""]}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 11, "dur": 2,
  "args": {"External id": 10, "correlation": 100}},
 {"ph": "X", "cat": "kernel", "name": "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", "pid": 0, "tid": 7, "ts": 14, "dur": 3,
  "args": {"External id": 10, "correlation": 100, "device": 0, "context": 1, "stream": 7, "grid": [1, 1, 1], "block": [128, 1, 1]}}]}
END
}
product 1 1000000 1000000 >"$TMP/vector.json"
product 100000 100000 100000 >"$TMP/cube.json"
for c in $CONFIG configs/gpu/h200.yaml; do
	try run -c $c -t "$TMP/vector.json"
	try run -c $c -t "$TMP/vector.json" --set dram.capacity=0
done
try run -c $CONFIG -t "$TMP/cube.json" --set 'dram.capacity=1 TiB'

# Points whose worker is killed: tried once more, then a row that says so and exit 1; the same command tries again.
product 1 100000 600000 >"$TMP/slow.json"
printf 'sweep: 1\nbase: configs/npu/edge.yaml\naxes: {dram.capacity: ["0", 1 MiB]}\n' >"$TMP/s.yaml"
(ulimit -S -t 1 && exec "$NPUSIM" sweep "$TMP/s.yaml" -t "$TMP/slow.json" -j 1 -o "$TMP/r.db" --format csv >"$TMP/rows" 2>"$TMP/said")
echo "exit $?"
sed -n 's/.*\(its process died[^,]*\).*/\1/p' "$TMP/rows"
sed 1d "$TMP/said"
"$NPUSIM" sweep "$TMP/s.yaml" -t "$TMP/slow.json" -j 1 -o "$TMP/r.db" --format csv 2>/dev/null | cut -d , -f 1,2

# A cache of a terabyte costs the host what a run touches of it.
(ulimit -v 16000000 2>/dev/null; "$NPUSIM" config check $CONFIG --set 'kv_buffer.size=1 TiB' --format csv | cut -d , -f 1-3)
