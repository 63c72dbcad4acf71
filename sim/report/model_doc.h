/* model_doc.h - what models are by count, before any machine: a row a model, and all of one. */
#ifndef NPUSIM_SIM_REPORT_MODEL_DOC_H
#define NPUSIM_SIM_REPORT_MODEL_DOC_H

#include "sim/build/build.h"
#include "sim/report/doc.h"
#include "workloads/model/count.h"

struct model_doc {
	const char *name; /* it goes by */
	const struct model *m;
};
doc_row_fn model_doc; /* a row of a list */

/* `unknown`: its own mix of formats is not in the source, and none was given. */
void model_show_doc(struct doc *d, const struct model *m, const struct build_how *how, bool unknown);

#endif
