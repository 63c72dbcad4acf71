/* cfg_doc.h - parameters: what each means, its unit, range, value, and where its number is from. */
#ifndef NPUSIM_SIM_REPORT_CFG_DOC_H
#define NPUSIM_SIM_REPORT_CFG_DOC_H

#include "sim/base/cfg.h"
#include "sim/report/doc.h"

/* What cfg_value or cfg_range says of row i. */
typedef void cfg_doc_text_fn(const struct cfg *c, size_t i, struct str *to);
void cfg_doc_text(struct doc *d, const char *key, const struct cfg *c, size_t i, cfg_doc_text_fn *text);

/* Rows for which `shown` says so. */
struct cfg_doc {
	const struct cfg *c;
	bool values; /* it is a machine's, not a schema's */
	bool (*shown)(const struct cfg_row *r, const void *arg);
	const void *arg;
};
void cfg_doc(struct doc *d, const struct cfg_doc *x);       /* a row each */
void cfg_doc_whole(struct doc *d, const struct cfg_doc *x); /* for people, lines of its own each */
void cfg_doc_found(struct doc *d, const struct cfg_doc *x); /* of those that words are about */

#endif
