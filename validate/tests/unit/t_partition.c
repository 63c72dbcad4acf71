/* t_partition.c - products over cores, by hand: uneven tiles, what is shared, partial sums, and who waits. */
#include "sim/base/rng.h"
#include "validate/tests/unitbed.h"

/* One GEMV unit a core, of 32 lanes with a multiply-add a cycle: k / 32 cycles a row and column, a cycle a nanosecond. */
static void up(struct unitbed *b, uint32_t cores)
{
	unitbed_up(b, UNIT_GEMV, gemv_schema, "units: 1\nlanes: 32\nmacs_bf16: 1\ndepth: 6\n");
	b->env.cores = cores;
}

static struct unit_plan product(const struct unitbed *b, uint64_t m, uint64_t n, uint64_t k)
{
	return unitbed_plan(
		b,
		&(struct unit_job){ .work = UNIT_PRODUCT, .dtype = DT_BF16, .with = DT_BF16, .m = m, .n = n, .k = k });
}

/* Two cores, seven columns of 64: one has four, 4 x 2 cycles, the other three. Of 2 x 8 cycles of both, 14 are used. */
TEST(the_fuller_of_two_cores_sets_the_time)
{
	struct unitbed b;
	struct unit_plan p;

	up(&b, 2);
	p = product(&b, 1, 7, 64);
	CHECK_U64(p.split.m, 1);
	CHECK_U64(p.split.n, 2);
	CHECK_U64(p.split.k, 1);
	CHECK_U64(p.span, 4 * 2 * PS_NS);
	CHECK_U64(p.idle, 1000000 - 1000000 * 7 / 8);
	CHECK_U64(p.work, 7 * 64);
	CHECK_U64(p.exchange + p.exchange_latency, 0);
}

/* Both cores want the whole vector; of the weights, the fuller one four columns of seven. */
TEST(what_cores_share_goes_to_each_of_them)
{
	const uint64_t mnk[] = { 1, 7, 64 };
	const struct unit_split columns = { 1, 2, 1 }, rows = { 4, 1, 1 }, depth = { 1, 1, 2 };

	CHECK_U64(partition_copies(&columns, PARTITION_A), 2);
	CHECK_U64(partition_copies(&columns, PARTITION_B), 1);
	CHECK_U64(partition_share(&columns, PARTITION_A, mnk, 128), 128);
	CHECK_U64(partition_share(&columns, PARTITION_B, mnk, 896), 512);
	CHECK_U64(partition_share(&columns, PARTITION_C, mnk, 14), 8);
	/* ten rows over four cores: three, three, three and one; all of them want all weights */
	CHECK_U64(partition_copies(&rows, PARTITION_B), 4);
	CHECK_U64(partition_share(&rows, PARTITION_A, (const uint64_t[]){ 10, 8, 64 }, 1280), 384);
	CHECK_U64(partition_share(&rows, PARTITION_B, (const uint64_t[]){ 10, 8, 64 }, 1024), 1024);
	/* halves of k: each has half of both, and in the end half of the sums */
	CHECK_U64(partition_share(&depth, PARTITION_A, mnk, 128), 64);
	CHECK_U64(partition_share(&depth, PARTITION_B, mnk, 896), 448);
	CHECK_U64(partition_share(&depth, PARTITION_C, mnk, 28), 14);
}

/* One column of 1,024: a core takes 32 cycles, two take 16 each and swap halves of four bytes: two bytes over a port of one
 * byte a cycle are 2 cycles, after a set-up of 3 ns and a hop of 1. */
TEST(a_split_of_k_pays_its_exchange)
{
	struct unitbed b;
	struct unit_plan p;

	up(&b, 2);
	b.env.hop = PS_NS;
	b.env.step = 3 * PS_NS;
	p = product(&b, 1, 1, 1024);
	CHECK_U64(p.split.k, 2);
	CHECK_U64(p.span, 16 * PS_NS);
	CHECK_U64(p.exchange, 0); /* a port of any width */
	CHECK_U64(p.exchange_latency, (3 + 1) * PS_NS);
	b.env.port = b.env.swap = 64;
	CHECK_U64(partition_exchange(&b.env, 1, 1, 2, &p.exchange_latency), 1 * PS_NS);
	CHECK_U64(partition_exchange(&b.env, 8, 16, 2, &p.exchange_latency), 4 * PS_NS); /* 256 of 512 B */
}

/* Eight cores with 512 B of partial sums each: in three steps 256, 128 and 64 B, 7 cycles of a port of 64 B; hops are 1, 1
 * and 1 over a crossbar, and 1 + 2 + 4 where neighbours lie in a row. */
TEST(partial_sums_are_swapped_in_halves)
{
	struct unitbed b;
	ps_t latency;

	up(&b, 8);
	b.env.hop = 2 * PS_NS;
	b.env.step = 5 * PS_NS;
	b.env.port = b.env.swap = 64;
	CHECK_U64(partition_exchange(&b.env, 8, 16, 8, &latency), 7 * PS_NS);
	CHECK_U64(latency, (3 * 5 + 3 * 2) * PS_NS);
	b.env.routed = true;
	CHECK_U64(partition_exchange(&b.env, 8, 16, 8, &latency), 7 * PS_NS);
	CHECK_U64(latency, (3 * 5 + 7 * 2) * PS_NS);
	/* a network that adds up takes all 512 B of each, 8 cycles, and one set-up */
	b.env.reduce = true;
	CHECK_U64(partition_exchange(&b.env, 8, 16, 8, &latency), 8 * PS_NS);
	CHECK_U64(latency, (5 + 7 * 2) * PS_NS);
	CHECK_U64(partition_exchange(&b.env, 8, 16, 1, &latency), 0);
	CHECK_U64(latency, 0);
}

