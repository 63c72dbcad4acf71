# npusim report without a browser: what the page is told of a sweep whose answers are known, and what it refuses. The sweep's
# objective is of parameters alone: over l2.size it falls by 1 a MiB up to 256 MiB and by 1/4 beyond, so there is the knee; one
# policy is made flat, and a flat line has none; nor has a straight one, which the constraint leaves of the 64 cores.
# figures: shown
. validate/tests/golden/common
cat >"$TMP/s.yaml" <<EOF
sweep: 1
base: $CONFIG
trace: $TRACE
range: decode_step_1
fidelity: analytic
axes:
  l2.policy: [lru, srrip]
  cores: [32, 64]
  l2.size: [64 MiB, 128 MiB, 256 MiB, 512 MiB]
columns: {mib: l2.size / 1 MiB, half: cores / 2}
objectives: [{name: cost, minimize: "2000 - (l2.policy == 'lru') * cores / 32 * (min(mib, 256) + max(mib - 256, 0) / 4)"}, mib]
constraints: cores * mib < 32768
EOF
page_data() { # FILE
	sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>$/\1/p' "$1"
}
part() { # KEY FILE: an object or array of the page's data, one row a line
	page_data "$2" | sed -n "s/.*\"$1\": \([[{].*\)/\1/p" | awk '{
		for (i = 1; i <= length($0); i++) {
			c = substr($0, i, 1)
			depth += (c == "[" || c == "{") - (c == "]" || c == "}")
			printf "%s", c
			if (!depth) break
			if (c == "," && depth < 4) printf "\n"
		}
		print ""
	}'
}
quiet sweep "$TMP/s.yaml" -o "$TMP/s.db"
cd "$TMP" || exit 1
ROOT=$OLDPWD
if "$NPUSIM" report s.db -o s.html 2>&1 | grep -q 'is not in this build'; then echo "not run: this build has no page"; exit 0; fi
try report s.db -o s.html
echo "the lines, their knees by place:"
part curves s.html | grep -E '"(x|by|panel|knee)"'
echo "the axes:"
part axes s.html | grep -E '"(key|type|follows)"'
echo "front and the best of it:"
page_data s.html | grep -Eo '"best": [0-9]+, "columns"'
page_data s.html | grep -Eo '\[[0-9]+, 1, \[[0-9, ]*\], \[[0-9., ]*\]'
echo "designs:"
page_data s.html | grep -Eo '"why": "[^"]*", "point": [0-9]+'
cd "$ROOT" || exit 1

echo
echo "the same page from shards in another order, and again:"
quiet sweep "$TMP/s.yaml" --shard 2/2 -j 1 -o "$TMP/2.db"
quiet sweep "$TMP/s.yaml" --shard 1/2 -j 2 -o "$TMP/1.db"
mkdir "$TMP/merged"
quiet merge "$TMP/merged/s.db" "$TMP/2.db" "$TMP/1.db"
(cd "$TMP/merged" && quiet report s.db -o s.html)
cmp "$TMP/s.html" "$TMP/merged/s.html" && echo "the same"
quiet report "$TMP/s.db" "$TMP/s.db" -o "$TMP/two.html"
page_data "$TMP/two.html" | grep -o '"from": "[^"]*"'
quiet report "$TMP/s.db" -o "$TMP/t.html" --title 'a </title><script>&amp;'
grep -o '<title>.*</title>' "$TMP/t.html"
echo

try report
try report "$TMP/s.db"
try report "$TMP/s.db" -o "$TMP/s.db"
try report "$TMP/absent.db" -o "$TMP/x.html"
try report "$TMP/s.yaml" -o "$TMP/x.html"
try report "$TMP/s.db" -o "$TMP/no/where.html"
try report "$TMP/s.db" -o "$TMP/x.html" --run 1
try report "$TMP/s.db" -o "$TMP/x.html" --sweep 2
try report "$TMP/s.db" -o "$TMP/x.html" --sweep one
try report "$TMP/s.db" "$TMP/1.db" -o "$TMP/x.html" --sweep 1
try report "$TMP/s.db" -o "$TMP/full.html" --titel x
ls "$TMP"/x.html 2>/dev/null
sed 's/32768/1/' "$TMP/s.yaml" >"$TMP/none.yaml"
"$NPUSIM" sweep "$TMP/none.yaml" -o "$TMP/none.db" >/dev/null 2>&1
quiet report "$TMP/none.db" -o "$TMP/none.html"
page_data "$TMP/none.html" | grep -Eo '"(done|count)": [0-9]+'
