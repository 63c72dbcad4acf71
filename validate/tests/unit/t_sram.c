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

SUITE(t_sram, T(scratchpad_refuses_what_does_not_fit_and_takes_it_later),
      T(banks_ports_and_width_let_tiles_through_and_more_is_never_slower));
