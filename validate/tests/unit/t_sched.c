/* t_sched.c - serving by closed forms, and what holds of every run: over a machine whose steps' times are a formula. */
#include "sim/serve/sched.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/serve/cost.h"
#include "sim/serve/latency.h"
#include "validate/tests/test.h"

#define MS PS_MS

/* 5 ms, 100 us a sequence, 1 us a thousand cached tokens, 20 us a token of a prompt; it looks on as it goes. */
struct toy {
	const struct sched_policy *p;
	uint64_t steps, moves, most_blocks;
	bool alone; /* no step has prompts and others */
};

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

static void toy_seen(void *ctx, const struct sched_step *s, const struct sched_tick *t)
{
	struct toy *x = ctx;
	uint64_t tokens = 0;

	x->steps += s->seqs || s->n_pieces;
	if (t->blocks > x->most_blocks)
		x->most_blocks = t->blocks;
	CHECK(t->blocks <= x->p->blocks);
	CHECK(s->seqs + s->n_pieces <= x->p->max_batch);
	CHECK(s->seqs + s->n_pieces > 0 || (t->time && x->p->preempt == SCHED_SWAP)); /* blocks are moved */
	x->moves += !s->seqs && !s->n_pieces;
	for (uint32_t i = 0; i < s->n_pieces; i++)
		tokens += s->pieces[i].tokens;
	CHECK_U64(tokens, s->prompt_tokens);
	CHECK(!x->p->chunk || tokens <= x->p->chunk);
	CHECK(!x->p->chunk || s->seqs * (1 + x->p->draft) + tokens <= x->p->max_tokens);
	x->alone = x->alone && !(s->seqs && s->n_pieces);
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

struct served {
	struct arrivals a;
	struct sched_result r;
	struct toy toy;
};

/* What holds of every run. */
static void invariants(const struct sched_policy *p, const struct served *x)
{
	sched_u128 in_system = 0, waits = 0;
	uint64_t outputs = 0, prompts = 0;

	for (size_t i = 0; i < x->a.n; i++) {
		const struct arrival *a = &x->a.v[i];
		const struct sched_request *r = &x->r.v[i];

		CHECK(p->loop ? r->at <= r->begun : r->at == a->at && r->at + p->request <= r->begun);
		CHECK(r->begun < r->first && r->first <= r->last && r->last <= x->r.end);
		in_system += r->last - r->at;
		waits += r->begun - r->at;
		outputs += a->output;
		prompts += a->prompt;
	}
	CHECK(x->r.in_system == in_system); /* Little's law, on the record */
	CHECK(x->r.preemptions || x->r.waiting == waits);
	CHECK(x->r.in_system == x->r.waiting + x->r.running);
	CHECK_U64(x->r.made, outputs);
	if (p->preempt == SCHED_SWAP || !x->r.preemptions)
		CHECK_U64(x->r.prompt_tokens + x->r.shared, prompts);
	else
		CHECK(x->r.prompt_tokens + x->r.found + x->r.shared > prompts);
	CHECK(p->prefix || (!x->r.found && !x->r.shared && !x->r.evicted));
	CHECK(x->r.shared % ARRIVE_PAGE == 0 && x->r.evicted % ARRIVE_PAGE == 0);
	CHECK(x->r.pages_peak * (ARRIVE_PAGE / p->block) <= p->blocks);
	CHECK(!p->loop || x->r.in_system <= (sched_u128)p->loop * x->r.end);
	CHECK(x->r.blocks_peak <= p->blocks);
	CHECK(x->r.blocks_peak >= x->toy.most_blocks);
	CHECK(x->r.blocks_peak == x->toy.most_blocks || x->r.preemptions); /* one grows, then another gives up */
	CHECK_U64(x->r.steps, x->toy.steps);
	CHECK_U64(x->r.steps, x->r.decode_steps + x->r.prompt_steps + x->r.mixed_steps);
	CHECK(x->r.worked <= x->r.busy && x->r.busy <= x->r.end);
	CHECK(!p->reserve_all || !x->r.preemptions);
}

static void serve(const struct sched_policy *p, const struct arrive_plan *plan, struct served *x)
{
	struct err e = ERR_INIT;

	*x = (struct served){ .toy = { .p = p, .alone = true } };
	CHECK_OK(arrive_make(plan, &x->a, &e), e);
	CHECK_OK(sched_check(p, &x->a, 0, NULL, &e), e);
	CHECK_OK(sched_run(p, &x->a, toy_cost, toy_seen, &x->toy, &x->r, &e), e);
	invariants(p, x);
}

static void drop(struct served *x)
{
	arrive_free(&x->a);
	sched_free(&x->r);
}

static struct arrive_plan plan(size_t n, ps_t gap, uint32_t prompt, uint32_t output)
{
	return (struct arrive_plan){ .n = n,
		                     .when = gap ? ARRIVE_CONSTANT : ARRIVE_AT_ONCE,
		                     .gap = gap,
		                     .prompt = { ARRIVE_FIXED, prompt, 0 },
		                     .output = { ARRIVE_FIXED, output, 0 } };
}

/* A list as a file has it. */
static void serve_text(const struct sched_policy *p, const char *text, struct served *x)
{
	struct input *in;
	struct err e = ERR_INIT;

	*x = (struct served){ .toy = { .p = p, .alone = true } };
	CHECK(in = input_mem(text, strlen(text), "r.csv", &e));
	CHECK_OK(arrive_read(in, &x->a, &e), e);
	input_free(in);
	CHECK_OK(sched_run(p, &x->a, toy_cost, toy_seen, &x->toy, &x->r, &e), e);
}

/* --- closed forms ------------------------------------------------------------------------------------------------------- */

/* Nobody meets another: two chunks, then a step a token over a cache that grows by one. */
TEST(slow_arrivals_take_what_one_request_takes)
{
	const struct sched_policy p = usual();
	const struct arrive_plan s = plan(5, 100000 * MS, 700, 11);
	const ps_t first = 2 * 5 * MS + 700 * 20 * PS_US, ten = 10 * (5 * MS + 100 * PS_US) + (10 * 700 + 45) * PS_NS;
	struct served x;

	serve(&p, &s, &x);
	for (size_t i = 0; i < 5; i++) {
		CHECK_U64(latency_one(LATENCY_TTFT, &x.a.v[i], &x.r.v[i]), first);
		CHECK_U64(latency_one(LATENCY_TPOT, &x.a.v[i], &x.r.v[i]), ten / 10);
		CHECK_U64(latency_one(LATENCY_TOTAL, &x.a.v[i], &x.r.v[i]), first + ten);
		CHECK_U64(latency_one(LATENCY_QUEUE, &x.a.v[i], &x.r.v[i]), 0);
		CHECK_U64(x.r.v[i].steps, 10);
	}
	CHECK_U64(x.r.steps, 5 * 12);
	CHECK_U64(x.r.mixed_steps, 0);
	drop(&x);
}

/* All are there, outputs are long: a full batch a step. What is off is the filling and the draining. */
TEST(a_full_server_makes_a_batch_a_step)
{
	const struct sched_policy p = usual();
	const struct arrive_plan s = plan(320, 0, 16, 1000);
	const double step = (double)(5 * MS + 16 * 100 * PS_US + (uint64_t)16 * 516 * PS_NS);
	struct served x;
	double ratio;

	serve(&p, &s, &x);
	ratio = (double)x.r.made / (double)x.r.end / (16 / step);
	CHECK(ratio > 0.98 && ratio <= 1.001);
	CHECK_U64(x.r.batch_peak, 16);
	drop(&x);
}

/* By arrival, not by length. */
TEST(nobody_overtakes)
{
	struct sched_policy p = usual();
	struct arrive_plan s = plan(200, 3 * MS, 1, 50);
	struct served x;

	p.blocks = 200;
	s.prompt = (struct arrive_length){ ARRIVE_UNIFORM, 1, 2000 };
	serve(&p, &s, &x);
	for (size_t i = 1; i < x.a.n; i++)
		CHECK(x.r.v[i - 1].begun <= x.r.v[i].begun);
	drop(&x);
}

TEST(prompts_that_are_computed_whole_have_steps_of_their_own)
{
	struct sched_policy p = usual();
	const struct arrive_plan s = plan(50, 20 * MS, 3000, 30);
	struct served whole, chunked;

	serve(&p, &s, &chunked);
	p.chunk = 0;
	serve(&p, &s, &whole);
	CHECK(whole.toy.alone && !chunked.toy.alone);
	CHECK_U64(whole.r.mixed_steps, 0);
	CHECK_U64(whole.r.prompt_steps, 50); /* each longer than a step: one alone */
	drop(&whole);
	drop(&chunked);
}

/* --- memory ---------------------------------------------------------------------------------------------------------------- */

/* Eight of 200 + 400 tokens grow to 304 blocks, where there are 120. */
TEST(who_came_last_gives_up_its_blocks)
{
	struct sched_policy p = usual();
	const struct arrive_plan s = plan(8, 0, 200, 400);
	struct served again, moved, reserved, roomy;

	serve(&p, &s, &roomy);
	CHECK_U64(roomy.r.preemptions, 0);
	CHECK_U64(roomy.r.blocks_peak, 8 * 38 - 8 * 0);
	p.blocks = 120;
	serve(&p, &s, &again);
	CHECK(again.r.preemptions > 0 && again.r.recomputed > 0 && again.r.swapped_bytes == 0);
	CHECK_U64(again.r.v[0].preempted, 0);
	CHECK_U64(again.r.prompt_tokens,
	          8 * 200 + again.r.recomputed + again.r.preemptions); /* and the newest token of each */
	p.preempt = SCHED_SWAP;
	serve(&p, &s, &moved);
	CHECK(moved.r.preemptions > 0 && moved.r.recomputed == 0 && moved.r.swapped_bytes > 0);
	CHECK(moved.r.busy > moved.r.worked);
	p.reserve_all = true;
	serve(&p, &s, &reserved);
	CHECK_U64(reserved.r.preemptions, 0);
	CHECK_U64(reserved.r.batch_peak, 3); /* 38 blocks each */
	CHECK(roomy.r.end <= again.r.end && roomy.r.end <= moved.r.end && roomy.r.end <= reserved.r.end);
	drop(&roomy);
	drop(&again);
	drop(&moved);
	drop(&reserved);
}

/* Of who gave up, blocks that nobody took are found again, and only what is not is computed; it ends no later. */
TEST(blocks_that_were_given_up_are_found_again)
{
	struct sched_policy p = usual();
	const struct arrive_plan s = plan(8, 0, 200, 400);
	struct served without, with;

	p.blocks = 120;
	serve(&p, &s, &without);
	p.prefix = true;
	serve(&p, &s, &with);
	CHECK(with.r.found > 0 && with.r.found % p.block == 0);
	CHECK(with.r.prompt_tokens < without.r.prompt_tokens && with.r.end < without.r.end);
	CHECK_U64(with.r.prompt_tokens, 8 * 200 + with.r.recomputed + with.r.preemptions);
	drop(&with);
	drop(&without);
}

/* --- prefixes that requests share ------------------------------------------------------------------------------------------ */

/* Of four pages the second request has two, the third all: of these three, as its last token is computed; the fourth has none. */
TEST(pages_that_others_computed_are_found)
{
	struct sched_policy p = usual();
	struct served x;
	const char *list = "arrival_s,prompt,output,hash_ids\n0,2048,4,10 11 12 13\n10,2048,4,10 11 8 9\n"
			   "20,2048,4,10 11 12 13\n30,2048,4,15 16 17 18\n40,2100,4,10 11 12 13 77\n50,300,4,10\n";

	serve_text(&p, list, &x);
	CHECK_U64(x.r.shared, 0);
	CHECK_U64(x.r.prompt_tokens, 4 * 2048 + 2100 + 300);
	drop(&x);
	p.prefix = true;
	serve_text(&p, list, &x);
	CHECK_U64(x.r.shared, 1024 + 1536 + 0 + 2048 + 0);
	CHECK_U64(x.r.evicted, 0);
	CHECK_U64(x.r.pages_peak, 10);
	CHECK_U64(x.r.v[2].first - x.r.v[2].at, 5 * MS + 512 * 20 * PS_US);
	drop(&x);
}

/* 65 blocks a request, a page 32 of them. Of 97 the second takes 32 of nobody's, the first's own one and its second page; the third finds
 * the first page, and takes the second's own block and its last page. Of 130 only what was free longest goes, of 200 nothing. */
TEST(pages_go_when_blocks_are_short)
{
	static const struct {
		uint64_t blocks, evicted;
	} of[] = { { 97, 1024 }, { 130, 512 }, { 200, 0 } };
	const char *list = "arrival_s,prompt,output,hash_ids\n0,1024,1,1 2\n10,1024,1,3 4\n20,1024,1,1 2\n";
	struct sched_policy p = usual();
	struct served x;

	p.prefix = true;
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		p.blocks = of[i].blocks;
		serve_text(&p, list, &x);
		CHECK_U64(x.r.evicted, of[i].evicted);
		CHECK_U64(x.r.shared, 512);
		drop(&x);
	}
}

