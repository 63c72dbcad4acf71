/* t_arena.c - zeroed, aligned, limited, and reusable. */
#include "sim/base/arena.h"

#include "sim/base/rng.h"
#include "validate/tests/test.h"

static bool all_zero(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

TEST(what_comes_is_zeroed_and_aligned_to_16_whatever_was_there_before)
{
	struct arena *a = arena_new(0);

	for (int round = 0; round < 3; round++) {
		for (size_t n = 0; n < 300; n++) {
			unsigned char *p = arena_alloc(a, n);

			CHECK(p);
			CHECK_U64((uintptr_t)p % 16, 0);
			CHECK(all_zero(p, n));
			memset(p, 0xa5, n);
		}
		arena_reset(a);
	}
	arena_free(a);
}

TEST(no_two_allocations_overlap)
{
	enum { N = 500 };
	unsigned char *p[N];
	size_t size[N];
	struct arena *a = arena_new(0);
	struct rng r;

	rng_seed(&r, test_seed(), "arena");
	for (int i = 0; i < N; i++) {
		size[i] = (size_t)rng_below(&r, i % 50 == 0 ? 300000 : 2000);
		p[i] = arena_alloc(a, size[i]);
		CHECK(p[i]);
		memset(p[i], i & 0xff, size[i]);
	}
	for (int i = 0; i < N; i++)
		for (size_t k = 0; k < size[i]; k++)
			CHECK(p[i][k] == (i & 0xff));
	arena_free(a);
}

TEST(used_counts_16_byte_units_handed_out)
{
	struct arena *a = arena_new(0);

	CHECK_U64(arena_used(a), 0);
	arena_alloc(a, 1);
	CHECK_U64(arena_used(a), 16);
	arena_alloc(a, 17);
	CHECK_U64(arena_used(a), 48);
	arena_alloc(a, 0);
	CHECK_U64(arena_used(a), 64);
	arena_reset(a);
	CHECK_U64(arena_used(a), 0);
	arena_free(a);
}

TEST(the_limit_is_reached_exactly_and_not_passed)
{
	struct arena *a = arena_new(1024);

	CHECK(!arena_alloc(a, 1025));
	CHECK(arena_alloc(a, 1008));
	CHECK(!arena_alloc(a, 17));
	CHECK(arena_alloc(a, 16));
	CHECK(!arena_alloc(a, 0));
	arena_reset(a);
	CHECK(arena_alloc(a, 1024));
	arena_free(a);
}

TEST(a_size_that_cannot_be_is_refused)
{
	struct arena *a = arena_new(0);

	CHECK(!arena_alloc(a, SIZE_MAX));
	CHECK(!arena_alloc(a, SIZE_MAX - 14));
	CHECK(!arena_array(a, SIZE_MAX / 8 + 1, 8));
	CHECK(!arena_array(a, 8, SIZE_MAX / 8 + 1));
	CHECK(arena_array(a, 0, SIZE_MAX));
	CHECK(arena_array(a, SIZE_MAX, 0));
	arena_free(a);
}

TEST(a_reset_arena_reuses_its_blocks)
{
	struct arena *a = arena_new(0);
	void *first = arena_alloc(a, 100), *big = arena_alloc(a, 5000000);

	arena_reset(a);
	CHECK(arena_alloc(a, 100) == first);
	CHECK(arena_alloc(a, 5000000) == big);
	arena_free(a);
}

TEST(text_is_copied_and_ended)
{
	struct arena *a = arena_new(0);
	char src[] = "abcdef";
	char *dup = arena_strdup(a, src), *part = arena_strndup(a, src, 3), *whole = arena_strndup(a, src, 100);

	src[0] = 'X';
	CHECK_STR(dup, "abcdef");
	CHECK_STR(part, "abc");
	CHECK_STR(whole, "abcdef");
	CHECK_STR(arena_strdup(a, ""), "");
	CHECK_STR(arena_printf(a, "%s-%d", "x", 7), "x-7");
	arena_free(a);
}

TEST(text_beyond_the_limit_is_null)
{
	struct arena *a = arena_new(16);

	CHECK(!arena_strdup(a, "sixteen letters."));
	CHECK(!arena_printf(a, "%s", "sixteen letters."));
	CHECK_STR(arena_strdup(a, "fifteen letters"), "fifteen letters");
	arena_free(a);
}

TEST(freeing_nothing_is_fine)
{
	arena_free(NULL);
	arena_free(arena_new(0));
}

TEST(resetting_an_unused_arena_is_fine)
{
	struct arena *a = arena_new(0);

	arena_reset(a);
	CHECK(arena_alloc(a, 1));
	arena_free(a);
}

SUITE(t_arena, T(what_comes_is_zeroed_and_aligned_to_16_whatever_was_there_before), T(no_two_allocations_overlap),
      T(used_counts_16_byte_units_handed_out), T(the_limit_is_reached_exactly_and_not_passed),
      T(a_size_that_cannot_be_is_refused), T(a_reset_arena_reuses_its_blocks), T(text_is_copied_and_ended),
      T(text_beyond_the_limit_is_null), T(freeing_nothing_is_fine), T(resetting_an_unused_arena_is_fine));
