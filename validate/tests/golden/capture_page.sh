# traces/CAPTURE.md: the npusim commands it tells the owner of a card to type work as they stand, on files of ours in place of
# theirs: what a profiler would leave is there, a recording is an import of an old one, and the card is an H200.
root=$PWD
mkdir "$TMP/bin" "$TMP/own" "$TMP/served" && ln -s "$NPUSIM" "$TMP/bin/npusim"
cp traces/h200/kineto_llama1b_b1_c256.json.gz "$TMP/own/decode.json.gz"
cp traces/h200/kineto_llama1b_b1_c256.json.gz "$TMP/served/served.pt.trace.json.gz"
sed 's/"10.0"/"9.0"/; s/B200/NVIDIA H200/' validate/tests/data/csv/ncu_wide.csv >"$TMP/own/ncu.csv"
command -v sqlite3 >/dev/null 2>&1 && sqlite3 "$TMP/own/own.sqlite" <validate/tests/data/nsys/graph_and_ops.sql
"$NPUSIM" trace import traces/h200/capture/decode.spool.gz -o "$TMP/own/record.db" >/dev/null 2>&1
cp "$TMP/own/record.db" "$TMP/own/llama.db"
sh validate/cuda/measure.sh -o "$TMP/card" --from traces/h200/micro 2>/dev/null
cp traces/h200/micro/gemv.json.gz "$TMP/card/"

awk '/^```/ { inside = $0 == "```sh" && !inside; next } inside && /^npusim / && !/^npusim trace record/' traces/CAPTURE.md |
	sed "s|/tmp/own/|$TMP/served/|g; s|/tmp/card|$TMP/card|g; s|rtx5090|h200|g; s|configs/|$root/configs/|g" >"$TMP/typed"
tried=0
while read -r line; do
	tried=$((tried + 1))
	[ -f "$TMP/own/own.sqlite" ] || case $line in *own.sqlite*|*nsys.db*) continue ;; esac
	(cd "$TMP/own" && PATH=$TMP/bin:$PATH && eval "$line") >"$TMP/said" 2>&1 </dev/null || { echo "\$ $line"; cat "$TMP/said"; }
done <"$TMP/typed"
[ "$tried" -ge 20 ] && echo "its commands work" || echo "only $tried commands"

# What its plan makes of an H200's measurements is what that card's file has.
"$NPUSIM" calibrate -c h200 -p "$TMP/card/card.yaml" --format csv | cut -d, -f1-4
