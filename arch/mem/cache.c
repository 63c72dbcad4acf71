#include "arch/mem/cache.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/mem/cache_int.h"
#include "arch/watch.h"
#include "sim/base/pages.h"

#define HITS   128 /* requests held beyond those that miss */
#define POSTS  32  /* write-back requests kept when the level below refuses */
#define WRITES 64  /* requests of a write-through cache that pass writes on */

static bool cache_room(const struct comp *c)
{
	const struct cache *l = (const struct cache *)c;

	return !l->parked && memslots_room(l->slots) && memslots_filling(l->slots) < l->k.mshrs;
}

/* A walk over chunks that changes nothing: in one partition without a victim cache the next is beside this one. */
struct look {
	bool plain;
	struct cache_place p;
};

static struct look look_from(const struct cache *l, uint64_t chunk)
{
	return (struct look){ l->k.partitions == 1 && !l->victim, cache_tags_place(l->tags[0], chunk) };
}

/* Sectors of the chunk that are here; the next call is about the next one. */
static uint64_t look_next(const struct cache *l, struct look *x, uint64_t chunk)
{
	const struct cache_chunk *c;

	if (!x->plain)
		return cache_here(l, chunk);
	cache_tags_ahead(l->tags[0], &x->p);
	c = cache_tags_look(l->tags[0], &x->p);
	cache_tags_next(l->tags[0], &x->p);
	return c ? c->valid : 0;
}

/* Of the next n chunks so many are not here, before one that may be; goes behind them. */
static uint64_t look_past(const struct cache *l, struct look *x, uint64_t n)
{
	return n && x->plain ? cache_tags_absent(l->tags[0], &x->p, n) : 0;
}

/* Whether a read would need sectors that are not here. */
static bool would_miss(const struct cache *l, const struct mem_req *r)
{
	for (uint32_t i = 0; i < r->n_runs && !r->write; i++) {
		uint64_t at = cache_first(l, r->runs[i].addr), end = cache_end(l, &r->runs[i]);
		struct look x = look_from(l, at / l->per_chunk);

		while (at < end) {
			uint32_t lo = (uint32_t)(at % l->per_chunk);
			uint64_t n = ps_min(l->per_chunk - lo, end - at);

			if (memq_mask(lo, n) & ~look_next(l, &x, at / l->per_chunk))
				return true;
			at += n;
		}
	}
	return false;
}

bool cache_send(struct comp *c, struct mem_req *r)
{
	struct cache *l = (struct cache *)c;
	struct memslot *s;
	uint64_t bytes = 0;
	ps_t span, arrive = ps_max(evq_now(c->env.q), r->not_before);

	if (!memq_wait_turn(&l->wait, r->from) || l->parked || !memslots_room(l->slots) ||
	    (memslots_filling(l->slots) == l->k.mshrs && would_miss(l, r))) {
		memq_wait_add(&l->wait, r->from); /* I5 */
		l->refusals++;
		return false;
	}
	s = memslots_take(l->slots, r);
	for (uint32_t i = 0; i < r->n_runs; i++)
		bytes += (cache_end(l, &r->runs[i]) - cache_first(l, r->runs[i].addr)) << l->shift;
	span = clock_transfer(bytes, l->k.bandwidth);
	memslots_serve(l->slots, s, arrive, span);
	if (l->k.private)
		r->t_arrive = arrive; /* no network before it */
	r->level = (uint8_t)l->k.level;
	l->busy_ps += span;
	if (!l->k.private)
		watch_level(c->env.watch, WATCH_L2, evq_now(c->env.q), memslots_held(l->slots));
	l->requests++;
	if (r->write)
		l->write_bytes += bytes;
	else
		l->read_bytes += bytes;
	cache_walk(l, s);
	return true;
}

/* Requests to the level below are free again: a parked walk goes on, and then refused senders. */
static void go_on(struct cache *l)
{
	if (l->parked)
		cache_walk(l, l->parked);
	memq_wait_wake(&l->wait, &l->comp, cache_room);
}

