/* res_figure.c - a run's figures in its file: columns of their own, and rows among the statistics. */
#include <string.h>

#include "results/db/res_int.h"
#include "sim/base/hash.h"

int res_bind_figures(struct sqlite3_stmt *s, int i, const struct figures *x)
{
	for (const struct figure *f = figure_table; f->help; f++)
		if (f->kept == FIGURE_COLUMN)
			db_bind_i64(s, i++, (int64_t)figure_number(f, x));
	return i;
}

int res_read_figures(struct sqlite3_stmt *s, int i, struct figures *x)
{
	for (const struct figure *f = figure_table; f->help; f++)
		if (f->kept == FIGURE_COLUMN)
			figure_set(f, x, res_u64(s, i++));
	return i;
}

const struct figure *res_next_row(const struct figure *f, const struct figures *x)
{
	while (f->help && (f->kept != FIGURE_ROW || !figure_number(f, x)))
		f++;
	return f->help ? f : NULL;
}

struct res_stat res_row_of(const struct figure *f, const struct figures *x)
{
	return (struct res_stat){ f->member, f->raw, figure_number(f, x), false };
}

bool res_take_row(const struct res_stat *v, struct figures *x)
{
	for (const struct figure *f = figure_table; f->help; f++)
		if (f->kept == FIGURE_ROW && strcmp(f->member, v->name) == 0) {
			figure_set(f, x, v->value);
			return true;
		}
	return false;
}

uint64_t res_hash_figures(uint64_t h, const struct figures *x)
{
	for (const struct figure *f = figure_table; f->help; f++)
		if (f->kept == FIGURE_COLUMN)
			h = hash_u64(h, figure_number(f, x));
	for (const struct figure *f = figure_table; (f = res_next_row(f, x)); f++)
		h = hash_u64(hash_str(h, f->member), figure_number(f, x));
	return h;
}
