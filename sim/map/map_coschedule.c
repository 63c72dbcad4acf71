/* map_coschedule.c - independent products that are alike, side by side on disjoint groups of cores.
 *
 * Experts of one layer, k and v, gates and ups: each may be too small to fill all cores, and none waits for another. S of
 * them become one command in which each has a group of cores / S cores, planned as on a machine of so many cores. Equal
 * groups are one class: math takes as long as one group's, and is done S times; what is loaded for one goes to its group's
 * ports alone, and what all of them read is loaded once for all. It is dispatched as S commands are, and it ends when all
 * do.
 * Alike are groups of ops (with what is fused behind their product) of the same kinds, shapes, formats and places of
 * operands. They need not follow each other: one may be done earlier when all it waits for was (op.h has true, anti and
 * output dependences). Not where what it makes stays in SRAM: its room there is known for its place in the program.
 * It is done where the evaluator finds it clearly faster than one after the other on all cores in one of two states, operands in
 * DRAM and where a round before left them, slower in neither, moving no more bytes (smaller groups of cores have smaller tiles,
 * and what they read again and again a crowded L2 may not hold), and leaving half of SRAM to what is fetched ahead. Where DRAM
 * feeds them it seldom is.
 * Leaves out: groups of cores of unequal sizes; uneven tiles (map_remainder.c) that some but not all want; products that are not
 * alike. */
#include <string.h>

#include "sim/base/hash.h"
#include "sim/map/map_cost.h"

#define AHEAD     192 /* groups of ops looked at for siblings of one */
#define CLEARLY   0.1 /* of the product of both times: a round stands for a run in which others are fetched ahead, too */
#define DECISIONS 256 /* remembered; must be a power of two */

/* How many of so many alike go side by side; 1: none. */
struct decision {
	uint64_t key;
	uint32_t of, by;
};

struct map_coschedule {
	const struct fuse_group *groups;
	size_t n_groups;
	uint64_t *key;      /* by group: what it is; 0: of no such kind */
	uint8_t *done;      /* by group: mapped already */
	uint32_t *group_of; /* by op */
	struct mapper *part[MAP_COSCHEDULED + 1];
	struct map_candidate *one; /* of a group on its cores */
	struct map_candidate *all[MAP_COSCHEDULED];
	struct decision made[DECISIONS];
};

/* --- what is alike ----------------------------------------------------------------------------------------- */

/* 0: no group that may be one of several. Rows of a table are each alone. */
static uint64_t group_key(const struct mapper *m, const struct fuse_group *g)
{
	uint64_t h = map_and_u64(HASH_INIT, g->n);
	uint32_t products = 0;

	for (uint32_t k = g->first; k < g->first + g->n; k++)
		products += m->s->ops[k].kind == OP_GEMM;
	for (uint32_t k = g->first; k < g->first + g->n && products == 1; k++) {
		const struct op *o = &m->s->ops[k];

		if (o->listed || o->kind == OP_ATTENTION ||
		    (o->kind == OP_GEMM && (o->shape.batch > 1 || map_stationary_unit(m, o))))
			return 0;
		h = map_and_u64(map_op_key(m, o, h), (uint64_t)(uint32_t)o->routed_by);
	}
	return products == 1 ? h | 1 : 0;
}

struct map_coschedule *map_coschedule_new(const struct mapper *m, const struct fuse_group *groups, size_t n_groups)
{
	struct map_coschedule *b = arena_alloc(m->a, sizeof *b);

	if (!b || !(b->key = arena_array(m->a, n_groups + 1, sizeof *b->key)) ||
	    !(b->done = arena_alloc(m->a, n_groups + 1)) ||
	    !(b->group_of = arena_array(m->a, m->s->n_ops + 1, sizeof *b->group_of)) ||
	    !(b->one = arena_alloc(m->a, sizeof *b->one)))
		return NULL;
	b->groups = groups;
	b->n_groups = n_groups;
	for (size_t i = 0; i < n_groups; i++) {
		b->key[i] = group_key(m, &groups[i]);
		for (uint32_t k = groups[i].first; k < groups[i].first + groups[i].n; k++)
			b->group_of[k] = (uint32_t)i;
	}
	return b;
}

