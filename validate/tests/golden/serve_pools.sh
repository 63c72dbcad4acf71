# Several machines: one of a pool is the machine, two pools hand caches over, and what cannot be. Figures of the model may change.
. validate/tests/golden/common
number() { sed -n "s/^ *\"$1\": \([-0-9.e+]*\),*\$/\1/p" "$2" | head -n 1; }
LIST="-m llama-3.2-1b --layers 2 --prompt exp:200 --output exp:60 --number 300 --check 0"
serve() { "$NPUSIM" serve "$@" $LIST; }
one=tpu-v6e # whose mappings are given, not searched for: a step is worked out in a hundredth of the time

serve -c $one --rate 4/s --format csv | cut -d, -f1-9 >"$TMP/one"
serve -c $one:1 --rate 4/s --format csv | cut -d, -f1-9 | cmp - "$TMP/one" && echo "one machine of a pool is the machine"
serve -c $one:3 --rate 40/s --router robin --format csv | awk -F, 'NR > 1 { if ($10 != (NR - 2) % 3) bad = 1 } END { print "each in turn " !bad }'

echo "two pools: prompts here, tokens there, caches between"
serve --prefill tpu-v6e-8:1 --decode tpu-v6e-8:2 --rate 40/s --format json >"$TMP/two"
sed -n '/"pool"\|"machine"\|"machines"\|"stops_for_moves"\|"gave_up"/p' "$TMP/two"
serve --prefill tpu-v6e-8:1 --decode tpu-v6e-8:2 --rate 40/s --format csv >"$TMP/two.csv"
awk -F, -v b="$(number bytes "$TMP/two")" -v n="$(number caches "$TMP/two")" \
	'NR > 1 && $3 > 1 { p += $2; k++ } END { print "2 layers of 2048 bytes a token " (b == p * 4096 && n == k) }' "$TMP/two.csv"
awk -F, 'NR == 1 { print } NR > 1 { if ($3 == 1 ? $11 != "" : $13 <= 0 || $12 < 0) bad = 1; first[$11]++ } END { print "each that decodes moves " !bad ", to both " (first[0] > 50 && first[1] > 50) }' "$TMP/two.csv"
serve --prefill tpu-v6e-8 --decode tpu-v6e-8 --rate 40/s --kv-rate '1 GB/s' --kv-latency '1 ms' --format csv |
	awk -F, 'NR > 1 && $13 != "" { off = $13 - (1 + $2 * 4096 / 1e6); if (off > 1e-3 || off < -1e-3) bad = 1 } END { print "at a rate that is given " !bad }'
for c in beside stop; do serve --prefill tpu-v6e-8 --decode tpu-v6e-8 --rate 200/s --kv-rate '0.2 GB/s' --kv-copy $c --format json >"$TMP/$c"; done
awk -v a="$(number mean_ms "$TMP/beside")" -v b="$(number mean_ms "$TMP/stop")" -v x="$(number seconds "$TMP/beside")" -v y="$(number seconds "$TMP/stop")" 'BEGIN { print "as long on the way " (a == b) ", and steps that wait for it end later " (y > x) }'
serve --prefill tpu-v6e-8 --decode tpu-v6e-8 --set 'decode:dram.bandwidth=3200 GB/s' --rate 4/s --format json >"$TMP/set"
awk -v a="$(sed -n '/"tpot_ms"/,/}/s/^ *"p50": \([0-9.]*\).*/\1/p' "$TMP/set")" -v b="$(sed -n '/"tpot_ms"/,/}/s/^ *"p50": \([0-9.]*\).*/\1/p' "$TMP/two")" 'BEGIN { print "a parameter of one pool " (a < 0.9 * b) }'

"$NPUSIM" serve --prefill tpu-v6e-8 --decode tpu-v6e-8 -m llama-3.2-1b --layers 2 --arrivals at-once --number 20 --output 1 --check 0 --format json >"$TMP/none"
awk -v j="$(number joules "$TMP/none")" -v n="$(number caches "$TMP/none")" 'BEGIN { print "no second token, no cache moves, and those that decode take what waiting takes " (n == 0 && j > 0) }'

