/* t_profile_csv.c - nsys stats and Nsight Compute tables: one small file for each trap of real ones, and what is
 * refused. */
#include <stdlib.h>

#include "traces/read/format.h"
#include "traces/read/ncu_csv.h"
#include "traces/read/nsys_csv.h"
#include "validate/tests/tracebed.h"

#define DATA "validate/tests/data/csv/"

static int import_file(struct bed *b, const char *name)
{
	char file[512];

	snprintf(file, sizeof file, DATA "%s", name);
	return bed_import(b, file);
}

static void up(struct bed *b, const char *name)
{
	CHECK_OK(import_file(b, name), b->e);
}

typedef int import_fn(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                      struct trace_import_stats *st, struct err *e);

/* A text is refused for that reason, and what was in the database stays as it was. */
static void refused(import_fn *import, const char *text, const char *because)
{
	struct input *in;
	struct bed b;

	up(&b, "kern_sum.csv");
	in = input_mem(text, strlen(text), "x.csv", &b.e);
	CHECK(in && import(b.db, in, NULL, NULL, &b.st, &b.e) == -1);
	CHECK_HAS(b.e.msg, because);
	CHECK_U64(err_exit_code(&b.e), 4);
	CHECK_U64(bed_ask(&b, "select count(*) from source"), 1);
	CHECK_U64(bed_ask(&b, "select count(*) from kernel_stat"), 2);
	CHECK_U64(bed_ask(&b, "select count(*) from launch"), 0);
	input_free(in);
	bed_close(&b);
}

static void taken(import_fn *import, const char *text)
{
	struct input *in;
	struct bed b;

	bed_open(&b, ":memory:", DB_WRITE);
	in = input_mem(text, strlen(text), "x.csv", &b.e);
	CHECK_OK(in ? import(b.db, in, NULL, NULL, &b.st, &b.e) : -1, b.e);
	input_free(in);
	bed_close(&b);
}

static int64_t nano(struct bed *b, const char *sql) /* of a real number, in thousandths */
{
	char text[512];

	snprintf(text, sizeof text, "select cast(round(1000 * (%s)) as integer)", sql);
	return bed_ask(b, text);
}

/* --- nsys stats ------------------------------------------------------------------------------------------------ */

TEST(a_kernel_summary_becomes_statistics_that_rank_and_do_not_run)
{
	struct bed b;

	up(&b, "kern_sum.csv");
	CHECK(b.st.kernels == 4 && b.st.stats == 2 && b.st.copies == 0);
	bed_load_fails(&b, NULL, "known only as statistics");
	bed_load_fails(&b, "step", "it has no annotations");
	CHECK_OK(tracedb_load_any(b.db, NULL, b.a, &b.t, &b.e), b.e);
	CHECK(b.t.n_launches == 0 && b.t.n_stats == 2 && b.t.steps == 0);
	CHECK_STR(b.t.stats[0].name, "void gemv<int, float>(const char *, \"quoted\")");
	CHECK(b.t.stats[0].instances == 3 && b.t.stats[0].total_ns == 6000 && b.t.stats[0].median_ns == 2001);
	CHECK(b.t.stats[0].min_ns == 1000 && b.t.stats[0].max_ns == 3000 && b.t.stats[0].deviation_ns == 1000);
	CHECK_STR(b.t.stats[1].name, "plain_kernel");
	CHECK_STR(b.t.tool, "nsys-csv");
	bed_close(&b);
}

TEST(older_spellings_other_units_and_rows_by_grid_are_read)
{
	struct bed b;

	up(&b, "kern_sum_old.csv");
	CHECK_OK(tracedb_load_any(b.db, NULL, b.a, &b.t, &b.e), b.e);
	CHECK(b.st.kernels == 3 && b.t.stats[0].total_ns == 1500 && b.t.stats[0].min_ns == 500);
	CHECK(b.t.stats[0].median_ns == -1 && b.t.stats[0].deviation_ns == -1);
	bed_close(&b);
	up(&b, "kern_gb_sum.csv");
	CHECK(b.st.kernels == 4 && b.st.stats == 2);
	CHECK_U64(bed_ask(&b, "select sum(total_ns) from kernel_stat"), 400);
	CHECK_U64(bed_ask(&b, "select count(*) from kernel_stat where deviation_ns is null"), 1);
	bed_close(&b);
}

TEST(other_reports_and_logs_say_what_they_are)
{
	struct bed b;

	CHECK(import_file(&b, "api_sum.csv") == -1);
	CHECK_HAS(b.e.msg, "not the report on kernels");
	CHECK_HAS(b.e.msg, "Num Calls");
	bed_close(&b);
	CHECK(import_file(&b, "skipped.txt") == -1);
	CHECK_HAS(b.e.msg, "it says 'SKIPPED: run.sqlite does not contain CUDA kernel data.'");
	bed_close(&b);
}

