/* p_memory.c - what holds for any memory and any requests: no byte lost or served twice, nothing beats the peak, and
 * more of anything never makes a stream slower. NPUSIM_SEED picks other machines. */
#include <stdlib.h>

#include "arch/mem/dram_tile.h"
#include "sim/base/rng.h"
#include "validate/tests/membed.h"
#include "validate/tests/tablebed.h"
#include "validate/tests/test.h"

#define ROUNDS test_rounds(20, 40, 60) /* 18 improvements, each at least once */

static uint64_t pick(struct rng *g, uint64_t lo, uint64_t hi)
{
	return lo + rng_below(g, hi - lo + 1);
}

/* A random device of a random kind. */
static void machine(struct rng *g, struct dram_cfg *c)
{
	/* One draw a statement: the order of evaluation must not depend on the compiler. */
	unsigned channels = (unsigned)pick(g, 1, 24), plain = (unsigned)pick(g, 0, 1), shift = (unsigned)pick(g, 0, 5);
	unsigned queue = (unsigned)pick(g, 1, 40), batch = (unsigned)pick(g, 0, 5), ctrl = (unsigned)pick(g, 0, 20);
	struct arena *a = arena_new(0);
	const struct words kinds = memories(a);
	char yaml[256];

	snprintf(yaml, sizeof yaml,
	         "channels: %u\nmap: %s\ninterleave: %u B\nqueue: %u\nwrite_batch: %u\nt_controller: %u ns\n", channels,
	         plain ? "plain" : "hashed", 64u << shift, queue, 1u << batch, ctrl);
	bed_dram_kind(c, kinds.v[rng_below(g, kinds.n)], yaml);
	arena_free(a);
	if (pick(g, 0, 3) == 0)
		c->t_refi = 0;
}

/* Streams, random tiles and small pieces, in both directions. */
static struct bed_ask *requests(struct bed *b, struct rng *g, size_t n)
{
	struct bed_ask *asks = calloc(n, sizeof *asks);
	uint64_t at = pick(g, 0, 1 << 20), tile = pick(g, 1, 100000), writes = pick(g, 0, 3);

	CHECK(asks);
	for (size_t i = 0; i < n; i++) {
		uint64_t what = rng_below(g, 4), bytes = what == 0 ? pick(g, 1, 300) : tile;

		if (what == 1)
			at = pick(g, 0, UINT64_C(1) << 32);
		bed_ask1(b, &asks[i], at, bytes, rng_below(g, 4) < writes);
		at += bytes;
	}
	return asks;
}

static uint64_t bytes_of(const struct bed_ask *asks, size_t n, bool write)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += asks[i].rq.write == write ? asks[i].rq.bytes : 0;
	return sum;
}

/* Runs a stream on a fresh device; returns when it ended. */
static ps_t run(const struct dram_cfg *c, uint64_t seed, size_t n, size_t window, uint64_t *bytes)
{
	struct bed b;
	struct comp *d;
	struct rng g;
	struct bed_ask *asks;
	ps_t end;

	bed_up(&b);
	rng_seed(&g, seed, "requests");
	d = bed_make(&b, &dram_ops, c, NULL);
	asks = requests(&b, &g, n);
	end = bed_stream(&b, d, asks, n, window);
	CHECK_U64(stat_get(b.stats, "dram.read_bytes"), bytes_of(asks, n, false));
	CHECK_U64(stat_get(b.stats, "dram.write_bytes"), bytes_of(asks, n, true));
	*bytes = bytes_of(asks, n, false) + bytes_of(asks, n, true);
	for (size_t i = 0; i < n; i++) {
		const struct mem_req *r = &asks[i].rq;

		CHECK(asks[i].back >=
		      asks[i].sent + dram_timing(c).t_controller + clock_transfer(r->bytes, dram_peak(c)));
		CHECK(r->dram_bytes == (r->write ? 0 : r->bytes));
	}
	free(asks);
	comp_free(d);
	bed_down(&b);
	return end;
}

TEST(nothing_beats_the_peak_and_no_byte_is_lost)
{
	struct rng g;

	rng_seed(&g, test_seed(), "peak");
	for (int i = 0; i < ROUNDS; i++) {
		struct dram_cfg c;
		uint64_t bytes;
		ps_t end;

		machine(&g, &c);
		end = run(&c, rng_u64(&g), 300, pick(&g, 1, 64), &bytes);
		CHECK(end >= clock_transfer(bytes, dram_peak(&c)));
	}
}

