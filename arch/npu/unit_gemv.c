/* unit_gemv.c - GEMV units: dot-product lanes fed from SRAM, for products with few rows of activations.
 *
 * Models: `units` a core, each with `lanes` lanes of so many multiply-adds a cycle (by dtype), output rows spread over
 * the units of all cores, or the reduction spread over several units (k split) with a tree behind it: whichever is
 * faster, among all splits a smaller machine would have; pipeline and reduction-tree depth; the SRAM read rate.
 * Leaves out: sparsity, weight decompression other than by dtype rate.
 * Closed form: ceil(n / R) * ceil(k / (P * lanes * macs)) cycles a vector, R = units / P, P a power of two; plus
 * log2(lanes) + log2(P) + depth once. */
#include "arch/npu/unit.h"

struct gemv_cfg {
	uint32_t units; /* a core; 0: absent */
	uint32_t lanes;
	uint32_t macs_bf16; /* a lane and cycle, 16-bit operands */
	uint32_t macs_8bit, macs_4bit, macs_fp32;
	uint32_t depth; /* pipeline stages before the tree */
};
_Static_assert(sizeof(struct gemv_cfg) <= UNIT_CFG_BYTES, "a unit's section has its room");

const struct cfg_field gemv_schema[] = {
	CFG_U32(struct gemv_cfg, units, "units", "4", 0, 4096, NULL, "GEMV units a core; 0: none",
	        "our choice: one per scheduler of an SM (4, CUDA C Programming Guide)"),
	CFG_U32(struct gemv_cfg, lanes, "lanes", "32", 1, 4096, cfg_pow2, "dot-product lanes a unit",
	        "our choice: one warp's width"),
	CFG_U32(struct gemv_cfg, macs_bf16, "macs_bf16", "1", 1, 64, NULL,
	        "multiply-adds a lane and cycle, 16-bit weights", "our choice"),
	CFG_U32(struct gemv_cfg, macs_8bit, "macs_8bit", "2", 1, 64, NULL,
	        "multiply-adds a lane and cycle, 8-bit weights",
	        "twice the 16-bit rate, as tensor cores (H100 datasheet)"),
	CFG_U32(struct gemv_cfg, macs_4bit, "macs_4bit", "4", 1, 64, NULL,
	        "multiply-adds a lane and cycle, 4-bit weights", "twice the 8-bit rate, as in Blackwell tensor cores"),
	CFG_U32(struct gemv_cfg, macs_fp32, "macs_fp32", "1", 1, 64, NULL,
	        "multiply-adds a lane and cycle, 32-bit weights", "our choice: the lane's FMA is fp32 inside"),
	CFG_U32(struct gemv_cfg, depth, "depth", "6", 1, 64, NULL, "pipeline stages before the reduction tree",
	        "4-cycle FMA of recent GPUs plus operand read and write"),
	CFG_END
};

static const struct gemv_cfg *cfg(const struct unit_env *u)
{
	return (const struct gemv_cfg *)u->cfg;
}

static uint64_t macs_a_cycle(const struct gemv_cfg *c, enum dtype weight)
{
	uint32_t bits = dtype_bits(weight);

	if (bits > 16)
		return (uint64_t)c->lanes * c->macs_fp32;
	return (uint64_t)c->lanes * (bits > 8 ? c->macs_bf16 : bits > 4 ? c->macs_8bit : c->macs_4bit);
}

static uint64_t peak(const struct unit_env *u, enum dtype weight)
{
	return unit_arrays(u) * macs_a_cycle(cfg(u), weight);
}

static bool plan(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	const struct gemv_cfg *c = cfg(u);
	const uint64_t units = unit_arrays(u), per_cycle = macs_a_cycle(c, j->dtype),
		       feed = div_up(dtype_bytes(j->dtype, j->n * j->k), sram_rate(u->sram, u->cores));
	uint64_t best = UINT64_MAX, split = 1;

	if (j->work != UNIT_PRODUCT)
		return false;
	/* Every split a machine with fewer units has is among the candidates: more units are never slower. */
	for (uint64_t p = 1; p <= units && p <= j->k; p *= 2) {
		uint64_t busy = j->m * div_up(j->n, units / p) * div_up(j->k, p * per_cycle);
		uint64_t cycles = (busy > feed ? busy : feed) + log2_up(p);

		if (cycles < best) {
			best = cycles;
			split = p;
		}
	}
	*out = (struct unit_plan){ clock_span(best + log2_up(c->lanes) + c->depth, u->clock_khz), j->m * j->n * j->k,
		                   ISA_GEMV, split > 1 ? "gemv, k split over units" : "gemv, rows over units" };
	return true;
}

static const char *const knobs[] = { "units", "lanes", NULL };

const struct unit_ops gemv_unit = { .name = "gemv",
	                            .label = "GEMV",
	                            .res = RES_GEMV,
	                            .plan = plan,
	                            .peak = peak,
	                            .grain = unit_arrays,
	                            .busy_stat = "gemv.busy_ps",
	                            .work_stat = "gemv.macs",
	                            .knobs = knobs };
