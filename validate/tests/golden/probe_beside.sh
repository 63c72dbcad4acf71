# npusim probe latency and stream beside measured values: over a memory of fixed latency, so that the numbers are those of
# the configurations and of the tables. The DRAM plateau is therefore not the device's.
. validate/tests/golden/common
fixed="--set dram.kind=fixed --samples 200"
awk -F, '/^bytes/ || $1 > 60000 && $1 < 2e8' validate/data/latency/rtx5090.csv >"$TMP/rtx5090.csv"
try probe latency -c configs/gpu/rtx5090.yaml $fixed --beside "$TMP/rtx5090.csv"
try probe latency -c configs/gpu/rtx5090.yaml $fixed --beside "$TMP/rtx5090.csv" --format json | head -22
awk -F '[,=;]' '/^name/ || $1 == "chase_ns" && $3 < 2e7' traces/h200/micro/latency.csv >"$TMP/latency.csv"
try probe latency -c configs/gpu/h200.yaml $fixed --beside "$TMP/latency.csv" --format csv
given latency -c configs/gpu/h200.yaml $fixed --beside "$TMP/latency.csv"
try probe stream -c configs/gpu/h200.yaml --set dram.kind=fixed --largest 64MiB --beside validate/data/stream.csv
try probe stream -c $CONFIG --set dram.kind=fixed --largest 1MiB --beside validate/data/stream.csv
try probe latency -c $CONFIG --beside validate/data/stream.csv
try probe latency -c $CONFIG --beside "$TMP/rtx5090.csv" --largest 1MiB
try probe latency -c $CONFIG --beside "$TMP/absent.csv"
printf 'bytes,clk\n65536,100\n65536,100\n' >"$TMP/twice.csv"
try probe latency -c $CONFIG --beside "$TMP/twice.csv"
try plot latency -c $CONFIG --beside "$TMP/twice.csv" --script
try probe l2 -c $CONFIG --beside "$TMP/twice.csv"
