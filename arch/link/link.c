/* link.c - a collective's time: how its bytes go by each algorithm, and what that takes by each protocol. */
#include "arch/link/link.h"

#include <string.h>

#define PPM  UINT64_C(1000000)
#define LONG (PS_NEVER >> 8) /* sums of a few such stay below the end of time */

__extension__ typedef unsigned __int128 u128;

static uint64_t scaled(uint64_t n, uint64_t by, uint64_t over)
{
	const u128 x = ((u128)n * by + over - 1) / over;

	return x < LONG ? (uint64_t)x : LONG;
}

static ps_t transfer(uint64_t bytes, uint64_t rate)
{
	return rate ? ps_min(clock_transfer(bytes, rate), LONG) : LONG;
}

static bool any_to_any(const struct link_cfg *c)
{
	return c->topology == LINK_TOPOLOGY_SWITCH || c->topology == LINK_TOPOLOGY_FULL;
}

static uint32_t system_chips(const struct link_cfg *c, uint32_t chips)
{
	return c->chips > chips ? c->chips : chips;
}

/* Of `full`: chips that one has a link to, as links lie within a group. */
static uint32_t linked(const struct link_cfg *c, uint32_t chips)
{
	const uint32_t all = system_chips(c, chips);

	return (c->group && c->group < all ? c->group : all) - 1;
}

/* --- rings and grids --------------------------------------------------------------------------------------------- */

/* Chips of the collective along each dimension; `units`: of 2 x dims links, those that a ring of them all uses at once. */
struct grid {
	uint32_t dims, n[2], units;
	bool wraps[2];
};

uint32_t link_columns(const struct link_cfg *c, uint32_t chips)
{
	const uint32_t all = system_chips(c, chips);
	uint32_t rows = 1;

	if (c->topology != LINK_TOPOLOGY_TORUS && c->topology != LINK_TOPOLOGY_MESH)
		return all;
	if (c->columns)
		return c->columns;
	for (uint32_t r = 2; (uint64_t)r * r <= all; r++)
		if (all % r == 0)
			rows = r;
	return all / rows;
}

static struct grid grid_of(const struct link_cfg *c, uint32_t chips)
{
	const uint32_t columns = link_columns(c, chips), rows = (uint32_t)div_up(system_chips(c, chips), columns);
	const bool two = c->topology != LINK_TOPOLOGY_RING;
	struct grid g = { .dims = two ? 2 : 1, .n = { chips < columns ? chips : columns, 1 } };

	g.n[1] = (uint32_t)div_up(chips, g.n[0]);
	g.wraps[0] = c->topology != LINK_TOPOLOGY_MESH && g.n[0] == columns;
	g.wraps[1] = c->topology != LINK_TOPOLOGY_MESH && g.n[1] == rows;
	for (uint32_t d = 0; d < g.dims; d++)
		g.units += g.n[d] > 1 ? g.wraps[d] ? 2 : 1 : 0;
	return g;
}

/* Lines along the other dimension: to as many chips goes what a chip sends to a place of its own line. */
static uint64_t others(const struct grid *g, uint32_t d)
{
	return g->dims > 1 ? g->n[1 - d] : 1;
}

/* Bytes on the fullest link of a dimension, in those that take as long at the full bandwidth, where each chip sends every other a
 * part: of a line half its chips' to the other half; round a ring as many in all, each the shorter way. A link one way has
 * 1 / (2 dims) of the bandwidth. */
static uint64_t crossing(const struct grid *g, uint32_t d, uint64_t bytes, uint64_t chips)
{
	const uint64_t n = g->n[d], pairs = (n / 2) * div_up(n, 2);

	return scaled(bytes, 2 * g->dims * pairs * others(g, d), chips * (g->wraps[d] ? 2 : 1));
}

/* Distances from a chip to all of its line, summed, in the mean of the line's. */
static uint64_t hops_of(const struct grid *g, uint32_t d)
{
	const uint64_t n = g->n[d];

	return g->wraps[d] ? n * n / 4 : div_up(n * n - 1, 3);
}

/* --- plans ------------------------------------------------------------------------------------------------------- */

/* What a chip does by some algorithm. `load`: bytes that take as long at the full bandwidth as those on the fullest link do. */
struct plan {
	uint32_t steps, far_steps; /* far: of them, between groups */
	uint64_t sent, load, own;
	uint64_t across; /* bytes of a group to others */
};

