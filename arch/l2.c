#include "arch/l2.h"

#include <assert.h>
#include <stdlib.h>

#include "arch/l2_seen.h"
#include "arch/l2_tags.h"
#include "arch/memq.h"
#include "arch/memslot.h"

#define HITS      128                  /* requests held beyond those that miss */
#define POSTS     32                   /* write-back requests kept when DRAM refuses */
#define MASK_RUNS (L2_CHUNK_LINES / 2) /* most runs of lines in one chunk */

struct l2 {
	struct comp comp;
	struct l2_tags *tags, *victim; /* victim: NULL without */
	struct l2_seen *seen;          /* stream_bypass; else NULL */
	struct memslots *slots;
	struct memq *down;
	struct memq_wait wait;
	struct memslot *parked; /* its walk waits for a request to the level below */
	struct memq_sub *post;  /* write-backs being gathered */
	unsigned line_shift;
	uint32_t mshrs;
	uint64_t bandwidth;
	ps_t miss_latency, free_at;
	uint64_t read_bytes, write_bytes, hit_bytes, miss_bytes, fill_bytes, writeback_bytes, evicted_bytes,
		dirty_bytes, victim_hit_bytes, bypassed_bytes;
	uint64_t resident_bytes, requests, refusals, busy_ps;
};

static bool room(const struct comp *c)
{
	const struct l2 *l = (const struct l2 *)c;

	return !l->parked && memslots_room(l->slots) && memslots_filling(l->slots) < l->mshrs;
}

static uint64_t lines_in(const struct l2 *l, const struct mem_run *r)
{
	return r->bytes ? ((r->addr + r->bytes - 1) >> l->line_shift) - (r->addr >> l->line_shift) + 1 : 0;
}

/* Bytes of the lines in a mask; nearly every one is empty or full. */
static inline uint64_t lines(const struct l2 *l, uint32_t mask)
{
	uint32_t n = mask == UINT32_MAX ? 32 : mask ? (uint32_t)__builtin_popcount(mask) : 0;

	return (uint64_t)n << l->line_shift;
}

/* Bits lo .. lo + n - 1. */
static uint32_t mask_of(uint32_t lo, uint64_t n)
{
	return (n >= 32 ? UINT32_MAX : (UINT32_C(1) << n) - 1) << lo;
}

static inline void add_lines(const struct l2 *l, struct memq_sub *s, uint64_t chunk, uint32_t mask)
{
	while (mask) {
		uint32_t lo = (uint32_t)__builtin_ctz(mask), rest = ~(mask >> lo);
		uint32_t n = rest ? (uint32_t)__builtin_ctz(rest) : 32;
		bool fits = memq_add(s, (chunk * L2_CHUNK_LINES + lo) << l->line_shift, (uint64_t)n << l->line_shift);

		assert(fits);
		(void)fits;
		mask &= ~mask_of(lo, n);
	}
}

static inline bool has_room(const struct memq_sub *s)
{
	return s && s->rq.n_runs + MASK_RUNS <= MEMQ_RUNS;
}

/* Another request for write-backs; the full one is sent. False: none is free. */
static bool more_posts(struct l2 *l, const struct memslot *s)
{
	struct memq_sub *full = l->post;

	l->post = NULL;
	if (full) {
		full->rq.not_before = s->start + l->miss_latency;
		memq_send(l->down, full);
	}
	if (!(l->post = memq_take(l->down, MEMQ_POST)))
		return false;
	l->post->rq.write = true;
	l->post->rq.cls = MEM_ACTIVATION;
	return true;
}

/* Another request for what `s` misses; the full one is sent. False: none is free. */
static bool more_asks(struct l2 *l, struct memslot *s)
{
	struct memq_sub *full = s->ask;

	s->ask = NULL;
	if (full)
		memq_send(l->down, full);
	if (!(s->ask = memq_take(l->down, MEMQ_ASK)))
		return false;
	s->ask->owner = s;
	s->ask->rq.cls = s->rq->cls;
	s->ask->rq.urgency = s->rq->urgency;
	s->ask->rq.not_before = s->start + l->miss_latency;
	memslots_asked(s);
	return true;
}