size_t map_coschedule_left(const struct map_coschedule *b, size_t group, uint32_t most)
{
	size_t n = 0;

	while (n < most && group + n < b->n_groups && !b->done[group + n])
		n++;
	return n;
}

/* Whether group `j` could be done where `i` is: all that it waits for was done before. */
static bool may_come(const struct mapper *m, const struct map_coschedule *b, size_t i, size_t j)
{
	const struct fuse_group *g = &b->groups[j];

	for (uint32_t k = g->first; k < g->first + g->n; k++)
		for (uint32_t n = 0; n < m->s->ops[k].n_deps; n++) {
			const uint32_t by = m->s->deps[m->s->ops[k].first_dep + n], of = b->group_of[by];

			if (by < g->first && of >= i && !b->done[of])
				return false;
		}
	return true;
}

static bool is_barrier(const struct mapper *m, const struct fuse_group *g)
{
	return op_traits[m->s->ops[g->first].kind].runs != OP_RUNS_HERE;
}

/* Group `i` and those like it, in order; `apart`: something else stands between them. */
static void siblings(const struct mapper *m, const struct map_coschedule *b, size_t i, struct map_coschedule_set *out,
                     bool *apart)
{
	const size_t end = i + AHEAD < b->n_groups ? i + AHEAD : b->n_groups;

	for (size_t j = i; j < end && out->n < MAP_COSCHEDULED && !is_barrier(m, &b->groups[j]); j++) {
		if (b->done[j] || b->key[j] != b->key[i] || !may_come(m, b, i, j))
			continue;
		*apart = *apart || (out->n && out->group[out->n - 1] + 1 != j);
		out->group[out->n++] = (uint32_t)j;
	}
}

/* Whether something that a group makes stays in SRAM. */
static bool stays(const struct mapper *m, const struct fuse_group *g)
{
	for (uint32_t k = g->first; k < g->first + g->n; k++)
		for (uint32_t x = 0; x < m->s->ops[k].n_operands; x++) {
			const struct op_operand *w = map_operand(m, &m->s->ops[k], x);

			if (w->write && m->reused[w->tensor])
				return true;
		}
	return false;
}

/* --- a group of cores -------------------------------------------------------------------------------------- */

/* The machine that each of `n` has; NULL: out of memory. */
static const struct mapper *map_coschedule_part_of(const struct mapper *m, struct map_coschedule *b, uint32_t n)
{
	struct mapper *p = b->part[n];
	struct map_levels *levels;
	struct machine_cfg *c;

	if (p) {
		p->all_sram = m->all_sram / m->c->cores * p->c->cores;
		p->capacity = m->capacity / m->c->cores * p->c->cores; /* what there is for the ops at hand */
		p->sram = m->sram / m->c->cores * p->c->cores;
		return p;
	}
	if (!(p = arena_alloc(m->a, sizeof *p)) || !(c = arena_alloc(m->a, sizeof *c)))
		return NULL;
	*p = *m;
	*c = *m->c;
	c->cores = m->c->cores / n;
	p->c = c;
	if (!(levels = arena_alloc(m->a, sizeof *levels)))
		return NULL;
	p->near_rate = m->near_rate / n;
	p->dram_rate = m->dram_rate / n;
	map_levels(p, levels);
	levels->dram *= n, levels->dram_write *= n, levels->l2 *= n;
	p->levels = levels;
	p->evaluator = NULL; /* its machine is the whole one; so no way on fewer cores is looked for */
	p->log = NULL;
	for (int i = 0; i < UNIT_COUNT; i++)
		p->unit[i] = machine_unit(c, (enum unit)i);
	if (!(p->asked = map_asked_new(m->a)))
		return NULL;
	b->part[n] = p;
	return map_coschedule_part_of(m, b, n);
}