/* A ring's steps in one pass over all chips, and its bytes. */
static struct plan ring_pass(const struct link_cfg *c, uint32_t chips, uint64_t bytes)
{
	struct plan p = { .steps = chips - 1, .sent = bytes, .load = bytes };

	if (c->topology == LINK_TOPOLOGY_FULL) {
		const uint32_t links = linked(c, chips);

		p.load = scaled(bytes, links, chips - 1 < links ? chips - 1 : links);
	} else if (!any_to_any(c)) {
		const struct grid g = grid_of(c, chips);

		p.steps = g.n[0] - 1 + g.n[1] - 1;
		p.load = scaled(bytes, 2 * g.dims, g.units);
	}
	return p;
}

/* How often it goes over the chips, and with how many bytes of a chip in each pass. */
static bool passes(const struct link_ask *q, uint32_t *times, uint64_t *bytes)
{
	*times = q->what == LINK_ALL_REDUCE ? 2 : 1;
	*bytes = scaled(q->bytes, q->chips - 1, q->chips);
	if (q->what == LINK_BROADCAST)
		*bytes = q->bytes;
	return q->what != LINK_ALL_TO_ALL && q->what != LINK_SEND;
}

static bool in_groups(const struct link_cfg *c, const struct link_ask *q)
{
	return c->group && q->chips > c->group;
}

static bool plan_ring(const struct link_cfg *c, const struct link_ask *q, struct plan *p)
{
	uint32_t times;
	uint64_t bytes;

	if (!passes(q, &times, &bytes))
		return false;
	*p = ring_pass(c, q->chips, bytes);
	p->steps *= times;
	p->sent *= times;
	p->load *= times;
	p->own = q->what == LINK_BROADCAST ? 0 : div_up(q->bytes, q->chips);
	if (!in_groups(c, q))
		return true;
	/* All wait for those whose neighbour is in another group. */
	p->far_steps = p->steps;
	if (c->between < c->bandwidth)
		p->load = scaled(p->load, c->bandwidth, c->between);
	return true;
}

static bool may_be_direct(const struct link_cfg *c, const struct link_ask *q)
{
	return any_to_any(c) && !in_groups(c, q) && (!c->direct_most || q->bytes < c->direct_most);
}

/* All chips read all of it, and each adds it up. */
static bool plan_one_shot(const struct link_cfg *c, const struct link_ask *q, struct plan *p)
{
	if (q->what != LINK_ALL_REDUCE || c->direct == LINK_DIRECT_NONE || !may_be_direct(c, q))
		return false;
	*p = ring_pass(c, q->chips, scaled(q->bytes, q->chips - 1, 1));
	p->steps = 1;
	p->own = q->bytes;
	return true;
}

static bool plan_two_shot(const struct link_cfg *c, const struct link_ask *q, struct plan *p)
{
	uint32_t times;
	uint64_t bytes;

	if (!passes(q, &times, &bytes) || q->what == LINK_BROADCAST || !may_be_direct(c, q) ||
	    c->direct == LINK_DIRECT_NONE || (c->direct == LINK_DIRECT_ALL_REDUCE && q->what != LINK_ALL_REDUCE))
		return false;
	*p = ring_pass(c, q->chips, bytes);
	p->steps = times;
	p->sent *= times;
	p->load *= times;
	p->own = div_up(q->bytes, q->chips);
	return true;
}

static bool plan_tree(const struct link_cfg *c, const struct link_ask *q, struct plan *p)
{
	const uint32_t up = q->what == LINK_ALL_REDUCE ? 2 : 1;

	if ((q->what != LINK_ALL_REDUCE && q->what != LINK_BROADCAST) || !any_to_any(c) || in_groups(c, q))
		return false;
	*p = ring_pass(c, q->chips, up * q->bytes);
	p->steps = up * log2_up(q->chips);
	p->own = up > 1 ? q->bytes : 0;
	return true;
}

/* The switch takes each chip's bytes, and gives back what each has its part of. */
static bool plan_in_switch(const struct link_cfg *c, const struct link_ask *q, struct plan *p)
{
	if (!c->reduce || c->topology != LINK_TOPOLOGY_SWITCH || q->what != LINK_ALL_REDUCE || q->chips < 3 ||
	    in_groups(c, q))
		return false;
	*p = (struct plan){ .steps = 2, .sent = q->bytes + div_up(q->bytes, q->chips) };
	p->load = p->sent;
	return true;
}

