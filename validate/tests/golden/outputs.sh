# What an output may be: no command writes over what it reads, or over another output of its own, by whatever name; a
# device or a pipe is written to and stays one, a link is followed, a folder refused; what cannot be written whole leaves
# what was there, and nothing beside it.
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
quiet run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 -o "$TMP/r.db"
cp $CONFIG "$TMP/c.yaml"
ln "$TMP/c.yaml" "$TMP/hard.yaml"
ln -s c.yaml "$TMP/soft.yaml"
kept() { cat "$TMP/t.db" "$TMP/r.db" "$TMP/c.yaml" | cksum; }
kept >"$TMP/sum"
step() { try run -c "$TMP/c.yaml" -t "$TMP/t.db" --range decode_step_1 "$@"; }
echo "## over what is read"
try export "$TMP/r.db" -o "$TMP/r.db"
try report "$TMP/r.db" -o "$TMP/../$(basename "$TMP")/r.db"
try trace export "$TMP/t.db" -o "$TMP/t.db"
step --timeline "$TMP/r.db" -o "$TMP/r.db"
step --program "$TMP/t.db"
step --timeline "$TMP/hard.yaml"
step --program "$TMP/soft.yaml"
step --program "$TMP/new" --timeline "$TMP/./new"
step -o "$TMP/t.db"
cp "$TRACE" "$TMP/p.json"
try trace export "$TMP/p.json" -o "$TMP/p.json"
try merge "$TMP/r.db" "$TMP/r.db"
try calibrate -c "$TMP/c.yaml" -p configs/calibrate/h200.yaml -t "$TMP/t.db" -o "$TMP/c.yaml"
try validate -c "$TMP/c.yaml" -t "$TMP/t.db" -o "$TMP/c.yaml"
try plot sweep "$TMP/c.yaml" -o "$TMP/c.yaml"
echo "## over what those name"
mkdir "$TMP/h200" "$TMP/rtx"
cp $TRACE "$TMP/h200"
cp traces/rtx5090/dsocr.yaml traces/rtx5090/dsocr_decode.csv "$TMP/rtx"
printf 'sweep: 1\nbase: c.yaml\ntrace: t.db\nrange: decode_step_1\naxes: {cores: [1, 2]}\n' >"$TMP/s.yaml"
try sweep "$TMP/s.yaml" -o "$TMP/c.yaml"
try sweep "$TMP/s.yaml" -o "$TMP/t.db"
try run -c $CONFIG -t "$TMP/rtx/dsocr.yaml" --timeline "$TMP/rtx/dsocr_decode.csv"
try trace export "$TMP/rtx/dsocr.yaml" -o "$TMP/h200/$(basename $TRACE)"
cp workloads/models/llama-3.2-1b.yaml "$TMP/m.yaml"
cat >"$TMP/study.yaml" <<'Y'
study: 1
title: A study
runs:
- name: r
  command: serve -c {c} -m TMP/m.yaml --draft 2 --accept 0.5 --draft-model TMP/d.yaml --number 2 --rate 1/s
  for: {c: [TMP/c.yaml]}
  take: {n: requests}
