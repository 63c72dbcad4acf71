# Results for others: CSV of everything stored, and every snippet of results/schema.md as it stands there.
# figures: shown
. validate/tests/golden/common
. validate/tests/golden/export_bed
for what in points values stats kinds resources sweeps runs ops stalls run-stats run-resources limits; do
	"$NPUSIM" export R.db $what >"$what.csv" || echo "exit $?"
	echo "$what: $(($(wc -l <"$what.csv") > 1)) $(head -n 1 "$what.csv")"
done
# Nothing of it depends on this build's timing here: a point's axes, and one that failed.
cut -d, -f1-5 points.csv
grep -c '^1,4,102400,all_bank,failed,"*.l2.size. is no whole number of sets' points.csv
"$NPUSIM" export R.db -o again.csv
cmp points.csv again.csv && echo "the same in a file"
"$NPUSIM" export R.db kinds --sweep 1 | cmp - kinds.csv && echo "the only sweep"
# Sums agree with what the commands print.
[ "$(awk -F, 'NR > 1 { n++ } END { print n }' ops.csv)" = 1075 ] && echo "an op a row"
try export R.db pionts
try export R.db --sweep 2
try export t.db
try export absent.db
try export R.db ops -o absent/ops.csv
limit() { trap '' XFSZ; ulimit -f "$1"; }
echo old >kept.csv
(limit 80 && try export R.db ops -o kept.csv)
cat kept.csv
ls | grep kept
command -v sqlite3 >/dev/null || { echo "no sqlite3 here"; exit; }
# Every column of every view is in its row of the page, and every view has one.
for v in $(sqlite3 R.db "select name from sqlite_schema where type = 'view' order by name"); do
	row=$(grep "^| \`$v\` |" "$page") || echo "$v is not in results/schema.md"
	for c in $(sqlite3 R.db "select name from pragma_table_info('$v')"); do
		case $row in *"\`$c\`"*) ;; *) echo "$v: column $c is not in results/schema.md" ;; esac
	done
done
grep -q "the schema's number, $(sqlite3 R.db 'pragma user_version');" "$page" || echo "results/schema.md has another schema number"
block sql >all.sql
sqlite3 -bail R.db <all.sql >out.sql 2>&1 || { echo "a snippet in SQL fails:"; cat out.sql; }
[ "$(wc -l <out.sql)" -ge 15 ] && echo "the snippets in SQL have rows"
