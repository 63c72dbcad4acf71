/* t_samples.c - real profiles of others, which are not committed: each is imported with the number of kernels, and
 * the time, that sqlite3 or awk finds in it, or is refused for the right reason. Also our own counters of an H200. */
#define _XOPEN_SOURCE 700 /* nftw */
#include <ftw.h>
#include <unistd.h>

#include "traces/read/format.h"
#include "validate/tests/tracebed.h"

#define RTX        "samples/ncu_csv/dsocr_rtx5090_ncu-v2/"
#define KERN_SUM   "samples/nsys_stats_csv/dsocr_rtx5090/"
#define NO_PROFILE "is no profile that is read here"

static const struct sample {
	const char *name, *refused;
	int64_t kernels, copies, sets, ops, ranges, calls, syncs, stats, untimed, kernel_ns;
} samples[] = {
	{ "samples/nsys_sqlite/nsightful_power_iteration__baseline.sqlite", NULL, 3689, 89, 0, 0, 786, 7417, 89, 0, 0,
	  1131742684 },
	{ "samples/nsys_sqlite/nsys-ai_h100_2gpu_1s.sqlite", NULL, 3442, 904, 22, 16782, 0, 5796, 8, 0, 0, 44829522 },
	{ KERN_SUM "decode_cuda_gpu_kern_sum.csv", NULL, 78016, 0, 0, 0, 0, 0, 0, 46, 0, 179072697 },
	{ KERN_SUM "config.yaml", NO_PROFILE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ KERN_SUM "inputs.yaml", NO_PROFILE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ KERN_SUM "kernel-info.yaml", NO_PROFILE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ KERN_SUM "decode_nsys_cmd.txt", NO_PROFILE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ KERN_SUM "decode_stage_timings.md", NO_PROFILE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ KERN_SUM "LICENSE", NO_PROFILE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ KERN_SUM "env.json", "it has no \"traceEvents\"", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ "samples/ncu_csv/nsightful_copy_blocked_details_baseunits_cc75.csv", NULL, 1, 0, 0, 0, 0, 0, 0, 0, 0,
	  21058944 },
	{ RTX "ncu.section_SpeedOfLight.csv", NULL, 1, 0, 0, 0, 0, 0, 0, 0, 0, 18340 },
	{ RTX "ncu.section_SpeedOfLight_RooflineChart.csv", NULL, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0 },
	{ RTX "ncu.section_MemoryWorkloadAnalysis.csv", NULL, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0 },
	{ RTX "ncu.section_Occupancy.csv", NULL, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0 },
	{ RTX "ncu.section_SchedulerStats.csv", NULL, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0 },
	{ RTX "all_metrics_long.csv", NO_PROFILE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ RTX "metrics_summary.csv", NO_PROFILE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ RTX "command.yaml", NO_PROFILE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ "samples/README.md", NO_PROFILE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ "data/h200/ncu_dsocr_b1_c1024.csv.gz", NULL, 215, 0, 0, 0, 0, 0, 0, 0, 0, 790080 },
};

/* Of RTX kernel_NNNN_ncu.details.csv and .metrics.csv, one kernel each: its time in both. */
static const int64_t rtx_ns[] = {
	6750, 18340, 23420, 4700, 111810, 2880,   3140, 7580, 160740, 94910,
	6910, 4830,  10340, 6340, 6780,   404700, 9820, 7970, 18080,  4990,
};

static int import(struct bed *b, const char *name)
{
	char path[1024];

	CHECK(snprintf(path, sizeof path, "%s/../shared/%s", test_root(), name) < (int)sizeof path);
	if (access(path, R_OK) != 0)
		return 1;
	bed_open(b, ":memory:", DB_WRITE);
	return format_import(b->db, FORMAT_AUTO, path, NULL, NULL, &b->st, &b->e);
}

