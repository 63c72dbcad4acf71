# What a little more of each buys: rows of either fidelity, the same parameters in both, and a base that 'run' agrees with.
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
for how in event analytic; do
	"$NPUSIM" limits -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --fidelity $how --format json >"$TMP/$how" || echo "exit $?"
	"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --fidelity $how --format json >"$TMP/run.json"
	[ "$(field total_us "$TMP/$how")" = "$(field total_us "$TMP/run.json")" ] && echo "$how: the base is what run says"
	grep '"fidelity"' "$TMP/$how"
	grep -o '"key": "[^"]*"' "$TMP/$how" >"$TMP/$how.keys"
done
sort "$TMP/event.keys" >"$TMP/a"
sort "$TMP/analytic.keys" | cmp "$TMP/a" - && echo "the same parameters in both"
[ "$(wc -l <"$TMP/a")" -gt 20 ] && echo "many of them"
[ "$(head -n 1 "$TMP/event.keys")" = "$(head -n 1 "$TMP/analytic.keys")" ] && echo "the first to buy is the same"
"$NPUSIM" limits -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --fidelity analytic --format csv | head -n 1
# Stored: with the run that 'run' stores, and as a report has it.
quiet run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --fidelity analytic -o "$TMP/r.db"
quiet limits -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --fidelity analytic -o "$TMP/r.db"
[ "$("$NPUSIM" export "$TMP/r.db" runs | wc -l)" = 2 ] && echo "the run is there once"
"$NPUSIM" export "$TMP/r.db" limits >"$TMP/limits.csv"
head -n 1 "$TMP/limits.csv"
cut -d, -f2 "$TMP/limits.csv" | sed 1d | sort >"$TMP/b"
sed 's/.*: "\(.*\)"/\1/' "$TMP/a" | cmp - "$TMP/b" && echo "all of them are stored"
awk -F, 'NR > 1 && $8 > most { most = $8; key = $2 } END { print key, (most > 0.05 && most < 0.1) }' "$TMP/limits.csv"
try limits -c $CONFIG -t "$TMP/t.db" -o "$TMP/no/r.db"
try limits -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --fidelity roughly
try limits -c $CONFIG -t "$TMP/t.db" --step 0
try limits -c $CONFIG
