#include "sim/report/figure_doc.h"

#include <string.h>

#define US_DIGITS 3 /* for people: to a ns */

static void put(struct doc *d, const char *key, bool whole, int digits, bool known, struct figure_value v)
{
	if (whole)
		doc_count_if(d, key, known, v.n);
	else
		doc_real_if(d, key, digits, known, v.x);
}

void figure_doc(struct doc *d, const struct figure *f, bool result, const struct figures *x)
{
	struct figure_value v = { .known = false };

	if (result && !d->heads)
		v = figure_value(f, x, NULL);
	if (strcmp(f->unit, "B") == 0)
		doc_bytes_if(d, f->name, v.known, v.n);
	else
		put(d, f->name, f->per == 1, US_DIGITS, v.known, v);
}

void figure_doc_part(struct doc *d, enum figure_part part, const struct figures *x, const struct figure_measured *m)
{
	for (const struct figure *f = figure_table; f->help; f++) {
		struct figure_value v;

		if (f->part != part)
			continue;
		v = figure_value(f, x, m);
		if (v.known || f->zero != FIGURE_ABSENT)
			put(d, f->json, v.whole, US_DIGITS, v.known, v);
	}
}

/* --- of ops ------------------------------------------------------------------------------------------------ */

/* A share of no time is 0 here: null says that nothing of it was simulated. */
void figure_doc_op(struct doc *d, enum op_part part, const struct op_figures *x, unsigned known)
{
	const bool people = d->format == OUT_TABLE;

	for (const struct op_figure *f = op_figure_table; f->help; f++) {
		const bool there = op_figure_known(f, known);
		struct figure_value v = { .known = false };

		if ((people ? f->table : d->format == OUT_CSV ? f->csv : f->json) != part || (people && !there))
			continue;
		if (!d->heads)
			v = op_figure_value(f, x, known);
		v.x *= people && f->percent ? 100 : 1;
		put(d, people ? f->title : f->name, f->per == 1, people ? f->digits : US_DIGITS, there, v);
	}
}

void figure_doc_page_names(struct out_json *j, enum op_part part)
{
	for (const struct op_figure *f = op_figure_table; f->help; f++)
		if (f->page == part)
			out_json_text(j, NULL, f->on_page ? f->on_page : f->name);
}

void figure_doc_page(struct out_json *j, enum op_part part, const struct op_figures *x, unsigned known)
{
	for (const struct op_figure *f = op_figure_table; f->help; f++) {
		const struct figure_value v = op_figure_value(f, x, known);

		if (f->page != part)
			continue;
		if (!v.known && f->blank)
			out_json_null(j, NULL);
		else if (v.whole)
			out_json_u64(j, NULL, v.n);
		else
			out_json_real(j, NULL, v.x);
	}
}