/* A chunk leaves the L2: to the victim cache, whose oldest goes in its place, or to DRAM. */
static void evict(struct l2 *l, struct l2_chunk old, uint64_t chunk)
{
	if (l->victim) {
		struct l2_place p = l2_tags_place(l->victim, chunk);
		struct l2_chunk oldest, *v = l2_tags_insert(l->victim, &p, MEM_ACTIVATION, &oldest, &chunk);

		v->valid = old.valid;
		v->dirty = old.dirty;
		v->fill = old.fill;
		old = oldest;
	}
	l->evicted_bytes += lines(l, old.valid);
	l->resident_bytes -= lines(l, old.valid);
	if (old.dirty) {
		l->writeback_bytes += lines(l, old.dirty);
		l->dirty_bytes -= lines(l, old.dirty);
		add_lines(l, l->post, chunk, old.dirty);
	}
}

/* An entry for an absent chunk. */
static struct l2_chunk *insert(struct l2 *l, const struct memslot *s, struct l2_place *p)
{
	uint64_t old_chunk = 0;
	struct l2_chunk old, *c = l2_tags_insert(l->tags, p, s->rq->cls, &old, &old_chunk);

	if (old.valid)
		evict(l, old, old_chunk);
	return c;
}

/* What the victim cache has of a chunk that is not in the L2: *c is moved there, or left where it is if the requester
 * keeps it itself. False: it would push out dirty lines and the level below can take no more now. */
static bool from_victim(struct l2 *l, const struct memslot *s, struct l2_place *p, uint64_t chunk, uint32_t mask,
                        struct l2_chunk **c)
{
	struct l2_place at = l2_tags_place(l->victim, chunk);
	struct l2_chunk *v = l2_tags_peek(l->victim, at), found;

	if (!v)
		return true;
	if (s->rq->no_keep && !s->rq->write) {
		*c = v;
	} else {
		if (!has_room(l->post) && !more_posts(l, s))
			return false;
		found = *v;
		l2_tags_drop(l->victim, at);
		*c = insert(l, s, p);
		(*c)->valid = found.valid;
		(*c)->dirty = found.dirty;
		(*c)->fill = found.fill;
	}
	l->victim_hit_bytes += lines(l, (*c)->valid & mask);
	return true;
}

static void count_hit(struct l2 *l, struct memslot *s, uint32_t mask)
{
	uint64_t bytes = lines(l, mask);

	l->hit_bytes += bytes;
	s->rq->hit_bytes += bytes;
}

/* Whether a missing chunk is passed on without being kept: weights that nobody asked for lately (stream_bypass). */
static bool bypasses(const struct l2 *l, const struct mem_req *r, uint64_t chunk, uint32_t mask)
{
	return l->seen && r->cls == MEM_WEIGHT && !r->write && !r->no_keep && !l2_seen_any(l->seen, chunk, mask);
}

