/* t_nsys.c - the Nsight Systems reader on exports made here from SQL, one for each trap of real ones. */
#define _XOPEN_SOURCE 700 /* setrlimit's RLIMIT_FSIZE */
#include <dirent.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "traces/read/format.h"
#include "traces/read/nsys.h"
#include "traces/read/nsys_int.h"
#include "validate/tests/tracebed.h"

#define DATA "validate/tests/data/nsys/"

static void make_db(const char *path, const char *sql)
{
	sqlite3 *h = NULL;

	unlink(path);
	CHECK(sqlite3_open(path, &h) == SQLITE_OK);
	if (sqlite3_exec(h, sql, NULL, NULL, NULL) != SQLITE_OK)
		test_fail(__FILE__, __LINE__, "%s", sqlite3_errmsg(h));
	sqlite3_close(h);
}

static char *read_text(const char *name)
{
	char path[1024], *text = calloc(1, 1 << 16);
	FILE *f;

	CHECK(text && snprintf(path, sizeof path, "%s/" DATA "%s", test_root(), name) < (int)sizeof path);
	CHECK((f = fopen(path, "r")));
	CHECK(fread(text, 1, (1 << 16) - 1, f) > 0);
	fclose(f);
	return text;
}

/* What is unpacked lies in the test's own folder. */
static int import_temp(struct bed *b, const char *path, struct trace_import_stats *st)
{
	const struct format_options how = { .temp = test_tmp() };

	return format_import_with(b->db, FORMAT_AUTO, path, &how, st, &b->e);
}

static int import_sql(struct bed *b, const char *sql)
{
	char path[1024];

	make_db(test_path(path, sizeof path, "it's 50%%.sqlite"), sql);
	bed_open(b, ":memory:", DB_WRITE);
	return format_import(b->db, FORMAT_AUTO, path, NULL, NULL, &b->st, &b->e);
}

static void up(struct bed *b, const char *name)
{
	char *sql = read_text(name);

	CHECK_OK(import_sql(b, sql), b->e);
	free(sql);
}

static void refused(const char *sql, const char *because)
{
	struct bed b;

	CHECK(import_sql(&b, sql) == -1);
	CHECK_HAS(b.e.msg, because);
	CHECK_U64(err_exit_code(&b.e), 4);
	CHECK_U64(bed_ask(&b, "select count(*) from source"), 0);
	CHECK_U64(bed_ask(&b, "select count(*) from launch"), 0);
	bed_close(&b);
}

/* --- what is read ---------------------------------------------------------------------------------------------- */

TEST(calls_and_kernels_join_by_process_and_correlation)
{
	const struct trace_launch *l;
	struct bed b;

	up(&b, "two_processes.sql");
	CHECK(b.st.kernels == 3 && b.st.copies == 3 && b.st.sets == 0 && b.st.calls == 5 && b.st.syncs == 1);
	bed_load(&b, NULL);
	l = b.t.launches;
	CHECK_U64(b.t.base_ns, 1754324972242076786 + 500);
	CHECK_STR(l[0].name, "(unnamed)");
	CHECK(l[0].host_start_ns == -1); /* its call was before the capture */
	CHECK(l[1].host_start_ns == 1500 && l[1].blocking && l[1].dir == TRACE_COPY_DTOH && l[1].bytes == 64);
	CHECK_STR(l[1].name, "Memcpy DtoH (Device -> Pageable)");
	CHECK(l[2].host_start_ns == 1400 && !l[2].blocking && l[2].dir == TRACE_COPY_HTOD);
	CHECK_STR(l[2].name, "Memcpy HtoD (Pinned -> Device)");
	CHECK(l[3].host_start_ns == -1 && l[3].dir == TRACE_COPY_NONE);
	CHECK_STR(l[3].name, "Memcpy (Unknown -> Unknown)");
	CHECK_STR(l[4].name, "void gemm<float>(const float *)");
	CHECK(l[4].host_start_ns == 500 && l[4].dur_ns == 1000 && l[4].registers == 32 && l[4].grid[1] == 5);
	CHECK(l[4].block[1] == 2 && l[4].smem_static == 1024 && l[4].smem_dynamic == 2048 && l[4].local == 16);
	CHECK_STR(l[5].name, "gemm"); /* the short name, as the full one is not there */
	CHECK(l[5].host_start_ns == 2500 && l[5].correlation != l[1].correlation);
	CHECK(b.t.n_devices == 1 && b.t.devices[0].id == 0 && b.t.devices[0].sms == 40 && b.t.devices[0].sm_minor == 5);
	bed_close(&b);
}

