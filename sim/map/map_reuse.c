/* map_reuse.c - results that stay in SRAM for who reads them, where that pays (arch/npu/sram.h, `forward`).
 *
 * A tensor may stay that the program makes in one op, whole, and reads later: not weights, KV or what a router chooses,
 * and not what nothing reads, which is the program's result. It takes its bytes from its writer to its last reader, and the
 * commands in that life, and no others, have so much less room for their tiles.
 * What takes a small part of SRAM (one of PARTS, with all that lives with it) stays where nobody in its life would take
 * that, having all of SRAM to itself. All else is asked about in program order: the groups of ops in its life are mapped with
 * and without it, chains among them joined and apart, and evaluated as they follow each other (map_evaluate.c); it stays where that is
 * faster. Equal lives are evaluated once. Room that is searched for is counted in the same parts, so that who has about as
 * much is searched for once (map_tile.c).
 * Leaves out: a part of a tensor; staying for some of its readers; what others, behind its life, fetch ahead; lives of more than
 * MOST_LIFE groups or MAP_COSCHEDULED commands; in how many blocks an op is done, where that changes. */
#include <math.h>

#include "sim/base/hash.h"
#include "sim/map/map_int.h"

#define PARTS     32 /* of all scratchpads: room is counted in them */
#define MOST_LIFE 32 /* groups of ops: who lives longer and takes a part of SRAM is not asked about */

/* Tensors that more than one op writes, or one that is not simulated touches, cannot stay. */
static int find_bad(const struct mapper *m, uint8_t *bad, struct err *e)
{
	const struct op_stream *s = m->s;
	uint8_t *written = arena_alloc(m->a, s->n_tensors + 1);

	if (!written)
		return err_nomem(e, "for the mapper");
	for (size_t i = 0; i < s->n_ops; i++)
		for (uint32_t k = 0; k < s->ops[i].n_operands; k++) {
			const struct op_operand *x = map_operand(m, &s->ops[i], k);

			if (!op_is_simulated(s->ops[i].kind) || (x->write && written[x->tensor]))
				bad[x->tensor] = 1;
			written[x->tensor] |= x->write;
		}
	return 0;
}

static bool may_stay(const struct mapper *m, uint32_t tensor)
{
	const struct op_tensor *t = &m->s->tensors[tensor];

	return !t->external && t->route < 0 && t->instances <= 1 && t->role != OP_KV && t->role != OP_WEIGHT &&
	       m->last_read[tensor] != UINT32_MAX && m->first_write[tensor] < m->last_read[tensor];
}

/* --- room -------------------------------------------------------------------------------------------------- */

static uint64_t map_reuse_bytes_of(const struct mapper *m, uint32_t tensor)
{
	return map_stored_bytes(m, tensor, m->s->tensors[tensor].bytes);
}

void map_reuse_set(struct mapper *m, uint32_t tensor, bool stays)
{
	const uint64_t bytes = map_reuse_bytes_of(m, tensor);

	m->reused[tensor] = stays;
	for (uint32_t i = m->first_write[tensor]; i <= m->last_read[tensor]; i++)
		m->living[i] += stays ? bytes : -bytes;
}

/* What stays of what op `k` makes; not what ops before `end` alone read. */
static uint64_t kept_of(const struct mapper *m, uint32_t k, uint32_t end)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < m->s->ops[k].n_operands; i++) {
		const struct op_operand *x = map_operand(m, &m->s->ops[k], i);

		if (x->write && m->reused[x->tensor] && m->last_read[x->tensor] >= end)
			n += map_reuse_bytes_of(m, x->tensor);
	}
	return n;
}

static uint64_t grain(const struct mapper *m)
{
	return m->c->mapping.policy == MAPPING_COPY_FIRST ? 1 : ps_max(1, m->all_sram / PARTS);
}

void map_capacity(struct mapper *m, uint32_t first, uint32_t n)
{
	uint64_t held = m->living[first] - kept_of(m, first, first) + kept_of(m, first, first + n);

	for (uint32_t k = first + 1; k < first + n; k++)
		held += kept_of(m, k, first + n);
	m->capacity = m->all_sram - ps_min(m->all_sram, held);
	m->sram = m->all_sram - ps_min(m->all_sram, round_up(held, grain(m)));
}

