# Recordings by npusim's own library (traces/h200/capture), with no flag: the part with ops is taken, and what was not recorded
# is told. Sizes alone, types as well, a graph; the same step by Kineto.
. validate/tests/golden/common
D=traces/h200/capture
for f in kineto_llama_eager.json.gz llama_eager.spool.gz llama_graph.spool.gz kineto_decode.json.gz decode_typed.spool.gz \
	decode_typed_graph.spool.gz decode.spool.gz olmoe.spool.gz; do
	echo "$f:"
	"$NPUSIM" run -c $CONFIG -t $D/$f 2>&1 >"$TMP/page"
	echo "exit $?"
	grep -A 1 -E '^(workload|types)' "$TMP/page" | grep -vE '^(--|energy|interval)'
	"$NPUSIM" run -c $CONFIG -t $D/$f --format json 2>"$TMP/err" >"$TMP/j.json"
	echo "simulated $(field step_us "$TMP/j.json") carried $(field carried_us "$TMP/j.json")"
done
try trace ops $D/decode.spool.gz --range decode_step_1 --all --format csv >"$TMP/ops"
head -n 8 "$TMP/ops"
try trace ops $D/decode_typed_graph.spool.gz --range step_1 --format json >"$TMP/ops"
grep -A 5 kernel_links "$TMP/ops"
try run -c $CONFIG -t $D/decode.spool.gz --range decode_step_1 --dtype bf17