TEST(ranges_by_text_id_of_both_sorts_select_and_count_steps)
{
	struct bed b;

	up(&b, "two_processes.sql");
	CHECK_U64(b.st.ranges, 3);
	bed_load(&b, "step 0");
	CHECK(b.t.n_launches == 1 && b.t.steps == 2);
	CHECK_STR(b.t.launches[0].name, "void gemm<float>(const float *)");
	bed_close(&b);
	up(&b, "two_processes.sql");
	bed_load(&b, "phase");
	CHECK_U64(b.t.n_launches, 5);
	bed_close(&b);
}

TEST(nothing_of_the_environment_is_copied)
{
	char *sql = read_text("two_processes.sql"), path[1024], db[1024], bytes[65536];
	struct bed b;
	size_t n;
	FILE *f;

	make_db(test_path(path, sizeof path, "x.sqlite"), sql);
	free(sql);
	bed_open(&b, test_path(db, sizeof db, "t.db"), DB_WRITE);
	CHECK_OK(format_import(b.db, FORMAT_NSYS, path, NULL, NULL, &b.st, &b.e), b.e);
	bed_close(&b);
	CHECK((f = fopen(db, "rb")));
	while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
		for (size_t i = 0; i + 10 <= n; i++)
			CHECK(memcmp(bytes + i, "the-secret", 10) != 0);
	fclose(f);
}

TEST(graph_nodes_clusters_and_the_ops_of_emit_nvtx_are_kept)
{
	const struct trace_launch *l;
	struct bed b;

	up(&b, "graph_and_ops.sql");
	CHECK(b.st.ops == 3 && b.st.ranges == 1 && b.st.linked == 4 && b.st.sets == 1);
	bed_load(&b, "decode_1");
	l = b.t.launches;
	CHECK_U64(b.t.n_launches, 4);
	CHECK(l[0].cluster[0] == 2 && l[0].graph == 0 && l[0].device == 1);
	CHECK_STR(l[0].op->name, "aten::mm");
	CHECK_STR(l[0].op->up->name, "aten::linear");
	CHECK(l[0].op->up->sequence == 12 && l[0].op->up->n_args == 3 && !l[0].op->up->up);
	CHECK(l[0].op->n_args == 2 && l[0].op->args[1].ndims == 2 && l[0].op->args[1].dims[1] == 16);
	CHECK(l[1].graph == 21 && l[1].graph_node == 4294967301);
	CHECK(l[2].graph == 2 && l[2].graph_node == 4294967302); /* without an id the launch's */
	CHECK_STR(l[1].op->name, "aten::zero_");
	CHECK(l[3].kind == TRACE_MEMSET && l[3].bytes == 4);
	CHECK_STR(l[3].name, "Memset (Device)");
	CHECK_U64(b.t.n_devices, 0);
	bed_close(&b);
}

TEST(an_export_with_few_columns_is_read)
{
	struct bed b;

	up(&b, "few_columns.sql");
	bed_load(&b, NULL);
	CHECK(b.t.n_launches == 2 && b.t.launches[0].dur_ns == 20 && b.t.launches[0].grid[0] == 0);
	CHECK_STR(b.t.launches[0].name, "short_kernel");
	CHECK_STR(b.t.devices[0].name, "NVIDIA H100");
	bed_close(&b);
}

/* --- the file stays as it is ----------------------------------------------------------------------------------- */

static size_t slurp(const char *path, unsigned char *to, size_t cap)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	CHECK(f);
	n = fread(to, 1, cap, f);
	fclose(f);
	return n;
}

/* Of what was unpacked. */
static bool is_left(const char *folder)
{
	DIR *d = opendir(folder);
	bool left = false;

	CHECK(d);
	for (const struct dirent *x; (x = readdir(d));)
		left |= strncmp(x->d_name, "npusim-", 7) == 0;
	closedir(d);
	return left;
}

