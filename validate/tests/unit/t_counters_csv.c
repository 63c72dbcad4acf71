/* t_counters_csv.c - tables of counters: what is read, that they lend their counters, and each way in which one is wrong. */
#include "traces/read/counters_csv.h"

#include <math.h>
#include <stdlib.h>

#include "sim/profile/hist.h"
#include "traces/read/kineto.h"
#include "validate/tests/tracebed.h"

static int import_text(struct bed *b, const char *text)
{
	return bed_import_text(b, FORMAT_COUNTERS, counters_csv_import, "counters.csv", text);
}

/* `at`: line and column, "2:5"; "": of the file as a whole. */
static void refused(const char *text, const char *at, const char *because)
{
	char place[32];
	struct bed b;
	const int rc = import_text(&b, text);

	snprintf(place, sizeof place, "%d:%d", b.e.line, b.e.col);
	CHECK_STR(*at ? place : "", at);
	bed_refused(&b, rc, because);
}

TEST(a_row_becomes_a_kernel_with_its_counters)
{
	const struct counted *x;
	struct counters *c;
	struct bed b;

	CHECK_OK(import_text(&b,
	                     "# of a card\n"
	                     "kernel,row,class,grid,block,registers,smem,device,duration_us,l2_hit_rate_pct,"
	                     "dram__bytes_read.sum,tensor_ops,name\n"
	                     "1,3,memory,224x2x1,32x4,40,1024,NVIDIA GeForce RTX 5090,6.75,27.66,1000,0,\"a<b, c>\"\n"
	                     "2,,,7,128,,,NVIDIA GeForce RTX 5090,,,,\n"),
	         b.e);
	CHECK_U64(b.st.untimed, 1);
	bed_load(&b, NULL);
	CHECK_U64(b.t.n_launches, 2);
	CHECK_STR(b.t.launches[0].name, "a<b, c>");
	CHECK_U64(b.t.launches[0].dur_ns, 6750);
	CHECK(b.t.launches[0].grid[0] == 224 && b.t.launches[0].grid[1] == 2 && b.t.launches[0].block[1] == 4);
	CHECK(b.t.launches[0].registers == 40 && b.t.launches[0].smem_dynamic == 1024);
	CHECK_STR(b.t.launches[1].name, "2");
	CHECK_U64(b.t.launches[1].start_ns, 6750);
	CHECK_U64(b.t.n_devices, 1);
	CHECK_STR(b.t.devices[0].name, "NVIDIA GeForce RTX 5090");
	CHECK((c = counters_load(b.db, &b.e)));
	CHECK_U64(counters_count(c), 1); /* the second row has none */
	x = counters_next(c, &b.t.launches[0]);
	CHECK(x && x->v[COUNTER_L2_HIT_PCT] == 27.66 && x->v[COUNTER_READ] == 1000 &&
	      x->v[COUNTER_DURATION_US] == 6.75);
	CHECK(x->v[COUNTER_TENSOR16] == 0 && isnan(x->v[COUNTER_SM_PCT]));
	counters_free(c);
	bed_close(&b);
}

/* The report's table of means by class, which has no latency-bound: its balanced kernels are those and ours. Three kernels are
 * memory-bound here: the concatenation that it calls compute-bound (kernel 17, which has no operations), and two that it calls
 * balanced by DRAM alone (kernel 10, whose L2 is 94 % busy, and 6). */
