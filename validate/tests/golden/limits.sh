# What a little more of each buys: rows of either fidelity, the same parameters in both, and a base that 'run' agrees with.
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
for how in event analytic; do
	"$NPUSIM" limits -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --fidelity $how --format csv >"$TMP/$how.csv" || echo "exit $?"
	"$NPUSIM" limits -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --fidelity $how --format json >"$TMP/limits.json"
	"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --fidelity $how --format json >"$TMP/run.json"
	[ "$(field total_us "$TMP/limits.json")" = "$(field total_us "$TMP/run.json")" ] && echo "$how: the base is what run says"
	grep '"fidelity"' "$TMP/limits.json"
	cut -d, -f1-4 "$TMP/$how.csv" | sort >"$TMP/$how.steps"
done
head -n 1 "$TMP/event.csv"
cmp "$TMP/event.steps" "$TMP/analytic.steps" && echo "the same steps in both"
[ "$(wc -l <"$TMP/event.steps")" -gt 20 ] && echo "of many parameters"
[ "$(sed -n 2p "$TMP/event.csv" | cut -d, -f1)" = "$(sed -n 2p "$TMP/analytic.csv" | cut -d, -f1)" ] && echo "the first to buy is the same"
try limits -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --fidelity roughly
try limits -c $CONFIG -t "$TMP/t.db" --step 0
try limits -c $CONFIG
