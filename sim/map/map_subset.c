/* map_subset.c - a command on a part of the cores.
 *
 * Cores that share what is small wait for the fullest of them, exchange sums, and each wants its copy of what all read: more of
 * them can be slower than fewer. So that more cores add candidates, a product whose cores wait or exchange is tried on fewer of
 * them, too, in the tiles that were best for all: on the next number below theirs that is a power of two or three times one, as
 * 8 of 10. A search of its own would take twice as long and hardly find more, nor would numbers further below.
 * Leaves out: what the others could do meanwhile (map_coschedule.c); other numbers of cores. */
#include "sim/map/map_int.h"

#define WAITS 20000 /* ppm that cores wait for the fullest, worth a try */

struct map_subset {
	struct mapper on[MAP_SUBSETS];
	uint32_t cores[MAP_SUBSETS]; /* 0: not made yet */
};

struct map_subset *map_subset_new(struct arena *a)
{
	return arena_alloc(a, sizeof(struct map_subset));
}

static bool wait_for_each_other(const struct mapper *m, const struct map_candidate *d)
{
	const bool hidden = map_hidden(m, d);

	for (uint32_t i = 0; i < d->n; i++)
		if (d->insn[i].code == ISA_SEND || (!hidden && d->insn[i].parts[0] && d->insn[i].idle > WAITS))
			return true;
	return false;
}

/* The next number below that is a power of two or three times one; 0: none. */
static uint32_t below(uint32_t cores)
{
	uint32_t best = 0;

	for (uint32_t n = 1; n < cores; n *= 2)
		best = n / 2 * 3 < cores && n / 2 * 3 > n ? n / 2 * 3 : n;
	return best;
}

int map_subset_cores(const struct mapper *m, const struct map_candidate *d, uint32_t out[MAP_SUBSETS])
{
	uint32_t cores = m->c->cores;
	int n = 0;

	if (!wait_for_each_other(m, d))
		return 0;
	while (n < MAP_SUBSETS && (cores = below(cores)))
		out[n++] = cores;
	return n;
}

const struct mapper *map_subset(const struct mapper *m, uint32_t cores)
{
	struct map_subset *f = m->few;
	int i = 0;

	for (; i < MAP_SUBSETS && f->cores[i]; i++)
		if (f->cores[i] == cores) {
			f->on[i].capacity = m->capacity;
			f->on[i].sram = m->sram; /* what there is for the ops at hand */
			return &f->on[i];
		}
	if (i == MAP_SUBSETS)
		return NULL;
	f->on[i] = *m;
	f->on[i].log = NULL; /* what it finds is told once it is chosen */
	if (!(f->on[i].asked = map_asked_new(m->a)))
		return NULL;
	for (int u = 0; u < UNIT_COUNT; u++)
		f->on[i].unit[u].cores = cores;
	f->cores[i] = cores;
	return &f->on[i];
}

void map_subset_idle(const struct mapper *m, struct map_candidate *d, uint32_t from, uint32_t cores)
{
	d->why = arena_printf(m->a, "%s, on %u of %u cores", d->why, cores, m->c->cores);
	for (uint32_t i = from; i < d->n; i++)
		if (d->insn[i].parts[0])
			d->insn[i].idle =
				(uint32_t)(1000000 - (uint64_t)(1000000 - d->insn[i].idle) * cores / m->c->cores);
}
