#include "sim/map/map_int.h"

#include <math.h>
#include <string.h>

static bool written_in(const struct mapper *m, uint32_t first, uint32_t end, uint32_t tensor)
{
	for (uint32_t i = first; i < end; i++)
		for (uint32_t k = 0; k < m->s->ops[i].n_operands; k++) {
			const struct op_operand *x = map_operand(m, &m->s->ops[i], k);

			if (x->write && x->tensor == tensor)
				return true;
		}
	return false;
}

static bool read_in(const struct mapper *m, uint32_t first, uint32_t end, uint32_t tensor)
{
	for (uint32_t i = first; i < end; i++)
		for (uint32_t k = 0; k < m->s->ops[i].n_operands; k++) {
			const struct op_operand *x = map_operand(m, &m->s->ops[i], k);

			if (!x->write && x->tensor == tensor)
				return true;
		}
	return false;
}

static bool loaded(const struct map_candidate *d, const struct op_operand *x)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->insn[i].code == ISA_LOAD && d->insn[i].tensor == x->tensor && d->insn[i].slot == x->slot)
			return true;
	return false;
}

struct isa_insn *map_move(const struct mapper *m, struct map_candidate *d, const struct op *o,
                          const struct op_operand *x, enum isa_when when)
{
	const struct op_tensor *t = &m->s->tensors[x->tensor];
	struct isa_insn *i = map_add(d);

	i->code = x->write ? ISA_STORE : ISA_LOAD;
	i->when = (uint8_t)when;
	i->unit = RES_DMA;
	i->src = x->write ? ISA_SRAM : ISA_MEM;
	i->dst = x->write ? ISA_MEM : ISA_SRAM;
	i->cls = (uint8_t)t->role;
	i->dtype = (uint8_t)t->dtype;
	i->op = o->id;
	i->tensor = x->tensor;
	i->slot = x->slot;
	/* The op's own router: in a range of several steps each has one, over the same weights. */
	i->route = t->route >= 0 ? (o->routed_by >= 0 ? o->routed_by : t->route) : -1;
	i->offset = map_stored_bytes(m, x->tensor, x->offset);
	i->bytes = map_stored_bytes(m, x->tensor, x->touched);
	i->early = !x->write && t->external && m->first_write[x->tensor] >= o->id;
	i->pinned = !x->write && (m->pinned[x->tensor] || m->stationary[x->tensor]);
	if (m->reused[x->tensor])
		*(x->write ? &i->dst : &i->src) = ISA_SRAM;
	return i;
}

/* What is streamed tile by tile: a product's weights, attention's keys and values, the large operands of the rest. Weights that a
 * router picks are an operand each, of one tensor. */
bool map_streams(const struct mapper *m, const struct op *o, uint32_t i)
{
	const struct op_traits *t = &op_traits[o->kind];
	const struct op_operand *x = map_operand(m, o, i);
	uint32_t nth = 0;
	uint64_t most = 0;

	for (uint32_t k = 0; k < o->n_operands; k++) {
		if (k < i && !map_operand(m, o, k)->write)
			nth += nth != 1 || map_operand(m, o, k)->tensor != x->tensor;
		if (map_operand(m, o, k)->touched > most)
			most = map_operand(m, o, k)->touched;
	}
	if (op_is_product(o->kind))
		return !x->write && nth < OP_OPERANDS && t->operands[nth].streams;
	/* What sums over a row, or does one in one piece, has its result when it has read all of it. */
	return x->touched * 8 >= most && (!x->write || !(t->reduces || t->whole_rows));
}

static bool in_tiles(const struct mapper *m, const struct op *o, uint32_t i, enum map_tiled cuts)
{
	if (m->stationary[map_operand(m, o, i)->tensor])
		return false;
	return cuts == MAP_ALL || (cuts != MAP_WHOLE && map_streams(m, o, i)) || (cuts == MAP_DEEP && i == 0);
}

/* How often an op that stands alone loads an operand: rows that it goes over in passes as often, where they do not stay. */
static uint32_t reads(const struct mapper *m, const struct op *o, bool alone, const struct op_operand *x, uint32_t i)
{
	const struct op_traits *t = &op_traits[o->kind];

	return alone && m->c->mapping.passes_read && t->vector && !op_is_product(o->kind) && x->touched &&
	                       map_streams(m, o, i) && t->passes
	               ? t->passes
	               : 1;
}

