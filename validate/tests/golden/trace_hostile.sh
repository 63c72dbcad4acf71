# Files of the right kind with something impossible in them: one clear line, exit 4, and the database as it was.
# figures: shown
. validate/tests/golden/common
DATA=validate/tests/data
quiet trace import $SMALL -o "$TMP/t.db"
cksum <"$TMP/t.db" >"$TMP/before"
bad() { # FILE
	try trace import "$@" -o "$TMP/t.db" 2>&1 | cut -c 1-400
	cksum <"$TMP/t.db" | cmp -s - "$TMP/before" || echo "the database has changed"
	for f in "$TMP"/t.db-*; do [ ! -e "$f" ] || echo "left behind: $f"; done
}
nsys() { # NAME SQL: the fixture with a change
	sqlite3 "$TMP/$1" <$DATA/nsys/two_processes.sql && sqlite3 "$TMP/$1" "$2" && bad "$TMP/$1"
}
long() { head -c 10000000 /dev/zero | tr '\0' x; }

# Two kinds of device, in one file and in one database.
sed 's/"Test GPU"/"Another GPU"/' $SMALL >"$TMP/other.json"
cmp -s "$TMP/other.json" $SMALL && echo "no device in $SMALL"
bad "$TMP/other.json"
nsys mixed.sqlite "insert into TARGET_INFO_GPU select vmId, 4, 'Tesla V100', totalMemory, 80, 7, 0, maxShmemPerSm,
	maxRegistersPerSm from TARGET_INFO_GPU; insert into TARGET_INFO_CUDA_DEVICE select 4, 1, pid from TARGET_INFO_CUDA_DEVICE;
	update CUPTI_ACTIVITY_KIND_KERNEL set deviceId = 1 where rowid % 2 = 0"
try trace import "$TMP/mixed.sqlite" -o "$TMP/new.db"
for f in "$TMP"/new.db*; do [ ! -e "$f" ] || echo "left behind: $f"; done
# Missing tables and columns.
nsys tables.sqlite "drop table CUPTI_ACTIVITY_KIND_KERNEL; drop table CUPTI_ACTIVITY_KIND_MEMCPY"
nsys strings.sqlite "drop table StringIds"
nsys columns.sqlite "alter table CUPTI_ACTIVITY_KIND_KERNEL drop column start"
# A failure's log in place of a table, and another kind of file under the reader's name.
bad $DATA/csv/ncu_failure.txt
bad $DATA/csv/skipped.txt
bad $DATA/csv/ncu_long.csv --from nsys
bad $DATA/csv/kern_sum.csv --from kineto
# Times that are negative or do not fit.
nsys negative.sqlite "update CUPTI_ACTIVITY_KIND_KERNEL set end = start - 1 where rowid = 2"
nsys before.sqlite "update CUPTI_ACTIVITY_KIND_KERNEL set start = -9000000000000000000 where rowid = 1"
nsys text.sqlite "update CUPTI_ACTIVITY_KIND_KERNEL set start = 'soon' where rowid = 1"
sed 's/,6000,3,/,-6000,3,/' $DATA/csv/kern_sum.csv >"$TMP/minus.csv"; bad "$TMP/minus.csv"
sed 's/,6000,3,/,99999999999999999999,3,/' $DATA/csv/kern_sum.csv >"$TMP/huge.csv"; bad "$TMP/huge.csv"
printf '{"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":-2,"args":{}}]}' >"$TMP/minus.json"
bad "$TMP/minus.json"
printf '{"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1e30,"dur":2,"args":{}}]}' >"$TMP/huge.json"
bad "$TMP/huge.json"
# Names of 10 MB.
nsys kernel.sqlite "update StringIds set value = printf('%.*c', 10000000, 'x') where id =
	(select demangledName from CUPTI_ACTIVITY_KIND_KERNEL limit 1)"
nsys range.sqlite "update NVTX_EVENTS set textId = null, text = printf('%.*c', 10000000, 'x')"
{ sed -n 3p $DATA/csv/kern_sum.csv; printf '60.0,6000,3,1,1,1,1,0,'; long; echo; } >"$TMP/long.csv"
bad "$TMP/long.csv"
{ printf '{"traceEvents":[{"ph":"X","cat":"kernel","name":"'; long; printf '","pid":0,"tid":7,"ts":1,"dur":2,"args":{}}]}'; } >"$TMP/long.json"
bad "$TMP/long.json"
# Bytes that are no UTF-8 are replaced, which is no error; the environment of an export is never copied.
printf '60.0,6000,3,1,1,1,1,0,a\377b\n' | cat "$(sed -n 3p $DATA/csv/kern_sum.csv >"$TMP/head.csv"; echo "$TMP/head.csv")" - >"$TMP/latin.csv"
quiet trace import "$TMP/latin.csv" -o "$TMP/u.db"
"$NPUSIM" trace top "$TMP/u.db" --format csv | tail -n 1
sqlite3 "$TMP/plain.sqlite" <$DATA/nsys/two_processes.sql
quiet trace import "$TMP/plain.sqlite" -o "$TMP/e.db"
grep -c the-secret "$TMP/plain.sqlite"
grep -c the-secret "$TMP/e.db"
sqlite3 "$TMP/e.db" "select count(*) from sqlite_schema where name like '%ENV%'"
