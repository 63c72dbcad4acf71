# What each part is worth: rows of either fidelity, the same changes in both, and a base that 'run' agrees with.
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
# A machine whose mappings are given, and a model's layer: some hundred machines are asked each time.
W="-m tinyllama-1.1b --layers 1"
ON=tpu-v6e
for how in event analytic; do
	"$NPUSIM" limits -c $ON $W --fidelity $how --pairs 0 --format json >"$TMP/$how" || echo "exit $?"
	"$NPUSIM" run -c $ON $W --fidelity $how --format json >"$TMP/run.json"
	[ "$(field total_us "$TMP/$how")" = "$(field total_us "$TMP/run.json")" ] && echo "$how: the base is what run says"
	grep '"fidelity"' "$TMP/$how"
	"$NPUSIM" limits -c $ON $W --fidelity $how --pairs 0 --format csv >"$TMP/$how.csv"
	cut -d, -f1,2,4 "$TMP/$how.csv" | sort >"$TMP/$how.rows"
done
cmp "$TMP/event.rows" "$TMP/analytic.rows" && echo "the same changes in both"
[ "$(wc -l <"$TMP/event.rows")" -gt 75 ] && echo "many of them"
# Twice the channels and twice their rate are worth the same to a few hundredths of a percent.
[ "$(sed -n 2p "$TMP/event.csv" | cut -d, -f2 | cut -d. -f1)" = "$(sed -n 2p "$TMP/analytic.csv" | cut -d, -f2 | cut -d. -f1)" ] && echo "the first to buy is of the same block"
head -n 1 "$TMP/analytic.csv"
# The answer stands on top, no line of it or of the tables is wider than 100, and workers change nothing.
"$NPUSIM" limits -c $ON $W -j 1 >"$TMP/one"
"$NPUSIM" limits -c $ON $W -j 3 >"$TMP/three"
cmp "$TMP/one" "$TMP/three" && echo "the same with three workers"
sed 's/^[^:]*: [0-9.]* us in closed form, [0-9.]* us with events/MACHINE: in closed form, with events/;/^parameter/,$d;s/^[0-9]* runs in closed form and [0-9]* with/N runs in closed form and N with/' "$TMP/one" |
	sed -n '1,/costs nothing/p' | tr -s ' \n' ' ' | sed 's/ \(waits for\|N runs\|saves,\|~\|buys\|only\|as a switch\|a part\|costs nothing\)/\n\1/g'
echo
awk '/not possible/ { exit } length > 100' "$TMP/one"
# A DMA that carries little more than DRAM gives: both or none.
"$NPUSIM" limits -c $CONFIG $W --set 'dma.width=32 B' --fidelity analytic --format csv >"$TMP/narrow.csv"
awk -F, '$2 == "dma.width" && $1 == "more" { a = $7 } $2 == "dma.width + dram.channels" { both = $7; beyond = $8 }
	END { print "wider alone under 5 %:", (a < 5), "and with DRAM over 40 %:", (both > 40), "beyond both alone over 15 %:", (beyond > 15) }' "$TMP/narrow.csv"
# Stored: with the run that 'run' stores, and as a report has it.
quiet run -c $ON $W -o "$TMP/r.db"
"$NPUSIM" limits -c $ON $W --pairs 0 --format csv -o "$TMP/r.db" >"$TMP/judged.csv" || echo "exit $?"
[ "$("$NPUSIM" export "$TMP/r.db" runs | wc -l)" = 2 ] && echo "the run is there once"
"$NPUSIM" export "$TMP/r.db" limits >"$TMP/limits.csv"
head -n 1 "$TMP/limits.csv"
# As they were judged: the gain that was printed, by whom, and whether it says anything.
awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) at[FILENAME, $i] = i; next }
	FILENAME ~ /judged/ { k = $at[FILENAME, "move"] "," $at[FILENAME, "parameter"] "," $at[FILENAME, "then"]
		gain[k] = $at[FILENAME, "gain_pct"]; by[k] = $at[FILENAME, "by"]; within[k] = $at[FILENAME, "within_error"]; next }
	{ k = $at[FILENAME, "move"] "," $at[FILENAME, "key"] "," $at[FILENAME, "next"]; off = 100 * $at[FILENAME, "gain"] - gain[k]
		if (gain[k] != "" && (off > 0.006 || off < -0.006 || $at[FILENAME, "fidelity"] != by[k] || $at[FILENAME, "within_error"] != within[k])) print "stored otherwise:", $0
		seen += gain[k] != "" }
	END { if (seen < 50) print "only", seen, "rows were compared" }' "$TMP/judged.csv" "$TMP/limits.csv"
cut -d, -f2,3,5 "$TMP/limits.csv" | sed 1s/key/parameter/\;1s/next/then/ | sort | cmp - "$TMP/analytic.rows" && echo "all of them are stored"
awk -F, '{ print $(NF - 1) }' "$TMP/limits.csv" | sort -u
awk -F, '$2 == "more" && $9 > most { most = $9; key = $3 } END { print key, (most > 0.4 && most < 0.5) }' "$TMP/limits.csv"
try limits -c $CONFIG -t "$TMP/t.db" -o "$TMP/no/r.db"
try limits -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --fidelity roughly
try limits -c $CONFIG -t "$TMP/t.db" --step 0
try limits -c $CONFIG -t "$TMP/t.db" --pairs 20000
try limits -c $CONFIG -t "$TMP/t.db" -j 600
try limits -c configs/gpu/h200.yaml -t "$TMP/t.db"
try limits -c $CONFIG
# A model in place of a trace.
"$NPUSIM" limits -c $CONFIG -m qwen2-0.5b --layers 1 --pairs 0 --fidelity analytic --format csv | cut -d, -f1,2,4 | grep '^\(kind\|more\|key\)\|dram.channels\|l2.size' | head -n 6
try limits -c $CONFIG -m qwen2-0.5b -t "$TMP/t.db"
try limits -c $CONFIG -t "$TMP/t.db" --tokens 100
