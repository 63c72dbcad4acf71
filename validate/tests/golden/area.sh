# npusim config area and config peaks, area_mm2 in runs and sweeps, and what is refused.
. validate/tests/golden/common
try config area dsocr
try config area tpu-v4 --set die.node=n16 --format csv
try config area dsocr --set die.node=n6
try config area dsocr --set die.node=none
try config area dsocr --set die.link=nvlink9
try config cost dsocr h100 tpu-v5e b200 rtx5090
try config cost dsocr --set cost.wafer=12000 --set cost.dram=14.5 --format csv
try config cost dsocr --set cost.dramm=3
"$NPUSIM" config peaks dsocr rtx5090 --format csv | cut -d, -f1-10
quiet trace import $TRACE -o "$TMP/t.db"
head='sweep: 1\nbase: configs/npu/dsocr.yaml\nrange: decode_step_1\nfidelity: analytic\naxes: {l2.size: [64 MiB, 192 MiB], matrix.rows: [16, 32]}\n'
printf "$head"'where: area_mm2 < 600\nobjectives: [latency_us, area_mm2]\n' >"$TMP/s.yaml"
"$NPUSIM" sweep "$TMP/s.yaml" -t "$TMP/t.db" -o "$TMP/r.db" --format csv 2>/dev/null | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "area_mm2") k = i } { print $1 "," $2 "," $3 "," $k }'
echo "a run says the same: $("$NPUSIM" run -c dsocr --set 'l2.size=64 MiB' --set matrix.rows=16 -t "$TMP/t.db" --range decode_step_1 --fidelity analytic --format json | grep '"area_mm2"')"
echo "without a process: $("$NPUSIM" run -c dsocr --set die.node=none -t "$TMP/t.db" --range decode_step_1 --fidelity analytic --format json | grep '"area_mm2"')"
printf "$head"'where: area_mm2 < 1\n' >"$TMP/s.yaml"
try sweep "$TMP/s.yaml" -t "$TMP/t.db" --dry-run