/* Two at a time that compute the same pages have them once in the end, and one after the other never waits longer for what is found. */
TEST(pages_computed_twice_are_kept_once)
{
	struct sched_policy p = usual();
	struct served twice, alone;
	const char *list = "prompt,output,hash_ids\n1500,30,1 2 3\n1500,30,1 2 3\n1500,30,1 2 3\n";

	p.prefix = true;
	p.max_tokens = 4096;
	p.chunk = 4096;
	serve_text(&p, list, &twice);
	CHECK_U64(twice.r.pages_peak, 2);
	CHECK_U64(twice.r.shared, 0); /* they came at once, in one step */
	CHECK_U64(twice.r.blocks_peak, 3 * 94);
	p.loop = 1;
	serve_text(&p, list, &alone);
	CHECK_U64(alone.r.shared, 2 * 1024);
	CHECK(alone.r.v[1].first - alone.r.v[1].at < alone.r.v[0].first - alone.r.v[0].at);
	drop(&twice);
	drop(&alone);
}

/* --- who comes when another leaves, and the host ---------------------------------------------------------------------------- */

/* A loop of one is requests one after the other, each as if it were alone; of four, three wait for nobody and the server is full. */
TEST(a_closed_loop_has_so_many_at_a_time)
{
	struct sched_policy p = usual();
	const struct arrive_plan s = plan(12, 0, 700, 11);
	const ps_t alone = 2 * 5 * MS + 700 * 20 * PS_US + 10 * (5 * MS + 100 * PS_US) + (10 * 700 + 45) * PS_NS;
	struct served x;

	p.loop = 1;
	serve(&p, &s, &x);
	CHECK_U64(x.r.end, 12 * alone);
	CHECK_U64(x.r.batch_peak, 1);
	CHECK_U64(x.r.v[11].at, x.r.v[10].last);
	drop(&x);
	p.loop = 4;
	serve(&p, &s, &x);
	CHECK_U64(x.r.batch_peak, 4);
	CHECK_U64(x.r.v[3].at, 0);
	CHECK(x.r.v[4].at > 0 && x.r.end < 12 * alone);
	drop(&x);
}

