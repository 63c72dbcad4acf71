/* unit_vector.c - vector units: ALU lanes, special functions, format converters, reductions, sort and top-k.
 *
 * Models: `units` a core of `lanes` ALU lanes, `sfu` special-function lanes, `converters` and a dequantiser; work is
 * spread over all cores; the longest of ALU, SFU, converter and SRAM time is busy time, the pipeline's depth is latency.
 * Elements go in whole thread groups; what a group costs to issue and what hides its latencies is in unit_issue.h. Reductions end in a tree within a core (log2 lanes) and, when fewer rows than
 * cores share the work, one across cores (two hops); the trees of all passes are latency. Sort and top-k run on one core
 * a row: a compare-exchange network over its lanes, one stage after the other. Products take two ALU steps a MAC, where
 * there is nothing better. The dequantiser turns narrow weights into what a product multiplies: so many values a cycle
 * by their own width, scales included.
 * An activation unit (`act`) takes a SiLU or GELU whole, an element a lane and cycle, and of a softmax the exponentials with
 * their running maximum and sum, so that only the scaling is left to the ALU lanes; a norm unit (`norm`) takes both moments
 * of a row as it passes and scales it from its buffer. Each has one pass where the lanes need two or three, and one tree.
 * The lanes do it where they are sooner done; the parts share the unit's issue and are no resource of their own.
 * Leaves out: register pressure; rows longer than a norm unit's buffer. */
#include "arch/npu/unit_issue.h"
#include "workloads/work.h"

struct vector_cfg {
	uint32_t units, lanes, sfu, converters; /* units a core; the rest a unit */
	uint32_t sorter;                        /* compare-exchanges a cycle and unit; 0: the ALU lanes do it */
	uint32_t div_cycles;                    /* of an iterative divide, a lane */
	uint32_t act, norm;                     /* lanes of an activation and of a norm unit; 0: there is none */
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
	CFG_U32(struct vector_cfg, act, "act", "0", 0, 4096, cfg_pow2_or_0,
	        "lanes a unit of an activation unit: SiLU, GELU and a softmax's exponentials in one pass; 0: none",
	        "profile report, 1: specialised units for activations; absent unless a machine has one"),
	CFG_U32(struct vector_cfg, norm, "norm", "0", 0, 4096, cfg_pow2_or_0,
	        "lanes a unit of a norm unit: both moments of a row and its scaling in one pass; 0: none",
	        "profile report, 1: specialised units for normalisation; absent unless a machine has one"),
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

static uint64_t feed_of(const struct unit_env *u, uint64_t bytes)
{
	return div_up(bytes, sram_rate(u->sram, u->cores));
}

/* A time in cycles: until the next job may start, and from there to the last result without the pipeline's depth. */
struct cycles {
	uint64_t busy, exposed;
};

static ps_t all_of(const struct unit_env *u, const struct cycles *t)
{
	return clock_span(t->busy + t->exposed, u->clock_khz);
}

/* Elements that take an element's way through pipes of so many lanes and steps each. */
struct pipes {
	uint32_t alu, sfu, convert; /* steps */
	uint32_t own;               /* lanes of a part that does it in one step; 0: the others do */
};

static uint64_t pipes_cycles(const struct vector_cfg *c, const struct pipes *p, uint64_t units, uint64_t n)
{
	if (p->own)
		return div_up(n, units * p->own);
	return max3(div_up(n, units * c->lanes) * p->alu, div_up(n, units * c->sfu) * p->sfu,
	            div_up(n, units * c->converters) * p->convert);
}

static struct cycles map_cycles(const struct unit_env *u, uint64_t n, const struct pipes *p, uint64_t feed)
{
	const struct vector_cfg *c = cfg(u);
	const uint64_t units = unit_arrays(u);
	struct issue_time t;

