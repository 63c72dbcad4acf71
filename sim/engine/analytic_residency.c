#include "sim/engine/analytic_residency.h"

#include <assert.h>
#include <stdlib.h>

#include "arch/mem/cache_tags.h"
#include "sim/base/clock.h"

#define BLOCKS      64                  /* of a level, about; with 128, random machines are no nearer to events */
#define BLOCK_MAX   64                  /* chunks */
#define BLOCKS_WAY  16                  /* of a way, at least: sets by so many, as a small level's hash moves them */
#define INDEX_MAX   (UINT64_C(1) << 22) /* entries of the index over all addresses */
#define NONE        0
#define SETS_MAX    (1U << 20)
#define FAR_TOO_BIG 4 /* ranges of so many capacities are looked at at their two ends only */

/* The first blocks are the sets' ring heads: next is the block used last, prev the one used longest ago. */
struct block {
	uint64_t number, mask, dirty;
	uint32_t prev, next, chunks; /* how many are in the mask */
};

struct residency {
	uint64_t capacity, used, dirty; /* chunks */
	uint64_t chunk, end;
	uint32_t per_block;
	unsigned chunk_shift, block_shift;
	bool keep, hash;
	uint32_t sets;
	uint64_t set_capacity, *set_used; /* chunks */
	struct block *blocks;
	uint32_t n_blocks, taken, spare; /* taken: ever; spare: chained by next */
	uint32_t *index;                 /* by block number: where it is in `blocks`; NONE: not here */
};

static inline uint64_t analytic_residency_count(uint64_t mask)
{
	uint64_t low;

	if (!mask)
		return 0;
	low = mask >> __builtin_ctzll(mask);
	if (!(low & (low + 1))) /* one run, as nearly always */
		return low + 1 ? (uint64_t)__builtin_ctzll(low + 1) : 64;
	return (uint64_t)__builtin_popcountll(mask);
}

static unsigned log2_down(uint64_t v)
{
	return 63 - (unsigned)__builtin_clzll(v);
}

struct residency *residency_new(uint64_t capacity, uint64_t chunk, uint32_t ways, bool hash, uint64_t end,
                                struct err *e)
{
	struct residency *r = calloc(1, sizeof *r);
	uint64_t wanted = capacity / (ways > BLOCKS / BLOCKS_WAY ? BLOCKS_WAY * ways : BLOCKS) / chunk, entries, sets;

	if (!r)
		goto nomem;
	r->capacity = capacity / chunk;
	r->chunk = chunk;
	r->chunk_shift = log2_down(chunk);
	r->keep = ways == 0;
	r->hash = hash;
	r->per_block = 1U << (wanted < 1 ? 0 : log2_down(wanted > BLOCK_MAX ? BLOCK_MAX : wanted));
	while (r->per_block < BLOCK_MAX && end / (chunk * r->per_block) > INDEX_MAX)
		r->per_block *= 2;
	r->block_shift = r->chunk_shift + log2_down(r->per_block);
	r->end = end;
	sets = ways ? r->capacity / ((uint64_t)ways * r->per_block) : 1;
	r->sets = sets < 1 ? 1 : sets < SETS_MAX ? (uint32_t)sets : SETS_MAX;
	r->set_capacity = r->capacity / r->sets;
	entries = (end >> r->block_shift) + 2;
	r->n_blocks =
		r->sets + (uint32_t)(r->capacity < entries ? r->capacity : entries) + 2; /* one more than it holds */
	r->taken = r->sets;
	r->index = calloc(entries, sizeof *r->index);
	r->set_used = calloc(r->sets, sizeof *r->set_used);
	r->blocks = calloc(r->n_blocks, sizeof *r->blocks);
	if (!r->index || !r->set_used || !r->blocks)
		goto nomem;
	for (uint32_t i = 0; i < r->sets; i++)
		r->blocks[i].prev = r->blocks[i].next = i;
	return r;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for what a level holds");
	residency_free(r);
	return NULL;
}

void residency_free(struct residency *r)
{
	if (!r)
		return;
	free(r->index);
	free(r->set_used);
	free(r->blocks);
	free(r);
}

static inline void unlink_block(struct residency *r, uint32_t i)
{
	struct block *b = &r->blocks[i];

	r->blocks[b->prev].next = b->next;
	r->blocks[b->next].prev = b->prev;
}

static inline void link_first(struct residency *r, uint32_t set, uint32_t i)
{
	struct block *b = &r->blocks[i], *head = &r->blocks[set];

	b->prev = set;
	b->next = head->next;
	r->blocks[head->next].prev = i;
	head->next = i;
}

/* A block's place: its set is the sum of both, modulo the number of sets. Walked from block to block without a division
 * but where the tag changes. */
struct place {
	uint64_t tag;
	uint32_t index, moved; /* by the tag's hash */
};

static uint32_t moved_by(const struct residency *r, uint64_t tag)
{
	return r->hash ? (uint32_t)(cache_tags_skew(tag, (uint64_t)r->sets * r->per_block) / r->per_block) : 0;
}

