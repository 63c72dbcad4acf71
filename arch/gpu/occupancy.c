#include "arch/gpu/occupancy.h"

#include "sim/base/clock.h"

#define WARP 32

const struct cfg_field sm_schema[] = {
	CFG_U32(struct sm_cfg, threads, "threads", "2048", 32, 65536, NULL, "threads an SM holds",
	        "CUDA C Programming Guide, compute capability 9.0"),
	CFG_U32(struct sm_cfg, ctas, "ctas", "32", 1, 1024, NULL, "CTAs an SM holds",
	        "CUDA C Programming Guide, compute capability 9.0"),
	CFG_U32(struct sm_cfg, registers, "registers", "65536", 1024, 1u << 24, NULL, "registers of an SM",
	        "CUDA C Programming Guide, compute capability 9.0"),
	CFG_U32(struct sm_cfg, register_unit, "register_unit", "256", 1, 65536, NULL,
	        "registers are given to a warp in multiples of that", "CUDA occupancy calculator"),
	CFG_BYTES(struct sm_cfg, smem, "smem", "228 KiB", 0, 64 << 20, NULL, "shared memory of an SM",
	          "CUDA C Programming Guide, compute capability 9.0"),
	CFG_BYTES(struct sm_cfg, smem_reserved, "smem_reserved", "1 KiB", 0, 1 << 20, NULL,
	          "of each CTA's shared memory, for the system", "CUDA C Programming Guide, compute capability 8.0 on"),
	CFG_U32(struct sm_cfg, gpc, "gpc", "18", 0, 1024, NULL,
	        "SMs of a full GPC, which clusters do not leave; 0: they may",
	        "NVIDIA H100 white paper: GPCs of up to 18 SMs"),
	CFG_U32(struct sm_cfg, capability, "capability", "90", 80, 129, NULL,
	        "compute capability times 10: which kernels its libraries have", "traces/h200/micro/device.txt"),
	CFG_END
};

/* SMs a cluster of that many CTAs can use. With `gpc` SMs a GPC a cluster fills only whole multiples within it. */
static uint32_t usable(const struct sm_cfg *c, uint32_t sms, uint32_t cluster)
{
	uint32_t full, rest;

	if (cluster <= 1 || c->gpc == 0)
		return sms;
	full = sms / c->gpc;
	rest = sms % c->gpc;
	return (full * (c->gpc / cluster) + rest / cluster) * cluster;
}

static void limit(struct occupancy *o, uint64_t fits, const char *what)
{
	if (fits < o->ctas) {
		o->ctas = (uint32_t)fits;
		o->limit = what;
	}
}

struct occupancy occupancy_of(const struct sm_cfg *c, uint32_t sms, uint32_t threads, uint32_t registers, uint64_t smem,
                              uint32_t cluster)
{
	struct occupancy o = { .ctas = c->ctas, .sms = usable(c, sms, cluster), .limit = "ctas" };

	o.warps = (uint32_t)div_up(threads ? threads : 1, WARP);
	limit(&o, c->threads / (o.warps * WARP), "threads");
	if (registers)
		limit(&o, c->registers / (round_up((uint64_t)registers * WARP, c->register_unit) * o.warps),
		      "registers");
	limit(&o, c->smem / (smem + c->smem_reserved ? smem + c->smem_reserved : 1), "shared memory");
	return o;
}
