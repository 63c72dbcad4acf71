#include "sim/engine/analytic_sample.h"

#include <stdlib.h>

#include "arch/comp.h"
#include "arch/mem/cache_seen.h"
#include "arch/mem/cache_tags.h"
#include "sim/base/clock.h"
#include "sim/base/ratio.h"

#define SETS_MOST 256 /* with 1,024, steps are no nearer to events */
#define SETS_DUEL 512 /* of a duel, where with up to eight leaders of each rule chance decides; 1,024 err as much */

struct sample {
	uint64_t sets, here; /* of the cache; of them in `tags`, where they are numbered from 0 */
	unsigned halved;     /* how often that is */
	uint64_t full;       /* mask of a chunk's sectors */
	uint32_t per_chunk;  /* how many that are */
	unsigned chunk_shift, sector_shift;
	bool hash, exact; /* exact: all sets are here */
	/* A chunk's `fill` is how many sectors it stands for. */
	struct cache_tags *tags, *victim; /* the latter NULL without, as `seen` */
	struct cache_seen *seen;
	uint64_t held, dirty; /* sectors */
};

/* --- life cycle -------------------------------------------------------------------------------------------- */

bool sample_needed(const struct l2_cfg *c)
{
	return c->size && (c->policy != CACHE_LRU || c->victim || c->weight_ways || c->kv_ways);
}

static uint64_t sector_of(const struct l2_cfg *c)
{
	return c->sector < c->line ? c->sector : c->line;
}

static int make_victim(struct sample *s, const struct l2_cfg *c, uint64_t chunk, struct err *e)
{
	const uint64_t chunks = ps_max((c->victim / chunk) >> s->halved, 1), sets = div_up(chunks, l2_victim_ways(c));

	if (!c->victim)
		return 0;
	s->victim = cache_tags_new(&(struct cache_tags_cfg){ .sets = sets,
	                                                     .ways = (uint32_t)(chunks / sets),
	                                                     .hash = s->hash,
	                                                     .policy = &cache_lru,
	                                                     .share = 1 },
	                           e);
	return s->victim ? 0 : -1;
}

static int make_tags(struct sample *s, const struct l2_cfg *c, struct err *e)
{
	const uint64_t chunk = cache_chunk_bytes(c->line, sector_of(c));
	const uint64_t most = c->policy == CACHE_DRRIP ? SETS_DUEL : SETS_MOST;

	/* Every reader but the home's own has a copy of what it reads. */
	s->sets = c->size / (chunk * c->ways) * c->partitions / (2 * c->partitions - 1);
	s->sets = s->sets ? s->sets : 1;
	while (s->sets >> s->halved > most)
		s->halved++;
	s->here = s->sets >> s->halved;
	s->exact = s->here == s->sets;
	s->hash = c->hash == CACHE_HASH_XOR;
	s->sector_shift = (unsigned)__builtin_ctzll(sector_of(c));
	s->chunk_shift = (unsigned)__builtin_ctzll(chunk);
	s->per_chunk = (uint32_t)(chunk >> s->sector_shift);
	s->full = s->per_chunk < 64 ? (UINT64_C(1) << s->per_chunk) - 1 : UINT64_MAX;
	s->tags = cache_tags_new(&(struct cache_tags_cfg){ .sets = s->here,
	                                                   .ways = c->ways,
	                                                   .kv_ways = c->kv_ways,
	                                                   .pin_ways = c->weight_ways,
	                                                   .policy = cache_policy_of((enum cache_policy)c->policy),
	                                                   .share = 1,
	                                                   .stands_for = 1U << s->halved },
	                         e);
	if (!s->tags || make_victim(s, c, chunk, e) < 0 ||
	    (c->policy == CACHE_STREAM_BYPASS && !(s->seen = cache_seen_new((c->size / chunk) >> s->halved, e))))
		return -1;
	return 0;
}

