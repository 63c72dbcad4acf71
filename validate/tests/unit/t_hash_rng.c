/* t_hash_rng.c - both are part of the output format: hashes are stored, streams decide tie-breaks in samples. */
#include "sim/base/hash.h"
#include "sim/base/rng.h"

#include "validate/tests/test.h"

TEST(bytes_hash_as_published_for_fnv1a_64)
{
	CHECK_U64(hash_bytes(HASH_INIT, "", 0), UINT64_C(0xcbf29ce484222325));
	CHECK_U64(hash_bytes(HASH_INIT, "a", 1), UINT64_C(0xaf63dc4c8601ec8c));
	CHECK_U64(hash_bytes(HASH_INIT, "foobar", 6), UINT64_C(0x85944171f73967e8));
}

TEST(hashing_in_pieces_is_hashing_the_whole)
{
	CHECK_U64(hash_bytes(hash_bytes(HASH_INIT, "foo", 3), "bar", 3), hash_bytes(HASH_INIT, "foobar", 6));
}

TEST(strings_keep_their_ends)
{
	CHECK(hash_str(hash_str(HASH_INIT, "ab"), "c") != hash_str(hash_str(HASH_INIT, "a"), "bc"));
	CHECK(hash_str(HASH_INIT, "") != HASH_INIT);
}

TEST(an_integer_hashes_low_byte_first)
{
	const unsigned char bytes[8] = { 8, 7, 6, 5, 4, 3, 2, 1 };

	CHECK_U64(hash_u64(HASH_INIT, UINT64_C(0x0102030405060708)), hash_bytes(HASH_INIT, bytes, 8));
}

TEST(every_input_bit_changes_about_half_of_the_mixed_bits)
{
	for (uint64_t x = 1; x < 50; x++)
		for (int bit = 0; bit < 64; bit++) {
			uint64_t d = hash_mix(x) ^ hash_mix(x ^ UINT64_C(1) << bit);
			int n = 0;

			for (; d; d &= d - 1)
				n++;
			CHECK(n >= 10 && n <= 54);
		}
}

TEST(hex_is_sixteen_digits)
{
	char out[17];

	hash_hex(UINT64_C(0x00ab), out);
	CHECK_STR(out, "00000000000000ab");
	hash_hex(UINT64_MAX, out);
	CHECK_STR(out, "ffffffffffffffff");
	hash_hex(UINT64_C(0x0123456789abcdef), out);
	CHECK_STR(out, "0123456789abcdef");
}

TEST(a_stream_is_the_same_on_every_host)
{
	struct rng r;

	/* xoroshiro128++ from s = {1, 2}: first outputs of the authors' reference code */
	r.s[0] = 1;
	r.s[1] = 2;
	CHECK_U64(rng_u64(&r), 393217);
	CHECK_U64(rng_u64(&r), UINT64_C(669327710093319));
	CHECK_U64(rng_u64(&r), UINT64_C(1732421326133921491));
}

TEST(streams_differ_by_seed_and_by_name_and_repeat)
{
	struct rng a, b, c, d;

	rng_seed(&a, 1, "l2");
	rng_seed(&b, 1, "l2");
	rng_seed(&c, 1, "l1");
	rng_seed(&d, 2, "l2");
	for (int i = 0; i < 100; i++) {
		uint64_t x = rng_u64(&a);

		CHECK_U64(rng_u64(&b), x);
		CHECK(rng_u64(&c) != x);
		CHECK(rng_u64(&d) != x);
	}
}

TEST(a_zero_seed_is_no_fixed_point)
{
	struct rng r;

	rng_seed(&r, 0, "");
	CHECK(r.s[0] | r.s[1]);
	CHECK(rng_u64(&r) != rng_u64(&r));
}

TEST(below_stays_below_and_is_even)
{
	uint64_t count[7] = { 0 };
	struct rng r;

	rng_seed(&r, test_seed(), "below");
	for (int i = 0; i < 70000; i++) {
		uint64_t x = rng_below(&r, 7);

		CHECK(x < 7);
		count[x]++;
	}
	for (int i = 0; i < 7; i++)
		CHECK(count[i] > 9500 && count[i] < 10500); /* 5 sigma is 463 */
	for (int i = 0; i < 100; i++) {
		CHECK_U64(rng_below(&r, 1), 0);
		CHECK(rng_below(&r, UINT64_C(1) << 63 | 1) <= UINT64_C(1) << 63);
		CHECK(rng_below(&r, UINT64_MAX) < UINT64_MAX);
	}
}

SUITE(t_hash_rng, T(bytes_hash_as_published_for_fnv1a_64), T(hashing_in_pieces_is_hashing_the_whole),
      T(strings_keep_their_ends), T(an_integer_hashes_low_byte_first),
      T(every_input_bit_changes_about_half_of_the_mixed_bits), T(hex_is_sixteen_digits),
      T(a_stream_is_the_same_on_every_host), T(streams_differ_by_seed_and_by_name_and_repeat),
      T(a_zero_seed_is_no_fixed_point), T(below_stays_below_and_is_even));
