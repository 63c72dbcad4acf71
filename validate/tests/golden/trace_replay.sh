# A published table of kernels replayed: an RTX 5090's decode step against an NPU, at three contexts, and its own model.
. validate/tests/golden/common
REPLAY=traces/rtx5090/dsocr.yaml
totals() { sed -n '/^workload/p;/^replay/p;/^total/,/^$/p' "$TMP/out"; }
try trace import $REPLAY -o "$TMP/r.db"
try trace show "$TMP/r.db"
try trace top -n 5 $REPLAY
for context in 945 472 1890; do
	echo "\$ npusim run -c $CONFIG -t $REPLAY --context $context"
	"$NPUSIM" run -c $CONFIG -t $REPLAY --context $context --all --ops 0 >"$TMP/out" || echo "exit $?"
	totals
done
"$NPUSIM" run -c $CONFIG -t "$TMP/r.db" --all --ops 0 >"$TMP/db" && "$NPUSIM" run -c $CONFIG -t $REPLAY --all --ops 0 >"$TMP/yaml" &&
	cmp "$TMP/db" "$TMP/yaml" && echo "the same from the database and from the file itself"
# On the GPU's own model; its time is of the model's state, so only that it is near is held here.
"$NPUSIM" run -c configs/gpu/rtx5090.yaml -t $REPLAY --all --ops 0 >"$TMP/out" || echo "exit $?"
awk '/^simulated  / { s = $2 } /^measured, kernels/ { m = $3 } END {
	print "on the RTX 5090 model: measured " m " us, simulated " (s > 0.9 * m && s < 1.1 * m ? "within" : s " us, not within") " 10 %" }' "$TMP/out"
try run -c $CONFIG -t "$TMP/r.db" --context 100 --all | grep -E "^(.\s*npusim|workload)"
try run -c $CONFIG -t $TRACE --context 100 --all | grep -E "^(.\s*npusim|workload)"
try run -c $CONFIG -t $REPLAY --context 1000000000
try trace import $TRACE --context 100 -o "$TMP/x.db"
try trace import $SMALL --from replay -o "$TMP/x.db"
for f in "$TMP"/x.db*; do [ ! -e "$f" ] || echo "left behind: $f"; done
