/* c_memory.c - what every memory block keeps, whatever it models: the contract of arch/comp.h. */
#include <stdlib.h>
#include <sys/resource.h>

#include "sim/base/rng.h"
#include "validate/tests/membed.h"
#include "validate/tests/test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

union any_cfg {
	struct dram_cfg dram;
	struct l1_cfg l1;
	struct l2_cfg l2;
	struct kv_cfg kv;
	struct noc_cfg noc;
};

static struct comp *make_noc(const struct comp_env *env, const void *cfg, struct err *e)
{
	return noc_new(env, cfg, env->below, NULL, e);
}

/* `large`: more than the heap has lying about, for the test that takes memory away. */
static const struct block {
	const char *name, *stat, *yaml, *large;
	const struct cfg_field *schema;
	const struct comp_ops *ops; /* NULL: the network, which has no `make` */
} blocks[] = {
	{ "dram", "dram.read_bytes", "channels: 2\nqueue: 3\n", "channels: 512\nqueue: 9999\n", dram_schema,
	  &dram_ops },
	{ "dram_fixed", "dram.read_bytes", "kind: fixed\nqueue: 3\n", "kind: fixed\nqueue: 9999\n", dram_schema,
	  &dram_fixed_ops },
	{ "l2", "l2.read_bytes", "size: 256 KiB\nways: 4\nmshrs: 3\n", "size: 128 MiB\n", l2_schema, &l2_ops },
	{ "l2", "l2.read_bytes", "size: 256 KiB\nways: 4\nmshrs: 3\npolicy: srrip\n", "size: 128 MiB\npolicy: srrip\n",
	  l2_schema, &l2_ops },
	{ "l2", "l2.read_bytes", "size: 256 KiB\nways: 4\nkv_ways: 2\nmshrs: 3\npolicy: drrip\nhash: xor\n",
	  "size: 128 MiB\nkv_ways: 2\npolicy: drrip\n", l2_schema, &l2_ops },
	{ "l2", "l2.read_bytes",
	  "size: 256 KiB\nways: 4\nmshrs: 3\npolicy: stream_bypass\nvictim: 64 KiB\n"
	  "partitions: 2\n",
	  "size: 128 MiB\npolicy: stream_bypass\nvictim: 64 MiB\n", l2_schema, &l2_ops },
	{ "l1", "l1.read_bytes", "size: 64 KiB\nmshrs: 3\nvictim: 8 KiB\n", "size: 128 MiB\nvictim: 64 MiB\n",
	  l1_schema, &l1_ops },
	{ "l2_none", "l2.passed_bytes", "size: 0\n", "size: 0\n", l2_schema, &l2_none_ops },
	{ "kv", "kv_buffer.read_bytes", "size: 128 KiB\n", "size: 128 MiB\n", kv_schema, &kv_ops },
	{ "noc", "noc.up_bytes", "", "", noc_schema, NULL },
};
#define BLOCKS (sizeof blocks / sizeof *blocks)

static void configure(const struct block *k, const char *yaml, union any_cfg *cfg)
{
	struct err e = ERR_INIT;

	memset(cfg, 0, sizeof *cfg);
	if (k->schema == dram_schema)
		bed_dram_cfg(&cfg->dram, yaml);
	else
		bed_cfg(k->schema, cfg, yaml);
	if (k->schema == l1_schema)
		CHECK_OK(l1_cfg_check(&cfg->l1, 1, &e), e);
}

static struct comp *make(const struct block *k, const union any_cfg *cfg, struct bed *b, struct err *e)
{
	struct comp_env env = b->env;

	env.below = &b->below.comp;
	return k->ops ? k->ops->make(&env, cfg, e) : make_noc(&env, cfg, e);
}

static struct comp *up(struct bed *b, const struct block *k)
{
	union any_cfg cfg;
	struct err e = ERR_INIT;
	struct comp *c;

	bed_up(b);
	configure(k, k->yaml, &cfg);
	if (!(c = make(k, &cfg, b, &e)))
		test_fail(__FILE__, __LINE__, "%s: %s", k->name, e.msg);
	CHECK_STR(c->ops->kind, k->name);
	return c;
}

static void down(struct bed *b, struct comp *c)
{
	comp_free(c);
	bed_down(b);
}

