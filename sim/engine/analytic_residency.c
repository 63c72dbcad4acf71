#include "sim/engine/analytic_residency.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "arch/mem/cache_tags.h"
#include "sim/base/clock.h"

#define BLOCKS      64                  /* of a level, about; with 128, random machines are no nearer to events */
#define BLOCK_MAX   64                  /* chunks */
#define BLOCKS_WAY  16                  /* of a way, at least: sets by so many, as a small level's hash moves them */
#define BLOCKS_ALL  (UINT64_C(1) << 22) /* of all addresses, at the most */
#define SETS_MAX    (1U << 20)
#define ARCS_MORE   8 /* for a moment, than differ in a level that keeps */
#define FAR_TOO_BIG 4 /* ranges of so many capacities are looked at at their two ends only */

#define TAGS 256 /* that are counted apart */

/* A block of each of some neighbouring sets: the chunks of it that are here are the same ones in all of them. */
struct held {
	uint64_t tag, mask, dirty, chunks; /* the last: how many are in the mask */
};

/* Neighbouring sets that hold the same of the same tags, and lost and used it in the same order: what streams through a level is
 * followed for all of them at once. */
struct arc {
	uint32_t set, sets; /* the first, and how many */
	uint32_t n;
	uint64_t used;     /* chunks of one set */
	struct held *held; /* the one used longest ago first */
};

struct residency {
	uint64_t capacity, used, dirty; /* chunks */
	uint64_t chunk, end;
	uint32_t per_block;
	unsigned chunk_shift, block_shift;
	bool keep, hash;
	uint32_t sets; /* of a level that keeps one a block: nothing pushes anything out */
	uint64_t set_capacity;
	uint64_t most; /* tags that a set holds at once */
	struct arc **arcs, *all;
	uint32_t with[TAGS];           /* how many blocks of tags of the same last bits are here */
	uint32_t at;                   /* the arc that the last piece ended before, or one near it */
	uint32_t n_arcs, taken, spare; /* taken: of `all`, ever; spare: of those, waiting behind the arcs in `arcs` */
	struct held *held;
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

struct residency *residency_new(uint64_t capacity, uint64_t chunk, uint32_t ways, bool hash, uint64_t end,
                                struct err *e)
{
	struct residency *r = calloc(1, sizeof *r);
	uint64_t wanted = capacity / (ways > BLOCKS / BLOCKS_WAY ? BLOCKS_WAY * ways : BLOCKS) / chunk, blocks, sets,
		 arcs;

	if (!r)
		goto nomem;
	r->capacity = capacity / chunk;
	r->chunk = chunk;
	r->chunk_shift = log2_down(chunk);
	r->keep = ways == 0;
	r->hash = hash;
	r->per_block = 1U << (wanted < 1 ? 0 : log2_down(wanted > BLOCK_MAX ? BLOCK_MAX : wanted));
	while (r->per_block < BLOCK_MAX && end / (chunk * r->per_block) > BLOCKS_ALL)
		r->per_block *= 2;
	r->block_shift = r->chunk_shift + log2_down(r->per_block);
	r->end = end;
	blocks = (end >> r->block_shift) + 2;
	sets = ways ? r->capacity / ((uint64_t)ways * r->per_block) : blocks;
	r->sets = sets < 1 ? 1 : ways && sets > SETS_MAX ? SETS_MAX : (uint32_t)sets;
	r->set_capacity = ways ? r->capacity / r->sets : r->per_block;
	r->most = ps_min(r->set_capacity, div_up(blocks, r->sets)) + !r->keep; /* for a moment one more than it holds */
	arcs = r->keep ? ps_min(r->sets, 2 * r->capacity + ARCS_MORE) : r->sets;
	r->arcs = malloc(arcs * sizeof *r->arcs);
	r->all = malloc(arcs * sizeof *r->all);
	r->held = malloc(arcs * r->most * sizeof *r->held);
	if (!r->arcs || !r->all || !r->held)
		goto nomem;
	residency_clear(r);
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
	free(r->arcs);
	free(r->all);
	free(r->held);
	free(r);
}

void residency_clear(struct residency *r)
{
	r->arcs[0] = &r->all[0];
	r->all[0] = (struct arc){ .sets = r->sets, .held = r->held };
	r->n_arcs = r->taken = 1;
	r->spare = r->at = 0;
	r->used = r->dirty = 0;
	memset(r->with, 0, sizeof r->with);
}

/* --- arcs -------------------------------------------------------------------------------------------------- */

/* The number of the arc that a set is in: a stream goes on where it was. */
static uint32_t arc_of(const struct residency *r, uint32_t set)
{
	uint32_t low = 0;

	if (r->at < r->n_arcs && set - r->arcs[r->at]->set < r->arcs[r->at]->sets)
		return r->at;
	for (uint32_t n = r->n_arcs; n > 1;) {
		const uint32_t half = n / 2;

		if (r->arcs[low + half]->set <= set) {
			low += half;
			n -= half;
		} else {
			n = half;
		}
	}
	return low;
}

static struct arc *arc_new(struct residency *r)
{
	const uint32_t n = r->n_arcs;
	struct arc *x;

