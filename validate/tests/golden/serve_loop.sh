# Requests that come when others leave, and an inference engine's host: what it says of itself, what it adds, and what cannot be.
. validate/tests/golden/common
number() { sed -n "s/^ *\"$1\": \([-0-9.e+]*\),*\$/\1/p" "$2" | head -n 1; }
serve() { "$NPUSIM" serve -c tpu-v6e -m llama-3.2-1b --layers 2 --prompt exp:200 --output exp:60 --number 60 --check 0 "$@"; }

serve --concurrency 1 --format json >"$TMP/1"
serve --concurrency 4 --format json >"$TMP/4"
awk -v a="$(number seconds "$TMP/1")" -v b="$(number seconds "$TMP/4")" -v n="$(number in_system_mean "$TMP/1")" -v m="$(number in_system_mean "$TMP/4")" \
	'BEGIN { print "four at a time end sooner " (b < a) ", never more than are let in " (n <= 1 && m <= 4 && m > 2) }'
serve --concurrency 4 --format csv | awk -F, 'NR > 1 { t[NR] = $1; if (NR > 2 && $1 < t[NR - 1]) bad = 1; if ($1 == 0) first++ } END { print first " come at once, the others in order " !bad }'
serve --concurrency 4 --engine vllm --format json >"$TMP/v"
awk -v a="$(sed -n '/"ttft_ms"/,/}/s/^ *"p50": \([0-9.]*\).*/\1/p' "$TMP/4")" -v b="$(sed -n '/"ttft_ms"/,/}/s/^ *"p50": \([0-9.]*\).*/\1/p' "$TMP/v")" \
	'BEGIN { print "its host is in the first token " (b > a + 5 && b < a + 10) }'
serve --concurrency 4 --engine vllm | sed -n '/^engine/,/^memory/p' | sed '/^memory/d'
sed -n '/"itl_ms"/,/}/p' "$TMP/v" | sed 's/[0-9][0-9.]*,*$/#/'

echo "more at a time: less for each, more of the machine; four are what a loop of four is"
serve --curve --max-batch 8 --format csv >"$TMP/c"
sed -n 1p "$TMP/c"
awk -F, -v t="$(sed -n '/"tpot_ms"/,/}/s/^ *"p50": \([0-9.]*\).*/\1/p' "$TMP/4")" 'NR > 1 { if ($5 < u) bad = 1; u = $5; n++; if ($1 == 4) same = $5 == t; some += $2 != "" } END { print n " points, " !bad ", " same ", a part makes no tokens " !some }' "$TMP/c"

echo "what cannot be"
try serve -c configs/npu/edge.yaml -m llama-3.2-1b --curve --concurrency 4
printf 'engine:\n  setp: 1 ms\n' >"$TMP/engine.yaml"
try serve -c configs/npu/edge.yaml -m llama-3.2-1b --concurrency 4 --engine vlm
try serve -c configs/npu/edge.yaml -m llama-3.2-1b --concurrency 4 --engine "$TMP/engine.yaml"
try serve -c configs/npu/edge.yaml -m llama-3.2-1b --concurrency 4 --rate 4/s
try serve -c configs/npu/edge.yaml -m llama-3.2-1b --concurrency 4 --find-rate --slo-ttft '10 ms'