#define SUM_HEAD "Time (%),Total Time (ns),Instances,Name\n"

TEST(a_bad_kernel_summary_is_refused_and_changes_nothing)
{
	char *big = malloc(11u << 20);

	refused(nsys_csv_import, "hello\n", "no report of nsys stats in 'x.csv'");
	refused(nsys_csv_import, "", "no report of nsys stats");
	refused(nsys_csv_import, SUM_HEAD, "no kernels in 'x.csv': its report has no rows");
	refused(nsys_csv_import, SUM_HEAD "1,5,2\n", "a row of 3 fields under a header of 4");
	refused(nsys_csv_import, SUM_HEAD "1,-5,2,k\n", "'-5' is out of range for 'Total Time'");
	refused(nsys_csv_import, SUM_HEAD "1,5,0,k\n", "a kernel with no instances");
	refused(nsys_csv_import, SUM_HEAD "1,99999999999999999999,2,k\n", "is out of range for 'Total Time'");
	refused(nsys_csv_import, SUM_HEAD "1,4611686018427387903,1,k\n1,4611686018427387903,1,l\n",
	        "sums of instances");
	refused(nsys_csv_import, SUM_HEAD "1,five,2,k\n", "'five' is no number for 'Total Time'");
	refused(nsys_csv_import, "Time (%),Total Time (h),Instances,Name\n1,5,2,k\n", "unknown unit of time");
	CHECK(big);
	strcpy(big, SUM_HEAD "1,5,2,");
	memset(big + strlen(big), 'n', 10u << 20);
	strcpy(big + (10u << 20) + strlen(SUM_HEAD "1,5,2,"), "\n");
	refused(nsys_csv_import, big, "a field is longer than 1 MiB");
	free(big);
}

TEST(a_name_that_is_no_utf8_is_mended)
{
	const char *text = SUM_HEAD "1,5,2,bad\xff\xfename\n";
	struct input *in;
	struct bed b;

	bed_open(&b, ":memory:", DB_WRITE);
	in = input_mem(text, strlen(text), "x.csv", &b.e);
	CHECK_OK(nsys_csv_import(b.db, in, NULL, NULL, &b.st, &b.e), b.e);
	CHECK_U64(bed_ask(&b, "select count(*) from name where text = 'bad\xef\xbf\xbd\xef\xbf\xbdname'"), 1);
	CHECK(nsys_csv_import(b.db, in, NULL, NULL, &b.st, &b.e) == 1); /* there already */
	input_free(in);
	bed_close(&b);
}

/* --- Nsight Compute -------------------------------------------------------------------------------------------- */

#define METRIC(launch, name) \
	"select value from metric m join name n on n.id = m.name where m.launch = " #launch " and n.text = '" name "'"

TEST(the_long_page_gives_kernels_and_metrics_in_base_units)
{
	const struct trace_launch *l;
	struct bed b;

	up(&b, "ncu_long.csv");
	CHECK(b.st.kernels == 2 && b.st.untimed == 0);
	bed_load(&b, NULL);
	l = b.t.launches;
	CHECK_STR(l[0].name, "void gemm<int, 4>(T1)");
	CHECK(l[0].dur_ns == 1250000 && l[0].start_ns == 0 && l[0].registers == 168);
	CHECK(l[0].smem_static == 8190 && l[0].smem_dynamic == 1024 && l[0].stream == 7);
	CHECK(l[0].grid[0] == 1 && l[0].grid[1] == 300 && l[0].grid[2] == 5 && l[0].block[0] == 128 &&
	      l[0].block[1] == 2);
	CHECK_STR(l[1].name, "copy \"all\"");
	CHECK(l[1].dur_ns == 6750 && l[1].start_ns == 1250000 && l[1].stream == 13);
	CHECK(b.t.n_devices == 1 && b.t.devices[0].sm_major == 9);
	CHECK_STR(b.t.devices[0].name, "GPU of compute capability 9.0");
	CHECK_U64(nano(&b, METRIC(1, "dram__bytes_read.sum")), 2330000000);
	CHECK_U64(nano(&b, METRIC(1, "GPU Speed Of Light Throughput: Memory Throughput")), 45500);
	CHECK_U64(nano(&b, METRIC(1, "Memory Workload Analysis: Memory Throughput")), 1234560000000000);
	CHECK_U64(nano(&b, METRIC(1, "Launch Statistics: Threads")), 14103936000);
	CHECK_U64(nano(&b, METRIC(2, "gpu__time_duration.sum")), 6750000);
	CHECK_U64(bed_ask(&b, "select count(*) from metric"), 12); /* neither n/a nor CachePreferNone */
	CHECK_U64(bed_ask(&b, "select count(*) from metric where unit = 'byte/s'"), 1);
	bed_close(&b);
}

