/* t_evq.c - the order is total, and nothing of it depends on the heap's shape. */
#include "sim/base/evq.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/rng.h"
#include "validate/tests/test.h"

struct log {
	int n, id[64];
	ps_t at[64];
	struct evq *q;
};
struct item {
	struct ev ev;
	int id;
	struct log *log;
};

static void note(void *owner, struct ev *ev)
{
	struct item *it = owner;
	struct log *l = it->log;

	CHECK(ev == &it->ev && ev_idle(ev));
	l->id[l->n] = it->id;
	l->at[l->n++] = evq_now(l->q);
}

static void item_init(struct item *it, int id, enum ev_prio prio, struct log *l)
{
	it->id = id;
	it->log = l;
	ev_init(&it->ev, prio, note, it);
}

TEST(time_comes_first_then_priority_then_push_order)
{
	static const struct {
		ps_t when;
		enum ev_prio prio;
	} rows[] = { { 20, EV_REPLY }, { 10, EV_SAMPLE }, { 10, EV_WORK }, { 10, EV_REPLY },
		     { 10, EV_WORK },  { 10, EV_REPLY },  { 0, EV_SAMPLE } };
	static const int want[] = { 6, 3, 5, 2, 4, 1, 0 };
	struct log l = { .q = evq_new() };
	struct item it[7];

	for (int i = 0; i < 7; i++) {
		item_init(&it[i], i, rows[i].prio, &l);
		evq_push(l.q, &it[i].ev, rows[i].when);
	}
	while (evq_step(l.q))
		continue;
	CHECK_U64(l.n, 7);
	for (int i = 0; i < 7; i++) {
		CHECK_U64(l.id[i], want[i]);
		CHECK_U64(l.at[i], rows[want[i]].when);
	}
	CHECK_U64(evq_count(l.q), 7);
	evq_free(l.q);
}

TEST(sixty_four_ties_are_served_first_in_first_out)
{
	struct log l = { .q = evq_new() };
	struct item it[64];

	for (int i = 0; i < 64; i++) {
		item_init(&it[i], i, EV_WORK, &l);
		evq_push(l.q, &it[i].ev, 5);
	}
	while (evq_step(l.q))
		continue;
	for (int i = 0; i < 64; i++)
		CHECK_U64(l.id[i], i);
	evq_free(l.q);
}

TEST(a_cancelled_event_is_idle_and_never_served)
{
	struct log l = { .q = evq_new() };
	struct item a, b;

	item_init(&a, 1, EV_WORK, &l);
	item_init(&b, 2, EV_WORK, &l);
	evq_cancel(l.q, &a.ev); /* idle: nothing happens */
	evq_push(l.q, &a.ev, 5);
	evq_push(l.q, &b.ev, 6);
	CHECK(!ev_idle(&a.ev));
	evq_cancel(l.q, &a.ev);
	CHECK(ev_idle(&a.ev));
	CHECK(evq_step(l.q) && !evq_step(l.q));
	CHECK(l.n == 1 && l.id[0] == 2);
	CHECK_U64(evq_now(l.q), 6);
	evq_free(l.q);
}

TEST(a_cancelled_event_pushed_again_goes_behind_its_ties)
{
	struct log l = { .q = evq_new() };
	struct item a, b;

	item_init(&a, 1, EV_WORK, &l);
	item_init(&b, 2, EV_WORK, &l);
	evq_push(l.q, &a.ev, 5);
	evq_push(l.q, &b.ev, 5);
	evq_cancel(l.q, &a.ev);
	evq_push(l.q, &a.ev, 5);
	while (evq_step(l.q))
		continue;
	CHECK(l.id[0] == 2 && l.id[1] == 1);
	evq_free(l.q);
}

static void again(void *owner, struct ev *ev)
{
	struct log *l = owner;

	l->at[l->n++] = evq_now(l->q);
	if (l->n < 10)
		evq_push(l->q, ev, evq_now(l->q) + (l->n % 2 ? 0 : 3));
}

TEST(an_event_may_push_itself_now_or_later)
{
	struct log l = { .q = evq_new() };
	struct ev ev;

	ev_init(&ev, EV_WORK, again, &l);
	evq_push(l.q, &ev, 7);
	while (evq_step(l.q))
		continue;
	CHECK_U64(l.n, 10);
	for (int i = 0; i < 10; i++)
		CHECK_U64(l.at[i], 7 + 3 * (i / 2));
	evq_free(l.q);
}

static void free_owner(void *owner, struct ev *ev)
{
	(void)ev;
	free(owner);
}

TEST(an_event_may_free_its_owner)
{
	struct evq *q = evq_new();

	for (int i = 0; i < 10; i++) {
		struct ev *ev = malloc(sizeof *ev);

		CHECK(ev);
		ev_init(ev, EV_WORK, free_owner, ev);
		evq_push(q, ev, 1);
	}
	while (evq_step(q))
		continue;
	evq_free(q);
}

TEST(reset_goes_back_to_time_zero_and_idles_all)
{
	struct log l = { .q = evq_new() };
	struct item a, b;

	item_init(&a, 1, EV_WORK, &l);
	item_init(&b, 2, EV_WORK, &l);
	evq_push(l.q, &a.ev, 5);
	evq_push(l.q, &b.ev, 50);
	evq_step(l.q);
	evq_reset(l.q);
	CHECK(ev_idle(&b.ev));
	CHECK_U64(evq_now(l.q), 0);
	CHECK_U64(evq_count(l.q), 1);
	CHECK(!evq_step(l.q));
	evq_push(l.q, &b.ev, 0);
	CHECK(evq_step(l.q));
	evq_free(l.q);
}

