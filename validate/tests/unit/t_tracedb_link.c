/* t_tracedb_link.c - which framework op a launch is of: by an id that an op around its call bears out, by nesting, or
 * none. */
#include "sim/base/rng.h"
#include "validate/tests/tracebed.h"

static const struct trace_import source = { "f", "test", "d", 0, -1, true, NULL };

static void bed_up(struct bed *b, const char *path)
{
	bed_open(b, path, DB_WRITE);
	CHECK_OK(tracedb_begin(b->db, &source, &b->e), b->e);
}

static void finish(struct bed *b)
{
	CHECK_OK(tracedb_finish(b->db, &source, &b->st, &b->e), b->e);
	bed_load(b, NULL);
}

static void op(struct bed *b, const char *name, int64_t thread, int64_t start, int64_t dur, int64_t id)
{
	const struct trace_op o = { .name = name, .thread = thread, .start_ns = start, .dur_ns = dur, .sequence = -1 };

	CHECK_OK(tracedb_put_op(b->db, &o, id, &b->e), b->e);
}

/* A kernel, as late as it comes, and its call. */
static void launch(struct bed *b, int64_t thread, int64_t at, int64_t correlation, int64_t id)
{
	const struct trace_call c = {
		.name = "cudaLaunchKernel", .start_ns = at, .dur_ns = 5, .thread = thread, .correlation = correlation
	};
	const struct trace_launch l = {
		.name = "k", .start_ns = 100 + correlation, .dur_ns = 1, .bytes = -1, .correlation = correlation
	};

	CHECK_OK(tracedb_put_launch(b->db, &l, id, &b->e), b->e);
	if (at >= 0)
		CHECK_OK(tracedb_put_call(b->db, &c, &b->e), b->e);
}

/* Of the launches in the order of their correlations. */
static void check(const struct bed *b, size_t i, const char *name, enum trace_link link)
{
	const struct trace_launch *l = &b->t.launches[i];

	CHECK_STR(l->op ? l->op->name : "none", name);
	CHECK_U64(l->link, link);
}

TEST(an_id_counts_where_its_op_is_around_the_call_on_its_thread_and_in_time)
{
	struct bed b;

	bed_up(&b, ":memory:");
	op(&b, "outer", 1, 0, 1000, 11);
	op(&b, "inner", 1, 100, 100, 12);
	op(&b, "later", 1, 500, 100, 13);
	op(&b, "elsewhere", 2, 100, 100, 14);
	launch(&b, 1, 150, 1, 12);  /* right */
	launch(&b, 1, 150, 2, 11);  /* right: around it, if not innermost */
	launch(&b, 1, 100, 3, 12);  /* from its first moment */
	launch(&b, 1, 200, 4, 12);  /* to its last */
	launch(&b, 1, 201, 5, 12);  /* over */
	launch(&b, 1, 150, 6, 13);  /* not yet begun */
	launch(&b, 1, 150, 7, 14);  /* another thread's */
	launch(&b, 1, 550, 8, 999); /* no op's */
	launch(&b, 3, 150, 9, 12);  /* a thread without ops */
	finish(&b);
	check(&b, 0, "inner", TRACE_LINK_ID);
	check(&b, 1, "outer", TRACE_LINK_ID);
	check(&b, 2, "inner", TRACE_LINK_ID);
	check(&b, 3, "inner", TRACE_LINK_ID);
	check(&b, 4, "outer", TRACE_LINK_NESTING);
	check(&b, 5, "inner", TRACE_LINK_NESTING);
	check(&b, 6, "inner", TRACE_LINK_NESTING);
	check(&b, 7, "later", TRACE_LINK_NESTING);
	check(&b, 8, "none", TRACE_LINK_NONE);
	CHECK(b.st.linked == 8 && b.st.nested == 4 && b.st.refuted == 4);
	bed_close(&b);
}

