/* unit_vector.c - vector units: ALU lanes, special functions, format converters, reductions, sort and top-k.
 *
 * Models: `units` a core of `lanes` ALU lanes, `sfu` special-function lanes, `converters` and a dequantiser; work is
 * spread over all cores; the longest of ALU, SFU, converter and SRAM time is busy time, the pipeline's depth is latency.
 * Elements go in whole thread groups. Reductions end in a tree within a core (log2 lanes) and, when fewer rows than
 * cores share the work, one across cores (two hops); the trees of all passes are latency. Sort and top-k run on one core
 * a row: a compare-exchange network over its lanes, one stage after the other. Products take two ALU steps a MAC, where
 * there is nothing better. The dequantiser turns narrow weights into what a product multiplies: so many values a cycle
 * by their own width, scales included.
 * Leaves out: divergence, register pressure. */
#include "arch/npu/unit.h"
#include "workloads/work.h"

struct vector_cfg {
	uint32_t units, lanes, sfu, converters; /* units a core; the rest a unit */
	uint32_t sorter;                        /* compare-exchanges a cycle and unit; 0: the ALU lanes do it */
	uint32_t div_cycles;                    /* of an iterative divide, a lane */
	uint32_t dequant_8bit, dequant_4bit;    /* values a cycle and unit */
};
_Static_assert(sizeof(struct vector_cfg) <= UNIT_CFG_BYTES, "a unit's section has its room");

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
	CFG_U32(struct vector_cfg, dequant_8bit, "dequant_8bit", "32", 1, 65536, NULL,
	        "8-bit weights a cycle and unit that become 16-bit ones, scaled",
	        "our choice: one a lane; two converts and a multiply of a packed pair on recent GPUs"),
	CFG_U32(struct vector_cfg, dequant_4bit, "dequant_4bit", "32", 1, 65536, NULL,
	        "4-bit weights a cycle and unit that become 8- or 16-bit ones, scaled",
	        "our choice: one a lane, as four bits take the same steps as eight"),
	CFG_END
};

static const struct vector_cfg *cfg(const struct unit_env *u)
{
	return (const struct vector_cfg *)u->cfg;
}

static uint64_t max3(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t m = a > b ? a : b;

	return m > c ? m : c;
}

/* `n` elements with so many steps each, `bytes` through SRAM. */
static ps_t map_span(const struct unit_env *u, uint64_t n, uint32_t alu, const struct unit_job *j, uint64_t bytes)
{
	const struct vector_cfg *c = cfg(u);
	const uint64_t all = round_up(n, u->group), units = unit_arrays(u);
	uint64_t math = div_up(all, units * c->lanes) * alu, special = div_up(all, units * c->sfu) * j->sfu;
	uint64_t conv = div_up(all, units * c->converters) * j->convert,
		 feed = div_up(bytes, sram_rate(u->sram, u->cores));

	return clock_span(max3(max3(math, special, conv), feed, 1), u->clock_khz);
}

static ps_t depth(const struct unit_env *u, uint64_t times)
{
	return clock_span(u->depth * times, u->clock_khz);
}

static void plan_map(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	const uint32_t alu = j->divides ? cfg(u)->div_cycles : j->alu;

	*out = (struct unit_plan){ .span = map_span(u, j->elems, alu, j, j->bytes),
		                   .latency = depth(u, 1),
		                   .work = j->elems * (alu + j->sfu + j->convert),
		                   .code = j->convert ? ISA_CONVERT
		                           : j->sfu   ? ISA_SFU
		                                      : ISA_VECTOR,
		                   .why = "lanes" };
}

static void plan_product(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	const uint64_t macs = j->m * j->n * j->k;

	*out = (struct unit_plan){ .span = map_span(u, macs, 2, j, dtype_bytes(j->dtype, j->n * j->k)),
		                   .latency = depth(u, 1),
		                   .work = macs,
		                   .code = ISA_VECTOR,
		                   .why = "multiply-adds on the vector lanes" };
}

