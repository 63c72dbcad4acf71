/* t_noc.c - networks between cores and memory: each kind by hand. */
#include "arch/mem/bw_server.h"
#include "validate/tests/membed.h"
#include "validate/tests/test.h"

#define NS PS_NS

static struct comp *noc_up(struct bed *b, struct comp *l2, struct comp *kv)
{
	struct noc_cfg c;
	struct err e = ERR_INIT;
	struct comp *n;

	bed_cfg(noc_schema, &c, "latency: 7 ns\n");
	if (!(n = noc_new(&b->env, &c, l2, kv, &e)))
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

/* --- kinds: 8 cores, 1 GHz, ports and links of 64 B a cycle, 1 ns a hop; what is below answers after 100 ns ----------------- */

static struct comp *kind_up(struct bed *b, const char *yaml)
{
	struct noc_cfg c;
	struct err e = ERR_INIT;
	struct comp *n;

	b->env.clock_khz = 1000000;
	bed_cfg(noc_schema, &c, yaml);
	CHECK_OK(noc_cfg_check(&c, 8, &e), e);
	if (!(n = noc_new(&b->env, &c, &b->below.comp, NULL, &e)))
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	return n;
}

static ps_t takes(struct bed *b, struct comp *n, struct mem_req how, uint64_t bytes)
{
	struct bed_ask a;

	bed_ask1(b, &a, 0, bytes, how.write);
	a.rq.copies = how.copies;
	a.rq.share = how.share;
	a.rq.between = how.between;
	bed_stream(b, n, &a, 1, 1);
	return a.back - a.sent;
}

/* 4,096 B for one core are 64 cycles of its port; for eight cores alike 8, and 8 of eight stops. They stream in while the
 * level below answers, so alone they cost nothing more; one after the other they take their time. */
TEST(a_crossbar_has_a_port_a_core)
{
	struct bed b;
	struct comp *n;
	struct bed_ask a[4];
	ps_t begun;

	bed_up(&b);
	n = kind_up(&b, "kind: crossbar\nlatency: 7 ns\nport: 64 B\n");
	CHECK_U64(takes(&b, n, (struct mem_req){ .write = false }, 4096), (7 + 100 + 7) * NS);
	/* what is written is at the door when its last byte is: 8 cycles, or 64 of one core's port */
	CHECK_U64(takes(&b, n, (struct mem_req){ .write = true }, 4096), (7 + 8 + 100 + 7) * NS);
	CHECK_U64(takes(&b, n, (struct mem_req){ .write = true, .share = 4096 }, 4096), (7 + 64 + 100 + 7) * NS);
	/* four at once to one core: the last is there three times 64 cycles after the first */
	begun = evq_now(b.q);
	for (int i = 0; i < 4; i++) {
		bed_ask1(&b, &a[i], 0, 4096, false);
		a[i].rq.share = 4096;
	}
	bed_stream(&b, n, a, 4, 4);
	CHECK_U64(a[0].back - begun, (7 + 100 + 7) * NS);
	CHECK_U64(a[3].back - begun, (7 + 100 + 3 * 64 + 7) * NS);
	comp_free(n);
	bed_down(&b);
}

static ps_t apart(const char *yaml, uint32_t copies, uint64_t share, uint64_t bytes)
{
	struct bed b;
	struct comp *n;
	struct bed_ask a[9];
	ps_t t;

	bed_up(&b);
	n = kind_up(&b, yaml);
	for (int i = 0; i < 9; i++) {
		bed_ask1(&b, &a[i], 0, bytes, false);
		a[i].rq.copies = copies;
		a[i].rq.share = share;
	}
	bed_stream(&b, n, a, 9, 9);
	t = (a[8].back - a[0].back) / 8;
	CHECK_U64(stat_get(b.stats, "noc.up_bytes"), 9 * bytes);
	CHECK_U64(stat_get(b.stats, "noc.copied_bytes"), 9 * (copies - 1) * bytes);
	comp_free(n);
	bed_down(&b);
	return t;
}

/* 4,096 B that all eight cores want: each port takes all of them, 64 cycles; eight stops send them once (8 cycles), or eight
 * times (64), and two stops eight times (256). */
TEST(multicast_spares_the_stops_not_the_ports)
{
	CHECK_U64(apart("kind: crossbar\n", 8, 4096, 4096), 64 * NS);
	CHECK_U64(apart("kind: crossbar\nmulticast: false\n", 8, 4096, 4096), 64 * NS);
	CHECK_U64(apart("kind: crossbar\nstops: 2\n", 8, 4096, 4096), 64 * NS);
	CHECK_U64(apart("kind: crossbar\nstops: 2\nmulticast: false\n", 8, 4096, 4096), 256 * NS);
	/* two cores want each byte: of 8,192 delivered a core has 1,024, 16 cycles; two stops send 4,096, 32 */
	CHECK_U64(apart("kind: crossbar\nstops: 2\n", 2, 1024, 4096), 32 * NS);
	CHECK_U64(apart("kind: crossbar\n", 2, 1024, 4096), 16 * NS);
}

/* A ring of eight has 16 links; a byte is on two of them in the mean, so 8 x 64 B go at a time: 4,096 B in 8 cycles. What all
 * want is on 8 links, 4 times as many: 32 cycles, but the ports take 64. With one stop it is the stop's port: 64. */
TEST(a_ring_carries_eight_links_worth)
{
	CHECK_U64(apart("kind: ring\nhop: 1 ns\n", 1, 512, 4096), 8 * NS);
	CHECK_U64(apart("kind: ring\nhop: 1 ns\n", 4, 2048, 4096), 32 * NS);
	CHECK_U64(apart("kind: ring\nhop: 1 ns\n", 8, 4096, 4096), 64 * NS);
	CHECK_U64(apart("kind: ring\nhop: 1 ns\nmulticast: false\n", 8, 4096, 4096), 64 * NS);
	CHECK_U64(apart("kind: ring\nhop: 1 ns\nstops: 1\n", 1, 512, 4096), 64 * NS);
}

/* Half way round is 4 hops each way, beside the ends. Reads and writes share the links; a crossbar's do not. */
TEST(a_ring_pays_hops_and_shares_its_links)
{
	static const char *const kinds[] = { "kind: ring\nlatency: 7 ns\nhop: 1 ns\n",
		                             "kind: crossbar\nlatency: 11 ns\n" };

	for (int i = 0; i < 2; i++) {
		struct bed b;
		struct comp *n;
		struct bed_ask a[2];

		bed_up(&b);
		n = kind_up(&b, kinds[i]);
		CHECK_U64(takes(&b, n, (struct mem_req){ .write = false }, 64), (11 + 100 + 11) * NS);
		b.below.latency = 200 * NS;
		/* 64 KiB each: 128 cycles of 8 links; the write's come first, from 11 ns on */
		bed_ask1(&b, &a[0], 0, 65536, true);
		bed_ask1(&b, &a[1], 0, 65536, false);
		bed_stream(&b, n, a, 2, 2);
		CHECK_U64(a[0].back - a[0].sent, (11 + 128 + 200 + 11) * NS);
		CHECK_U64(a[1].back - a[1].sent, (i ? 11 + 200 + 11 : 11 + 128 + 128 + 11) * NS);
		comp_free(n);
		bed_down(&b);
	}
}

/* Eight cores as 2 x 4 have four stops, a row and edge: 4,096 B in 16 cycles; as 4 x 2 eight stops, and 4 x 2 links of
 * the middle row: 8 cycles. The farthest core is a row and four columns away: 1 + 4 hops. */
TEST(a_mesh_has_two_stops_a_row_and_a_middle)
{
	struct bed b;
	struct comp *n;

	CHECK_U64(apart("kind: mesh\ncolumns: 4\n", 1, 512, 4096), 16 * NS);
	CHECK_U64(apart("kind: mesh\ncolumns: 2\n", 1, 512, 4096), 8 * NS);
	CHECK_U64(apart("kind: mesh\ncolumns: 8\n", 1, 512, 4096), 32 * NS);
	bed_up(&b);
	n = kind_up(&b, "kind: mesh\ncolumns: 4\nlatency: 7 ns\nhop: 1 ns\n");
	CHECK_U64(takes(&b, n, (struct mem_req){ .write = false }, 64), (12 + 100 + 12) * NS);
	comp_free(n);
	bed_down(&b);
}

/* Between cores no level is asked: 4,096 B of eight cores for all of them are 64 cycles of a port, and one way across. */
TEST(cores_reach_each_other_without_memory)
{
	struct bed b;
	struct comp *n;

	bed_up(&b);
	n = kind_up(&b, "kind: crossbar\nlatency: 7 ns\n");
	CHECK_U64(takes(&b, n, (struct mem_req){ .between = true, .copies = 8, .share = 4096 }, 4096), (64 + 7) * NS);
	CHECK_U64(b.below.reads, 0);
	CHECK_U64(stat_get(b.stats, "noc.core_bytes"), 4096);
	CHECK_U64(stat_get(b.stats, "noc.up_bytes"), 0);
	comp_free(n);
	bed_down(&b);
}

/* What comes all at once streams in from then on: 4,096 B to one core are 64 cycles of its port. */
TEST(nothing_is_carried_before_it_is_there)
{
	struct bed b;
	struct comp *n;

	bed_up(&b);
	n = kind_up(&b, "kind: crossbar\nlatency: 7 ns\n");
	CHECK_U64(takes(&b, n, (struct mem_req){ .share = 16384 }, 16384), (7 + 256 + 7) * NS);
	b.below.at_once = true;
	CHECK_U64(takes(&b, n, (struct mem_req){ .share = 4096 }, 4096), (7 + 100 + 64 + 7) * NS);
	comp_free(n);
	bed_down(&b);
}

/* The level below answers from the start on: a port that is faster than it passes bytes as they come, and the first comes as early
 * behind a fast port as behind a slow one. Of a port that is busy all comes later. */
TEST(what_comes_slowly_leaves_as_it_came)
{
	static const char *const ports[] = { "kind: crossbar\nlatency: 7 ns\nport: 16 B\n",
		                             "kind: crossbar\nlatency: 7 ns\nport: 64 B\n" };

	for (int i = 0; i < 2; i++) {
		struct bed b;
		struct bed_ask a[2];
		struct comp *n;

		bed_up(&b);
		n = kind_up(&b, ports[i]);
		bed_ask1(&b, &a[0], 0, 1024, false);
		a[0].rq.share = 1024; /* 64 or 16 cycles of 100 */
		bed_stream(&b, n, a, 1, 1);
		CHECK_U64(a[0].rq.t_first, a[0].sent + (7 + 7) * NS);
		for (int k = 0; k < 2; k++) {
			bed_ask1(&b, &a[k], 0, 8192, false);
			a[k].rq.share = 8192; /* 512 or 128 cycles */
		}
		bed_stream(&b, n, a, 2, 2);
		CHECK_U64(a[1].rq.t_first - a[0].rq.t_first, i ? 128 * NS : 512 * NS);
		comp_free(n);
		bed_down(&b);
	}
}

struct rider {
	struct bw_server *l;
	struct bw_server_job job;
	struct mem_req rq;
	struct ev comes;
	ps_t first, span, over;
};

static void rides_over(void *owner, struct ev *ev)
{
	struct rider *r = owner;

	r->over = ev->when;
	bw_server_over(r->l, &r->job);
}

static void comes(void *owner, struct ev *ev)
{
	struct rider *r = owner;

	(void)ev;
	ev_init(&r->job.ev, EV_REPLY, rides_over, r);
	bw_server_put(r->l, &r->job, &r->rq, r->first, r->span);
}

/* The second takes the last two that were idle before it was all there, at 44. The third began before that: what is idle of its own
 * 14, from 32 to 42 and from 44 on, is its, and two are left to do. */
TEST(idle_time_is_left_for_who_began_earlier)
{
	struct rider r[] = { { .first = 0, .span = 10 }, { .first = 42, .span = 2 }, { .first = 30, .span = 14 } };
	static const ps_t at[] = { 0, 44, 46 };
	static const uint8_t ahead = MEM_AHEAD;
	struct evq *q = evq_new();
	struct bw_server l;

	bw_server_reset(&l, q);
	for (size_t i = 0; i < 3; i++) {
		r[i].l = &l;
		r[i].rq.urgency = &ahead;
		ev_init(&r[i].comes, EV_WORK, comes, &r[i]);
		evq_push(q, &r[i].comes, at[i]);
	}
	while (evq_step(q))
		continue;
	CHECK_U64(r[0].over, 10);
	CHECK_U64(r[1].over, 44);
	CHECK_U64(r[2].over, 48);
	evq_free(q);
}

/* Every port is taken both ways, and all links of a ring are: what reads and writes need them for waits. */
TEST(an_exchange_takes_ports_and_links_from_others)
{
	for (int write = 0; write < 2; write++) {
		struct bed b;
		struct comp *n;

		bed_up(&b);
		b.below.at_once = true;
		n = kind_up(&b, write ? "kind: crossbar\nlatency: 7 ns\n" : "kind: ring\nlatency: 7 ns\nhop: 0\n");
		CHECK_U64(n->ops->exchange(n, 500 * NS), evq_now(b.q) + 500 * NS);
		CHECK_U64(n->ops->exchange(n, 500 * NS), evq_now(b.q) + 1000 * NS);
		CHECK_U64(takes(&b, n, (struct mem_req){ .write = write }, 4096),
		          (1000 + 8 + 7 + (write ? 100 : 0)) * NS);
		comp_free(n);
		bed_down(&b);
	}
}

/* An ideal one carries any number of bytes: only the cores' own engines (arch/npu/dma) are in the way. */
TEST(an_ideal_network_is_nobodys_to_take)
{
	struct bed b;
	struct comp *n;

	bed_up(&b);
	b.below.at_once = true;
	n = kind_up(&b, "kind: ideal\nlatency: 7 ns\n");
	CHECK_U64(n->ops->exchange(n, 500 * NS), evq_now(b.q) + 500 * NS);
	CHECK_U64(n->ops->exchange(n, 500 * NS), evq_now(b.q) + 500 * NS);
	CHECK_U64(takes(&b, n, (struct mem_req){ .write = false }, 4096), (7 + 100 + 7) * NS);
	comp_free(n);
	bed_down(&b);
}

TEST(a_mesh_with_more_columns_than_cores_is_refused)
{
	struct noc_cfg c;
	struct err e = ERR_INIT;

	bed_cfg(noc_schema, &c, "kind: mesh\ncolumns: 9\n");
	CHECK(noc_cfg_check(&c, 8, &e) < 0);
	CHECK_HAS(e.msg, "noc.columns");
}

SUITE(t_noc, T(a_request_pays_both_ways), T(kv_goes_to_the_kv_buffer_when_there_is_one),
      T(what_the_level_behind_refuses_is_refused_and_retried), T(a_crossbar_has_a_port_a_core),
      T(multicast_spares_the_stops_not_the_ports), T(a_ring_carries_eight_links_worth),
      T(a_ring_pays_hops_and_shares_its_links), T(a_mesh_has_two_stops_a_row_and_a_middle),
      T(cores_reach_each_other_without_memory), T(nothing_is_carried_before_it_is_there),
      T(what_comes_slowly_leaves_as_it_came), T(idle_time_is_left_for_who_began_earlier),
      T(an_exchange_takes_ports_and_links_from_others), T(an_ideal_network_is_nobodys_to_take),
      T(a_mesh_with_more_columns_than_cores_is_refused));