TEST(the_end_of_time_is_a_time)
{
	struct log l = { .q = evq_new() };
	struct item a;

	item_init(&a, 1, EV_WORK, &l);
	evq_push(l.q, &a.ev, PS_NEVER);
	CHECK(evq_step(l.q));
	CHECK_U64(evq_now(l.q), PS_NEVER);
	evq_free(l.q);
}

/* The reference: a plain search for the least (when, prio, push number) among what is queued. */
TEST(random_pushes_and_cancels_come_out_as_from_a_sorted_list)
{
	enum { N = 300 };
	static const enum ev_prio prios[] = { EV_REPLY, EV_WORK, EV_SAMPLE };
	struct log l = { .q = evq_new() };
	struct item it[N];
	uint64_t pushed[N] = { 0 }, n_push = 0, served = 0;
	struct rng r;

	rng_seed(&r, test_seed(), "evq");
	for (int i = 0; i < N; i++)
		item_init(&it[i], i, prios[rng_below(&r, 3)], &l);
	for (int step = 0; step < 60000; step++) {
		int i = (int)rng_below(&r, N), best = -1;
		uint64_t what = rng_below(&r, step / 10000 % 2 ? 3 : 5);

		if (what >= 2) {
			if (ev_idle(&it[i].ev)) {
				evq_push(l.q, &it[i].ev, evq_now(l.q) + rng_below(&r, 20));
				pushed[i] = ++n_push;
			}
			continue;
		}
		if (what == 1 && step % 3 == 0) {
			evq_cancel(l.q, &it[i].ev);
			continue;
		}
		for (int k = 0; k < N; k++) {
			const struct ev *a = &it[k].ev, *b = best < 0 ? NULL : &it[best].ev;

			if (!ev_idle(a) && (!b || a->when < b->when ||
			                    (a->when == b->when &&
			                     (a->prio < b->prio || (a->prio == b->prio && pushed[k] < pushed[best])))))
				best = k;
		}
		l.n = 0;
		CHECK(evq_step(l.q) == (best >= 0));
		if (best < 0)
			continue;
		CHECK_U64(l.id[0], best);
		CHECK_U64(evq_count(l.q), ++served);
	}
	CHECK(served > 5000);
	evq_free(l.q);
}

TEST(reserved_room_is_enough)
{
	struct evq *q = evq_new();

	CHECK(evq_reserve(q, 1000) == 0);
	CHECK(evq_reserve(q, 10) == 0);
	CHECK(evq_reserve(q, (size_t)INT32_MAX + 1) == -1);
	evq_free(q);
	evq_free(NULL);
}

#ifndef NDEBUG
static void push_into_the_past(void)
{
	struct log l = { .q = evq_new() };
	struct item a, b;

	item_init(&a, 1, EV_WORK, &l);
	item_init(&b, 1, EV_WORK, &l);
	evq_push(l.q, &a.ev, 10);
	evq_step(l.q);
	evq_push(l.q, &b.ev, 9);
}

static void push_twice(void)
{
	struct log l = { .q = evq_new() };
	struct item a;

	item_init(&a, 1, EV_WORK, &l);
	evq_push(l.q, &a.ev, 10);
	evq_push(l.q, &a.ev, 11);
}

TEST(pushing_into_the_past_or_twice_is_a_bug)
{
	CHECK(test_aborts(push_into_the_past));
	CHECK(test_aborts(push_twice));
}
#define DEBUG_TESTS , T(pushing_into_the_past_or_twice_is_a_bug)
#else
#define DEBUG_TESTS
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MANY (1 << 20)

static void never(void *owner, struct ev *ev)
{
	(void)owner;
	(void)ev;
}

/* In a process of its own, with no more memory than it has. */
TEST(without_memory_the_queue_has_failed_and_is_empty)
{
	struct evq *q = evq_new();
	struct ev *v = calloc(MANY, sizeof *v);
	const struct rlimit none = { 1 << 20, 1 << 20 };
	const pid_t child = fork();
	int status;

	if (child == 0) {
		int i = 0;

		setrlimit(RLIMIT_AS, &none);
		for (; i < MANY && !evq_failed(q); i++) {
			ev_init(&v[i], EV_WORK, never, NULL);
			evq_push(q, &v[i], (ps_t)i);
		}
		if (i == MANY || evq_step(q) || !ev_idle(&v[0]) || !ev_idle(&v[i - 1]))
			_exit(1);
		evq_push(q, &v[0], 0);
		_exit(evq_step(q) || evq_reserve(q, 1) == 0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	evq_free(q);
	free(v);
}
#define MEMORY_TESTS , T(without_memory_the_queue_has_failed_and_is_empty)
#else
#define MEMORY_TESTS
#endif

SUITE(t_evq, T(time_comes_first_then_priority_then_push_order), T(sixty_four_ties_are_served_first_in_first_out),
      T(a_cancelled_event_is_idle_and_never_served), T(a_cancelled_event_pushed_again_goes_behind_its_ties),
      T(an_event_may_push_itself_now_or_later), T(an_event_may_free_its_owner),
      T(reset_goes_back_to_time_zero_and_idles_all), T(the_end_of_time_is_a_time),
      T(random_pushes_and_cancels_come_out_as_from_a_sorted_list), T(reserved_room_is_enough) MEMORY_TESTS DEBUG_TESTS);
