/* nsys_int.h - what the files of the Nsight Systems reader share: the export, and rows of a table whose columns may
 * be missing. Only traces/read/nsys*.c include it. */
#ifndef NPUSIM_TRACES_READ_NSYS_INT_H
#define NPUSIM_TRACES_READ_NSYS_INT_H

#include "traces/db/idmap.h"
#include "traces/db/tracedb.h"
#include "traces/text/input.h"

struct sqlite3;

struct nsys {
	struct sqlite3 *h;
	const char *file;
	struct tracedb *db;
	bool by_process;   /* launches and calls say which process they are of */
	struct idmap pids; /* processes met, and the number each goes under, from 1, in place of a pointer */
	int64_t last_pid;  /* the one before, and its number: they come in runs; 0: none yet */
	uint64_t last_pid_number;
};

/* --- nsys_file.c: the export as a database ------------------------------------------------------------------- */
int nsys_open(struct nsys *n, struct input *in, struct err *e);
/* Whether a disk of `size` bytes with `left` of them free takes more of an unpacked export, and keeps some for others. */
bool nsys_room(uint64_t size, uint64_t left);
void nsys_close(struct nsys *n);
int nsys_has_table(struct nsys *n, const char *table, struct err *e);                      /* 1, 0, -1 */
int nsys_has_column(struct nsys *n, const char *table, const char *column, struct err *e); /* 1, 0, -1 */
/* The tables that others name rows of have an index from here on: where the file's has none, a temporary copy of it,
 * which SQLite prefers to a table of the file of the same name. Of a key that comes twice the first row counts. */
int nsys_index(struct nsys *n, struct err *e);
/* The first column of the first row; *got false without one or where it is no integer. */
int nsys_number(struct nsys *n, const char *sql, int64_t *v, bool *got, struct err *e);

struct sqlite3_stmt;
struct nsys_rows {
	struct nsys *n;
	struct sqlite3_stmt *s;
	const char *what;
};

enum nsys_col_type {
	NSYS_PLAIN,
	NSYS_NEEDED,
	NSYS_TEXT,   /* the text of the StringIds row that it names */
	NSYS_NAME,   /* the text of a kernel's demangled, else short, else mangled name */
	NSYS_CUDA_ID /* CUDA's number of the GPU that it names */
};
struct nsys_col {
	const char *name;
	enum nsys_col_type type;
};

struct nsys_query {
	const char *table, *what; /* what: names a row in errors, "a kernel" */
	const struct nsys_col *cols;
	int n_cols;
	const char *tail; /* SQL behind the table: which rows, in which order; may be NULL */
};

/* Rows of those columns in that order; a column that the table lacks is NULL in each. A table that lacks a needed column
 * is an error. */
int nsys_rows(struct nsys *n, struct nsys_rows *r, const struct nsys_query *q, struct err *e);
void nsys_rows_end(struct nsys_rows *r);
int nsys_next(struct nsys_rows *r, struct err *e); /* 1, 0, -1 */
bool nsys_null(const struct nsys_rows *r, int i);
/* NULL is 0; anything but an integer from 0 to `most` is an error. */
int nsys_get(const struct nsys_rows *r, int i, const char *name, int64_t most, int64_t *v, struct err *e);
int64_t nsys_any(const struct nsys_rows *r, int i);                     /* ids: any bits do */
const char *nsys_text(const struct nsys_rows *r, int i, struct err *e); /* "" for NULL; NULL: error */
/* Columns 0 and 1, start and end, as start and duration. */
int nsys_span(const struct nsys_rows *r, int64_t *start, int64_t *dur, struct err *e);
#define NSYS_PROCESS(global) ((global) & ~INT64_C(0xffffff)) /* of a thread's id: its process's */
/* An id that is unique in the file for process and correlation id; 0 for none. */
int nsys_correlation(struct nsys *n, int64_t process, int64_t id, int64_t *out, struct err *e);

/* --- nsys_host.c: NVTX and runtime calls --- */
int nsys_host(struct nsys *n, struct err *e);

#endif
