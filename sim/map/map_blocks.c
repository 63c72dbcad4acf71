/* map_blocks.c - an op whose operands do not fit is done in blocks, each a command: how it is cut (map_block.c).
 *
 * The first way is the fewest blocks of the first cut that leaves every block a way to be done. More of them move operands
 * again more often, but have more room to fetch the next one's ahead: so twice and four times as many are held against it by the
 * judge. Ops that are alike are asked about once. */
#include "sim/map/map_int.h"

#define MOST 65536
#define MORE 4 /* times as many as need be, at the most */

/* Whether each of the blocks fits: the last may have no way where the larger ones before it have one. Drafts the first. */
static bool fits(const struct mapper *m, uint32_t op, const struct map_cutting *c, struct map_draft *d)
{
	struct map_block b;
	uint64_t k = 0;

	if (!map_block(m, op, c->cut, c->blocks, 0, d))
		return false;
	for (struct op part = m->s->ops[op]; map_block_take(&part, c->cut, c->blocks, k, &b); part = m->s->ops[op], k++)
		if (!map_block(m, op, c->cut, c->blocks, k, d))
			return false;
	return k > 0 && map_block(m, op, c->cut, c->blocks, 0, d);
}

/* Blocks 0: none. */
static struct map_cutting fewest(const struct mapper *m, uint32_t op, struct map_draft *d)
{
	for (struct map_cutting c = { MAP_CUT_ROWS, 0 }; c.cut < MAP_CUTS; c.cut++)
		for (c.blocks = 2; c.blocks <= MOST; c.blocks *= 2)
			if (fits(m, op, &c, d))
				return c;
	return (struct map_cutting){ MAP_CUTS, 0 };
}

static struct map_cutting best(const struct mapper *m, uint32_t op, struct map_draft *d)
{
	struct map_cutting least = fewest(m, op, d), c = least;
	double worth;

	if (!c.blocks || !m->judge)
		return least;
	worth = map_judged(m, d).worth * (double)c.blocks * (double)c.blocks;
	for (uint64_t most = ps_min(MOST, c.blocks * MORE); (c.blocks *= 2) <= most && fits(m, op, &c, d);) {
		const double all = map_judged(m, d).worth * (double)c.blocks * (double)c.blocks;

		if (all < worth) {
			worth = all;
			least = c;
		}
	}
	return least;
}

bool map_blocks(const struct mapper *m, uint32_t op, struct map_draft *d, struct map_cutting *out)
{
	const uint64_t key =
		map_op_key(m, &m->s->ops[op], map_and_u64(map_and_u64(map_sig_ops(m, op, 1), m->room), m->sram));
	const struct map_cutting *known = map_memo_find(m->memo, MAP_MEMO_CUTS, key);

	if (known) {
		*out = *known;
	} else {
		*out = best(m, op, d);
		map_memo_put(m->memo, MAP_MEMO_CUTS, key, out);
	}
	return out->blocks && map_block(m, op, out->cut, out->blocks, 0, d);
}
