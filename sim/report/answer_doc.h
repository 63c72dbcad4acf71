/* answer_doc.h - studies that were judged: as tables, CSV, JSON and Markdown, and one as a page. */
#ifndef NPUSIM_SIM_REPORT_ANSWER_DOC_H
#define NPUSIM_SIM_REPORT_ANSWER_DOC_H

#include "sim/study/answer.h"

struct answers {
	struct answer **v;
	size_t n;
};
void answer_commands(const struct answers *s, struct str *out); /* what would run */
void answer_table(const struct answers *s, struct str *out);
void answer_csv(const struct answers *s, struct str *out);
void answer_json(const struct answers *s, struct str *out); /* of one an object, of several an array */
void answer_markdown(const struct answers *s, struct str *out);
/* A page for any browser, without scripts. */
void answer_page(const struct answer *x, struct str *out);
/* The i-th claim where wrong ones come first, then those right in part; a study's order within. */
size_t answer_worst(const struct answer *x, size_t i);
/* "batching" of "configs/studies/batching.yaml". */
const char *answer_stem(const struct answer *x, size_t *n);

#endif
