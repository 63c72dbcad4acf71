/* t_cache_run.c - many chunks in a row through a tag store do to it what they do one by one. */
#include "arch/comp.h"
#include "arch/mem/cache_tags.h"
#include "sim/base/rng.h"
#include "validate/tests/tablebed.h"
#include "validate/tests/test.h"

#define SPAN  1500 /* chunk numbers the steps fall on */
#define STEPS 2000

/* One store is asked for chunks, the other for runs of them. */
struct pair {
	struct cache_tags *one, *many;
	struct rng rng;
};

static void up(struct pair *x, const struct cache_tags_cfg *k)
{
	struct err e = ERR_INIT;

	x->one = cache_tags_new(k, &e);
	x->many = cache_tags_new(k, &e);
	CHECK_OK(x->one && x->many ? 0 : -1, e);
	rng_seed(&x->rng, k->sets * 64 + k->ways, "cache_run");
}

static void down(struct pair *x)
{
	cache_tags_free(x->one);
	cache_tags_free(x->many);
}

static void check_same(const struct pair *x)
{
	for (uint64_t n = 0; n < SPAN + 300; n++) {
		const struct cache_chunk *a = cache_tags_peek(x->one, cache_tags_place(x->one, n));
		const struct cache_chunk *b = cache_tags_peek(x->many, cache_tags_place(x->many, n));

		CHECK(!a == !b);
		if (a && b)
			CHECK(a->valid == b->valid && a->dirty == b->dirty && a->fill == b->fill);
	}
}

/* Brings n chunks in; what is there already ends it. */
static void stream(struct pair *x, uint64_t chunk, uint64_t n, uint8_t cls, const struct cache_chunk *as)
{
	struct cache_place p = cache_tags_place(x->one, chunk), q = cache_tags_place(x->many, chunk);
	struct cache_pushed out;
	uint64_t came = cache_tags_stream(x->many, &q, n, cls, as, &out), sectors = 0, i;

	for (i = 0; i < n && !cache_tags_peek(x->one, p); i++, cache_tags_next(x->one, &p)) {
		struct cache_chunk old, *c = cache_tags_insert(x->one, &p, cls, &old);

		c->valid = as->valid;
		c->dirty = as->dirty;
		c->fill = as->fill;
		if (old.dirty) {
			CHECK(out.old.valid == old.valid && out.old.dirty == old.dirty);
			CHECK(out.old_set == p.set && out.old.tag == old.tag);
			cache_tags_next(x->one, &p);
			i++;
			break;
		}
		sectors += (uint64_t)__builtin_popcountll(old.valid);
	}
	CHECK_U64(came, i);
	CHECK_U64(out.sectors, sectors);
	CHECK(p.set == q.set && p.tag == q.tag && p.skew == q.skew);
}

static void reuse(struct pair *x, uint64_t chunk, uint64_t n, struct cache_fills fills)
{
	struct cache_place p = cache_tags_place(x->one, chunk), q = cache_tags_place(x->many, chunk);
	uint64_t used = cache_tags_reuse(x->many, &q, n, UINT64_MAX, &fills), i;

	for (i = 0; i < n; i++, cache_tags_next(x->one, &p)) {
		struct cache_chunk *c = cache_tags_peek(x->one, p);

		if (!c || c->valid != UINT64_MAX)
			break;
		if (c->fill == fills.over)
			c->fill = 0;
		if (c->fill && c->fill != fills.waited) {
			CHECK_U64(fills.met, c->fill);
			break;
		}
		cache_tags_hit(x->one, &p, UINT64_MAX);
	}
	CHECK_U64(used, i);
}

static void absent(const struct pair *x, uint64_t chunk, uint64_t n)
{
	struct cache_place p = cache_tags_place(x->one, chunk), q = cache_tags_place(x->many, chunk);
	uint64_t some = cache_tags_absent(x->many, &q, n), i;

	for (i = 0; i < n && !cache_tags_peek(x->one, p); i++)
		cache_tags_next(x->one, &p);
	CHECK_U64(some, i);
	CHECK(p.set == q.set && p.tag == q.tag);
}

static void drop(struct pair *x, uint64_t chunk)
{
	struct cache_place p = cache_tags_place(x->one, chunk);

	if (!cache_tags_peek(x->one, p))
		return;
	cache_tags_drop(x->one, p);
	cache_tags_drop(x->many, p);
}

static void step(struct pair *x)
{
	static const uint8_t classes[] = { MEM_WEIGHT, MEM_ACTIVATION, MEM_KV };
	uint64_t chunk = rng_below(&x->rng, SPAN), n = 1 + rng_below(&x->rng, 300);
	uint64_t valid = rng_below(&x->rng, 4) ? UINT64_MAX : 0xff;
	struct cache_chunk as = { 0, valid, rng_below(&x->rng, 8) ? 0 : 0xf, (uint32_t)rng_below(&x->rng, 4), false };
	uint8_t cls = classes[rng_below(&x->rng, 3)];

	switch (rng_below(&x->rng, 4)) {
	case 0:
		reuse(x, chunk, n, (struct cache_fills){ .waited = 1, .over = 2 });
		break;
	case 1:
		absent(x, chunk, n);
		break;
	case 2:
		drop(x, chunk);
		break;
	default:
		stream(x, chunk, n, cls, &as);
		break;
	}
}

static void walk(const struct cache_tags_cfg *k, int steps)
{
	struct pair x;

	up(&x, k);
	for (int n = 0; n < steps; n++) {
		step(&x);
		if (n % 200 == 0)
			check_same(&x);
	}
	check_same(&x);
	down(&x);
}

TEST(many_chunks_in_a_row_are_as_many_one_by_one)
{
	const size_t policies = l2_policies().n;
	const uint64_t sets[] = { 1, 5, 64, 100 };
	const uint32_t ways[] = { 1, 4, 33 };

	for (size_t i = 0; i < 4 * 3 * 2 * policies; i++) {
		struct cache_tags_cfg k = { .sets = sets[i % 4],
			                    .ways = ways[i / 4 % 3],
			                    .hash = i / 12 % 2,
			                    .policy = cache_policy_of((enum cache_policy)(i / 24)),
			                    .share = 1 };

		walk(&k, STEPS / 10);
		k.kv_ways = k.ways / 4;
		walk(&k, k.kv_ways ? STEPS / 20 : 0);
	}
}

TEST(lru_is_the_order_of_use_whatever_goes_in_a_row)
{
	walk(&(struct cache_tags_cfg){ 100, 16, 0, 0, false, &cache_lru, 1, 1 }, STEPS);
}

TEST(of_pinned_ways_each_set_decides)
{
	const struct cache_tags_cfg k = { 8, 4, 0, 2, false, &cache_lru, 1, 1 };
	const struct cache_chunk as = { .valid = UINT64_MAX };
	struct cache_pushed out;
	struct cache_place p;
	struct pair x;

	up(&x, &k);
	p = cache_tags_place(x.many, 0);
	CHECK_U64(cache_tags_stream(x.many, &p, 8, MEM_WEIGHT, &as, &out), 0);
	CHECK_U64(cache_tags_stream(x.many, &p, 8, MEM_ACTIVATION, &as, &out), 8);
	down(&x);
}

SUITE(t_cache_run, T(many_chunks_in_a_row_are_as_many_one_by_one), T(lru_is_the_order_of_use_whatever_goes_in_a_row),
      T(of_pinned_ways_each_set_decides));
