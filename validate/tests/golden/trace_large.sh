# What grew with the square of a file's size, at sizes at which that took ten times the processor time allowed here.
# figures: shown
. validate/tests/golden/common
command -v sqlite3 >/dev/null 2>&1 || { echo "not run: sqlite3 is not installed"; exit 0; }
cd "$TMP" || exit 1

within() { # SECONDS ARGUMENT...
	seconds=$1
	shift
	(ulimit -t "$seconds" && try "$@") 2>&1
}

# 200,000 processes of a kernel each, and 20,000 names without a key.
numbers="with recursive k(i) as (select 1 union all select i + 1 from k where i <"
sqlite3 processes.sqlite "pragma journal_mode = off; begin;
create table StringIds(id integer primary key, value text); insert into StringIds values(1, 'a_kernel');
create table CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);
create table CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId, globalPid, shortName);
$numbers 200000) insert into CUPTI_ACTIVITY_KIND_KERNEL select i * 10, i * 10 + 5, 0, 7, 1, i << 24, 1 from k;
insert into CUPTI_ACTIVITY_KIND_RUNTIME select start - 5, start, globalPid + 1, 1, 1 from CUPTI_ACTIVITY_KIND_KERNEL;
commit" >/dev/null
sqlite3 names.sqlite "pragma journal_mode = off; begin; create table StringIds(id integer, value text);
create table CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, shortName);
$numbers 20000) insert into StringIds select i, 'kernel ' || i from k;
insert into CUPTI_ACTIVITY_KIND_KERNEL select id * 10, id * 10 + 5, 0, 7, id from StringIds; commit" >/dev/null
within 6 trace import processes.sqlite -o p.db
within 3 trace import names.sqlite -o n.db

# 10,000 annotations around 20,000 kernels.
awk 'BEGIN {
	print "{\"traceEvents\":["
	event = "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":%d,\"args\":{\"correlation\":%d}},\n"
	for (i = 0; i < 10000; i++) printf event, "user_annotation", "range " i % 3, i, 400000 - 2 * i, 0
	for (i = 1; i <= 20000; i++) {
		printf event, "cuda_runtime", "cudaLaunchKernel", 20000 + 5 * i, 2, i
		printf event, "kernel", "a_kernel", 20003 + 5 * i, 2, i
	}
	print "{}]}"
}' >ranges.json
within 2 trace import ranges.json -o r.db
within 2 trace show r.db

# A condition of 400,000 terms.
{
	printf 'sweep: 1\nbase: configs/npu/dsocr.yaml\ntrace: x.db\naxes: {l2.size: [1 MiB]}\nwhere: "1'
	awk 'BEGIN { for (i = 1; i < 400000; i++) printf "+1" }'
	echo '"'
} >sweep.yaml
within 1 sweep sweep.yaml --dry-run