/* A host that works ahead is seen where it takes longer than the step; one that does not, in every step. */
TEST(the_host_is_waited_for)
{
	struct sched_policy p = usual();
	const struct arrive_plan s = plan(1, 0, 700, 11);
	struct served none, behind, ahead;

	serve(&p, &s, &none);
	p.overhead = MS;
	p.sequence = MS;
	p.request = 3 * MS;
	p.prompt_token = PS_US;
	serve(&p, &s, &behind);
	CHECK_U64(behind.r.end, none.r.end + 12 * 2 * MS + 3 * MS + 700 * PS_US);
	CHECK_U64(behind.r.v[0].first, none.r.v[0].first + 2 * 2 * MS + 3 * MS + 700 * PS_US);
	p.ahead = true;
	serve(&p, &s, &ahead);
	CHECK_U64(ahead.r.end, none.r.end + 3 * MS + 700 * PS_US);
	drop(&none);
	drop(&behind);
	drop(&ahead);
}

/* Every gap is in a class that holds it, at most a 512th wide; those of one request that is alone are its steps. */
TEST(gaps_between_tokens_are_their_steps)
{
	const struct sched_policy p = usual();
	const struct arrive_plan s = plan(1, 0, 700, 11);
	struct latency l;
	struct served x;
	struct err e = ERR_INIT;

	for (ps_t t = 0; t < PS_NEVER / 3; t += t / 7 + 1) {
		const uint32_t c = sched_gap_class(t);

		CHECK(c < SCHED_GAPS && sched_gap(c) <= t && t - sched_gap(c) <= t / 512);
	}
	serve(&p, &s, &x);
	CHECK_OK(latency_sum(&x.a, &x.r, &l, &e), e);
	CHECK_U64(l.itl.n, 10);
	CHECK(l.itl.p50 <= 5 * MS + 101 * PS_US && l.itl.p50 > 5 * MS);
	drop(&x);
}

