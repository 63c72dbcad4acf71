/* cache_walk.c - a request's way through the tags, chunk by chunk: hits, misses, evictions. */
#include "arch/mem/cache_int.h"

#include <assert.h>

#include "sim/base/hash.h"

/* Eager write-back: of the capacity, how much must have come in since a chunk became dirty (what is written over and
 * over is written again sooner); bytes of a request, so that a read that comes meanwhile waits for little. */
#define EAGER_SHARE 64
#define EAGER_BYTES (UINT64_C(64) << 10)

/* As many neighbours as there are partitions have each their own home; the first of them has this one, the next the next. */
static uint32_t first_home(uint32_t partitions, uint64_t group)
{
	return (uint32_t)(hash_mix(group) % partitions);
}

static uint32_t home_of(const struct cache *l, uint64_t chunk)
{
	uint32_t n = l->k.partitions;

	return n == 1 ? 0 : (uint32_t)(chunk % n + first_home(n, chunk / n)) % n;
}

/* The partition near the core that asks for those neighbours. */
static uint32_t near_to(const struct mem_req *r, uint32_t partitions, uint64_t group)
{
	return r->one_core ? 0 : (uint32_t)((group + hash_mix(group / partitions + 1)) % partitions);
}

/* A walk over chunks where there are several partitions. In each of them a chunk has the same place, but for its way. */
struct spread {
	uint64_t group; /* of as many neighbours as there are partitions */
	uint32_t turn;  /* which of them */
	uint32_t home, near;
	struct cache_place p;               /* of the chunk, whatever the way */
	uint32_t way[CACHE_PARTITIONS_MAX]; /* where its neighbour was */
};

static struct spread spread_from(const struct cache *l, const struct mem_req *r, uint64_t chunk)
{
	const uint32_t n = l->k.partitions;

	return (struct spread){ .group = chunk / n,
		                .turn = (uint32_t)(chunk % n),
		                .home = home_of(l, chunk),
		                .near = near_to(r, n, chunk / n),
		                .p = cache_tags_place(l->tags[0], chunk) };
}

static void spread_next(const struct cache *l, const struct mem_req *r, struct spread *x)
{
	const uint32_t n = l->k.partitions;

	if (++x->turn < n) {
		x->p.tag++;
		x->home = x->home + 1 < n ? x->home + 1 : 0;
		return;
	}
	x->turn = 0;
	x->group++;
	x->home = first_home(n, x->group);
	x->near = near_to(r, n, x->group);
	x->p.tag -= n - 1;
	cache_tags_next(l->tags[0], &x->p);
	for (uint32_t i = 0; i < n; i++) {
		x->p.way = x->way[i];
		cache_tags_ahead(l->tags[i], &x->p);
	}
}

/* Its place in one of the partitions. */
static struct cache_place spread_place(const struct spread *x, uint32_t in)
{
	struct cache_place p = x->p;

	p.way = x->way[in];
	return p;
}

/* Room for any one chunk's runs. */
static inline bool has_room(const struct cache *l, const struct memq_sub *s)
{
	return s && s->rq.n_runs + l->per_chunk / 2 <= MEMQ_RUNS;
}

/* Another request for write-backs; the full one is sent. False: none is free. */
static bool more_posts(struct cache *l, const struct memslot *s)
{
	struct memq_sub *full = l->post;

	l->post = NULL;
	if (full) {
		full->rq.not_before = s->start + l->k.miss_latency;
		memq_send(l->down, full);
	}
	if (!(l->post = memq_take(l->down, MEMQ_POST)))
		return false;
	l->post->rq.write = true;
	l->post->rq.cls = MEM_ACTIVATION;
	return true;
}

/* Another request for what `s` misses or writes through; the full one is sent. False: none is free. */
static bool more_asks(struct cache *l, struct memslot *s)
{
	struct memq_sub *full = s->ask;

	s->ask = NULL;
	if (full)
		memq_send(l->down, full);
	if (!(s->ask = memq_take(l->down, MEMQ_ASK)))
		return false;
	s->ask->owner = s;
	s->ask->rq.write = s->rq->write;
	s->ask->rq.cls = s->rq->cls;
	s->ask->rq.urgency = s->rq->urgency;
	s->ask->rq.no_keep = l->k.private && s->rq->no_keep;
	s->ask->rq.one_core = s->rq->one_core;
	s->ask->rq.not_before = s->start + l->k.miss_latency;
	memslots_asked(s);
	return true;
}