struct sample *sample_new(const struct l2_cfg *c, struct err *e)
{
	struct sample *s = calloc(1, sizeof *s);

	if (!s) {
		err_set(e, ERR_NOMEM, "out of memory for what a level holds");
		return NULL;
	}
	if (make_tags(s, c, e) == 0)
		return s;
	sample_free(s);
	return NULL;
}

void sample_free(struct sample *s)
{
	if (!s)
		return;
	cache_tags_free(s->tags);
	cache_tags_free(s->victim);
	cache_seen_free(s->seen);
	free(s);
}

void sample_clear(struct sample *s)
{
	cache_tags_reset(s->tags);
	if (s->victim)
		cache_tags_reset(s->victim);
	if (s->seen)
		cache_seen_reset(s->seen);
	s->held = s->dirty = 0;
}

/* --- which chunks of a range are looked at ----------------------------------------------------------------- */

/* Sets that are here below one of the cache's: the i-th of them is the first s with s * here / sets >= i. */
static uint64_t here_below(const struct sample *s, uint64_t set)
{
	return set ? ((set - 1) * s->here) / s->sets + 1 : 0;
}

/* Chunks in sets one after the other: where those that are here are, and where the first lies. */
struct run {
	uint64_t tag, set, end, first;
};

/* The next run of the chunks from *at on, which goes behind it. */
static struct run next_run(const struct sample *s, uint64_t *at, uint64_t end)
{
	const uint64_t tag = *at / s->sets, in_tag = *at - tag * s->sets;
	const uint64_t moved = in_tag + (s->hash ? cache_tags_skew(tag, s->sets) : 0);
	const uint64_t set = moved < s->sets ? moved : moved - s->sets;
	const uint64_t n = ps_min(end - *at, s->sets - ps_max(in_tag, set));
	const struct run r = { tag, here_below(s, set), here_below(s, set + n), *at };

	*at += n;
	return r;
}

/* What a range asks for. */
struct ask {
	uint64_t addr, end;    /* bytes */
	uint64_t first, after; /* chunks */
	uint64_t looked;       /* how many of them are in sets that are here */
	uint64_t asked, hit, kept, evicted, left;
	uint8_t cls;
	enum residency_use use;
};

static struct ask ask_of(const struct sample *s, uint64_t addr, uint64_t bytes)
{
	struct ask a = { .addr = addr, .end = addr + bytes, .first = addr >> s->chunk_shift };

	a.after = ((a.end - 1) >> s->chunk_shift) + 1;
	for (uint64_t at = a.first; at < a.after;) {
		const struct run r = next_run(s, &at, a.after);

		a.looked += r.end - r.set;
	}
	return a;
}

/* Where a range is looked up that lies in no set that is here. */
static struct run neighbour(const struct sample *s, uint64_t chunk)
{
	struct run r = next_run(s, &chunk, chunk + 1);

	r.set = r.set ? r.set - 1 : 0;
	r.end = r.set + 1;
	return r;
}

/* The sectors of a chunk that a range has. */
static uint64_t mask_of(const struct sample *s, const struct ask *a, uint64_t chunk)
{
	const uint64_t from = chunk << s->chunk_shift;
	const uint64_t lo = a->addr > from ? (a->addr - from) >> s->sector_shift : 0;
	const uint64_t to = (a->end - from + (UINT64_C(1) << s->sector_shift) - 1) >> s->sector_shift;

	return (to < s->per_chunk ? (UINT64_C(1) << to) - 1 : s->full) & ~((UINT64_C(1) << lo) - 1);
}

static uint64_t number_of(const struct sample *s, const struct cache_place *p)
{
	return (p->tag - 1) * s->here + p->set;
}

/* --- what a chunk's tags do: as arch/mem/cache_walk.c, without time ---------------------------------------- */

/* Sectors of a mask; nearly every one is empty or full. */
static inline uint32_t analytic_sample_count(const struct sample *s, uint64_t mask)
{
	return mask == s->full ? s->per_chunk : mask ? (uint32_t)__builtin_popcountll(mask) : 0;
}