/* One parameter made better. */
static void improve(struct dram_cfg *c, int which)
{
	ps_t *const times[] = { &c->t_cl,    &c->t_cwl, &c->t_rcd,       &c->t_rcd_wr, &c->t_rp,
		                &c->t_rrd_s, &c->t_faw, &c->t_row_bus,   &c->t_wr,     &c->t_wtr,
		                &c->t_rtp,   &c->t_rtw, &c->t_controller };
	const int n = (int)(sizeof times / sizeof *times);

	if (which < n)
		*times[which] /= 2;
	else if (which == n)
		c->t_ras /= 2, c->t_rc /= 2;
	else if (which == n + 1)
		c->bandwidth *= 2;
	else if (which == n + 2)
		c->latency_scale /= 2;
	else if (which == n + 3)
		c->t_rfc /= 2;
	else
		c->t_refi = 0;
}
#define IMPROVEMENTS 18

/* Known: a request that begins sooner may meet another row, or be in front of another's way to the next: in the closed form it then ends
 * later by up to two row cycles, one request in some thousand. */
TEST(faster_is_never_slower_by_more_than_two_rows_with_requests_at_the_same_times)
{
	struct rng g;
	ps_t worst = 0;
	int late = 0;

	rng_seed(&g, test_seed(), "open loop");
	for (int i = 0; i < ROUNDS; i++) {
		struct dram_cfg c, better;
		struct dram_timing t, u;
		struct dram_tile *d, *f;
		struct dram_tile_stats s = { 0 };
		struct err e = ERR_INIT;
		ps_t now = 0, gap;

		machine(&g, &c);
		better = c;
		improve(&better, i % IMPROVEMENTS);
		t = dram_timing(&c);
		u = dram_timing(&better);
		gap = pick(&g, 0, 2000000);
		CHECK((d = dram_tile_new(&t, &e)) && (f = dram_tile_new(&u, &e)));
		for (int k = 0; k < 500; k++) {
			uint64_t addr = pick(&g, 0, 1 << 24), bytes = pick(&g, 1, k % 3 ? 40000 : 200);
			struct mem_run r = { addr, bytes };
			bool write = rng_below(&g, 3) == 0;
			ps_t slow = dram_tile_serve(d, now + t.t_controller, &r, 1, write, &s);
			ps_t fast = dram_tile_serve(f, now + u.t_controller, &r, 1, write, &s);

			late += fast > slow;
			worst = ps_max(worst, fast > slow ? fast - slow : 0);
			if (fast > slow + 2 * t.t_rc)
				test_fail(__FILE__, __LINE__, "improvement %d: request %d ends at %llu, not %llu",
				          i % IMPROVEMENTS, k, (unsigned long long)fast, (unsigned long long)slow);
			now += rng_below(&g, gap + 1);
		}
		dram_tile_free(d);
		dram_tile_free(f);
	}
	printf("%d requests end later on a faster memory, at worst by %llu ps\n", late, (unsigned long long)worst);
	CHECK(test_share((size_t)late, (size_t)ROUNDS * 500, 5));
}

TEST(faster_is_never_slower_by_half_a_percent_behind_a_window)
{
	struct rng g;

	rng_seed(&g, test_seed(), "closed loop");
	for (int i = 0; i < ROUNDS; i++) {
		struct dram_cfg c, better;
		uint64_t seed = rng_u64(&g), bytes, window = pick(&g, 1, 48);
		ps_t slow, fast;

		machine(&g, &c);
		better = c;
		improve(&better, i % IMPROVEMENTS);
		slow = run(&c, seed, 300, window, &bytes);
		fast = run(&better, seed, 300, window, &bytes);
		if (fast > slow + slow / 200)
			test_fail(__FILE__, __LINE__, "improvement %d: %llu ps, not %llu", i % IMPROVEMENTS,
			          (unsigned long long)fast, (unsigned long long)slow);
	}
}

/* The bytes of the runs are served by the units they belong to, each once: bursts counted by address. */
TEST(bursts_moved_are_the_bursts_touched)
{
	struct rng g;

	rng_seed(&g, test_seed(), "bursts");
	for (int i = 0; i < ROUNDS; i++) {
		struct dram_cfg c;
		struct dram_timing t;
		struct dram_tile *d;
		struct err e = ERR_INIT;

		machine(&g, &c);
		t = dram_timing(&c);
		CHECK((d = dram_tile_new(&t, &e)));
		for (int k = 0; k < 300; k++) {
			struct dram_tile_stats s = { 0 };
			uint64_t bytes = pick(&g, 1, k % 2 ? 100 : 300000), addr = rng_below(&g, UINT64_C(1) << 40);
			struct mem_run r = { addr, bytes };

			dram_tile_serve(d, 0, &r, 1, false, &s);
			CHECK_U64(s.bursts, (addr + bytes - 1) / t.burst_bytes - addr / t.burst_bytes + 1);
			CHECK_U64(s.bursts, s.row_hits + s.activates);
			CHECK(s.bus_ps >=
			      clock_transfer(s.bursts * t.burst_bytes, t.peak) * t.units - s.bursts * t.units);
		}
		dram_tile_free(d);
	}
}