static void cache_walk_add(const struct cache *l, struct memq_sub *s, uint64_t chunk, uint64_t mask)
{
	memq_add_mask(s, (chunk * l->per_chunk) << l->shift, l->shift, mask);
}

/* Dirty chunks around one that goes are written with it, and stay here clean, as far as the request has room. */
static void clean_around(struct cache *l, uint64_t chunk)
{
	uint64_t n = l->k.write_block / (l->per_chunk << l->shift), from = n ? chunk / n * n : 0;

	for (uint64_t at = from; at < from + n && has_room(l, l->post); at++) {
		struct cache_tags *t = l->tags[home_of(l, at)];
		struct cache_chunk *c = at == chunk ? NULL : cache_tags_peek(t, cache_tags_place(t, at));

		if (!c || !c->dirty)
			continue;
		l->writeback_bytes += cache_bytes(l, c->dirty);
		l->dirty_bytes -= cache_bytes(l, c->dirty);
		cache_walk_add(l, l->post, at, c->dirty);
		c->dirty = 0;
	}
}

/* Dirty sectors of a chunk that goes. */
static void write_back(struct cache *l, uint64_t chunk, uint64_t dirty)
{
	l->writeback_bytes += cache_bytes(l, dirty);
	l->dirty_bytes -= cache_bytes(l, dirty);
	cache_walk_add(l, l->post, chunk, dirty);
	clean_around(l, chunk);
}

/* A chunk leaves a partition: to the victim cache, whose oldest goes in its place, or to the level below. */
static void evict(struct cache *l, struct cache_tags *from, struct cache_chunk old, uint64_t set)
{
	if (old.copy) {
		l->copy_bytes -= cache_bytes(l, old.valid);
		return;
	}
	if (l->victim) {
		struct cache_place p = cache_tags_place(l->victim, cache_tags_number(from, set, old.tag));
		struct cache_chunk oldest, *v = cache_tags_insert(l->victim, &p, MEM_ACTIVATION, &oldest);

		from = l->victim;
		set = p.set;
		v->valid = old.valid;
		v->dirty = old.dirty;
		v->fill = old.fill;
		old = oldest;
	}
	l->evicted_bytes += cache_bytes(l, old.valid);
	l->resident_bytes -= cache_bytes(l, old.valid);
	if (old.dirty)
		write_back(l, cache_tags_number(from, set, old.tag), old.dirty);
}

/* An entry for a chunk that is not in a partition. */
static struct cache_chunk *insert(struct cache *l, struct cache_tags *in, uint8_t cls, struct cache_place *p)
{
	struct cache_chunk old, *c = cache_tags_insert(in, p, cls, &old);

	if (old.valid)
		evict(l, in, old, p->set);
	return c;
}

/* Room for what an insertion may push out; a write-through cache holds nothing dirty. */
static bool may_insert(struct cache *l, const struct memslot *s)
{
	return l->k.private || has_room(l, l->post) || more_posts(l, s);
}

/* What the victim cache has of a chunk that is not in the cache: *c is moved there, or left where it is if the
 * requester keeps it itself. False: it would push out dirty sectors and the level below can take no more now. */
static bool from_victim(struct cache *l, struct cache_tags *home, const struct memslot *s, struct cache_place *p,
                        uint64_t chunk, uint64_t mask, struct cache_chunk **c)
{
	struct cache_place at = cache_tags_place(l->victim, chunk);
	struct cache_chunk *v = cache_tags_peek(l->victim, at), found;

	if (!v)
		return true;
	if (s->rq->no_keep && !s->rq->write) {
		*c = v;
	} else {
		if (!may_insert(l, s))
			return false;
		found = *v;
		cache_tags_drop(l->victim, at);
		*c = insert(l, home, s->rq->cls, p);
		(*c)->valid = found.valid;
		(*c)->dirty = found.dirty;
		(*c)->fill = found.fill;
	}
	l->victim_hit_bytes += cache_bytes(l, (*c)->valid & mask);
	return true;
}