/* Whether two of the same place do the same, of whatever tensor. */
static bool same_step(const struct isa_insn *a, const struct isa_insn *b)
{
	return a->code == b->code && a->when == b->when && a->unit == b->unit && a->src == b->src && a->dst == b->dst &&
	       a->cls == b->cls && a->early == b->early && a->pinned == b->pinned && a->bytes == b->bytes &&
	       a->tile_bytes == b->tile_bytes && a->stays == b->stays && a->turn == b->turn && a->copies == b->copies &&
	       a->share == b->share && a->span == b->span && a->span_last == b->span_last && a->work == b->work &&
	       memcmp(a->step, b->step, sizeof a->step) == 0;
}

static bool same_bytes(const struct isa_insn *a, const struct isa_insn *b)
{
	return a->tensor == b->tensor && a->slot == b->slot && a->route == b->route && a->offset == b->offset;
}

/* What the fullest core of `cores` has of a move. */
static uint64_t share_of(const struct isa_insn *i, uint64_t cores)
{
	return i->share ? i->share : div_up(i->when == ISA_TILE && i->tile_bytes ? i->tile_bytes : i->bytes, cores);
}

/* Of `by` groups on `cores` each, `wanted` want the move's bytes: those go to their ports at once, and of a server that
 * stands for all ports to as large a part. */
static void put_move(struct map_candidate *out, const struct isa_insn *x, uint32_t wanted, uint32_t by, uint32_t cores,
                     uint32_t of)
{
	struct isa_insn *to = map_add(out);

	*to = *x;
	if (wanted > 1)
		to->copies = (x->copies ? x->copies : 1) * wanted;
	if (wanted > 1 || x->share || cores * by != of)
		to->share = div_up(share_of(x, cores) * wanted, by);
}

/* Smaller tiles of the same: out's are the first group's, once for all of a step. */
static void put_edges(struct map_candidate *out, const struct isa_insn *x, uint32_t wanted, uint32_t by, uint32_t cores,
                      uint32_t of)
{
	struct isa_remainders *e = x->edges ? &out->edges[x->edges - 1] : NULL;

	for (unsigned at = 0; e && at < 1u << ISA_LOOPS; at++) {
		struct isa_remainder *y = &e->at[at];

		y->work *= by;
		if (isa_is_move(x) && (wanted > 1 || y->share || cores * by != of))
			y->share = div_up((y->share ? y->share : div_up(y->bytes, cores)) * wanted, by);
	}
}

/* Whether the kth has the same smaller tiles as the first. */
static bool same_edges(struct map_candidate *const *d, uint32_t k, uint32_t i)
{
	const uint32_t x = d[0]->insn[i].edges, y = d[k]->insn[i].edges;

	return x == y &&
	       (!x || (d[0]->edges[x - 1].loops == d[k]->edges[y - 1].loops &&
	               memcmp(d[0]->edges[x - 1].at, d[k]->edges[y - 1].at, sizeof d[0]->edges[x - 1].at) == 0));
}

static void put_math(const struct mapper *m, struct map_candidate *out, const struct isa_insn *x, uint32_t by)
{
	const uint64_t busy = (uint64_t)(1000000 - x->idle) * (m->c->cores / by) * by / m->c->cores;
	struct isa_insn *to = map_add(out);

	*to = *x;
	to->work *= by;
	to->work_last *= by;
	to->idle = (uint32_t)(1000000 - busy);
}

/* The i-th step of all as one; false: they are not alike. */
static bool lay_step(const struct mapper *m, struct map_candidate *const *d, uint32_t by, uint32_t i,
                     struct map_candidate *out)
{
	const struct isa_insn *first = &d[0]->insn[i];
	uint32_t all = 0; /* how many want each move's bytes; 0: not known yet */

