/* unit_matrix.c - matrix units: weight-stationary systolic arrays.
 *
 * Models: `units` arrays a core of `rows` x `cols` MACs (rows along k, cols along n). A tile of rows x cols weights
 * folds over the arrays; a fold streams m activation rows while the next fold's weights shift in (`rows` cycles,
 * double-buffered), so a fold costs max(m, rows); fill and drain (rows + cols) once. 8-bit operands double the rate
 * in the k direction. Part of an array may be used, so a larger array is never slower.
 * Leaves out: output- and input-stationary dataflows, sparsity. */
#include "arch/npu/unit.h"

struct matrix_cfg {
	uint32_t units, rows, cols;
}; /* units a core; 0: absent */
_Static_assert(sizeof(struct matrix_cfg) <= UNIT_CFG_BYTES, "a unit's section has its room");

const struct cfg_field matrix_schema[] = {
	CFG_U32(struct matrix_cfg, units, "units", "1", 0, 1024, NULL, "systolic arrays a core; 0: none", "our choice"),
	CFG_U32(struct matrix_cfg, rows, "rows", "64", 1, 4096, cfg_pow2, "rows of an array, along k",
	        "our choice; TPU v1 has 256 (Jouppi et al., ISCA 2017)"),
	CFG_U32(struct matrix_cfg, cols, "cols", "64", 1, 4096, cfg_pow2, "columns of an array, along n",
	        "our choice; TPU v1 has 256 (Jouppi et al., ISCA 2017)"),
	CFG_END
};

static const struct matrix_cfg *cfg(const struct unit_env *u)
{
	return (const struct matrix_cfg *)u->cfg;
}

static uint32_t speedup(enum dtype weight)
{
	uint32_t bits = dtype_bits(weight);

	return bits > 8 ? 1 : bits > 4 ? 2 : 4;
}

static uint64_t peak(const struct unit_env *u, enum dtype weight)
{
	return unit_arrays(u) * cfg(u)->rows * cfg(u)->cols * speedup(weight);
}

static uint64_t grain(const struct unit_env *u)
{
	return unit_arrays(u) * cfg(u)->cols;
}

/* Cycles of the best part of the arrays, `feed` of them at least. */
static uint64_t cycles_of(const struct unit_env *u, const struct unit_job *j, uint64_t feed)
{
	const struct matrix_cfg *c = cfg(u);
	/* 32-bit operands pass twice through 16-bit multipliers. */
	const uint64_t vectors = j->m * (dtype_bits(j->dtype) > 16 ? 2 : 1), deeper = speedup(j->dtype);
	uint64_t best = UINT64_MAX;

	for (uint64_t r = c->rows; r; r /= 2) {
		for (uint64_t w = c->cols; w; w /= 2) {
			uint64_t folds = div_up(j->n, w) * div_up(j->k, r * deeper);
			uint64_t busy = div_up(folds, unit_arrays(u)) * (vectors > r ? vectors : r);
			uint64_t cycles = (busy > feed ? busy : feed) + r + w;

			if (cycles < best)
				best = cycles;
			if ((busy > feed ? busy : feed) + r >= best)
				break; /* fewer columns only add folds: nothing narrower can win */
		}
	}
	return best;
}

static bool plan(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	uint64_t feed;

	if (j->work != UNIT_PRODUCT)
		return false;
	feed = div_up(dtype_bytes(j->dtype, j->n * j->k) + 2 * j->m * j->k, sram_rate(u->sram, u->cores));
	*out = (struct unit_plan){ clock_span(cycles_of(u, j, feed), u->clock_khz), j->m * j->n * j->k, ISA_GEMM,
		                   "systolic, weight-stationary" };
	return true;
}

static const char *const knobs[] = { "units", "rows", "cols", NULL };

const struct unit_ops matrix_unit = { .name = "matrix",
	                              .label = "matrix",
	                              .res = RES_MATRIX,
	                              .plan = plan,
	                              .peak = peak,
	                              .grain = grain,
	                              .busy_stat = "matrix.busy_ps",
	                              .work_stat = "matrix.macs",
	                              .knobs = knobs };