/* --- speculation ------------------------------------------------------------------------------------------------------------ */

static ps_t with_accept(uint32_t ppm, const struct arrive_plan *s, uint32_t batch, double *tokens)
{
	struct sched_policy p = usual();
	struct served x;
	ps_t end;

	p.max_batch = batch;
	p.draft = 4;
	p.accept_ppm = ppm;
	p.seed = 3;
	serve(&p, s, &x);
	*tokens = (double)(x.r.accepted + x.r.checked / 4) / (double)(x.r.checked / 4);
	end = x.r.end;
	drop(&x);
	return end;
}

/* 1 + a + a^2 + a^3 + a^4 tokens a step; never slower with more of them. */
TEST(more_acceptance_is_never_slower)
{
	const struct arrive_plan alone = plan(40, 100000 * MS, 100, 300), full = plan(300, 0, 100, 300);
	ps_t before[2] = { PS_NEVER, PS_NEVER };

	for (uint32_t ppm = 0; ppm <= 1000000; ppm += 50000) {
		const double a = ppm / 1e6, want = 1 + a + a * a + a * a * a + a * a * a * a;
		double tokens;
		ps_t end = with_accept(ppm, &alone, 1, &tokens);

		CHECK(end <= before[0]);
		CHECK(tokens > 0.97 * want && tokens < 1.03 * want);
		before[0] = end;
		end = with_accept(ppm, &full, 16, &tokens);
		CHECK(end <= before[1]);
		before[1] = end;
	}
}

/* --- any policy, any list ----------------------------------------------------------------------------------------------------- */

/* The same list again: equals are served as without priorities, and of others holds what holds of every run. */
static void with_priorities(const struct sched_policy *p, const struct served *was, struct rng *r)
{
	struct served x = { .a = was->a };
	struct err e = ERR_INIT;

	x.a.priorities = true;
	for (int some = 0; some < 2; some++) {
		for (size_t i = 0; some && i < x.a.n; i++)
			x.a.v[i].priority = (uint32_t)rng_below(r, 3);
		x.toy = (struct toy){ .p = p, .alone = true };
		CHECK_OK(sched_run(p, &x.a, toy_cost, toy_seen, &x.toy, &x.r, &e), e);
		invariants(p, &x);
		CHECK(some || (memcmp(x.r.v, was->r.v, x.r.n * sizeof *x.r.v) == 0 && x.r.end == was->r.end));
		sched_free(&x.r);
	}
}

