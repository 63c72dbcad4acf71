#include "arch/npu/unit_matrix.h"

const struct cfg_field matrix_schema[] = {
	CFG_U32(struct matrix_cfg, units, "units", "1", 0, 1024, NULL, "systolic arrays a core; 0: none", "our choice"),
	CFG_U32(struct matrix_cfg, rows, "rows", "64", 1, 4096, cfg_pow2, "rows of an array, along k",
	        "our choice; TPU v1 has 256 (Jouppi et al., ISCA 2017)"),
	CFG_U32(struct matrix_cfg, cols, "cols", "64", 1, 4096, cfg_pow2, "columns of an array, along n",
	        "our choice; TPU v1 has 256 (Jouppi et al., ISCA 2017)"),
	CFG_END
};

static uint32_t speedup(enum dtype weight)
{
	uint32_t bits = dtype_bits(weight);

	return bits > 8 ? 1 : bits > 4 ? 2 : 4;
}

uint64_t matrix_peak(const struct matrix_cfg *c, uint32_t cores, enum dtype weight)
{
	return (uint64_t)c->units * cores * c->rows * c->cols * speedup(weight);
}

ps_t matrix_span(const struct matrix_cfg *c, const struct sram_cfg *s, uint32_t cores, uint64_t clock_khz,
                 enum dtype weight, uint64_t m, uint64_t n, uint64_t k)
{
	uint64_t arrays = (uint64_t)c->units * cores, best = UINT64_MAX;
	uint64_t feed = div_up(dtype_bytes(weight, n * k) + 2 * m * k, sram_rate(s, cores));
	/* 32-bit operands pass twice through 16-bit multipliers. */
	uint64_t passes = dtype_bits(weight) > 16 ? 2 : 1;

	for (uint64_t r = c->rows; r; r /= 2) {
		for (uint64_t w = c->cols; w; w /= 2) {
			uint64_t folds = div_up(n, w) * div_up(k, r * speedup(weight));
			uint64_t fold = m * passes > r ? m * passes : r;
			uint64_t busy = div_up(folds, arrays) * fold;
			uint64_t cycles = (busy > feed ? busy : feed) + r + w;

			if (cycles < best)
				best = cycles;
			if ((busy > feed ? busy : feed) + r >= best)
				break; /* fewer columns only add folds: nothing narrower can win */
		}
	}
	return clock_span(best, clock_khz);
}