	for (uint32_t k = 1; k < by; k++)
		if (!same_step(&d[k]->insn[i], first) || !same_edges(d, k, i))
			return false;
	if (!isa_is_move(first)) {
		put_math(m, out, first, by);
		put_edges(out, first, 1, by, m->c->cores / by, m->c->cores);
		return !first->pinned;
	}
	for (uint32_t k = 0; k < by; k++) {
		const struct isa_insn *x = &d[k]->insn[i];
		uint32_t wanted = 1;
		bool before = false;

		for (uint32_t j = 0; j < by && x->code == ISA_LOAD; j++) {
			before = before || (j < k && same_bytes(&d[j]->insn[i], x));
			wanted += j > k && same_bytes(&d[j]->insn[i], x);
		}
		if (before)
			continue;
		if (all && all != wanted && first->edges) /* a table is of one share */
			return false;
		all = wanted;
		put_move(out, x, wanted, by, m->c->cores / by, m->c->cores);
	}
	put_edges(out, first, all, by, m->c->cores / by, m->c->cores);
	return !out->overflow;
}

static bool lay_beside(const struct mapper *m, struct map_candidate *const *d, uint32_t by, struct map_candidate *out)
{
	map_candidate_copy(out, d[0]);
	out->n = 0;
	for (uint32_t k = 1; k < by; k++)
		if (d[k]->n != d[0]->n || d[k]->tiles != d[0]->tiles ||
		    memcmp(d[k]->trips, d[0]->trips, sizeof d[k]->trips) != 0)
			return false;
	for (uint32_t i = 0; i < d[0]->n; i++)
		if (!lay_step(m, d, by, i, out))
			return false;
	return true;
}

/* SRAM is counted as if all cores were as full. */
static uint64_t gang(const struct mapper *m, uint64_t bytes, uint32_t n)
{
	const uint32_t cores = m->c->cores / n;

	return div_up(bytes, cores) * m->c->cores;
}

/* The i-th of `which` alone on a mapper's machine. */
static bool candidate_of(const struct mapper *m, struct map_coschedule *b, const uint32_t *which, uint32_t i)
{
	if (!b->all[i] && !(b->all[i] = arena_alloc(m->a, sizeof **b->all)))
		return false;
	return map_group(m, b->groups[which[i]].first, b->groups[which[i]].n, b->all[i]);
}

/* The groups `which` as one command; false: they cannot be. */
static bool together(const struct mapper *m, struct map_coschedule *b, const uint32_t *which, uint32_t n,
                     struct map_candidate *out)
{
	const struct mapper *p = map_coschedule_part_of(m, b, n);

	if (!p || m->c->cores < n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!candidate_of(p, b, which, i))
			return false;
	if (!lay_beside(m, b->all, n, out))
		return false;
	out->slot_bytes = gang(m, b->all[0]->slot_bytes, n);
	out->fixed_bytes = gang(m, b->all[0]->fixed_bytes, n);
	return out->fixed_bytes <= m->sram && out->slot_bytes * (out->tiles > 1 ? 2 : 1) <= m->sram - out->fixed_bytes;
}

/* --- whether it pays --------------------------------------------------------------------------------------- */

/* Whether `n` of one take no longer than as many of the other, in both states: which of them a run is in nobody knows. */
static bool no_later(const struct map_score *a, uint32_t n, const struct map_score *b, uint32_t of)
{
	return (double)a->cold * of <= (double)b->cold * n && (double)a->warm * of <= (double)b->warm * n;
}

/* Bytes that the moves of so many commands move, in all rounds. */
static double moved(struct map_candidate *const *d, uint32_t n)
{
	double bytes = 0;

	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < d[k]->n; i++)
			bytes += isa_is_move(&d[k]->insn[i]) ? map_moved(d[k], &d[k]->insn[i]) : 0;
	return bytes;
}

