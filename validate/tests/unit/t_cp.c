/* Command processor, cores and DMA over a mock memory: exact picoseconds, order, accounting, no lock-up. */
#include "arch/npu/cp.h"
#include "sim/base/rng.h"
#include "validate/tests/test.h"

#include <stdlib.h>

#define GHZ 1000000
#define NS  PS_NS

/* A memory that answers after `latency`, holds `room` requests, and counts. */
struct mock {
	struct comp comp;
	ps_t latency;
	uint32_t room, held, refused, most;
	struct comp *waiting;
	uint64_t reads, writes, bytes;
	char order[64]; /* of reads and writes */
	struct ev ev[64];
	struct mem_req *req[64];
};

static void mock_answer(void *owner, struct ev *ev)
{
	struct mock *m = owner;
	struct mem_req *r = m->req[ev - m->ev];

	m->held--;
	r->from->ops->reply(r->from, r);
	if (m->waiting) {
		struct comp *w = m->waiting;

		m->waiting = NULL;
		w->ops->retry(w, &m->comp);
	}
}

static bool mock_send(struct comp *c, struct mem_req *r)
{
	struct mock *m = (struct mock *)c;
	int k = 0;

	if (m->held == m->room) {
		m->refused++;
		m->waiting = r->from;
		return false;
	}
	while (!ev_idle(&m->ev[k]))
		k++;
	m->held++;
	m->most = m->held > m->most ? m->held : m->most;
	if (m->reads + m->writes < sizeof m->order - 1)
		m->order[m->reads + m->writes] = r->write ? 'W' : 'R';
	m->reads += !r->write;
	m->writes += r->write;
	m->bytes += r->bytes;
	m->req[k] = r;
	r->t_level = r->not_before;
	evq_push(c->env.q, &m->ev[k], r->not_before + m->latency);
	return true;
}

static const struct comp_ops mock_ops = { .kind = "mock", .send = mock_send };

struct bed {
	struct evq *q;
	struct stat_reg *st;
	struct mock mem;
	struct cp *cp;
	struct err e;
	struct isa_prog p;
	struct isa_cmd cmd[64];
	struct isa_insn insn[256];
	uint32_t deps[256], members[64], succ[256], first_succ[65];
	struct isa_tensor tensor[8];
	struct cp_result res[64];
	uint32_t n_deps;
	struct dispatch_cfg d;
	struct dma_cfg dma;
	struct sram_cfg sram;
};

static void bed_up(struct bed *b)
{
	memset(b, 0, sizeof *b);
	b->q = evq_new();
	b->st = stat_new();
	b->mem.comp.ops = &mock_ops;
	b->mem.comp.env.q = b->q;
	b->mem.latency = 100 * NS;
	b->mem.room = 64;
	for (int i = 0; i < 64; i++)
		ev_init(&b->mem.ev[i], EV_REPLY, mock_answer, &b->mem);
	b->d = (struct dispatch_cfg){ .latency = 50 * NS,
		                      .interval = 10 * NS,
		                      .queue = 16,
		                      .batch = 1,
		                      .host = 1000 * NS,
		                      .branch = 30 * NS,
		                      .prefetch = true };
	b->dma = (struct dma_cfg){ .engines = 1, .width = 1024, .stages = 2, .outstanding = 32, .setup = 0 };
	b->sram = (struct sram_cfg){ .size = 1 << 20, .banks = 1, .bank_width = 1, .ports = 2 };
	b->p.cmds = b->cmd;
	b->p.insns = b->insn;
	b->p.deps = b->deps;
	b->p.members = b->members;
	b->p.tensors = b->tensor;
	b->p.succ = b->succ;
	b->p.first_succ = b->first_succ;
	b->p.n_tensors = 8;
	b->p.max_tile_moves = 4;
	for (int i = 0; i < 8; i++)
		b->tensor[i] = (struct isa_tensor){ .addr = (uint64_t)i << 30, .instances = 1 };
}

/* A command: `tiles` weight tiles of `bytes`, math of `span` a tile, after the commands in deps (ends with -1). */
static struct isa_cmd *cmd(struct bed *b, uint32_t tiles, uint64_t bytes, bool early, ps_t span, const int *deps)
{
	struct isa_cmd *c = &b->cmd[b->p.n_cmds];
	struct isa_insn *i = &b->insn[b->p.n_insns];

