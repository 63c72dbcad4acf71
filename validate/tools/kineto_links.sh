#!/bin/sh
# kineto_links.sh NPUSIM FILE... - how the kernels of Kineto files came to their operators: by the profiler's id, by nesting, or
# of none (traces/read/kineto.h); and what the import did before it tried ids, when it took the operator of a kernel's "External
# id" whatever it was. Such a link was wrong where no operator of that id is around the kernel's launch, on its thread and in
# time; SQLite's functions for JSON say so from the file itself. Files without kernels have a line and no numbers.
set -eu

npusim=$1
shift
command -v sqlite3 >/dev/null || { echo "kineto_links.sh: there is no sqlite3 program, which reads the files again" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# now FILE: kernels, and those linked by id, by nesting, not at all, of a file that is imported
now() {
	sqlite3 -separator ' ' "$work/t.db" "select count(*), total(link = 1), total(link = 2), total(link = 0) from kernel" |
		sed 's/\.0//g'
}

# before: kernels that the id alone linked, and those of them that it linked wrongly. Times are ns, as whole numbers.
before() {
	sqlite3 -separator ' ' :memory: <<END
create table e(cat text, pid, tid, at integer, ends integer, external integer, correlation integer);
insert into e
with j as (select readfile('$work/t.json') as text),
x as (select value as v from j, json_each(j.text, iif(json_type(j.text) = 'array', '$', '$.traceEvents')) where json_extract(value, '$.ph') = 'X'),
f as (select lower(v ->> 'cat') as cat, v ->> 'pid' as pid, v ->> 'tid' as tid, v -> 'ts' as ts, coalesce(v -> 'dur', '0') as dur,
	coalesce(v ->> '$.args.External id', v ->> '$.args.External Id', v ->> '$.args.external id') as external, v ->> '$.args.correlation' as correlation from x),
n as (select *,
	cast(ts as integer) * 1000 + iif(instr(ts, '.'), cast(substr(substr(ts, instr(ts, '.') + 1) || '000', 1, 3) as integer), 0) as at,
	cast(dur as integer) * 1000 + iif(instr(dur, '.'), cast(substr(substr(dur, instr(dur, '.') + 1) || '000', 1, 3) as integer), 0) as ns
	from f)
select case when cat in ('cpu_op', 'operator') then 'op' when cat = 'kernel' then cat else 'call' end, pid, tid, at, at + ns,
	external, correlation from n
where cat in ('cpu_op', 'operator', 'kernel', 'runtime') or cat like '%\_runtime' escape '\' or cat like '%\_driver' escape '\';
create index op on e(external) where cat = 'op';
create index call on e(correlation) where cat = 'call';
with linked as (select * from e k where cat = 'kernel' and external <> 0 and exists
	(select 1 from e where cat = 'op' and external = k.external))
select count(*), count(*) filter (where exists (select 1 from e where cat = 'call' and correlation = linked.correlation)
	and not exists (select 1 from e c join e o on o.cat = 'op' and o.external = linked.external and o.pid = c.pid and o.tid = c.tid
		and o.at <= c.at and o.ends >= c.at where c.cat = 'call' and c.correlation = linked.correlation)) from linked;
END
}

line() { printf '%-56s %8s %8s %8s %8s  %12s %12s\n' "$@"; }
line file kernels 'by id' nesting none 'id, before' 'wrong, before'
for file; do
	rm -f "$work/t.db" "$work/t.json"
	case $file in
	*.gz) gzip -dc "$file" >"$work/t.json" ;;
	*) cp "$file" "$work/t.json" ;;
	esac
	if "$npusim" trace import "$work/t.json" -o "$work/t.db" >/dev/null 2>"$work/said"; then
		# shellcheck disable=SC2046
		line "$(basename "$file")" $(now) $(before)
	else
		line "$(basename "$file")" - - - - - -
	fi
done >"$work/lines"
cat "$work/lines"
awk '$2 != "-" { for (i = 2; i <= 7; i++) sum[i] += $i; n++ }
	END { printf "%-56s %8d %8d %8d %8d  %12d %12d\n", n " files", sum[2], sum[3], sum[4], sum[5], sum[6], sum[7] }' "$work/lines"