/* Tiles and gathers, reads and writes, some places more than once. */
static void fill(struct bed *b, struct bed_ask *asks, size_t n, const char *name)
{
	struct rng g;

	rng_seed(&g, test_seed(), name);
	for (size_t i = 0; i < n; i++) {
		struct bed_ask *a = &asks[i];
		uint64_t addr = rng_below(&g, 1 << 20), bytes = 1 + rng_below(&g, 20000);

		bed_ask1(b, a, addr, bytes, rng_below(&g, 3) == 0);
		if (rng_below(&g, 4) == 0) {
			a->rq.n_runs = 1 + (uint32_t)rng_below(&g, BED_RUNS);
			a->rq.bytes = 0;
			for (uint32_t r = 0; r < a->rq.n_runs; r++) {
				a->runs[r].addr = rng_below(&g, 1 << 20);
				a->runs[r].bytes = 1 + rng_below(&g, 700);
				a->rq.bytes += a->runs[r].bytes;
			}
		}
	}
}

TEST(freeing_nothing_is_fine)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		struct bed b;
		struct comp *c = up(&b, &blocks[i]);

		c->ops->free(NULL);
		down(&b, c);
	}
}

TEST(a_half_built_block_leaves_nothing_behind)
{
	static const uint64_t taken;

	for (size_t i = 0; i < BLOCKS; i++) {
		struct bed b;
		struct comp *c = up(&b, &blocks[i]);
		size_t n = stat_count(b.stats);

		CHECK(n > 0);
		for (size_t s = 0; s < n; s++) {
			struct stat_view v = stat_at(b.stats, s);
			struct bed other;
			union any_cfg cfg;
			struct err e = ERR_INIT;

			bed_up(&other);
			configure(&blocks[i], blocks[i].yaml, &cfg);
			CHECK_OK(stat_add(other.stats, v.name, "", "", STAT_COUNT, &taken, &e), e);
			CHECK(!make(&blocks[i], &cfg, &other, &e));
			CHECK(e.kind != ERR_NONE);
			CHECK_HAS(e.msg, v.name);
			bed_down(&other);
		}
		down(&b, c);
	}
}

static bool address_space(rlim_t *bytes)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long long pages = 0;
	bool ok = f && fscanf(f, "%llu", &pages) == 1;

	if (f)
		fclose(f);
	*bytes = (rlim_t)pages * 4096;
	return ok;
}

TEST(without_memory_make_says_so_wherever_it_runs_out)
{
	rlim_t used;
	struct rlimit old;
	int failed = 0;

	/* In one process with valgrind, the limit would be valgrind's too, and that ends. */
	if (SANITIZED || getenv("NPUSIM_TEST_NOFORK") || !address_space(&used) || getrlimit(RLIMIT_AS, &old) != 0)
		test_skip("not run: address space cannot be limited here");
	for (size_t i = 0; i < BLOCKS; i++) {
		bool made = false;
		union any_cfg cfg;

		configure(&blocks[i], blocks[i].large, &cfg);
		for (rlim_t more = 0; !made && more < 64 << 20; more += 32 << 10) {
			struct bed b;
			struct err e = ERR_INIT;
			struct comp *c;

			bed_up(&b);
			CHECK(address_space(&used));
			CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){ used + more, old.rlim_max }) == 0);
			c = make(&blocks[i], &cfg, &b, &e);
			CHECK(setrlimit(RLIMIT_AS, &old) == 0);
			CHECK(c || e.kind == ERR_NOMEM);
			made = c != NULL;
			failed += !made;
			down(&b, c);
		}
		CHECK(made);
	}
	CHECK(failed > 10);
}

TEST(every_request_gets_one_reply_and_every_refusal_one_retry)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		struct bed b;
		struct comp *c = up(&b, &blocks[i]);
		struct bed_ask *asks = calloc(400, sizeof *asks);

		CHECK(asks);
		b.below.room = 2;
		fill(&b, asks, 400, blocks[i].name);
		bed_stream(&b, c, asks, 400, 200); /* checks replies, retries and refusals */
		for (size_t k = 0; k < 400; k++)
			CHECK(asks[k].replies == 1 && asks[k].back >= asks[k].sent);
		CHECK_U64(b.below.refused, b.below.owed);
		/* These two have more places than the requester has requests. */
		CHECK(b.from.refused > 0 || strcmp(blocks[i].name, "l2_none") == 0 ||
		      strcmp(blocks[i].name, "kv") == 0);
		free(asks);
		down(&b, c);
	}
}

TEST(several_senders_are_all_served)
{
	enum { SENDERS = 5, EACH = 60 };

	for (size_t i = 0; i < BLOCKS; i++) {
		struct bed b;
		struct comp *c = up(&b, &blocks[i]);
		struct bed_from from[SENDERS];
		struct bed_ask *asks = calloc(SENDERS * EACH, sizeof *asks);

		CHECK(asks);
		b.below.room = 1;
		fill(&b, asks, SENDERS * EACH, "senders");
		for (size_t s = 0; s < SENDERS; s++) {
			bed_from_init(&b, &from[s]);
			bed_start(&from[s], c, asks + s * EACH, EACH, EACH);
		}
		bed_run(&b);
		for (size_t s = 0; s < SENDERS; s++) {
			CHECK_U64(from[s].replies, EACH);
			CHECK_U64(from[s].refused, from[s].retries);
		}
		free(asks);
		down(&b, c);
	}
}

