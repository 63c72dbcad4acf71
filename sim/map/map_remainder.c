/* map_remainder.c - tiles of a product's nest that are smaller: those in which m, n or k ends.
 *
 * Each of three loops is in its last round or not, so there are eight kinds of tiles at the most; what of them differs is
 * told apart by isa_remainders. Bytes of a tile are its part of the operand in each dimension, rounded up; what that is too much
 * by is not moved at the end. Cores have of a smaller tile what they would of a product of that size, cut as the full one. */
#include "sim/map/map_int.h"

static const uint8_t dims_of[] = { 1 << 0 | 1 << 2, 1 << 1 | 1 << 2, 1 << 0 | 1 << 1 }; /* of A, B, C: m, n, k */

void map_remainder_size(const struct map_grid *g, unsigned last, uint64_t mnk[MAP_DIMS])
{
	for (int d = 0; d < MAP_DIMS; d++)
		mnk[d] = last >> d & 1 ? g->size[d] - g->tile[d] * (g->trips[d] - 1) : g->tile[d];
}

unsigned map_remainder_dims(const struct map_grid *g)
{
	unsigned dims = 0;

	for (int d = 0; d < MAP_DIMS; d++)
		dims |= (unsigned)(g->trips[d] > 1 && g->size[d] % g->tile[d] != 0) << d;
	return dims;
}

/* Dimensions as the loops that go over them. */
static unsigned loops_of(const struct map_grid *g, unsigned dims)
{
	unsigned loops = 0;

	for (int l = 0; l < MAP_DIMS; l++)
		loops |= (dims >> g->loop[l] & 1) << l;
	return loops;
}

struct isa_remainders *map_remainders(struct map_candidate *d, struct isa_insn *i, const struct map_grid *g,
                                      unsigned of)
{
	const unsigned dims = map_remainder_dims(g) & of;
	struct isa_remainders *e;

	if (!dims || i->when != ISA_TILE)
		return NULL;
	if (d->n_edges == MAP_REMAINDERS) {
		d->overflow = true;
		return NULL;
	}
	e = &d->edges[d->n_edges++];
	i->edges = d->n_edges;
	e->loops = (uint8_t)loops_of(g, dims);
	for (int at = 0; at < 1 << ISA_LOOPS; at++)
		e->at[at] = (struct isa_remainder){ .bytes = i->tile_bytes,
			                            .share = i->share,
			                            .span = i->span,
			                            .latency = i->latency,
			                            .work = i->work };
	return e;
}

struct isa_remainder *map_remainder(struct isa_remainders *e, const struct map_grid *g, unsigned last)
{
	return &e->at[loops_of(g, last)];
}

static uint64_t map_remainder_bytes_of(const struct map_grid *g, unsigned dims, const uint64_t mnk[MAP_DIMS],
                                       uint64_t bytes)
{
	for (int d = 0; d < MAP_DIMS; d++)
		if (dims >> d & 1)
			bytes = map_rows_bytes(bytes, mnk[d], g->size[d]);
	return bytes;
}

void map_remainder_move(const struct mapper *m, struct map_candidate *d, struct isa_insn *i, const struct map_grid *g,
                        const struct unit_split *s, int operand)
{
	struct isa_remainders *e = map_remainders(d, i, g, dims_of[operand]);
	const struct isa_cmd c = { .trips = { d->trips[0], d->trips[1], d->trips[2] } };
	const unsigned uneven = map_remainder_dims(g) & dims_of[operand];

	for (unsigned last = 0; e && last < 1 << MAP_DIMS; last++) {
		struct isa_remainder *x = map_remainder(e, g, last);
		uint64_t mnk[MAP_DIMS];

		if (last & ~uneven)
			continue;
		map_remainder_size(g, last, mnk);
		x->bytes = map_remainder_bytes_of(g, dims_of[operand], mnk, i->bytes);
		x->share = map_share(m, s, operand, mnk, x->bytes);
	}
	if (e)
		isa_edges_place(&c, i, e);
}
