/* t_sample.c - what the closed form says that an L2 keeps, beside the L2 of the event model: the same ranges to both. */
#include "sim/engine/analytic_sample.h"
#include "validate/tests/membed.h"
#include "validate/tests/runbed.h"
#include "validate/tests/tablebed.h"
#include "validate/tests/test.h"

#include <stdio.h>
#include <string.h>

#define KIB     UINT64_C(1024)
#define MIB     (KIB * 1024)
#define REQUEST (64 * KIB)
#define END     (UINT64_C(1) << 33)

/* Both L2s: all sets with a clock, and those of the closed form. */
struct pair {
	struct bed b;
	struct comp *l2;
	struct l2_cfg cfg;
	struct sample *sample;
	struct residency *lru;
	uint64_t asked, hit, form, written;
};

static void up(struct pair *x, const char *yaml)
{
	struct err e = ERR_INIT;
	const struct l2_cfg *c = &x->cfg;

	*x = (struct pair){ .asked = 0 };
	bed_up(&x->b);
	bed_cfg(l2_schema, &x->cfg, yaml);
	CHECK_OK(l2_cfg_check(c, &e), e);
	x->l2 = bed_make(&x->b, &l2_ops, c, NULL);
	if (sample_needed(c))
		CHECK(x->sample = sample_new(c, &e));
	else
		CHECK(x->lru = residency_new(c->size, cache_chunk_bytes(c->line, c->sector), c->ways,
		                             c->hash == CACHE_HASH_XOR, END, &e));
}

static void down(struct pair *x)
{
	comp_free(x->l2);
	bed_down(&x->b);
	sample_free(x->sample);
	residency_free(x->lru);
}

static void touch(struct pair *x, enum mem_class cls, uint64_t addr, uint64_t bytes, bool write)
{
	const enum residency_use use = write ? RESIDENCY_WRITE : RESIDENCY_READ;

	for (uint64_t at = 0; at < bytes; at += REQUEST) {
		struct bed_ask a;

		bed_ask1(&x->b, &a, addr + at, bytes - at < REQUEST ? bytes - at : REQUEST, write);
		a.rq.cls = (uint8_t)cls;
		bed_stream(&x->b, x->l2, &a, 1, 1);
		x->hit += a.rq.hit_bytes;
	}
	x->asked += bytes;
	x->written += write ? bytes : 0;
	x->form += x->sample ? sample_touch(x->sample, (uint8_t)cls, addr, bytes, use).hit
	                     : residency_touch(x->lru, addr, bytes, use).hit;
}

/* Within so many ppm of what was asked. */
static void agree(const struct pair *x, const char *what, uint64_t ppm)
{
	const uint64_t off = x->hit > x->form ? x->hit - x->form : x->form - x->hit;

	printf("%s: %.2f %% hit, in closed form %.2f\n", what, 100 * (double)x->hit / (double)x->asked,
	       100 * (double)x->form / (double)x->asked);
	if (off * 1000000 > x->asked * ppm)
		test_fail(__FILE__, __LINE__, "%s: %llu of %llu bytes hit, in closed form %llu", what,
		          (unsigned long long)x->hit, (unsigned long long)x->asked, (unsigned long long)x->form);
}

/* --- streams ----------------------------------------------------------------------------------------------- */

static const uint32_t tenths[] = { 5, 9, 11, 15, 30 }; /* of the capacity */
#define ROUNDS 8

static void cyclic(const char *yaml, enum mem_class cls, uint32_t tenth)
{
	char what[256];
	struct pair x;
	uint64_t bytes;

	up(&x, yaml);
	bytes = x.cfg.size / 10 / (4 * KIB) * (4 * KIB) * tenth;
	for (int round = 0; round < ROUNDS; round++)
		touch(&x, cls, 40 * MIB + 300 * KIB, bytes, false);
	snprintf(what, sizeof what, "%.*s a stream of %u tenths", 64, yaml, tenth);
	agree(&x, what, 20000);
	down(&x);
}

TEST(of_a_stream_that_comes_round_as_much_is_found_as_with_events)
{
	static const char *const sizes[] = { "size: 4 MiB\nways: 16\n", "size: 48 MiB\nways: 16\n" };

	for (int i = 0; i < 2; i++)
		for (size_t p = 0; p < l2_policies().n; p++)
			for (size_t k = 0; k < sizeof tenths / sizeof *tenths; k++) {
				char yaml[128];

				snprintf(yaml, sizeof yaml, "%spolicy: %s\n", sizes[i], l2_policies().v[p]);
				cyclic(yaml, MEM_ACTIVATION, tenths[k]);
				cyclic(yaml, MEM_WEIGHT, tenths[k]);
			}
}

static const char *const parts[] = { "victim: 4 MiB\n", "kv_ways: 4\n", "weight_ways: 3\n", "hash: none\n" };