TEST(the_long_page_of_2021_and_a_comma_as_decimal_mark_are_read)
{
	struct bed b;

	up(&b, "ncu_long_old.csv");
	bed_load(&b, NULL);
	CHECK(b.t.n_launches == 1 && b.t.launches[0].dur_ns == 22144 && b.t.launches[0].grid[0] == 0);
	CHECK_U64(nano(&b, METRIC(1, "GPU Speed Of Light: SM Frequency")), 1400000000000);
	CHECK_U64(nano(&b, METRIC(1, "Memory Workload Analysis: Bytes")), 4744576000);
	bed_close(&b);
	up(&b, "ncu_long_comma.csv");
	bed_load(&b, NULL);
	CHECK_U64(b.t.launches[0].dur_ns, 21058);
	CHECK_U64(nano(&b, METRIC(1, "GPU Speed Of Light Throughput: Bytes")), 27595520000);
	CHECK_U64(nano(&b, METRIC(1, "GPU Speed Of Light Throughput: DRAM Throughput")), 9000);
	CHECK_U64(nano(&b, METRIC(1, "GPU Speed Of Light Throughput: Elapsed Cycles")), 1234000);
	bed_close(&b);
}

TEST(the_wide_page_takes_its_units_from_their_row)
{
	const struct trace_launch *l;
	struct bed b;

	up(&b, "ncu_wide.csv");
	bed_load(&b, NULL);
	l = b.t.launches;
	CHECK_U64(b.t.n_launches, 2);
	CHECK_STR(l[0].name, "merge\n<8, 16>");
	CHECK(l[0].dur_ns == 9920 && l[1].dur_ns == 23872 && l[1].start_ns == 9920 && l[0].device == 1);
	CHECK(l[0].registers == 40 && l[0].smem_dynamic == 8704 && l[0].smem_static == 16 && l[0].cluster[0] == 2);
	CHECK(l[1].grid[1] == 8 && l[1].block[2] == 2 && l[1].registers == 56);
	CHECK_STR(b.t.devices[0].name, "B200");
	CHECK(b.t.devices[0].id == 1 && b.t.devices[0].sms == 148 && b.t.devices[0].mem_bytes == 191509888000);
	CHECK_U64(nano(&b, METRIC(2, "dram__bytes_read.sum")), 2000250000);
	CHECK_U64(bed_ask(&b, "select count(*) from name where text like 'device__attribute%'"), 0);
	bed_close(&b);
}

#define LONG_HEAD \
	"\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\"," \
	"\"Metric Unit\",\"Metric Value\"\n"
#define LONG_ROW(grid, name, unit, value) "0,1,k,\"(1, 1, 1)\",\"" grid "\"," name "," unit ",\"" value "\"\n"
#define WIDE_HEAD \
	"\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"dram__bytes_read.sum\"\n" \
	"\"\",\"\",\"\",\"ns\",\"byte\"\n"

TEST(a_row_that_breaks_off_is_refused_as_its_file_was_cut)
{
	refused(ncu_csv_import, WIDE_HEAD "0,1,k,100,4096\n1,1,k,200,4096\n2,1,k,300\n",
	        "a row of 4 fields under a header of 5");
	refused(ncu_csv_import, WIDE_HEAD "0,1,k,100,4096\n1,1", "a row of 2 fields under a header of 5");
	refused(ncu_csv_import, WIDE_HEAD "0,1,k,100,4096,7\n", "a row of 6 fields under a header of 5");
	taken(ncu_csv_import, WIDE_HEAD "0,1,k,100,4096,\n1,1,k,200,4096\n");
	refused(ncu_csv_import,
	        LONG_HEAD LONG_ROW("(1, 1, 1)", "Duration", "ns",
	                           "5") "0,1,k,\"(1, 1, 1)\",\"(1, 1, 1)\",Registers Per Thr",
	        "a row of 6 fields under a header of 8");
	taken(ncu_csv_import, LONG_HEAD LONG_ROW("(1, 1, 1)", "Duration", "ns", "5") "0,1,k,,,m,,1,a,rule,with,more\n");
}

TEST(kernels_without_a_duration_are_counted_and_logs_without_a_table_refused)
{
	struct bed b;

	up(&b, "ncu_no_duration.csv");
	CHECK(b.st.kernels == 1 && b.st.untimed == 1 && b.st.metrics == 2);
	bed_close(&b);
	CHECK(import_file(&b, "ncu_failure.txt") == -1);
	CHECK_HAS(b.e.msg, "Nsight Compute says '==ERROR== ERR_NVGPUCTRPERM");
	bed_close(&b);
}