static void count_hit(struct cache *l, struct memslot *s, uint64_t mask)
{
	uint64_t bytes = cache_bytes(l, mask);

	l->hit_bytes += bytes;
	s->rq->hit_bytes += bytes;
}

/* Whether a missing chunk is passed on without being kept: weights that nobody asked for lately (stream_bypass). */
static bool bypasses(const struct cache *l, const struct cache_tags *home, const struct mem_req *r,
                     struct cache_place p, uint64_t chunk, uint64_t mask)
{
	return l->seen && r->cls == MEM_WEIGHT && !r->write && !r->no_keep && !cache_tags_pins(home, p, r->cls) &&
	       !cache_seen_any(l->seen, chunk, mask);
}

/* A clean chunk is written: it stands in line to be cleaned. */
static void grows_old(struct cache *l, uint64_t chunk)
{
	if (!l->aged)
		return;
	if (l->aged_n == l->aged_room) {
		l->aged_first = (l->aged_first + 1) % l->aged_room;
		l->aged_n--;
	}
	l->aged[(l->aged_first + l->aged_n++) % l->aged_room] = (struct cache_aged){ chunk, l->came };
}

/* What has been dirty for long is written while the level below is idle. */
static void clean_old(struct cache *l, const struct memslot *s)
{
	uint64_t age = l->k.size / EAGER_SHARE, bytes = 0;
	struct memq_sub *post = NULL;

	while (l->aged_n && bytes < EAGER_BYTES) {
		struct cache_aged a = l->aged[l->aged_first];
		struct cache_tags *t = l->tags[home_of(l, a.chunk)];
		struct cache_chunk *c;

		if (l->came - a.at < age || (post && !has_room(l, post)))
			break;
		c = cache_tags_peek(t, cache_tags_place(t, a.chunk));
		if (c && c->dirty) {
			if (!post) {
				if (!l->comp.env.below->ops->idle || !l->comp.env.below->ops->idle(l->comp.env.below) ||
				    !(post = memq_take(l->down, MEMQ_POST)))
					return;
				post->rq.write = true;
				post->rq.cls = MEM_ACTIVATION;
			}
			bytes += cache_bytes(l, c->dirty);
			cache_walk_add(l, post, a.chunk, c->dirty);
			c->dirty = 0;
		}
		l->aged_first = (l->aged_first + 1) % l->aged_room;
		l->aged_n--;
	}
	if (!post)
		return;
	l->eager_bytes += bytes;
	l->writeback_bytes += bytes;
	l->dirty_bytes -= bytes;
	post->rq.not_before = s->start + l->k.miss_latency;
	memq_send(l->down, post);
}

/* Sectors of a chunk that are not here, and here from now on unless they are only passed on. */
static bool touch_missing(struct cache *l, struct cache_tags *home, struct memslot *s, struct cache_chunk *c,
                          struct cache_place *p, uint64_t chunk, uint64_t mask)
{
	bool write = s->rq->write, bypass = !c && bypasses(l, home, s->rq, *p, chunk, mask);
	bool keep = write || (!s->rq->no_keep && !bypass);
	uint64_t bytes = cache_bytes(l, mask);

	if (!write && !has_room(l, s->ask) && !more_asks(l, s))
		return false;
	if (!c && keep && !may_insert(l, s))
		return false;
	if (!c && keep)
		c = insert(l, home, s->rq->cls, p);
	if (bypass) {
		cache_seen_note(l->seen, chunk, mask);
		l->bypassed_bytes += bytes;
	}
	if (!write) {
		cache_walk_add(l, s->ask, chunk, mask);
		l->fill_bytes += bytes;
		if (!s->fill)
			memslots_fill(l->slots, s);
	}
	if (keep) {
		if (!write) {
			if (c->fill) /* who waits for this fill waits for the one before it too */
				memslots_depend(l->slots, s, c->fill);
			c->fill = s->fill;
		}
		c->valid |= mask;
		l->resident_bytes += bytes;
	}
	l->came += bytes;
	if (write) {
		if (!c->dirty)
			grows_old(l, chunk);
		c->dirty |= mask;
		l->dirty_bytes += bytes;
	}
	l->miss_bytes += bytes;
	return true;
}

