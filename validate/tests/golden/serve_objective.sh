# Requests as what a search and limits are asked of: the goal holds by npusim serve, workers change nothing, and what is refused.
. validate/tests/golden/common
T='rate=5/s,number=4,prompt=32,output=3,max_batch=2'
AXES="--axis cores=2,4 --axis dram.channels=4,8"
design() { "$NPUSIM" design -c edge -m qwen2-0.5b $AXES -n 4 --serve "$T" "$@"; }
# A machine whose mappings are given: its mapper searches for none, and limits has some hundred machines to ask.
limits() { "$NPUSIM" limits -c tpu-v6e -m qwen2-0.5b --layers 1 --serve "$T" --pairs 0 "$@"; }

design --reach 'tpot_p99_ms <= 25' -o "$TMP/d.yaml" --format json -j 1 >"$TMP/one.json"
design --reach 'tpot_p99_ms <= 25' -o "$TMP/d.yaml" --format json -j 3 | cmp - "$TMP/one.json" && echo "the same with three workers"
grep '"reached"' "$TMP/one.json"
design --reach 'tpot_p99_ms <= 25' --format csv | sed -n 1p
"$NPUSIM" serve -c "$TMP/d.yaml" -m qwen2-0.5b --rate 5/s --number 4 --prompt 32 --output 3 --max-batch 2 --slo-tpot '25 ms' >/dev/null && echo "serve says so, too"
printf 'serve: {rate: 5/s, number: 4, prompt: 32, output: 3, max_batch: 2}\n' >"$TMP/t.yaml"
T=$TMP/t.yaml design --reach 'tpot_p99_ms <= 25' -o "$TMP/d.yaml" --format json | cmp - "$TMP/one.json" && echo "and of a file"

limits -j 1 --format csv >"$TMP/one.csv"
limits -j 3 --format csv | cmp - "$TMP/one.csv" && echo "limits: the same with three workers"
limits | sed -n '1p; /^buys most/p' | sed 's/[0-9][0-9]*\.[0-9]*/#/g; s/[0-9][0-9.]* GB.s/#/g'

echo "a machine that keeps no rate has 0 of them, which is an answer and the worst"
keeps() { "$NPUSIM" design -c edge -m qwen2-0.5b --axis dram.channels=8,16 -n 4 --serve 'find_rate,slo_tpot=9 ms,number=3,prompt=32,output=3,max_batch=2' --format csv "$@" | awk -F, '{ print $1, $3, (NR == 1 || $5 == 0 ? $5 : "some"), $NF }'; }
keeps --reach 'max_rate >= 5'
keeps --maximize max_rate

fails() { try "$@" 2>&1; }
fails design -c edge -m qwen2-0.5b --serve rate=5 --reach 'tpot_p99_ms <= 25'
fails design -c edge -m qwen2-0.5b --serve rat=5/s --reach 'tpot_p99_ms <= 25'
fails design -c edge -m qwen2-0.5b --serve number --reach 'tpot_p99_ms <= 25'
fails design -c edge -m qwen2-0.5b --serve rate=5/s --reach 'latency_us <= 25'
fails design -c edge -m qwen2-0.5b --reach 'tpot_p99_ms <= 25'
fails design -c edge -m qwen2-0.5b --serve rate=5/s --sure 80% --reach 'tpot_p99_ms <= 25'
fails design -c edge --mix qwen2-0.5b --serve rate=5/s --reach 'tpot_p99_ms <= 25'
fails limits -c edge -m qwen2-0.5b --serve 'find_rate,slo_ttft=1 ms'
fails limits -c edge -m qwen2-0.5b --serve rate=5/s -o "$TMP/r.db"
fails limits -c edge -m qwen2-0.5b --batch 2 --serve rate=5/s
