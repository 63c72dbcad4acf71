/* The closed form's parts: a server's booked time, and what a level holds. */
#include "sim/base/rng.h"
#include "sim/engine/analytic_residency.h"
#include "sim/engine/analytic_server.h"
#include "validate/tests/test.h"

#include <string.h>

#define CHUNK UINT64_C(4096)
#define END   (UINT64_C(1) << 30)

static struct residency *level(uint64_t chunks, uint32_t ways)
{
	struct err e = ERR_INIT;
	struct residency *r = residency_new(chunks * CHUNK, CHUNK, ways, false, END, &e);

	CHECK(r != NULL);
	return r;
}

static uint64_t hit(struct residency *r, uint64_t chunk, uint64_t n)
{
	return residency_touch(r, chunk * CHUNK, n * CHUNK, RESIDENCY_READ).hit / CHUNK;
}

TEST(bookings_follow_each_other_and_fill_what_was_left_free)
{
	struct server s;
	struct booking b;

	server_init(&s, UINT64_C(1000000000));      /* a byte a nanosecond */
	CHECK_U64(server_time_of(&s, 100), 100001); /* rounded up, by a picosecond at most */
	b = server_book(&s, 50000, 20000);
	CHECK_U64(b.start, 50000);
	CHECK_U64(b.end, 70000);
	b = server_book(&s, 60000, 10000); /* behind it */
	CHECK_U64(b.start, 70000);
	CHECK_U64(b.end, 80000);
	b = server_book(&s, 0, 30000); /* before it, though it came later */
	CHECK_U64(b.start, 0);
	CHECK_U64(b.end, 30000);
	b = server_book(&s, 10000, 30000); /* what is left there, and the rest behind all */
	CHECK_U64(b.start, 30000);
	CHECK_U64(b.end, 90000);
}

TEST(a_server_gives_only_what_is_free_between_two_moments)
{
	struct server s;

	server_init(&s, 1000000);
	server_book(&s, 10000, 10000);
	CHECK_U64(server_fill(&s, 0, 40000, 100000), 30000);
	CHECK_U64(server_fill(&s, 0, 40000, 100000), 0);
	CHECK_U64(server_book(&s, 0, 5000).end, 45000);
}

TEST(any_bookings_take_the_moments_that_a_list_of_moments_would_give)
{
	enum { MOMENTS = 4000, STEP = 10000, BOOKINGS = 150 };
	static bool taken[MOMENTS];
	struct server s;
	struct rng r;

	server_init(&s, 1000000);
	memset(taken, 0, sizeof taken);
	rng_seed(&r, test_seed(), "server");
	for (int i = 0; i < BOOKINGS; i++) {
		uint64_t at = rng_below(&r, 1000), want = 1 + rng_below(&r, 8), to = at + rng_below(&r, 20), n = 0,
			 k = at;

		if (rng_below(&r, 3)) {
			struct booking b = server_book(&s, at * STEP, want * STEP);

			while (taken[k])
				k++;
			CHECK_U64(b.start, k * STEP);
			for (; n < want; k++)
				if (!taken[k]) {
					taken[k] = true;
					n++;
				}
			CHECK_U64(b.end, k * STEP);
		} else {
			for (; k < to && n < want; k++)
				if (!taken[k]) {
					taken[k] = true;
					n++;
				}
			CHECK_U64(server_fill(&s, at * STEP, to * STEP, want * STEP), n * STEP);
		}
	}
	CHECK_U64(server_fill(&s, 20000, 20000, 1), 0); /* no time between them */
	CHECK_U64(server_fill(&s, 30000, 20000, 1), 0);
}

TEST(a_server_with_more_gaps_than_it_remembers_never_books_a_moment_twice)
{
	struct server s;
	ps_t busy = 0, end = 0;

	server_init(&s, 1000000);
	for (ps_t i = 0; i < 1000; i++) {
		end = server_book(&s, i * 20000, 10000).end;
		CHECK_U64(end, i * 20000 + 10000);
		busy += 10000;
	}
	for (int i = 0; i < 1000; i++) {
		ps_t at = server_book(&s, 0, 10000).end;

		end = ps_max(end, at);
		busy += 10000;
	}
	CHECK(end >= busy);
}

TEST(what_comes_again_within_the_capacity_is_there_and_beyond_it_is_not)
{
	struct residency *r = level(64, 1);

	CHECK_U64(hit(r, 0, 64), 0);
	CHECK_U64(hit(r, 0, 64), 64);
	CHECK_U64(hit(r, 64, 1), 0); /* pushes one chunk out */
	CHECK_U64(residency_bytes(r), 64 * CHUNK);
	CHECK_U64(residency_here(r, 0, 65 * CHUNK), 64 * CHUNK);
	residency_free(r);
	r = level(64, 16);
	for (int pass = 0; pass < 3; pass++) /* a stream of twice the capacity, round and round: never */
		CHECK_U64(hit(r, 0, 128), 0);
	for (int pass = 0; pass < 3; pass++) /* of eight times: only its ends are looked at */
		CHECK_U64(hit(r, 0, 512), 0);
	residency_free(r);
}