static struct place analytic_residency_place_of(const struct residency *r, uint64_t number)
{
	uint64_t tag = number / r->sets;

	return (struct place){ tag, (uint32_t)(number - tag * r->sets), moved_by(r, tag) };
}

static inline void next_place(const struct residency *r, struct place *p)
{
	if (++p->index < r->sets)
		return;
	p->index = 0;
	p->moved = moved_by(r, ++p->tag);
}

static inline uint32_t set_at(const struct residency *r, const struct place *p)
{
	uint32_t set = p->index + p->moved;

	return set < r->sets ? set : set - r->sets;
}

void residency_clear(struct residency *r)
{
	for (uint32_t i = r->sets; i < r->taken; i++) {
		const struct place p = analytic_residency_place_of(r, r->blocks[i].number);
		const uint32_t set = set_at(r, &p);

		r->index[r->blocks[i].number] = NONE;
		r->blocks[set].prev = r->blocks[set].next = set;
		r->set_used[set] = 0;
	}
	r->taken = r->sets;
	r->spare = 0;
	r->used = r->dirty = 0;
}

/* Blocks are handed out in order at first, so that a large level costs what it uses. */
static inline uint32_t take_block(struct residency *r, uint32_t set, uint64_t number)
{
	uint32_t i = r->spare;

	if (i)
		r->spare = r->blocks[i].next;
	else
		i = r->taken++;
	assert(i < r->n_blocks);
	r->blocks[i] = (struct block){ .number = number };
	r->index[number] = i;
	link_first(r, set, i);
	return i;
}

static inline void give_block(struct residency *r, uint32_t i)
{
	unlink_block(r, i);
	r->index[r->blocks[i].number] = NONE;
	r->blocks[i].next = r->spare;
	r->spare = i;
}

/* The lowest n of them. */
static inline uint64_t lowest(uint64_t mask, uint64_t n)
{
	const int at = mask ? __builtin_ctzll(mask) : 0;
	uint64_t low = mask >> at, left = mask;

	if (!(low & (low + 1)) && n < 64) /* one run, as nearly always */
		return (low & ((UINT64_C(1) << n) - 1)) << at;
	for (; n; n--)
		left &= left - 1;
	return mask & ~left;
}

/* `n` chunks of a block leave, those of `mask`; returns how many of them were dirty. */
static inline uint64_t leave(struct residency *r, uint32_t i, uint64_t mask, uint64_t n)
{
	struct block *b = &r->blocks[i];
	uint64_t dirty = 0;

	if (b->dirty) {
		dirty = analytic_residency_count(b->dirty & mask);
		b->dirty &= ~mask;
	}
	b->mask &= ~mask;
	b->chunks -= (uint32_t)n;
	if (!b->chunks)
		give_block(r, i);
	return dirty;
}

/* The oldest go until the set, which holds more than it can, is full; returns how many chunks were dirty. */
static inline uint64_t shrink(struct residency *r, uint32_t set)
{
	const uint64_t over = r->set_used[set] - r->set_capacity;
	uint64_t left = over, dirty = 0, n;

	for (; left; left -= n) {
		uint32_t i = r->blocks[set].prev;
		struct block *b = &r->blocks[i];

		n = b->chunks < left ? b->chunks : left;
		dirty += leave(r, i, n == b->chunks ? b->mask : lowest(b->mask, n), n);
	}
	r->used -= over;
	r->set_used[set] = r->set_capacity;
	r->dirty -= dirty;
	return dirty;
}

/* The part of a range in one block: its chunks, and bytes of the first and the last that are not in the range. */
struct part {
	uint64_t number, mask, chunks, bytes, before, after, first, last;
};

static struct part analytic_residency_part_of(const struct residency *r, uint64_t at, uint64_t end)
{
	uint64_t stop = ((at >> r->block_shift) + 1) << r->block_shift, lo, hi, n;
	struct part p = { .number = at >> r->block_shift };

	stop = stop < end ? stop : end;
	lo = at >> r->chunk_shift;
	hi = (stop - 1) >> r->chunk_shift;
	n = hi - lo + 1;
	p.chunks = n;
	p.bytes = stop - at;
	p.before = at - (lo << r->chunk_shift);
	p.after = ((hi + 1) << r->chunk_shift) - stop;
	lo &= r->per_block - 1;
	p.mask = (n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << lo;
	p.first = UINT64_C(1) << lo;
	p.last = p.first << (n - 1);
	return p;
}

/* Bytes of the range that lie in the chunks of `mask`. */
static inline uint64_t bytes_in(const struct residency *r, const struct part *p, uint64_t mask)
{
	if (mask == p->mask)
		return p->bytes;
	return (analytic_residency_count(mask) << r->chunk_shift) - (mask & p->first ? p->before : 0) -
	       (mask & p->last ? p->after : 0);
}

/* Of what is missing, as much as a level that keeps has room for. */
static uint64_t that_fits(const struct residency *r, uint64_t missing)
{
	uint64_t room = r->capacity - r->used;

	return analytic_residency_count(missing) <= room ? missing : lowest(missing, room);
}

/* Chunks of a block that is here. */
static void touch_here(struct residency *r, const struct part *p, uint32_t set, uint32_t i, enum residency_use use,
                       struct residency_found *f)
{
	struct block *b = &r->blocks[i];
	uint64_t here = b->mask & p->mask, missing = p->mask & ~here, n;
	uint64_t come = use == RESIDENCY_PASS ? 0 : r->keep ? that_fits(r, missing) : missing;

