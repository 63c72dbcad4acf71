/* experiment_doc.h - studies that were judged: as a document, in Markdown, and one as a page. */
#ifndef NPUSIM_SIM_REPORT_EXPERIMENT_DOC_H
#define NPUSIM_SIM_REPORT_EXPERIMENT_DOC_H

#include "sim/report/doc.h"
#include "sim/study/experiment.h"

struct experiments {
	struct experiment **v;
	size_t n;
};
void experiment_commands(const struct experiments *s, struct str *out); /* what would run */
void experiment_doc(
	struct doc *d,
	const struct experiments
		*s); /* JSON of one is an object, of several an array; CSV has the claims, or the questions */
void experiment_markdown(const struct experiments *s, struct str *out);
/* The same as HTML. */
void experiment_page(const struct experiment *x, struct str *out);
/* The i-th claim where wrong ones come first, then those right in part; a study's order within. */
size_t experiment_worst(const struct experiment *x, size_t i);
/* "batching" of "configs/studies/batching.yaml". */
const char *experiment_stem(const struct experiment *x, size_t *n);

#endif