/* Sectors that those of a mask stand for. */
static uint64_t stand_for(const struct sample *s, const struct cache_chunk *c, uint64_t mask)
{
	return mask == s->full ? c->fill : mask ? (uint64_t)c->fill * analytic_sample_count(s, mask) / s->per_chunk : 0;
}

static void evict(struct sample *s, struct ask *a, struct cache_chunk old, uint64_t set)
{
	if (s->victim) {
		struct cache_place p = cache_tags_place(s->victim, cache_tags_number(s->tags, set, old.tag));
		struct cache_chunk oldest, *v = cache_tags_insert(s->victim, &p, MEM_ACTIVATION, &oldest);

		v->valid = old.valid;
		v->dirty = old.dirty;
		v->fill = old.fill;
		old = oldest;
	}
	s->held -= stand_for(s, &old, old.valid);
	s->dirty -= stand_for(s, &old, old.dirty);
	a->evicted += stand_for(s, &old, old.dirty);
}

static struct cache_chunk *insert(struct sample *s, struct ask *a, struct cache_place *p)
{
	struct cache_chunk old, *c = cache_tags_insert(s->tags, p, a->cls, &old);

	if (old.valid)
		evict(s, a, old, p->set);
	return c;
}

/* What the victim cache has of a chunk that is not in the cache: it goes back there, if it is to be kept. */
static struct cache_chunk *from_victim(struct sample *s, struct ask *a, struct cache_place *p)
{
	const struct cache_place at = cache_tags_place(s->victim, number_of(s, p));
	struct cache_chunk *v = cache_tags_peek(s->victim, at), found, *c;

	if (!v || a->use == RESIDENCY_PASS)
		return v;
	found = *v;
	cache_tags_drop(s->victim, at);
	c = insert(s, a, p);
	c->valid = found.valid;
	c->dirty = found.dirty;
	c->fill = found.fill;
	return c;
}

/* Whether an absent chunk goes by without being kept, as weights that nobody asked for lately do (stream_bypass). */
static bool bypasses(struct sample *s, const struct ask *a, struct cache_place *p, uint64_t mask)
{
	if (!s->seen || a->cls != MEM_WEIGHT || a->use != RESIDENCY_READ || cache_tags_pins(s->tags, *p, a->cls) ||
	    cache_seen_any(s->seen, number_of(s, p), mask))
		return false;
	cache_seen_note(s->seen, number_of(s, p), mask);
	return true;
}

/* A chunk that stays has these sectors from now on, and stands for as many as the range has for each that is looked at. */
static void analytic_sample_keep(struct sample *s, struct ask *a, struct cache_chunk *c, uint64_t mask, uint32_t stands)
{
	s->held -= stand_for(s, c, c->valid);
	s->dirty -= stand_for(s, c, c->dirty);
	c->valid |= mask;
	c->dirty |= a->use == RESIDENCY_WRITE ? mask : 0;
	c->fill = c->fill > stands ? c->fill : stands;
	s->held += stand_for(s, c, c->valid);
	s->dirty += stand_for(s, c, c->dirty);
	a->kept += analytic_sample_count(s, mask);
}

static void touch(struct sample *s, struct ask *a, struct cache_place *p, uint64_t mask, uint32_t stands)
{
	struct cache_chunk *c = cache_tags_hit(s->tags, p, mask);
	uint64_t here;

	if (!c && s->victim)
		c = from_victim(s, a, p);
	here = c ? c->valid & mask : 0;
	a->asked += analytic_sample_count(s, mask);
	a->hit += analytic_sample_count(s, here);
	if (a->use == RESIDENCY_PASS || (!c && bypasses(s, a, p, mask))) {
		a->kept += analytic_sample_count(s, here);
		return;
	}
	if (!c)
		c = insert(s, a, p);
	if (here != mask || a->use == RESIDENCY_WRITE)
		analytic_sample_keep(s, a, c, mask, stands);
	else
		a->kept += analytic_sample_count(s, here);
}

