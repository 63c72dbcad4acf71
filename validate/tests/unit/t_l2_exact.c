/* t_l2_exact.c - the L2's chunks against an exact cache, line by line: the same hits, fills and write-backs where tiles
 * cover whole chunks, and a hit rate within a point where they do not. With lru and srrip, a part of the ways for KV,
 * and a victim cache. */
#include <stdlib.h>

#include "sim/rng.h"
#include "validate/tests/membed.h"
#include "validate/tests/test.h"

#define CHUNK UINT64_C(4096)
#define LINE UINT64_C(128)
#define LINES (UINT64_C(65) << 13)   /* of the 65 MiB the streams touch */
#define NONE UINT32_MAX

/* Line-granular, write-back, write-allocate without fetch; behind it a fully associative lru victim cache. */
struct exact_line { uint64_t line, used; unsigned rrpv; bool valid, dirty; };
struct exact {
	uint64_t sets, now, hits, misses, fills, writebacks, victim_hits;
	uint32_t ways, kv_ways, victim_lines, n_victim;
	bool srrip;
	struct exact_line *lines;
	struct { uint32_t newer, older; bool in, dirty; } *victim;   /* by line */
	uint32_t newest, oldest;
};

static void exact_up(struct exact *x)
{
	CHECK((x->lines = calloc(x->sets * x->ways, sizeof *x->lines)));
	CHECK((x->victim = calloc(LINES, sizeof *x->victim)));
	x->newest = x->oldest = NONE;
}

static void exact_down(struct exact *x)
{
	free(x->lines);
	free(x->victim);
}

static bool victim_take(struct exact *x, uint32_t line, bool *dirty)
{
	uint32_t newer = x->victim[line].newer, older = x->victim[line].older;

	if (!x->victim[line].in)
		return false;
	*(newer == NONE ? &x->newest : &x->victim[newer].older) = older;
	*(older == NONE ? &x->oldest : &x->victim[older].newer) = newer;
	x->victim[line].in = false;
	x->n_victim--;
	*dirty = x->victim[line].dirty;
	return true;
}

static void leave(struct exact *x, uint32_t line, bool dirty)
{
	uint32_t last = x->oldest;
	bool last_dirty = false;

	if (x->victim_lines) {
		x->victim[line].newer = NONE;
		x->victim[line].older = x->newest;
		x->victim[line].in = true;
		x->victim[line].dirty = dirty;
		*(x->newest == NONE ? &x->oldest : &x->victim[x->newest].newer) = line;
		x->newest = line;
		if (++x->n_victim <= x->victim_lines)
			return;
		CHECK(victim_take(x, last, &last_dirty));
		dirty = last_dirty;
	}
	x->writebacks += dirty;
}

/* The way a line goes to: an empty one, else the policy's. */
static struct exact_line *place(const struct exact *x, struct exact_line *from, uint32_t n)
{
	struct exact_line *best = from;
	unsigned age;

	for (uint32_t w = 0; w < n; w++) {
		if (!from[w].valid)
			return &from[w];
		if (x->srrip ? from[w].rrpv > best->rrpv : from[w].used < best->used)
			best = &from[w];
	}
	age = best->rrpv < 3 ? 3 - best->rrpv : 0;
	for (uint32_t w = 0; w < n; w++)
		from[w].rrpv += age;
	return best;
}

static void exact_touch(struct exact *x, uint64_t line, bool write, bool kv)
{
	struct exact_line *set = &x->lines[line % x->sets * x->ways], *to;
	uint32_t first = kv ? 0 : x->kv_ways, n = kv && x->kv_ways ? x->kv_ways : x->ways - x->kv_ways;
	bool dirty = false, found;

	x->now++;
	for (uint32_t w = 0; w < x->ways; w++)
		if (set[w].valid && set[w].line == line) {
			x->hits++;
			set[w].used = x->now;
			set[w].rrpv = 0;
			set[w].dirty |= write;
			return;
		}
	found = victim_take(x, (uint32_t)line, &dirty);
	x->hits += found;
	x->victim_hits += found;
	x->misses += !found;
	x->fills += !found && !write;
	to = place(x, set + first, n);
	if (to->valid)
		leave(x, (uint32_t)to->line, to->dirty);
	/* chunks come back from the victim cache and are then used: near; from below they are long */
	*to = (struct exact_line){ line, x->now, 2, true, write || dirty };
}

enum shape { WHOLE_CHUNKS, HALF_CHUNKS, ANY_BYTES };

struct dev { struct bed b; struct l2_cfg cfg; struct comp *l2; };

static uint64_t st(const struct dev *d, const char *name)
{
	return stat_get(d->b.stats, name);
}