/* Prompts that go along a tree for a while: each page one of three that follow the page before. */
static void with_pages(struct arrivals *a, struct rng *r)
{
	struct err e = ERR_INIT;
	uint64_t ids[1000];
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		uint64_t at = 0;

		a->v[i].page = (uint32_t)n;
		a->v[i].pages = (a->v[i].prompt + ARRIVE_PAGE - 1) / ARRIVE_PAGE;
		for (uint32_t k = 0; k < a->v[i].pages; k++)
			ids[n++] = at = 3 * at + 1 + rng_below(r, 3);
	}
	CHECK(n <= 1000);
	CHECK_OK(arrive_pages(a, ids, n, &e), e);
}

/* Long prompts that share pages, of which some do not fit beside others. */
static void any_pages(struct rng *r)
{
	struct sched_policy p = usual();
	struct arrive_plan s = plan(1 + rng_below(r, 120), 0, 1, 1);
	struct served x = { .toy = { .p = &p, .alone = true } };
	struct err e = ERR_INIT;

	s.when = (enum arrive_when)rng_below(r, 3);
	s.gap = 1 + rng_below(r, 400 * MS);
	s.prompt = (struct arrive_length){ ARRIVE_UNIFORM, 1, 4000 };
	s.output = (struct arrive_length){ ARRIVE_UNIFORM, 1, 1 + (uint32_t)rng_below(r, 300) };
	s.seed = rng_u64(r);
	p.prefix = true;
	p.block = 1u << rng_below(r, 10);
	p.blocks = (4300 + p.block) / p.block + rng_below(r, 8000 / p.block + 1);
	p.max_batch = 1 + (uint32_t)rng_below(r, 20);
	p.chunk = rng_below(r, 4) ? 1 + (uint32_t)rng_below(r, 1500) : 0;
	p.preempt = (enum sched_preempt)rng_below(r, 2);
	p.reserve_all = rng_below(r, 3) == 0;
	p.loop = rng_below(r, 3) ? 0 : 1 + (uint32_t)rng_below(r, 20);
	CHECK_OK(arrive_make(&s, &x.a, &e), e);
	with_pages(&x.a, r);
	CHECK_OK(sched_check(&p, &x.a, 0, NULL, &e), e);
	CHECK_OK(sched_run(&p, &x.a, toy_cost, toy_seen, &x.toy, &x.r, &e), e);
	invariants(&p, &x);
	with_priorities(&p, &x, r);
	drop(&x);
}

TEST(what_holds_of_every_run_holds_of_shared_pages)
{
	struct rng r;

	rng_seed(&r, 2, "pages");
	for (int i = 0; i < 300; i++)
		any_pages(&r);
}

static void any(struct rng *r)
{
	struct sched_policy p = usual();
	struct arrive_plan s = plan(1 + rng_below(r, 120), 0, 1, 1);
	struct served x;

	s.when = (enum arrive_when)rng_below(r, 3);
	s.gap = 1 + rng_below(r, 40 * MS);
	s.prompt = (struct arrive_length){ ARRIVE_UNIFORM, 1, 1 + (uint32_t)rng_below(r, 900) };
	s.output = (struct arrive_length){ ARRIVE_UNIFORM, 1, 1 + (uint32_t)rng_below(r, 200) };
	s.seed = rng_u64(r);
	p.block = 1u << rng_below(r, 7);
	p.blocks = (1100 + p.block) / p.block + rng_below(r, 3000 / p.block + 1);
	p.max_batch = 1 + (uint32_t)rng_below(r, 40);
	p.draft = rng_below(r, 2) ? (uint32_t)rng_below(r, 6) : 0;
	p.accept_ppm = (uint32_t)rng_below(r, 1000001);
	p.chunk = rng_below(r, 4) ? 1 + (uint32_t)rng_below(r, 600) : 0;
	p.max_tokens = p.max_batch * (1 + p.draft) + (uint32_t)rng_below(r, 300);
	p.preempt = (enum sched_preempt)rng_below(r, 2);
	p.reserve_all = rng_below(r, 3) == 0;
	p.overhead = rng_below(r, 2) * MS;
	p.sequence = rng_below(r, 2) * PS_US;
	p.ahead = rng_below(r, 2);
	p.request = rng_below(r, 3) * MS;
	p.prompt_token = rng_below(r, 2) * PS_US;
	p.prefix = rng_below(r, 2);
	p.loop = rng_below(r, 3) ? 0 : 1 + (uint32_t)rng_below(r, 60);
	p.seed = s.seed;
	serve(&p, &s, &x);
	with_priorities(&p, &x, r);
	drop(&x);
}

TEST(what_holds_of_every_run_holds_of_any)
{
	struct rng r;

	rng_seed(&r, 1, "sched");
	for (int i = 0; i < 400; i++)
		any(&r);
}