int map_reuse_emit(const struct mapper *m, const uint32_t *members, struct isa_cmd *cmds, size_t n_cmds, struct err *e)
{
	struct {
		uint32_t writer, reader;
	} *by = arena_array(m->a, m->s->n_tensors + 1, sizeof *by);

	if (!by)
		return err_nomem(e, "for the mapper");
	for (size_t i = 0; i < m->s->n_tensors; i++)
		by[i].writer = by[i].reader = UINT32_MAX;
	for (uint32_t k = 0; k < n_cmds; k++)
		for (uint32_t i = 0; i < cmds[k].n_ops; i++) {
			const struct op *o = &m->s->ops[members[cmds[k].first_op + i]];

			for (uint32_t n = 0; n < o->n_operands; n++) {
				const struct op_operand *x = map_operand(m, o, n);

				if (!x->write)
					by[x->tensor].reader = k;
				else if (by[x->tensor].writer == UINT32_MAX)
					by[x->tensor].writer = k;
			}
		}
	for (uint32_t i = 0; i < m->s->n_tensors; i++)
		if (m->reused[i] && by[i].writer != by[i].reader) { /* else it never leaves a command */
			cmds[by[i].writer].keeps_bytes += map_reuse_bytes_of(m, i);
			cmds[by[i].reader].frees_bytes += map_reuse_bytes_of(m, i);
		}
	return 0;
}

/* --- whether it pays --------------------------------------------------------------------------------------- */

struct keeper {
	struct mapper *m;
	const struct fuse_group *groups;
	uint32_t *group_of; /* by op */
	uint8_t *bad;       /* by tensor */
	struct map_candidate *d;
	uint64_t *takes;                             /* by group, of all SRAM; 0: not known yet */
	struct map_candidate *life[MAP_COSCHEDULED]; /* commands of one, `n` of them */
	uint32_t n;
	bool joined;         /* a chain is among them */
	uint64_t cuts, most; /* how many blocks they are of; the most SRAM that one has */
};

/* The most SRAM that a group takes where it has all of it, as one command or as several. */
static uint64_t takes(struct keeper *k, const struct fuse_group *g)
{
	struct mapper *m = k->m;
	uint64_t most = 0;

	m->capacity = m->sram = m->all_sram;
	for (uint32_t i = g->first; i < g->first + g->n; i++)
		if (op_is_simulated(m->s->ops[i].kind))
			most = ps_max(most, map_group(m, i, 1, k->d) ? map_takes(m, k->d) : m->all_sram);
	if (g->n > 1 && map_group(m, g->first, g->n, k->d))
		most = ps_max(most, map_takes(m, k->d));
	return most;
}

static uint64_t takes_of(struct keeper *k, uint32_t group)
{
	const struct fuse_group *g = &k->groups[group];
	const uint64_t *known;
	uint64_t key;

	if (k->takes[group])
		return k->takes[group];
	key = map_ops_key(k->m, g->first, g->n);
	if ((known = map_memo_find(k->m->memo, MAP_MEMO_TAKES, key)))
		return k->takes[group] = *known;
	k->takes[group] = ps_max(1, takes(k, g));
	map_memo_put(k->m->memo, MAP_MEMO_TAKES, key, &k->takes[group]);
	return k->takes[group];
}

/* A small part of SRAM, with all that lives with it. */
static bool is_small(const struct mapper *m, uint32_t tensor)
{
	const uint64_t bytes = map_reuse_bytes_of(m, tensor), one = grain(m);

	for (uint32_t i = m->first_write[tensor]; i <= m->last_read[tensor]; i++)
		if (div_up(m->living[i] + bytes, one) > ps_max(1, div_up(m->living[i], one)))
			return false;
	return true;
}

/* Nobody in its life would take what it has. */
static bool is_in_nobodys_way(struct keeper *k, uint32_t tensor)
{
	const struct mapper *m = k->m;

	for (uint32_t i = m->first_write[tensor]; i <= m->last_read[tensor]; i++)
		if (m->living[i] > m->all_sram - takes_of(k, k->group_of[i]))
			return false;
	return true;
}

/* One more command of its life. */
static struct map_candidate *next(struct keeper *k)
{
	struct map_candidate **d = &k->life[k->n];

	if (k->n == MAP_COSCHEDULED || (!*d && !(*d = arena_alloc(k->m->a, sizeof **d))))
		return NULL;
	k->n++;
	return *d;
}