/* One chunk's sectors at home; false, with nothing changed but the order of use and which of the caches it is in, when
 * the level below can take no more now. */
static inline bool touch(struct cache *l, struct cache_tags *home, struct memslot *s, struct cache_place *p,
                         uint64_t chunk, uint64_t mask)
{
	struct cache_chunk *c = cache_tags_hit(home, p, mask);
	uint64_t here;

	if (!c && l->victim && !from_victim(l, home, s, p, chunk, mask, &c))
		return false;
	here = c ? c->valid & mask : 0;
	if (here != mask && !touch_missing(l, home, s, c, p, chunk, mask & ~here))
		return false;
	if (!here)
		return true;
	count_hit(l, s, here);
	if (s->rq->write) {
		if (!c->dirty)
			grows_old(l, chunk);
		l->dirty_bytes += cache_bytes(l, here & ~c->dirty);
		c->dirty |= here;
	} else if (c->fill && !memslots_depend(l->slots, s, c->fill)) { /* I6: they may be on their way */
		c->fill = 0;
	}
	return true;
}

/* Sectors leave; returns how many bytes were there. */
static uint64_t cache_walk_drop(struct cache *l, struct cache_tags *t, struct cache_place p, uint64_t mask)
{
	struct cache_chunk *c = cache_tags_peek(t, p);
	uint64_t bytes = c ? cache_bytes(l, c->valid & mask) : 0;

	if (c && !(c->valid &= ~mask))
		cache_tags_drop(t, p);
	return bytes;
}

/* The copy near the reader of sectors that home, where they are at `at`, has just been asked for. */
static void cache_walk_copy(struct cache *l, struct memslot *s, struct spread *x, struct cache_place *at,
                            struct cache_chunk *c, uint64_t mask)
{
	const struct cache_chunk *from = cache_tags_look(l->tags[x->home], at);
	struct cache_place p = spread_place(x, x->near);

	if (!from || s->rq->no_keep)
		return;
	if (!c) { /* what is pinned is so at home only */
		c = insert(l, l->tags[x->near], s->rq->cls == MEM_WEIGHT ? MEM_CONSTANT : s->rq->cls, &p);
		c->copy = true;
		x->way[x->near] = p.way;
	}
	if (c->fill && c->fill != from->fill)
		memslots_depend(l->slots, s, c->fill);
	c->fill = from->fill;
	c->valid |= mask;
	l->copy_bytes += cache_bytes(l, mask);
}

/* One chunk's sectors at its home. */
static bool touch_home(struct cache *l, struct memslot *s, struct spread *x, struct cache_place *at, uint64_t chunk,
                       uint64_t mask)
{
	*at = spread_place(x, x->home);
	if (!touch(l, l->tags[x->home], s, at, chunk, mask))
		return false;
	x->way[x->home] = at->way;
	return true;
}

/* One chunk's sectors of a read that comes from far: the near partition's first. */
static bool touch_far(struct cache *l, struct memslot *s, struct spread *x, uint64_t chunk, uint64_t mask)
{
	struct cache_place near = spread_place(x, x->near), at;
	struct cache_chunk *c = cache_tags_hit(l->tags[x->near], &near, mask);
	const uint64_t here = c ? c->valid & mask : 0;

	x->way[x->near] = near.way;
	/* Both insertions may push out dirty sectors. */
	if (here != mask && !(l->post && l->post->rq.n_runs + l->per_chunk <= MEMQ_RUNS) && !more_posts(l, s))
		return false;
	if (here != mask && !touch_home(l, s, x, &at, chunk, mask & ~here))
		return false;
	if (here) {
		count_hit(l, s, here);
		l->copy_hit_bytes += cache_bytes(l, here);
		if (c->fill && !memslots_depend(l->slots, s, c->fill))
			c->fill = 0;
	}
	if (here == mask)
		return true;
	cache_walk_copy(l, s, x, &at, c, mask & ~here);
	s->late = l->k.far_latency;
	l->far_bytes += cache_bytes(l, mask & ~here);
	return true;
}

