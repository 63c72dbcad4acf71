# Kernels and families of the committed trace.
# figures: shown
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
try trace top -n 12 "$TMP/t.db"
try trace top -n 3 "$TMP/t.db" --range decode_step_1
try trace top -n 2 "$TMP/t.db" --format csv
try trace top -n 1 "$TMP/t.db" --format json
echo "every name without -n, in order of time, and the sums:"
"$NPUSIM" trace top "$TMP/t.db" --format json >"$TMP/top.json"
field name_count "$TMP/top.json"
sed -n 's/^      "rank": \([0-9]*\),/\1/p' "$TMP/top.json" | tail -n 1
sed -n 's/^      "rank": .*//; s/^      "total_us": \([0-9.]*\),*$/\1/p' "$TMP/top.json" | awk '
	NR <= 38 { names += $1; if (NR > 1 && $1 > last) print "not in order at", NR; last = $1 }
	NR > 38 { families += $1 }
	END { printf "names %.3f us, families and copies %.3f us\n", names, families }'
try trace top "$TMP/t.db" --range decode_step_7
try trace top "$TMP/t.db" --range prefill
try trace top "$TMP/absent.db"
try trace top $CONFIG
