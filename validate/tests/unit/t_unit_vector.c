/* Vector units in closed form: exact cycles, and more cores are never slower. */
#include "sim/base/rng.h"
#include "validate/tests/unitbed.h"

static void up(struct unitbed *b, uint32_t cores)
{
	unitbed_up(b, UNIT_VECTOR, vector_schema,
	           "units: 4\nlanes: 32\nsfu: 4\nconverters: 16\ndiv_cycles: 8\ndequant_8bit: 16\ndequant_4bit: 8\n");
	b->env.cores = cores;
}

static struct unit_plan map(const struct unitbed *b, uint64_t n, uint32_t alu, uint32_t sfu, uint32_t convert)
{
	return unitbed_plan(
		b, &(struct unit_job){ .work = UNIT_MAP, .elems = n, .alu = alu, .sfu = sfu, .convert = convert });
}

TEST(a_map_takes_its_slowest_pipe_and_the_pipeline_is_latency)
{
	struct unitbed b;

	up(&b, 1);
	CHECK_U64(map(&b, 1280, 1, 0, 0).span, 10 * PS_NS); /* 1280 / 128 lanes */
	CHECK_U64(map(&b, 1280, 1, 1, 0).span, 80 * PS_NS); /* 1280 / 16 SFU */
	CHECK_U64(map(&b, 1280, 0, 0, 1).span, 20 * PS_NS); /* 1280 / 64 converters */
	CHECK_U64(map(&b, 1, 1, 0, 0).span, 1 * PS_NS);
	CHECK_U64(map(&b, 1, 1, 0, 0).latency, 8 * PS_NS);
}

TEST(a_divide_takes_the_dividers_cycles_and_counts_them_as_work)
{
	struct unitbed b;
	struct unit_plan p;

	up(&b, 1);
	p = unitbed_plan(&b, &(struct unit_job){ .work = UNIT_MAP, .elems = 1280, .alu = 1, .divides = true });
	CHECK_U64(p.span, 8 * 10 * PS_NS);
	CHECK_U64(p.work, 8 * 1280);
}

TEST(narrow_weights_are_dequantised_by_their_own_width)
{
	struct unitbed b;
	struct unit_job j = { .work = UNIT_DEQUANT, .dtype = DT_INT8, .with = DT_BF16, .elems = 6400 };

	up(&b, 1);
	CHECK_U64(unitbed_plan(&b, &j).span, 6400 / (4 * 16) * PS_NS);
	j.dtype = DT_FP4;
	CHECK_U64(unitbed_plan(&b, &j).span, 6400 / (4 * 8) * PS_NS);
}

/* By the width that is stored: 16 values a cycle and unit of 8 bits, 8 of 4, whatever they become; 4 units a core. */
TEST(each_format_is_dequantised_at_its_own_rate_and_the_pipeline_is_latency)
{
	static const struct {
		enum dtype from, to;
		uint64_t a_cycle;
	} pairs[] = { { DT_INT8, DT_BF16, 64 }, { DT_FP8, DT_BF16, 64 }, { DT_INT8, DT_FP32, 64 },
		      { DT_INT4, DT_BF16, 32 }, { DT_FP4, DT_BF16, 32 }, { DT_INT4, DT_INT8, 32 },
		      { DT_FP4, DT_FP8, 32 } };
	struct unitbed b;

	for (uint32_t cores = 1; cores <= 3; cores++)
		for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
			const struct unit_job j = {
				.work = UNIT_DEQUANT, .dtype = pairs[i].from, .with = pairs[i].to, .elems = 4096 * 3
			};
			struct unit_plan p;

			up(&b, cores);
			p = unitbed_plan(&b, &j);
			CHECK_U64(p.span, 4096 * 3 / (pairs[i].a_cycle * cores) * PS_NS);
			CHECK_U64(p.latency, 8 * PS_NS);
			CHECK_U64(p.work, 4096 * 3);
			CHECK(p.code == ISA_CONVERT);
		}
	/* a rest is a cycle: 65 values of 8 bits on 4 units */
	up(&b, 1);
	CHECK_U64(unitbed_plan(&b, &(struct unit_job){ .work = UNIT_DEQUANT, .dtype = DT_INT8, .elems = 65 }).span,
	          2 * PS_NS);
}

/* Two ALU steps a MAC: 2 x 64 x 16 MACs on 128 lanes. */
TEST(a_product_on_the_lanes_takes_two_steps_a_mac)
{
	struct unitbed b;

	up(&b, 1);
	CHECK_U64(unitbed_product(&b, DT_BF16, 2, 64, 16), 2 * 64 * 16 / 128 * 2 * PS_NS);
}

/* 1,000 elements are 32 groups of 32. */
TEST(elements_go_in_whole_thread_groups)
{
	struct unitbed b;

	up(&b, 1);
	CHECK_U64(map(&b, 1000, 1, 0, 0).span, 1024 / 128 * PS_NS);
	CHECK_U64(map(&b, 1000, 0, 1, 0).span, 1024 / 16 * PS_NS);
}

TEST(a_short_row_is_reduced_on_one_core)
{
	struct unitbed b;
	struct unit_plan p;

	up(&b, 64);
	/* 128 elements: one pass of 128 lanes; then tree 5 + 2, depth 8; spread over cores it would pay two hops */
	p = unitbed_plan(&b, &(struct unit_job){ .work = UNIT_REDUCE, .rows = 1, .cols = 128, .passes = 1 });
	CHECK_U64(p.span, 1 * PS_NS);
	CHECK_U64(p.latency, (5 + 2 + 8) * PS_NS);
}