	*c = (struct isa_cmd){ .first_insn = (uint32_t)b->p.n_insns,
		               .n_insns = 2,
		               .first_dep = b->n_deps,
		               .tiles = tiles,
		               .batch = (uint32_t)b->p.n_cmds,
		               .routed_by = -1,
		               .slot_bytes = bytes,
		               .first_op = (uint32_t)b->p.n_cmds,
		               .n_ops = 1 };
	i[0] = (struct isa_insn){ .route = -1,
		                  .code = ISA_LOAD,
		                  .when = ISA_TILE,
		                  .bytes = bytes * tiles,
		                  .tile_bytes = bytes,
		                  .early = early };
	i[1] = (struct isa_insn){
		.code = ISA_GEMV, .when = ISA_TILE, .unit = RES_GEMV, .span = span, .span_last = span
	};
	for (; deps && *deps >= 0; deps++) {
		b->deps[b->n_deps++] = (uint32_t)*deps;
		c->n_deps++;
	}
	b->p.n_insns += 2;
	b->p.n_cmds++;
	return c;
}

/* The command made last stores so much in the end, and holds room for it all the while. */
static void stores(struct bed *b, struct isa_cmd *c, uint64_t bytes)
{
	b->insn[b->p.n_insns++] = (struct isa_insn){ .route = -1, .code = ISA_STORE, .when = ISA_POST, .bytes = bytes };
	c->n_insns++;
	c->fixed_bytes = bytes;
}

static int go(struct bed *b)
{
	struct comp_env env = { b->q, b->st, GHZ, &b->mem.comp, NULL };
	uint32_t at = 0;

	for (uint32_t d = 0; d < b->p.n_cmds; d++) {
		b->first_succ[d] = at;
		for (uint32_t i = 0; i < b->p.n_cmds; i++)
			for (uint32_t k = 0; k < b->cmd[i].n_deps; k++)
				if (b->deps[b->cmd[i].first_dep + k] == d)
					b->succ[at++] = i;
	}
	b->first_succ[b->p.n_cmds] = at;
	if (!b->cp && !(b->cp = cp_new(&env, &b->d, &b->dma, &b->sram, 1, 8, &b->e)))
		return -1;
	return cp_run(b->cp, &b->p, NULL, b->res, &b->e);
}

static void bed_down(struct bed *b)
{
	cp_free(b->cp);
	stat_free(b->st);
	evq_free(b->q);
}

TEST(one_tile_costs_dispatch_then_memory_then_math)
{
	struct bed b;

	bed_up(&b);
	cmd(&b, 1, 1024, false, 20 * NS, NULL);
	CHECK_OK(go(&b), b.e);
	CHECK_U64(b.res[0].span, (50 + 100 + 20) * NS);
	CHECK_U64(b.res[0].acc.stall[RES_DISPATCH], 50 * NS);
	CHECK_U64(b.res[0].acc.stall[RES_LATENCY], 100 * NS); /* nothing has a peak here */
	CHECK_U64(b.res[0].acc.stall[RES_GEMV], 20 * NS);
	bed_down(&b);
}

TEST(values_that_a_driver_lays_out_are_waited_for)
{
	struct bed b;

	bed_up(&b);
	b.d.layout = 1000000000;
	cmd(&b, 1, 1024, false, 20 * NS, NULL);
	cmd(&b, 1, 1024, false, 20 * NS, NULL);
	b.cmd[0].laid_out = 700; /* at a thousand million a second */
	CHECK_OK(go(&b), b.e);
	CHECK_U64(b.res[0].span, (50 + 700 + 100 + 20) * NS);
	CHECK_U64(b.res[0].acc.stall[RES_DISPATCH], (50 + 700) * NS);
	CHECK(b.res[1].span < 700 * NS); /* it has none */
	bed_down(&b);
}