static void plan_dequant(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	const struct vector_cfg *c = cfg(u);
	const uint64_t a_cycle = unit_arrays(u) * (dtype_bits(j->dtype) > 4 ? c->dequant_8bit : c->dequant_4bit);

	*out = (struct unit_plan){ .span = clock_span(div_up(j->elems, a_cycle), u->clock_khz),
		                   .latency = depth(u, 1),
		                   .work = j->elems,
		                   .code = ISA_CONVERT,
		                   .why = "dequantised" };
}

static void plan_reduce(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	const struct vector_cfg *c = cfg(u);
	const uint64_t units = unit_arrays(u), n = j->rows * j->cols, rows = div_up(j->rows, u->cores),
		       feed = div_up(j->bytes, sram_rate(u->sram, u->cores)),
		       tree = (uint64_t)j->passes * (log2_up(c->lanes) + log2_up(c->units) + u->depth);
	const uint64_t math = div_up(n, units * c->lanes) * j->passes, special = div_up(n, units * c->sfu) * j->sfu;
	/* One row on one core needs no other core; a short row is not worth the trip. */
	const uint64_t local = rows * div_up(j->cols, (uint64_t)c->units * c->lanes) * j->passes,
		       local_special = rows * div_up(j->cols, (uint64_t)c->units * c->sfu) * j->sfu;
	const ps_t trees = clock_span(tree, u->clock_khz), across = j->rows < u->cores ? 2 * u->across * j->passes : 0,
		   spread = clock_span(max3(math, special, feed), u->clock_khz),
		   alone = clock_span(max3(local, local_special, feed), u->clock_khz);
	const bool one = alone <= spread + across;

	*out = (struct unit_plan){ .span = one ? alone : spread,
		                   .latency = trees + (one ? 0 : across),
		                   .work = n * j->passes,
		                   .code = ISA_REDUCE,
		                   .why = "rows over cores, tree over lanes" };
}

static void plan_sort(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	const struct vector_cfg *c = cfg(u);
	const uint64_t width = (uint64_t)(c->sorter ? c->sorter : c->lanes) * c->units, levels = log2_up(j->cols);
	const uint64_t steps = j->top ? work_topk_steps(j->cols, j->top) : work_sort_steps(j->cols);
	const uint64_t stages = j->top ? j->top * (levels + 1) : levels * (levels + 1) / 2;
	uint64_t cycles = div_up(steps, width);

	/* A stage cannot start before the one before it is through the pipeline. */
	if (cycles < stages)
		cycles = stages;
	*out = (struct unit_plan){ .span = clock_span(div_up(j->rows, u->cores) * cycles, u->clock_khz),
		                   .latency = depth(u, stages ? stages : 1),
		                   .work = j->rows * steps,
		                   .code = ISA_SORT,
		                   .why = "compare-exchange" };
}

static bool plan(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	switch (j->work) {
	case UNIT_PRODUCT:
		plan_product(u, j, out);
		break;
	case UNIT_MAP:
		plan_map(u, j, out);
		break;
	case UNIT_REDUCE:
		plan_reduce(u, j, out);
		break;
	case UNIT_SORT:
		plan_sort(u, j, out);
		break;
	case UNIT_DEQUANT:
		plan_dequant(u, j, out);
		break;
	}
	return true;
}

static uint64_t peak(const struct unit_env *u, enum dtype weight, enum dtype with)
{
	(void)weight;
	(void)with;
	return div_up(unit_arrays(u) * cfg(u)->lanes, 2);
}

static const char *const knobs[] = { "units", "lanes", "sfu", "converters", NULL };

const struct unit_ops vector_unit = { .name = "vector",
	                              .label = "vector",
	                              .res = RES_VECTOR,
	                              .last_resort = true,
	                              .plan = plan,
	                              .peak = peak,
	                              .busy_stat = "vector.busy_ps",
	                              .work_stat = "vector.steps",
	                              .knobs = knobs };
