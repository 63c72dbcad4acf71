# One word for what bounds an op, and one share of its time, whoever says it: table, JSON, CSV, timeline, database, page.
# tier: gate
. validate/tests/golden/common
command -v sqlite3 >/dev/null || { echo "not run: no sqlite3"; exit 0; }
quiet trace import $TRACE -o "$TMP/t.db"
# query SQL: of the run's JSON (j), the page's data (p), and the two tables in CSV, c and d.
query() {
	sqlite3 :memory: '.mode csv' ".import '$TMP/run.csv' c" ".import '$TMP/d.csv' d" '.mode list' \
		"create table j as select * from json_each(readfile('$TMP/run.json'), '\$.ops');" \
		"create table p as select * from json_each(readfile('$TMP/p.json'), '\$.runs[0].ops');" "$1"
}
bounds() {
	run="run -t $TMP/t.db --range decode_step_1"
	# shellcheck disable=SC2086
	for f in json csv; do "$NPUSIM" $run "$@" --format $f >"$TMP/run.$f"; done
	# shellcheck disable=SC2086
	"$NPUSIM" $run "$@" --ops 5000 --timeline "$TMP/l.json" -o "$TMP/$n.db" >"$TMP/table"
	quiet export "$TMP/$n.db" ops -o "$TMP/d.csv"
	quiet report "$TMP/$n.db" --still -o "$TMP/page.html"
	sed -n 's/^.*<script type="application\/json"[^>]*>//p' "$TMP/page.html" | sed 's/<\/script>.*//' >"$TMP/p.json"
	query "select json_extract(value, '\$.id') || ' ' || json_extract(value, '\$.bound') from j
		where json_extract(value, '\$.bound') is not null" | sort >"$TMP/json"
	query "select id || ' ' || bound from c where bound <> ''" | sort >"$TMP/csv"
	query "select op || ' ' || bound from d where bound <> ''" | sort >"$TMP/database"
	query "select key || ' ' || json_extract(value, '\$[7]') from p where json_extract(value, '\$[7]') is not null" |
		sort >"$TMP/page"
	sed -n 's/.*"args": {"op": \([0-9]*\), .*"bound": "\([a-z0-9]*\)".*/\1 \2/p' "$TMP/l.json" | sort >"$TMP/timeline"
	sed -n '/^ops that take longest/,/^$/p' "$TMP/table" | sed 's/^ *//' | awk -F '  +' '/^[0-9]/ { print $1, $9 }' |
		sort >"$TMP/people"
	echo "$* $(wc -l <"$TMP/json") ops with a bound"
	for f in csv database page timeline people; do cmp "$TMP/json" "$TMP/$f" && echo "$f: as json"; done
	echo "ops whose bound is not what most of their time was waited for: $(query "select count(*) from j
		where json_extract(value, '\$.us') > 0 and coalesce(json_extract(value, '\$.stalls.' || json_extract(value, '\$.bound')), 0)
			< (select max(s.value) from json_each(j.value, '\$.stalls') s) - 1e-4")"
	echo "ops with a limit over their time, a share of more than 1, or another share on the page: $(query "select count(*)
		from j join p on p.key = j.key where json_extract(j.value, '\$.limit_us') > json_extract(j.value, '\$.us') + 1e-9
			or json_extract(j.value, '\$.mfu') > 1 or json_extract(j.value, '\$.bandwidth_use') > 1
			or json_extract(j.value, '\$.us') > 0 and (abs(json_extract(p.value, '\$[11]') -
				json_extract(j.value, '\$.stalls.' || json_extract(j.value, '\$.bound'))) > 1e-6
				or abs(json_extract(p.value, '\$[12]') - json_extract(j.value, '\$.mfu')) > 1e-6
				or abs(json_extract(p.value, '\$[13]') - json_extract(j.value, '\$.bandwidth_use')) > 1e-6)")"
	echo "kinds whose bounds are not the page's: $(query "
		with k as (select json_extract(value, '\$.kind') kind, value from json_each(readfile('$TMP/p.json'), '\$.runs[0].kinds')),
		r as (select key at, json_extract(value, '\$.name') name from json_each(readfile('$TMP/p.json'), '\$.runs[0].resources')),
		mine as (select json_extract(b.value, '\$.kind') kind, s.key name, s.value share
			from json_each(readfile('$TMP/run.json'), '\$.by_kind') b, json_each(b.value, '\$.bounds') s)
		select count(*) from mine join k using (kind) join r using (name)
			where abs(mine.share - json_extract(k.value, '\$.stalls[' || r.at || ']') / json_extract(k.value, '\$.us')) > 1e-3")"
}
n=1 bounds -c $CONFIG
n=2 bounds -c $CONFIG --fidelity analytic
n=3 bounds -c configs/npu/edge.yaml
n=4 bounds -c configs/gpu/h200.yaml
