# Values of options that nobody can mean, and files that are no machine.
# figures: shown
. validate/tests/golden/common
quiet trace import $SMALL -o "$TMP/t.db"
printf 'sweep: 1\nbase: %s\naxes: {cores: [1, 2]}\n' $CONFIG >"$TMP/s.yaml"
try sweep "$TMP/s.yaml" -t "$TMP/t.db" --guided 0
try sweep "$TMP/s.yaml" -t "$TMP/t.db" -j 0
try sweep "$TMP/s.yaml" -t "$TMP/t.db" --max 0
try sweep "$TMP/s.yaml" -t "$TMP/t.db" -j 1e2
try trace top "$TMP/t.db" -n 0
try probe dram --queue 0
try trace import $SMALL -o "$TMP/t.db" --context 0
try run -c $CONFIG -t "$TMP/t.db" --range step_0 --range step_1
try run -c $CONFIG -c configs/npu/edge.yaml -t "$TMP/t.db"
try run -c $CONFIG -t "$TMP/t.db" -o ''
try run -c $CONFIG -t "$TMP/t.db" --timeline=
try run -c '' -t "$TMP/t.db"
: >"$TMP/empty.yaml"
try config check "$TMP/empty.yaml"
try run -c "$TMP/empty.yaml" -t "$TMP/t.db"
try run -c configs/studies/l2-size.yaml -t "$TMP/t.db"
try config check $CONFIG --set 'clock=1e400 GHz'
if command -v sqlite3 >/dev/null; then
	sqlite3 "$TMP/t.db" 'pragma user_version = 0'
	"$NPUSIM" trace show "$TMP/t.db" 2>&1 | sed 's/it has .* tables/it has N tables/'
	"$NPUSIM" trace import $SMALL -o "$TMP/t.db" 2>&1 | sed 's/it has .* tables/it has N tables/'
else
	printf '%s\n' "npusim: '$TMP/t.db' is damaged: its schema is of version 0 and it has N tables" \
		"npusim: '$TMP/t.db' is damaged: its schema is of version 0 and it has N tables"
fi
