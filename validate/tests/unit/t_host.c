/* Wall time from kernel times: who waits for whom. */
#include "arch/gpu/host.h"

#include "validate/tests/test.h"

static const struct host_cfg host = { .launch = 10, .sync = 7, .stream_gap = 2, .graph_launch = 5 };

static struct host_wall wall(struct op *ops, size_t n, const ps_t *took)
{
	struct op_stream s = { .ops = ops, .n_ops = n };

	return host_wall(&host, &s, took);
}

TEST(short_kernels_wait_for_the_host)
{
	struct op ops[] = { { .kind = OP_GEMM, .first_launch = 0, .n_launches = 1 },
		            { .kind = OP_GEMM, .first_launch = 1, .n_launches = 2 } };
	const ps_t took[] = { 3, 3, 3 };
	struct host_wall w = wall(ops, 2, took);

	CHECK_U64(w.eager, 33); /* the third is launched at 30 */
	CHECK_U64(w.graph, 5 + 9);
}

TEST(long_kernels_hide_the_host_but_not_the_gap)
{
	struct op ops[] = { { .kind = OP_GEMM, .first_launch = 0, .n_launches = 3 } };
	const ps_t took[] = { 100, 100, 100 };

	CHECK_U64(wall(ops, 1, took).eager, 10 + 100 + 2 + 100 + 2 + 100);
}

TEST(a_blocking_copy_stops_the_host)
{
	struct op ops[] = { { .kind = OP_GEMM, .first_launch = 0, .n_launches = 1 },
		            { .kind = OP_HOST_SYNC, .first_launch = 1, .n_launches = 1 },
		            { .kind = OP_GEMM, .first_launch = 2, .n_launches = 1 } };
	const ps_t took[] = { 100, 4, 1 };

	/* 10 to 110, gap, copy to 116; the host goes on at 123, launches at 133 */
	CHECK_U64(wall(ops, 3, took).eager, 134);
}

TEST(a_node_of_a_graph_may_cost_something)
{
	struct op ops[] = { { .kind = OP_GEMM, .first_launch = 0, .n_launches = 2 } };
	struct op_stream s = { .ops = ops, .n_ops = 1 };
	struct host_cfg slow = host;
	const ps_t took[] = { 3, 3 };

	slow.graph_node = 4;
	CHECK_U64(host_wall(&slow, &s, took).graph, 5 + 6 + 2 * 4);
	slow.record = 2;
	CHECK_U64(host_wall(&slow, &s, took).graph, 5 + 2 * (1 + 4));
	slow.record = 9; /* more than there is */
	CHECK_U64(host_wall(&slow, &s, took).graph, 5 + 2 * 4);
}

SUITE(t_host, T(short_kernels_wait_for_the_host), T(long_kernels_hide_the_host_but_not_the_gap),
      T(a_blocking_copy_stops_the_host), T(a_node_of_a_graph_may_cost_something));
