/* Thread groups on vector units: exact cycles of issue, control and latency, and what hides it. */
#include "arch/npu/unit_issue.h"
#include "sim/base/rng.h"
#include "validate/tests/unitbed.h"

static void up(struct unitbed *b, uint32_t group, uint32_t control, uint32_t latency, uint32_t depth)
{
	unitbed_up(b, UNIT_VECTOR, vector_schema, "units: 4\nlanes: 32\nsfu: 4\nconverters: 16\n");
	b->env.group = group;
	b->env.control = control;
	b->env.unit_latency = latency;
	b->env.depth = depth;
}

static struct unit_plan map(const struct unitbed *b, uint64_t n, uint32_t alu)
{
	return unitbed_plan(b, &(struct unit_job){ .work = UNIT_MAP, .elems = n, .alu = alu });
}

static struct unit_plan rows(const struct unitbed *b, uint64_t n, uint64_t cols)
{
	return unitbed_plan(b, &(struct unit_job){ .work = UNIT_REDUCE, .rows = n, .cols = cols, .passes = 1 });
}

/* 32,768 elements, one step each. Groups of 32: 1,024, so 256 a unit, one cycle of work and 6 of control each; of 256: 32 a
 * unit, 8 and 6; of 1,024: 8 a unit, 32 and 6. */
TEST(long_groups_share_out_their_control)
{
	struct unitbed b;

	up(&b, 32, 6, 0, 8);
	CHECK_U64(map(&b, 32768, 1).span, 256 * (1 + 6) * PS_NS);
	up(&b, 256, 6, 0, 8);
	CHECK_U64(map(&b, 32768, 1).span, 32 * (8 + 6) * PS_NS);
	up(&b, 1024, 6, 0, 8);
	CHECK_U64(map(&b, 32768, 1).span, 8 * (32 + 6) * PS_NS);
	CHECK_U64(map(&b, 32768, 1).latency, 8 * PS_NS);
}

/* 128 rows of 40: groups of 32 take two each, 256 in all, 64 a unit of 1 + 6 cycles; of 256 one each, 32 a unit of 8 + 6,
 * of which 216 of 256 lanes' turns are wasted; of 1,024: 32 a unit of 32 + 6. */
TEST(short_rows_waste_the_rest_of_a_group)
{
	struct unitbed b;

	up(&b, 32, 6, 0, 8);
	CHECK_U64(rows(&b, 128, 40).span, 64 * (1 + 6) * PS_NS);
	up(&b, 256, 6, 0, 8);
	CHECK_U64(rows(&b, 128, 40).span, 32 * (8 + 6) * PS_NS);
	up(&b, 1024, 6, 0, 8);
	CHECK_U64(rows(&b, 128, 40).span, 32 * (32 + 6) * PS_NS);
}

/* A group that is shorter than the lanes leaves the others idle: a cycle all the same. */
TEST(a_group_shorter_than_the_lanes_takes_a_cycle)
{
	struct unitbed b;

	up(&b, 8, 1, 0, 8);
	CHECK_U64(map(&b, 320, 1).span, 10 * (1 + 1) * PS_NS);
}

/* Four dependent steps on groups of 32, 24 cycles apart: a chain of 96. With 4 in flight a group takes 24 of the unit's
 * cycles, with 16 it takes 6, with 32 three, and its work is 4. 256 groups a unit hide the chain. */
TEST(depth_hides_the_latency_of_many_groups)
{
	struct unitbed b;

	up(&b, 32, 0, 24, 4);
	CHECK_U64(map(&b, 32768, 4).span, 256 * 24 * PS_NS);
	CHECK_U64(map(&b, 32768, 4).latency, 4 * PS_NS);
	up(&b, 32, 0, 24, 16);
	CHECK_U64(map(&b, 32768, 4).span, 256 * 6 * PS_NS);
	up(&b, 32, 0, 24, 32);
	CHECK_U64(map(&b, 32768, 4).span, 256 * 4 * PS_NS);
	CHECK_U64(map(&b, 32768, 4).latency, 32 * PS_NS);
}

/* One group a unit: its chain of 96 cycles is waited for, and a deeper pipeline only fills longer. */
TEST(depth_only_costs_where_there_is_one_group)
{
	struct unitbed b;

	up(&b, 32, 0, 24, 8);
	CHECK_U64(map(&b, 128, 4).span, 12 * PS_NS);
	CHECK_U64(map(&b, 128, 4).latency, (8 + 96 - 12) * PS_NS);
	up(&b, 32, 0, 24, 64);
	CHECK_U64(map(&b, 128, 4).span, 4 * PS_NS);
	CHECK_U64(map(&b, 128, 4).latency, (64 + 96 - 4) * PS_NS);
}

/* Without either nothing is different from lanes that elements are spread over evenly: 1,000 are 32 groups of 32. */
TEST(free_control_and_hidden_latency_are_even_lanes)
{
	struct unitbed b;

	up(&b, 32, 0, 0, 8);
	CHECK(!issue_modelled(&b.env));
	CHECK_U64(map(&b, 1000, 1).span, 8 * PS_NS);
	up(&b, 32, 0, 1, 8);
	CHECK(issue_modelled(&b.env));
	CHECK_U64(map(&b, 1000, 1).span, 8 * PS_NS);
}

static ps_t all_of(struct unit_plan p)
{
	return p.span + p.latency;
}

/* Of any machine and job: less control, less latency, more units and more lanes are never slower; nor is more depth but for
 * the filling it costs. */
TEST(less_to_issue_and_more_to_hide_with_is_never_slower)
{
	struct rng r;

	rng_seed(&r, test_seed(), "issue");
	for (int i = 0; i < 5000; i++) {
		const uint64_t n = 1 + rng_below(&r, 300), cols = 1 + rng_below(&r, 5000);
		const struct unit_job jobs[] = {
			{ .work = UNIT_MAP, .elems = n * cols, .alu = 1 + (uint32_t)rng_below(&r, 6), .sfu = 1 },
			{ .work = UNIT_REDUCE, .rows = n, .cols = cols, .passes = 3, .sfu = 1, .piece = UNIT_SOFTMAX },
		};
		struct unitbed a, b;

		up(&a, 1u << rng_below(&r, 11), 1 + (uint32_t)rng_below(&r, 30), (uint32_t)rng_below(&r, 60),
		   1 + (uint32_t)rng_below(&r, 40));
		for (int k = 0; k < 2; k++) {
			const struct unit_plan was = unitbed_plan(&a, &jobs[k]);

			b = a;
			b.env.cfg = &b.cfg;
			b.env.control--;
			CHECK(all_of(unitbed_plan(&b, &jobs[k])) <= all_of(was));
			b.env.unit_latency /= 2;
			b.cfg.units++;
			CHECK(all_of(unitbed_plan(&b, &jobs[k])) <= all_of(was));
			b = a;
			b.env.cfg = &b.cfg;
			b.env.depth *= 2;
			CHECK(unitbed_plan(&b, &jobs[k]).span <= was.span);
			CHECK(all_of(unitbed_plan(&b, &jobs[k])) <= all_of(was) + 3 * a.env.depth * PS_NS);
		}
	}
}

SUITE(t_unit_issue, T(long_groups_share_out_their_control), T(short_rows_waste_the_rest_of_a_group),
      T(a_group_shorter_than_the_lanes_takes_a_cycle), T(depth_hides_the_latency_of_many_groups),
      T(depth_only_costs_where_there_is_one_group), T(free_control_and_hidden_latency_are_even_lanes),
      T(less_to_issue_and_more_to_hide_with_is_never_slower));