/* --- a whole hierarchy ------------------------------------------------------------------------------------- */

struct stack {
	struct bed b;
	struct dram_cfg dc;
	struct l2_cfg lc;
	struct kv_cfg kc;
	struct l1_cfg l1c;
	struct comp *dram, *l2, *kv, *noc, *l1;
	struct comp *top; /* where the cores ask: the L1, if there is one, else the network */
};

/* An L1 of one or two chunk sets a core, on half of the machines; with a victim cache on half of those. */
static void l1_up(struct stack *s, struct rng *g)
{
	unsigned on = (unsigned)pick(g, 0, 1), cores = (unsigned)pick(g, 1, 4), ways = (unsigned)pick(g, 1, 4);
	unsigned kib = (unsigned)pick(g, 16, 48), mshrs = (unsigned)pick(g, 1, 9), victim = (unsigned)pick(g, 0, 1);
	struct err e = ERR_INIT;
	char yaml[256];

	s->l1 = NULL;
	s->top = s->noc;
	if (!on)
		return;
	snprintf(yaml, sizeof yaml, "size: %u KiB\nways: %u\nmshrs: %u\nsector: %u B\nvictim: %u KiB\n", kib, ways,
	         mshrs, 32u << pick(g, 0, 2), victim ? 8 : 0);
	bed_cfg(l1_schema, &s->l1c, yaml);
	CHECK_OK(l1_cfg_check(&s->l1c, cores, &e), e);
	s->top = s->l1 = bed_make(&s->b, &l1_ops, &s->l1c, s->noc);
}

static void stack_up(struct stack *s, struct rng *g)
{
	struct noc_cfg nc;
	struct err e = ERR_INIT;
	unsigned sets = (unsigned)pick(g, 1, 8), few = (unsigned)pick(g, 0, 1), mshrs = (unsigned)pick(g, 1, 9);
	const struct words policies = l2_policies(), kinds = networks();
	unsigned policy = (unsigned)pick(g, 0, policies.n - 1), hash = (unsigned)pick(g, 0, 1),
		 kv_ways = (unsigned)pick(g, 0, 3);
	unsigned sector = 32u << pick(g, 0, 2), pinned = (unsigned)pick(g, 0, 1);
	unsigned parts = pick(g, 0, 2) ? 1 : (unsigned)pick(g, 2, 3);
	unsigned victim = pick(g, 0, 1) ? 128 * (unsigned)pick(g, 1, 16) : 0; /* KiB: 32 to 512 chunks */
	char yaml[320];

	bed_up(&s->b);
	machine(g, &s->dc);
	snprintf(yaml, sizeof yaml, "size: %u KiB\nways: %u\nmshrs: %u\npolicy: %s\n", 32 * 24 * sets * parts,
	         few ? 4 : 6, mshrs, policies.v[policy]);
	snprintf(yaml + strlen(yaml), sizeof yaml - strlen(yaml),
	         "hash: %s\nkv_ways: %u\nvictim: %u KiB\nsector: %u B\n", hash ? "xor" : "none", kv_ways,
	         victim > 256 ? victim / 256 * 256 : victim, sector);
	snprintf(yaml + strlen(yaml), sizeof yaml - strlen(yaml), "weight_ways: %u\npartitions: %u\n",
	         pinned && kv_ways < 2, parts);
	bed_cfg(l2_schema, &s->lc, yaml);
	CHECK_OK(l2_cfg_check(&s->lc, &e), e);
	bed_cfg(kv_schema, &s->kc, "size: 256 KiB\n");
	snprintf(yaml, sizeof yaml, "kind: %s\nmulticast: %s\n", kinds.v[rng_below(g, kinds.n)],
	         rng_below(g, 2) ? "true" : "false");
	bed_cfg(noc_schema, &nc, yaml);
	CHECK_OK(noc_cfg_check(&nc, 8, &e), e);
	s->dram = bed_make(&s->b, &dram_ops, &s->dc, NULL);
	s->l2 = bed_make(&s->b, &l2_ops, &s->lc, s->dram);
	s->kv = bed_make(&s->b, &kv_ops, &s->kc, s->l2);
	CHECK((s->noc = noc_new(&s->b.env, &nc, s->l2, s->kv, &e)));
	l1_up(s, g);
}

