#include "arch/npu/unit_vector.h"

#include "workloads/work.h"

const struct cfg_field vector_schema[] = {
	CFG_U32(struct vector_cfg, units, "units", "4", 1, 4096, NULL, "vector units a core",
	        "one per scheduler of an SM (4, CUDA C Programming Guide)"),
	CFG_U32(struct vector_cfg, lanes, "lanes", "32", 1, 4096, cfg_pow2, "ALU lanes a unit",
	        "32 FP32 lanes per SM quarter (H100 whitepaper)"),
	CFG_U32(struct vector_cfg, sfu, "sfu", "4", 1, 4096, cfg_pow2, "special-function lanes a unit",
	        "16 SFU per SM, 4 per quarter (H100 whitepaper)"),
	CFG_U32(struct vector_cfg, converters, "converters", "16", 1, 4096, cfg_pow2, "format converters a unit",
	        "16 conversions a cycle and SM quarter (CUDA C Programming Guide, arithmetic instructions)"),
	CFG_U32(struct vector_cfg, sorter, "sorter", "0", 0, 4096, NULL,
	        "compare-exchanges a cycle and unit of a sort network; 0: the ALU lanes do it", "off by default"),
	CFG_U32(struct vector_cfg, div_cycles, "div_cycles", "8", 1, 64, NULL, "lane cycles of an iterative divide",
	        "our choice: radix-16 on 32-bit integers"),
	CFG_END
};

static uint64_t max3(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t m = a > b ? a : b;

	return m > c ? m : c;
}

ps_t vector_map_span(const struct vector_env *x, uint64_t n, uint32_t alu, uint32_t sfu, uint32_t convert,
                     uint64_t bytes)
{
	uint64_t units = (uint64_t)x->v->units * x->cores, all = round_up(n, x->group);
	uint64_t math = div_up(all, units * x->v->lanes) * alu, special = div_up(all, units * x->v->sfu) * sfu;
	uint64_t conv = div_up(all, units * x->v->converters) * convert,
		 feed = div_up(bytes, sram_rate(x->s, x->cores));

	return clock_span(max3(max3(math, special, conv), feed, 1) + x->depth, x->clock_khz);
}

ps_t vector_reduce_span(const struct vector_env *x, uint64_t rows, uint64_t cols, uint32_t passes, uint32_t sfu,
                        uint64_t bytes)
{
	uint64_t units = (uint64_t)x->v->units * x->cores, n = rows * cols;
	uint64_t math = div_up(n, units * x->v->lanes) * passes, special = div_up(n, units * x->v->sfu) * sfu;
	uint64_t feed = div_up(bytes, sram_rate(x->s, x->cores));
	uint64_t tree = (uint64_t)passes * (log2_up(x->v->lanes) + log2_up(x->v->units) + x->depth);
	ps_t across = rows < x->cores ? 2 * x->noc * passes : 0;
	/* One row on one core needs no other core; a short row is not worth the trip. */
	uint64_t local = div_up(rows, x->cores) * div_up(cols, (uint64_t)x->v->units * x->v->lanes) * passes;
	ps_t spread = clock_span(max3(math, special, feed) + tree, x->clock_khz) + across;
	ps_t alone = clock_span(
		max3(local, div_up(rows, x->cores) * div_up(cols, (uint64_t)x->v->units * x->v->sfu) * sfu, feed) +
			tree,
		x->clock_khz);

	return ps_min(spread, alone);
}

ps_t vector_sort_span(const struct vector_env *x, uint64_t rows, uint64_t cols, uint64_t top)
{
	uint64_t width = (uint64_t)(x->v->sorter ? x->v->sorter : x->v->lanes) * x->v->units;
	uint64_t steps = top ? work_topk_steps(cols, top) : work_sort_steps(cols);
	uint64_t stages = top ? top * (log2_up(cols) + 1) : (uint64_t)log2_up(cols) * (log2_up(cols) + 1) / 2;
	uint64_t cycles = div_up(steps, width);

	/* A stage cannot start before the one before it is through the pipeline. */
	if (cycles < stages)
		cycles = stages;
	return clock_span(div_up(rows, x->cores) * cycles + x->depth * (stages ? stages : 1), x->clock_khz);
}
