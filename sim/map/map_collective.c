/* map_collective.c - a collective as a command: operands come into SRAM tile by tile, go over the links and come back.
 *
 * The call and the steps' latencies stand before the first tile, the bytes' time is spread over the tiles: as the closed form of
 * the links has it (arch/link/link.h), so both fidelities send and take the same. Links serve one collective at a time; whether
 * other units work meanwhile is the program's dependences' affair. */
#include <string.h>

#include "arch/link/link.h"
#include "sim/map/map_int.h"

static struct isa_insn *over_links(struct map_candidate *d, const struct op *o, enum isa_when when, ps_t span,
                                   ps_t last)
{
	struct isa_insn *i = map_add(d);

	i->code = ISA_LINK;
	i->when = (uint8_t)when;
	i->unit = RES_LINK;
	i->src = i->dst = ISA_SRAM;
	i->dtype = (uint8_t)o->dtype;
	i->op = o->id;
	i->span = span;
	i->span_last = last;
	return i;
}

struct link_time map_collective_time(const struct link_cfg *c, const struct op *o)
{
	struct link_ask q = { LINK_ALL_REDUCE, o->shape.peers, dtype_bytes(o->dtype, o->shape.elems), o->shape.hop };

	/* NCCL has one kernel for all that is sent (send_receive): of a trace that is an all-to-all. */
	if (!link_collective_find(o->fn ? o->fn : "", &q.what, NULL))
		q.what = LINK_ALL_TO_ALL;
	return link_time(c, &q);
}

/* Reads and writes whole tiles of `tiles`. */
static bool moves(const struct mapper *m, struct map_candidate *d, const struct op *o, uint32_t tiles)
{
	d->slot_bytes = 0;
	for (uint32_t k = 0; k < o->n_operands; k++) {
		struct isa_insn *i = map_move(m, d, o, map_operand(m, o, k), ISA_TILE);

		i->tile_bytes = div_up(i->bytes, tiles);
		i->step[0] = 1;
		d->slot_bytes += i->tile_bytes;
	}
	return !d->overflow && d->slot_bytes <= m->sram;
}

static uint64_t largest(const struct mapper *m, const struct op *o)
{
	uint64_t most = 1;

	for (uint32_t k = 0; k < o->n_operands; k++)
		most = ps_max(most, map_stored_bytes(m, map_operand(m, o, k)->tensor, map_operand(m, o, k)->touched));
	return most;
}

bool map_collective(const struct mapper *m, const struct op *o, struct map_candidate *d)
{
	const struct link_time t = map_collective_time(&m->c->links, o);
	const uint32_t tiles = (uint32_t)div_up(largest(m, o), m->c->dma.tile);
	const ps_t bytes = t.wire + t.own, each = bytes / tiles;
	struct isa_insn *i;

	d->n = d->n_edges = 0;
	d->dispatches = 0;
	memset(d->trips, 0, sizeof d->trips);
	d->overflow = false;
	d->fixed_bytes = 0;
	d->tiles = tiles;
	d->why = link_algorithm_name(t.by);
	over_links(d, o, ISA_PRE, t.start + t.steps, t.start + t.steps);
	i = over_links(d, o, ISA_TILE, each, bytes - each * (tiles - 1));
	i->work = t.sent / tiles;
	i->work_last = t.sent - i->work * (tiles - 1);
	d->predicted = t.total;
	return moves(m, d, o, tiles);
}