static void up_parts(struct unitbed *b, uint32_t act, uint32_t norm)
{
	char yaml[120];

	snprintf(yaml, sizeof yaml, "units: 4\nlanes: 32\nsfu: 4\nconverters: 16\nact: %u\nnorm: %u\n", act, norm);
	unitbed_up(b, UNIT_VECTOR, vector_schema, yaml);
}

/* 1,280 elements of four ALU steps and a special function: 1280 / 16 SFU = 80 cycles; 4 x 16 activation lanes take 20. */
TEST(an_activation_unit_takes_an_element_in_one_step)
{
	const struct unit_job silu = { .work = UNIT_MAP, .piece = UNIT_ACT, .elems = 1280, .alu = 4, .sfu = 1 };
	struct unit_job other = silu;
	struct unitbed b;

	up_parts(&b, 0, 0);
	CHECK_U64(unitbed_plan(&b, &silu).span, 80 * PS_NS);
	up_parts(&b, 16, 0);
	CHECK_U64(unitbed_plan(&b, &silu).span, 20 * PS_NS);
	CHECK_U64(unitbed_plan(&b, &silu).work, 5 * 1280);
	CHECK_STR(unitbed_plan(&b, &silu).why, "activation unit, one pass");
	/* an exponential alone is none of its */
	other.piece = UNIT_ANY;
	CHECK_U64(unitbed_plan(&b, &other).span, 80 * PS_NS);
	/* and where it is slower than the lanes, these do it: 4 x 2 lanes would take 160 */
	up_parts(&b, 2, 0);
	CHECK_U64(unitbed_plan(&b, &silu).span, 80 * PS_NS);
}

/* 64 rows of 1,280 on one core: three passes of 640 cycles, or 64 x 1280 / 16 SFU = 5,120; with 4 x 16 activation lanes one
 * pass of 1,280 and the scaling's 640. Online, as in attention, there is none to scale. */
TEST(a_softmaxs_exponentials_and_sums_are_one_pass)
{
	struct unit_job j = {
		.work = UNIT_REDUCE, .piece = UNIT_SOFTMAX, .rows = 64, .cols = 1280, .passes = 3, .sfu = 1
	};
	struct unitbed b;

	up_parts(&b, 0, 16);
	CHECK_U64(unitbed_plan(&b, &j).span, 5120 * PS_NS);
	CHECK_U64(unitbed_plan(&b, &j).latency, 3 * (5 + 2 + 8) * PS_NS);
	up_parts(&b, 16, 0);
	CHECK_U64(unitbed_plan(&b, &j).span, (1280 + 640) * PS_NS);
	CHECK_U64(unitbed_plan(&b, &j).latency, 2 * (5 + 2 + 8) * PS_NS);
	j.passes = 2;
	CHECK_U64(unitbed_plan(&b, &j).span, 1280 * PS_NS);
	CHECK_U64(unitbed_plan(&b, &j).latency, (5 + 2 + 8) * PS_NS);
}

/* Two passes of 64 x 1280 / 128 lanes; 4 x 64 norm lanes have one of 320 cycles, and one tree. */
TEST(a_norm_unit_has_one_pass_and_one_tree)
{
	const struct unit_job j = { .work = UNIT_REDUCE, .piece = UNIT_NORM, .rows = 64, .cols = 1280, .passes = 2 };
	struct unitbed b;

	up_parts(&b, 16, 0);
	CHECK_U64(unitbed_plan(&b, &j).span, 1280 * PS_NS);
	CHECK_U64(unitbed_plan(&b, &j).latency, 2 * (5 + 2 + 8) * PS_NS);
	up_parts(&b, 0, 64);
	CHECK_U64(unitbed_plan(&b, &j).span, 320 * PS_NS);
	CHECK_U64(unitbed_plan(&b, &j).latency, (5 + 2 + 8) * PS_NS);
	CHECK_U64(unitbed_plan(&b, &j).work, 2 * 64 * 1280);
}

static ps_t all_of(struct unit_plan p)
{
	return p.span + p.latency;
}

TEST(more_cores_never_slow_a_reduction_a_map_or_a_sort)
{
	struct rng r;

	rng_seed(&r, test_seed(), "vector");
	for (int i = 0; i < 2000; i++) {
		uint32_t cores = 1 + (uint32_t)rng_below(&r, 64);
		uint64_t rows = 1 + rng_below(&r, 100), cols = 1 + rng_below(&r, 100000);
		const struct unit_job jobs[] = {
			{ .work = UNIT_MAP, .elems = rows * cols, .alu = 2, .sfu = 1, .bytes = rows },
			{ .work = UNIT_REDUCE, .rows = rows, .cols = cols, .passes = 2, .sfu = 1, .bytes = rows },
			{ .work = UNIT_SORT, .rows = rows, .cols = cols },
		};
		struct unitbed a, b;

		up(&a, cores);
		up(&b, cores + 1);
		for (size_t k = 0; k < sizeof jobs / sizeof *jobs; k++)
			CHECK(all_of(unitbed_plan(&b, &jobs[k])) <= all_of(unitbed_plan(&a, &jobs[k])));
	}
}

SUITE(t_unit_vector, T(a_map_takes_its_slowest_pipe_and_the_pipeline_is_latency),
      T(a_divide_takes_the_dividers_cycles_and_counts_them_as_work),
      T(narrow_weights_are_dequantised_by_their_own_width),
      T(each_format_is_dequantised_at_its_own_rate_and_the_pipeline_is_latency),
      T(a_product_on_the_lanes_takes_two_steps_a_mac), T(elements_go_in_whole_thread_groups),
      T(a_short_row_is_reduced_on_one_core), T(an_activation_unit_takes_an_element_in_one_step),
      T(a_softmaxs_exponentials_and_sums_are_one_pass), T(a_norm_unit_has_one_pass_and_one_tree),
      T(more_cores_never_slow_a_reduction_a_map_or_a_sort));
