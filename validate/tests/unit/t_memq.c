/* t_memq.c - refused senders, and the pool of requests to the level below. */
#include "arch/mem/memq.h"
#include "validate/tests/membed.h"
#include "validate/tests/test.h"

/* clang-format off */
struct sender { struct comp comp; int retried; int order; struct line *line; };
/* clang-format on */
struct line {
	struct memq_wait w;
	struct comp self;
	int room, calls;
};

static bool line_room(const struct comp *c)
{
	const struct line *l = (const struct line *)(const void *)((const char *)c - offsetof(struct line, self));

	return l->room > 0;
}

static void retried(struct comp *c, struct comp *below)
{
	struct sender *s = (struct sender *)c;

	CHECK(below == &s->line->self);
	CHECK(memq_wait_turn(&s->line->w, c)); /* its turn, although others wait */
	s->retried++;
	s->order = ++s->line->calls;
	s->line->room--;
}

TEST(refused_senders_are_retried_in_order_once_each_as_room_comes)
{
	static const struct comp_ops ops = { .kind = "test_sender", .retry = retried };
	struct line l = { .room = 0 };
	struct sender s[3];

	for (int i = 0; i < 3; i++) {
		s[i] = (struct sender){ .comp = { .ops = &ops }, .line = &l };
		CHECK(i > 0 || memq_wait_turn(&l.w, &s[i].comp));
		memq_wait_add(&l.w, &s[i].comp);
		memq_wait_add(&l.w, &s[i].comp);          /* refused twice: still owed one */
		CHECK(!memq_wait_turn(&l.w, &s[i].comp)); /* newcomers and waiters alike */
	}
	memq_wait_wake(&l.w, &l.self, line_room);
	CHECK_U64(l.calls, 0);
	l.room = 2;
	memq_wait_wake(&l.w, &l.self, line_room);
	CHECK(s[0].order == 1 && s[1].order == 2 && s[2].retried == 0);
	l.room = 5;
	memq_wait_wake(&l.w, &l.self, line_room);
	CHECK(s[0].retried == 1 && s[1].retried == 1 && s[2].retried == 1);
	CHECK_U64(l.room, 4);
}

TEST(runs_that_touch_are_joined_and_a_full_request_says_so)
{
	struct bed b;
	struct err e = ERR_INIT;
	struct memq *q;
	struct memq_sub *s;

	bed_up(&b);
	CHECK((q = memq_new(&b.from.comp, &b.below.comp, 1, 0, &e)));
	CHECK((s = memq_take(q, MEMQ_ASK)));
	CHECK(!memq_take(q, MEMQ_ASK) && !memq_free_for(q, MEMQ_ASK));
	CHECK(memq_add(s, 0, 100) && memq_add(s, 100, 28));
	CHECK_U64(s->rq.n_runs, 1);
	for (uint64_t i = 1; i < MEMQ_RUNS; i++)
		CHECK(memq_add(s, i * 1000, 1));
	CHECK(!memq_add(s, 1, 1));
	CHECK(memq_add(s, (MEMQ_RUNS - 1) * 1000 + 1, 5));
	CHECK_U64(s->rq.bytes, 128 + MEMQ_RUNS - 1 + 5);
	memq_give(q, s);
	CHECK(memq_free_for(q, MEMQ_ASK));
	memq_free(q);
	memq_free(NULL);
	bed_down(&b);
}

TEST(what_somebody_waits_for_goes_before_write_backs)
{
	struct bed b;
	struct err e = ERR_INIT;
	struct memq *q;
	struct memq_sub *s;

	bed_up(&b);
	b.below.room = 0;
	CHECK((q = memq_new(&b.from.comp, &b.below.comp, 2, 2, &e)));
	for (int i = 0; i < 4; i++) {
		CHECK((s = memq_take(q, i < 2 ? MEMQ_POST : MEMQ_ASK)));
		CHECK(memq_add(s, (uint64_t)i * 1000, 64));
		s->rq.write = i < 2;
		memq_send(q, s);
	}
	CHECK_U64(b.below.refused, 1); /* and not asked again */
	CHECK_U64(memq_waiting(q, MEMQ_POST), 2);
	CHECK_U64(memq_waiting(q, MEMQ_ASK), 2);
	b.below.room = 9;
	b.below.waiting = NULL;
	memq_retry(q);
	CHECK_U64(b.below.n_log, 4);
	CHECK(b.below.log[0].addr == 2000 && b.below.log[1].addr == 3000 && b.below.log[2].addr == 0);
	CHECK(memq_free_for(q, MEMQ_POST) && !memq_free_for(q, MEMQ_ASK)); /* posted ones are back by themselves */
	memq_free(q);
	bed_down(&b);
}

/* In order among those as urgent. */
TEST(the_urgent_go_before_what_is_fetched_ahead)
{
	static const uint8_t urgency[] = { MEM_AHEAD, MEM_AHEAD, MEM_WANTED, MEM_BLOCKING, MEM_WANTED };
	static const uint64_t order[] = { 3, 2, 4, 0, 1 };
	struct bed b;
	struct err e = ERR_INIT;
	struct memq *q;
	struct memq_sub *s;

	bed_up(&b);
	b.below.room = 0;
	CHECK((q = memq_new(&b.from.comp, &b.below.comp, 5, 0, &e)));
	for (uint64_t i = 0; i < 5; i++) {
		CHECK((s = memq_take(q, MEMQ_ASK)));
		CHECK(memq_add(s, i * 1000, 64));
		s->rq.urgency = &urgency[i];
		memq_send(q, s);
	}
	b.below.room = 9;
	b.below.waiting = NULL;
	memq_retry(q);
	CHECK_U64(b.below.n_log, 5);
	for (int i = 0; i < 5; i++)
		CHECK_U64(b.below.log[i].addr, order[i] * 1000);
	memq_free(q);
	bed_down(&b);
}

SUITE(t_memq, T(the_urgent_go_before_what_is_fetched_ahead),
      T(refused_senders_are_retried_in_order_once_each_as_room_comes),
      T(runs_that_touch_are_joined_and_a_full_request_says_so), T(what_somebody_waits_for_goes_before_write_backs));
