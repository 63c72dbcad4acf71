/* The closed form's parts: a server's booked time, and what a level holds. */
#include "sim/base/rng.h"
#include "sim/engine/analytic_held.h"
#include "sim/engine/analytic_line.h"
#include "validate/tests/test.h"

#include <string.h>

#define CHUNK UINT64_C(4096)
#define END   (UINT64_C(1) << 30)

static struct held *level(uint64_t chunks, uint32_t ways)
{
	struct err e = ERR_INIT;
	struct held *h = held_new(chunks * CHUNK, CHUNK, ways, false, END, &e);

	CHECK(h != NULL);
	return h;
}

static uint64_t hit(struct held *h, uint64_t chunk, uint64_t n)
{
	return held_touch(h, chunk * CHUNK, n * CHUNK, HELD_READ).hit / CHUNK;
}

TEST(bookings_follow_each_other_and_fill_what_was_left_free)
{
	struct line l;
	struct line_span s;

	line_init(&l, UINT64_C(1000000000));      /* a byte a nanosecond */
	CHECK_U64(line_span_of(&l, 100), 100001); /* rounded up, by a picosecond at most */
	s = line_book(&l, 50000, 20000);
	CHECK_U64(s.start, 50000);
	CHECK_U64(s.end, 70000);
	s = line_book(&l, 60000, 10000); /* behind it */
	CHECK_U64(s.start, 70000);
	CHECK_U64(s.end, 80000);
	s = line_book(&l, 0, 30000); /* before it, though it came later */
	CHECK_U64(s.start, 0);
	CHECK_U64(s.end, 30000);
	s = line_book(&l, 10000, 30000); /* what is left there, and the rest behind all */
	CHECK_U64(s.start, 30000);
	CHECK_U64(s.end, 90000);
}

TEST(a_line_gives_only_what_is_free_between_two_moments)
{
	struct line l;

	line_init(&l, 1000000);
	line_book(&l, 10000, 10000);
	CHECK_U64(line_fill(&l, 0, 40000, 100000), 30000);
	CHECK_U64(line_fill(&l, 0, 40000, 100000), 0);
	CHECK_U64(line_book(&l, 0, 5000).end, 45000);
}

TEST(any_bookings_take_the_moments_that_a_list_of_moments_would_give)
{
	enum { MOMENTS = 4000, STEP = 10000, BOOKINGS = 150 };
	static bool taken[MOMENTS];
	struct line l;
	struct rng r;

	line_init(&l, 1000000);
	memset(taken, 0, sizeof taken);
	rng_seed(&r, test_seed(), "line");
	for (int i = 0; i < BOOKINGS; i++) {
		uint64_t at = rng_below(&r, 1000), want = 1 + rng_below(&r, 8), to = at + rng_below(&r, 20), n = 0,
			 k = at;

		if (rng_below(&r, 3)) {
			struct line_span s = line_book(&l, at * STEP, want * STEP);

			while (taken[k])
				k++;
			CHECK_U64(s.start, k * STEP);
			for (; n < want; k++)
				if (!taken[k]) {
					taken[k] = true;
					n++;
				}
			CHECK_U64(s.end, k * STEP);
		} else {
			for (; k < to && n < want; k++)
				if (!taken[k]) {
					taken[k] = true;
					n++;
				}
			CHECK_U64(line_fill(&l, at * STEP, to * STEP, want * STEP), n * STEP);
		}
	}
	CHECK_U64(line_fill(&l, 20000, 20000, 1), 0); /* no time between them */
	CHECK_U64(line_fill(&l, 30000, 20000, 1), 0);
}

TEST(a_line_with_more_gaps_than_it_remembers_never_books_a_moment_twice)
{
	struct line l;
	ps_t busy = 0, end = 0;

	line_init(&l, 1000000);
	for (ps_t i = 0; i < 1000; i++) {
		end = line_book(&l, i * 20000, 10000).end;
		CHECK_U64(end, i * 20000 + 10000);
		busy += 10000;
	}
	for (int i = 0; i < 1000; i++) {
		ps_t at = line_book(&l, 0, 10000).end;

		end = ps_max(end, at);
		busy += 10000;
	}
	CHECK(end >= busy);
}

