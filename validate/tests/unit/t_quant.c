/* t_quant.c - bytes of every way to store values narrower, by hand: the values, and their scales. */
#include "workloads/quant.h"

#include "validate/tests/test.h"

/* A matrix of 256 rows of 1,024 values: 262,144. */
#define ROWS   UINT64_C(256)
#define ROW    UINT64_C(1024)
#define VALUES (ROWS * ROW)

static uint64_t own(enum quant q)
{
	return quant_bytes(q, VALUES, quant_group(q) ? quant_group(q) : ROW);
}

TEST(sixteen_bits_have_no_scales)
{
	CHECK_U64(own(QUANT_BF16), 2 * 262144);
	CHECK_U64(own(QUANT_FP16), 2 * 262144);
	CHECK_U64(quant_bytes(QUANT_BF16, VALUES, 16), 2 * 262144); /* whatever group is asked for */
	CHECK(quant_dtype(QUANT_BF16) == DT_BF16 && quant_dtype(QUANT_FP16) == DT_FP16);
}

TEST(eight_bits_have_a_16_bit_scale_a_row)
{
	static const enum quant q[] = { QUANT_FP8, QUANT_FP8_E4M3, QUANT_FP8_E5M2, QUANT_INT8 };

	for (int i = 0; i < 4; i++) {
		CHECK_U64(quant_group(q[i]), 0);
		CHECK_U64(own(q[i]), 262144 + 256 * 2);
		CHECK(dtype_bits(quant_dtype(q[i])) == 8);
	}
	CHECK_U64(quant_bytes(QUANT_INT8, VALUES, 128), 262144 + 262144 / 128 * 2);
	CHECK_U64(quant_bytes(QUANT_FP8, VALUES, 0), 262144); /* no group: no scales */
}

TEST(int4_has_a_16_bit_scale_for_128_values)
{
	/* g128: 4 + 16 / 128 = 4.125 bits a value */
	CHECK_U64(quant_group(QUANT_INT4), 128);
	CHECK_U64(own(QUANT_INT4), 131072 + 2048 * 2);
	CHECK_U64(own(QUANT_INT4) * 8 * 1000, VALUES * 4125);
	/* g32: 4.5, g64: 4.25; a scale a row: 4 + 16 / 1024 */
	CHECK_U64(quant_bytes(QUANT_INT4, VALUES, 32) * 8 * 10, VALUES * 45);
	CHECK_U64(quant_bytes(QUANT_INT4, VALUES, 64) * 8 * 100, VALUES * 425);
	CHECK_U64(quant_bytes(QUANT_INT4, VALUES, ROW), 131072 + 256 * 2);
}

TEST(nvfp4_has_4_bits_and_a_half)
{
	/* an 8-bit scale for 16 values: 4 + 8 / 16 = 4.5 bits a value */
	CHECK_U64(quant_group(QUANT_NVFP4), 16);
	CHECK_U64(own(QUANT_NVFP4), 131072 + 16384);
	CHECK_U64(own(QUANT_NVFP4) * 8 * 10, VALUES * 45);
	CHECK(quant_dtype(QUANT_NVFP4) == DT_FP4);
}

TEST(mxfp4_and_fp4_have_4_bits_and_a_quarter)
{
	/* an 8-bit scale for 32 values: 4 + 8 / 32 = 4.25 bits a value */
	CHECK_U64(quant_group(QUANT_MXFP4), 32);
	CHECK_U64(own(QUANT_MXFP4), 131072 + 8192);
	CHECK_U64(own(QUANT_MXFP4) * 8 * 100, VALUES * 425);
	CHECK_U64(own(QUANT_FP4), own(QUANT_MXFP4));
}

TEST(block_formats_share_an_exponent_of_8_bits_among_16_values)
{
	CHECK_U64(quant_group(QUANT_BFP8_B), 16);
	CHECK_U64(own(QUANT_BFP8_B) * 8 * 10, VALUES * 85);
	CHECK_U64(own(QUANT_BFP4_B) * 8 * 10, VALUES * 45);
	CHECK(quant_dtype(QUANT_BFP8_B) == DT_FP8 && quant_dtype(QUANT_BFP4_B) == DT_FP4);
}

TEST(a_last_group_and_a_last_byte_are_whole)
{
	/* 130 values of int4: 520 bits, two scales of 16: 552 bits */
	CHECK_U64(quant_bytes(QUANT_INT4, 130, 128), 69);
	/* 17 values of nvfp4: 68 bits, two scales of 8: 84 bits, 10.5 bytes */
	CHECK_U64(quant_bytes(QUANT_NVFP4, 17, 16), 11);
	CHECK_U64(quant_bytes(QUANT_NVFP4, 1, 16), 2); /* 4 + 8 bits */
	CHECK_U64(quant_bytes(QUANT_MXFP4, 0, 32), 0);
	/* 2^45 values: more than any device has, and no overflow */
	CHECK_U64(quant_bytes(QUANT_NVFP4, UINT64_C(1) << 45, 16), (UINT64_C(1) << 44) + (UINT64_C(1) << 41));
}

TEST(a_format_has_a_name_and_what_is_none_is_no_format)
{
	static const char *const names[] = { "as_traced", "bf16", "fp16",  "fp8",   "fp8_e4m3", "fp8_e5m2", "int8",
		                             "int4",      "fp4",  "nvfp4", "mxfp4", "bfp8_b",   "bfp4_b" };

	CHECK_U64(QUANT_COUNT, sizeof names / sizeof *names);
	for (int q = 0; q < QUANT_COUNT; q++)
		CHECK_STR(quant_name((enum quant)q), names[q]);
	CHECK(quant_dtype(QUANT_AS_TRACED) == DT_NONE);
	CHECK_STR(quant_name(QUANT_COUNT), "?");
	CHECK(quant_dtype(QUANT_COUNT) == DT_NONE && quant_group(QUANT_COUNT) == 0);
}

SUITE(t_quant, T(sixteen_bits_have_no_scales), T(eight_bits_have_a_16_bit_scale_a_row),
      T(int4_has_a_16_bit_scale_for_128_values), T(nvfp4_has_4_bits_and_a_half),
      T(mxfp4_and_fp4_have_4_bits_and_a_quarter), T(a_last_group_and_a_last_byte_are_whole),
      T(block_formats_share_an_exponent_of_8_bits_among_16_values),
      T(a_format_has_a_name_and_what_is_none_is_no_format));