/* The chunks of a run, each for as many of the range's sectors as the others. */
static void touch_run(struct sample *s, struct ask *a, const struct run *r)
{
	const uint64_t whole = ((a->end - a->addr - 1) >> s->sector_shift) + 1;
	struct cache_place p = { .tag = r->tag + 1 };

	for (uint64_t set = r->set; set < r->end; set++) {
		const uint64_t chunk = r->first + set - r->set;
		uint64_t stands = s->per_chunk;

		if (!s->exact) {
			stands = whole / a->looked + (a->left > 0);
			a->left -= a->left > 0;
		}
		p.set = set;
		touch(s, a, &p, s->exact ? mask_of(s, a, chunk) : s->full, (uint32_t)stands);
	}
}

/* --- ranges ------------------------------------------------------------------------------------------------ */

/* So many of a whole, of which `part` of `of` are meant. */
static uint64_t analytic_sample_scaled(uint64_t whole, uint64_t part, uint64_t of)
{
	if (part == 0 || part == of)
		return part ? whole : 0;
	return ratio_of(whole, part, of);
}

struct residency_found sample_touch(struct sample *s, uint8_t cls, uint64_t addr, uint64_t bytes,
                                    enum residency_use use)
{
	struct ask a;

	if (bytes == 0)
		return (struct residency_found){ 0, 0, 0 };
	a = ask_of(s, addr, bytes);
	a.cls = cls;
	a.use = use;
	if (a.looked) {
		a.left = (((bytes - 1) >> s->sector_shift) + 1) % a.looked;
		for (uint64_t at = a.first; at < a.after;) {
			const struct run r = next_run(s, &at, a.after);

			touch_run(s, &a, &r);
		}
	} else {
		const struct run r = neighbour(s, a.first);

		a.looked = 1;
		touch_run(s, &a, &r);
	}
	return (struct residency_found){ analytic_sample_scaled(bytes, a.hit, a.asked),
		                         analytic_sample_scaled(bytes, a.kept, a.asked), a.evicted << s->sector_shift };
}

static uint64_t here_in_run(const struct sample *s, const struct ask *a, const struct run *r)
{
	uint64_t n = 0;

	for (uint64_t set = r->set; set < r->end; set++) {
		const struct cache_place p = { .set = set, .tag = r->tag + 1 };
		const uint64_t mask = s->exact ? mask_of(s, a, r->first + set - r->set) : s->full;
		const struct cache_chunk *c = cache_tags_peek(s->tags, p);

		if (!c && s->victim)
			c = cache_tags_peek(s->victim, cache_tags_place(s->victim, number_of(s, &p)));
		n += c ? analytic_sample_count(s, c->valid & mask) : 0;
	}
	return n;
}

uint64_t sample_here(const struct sample *s, uint64_t addr, uint64_t bytes)
{
	uint64_t n = 0, of;
	struct ask a;
	struct run r;

	if (bytes == 0)
		return 0;
	a = ask_of(s, addr, bytes);
	if (!a.looked) {
		r = neighbour(s, a.first);
		return analytic_sample_scaled(bytes, here_in_run(s, &a, &r), s->per_chunk);
	}
	for (uint64_t at = a.first; at < a.after;) {
		r = next_run(s, &at, a.after);
		n += here_in_run(s, &a, &r);
	}
	of = s->exact ? ((a.end - 1) >> s->sector_shift) - (addr >> s->sector_shift) + 1 : a.looked * s->per_chunk;
	return analytic_sample_scaled(bytes, n, of);
}

uint64_t sample_dirty(const struct sample *s)
{
	return s->dirty << s->sector_shift;
}

uint64_t sample_bytes(const struct sample *s)
{
	return s->held << s->sector_shift;
}