static void ask(struct dev *d, struct mem_run r, bool write, bool kv)
{
	struct bed_ask a;

	bed_ask1(&d->b, &a, r.addr, r.bytes, write);
	a.rq.cls = kv ? MEM_KV : MEM_ACTIVATION;
	bed_stream(&d->b, d->l2, &a, 1, 1);
}

/* Tensors of a decode step: some read every step, some streamed, some written and read back. */
static void against_exact(const char *yaml, enum shape shape, double points)
{
	struct dev d;
	struct exact x = { 0 };
	struct err e = ERR_INIT;
	struct rng g;
	uint64_t hot_bytes;
	double hit, want;

	bed_up(&d.b);
	bed_cfg(l2_schema, &d.cfg, yaml);
	CHECK_OK(l2_cfg_check(&d.cfg, &e), e);
	CHECK(l2_victim_ways(&d.cfg) * CHUNK >= d.cfg.victim);             /* fully associative */
	d.l2 = bed_make(&d.b, &l2_ops, &d.cfg, NULL);
	x.ways = d.cfg.ways;
	x.kv_ways = d.cfg.kv_ways;
	x.sets = d.cfg.size / x.ways / LINE;
	x.victim_lines = (uint32_t)(d.cfg.victim / LINE);
	x.srrip = d.cfg.policy == CACHE_SRRIP;
	exact_up(&x);
	hot_bytes = d.cfg.size / 4 * 3;
	rng_seed(&g, test_seed(), "l2");
	for (int i = 0; i < 4000; i++) {
		uint64_t hot = rng_below(&g, 3), base = hot ? 0 : 16 << 20, span = hot ? hot_bytes : 48 << 20;
		uint64_t at = rng_below(&g, span), bytes = 1 + rng_below(&g, 256 << 10);
		bool write = rng_below(&g, 4) == 0, kv = !hot;
		struct mem_run r = { base + at, bytes };

		if (shape != ANY_BYTES) {
			uint64_t unit = shape == WHOLE_CHUNKS ? CHUNK : CHUNK / 2;

			r.addr = r.addr / unit * unit;
			r.bytes = round_up(r.bytes, unit);
		}
		ask(&d, r, write, kv);
		for (uint64_t line = r.addr / LINE; line <= (r.addr + r.bytes - 1) / LINE; line++)
			exact_touch(&x, line, write, kv);
	}
	if (shape == WHOLE_CHUNKS) {
		CHECK_U64(st(&d, "l2.hit_bytes"), x.hits * LINE);
		CHECK_U64(st(&d, "l2.miss_bytes"), x.misses * LINE);
		CHECK_U64(st(&d, "l2.fill_bytes"), x.fills * LINE);
		CHECK_U64(st(&d, "l2.writeback_bytes"), x.writebacks * LINE);
		CHECK_U64(st(&d, "l2.victim_hit_bytes"), x.victim_hits * LINE);
	}
	hit = (double)st(&d, "l2.hit_bytes") / (double)(st(&d, "l2.hit_bytes") + st(&d, "l2.miss_bytes"));
	want = (double)x.hits / (double)(x.hits + x.misses);
	printf("%.4f, line by line %.4f, of it %.4f in the victim cache\n", hit, want,
	       (double)x.victim_hits / (double)(x.hits + x.misses));
	if (hit < want - points / 100 || hit > want + points / 100)
		test_fail(__FILE__, __LINE__, "hit rate %.4f, line by line %.4f", hit, want);
	CHECK_U64(d.l2->ops->resident(d.l2, 0, UINT64_C(1) << 27), st(&d, "l2.resident_bytes"));
	exact_down(&x);
	comp_free(d.l2);
	bed_down(&d.b);
}

#define LARGE "size: 8 MiB\nways: 16\n"
#define SMALL "size: 1 MiB\nways: 16\n"
#define VICTIM "victim: 256 KiB\n"

static const char *const caches[] = {
	LARGE,
	LARGE "policy: srrip\n",
	LARGE "kv_ways: 4\n",
	SMALL VICTIM,
	SMALL "policy: srrip\n" VICTIM,
	SMALL "policy: srrip\nkv_ways: 5\n" VICTIM,
};
#define CACHES (sizeof caches / sizeof *caches)

TEST(whole_chunks_are_exactly_a_line_granular_cache)
{
	for (size_t i = 0; i < CACHES; i++)
		against_exact(caches[i], WHOLE_CHUNKS, 0);
}

TEST(parts_of_chunks_are_within_a_point_of_it)
{
	for (size_t i = 0; i < CACHES; i++) {
		against_exact(caches[i], HALF_CHUNKS, 1);
		against_exact(caches[i], ANY_BYTES, 1);
	}
}

SUITE(t_l2_exact,
	T(whole_chunks_are_exactly_a_line_granular_cache)
	T(parts_of_chunks_are_within_a_point_of_it)
);
