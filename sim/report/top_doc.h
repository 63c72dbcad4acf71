/* top_doc.h - where a GPU's time went: kernels by name, what was counted of them, families, copies and sets. */
#ifndef NPUSIM_SIM_REPORT_TOP_DOC_H
#define NPUSIM_SIM_REPORT_TOP_DOC_H

#include "sim/profile/classify.h"
#include "sim/profile/counters.h"
#include "sim/profile/sums.h"
#include "sim/report/doc.h"

struct top_doc {
	const struct trace *t;
	struct classify *c;              /* its kernels come in `order` */
	const struct counters *counters; /* NULL: none were imported */
	enum sums_order order;
	size_t n; /* so many kernels are listed */
	struct arena *a;
};
int top_doc(struct doc *d, const struct top_doc *v, struct err *e);

#endif
