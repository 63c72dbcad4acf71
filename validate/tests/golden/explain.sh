# npusim explain: which sentences a run has, that each names its source, and what it says where the machine's file does not: digits
# are not compared, a model may move them (validate/tests/python holds each to the figure of the run).
. validate/tests/golden/common
# A design, by its document; and what is none.
"$NPUSIM" design -c dsocr -m llama-3.2-1b --layers 2 --context 256 --fidelity analytic --axis cores=x0.25,x0.5,x1 --axis dram.channels=32,48,64 \
	--axis l2.size=x0.125,x0.5,x1 --reach 'latency_us <= 450' --format json >"$TMP/d.json"
"$NPUSIM" explain "$TMP/d.json" | grep -cE '^ *[0-9]+  '
"$NPUSIM" explain "$TMP/d.json" --format csv | cut -d, -f1
echo '{}' >"$TMP/none.json"
try explain "$TMP/none.json"
printf '{"explained": [1, {"text": 3}' >"$TMP/none.json"
try explain "$TMP/none.json"
cp "$CONFIG" "$TMP/mine.yaml"
few() { sed -E 's/[0-9][0-9.,]*/N/g; s/by build .*/by build B/'; }
abouts() { "$NPUSIM" explain "$@" --format csv | cut -d, -f1 | tr '\n' ' '; echo; }
quiet run -c "$TMP/mine.yaml" -t "$TRACE" --range decode_step_1 -o "$TMP/r.db"
abouts "$TMP/r.db"
quiet run -c h200 -m qwen3-0.6b --layers 2 -o "$TMP/r.db"
abouts "$TMP/r.db"
quiet limits -c edge -m qwen3-0.6b --layers 2 --pairs 0 --fidelity analytic -o "$TMP/r.db"
abouts "$TMP/r.db"
quiet run -c "$TMP/mine.yaml" -m qwen3-0.6b --layers 2 --set dram.channels=32 -o "$TMP/r.db"
abouts "$TMP/r.db"
echo "a value of the file, one set for the run, one whose file is gone:"
"$NPUSIM" explain "$TMP/r.db" --run 1 --format json | grep -o 'dram.channels is [^"]*' | head -n 1 | few
"$NPUSIM" explain "$TMP/r.db" --run 4 --format json | grep -o 'dram.channels is [^"]*' | head -n 1 | few
rm "$TMP/mine.yaml"
"$NPUSIM" explain "$TMP/r.db" --run 4 --format json | grep -o 'dram.channels is [^"]*' | head -n 1 | few | sed "s|'.*mine.yaml'|'FILE'|"
echo "the lines, none wider than 100:"
"$NPUSIM" explain "$TMP/r.db" --run 3 | few | grep -E '^ *(N  |[0-9])'
"$NPUSIM" explain "$TMP/r.db" --run 3 | awk 'length > 100 { print "too long: " $0 }'
echo
try explain
try explain "$TMP/r.db" --run 9
try explain "$TMP/absent.db"
try explain "$CONFIG"
try explain "$TMP/r.db" --format yaml
