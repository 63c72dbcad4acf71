# Files that are no profiles but lead to one, a file cut in a row, a range that one of two files lacks.
# figures: shown
. validate/tests/golden/common
DATA=validate/tests/data
for f in report.nsys-rep old.qdrep report.ncu-rep; do
	echo "of whatever bytes" >"$TMP/$f"
	try trace import "$TMP/$f" -o "$TMP/bad.db"
done
tar -cf "$TMP/traces.tar" $SMALL
gzip -nc "$TMP/traces.tar" >"$TMP/traces.tgz"
printf 'PK\003\004 and so on' >"$TMP/t.zip"
printf '\050\265\057\375 and so on' >"$TMP/t.json.zst"
for f in traces.tar traces.tgz t.zip t.json.zst; do try trace import "$TMP/$f" -o "$TMP/bad.db"; done
sed '$s/,[^,]*$//' $DATA/csv/ncu_wide.csv >"$TMP/cut.csv"
try trace import "$TMP/cut.csv" -o "$TMP/bad.db"
quiet trace import $SMALL -o "$TMP/t.db" --wall '90 us' --range step_1
try trace import $DATA/kineto/old_spelling.json -o "$TMP/t.db" --wall '90 us' --range step_1
try trace import $SMALL -o "$TMP/t.db" --wall '90 us' --range stap_1
try trace ops "$TMP/t.db" --range stap_1
try trace ops $SMALL --range stap_1
try trace show ''
# A range that the file lacks stores nothing of it, and makes no database.
try trace import $SMALL -o "$TMP/none.db" --wall '90 us' --range nope
[ -e "$TMP/none.db" ] && echo "there is a database"
try trace import $DATA/kineto/old_spelling.json $SMALL -o "$TMP/t.db" --wall '90 us' --range nope
"$NPUSIM" trace show "$TMP/t.db" | grep -e old_spelling || echo "only what it had"
