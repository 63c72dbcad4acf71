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
"$NPUSIM" compare 1 2 -r "$TMP/r.db" --format json | awk '/"ratios"/ { on = 1 } on && /"(x|low|high)"/ { v[n++] = $2 + 0 } /"by_kind"/ { on = 0 }
	END { if (n == 6 && v[0] == 1 && v[1] == 1 && v[2] == 1) print "a run is as fast as itself, for sure"
	      if (v[4] < v[3] && v[3] < v[5]) print "and how many times as fast another is has an interval" }'
"$NPUSIM" compare 1 3 -r "$TMP/r.db" --format json | awk '/"title"|"total_us"/ { if (/total_us/) t[n++] = $2 + 0 }
	/"by_resource"/ { on = 1 } /"by_block"/ { on = 0 } on && /^ *[0-9.e+-]+,?$/ { s[i++ % 2] += $1 }
	END { a = s[0] - t[0]; b = s[1] - t[1]; print (i > 6 && a * a + b * b < 1e-4) ? "waits sum to both times" : "waits sum to something else" }'
"$NPUSIM" compare 1 2 -r "$TMP/r.db" | sed -n '1,3s/[0-9][0-9.]*/N/gp'
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
# Designs of a sweep: what a point stored is what is compared, and the first is the reference.
cat >"$TMP/s.yaml" <<EOF
sweep: 1
base: $CONFIG
range: decode_step_1
axes: {l2.size: [64 MiB, 128 MiB, 100 KiB]}
EOF
"$NPUSIM" sweep "$TMP/s.yaml" -t "$TMP/t.db" -o "$TMP/s.db" --format csv >"$TMP/s.csv" 2>/dev/null
"$NPUSIM" compare 1 0 -r "$TMP/s.db" --sweep 1 --format csv >"$TMP/p.csv"
head -n 1 "$TMP/p.csv"
awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) if (FILENAME ~ /s.csv/) col[$i] = i; next }
	FILENAME ~ /s.csv/ { us[$1] = $col["latency_us"]; next }
	$2 == "latency_us" { print ($4 == us[1] && $5 == us[0]) ? "latencies as the sweep printed them" : "other latencies" }
	$1 == "kind" { kinds += $4 } $1 == "stall" { stalls += $4 }
	END { d = kinds - us[1]; e = stalls - us[1]; print (d * d + e * e < 1e-4) ? "kinds and stalls sum to it" : "they do not sum to it" }' "$TMP/s.csv" "$TMP/p.csv"
"$NPUSIM" compare 0 1 -r "$TMP/s.db" --sweep 0 --ops 3 | sed -n 's/^\(by .*\|statistics .*\|point .*\)/\1/p'
"$NPUSIM" compare 0 1 -r "$TMP/s.db" --sweep 0 --ops 3 | sed '1,/^statistics/d' | wc -l
try compare 0 2 -r "$TMP/s.db" --sweep 1
try compare 0 3 -r "$TMP/s.db" --sweep 1
try compare 0 1 -r "$TMP/s.db" --sweep 2
try compare 0 -r "$TMP/s.db" --sweep 1
try compare 0 x -r "$TMP/s.db" --sweep 1
try compare 0 1 -r "$TMP/r.db" --sweep 0
echo "runs have names: what was changed of the machine's file, and of several whatever tells them apart"
rm -f "$TMP"/n.db*
named() { quiet run -c $CONFIG -o "$TMP/n.db" --fidelity analytic "$@"; }
named -t "$TMP/t.db" --range decode_step_1
named -t "$TMP/t.db" --range decode_step_1 --set 'l2.size=512 MiB' --set cores=32
named -t "$TMP/t.db" --range decode_step_1 --set cores=32 --set gemv.units=2 --set gemv.lanes=16 --set matrix.rows=16 --set dma.stages=8
named -m llama-3.2-1b
named -t "$TMP/t.db" --range decode_step_1 --start cold
names() { "$NPUSIM" compare "$@" -r "$TMP/n.db" | sed -n '/^[a-z]* *total_us/,/^$/p' | sed '1,2d; s/^ *\([0-9]*\)  *[0-9.]*  *[0-9.]*  *[0-9.]*  /\1 /'; }
names
names 1 2
names 1 5
names 1 4
"$NPUSIM" compare 1 2 -r "$TMP/n.db" | sed -n '/^in what/,/^$/p'
# Of a file that is gone, against the first of that name.
cp $CONFIG "$TMP/mine.yaml"
quiet run -c "$TMP/mine.yaml" -m llama-3.2-1b --fidelity analytic -o "$TMP/m.db"
quiet run -c "$TMP/mine.yaml" -m llama-3.2-1b --fidelity analytic -o "$TMP/m.db" --set cores=32
rm "$TMP/mine.yaml"
"$NPUSIM" compare -r "$TMP/m.db" --format csv | sed 's/.*,//'
given breakdown 1 2 -r "$TMP/n.db" | grep -o '"dsocr[^"]*us"' | sed 's/[0-9.]* us/N us/' | sort -u
# Times as near as rounding are no difference to take shares of.
for ns in 2000 2001; do
	quiet run -c dsocr -m qwen2-0.5b --layers 1 --fidelity analytic -s "dispatch.launch=$ns ns" -o "$TMP/alike.db"
done
"$NPUSIM" compare 1 2 -r "$TMP/alike.db" | sed -n 1,2p
