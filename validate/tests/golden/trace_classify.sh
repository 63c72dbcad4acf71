# What holds the kernels of the committed trace back, and by which rule; counters of another file join by name.
# figures: shown
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
try trace classify -n 6 "$TMP/t.db" --range decode_step_1
try trace classify -n 1 "$TMP/t.db" --range decode_step_1 --format json
try trace classify -n 2 "$TMP/t.db" --range decode_step_1 --format csv -c configs/gpu/rtx5090.yaml --low 20 --margin 3
cat >"$TMP/ncu.csv" <<'CSV'
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","1","app","host","nvjet_sm90_tst_128x8_64x12_2x1_v_bz_TNT","1","7","(384, 1, 1)","(2, 66, 1)","0","9.0","","dram__bytes_read.sum","Mbyte","330"
"0","1","app","host","nvjet_sm90_tst_128x8_64x12_2x1_v_bz_TNT","1","7","(384, 1, 1)","(2, 66, 1)","0","9.0","","dram__throughput.avg.pct_of_peak_sustained_elapsed","%","88.5"
"0","1","app","host","nvjet_sm90_tst_128x8_64x12_2x1_v_bz_TNT","1","7","(384, 1, 1)","(2, 66, 1)","0","9.0","","sm__throughput.avg.pct_of_peak_sustained_elapsed","%","12.5"
"0","1","app","host","nvjet_sm90_tst_128x8_64x12_2x1_v_bz_TNT","1","7","(384, 1, 1)","(2, 66, 1)","0","9.0","","gpu__time_duration.sum","us","80"
CSV
quiet trace import "$TMP/ncu.csv" -o "$TMP/t.db"
echo "by counters now, and still 1055 kernels:"
"$NPUSIM" trace classify "$TMP/t.db" --range decode_step_1 >"$TMP/out"
grep -E '^by counters|^1055|128x8_64x12' "$TMP/out"
try trace classify "$TMP/t.db" --margin 0.5
echo "and beside what others show:"
"$NPUSIM" trace top "$TMP/t.db" --range decode_step_1 | sed -n '1p;/^counted/,/^(/p'
"$NPUSIM" trace ops "$TMP/t.db" --range decode_step_1 | sed -n '1p;/^bytes of DRAM/,$p'
"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --all --ops 0 | sed -n '/^workload/p;/^bytes of DRAM/,$p'
"$NPUSIM" trace top "$TMP/t.db" --range decode_step_1 --format json | sed -n '/"counted"/,/}/p' | head -n 4
try trace classify "$TMP/t.db" -c $CONFIG
try trace classify "$TMP/t.db" --range decode_step_7
try trace classify "$TMP/absent.db"