/* Nobody gave a bound that does not hold: what was asked for has no end. */
TEST(what_takes_longer_than_a_clock_holds_is_asked_wrongly)
{
	struct sched_policy p = usual();
	const struct arrive_plan s = plan(8, 0, 200, 400);
	struct served x = { .toy = { .p = &p, .alone = true } };
	struct err e = ERR_INIT;

	p.blocks = 120;
	p.block_bytes = 1 << 20;
	p.preempt = SCHED_SWAP;
	p.swap_rate = 1;
	CHECK_OK(arrive_make(&s, &x.a, &e), e);
	CHECK(sched_run(&p, &x.a, toy_cost, toy_seen, &x.toy, &x.r, &e) == -1 && e.kind == ERR_USAGE);
	CHECK_HAS(e.msg, "more than 100 days to serve");
	CHECK_HAS(e.msg, "at 1e-09 GB/s");
	drop(&x);
}

TEST(what_cannot_be_served_is_said_before)
{
	struct arrival one = { .prompt = 1000, .output = 200, .line = 7 };
	struct arrivals a = { .v = &one, .n = 1 };
	struct sched_policy p = usual();
	struct err e = ERR_INIT;

	CHECK_OK(sched_check(&p, &a, 1200, "r.csv", &e), e);
	CHECK(sched_check(&p, &a, 1199, "r.csv", &e) < 0);
	CHECK_HAS(e.msg, "more than the 1199 that the model takes");
	CHECK_U64(e.line, 7);
	CHECK_STR(e.file, "r.csv");
	err_clear(&e);
	p.blocks = 74;
	CHECK(sched_check(&p, &a, 0, "r.csv", &e) < 0);
	CHECK_HAS(e.msg, "need 75 blocks of 16");
	err_clear(&e);
	p.draft = 50;
	p.max_tokens = 800;
	CHECK(sched_check(&p, &a, 0, NULL, &e) < 0);
	CHECK_HAS(e.msg, "does not hold 16 sequences of 51");
}

static void refused(struct sched_policy p, const char *part)
{
	struct arrival one = { .prompt = 10, .output = 20, .line = 1 };
	const struct arrivals a = { .v = &one, .n = 1 };
	struct err e = ERR_INIT;

	CHECK(sched_check(&p, &a, 0, NULL, &e) < 0 && e.kind == ERR_USAGE);
	CHECK_HAS(e.msg, part);
}

/* A move of all time and a step beside it were a moment, added up. */
TEST(what_swaps_until_the_end_of_time_is_told)
{
	struct sched_policy p = usual();
	const struct arrive_plan s = plan(8, 0, 100, 200);
	struct sched_result r = { .v = NULL };
	struct arrivals a;
	struct err e = ERR_INIT;

	p.preempt = SCHED_SWAP;
	p.swap_rate = 1;
	p.block_bytes = 1 << 30;
	p.blocks = 40;
	CHECK_OK(arrive_make(&s, &a, &e), e);
	CHECK_OK(sched_check(&p, &a, 0, NULL, &e), e);
	CHECK(sched_run(&p, &a, toy_cost, NULL, NULL, &r, &e) < 0 && e.kind == ERR_USAGE);
	CHECK_HAS(e.msg, "more than 100 days");
	sched_free(&r);
	arrive_free(&a);
}

TEST(a_policy_that_cannot_be_is_refused)
{
	struct sched_policy p = usual();

	p.max_batch = 0;
	refused(p, "a batch of 0");
	p.max_batch = SCHED_BATCH + 1;
	refused(p, "a batch of 65537");
	p = usual();
	p.draft = SCHED_DRAFT + 1;
	refused(p, "65 drafted tokens");
	p = usual();
	p.chunk = ARRIVE_TOKENS + 1;
	refused(p, "of prompts: it is");
	p = usual();
	p.preempt = SCHED_SWAP;
	p.swap_rate = 0;
	refused(p, "nothing is swapped");
	p = usual();
	p.block_bytes = UINT64_MAX / p.blocks;
	refused(p, "beyond any memory");
	p = usual();
	p.accept_ppm = 1000001;
	refused(p, "between 0 and 1");
	p = usual();
	p.block = 12;
	refused(p, "no power of two");
}

/* --- latency -------------------------------------------------------------------------------------------------------------------- */

