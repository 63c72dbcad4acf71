/* t_stalls.c - stall reasons out of metrics: shares, weights, which of several metrics counts. */
#include "sim/profile/stalls.h"

#include <math.h>
#include <stdlib.h>

#include "traces/read/format.h"
#include "validate/tests/tracebed.h"

#define RATIO(r) "smsp__average_warps_issue_stalled_" r "_per_issue_active.ratio"

static int look(struct bed *b, const char *text, struct stalls *s)
{
	struct rules *rules;
	char path[512];
	FILE *f = fopen(test_path(path, sizeof path, "c.csv"), "w");
	int rc;

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
	bed_open(b, ":memory:", DB_WRITE);
	CHECK_OK(format_import(b->db, FORMAT_AUTO, path, NULL, NULL, &b->st, &b->e), b->e);
	CHECK((rules = rules_load(NULL, &b->e)));
	rc = stalls_of(b->db, rules, b->a, s, &b->e);
	rules_free(rules);
	return rc;
}

TEST(shares_are_of_all_reasons_and_means_by_time)
{
	struct stalls s;
	struct bed b;

	CHECK_OK(look(&b,
	              "kernel,duration_us," RATIO("long_scoreboard") "," RATIO("selected") "," RATIO(
			      "barrier") "\n"
	                                 "k,3,6,1,1\nk,1,0,1,0\nother,8,0,0,4\n",
	              &s),
	         b.e);
	CHECK_U64(s.n, 2);
	CHECK_STR(s.v[0].name, "other");
	CHECK(s.v[0].n == 1 && s.v[0].share[0].pct == 100);
	CHECK_STR(s.v[1].share[0].reason, "long_scoreboard"); /* 3/4 of 6/8 */
	CHECK(fabs(s.v[1].share[0].pct - 56.25) < 1e-9);
	CHECK_STR(s.v[1].share[1].reason, "selected"); /* 3/4 of 1/8 and 1/4 of all */
	CHECK(fabs(s.v[1].share[1].pct - 34.375) < 1e-9);
	CHECK_STR(s.all.share[0].reason, "barrier"); /* 8/12 of all and 3/12 of 1/8 */
	CHECK(fabs(s.all.share[0].pct - 100 * (8 + 3 / 8.0) / 12) < 1e-9);
	CHECK(*stall_text("long_scoreboard") && !*stall_text("of another time"));
	bed_close(&b);
}

/* Samples stand back where the averages are there; those that were not issued are part of the others. */
TEST(of_several_metrics_the_first_counts)
{
	struct stalls s;
	struct bed b;

	CHECK_OK(
		look(&b,
	             "kernel,smsp__pcsamp_warps_issue_stalled_wait,smsp__pcsamp_warps_issue_stalled_barrier_not_issued,"
	             "smsp__average_warp_latency_issue_stalled_math_pipe_throttle.ratio," RATIO("wait") "," RATIO(
			     "drain") "\n"
	                              "k,100,900,7,1,3\nsampled,100,900,,,\n",
	             &s),
		b.e);
	CHECK_U64(s.n, 2);
	CHECK(s.v[0].n == 2 && s.v[0].share[0].pct == 75 && s.v[1].n == 1 && s.v[1].share[0].pct == 100);
	CHECK_STR(s.v[1].share[0].reason, "wait");
	bed_close(&b);
}

TEST(without_them_it_is_said_how_to_get_them)
{
	struct stalls s;
	struct bed b;

	CHECK(look(&b, "kernel,duration_us\nk,1\n", &s) == -1);
	CHECK_HAS(b.e.msg, "ncu --section WarpStateStats");
	bed_close(&b);
}

SUITE(t_stalls, T(shares_are_of_all_reasons_and_means_by_time), T(of_several_metrics_the_first_counts),
      T(without_them_it_is_said_how_to_get_them));
