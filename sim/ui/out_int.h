/* out_int.h - a table's cells, for those that write them. */
#ifndef NPUSIM_SIM_UI_OUT_INT_H
#define NPUSIM_SIM_UI_OUT_INT_H

#include "sim/base/arena.h"
#include "sim/ui/out.h"

struct out_cell {
	enum { CELL_NULL, CELL_TEXT, CELL_INT, CELL_REAL } kind;
	enum out_mark mark;
	double bar; /* 0: none */
	union {
		const char *text;
		int64_t i;
		double r;
	} v;
};

struct out_table {
	struct arena *arena;
	const char *title;
	struct out_col *cols;
	int n_cols;
	struct out_cell *cells;
	size_t n, cap;
	bool failed;
};

/* As people read it, on one line; returns its width. */
size_t out_add_cell(struct str *to, const struct out_cell *c, const struct out_col *col);
void out_write_html(const struct out_table *t, struct str *to);
void out_write_sql(const struct out_table *t, struct str *to);

#endif
