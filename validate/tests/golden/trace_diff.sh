# Two traces side by side, and a trace for other tools.
# figures: shown
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
quiet trace import $SMALL -o "$TMP/s.db"
try trace diff "$TMP/t.db" "$TMP/t.db" --range decode_step_0 --range-b decode_step_1 -n 3
try trace diff "$TMP/t.db" "$TMP/s.db" -n 2 --format csv
try trace diff "$TMP/s.db" "$TMP/t.db" -n 1
"$NPUSIM" trace diff "$TMP/t.db" "$TMP/s.db" -n 1 --format json | sed -n '1,27p'
try trace diff "$TMP/t.db"
try trace diff "$TMP/t.db" "$TMP/t.db" --range decode_step_0 --range-b prefill
try trace export "$TMP/s.db" -o "$TMP/s.json"
cat "$TMP/s.json"
try trace export "$TMP/s.db" -o "$TMP/s.csv"
cat "$TMP/s.csv"
quiet trace export "$TMP/t.db" -o "$TMP/t.json" --range decode_step_1
echo "kernels, copies, ops, arrows, annotations of a step:"
for what in '"cat": "kernel"' '"cat": "gpu_mem' '"cat": "cpu_op"' '"ph": "s"' '"ph": "f"' '"cat": "user_annotation"'; do
	grep -c "$what" "$TMP/t.json"
done
echo "as it was" >"$TMP/keep.json"
try trace export "$TMP/t.db" -o "$TMP/keep.json" --range absent
cat "$TMP/keep.json"
try trace export "$TMP/t.db"
try trace export "$TMP/t.db" -o "$TMP/t.txt"
try trace export "$TMP/t.db" -o "$TMP/absent/t.json"
ls "$TMP" | grep json