claims:
- {says: all, right: r.TMP.n > 1, why: two}
Y
sed -i "s|{c: .*|{c: {here: $TMP/c.yaml}}|; s|TMP/|$TMP/|g; s|r.TMP|r.here|" "$TMP/study.yaml"
cp "$TMP/m.yaml" "$TMP/d.yaml"
cp "$TMP/study.yaml" "$TMP/study.html"
try run -c "$TMP/c.yaml" -m "$TMP/m.yaml" --timeline "$TMP/m.yaml"
try serve -c "$TMP/c.yaml" -m "$TMP/m.yaml" --rate 1/s --timeline "$TMP/m.yaml"
try serve -c "$TMP/c.yaml" -m llama-3.2-1b --rate 1/s --draft 2 --accept 0.5 --draft-model "$TMP/m.yaml" --write-requests "$TMP/m.yaml"
try study "$TMP/study.yaml" --page "$TMP/hard.yaml"
try study "$TMP/study.yaml" --markdown "$TMP/d.yaml"
try study "$TMP/study.html" --pages "$TMP"
cmp workloads/models/llama-3.2-1b.yaml "$TMP/m.yaml"
cmp workloads/models/llama-3.2-1b.yaml "$TMP/d.yaml"
cmp "$TMP/study.yaml" "$TMP/study.html"
cmp traces/rtx5090/dsocr_decode.csv "$TMP/rtx/dsocr_decode.csv"
cmp $TRACE "$TMP/h200/$(basename $TRACE)"
mkdir -p "$TMP/data/traces/h200/micro"
cp -r configs "$TMP/data"
cp traces/h200/micro/*.csv "$TMP/data/traces/h200/micro"
export NPUSIM_DATA="$TMP/data"
try calibrate -c configs/gpu/h200.yaml -p configs/calibrate/h200.yaml -t "$TMP/t.db" -o "$TMP/data/traces/h200/micro/latency.csv"
step --program "$TMP/data/configs/rules/pytorch-cuda.yaml"
step --program "$TMP/data/configs/dram/hbm3-6400.yaml"
step --program "$TMP/data/configs/tech/dram.yaml"
cp -r workloads "$TMP/data"
try run -c dsocr -m llama-3.2-1b --fidelity analytic --timeline "$TMP/data/configs/npu/dsocr.yaml"
try run -c edge -m llama-3.2-1b --fidelity analytic --timeline "$TMP/data/workloads/models/llama-3.2-1b.yaml"
diff -r workloads "$TMP/data/workloads"
diff -r configs "$TMP/data/configs"
unset NPUSIM_DATA
[ -e "$TMP/new" ] && echo "something was written"
kept | cmp - "$TMP/sum" && cmp "$TRACE" "$TMP/p.json" && echo "all as it was"

echo "## no plain file"
mkfifo "$TMP/pipe"
ln -s made.csv "$TMP/to_new"
ln -s old.csv "$TMP/to_old"
echo old >"$TMP/old.csv"
chmod 640 "$TMP/old.csv"
if mknod "$TMP/null" c 1 3 2>/dev/null; then
	"$NPUSIM" export "$TMP/r.db" ops -o "$TMP/null" >"$TMP/said"
	[ -c "$TMP/null" ] || echo "the device is none any more"
fi
timeout 20 cat "$TMP/pipe" >"$TMP/piped" &
"$NPUSIM" export "$TMP/r.db" runs -o "$TMP/pipe"
wait
[ -p "$TMP/pipe" ] || echo "the pipe is none any more"
head -c 15 "$TMP/piped"; echo
"$NPUSIM" export "$TMP/r.db" runs -o "$TMP/to_new"
"$NPUSIM" export "$TMP/r.db" runs -o "$TMP/to_old"
[ -L "$TMP/to_new" ] && [ -L "$TMP/to_old" ] && cmp "$TMP/piped" "$TMP/made.csv" && cmp "$TMP/piped" "$TMP/old.csv" && echo "links are followed"
stat -c '%a %F' "$TMP/old.csv"
"$NPUSIM" export "$TMP/r.db" runs -o /proc/self/fd/1 | head -c 15; echo
try export "$TMP/r.db" -o "$TMP"
try report "$TMP/r.db" -o "$TMP"

echo "## what does not fit"
for f in a.csv a.json a.html a.txt; do echo old >"$TMP/$f"; done
limit() {
	sh -c 'ulimit -f 8; exec "$@"' sh "$@" >"$TMP/said" 2>&1
	echo "exit $?"
	grep npusim: "$TMP/said"
}
limit "$NPUSIM" export "$TMP/r.db" ops -o "$TMP/a.csv"
limit "$NPUSIM" trace export "$TMP/t.db" -o "$TMP/a.json"
limit "$NPUSIM" report "$TMP/r.db" -o "$TMP/a.html"
limit "$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --program "$TMP/a.txt"
cat "$TMP"/a.csv "$TMP"/a.json "$TMP"/a.html "$TMP"/a.txt
rm -rf "$TMP/null" "$TMP/rtx" "$TMP/h200" "$TMP/data"
ls "$TMP"