TEST(percentiles_are_values_that_were_seen)
{
	struct arrival a[200];
	struct sched_request r[200];
	const struct arrivals list = { .v = a, .n = 200 };
	const struct sched_result result = { .v = r, .n = 200 };
	struct err e = ERR_INIT;
	struct latency l;

	for (uint32_t i = 0; i < 200;
	     i++) { /* 1 to 200 ms to the first token, 2 ms a token after it; one in two has no other */
		a[i] = (struct arrival){ .at = i, .prompt = 1, .output = i % 2 ? 11 : 1, .line = i };
		r[i] = (struct sched_request){
			.at = i, .begun = i, .first = i + (200 - i) * MS, .last = i + (200 - i) * MS
		};
		r[i].last += i % 2 ? 20 * MS : 0;
	}
	CHECK_OK(latency_sum(&list, &result, &l, &e), e);
	CHECK_U64(l.of[LATENCY_TTFT].p50, 100 * MS);
	CHECK_U64(l.of[LATENCY_TTFT].p95, 190 * MS);
	CHECK_U64(l.of[LATENCY_TTFT].p99, 198 * MS);
	CHECK_U64(l.of[LATENCY_TTFT].max, 200 * MS);
	CHECK_U64(l.of[LATENCY_TTFT].mean, 100 * MS + MS / 2);
	CHECK_U64(l.of[LATENCY_TPOT].n, 100);
	CHECK_U64(l.of[LATENCY_TPOT].p50, 2 * MS);
	CHECK_U64(l.of[LATENCY_QUEUE].max, 0);
	CHECK_U64(latency_within(&list, &result, 50 * MS, 0), 50);
	CHECK_U64(latency_within(&list, &result, 50 * MS, MS), 25);
}

/* --- the table of costs ------------------------------------------------------------------------------------------------------------ */

struct counter {
	uint64_t points, calls;
	bool exact;
};

/* A machine that is linear but for attention of a prompt: pairs of query and key. */
static int machine(void *ctx, const struct cost_point *p, size_t n, struct cost_seen *out, struct err *e)
{
	struct counter *c = ctx;

	(void)e;
	c->calls++;
	for (size_t i = 0; i < n; i++) {
		struct cost_seen *x = &out[i];

		c->points++;
		*x = (struct cost_seen){ .time = 1000000 + 1000 * (uint64_t)p[i].seqs * p[i].queries +
			                         p[i].seqs * p[i].context };
		for (uint32_t k = 0; k < p[i].n_pieces; k++) {
			x->time += 1000 * (uint64_t)p[i].pieces[k].tokens;
			x->attention += 10 * (uint64_t)p[i].pieces[k].tokens * p[i].pieces[k].context;
		}
		x->time += x->attention;
		x->energy_fj = 2 * x->time;
		x->attention_fj = 2 * x->attention;
	}
	return 0;
}

/* Of what is linear in batch, context, tokens of prompts and pairs nothing is lost; each point is simulated once. */
TEST(steps_between_points_are_on_the_lines_between_them)
{
	struct err e = ERR_INIT;
	struct counter c = { 0, 0, false };
	struct cost_table *t = cost_new(3, false, machine, &c, &e);
	struct rng r;
	uint64_t before;

	rng_seed(&r, 1, "cost");
	for (int i = 0; i < 3000; i++) {
		struct sched_piece piece[3];
		struct sched_step s = { .seqs = (uint32_t)rng_below(&r, 60),
			                .pieces = piece,
			                .n_pieces = (uint32_t)rng_below(&r, 4) };
		struct sched_cost got, want;
		struct cost_point p = { s.seqs, 3, 0, piece, s.n_pieces };
		struct cost_seen x;

		p.context = rng_below(&r, 5000);
		s.context_sum = p.context * s.seqs;
		for (uint32_t k = 0; k < s.n_pieces; k++) {
			piece[k] =
				(struct sched_piece){ 1 + (uint32_t)rng_below(&r, 300), (uint32_t)rng_below(&r, 3000) };
			s.prompt_tokens += piece[k].tokens;
		}
		if (!s.seqs && !s.n_pieces)
			continue;
		CHECK_OK(cost_of(t, &s, &got, &e), e);
		before = c.points;
		machine(&c, &p, 1, &x, &e);
		c.points = before;
		want = (struct sched_cost){ x.time, x.energy_fj };
		CHECK(got.time + 20 > want.time && got.time < want.time + 20); /* divisions round down, once a line */
		CHECK(got.energy_fj + 40 > want.energy_fj && got.energy_fj < want.energy_fj + 40);
	}
	CHECK_U64(c.points, cost_simulated(t));
	CHECK(c.points < 400);
	cost_free(t);
}

TEST(an_exact_table_simulates_what_differs_and_nothing_twice)
{
	struct err e = ERR_INIT;
	struct counter c = { 0, 0, true };
	struct cost_table *t = cost_new(1, true, machine, &c, &e);
	struct sched_cost x;

	for (uint64_t i = 0; i < 1000; i++) {
		const struct sched_step s = { .seqs = 4, .context_sum = 4 * (i % 50) };

		CHECK_OK(cost_of(t, &s, &x, &e), e);
		CHECK_U64(x.time, 1000000 + 4000 + 4 * (i % 50));
	}
	CHECK_U64(c.points, 50);
	cost_free(t);
}

/* One at a time: the urgent one is next, though others came before it, and equals stay in order. */
TEST(less_is_let_in_first)
{
	struct sched_policy p = usual();
	struct served x;
	static const uint32_t order[] = { 0, 3, 1, 2 };

	p.max_batch = 1;
	serve_text(&p, "arrival_s,prompt,output,priority\n0,100,5,9\n0.001,100,5,5\n0.002,100,5,5\n0.003,100,5,0\n",
	           &x);
	invariants(&p, &x);
	for (int i = 0; i < 3; i++)
		CHECK(x.r.v[order[i]].last <= x.r.v[order[i + 1]].begun);
	drop(&x);
}

