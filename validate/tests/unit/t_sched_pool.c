/* t_sched_pool.c - several machines: one of one pool is the scheduler alone, and what holds of any pools, over steps that are a formula. */
#include "sim/serve/sched_pool.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/serve/latency.h"
#include "validate/tests/test.h"

#define MS PS_MS

/* 5 ms, 100 us a sequence, 1 us a thousand cached tokens, 20 us a token of a prompt. */
static ps_t toy_time(const struct sched_step *s)
{
	return 5 * MS + s->seqs * 100 * PS_US + s->context_sum * PS_NS + s->prompt_tokens * 20 * PS_US;
}

static int toy_cost(void *ctx, const struct sched_step *s, struct sched_cost *out, struct err *e)
{
	(void)ctx;
	(void)e;
	*out = (struct sched_cost){ toy_time(s), s->seqs + s->prompt_tokens };
	return 0;
}

/* 1 ms, 10 us and 100 bytes a token. */
static void toy_move(void *ctx, uint32_t tokens, struct sched_move *out)
{
	(void)ctx;
	*out = (struct sched_move){ MS + tokens * 10 * PS_US, tokens * UINT64_C(100), tokens };
}

/* Steps as they were, to be held against what moved. */
struct seen {
	struct sched_tick v[100000];
	size_t n;
	bool decodes[SCHED_POOLS], prompts[SCHED_POOLS];
};

static void toy_seen(void *ctx, const struct sched_step *s, const struct sched_tick *t)
{
	struct seen *x = ctx;

	(void)s;
	if (x->n < sizeof x->v / sizeof *x->v)
		x->v[x->n++] = *t;
	x->decodes[t->pool] |= t->seqs > 0;
	x->prompts[t->pool] |= t->n_pieces > 0;
}

static struct sched_policy usual(void)
{
	return (struct sched_policy){ .max_batch = 16,
		                      .max_tokens = 2048,
		                      .chunk = 512,
		                      .block = 16,
		                      .blocks = 100000,
		                      .block_bytes = 1 << 20,
		                      .swap_rate = 32000000000 };
}

static struct sched_plan apart(struct seen *x, uint32_t fill, uint32_t decode)
{
	struct sched_plan p = { .pools = 2, .cost = toy_cost, .seen = x ? toy_seen : NULL, .move = toy_move };

	for (int i = 0; i < SCHED_POOLS; i++) {
		p.pool[i].policy = usual();
		p.pool[i].ctx = x;
		p.pool[i].policy.part = i ? SCHED_DECODES : SCHED_FILLS;
		p.pool[i].machines = i ? decode : fill;
	}
	return p;
}

static struct arrive_plan list(size_t n, ps_t gap, uint32_t prompt, uint32_t output)
{
	return (struct arrive_plan){ .n = n,
		                     .when = gap ? ARRIVE_CONSTANT : ARRIVE_AT_ONCE,
		                     .gap = gap,
		                     .prompt = { ARRIVE_FIXED, prompt, 0 },
		                     .output = { ARRIVE_FIXED, output, 0 } };
}

struct served {
	struct arrivals a;
	struct sched_pools x;
};

static void serve(const struct sched_plan *p, const struct arrive_plan *l, struct served *s)
{
	struct err e = ERR_INIT;

	CHECK_OK(arrive_make(l, &s->a, &e), e);
	for (uint32_t i = 0; i < p->pools; i++)
		CHECK_OK(sched_check(&p->pool[i].policy, &s->a, 0, NULL, &e), e);
	CHECK_OK(sched_pool_run(p, &s->a, &s->x, &e), e);
}

static void drop(struct served *s)
{
	arrive_free(&s->a);
	sched_pools_free(&s->x);
}

/* --- closed forms ------------------------------------------------------------------------------------------------------- */