static void stack_down(struct stack *s)
{
	comp_free(s->l1);
	comp_free(s->noc);
	comp_free(s->kv);
	comp_free(s->l2);
	comp_free(s->dram);
	bed_down(&s->b);
}

TEST(bytes_are_conserved_from_the_cores_to_the_pins)
{
	static const uint8_t urgencies[] = { MEM_AHEAD, MEM_WANTED, MEM_BLOCKING };
	struct rng g;

	rng_seed(&g, test_seed(), "stack");
	for (int i = 0; i < ROUNDS; i++) {
		struct stack s;
		struct bed_ask *asks;
		struct stat_reg *st;
		uint64_t dram_bytes = 0, copied = 0, l2_asked, up;
		const size_t n = 400;

		stack_up(&s, &g);
		st = s.b.stats;
		asks = calloc(n, sizeof *asks);
		CHECK(asks);
		for (size_t k = 0; k < n; k++) {
			struct bed_ask *a = &asks[k];
			bool kv = rng_below(&g, 4) == 0;
			uint64_t addr = pick(&g, 0, 20000) * 128 + (kv ? 1 << 24 : 0), bytes = pick(&g, 1, 500) * 128;

			/* Whole lines, so that levels can be compared byte by byte. */
			bed_ask1(&s.b, a, addr, bytes, rng_below(&g, 3) == 0);
			a->rq.cls = kv ? MEM_KV : addr & 128 ? MEM_WEIGHT : MEM_ACTIVATION;
			a->rq.urgency = &urgencies[rng_below(&g, 3)];
			a->rq.copies = 1 + (uint32_t)rng_below(&g, 8) * !a->rq.write;
			a->rq.share = rng_below(&g, 2) * bytes;
			copied += (a->rq.copies - 1) * bytes;
		}
		bed_stream(&s.b, s.top, asks, n, pick(&g, 1, 100));
		up = bytes_of(asks, n, false);
		if (!s.l1) /* the levels of a core are told nothing of the others */
			CHECK_U64(stat_get(st, "noc.copied_bytes"), copied);
		l2_asked = stat_get(st, "l2.read_bytes") + stat_get(st, "l2.write_bytes");
		if (s.l1) {
			CHECK_U64(stat_get(st, "l1.read_bytes"), bytes_of(asks, n, false));
			CHECK_U64(stat_get(st, "l1.read_bytes"),
			          stat_get(st, "l1.hit_bytes") + stat_get(st, "l1.miss_bytes"));
			CHECK_U64(stat_get(st, "l1.miss_bytes"), stat_get(st, "l1.fill_bytes"));
			CHECK_U64(stat_get(st, "l1.fill_bytes"), stat_get(st, "l1.resident_bytes") +
			                                                 stat_get(st, "l1.evicted_bytes") +
			                                                 stat_get(st, "l1.dropped_bytes"));
			CHECK(stat_get(st, "l1.resident_bytes") <= (s.l1c.size + s.l1c.victim) * s.l1c.cores);
			up = stat_get(st, "l1.fill_bytes");
			CHECK_U64(stat_get(st, "l1.through_bytes"), bytes_of(asks, n, true));
		}
		CHECK_U64(stat_get(st, "noc.up_bytes"), up);
		CHECK_U64(stat_get(st, "noc.down_bytes"), bytes_of(asks, n, true));
		CHECK_U64(up + bytes_of(asks, n, true) + stat_get(st, "kv_buffer.fill_bytes") +
		                  stat_get(st, "kv_buffer.spill_read_bytes") +
		                  stat_get(st, "kv_buffer.spill_write_bytes"),
		          l2_asked + stat_get(st, "kv_buffer.read_bytes") + stat_get(st, "kv_buffer.write_bytes"));
		CHECK_U64(l2_asked, stat_get(st, "l2.hit_bytes") + stat_get(st, "l2.miss_bytes"));
		CHECK_U64(stat_get(st, "dram.read_bytes"), stat_get(st, "l2.fill_bytes"));
		CHECK_U64(stat_get(st, "dram.write_bytes"), stat_get(st, "l2.writeback_bytes"));
		CHECK_U64(stat_get(st, "kv_buffer.read_bytes") + stat_get(st, "kv_buffer.write_bytes"),
		          stat_get(st, "kv_buffer.hit_bytes") + stat_get(st, "kv_buffer.fill_bytes") +
		                  stat_get(st, "kv_buffer.spill_read_bytes") +
		                  stat_get(st, "kv_buffer.spill_write_bytes"));
		CHECK(stat_get(st, "kv_buffer.resident_bytes") <= s.kc.size);
		CHECK(stat_get(st, "l2.resident_bytes") <= s.lc.size + s.lc.victim);
		CHECK(stat_get(st, "l2.dirty_bytes") <= stat_get(st, "l2.resident_bytes"));
		/* without a victim cache, a policy that bypasses, a second partition they are not counted */
		CHECK(stat_get_or(st, "l2.victim_hit_bytes", 0) <= stat_get(st, "l2.hit_bytes"));
		CHECK(stat_get_or(st, "l2.bypassed_bytes", 0) <= stat_get(st, "l2.fill_bytes"));
		/* every byte taken in is here or has left */
		CHECK_U64(stat_get(st, "l2.miss_bytes"),
		          stat_get(st, "l2.resident_bytes") + stat_get(st, "l2.evicted_bytes") +
		                  stat_get_or(st, "l2.bypassed_bytes", 0) + stat_get(st, "kv_buffer.fill_bytes"));
		CHECK(stat_get(st, "l2.resident_bytes") + stat_get_or(st, "l2.copy_bytes", 0) <=
		      s.lc.size + s.lc.victim);
		CHECK(stat_get_or(st, "l2.copy_hit_bytes", 0) <= stat_get(st, "l2.hit_bytes"));
		/* a copy may outlive its line at home, but nothing else is here */
		CHECK(s.l2->ops->resident(s.l2, 0, 1 << 25) >= stat_get(st, "l2.resident_bytes"));
		CHECK(s.l2->ops->resident(s.l2, 0, 1 << 25) <=
		      stat_get(st, "l2.resident_bytes") + stat_get_or(st, "l2.copy_bytes", 0));
		for (size_t k = 0; k < n; k++) {
			CHECK(asks[k].rq.hit_bytes <= asks[k].rq.bytes);
			if (!asks[k].rq.write)
				CHECK(asks[k].rq.dram_bytes <= asks[k].rq.bytes);
			dram_bytes += asks[k].rq.dram_bytes;
		}
		CHECK_U64(dram_bytes, stat_get(st, "dram.read_bytes"));
		free(asks);
		stack_down(&s);
	}
}