TEST(a_program_without_commands_takes_no_time_before_and_after_one_with_some)
{
	struct bed b;
	size_t n;

	bed_up(&b);
	CHECK_OK(go(&b), b.e); /* the first: nothing is allocated yet */
	CHECK_U64(evq_now(b.q), 0);
	CHECK_U64(stat_get(b.st, "dispatch.commands"), 0);
	cmd(&b, 1, 1024, false, 20 * NS, NULL);
	CHECK_OK(go(&b), b.e);
	CHECK_U64(evq_now(b.q), (50 + 100 + 20) * NS);
	n = b.p.n_cmds;
	b.p.n_cmds = 0;
	CHECK_OK(go(&b), b.e);
	CHECK_U64(evq_now(b.q), (50 + 100 + 20) * NS);
	CHECK_U64(stat_get(b.st, "dispatch.commands"), n);
	bed_down(&b);
}

TEST(an_early_load_runs_while_the_dispatch_latency_does)
{
	struct bed b;

	bed_up(&b);
	cmd(&b, 1, 1024, true, 20 * NS, NULL);
	CHECK_OK(go(&b), b.e);
	CHECK_U64(b.res[0].span, (100 + 20) * NS);
	bed_down(&b);
}

TEST(double_buffering_overlaps_load_and_math_and_one_stage_does_not)
{
	for (uint32_t stages = 1; stages <= 2; stages++) {
		struct bed b;

		bed_up(&b);
		b.dma.stages = stages;
		cmd(&b, 4, 1024, false, 100 * NS, NULL);
		CHECK_OK(go(&b), b.e);
		/* one: 4 x (load + math); two: after the first load, a load hides behind the math of the other buffer
		 */
		CHECK_U64(b.res[0].span, stages == 1 ? (50 + 4 * 200) * NS : (50 + 100 + 4 * 100) * NS);
		bed_down(&b);
	}
}

TEST(a_dependent_waits_and_spans_sum_to_the_run)
{
	struct bed b;
	ps_t sum = 0;

	bed_up(&b);
	cmd(&b, 1, 1024, false, 20 * NS, NULL);
	cmd(&b, 1, 1024, false, 20 * NS, (int[]){ 0, -1 });
	CHECK_OK(go(&b), b.e);
	CHECK_U64(b.res[1].retired, 2 * (50 + 100 + 20) * NS);
	for (int i = 0; i < 2; i++) {
		ps_t s = 0;

		for (int k = 0; k < RES_COUNT; k++)
			s += b.res[i].acc.stall[k];
		CHECK_U64(s, b.res[i].span);
		sum += b.res[i].span;
	}
	CHECK_U64(sum, b.res[1].retired);
	bed_down(&b);
}

TEST(a_dependent_in_the_same_batch_starts_after_the_pipeline_only)
{
	struct bed b;

	bed_up(&b);
	cmd(&b, 1, 1024, false, 20 * NS, NULL);
	cmd(&b, 1, 1024, false, 20 * NS, (int[]){ 0, -1 })->batch = 0;
	CHECK_OK(go(&b), b.e);
	CHECK_U64(b.res[1].span, (8 + 100 + 20) * NS);
	bed_down(&b);
}

TEST(the_host_holds_back_what_comes_after_its_decision)
{
	struct bed b;

	bed_up(&b);
	cmd(&b, 1, 1024, false, 20 * NS, NULL)->sync = true;
	cmd(&b, 1, 1024, true, 20 * NS, NULL);
	CHECK_OK(go(&b), b.e);
	CHECK_U64(b.res[0].retired, (50 + 100 + 20 + 1000) * NS);
	CHECK_U64(b.res[0].acc.stall[RES_HOST], 1000 * NS);
	CHECK(b.res[1].dispatched >= b.res[0].retired);
	CHECK_U64(stat_get(b.st, "dispatch.round_trips"), 1);
	bed_down(&b);
}

TEST(a_branch_on_the_device_lets_later_commands_be_dispatched)
{
	struct bed b;

	bed_up(&b);
	b.d.dynamic = true;
	cmd(&b, 1, 1024, false, 20 * NS, NULL)->sync = true;
	cmd(&b, 1, 1024, true, 20 * NS, NULL);
	CHECK_OK(go(&b), b.e);
	CHECK_U64(b.res[0].retired, (50 + 100 + 20 + 30) * NS);
	CHECK(b.res[1].dispatched < b.res[0].retired);
	bed_down(&b);
}