/* A prompt where prompts are made, its cache's way, ten steps where others are. */
TEST(one_request_fills_here_moves_and_decodes_there)
{
	const struct sched_plan p = apart(NULL, 1, 1);
	const struct arrive_plan l = list(4, 100000 * MS, 700, 11);
	const ps_t first = 2 * 5 * MS + 700 * 20 * PS_US, move = MS + 7 * MS,
		   ten = 10 * (5 * MS + 100 * PS_US) + (10 * 700 + 45) * PS_NS;
	struct served s;

	serve(&p, &l, &s);
	for (size_t i = 0; i < 4; i++) {
		CHECK_U64(latency_one(LATENCY_TTFT, &s.a.v[i], &s.x.all.v[i]), first);
		CHECK_U64(s.x.way[i].to - s.x.way[i].from, move);
		CHECK_U64(latency_one(LATENCY_TOTAL, &s.a.v[i], &s.x.all.v[i]), first + move + ten);
	}
	CHECK_U64(s.x.moved_bytes, 4 * 700 * 100);
	CHECK_U64(s.x.moving, 4 * move);
	CHECK_U64(s.x.waiting, 0);
	CHECK_U64(s.x.machine[0].made, 4);
	CHECK_U64(s.x.machine[1].made, 40);
	drop(&s);
}

/* Two machines that get every other request do what one does with half of them. */
TEST(replicas_in_turn_are_each_a_server_of_its_own)
{
	const struct arrive_plan l = list(60, 7 * MS, 300, 20), half = list(30, 14 * MS, 300, 20);
	struct sched_plan p = { .pools = 1, .router = SCHED_ROBIN, .cost = toy_cost };
	struct sched_policy policy = usual();
	struct err e = ERR_INIT;
	struct sched_result r;
	struct arrivals a;
	struct served s;

	p.pool[0].policy = policy;
	p.pool[0].machines = 2;
	serve(&p, &l, &s);
	CHECK_OK(arrive_make(&half, &a, &e), e);
	CHECK_OK(sched_run(&policy, &a, toy_cost, NULL, NULL, &r, &e), e);
	CHECK_U64(s.x.machine[0].end, r.end);
	CHECK_U64(s.x.machine[0].busy, r.busy);
	for (size_t i = 0; i < 30; i++)
		CHECK_U64(s.x.all.v[2 * i].last, r.v[i].last);
	sched_free(&r);
	arrive_free(&a);
	drop(&s);
}

/* Of three requests at once, and two machines, the third goes to who is done first; in turn it waits for the first. */
TEST(the_router_looks_for_who_has_least)
{
	struct sched_plan p = { .pools = 1, .cost = toy_cost };
	struct err e = ERR_INIT;
	struct sched_pools x;
	struct arrival v[] = { { .at = 0, .prompt = 100, .output = 500 },
		               { .at = 0, .prompt = 100, .output = 2 },
		               { .at = 1000 * MS, .prompt = 100, .output = 2 } };
	const struct arrivals a = { .v = v, .n = 3 };

	p.pool[0].policy = usual();
	p.pool[0].machines = 2;
	for (int robin = 0; robin < 2; robin++) {
		p.router = robin ? SCHED_ROBIN : SCHED_LEAST;
		CHECK_OK(sched_pool_run(&p, &a, &x, &e), e);
		CHECK_U64(x.way[0].machine[0], 0);
		CHECK_U64(x.way[1].machine[0], 1);
		CHECK_U64(x.way[2].machine[0], robin ? 0 : 1);
		sched_pools_free(&x);
	}
}

/* --- priorities, and clients that leave -------------------------------------------------------------------------------------- */

static void serve_these(const struct sched_plan *p, struct arrival *v, size_t n, struct sched_pools *x)
{
	const struct arrivals a = { .v = v, .n = n, .priorities = true, .give_up = true };
	struct err e = ERR_INIT;

	for (uint32_t k = 0; k < p->pools; k++)
		CHECK_OK(sched_check(&p->pool[k].policy, &a, 0, NULL, &e), e);
	CHECK_OK(sched_pool_run(p, &a, x, &e), e);
}

/* Three that are filled in one step go on one by one, the least number first; of equals who came first. */
TEST(of_caches_that_wait_to_be_moved_the_least_number_is_first)
{
	struct sched_plan p = apart(NULL, 1, 1);
	struct sched_pools x;
	struct arrival v[] = { { .prompt = 100, .output = 9, .priority = 2 },
		               { .prompt = 100, .output = 9, .priority = 1 },
		               { .prompt = 100, .output = 9, .priority = 0 },
		               { .prompt = 100, .output = 9, .priority = 1 } };

	p.pool[1].policy.max_batch = 1;
	serve_these(&p, v, 4, &x);
	CHECK_U64(x.all.v[0].first, x.all.v[3].first);
	CHECK(x.all.v[2].last <= x.way[1].from && x.all.v[1].last <= x.way[3].from);
	CHECK(x.all.v[3].last <= x.way[0].from);
	CHECK_U64(x.all.gone, 0);
	sched_pools_free(&x);
}