/* In groups, between them with a part each, in groups again; a reduce-scatter and an all-gather are half of that. */
static bool plan_groups(const struct link_cfg *c, const struct link_ask *q, struct plan *p)
{
	const struct link_ask inner = { q->what, c->group, q->bytes, 0 };
	const uint64_t groups = c->group ? q->chips / c->group : 1;
	uint32_t times;
	uint64_t bytes;

	if (!in_groups(c, q) || c->group < 2 || !passes(q, &times, &bytes) || q->what == LINK_BROADCAST)
		return false;
	passes(&inner, &times, &bytes);
	*p = ring_pass(c, c->group, bytes);
	p->far_steps = times * (uint32_t)(groups - 1);
	p->steps = times * p->steps + p->far_steps;
	p->across = times * scaled(q->bytes, groups - 1, groups);
	p->sent = times * p->sent + div_up(p->across, c->group);
	p->load *= times;
	p->own = div_up(q->bytes, q->chips);
	return true;
}

static void to_all_on_grid(const struct link_cfg *c, const struct link_ask *q, struct plan *p)
{
	const struct grid g = grid_of(c, q->chips);

	*p = (struct plan){ .own = div_up(q->bytes, q->chips) };
	for (uint32_t d = 0; d < g.dims; d++) {
		const uint64_t load = crossing(&g, d, q->bytes, q->chips);

		if (g.n[d] < 2)
			continue;
		p->steps += g.wraps[d] ? g.n[d] / 2 : g.n[d] - 1;
		p->sent += scaled(q->bytes, hops_of(&g, d) * others(&g, d), q->chips);
		p->load = load > p->load ? load : p->load;
	}
}

/* As many chips as lie between the two send at once. On a line they share its links; of a group as many leave it. */
static void over_hops(const struct link_cfg *c, const struct link_ask *q, struct plan *p)
{
	const uint32_t hop = q->hop ? q->hop : 1, columns = link_columns(c, system_chips(c, hop + 1));
	const uint32_t steps = c->topology == LINK_TOPOLOGY_RING ? hop : hop / columns + hop % columns;

	if (!any_to_any(c)) {
		p->steps = steps;
		p->sent = scaled(p->sent, steps, 1);
		p->load = scaled(p->load, steps, 1);
	}
	if (c->group && (hop >= c->group || in_groups(c, q))) {
		p->far_steps = 1;
		p->across = scaled(q->bytes, hop < c->group ? hop : c->group, 1);
	}
}

/* To each other chip its part, or all to one. */
static bool plan_send(const struct link_cfg *c, const struct link_ask *q, struct plan *p)
{
	const bool all = q->what == LINK_ALL_TO_ALL;

	if (!all && q->what != LINK_SEND)
		return false;
	if (all && !any_to_any(c)) {
		to_all_on_grid(c, q, p);
	} else {
		const uint64_t bytes = all ? scaled(q->bytes, q->chips - 1, q->chips) : q->bytes;

		*p = all ? ring_pass(c, q->chips, bytes) : (struct plan){ .sent = bytes, .load = bytes };
		p->steps = 1;
		p->own = all ? div_up(q->bytes, q->chips) : 0;
		if (!all && c->topology == LINK_TOPOLOGY_FULL)
			p->load = scaled(bytes, linked(c, q->chips), 1);
		if (!all && !any_to_any(c))
			p->load = scaled(bytes, c->topology == LINK_TOPOLOGY_RING ? 2 : 4, 1);
	}
	if (!all)
		over_hops(c, q, p);
	if (!in_groups(c, q))
		return true;
	p->far_steps = 1;
	p->across = all ? scaled(q->bytes, (uint64_t)(q->chips - c->group) * c->group, q->chips) : p->across;
	return true;
}

static bool plan_one_way(const struct link_cfg *c, const struct link_ask *q, struct plan *p)
{
	return plan_one_shot(c, q, p) || plan_send(c, q, p);
}

/* --- protocols --------------------------------------------------------------------------------------------------- */

#define BIT(id) (1u << LINK_AS_##id)
#define PACKED  (BIT(PLAIN) | BIT(LL) | BIT(LL_FEW) | BIT(LL128))