	if (!r->spare) {
		x = &r->all[r->taken];
		x->held = r->held + r->taken++ * r->most;
		return x;
	}
	x = r->arcs[n + --r->spare];
	r->arcs[n + r->spare] = r->arcs[n]; /* its place is the next arc's */
	return x;
}

/* The nth arc becomes two, the first of so many sets. */
static void split(struct residency *r, uint32_t n, uint32_t sets)
{
	struct arc *x = r->arcs[n], *y = arc_new(r);

	memmove(&r->arcs[n + 2], &r->arcs[n + 1], (r->n_arcs - n - 1) * sizeof *r->arcs);
	r->arcs[n + 1] = y;
	r->n_arcs++;
	y->set = x->set + sets;
	y->sets = x->sets - sets;
	y->n = x->n;
	y->used = x->used;
	memcpy(y->held, x->held, x->n * sizeof *x->held);
	x->sets = sets;
}

/* The number of the arc that begins at a set: which there is from now on. */
static uint32_t arc_from(struct residency *r, uint32_t set)
{
	const uint32_t n = arc_of(r, set);

	if (r->arcs[n]->set == set)
		return n;
	split(r, n, set - r->arcs[n]->set);
	return n + 1;
}

static inline void swap_arcs(struct arc **a, struct arc **b)
{
	struct arc *x = *a;

	*a = *b;
	*b = x;
}

static inline bool is_alike(const struct arc *a, const struct arc *b)
{
	if (a->n != b->n || a->used != b->used)
		return false;
	return a->n == 0 || (a->held[0].tag == b->held[0].tag && memcmp(a->held, b->held, a->n * sizeof *a->held) == 0);
}

/* Neighbours that have become alike are one again. */
static void join_alike(struct residency *r, uint32_t first, uint32_t last)
{
	uint32_t at = first, gone;

	for (uint32_t i = first + 1; i <= last; i++) {
		if (!is_alike(r->arcs[at], r->arcs[i])) {
			swap_arcs(&r->arcs[++at], &r->arcs[i]);
			continue;
		}
		r->arcs[at]->sets += r->arcs[i]->sets;
	}
	gone = last - at;
	for (uint32_t i = last + 1; gone && i < r->n_arcs; i++)
		swap_arcs(&r->arcs[i - gone], &r->arcs[i]);
	r->n_arcs -= gone;
	r->spare += gone;
}

/* Of a tag; NULL: nothing of it is here. */
static inline struct held *held_of(const struct residency *r, const struct arc *x, uint64_t tag)
{
	if (!r->with[tag % TAGS])
		return NULL;
	for (uint32_t i = x->n; i-- > 0;)
		if (x->held[i].tag == tag)
			return &x->held[i];
	return NULL;
}

static void forget_held(struct residency *r, struct arc *x, struct held *h, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		r->with[h[i].tag % TAGS] -= x->sets;
	x->n -= n;
	memmove(h, h + n, (size_t)(x->held + x->n - h) * sizeof *h);
}

/* It is the one used last; it may be a new one, behind all. */
static inline struct held *used_last(struct arc *x, struct held *h)
{
	const struct held was = *h;
	struct held *last = &x->held[x->n - 1];

	if (h == last)
		return h;
	memmove(h, h + 1, (size_t)(last - h) * sizeof *h);
	*last = was;
	return last;
}

/* The oldest go until the sets, which hold more than they can, are full; returns how many chunks were dirty. */
static uint64_t shrink(struct residency *r, struct arc *x)
{
	const uint64_t over = x->used - r->set_capacity;
	uint64_t left = over, dirty = 0, n;
	uint32_t gone = 0;

	for (; left; left -= n) {
		struct held *h = &x->held[gone];
		uint64_t mask = h->mask;

		n = h->chunks;
		if (n > left) {
			n = left;
			mask = lowest(mask, n);
		} else {
			gone++;
		}
		dirty += analytic_residency_count(h->dirty & mask);
		h->dirty &= ~mask;
		h->mask &= ~mask;
		h->chunks -= n;
	}
	if (gone)
		forget_held(r, x, x->held, gone);
	x->used = r->set_capacity;
	r->used -= over * x->sets;
	dirty *= x->sets;
	r->dirty -= dirty;
	return dirty;
}

/* --- ranges ------------------------------------------------------------------------------------------------ */

/* How far the sets of a tag's blocks are moved. */
static uint32_t moved_by(const struct residency *r, uint64_t tag)
{
	return r->hash ? (uint32_t)(cache_tags_skew(tag, (uint64_t)r->sets * r->per_block) / r->per_block) : 0;
}

/* The part of a range in one block: its chunks, and bytes of the first and the last that are not in the range. */
struct part {
	uint64_t number, mask, bytes, before, after, first, last;
};

static struct part analytic_residency_part_of(const struct residency *r, uint64_t at, uint64_t end)
{
	uint64_t stop = ((at >> r->block_shift) + 1) << r->block_shift, lo, hi, n;
	struct part p = { .number = at >> r->block_shift };

