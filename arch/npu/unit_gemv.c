/* unit_gemv.c - GEMV units: dot-product lanes fed from SRAM, for products with few rows of activations.
 *
 * Models: `units` a core, each with `lanes` lanes of so many multiply-adds a cycle (by the wider operand's bits), output
 * rows spread over a core's units, or the reduction spread over several of them (k split): whichever is faster, among
 * all splits a smaller core would have; over cores as partition.h says. A unit holds `vectors` rows of activations: weights
 * stream past once for that many. Products follow each other without a gap; reduction tree and pipeline are latency, and
 * so is the tree across units that a k split needs.
 * Weights that N:M sparsity has left out pass SRAM as nothing; where the unit is `sparse` they are not multiplied either.
 * With `rows_over_lanes` each lane has an output row of its own and there is no tree: lanes then read down the columns of
 * weights that lie by rows, and where a row's bytes meet few banks (sram.h) SRAM is that much slower, or rows are padded.
 * Closed form: m * ceil(n / R) * ceil(k / (P * lanes * macs)) cycles, R = units / P, P a power of two, or what SRAM needs
 * for ceil(m / vectors) times the weights; latency log2(lanes) + depth + log2(P). Rows over lanes: R = units / P * lanes,
 * macs for lanes * macs, and no log2(lanes). */
#include "arch/npu/unit.h"

struct gemv_cfg {
	uint32_t units; /* a core; 0: absent */
	uint32_t lanes;
	uint32_t macs_bf16; /* a lane and cycle, 16-bit operands */
	uint32_t macs_8bit, macs_4bit, macs_fp32;
	uint32_t vectors;
	uint32_t depth; /* pipeline stages before the tree */
	bool sparse, rows_over_lanes;
	struct unit_pairs pairs;
	uint64_t mac_energy;
};
_Static_assert(sizeof(struct gemv_cfg) <= UNIT_CFG_BYTES, "a unit's section has its room");

const struct cfg_field gemv_schema[] = {
	CFG_U32(struct gemv_cfg, units, "units", "4", 0, 4096, NULL, "GEMV units a core; 0: none",
	        "our choice: one per scheduler of an SM (4, CUDA C Programming Guide)"),
	CFG_U32(struct gemv_cfg, lanes, "lanes", "32", 1, 4096, cfg_pow2, "dot-product lanes a unit",
	        "our choice: one warp's width"),
	CFG_U32(struct gemv_cfg, macs_bf16, "macs_bf16", "1", 1, 64, NULL,
	        "multiply-adds a lane and cycle where the wider operand has 16 bits", "our choice"),
	CFG_U32(struct gemv_cfg, macs_8bit, "macs_8bit", "2", 1, 64, NULL,
	        "multiply-adds a lane and cycle where the wider operand has 8 bits",
	        "twice the 16-bit rate, as tensor cores (H100 datasheet)"),
	CFG_U32(struct gemv_cfg, macs_4bit, "macs_4bit", "4", 1, 64, NULL,
	        "multiply-adds a lane and cycle where both operands have 4 bits",
	        "twice the 8-bit rate, as in Blackwell tensor cores"),
	CFG_U32(struct gemv_cfg, macs_fp32, "macs_fp32", "1", 1, 64, NULL,
	        "multiply-adds a lane and cycle where an operand has 32 bits",
	        "our choice: the lane's FMA is fp32 inside"),
	CFG_U32(struct gemv_cfg, vectors, "vectors", "16", 1, 256, NULL,
	        "rows of activations a unit holds: weights stream past once for that many", "our choice"),
	UNIT_PAIRS_SCHEMA(struct gemv_cfg, pairs),
	UNIT_ENERGY_SCHEMA(struct gemv_cfg, mac_energy),
	CFG_BOOL(struct gemv_cfg, sparse, "sparse", "false",
	         "leaves out the weights that weights.sparsity has left out: each picks its activation by its place",
	         "off: an index and a multiplexer a lane"),
	CFG_BOOL(struct gemv_cfg, rows_over_lanes, "rows_over_lanes", "false",
	         "each lane has an output row of its own, instead of a part of k and a tree over the lanes",
	         "off: lanes along k read weights as they lie"),
	CFG_U32(struct gemv_cfg, depth, "depth", "6", 1, 64, NULL, "pipeline stages before the reduction tree",
	        "4-cycle FMA of recent GPUs plus operand read and write"),
	CFG_END
};

static const struct gemv_cfg *cfg(const struct unit_env *u)
{
	return (const struct gemv_cfg *)u->cfg;
}

static bool sparse(const struct unit_env *u)
{
	return cfg(u)->sparse;
}

static uint64_t macs_a_cycle(const struct gemv_cfg *c, enum dtype weight, enum dtype with)
{
	const uint32_t bits = unit_width(&c->pairs, weight, with);

	if (bits > 16)
		return (uint64_t)c->lanes * c->macs_fp32;
	return (uint64_t)c->lanes * (bits > 8 ? c->macs_bf16 : bits > 4 ? c->macs_8bit : c->macs_4bit);
}

static uint64_t peak(const struct unit_env *u, enum dtype weight, enum dtype with)
{
	return unit_arrays(u) * macs_a_cycle(cfg(u), weight, with);
}

