# A sweep's own columns and objectives, wherever its points are shown: printed, exported, best, and again with events.
# figures: shown
. validate/tests/golden/common
cat >"$TMP/s.yaml" <<EOF
sweep: 1
base: $CONFIG
trace: $TRACE
range: decode_step_1
fidelity: analytic
axes: {l2.size: [64 MiB, 128 MiB, 100 KiB]}
columns: {mib: l2.size / 1 MiB, work: latency_us * mib}
objectives: [latency_us, l2.size, {name: small, minimize: mib - 64}, "max(mib, 100)"]
EOF
quiet sweep "$TMP/s.yaml" -o "$TMP/r.db"
# Values of parameters alone, by their place from the end; what is worked out of results is compared.
echo "exported: after the columns of the file; what stands there under its name is there once"
"$NPUSIM" export "$TMP/r.db" >"$TMP/x.csv"
sed -n 1p "$TMP/x.csv" | sed 's/.*,build,/build,/'
sed -n 1p "$TMP/x.csv" | tr , '\n' | grep -cx -e latency_us -e l2.size
awk -F, 'NR > 1 { print $2, $4, $(NF - 3), $(NF - 1), $NF, $(NF - 2) != "" }' "$TMP/x.csv"
awk -F, 'NR > 1 && $4 == "done" && ($6 * $(NF - 3) / $(NF - 2) - 1) ^ 2 > 1e-12 { print "another product: " $0 }' "$TMP/x.csv"
"$NPUSIM" export "$TMP/r.db" --sweep 1 | cmp - "$TMP/x.csv" && echo "the only sweep"
own() { grep -o -e '"point": [0-9]*' -e '"mib": [^,}]*' -e '"small": [^,}]*' -e '"max(mib, 100)": [^,}]*' -e '"work"' | tr '\n' ' '; echo; }
echo "in JSON: sweep, best, again"
"$NPUSIM" sweep "$TMP/s.yaml" --format json 2>/dev/null | own
"$NPUSIM" best "$TMP/r.db" --minimize mib --format json | own
"$NPUSIM" sweep "$TMP/s.yaml" --again 1 --format json 2>/dev/null | own
echo "and not in a table for people, of those again"
"$NPUSIM" sweep "$TMP/s.yaml" --again 1 2>/dev/null | grep -c '^point .* roofline_us$'
command -v sqlite3 >/dev/null || { echo "no sqlite3 here"; exit; }
echo "what this build cannot read is left out, and said"
sqlite3 "$TMP/r.db" "update sweep set text = replace(text, 'latency_us * mib', 'latency_us * gone')"
"$NPUSIM" export "$TMP/r.db" | sed -n '1s/.*,build/build/p'
sqlite3 "$TMP/r.db" "update sweep set text = replace(text, 'l2.size: [', 'l2.size: [1 MiB], cores: [')"
"$NPUSIM" export "$TMP/r.db" | sed -n '1s/.*,build/build/p'
