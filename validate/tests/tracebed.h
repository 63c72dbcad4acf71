/* tracebed.h - a trace database under test: opened, loaded, asked. Every step that fails ends the test. */
#ifndef NPUSIM_TESTS_TRACEBED_H
#define NPUSIM_TESTS_TRACEBED_H

#include "traces/db/tracedb_int.h" /* SQL of a test */
#include "validate/tests/test.h"

struct bed {
	struct tracedb *db;
	struct arena *a;
	struct trace t;
	struct trace_import_stats st;
	struct err e;
};

static inline void bed_open(struct bed *b, const char *path, enum db_mode mode)
{
	memset(b, 0, sizeof *b);
	b->db = tracedb_open(path, mode, &b->e);
	CHECK_OK(b->db ? 0 : -1, b->e);
	b->a = arena_new(0);
	CHECK(b->a);
}

static inline void bed_close(struct bed *b)
{
	tracedb_free(b->db);
	arena_free(b->a);
}

static inline void bed_load(struct bed *b, const char *range)
{
	CHECK_OK(tracedb_load(b->db, range, b->a, &b->t, &b->e), b->e);
}

static inline void bed_load_fails(struct bed *b, const char *range, const char *because)
{
	CHECK(tracedb_load(b->db, range, b->a, &b->t, &b->e) == -1);
	CHECK_HAS(b->e.msg, because);
	err_clear(&b->e);
}

static inline void bed_run(struct bed *b, const char *sql)
{
	CHECK_OK(db_exec(b->db->db, sql, &b->e), b->e);
}

/* The one number a query gives. */
static inline int64_t bed_ask(struct bed *b, const char *sql)
{
	struct sqlite3_stmt *s = db_stmt(b->db->db, sql, &b->e);
	int64_t v;

	CHECK_OK(s && db_step(b->db->db, s, &b->e) == 1 ? 0 : -1, b->e);
	v = db_col_i64(s, 0);
	CHECK_OK(db_run(b->db->db, s, &b->e), b->e);
	return v;
}

#endif
