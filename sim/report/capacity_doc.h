/* capacity_doc.h - the largest rate that a server keeps, what holds it and what would raise it: before the rest of serve_doc. */
#ifndef NPUSIM_SIM_REPORT_CAPACITY_DOC_H
#define NPUSIM_SIM_REPORT_CAPACITY_DOC_H

#include "sim/design/knobs.h"
#include "sim/report/doc.h"
#include "sim/serve/raise.h"

struct capacity_doc {
	const struct serve_ask *o;
	const struct capacity *c;
	const struct knob *knobs; /* NULL: not asked for */
	size_t n;
	const struct raise *raise; /* of several machines; NULL: of one */
};

/* Members where JSON is open, sentences and a table for people. */
void capacity_doc(struct doc *d, const struct capacity_doc *v);
/* Its sentences alone: the rate and what holds it; with knobs what to change. */
void capacity_doc_verdict(const struct capacity_doc *v, struct str *out);
void capacity_doc_next(const struct capacity_doc *v, struct str *out);
/* The knobs' table: what CSV has of them. */
void capacity_doc_knobs(struct doc *d, const struct capacity_doc *v);

#endif
