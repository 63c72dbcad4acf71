/* res_int.h - what the files of the results database share: the handle, and rows that runs and sweeps both have. Only
 * results/db/res*.c include it. */
#ifndef NPUSIM_RESULTS_DB_RES_INT_H
#define NPUSIM_RESULTS_DB_RES_INT_H

#include "results/db/res_sweep.h"
#include "sim/base/db.h"

struct resdb {
	struct db *db;
	char *created; /* path to remove again while nothing is stored; NULL: the file was there before */
	struct res_stat_id {
		char *name;
		int64_t id;
	} * stat_ids; /* of stat_name, as far as they were asked for */
	size_t n_stat_ids, cap_stat_ids;
};

uint64_t res_hash_text(uint64_t h, const char *s);
/* The number of the workload, stored now or before; -1 on error. Inside a transaction of the caller's. */
int64_t res_put_workload(struct db *db, const struct res_workload *w, struct err *e);
/* 1: the point is there and stays. A failed one goes, with all that belongs to it. */
int res_clear_place(struct db *db, int64_t sweep, const struct res_point *p, struct err *e);
int res_put_values(struct db *db, int64_t sweep, const struct res_point *p, size_t n_axes, struct err *e);
/* 1: the point is there, with its totals and build; 0: it is not. Texts in `a`. */
int res_get_head(struct resdb *r, int64_t sweep, uint64_t point, struct arena *a, struct res_point *out, struct err *e);
/* A build that made points of the sweep and is not `but`; NULL: there is none. */
int res_other_build(struct resdb *r, int64_t sweep, const char *but, struct arena *a, const char **out, struct err *e);
/* The id that a query gives, 0 when there is no row, -1 on error. */
int64_t res_find(struct db *db, struct sqlite3_stmt *s, struct err *e);

/* --- figures, res_figure.c -------------------------------------------------------------------------------- */

/* ", total_ps, cycles, ..." of run and of point, in the order in which they are bound and read; as many ",?". */
#define RES_COLUMNS FIGURES(RES_COLUMN, RES_NO_COLUMN)
#define RES_MARKS   FIGURES(RES_MARK, RES_NO_COLUMN)

#define RES_COLUMN(member, kept, ...) RES_COLUMN_##kept(#member)
#define RES_COLUMN_COLUMN(name)       ", " name
#define RES_COLUMN_ROW(name)          ""
#define RES_COLUMN_DROPPED(name)      ""
#define RES_MARK(member, kept, ...)   RES_MARK_##kept
#define RES_MARK_COLUMN               ",?"
#define RES_MARK_ROW                  ""
#define RES_MARK_DROPPED              ""
#define RES_NO_COLUMN(...)            ""

/* The same of op_result. */
#define RES_OP_COLUMNS OP_FIGURES(RES_COLUMN, RES_NO_COLUMN)
#define RES_OP_MARKS   OP_FIGURES(RES_MARK, RES_NO_COLUMN)

/* From place i on; the place after them. */
int res_bind_figures(struct sqlite3_stmt *s, int i, const struct figures *x);
int res_read_figures(struct sqlite3_stmt *s, int i, struct figures *x);
uint64_t res_hash_figures(uint64_t h, const struct figures *x);
/* The next figure that is kept as a row and has something to keep, from `f` on; NULL: there is none. */
const struct figure *res_next_row(const struct figure *f, const struct figures *x);
struct res_stat res_row_of(const struct figure *f, const struct figures *x);
/* Is this statistic a figure's row? It is in *x then. */
bool res_take_row(const struct res_stat *v, struct figures *x);
/* Figures of an op, from place i on; what is not known is null. Reading says what is known, and whether it is carried. */
void res_bind_op(struct sqlite3_stmt *s, int i, const struct res_op *o);
void res_read_op(struct sqlite3_stmt *s, int i, struct res_op *o);
/* The row of an op's figure that is kept as one and has something to keep; `name` is where its name lies. */
#define RES_OP_ROW_NAME 80
bool res_op_row(const struct op_figure *f, const struct res_op *o, size_t op, char name[RES_OP_ROW_NAME],
                struct res_stat *out);
/* Is this statistic one, of a figure of `table`? It is in ops[n] then. */
bool res_take_op_row(const struct op_figure *table, const struct res_stat *v, struct res_op *ops, size_t n);
/* Of an identity: what every op has, and what some have since, so that runs stored before keep theirs. */
uint64_t res_hash_op(uint64_t h, const struct op_figures *x);
uint64_t res_hash_op_late(uint64_t h, const struct op_figures *x);

/* --- reading, res_rows.c --------------------------------------------------------------------------------- */

/* Texts and rows go into `a`; that there was no room for one is remembered, and found where its query ends. */
struct res_reader {
	struct db *db;
	struct arena *a;
	struct err *e;
	const char *what; /* "runs": what there is no memory for */
	bool failed;
};
int res_no_room(struct res_reader *r);
const char *res_text(struct res_reader *r, struct sqlite3_stmt *s, int i); /* NULL of NULL */
uint64_t res_u64(struct sqlite3_stmt *s, int i);
/* A statement whose ?1 is `id`. */
struct sqlite3_stmt *res_query(struct res_reader *r, const char *sql, int64_t id);

/* All rows that belong to an id, in one array: how many there are, what they have, and what one of them becomes. `take`
 * returns -1, with the error set, where a row does not fit. Both queries have the id as ?1. */
struct res_rows {
	const char *count, *rows;
	size_t bytes; /* of one in the array */
	int (*take)(struct res_reader *r, struct sqlite3_stmt *s, void *row, void *ctx);
};
struct res_found {
	void *v; /* never NULL after success */
	size_t n;
};
int res_read_rows(struct res_reader *r, const struct res_rows *of, int64_t id, void *ctx, struct res_found *out);

#endif