TEST(the_export_is_not_touched_and_may_be_gzipped)
{
	enum { CAP = 1 << 20 };
	unsigned char *a = malloc(CAP), *b = malloc(CAP);
	char *sql = read_text("two_processes.sql"), path[1024], side[1100];
	static const char *const beside[] = { "-wal", "-shm", "-journal" };
	struct trace_import_stats st;
	struct bed bed;
	size_t n;
	gzFile z;

	CHECK(a && b);
	make_db(test_path(path, sizeof path, "x?#.sqlite"), sql);
	n = slurp(path, a, CAP);
	CHECK(chmod(path, 0444) == 0);
	bed_open(&bed, ":memory:", DB_WRITE);
	CHECK_OK(format_import(bed.db, FORMAT_AUTO, path, NULL, NULL, &st, &bed.e), bed.e);
	CHECK(format_import(bed.db, FORMAT_AUTO, path, NULL, NULL, &st, &bed.e) == 1);
	CHECK(slurp(path, b, CAP) == n && memcmp(a, b, n) == 0);
	for (int i = 0; i < 3; i++) {
		snprintf(side, sizeof side, "%s%s", path, beside[i]);
		CHECK(access(side, F_OK) != 0);
	}
	bed_close(&bed);
	CHECK((z = gzopen(test_path(path, sizeof path, "x.gz"), "wb")) && gzwrite(z, a, (unsigned)n) == (int)n);
	CHECK(gzclose(z) == Z_OK);
	bed_open(&bed, ":memory:", DB_WRITE);
	CHECK_OK(import_temp(&bed, path, &st), bed.e);
	CHECK_U64(st.kernels, 3);
	bed_close(&bed);
	CHECK(!is_left(test_tmp()));
	n = slurp(path, a, CAP);
	CHECK(truncate(path, (off_t)(n / 2)) == 0);
	bed_open(&bed, ":memory:", DB_WRITE);
	CHECK(format_import(bed.db, FORMAT_NSYS, path, NULL, NULL, &st, &bed.e) == -1);
	CHECK_HAS(bed.e.msg, "ends in the middle of its gzip stream");
	CHECK(!is_left(test_tmp()));
	bed_close(&bed);
	free(sql);
	free(a);
	free(b);
}

TEST(a_damaged_or_wrong_file_is_refused)
{
	char *sql = read_text("two_processes.sql"), path[1024];
	struct bed b;
	FILE *f;

	make_db(test_path(path, sizeof path, "x.sqlite"), sql);
	CHECK((f = fopen(path, "r+b")) && fseek(f, 4096, SEEK_SET) == 0);
	for (int i = 0; i < 4096 * 3; i++)
		fputc(0xa5, f);
	fclose(f);
	bed_open(&b, ":memory:", DB_WRITE);
	CHECK(format_import(b.db, FORMAT_AUTO, path, NULL, NULL, &b.st, &b.e) == -1);
	CHECK_HAS(b.e.msg, "x.sqlite' is damaged: ");
	bed_close(&b);
	CHECK((f = fopen(path, "w")) && fputs("{}", f) >= 0 && fclose(f) == 0);
	bed_open(&b, ":memory:", DB_WRITE);
	CHECK(format_import(b.db, FORMAT_NSYS, path, NULL, NULL, &b.st, &b.e) == -1);
	CHECK_HAS(b.e.msg, "is no SQLite database, which 'nsys export --type sqlite' writes");
	bed_close(&b);
	free(sql);
}

/* --- what is refused ------------------------------------------------------------------------------------------- */

#define STRINGS "create table StringIds(id integer primary key, value text); insert into StringIds values(1, 'k');"
#define KERNELS(rows) \
	STRINGS "create table CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, gridX," \
		" correlationId, demangledName); insert into CUPTI_ACTIVITY_KIND_KERNEL values" rows

#define CALLS \
	"create table CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);" \
	"insert into CUPTI_ACTIVITY_KIND_RUNTIME values(1, 2, 3, 4, 1), (5, 6, 3, 5, 1);"

TEST(a_database_without_kernels_says_what_it_is)
{
	char path[1024];
	struct bed b, c;

	refused("create table t(a)", "is a SQLite database and no export of Nsight Systems");
	refused(STRINGS, "has no table CUPTI_ACTIVITY_KIND_KERNEL; was it captured with '--trace=cuda'?");
	refused("create table CUPTI_ACTIVITY_KIND_KERNEL(start, end)", "no table StringIds");
	refused(STRINGS "create table CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId)",
	        "are empty; was it captured with '--trace=cuda'?");
	refused(STRINGS CALLS, "has no table CUPTI_ACTIVITY_KIND_KERNEL. It has 2 CUDA calls, so CUDA was traced");
	refused(STRINGS CALLS "create table CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId)",
	        "are empty. It has 2 CUDA calls, so CUDA was traced");
	refused(STRINGS "create table CUPTI_ACTIVITY_KIND_KERNEL(start, deviceId)", "no column 'end' in table CUPTI");
	refused(STRINGS
	        "create table CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start); insert into CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
	        " values(1), (2)",
	        "its 2 graph launches were recorded as wholes");
	refused("create view CUPTI_ACTIVITY_KIND_KERNEL as select 1 as start", "no export of Nsight Systems");
	bed_open(&b, test_path(path, sizeof path, "ours.db"), DB_WRITE);
	CHECK_OK(db_begin(b.db->db, &b.e), b.e);
	CHECK_OK(db_commit(b.db->db, &b.e), b.e);
	bed_open(&c, ":memory:", DB_WRITE);
	CHECK(format_import(c.db, FORMAT_AUTO, path, NULL, NULL, &c.st, &c.e) == -1);
	CHECK_HAS(c.e.msg, "is a trace database of npusim itself");
	bed_close(&c);
	bed_close(&b);
}