void cache_reply(struct comp *c, struct mem_req *r)
{
	struct cache *l = (struct cache *)c;
	struct memq_sub *s = (struct memq_sub *)r; /* rq is its first member */
	struct memslot *slot = s->owner;

	if (l->k.private) { /* what the level below made of it is the request's way, after this one */
		slot->rq->t_l1 = slot->start;
		slot->rq->t_arrive = r->t_arrive;
		slot->rq->t_level = r->t_level;
		slot->rq->level = r->level;
	}
	memslots_answered(l->slots, slot, s);
	memq_give(l->down, s);
	go_on(l);
}

void cache_retry(struct comp *c, struct comp *below)
{
	struct cache *l = (struct cache *)c;

	(void)below;
	memq_retry(l->down);
	go_on(l);
}

/* What its banks gave way for is known now. */
__attribute__((cold, noinline)) static void tell(const struct cache *l, const struct mem_req *r, ps_t from, ps_t to)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < r->n_runs; i++)
		bytes += (cache_end(l, &r->runs[i]) - cache_first(l, r->runs[i].addr)) << l->shift;
	watch_busy(l->comp.env.watch, l->k.level, from, to, WATCH_NO_CMD);
	watch_moved(l->comp.env.watch, l->k.level, r->write, from, to, bytes);
}

static void freed(struct comp *c, const struct mem_req *r, ps_t from, ps_t to)
{
	struct cache *l = (struct cache *)c;

	if (c->env.watch)
		tell(l, r, from, to);
	if (!l->k.private)
		watch_level(c->env.watch, WATCH_L2, evq_now(c->env.q), memslots_held(l->slots));
	memq_wait_wake(&l->wait, c, cache_room);
}

void cache_explain(const struct comp *c, struct str *out)
{
	const struct cache *l = (const struct cache *)c;
	uint32_t asks = memq_waiting(l->down, MEMQ_ASK), posts = memq_waiting(l->down, MEMQ_POST);
	const char *below = l->k.private ? "the network" : "dram";

	str_addf(out,
	         "%s: %u of %u misses outstanding, %u requests held, write-back queue %u, %u refused senders waiting",
	         l->k.name, memslots_filling(l->slots), l->k.mshrs, memslots_held(l->slots), posts, l->wait.n);
	if (l->parked)
		str_add(out, ", a request waits for the level below to take its misses or write-backs");
	else if (asks || posts)
		str_addf(out, ", refused by %s", below);
	else if (memslots_filling(l->slots))
		str_addf(out, ", waiting for %s", below);
}

/* Of [from, to), what the level below holds, if this one asks it. */
static uint64_t below_holds(const struct cache *l, uint64_t from, uint64_t to)
{
	const struct comp *below = l->k.private ? l->comp.env.below : NULL;

	return to > from && below && below->ops->resident ? below->ops->resident(below, from, to - from) : 0;
}

/* The level below is asked for what lies between two pieces that are here, in one question. */
uint64_t cache_resident(const struct comp *c, uint64_t addr, uint64_t bytes)
{
	const struct cache *l = (const struct cache *)c;
	uint64_t at = cache_first(l, addr), end = cache_end(l, &(struct mem_run){ addr, bytes }), found = 0;
	uint64_t known = addr; /* what lies before is counted */
	struct look x = look_from(l, at / l->per_chunk);

	while (at < end) {
		uint32_t lo = (uint32_t)(at % l->per_chunk);
		uint64_t n = ps_min(l->per_chunk - lo, end - at), here, past;

		if (lo == 0 && (past = look_past(l, &x, (end - at) / l->per_chunk))) {
			at += past * l->per_chunk;
			continue;
		}
		here = look_next(l, &x, at / l->per_chunk) & memq_mask(lo, n);
		/* Whole chunks are here or not; of others, and at the ends of the range, sector by sector. */
		for (uint64_t i = at, step; here && i < at + n; i += step) {
			uint64_t from = i << l->shift, to;

			step = here == memq_mask(lo, n) ? n : 1;
			to = (i + step) << l->shift;
			from = ps_max(from, addr), to = ps_min(to, addr + bytes);
			if (!(here >> i % l->per_chunk & 1))
				continue;
			found += below_holds(l, known, from) + (to - from);
			known = to;
		}
		at += n;
	}
	return found + below_holds(l, known, addr + bytes);
}

