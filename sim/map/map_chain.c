/* map_chain.c - whether what could be one command is one: a chain in the fusion engine, products that are joined.
 *
 * As one it is dispatched once and what members hand to each other stays on chip; but a chain does not move in tiles what it
 * would alone, and a product in it keeps all that those behind it want. Both ways are held against each other by the evaluator:
 * the commands as they follow each other, each waiting for the one before where it is a chain, in two rounds (cold and warm,
 * map_evaluate.c), so that what the next fetches ahead hides behind them. Of commands that are dispatched in batches each waits in
 * the mean for a part of a dispatch. Ops that are alike are asked about once.
 * Without an evaluator, and where there are too many moves for it, rates decide. */
#include "sim/map/map_int.h"

struct map_candidate *const *map_members(const struct mapper *m, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		if (!m->member[k] && !(m->member[k] = arena_alloc(m->a, sizeof **m->member)))
			return NULL;
	return m->member;
}

/* By rates: what they take one after the other. */
static struct map_score by_rates(const struct mapper *m, struct map_candidate *const *d, uint32_t n, bool wait)
{
	ps_t t = 0;

	for (uint32_t k = 0; k < n; k++)
		t += d[k]->predicted + (k && wait ? m->c->dispatch.latency : 0);
	return (struct map_score){ t, t, (double)t * (double)t };
}

/* What waiting for their own dispatch takes so many commands, those in a batch with the one before apart. */
static void add_dispatch(const struct mapper *m, struct map_score *x, uint32_t n)
{
	const ps_t local = ps_min(clock_span(m->c->core.depth, m->c->clock), m->c->dispatch.latency);
	const ps_t wait = n * (m->c->dispatch.latency - local) / m->c->dispatch.batch;

	x->cold += wait;
	x->warm += wait;
	x->worth = (double)x->cold * (double)x->warm;
}

static struct map_ones evaluated(const struct mapper *m, struct map_candidate *const *d, uint32_t n,
                                 const struct map_candidate *one, bool wait)
{
	struct map_candidate *const only = (struct map_candidate *)one;
	const struct map_round how = { .chain = wait };
	struct map_ones x = { { PS_NEVER, PS_NEVER, 0 }, { PS_NEVER, PS_NEVER, 0 } };

	if (m->evaluator) {
		x.apart = map_evaluate_round(m, d, n, &how);
		x.joined = map_evaluate_round(m, &only, 1, &how);
	}
	if (x.apart.cold == PS_NEVER || x.joined.cold == PS_NEVER)
		return (struct map_ones){ by_rates(m, &only, 1, wait), by_rates(m, d, n, wait) };
	add_dispatch(m, &x.apart, n);
	add_dispatch(m, &x.joined, 1);
	return x;
}

static uint64_t map_chain_key_of(const struct mapper *m, uint32_t first, uint32_t ops, uint32_t n, bool wait)
{
	const uint64_t key = map_and_u64(map_and_u64(map_ops_key(m, first, ops), m->sram), m->capacity);

	return map_and_u64(key, (uint64_t)n << 1 | wait) | 1;
}

struct map_ones map_ones(const struct mapper *m, uint32_t first, uint32_t ops, struct map_candidate *const *d,
                         uint32_t n, const struct map_candidate *one, bool wait)
{
	const uint64_t key = map_chain_key_of(m, first, ops, n, wait);
	const struct map_ones *known;
	struct map_ones x;

	if ((known = map_memo_find(m->memo, MAP_MEMO_ONES, key)))
		return *known;
	x = evaluated(m, d, n, one, wait);
	map_memo_put(m->memo, MAP_MEMO_ONES, key, &x);
	return x;
}

/* Each on its own and all as one, which is drafted; false: some do not fit. */
static bool both(struct mapper *m, const struct fuse_group *g, struct map_candidate *d, struct map_ones *out)
{
	struct map_candidate *const *each = g->n <= MAP_COSCHEDULED ? map_members(m, g->n) : NULL;

	for (uint32_t k = 0; k < g->n; k++) {
		map_capacity(m, g->first + k, 1);
		if (!each || !map_group(m, g->first + k, 1, each[k]))
			return false;
	}
	map_capacity(m, g->first, g->n);
	if (!map_group(m, g->first, g->n, d))
		return false;
	*out = map_ones(m, g->first, g->n, each, g->n, d, true);
	return true;
}

/* What was found out before needs no drafts of its members: NULL where it was not. */
static const struct map_ones *known(struct mapper *m, const struct fuse_group *g)
{
	map_capacity(m, g->first, g->n);
	return map_memo_find(m->memo, MAP_MEMO_ONES, map_chain_key_of(m, g->first, g->n, g->n, true));
}

bool map_chain(struct mapper *m, const struct fuse_group *g, struct map_candidate *d, uint64_t *op_work_ps,
               struct map_fusion *what)
{
	const struct map_ones *found;
	struct map_ones x;
	uint64_t bytes = 0;

	if (m->apart[g->first] || ((found = known(m, g)) && found->joined.worth >= found->apart.worth))
		return false;
	if (found && !what)
		return map_group(m, g->first, g->n, d);
	if (!both(m, g, d, &x) || x.joined.worth >= x.apart.worth)
		return false;
	for (uint32_t k = 0; what && k < g->n; k++) {
		bytes += map_memory_bytes(m->member[k]);
		op_work_ps[g->first + k] = m->member[k]->predicted;
	}
	if (!what)
		return true;
	*what = (struct map_fusion){ .pattern = g->pattern,
		                     .first_op = g->first,
		                     .n_ops = g->n,
		                     .saved_bytes = bytes - map_memory_bytes(d),
		                     .saved_dispatches = g->n - 1,
		                     .predicted = map_mean(&x.joined),
		                     .unfused = map_mean(&x.apart) };
	return true;
}