	if (here)
		f->hit += bytes_in(r, p, here);
	if (here | come)
		f->kept += bytes_in(r, p, here | come);
	if (r->blocks[set].next != i) {
		unlink_block(r, i);
		link_first(r, set, i);
	}
	n = analytic_residency_count(come);
	b->mask |= come;
	b->chunks += (uint32_t)n;
	r->used += n;
	r->set_used[set] += n;
	if (use == RESIDENCY_WRITE) {
		uint64_t made = (here | come) & ~b->dirty;

		b->dirty |= made;
		r->dirty += analytic_residency_count(made);
	}
}

/* Chunks of a block of which nothing is here. */
static void touch_new(struct residency *r, const struct part *p, uint32_t set, enum residency_use use,
                      struct residency_found *f)
{
	uint64_t come = use == RESIDENCY_PASS ? 0 : r->keep ? that_fits(r, p->mask) : p->mask, n;
	struct block *b;

	if (!come)
		return;
	f->kept += bytes_in(r, p, come);
	n = come == p->mask ? p->chunks : analytic_residency_count(come);
	b = &r->blocks[take_block(r, set, p->number)];
	b->mask = come;
	b->chunks = (uint32_t)n;
	r->used += n;
	r->set_used[set] += n;
	if (use == RESIDENCY_WRITE) {
		b->dirty = come;
		r->dirty += n;
	}
}

static void touch_range(struct residency *r, uint64_t at, uint64_t end, enum residency_use use,
                        struct residency_found *f)
{
	const uint64_t block = UINT64_C(1) << r->block_shift;
	struct part p = analytic_residency_part_of(r, at, end);
	struct place place = analytic_residency_place_of(r, p.number);

	for (;;) {
		uint32_t i = r->index[p.number], set = set_at(r, &place);

		if (i)
			touch_here(r, &p, set, i, use, f);
		else
			touch_new(r, &p, set, use, f);
		if (r->set_used[set] > r->set_capacity)
			f->evicted += shrink(r, set) << r->chunk_shift; /* I1 */
		at += p.bytes;
		if (end - at >= block && p.bytes == block) {
			p.number++; /* nearly always one whole block after the other */
		} else {
			if (at == end)
				return;
			p = analytic_residency_part_of(r, at, end);
		}
		next_place(r, &place);
	}
}

struct residency_found residency_touch(struct residency *r, uint64_t addr, uint64_t bytes, enum residency_use use)
{
	uint64_t most = r->capacity << r->chunk_shift, end = addr + bytes;
	struct residency_found f = { 0, 0, 0 };

	if (bytes == 0 || r->capacity == 0)
		return f;
	assert(end <= r->end);
	if (r->keep || bytes / FAR_TOO_BIG <= most) {
		touch_range(r, addr, end, use, &f);
		return f;
	}
	touch_range(r, addr, addr + most, use, &f);
	touch_range(r, end - most, end, use, &f);
	if (use == RESIDENCY_WRITE)
		f.evicted += bytes - 2 * most; /* written, and pushed out by what follows */
	return f;
}

uint64_t residency_here(const struct residency *r, uint64_t addr, uint64_t bytes)
{
	uint64_t at = addr, end = addr + bytes, found = 0;

	while (at < end) {
		struct part p = analytic_residency_part_of(r, at, end);
		uint32_t i = r->index[p.number];
		uint64_t here = i ? r->blocks[i].mask & p.mask : 0;

		if (here)
			found += bytes_in(r, &p, here);
		at += p.bytes;
	}
	return found;
}

void residency_drop(struct residency *r, uint64_t addr, uint64_t bytes)
{
	uint64_t at = addr, end = addr + bytes;

	while (at < end) {
		struct part p = analytic_residency_part_of(r, at, end);
		uint64_t whole = p.mask & ~(p.before ? p.first : 0) & ~(p.after ? p.last : 0);
		uint32_t i = r->index[p.number];

		if (i && (whole &= r->blocks[i].mask)) {
			const struct place place = analytic_residency_place_of(r, p.number);
			uint64_t n = analytic_residency_count(whole);

			r->used -= n;
			r->set_used[set_at(r, &place)] -= n;
			r->dirty -= leave(r, i, whole, n);
		}
		at += p.bytes;
	}
}

uint64_t residency_capacity(const struct residency *r)
{
	return r->capacity * r->chunk;
}

uint64_t residency_dirty(const struct residency *r)
{
	return r->dirty << r->chunk_shift;
}

uint64_t residency_bytes(const struct residency *r)
{
	return r->used << r->chunk_shift;
}