/* An op alone; of several blocks the first. */
static bool map_reuse_add_op(struct keeper *k, uint32_t op)
{
	const struct op *o = &k->m->s->ops[op];
	struct map_candidate *d;
	struct map_cutting c = { MAP_CUTS, 0 };

	if (!op_is_simulated(o->kind))
		return true;
	if (!(d = next(k)))
		return false;
	map_capacity(k->m, op, 1);
	if (!map_attention(k->m, o, 0, d) && !map_blocks(k->m, op, d, &c))
		return false;
	k->cuts = map_and_u64(k->cuts, c.blocks * MAP_CUTS + c.cut);
	k->most = ps_max(k->most, k->m->sram);
	return true;
}

static bool add_group(struct keeper *k, const struct fuse_group *g)
{
	struct map_candidate *d;

	if (g->n > 1) {
		if (!(d = next(k)))
			return false;
		if (map_chain(k->m, g, d, NULL, NULL)) {
			k->joined = true;
			k->most = ps_max(k->most, k->m->sram);
			return true;
		}
		k->n--;
	}
	for (uint32_t i = g->first; i < g->first + g->n; i++)
		if (!map_reuse_add_op(k, i))
			return false;
	return true;
}

/* The groups of its life, one after the other. SRAM that others' results hold in all of it is not there. */
static struct map_score time_of_life(struct keeper *k, uint32_t tensor, bool stays)
{
	const struct map_score never = { PS_NEVER, PS_NEVER, INFINITY };
	const uint32_t last = k->group_of[k->m->last_read[tensor]];
	const struct map_round how = { true, stays ? map_reuse_bytes_of(k->m, tensor) : 0 };

	k->n = 0;
	k->joined = false;
	k->cuts = k->most = 0;
	for (uint32_t g = k->group_of[k->m->first_write[tensor]]; g <= last; g++)
		if (!add_group(k, &k->groups[g]))
			return never;
	k->m->sram = ps_min(k->m->all_sram, k->most + how.keeps);
	return map_evaluate_round(k->m, k->life, k->n, &how);
}

/* Groups of its life that are chains may be joined, or not. */
static void take_apart(struct keeper *k, uint32_t tensor, bool apart)
{
	const struct mapper *m = k->m;

	for (uint32_t g = k->group_of[m->first_write[tensor]]; g <= k->group_of[m->last_read[tensor]]; g++)
		m->apart[k->groups[g].first] = apart;
}

/* Not where it takes other blocks: one of each was evaluated. */
static enum map_reuse_choice best(struct keeper *k, uint32_t tensor)
{
	struct map_score stays, apart = { PS_NEVER, PS_NEVER, INFINITY }, leaves;
	uint64_t cuts, cuts_apart;

	map_reuse_set(k->m, tensor, true);
	stays = time_of_life(k, tensor, true);
	cuts = cuts_apart = k->cuts;
	if (k->joined) {
		take_apart(k, tensor, true);
		apart = time_of_life(k, tensor, true);
		cuts_apart = k->cuts;
		take_apart(k, tensor, false);
	}
	map_reuse_set(k->m, tensor, false);
	if (stays.cold == PS_NEVER && apart.cold == PS_NEVER)
		return MAP_NOT_REUSED;
	leaves = time_of_life(k, tensor, false);
	if (apart.worth < stays.worth && apart.worth < leaves.worth && k->cuts == cuts_apart)
		return MAP_REUSED_APART;
	return stays.worth < leaves.worth && k->cuts == cuts ? MAP_REUSED : MAP_NOT_REUSED;
}

/* All that the answer hangs on: the groups of its life, its place in them, and their room. */
static uint64_t map_reuse_key_of(const struct keeper *k, uint32_t tensor)
{
	const struct mapper *m = k->m;
	const uint32_t from = k->group_of[m->first_write[tensor]], to = k->group_of[m->last_read[tensor]];
	const uint32_t first = k->groups[from].first, end = k->groups[to].first + k->groups[to].n;
	uint64_t h = map_ops_key(m, first, end - first);

	for (uint32_t i = first; i < end; i++) {
		const struct op *o = &m->s->ops[i];

		h = map_and_u64(h, m->living[i] << 1 | m->apart[k->groups[k->group_of[i]].first]);
		h = map_and_u64(h, k->group_of[i] - from);
		for (uint32_t n = 0; n < o->n_operands; n++)
			h = map_and_u64(h, map_operand(m, o, n)->tensor == tensor);
	}
	return h | 1;
}

