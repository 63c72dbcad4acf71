/* t_re.c - expressions of strangers: what is taken matches as regcomp has it, what would take too much is refused at once. */
#include "sim/base/re.h"

#include <string.h>

#include "validate/tests/test.h"

static bool matches(const char *text, const char *in)
{
	char why[128];
	regex_t re;
	bool is;

	CHECK(re_compile(&re, text, REG_NOSUB, why, sizeof why) == 0);
	is = regexec(&re, in, 0, NULL, 0) == 0;
	regfree(&re);
	return is;
}

static void refused(const char *text, const char *part)
{
	char why[128] = "";
	regex_t re;

	CHECK(re_compile(&re, text, 0, why, sizeof why) == -1);
	CHECK_HAS(why, part);
}

TEST(expressions_match_as_ever)
{
	CHECK(matches("^k_([0-9]+)x([0-9]+)(_coop)?$", "k_64x128_coop"));
	CHECK(matches("^[](){255}]{3}$", "]{5") && !matches("^[](){255}]{3}$", "]"));
	CHECK(matches("^[^]{]*[[:digit:]]{2,}\\{1$", "ab12{1"));
	CHECK(matches("(a{100}){99}|b", "b"));
	CHECK(matches("", "anything"));
}

TEST(what_would_take_too_much_is_refused)
{
	static char deep[400];

	refused("((((x{255}){255}){255}){255})", "too long");
	refused("(x{255}y{2,255}){100,}", "too long");
	refused("(x{99999})", "too long");
	refused("(a|b)\\1", "looks back");
	refused("(x", "");
	for (size_t i = 0; i < 100; i++) {
		deep[i] = '(';
		deep[100 + i] = 'x';
		deep[200 + i] = ')';
	}
	refused(deep, "too deep");
}

SUITE(t_re, T(expressions_match_as_ever), T(what_would_take_too_much_is_refused));
