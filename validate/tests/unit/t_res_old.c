/* t_res_old.c - results databases that earlier releases wrote: all can be read, and the first write that succeeds brings one
 * up to date. */
#include "results/db/res_export.h"
#include "results/db/res_sweep.h"
#include "validate/tests/oldbed.h"

/* Every schema that a release wrote, in order: 2 was none. */
static const int schemas[] = { 1, 3, 4, 5, 6, 7, 8, 9 };
enum { N_SCHEMAS = sizeof schemas / sizeof *schemas };

/* A file of that schema, made by what each up to it added. */
static void make(struct oldbed *b, int schema)
{
	char name[32];

	if (*b->path)
		remove(b->path);
	*b->path = '\0';
	for (int i = 0; i < N_SCHEMAS && schemas[i] <= schema; i++) {
		snprintf(name, sizeof name, "results_%d.sql", schemas[i]);
		oldbed_run(b, name);
	}
}

static int64_t user_version(const char *path)
{
	sqlite3 *h = NULL;
	sqlite3_stmt *s = NULL;
	int64_t version;

	CHECK(sqlite3_open(path, &h) == SQLITE_OK);
	CHECK(sqlite3_prepare_v2(h, "pragma user_version", -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW);
	version = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(h);
	return version;
}

static struct resdb *open_ok(const char *path, enum db_mode mode)
{
	struct err e = ERR_INIT;
	struct resdb *r = res_open(path, mode, &e);

	CHECK_OK(r ? 0 : -1, e);
	return r;
}

static void check_run(struct resdb *db, int schema, struct arena *a)
{
	struct err e = ERR_INIT;
	struct res_stored s;

	CHECK_OK(res_get(db, 1, a, &s, &e), e);
	CHECK_STR(s.workload.source, "t.json one");
	CHECK_STR(s.workload.ops[0].name, "gemv 1x8x4");
	CHECK_STR(s.run.config_text, "name: small");
	CHECK_U64(s.run.total_ps, 4000000);
	CHECK_U64(s.run.events, 99);
	CHECK_U64(s.run.n_ops, 2);
	CHECK_U64(s.run.ops[0].span_ps, 4000000);
	CHECK_U64(s.run.ops[0].n_stalls, 2);
	CHECK(s.run.ops[1].carried);
	CHECK_U64(s.run.n_resources, 1);
	CHECK_U64(s.run.n_stats, 1);
	CHECK(!(s.run.ops[0].known & OP_KNOWN_USE) == (schema < 6));
	CHECK_U64(s.run.ops[0].pins_ps, schema >= 6 ? 3400000 : 0);
	CHECK_U64(s.run.ops[0].energy_fj, schema >= 8 ? 77000 : 0);
	CHECK_U64(s.run.n_energy, schema >= 8);
	CHECK_U64(s.run.n_warnings, schema >= 6);
	CHECK_U64(s.run.limits.n, schema >= 7 ? 2 : schema >= 5);
	if (schema >= 5) {
		CHECK_STR(s.run.limits.rows[0].move, "more");
		CHECK_U64(s.run.limits.rows[0].total_ps, 3000000);
	}
	if (schema >= 7) {
		CHECK_STR(s.run.limits.rows[1].fidelity, "analytic");
		CHECK(s.run.limits.rows[1].within == (schema >= 9));
	}
	CHECK_U64(s.run.n_next, 0);
	CHECK(s.run.asked == NULL);
}

static void check_sweep(struct resdb *db, struct arena *a)
{
	struct err e = ERR_INIT;
	struct res_sweep *s;
	struct res_point *p;
	size_t n;

	CHECK_OK(res_list_sweeps(db, a, &s, &n, &e), e);
	CHECK_U64(n, 1);
	CHECK_STR(s->axes[0].key, "l2.size");
	CHECK_U64(s->done, 1);
	CHECK_OK(res_get_points(db, s, a, &p, &n, &e), e);
	CHECK_U64(n, 2);
	CHECK_U64(p[0].total_ps, 5000000);
	CHECK_STR(p[0].values[0].text, "4 MiB");
	CHECK_STR(p[0].kinds[0].kind, "gemm");
	CHECK_U64(p[0].stats[0].value, 80);
	CHECK_STR(p[1].reason, "it does not fit");
}

static int drop(void *ctx, struct str *text, struct err *e)
{
	(void)ctx;
	(void)e;
	str_clear(text);
	return 0;
}

/* Rows of each table that is exported: its view is there, whatever the file's schema lacks. */
static void check_exports(struct resdb *db, int schema)
{
	const struct {
		const char *what;
		size_t rows;
	} some[] = { { "runs", 1 },
		     { "ops", 2 },
		     { "values", schema >= 3 ? 2 : 0 },
		     { "limits", schema >= 7   ? 2
		                 : schema >= 5 ? 1
		                               : 0 },
		     { "energy", schema >= 8 },
		     { "next", 0 } };
	struct err e = ERR_INIT;

	for (size_t i = 0; res_export_names[i]; i++) {
		const struct res_export x = { .what = res_export_names[i], .take = drop };
		size_t rows;

		if (schema < 3 && strcmp(x.what, "points") == 0) /* of a sweep, and there is none */
			continue;
		CHECK_OK(res_export_csv(db, &x, &rows, &e), e);
		for (size_t k = 0; k < sizeof some / sizeof *some; k++)
			if (strcmp(some[k].what, x.what) == 0)
				CHECK_U64(rows, some[k].rows);
	}
}

static void check_all(struct resdb *db, int schema)
{
	struct arena *a = arena_new(0);

	check_run(db, schema, a);
	if (schema >= 3)
		check_sweep(db, a);
	check_exports(db, schema);
	arena_free(a);
}

/* Another run of the same workload: the stored one with another seed. */
static int put_another(struct resdb *db, const char *path, const char *build)
{
	struct arena *a = arena_new(0);
	struct resdb *old = open_ok(path, DB_READ);
	struct err e = ERR_INIT;
	struct res_stored s;
	bool again;
	int64_t id;
	int rc;

	CHECK_OK(res_get(old, 1, a, &s, &e), e);
	res_free(old);
	s.run.build = build; /* which must not be NULL in the file */
	rc = res_put_run(db, &s.workload, &s.run, &id, &again, &e);
	CHECK(rc < 0 || (!again && id == 2));
	arena_free(a);
	return rc;
}

TEST(a_file_of_every_released_schema_is_read_and_stays_as_it_is)
{
	static struct oldbed b;

	_Static_assert(RES_SCHEMA == 10, "the schema before this one needs its file, too");
	for (int i = 0; i < N_SCHEMAS; i++) {
		struct resdb *db;

		make(&b, schemas[i]);
		db = open_ok(b.path, DB_READ);
		check_all(db, schemas[i]);
		res_free(db);
		CHECK(oldbed_same(&b));
	}
}

TEST(the_first_write_that_succeeds_brings_it_up_to_date_and_one_that_fails_does_not)
{
	static struct oldbed b;

	for (int i = 0; i < N_SCHEMAS; i++) {
		struct arena *a = arena_new(0);
		struct err e = ERR_INIT;
		struct resdb *db;

		make(&b, schemas[i]);
		db = open_ok(b.path, DB_WRITE);
		CHECK(put_another(db, b.path, NULL) < 0);
		res_free(db);
		CHECK(oldbed_same(&b));
		db = open_ok(b.path, DB_WRITE);
		CHECK(put_another(db, b.path, "of today") == 0);
		CHECK_OK(res_close(db, 0, &e), e);
		CHECK_U64(user_version(b.path), RES_SCHEMA);
		db = open_ok(b.path, DB_READ);
		check_run(db, schemas[i], a);
		res_free(db);
		arena_free(a);
	}
}

TEST(an_older_shard_is_merged)
{
	static struct oldbed b;
	char path[400];
	struct res_merged m = { 0, 0, 0, 0, 0 };
	struct err e = ERR_INIT;
	struct resdb *into, *from;

	make(&b, 5);
	into = open_ok(test_path(path, sizeof path, "all.db"), DB_WRITE);
	from = open_ok(b.path, DB_READ);
	CHECK_OK(res_merge(into, from, false, &m, &e), e);
	CHECK_U64(m.points_new, 2);
	CHECK_U64(m.runs_new, 1);
	check_all(into, 5);
	CHECK_OK(res_close(into, 0, &e), e);
	res_free(from);
	CHECK(oldbed_same(&b));
}

SUITE(t_res_old, T(a_file_of_every_released_schema_is_read_and_stays_as_it_is),
      SLOW(the_first_write_that_succeeds_brings_it_up_to_date_and_one_that_fails_does_not),
      T(an_older_shard_is_merged));
