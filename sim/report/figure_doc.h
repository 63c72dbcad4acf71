/* figure_doc.h - figures of results/figure.h and results/op_figure.h as members and cells of a document. */
#ifndef NPUSIM_SIM_REPORT_FIGURE_DOC_H
#define NPUSIM_SIM_REPORT_FIGURE_DOC_H

#include "results/op_figure.h"
#include "sim/report/doc.h"

/* By its name; null where there is no result. */
void figure_doc(struct doc *d, const struct figure *f, bool result, const struct figures *x);
/* All of one part of a run's JSON. */
void figure_doc_part(struct doc *d, enum figure_part part, const struct figures *x, const struct figure_measured *m);

/* An op's of one part, where the format has it: null is what is not known of it. A table for people has columns for what
 * `known` says, which is the run's there. */
void figure_doc_op(struct doc *d, enum op_part part, const struct op_figures *x, unsigned known);
/* Names, and an op's values, for the report's page. */
void figure_doc_page_names(struct out_json *j, enum op_part part);
void figure_doc_page(struct out_json *j, enum op_part part, const struct op_figures *x, unsigned known);

#endif