TEST(impossible_times_and_sizes_are_refused)
{
	refused(KERNELS("(20, 10, 0, 7, 1, 1, 1)"), "a kernel ends before it starts in ");
	refused(KERNELS("(0, 9223372036854775807, 0, 7, 1, 1, 1)"), "the times of a kernel are out of range");
	refused(KERNELS("(-9223372036854775807, 5, 0, 7, 1, 1, 1)"), "the times of a kernel are out of range");
	refused(KERNELS("('soon', 10, 0, 7, 1, 1, 1)"), "a kernel has no integer times");
	refused(KERNELS("(1, NULL, 0, 7, 1, 1, 1)"), "a kernel has no integer times");
	refused(KERNELS("(1, 2, 0, 7, -1, 1, 1)"), "'gridX' of a kernel cannot be '-1'");
	refused(KERNELS("(1, 2, 0, 7, 99999999999, 1, 1)"), "'gridX' of a kernel cannot be '99999999999'");
	refused(KERNELS("(1, 2, 0, 7, 1, -4, 1)"), "the correlation id -4 is out of range");
	refused(KERNELS("(1, 2, 0, 7, 1, 1, 1); update StringIds set value = printf('%.*c', 10000000, 'x')"),
	        "the name of a kernel is longer than 1 MiB");
}

TEST(an_unpacked_export_leaves_room_on_the_disk)
{
	const uint64_t gib = UINT64_C(1) << 30;

	CHECK(nsys_room(100 * gib, 2 * gib) && !nsys_room(100 * gib, gib)); /* a GiB of a large disk is for others, */
	CHECK(nsys_room(gib, gib / 8) && !nsys_room(gib, gib / 16));        /* a sixteenth of a small one */
}

/* An export with 4 MiB of zeros behind it, zipped; `pages` of it by its header, 0: as they are. */
static void zip_with_zeros(const char *path, uint32_t pages)
{
	static unsigned char bytes[4 << 20];
	char *sql = read_text("two_processes.sql"), db[400];
	gzFile z = gzopen(path, "wb9");
	size_t n;

	make_db(test_path(db, sizeof db, "z.sqlite"), sql);
	free(sql);
	n = slurp(db, bytes, sizeof bytes);
	for (int i = 0; pages && i < 4; i++)
		bytes[28 + i] = (unsigned char)(pages >> (24 - 8 * i));
	CHECK(z && gzwrite(z, bytes, (unsigned)n) == (int)n);
	memset(bytes, 0, sizeof bytes);
	CHECK(gzwrite(z, bytes, sizeof bytes) == sizeof bytes && gzclose(z) == Z_OK);
}

TEST(an_export_takes_the_room_that_its_header_says_and_no_more)
{
	const struct rlimit small = { 1 << 20, 1 << 20 };
	struct trace_import_stats st;
	struct bed b;
	char path[400];

	zip_with_zeros(test_path(path, sizeof path, "z.gz"), UINT32_MAX);
	bed_open(&b, ":memory:", DB_WRITE);
	CHECK(import_temp(&b, path, &st) == -1 && b.e.kind == ERR_IO);
	CHECK_HAS(b.e.msg, "unpacks to 17592186 MB or more, of which SQLite needs a file, and");
	err_clear(&b.e);
	zip_with_zeros(path, 0);
	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	CHECK_OK(import_temp(&b, path, &st), b.e);
	CHECK_U64(st.kernels, 3);
	bed_close(&b);
	CHECK(!is_left(test_tmp()));
}