TEST(a_refusing_memory_slows_but_loses_nothing)
{
	struct bed b;

	bed_up(&b);
	b.mem.room = 1;
	b.dma.stages = 8;
	cmd(&b, 16, 512, false, NS, NULL);
	CHECK_OK(go(&b), b.e);
	CHECK_U64(b.mem.reads, 16);
	CHECK_U64(b.mem.bytes, 16 * 512);
	CHECK_U64(b.mem.most, 1);
	CHECK(b.mem.refused > 0);
	CHECK_U64(b.res[0].span, (50 + 16 * 100 + 1) * NS);
	bed_down(&b);
}

TEST(sram_is_given_in_program_order_so_a_full_one_does_not_lock_up)
{
	struct bed b;

	bed_up(&b);
	b.sram.size = 4096;
	b.dma.stages = 4;
	/* the second may prefetch into all of SRAM, and must not before the first has what it needs */
	cmd(&b, 8, 2048, false, 10 * NS, NULL);
	cmd(&b, 8, 4096, true, 10 * NS, (int[]){ 0, -1 });
	cmd(&b, 8, 1024, true, 10 * NS, NULL);
	CHECK_OK(go(&b), b.e);
	CHECK_U64(b.mem.reads, 24);
	CHECK(stat_get(b.st, "sram.peak_bytes") <= 4096);
	bed_down(&b);
}

TEST(a_command_larger_than_sram_is_a_stuck_machine_that_says_why)
{
	struct bed b;

	bed_up(&b);
	b.sram.size = 1024;
	cmd(&b, 1, 4096, false, NS, NULL);
	CHECK(go(&b) < 0);
	CHECK_U64(b.e.kind, ERR_STUCK);
	CHECK_HAS(b.e.msg, "command 0");
	CHECK_HAS(b.e.msg, "sram");
	/* the machine is taken apart with a command in flight */
	bed_down(&b);
}

TEST(a_pinned_weight_is_loaded_in_the_first_pass_only)
{
	struct bed b;

	bed_up(&b);
	cmd(&b, 2, 1024, true, NS, NULL);
	b.insn[0].pinned = true;
	CHECK_OK(go(&b), b.e);
	CHECK_U64(b.mem.reads, 2);
	CHECK_OK(go(&b), b.e);
	CHECK_U64(b.mem.reads, 2);
	CHECK_U64(stat_get(b.st, "sram.pinned_hit_bytes"), 2048);
	bed_down(&b);
}

TEST(random_programs_end_account_for_all_their_time_and_repeat_exactly)
{
	struct rng r;

	rng_seed(&r, test_seed(), "programs");
	for (int round = 0; round < 200; round++) {
		uint64_t seed = rng_u64(&r);
		ps_t total[2];

		for (int again = 0; again < 2; again++) {
			struct bed b;
			struct rng g;
			ps_t sum = 0;

			bed_up(&b);
			rng_seed(&g, seed, "one");
			b.d.queue = 1 + (uint32_t)rng_below(&g, 8);
			b.dma.stages = 1 + (uint32_t)rng_below(&g, 4);
			b.dma.outstanding = 1 + (uint32_t)rng_below(&g, 8);
			b.mem.room = 1 + (uint32_t)rng_below(&g, 8);
			b.sram.size = 4096;
			for (int i = 0; i < 40; i++) {
				int deps[3] = { -1, -1, -1 };

				if (i && rng_below(&g, 2))
					deps[0] = (int)rng_below(&g, (uint64_t)i);
				cmd(&b, (uint32_t)rng_below(&g, 6), 1 + rng_below(&g, 4096), rng_below(&g, 2),
				    rng_below(&g, 50) * NS, deps)
					->sync = rng_below(&g, 10) == 0;
			}
			CHECK_OK(go(&b), b.e);
			for (int i = 0; i < 40; i++) {
				ps_t s = 0;

				for (int k = 0; k < RES_COUNT; k++)
					s += b.res[i].acc.stall[k];
				CHECK_U64(s, b.res[i].span);
				sum += b.res[i].span;
			}
			CHECK_U64(sum, b.res[39].retired);
			total[again] = sum;
			bed_down(&b);
		}
		CHECK_U64(total[0], total[1]);
	}
}