TEST(a_bad_table_of_counters_is_refused_and_changes_nothing)
{
	refused(ncu_csv_import, "just text\n", "no table of Nsight Compute in 'x.csv'");
	refused(ncu_csv_import, "==WARNING== No kernels were profiled.\n", "says '==WARNING== No kernels");
	refused(ncu_csv_import, LONG_HEAD, "its table has a header and no rows");
	refused(ncu_csv_import, "\"ID\",\"Process ID\"\n0,1\n", "the header has no column 'Kernel Name'");
	refused(ncu_csv_import, "\"ID\",\"Kernel Name\",\"Metric Name\"\n0,k,m\n",
	        "the header has no column 'Metric Value'");
	refused(ncu_csv_import, LONG_HEAD LONG_ROW("(1, 1)", "m", "", "5"), "is not of the form '(1, 1, 1)'");
	refused(ncu_csv_import, LONG_HEAD LONG_ROW("(1, 1, -1)", "m", "", "5"), "is not of the form '(1, 1, 1)'");
	refused(ncu_csv_import, LONG_HEAD LONG_ROW("(1, 1, 99999999999)", "m", "", "5"),
	        "is not of the form '(1, 1, 1)'");
	refused(ncu_csv_import, LONG_HEAD LONG_ROW("(1, 1, 1)", "Duration", "us", "-5.5"), "'-5.5' is out of range");
	refused(ncu_csv_import, LONG_HEAD LONG_ROW("(1, 1, 1)", "Duration", "s", "99999999999"), "is out of range");
	refused(ncu_csv_import, LONG_HEAD LONG_ROW("(1, 1, 1)", "Duration", "us", "soon"), "'soon' is no number");
	refused(ncu_csv_import, LONG_HEAD "0,1,\"k", "never closed");
}

/* --- which is which -------------------------------------------------------------------------------------------- */

TEST(formats_are_known_by_content)
{
	static const struct {
		const char *bytes;
		size_t n;
		int want;
	} all[] = {
		{ "SQLite format 3\0....", 20, FORMAT_NSYS },
		{ " \n{\"a\":1}", 9, FORMAT_KINETO },
		{ "[{}]", 4, FORMAT_KINETO },
		{ "\xef\xbb\xbf{", 4, FORMAT_KINETO },
		{ "[5/8] Executing", 15, FORMAT_AUTO },
		{ "", 0, FORMAT_AUTO },
		{ "x\n\"ID\",\"Process ID\",\n", 21, FORMAT_NCU_CSV },
		{ "==PROF== x\n", 11, FORMAT_NCU_CSV },
		{ "==PROF== x\nTime (%),a\n", 22, FORMAT_NSYS_CSV },
		{ "Time(%),Total Time", 18, FORMAT_NSYS_CSV },
		{ "kernel_id,section,metric_name,value\n", 36, FORMAT_AUTO },
		{ "SQLite format 4\0", 16, FORMAT_AUTO },
		{ "# a comment\n\nreplay: 1\nTime (%),a\n", 34, FORMAT_REPLAY },
		{ "x\nreplay: 1\n", 12, FORMAT_AUTO },
		{ "\x1f\x8b", 2, -1 },
		{ "\x1f\x8b\x08\x00zzzzzz", 10, -1 },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct err e = ERR_INIT;
		struct input *in = input_mem(all[i].bytes, all[i].n, "x", &e);

		CHECK(in && format_of(in, &e) == all[i].want);
		CHECK((e.kind != ERR_NONE) == (all[i].want <= FORMAT_AUTO));
		input_free(in);
	}
}

SUITE(t_profile_csv, T(a_kernel_summary_becomes_statistics_that_rank_and_do_not_run),
      T(older_spellings_other_units_and_rows_by_grid_are_read), T(other_reports_and_logs_say_what_they_are),
      T(a_bad_kernel_summary_is_refused_and_changes_nothing), T(a_name_that_is_no_utf8_is_mended),
      T(the_long_page_gives_kernels_and_metrics_in_base_units),
      T(the_long_page_of_2021_and_a_comma_as_decimal_mark_are_read), T(the_wide_page_takes_its_units_from_their_row),
      T(kernels_without_a_duration_are_counted_and_logs_without_a_table_refused),
      T(a_bad_table_of_counters_is_refused_and_changes_nothing), T(formats_are_known_by_content),
      T(a_row_that_breaks_off_is_refused_as_its_file_was_cut));
