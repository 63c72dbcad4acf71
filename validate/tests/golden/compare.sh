# Stored runs: found again, stored once, compared; no numbers of the model stand here.
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
step() { "$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 -o "$TMP/r.db" "$@" | grep '^stored'; }
step
step
step --set 'dram.kind=fixed'
step --start cold
"$NPUSIM" compare -r "$TMP/r.db" --format csv | cut -d, -f1,2,4-6
"$NPUSIM" compare 1 2 3 -r "$TMP/r.db" --format csv | wc -l
"$NPUSIM" compare 1 2 -r "$TMP/r.db" | sed -n 's/^\(by kind.*\)/\1/p; s/^\(all  *[0-9]*\).*/\1/p'
"$NPUSIM" compare 1 -r "$TMP/r.db" --format json >"$TMP/a.json"
"$NPUSIM" compare 1 -r "$TMP/r.db" -t "$TMP/t.db" --format json >"$TMP/b.json"
cmp "$TMP/a.json" "$TMP/b.json" && echo "measured times stored with the run are those of the trace"
sed -n '2,14p' "$TMP/a.json" | sed '/"run 1"/,$d'
# What a run stored is what it printed.
"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --format json >"$TMP/run.json"
echo "$(grep -F "\"total_us\": $(field total_us "$TMP/run.json")" "$TMP/a.json" | wc -l) total as printed"
try compare 1 9 -r "$TMP/r.db"
try compare first -r "$TMP/r.db"
try compare 1 2 -r "$TMP/r.db" -t "$TMP/t.db"
try compare 1 -r "$TMP/t.db"
try compare 1 -r "$TMP/absent.db"
quiet trace import $SMALL -o "$TMP/small.db"
try compare 1 -r "$TMP/r.db" -t "$TMP/small.db"