TEST(a_name_that_is_no_utf8_is_mended)
{
	struct bed b;

	CHECK_OK(import_sql(&b, KERNELS("(1, 2, 0, 7, 1, 1, 1); update StringIds set value = cast(x'61ff62' as text)")),
	         b.e);
	CHECK_U64(bed_ask(&b, "select count(*) from name where text = 'a\xef\xbf\xbd"
	                      "b'"),
	          1);
	bed_close(&b);
}

/* Of names without a key, which SQLite would look at one after another, a copy is made that has one. */
TEST(names_without_a_key_are_found_at_once_and_of_two_the_first)
{
	struct nsys n = { .file = "x.sqlite" };
	static const struct nsys_col cols[] = { { "start", NSYS_NEEDED }, { "name", NSYS_NAME } };
	static const struct nsys_query query = { "K", "a row", cols, 2, NULL };
	struct nsys_rows r;
	char path[1024];
	int64_t rows = 0;
	struct err e = ERR_INIT;
	struct input *in;

	make_db(test_path(path, sizeof path, "x.sqlite"),
	        "create table StringIds(id integer, value text); create table K(start integer, shortName integer);"
	        "with recursive k(i) as (select 0 union all select i + 1 from k where i < 999)"
	        " insert into StringIds select i, 'name ' || i from k;"
	        "insert into StringIds values(7, 'another'), (null, 'none'), ('text', 'text');"
	        "insert into K select id, id from StringIds where id < 1000");
	n.file = path;
	CHECK_OK((in = input_open(path, &e)) ? 0 : -1, e);
	CHECK_OK(nsys_open(&n, in, &e), e);
	CHECK_OK(nsys_index(&n, &e), e);
	CHECK_OK(nsys_rows(&n, &r, &query, &e), e);
	while (nsys_next(&r, &e) == 1) {
		char want[32];

		snprintf(want, sizeof want, "name %lld", (long long)nsys_any(&r, 0));
		CHECK_STR(nsys_text(&r, 1, &e), want);
		rows++;
	}
	CHECK_U64(rows, 1001);
	CHECK(sqlite3_stmt_status(r.s, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0) < 2000); /* of K alone; it was a million */
	nsys_rows_end(&r);
	nsys_close(&n);
	input_free(in);
}

TEST(every_one_of_many_processes_has_its_own_calls)
{
	char path[1024];
	struct bed b;

	make_db(test_path(path, sizeof path, "x.sqlite"),
	        "create table StringIds(id integer primary key, value text); insert into StringIds values(1, 'k');"
	        "create table CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);"
	        "create table CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, shortName, correlationId, globalPid);"
	        "with recursive k(i) as (select 1 union all select i + 1 from k where i < 5000)"
	        " insert into CUPTI_ACTIVITY_KIND_RUNTIME select i, i + 1, i << 24 | 9, 1 + i % 3, 1 from k;"
	        "insert into CUPTI_ACTIVITY_KIND_KERNEL select start + 7000 - start % 100, start + 7001, 0, 7, 1,"
	        " correlationId, globalTid - 9 from CUPTI_ACTIVITY_KIND_RUNTIME order by start % 71");
	bed_open(&b, ":memory:", DB_WRITE);
	CHECK_OK(format_import(b.db, FORMAT_NSYS, path, NULL, NULL, &b.st, &b.e), b.e);
	CHECK_U64(b.st.kernels, 5000);
	CHECK_U64(bed_ask(&b, "select count(*) from launch l join call c on c.id = l.call"
	                      " where l.start_ns = c.start_ns + 7000 - c.start_ns % 100"),
	          5000);
	bed_close(&b);
}

SUITE(t_nsys, T(calls_and_kernels_join_by_process_and_correlation),
      T(ranges_by_text_id_of_both_sorts_select_and_count_steps), T(nothing_of_the_environment_is_copied),
      T(graph_nodes_clusters_and_the_ops_of_emit_nvtx_are_kept), T(an_export_with_few_columns_is_read),
      T(the_export_is_not_touched_and_may_be_gzipped), T(a_damaged_or_wrong_file_is_refused),
      T(a_database_without_kernels_says_what_it_is), T(impossible_times_and_sizes_are_refused),
      T(an_unpacked_export_leaves_room_on_the_disk), T(an_export_takes_the_room_that_its_header_says_and_no_more),
      T(a_name_that_is_no_utf8_is_mended), T(names_without_a_key_are_found_at_once_and_of_two_the_first),
      T(every_one_of_many_processes_has_its_own_calls));