TEST(ways_that_are_set_apart_and_victims_too)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		for (size_t k = 0; k < sizeof tenths / sizeof *tenths; k++) {
			char yaml[128];

			snprintf(yaml, sizeof yaml, "size: 48 MiB\nways: 16\n%s", parts[i]);
			cyclic(yaml, MEM_KV, tenths[k]);
			cyclic(yaml, MEM_WEIGHT, tenths[k]);
		}
}

/* --- a decode step ----------------------------------------------------------------------------------------- */

static void step(struct pair *x, const struct op_stream *s)
{
	for (size_t i = 0; i < s->n_operands; i++) {
		const struct op_operand *o = &s->operands[i];
		const struct op_tensor *t = &s->tensors[o->tensor];
		const uint64_t bytes = o->touched < o->bytes ? o->touched : o->bytes;

		if (bytes)
			touch(x, (enum mem_class)t->role, t->addr + o->offset, bytes, o->write);
	}
}

TEST(of_a_traced_step_as_much_is_found_as_with_events)
{
	struct runbed in;

	runbed_traced(&in, "kineto_dsocr_b1_c1024", "decode_step_1");
	for (size_t p = 0; p < l2_policies().n; p++) {
		char yaml[128];
		struct pair x;

		snprintf(yaml, sizeof yaml, "size: 192 MiB\nways: 16\npolicy: %s\n", l2_policies().v[p]);
		up(&x, yaml);
		step(&x, in.s);
		step(&x, in.s);
		agree(&x, l2_policies().v[p], 20000);
		down(&x);
	}
	runbed_down(&in);
}

/* Bytes that the L2 fetches in a traced step on dsocr. */
static uint64_t fetched(struct runbed *in, const char *set, enum run_fidelity f, ps_t *took)
{
	const struct run_opts o = { .start = RUN_STEADY, .seed = 1, .fidelity = f };
	struct run_result x;

	CHECK(runbed_run(in, "configs/npu/dsocr.yaml", &set, 1, &o, &x));
	*took = x.total_ps;
	for (size_t i = 0; i < x.n_stats; i++)
		if (strcmp(x.stats[i].name, "l2.fill_bytes") == 0)
			return x.stats[i].value;
	test_fail(__FILE__, __LINE__, "no l2.fill_bytes");
	return 0;
}

TEST(a_run_fetches_what_it_does_with_events_and_gains_what_it_does)
{
	static const char *const sets[] = { "l2.policy=lru",      "l2.policy=srrip",
		                            "l2.policy=kv_aware", "l2.policy=stream_bypass",
		                            "l2.victim=16 MiB",   "l2.weight_ways=4",
		                            "l2.kv_ways=4" };
	ps_t base[2] = { 0, 0 };
	struct runbed in;

	runbed_traced(&in, "kineto_dsocr_b1_c1024", "decode_step_1");
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		double gain, said;
		ps_t took[2];
		const uint64_t event = fetched(&in, sets[i], RUN_EVENT, &took[0]);
		const uint64_t form = fetched(&in, sets[i], RUN_ANALYTIC, &took[1]);
		const uint64_t off = event > form ? event - form : form - event;

		printf("%s: %llu bytes fetched, in closed form %llu\n", sets[i], (unsigned long long)event,
		       (unsigned long long)form);
		CHECK(off <= event / 100);
		if (i == 0)
			memcpy(base, took, sizeof base);
		/* what gains 2 % with events gains in closed form, and as much within 2 */
		gain = 1 - (double)took[0] / (double)base[0];
		said = 1 - (double)took[1] / (double)base[1];
		CHECK(gain < 0.02 || said > 0);
		CHECK(said > gain - 0.02 && said < gain + 0.02);
	}
	runbed_down(&in);
}

/* --- a nest ------------------------------------------------------------------------------------------------ */

/* C[m,n] = A[m,k] B[k,n] in tiles that lie one behind the other: rows of A stay, all of B comes for each, C goes out. */
static void nest(struct pair *x, uint64_t trips_m, uint64_t trips_n, uint64_t trips_k, uint64_t tile)
{
	const uint64_t a = 0, b = UINT64_C(1) << 30, c = UINT64_C(1) << 31;

	for (uint64_t m = 0; m < trips_m; m++)
		for (uint64_t n = 0; n < trips_n; n++) {
			for (uint64_t k = 0; k < trips_k; k++) {
				touch(x, MEM_ACTIVATION, a + (m * trips_k + k) * tile, tile, false);
				touch(x, MEM_WEIGHT, b + (n * trips_k + k) * tile, tile, false);
			}
			touch(x, MEM_ACTIVATION, c + (m * trips_n + n) * tile, tile, true);
		}
}

TEST(of_a_nest_as_much_is_found_as_with_events)
{
	for (size_t p = 0; p < l2_policies().n; p++)
		for (uint64_t eighths = 4; eighths <= 16; eighths += 3) {
			char yaml[128];
			struct pair x;

			snprintf(yaml, sizeof yaml, "size: %llu KiB\nways: 16\npolicy: %s\n",
			         (unsigned long long)(32 * KIB * eighths / 8), l2_policies().v[p]);
			up(&x, yaml);
			nest(&x, 6, 16, 8, 256 * KIB); /* B has 32 MiB */
			agree(&x, yaml, 20000);
			down(&x);
		}
}

