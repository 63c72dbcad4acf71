# The largest rate that keeps bounds: what is found is kept where it is given, what is asked for no reason is refused, and a doubling that
# should pay does. Figures of the model may change.
. validate/tests/golden/common
number() { sed -n "s/^ *\"$1\": \([-0-9.e+]*\),*\$/\1/p" "$2" | head -n 1; }
# A GPU's steps are worked out in a tenth of the time that an NPU's mapper takes, and the search is the same.
MODEL="-m llama-3.2-1b --layers 2 --prompt exp:200 --output exp:60 --check 0"
N="--number 100"
find_rate() { "$NPUSIM" serve -c l4 $MODEL $N --find-rate "$@"; }

find_rate --slo-ttft '50 ms' --slo-tpot '3.6 ms' --format json >"$TMP/r" --write-requests "$TMP/list.csv"
for f in held_by share requests; do sed -n "s/^ *\(\"$f\": .*\)/\1/p" "$TMP/r" | head -n 1; done
awk -v r="$(number max_rate "$TMP/r")" -v l="$(number max_rate_low "$TMP/r")" -v h="$(number max_rate_high "$TMP/r")" -v t="$(number max_rate_ttft "$TMP/r")" \
	-v m="$(number missed_at "$TMP/r")" 'BEGIN { print "in the middle of its draws " (l <= r && r <= h) ", at most TTFT alone " (r <= t) ", the next is missed " (m > r && m < r * 1.0021) }'
"$NPUSIM" serve -c l4 -m llama-3.2-1b --layers 2 -r "$TMP/list.csv" --format json --check 0 |
	awk -F'[:,]' '/within_bounds/ { print "the list of that rate keeps them " ($2 >= 99) }'
find_rate --slo-ttft '50 ms' --slo-tpot '3.6 ms' --share 80% --format json >"$TMP/s"
awk -v r="$(number max_rate "$TMP/r")" -v s="$(number max_rate "$TMP/s")" 'BEGIN { print "a smaller share has a higher rate " (s > r) }'
find_rate --slo-ttft '50 ms' --slo-tpot '3.6 ms' -j 1 --format json --write-requests "$TMP/two.csv" | cmp - "$TMP/r" && echo "workers change nothing"

echo "what raises it, for people and as a table"
N="--number 20" find_rate --slo-tpot '3.6 ms' --limits >"$TMP/l"
sed -n 1,4p "$TMP/l" | sed 's/[0-9][0-9.e+]*/#/g'
N="--number 20" find_rate --slo-tpot '3.6 ms' --limits --format csv | awk -F, 'NR == 1 { print } NR > 1 && $4 != "" { if (last && $4 > last) bad = 1; last = $4; n++; if ($1 == "dram.channels") more = $5 > 5 } END { print (n > 4) ", sorted " !bad ", channels pay " more }'

echo "from no rate to one, and to any: in words, and no number that is none"
for prompt in 600 16; do
	for f in table csv json; do
		"$NPUSIM" serve -c l4 -m llama-3.2-1b --layers 2 --prompt $prompt --output 20 --number 8 --check 0 --find-rate --slo-tpot '2.6 ms' --limits --format $f >"$TMP/n.$f" 2>/dev/null
	done
	sed -n '/^next/p' "$TMP/n.table" | sed 's/[0-9][0-9.]*\/s/#\/s/'
	grep '^dram.channels' "$TMP/n.csv" | sed 's/,[0-9]*\.[0-9]*,/,#,/'
	sed -n '/"knob": "dram.channels"/,/}/p' "$TMP/n.json" | grep -c '"note": "any rate"'
	grep -ciE '(^|[^a-z])(inf|nan)([^a-z]|$)' "$TMP/n.table" "$TMP/n.csv" "$TMP/n.json" | sed 's/.*n\.//'
done

echo "what cannot be"
try serve -c l4 $MODEL --find-rate
try serve -c l4 $MODEL --find-rate --rate 4/s --slo-ttft '1000 ms'
try serve -c l4 $MODEL --rate 4/s --limits
try serve -c l4 $MODEL --find-rate --slo-ttft '1000 ms' --share 0
try serve -c l4 $MODEL --find-rate --slo-ttft '1000 ms' --arrivals at-once
find_rate --slo-ttft '1 us' --format json 2>&1 | sed -n '/max_rate"/p; /^npusim/p'
