/* probe_link_doc.h - what a probe of links found: collectives by size, or beside measured ones with errors by collective. */
#ifndef NPUSIM_SIM_REPORT_PROBE_LINK_DOC_H
#define NPUSIM_SIM_REPORT_PROBE_LINK_DOC_H

#include "sim/accuracy/probe_link.h"
#include "sim/report/doc.h"

struct probe_link_doc {
	const char *machine, *beside; /* beside: the table; NULL: a sweep over sizes */
	const struct probe_link *x;   /* of one row at least */
};
void probe_link_doc(struct doc *d, const struct probe_link_doc *v);

#endif
