# npusim explain: which sentences a run has, that each names its source, and what it says where the machine's file does not: digits
# are not compared, a model may move them (validate/tests/python holds each to the figure of the run).
. validate/tests/golden/common
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
