/* pager.h - the KV cache in blocks of so many tokens: who has how many, and whether there are more.
 *
 * A sequence's blocks need not lie together, so any free block will do and only their number counts: what is lost is the rest of
 * a sequence's last block. Invariants: I1 used + free = capacity, always; I2 nobody has more than it asked for. */
#ifndef NPUSIM_SIM_SERVE_PAGER_H
#define NPUSIM_SIM_SERVE_PAGER_H

#include <stdbool.h>
#include <stdint.h>

struct pager {
	uint32_t block;    /* tokens */
	uint64_t capacity; /* blocks */
	uint64_t used, peak;
};

static inline uint64_t pager_blocks(const struct pager *p, uint64_t tokens)
{
	return (tokens + p->block - 1) / p->block;
}

/* As many more as a sequence that has `*has` needs for so many tokens; false, and nothing is changed: they are not there. */
static inline bool pager_grow(struct pager *p, uint64_t *has, uint64_t tokens)
{
	const uint64_t want = pager_blocks(p, tokens), more = want > *has ? want - *has : 0;

	if (more > p->capacity - p->used)
		return false;
	p->used += more;
	*has += more;
	p->peak = p->used > p->peak ? p->used : p->peak;
	return true;
}

/* So many that are free. */
static inline void pager_take(struct pager *p, uint64_t blocks)
{
	p->used += blocks;
	p->peak = p->used > p->peak ? p->used : p->peak;
}

static inline void pager_drop(struct pager *p, uint64_t *has)
{
	p->used -= *has;
	*has = 0;
}

#endif
