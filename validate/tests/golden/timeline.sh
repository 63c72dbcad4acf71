# A run over time: what threads and counters there are, the same file again, and nothing torn when it cannot be written.
# tier: gate
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
# Names of threads and counters, spans a process, arrows. One event a line.
inside() {
	grep -o '"ph": "M", "name": "[a-z]*_name".*' "$1" | sed 's/.*"pid": \([0-9]*\).*"name": "\([^"]*\)"}.*/\1 \2/'
	grep -o '"ph": "C", "name": "[^"]*"' "$1" | sort -u | sed 's/.*name": /counter /'
	for pid in 1 2; do echo "process $pid: $(grep -c "\"ph\": \"X\".*\"pid\": $pid," "$1") spans" | sed 's/ [1-9][0-9][0-9]* spans/ some spans/'; done
	[ "$(grep -c '"ph": "s"' "$1")" = "$(grep -c '"ph": "f"' "$1")" ] && echo "as many arrows begin as end"
}
for how in "$CONFIG" "$CONFIG --fidelity analytic" configs/gpu/h200.yaml configs/gpu/rtx5090.yaml; do
	echo "--- $how"
	for n in 1 2; do
		# shellcheck disable=SC2086
		"$NPUSIM" run -c $how -t "$TMP/t.db" --range decode_step_1 --timeline "$TMP/$n.json" >"$TMP/out" || echo "exit $?"
	done
	cmp "$TMP/1.json" "$TMP/2.json" && echo "the same file twice"
	grep 'over time' "$TMP/out"
	inside "$TMP/1.json"
	if command -v python3 >/dev/null; then python3 -m json.tool "$TMP/1.json" >/dev/null || echo "no JSON"; fi
done
# What it costs the run: nothing.
"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --format json >"$TMP/a"
"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --format json --timeline "$TMP/1.json" >"$TMP/b"
cmp "$TMP/a" "$TMP/b" && echo "the same run, looked at or not"
try run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --timeline "$TMP/absent/x.json"
try run -c $CONFIG -t "$TMP/t.db" --range decode_step_9 --timeline "$TMP/x.json"
limit() { trap '' XFSZ; ulimit -f "$1"; } # in blocks of 512 or 1024 bytes, by shell: both do
cp "$TMP/1.json" "$TMP/kept.json"
(limit 1000 && try run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --timeline "$TMP/kept.json")
cmp "$TMP/1.json" "$TMP/kept.json" && echo "what was there before is still there"
ls "$TMP" | grep -v -e quiet -e -wal -e -shm
