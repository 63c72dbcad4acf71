/* The scratchpad: what fits, and how fast tiles pass. */
#include "arch/npu/sram.h"
#include "validate/tests/test.h"

TEST(scratchpad_refuses_what_does_not_fit_and_takes_it_later)
{
	struct sram_cfg c = { .size = 1024, .banks = 1, .bank_width = 1, .ports = 2, .pin = 24 };
	struct sram s;

	sram_init(&s, &c, 2);
	CHECK(sram_take(&s, 2000));
	CHECK(!sram_take(&s, 1));
	sram_give(&s, 500);
	CHECK(sram_take(&s, 500));
	CHECK_U64(s.peak, 2000);
}

TEST(banks_ports_and_width_let_tiles_through_and_more_is_never_slower)
{
	struct sram_cfg c = { .size = 1 << 20, .banks = 16, .bank_width = 8, .ports = 2 };

	CHECK_U64(sram_rate(&c, 4), 4 * 16 * 8);
	c.ports = 1; /* in and out take turns */
	CHECK_U64(sram_rate(&c, 4), 4 * 16 * 8 / 2);
	c.ports = 4;
	CHECK_U64(sram_rate(&c, 4), 4 * 16 * 8 * 2);
	c = (struct sram_cfg){ .size = 1024, .banks = 1, .bank_width = 1, .ports = 1 };
	CHECK_U64(sram_rate(&c, 1), 1);
	for (c.banks = 1; c.banks <= 1024; c.banks *= 2)
		for (c.ports = 1; c.ports <= 8; c.ports++) {
			struct sram_cfg banks = c, ports = c, width = c;

			banks.banks *= 2;
			ports.ports++;
			width.bank_width *= 2;
			CHECK(sram_rate(&banks, 3) >= sram_rate(&c, 3));
			CHECK(sram_rate(&ports, 3) >= sram_rate(&c, 3));
			CHECK(sram_rate(&width, 3) >= sram_rate(&c, 3));
		}
}

/* 32 banks of 16 bytes: a bank has 16 bytes of every 512. Rows of 2,560 bytes are five times 512: all in the same bank. Of
 * 1,344 they are 21 x 64: in every fourth bank, so eight. An odd number of 16 bytes, or what is no multiple of 32, meets
 * all; so does a row that one more word makes odd. */
TEST(columns_meet_as_few_banks_as_a_power_of_two_in_the_stride_leaves)
{
	const struct sram_cfg c = { .size = 1 << 20, .banks = 32, .bank_width = 16, .ports = 2 };
	static const struct {
		uint64_t stride;
		uint32_t met;
	} rows[] = { { 2560, 1 }, { 512, 1 }, { 256, 2 },   { 1344, 8 }, { 96, 16 },   { 32, 16 },
		     { 48, 32 },  { 16, 32 }, { 2576, 32 }, { 100, 32 }, { 2568, 32 }, { 8, 32 } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		bool seen[32] = { false };
		uint32_t met = 0;

		CHECK_U64(sram_banks_met(&c, rows[i].stride), rows[i].met);
		CHECK_U64(sram_pad(&c, rows[i].stride), rows[i].met == 32 ? 0 : 16);
		CHECK_U64(sram_banks_met(&c, rows[i].stride + sram_pad(&c, rows[i].stride)), 32);
		for (uint64_t r = 0; r < 4096; r++) {
			met += !seen[r * rows[i].stride / 16 % 32];
			seen[r * rows[i].stride / 16 % 32] = true;
		}
		CHECK_U64(met, rows[i].met); /* row by row */
	}
}

/* 1 MiB of rows of 2,560 bytes, two ports of 16 bytes a bank: filled over all 32 banks in 1,024 cycles, read from one in
 * 32,768. In rows of 2,576 both take 1,024; of 1,344 reading takes 4,096. */
TEST(columns_are_read_at_the_rate_of_the_banks_they_meet)
{
	const struct sram_cfg c = { .size = 1 << 20, .banks = 32, .bank_width = 16, .ports = 2 };

	CHECK_U64(sram_column_cycles(&c, 1, 1 << 20, 2560), 1024 + 32768);
	CHECK_U64(sram_column_cycles(&c, 1, 1 << 20, 2576), 1024 + 1024);
	CHECK_U64(sram_column_cycles(&c, 1, 1 << 20, 1344), 1024 + 4096);
	CHECK_U64(sram_column_cycles(&c, 4, 1 << 20, 2560), (1024 + 32768) / 4);
	CHECK_U64(sram_column_cycles(&c, 1, 1000, 16), 2); /* 1,000 / 512, rounded up */
}

SUITE(t_sram, T(columns_meet_as_few_banks_as_a_power_of_two_in_the_stride_leaves),
      T(columns_are_read_at_the_rate_of_the_banks_they_meet),
      T(scratchpad_refuses_what_does_not_fit_and_takes_it_later),
      T(banks_ports_and_width_let_tiles_through_and_more_is_never_slower));
