/* fusion.h - the fusion engine from the machine's side: how long a chain it runs as one command, and what that costs.
 *
 * Models: intermediates of a chain stay in its buffer; a setup a chain. Which ops join is the mapper's pass
 * (sim/map/fuse.h), by the patterns of a file.
 * Leaves out: the order of stages within the engine. */
#ifndef NPUSIM_ARCH_NPU_FUSION_H
#define NPUSIM_ARCH_NPU_FUSION_H

#include "sim/base/cfg.h"

struct fusion_cfg {
	bool enabled;
	uint32_t max_ops;
	uint64_t buffer;            /* bytes of intermediates it can hold, chip */
	ps_t setup;                 /* of a chain */
	char patterns[CFG_STR_MAX]; /* names a file in configs/fusion */
};

extern const struct cfg_field fusion_schema[];

#endif
