/* probe_mem_doc.h - what probes of a machine's memory found: working sets, and rates and latencies beside measured ones. */
#ifndef NPUSIM_SIM_REPORT_PROBE_MEM_DOC_H
#define NPUSIM_SIM_REPORT_PROBE_MEM_DOC_H

#include "arch/machine/machine_conf.h"
#include "sim/accuracy/probe_mem.h"
#include "sim/report/doc.h"

struct probe_mem_doc {
	const char *name; /* of the probe */
	const struct machine_cfg *c;
	const struct probe_mem_opts *how;
	const struct probe_mem_point *points;
	size_t n;
};
void probe_mem_doc(struct doc *d, const struct probe_mem_doc *v);

/* The probe on a machine for each of the measured values in FILE. */
typedef int probe_mem_beside_fn(struct doc *d, const struct machine_cfg *c, const struct probe_mem_opts *want,
                                const char *file, struct err *e);
probe_mem_beside_fn probe_latency_doc, probe_stream_doc;

#endif
