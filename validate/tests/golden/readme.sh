# The output README.md shows is what the demo's run prints: every line of its second block, in order.
"$NPUSIM" trace import traces/h200/kineto_dsocr_b1_c1024.json.gz --wall 11.34ms -o "$TMP/t.db" >/dev/null
"$NPUSIM" run -c configs/npu/dsocr.yaml -t "$TMP/t.db" --range decode_step_1 -o "$TMP/r.db" | sed 's/ *$//' >"$TMP/run"
awk '/^```/ { n++; next } n == 3 && $0 != "..."' README.md | sed '/^$/d' >"$TMP/shown"
missing=$(awk 'NR == FNR { have[$0] = 1; next } !($0 in have) { print "not printed by the run: " $0 }' "$TMP/run" "$TMP/shown")
[ -s "$TMP/shown" ] || echo "README.md shows no output"
[ -z "$missing" ] && echo "README.md shows what the run prints" || echo "$missing"
