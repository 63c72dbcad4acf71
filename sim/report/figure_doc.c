#include "sim/report/figure_doc.h"

#include <string.h>

#define US_DIGITS 3 /* for people: to a ns */

void figure_doc(struct doc *d, const struct figure *f, bool result, const struct figures *x)
{
	struct figure_value v = { .known = false };

	if (result && !d->heads)
		v = figure_value(f, x, NULL);
	if (strcmp(f->unit, "B") == 0)
		doc_bytes_if(d, f->name, v.known, v.n);
	else if (f->per == 1)
		doc_count_if(d, f->name, v.known, v.n);
	else
		doc_real_if(d, f->name, US_DIGITS, v.known, v.x);
}