/* It was let in first; it gives up its blocks all the same, and one that matters more and came meanwhile goes before it. */
TEST(who_matters_least_gives_up_its_blocks)
{
	struct sched_policy p = usual();
	struct served x;

	p.blocks = 16;
	for (int k = 0; k < 2; k++) {
		p.preempt = k ? SCHED_SWAP : SCHED_RECOMPUTE;
		serve_text(&p, "arrival_s,prompt,output,priority\n0,100,60,9\n0.001,100,60,0\n0.16,120,60,5\n", &x);
		invariants(&p, &x);
		CHECK(x.r.v[0].preempted > 0 && !x.r.v[1].preempted && !x.r.v[2].preempted);
		CHECK(x.r.v[1].last <= x.r.v[2].begun && x.r.v[2].last < x.r.v[0].last);
		drop(&x);
		serve_text(&p, "arrival_s,prompt,output\n0,100,60\n0.001,100,60\n0.16,100,60\n", &x);
		CHECK(!x.r.v[0].preempted && x.r.v[1].preempted > 0 && x.r.v[1].last <= x.r.v[2].last);
		drop(&x);
	}
}

/* Who waits leaves from the queue, who is served after the step that it is in; what they had is free, and nothing of them is counted
 * among latencies. */
TEST(clients_that_leave_are_served_no_more)
{
	struct sched_policy p = usual();
	struct latency l;
	struct served x, all;
	struct err e = ERR_INIT;

	p.max_batch = 2;
	serve_text(
		&p,
		"arrival_s,prompt,output,gives_up_ms\n0,100,50,\n0,100,50,60\n0,100,50,20\n0,100,50,\n1000,100,50,1\n",
		&x);
	CHECK_U64(x.r.gone, 3);
	CHECK(x.r.v[1].gone && x.r.v[2].gone && x.r.v[4].gone && !x.r.v[0].gone && !x.r.v[3].gone);
	CHECK(!x.r.v[2].begun && x.r.v[2].last >= 20 * MS && x.r.v[2].last < 40 * MS);
	CHECK(x.r.v[1].first && x.r.v[1].last >= 60 * MS && x.r.v[1].last < 70 * MS);
	CHECK(x.r.v[3].begun >= x.r.v[1].last && x.r.v[3].begun < x.r.v[0].last); /* its place is free */
	CHECK(x.r.made >= 100 && x.r.made < 150);
	CHECK_OK(latency_sum(&x.a, &x.r, &l, &e), e);
	CHECK_U64(l.of[LATENCY_TTFT].n, 2);
	CHECK_U64(l.of[LATENCY_TOTAL].n, 2);
	CHECK_U64(latency_within(&x.a, &x.r, 0, 0), 2);
	drop(&x);

	serve_text(&p, "arrival_s,prompt,output,gives_up_ms\n0,100,50,1000000\n0,100,50,\n", &all);
	invariants(&p, &all);
	CHECK_U64(all.r.gone, 0);
	drop(&all);
}

/* Whoever comes back while nobody else has work: a step of moves alone, which is told. */
TEST(moves_alone_are_told)
{
	struct sched_policy p = usual();
	const struct arrive_plan s = plan(2, 0, 100, 60);
	struct served x;

	p.preempt = SCHED_SWAP;
	p.blocks = 16;
	serve(&p, &s, &x);
	CHECK(x.r.preemptions > 0 && x.toy.moves > 0);
	drop(&x);
}

SUITE(t_sched, T(slow_arrivals_take_what_one_request_takes), T(a_full_server_makes_a_batch_a_step), T(nobody_overtakes),
      T(prompts_that_are_computed_whole_have_steps_of_their_own), T(who_came_last_gives_up_its_blocks),
      T(blocks_that_were_given_up_are_found_again), T(pages_that_others_computed_are_found),
      T(pages_go_when_blocks_are_short), T(pages_computed_twice_are_kept_once),
      SLOW(what_holds_of_every_run_holds_of_shared_pages), T(a_closed_loop_has_so_many_at_a_time),
      T(the_host_is_waited_for), T(gaps_between_tokens_are_their_steps), T(more_acceptance_is_never_slower),
      T(what_holds_of_every_run_holds_of_any), T(what_takes_longer_than_a_clock_holds_is_asked_wrongly),
      T(what_cannot_be_served_is_said_before), T(what_swaps_until_the_end_of_time_is_told),
      T(a_policy_that_cannot_be_is_refused), T(percentiles_are_values_that_were_seen),
      T(steps_between_points_are_on_the_lines_between_them), T(an_exact_table_simulates_what_differs_and_nothing_twice),
      T(less_is_let_in_first), T(who_matters_least_gives_up_its_blocks), T(clients_that_leave_are_served_no_more),
      T(moves_alone_are_told));