	stop = stop < end ? stop : end;
	lo = at >> r->chunk_shift;
	hi = (stop - 1) >> r->chunk_shift;
	n = hi - lo + 1;
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

/* The next of a range: a part of a block, or whole blocks of one tag in neighbouring sets, of each of which `part` is one. */
struct piece {
	struct part part;
	uint64_t tag;
	uint32_t set, sets;
};

static struct piece next_piece(const struct residency *r, uint64_t *at, uint64_t end)
{
	const uint64_t block = UINT64_C(1) << r->block_shift;
	struct piece x = { .part = analytic_residency_part_of(r, *at, end), .sets = 1 };
	uint32_t index;

	x.tag = x.part.number / r->sets;
	index = (uint32_t)(x.part.number - x.tag * r->sets);
	x.set = index + moved_by(r, x.tag);
	x.set -= x.set < r->sets ? 0 : r->sets;
	if (x.part.bytes == block)
		x.sets = (uint32_t)ps_min((end - *at) >> r->block_shift, r->sets - (index > x.set ? index : x.set));
	*at += x.part.bytes + (x.sets - 1) * block;
	return x;
}

/* Of what is missing in each of an arc's sets, as much as a level that keeps has room for: in all of them alike. */
static uint64_t that_fits(struct residency *r, uint32_t n, uint64_t missing)
{
	const uint64_t each = analytic_residency_count(missing), room = r->capacity - r->used;
	const uint32_t sets = r->arcs[n]->sets;

	if (each * sets <= room || room == 0)
		return room ? missing : 0;
	if (sets > 1)
		split(r, n, (uint32_t)(room < each ? 1 : room / each));
	return each <= room ? missing : lowest(missing, room);
}

static void touch_arc(struct residency *r, uint32_t n, const struct piece *y, enum residency_use use,
                      struct residency_found *f)
{
	struct arc *x = r->arcs[n];
	struct held *h = held_of(r, x, y->tag);
	const uint64_t here = h ? h->mask & y->part.mask : 0, missing = y->part.mask & ~here;
	const uint64_t come = use == RESIDENCY_PASS ? 0 : r->keep ? that_fits(r, n, missing) : missing;
	const uint64_t sets = x->sets, came = analytic_residency_count(come);

