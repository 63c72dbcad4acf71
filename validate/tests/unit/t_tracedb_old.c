/* t_tracedb_old.c - a trace database that the first release wrote: it is read without its source, and the first import that
 * succeeds brings it up to date. */
#include "validate/tests/oldbed.h"
#include "validate/tests/tracebed.h"

static void check_launches(struct bed *b)
{
	static const struct {
		const char *op;
		enum trace_link link;
	} want[] = { { "one", TRACE_LINK_ID }, { "none", TRACE_LINK_NONE }, { "two", TRACE_LINK_ID } };

	bed_load(b, NULL);
	CHECK_U64(b->t.n_launches, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct trace_launch *l = &b->t.launches[i];

		CHECK_STR(l->op ? l->op->name : "none", want[i].op);
		CHECK_U64(l->link, want[i].link);
	}
	CHECK_U64(bed_ask(b, "select sum(link) from kernel"), 2);
	bed_load(b, "step_0");
	CHECK_U64(b->t.n_launches, 2);
}

static int import(struct bed *b, const char *digest, bool good)
{
	const struct trace_import src = { "new.json", "test", digest, 1000, -1, true, NULL };
	const struct trace_launch l = { .kind = TRACE_KERNEL, .name = "k", .dur_ns = 1 };
	int rc;

	if ((rc = tracedb_begin(b->db, &src, &b->e)) != 0)
		return rc;
	CHECK_OK(tracedb_put_launch(b->db, &l, 0, &b->e), b->e);
	if (good)
		return tracedb_finish(b->db, &src, &b->st, &b->e);
	tracedb_abort(b->db);
	return -1;
}

TEST(it_is_read_without_its_source_and_stays_as_it_is)
{
	static struct oldbed old;
	struct bed b;

	oldbed_run(&old, "trace_2.sql");
	bed_open(&b, old.path, DB_READ);
	check_launches(&b);
	bed_close(&b);
	CHECK(oldbed_same(&old));
}

TEST(the_first_import_that_succeeds_brings_it_up_to_date)
{
	static struct oldbed old;
	struct bed b;

	oldbed_run(&old, "trace_2.sql");
	for (int once = 0; once < 4; once++) {
		bed_open(&b, old.path, DB_WRITE);
		if (once == 1)
			CHECK(import(&b, "new", false) == -1);
		if (once == 2)
			CHECK(import(&b, "54dd5dc5", true) == 1); /* it is there already */
		if (once == 3)
			CHECK(tracedb_set_wall(b.db, "old.json", false, "no such", 100, &b.e) == -1);
		bed_close(&b);
		CHECK(oldbed_same(&old));
	}
	bed_open(&b, old.path, DB_WRITE);
	CHECK_OK(import(&b, "new", true), b.e);
	CHECK_U64(bed_ask(&b, "pragma user_version"), 3);
	CHECK_U64(bed_ask(&b, "select count(*) from launch"), 4);
	CHECK_OK(tracedb_close(b.db, 0, &b.e), b.e);
	b.db = NULL;
	bed_close(&b);
	bed_open(&b, old.path, DB_READ);
	bed_load(&b, "step_0");
	CHECK_U64(b.t.n_launches, 2);
	bed_close(&b);
}

TEST(its_wall_can_be_said_later)
{
	static struct oldbed old;
	struct bed b;

	oldbed_run(&old, "trace_2.sql");
	bed_open(&b, old.path, DB_WRITE);
	CHECK_OK(tracedb_set_step_walls(b.db, "old.json", false, 500, &b.e), b.e);
	bed_load(&b, "step_0");
	CHECK_U64(b.t.wall_ns, 500);
	bed_close(&b);
}

SUITE(t_tracedb_old, T(it_is_read_without_its_source_and_stays_as_it_is),
      T(the_first_import_that_succeeds_brings_it_up_to_date), T(its_wall_can_be_said_later));
