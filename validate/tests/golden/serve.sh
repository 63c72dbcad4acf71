# Requests that arrive over time: a thousand of them against closed forms, what workers and formats change (nothing), memory that is short,
# speculation, a list that is read. Figures of the model may change, and are held against each other.
. validate/tests/golden/common
number() { sed -n "s/^ *\"$1\": \([-0-9.e+]*\),*\$/\1/p" "$2" | head -n 1; }
within() { awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { print (a != "" && b > 0 && a < b * (1 + p / 100) && a > b * (1 - p / 100)) ? "yes" : "no: " a " and " b }'; }
# of KIND (ttft_ms) and FIGURE (p50) in FILE
latency() { sed -n "/\"$1\": {/,/}/s/^ *\"$2\": \([0-9.]*\),*\$/\1/p" "$3" | head -n 1; }
MODEL=llama-3.2-1b
# A machine whose mappings are given: its mapper searches for none, so its steps are worked out in a hundredth of the time.
MACHINE=tpu-v6e
serve() { "$NPUSIM" serve -c $MACHINE -m $MODEL --format json --check 2 "$@"; }
phase() { "$NPUSIM" run -c $MACHINE -m $MODEL --fidelity analytic --format json "$@"; }

echo "a thousand requests that hardly meet: what one request takes, and blocks' descriptors"
serve --rate 1/s --arrivals constant --prompt 512 --output 128 -j 1 >"$TMP/slow"
phase --phase prefill --tokens 512 >"$TMP/prefill"
phase --context 576 >"$TMP/decode"
echo "TTFT is the prompt's time: $(within "$(latency ttft_ms p50 "$TMP/slow")" "$(awk -v u="$(number total_us "$TMP/prefill")" 'BEGIN { print u / 1000 }')" 1)"
echo "TPOT is a decode step's: $(within "$(latency tpot_ms p99 "$TMP/slow")" "$(awk -v u="$(number total_us "$TMP/decode")" 'BEGIN { print u / 1000 }')" 2)"
for f in requests output_tokens all decode prompt mixed batch_peak preemptions; do echo "$f $(number $f "$TMP/slow")"; done

echo "a thousand at once: a full batch a step, less their prompts"
MACHINE=h200
serve --arrivals at-once --prompt 16 --output 400 --max-batch 16 >"$TMP/full"
phase --batch 16 --context 216 >"$TMP/b16"
echo "tokens a second are a batch a step: $(within "$(number tokens_per_s "$TMP/full")" "$(awk -v u="$(number total_us "$TMP/b16")" 'BEGIN { print 16e6 / u }')" 5)"
MACHINE=tpu-v6e
for f in requests output_tokens batch_peak; do echo "$f $(number $f "$TMP/full")"; done
awk -v n="$(number in_system_mean "$TMP/full")" -v r="$(number requests_per_s "$TMP/full")" -v w="$(latency total_ms mean "$TMP/full")" \
	'BEGIN { x = n / (r * w / 1000); print "Little: " (x > 0.999999 && x < 1.000001 ? "requests in the system are arrivals times their time in it" : x) }'

echo "workers and a table change nothing"
MIXED="--layers 2 --rate 20/s --number 100 --prompt lognormal:200:0.6 --output exp:60 --seed 4"
serve $MIXED -j 1 >"$TMP/1"
serve $MIXED -j 3 >"$TMP/3"
cmp "$TMP/1" "$TMP/3" && echo "the same to the byte"
serve $MIXED --write-requests "$TMP/list.csv" --timeline "$TMP/t.json" >"$TMP/w"
cmp "$TMP/1" "$TMP/w" && echo "looking on changes nothing"
serve --layers 2 -r "$TMP/list.csv" --seed 4 >"$TMP/r"
cmp "$TMP/1" "$TMP/r" && echo "the list read back is the list drawn"
"$NPUSIM" serve -c $MACHINE -m $MODEL $MIXED --format csv | awk -F, 'NR == 1 { print } NR > 1 { n++; out += $3; bad += $5 < $4 || $7 < $5 } END { print n " rows, " bad " of them out of order" }'
grep -c '"ph": *"X"' "$TMP/t.json" | awk -v n="$(number all "$TMP/w")" '{ print "the timeline has every step: " ($1 == n) }'

echo "memory that is short: blocks never above what there is, every token once"
for how in "--preempt recompute" "--preempt swap" "--reserve all"; do
	serve $MIXED --kv-memory '5 MiB' $how >"$TMP/k"
	awk -v how="$how" -v p="$(number blocks_peak "$TMP/k")" -v n="$(number blocks "$TMP/k")" -v t="$(number output_tokens "$TMP/k")" -v w="$(number output_tokens "$TMP/1")" \
		-v g="$(number preemptions "$TMP/k")" 'BEGIN { print how ": within " (p <= n) ", tokens " (t == w) ", somebody gave up " (g > 0) }'
done

echo "more acceptance is never slower"
for a in 0 0.6 1; do serve $MIXED --draft 3 --accept $a >"$TMP/accept.$a"; number seconds "$TMP/accept.$a"; done |
	awk 'NR > 1 && $1 > last { print "slower" } { last = $1 } END { print NR " rates" }'
serve $MIXED --draft 3 --accept 0.6 --draft-share 0.1 >"$TMP/share"
awk -v a="$(number busy_seconds "$TMP/accept.0.6")" -v b="$(number busy_seconds "$TMP/share")" 'BEGIN { print "drafts that cost something take longer: " (b > a) }'

echo "a GPU tells joules, and their sum with what it waits"
"$NPUSIM" serve -c configs/gpu/h200.yaml -m $MODEL --rate 2/s --number 20 --prompt 64 --output 16 --format json --check 0 >"$TMP/g"
awk -v j="$(number joules "$TMP/g")" -v i="$(number idle_joules "$TMP/g")" -v w="$(number power_w "$TMP/g")" 'BEGIN { print (j > i && i > 0 && w > 50 && w < 700) }'

echo "for people"
"$NPUSIM" serve -c $MACHINE -m qwen2-0.5b -r workloads/requests/chat.csv --slo-ttft '2000 ms' --slo-tpot '100 ms' | sed -e '/^joules/d; / J a token/d' -e 's/[0-9][0-9.e+,]*/#/g' -e 's/  */ /g' -e 's/--*/-/g'
