#include "sim/engine/analytic_held.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/base/clock.h"

#define BLOCKS      64                  /* of a level, about; with 128, random machines are no nearer to events */
#define BLOCK_MAX   64                  /* chunks */
#define INDEX_MAX   (UINT64_C(1) << 22) /* entries of the index over all addresses */
#define NONE        0
#define SETS_MAX    (1U << 20)
#define FAR_TOO_BIG 4 /* ranges of so many capacities are looked at at their two ends only */

/* The first blocks are the sets' ring heads: next is the block used last, prev the one used longest ago. */
struct block {
	uint64_t number, mask, dirty;
	uint32_t prev, next, chunks; /* how many are in the mask */
};

struct held {
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

static inline uint64_t count(uint64_t mask)
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

struct held *held_new(uint64_t capacity, uint64_t chunk, uint32_t ways, bool hash, uint64_t end, struct err *e)
{
	struct held *h = calloc(1, sizeof *h);
	uint64_t wanted = capacity / BLOCKS / chunk, entries, sets;

	if (!h)
		goto nomem;
	h->capacity = capacity / chunk;
	h->chunk = chunk;
	h->chunk_shift = log2_down(chunk);
	h->keep = ways == 0;
	h->hash = hash;
	h->per_block = 1U << (wanted < 1 ? 0 : log2_down(wanted > BLOCK_MAX ? BLOCK_MAX : wanted));
	while (h->per_block < BLOCK_MAX && end / (chunk * h->per_block) > INDEX_MAX)
		h->per_block *= 2;
	h->block_shift = h->chunk_shift + log2_down(h->per_block);
	h->end = end;
	sets = ways ? h->capacity / ((uint64_t)ways * h->per_block) : 1;
	h->sets = sets < 1 ? 1 : sets < SETS_MAX ? (uint32_t)sets : SETS_MAX;
	h->set_capacity = h->capacity / h->sets;
	entries = (end >> h->block_shift) + 2;
	h->n_blocks =
		h->sets + (uint32_t)(h->capacity < entries ? h->capacity : entries) + 2; /* one more than it holds */
	h->taken = h->sets;
	h->index = calloc(entries, sizeof *h->index);
	h->set_used = calloc(h->sets, sizeof *h->set_used);
	h->blocks = calloc(h->n_blocks, sizeof *h->blocks);
	if (!h->index || !h->set_used || !h->blocks)
		goto nomem;
	for (uint32_t i = 0; i < h->sets; i++)
		h->blocks[i].prev = h->blocks[i].next = i;
	return h;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for what a level holds");
	held_free(h);
	return NULL;
}

void held_free(struct held *h)
{
	if (!h)
		return;
	free(h->index);
	free(h->set_used);
	free(h->blocks);
	free(h);
}

static inline void unlink_block(struct held *h, uint32_t i)
{
	struct block *b = &h->blocks[i];

	h->blocks[b->prev].next = b->next;
	h->blocks[b->next].prev = b->prev;
}

static inline void link_first(struct held *h, uint32_t set, uint32_t i)
{
	struct block *b = &h->blocks[i], *head = &h->blocks[set];

	b->prev = set;
	b->next = head->next;
	h->blocks[head->next].prev = i;
	head->next = i;
}

/* A block's place: its set is the sum of both, modulo the number of sets. Walked from block to block without a division
 * but where the tag changes. */
struct place {
	uint64_t tag;
	uint32_t index, moved; /* by the tag's hash */
};

static uint32_t moved_by(const struct held *h, uint64_t tag)
{
	uint64_t x = tag * UINT64_C(0x9e3779b97f4a7c15);

	return h->hash ? (uint32_t)((x ^ x >> 32) % h->sets) : 0;
}

static struct place place_of(const struct held *h, uint64_t number)
{
	uint64_t tag = number / h->sets;