void cache_reset(struct comp *c)
{
	struct cache *l = (struct cache *)c;

	for (uint32_t i = 0; i < l->k.partitions; i++)
		cache_tags_reset(l->tags[i]);
	if (l->victim)
		cache_tags_reset(l->victim);
	if (l->seen)
		cache_seen_reset(l->seen);
	memslots_reset(l->slots);
	memq_reset(l->down);
	memq_wait_reset(&l->wait);
	l->parked = NULL;
	l->post = NULL;
	l->aged_first = l->aged_n = l->came = 0;
	l->dirty_bytes = l->resident_bytes = l->copy_bytes = 0;
}

void cache_free(struct comp *c)
{
	struct cache *l = (struct cache *)c;

	if (!l)
		return;
	for (uint32_t i = 0; i < l->k.partitions; i++)
		cache_tags_free(l->tags[i]);
	cache_tags_free(l->victim);
	cache_seen_free(l->seen);
	pages_free(l->aged, l->aged_room, sizeof *l->aged);
	memslots_free(l->slots);
	memq_free(l->down);
	free(l);
}

static int cache_register_stats(struct cache *l, struct err *e)
{
	bool through = l->k.private, back = !through, parts = l->k.partitions > 1;
	const char *hits = back ? "bytes found here, reads and writes" : "bytes found here by reads";
	const char *misses = back ? "bytes not found here, reads and writes" : "bytes not found here by reads";
	const struct {
		bool is;
		struct stat_row row;
	} rows[] = {
		{ l->victim,
		  { "victim_hit_bytes", "B", "of the hits, found in the victim cache", STAT_COUNT,
		    &l->victim_hit_bytes } },
		{ l->seen,
		  { "bypassed_bytes", "B", "bytes passed on without being kept", STAT_COUNT, &l->bypassed_bytes } },
		{ parts,
		  { "copy_bytes", "B", "bytes held as copies beside those at home", STAT_LEVEL, &l->copy_bytes } },
		{ parts, { "copy_hit_bytes", "B", "of the hits, found in a copy", STAT_COUNT, &l->copy_hit_bytes } },
		{ parts,
		  { "far_bytes", "B", "bytes another partition than the near one answered", STAT_COUNT,
		    &l->far_bytes } },
		{ true, { "read_bytes", "B", "bytes asked by reads, in whole sectors", STAT_COUNT, &l->read_bytes } },
		{ true,
		  { "write_bytes", "B", "bytes asked by writes, in whole sectors", STAT_COUNT, &l->write_bytes } },
		{ true, { "hit_bytes", "B", hits, STAT_COUNT, &l->hit_bytes } },
		{ true, { "miss_bytes", "B", misses, STAT_COUNT, &l->miss_bytes } },
		{ true,
		  { "fill_bytes", "B", "bytes fetched from the level below: what reads missed", STAT_COUNT,
		    &l->fill_bytes } },
		{ through,
		  { "through_bytes", "B", "bytes written through to the level below", STAT_COUNT, &l->through_bytes } },
		{ through,
		  { "dropped_bytes", "B", "bytes that left because they were written", STAT_COUNT,
		    &l->dropped_bytes } },
		{ back, { "writeback_bytes", "B", "dirty bytes evicted to DRAM", STAT_COUNT, &l->writeback_bytes } },
		{ l->aged,
		  { "eager_bytes", "B", "of the dirty bytes written, ahead of their eviction", STAT_COUNT,
		    &l->eager_bytes } },
		{ true, { "evicted_bytes", "B", "bytes evicted, dirty or not", STAT_COUNT, &l->evicted_bytes } },
		{ back, { "dirty_bytes", "B", "dirty bytes held", STAT_LEVEL, &l->dirty_bytes } },
		{ true, { "resident_bytes", "B", "bytes held", STAT_LEVEL, &l->resident_bytes } },
		{ true, { "requests", "", "tile requests taken", STAT_COUNT, &l->requests } },
		{ true,
		  { "refusals", "", "tile requests refused: misses or write-backs outstanding", STAT_COUNT,
		    &l->refusals } },
		{ true, { "busy_ps", "ps", "time its banks needed for the bytes asked", STAT_COUNT, &l->busy_ps } },
	};
	_Static_assert(sizeof rows / sizeof *rows <= CACHE_STATS, "a name for each");

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct stat_row *r = &rows[i].row;
		char *name = l->stat_name[i];

		snprintf(name, sizeof l->stat_name[i], "%s.%s", l->k.name, r->name);
		if (rows[i].is && stat_add(l->comp.env.stats, name, r->unit, r->help, r->kind, r->counter, e) < 0)
			return -1;
	}
	return 0;
}

