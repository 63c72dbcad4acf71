/* Vector units in closed form: exact cycles, and more cores are never slower. */
#include "sim/base/rng.h"
#include "validate/tests/unitbed.h"

static void up(struct unitbed *b, uint32_t cores)
{
	unitbed_up(b, UNIT_VECTOR, vector_schema, "units: 4\nlanes: 32\nsfu: 4\nconverters: 16\ndiv_cycles: 8\n");
	b->env.cores = cores;
}

static ps_t map(const struct unitbed *b, uint64_t n, uint32_t alu, uint32_t sfu, uint32_t convert)
{
	return unitbed_plan(
		       b,
		       &(struct unit_job){ .work = UNIT_MAP, .elems = n, .alu = alu, .sfu = sfu, .convert = convert })
	        .span;
}

static ps_t reduce(const struct unitbed *b, uint64_t rows, uint64_t cols, uint32_t passes, uint32_t sfu, uint64_t bytes)
{
	return unitbed_plan(b, &(struct unit_job){ .work = UNIT_REDUCE,
	                                           .rows = rows,
	                                           .cols = cols,
	                                           .passes = passes,
	                                           .sfu = sfu,
	                                           .bytes = bytes })
	        .span;
}

TEST(a_map_takes_the_slowest_pipe_and_the_pipeline_once)
{
	struct unitbed b;

	up(&b, 1);
	CHECK_U64(map(&b, 1280, 1, 0, 0), (10 + 8) * PS_NS); /* 1280 / 128 lanes */
	CHECK_U64(map(&b, 1280, 1, 1, 0), (80 + 8) * PS_NS); /* 1280 / 16 SFU */
	CHECK_U64(map(&b, 1280, 0, 0, 1), (20 + 8) * PS_NS); /* 1280 / 64 converters */
	CHECK_U64(map(&b, 1, 1, 0, 0), (1 + 8) * PS_NS);
}

TEST(a_divide_takes_the_dividers_cycles_and_counts_them_as_work)
{
	struct unitbed b;
	struct unit_plan p;

	up(&b, 1);
	p = unitbed_plan(&b, &(struct unit_job){ .work = UNIT_MAP, .elems = 1280, .alu = 1, .divides = true });
	CHECK_U64(p.span, (8 * 10 + 8) * PS_NS);
	CHECK_U64(p.work, 8 * 1280);
}

TEST(a_short_row_is_reduced_on_one_core)
{
	struct unitbed b;

	up(&b, 64);
	/* 128 elements: one pass of 128 lanes, tree 5 + 2, depth 8; spread over cores it would pay two hops */
	CHECK_U64(reduce(&b, 1, 128, 1, 0, 0), (1 + 5 + 2 + 8) * PS_NS);
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
			CHECK(unitbed_plan(&b, &jobs[k]).span <= unitbed_plan(&a, &jobs[k]).span);
	}
}

SUITE(t_unit_vector, T(a_map_takes_the_slowest_pipe_and_the_pipeline_once),
      T(a_divide_takes_the_dividers_cycles_and_counts_them_as_work), T(a_short_row_is_reduced_on_one_core),
      T(more_cores_never_slow_a_reduction_a_map_or_a_sort));
