#include "sim/report/figure_out.h"

#include <string.h>

#define US_DIGITS 3 /* in tables: to a ns */

static void member(struct out_json *j, const char *key, bool known, struct figure_value v)
{
	if (!known)
		out_json_null(j, key);
	else if (v.whole)
		out_json_u64(j, key, v.n);
	else
		out_json_real(j, key, v.x);
}

static void cell(struct out_table *t, bool known, struct figure_value v)
{
	if (!known)
		out_null(t);
	else if (v.whole)
		out_int(t, (int64_t)v.n);
	else
		out_real(t, v.x);
}

void figure_json(struct out_json *j, enum figure_part part, const struct figures *x, const struct figure_measured *m)
{
	for (const struct figure *f = figure_table; f->help; f++) {
		struct figure_value v;

		if (f->part != part)
			continue;
		v = figure_value(f, x, m);
		if (!v.known && f->zero == FIGURE_ABSENT)
			continue;
		member(j, f->json, v.known, v);
	}
}

/* --- of ops ------------------------------------------------------------------------------------------------ */

/* A share of no time is 0 here: null says that nothing of it was simulated. */
void op_figure_json(struct out_json *j, enum op_part part, const struct op_figures *x, unsigned known)
{
	for (const struct op_figure *f = op_figure_table; f->help; f++)
		if (f->json == part)
			member(j, f->name, op_figure_known(f, known), op_figure_value(f, x, known));
}

void op_figure_csv_cols(enum op_part part, struct out_col *cols, int *n)
{
	for (const struct op_figure *f = op_figure_table; f->help; f++)
		if (f->csv == part)
			cols[(*n)++] = (struct out_col){ f->name, f->per == 1 ? OUT_INT : OUT_REAL,
				                         f->per == 1 ? 0 : US_DIGITS };
}

void op_figure_csv(struct out_table *t, enum op_part part, const struct op_figures *x, unsigned known)
{
	for (const struct op_figure *f = op_figure_table; f->help; f++)
		if (f->csv == part)
			cell(t, op_figure_known(f, known), op_figure_value(f, x, known));
}

void op_figure_table_cols(enum op_part part, unsigned known, struct out_col *cols, int *n)
{
	for (const struct op_figure *f = op_figure_table; f->help; f++)
		if (f->table == part && op_figure_known(f, known))
			cols[(*n)++] = (struct out_col){ f->title, f->per == 1 ? OUT_INT : OUT_REAL, f->digits };
}

void op_figure_table_cells(struct out_table *t, enum op_part part, const struct op_figures *x, unsigned known)
{
	for (const struct op_figure *f = op_figure_table; f->help; f++)
		if (f->table == part && op_figure_known(f, known)) {
			struct figure_value v = op_figure_value(f, x, known);

			v.x *= f->percent ? 100 : 1;
			cell(t, true, v);
		}
}

void op_figure_page_names(struct out_json *j, enum op_part part)
{
	for (const struct op_figure *f = op_figure_table; f->help; f++)
		if (f->page == part)
			out_json_text(j, NULL, f->on_page ? f->on_page : f->name);
}

void op_figure_page(struct out_json *j, enum op_part part, const struct op_figures *x, unsigned known)
{
	for (const struct op_figure *f = op_figure_table; f->help; f++)
		if (f->page == part) {
			const struct figure_value v = op_figure_value(f, x, known);

			member(j, NULL, v.known || !f->blank, v);
		}
}