/* One chunk's sectors where there are several partitions. */
static bool touch_parts(struct cache *l, struct memslot *s, struct spread *x, uint64_t chunk, uint64_t mask)
{
	struct cache_place at;

	if (!s->rq->write && x->near != x->home)
		return touch_far(l, s, x, chunk, mask);
	if (!touch_home(l, s, x, &at, chunk, mask))
		return false;
	for (uint32_t i = 0; s->rq->write && i < l->k.partitions; i++)
		if (i != x->home)
			l->copy_bytes -= cache_walk_drop(l, l->tags[i], x->p, mask);
	if (x->near != x->home) {
		s->late = l->k.far_latency;
		l->far_bytes += cache_bytes(l, mask);
	}
	return true;
}

/* One chunk's sectors written through: they leave this cache. */
static bool write_through(struct cache *l, struct memslot *s, struct cache_place *p, uint64_t chunk, uint64_t mask)
{
	uint64_t bytes;

	if (!has_room(l, s->ask) && !more_asks(l, s))
		return false;
	bytes = cache_walk_drop(l, l->tags[0], *p, mask);
	if (l->victim)
		bytes += cache_walk_drop(l, l->victim, cache_tags_place(l->victim, chunk), mask);
	l->dropped_bytes += bytes;
	l->resident_bytes -= bytes;
	return true;
}

/* Of at most n whole chunks those that are read and here, until one is not. */
static uint64_t reuse(struct cache *l, struct memslot *s, struct cache_place *p, uint64_t n)
{
	struct cache_fills fills = { .met = 0 };
	uint64_t used = 0;

	for (;;) {
		used += cache_tags_reuse(l->tags[0], p, n - used, l->full, &fills);
		if (!fills.met)
			break;
		if (memslots_depend(l->slots, s, fills.met)) /* I6 */
			fills.waited = fills.met;
		else
			fills.over = fills.met;
	}
	l->hit_bytes += (used * l->per_chunk) << l->shift;
	s->rq->hit_bytes += (used * l->per_chunk) << l->shift;
	return used;
}

/* The request for what `s` misses, if it ends where `chunk` begins and one more like it may come in: joined to its last
 * run, and with room for what it pushes out. */
static struct memq_sub *joins(const struct cache *l, const struct memslot *s, uint64_t chunk)
{
	struct memq_sub *ask = s->ask;
	const struct mem_run *last = ask && ask->rq.n_runs ? &ask->runs[ask->rq.n_runs - 1] : NULL;

	if (s->rq->no_keep || l->seen || l->victim || !last || !s->fill || !has_room(l, ask) ||
	    !(l->k.private || has_room(l, l->post)))
		return NULL;
	return last->addr + last->bytes == (chunk * l->per_chunk) << l->shift ? ask : NULL;
}

/* Of at most n whole chunks those that are read, absent and kept, behind one that was just asked for: they come in as
 * touch() would bring them, one by one, but ask and count together. */
static uint64_t stream(struct cache *l, struct memslot *s, struct cache_place *p, uint64_t chunk, uint64_t n)
{
	const struct cache_chunk fresh = { .valid = l->full, .fill = s->fill };
	struct memq_sub *ask = joins(l, s, chunk);
	struct cache_pushed out;
	uint64_t came, bytes;

	if (!ask)
		return 0;
	came = cache_tags_stream(l->tags[0], p, n, s->rq->cls, &fresh, &out);
	bytes = (came * l->per_chunk) << l->shift;
	l->evicted_bytes += out.sectors << l->shift;
	l->resident_bytes += bytes - (out.sectors << l->shift);
	if (out.old.dirty)
		evict(l, l->tags[0], out.old, out.old_set);
	ask->runs[ask->rq.n_runs - 1].bytes += bytes;
	ask->rq.bytes += bytes;
	l->fill_bytes += bytes;
	l->came += bytes;
	l->miss_bytes += bytes;
	return came;
}

