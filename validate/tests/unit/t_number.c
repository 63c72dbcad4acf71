/* t_number.c - numbers in sentences: three digits that count below a hundred, thousands apart above, never an exponent. */
#include "sim/ui/number.h"

#include <math.h>

#include "validate/tests/test.h"

static void is(void (*add)(struct str *, double), double x, const char *want)
{
	struct str s = STR_INIT;

	add(&s, x);
	if (strcmp(str_c(&s), want) != 0)
		test_fail(__FILE__, __LINE__, "%.17g is '%s' and not '%s'", x, str_c(&s), want);
	str_free(&s);
}

TEST(three_digits_count_below_a_hundred)
{
	is(number_add, 0, "0");
	is(number_add, 7, "7");
	is(number_add, 10, "10");
	is(number_add, 30, "30");
	is(number_add, 0.25, "0.25");
	is(number_add, 3.14159, "3.14");
	is(number_add, 99.44, "99.4");
	is(number_add, 99.96, "100");
	is(number_add, 9.999, "10");
	is(number_add, 0.0000123456, "0.0000123");
	is(number_add, -0.5, "-0.5");
}

TEST(thousands_stand_apart_above)
{
	is(number_add, 100, "100");
	is(number_add, 999.6, "1,000");
	is(number_add, 1641.2, "1,641");
	is(number_add, 12345678, "12,345,678");
	is(number_add, -1234.5, "-1,234");
	is(number_add, 4e15, "4,000,000,000,000,000");
}

TEST(what_is_no_number_says_so)
{
	is(number_add, HUGE_VAL, "inf");
	is(number_add, -HUGE_VAL, "-inf");
}

TEST(counts_are_whole_and_large_ones_are_told_in_words)
{
	is(number_count, 0, "0");
	is(number_count, 72, "72");
	is(number_count, 99.6, "100");
	is(number_count, 96768, "96,768");
	is(number_count, 999999, "999,999");
	is(number_count, 1e6, "1 million");
	is(number_count, 414056448, "414 million");
	is(number_count, 1.5e6, "1.5 million");
	is(number_count, 999.9e6, "1 billion");
	is(number_count, 2.34e12, "2.34 trillion");
	is(number_count, 5e15, "5,000 trillion");
}

/* Whatever comes, no exponent is read out. */
TEST(no_exponent_over_forty_orders)
{
	for (int k = -20; k <= 20; k++) {
		struct str s = STR_INIT;

		number_add(&s, 1.25 * pow(10, k));
		number_add(&s, 9.9999 * pow(10, k));
		number_count(&s, 9.9999 * pow(10, k < 0 ? -k : k));
		CHECK(!strchr(str_c(&s), 'e'));
		CHECK(s.len > 0);
		str_free(&s);
	}
}

SUITE(t_number, T(three_digits_count_below_a_hundred), T(thousands_stand_apart_above), T(what_is_no_number_says_so),
      T(counts_are_whole_and_large_ones_are_told_in_words), T(no_exponent_over_forty_orders));