	if (!h && !come)
		return;
	if (!h) {
		h = &x->held[x->n++];
		*h = (struct held){ .tag = y->tag };
		r->with[y->tag % TAGS] += x->sets;
	} else {
		h = used_last(x, h);
	}
	f->hit += here ? sets * bytes_in(r, &y->part, here) : 0;
	f->kept += here | come ? sets * bytes_in(r, &y->part, here | come) : 0;
	h->mask |= come;
	h->chunks += came;
	x->used += came;
	r->used += came * sets;
	if (use == RESIDENCY_WRITE) {
		const uint64_t made = (here | come) & ~h->dirty;

		h->dirty |= made;
		r->dirty += analytic_residency_count(made) * sets;
	}
	if (x->used > r->set_capacity)
		f->evicted += shrink(r, x) << r->chunk_shift; /* I1 */
}

static void touch_piece(struct residency *r, const struct piece *y, enum residency_use use, struct residency_found *f)
{
	const uint32_t first = arc_from(r, y->set), end = y->set + y->sets;
	uint32_t n = first;

	for (; n < r->n_arcs && r->arcs[n]->set < end; n++) {
		if (r->arcs[n]->set + r->arcs[n]->sets > end)
			split(r, n, end - r->arcs[n]->set);
		touch_arc(r, n, y, use, f);
	}
	r->at = n;
	/* A block alone seldom ends as its neighbours; whatever streams past all of them brings that about. */
	if (y->sets > 1 || r->keep)
		join_alike(r, first ? first - 1 : 0, n < r->n_arcs ? n : r->n_arcs - 1);
}

static void touch_range(struct residency *r, uint64_t at, uint64_t end, enum residency_use use,
                        struct residency_found *f)
{
	while (at < end) {
		const struct piece y = next_piece(r, &at, end);

		touch_piece(r, &y, use, f);
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
	uint64_t at = addr, found = 0;

	while (at < addr + bytes) {
		const struct piece y = next_piece(r, &at, addr + bytes);
		const uint32_t end = y.set + y.sets;

		for (uint32_t n = arc_of(r, y.set); n < r->n_arcs && r->arcs[n]->set < end; n++) {
			const struct arc *x = r->arcs[n];
			const struct held *h = held_of(r, x, y.tag);
			const uint64_t mask = h ? h->mask & y.part.mask : 0;

			if (mask)
				found += bytes_in(r, &y.part, mask) *
				         (ps_min(x->set + x->sets, end) - ps_max(x->set, y.set));
		}
	}
	return found;
}

/* Chunks of a tag leave an arc. */
static void drop_held(struct residency *r, struct arc *x, struct held *h, uint64_t mask)
{
	const uint64_t n = analytic_residency_count(h->mask & mask);

	r->dirty -= analytic_residency_count(h->dirty & mask) * x->sets;
	r->used -= n * x->sets;
	x->used -= n;
	h->dirty &= ~mask;
	h->mask &= ~mask;
	h->chunks -= n;
	if (!h->chunks)
		forget_held(r, x, h, 1);
}

void residency_drop(struct residency *r, uint64_t addr, uint64_t bytes)
{
	uint64_t at = addr;

	while (at < addr + bytes) {
		const struct piece y = next_piece(r, &at, addr + bytes);
		const struct part *p = &y.part;
		const uint64_t whole = p->mask & ~(p->before ? p->first : 0) & ~(p->after ? p->last : 0);
		const uint32_t end = y.set + y.sets;

		for (uint32_t n = arc_of(r, y.set); n < r->n_arcs && r->arcs[n]->set < end; n++) {
			const struct held *h = held_of(r, r->arcs[n], y.tag);

			if (!h || !(h->mask & whole))
				continue;
			n = arc_from(r, (uint32_t)ps_max(r->arcs[n]->set, y.set));
			if (r->arcs[n]->set + r->arcs[n]->sets > end)
				arc_from(r, end);
			drop_held(r, r->arcs[n], held_of(r, r->arcs[n], y.tag), whole);
		}
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
