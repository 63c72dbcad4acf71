/* t_noc.c - the ideal network. */
#include "validate/tests/membed.h"
#include "validate/tests/test.h"

#define NS PS_NS

static struct comp *noc_up(struct bed *b, struct comp *l2, struct comp *kv)
{
	struct noc_cfg c;
	struct err e = ERR_INIT;
	struct comp *n;

	bed_cfg(noc_schema, &c, "latency: 7 ns\n");
	if (!(n = noc_ideal_new(&b->env, &c, l2, kv, &e)))
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	return n;
}

TEST(a_request_pays_both_ways)
{
	struct bed b;
	struct comp *n;
	struct bed_ask a;

	bed_up(&b);
	n = noc_up(&b, &b.below.comp, NULL);
	CHECK_U64(bed_read(&b, n, 0, 1000), (7 + 100 + 7) * NS);
	CHECK_U64(bed_write(&b, n, 0, 500), (7 + 100 + 7) * NS);
	CHECK_U64(stat_get(b.stats, "noc.up_bytes"), 1000);
	CHECK_U64(stat_get(b.stats, "noc.down_bytes"), 500);
	bed_ask1(&b, &a, 0, 64, false);
	bed_stream(&b, n, &a, 1, 1);
	CHECK_U64(a.rq.dram_bytes, 64);
	CHECK_U64(a.rq.t_dram, a.sent + 7 * NS);
	CHECK_U64(a.rq.t_dram_done, a.back - 7 * NS);
	CHECK(a.rq.from == &b.from.comp);
	comp_free(n);
	bed_down(&b);
}

TEST(kv_goes_to_the_kv_buffer_when_there_is_one)
{
	struct bed b;
	struct comp *n, *l2, *kv;
	struct l2_cfg lc;
	struct kv_cfg kc;
	struct bed_ask a;

	bed_up(&b);
	bed_cfg(l2_schema, &lc, "size: 1 MiB\n");
	bed_cfg(kv_schema, &kc, "size: 1 MiB\n");
	l2 = bed_make(&b, &l2_ops, &lc, NULL);
	kv = bed_make(&b, &kv_ops, &kc, NULL);
	n = noc_up(&b, l2, kv);
	bed_read(&b, n, 0, 4096); /* class KV */
	bed_ask1(&b, &a, 8192, 4096, false);
	a.rq.cls = MEM_WEIGHT;
	bed_stream(&b, n, &a, 1, 1);
	CHECK_U64(stat_get(b.stats, "kv_buffer.read_bytes"), 4096);
	CHECK_U64(stat_get(b.stats, "l2.read_bytes"), 4096);
	CHECK_U64(stat_get(b.stats, "noc.kv_requests"), 1);
	CHECK_U64(a.rq.level, RES_L2);
	CHECK_U64(n->ops->resident(n, 0, 16384), 8192);
	comp_free(n);
	comp_free(kv);
	comp_free(l2);
	bed_down(&b);
}

TEST(what_the_level_behind_refuses_is_refused_and_retried)
{
	struct bed b;
	struct comp *n;
	struct bed_ask a[6];

	bed_up(&b);
	b.below.room = 2;
	n = noc_up(&b, &b.below.comp, NULL);
	for (int i = 0; i < 6; i++)
		bed_ask1(&b, &a[i], 0, 64, false);
	bed_stream(&b, n, a, 6, 6);
	CHECK(b.from.refused > 0);
	CHECK_U64(b.below.refused, b.below.owed);
	comp_free(n);
	bed_down(&b);
}

SUITE(t_noc, T(a_request_pays_both_ways), T(kv_goes_to_the_kv_buffer_when_there_is_one),
      T(what_the_level_behind_refuses_is_refused_and_retried));
