/* tracebed.h - a trace database under test: opened, loaded, asked. Every step that fails ends the test. */
#ifndef NPUSIM_TESTS_TRACEBED_H
#define NPUSIM_TESTS_TRACEBED_H

#include "traces/db/tracedb_int.h" /* SQL of a test */
#include "traces/read/format.h"
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

/* A committed file, into a database of its own. */
static inline int bed_import(struct bed *b, const char *file)
{
	char path[1024];

	bed_open(b, ":memory:", DB_WRITE);
	CHECK(snprintf(path, sizeof path, "%s/%s", test_root(), file) < (int)sizeof path);
	return format_import(b->db, FORMAT_AUTO, path, NULL, NULL, &b->st, &b->e);
}

typedef int bed_reader(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                       struct trace_import_stats *st, struct err *e);
/* A text that looks like one of `f`, called `name`, likewise. */
static inline int bed_import_text(struct bed *b, enum trace_format f, bed_reader *read, const char *name,
                                  const char *text)
{
	struct input *in;
	int rc;

	bed_open(b, ":memory:", DB_WRITE);
	in = input_mem(text, strlen(text), name, &b->e);
	rc = in && format_of(in, &b->e) == (int)f ? read(b->db, in, NULL, NULL, &b->st, &b->e) : -2;
	input_free(in);
	return rc;
}

/* An import that returned `rc` was refused for that reason, and nothing is left of it. */
static inline void bed_refused(struct bed *b, int rc, const char *because)
{
	CHECK_U64(rc, -1);
	CHECK_HAS(b->e.msg, because);
	CHECK_U64(err_exit_code(&b->e), 4);
	CHECK_U64(bed_ask(b, "select count(*) from source"), 0);
	CHECK_U64(bed_ask(b, "select count(*) from launch"), 0);
	bed_close(b);
}

#endif
