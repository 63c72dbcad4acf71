# What is joined by pattern and what is not by reason: a table of ten lines, each chain with --all, and the same in JSON.
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
run() { "$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --explain-fusion --fidelity analytic "$@"; }
run >"$TMP/brief"
run --all >"$TMP/all"
run --format json >"$TMP/json"
sed -n '/^what is joined/,/^$/p' "$TMP/brief" | awk 'NR == 2 { print "columns:", $1, $2, $3 } NR > 3 && NF { n++ } END { print "at most ten lines:", (n > 0 && n <= 10) }'
awk '/^what is joined/ { on = 1; next } /^$/ { on = 0 } on && $2 > 0 { chains += $2 } END { print chains }' "$TMP/brief" >"$TMP/chains"
awk '/^fusions / { on = 1; next } /^$/ { on = 0 } on && /^ *[0-9]+-[0-9]+/ { n++ } END { print n }' "$TMP/all" | cmp - "$TMP/chains" && echo "each chain is listed with --all"
echo "reasons, and that the mapper's word and the pattern's file are told apart:"
sed -n '/^not joined/,/^$/p' "$TMP/brief" | sed '1,2d; /^$/d; s/  *[0-9]*  *[0-9.]*  / N N /' | sed 's/  */ /g' | sort
awk '/"not_fused"/ { on = 1 } on && /"reason"/ { n++ } /^  \]/ { on = 0 } END { print (n > 0) }' "$TMP/json"
echo "what follows from a machine's limits:"
reasons() { "$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --explain-fusion --fidelity analytic "$@" | sed -n '/^not joined/,/^$/p' | grep -o '^fusion\.[a-z_]*'; }
reasons --set fusion.max_ops=2
reasons --set 'fusion.buffer=64 B'
run --set fusion.enabled=false | grep '^nothing is joined'