static enum map_reuse_choice decided(struct keeper *k, uint32_t tensor)
{
	const uint64_t key = map_reuse_key_of(k, tensor);
	const enum map_reuse_choice *known = map_memo_find(k->m->memo, MAP_MEMO_STAYS, key);
	enum map_reuse_choice stays;

	if (known)
		return *known;
	stays = best(k, tensor);
	map_memo_put(k->m->memo, MAP_MEMO_STAYS, key, &stays);
	return stays;
}

/* It would leave those in its life less than half of SRAM: their tiles would be so much smaller that it hardly ever pays, and to
 * find out takes long. */
static bool is_too_large(const struct mapper *m, uint32_t tensor)
{
	const uint64_t bytes = map_reuse_bytes_of(m, tensor);

	for (uint32_t i = m->first_write[tensor]; i <= m->last_read[tensor]; i++)
		if (m->living[i] + bytes > m->all_sram / 2)
			return true;
	return false;
}

static enum map_reuse_choice asked(struct keeper *k, uint32_t tensor)
{
	if (is_too_large(k->m, tensor))
		return MAP_NOT_REUSED;
	return decided(k, tensor);
}

/* Small ones stay if they are in nobody's way, and all others where that pays. */
static void decide(struct keeper *k, uint32_t tensor)
{
	struct mapper *m = k->m;
	const uint32_t from = k->group_of[m->first_write[tensor]], to = k->group_of[m->last_read[tensor]];
	enum map_reuse_choice stays = MAP_NOT_REUSED;

	if (m->reused[tensor] && is_in_nobodys_way(k, tensor))
		return;
	if (m->reused[tensor])
		map_reuse_set(m, tensor, false);
	if (m->evaluator && to - from < MOST_LIFE)
		stays = asked(k, tensor);
	if (stays)
		map_reuse_set(m, tensor, true);
	if (stays == MAP_REUSED_APART)
		take_apart(k, tensor, true);
}

/* All that may stay, in program order. */
static void map_reuse_each(struct keeper *k, void (*f)(struct keeper *k, uint32_t tensor))
{
	const struct mapper *m = k->m;

	for (uint32_t i = 0; i < m->s->n_ops; i++)
		for (uint32_t n = 0; n < m->s->ops[i].n_operands; n++) {
			const struct op_operand *x = map_operand(m, &m->s->ops[i], n);

			if (x->write && !k->bad[x->tensor] && may_stay(m, x->tensor))
				f(k, x->tensor);
		}
}

static void keep_small(struct keeper *k, uint32_t tensor)
{
	if (is_small(k->m, tensor))
		map_reuse_set(k->m, tensor, true);
}

int map_reuse_new(struct mapper *m, struct err *e)
{
	m->reused = arena_alloc(m->a, m->s->n_tensors + 1);
	m->living = arena_array(m->a, m->s->n_ops + 1, sizeof *m->living);
	m->apart = arena_alloc(m->a, m->s->n_ops + 1);
	if (!m->reused || !m->living || !m->apart)
		return err_nomem(e, "for the mapper");
	return 0;
}

int map_reuse(struct mapper *m, const struct fuse_group *groups, size_t n_groups, struct map_candidate *d,
              struct err *e)
{
	struct keeper *k;

	if (m->c->mapping.policy == MAPPING_COPY_FIRST) {
		map_reuse_preloaded(m);
		return 0;
	}
	if (!m->c->sram.forward)
		return 0;
	if (!(k = arena_alloc(m->a, sizeof *k)) || !(k->bad = arena_alloc(m->a, m->s->n_tensors + 1)) ||
	    !(k->group_of = arena_array(m->a, m->s->n_ops + 1, sizeof *k->group_of)) ||
	    !(k->takes = arena_array(m->a, n_groups + 1, sizeof *k->takes)))
		return err_nomem(e, "for the mapper");
	k->m = m;
	k->groups = groups;
	k->d = d;
	for (size_t i = 0; i < n_groups; i++)
		for (uint32_t o = groups[i].first; o < groups[i].first + groups[i].n; o++)
			k->group_of[o] = (uint32_t)i;
	if (find_bad(m, k->bad, e) < 0)
		return -1;
	map_reuse_each(k, keep_small);
	map_reuse_each(k, decide);
	return 0;
}