	if (!issue_modelled(u))
		return (struct cycles){ max3(pipes_cycles(c, p, units, round_up(n, u->group)), feed, 1), 0 };
	t = issue_time(
		u, div_up(issue_groups(u, 1, n), units),
		&(struct issue_work){ pipes_cycles(c, p, 1, u->group), 1, p->own ? 1 : p->alu + p->sfu + p->convert });
	return (struct cycles){ max3(t.busy, feed, 1), t.exposed };
}

static ps_t depth(const struct unit_env *u, uint64_t times)
{
	return clock_span(u->depth * times, u->clock_khz);
}

/* An element's steps; a divide is iterative, one macro-op of many cycles. */
static void plan_map(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	const struct vector_cfg *c = cfg(u);
	const uint32_t alu = j->divides ? c->div_cycles : j->alu;
	struct cycles t = map_cycles(u, j->elems, &(struct pipes){ alu, j->sfu, j->convert, 0 }, feed_of(u, j->bytes));
	const char *why = "lanes";

	if (j->piece == UNIT_ACT && c->act) {
		const struct cycles x = map_cycles(u, j->elems, &(struct pipes){ .own = c->act }, feed_of(u, j->bytes));

		if (all_of(u, &x) < all_of(u, &t)) {
			t = x;
			why = "activation unit, one pass";
		}
	}
	*out = (struct unit_plan){ .span = clock_span(t.busy, u->clock_khz),
		                   .latency = depth(u, 1) + clock_span(t.exposed, u->clock_khz),
		                   .work = j->elems * (alu + j->sfu + j->convert),
		                   .code = j->convert ? ISA_CONVERT
		                           : j->sfu   ? ISA_SFU
		                                      : ISA_VECTOR,
		                   .why = why };
}

static void plan_product(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	const uint64_t macs = j->m * j->n * j->k;

	const struct cycles t =
		map_cycles(u, macs, &(struct pipes){ .alu = 2 }, feed_of(u, dtype_bytes(j->dtype, j->n * j->k)));

	*out = (struct unit_plan){ .span = clock_span(t.busy, u->clock_khz),
		                   .latency = depth(u, 1) + clock_span(t.exposed, u->clock_khz),
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

/* Passes over rows: so many on the ALU lanes with a special function in one of them, and one of a part made for it. */
struct passes {
	uint32_t alu, sfu, own; /* own: its lanes; 0: none */
};

static uint32_t passes_of(const struct passes *p)
{
	return p->alu + (p->own > 0);
}

/* `n` elements on so many units. */
static uint64_t passes_cycles(const struct vector_cfg *c, const struct passes *p, uint64_t units, uint64_t n)
{
	const uint64_t math = div_up(n, units * c->lanes) * p->alu, special = div_up(n, units * c->sfu) * p->sfu;

	return (math > special ? math : special) + (p->own ? div_up(n, units * p->own) : 0);
}

static struct cycles grouped(const struct unit_env *u, const struct passes *p, uint64_t groups, uint64_t feed)
{
	const struct issue_time t = issue_time(
		u, groups,
		&(struct issue_work){ passes_cycles(cfg(u), p, 1, u->group), passes_of(p), passes_of(p) + p->sfu });

	return (struct cycles){ t.busy > feed ? t.busy : feed, t.exposed };
}

/* Over all cores. */
static struct cycles spread_out(const struct unit_env *u, const struct unit_job *j, const struct passes *p)
{
	const uint64_t units = unit_arrays(u), feed = feed_of(u, j->bytes);
	uint64_t t;

	if (issue_modelled(u))
		return grouped(u, p, div_up(issue_groups(u, j->rows, j->cols), units), feed);
	t = passes_cycles(cfg(u), p, units, j->rows * j->cols);
	return (struct cycles){ t > feed ? t : feed, 0 };
}

/* One row on one core needs no other core; a short row is not worth the trip. */
static struct cycles at_home(const struct unit_env *u, const struct unit_job *j, const struct passes *p)
{
	const uint64_t rows = div_up(j->rows, u->cores), feed = feed_of(u, j->bytes);
	uint64_t t;

	if (issue_modelled(u))
		return grouped(u, p, rows * div_up(issue_groups(u, 1, j->cols), cfg(u)->units), feed);
	t = rows * passes_cycles(cfg(u), p, cfg(u)->units, j->cols);
	return (struct cycles){ t > feed ? t : feed, 0 };
}

static struct unit_plan reduce_by(const struct unit_env *u, const struct unit_job *j, const struct passes *p,
                                  const char *why)
{
	const struct vector_cfg *c = cfg(u);
	const uint32_t passes = passes_of(p);
	const uint64_t tree = (uint64_t)passes * (log2_up(c->lanes) + log2_up(c->units) + u->depth);
	const struct cycles spread = spread_out(u, j, p), alone = at_home(u, j, p);
	const ps_t trees = clock_span(tree, u->clock_khz), across = j->rows < u->cores ? 2 * u->across * passes : 0;
	const bool one = all_of(u, &alone) <= all_of(u, &spread) + across;
	const struct cycles *t = one ? &alone : &spread;

	return (struct unit_plan){ .span = clock_span(t->busy, u->clock_khz),
		                   .latency = trees + (one ? 0 : across) + clock_span(t->exposed, u->clock_khz),
		                   .work = j->rows * j->cols * j->passes,
		                   .code = ISA_REDUCE,
		                   .why = why };
}

static void plan_reduce(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	const struct vector_cfg *c = cfg(u);
	const bool softmax = j->piece == UNIT_SOFTMAX && c->act, norm = j->piece == UNIT_NORM && c->norm;
	struct unit_plan x;

	*out = reduce_by(u, j, &(struct passes){ j->passes, j->sfu, 0 }, "rows over cores, tree over lanes");
	if (!softmax && !norm)
		return;
	/* Maximum, exponential and sum run along as the values pass; so do both moments. */
	x = softmax ? reduce_by(u, j, &(struct passes){ j->passes - 2, 0, c->act }, "activation unit, online sums")
	            : reduce_by(u, j, &(struct passes){ 0, 0, c->norm }, "norm unit, one pass");
	if (x.span + x.latency < out->span + out->latency)
		*out = x;
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

static bool unit_vector_plan(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
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

/* Steps of an element that a part made for it does in one, special functions among them: work.c counts no more of any. */
#define OWN_STEPS 8
#define OWN_SFU   2

/* It does one job at a time: a made part works where the lanes would. */
static void steps(const struct unit_env *u, struct unit_steps *out)
{
	const struct vector_cfg *c = cfg(u);
	const uint64_t units = unit_arrays(u), own = c->act > c->norm ? c->act : c->norm;

	*out = (struct unit_steps){ .alu = units * max3(c->lanes, OWN_STEPS * own, 0),
		                    .sfu = units * max3(c->sfu, OWN_SFU * c->act, 0),
		                    .convert = units * max3(c->converters, c->dequant_8bit, c->dequant_4bit),
		                    .compare = units * (c->sorter ? c->sorter : c->lanes) };
}

static struct area_part area(const struct unit_env *u, const struct tech *t)
{
	const struct vector_cfg *c = cfg(u);
	const uint64_t fma = t->die.lane.fp32, sfu = t->die.lane.sfu,
		       widen = c->dequant_8bit > c->dequant_4bit ? c->dequant_8bit : c->dequant_4bit,
		       unit = c->lanes * (fma + t->die.lane.int32 + t->die.lane.registers) + c->sfu * sfu +
	                      (c->converters + widen) * t->die.lane.convert + c->sorter * t->die.lane.compare +
	                      c->act * (sfu + 2 * fma) + c->norm * 2 * fma;

	return (struct area_part){ .logic = area_logic(t, unit_arrays(u) * unit) };
}

static const char *const knobs[] = { "units", "lanes", "sfu", "converters", "act", "norm", NULL };

const struct unit_ops vector_unit = { .name = "vector",
	                              .label = "vector",
	                              .res = RES_VECTOR,
	                              .last_resort = true,
	                              .plan = unit_vector_plan,
	                              .peak = peak,
	                              .area = area,
	                              .steps = steps,
	                              .busy_stat = "vector.busy_ps",
	                              .work_stat = "vector.steps",
	                              .knobs = knobs };
