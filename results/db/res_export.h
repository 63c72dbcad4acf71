/* res_export.h - stored results as CSV, for other tools: the views of the schema, and points in a row each.
 *
 * RFC 4180 with "\n": a header, commas, quotes where a text needs them; null is an empty field. Integers are whole,
 * reals have what fifteen digits say. Rows come in the order of their keys. results/schema.md says what the columns are. */
#ifndef NPUSIM_RESULTS_DB_RES_EXPORT_H
#define NPUSIM_RESULTS_DB_RES_EXPORT_H

#include "results/db/res.h"
#include "sim/base/str.h"

/* Names of what can be exported, up to NULL: "points", "ops", ... */
extern const char *const res_export_names[];

/* Columns of points that the database does not hold, after its own; one whose name stands there already is left out. */
struct res_export_more {
	const char *const *names;
	size_t n;
	const uint64_t *points; /* n_points of them, rising */
	size_t n_points;
	double *const *values; /* by column, by point; NAN: none */
};

struct res_export {
	const char *what; /* one of the names */
	int64_t sweep;    /* of what belongs to sweeps: only this one; 0: all, of points the last */
	/* Called when a piece has come together in `text`, and for the last; it takes it and clears it. */
	int (*take)(void *ctx, struct str *text, struct err *e);
	void *ctx;
	const struct res_export_more *more; /* with points alone; NULL: none */
};
int res_export_csv(struct resdb *r, const struct res_export *x, size_t *rows, struct err *e);

#endif
