/* score_doc.h - errors of samples, as members and cells of a document. */
#ifndef NPUSIM_SIM_REPORT_SCORE_DOC_H
#define NPUSIM_SIM_REPORT_SCORE_DOC_H

#include "sim/accuracy/score.h"
#include "sim/report/doc.h"

/* How many samples, by `key`, and their errors in percent. */
void score_doc_errors(struct doc *d, const char *key, const struct score *s);
/* How long they take, in all. */
void score_doc_sums(struct doc *d, const struct score *s);
/* Of an order by error: the worst first, whatever its sign. */
int score_worse_first(double x, double y);

#endif
