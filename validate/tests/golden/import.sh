# The committed trace: what is in it, that it is noticed the second time, and its wall time.
# figures: shown
. validate/tests/golden/common
try trace import $TRACE -o "$TMP/t.db"
try trace import $TRACE -o "$TMP/t.db"
try trace show "$TMP/t.db"
try trace import $TRACE -o "$TMP/t.db" --wall '11.34 ms'
try trace show "$TMP/t.db" --format csv
try trace import $TRACE -o "$TMP/t.db" --wall 12ms --range decode_step_1
try trace show "$TMP/t.db" --format json
try trace import traces/h200/kineto_llama1b_b1_c256.json.gz $TRACE -o "$TMP/both.db" --format csv
try trace import $TRACE -o "$TMP/t.db" --range decode_step_1
try trace import $TRACE
try trace import $TRACE -o "$TMP/t.db" --from perf
try trace import $TRACE -o "$TMP/t.db" --wall 11.34
