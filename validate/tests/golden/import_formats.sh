# Other profilers' files: found out by content, aggregated ones ranked and not run, wrong ones refused.
# figures: shown
. validate/tests/golden/common
DATA=validate/tests/data/csv
try trace import $DATA/kern_sum.csv -o "$TMP/sum.db"
try trace top "$TMP/sum.db"
try trace top "$TMP/sum.db" --format json
try trace show "$TMP/sum.db"
try run -c $CONFIG -t "$TMP/sum.db"
try trace ops "$TMP/sum.db"
gzip -nc $DATA/ncu_wide.csv >"$TMP/wide.gz"
try trace import $DATA/ncu_long.csv $DATA/ncu_no_duration.csv -o "$TMP/ncu.db" --format csv
try trace top "$TMP/ncu.db" --format csv
try trace import "$TMP/wide.gz" -o "$TMP/wide.db" --format csv
try trace top "$TMP/wide.db" --format csv
# Of another device than what is in the database.
try trace import "$TMP/wide.gz" -o "$TMP/ncu.db"
try trace import $DATA/ncu_failure.txt -o "$TMP/ncu.db"
try trace import $DATA/skipped.txt -o "$TMP/bad.db"
try trace import $DATA/api_sum.csv -o "$TMP/bad.db"
try trace import $DATA/ncu_long.csv --from nsys -o "$TMP/bad.db"
try trace import $DATA/ncu_long.csv --from nsys-csv -o "$TMP/bad.db"
try trace import $SMALL --from ncu-csv -o "$TMP/bad.db"
try trace import "$TMP/sum.db" -o "$TMP/bad.db"
for f in "$TMP"/bad.db*; do [ ! -e "$f" ] || echo "left behind: $f"; done
