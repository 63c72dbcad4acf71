/* map_blocks.c - how a product or an attention alone is cut into blocks, each a command (map_block.c), or done whole.
 *
 * What SRAM does not hold must be cut: by rows, or by the batch first (best). The fewest blocks that all fit move operands again
 * least often, more blocks leave more room to fetch the next one's ahead: so the evaluator compares the fewest with twice and
 * four times as many. So is, of what streams past operands that are held whole (an attention's queries
 * and results), one command against two and four where these operands take more than a part of SRAM: what streams would pass
 * through the little that they leave. Ops that are alike are asked about once. */
#include <math.h>

#include "sim/map/map_int.h"

#define MOST   65536
#define MORE   4   /* times as many as need be, at the most */
#define UNSURE 1.1 /* a few of a cut's blocks are evaluated, and what is whole is evaluated whole */
#define TIGHT  4   /* part of SRAM that may be held beside what streams before a cut is looked at */

/* Whether each of the blocks fits: the last may have no way where the larger ones before it have one. */
static bool map_blocks_fits(const struct mapper *m, uint32_t op, const struct map_cutting *c, struct map_candidate *d)
{
	struct map_block b;
	uint64_t k = 0;

	for (struct op part = m->s->ops[op]; map_block_take(&part, c->cut, c->blocks, k, &b); part = m->s->ops[op], k++)
		if (!map_block(m, op, c->cut, c->blocks, k, d))
			return false;
	return k > 0;
}

/* The fewest blocks of a cut that all fit; blocks 0: none. */
static struct map_cutting fewest(const struct mapper *m, uint32_t op, enum map_cut cut, struct map_candidate *d)
{
	struct map_cutting c = { cut, 0 };

	for (c.blocks = 2; c.blocks <= MOST; c.blocks *= 2)
		if (map_blocks_fits(m, op, &c, d))
			return c;
	return (struct map_cutting){ MAP_CUTS, 0 };
}

/* What all of its commands take. Under a mask they grow with the keys that they see, and the last may be smaller: so the first,
 * the last and the one before it are evaluated. Of an op on its own the first alone waits for what nothing hides. */
static double all_of(const struct mapper *m, uint32_t op, const struct map_cutting *c, uint64_t n,
                     struct map_candidate *d)
{
	struct mapper others = *m;
	double first, full, ends = 0;

	others.alone = false;
	if (!map_block(m, op, c->cut, c->blocks, 0, d))
		return INFINITY;
	first = full = map_evaluate(&others, d).worth;
	if (m->alone)
		ends = map_evaluate(m, d).worth - first;
	if (n > 1 && map_block(m, op, c->cut, c->blocks, n - 1, d))
		ends += map_evaluate(&others, d).worth;
	if (n > 2 && map_mask_skips(m, &m->s->ops[op]) && map_block(m, op, c->cut, c->blocks, n - 2, d))
		full = (first + map_evaluate(&others, d).worth) / 2;
	return full * (double)(n > 1 ? n - 1 : 1) + ends;
}

/* Blocks that an op has if it is cut so. */
static uint64_t map_blocks_number(const struct mapper *m, uint32_t op, const struct map_cutting *c)
{
	struct map_block b;
	uint64_t k = 0;

	for (struct op part = m->s->ops[op]; map_block_take(&part, c->cut, c->blocks, k, &b); part = m->s->ops[op])
		k++;
	return k;
}

/* Takes a cut in place of the least so far where all of its blocks fit and take less. */
static void better(const struct mapper *m, uint32_t op, const struct map_cutting *c, double unsure,
                   struct map_candidate *d, struct map_cutting *least, double *worth)
{
	const uint64_t n = map_blocks_number(m, op, c);
	const double all = n > 1 && map_blocks_fits(m, op, c, d) ? unsure * all_of(m, op, c, n, d) : INFINITY;

	if (all < *worth) {
		*worth = all;
		*least = *c;
	}
}

/* Of a batch each product alone: only then has it the loop nests of one. */
static struct map_cutting one_by_one(const struct mapper *m, uint32_t op)
{
	return (struct map_cutting){ MAP_CUT_ALL, ps_min(MOST, m->s->ops[op].shape.batch) };
}

