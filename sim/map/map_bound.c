#include "sim/map/map_int.h"

#define MOST_BYTES   (UINT64_C(1) << 40) /* of operands: several times what a device holds */
#define MOST_MOVED   (UINT64_C(4) << 40) /* in tiles: a product in blocks streams its weights again and again */
#define MOST_SECONDS 1000

static const char *map_bound_name_of(const struct op *o)
{
	return o->name && *o->name ? o->name : op_kind_name(o->kind);
}

static int too_many_bytes(const struct op *o, const char *what, uint64_t bytes, uint64_t most, struct err *e)
{
	struct str asked = STR_INIT, limit = STR_INIT;

	str_add_bytes(&asked, bytes);
	str_add_bytes(&limit, most);
	err_set(e, ERR_IO, "op %u (%s) %s %s: an op of more than %s is not simulated", o->id, map_bound_name_of(o),
	        what, str_c(&asked), str_c(&limit));
	str_free(&asked);
	str_free(&limit);
	return -1;
}

static int too_long(const struct op *o, double seconds, struct err *e)
{
	return err_set(e, ERR_IO,
	               "op %u (%s) would take this machine about %.0f s: an op of more than %d s is not simulated",
	               o->id, map_bound_name_of(o), seconds, MOST_SECONDS);
}

int map_bound_op(const struct op_stream *s, const struct op *o, double macs_per_s, struct err *e)
{
	const struct work w = work_of(s, o);
	const double seconds = macs_per_s > 0 ? (double)w.macs / macs_per_s : 0;
	uint64_t bytes;

	if (!op_is_simulated(o->kind))
		return 0;
	if (__builtin_add_overflow(w.read_bytes, w.write_bytes, &bytes))
		bytes = UINT64_MAX;
	if (bytes > MOST_BYTES)
		return too_many_bytes(o, "reads and writes", bytes, MOST_BYTES, e);
	return seconds > MOST_SECONDS ? too_long(o, seconds, e) : 0;
}

/* What moves in tiles moves again in the rounds of loops that it does not stay through. */
double map_moved(const struct map_candidate *d, const struct isa_insn *x)
{
	double n = (double)x->tile_bytes;

	if (x->when != ISA_TILE || !d->trips[0])
		return (double)x->bytes;
	for (int l = 0; l < ISA_LOOPS; l++)
		n *= x->stays >> l & 1 ? 1 : d->trips[l];
	return n;
}

int map_bound_commands(const struct op *o, const struct map_candidate *d, uint64_t commands, struct err *e)
{
	double moved = 0, seconds = (double)d->predicted * (double)commands / 1e12;

	for (uint32_t i = 0; i < d->n; i++)
		if (isa_is_move(&d->insn[i]))
			moved += map_moved(d, &d->insn[i]) * (double)commands;
	if (moved > (double)MOST_MOVED)
		return too_many_bytes(o, "in tiles that fit 'sram.size' moves", (uint64_t)moved, MOST_MOVED, e);
	return seconds > MOST_SECONDS ? too_long(o, seconds, e) : 0;
}
