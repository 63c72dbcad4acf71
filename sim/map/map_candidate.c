/* map_candidate.c - a command while it is drafted: its instructions, and what of them is summed up. */
#include <string.h>

#include "sim/map/map_int.h"

struct isa_insn *map_add(struct map_candidate *d)
{
	static const struct isa_insn none = { 0 };

	if (d->n == MAP_INSNS) {
		d->overflow = true;
		return &d->insn[MAP_INSNS - 1];
	}
	d->insn[d->n] = none;
	return &d->insn[d->n++];
}

void map_candidate_copy(struct map_candidate *to, const struct map_candidate *from)
{
	to->n = from->n;
	to->tiles = from->tiles;
	memcpy(to->trips, from->trips, sizeof to->trips);
	to->slot_bytes = from->slot_bytes;
	to->fixed_bytes = from->fixed_bytes;
	to->predicted = from->predicted;
	to->overflow = from->overflow;
	to->why = from->why;
	to->dispatches = from->dispatches;
	to->ahead = from->ahead;
	memcpy(to->insn, from->insn, from->n * sizeof *from->insn);
	to->n_edges = from->n_edges;
	memcpy(to->edges, from->edges, from->n_edges * sizeof *from->edges);
}

/* Math of one of the pieces of k that a product is cut into. */
static int deep_math(const struct mapper *m, const struct op *o, uint64_t tiles, bool last,
                     struct map_math out[MAP_MATHS])
{
	const uint64_t each = div_up(o->shape.k, tiles), before = each * (tiles - 1);
	struct map_math full[MAP_MATHS];
	struct op part = *o;
	int n;

	part.shape.k = each;
	n = map_math(m, &part, 1, false, full);
	part.shape.k = !last ? each : o->shape.k > before ? o->shape.k - before : 1;
	map_math(m, &part, 1, false, out);
	if (n && o->kind == OP_GEMM)
		out[0] = map_product_as(m, &part, &full[0], part.shape.m,
		                        (part.shape.batch ? part.shape.batch : 1) * part.shape.n, part.shape.k);
	return n;
}

/* Math of a tile: a part of the columns or the elements, or of a product that is cut deep, of k. */
int map_tile_math(const struct mapper *m, const struct op *o, enum map_tiled cuts, uint64_t tiles, bool last,
                  struct map_math out[MAP_MATHS])
{
	return cuts == MAP_DEEP ? deep_math(m, o, tiles, last, out) : map_math(m, o, tiles, last, out);
}

void map_emit_math(const struct mapper *m, struct map_candidate *d, const struct op *o, enum map_tiled cuts,
                   enum isa_when when, uint64_t tiles)
{
	struct map_math full[MAP_MATHS], last[MAP_MATHS];
	int n = map_tile_math(m, o, cuts, tiles, false, full);

	map_tile_math(m, o, cuts, tiles, true, last);
	for (int k = 0; k < n; k++) {
		struct isa_insn *i = map_add(d);

		i->code = (uint8_t)full[k].plan.code;
		i->when = (uint8_t)when;
		i->unit = (uint8_t)unit_table[full[k].unit]->res;
		i->src = i->dst = ISA_SRAM;
		i->dtype = (uint8_t)o->dtype;
		i->op = o->id;
		i->span = full[k].plan.span;
		i->span_last = last[k].plan.span;
		i->latency = full[k].plan.latency;
		i->work = full[k].plan.work;
		i->work_last = last[k].plan.work;
		i->shape = o->kind == OP_GEMM ? (struct isa_shape){ o->shape.m, div_up(o->shape.n, tiles), o->shape.k }
		           : o->shape.elems   ? (struct isa_shape){ 1, 1, div_up(o->shape.elems, tiles) }
		                              : (struct isa_shape){ 1, o->shape.rows, o->shape.cols };
		map_emit_parts(i, &full[k].plan);
		if (when == ISA_TILE && k == 0)
			d->why = full[k].plan.why;
	}
	if (n && op_is_product(o->kind)) {
		map_emit_exchange(d, o, &full[0], cuts == MAP_DEEP ? ISA_POST : when, 1, 0);
		map_emit_combine(m, d, o, &full[0]);
	}
}

uint64_t map_bytes(const struct map_candidate *d, enum isa_code code, enum isa_when when)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (d->insn[i].code == code && d->insn[i].when == when)
			n += d->insn[i].bytes;
	return n;
}

ps_t map_spans(const struct map_candidate *d, enum isa_when when)
{
	ps_t t = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (!isa_is_move(&d->insn[i]) && d->insn[i].when == when)
			t += d->insn[i].span;
	return t;
}

uint64_t map_memory_bytes(const struct map_candidate *d)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (isa_is_move(&d->insn[i]))
			n += d->insn[i].bytes;
	return n;
}

bool map_hidden(const struct mapper *m, const struct map_candidate *d)
{
	const double math = (double)map_spans(d, ISA_PRE) + (double)map_spans(d, ISA_TILE) * d->tiles +
	                    (double)map_spans(d, ISA_POST);

	return math < (double)clock_transfer(map_memory_bytes(d), m->near_rate);
}
