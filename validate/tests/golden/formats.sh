# Every document in every format: SQL has the rows of CSV and is taken by sqlite3, a page is whole, and neither is a command's own.
. validate/tests/golden/common
echo "commands whose help names other formats: $(for c in 'run' 'serve' 'limits' 'sweep' 'ablate' 'study' 'compare' 'validate' 'calibrate' 'explain' 'merge' 'pareto' \
	'config check' 'config diff' 'config explain' 'config area' 'config peaks' 'config tech' 'workload list' 'workload show' 'workload build' 'workload attend' 'workload options' 'workload rates' \
	'probe dram' 'probe l2' 'probe latency' 'probe stream' 'probe link' 'probe kernel' 'probe occupancy' \
	'trace import' 'trace show' 'trace top' 'trace ops' 'trace classify' 'trace roofline' 'trace hist' 'trace gaps' 'trace stages' 'trace waves' 'trace stalls' 'trace diff' 'trace review'; do
	"$NPUSIM" $c --help | grep -q 'table|csv|json|html|sql' || echo "$c"
done)"
written() { # ARGUMENT...: of npusim
	for f in csv html sql; do
		"$NPUSIM" "$@" --format $f >"$TMP/a.$f"
	done
	rows=$(($(wc -l <"$TMP/a.csv") - 1)) sql=$(grep -c '^INSERT' "$TMP/a.sql") read=$sql
	name=$(sed -n 's/^CREATE TABLE "\([^"]*\)".*/\1/p' "$TMP/a.sql")
	if command -v sqlite3 >/dev/null; then
		read=$(sqlite3 :memory: ".read $TMP/a.sql" "select count(*) from \"$name\"")
	fi
	[ "$rows" = "$sql" ] && [ "$rows" = "$read" ] || echo "$*: $rows rows of CSV, $sql of SQL, $read read"
	awk 'NR == 1 && /^<!doctype html>$/ { n++ } /<title>/ { n++ } { last = $0 } END { exit !(n == 2 && last == "</html>") }' "$TMP/a.html" ||
		echo "$*: no whole page"
	for e in table article details span; do
		[ "$(grep -o "<$e[ >]" "$TMP/a.html" | wc -l)" = "$(grep -o "</$e>" "$TMP/a.html" | wc -l)" ] || echo "$*: <$e> is not closed"
	done
	echo "$name: $([ "$rows" -gt 0 ] && echo rows), $(grep -c '<table' "$TMP/a.html") tables on the page"
}
written run -c edge -m qwen3-0.6b --layers 2 --fidelity analytic
written run -c edge -m qwen3-0.6b --layers 2 --fidelity analytic --stages 'prefill:tokens=8; decode:tokens=4'
written limits -c tpu-v6e -m qwen3-0.6b --layers 1 --fidelity analytic --pairs 1
written config peaks edge
written config area edge h200
written config show edge
written workload options
written probe link -c hgx-h200
written trace top $SMALL
written trace ops $SMALL
written trace gaps $SMALL
