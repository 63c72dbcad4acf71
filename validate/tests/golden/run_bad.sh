# Runs that must not start, and what they leave: nothing.
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
run() { try run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 "$@"; }
try run
try run -c $CONFIG
try run -c "$TMP/absent.yaml" -t "$TMP/t.db"
try run -c $CONFIG -t "$TMP/absent.db"
try run -c $CONFIG -t $CONFIG
try run -c $CONFIG -t "$TMP/t.db" --range decode_step_9
run --fidelity exact
run --start warm
run --expert-reuse 1.5
run --expert-reuse often
run --format xml
run --set l2.size=3
run --set 'l2.sise=3 MiB'
run --set 'sram.size=4 KiB' --set 'sram.pin=4095 B' --set cores=1
run --rules "$TMP/absent.yaml"
try run -c configs/gpu/h200.yaml -t "$TMP/t.db" --range decode_step_1 --program "$TMP/program.txt"
# Results: refused before anything is simulated, and what was there stays as it was.
echo "my notes" >"$TMP/notes.txt"
run -o "$TMP/notes.txt"
cat "$TMP/notes.txt"
cp "$TMP/t.db" "$TMP/trace.db"; run -o "$TMP/trace.db"
run -o "$TMP"
run -o "$TMP/absent/r.db"
run -o /dev/null
run -o "$TMP/r.db" --set l2.size=3
ls "$TMP" | grep -v -e quiet -e -wal -e -shm
# A full disk is one error, however the output is formed.
if [ -w /dev/full ]; then
	for f in table csv json; do
		"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --format $f >/dev/full
		echo "exit $?"
	done
	"$NPUSIM" help >/dev/full
	echo "exit $?"
else
	printf '%s\n' "npusim: cannot write the output: no space left on device" "exit 4" \
		"npusim: cannot write the output: no space left on device" "exit 4" \
		"npusim: cannot write the output: no space left on device" "exit 4" \
		"npusim: cannot write the output: no space left on device" "exit 4"
fi
# A reader that goes away is no error to shout about.
"$NPUSIM" trace ops "$TMP/t.db" --all --format csv | head -n 1