/* --- bytes and capacity ------------------------------------------------------------------------------------ */

TEST(what_was_written_is_dirty_until_it_goes_whatever_stands_for_it)
{
	for (size_t p = 0; p < l2_policies().n; p++) {
		char yaml[128];
		struct pair x;
		uint64_t gone = 0, wrote = 0;

		snprintf(yaml, sizeof yaml, "size: 48 MiB\nways: 16\npolicy: %s\n", l2_policies().v[p]);
		up(&x, yaml);
		if (!x.sample) { /* lru has the residency, t_analytic.c */
			down(&x);
			continue;
		}
		for (uint64_t i = 0; i < 60; i++) {
			const uint64_t bytes = i % 3 ? 3 * MIB + i * 64 : 4 * KIB * (i + 1);

			gone += sample_touch(x.sample, MEM_ACTIVATION, i * 8 * MIB, bytes, RESIDENCY_WRITE).evicted;
			wrote += round_up(bytes, x.cfg.sector);
			CHECK_U64(gone + sample_dirty(x.sample), wrote);
			CHECK(sample_bytes(x.sample) <= x.cfg.size + x.cfg.size / 64);
		}
		sample_clear(x.sample);
		CHECK_U64(sample_dirty(x.sample) + sample_bytes(x.sample), 0);
		CHECK_U64(sample_here(x.sample, 0, END), 0);
		down(&x);
	}
}

TEST(a_few_bytes_that_lie_in_no_set_that_is_looked_at_are_found_again)
{
	struct pair x;

	up(&x, "size: 192 MiB\nways: 16\npolicy: srrip\n");
	for (uint64_t i = 0; i < 64; i++) {
		const uint64_t at = i * 1000 * KIB;

		CHECK_U64(sample_touch(x.sample, MEM_ACTIVATION, at, 2560, RESIDENCY_WRITE).hit, 0);
		CHECK_U64(sample_touch(x.sample, MEM_ACTIVATION, at, 2560, RESIDENCY_READ).hit, 2560);
		CHECK_U64(sample_here(x.sample, at, 2560), 2560);
	}
	CHECK_U64(sample_dirty(x.sample), 64 * 2560);
	down(&x);
}

/* Bytes that hit of a stream that comes round, in closed form, for a size in eighths of 16 MiB. */
static uint64_t stream_hits(const char *policy, uint64_t eighths, uint64_t bytes)
{
	char yaml[128];
	struct pair x;
	uint64_t hit = 0;

	snprintf(yaml, sizeof yaml, "size: %llu MiB\nways: 16\npolicy: %s\n", (unsigned long long)(2 * eighths),
	         policy);
	up(&x, yaml);
	for (int round = 0; round < ROUNDS; round++)
		hit += x.sample ? sample_touch(x.sample, MEM_WEIGHT, 77 * KIB, bytes, RESIDENCY_READ).hit
		                : residency_touch(x.lru, 77 * KIB, bytes, RESIDENCY_READ).hit;
	down(&x);
	return hit;
}

/* The history of stream_bypass is a direct-mapped table: what two chunks share there, luck decides. */
TEST(more_capacity_never_finds_less_of_a_stream)
{
	const struct words policies = l2_policies();

	for (size_t p = 0; p < policies.n; p++)
		for (uint64_t bytes = 10 * MIB; bytes <= 70 * MIB; bytes += 12 * MIB) {
			const uint64_t percent = strcmp(policies.v[p], "stream_bypass") == 0 ? 5 : 1;
			uint64_t most = 0;

			for (uint64_t eighths = 8; eighths <= 32; eighths += eighths < 16 ? 1 : 2) {
				const uint64_t hit = stream_hits(l2_policies().v[p], eighths, bytes);

				if (hit + bytes * ROUNDS * percent / 100 < most)
					test_fail(__FILE__, __LINE__,
					          "%s: of %llu MiB %llu bytes hit in %llu MiB, %llu before",
					          l2_policies().v[p], (unsigned long long)(bytes / MIB),
					          (unsigned long long)hit, (unsigned long long)(2 * eighths),
					          (unsigned long long)most);
				most = hit > most ? hit : most;
			}
		}
}

SUITE(t_sample, SLOW(of_a_stream_that_comes_round_as_much_is_found_as_with_events),
      SLOW(ways_that_are_set_apart_and_victims_too), SLOW(of_a_traced_step_as_much_is_found_as_with_events),
      SLOW(a_run_fetches_what_it_does_with_events_and_gains_what_it_does), T(of_a_nest_as_much_is_found_as_with_events),
      T(what_was_written_is_dirty_until_it_goes_whatever_stands_for_it),
      T(a_few_bytes_that_lie_in_no_set_that_is_looked_at_are_found_again),
      SLOW(more_capacity_never_finds_less_of_a_stream));