echo "which pool holds the rate"
serve --prefill tpu-v6e-8 --decode tpu-v6e-8 --find-rate --slo-tpot '1 ms' --slo-ttft '1000 ms' --max-batch 4 --format json >"$TMP/r"
sed -n 's/^ *\("held_by_pool": .*\)/\1/p' "$TMP/r"
awk -v r="$(number max_rate "$TMP/r")" -v p="$(number prefill "$TMP/r")" -v d="$(number decode "$TMP/r")" -v l="$(number links "$TMP/r")" 'BEGIN { print "another that decodes is worth most " (d > 1.5 * r && p < 1.2 * r && l < 1.2 * r) }'
serve --prefill tpu-v6e-8 --decode tpu-v6e-8 --find-rate --slo-tpot '1 ms' --slo-ttft '1000 ms' --max-batch 4 -j 1 --format json | cmp - "$TMP/r" && echo "workers change nothing"
"$NPUSIM" serve --prefill $one --decode $one --kv-rate '10000 GB/s' -m llama-3.2-1b --layers 1 --prompt 64 --output 4 --number 20 --check 0 --find-rate --slo-ttft '0.5 ms' --limits --format json >"$TMP/knobs"
sed -n 's/^ *"knob": "\([^"]*\)".*/\1/p' "$TMP/knobs" >"$TMP/keys"
echo "the best is one of the $(head -n 1 "$TMP/keys" | cut -d: -f1) pool; of decode, prefill, the way: $(grep -c ^decode: "$TMP/keys") $(grep -c ^prefill: "$TMP/keys") $(grep -c kv-rate "$TMP/keys")"
awk '/"knob": "(decode:|--kv)/ { own = 1 } /"more_pct"/ { gsub(/[",]/, ""); if (own && ($2 > 0.5 || $2 < -0.5)) bad = 1; own = 0 } END { print "what it does not hang on does nothing " !bad }' "$TMP/knobs"
serve --prefill tpu-v6e-8 --decode tpu-v6e-8 --rate 40/s --timeline "$TMP/t.json" >/dev/null
grep -o '"process_name"[^}]*}' "$TMP/t.json" | grep -o '"name":"[^"]*"' | tail -n 2

echo "machines of several chips"
for t in "" "--tp 1"; do serve -c tpu-v6e-8 --rate 40/s $t --format json >"$TMP/tp${t#--tp }"; done
cmp "$TMP/tp" "$TMP/tp1" && echo "a chip alone is the machine"
for t in 1 4; do
	"$NPUSIM" serve -c tpu-v6e-8 -m llama-3.1-8b --layers 4 --tp $t --prompt 2048 --output 4 --number 40 --check 0 --find-rate --slo-ttft '30 ms' --format json >"$TMP/of$t"
done
awk -v a="$(number max_rate "$TMP/of1")" -v b="$(number max_rate "$TMP/of4")" -v m="$(number kv_bytes "$TMP/of1")" -v n="$(number kv_bytes "$TMP/of4")" -v x="$(number block_bytes "$TMP/of1")" -v y="$(number block_bytes "$TMP/of4")" 'BEGIN { print "four keep a higher rate " (a > 0 && b > a) ", each with more of its memory for a cache " (n > m) " of which it has a fourth " (4 * y == x) }'
serve --prefill tpu-v6e-8:2 --decode tpu-v6e-8 --tp 2 --rate 40/s | sed -n '1s/.*: //p'
try serve -c tpu-v6e-8 --tp 16 -m llama-3.2-1b --rate 4/s
try serve -c tpu-v6e-8 --tp 2 --dp 2 -m llama-3.2-1b --rate 4/s
try serve -c dsocr --tp 2 -m llama-3.2-1b --rate 4/s

echo "what cannot be"
MODEL="-m llama-3.2-1b --rate 4/s"
try serve -c dsocr --prefill h200 --decode dsocr $MODEL
try serve --prefill h200 $MODEL
try serve --decode h200 $MODEL
try serve --prefill h200 --decode dsocr-8 $MODEL
try serve --prefill dsocr-8 --decode dsocr $MODEL
try serve -c dsocr:0 $MODEL
try serve -c dsocr:2000 $MODEL
try serve -c dsocr --router least $MODEL
try serve -c dsocr:2 --router most $MODEL
try serve -c dsocr:2 --kv-rate '1 GB/s' $MODEL
try serve --prefill dsocr --decode dsocr --kv-rate 5 $MODEL
try serve --prefill dsocr --decode dsocr --kv-rate '0 B/s' $MODEL
try serve --prefill dsocr --decode dsocr --kv-latency '1 us' $MODEL
try serve --prefill dsocr --decode dsocr --kv-rate '1 GB/s' --kv-copy never $MODEL
try serve --prefill dsocr-8 --decode dsocr-8 --set decode:kv.dtype=fp8 $MODEL
try serve --prefill dsocr-8 --decode dsocr-8 --set decoder:l2.size=1 $MODEL
try serve --prefill dsocr-8 --decode edg $MODEL