TEST(results_leave_before_what_is_fetched_ahead_into_their_tiles_room)
{
	struct bed b;

	bed_up(&b);
	b.sram.size = 4096;
	stores(&b, cmd(&b, 1, 2048, false, 20 * NS, NULL), 512);
	cmd(&b, 1, 3584, true, 20 * NS, (int[]){ 0, -1 });
	CHECK_OK(go(&b), b.e);
	CHECK_STR(b.mem.order, "RWR");
	bed_down(&b);
}

/* One descriptor of a kind. The first command's tiles are there at 100 and 200 ns and leave at 150 and 210, its result at
 * 310. Into their room the second fetches four tiles ahead, one after the other from 150 to 550; the fifth has room from
 * 310 on, is waited for, and so does not stand behind them. */
TEST(a_chained_command_waits_for_its_loads_from_the_moment_it_may_start)
{
	struct bed b;
	struct isa_cmd *c;

	bed_up(&b);
	b.d.latency = 0;
	b.dma.stages = 5;
	b.dma.outstanding = 1;
	b.sram.size = 1024 + 2 * 2048;
	c = cmd(&b, 2, 2048, false, 50 * NS, NULL);
	b.insn[1].span_last = 10 * NS;
	stores(&b, c, 1024);
	cmd(&b, 5, 1024, true, NS, (int[]){ 0, -1 })->chained = true;
	CHECK_OK(go(&b), b.e);
	CHECK_U64(b.res[0].retired, 310 * NS);
	CHECK_U64(b.res[1].retired, (550 + 1 + 1) * NS);
	bed_down(&b);
}

TEST(a_host_that_starts_commands_no_closer_than_its_floor_is_waited_for)
{
	struct bed b;

	bed_up(&b);
	b.d.floor = 1000 * NS;
	cmd(&b, 1, 1024, false, 40 * NS, NULL);
	cmd(&b, 1, 1024, false, 40 * NS, NULL);
	cmd(&b, 1, 1024, false, 3000 * NS, NULL);
	CHECK_OK(go(&b), b.e);
	CHECK_U64(b.res[0].retired, 1000 * NS);
	CHECK_U64(b.res[1].dispatched, 1000 * NS);
	CHECK_U64(b.res[1].retired, 2000 * NS);
	CHECK(b.res[1].acc.stall[RES_HOST] > 800 * NS);
	/* One that is longer is as long as it is, and follows another as soon as it may. */
	CHECK_U64(b.res[2].dispatched, 2000 * NS);
	CHECK_U64(b.res[2].retired, (2000 + 50 + 100 + 3000) * NS);
	bed_down(&b);
}

SUITE(t_cp, T(a_host_that_starts_commands_no_closer_than_its_floor_is_waited_for),
      T(one_tile_costs_dispatch_then_memory_then_math), T(values_that_a_driver_lays_out_are_waited_for),
      T(a_program_without_commands_takes_no_time_before_and_after_one_with_some),
      T(an_early_load_runs_while_the_dispatch_latency_does),
      T(double_buffering_overlaps_load_and_math_and_one_stage_does_not), T(a_dependent_waits_and_spans_sum_to_the_run),
      T(a_dependent_in_the_same_batch_starts_after_the_pipeline_only),
      T(the_host_holds_back_what_comes_after_its_decision), T(a_branch_on_the_device_lets_later_commands_be_dispatched),
      T(a_refusing_memory_slows_but_loses_nothing), T(sram_is_given_in_program_order_so_a_full_one_does_not_lock_up),
      T(a_command_larger_than_sram_is_a_stuck_machine_that_says_why),
      T(a_pinned_weight_is_loaded_in_the_first_pass_only),
      T(random_programs_end_account_for_all_their_time_and_repeat_exactly),
      T(results_leave_before_what_is_fetched_ahead_into_their_tiles_room),
      T(a_chained_command_waits_for_its_loads_from_the_moment_it_may_start));
