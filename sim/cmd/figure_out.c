#include "sim/cmd/figure_out.h"

#include <string.h>

#define US_DIGITS 3 /* in tables: to a ns */

void figure_json(struct out_json *j, enum figure_part part, const struct figures *x, const struct figure_measured *m)
{
	for (const struct figure *f = figure_table; f->help; f++) {
		struct figure_value v;

		if (f->part != part)
			continue;
		v = figure_value(f, x, m);
		if (!v.known && f->zero == FIGURE_ABSENT)
			continue;
		if (!v.known)
			out_json_null(j, f->json);
		else if (v.whole)
			out_json_u64(j, f->json, v.n);
		else
			out_json_real(j, f->json, v.x);
	}
}

struct out_col figure_col(const struct figure *f)
{
	const bool whole = f->per == 1;

	return (struct out_col){ f->name,
		                 strcmp(f->unit, "B") == 0 ? OUT_BYTES
		                 : whole                   ? OUT_INT
		                                           : OUT_REAL,
		                 whole ? 0 : US_DIGITS };
}

void figure_cell(struct out_table *t, const struct figure *f, bool result, const struct figures *x)
{
	const struct figure_value v = figure_value(f, x, NULL);

	if (!result || !v.known)
		out_null(t);
	else if (v.whole)
		out_int(t, (int64_t)v.n);
	else
		out_real(t, v.x);
}