/* Lines of a chunk that are not here, and here from now on unless they are only passed on. */
static bool touch_missing(struct l2 *l, struct memslot *s, struct l2_chunk *c, struct l2_place *p, uint64_t chunk,
                          uint32_t mask)
{
	bool write = s->rq->write, bypass = !c && bypasses(l, s->rq, chunk, mask);
	bool keep = write || (!s->rq->no_keep && !bypass);
	uint64_t bytes = lines(l, mask);

	if (!write && !has_room(s->ask) && !more_asks(l, s))
		return false;
	if (!c && keep && !has_room(l->post) && !more_posts(l, s))
		return false;
	if (!c && keep)
		c = insert(l, s, p);
	if (bypass) {
		l2_seen_note(l->seen, chunk, mask);
		l->bypassed_bytes += bytes;
	}
	if (!write) {
		add_lines(l, s->ask, chunk, mask);
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
	if (write) {
		c->dirty |= mask;
		l->dirty_bytes += bytes;
	}
	l->miss_bytes += bytes;
	return true;
}

/* One chunk's lines; false, with nothing changed but the order of use and which of the caches it is in, when the level
 * below can take no more now. */
static inline bool touch(struct l2 *l, struct memslot *s, struct l2_place *p, uint64_t chunk, uint32_t mask)
{
	struct l2_chunk *c = l2_tags_hit(l->tags, p, mask);
	uint32_t here;

	if (!c && l->victim && !from_victim(l, s, p, chunk, mask, &c))
		return false;
	here = c ? c->valid & mask : 0;
	if (here != mask && !touch_missing(l, s, c, p, chunk, mask & ~here))
		return false;
	if (!here)
		return true;
	count_hit(l, s, here);
	if (s->rq->write) {
		l->dirty_bytes += lines(l, here & ~c->dirty);
		c->dirty |= here;
	} else if (c->fill && !memslots_depend(l->slots, s, c->fill)) { /* I6: they may be on their way */
		c->fill = 0;
	}
	return true;
}

/* Goes on with a request's walk; parks it where the level below can take no more. */
static void walk(struct l2 *l, struct memslot *s)
{
	l->parked = NULL;
	for (; s->run < s->rq->n_runs; s->run++, s->line = UINT64_MAX) {
		const struct mem_run *r = &s->rq->runs[s->run];
		uint64_t line = s->line == UINT64_MAX ? r->addr >> l->line_shift : s->line;
		uint64_t end = (r->addr >> l->line_shift) + lines_in(l, r), chunk = line / L2_CHUNK_LINES;
		struct l2_place p = l2_tags_place(l->tags, chunk);

		while (line < end) {
			uint32_t lo = (uint32_t)(line % L2_CHUNK_LINES);
			uint64_t n = ps_min(L2_CHUNK_LINES - lo, end - line);

			if (!touch(l, s, &p, chunk, mask_of(lo, n))) {
				s->line = line;
				l->parked = s;
				return;
			}
			line += n;
			chunk++;
			l2_tags_next(l->tags, &p);
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
		post->rq.not_before = s->start + l->miss_latency;
		memq_send(l->down, post);
	}
	memslots_walked(l->slots, s);
}

/* A chunk in the L2 or its victim cache; changes nothing. */
static const struct l2_chunk *peek(const struct l2 *l, uint64_t chunk)
{
	const struct l2_chunk *c = l2_tags_peek(l->tags, l2_tags_place(l->tags, chunk));

	return c || !l->victim ? c : l2_tags_peek(l->victim, l2_tags_place(l->victim, chunk));
}

/* Whether a read would need lines that are not here. */
static bool would_miss(const struct l2 *l, const struct mem_req *r)
{
	for (uint32_t i = 0; i < r->n_runs && !r->write; i++) {
		uint64_t line = r->runs[i].addr >> l->line_shift, end = line + lines_in(l, &r->runs[i]);

		while (line < end) {
			uint32_t lo = (uint32_t)(line % L2_CHUNK_LINES);
			uint64_t n = ps_min(L2_CHUNK_LINES - lo, end - line);
			const struct l2_chunk *c = peek(l, line / L2_CHUNK_LINES);

			if (!c || mask_of(lo, n) & ~c->valid)
				return true;
			line += n;
		}
	}
	return false;
}

static bool take(struct comp *c, struct mem_req *r)
{
	struct l2 *l = (struct l2 *)c;
	struct memslot *s;
	uint64_t bytes = 0;
	ps_t span;

	if (!memq_wait_turn(&l->wait, r->from) || l->parked || !memslots_room(l->slots) ||
	    (memslots_filling(l->slots) == l->mshrs && would_miss(l, r))) {
		memq_wait_add(&l->wait, r->from); /* I5 */
		l->refusals++;
		return false;
	}
	s = memslots_take(l->slots, r);
	for (uint32_t i = 0; i < r->n_runs; i++)
		bytes += lines_in(l, &r->runs[i]) << l->line_shift;
	span = clock_transfer(bytes, l->bandwidth);
	s->start = ps_max(ps_max(evq_now(c->env.q), r->not_before), l->free_at);
	s->ready = l->free_at = s->start + span;
	r->t_level = s->start;
	r->level = RES_L2;
	l->busy_ps += span;
	l->requests++;
	if (r->write)
		l->write_bytes += bytes;
	else
		l->read_bytes += bytes;
	walk(l, s);
	return true;
}

/* Requests to the level below are free again: a parked walk goes on, and then refused senders. */
static void go_on(struct l2 *l)
{
	if (l->parked)
		walk(l, l->parked);
	memq_wait_wake(&l->wait, &l->comp, room);
}

static void reply(struct comp *c, struct mem_req *r)
{
	struct l2 *l = (struct l2 *)c;
	struct memq_sub *s = (struct memq_sub *)r; /* rq is its first member */

	memslots_answered(l->slots, s->owner, s);
	memq_give(l->down, s);
	go_on(l);
}

static void retry(struct comp *c, struct comp *below)
{
	struct l2 *l = (struct l2 *)c;

	(void)below;
	memq_retry(l->down);
	go_on(l);
}

static void freed(struct comp *c)
{
	struct l2 *l = (struct l2 *)c;

	memq_wait_wake(&l->wait, c, room);
}

static void explain(const struct comp *c, struct str *out)
{
	const struct l2 *l = (const struct l2 *)c;
	uint32_t asks = memq_waiting(l->down, MEMQ_ASK), posts = memq_waiting(l->down, MEMQ_POST);

	str_addf(out,
	         "l2: %u of %u misses outstanding, %u requests held, write-back queue %u, %u refused senders waiting",
	         memslots_filling(l->slots), l->mshrs, memslots_held(l->slots), posts, l->wait.n);
	if (l->parked)
		str_add(out, ", a request waits for the level below to take its misses or write-backs");
	else if (asks || posts)
		str_add(out, ", refused by dram");
	else if (memslots_filling(l->slots))
		str_add(out, ", waiting for dram");
}

static uint64_t resident(const struct comp *c, uint64_t addr, uint64_t bytes)
{
	const struct l2 *l = (const struct l2 *)c;
	uint64_t first = addr >> l->line_shift, line = first, found = 0, end;

	if (bytes == 0)
		return 0;
	for (end = ((addr + bytes - 1) >> l->line_shift) + 1; line < end;) {
		const struct l2_chunk *k = peek(l, line / L2_CHUNK_LINES);
		uint32_t lo = (uint32_t)(line % L2_CHUNK_LINES);
		uint64_t n = ps_min(L2_CHUNK_LINES - lo, end - line);

		if (k) {
			found += lines(l, k->valid & mask_of(lo, n));
			/* Of the first and the last line only a part may be asked for. */
			if (line == first && k->valid >> lo & 1)
				found -= addr - (first << l->line_shift);
			if (line + n == end && k->valid >> (end - 1) % L2_CHUNK_LINES & 1)
				found -= (end << l->line_shift) - (addr + bytes);
		}
		line += n;
	}
	return found;
}

static void reset(struct comp *c)
{
	struct l2 *l = (struct l2 *)c;

	l2_tags_reset(l->tags);
	if (l->victim)
		l2_tags_reset(l->victim);
	if (l->seen)
		l2_seen_reset(l->seen);
	memslots_reset(l->slots);
	memq_reset(l->down);
	memq_wait_reset(&l->wait);
	l->parked = NULL;
	l->post = NULL;
	l->free_at = 0;
	l->dirty_bytes = l->resident_bytes = 0;
}

static void release(struct comp *c)
{
	struct l2 *l = (struct l2 *)c;

	if (!l)
		return;
	l2_tags_free(l->tags);
	l2_tags_free(l->victim);
	l2_seen_free(l->seen);
	memslots_free(l->slots);
	memq_free(l->down);
	free(l);
}

static int register_stats(struct l2 *l, struct err *e)
{
	const struct stat_row rows[] = {
		{ "l2.read_bytes", "B", "bytes asked by reads, in whole lines", STAT_COUNT, &l->read_bytes },
		{ "l2.write_bytes", "B", "bytes asked by writes, in whole lines", STAT_COUNT, &l->write_bytes },
		{ "l2.hit_bytes", "B", "bytes found here, reads and writes", STAT_COUNT, &l->hit_bytes },
		{ "l2.miss_bytes", "B", "bytes not found here, reads and writes", STAT_COUNT, &l->miss_bytes },
		{ "l2.fill_bytes", "B", "bytes fetched from the level below: what reads missed", STAT_COUNT,
		  &l->fill_bytes },
		{ "l2.writeback_bytes", "B", "dirty bytes evicted to DRAM", STAT_COUNT, &l->writeback_bytes },
		{ "l2.evicted_bytes", "B", "bytes evicted, dirty or not", STAT_COUNT, &l->evicted_bytes },
		{ "l2.dirty_bytes", "B", "dirty bytes held", STAT_LEVEL, &l->dirty_bytes },
		{ "l2.resident_bytes", "B", "bytes held", STAT_LEVEL, &l->resident_bytes },
		{ "l2.requests", "", "tile requests taken", STAT_COUNT, &l->requests },
		{ "l2.refusals", "", "tile requests refused: misses or write-backs outstanding", STAT_COUNT,
		  &l->refusals },
		{ "l2.busy_ps", "ps", "time its banks needed for the bytes asked", STAT_COUNT, &l->busy_ps },
	};

	if (l->victim && stat_add(l->comp.env.stats, "l2.victim_hit_bytes", "B",
	                          "of the hits, found in the victim cache", STAT_COUNT, &l->victim_hit_bytes, e) < 0)
		return -1;
	if (l->seen && stat_add(l->comp.env.stats, "l2.bypassed_bytes", "B", "bytes passed on without being kept",
	                        STAT_COUNT, &l->bypassed_bytes, e) < 0)
		return -1;
	return stat_add_all(l->comp.env.stats, rows, sizeof rows / sizeof *rows, e);
}

/* The tags of the L2, of its victim cache and of its history, as far as there are such. */
static int make_tags(struct l2 *l, const struct l2_cfg *k, struct err *e)
{
	static const struct l2_policy_ops *const policies[] = {
		[L2_LRU] = &l2_lru,           [L2_SRRIP] = &l2_srrip,       [L2_DRRIP] = &l2_drrip,
		[L2_KV_AWARE] = &l2_kv_aware, [L2_STREAM_BYPASS] = &l2_lru,
	};
	uint64_t chunk = k->line * L2_CHUNK_LINES;
	struct l2_tags_cfg main = {
		k->size / (chunk * k->ways), k->ways, k->kv_ways, k->hash == L2_HASH_XOR, policies[k->policy],
	};
	struct l2_tags_cfg victim = {
		k->victim / (chunk * l2_victim_ways(k)), l2_victim_ways(k), 0, main.hash, &l2_lru,
	};

	if (!(l->tags = l2_tags_new(&main, e)))
		return -1;
	if (k->victim && !(l->victim = l2_tags_new(&victim, e)))
		return -1;
	if (k->policy == L2_STREAM_BYPASS && !(l->seen = l2_seen_new(k->size / chunk, e)))
		return -1;
	return 0;
}

static struct comp *make(const struct comp_env *env, const void *cfg, struct err *e)
{
	const struct l2_cfg *k = cfg;
	struct l2 *l = calloc(1, sizeof *l);

	if (!l) {
		err_set(e, ERR_NOMEM, "out of memory for 'l2'");
		return NULL;
	}
	l->comp.ops = &l2_ops;
	l->comp.env = *env;
	l->line_shift = (unsigned)__builtin_ctzll(k->line);
	l->mshrs = k->mshrs;
	l->bandwidth = l2_bandwidth(k, env->clock_khz);
	l->miss_latency = k->miss_latency;
	if (make_tags(l, k, e) < 0 || !(l->slots = memslots_new(&l->comp, k->mshrs + HITS, k->latency, freed, e)) ||
	    !(l->down = memq_new(&l->comp, env->below, k->mshrs + 1, POSTS, e)) || register_stats(l, e) < 0) {
		err_add(e, "making 'l2'");
		release(&l->comp);
		return NULL;
	}
	return &l->comp;
}

const struct comp_ops l2_ops = {
	.kind = "l2",
	.make = make,
	.free = release,
	.send = take,
	.reply = reply,
	.retry = retry,
	.explain = explain,
	.resident = resident,
	.reset = reset,
};