/* Where none of its protocols is there its bytes go as they are. */
static const struct algorithm {
	bool (*plan)(const struct link_cfg *c, const struct link_ask *q, struct plan *p);
	unsigned protocols;
	bool asked; /* only by name */
} algorithms[LINK_ALGORITHM_COUNT] = {
	[LINK_BY_RING] = { plan_ring, PACKED, false },
	[LINK_BY_ONE_SHOT] = { plan_one_way, BIT(DIRECT), false },
	[LINK_BY_TWO_SHOT] = { plan_two_shot, BIT(DIRECT), false },
	[LINK_BY_TREE] = { plan_tree, PACKED, true },
	[LINK_BY_IN_SWITCH] = { plan_in_switch, BIT(IN_SWITCH), false },
	[LINK_BY_GROUPS] = { plan_groups, PACKED, false },
};

/* Direct algorithms, sends and switches hide it. */
static ps_t own_part(const struct link_cfg *c, const struct plan *p, enum link_protocol as)
{
	const bool packed = as == LINK_AS_LL || as == LINK_AS_LL_FEW;
	const uint64_t rate = packed ? c->ll_local : c->local;

	if (!p->own || (!packed && as != LINK_AS_PLAIN && as != LINK_AS_LL128))
		return 0;
	return c->local_latency + (rate ? transfer(p->own, rate) : 0);
}

static struct link_time time_as(const struct link_cfg *c, const struct plan *p, enum link_algorithm by,
                                enum link_protocol as)
{
	const struct link_protocol_cfg *x = &c->protocol[as];
	const uint64_t rate = scaled(c->bandwidth, x->share, PPM), far = scaled(c->between, x->share, PPM);
	struct link_time t = { .start = x->overhead + (as == LINK_AS_DIRECT ? 0 : c->call),
		               .steps = p->steps * x->latency + p->far_steps * c->between_latency,
		               .wire = transfer(p->load, rate) + (p->across ? transfer(p->across, far) : 0),
		               .own = own_part(c, p, as),
		               .sent = p->sent,
		               .n_steps = p->steps,
		               .by = by,
		               .as = as };

	t.total = t.start + t.steps + t.wire + t.own;
	return t;
}

static unsigned protocols_of(const struct link_cfg *c, const struct link_ask *q, enum link_algorithm by)
{
	const bool sends = q->what == LINK_ALL_TO_ALL || q->what == LINK_SEND;
	const bool one_way = q->what == LINK_BROADCAST || q->what == LINK_SEND;
	unsigned may = sends ? BIT(SEND) | BIT(SEND_LL) | BIT(SEND_LARGE) : algorithms[by].protocols, there = 0;

	may |= one_way ? BIT(ONE_WAY) : 0;
	for (int as = 0; as < LINK_PROTOCOL_COUNT; as++)
		there |= may >> as & 1 && c->protocol[as].share ? 1u << as : 0;
	return there ? there : BIT(PLAIN);
}

bool link_time_by(const struct link_cfg *c, const struct link_ask *q, enum link_algorithm by, struct link_time *out)
{
	struct plan p;
	unsigned as;
	bool any = false;

	if (by == LINK_BY_AUTO || q->chips < 2 || !c->bandwidth || !algorithms[by].plan(c, q, &p))
		return false;
	as = protocols_of(c, q, by);
	if (c->ll_most && p.sent > c->ll_most)
		as &= ~BIT(LL);
	for (int i = 0; i < LINK_PROTOCOL_COUNT; i++)
		if (as >> i & 1) {
			const struct link_time t = time_as(c, &p, by, (enum link_protocol)i);

			if (!any || t.total < out->total)
				*out = t;
			any = true;
		}
	return any;
}

struct link_time link_time(const struct link_cfg *c, const struct link_ask *q)
{
	struct link_time best = { .total = 0 }, t;
	bool any = false;

	if (c->collective != LINK_BY_AUTO && link_time_by(c, q, (enum link_algorithm)c->collective, &t))
		return t;
	for (int by = LINK_BY_AUTO + 1; by < LINK_ALGORITHM_COUNT; by++)
		if (!algorithms[by].asked && link_time_by(c, q, (enum link_algorithm)by, &t)) {
			if (!any || t.total < best.total)
				best = t;
			any = true;
		}
	return best;
}

uint64_t link_energy(const struct link_cfg *c, uint64_t sent)
{
	const u128 fj = (u128)sent * 8 * c->energy;

	return fj < UINT64_MAX ? (uint64_t)fj : UINT64_MAX;
}