/* Its way is gone to its end, and then both machines have room for the next, which there was none for. */
TEST(of_a_client_that_leaves_while_its_cache_moves_both_sides_are_free_then)
{
	struct sched_plan p = apart(NULL, 1, 1);
	const ps_t first = 2 * 5 * MS + 700 * 20 * PS_US, move = 8 * MS,
		   ten = 10 * (5 * MS + 100 * PS_US) + (10 * 700 + 45) * PS_NS;
	struct sched_pools x;
	struct arrival v[] = { { .prompt = 700, .output = 11, .gives_up = first + 1 * MS },
		               { .prompt = 700, .output = 11 } };

	p.pool[0].policy.blocks = p.pool[1].policy.blocks = 45; /* of one */
	serve_these(&p, v, 2, &x);
	CHECK_U64(x.all.gone, 1);
	CHECK(x.all.v[0].gone && !x.all.v[1].gone);
	CHECK_U64(x.all.v[0].first, first);
	CHECK_U64(x.way[0].to, first + move);
	CHECK_U64(x.all.v[0].last, first + move);
	CHECK_U64(x.all.v[1].begun, first + move);
	CHECK_U64(x.all.v[1].last, 2 * (first + move) + ten);
	CHECK_U64(x.machine[1].made, 10);
	CHECK_U64(x.moves, 2);
	sched_pools_free(&x);
}

/* One that waits for a place in the other's batch is never moved. */
TEST(a_client_that_leaves_before_its_cache_moves_frees_where_it_was_filled)
{
	struct sched_plan p = apart(NULL, 1, 1);
	struct sched_pools x;
	struct arrival v[] = { { .prompt = 100, .output = 200 },
		               { .prompt = 100, .output = 200, .gives_up = 100 * MS },
		               { .at = 200 * MS, .prompt = 100, .output = 2 } };

	p.pool[0].policy.blocks = 14; /* of two */
	p.pool[1].policy.max_batch = 1;
	serve_these(&p, v, 3, &x);
	CHECK(x.all.v[1].gone && x.all.v[1].last >= 100 * MS && x.all.v[1].last < 110 * MS);
	CHECK_U64(x.way[1].to, 0);
	CHECK_U64(x.all.v[2].first, 200 * MS + 5 * MS + 100 * 20 * PS_US);
	CHECK_U64(x.moves, 2);
	CHECK_U64(x.machine[0].gone, 0);
	CHECK_U64(x.machine[1].gone, 1);
	sched_pools_free(&x);
}

/* --- any policy, any list ----------------------------------------------------------------------------------------------------- */

static void any_policy(struct rng *r, struct sched_policy *p)
{
	p->block = 1u << rng_below(r, 7);
	p->blocks = (1100 + p->block) / p->block + rng_below(r, 3000 / p->block + 1);
	p->max_batch = 1 + (uint32_t)rng_below(r, 40);
	p->draft = rng_below(r, 2) ? (uint32_t)rng_below(r, 6) : 0;
	p->accept_ppm = (uint32_t)rng_below(r, 1000001);
	p->chunk = rng_below(r, 4) ? 1 + (uint32_t)rng_below(r, 600) : 0;
	p->max_tokens = p->max_batch * (1 + p->draft) + (uint32_t)rng_below(r, 300);
	p->preempt = (enum sched_preempt)rng_below(r, 2);
	p->reserve_all = rng_below(r, 3) == 0;
	p->overhead = rng_below(r, 2) * MS;
	p->sequence = rng_below(r, 2) * PS_US;
	p->ahead = rng_below(r, 2);
	p->request = rng_below(r, 3) * MS;
	p->prompt_token = rng_below(r, 2) * PS_US;
	p->prefix = rng_below(r, 2);
}

static struct arrive_plan any_list(struct rng *r)
{
	struct arrive_plan l = list(1 + rng_below(r, 120), 0, 1, 1);