/* SRAM that it takes while its tiles follow each other. */
static uint64_t map_coschedule_room(const struct map_candidate *d)
{
	return d->fixed_bytes + (d->tiles > 1 ? 2 : 1) * d->slot_bytes;
}

/* How many of `n` alike go side by side, 1: none. */
static uint32_t decide(const struct mapper *m, struct map_coschedule *b, const uint32_t *which, uint32_t n)
{
	struct map_score apart, beside;
	double least, bytes;
	uint64_t most;
	uint32_t best = 1;

	if (!candidate_of(m, b, which, 0) || map_hidden(m, b->all[0]))
		return 1;
	for (uint32_t i = 1; i < n; i++)
		if (!candidate_of(m, b, which, i))
			return 1;
	apart = map_evaluate_round(m, b->all, n, &(struct map_round){ 0 });
	bytes = moved(b->all, n);
	most = ps_max(m->sram / 2, map_coschedule_room(b->all[0]));
	least = (1 - CLEARLY) * apart.worth / n / n;
	for (uint32_t by = n; by > 1; by = by > 2 ? (by + 1) / 2 : 1) {
		const struct map_candidate *one = b->one;

		if (m->c->cores < by || !together(m, b, which, by, b->one))
			continue;
		if (moved((struct map_candidate *const *)&one, 1) * n > bytes * by || map_coschedule_room(one) > most)
			continue;
		beside = map_evaluate_round(m, (struct map_candidate *const *)&one, 1, &(struct map_round){ 0 });
		if (beside.worth / by / by >= least || !no_later(&beside, by, &apart, n))
			continue;
		least = beside.worth / by / by;
		best = by;
	}
	return best;
}

/* What those that follow each other make may stay: room beside all of it. */
static void make_room(struct mapper *m, const struct map_coschedule *b, const struct map_coschedule_set *s, bool apart)
{
	const struct fuse_group *first = &b->groups[s->group[0]],
				*last = apart ? first : &b->groups[s->group[s->n - 1]];

	map_capacity(m, first->first, last->first + last->n - first->first);
}

/* What was decided for more of them holds for fewer, if these are enough. */
static uint32_t remembered(const struct mapper *m, struct map_coschedule *b, const struct map_coschedule_set *s)
{
	const uint64_t key = map_and_u64(b->key[s->group[0]], m->sram);
	struct decision *d = &b->made[hash_mix(key) & (DECISIONS - 1)];

	if (d->key != key || s->n > d->of || s->n < d->by)
		*d = (struct decision){ key, s->n, decide(m, b, s->group, s->n) };
	return d->by;
}

bool map_coschedule(struct mapper *m, struct map_coschedule *b, size_t i, struct map_coschedule_set *out,
                    struct map_candidate *d, uint64_t *op_work_ps)
{
	bool apart = false;
	uint32_t by;

	out->n = 0;
	if (m->evaluator && !m->s->cases && m->c->mapping.side_by_side && m->c->cores > 1 && b->key[i] &&
	    m->c->mapping.policy != MAPPING_COPY_FIRST && !map_fixed(m))
		siblings(m, b, i, out, &apart);
	b->done[i] = 1;
	if (out->n < 2 || (apart && stays(m, &b->groups[i])))
		return false;
	make_room(m, b, out, apart);
	by = remembered(m, b, out);
	if (by < 2 || !together(m, b, out->group, by, d))
		return false;
	out->n = by;
	d->dispatches = (uint32_t)div_up(by, m->c->dispatch.batch);
	d->why = arena_printf(m->a, "%u side by side, %u cores each: %s", by, m->c->cores / by, d->why);
	for (uint32_t k = 0; k < by; k++) {
		const struct fuse_group *g = &b->groups[out->group[k]];

		b->done[out->group[k]] = 1;
		for (uint32_t o = g->first; o < g->first + g->n; o++)
			op_work_ps[o] = b->all[k]->predicted ? b->all[k]->predicted : 1;
	}
	return true;
}
