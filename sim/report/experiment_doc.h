/* experiment_doc.h - studies that were judged: as tables, CSV, JSON and Markdown, and one as a page. */
#ifndef NPUSIM_SIM_REPORT_EXPERIMENT_DOC_H
#define NPUSIM_SIM_REPORT_EXPERIMENT_DOC_H

#include "sim/study/experiment.h"

struct experiments {
	struct experiment **v;
	size_t n;
};
void experiment_commands(const struct experiments *s, struct str *out); /* what would run */
void experiment_table(const struct experiments *s, struct str *out);
void experiment_csv(const struct experiments *s, struct str *out);
void experiment_json(const struct experiments *s, struct str *out); /* of one an object, of several an array */
void experiment_markdown(const struct experiments *s, struct str *out);
/* A page for any browser, without scripts. */
void experiment_page(const struct experiment *x, struct str *out);
/* "batching" of "configs/studies/batching.yaml". */
const char *experiment_stem(const struct experiment *x, size_t *n);

#endif