/* Of one cut: the fewest blocks, or more of them where that takes less. */
static struct map_cutting best_of(const struct mapper *m, uint32_t op, enum map_cut cut, struct map_candidate *d,
                                  double *worth)
{
	struct map_cutting least = fewest(m, op, cut, d), c = least, alone = one_by_one(m, op);

	*worth = INFINITY;
	if (!c.blocks || !m->evaluator)
		return least;
	*worth = all_of(m, op, &c, map_blocks_number(m, op, &c), d);
	for (uint64_t most = ps_min(MOST, c.blocks * MORE); (c.blocks *= 2) <= most;)
		better(m, op, &c, 1, d, &least, worth);
	if (cut == MAP_CUT_ALL && alone.blocks > least.blocks)
		better(m, op, &alone, 1, d, &least, worth);
	return least;
}

/* Blocks of rows stream all weights again for each block; blocks of a batch stream their own alone. So a batch is cut first,
 * and rows are tried too where an evaluator can tell. Cutting the depth is for what fits in no other way. */
static struct map_cutting best(const struct mapper *m, uint32_t op, struct map_candidate *d)
{
	const bool batch = m->s->ops[op].shape.batch > 1;
	const enum map_cut order[MAP_CUTS] = { batch ? MAP_CUT_ALL : MAP_CUT_ROWS, batch ? MAP_CUT_ROWS : MAP_CUT_ALL,
		                               MAP_CUT_DEEP };
	struct map_cutting least = { MAP_CUTS, 0 };
	double worth = INFINITY;

	for (int i = 0; i < MAP_CUTS && (!least.blocks || (i == 1 && batch && m->evaluator)); i++) {
		double all;
		const struct map_cutting c = best_of(m, op, order[i], d, &all);

		if (c.blocks && (!least.blocks || all < worth)) {
			least = c;
			worth = all;
		}
	}
	return least;
}

/* Whether it may pay to cut what can be done whole: its operands that do not stream take much of SRAM. A product alone has nests
 * for that. */
static bool is_tight(const struct mapper *m, uint32_t op, const struct map_candidate *d)
{
	const struct op *o = &m->s->ops[op];

	return m->evaluator && m->c->mapping.policy == MAPPING_SEARCH && d->fixed_bytes > m->sram / TIGHT &&
	       (o->kind == OP_ATTENTION || (o->kind == OP_GEMM && o->shape.batch > 1));
}

/* The whole is drafted. */
static struct map_cutting against(const struct mapper *m, uint32_t op, struct map_candidate *d)
{
	const struct map_cutting whole = { MAP_CUT_ROWS, 1 }, alone = one_by_one(m, op);
	struct map_cutting least = whole;
	double worth = map_evaluate(m, d).worth;

	for (struct map_cutting c = { MAP_CUT_ROWS, 2 }; c.cut < MAP_CUT_DEEP; c.cut++)
		for (c.blocks = 2; c.blocks <= MORE; c.blocks *= 2)
			better(m, op, &c, UNSURE, d, &least, &worth);
	if (alone.blocks > MORE)
		better(m, op, &alone, UNSURE, d, &least, &worth);
	return least;
}

bool map_blocks(const struct mapper *m, uint32_t op, struct map_candidate *d, struct map_cutting *out)
{
	const bool whole = map_group(m, op, 1, d);
	const struct map_cutting *known;
	uint64_t key;

	*out = (struct map_cutting){ MAP_CUT_ROWS, 1 };
	if (whole && !is_tight(m, op, d))
		return true;
	if (!op_is_product(m->s->ops[op].kind) || (m->s->ops[op].kind == OP_GEMM && map_fixed(m)))
		return whole;
	key = map_and_u64(map_and_u64(map_ops_key(m, op, 1), m->capacity), m->sram) | 1;
	if ((known = map_memo_find(m->memo, MAP_MEMO_CUTS, key))) {
		*out = *known;
	} else {
		*out = whole ? against(m, op, d) : best(m, op, d);
		map_memo_put(m->memo, MAP_MEMO_CUTS, key, out);
	}
	if (whole && out->blocks == 1)
		return map_group(m, op, 1, d);
	return out->blocks && map_block(m, op, out->cut, out->blocks, 0, d);
}