/* Loads and stores of one member. */
static void moves(const struct mapper *m, struct map_candidate *d, uint32_t first, uint32_t end, const struct op *o,
                  enum map_tiled cuts, bool stores)
{
	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = map_operand(m, o, i);

		if (x->write != stores || x->touched == 0 ||
		    (m->reused[x->tensor] && m->c->mapping.policy == MAPPING_COPY_FIRST))
			continue;
		if (!stores && (written_in(m, first, o->id, x->tensor) || loaded(d, x)))
			continue;
		/* An intermediate that nobody outside reads never leaves the fusion buffer. */
		if (stores && read_in(m, o->id + 1, end, x->tensor) && m->last_read[x->tensor] < end)
			continue;
		for (uint32_t n = stores ? 1 : reads(m, o, first + 1 == end, x, i); n; n--)
			map_move(m, d, o, x, in_tiles(m, o, i, cuts) ? ISA_TILE : stores ? ISA_POST : ISA_PRE);
	}
}

static uint64_t intermediates(const struct mapper *m, uint32_t first, uint32_t end)
{
	uint64_t n = 0;

	for (uint32_t i = first; i < end; i++)
		for (uint32_t k = 0; k < m->s->ops[i].n_operands; k++) {
			const struct op_operand *x = map_operand(m, &m->s->ops[i], k);

			if (x->write && read_in(m, i + 1, end, x->tensor))
				n += x->touched;
		}
	return n;
}

/* Whether what a product makes is wanted whole, by those fused behind it. */
static bool used_behind(const struct mapper *m, const struct op *main, uint32_t end)
{
	for (uint32_t i = 0; i < main->n_operands; i++) {
		const struct op_operand *x = map_operand(m, main, i);

		if (x->write && read_in(m, main->id + 1, end, x->tensor))
			return true;
	}
	return false;
}

static uint32_t products(const struct mapper *m, uint32_t first, uint32_t end)
{
	uint32_t n = 0;

	for (uint32_t k = first; k < end; k++)
		n += op_is_product(m->s->ops[k].kind);
	return n;
}

uint64_t map_takes(const struct mapper *m, const struct map_candidate *d)
{
	const uint64_t most = ps_min(m->c->dma.stages, d->tiles), room = m->all_sram - d->fixed_bytes;

	return d->fixed_bytes + (d->slot_bytes ? ps_min(most, room / d->slot_bytes) * d->slot_bytes : 0);
}

/* As it would be with all of SRAM, where there is room for as many tiles of that at once: what others hold of it does not
 * matter then. */
static bool map_tile_choose(const struct mapper *m, struct map_candidate *d, const struct op *main,
                            const struct map_constraints *how, struct map_schedule *made)
{
	struct mapper all = *m;
	struct map_candidate t;

	all.sram = m->all_sram;
	map_candidate_copy(&t, d);
	if (m->sram < m->all_sram && map_choose(&all, &t, main, how, made) && map_takes(m, &t) <= m->capacity) {
		map_candidate_copy(d, &t);
		return true;
	}
	return map_choose(m, d, main, how, made);
}

/* Where products are joined, `main` is the first with the columns of all; the others are streamed with it. */
static bool make_candidate(const struct mapper *m, uint32_t first, uint32_t n, const struct op *main,
                           enum map_tiled cuts, struct map_block *b, struct map_candidate *d)
{
	const uint32_t end = first + n, together = n > 1 ? products(m, first, end) : 0;