static bool check(const struct sample *s)
{
	struct bed b;
	const int rc = import(&b, s->name);

	if (rc == 1)
		return false;
	if (s->refused) {
		CHECK(rc == -1);
		CHECK_HAS(b.e.msg, s->refused);
		CHECK_U64(bed_ask(&b, "select count(*) from source"), 0);
	} else {
		CHECK_OK(rc, b.e);
		CHECK_U64(b.st.kernels, s->kernels);
		CHECK_U64(b.st.copies, s->copies);
		CHECK_U64(b.st.sets, s->sets);
		CHECK_U64(b.st.ops, s->ops);
		CHECK_U64(b.st.ranges, s->ranges);
		CHECK_U64(b.st.calls, s->calls);
		CHECK_U64(b.st.syncs, s->syncs);
		CHECK_U64(b.st.stats, s->stats);
		CHECK_U64(b.st.untimed, s->untimed);
		CHECK_U64(bed_ask(&b, "select (select coalesce(sum(dur_ns), 0) from launch where kind = 0)"
		                      " + (select coalesce(sum(total_ns), 0) from kernel_stat)"),
		          s->kernel_ns);
		CHECK_OK(tracedb_load_any(b.db, NULL, b.a, &b.t, &b.e), b.e);
	}
	bed_close(&b);
	return true;
}

TEST(every_profile_is_imported_rightly_or_refused_with_the_reason)
{
	static const char *const pages[] = { "details", "metrics" };
	size_t absent = 0;

	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		absent += !check(&samples[i]);
	for (size_t i = 0; i < 2 * sizeof rtx_ns / sizeof *rtx_ns; i++) {
		struct sample s = { .kernels = 1, .kernel_ns = rtx_ns[i / 2] };
		char name[256];

		snprintf(name, sizeof name, RTX "kernel_%04zu_ncu.%s.csv", i / 2 + 1, pages[i % 2]);
		s.name = name;
		absent += !check(&s);
	}
	if (absent)
		test_skip("not run: %zu files absent", absent);
}

#define KINETO 5 /* of t_kineto_files.c's table */

static size_t found;

static int count_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)path;
	(void)st;
	(void)at;
	found += type == FTW_F;
	return 0;
}

TEST(no_sample_is_in_no_table)
{
	size_t rows = KINETO + 2 * sizeof rtx_ns / sizeof *rtx_ns;
	char path[1024];

	snprintf(path, sizeof path, "%s/../shared/samples", test_root());
	if (access(path, R_OK) != 0)
		test_skip("not run: 1 folder absent");
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		rows += strncmp(samples[i].name, "samples/", 8) == 0;
	CHECK(nftw(path, count_file, 8, FTW_PHYS) == 0);
	CHECK_U64(rows, found);
}

/* Correlation alone would join 1,643 of them, eleven to calls of the other process. */
TEST(two_processes_are_joined_by_process_too)
{
	struct bed b;

	if (import(&b, "samples/nsys_sqlite/nsys-ai_h100_2gpu_1s.sqlite") == 1)
		test_skip("not run: 1 file absent");
	CHECK_U64(bed_ask(&b, "select count(call) from launch where kind = 0"), 1632);
	CHECK_U64(bed_ask(&b, "select count(*) from launch l join call c on c.id = l.call join name n on n.id = c.name"
	                      " where l.kind = 0 and n.text not like '%Launch%'"),
	          0);
	CHECK_U64(bed_ask(&b, "select sum(grid_x) from launch where kind = 0"), 922764);
	CHECK_U64(bed_ask(&b, "select sum(registers) from launch where kind = 0"), 221646);
	CHECK_U64(bed_ask(&b, "select sum(smem_dynamic) from launch where kind = 0"), 18426880);
	CHECK_U64(b.st.linked, 2092); /* all with a call in the capture */
	bed_close(&b);
}

TEST(the_h200_counters_keep_their_units_and_geometry)
{
	struct bed b;

	if (import(&b, "data/h200/ncu_dsocr_b1_c1024.csv.gz") == 1)
		test_skip("not run: 1 file absent");
	CHECK_U64(bed_ask(&b, "select sum(registers) from launch"), 14433);
	CHECK_U64(bed_ask(&b, "select sum(smem_static) from launch"), 20368);
	CHECK_U64(bed_ask(&b, "select sum(smem_dynamic) from launch"), 9559848);
	CHECK_U64(bed_ask(&b, "select count(distinct launch) from metric"), 215);
	CHECK_U64(bed_ask(&b,
	                  "select cast(value as integer) from metric m join name n on n.id = m.name where launch = 3"
	                  " and n.text = 'dram__bytes_read.sum' and unit = 'byte'"),
	          4864);
	bed_close(&b);
}

SUITE(t_samples, SLOW(every_profile_is_imported_rightly_or_refused_with_the_reason), T(no_sample_is_in_no_table),
      T(two_processes_are_joined_by_process_too), T(the_h200_counters_keep_their_units_and_geometry));
