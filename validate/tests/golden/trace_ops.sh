# The op stream of one decode step: nothing opaque, every launch in one op.
# figures: shown
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
try trace ops "$TMP/t.db" --range decode_step_1
"$NPUSIM" trace ops "$TMP/t.db" --range decode_step_1 --all --format csv >"$TMP/ops.csv"
head -n 40 "$TMP/ops.csv"
echo "..."
"$NPUSIM" trace ops "$TMP/t.db" --range decode_step_1 --all --format json >"$TMP/ops.json"
echo "ops in json: $(grep -c '^      "rule":' "$TMP/ops.json"), in csv: $(($(wc -l <"$TMP/ops.csv") - 1)), said: $(field op_count "$TMP/ops.json")"
try trace ops "$TMP/t.db" --range decode_step_1 --rules configs/rules/absent.yaml