	return (struct place){ tag, (uint32_t)(number - tag * h->sets), moved_by(h, tag) };
}

static inline void next_place(const struct held *h, struct place *p)
{
	if (++p->index < h->sets)
		return;
	p->index = 0;
	p->moved = moved_by(h, ++p->tag);
}

static inline uint32_t set_at(const struct held *h, const struct place *p)
{
	uint32_t set = p->index + p->moved;

	return set < h->sets ? set : set - h->sets;
}

/* Blocks are handed out in order at first, so that a large level costs what it uses. */
static inline uint32_t take_block(struct held *h, uint32_t set, uint64_t number)
{
	uint32_t i = h->spare;

	if (i)
		h->spare = h->blocks[i].next;
	else
		i = h->taken++;
	assert(i < h->n_blocks);
	h->blocks[i] = (struct block){ .number = number };
	h->index[number] = i;
	link_first(h, set, i);
	return i;
}

static inline void give_block(struct held *h, uint32_t i)
{
	unlink_block(h, i);
	h->index[h->blocks[i].number] = NONE;
	h->blocks[i].next = h->spare;
	h->spare = i;
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
static inline uint64_t leave(struct held *h, uint32_t i, uint64_t mask, uint64_t n)
{
	struct block *b = &h->blocks[i];
	uint64_t dirty = 0;

	if (b->dirty) {
		dirty = count(b->dirty & mask);
		b->dirty &= ~mask;
	}
	b->mask &= ~mask;
	b->chunks -= (uint32_t)n;
	if (!b->chunks)
		give_block(h, i);
	return dirty;
}

/* The oldest go until the set, which holds more than it can, is full; returns how many chunks were dirty. */
static inline uint64_t shrink(struct held *h, uint32_t set)
{
	const uint64_t over = h->set_used[set] - h->set_capacity;
	uint64_t left = over, dirty = 0, n;

	for (; left; left -= n) {
		uint32_t i = h->blocks[set].prev;
		struct block *b = &h->blocks[i];

		n = b->chunks < left ? b->chunks : left;
		dirty += leave(h, i, n == b->chunks ? b->mask : lowest(b->mask, n), n);
	}
	h->used -= over;
	h->set_used[set] = h->set_capacity;
	h->dirty -= dirty;
	return dirty;
}

/* The part of a range in one block: its chunks, and bytes of the first and the last that are not in the range. */
struct part {
	uint64_t number, mask, chunks, bytes, before, after, first, last;
};

static struct part part_of(const struct held *h, uint64_t at, uint64_t end)
{
	uint64_t stop = ((at >> h->block_shift) + 1) << h->block_shift, lo, hi, n;
	struct part p = { .number = at >> h->block_shift };

	stop = stop < end ? stop : end;
	lo = at >> h->chunk_shift;
	hi = (stop - 1) >> h->chunk_shift;
	n = hi - lo + 1;
	p.chunks = n;
	p.bytes = stop - at;
	p.before = at - (lo << h->chunk_shift);
	p.after = ((hi + 1) << h->chunk_shift) - stop;
	lo &= h->per_block - 1;
	p.mask = (n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << lo;
	p.first = UINT64_C(1) << lo;
	p.last = p.first << (n - 1);
	return p;
}

/* Bytes of the range that lie in the chunks of `mask`. */
static inline uint64_t bytes_in(const struct held *h, const struct part *p, uint64_t mask)
{
	if (mask == p->mask)
		return p->bytes;
	return (count(mask) << h->chunk_shift) - (mask & p->first ? p->before : 0) - (mask & p->last ? p->after : 0);
}

/* Of what is missing, as much as a level that keeps has room for. */
static uint64_t that_fits(const struct held *h, uint64_t missing)
{
	uint64_t room = h->capacity - h->used;

	return count(missing) <= room ? missing : lowest(missing, room);
}

/* Chunks of a block that is here. */
static void touch_here(struct held *h, const struct part *p, uint32_t set, uint32_t i, enum held_use use,
                       struct held_found *f)
{
	struct block *b = &h->blocks[i];
	uint64_t here = b->mask & p->mask, missing = p->mask & ~here, n;
	uint64_t come = use == HELD_PASS ? 0 : h->keep ? that_fits(h, missing) : missing;

	if (here)
		f->hit += bytes_in(h, p, here);
	if (here | come)
		f->kept += bytes_in(h, p, here | come);
	if (h->blocks[set].next != i) {
		unlink_block(h, i);
		link_first(h, set, i);
	}
	n = count(come);
	b->mask |= come;
	b->chunks += (uint32_t)n;
	h->used += n;
	h->set_used[set] += n;
	if (use == HELD_WRITE) {
		uint64_t made = (here | come) & ~b->dirty;

		b->dirty |= made;
		h->dirty += count(made);
	}
}

/* Chunks of a block of which nothing is here. */
static void touch_new(struct held *h, const struct part *p, uint32_t set, enum held_use use, struct held_found *f)
{
	uint64_t come = use == HELD_PASS ? 0 : h->keep ? that_fits(h, p->mask) : p->mask, n;
	struct block *b;

	if (!come)
		return;
	f->kept += bytes_in(h, p, come);
	n = come == p->mask ? p->chunks : count(come);
	b = &h->blocks[take_block(h, set, p->number)];
	b->mask = come;
	b->chunks = (uint32_t)n;
	h->used += n;
	h->set_used[set] += n;
	if (use == HELD_WRITE) {
		b->dirty = come;
		h->dirty += n;
	}
}

static void touch_range(struct held *h, uint64_t at, uint64_t end, enum held_use use, struct held_found *f)
{
	const uint64_t block = UINT64_C(1) << h->block_shift;
	struct part p = part_of(h, at, end);
	struct place place = place_of(h, p.number);

	for (;;) {
		uint32_t i = h->index[p.number], set = set_at(h, &place);

		if (i)
			touch_here(h, &p, set, i, use, f);
		else
			touch_new(h, &p, set, use, f);
		if (h->set_used[set] > h->set_capacity)
			f->pushed += shrink(h, set) << h->chunk_shift; /* I1 */
		at += p.bytes;
		if (end - at >= block && p.bytes == block) {
			p.number++; /* nearly always one whole block after the other */
		} else {
			if (at == end)
				return;
			p = part_of(h, at, end);
		}
		next_place(h, &place);
	}
}

struct held_found held_touch(struct held *h, uint64_t addr, uint64_t bytes, enum held_use use)
{
	uint64_t most = h->capacity << h->chunk_shift, end = addr + bytes;
	struct held_found f = { 0, 0, 0 };

	if (bytes == 0 || h->capacity == 0)
		return f;
	assert(end <= h->end);
	if (h->keep || bytes / FAR_TOO_BIG <= most) {
		touch_range(h, addr, end, use, &f);
		return f;
	}
	touch_range(h, addr, addr + most, use, &f);
	touch_range(h, end - most, end, use, &f);
	if (use == HELD_WRITE)
		f.pushed += bytes - 2 * most; /* written, and pushed out by what follows */
	return f;
}

uint64_t held_here(const struct held *h, uint64_t addr, uint64_t bytes)
{
	uint64_t at = addr, end = addr + bytes, found = 0;

	while (at < end) {
		struct part p = part_of(h, at, end);
		uint32_t i = h->index[p.number];
		uint64_t here = i ? h->blocks[i].mask & p.mask : 0;

		if (here)
			found += bytes_in(h, &p, here);
		at += p.bytes;
	}
	return found;
}

void held_drop(struct held *h, uint64_t addr, uint64_t bytes)
{
	uint64_t at = addr, end = addr + bytes;

	while (at < end) {
		struct part p = part_of(h, at, end);
		uint64_t whole = p.mask & ~(p.before ? p.first : 0) & ~(p.after ? p.last : 0);
		uint32_t i = h->index[p.number];

		if (i && (whole &= h->blocks[i].mask)) {
			const struct place place = place_of(h, p.number);
			uint64_t n = count(whole);

			h->used -= n;
			h->set_used[set_at(h, &place)] -= n;
			h->dirty -= leave(h, i, whole, n);
		}
		at += p.bytes;
	}
}

uint64_t held_dirty(const struct held *h)
{
	return h->dirty << h->chunk_shift;
}

uint64_t held_bytes(const struct held *h)
{
	return h->used << h->chunk_shift;
}