TEST(nothing_is_answered_before_its_bytes_can_be_there)
{
	struct rng g;

	/* All read the same small place at once: whoever hits bytes under way ends no earlier than who fetches them. */
	rng_seed(&g, test_seed(), "early");
	for (int i = 0; i < ROUNDS; i++) {
		struct stack s;
		struct bed_ask *asks;
		ps_t fetched[512] = { 0 };
		const size_t n = 60;

		stack_up(&s, &g);
		asks = calloc(n, sizeof *asks);
		CHECK(asks);
		for (size_t k = 0; k < n; k++) {
			uint64_t addr = pick(&g, 0, 255) * 128, bytes = pick(&g, 1, 256) * 128;

			bed_ask1(&s.b, &asks[k], addr, bytes, false);
			asks[k].rq.cls = MEM_ACTIVATION;
		}
		bed_stream(&s.b, s.top, asks, n, n);
		/* In the order of asking: the first to ask for a line fetches it, as long as nothing is evicted. */
		for (size_t k = 0; k < n && stat_get(s.b.stats, "l2.evicted_bytes") == 0; k++)
			for (uint64_t line = asks[k].rq.runs->addr / 128;
			     line < asks[k].rq.runs->addr / 128 + asks[k].rq.bytes / 128; line++) {
				if (!fetched[line])
					fetched[line] = asks[k].rq.t_dram_done;
				CHECK(asks[k].back >= fetched[line] + s.lc.latency);
			}
		free(asks);
		stack_down(&s);
	}
}

SUITE(p_memory, T(nothing_beats_the_peak_and_no_byte_is_lost),
      T(faster_is_never_slower_by_more_than_two_rows_with_requests_at_the_same_times),
      T(faster_is_never_slower_by_half_a_percent_behind_a_window), T(bursts_moved_are_the_bursts_touched),
      T(bytes_are_conserved_from_the_cores_to_the_pins), T(nothing_is_answered_before_its_bytes_can_be_there));
