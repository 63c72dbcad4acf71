# tier: gate
# The cheapest machine for a goal: what is said, that it is one, that workers change nothing, and what is refused.
. validate/tests/golden/common
TOY="-m llama-3.2-1b --layers 2 --context 256 --fidelity analytic"
AXES="--axis cores=x0.25,x0.5,x1 --axis dram.channels=16,32,48,64 --axis l2.size=x0.125,x0.5,x1 --axis matrix.cols=x0.25,x1"
try design -c dsocr $TOY $AXES --reach 'latency_us <= 450' -o "$TMP/d.yaml"
head -n 12 "$TMP/d.yaml"
"$NPUSIM" design -c dsocr $TOY $AXES --reach 'latency_us <= 450' -j 1 --format json >"$TMP/one.json"
"$NPUSIM" design -c dsocr $TOY $AXES --reach 'latency_us <= 450' -j 3 --format json >"$TMP/three.json"
cmp "$TMP/one.json" "$TMP/three.json" && echo "the same with three workers"
echo "what is written is that machine:"
"$NPUSIM" run -c "$TMP/d.yaml" $TOY --format json >"$TMP/run.json"
[ "$(field latency_us "$TMP/one.json")" = "$(field total_us "$TMP/run.json")" ] && echo "its time"
[ "$(field area_mm2 "$TMP/one.json")" = "$(field area_mm2 "$TMP/run.json")" ] && echo "its die"
echo "all designs, by a sweep:"
cat >"$TMP/s.yaml" <<END
sweep: 1
base: $CONFIG
workload: {name: llama-3.2-1b, layers: 2, context: 256}
fidelity: analytic
axes: {cores: [16, 32, 64], dram.channels: [16, 32, 48, 64], l2.size: [24 MiB, 96 MiB, 192 MiB], matrix.cols: [32, 128]}
objectives: [area_mm2]
constraints: latency_us <= 450
END
"$NPUSIM" sweep "$TMP/s.yaml" -o "$TMP/r.db" >/dev/null 2>&1
"$NPUSIM" best "$TMP/r.db" -n 1 --format csv | tail -n 1
"$NPUSIM" design -c dsocr $TOY $AXES --reach 'latency_us <= 450' --format csv
echo "with events, how sure, and a mix"
"$NPUSIM" design -c dsocr -m llama-3.2-1b --layers 1 --context 64 -n 40 --events 12 $AXES --reach 'latency_us <= 260' --format json >"$TMP/e.json"
grep -e '^  "reached"' -e '^  "fidelity"' "$TMP/e.json"
"$NPUSIM" design -c dsocr $TOY $AXES --reach 'latency_us <= 4500' --sure '80 %' --format json | grep -e '^  "reached"'
"$NPUSIM" design -c dsocr --mix 'llama-3.2-1b:3,layers=1,context=64, llama-3.2-1b:prefill,layers=1,tokens=32' --fidelity analytic -n 30 $AXES --reach 'mix.worst_ns <= 300000' --format json | grep -e '^  "reached"'
echo "what cannot be"
try design -c dsocr $TOY $AXES --reach 'latency_us <= 4'
try design -c dsocr $TOY
try design -c dsocr $TOY --reach 'latency_us'
try design -c dsocr $TOY --reach 'latancy_us < 5'
try design -c dsocr $TOY --reach '1 < latency_us < 5'
try design -c dsocr $TOY --reach 'tokens/s >= 5'
try design -c dsocr $TOY --reach 'stall.dram <= 5' --sure '80 %'
try design -c dsocr $TOY --reach 'latency_us <= 450' --axis 'l2.sise=x1,x2'
try design -c dsocr $TOY --reach 'latency_us <= 450' --axis 'l2.size=64'
try design -c dsocr $TOY --reach 'latency_us <= 450' --axis 'l2.size'
try design -c dsocr --mix 'llama-3.2-1b:decode:0' --reach 'latency_us <= 450'
try design -c dsocr --mix 'llama-3.2-1b,batchh=3' --reach 'latency_us <= 450'
try design -c dsocr -m llama-3.2-1b --mix 'llama-3.2-1b' --reach 'latency_us <= 450'
printf 'axes:\n  l2.size: [x1, x2]\n  coress: [1, 2]\n' >"$TMP/a.yaml"
try design -c dsocr $TOY --reach 'latency_us <= 450' --axes "$TMP/a.yaml"
printf 'axes: {l2.size: [x1, x2]}\nsweep: 1\n' >"$TMP/a.yaml"
try design -c dsocr $TOY --reach 'latency_us <= 450' --axes "$TMP/a.yaml"
echo "machines side by side"
try run -c dsocr,h100,tpu-v6e -m llama-3.2-1b --context 256
try run -c dsocr,h100 -m llama-3.2-1b --timeline "$TMP/x.json"
try run -c dsocr,h10O -m llama-3.2-1b
