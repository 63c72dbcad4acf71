/* answer_doc.h - studies that were judged: as a document, in Markdown, and one as a page. */
#ifndef NPUSIM_SIM_REPORT_ANSWER_DOC_H
#define NPUSIM_SIM_REPORT_ANSWER_DOC_H

#include "sim/report/doc.h"
#include "sim/study/answer.h"

struct answers {
	struct answer **v;
	size_t n;
};
void answer_commands(const struct answers *s, struct str *out); /* what would run */
void answer_doc(struct doc *d,
                const struct answers *s); /* JSON of one is an object, of several an array; CSV has the claims */
void answer_markdown(const struct answers *s, struct str *out);
/* The same as HTML. */
void answer_page(const struct answer *x, struct str *out);
/* "batching" of "configs/studies/batching.yaml". */
const char *answer_stem(const struct answer *x, size_t *n);

#endif
