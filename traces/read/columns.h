/* columns.h - what readers of a profiler's table have in common: a header of named columns, then a row a kernel. */
#ifndef NPUSIM_TRACES_READ_COLUMNS_H
#define NPUSIM_TRACES_READ_COLUMNS_H

#include "traces/db/tracedb.h"
#include "traces/text/csv.h"

#define COLUMNS_NONE SIZE_MAX

struct columns {
	struct csv *csv;
	const char *file;
	struct tracedb *db;
	size_t width; /* of the header */
};

/* A table of one profiler. `header` finds its columns in the row that is the current one, `row` puts what a row says, `end`
 * (may be NULL) what is left. Rows that have a field less than the header, or more, are refused, but for a last empty one;
 * empty lines are left out. */
struct columns_table {
	const char *tool, *what; /* as `source` has it; of a table without the header: "no WHAT in ..." */
	csv_is_header *is_header;
	int (*header)(void *arg, const struct columns *c, struct err *e);
	int (*row)(void *arg, const struct columns *c, struct err *e);
	int (*end)(void *arg, const struct columns *c, struct err *e);
};

/* 0 imported, 1 in the database already, -1 error (nothing of it remains). */
int columns_import(const struct columns_table *t, void *reader, struct tracedb *db, struct input *in,
                   input_progress *progress, void *arg, struct trace_import_stats *st, struct err *e);

/* Of the header: where the column of that name is, COLUMNS_NONE where it is not. */
size_t columns_find(const struct columns *c, const char *name);
/* The same; none is an error that says what the table is. */
int columns_need(const struct columns *c, const char *name, size_t *at, struct err *e);
/* Of the current row; "" where there is no such column. */
const char *columns_text(const struct columns *c, size_t at);
/* A decimal number times ten to the `shift`, from `least`; an error has line and column. */
int columns_number(const struct columns *c, size_t at, const char *name, int shift, int64_t least, int64_t *v,
                   struct err *e);
/* Adds to an error where the row is, and its column unless that is COLUMNS_NONE; always -1. */
int columns_fault(const struct columns *c, size_t at, struct err *e);
/* Does a line begin a header that has all of these names (NULL ends them)? */
bool columns_has(const char *line, size_t n, const char *const *names);

#endif