/* The same for whole chunks that are read from a cache of one partition, whatever of it goes for many at once. */
static uint64_t many(struct cache *l, struct memslot *s, struct cache_place *p, uint64_t chunk, uint64_t n)
{
	uint64_t done = n && !s->rq->write ? reuse(l, s, p, n) : 0;

	return n && !s->rq->write && !done ? stream(l, s, p, chunk, n) : done;
}

/* The bytes of `r` between two sectors go below as they are: not in whole sectors, which would touch others' bytes. */
static void pass_on(struct cache *l, struct memslot *s, const struct mem_run *r, uint64_t sector, uint64_t n)
{
	uint64_t from = sector << l->shift, to = (sector + n) << l->shift;
	bool fits;

	from = from > r->addr ? from : r->addr;
	to = to < r->addr + r->bytes ? to : r->addr + r->bytes;
	fits = memq_add(s->ask, from, to - from);
	assert(fits);
	(void)fits;
	l->through_bytes += to - from;
}

/* Sectors of a run, in a cache of one partition; returns the first for which the level below can take no more now. */
static uint64_t walk_run(struct cache *l, struct memslot *s, const struct mem_run *r, uint64_t at, uint64_t end)
{
	const bool through = l->k.private && s->rq->write;
	uint64_t chunk = at / l->per_chunk;
	struct cache_place p = cache_tags_place(l->tags[0], chunk);

	while (at < end) {
		uint32_t lo = (uint32_t)(at % l->per_chunk);
		uint64_t n = ps_min(l->per_chunk - lo, end - at), mask = memq_mask(lo, n), done;

		if (lo == 0 && (done = many(l, s, &p, chunk, (end - at) / l->per_chunk))) {
			at += done * l->per_chunk;
			chunk += done;
			continue;
		}
		cache_tags_ahead(l->tags[0], &p);
		if (through ? !write_through(l, s, &p, chunk, mask) : !touch(l, l->tags[0], s, &p, chunk, mask))
			break;
		if (through)
			pass_on(l, s, r, at, n);
		at += n;
		chunk++;
		cache_tags_next(l->tags[0], &p);
	}
	return at;
}

/* The same in a cache of several. */
static uint64_t walk_spread(struct cache *l, struct memslot *s, uint64_t at, uint64_t end)
{
	uint64_t chunk = at / l->per_chunk, n;
	struct spread x = spread_from(l, s->rq, chunk);

	for (; at < end; at += n, chunk++, spread_next(l, s->rq, &x)) {
		const uint32_t lo = (uint32_t)(at % l->per_chunk);

		n = ps_min(l->per_chunk - lo, end - at);
		if (!touch_parts(l, s, &x, chunk, memq_mask(lo, n)))
			break;
	}
	return at;
}

void cache_walk(struct cache *l, struct memslot *s)
{
	const bool whole = l->k.partitions == 1;

	l->parked = NULL;
	for (; s->run < s->rq->n_runs; s->run++, s->line = UINT64_MAX) {
		const struct mem_run *r = &s->rq->runs[s->run];
		const uint64_t from = s->line == UINT64_MAX ? cache_first(l, r->addr) : s->line, end = cache_end(l, r);

		s->line = whole ? walk_run(l, s, r, from, end) : walk_spread(l, s, from, end);
		if (s->line < end) {
			l->parked = s;
			return;
		}
	}
	if (s->ask) {
		struct memq_sub *ask = s->ask;

		s->ask = NULL;
		memq_send(l->down, ask);
	}
	if (l->post && l->post->rq.n_runs) {
		struct memq_sub *post = l->post;

		l->post = NULL;
		post->rq.not_before = s->start + l->k.miss_latency;
		memq_send(l->down, post);
	}
	if (l->aged)
		clean_old(l, s);
	memslots_walked(l->slots, s);
}

uint64_t cache_here(const struct cache *l, uint64_t chunk)
{
	const struct cache_chunk *c;
	uint64_t here = 0;

	for (uint32_t i = 0; i < l->k.partitions; i++)
		if ((c = cache_tags_peek(l->tags[i], cache_tags_place(l->tags[i], chunk))))
			here |= c->valid;
	if (l->victim && (c = cache_tags_peek(l->victim, cache_tags_place(l->victim, chunk))))
		here |= c->valid;
	return here;
}
