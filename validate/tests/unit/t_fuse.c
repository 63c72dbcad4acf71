/* Fusion patterns: what joins, what does not, and errors with their place. */
#include "sim/map/fuse.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

static const struct fusion_cfg on = { .enabled = true, .max_ops = 8, .buffer = 1 << 20 };

struct bed {
	struct arena *a;
	struct op_stream *s;
	struct fuse_group *g;
	size_t n;
	struct err e;
};

static void group(struct bed *b, const struct fusion_cfg *c, const char *yaml)
{
	struct rng r;
	struct fuse_patterns *p;

	*b = (struct bed){ .a = arena_new(0), .e = ERR_INIT };
	rng_seed(&r, 1, "fuse");
	b->s = synth_step(&r, b->a, 2, false);
	p = fuse_patterns_parse(yaml, strlen(yaml), "p.yaml", &b->e);
	CHECK(p);
	CHECK_OK(fuse_stream(b->s, c, p, b->a, &b->g, &b->n, &b->e), b->e);
	fuse_patterns_free(p);
}

static uint32_t count(const struct bed *b, const char *pattern)
{
	uint32_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		n += b->g[i].pattern && strcmp(b->g[i].pattern, pattern) == 0;
	return n;
}

TEST(groups_cover_the_stream_in_order_whatever_the_patterns)
{
	struct bed b;
	uint32_t next = 0;

	group(&b, &on, "patterns: [{name: a, ops: [gemm, 'elementwise*']}, {name: b, ops: [vector, vector+]}]");
	for (size_t i = 0; i < b.n; i++) {
		CHECK_U64(b.g[i].first, next);
		CHECK(b.g[i].n >= 1);
		next += b.g[i].n;
	}
	CHECK_U64(next, b.s->n_ops);
	arena_free(b.a);
}

TEST(a_product_takes_the_activation_behind_it)
{
	struct bed b;

	/* a layer: reduce mul q k v concat concat attention o add | up silu down add */
	group(&b, &on, "patterns: [{name: act, ops: [gemm, 'elementwise:silu']}]");
	CHECK_U64(count(&b, "act"), 2);
	arena_free(b.a);
}

TEST(the_longest_match_wins)
{
	struct bed b;

	group(&b, &on,
	      "patterns: [{name: short, ops: [reduce, elementwise]}, {name: long, ops: [reduce, 'elementwise+', "
	      "'gemm?']}]");
	CHECK_U64(count(&b, "short"), 0);
	CHECK_U64(count(&b, "long"), 2);
	arena_free(b.a);
}

TEST(two_products_never_share_a_chain)
{
	struct bed b;

	group(&b, &on, "patterns: [{name: two, ops: [gemm, gemm]}]");
	CHECK_U64(count(&b, "two"), 0);
	CHECK_U64(b.n, b.s->n_ops);
	arena_free(b.a);
}

TEST(a_chain_is_no_longer_than_max_ops_and_its_intermediates_fit)
{
	struct bed b;
	struct fusion_cfg c = on;

	c.max_ops = 1;
	group(&b, &c, "patterns: [{name: a, ops: [gemm, 'elementwise+']}]");
	CHECK_U64(count(&b, "a"), 0);
	arena_free(b.a);
	c = on;
	c.buffer = 1;
	group(&b, &c, "patterns: [{name: a, ops: [gemm, 'elementwise+']}]");
	CHECK_U64(count(&b, "a"), 0);
	arena_free(b.a);
	c.buffer = 0; /* they pass through SRAM, and none is too large */
	group(&b, &c, "patterns: [{name: a, ops: [gemm, 'elementwise+']}]");
	CHECK(count(&b, "a") > 0);
	arena_free(b.a);
	c = on;
	c.enabled = false;
	group(&b, &c, "patterns: [{name: a, ops: [gemm, 'elementwise+']}]");
	CHECK_U64(b.n, b.s->n_ops);
	arena_free(b.a);
}

TEST(ops_that_share_nothing_do_not_join)
{
	struct bed b;

	/* k and v appends follow each other, read different caches and rows */
	group(&b, &on, "patterns: [{name: both, ops: [concat, concat]}]");
	CHECK_U64(count(&b, "both"), 0);
	arena_free(b.a);
}

TEST(a_wrong_kind_is_placed_and_names_the_nearest)
{
	struct err e = ERR_INIT;
	const char *text = "patterns:\n  - name: a\n    ops: [gem, reduce]\n";

	CHECK(!fuse_patterns_parse(text, strlen(text), "p.yaml", &e));
	CHECK_U64(e.kind, ERR_CONFIG);
	CHECK_U64(e.line, 3);
	CHECK_HAS(e.msg, "'gem'");
	CHECK_HAS(e.msg, "'gemm'");
}

TEST(what_cannot_be_fused_is_refused)
{
	static const char *const bad[] = { "patterns: [{name: a, ops: [host_sync]}]",
		                           "patterns: [{name: a, ops: []}]",
		                           "patterns: 3",
		                           "patterns: [{ops: [gemm]}]",
		                           "pattern: []",
		                           "patterns: [{name: a, op: [gemm]}]" };

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err e = ERR_INIT;

		CHECK(!fuse_patterns_parse(bad[i], strlen(bad[i]), "p.yaml", &e));
		CHECK_U64(e.kind, ERR_CONFIG);
	}
}

SUITE(t_fuse, T(groups_cover_the_stream_in_order_whatever_the_patterns), T(a_product_takes_the_activation_behind_it),
      T(the_longest_match_wins), T(two_products_never_share_a_chain),
      T(a_chain_is_no_longer_than_max_ops_and_its_intermediates_fit), T(ops_that_share_nothing_do_not_join),
      T(a_wrong_kind_is_placed_and_names_the_nearest), T(what_cannot_be_fused_is_refused));