static bool native(const struct unit_env *u, enum dtype weight, enum dtype with)
{
	return unit_pair(&cfg(u)->pairs, dtype_bits(weight), dtype_bits(with));
}

#define LITTLE 8 /* padding takes at most such a part of a row */

struct gemv_work {
	uint64_t m, n, k, rows, per_cycle, units; /* rows at once of a unit; multiply-adds a cycle of each */
};

/* With k over so many units. */
static uint64_t busy_of(const struct gemv_work *w, uint64_t split)
{
	return w->m * div_up(w->n, w->units / split * w->rows) * div_up(w->k, split * w->per_cycle);
}

static uint64_t least_busy(const struct gemv_work *w)
{
	uint64_t least = UINT64_MAX;

	for (uint64_t p = 1; p <= w->units && p <= w->k; p *= 2)
		least = busy_of(w, p) < least ? busy_of(w, p) : least;
	return least;
}

/* Cycles that SRAM needs for the weights. Rows over lanes read them by columns: `pad` is what rows are padded by where that
 * is little, and the units would wait else. */
static uint64_t feed_of(const struct unit_env *u, const struct unit_job *j, const struct gemv_work *w, uint64_t *pad)
{
	const uint64_t bytes = unit_present(j, dtype_bytes(j->dtype, j->n * j->k)) * div_up(j->m, cfg(u)->vectors),
		       row = unit_present(j, dtype_bytes(j->dtype, j->k)),
		       along = div_up(bytes, sram_rate(u->sram, u->cores));
	uint64_t across;

	*pad = 0;
	if (!cfg(u)->rows_over_lanes)
		return along;
	across = sram_column_cycles(u->sram, u->cores, bytes, row);
	if (!u->sram->pad || sram_pad(u->sram, row) * LITTLE > row || across <= least_busy(w))
		return across;
	*pad = sram_pad(u->sram, row);
	return along;
}

/* The split of k whose busy time is least, and among those that stream the same, the one of least latency. */
static bool unit_gemv_plan(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	const struct gemv_cfg *c = cfg(u);
	const uint64_t rows = c->rows_over_lanes ? c->lanes : 1;
	const struct gemv_work w = { .m = j->m,
		                     .n = j->n,
		                     .k = c->sparse ? unit_present(j, j->k) : j->k,
		                     .rows = rows,
		                     .per_cycle = macs_a_cycle(c, j->dtype, j->with) / rows,
		                     .units = unit_arrays(u) };
	uint64_t best = UINT64_MAX, split = 1, pad, feed;

	if (j->work != UNIT_PRODUCT)
		return false;
	feed = feed_of(u, j, &w, &pad);
	/* Every split a machine with fewer units has is among the candidates: more units are never slower. */
	for (uint64_t p = 1; p <= w.units && p <= w.k; p *= 2) {
		uint64_t busy = busy_of(&w, p);

		busy = busy > feed ? busy : feed;
		if (busy < best) {
			best = busy;
			split = p;
		}
	}
	*out = (struct unit_plan){ .span = clock_span(best, u->clock_khz),
		                   .latency = clock_span(log2_up(c->lanes / rows) + log2_up(split) + c->depth,
		                                         u->clock_khz),
		                   .work = j->m * j->n * w.k,
		                   .code = ISA_GEMV,
		                   .pad = pad,
		                   .why = pad                  ? "gemv, rows over lanes, padded"
		                          : c->rows_over_lanes ? "gemv, rows over lanes"
		                          : split > 1          ? "gemv, k split over units"
		                                               : "gemv, rows over units" };
	return true;
}

/* A lane is as large as its 32-bit or its 16-bit multiply-adds, and what narrower ones take beside the latter. */
static struct area_part area(const struct unit_env *u, const struct tech *t)
{
	const struct gemv_cfg *c = cfg(u);
	const uint64_t wide = c->macs_fp32 * t->die.mac.fp32, each = c->macs_bf16,
		       more = each * unit_mac(t, div_up(c->macs_8bit, each), div_up(c->macs_4bit, each)) -
	                      each * t->die.mac.bf16,
		       lane = (wide > each * t->die.mac.bf16 ? wide : each * t->die.mac.bf16) + more;

	return (struct area_part){ .logic = area_logic(t, unit_arrays(u) * c->lanes * lane) };
}

/* Activations lie in the unit, sums grow in its lanes. */
static void reuse(const struct unit_env *u, struct unit_reuse *out)
{
	*out = (struct unit_reuse){ .weights = cfg(u)->vectors };
}

static uint64_t mac_energy(const struct unit_env *u)
{
	return cfg(u)->mac_energy;
}

static const char *const knobs[] = { "units", "lanes", NULL };

const struct unit_ops gemv_unit = { .name = "gemv",
	                            .label = "GEMV",
	                            .res = RES_GEMV,
	                            .plan = unit_gemv_plan,
	                            .peak = peak,
	                            .native = native,
	                            .sparse = sparse,
	                            .grain = unit_arrays,
	                            .area = area,
	                            .reuse = reuse,
	                            .mac_energy = mac_energy,
	                            .busy_stat = "gemv.busy_ps",
	                            .work_stat = "gemv.macs",
	                            .knobs = knobs };
