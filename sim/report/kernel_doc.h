/* kernel_doc.h - kernels that are described: their time and bound, how many of their blocks an SM holds, and measured ones
 * beside. */
#ifndef NPUSIM_SIM_REPORT_KERNEL_DOC_H
#define NPUSIM_SIM_REPORT_KERNEL_DOC_H

#include "arch/machine/machine_conf.h"
#include "arch/tiled/tiled.h"
#include "sim/accuracy/probe_tiled.h"
#include "sim/report/doc.h"

/* One kernel on one device; of kernel_doc NULL for the columns. */
struct kernel_doc {
	const struct tiled_kernel *k;
	const char *device;
	const struct gpu *gpu;
};
doc_row_fn kernel_doc;

struct occupancy_doc {
	const char *kernel, *device;
	uint64_t threads, registers, shared; /* of a block; registers of a thread */
	const struct sm_cfg *sm;
	uint32_t sms;
};
doc_row_fn occupancy_doc;

struct kernel_beside_doc {
	const struct probe_tiled *r;
	const char *machine, *file;
	bool pairs;
};
void kernel_beside_doc(struct doc *d, const struct kernel_beside_doc *v);

#endif