TEST(the_same_requests_have_the_same_times)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		struct bed_ask *asks[2];

		for (int run = 0; run < 2; run++) {
			struct bed b;
			struct comp *c = up(&b, &blocks[i]);

			CHECK((asks[run] = calloc(300, sizeof **asks)));
			b.below.room = 3;
			fill(&b, asks[run], 300, blocks[i].name);
			bed_stream(&b, c, asks[run], 300, 20);
			down(&b, c);
		}
		for (size_t k = 0; k < 300; k++)
			CHECK(asks[0][k].sent == asks[1][k].sent && asks[0][k].back == asks[1][k].back);
		free(asks[0]);
		free(asks[1]);
	}
}

TEST(after_reset_a_block_is_as_new_even_in_the_middle_of_things)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		struct bed b;
		struct comp *c = up(&b, &blocks[i]);
		struct bed_ask *asks = calloc(200, sizeof *asks);
		ps_t first, again;

		CHECK(asks);
		fill(&b, asks, 200, "reset");
		first = bed_stream(&b, c, asks, 200, 30);
		for (size_t k = 0; k < 200; k++)
			asks[k].replies = 0;
		b.below.room = 1; /* refusals are pending, too */
		bed_start(&b.from, c, asks, 200, 30);
		for (int k = 0; k < 40; k++)
			evq_step(b.q);
		evq_reset(b.q);
		c->ops->reset(c); /* refreshes are due from then on */
		b.below.room = 256;
		b.below.held = 0;
		b.below.waiting = NULL;
		for (size_t k = 0; k < sizeof b.below.evs / sizeof *b.below.evs; k++)
			b.below.evs[k].used = false;
		for (size_t k = 0; k < 200; k++)
			asks[k].replies = 0;
		again = bed_stream(&b, c, asks, 200, 30);
		CHECK_U64(again, first);
		free(asks);
		down(&b, c);
	}
}

TEST(explain_says_something_at_rest_and_at_work)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		struct bed b;
		struct comp *c = up(&b, &blocks[i]);
		struct bed_ask *asks = calloc(100, sizeof *asks);
		struct str rest = STR_INIT, work = STR_INIT;

		CHECK(asks);
		c->ops->explain(c, &rest);
		CHECK(rest.len > 0);
		b.below.room = 1;
		fill(&b, asks, 100, "explain");
		bed_start(&b.from, c, asks, 100, 100);
		c->ops->explain(c, &work);
		CHECK(strcmp(str_c(&rest), str_c(&work)) != 0);
		str_free(&rest);
		str_free(&work);
		free(asks);
		down(&b, c);
	}
}

TEST(asking_what_is_resident_changes_nothing)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		struct bed_ask *asks = calloc(200, sizeof *asks);
		ps_t end[2];

		CHECK(asks);
		for (int ask = 0; ask < 2; ask++) {
			struct bed b;
			struct comp *c = up(&b, &blocks[i]);

			fill(&b, asks, 200, "resident");
			bed_start(&b.from, c, asks, 200, 8);
			do {
				if (ask && c->ops->resident)
					CHECK(c->ops->resident(c, 12345, 300000) <= 300000);
			} while (evq_step(b.q));
			CHECK_U64(b.from.replies, 200);
			end[ask] = b.from.last;
			down(&b, c);
		}
		CHECK_U64(end[1], end[0]);
		free(asks);
	}
}

TEST(statistics_have_a_name_a_help_and_count)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		struct bed b;
		struct comp *c = up(&b, &blocks[i]);

		bed_read(&b, c, 0, 4096);
		for (size_t s = 0; s < stat_count(b.stats); s++) {
			CHECK(strchr(stat_at(b.stats, s).name, '.'));
			CHECK(strlen(stat_at(b.stats, s).help) > 3);
		}
		CHECK_U64(stat_get(b.stats, blocks[i].stat), 4096);
		down(&b, c);
	}
}

SUITE(c_memory, T(freeing_nothing_is_fine), T(a_half_built_block_leaves_nothing_behind),
      T(without_memory_make_says_so_wherever_it_runs_out), T(every_request_gets_one_reply_and_every_refusal_one_retry),
      T(several_senders_are_all_served), T(the_same_requests_have_the_same_times),
      T(after_reset_a_block_is_as_new_even_in_the_middle_of_things), T(explain_says_something_at_rest_and_at_work),
      T(asking_what_is_resident_changes_nothing), T(statistics_have_a_name_a_help_and_count));