TEST(what_comes_again_within_the_capacity_is_there_and_beyond_it_is_not)
{
	struct held *h = level(64, 1);

	CHECK_U64(hit(h, 0, 64), 0);
	CHECK_U64(hit(h, 0, 64), 64);
	CHECK_U64(hit(h, 64, 1), 0); /* pushes one chunk out */
	CHECK_U64(held_bytes(h), 64 * CHUNK);
	CHECK_U64(held_here(h, 0, 65 * CHUNK), 64 * CHUNK);
	held_free(h);
	h = level(64, 16);
	for (int pass = 0; pass < 3; pass++) /* a stream of twice the capacity, round and round: never */
		CHECK_U64(hit(h, 0, 128), 0);
	for (int pass = 0; pass < 3; pass++) /* of eight times: only its ends are looked at */
		CHECK_U64(hit(h, 0, 512), 0);
	held_free(h);
}

TEST(bytes_that_were_written_leave_dirty_and_only_once)
{
	struct held *h = level(32, 32);
	struct held_found f = held_touch(h, 0, 8 * CHUNK, HELD_WRITE);

	CHECK_U64(f.hit, 0);
	CHECK_U64(f.kept, 8 * CHUNK);
	CHECK_U64(f.pushed, 0);
	CHECK_U64(held_dirty(h), 8 * CHUNK);
	f = held_touch(h, 100 * CHUNK, 32 * CHUNK, HELD_READ);
	CHECK_U64(f.pushed, 8 * CHUNK);
	CHECK_U64(held_dirty(h), 0);
	f = held_touch(h, 200 * CHUNK, 32 * CHUNK, HELD_READ);
	CHECK_U64(f.pushed, 0);
	f = held_touch(h, 200 * CHUNK, 16 * CHUNK, HELD_PASS);
	CHECK_U64(f.hit, 16 * CHUNK);
	held_drop(h, 200 * CHUNK, CHUNK);
	CHECK_U64(held_bytes(h), 31 * CHUNK);
	held_free(h);
}

TEST(a_level_that_keeps_takes_what_fits_and_never_gives_it_up)
{
	struct held *h = level(10, 0);
	struct held_found f = held_touch(h, 0, 8 * CHUNK, HELD_READ);

	CHECK_U64(f.kept, 8 * CHUNK);
	f = held_touch(h, 64 * CHUNK, 8 * CHUNK, HELD_READ);
	CHECK_U64(f.hit, 0);
	CHECK_U64(f.kept, 2 * CHUNK);
	f = held_touch(h, 64 * CHUNK, 8 * CHUNK, HELD_READ);
	CHECK_U64(f.hit, 2 * CHUNK);
	CHECK_U64(f.kept, 2 * CHUNK);
	CHECK_U64(held_touch(h, 0, 8 * CHUNK, HELD_READ).hit, 8 * CHUNK);
	held_free(h);
}

TEST(parts_of_chunks_count_their_own_bytes)
{
	struct held *h = level(16, 16);

	CHECK_U64(held_touch(h, 1000, 100, HELD_READ).hit, 0);
	CHECK_U64(held_touch(h, 1000, 100, HELD_READ).hit, 100);
	CHECK_U64(held_touch(h, 1000, 2 * CHUNK, HELD_READ).hit, CHUNK - 1000); /* its chunk is here, the others not */
	CHECK_U64(held_here(h, 500, 3 * CHUNK - 500), 3 * CHUNK - 500);
	held_free(h);
}

SUITE(t_analytic,
      T(bookings_follow_each_other_and_fill_what_was_left_free) T(a_line_gives_only_what_is_free_between_two_moments)
              T(any_bookings_take_the_moments_that_a_list_of_moments_would_give)
                      T(a_line_with_more_gaps_than_it_remembers_never_books_a_moment_twice)
                              T(what_comes_again_within_the_capacity_is_there_and_beyond_it_is_not)
                                      T(bytes_that_were_written_leave_dirty_and_only_once)
                                              T(a_level_that_keeps_takes_what_fits_and_never_gives_it_up)
                                                      T(parts_of_chunks_count_their_own_bytes));