	l.when = (enum arrive_when)rng_below(r, 3);
	l.gap = 1 + rng_below(r, 40 * MS);
	l.prompt = (struct arrive_length){ ARRIVE_UNIFORM, 1, 1 + (uint32_t)rng_below(r, 900) };
	l.output = (struct arrive_length){ ARRIVE_UNIFORM, 1, 1 + (uint32_t)rng_below(r, 200) };
	l.seed = rng_u64(r);
	return l;
}

TEST(one_pool_of_one_machine_is_the_scheduler_alone)
{
	struct rng r;

	rng_seed(&r, 2, "sched pool");
	for (int i = 0; i < 400; i++) {
		const struct arrive_plan l = any_list(&r);
		struct sched_plan p = { .pools = 1, .cost = toy_cost, .router = (enum sched_router)(i % 2) };
		struct err e = ERR_INIT;
		struct sched_result one;
		struct served s;

		p.pool[0] = (struct sched_plan_pool){ usual(), 1, NULL };
		any_policy(&r, &p.pool[0].policy);
		p.pool[0].policy.loop = rng_below(&r, 3) ? 0 : 1 + (uint32_t)rng_below(&r, 60);
		serve(&p, &l, &s);
		CHECK_OK(sched_run(&p.pool[0].policy, &s.a, toy_cost, NULL, NULL, &one, &e), e);
		CHECK(memcmp(one.v, s.x.all.v, s.a.n * sizeof *one.v) == 0);
		CHECK(memcmp(one.gaps, s.x.all.gaps, SCHED_GAPS * sizeof *one.gaps) == 0);
		free(s.x.all.v);
		free(s.x.all.gaps);
		s.x.all.v = one.v;
		s.x.all.gaps = one.gaps;
		CHECK(memcmp(&one, &s.x.all, sizeof one) == 0);
		drop(&s);
	}
}

/* Every token once, no time lost, a link has one cache at a time, and no step runs where copies stop it. */
static void invariants(const struct sched_plan *p, const struct served *s, const struct seen *seen)
{
	sched_u128 in_system = 0;
	uint64_t outputs = 0, bytes = 0, moves = 0;

	for (size_t i = 0; i < s->a.n; i++) {
		const struct arrival *a = &s->a.v[i];
		const struct sched_request *r = &s->x.all.v[i];
		const struct sched_way *w = &s->x.way[i];

		CHECK(r->at + p->pool[0].policy.request <= r->begun && r->begun < r->first && r->first <= r->last);
		CHECK(r->last <= s->x.all.end);
		in_system += r->last - r->at;
		outputs += a->output;
		if (a->output < 2)
			continue;
		moves++;
		bytes += a->prompt * UINT64_C(100);
		CHECK(w->from >= r->first && w->to == w->from + MS + a->prompt * 10 * PS_US && w->to < r->last);
		for (size_t k = 0; k < s->a.n; k++) {
			const struct sched_way *o = &s->x.way[k];

			if (k != i && s->a.v[k].output > 1)
				CHECK((w->machine[0] != o->machine[0] && w->machine[1] != o->machine[1]) ||
				      w->to <= o->from || o->to <= w->from);
		}
		for (size_t k = 0; p->pool[0].policy.stops && k < seen->n; k++) {
			const struct sched_tick *t = &seen->v[k];

			if (!t->pool && t->machine == w->machine[0])
				CHECK(t->start + t->time <= w->from || t->start >= w->to);
		}
	}
	CHECK(s->x.all.in_system == in_system);
	CHECK_U64(s->x.all.made, outputs);
	CHECK_U64(s->x.moves, moves);
	CHECK_U64(s->x.moved_bytes, bytes);
	CHECK(!seen->decodes[0] && (!seen->prompts[1] || s->x.all.preemptions));
	for (uint32_t k = 0; k < s->x.machines; k++)
		CHECK(s->x.machine[k].blocks_peak <= p->pool[k >= p->pool[0].machines].policy.blocks);
}

/* Of two pools; the i-th of several in turn. */
static struct sched_plan any_plan(struct seen *seen, int i, struct rng *r)
{
	const uint32_t fill = 1 + (uint32_t)rng_below(r, 4), decode = 1 + (uint32_t)rng_below(r, 4);
	struct sched_plan p = apart(seen, fill, decode);

