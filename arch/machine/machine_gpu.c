#include "arch/machine/machine_gpu.h"

struct gpu machine_gpu(const struct machine_cfg *c)
{
	return (struct gpu){ .clock = c->clock,
		             .top = c->gpu.power.clock > c->clock ? c->gpu.power.clock : c->clock,
		             .sms = c->cores,
		             .l2 = c->mem.l2.size,
		             .cfg = &c->gpu,
		             .c = &c->gpu.common };
}