TEST(bytes_that_were_written_leave_dirty_and_only_once)
{
	struct residency *r = level(32, 32);
	struct residency_found f = residency_touch(r, 0, 8 * CHUNK, RESIDENCY_WRITE);

	CHECK_U64(f.hit, 0);
	CHECK_U64(f.kept, 8 * CHUNK);
	CHECK_U64(f.evicted, 0);
	CHECK_U64(residency_dirty(r), 8 * CHUNK);
	f = residency_touch(r, 100 * CHUNK, 32 * CHUNK, RESIDENCY_READ);
	CHECK_U64(f.evicted, 8 * CHUNK);
	CHECK_U64(residency_dirty(r), 0);
	f = residency_touch(r, 200 * CHUNK, 32 * CHUNK, RESIDENCY_READ);
	CHECK_U64(f.evicted, 0);
	f = residency_touch(r, 200 * CHUNK, 16 * CHUNK, RESIDENCY_PASS);
	CHECK_U64(f.hit, 16 * CHUNK);
	residency_drop(r, 200 * CHUNK, CHUNK);
	CHECK_U64(residency_bytes(r), 31 * CHUNK);
	residency_free(r);
}

TEST(a_level_that_keeps_takes_what_fits_and_never_gives_it_up)
{
	struct residency *r = level(10, 0);
	struct residency_found f = residency_touch(r, 0, 8 * CHUNK, RESIDENCY_READ);

	CHECK_U64(f.kept, 8 * CHUNK);
	f = residency_touch(r, 64 * CHUNK, 8 * CHUNK, RESIDENCY_READ);
	CHECK_U64(f.hit, 0);
	CHECK_U64(f.kept, 2 * CHUNK);
	f = residency_touch(r, 64 * CHUNK, 8 * CHUNK, RESIDENCY_READ);
	CHECK_U64(f.hit, 2 * CHUNK);
	CHECK_U64(f.kept, 2 * CHUNK);
	CHECK_U64(residency_touch(r, 0, 8 * CHUNK, RESIDENCY_READ).hit, 8 * CHUNK);
	residency_free(r);
}

TEST(parts_of_chunks_count_their_own_bytes)
{
	struct residency *r = level(16, 16);

	CHECK_U64(residency_touch(r, 1000, 100, RESIDENCY_READ).hit, 0);
	CHECK_U64(residency_touch(r, 1000, 100, RESIDENCY_READ).hit, 100);
	CHECK_U64(residency_touch(r, 1000, 2 * CHUNK, RESIDENCY_READ).hit,
	          CHUNK - 1000); /* its chunk is here, the others not */
	CHECK_U64(residency_here(r, 500, 3 * CHUNK - 500), 3 * CHUNK - 500);
	residency_free(r);
}

static struct residency_found touched_in_parts(struct residency *r, uint64_t at, uint64_t end, enum residency_use use)
{
	const uint64_t most = 64 * CHUNK; /* a block, or some of them */
	struct residency_found sum = { 0, 0, 0 };

	while (at < end) {
		const uint64_t stop = ps_min(end, (at / most + 1) * most);
		const struct residency_found f = residency_touch(r, at, stop - at, use);

		sum.hit += f.hit;
		sum.kept += f.kept;
		sum.evicted += f.evicted;
		at = stop;
	}
	return sum;
}

/* What passes many sets at once leaves them as one block after the other would. */
TEST(a_range_does_what_its_parts_do_one_after_the_other)
{
	static const uint32_t ways[] = { 0, 1, 3, 16 };
	struct rng r;

	rng_seed(&r, test_seed(), "residency");
	for (int i = 0; i < test_rounds(50, 100, 1000); i++) {
		struct err e = ERR_INIT;
		const uint64_t chunks = 1 + rng_below(&r, rng_below(&r, 2) ? 300 : 20000),
			       end = (1 + chunks) * 3 * CHUNK;
		const uint32_t n = ways[rng_below(&r, 4)];
		const bool hash = rng_below(&r, 2);
		struct residency *whole = residency_new(chunks * CHUNK, CHUNK, n, hash, end, &e),
				 *parts = residency_new(chunks * CHUNK, CHUNK, n, hash, end, &e);

		CHECK(whole && parts);
		for (int k = 0; k < 60; k++) {
			const uint64_t at = rng_below(&r, end),
				       most = rng_below(&r, 3) ? end - at : ps_min(end - at, 9 * CHUNK),
				       bytes = 1 + rng_below(&r, most);
			const enum residency_use use = (enum residency_use)rng_below(&r, 3);
			const struct residency_found f = residency_touch(whole, at, bytes, use),
						     g = touched_in_parts(parts, at, at + bytes, use);

			CHECK_U64(f.hit, g.hit);
			CHECK_U64(f.kept, g.kept);
			CHECK_U64(f.evicted, g.evicted);
			CHECK_U64(residency_dirty(whole), residency_dirty(parts));
			CHECK_U64(residency_bytes(whole), residency_bytes(parts));
			CHECK_U64(residency_here(whole, at / 2, bytes), residency_here(parts, at / 2, bytes));
			if (rng_below(&r, 8) == 0) {
				residency_drop(whole, at, bytes);
				residency_drop(parts, at, bytes);
			}
		}
		residency_free(whole);
		residency_free(parts);
	}
}

SUITE(t_analytic, T(bookings_follow_each_other_and_fill_what_was_left_free),
      T(a_server_gives_only_what_is_free_between_two_moments),
      T(any_bookings_take_the_moments_that_a_list_of_moments_would_give),
      T(a_server_with_more_gaps_than_it_remembers_never_books_a_moment_twice),
      T(what_comes_again_within_the_capacity_is_there_and_beyond_it_is_not),
      T(bytes_that_were_written_leave_dirty_and_only_once), T(a_level_that_keeps_takes_what_fits_and_never_gives_it_up),
      T(parts_of_chunks_count_their_own_bytes), T(a_range_does_what_its_parts_do_one_after_the_other));