	for (int k = 0; k < SCHED_POOLS; k++) {
		any_policy(r, &p.pool[k].policy);
		p.pool[k].policy.stops = i % 3 == 0;
	}
	p.pool[0].policy.draft = 0;
	p.pool[0].policy.loop = rng_below(r, 3) ? 0 : 1 + (uint32_t)rng_below(r, 60);
	p.router = (enum sched_router)(i % 2);
	return p;
}

TEST(what_holds_of_any_pools)
{
	struct seen *seen = malloc(sizeof *seen);
	struct rng r;

	rng_seed(&r, 3, "sched pool");
	for (int i = 0; i < 400 && seen; i++) {
		const struct arrive_plan l = any_list(&r);
		struct sched_plan p = any_plan(seen, i, &r);
		struct served s;

		seen->n = 0;
		memset(seen->decodes, 0, sizeof seen->decodes);
		memset(seen->prompts, 0, sizeof seen->prompts);
		serve(&p, &l, &s);
		CHECK(seen->n < sizeof seen->v / sizeof *seen->v);
		invariants(&p, &s, seen);
		drop(&s);
	}
	free(seen);
}

/* Each is answered or gone, no time is lost, and (asserted by the run) no block is kept; one machine is the scheduler alone. */
TEST(whoever_leaves_of_any_pools_leaves_nothing)
{
	struct rng r;

	rng_seed(&r, 4, "sched pool");
	for (int i = 0; i < 400; i++) {
		const struct arrive_plan l = any_list(&r);
		struct sched_plan p = any_plan(NULL, i, &r);
		sched_u128 in_system = 0;
		uint64_t gone = 0, outputs = 0;
		struct err e = ERR_INIT;
		struct sched_result one;
		struct served s;

		if (i % 4 == 0) {
			p.pools = p.pool[0].machines = 1;
			p.pool[0].policy.part = SCHED_WHOLE;
			p.pool[0].policy.stops = false;
		}
		CHECK_OK(arrive_make(&l, &s.a, &e), e);
		s.a.priorities = s.a.give_up = true;
		for (size_t k = 0; k < s.a.n; k++) {
			s.a.v[k].priority = (uint32_t)rng_below(&r, 3);
			s.a.v[k].gives_up = rng_below(&r, 2) ? 1 + rng_below(&r, 2000 * MS) : 0;
		}
		CHECK_OK(sched_pool_run(&p, &s.a, &s.x, &e), e);
		for (size_t k = 0; k < s.a.n; k++) {
			const struct sched_request *q = &s.x.all.v[k];

			CHECK(q->at <= q->last && q->last <= s.x.all.end);
			CHECK(q->gone ? s.a.v[k].gives_up && q->last >= q->at + s.a.v[k].gives_up : q->first > 0);
			gone += q->gone;
			outputs += q->gone ? 0 : s.a.v[k].output;
			in_system += q->last - q->at;
		}
		CHECK_U64(s.x.all.gone, gone);
		CHECK(s.x.all.in_system == in_system);
		CHECK(gone ? s.x.all.made >= outputs : s.x.all.made == outputs);
		if (p.pools == 1) {
			CHECK_OK(sched_run(&p.pool[0].policy, &s.a, toy_cost, NULL, NULL, &one, &e), e);
			CHECK(memcmp(one.v, s.x.all.v, s.a.n * sizeof *one.v) == 0);
			CHECK(one.end == s.x.all.end && one.gone == gone && one.in_system == in_system);
			sched_free(&one);
		}
		drop(&s);
	}
}

SUITE(t_sched_pool, T(one_request_fills_here_moves_and_decodes_there), T(replicas_in_turn_are_each_a_server_of_its_own),
      T(the_router_looks_for_who_has_least), T(of_caches_that_wait_to_be_moved_the_least_number_is_first),
      T(of_a_client_that_leaves_while_its_cache_moves_both_sides_are_free_then),
      T(a_client_that_leaves_before_its_cache_moves_frees_where_it_was_filled),
      T(one_pool_of_one_machine_is_the_scheduler_alone), T(what_holds_of_any_pools),
      T(whoever_leaves_of_any_pools_leaves_nothing));