	d->n = d->n_edges = 0;
	d->tiles = d->dispatches = 0;
	memset(d->trips, 0, sizeof d->trips);
	d->overflow = false;
	d->ahead = main && op_is_product(main->kind) && m->s->ops[main->id].shape.m <= m->c->mapping.ahead_rows;
	d->why = n > 1 ? "chain in the fusion engine" : "moved by the DMA";
	if (n > 1 && n != together) {
		struct isa_insn *i = map_add(d);

		i->code = ISA_FUSED_BEGIN;
		i->when = ISA_PRE;
		i->unit = RES_FUSION;
		i->op = first;
		i->span = i->span_last = m->c->fusion.setup;
	}
	for (uint32_t k = first; k < end; k++) {
		const struct op *o = main && k == main->id ? main : &m->s->ops[k];
		const bool streamed = o == main || (together > 1 && op_is_product(o->kind));

		moves(m, d, first, end, o, streamed ? cuts : MAP_WHOLE, false);
		map_emit_stationary(m, d, o);
		if (!streamed)
			map_emit_math(m, d, o, MAP_WHOLE, main && k < main->id ? ISA_PRE : ISA_POST, 1);
	}
	for (uint32_t k = first; k < end; k++) {
		const struct op *o = main && k == main->id ? main : &m->s->ops[k];

		moves(m, d, first, end, o, o == main ? cuts : MAP_WHOLE, true);
	}
	if (b)
		map_block_moves(m, main, b, d);
	d->fixed_bytes = map_bytes(d, ISA_LOAD, ISA_PRE) + map_bytes(d, ISA_STORE, ISA_POST) +
	                 (n > 1 ? intermediates(m, first, end) : 0) - map_stationary_bytes(m, d);
	if (main) {
		const bool may_nest = main->kind == OP_GEMM && main->shape.batch <= 1 && cuts == MAP_STREAMED &&
		                      !map_stationary_unit(m, main) && together < 2;
		const struct map_constraints how = { cuts, may_nest, may_nest && used_behind(m, main, end),
			                             b && b->decided ? &b->made : NULL };
		struct map_schedule made;

		if (!map_tile_choose(m, d, main, &how, &made) || d->overflow)
			return false;
		if (b)
			b->made = made;
		return true;
	}
	d->slot_bytes = 0;
	d->predicted = map_predict_stream(m, d, 0, NULL, 0);
	return d->fixed_bytes <= m->sram && !d->overflow;
}

bool map_group(const struct mapper *m, uint32_t first, uint32_t n, struct map_candidate *d)
{
	const struct op *main = NULL;

	for (uint32_t k = first; k < first + n && !main; k++)
		if ((n == 1 && m->s->ops[k].kind != OP_HOST_SYNC) || op_is_product(m->s->ops[k].kind))
			main = &m->s->ops[k];
	if (make_candidate(m, first, n, main, MAP_STREAMED, NULL, d))
		return true;
	/* A sum over an inner dimension makes almost as much as it reads, a sort more, and what the host reads need not
	 * be in SRAM at once: all of it is cut then. */
	return n == 1 && !op_is_product(m->s->ops[first].kind) &&
	       make_candidate(m, first, 1, &m->s->ops[first], MAP_ALL, NULL, d);
}

bool map_horizontal_command(const struct mapper *m, uint32_t first, uint32_t n, struct map_candidate *d)
{
	struct op all = m->s->ops[first];

	for (uint32_t k = first + 1; k < first + n; k++)
		all.shape.n += m->s->ops[k].kind == OP_GEMM ? m->s->ops[k].shape.n : 0;
	return make_candidate(m, first, n, &all, MAP_STREAMED, NULL, d);
}

/* A block as b->made has it, or as `other`: what the evaluator takes less for. */
static bool narrowed(const struct mapper *m, const struct op *part, enum map_tiled cuts, struct map_block *b,
                     struct map_schedule other, struct map_candidate *d)
{
	const struct map_schedule made = b->made;
	struct mapper among = *m; /* others of its kind */
	double worth = INFINITY;
	bool can;

	among.alone = false;
	if ((can = make_candidate(m, part->id, 1, part, cuts, b, d)))
		worth = map_evaluate(&among, d).worth;
	b->made = other;
	if (make_candidate(m, part->id, 1, part, cuts, b, d) && (!can || map_evaluate(&among, d).worth < worth))
		return true;
	b->made = made;
	return can && make_candidate(m, part->id, 1, part, cuts, b, d);
}

bool map_block(const struct mapper *m, uint32_t op, enum map_cut cut, uint64_t blocks, uint64_t k,
               struct map_candidate *d)
{
	const enum map_tiled cuts = cut == MAP_CUT_DEEP ? MAP_DEEP : MAP_STREAMED;
	struct op part = m->s->ops[op], whole;
	struct map_block b = { .decided = false };

	if (!map_block_take(&part, cut, blocks, k, &b))
		return false;
	whole = part;
	map_block_keys(m, &part, &b);
	if (b.keys < b.all_keys) { /* all blocks are done as the one that sees all keys: one choice for all */
		struct map_block w = b;

		w.keys = w.all_keys;
		if (!make_candidate(m, op, 1, &whole, cuts, &w, d))
			return false;
		b.decided = true;
		b.made = map_schedule_narrowed(&w.made, &whole, &part, false);
		if (w.made.by_head && m->evaluator)
			return narrowed(m, &part, cuts, &b, map_schedule_narrowed(&w.made, &whole, &part, true), d);
	}
	return make_candidate(m, op, 1, &part, cuts, &b, d);
}
