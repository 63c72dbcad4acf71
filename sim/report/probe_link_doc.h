/* probe_link_doc.h - what a probe of links found: a collective by size of the message, or beside what was measured. */
#ifndef NPUSIM_SIM_REPORT_PROBE_LINK_DOC_H
#define NPUSIM_SIM_REPORT_PROBE_LINK_DOC_H

#include "sim/accuracy/probe_link.h"
#include "sim/report/doc.h"

struct probe_link_doc {
	const char *machine, *beside; /* beside: the file of measured ones; NULL: none */
	enum link_collective what;    /* LINK_COLLECTIVE_COUNT: all of a table */
	uint32_t chips;
	struct probe_link x;
};
void probe_link_doc(struct doc *d, const struct probe_link_doc *p);

#endif