uint64_t cache_chunk_bytes(uint64_t line, uint64_t sector)
{
	return ps_min(line * 32, sector * 64);
}

uint32_t cache_victim_ways(uint64_t victim, uint64_t line, uint64_t sector)
{
	uint64_t chunks = victim / cache_chunk_bytes(line, sector);

	return chunks < 1 ? 1 : chunks < CACHE_WAYS_MAX ? (uint32_t)chunks : CACHE_WAYS_MAX;
}

const struct cache_policy_ops *cache_policy_of(enum cache_policy policy)
{
#define POLICY(id, name, file) &cache_##file,
	static const struct cache_policy_ops *const policies[CACHE_POLICY_COUNT] = { CACHE_POLICIES(POLICY) };
#undef POLICY

	return policies[policy];
}

/* The tags of the cache, of its victim cache and of its history, as far as there are such. */
static int make_tags(struct cache *l, struct err *e)
{
	const struct cache_cfg *k = &l->k;
	uint64_t chunk = cache_chunk_bytes(k->line, k->sector);
	uint32_t victim_ways = cache_victim_ways(k->victim, k->line, k->sector);
	struct cache_tags_cfg main = {
		k->size / k->partitions / (chunk * k->ways),
		k->ways,
		k->kv_ways,
		k->pin_ways,
		k->hash == CACHE_HASH_XOR,
		cache_policy_of(k->policy),
		k->partitions,
		1,
	};
	struct cache_tags_cfg victim = {
		k->victim / (chunk * victim_ways), victim_ways, 0, 0, main.hash, &cache_lru, 1, 1,
	};

	for (uint32_t i = 0; i < k->partitions; i++)
		if (!(l->tags[i] = cache_tags_new(&main, e)))
			return -1;
	if (k->victim && !(l->victim = cache_tags_new(&victim, e)))
		return -1;
	l->aged_room = k->eager ? k->size / chunk : 0;
	if (k->eager && !(l->aged = pages_new(l->aged_room, sizeof *l->aged)))
		return err_set(e, ERR_NOMEM, "out of memory for '%s'", k->name);
	if (k->policy == CACHE_STREAM_BYPASS && !(l->seen = cache_seen_new(k->size / chunk, e)))
		return -1;
	return 0;
}

struct comp *cache_new(const struct comp_env *env, const struct comp_ops *ops, const struct cache_cfg *k, struct err *e)
{
	struct cache *l = calloc(1, sizeof *l);

	if (!l) {
		err_set(e, ERR_NOMEM, "out of memory for '%s'", k->name);
		return NULL;
	}
	l->comp.ops = ops;
	l->comp.env = *env;
	l->k = *k;
	l->shift = (unsigned)__builtin_ctzll(k->sector);
	l->per_chunk = (uint32_t)(cache_chunk_bytes(k->line, k->sector) / k->sector);
	l->full = memq_mask(0, l->per_chunk);
	assert(l->per_chunk == 32 || l->per_chunk == 64);
	if (make_tags(l, e) < 0 || !(l->slots = memslots_new(&l->comp, k->mshrs + HITS, k->latency, freed, e)) ||
	    !(l->down = memq_new(&l->comp, env->below, k->mshrs + 1 + (k->private ? WRITES : 0), k->private ? 0 : POSTS,
	                         e)) ||
	    cache_register_stats(l, e) < 0) {
		err_add(e, "making '%s'", k->name);
		cache_free(&l->comp);
		return NULL;
	}
	return &l->comp;
}