/* A narrow port makes cores split what brings fewer bytes in: 64 rows and 64 columns over 16 cores as 4 x 4, where each takes
 * in 16 + 16 vectors, and not as 1 x 16 with 64 + 4. */
TEST(a_narrow_port_wants_square_parts)
{
	struct unitbed b;
	struct unit_plan p;

	up(&b, 16);
	b.env.port = b.env.swap = 2;
	p = product(&b, 64, 64, 32);
	CHECK_U64(p.split.m, 4);
	CHECK_U64(p.split.n, 4);
	CHECK_U64(p.span, 16 * 16 * PS_NS);
}

/* The same of engines behind ports of any width; and sums are exchanged no faster than the engines go. */
TEST(narrow_engines_want_square_parts)
{
	struct unitbed b;
	struct unit_plan p;

	up(&b, 16);
	b.env.engine = b.env.swap = 2;
	p = product(&b, 64, 64, 32);
	CHECK_U64(p.split.m, 4);
	CHECK_U64(p.split.n, 4);
	/* one row and column of 1,024: halves of k, 16 cycles of math each and one of the exchange */
	up(&b, 2);
	b.env.swap = 4;
	p = product(&b, 1, 1, 1024);
	CHECK_U64(p.split.k, 2);
	b.env.engine = 4096;
	p = product(&b, 1, 1, 1024);
	CHECK_U64(p.split.k, 2);
	b.env.swap = 4096 * 64; /* 17 cycles and 64 of the exchange, by one core 32 */
	p = product(&b, 1, 1, 1024);
	CHECK_U64(p.split.k, 1);
}

/* Whatever the cut: all work is there, no part is empty, and time is not under the peak of all cores. */
TEST(any_cut_covers_the_product)
{
	struct rng r;

	rng_seed(&r, test_seed(), "spread");
	for (int i = 0; i < 2000; i++) {
		const uint64_t m = 1 + rng_below(&r, 300), n = 1 + rng_below(&r, 3000), k = 1 + rng_below(&r, 3000);
		struct unitbed b;
		struct unit_plan p, again;

		up(&b, 1 + (uint32_t)rng_below(&r, 200));
		b.env.port = b.env.swap = rng_below(&r, 2) * 64;
		p = product(&b, m, n, k);
		CHECK((uint64_t)p.split.m * p.split.n * p.split.k <= b.env.cores);
		CHECK(p.split.m > 0 && p.split.n > 0 && p.split.k > 0 && p.split.n <= n && p.split.k <= k);
		CHECK(p.span >= clock_span(m * n * k / b.ops->peak(&b.env, DT_BF16, DT_BF16), b.env.clock_khz));
		CHECK(p.idle < 1000000);
		CHECK_U64(p.work, m * n * k);
		CHECK(partition_as(
			b.ops, &b.env,
			&(struct unit_job){
				.work = UNIT_PRODUCT, .dtype = DT_BF16, .with = DT_BF16, .m = m, .n = n, .k = k },
			&p.split, NULL, &again));
		CHECK_U64(again.span, p.span);
		CHECK_U64(again.idle, p.idle);
	}
}

/* What is remembered of one job is not told of another: an array that loads all of itself, and one that loads what is used. */
TEST(a_plan_that_is_remembered_is_the_one_that_would_be_made)
{
	struct partition_memo memo = { 0 };
	struct unitbed b;

	unitbed_up(&b, UNIT_MATRIX, matrix_schema, "units: 1\nrows: 128\ncols: 128\nwhole_folds: true\n");
	b.env.cores = 4;
	for (int i = 0; i < 8; i++) {
		const struct unit_job j = { .work = UNIT_PRODUCT,
			                    .dtype = i & 2 ? DT_INT8 : DT_BF16,
			                    .with = DT_BF16,
			                    .m = 8,
			                    .n = 72,
			                    .k = 40,
			                    .in_part = i & 1 };
		struct unit_plan fresh, known;

		CHECK(partition_plan(b.ops, &b.env, &j, NULL, &fresh));
		CHECK(partition_plan(b.ops, &b.env, &j, &memo, &known));
		CHECK_U64(known.span, fresh.span);
		CHECK_U64(known.latency, fresh.latency);
		CHECK_U64(known.split.n, fresh.split.n);
	}
	partition_memo_clear(&memo);
}

SUITE(t_partition, T(the_fuller_of_two_cores_sets_the_time), T(what_cores_share_goes_to_each_of_them),
      T(a_split_of_k_pays_its_exchange), T(partial_sums_are_swapped_in_halves), T(a_narrow_port_wants_square_parts),
      T(narrow_engines_want_square_parts), T(any_cut_covers_the_product),
      T(a_plan_that_is_remembered_is_the_one_that_would_be_made));
