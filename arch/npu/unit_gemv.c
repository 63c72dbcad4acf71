#include "arch/npu/unit_gemv.h"

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

uint32_t gemv_macs(const struct gemv_cfg *c, enum dtype weight)
{
	uint32_t bits = dtype_bits(weight);

	if (bits > 16)
		return c->macs_fp32;
	return bits > 8 ? c->macs_bf16 : bits > 4 ? c->macs_8bit : c->macs_4bit;
}

uint64_t gemv_peak(const struct gemv_cfg *c, uint32_t cores, enum dtype weight)
{
	return (uint64_t)c->units * cores * c->lanes * gemv_macs(c, weight);
}

ps_t gemv_span(const struct gemv_cfg *c, const struct sram_cfg *s, uint32_t cores, uint64_t clock_khz,
               enum dtype weight, uint64_t m, uint64_t rows, uint64_t cols, uint32_t *k_split)
{
	uint64_t units = (uint64_t)c->units * cores, per_cycle = (uint64_t)c->lanes * gemv_macs(c, weight);
	uint64_t best = UINT64_MAX, bytes = dtype_bytes(weight, rows * cols), feed = div_up(bytes, sram_rate(s, cores));
	uint32_t split = 1;

	/* Every split a machine with fewer units has is among the candidates: more units are never slower. */
	for (uint64_t p = 1; p <= units && p <= cols; p *= 2) {
		uint64_t busy = m * div_up(rows, units / p) * div_up(cols, p * per_cycle);
		uint64_t cycles = (busy > feed ? busy : feed) + log2_up(p);

		if (cycles < best) {
			best = cycles;
			split = (uint32_t)p;
		}
	}
	if (k_split)
		*k_split = split;
	return clock_span(best + log2_up(c->lanes) + c->depth, clock_khz);
}
