# A guided search of a small space: the option is what the file says, each point is run once, a search goes on where it was,
# and what is refused. How well it searches is held by sweep_guided, which takes a minute.
. validate/tests/golden/common
printf 'op,m,n,k,dtype\ngemm,1,4096,4096,bf16\n' >"$TMP/ops.csv"
STUDY=$TMP/small.yaml
sed "s|^base: .*|base: $CONFIG|; s|^trace: .*|trace: ops.csv|; /^range:/d" configs/studies/balance.yaml >"$STUDY"
rows() { "$NPUSIM" sweep "$@" --format csv 2>"$TMP/said" || { echo "exit $?"; cat "$TMP/said"; }; }
n=96
sed "\$a sample: {kind: guided, n: $n, seed: 1}" $STUDY >"$TMP/s.yaml"
rows "$TMP/s.yaml" >"$TMP/file.csv"
rows $STUDY --guided $n -o "$TMP/r.db" >"$TMP/option.csv"
cmp "$TMP/file.csv" "$TMP/option.csv" && echo "--guided is the same"
grep generations "$TMP/said"
tail -n +2 "$TMP/option.csv" | cut -d, -f2-7 | sort | uniq -d | wc -l
rows $STUDY --guided $n -o "$TMP/r.db" -j1 >"$TMP/again.csv"
cmp "$TMP/option.csv" "$TMP/again.csv" && grep -o '[0-9]* ran$' "$TMP/said"
"$NPUSIM" pareto "$TMP/r.db" | head -n 1 | cut -d' ' -f2-
try sweep $STUDY --guided 20 --shard 1/2
bad() { sed "\$a sample: $1" $STUDY >"$TMP/s.yaml"; try sweep "$TMP/s.yaml" --dry-run; }
bad guided
bad '{kind: guidd, n: 10}'
bad '{kind: lhs, n: 10, generation: 4}'
bad '{kind: guided, n: 10, generation: 4}'
