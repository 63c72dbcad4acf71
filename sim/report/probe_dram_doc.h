/* probe_dram_doc.h - what probes of one DRAM found: a stream, all rows of a reference beside ours, streams of tiles. */
#ifndef NPUSIM_SIM_REPORT_PROBE_DRAM_DOC_H
#define NPUSIM_SIM_REPORT_PROBE_DRAM_DOC_H

#include "sim/accuracy/probe_dram_ref.h"
#include "sim/accuracy/probe_dram_tiles.h"
#include "sim/report/doc.h"

struct probe_dram_doc {
	const char *config, *pattern, *path;
	bool load; /* one was asked for */
	const struct probe_result *r;
};
void probe_dram_doc(struct doc *d, const struct probe_dram_doc *v);

/* All rows, for people those at capacity with what `draws` of arrivals make of them, and sums by class. */
int probe_ref_doc(struct doc *d, const struct probe_ref *f, int draws, struct err *e);

/* Of one more stream of tiles; between doc_table_open and doc_table_close. */
struct probe_tiles_doc {
	const char *name;
	uint64_t kib;
	struct probe_tiles_result r;
};
doc_row_fn probe_tiles_doc;

#endif