TEST(without_ids_it_is_the_innermost_op_around_the_call)
{
	struct bed b;

	bed_up(&b, ":memory:");
	op(&b, "second_thread", 2, 0, 90, 0);
	op(&b, "outer", 1, 100, 100, 0);
	op(&b, "over", 1, 110, 10, 0);
	op(&b, "no_time", 1, 130, 0, 0); /* as whole microseconds leave it */
	op(&b, "inner", 1, 150, 20, 0);
	op(&b, "crosses", 1, 160, 60, 0);
	launch(&b, 1, 99, 1, 0);
	launch(&b, 1, 100, 2, 0);
	launch(&b, 1, 115, 3, 0);
	launch(&b, 1, 120, 4, 0);
	launch(&b, 1, 130, 5, 0);
	launch(&b, 1, 155, 6, 0);
	launch(&b, 1, 175, 7, 0);
	launch(&b, 1, 210, 8, 0);
	launch(&b, 1, 220, 9, 0);
	launch(&b, 2, 50, 10, 0);
	launch(&b, 2, 95, 11, 0);
	launch(&b, 0, -1, 12, 0); /* no call, no place */
	finish(&b);
	check(&b, 0, "none", TRACE_LINK_NONE);
	check(&b, 1, "outer", TRACE_LINK_NESTING);
	check(&b, 2, "over", TRACE_LINK_NESTING);
	check(&b, 3, "outer", TRACE_LINK_NESTING);
	check(&b, 4, "outer", TRACE_LINK_NESTING);
	check(&b, 5, "inner", TRACE_LINK_NESTING);
	check(&b, 6, "crosses", TRACE_LINK_NESTING);
	check(&b, 7, "crosses", TRACE_LINK_NESTING);
	check(&b, 8, "none", TRACE_LINK_NONE);
	check(&b, 9, "second_thread", TRACE_LINK_NESTING);
	check(&b, 10, "none", TRACE_LINK_NONE);
	check(&b, 11, "none", TRACE_LINK_NONE);
	CHECK(b.st.linked == 8 && b.st.nested == 8 && b.st.refuted == 0);
	bed_close(&b);
}

TEST(an_id_that_cannot_be_tried_counts_until_another_of_the_file_is_refuted)
{
	struct bed b;

	for (int refuted = 0; refuted < 2; refuted++) {
		bed_up(&b, ":memory:");
		op(&b, "one", 1, 0, 100, 1);
		op(&b, "two", 1, 200, 100, 2);
		launch(&b, 1, 50, 1, refuted ? 2 : 1);
		launch(&b, 0, -1, 2, 2);
		launch(&b, 0, -1, 3, 77);
		finish(&b);
		check(&b, 0, "one", refuted ? TRACE_LINK_NESTING : TRACE_LINK_ID);
		check(&b, 1, refuted ? "none" : "two", refuted ? TRACE_LINK_NONE : TRACE_LINK_ID);
		check(&b, 2, "none", TRACE_LINK_NONE);
		CHECK_U64(b.st.linked, refuted ? 1 : 2);
		bed_close(&b);
	}
}

TEST(ranges_within_ranges_have_what_lies_in_each)
{
	struct rng r;
	struct bed b;

	rng_seed(&r, test_seed(), "ranges");
	bed_up(&b, ":memory:");
	for (int i = 0; i < 300; i++) {
		const struct trace_range x = { "r", (int64_t)rng_below(&r, 300) - 50, (int64_t)rng_below(&r, 200), 1,
			                       0 };

		CHECK_OK(tracedb_put_range(b.db, &x, i % 3 == 0, &b.e), b.e);
	}
	for (int i = 1; i < 400; i++)
		launch(&b, 1, i % 5 ? (int64_t)rng_below(&r, 300) : -1, i, 0);
	finish(&b);
	CHECK_U64(bed_ask(&b,
	                  "select count(*) from range where launches <> (select count(*) from launch l where on_device"
	                  " = 0 and l.at_ns >= range.start_ns and l.at_ns < range.start_ns + range.dur_ns)"
	                  " + (select count(*) from launch l where on_device and l.start_ns >= range.start_ns"
	                  " and l.start_ns < range.start_ns + range.dur_ns)"),
	          0);
	CHECK(bed_ask(&b, "select sum(launches) from range where on_device = 0") > 10000);
	bed_close(&b);
}

SUITE(t_tracedb_link, T(an_id_counts_where_its_op_is_around_the_call_on_its_thread_and_in_time),
      T(without_ids_it_is_the_innermost_op_around_the_call),
      T(an_id_that_cannot_be_tried_counts_until_another_of_the_file_is_refuted),
      T(ranges_within_ranges_have_what_lies_in_each));
