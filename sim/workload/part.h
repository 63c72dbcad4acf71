/* part.h - how much of a model is on the chip that runs it. */
#ifndef NPUSIM_SIM_WORKLOAD_PART_H
#define NPUSIM_SIM_WORKLOAD_PART_H

#include "sim/build/build.h"
#include "workloads/model/model.h"

/* Layers and experts that run, and of how many; 0 where all do. A part of a model makes no tokens: there is no rate of it. */
struct workload_part {
	uint64_t layers, of_layers, experts, of_experts;
};

/* `m` NULL: the workload is no model, and whole. */
struct workload_part workload_part_of(const struct model *m, const struct build_how *how);
bool workload_is_part(const struct workload_part *p);
/* "8 of 32 layers, 16 of 64 experts"; nothing where all is. */
void workload_part_text(const struct workload_part *p, struct str *out);

#endif