TEST(the_reports_means_come_out_of_its_table)
{
	static const struct {
		enum counter k;
		double compute, memory, balanced, all;
		double concat, add, multiply; /* of those three */
	} printed[] = {                       /* ../shared/data/rtx5090/dsocr_class_means.csv */
		        { COUNTER_SM_PCT, 36.21, 9.38, 12.25, 15.75, 38.78, 12.07, 0.28 },
		        { COUNTER_DRAM_PCT, 9.89, 34.23, 12.62, 21.80, 13.59, 10.29, 3.52 },
		        { COUNTER_MEM_PCT, 32.23, 41.20, 27.52, 34.62, 13.59, 93.99, 10.47 },
		        { COUNTER_OCCUPANCY_PCT, 31.51, 43.22, 39.32, 39.51, 77.47, 89.3, 8.12 },
		        { COUNTER_L1_HIT_PCT, 6.54, 9.51, 9.65, 8.96, 25, 2.08, 0.05 },
		        { COUNTER_L2_HIT_PCT, 71.93, 16.40, 51.97, 39.95, 25.39, 90.48, 25.06 },
		        { COUNTER_DURATION_US, 137.44, 9.67, 39.75, 45.75, 9.82, 94.91, 2.88 }
	};
	const struct roof_rule rule = ROOF_RULE;
	struct roof roof;
	struct bound_criteria by = { .roof = &roof, .rule = &rule };
	struct bound bound;
	struct hist h;
	struct bed b;

	CHECK_OK(bed_import(&b, "traces/rtx5090/dsocr_counters.csv"), b.e);
	bed_load(&b, NULL);
	CHECK((by.counters = counters_load(b.db, &b.e)) && (by.rules = rules_load(NULL, &b.e)));
	CHECK_OK(roof_load("rtx5090", &b.t, &roof, &b.e), b.e);
	CHECK_OK(bound_trace(&b.t, &by, b.a, &bound, &b.e), b.e);
	for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
		const enum counter k = printed[i].k;

		CHECK_OK(hist_of(&bound, k, &h, &b.e), b.e);
		CHECK_U64(h.counted, 20);
		CHECK(fabs(h.mean - printed[i].all) < 0.00501);
		CHECK(fabs(bound_mean(&bound, ROOF_CLASSES, k) - printed[i].all) < 0.00501);
		CHECK(fabs((bound.class_sum[ROOF_COMPUTE][k] + printed[i].concat) / 4 - printed[i].compute) < 0.00501);
		CHECK(fabs((bound.class_sum[ROOF_MEMORY][k] - printed[i].concat - printed[i].add -
		            printed[i].multiply) /
		                   9 -
		           printed[i].memory) < 0.00501);
		CHECK(fabs((bound.class_sum[ROOF_BALANCED][k] + bound.class_sum[ROOF_LATENCY][k] + printed[i].add +
		            printed[i].multiply) /
		                   7 -
		           printed[i].balanced) < 0.00501);
	}
	rules_free(by.rules);
	counters_free(by.counters);
	bed_close(&b);
}

TEST(beside_a_trace_a_table_lends_its_counters_and_is_no_kernels)
{
	static const char spans[] =
		"{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\","
		" \"pid\": 0, \"tid\": 7, \"ts\": 10, \"dur\": 2, \"args\": {\"device\": 0, \"context\": 1,"
		" \"stream\": 7, \"correlation\": 1, \"grid\": [4, 1, 1], \"block\": [128, 1, 1]}}]}";
	const struct counted *x;
	struct counters *c;
	struct input *in;
	struct bed b;

	CHECK_OK(import_text(&b, "kernel,grid,block,l2_hit_rate_pct\nk,4,128,50\n"), b.e);
	CHECK_U64(b.st.untimed, 1);
	CHECK((in = input_mem(spans, strlen(spans), "t.json", &b.e)));
	CHECK_OK(kineto_import(b.db, in, NULL, NULL, &b.st, &b.e), b.e);
	input_free(in);
	bed_load(&b, NULL);
	CHECK_U64(b.t.n_launches, 1);
	CHECK_U64(b.t.launches[0].dur_ns, 2000);
	CHECK((c = counters_load(b.db, &b.e)));
	x = counters_next(c, &b.t.launches[0]);
	CHECK(x && x->v[COUNTER_L2_HIT_PCT] == 50);
	counters_free(c);
	bed_close(&b);
}

TEST(what_is_wrong_is_refused_where_it_stands)
{
	refused("kernel,l2_hit_rat_pct\nk,1\n", "1:8",
	        "unknown column 'l2_hit_rat_pct': the nearest is 'l2_hit_rate_pct'");
	refused("kernel,,duration_us\nk,1\n", "", "a column without a name");
	refused("kernel,duration_us,duration_us\nk,1,1\n", "", "column 'duration_us' is there twice");
	refused("kernel,grid\nk,1\n", "", "no column is a counter");
	refused("kernel,duration_us\n", "", "its table has no rows");
	refused("kernel,duration_us\nk,1,2\n", "2:5", "a row of 3 cells under a header of 2");
	refused("kernel,duration_us\nk,fast\n", "2:3", "'fast' is no number");
	refused("kernel,duration_us\nk,-1\n", "", "is no number from 0");
	refused("kernel,sm_throughput_pct\nk,nan\n", "", "is no number from 0");
	refused("kernel,duration_us\nk,9e15\n", "", "more than a year");
	refused("kernel,duration_us\n,1\n", "", "a kernel without a name");
	refused("kernel,grid,duration_us\nk,4y2,1\n", "", "'4y2' is no grid, such as 224x1x1");
	refused("kernel,grid,duration_us\nk,1x2x3x4,1\n", "", "is no grid");
	refused("kernel,registers,duration_us\nk,1e12,1\n", "", "for 'registers'");
}

SUITE(t_counters_csv, T(a_row_becomes_a_kernel_with_its_counters), T(the_reports_means_come_out_of_its_table),
      T(beside_a_trace_a_table_lends_its_counters_and_is_no_kernels), T(what_is_wrong_is_refused_where_it_stands));
