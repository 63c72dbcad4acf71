/* pools_doc.h - a server's several machines: who they are, how busy each pool is, and what its caches' ways took; parts of serve_doc. */
#ifndef NPUSIM_SIM_REPORT_POOLS_DOC_H
#define NPUSIM_SIM_REPORT_POOLS_DOC_H

#include "sim/report/doc.h"
#include "sim/serve/serve_pools.h"

/* "dsocr", "2 x dsocr", "h200 for prompts and 2 x dsocr to decode" */
void pools_doc_machines(const struct serve_run *r, struct str *out);
/* Pools as a table or a list, and ways as sentences or an object. */
void pools_doc(struct doc *d, const struct serve_run *r);
/* Where a request was, as cells of its row. */
void pools_doc_request(struct doc *d, const struct serve_run *r, size_t i);

#endif
