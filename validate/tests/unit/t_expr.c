/* t_expr.c - expressions: what they are worth, and what is refused with which words. */
#include "sim/base/expr.h"

#include <stdlib.h>

#include "validate/tests/test.h"

static const char *const names[] = { "l2.size", "latency_us", "absent", "l2.policy" };

static int find(void *arg, const char *name, struct err *e)
{
	(void)arg;
	for (int i = 0; i < 4; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return err_set(e, ERR_CONFIG, "unknown name '%s'", name);
}

static struct expr_value value(void *arg, int id)
{
	static const struct expr_value v[] = { { EXPR_NUMBER, 67108864, NULL },
		                               { EXPR_NUMBER, 600, NULL },
		                               { EXPR_NULL, 0, NULL },
		                               { EXPR_TEXT, 0, "lru" } };

	(void)arg;
	return v[id];
}

static struct expr_value eval(const char *text)
{
	struct err e = ERR_INIT;
	struct exprs *s = exprs_new(&e);
	struct expr *x = expr_new(s, text, find, NULL, &e);
	struct expr_value v = { EXPR_TEXT, 0, NULL };

	if (!x)
		test_fail(__FILE__, __LINE__, "%s: %s", text, e.msg);
	CHECK_OK(expr_eval(x, value, NULL, &v, &e), e);
	exprs_free(s);
	return v;
}

static double number(const char *text)
{
	struct expr_value v = eval(text);

	if (v.type != EXPR_NUMBER)
		test_fail(__FILE__, __LINE__, "%s is no number", text);
	return v.number;
}

static void refused(const char *text, const char *why)
{
	struct err e = ERR_INIT;
	struct exprs *s = exprs_new(&e);

	if (expr_new(s, text, find, NULL, &e))
		test_fail(__FILE__, __LINE__, "'%s' was taken", text);
	CHECK(e.kind == ERR_CONFIG);
	CHECK_HAS(e.msg, why);
	exprs_free(s);
}

TEST(arithmetic_is_in_doubles_with_the_usual_precedence)
{
	CHECK(number("1 + 2 * 3") == 7);
	CHECK(number("(1 + 2) * 3") == 9);
	CHECK(number("7 / 2") == 3.5);
	CHECK(number("-2 - -3") == 1);
	CHECK(number("7 % 4") == 3);
	CHECK(number("1e3 * .5") == 500);
	CHECK(number("min(3, 2, 5) + max(1, 4) + abs(-1) + round(2.5)") == 2 + 4 + 1 + 3);
	CHECK(number("9007199254740993") == 9007199254740992.0); /* a double, as all */
}

TEST(comparisons_and_words_give_one_or_zero)
{
	CHECK(number("1 < 2 and 2 <= 2 and not 3 == 4") == 1);
	CHECK(number("1 > 2 or 2 != 2") == 0);
	CHECK(number("true and not false") == 1);
	CHECK(number("l2.policy == 'lru'") == 1);
	CHECK(number("l2.policy != \"lru\"") == 0);
}

TEST(names_and_units)
{
	CHECK(number("l2.size == 64 MiB") == 1);
	CHECK(number("l2.size/64MiB") == 1);
	CHECK(number("2.4 TB/s") == 2.4e12);
	CHECK(number("1.4 GHz") == 1.4e9);
	CHECK(number("150 ns") == 150000);
	CHECK(number("latency_us <= 600 and l2.size < 1 GiB") == 1);
	CHECK(number("l2.size + l2.size") == 134217728);
}

TEST(what_is_not_there_is_null)
{
	CHECK(eval("absent + 1").type == EXPR_NULL);
	CHECK(eval("1 / 0").type == EXPR_NULL);
	CHECK(eval("l2.policy").type == EXPR_NULL);
	CHECK(number("absent > 1 or 1 < 2") == 1);
}

TEST(what_is_refused_says_where)
{
	refused("", "empty");
	refused("1 +", "something is missing");
	refused("1 2", "something is missing");
	refused("l2.size <", "something is missing");
	refused("(1 + 2", "a ')' is missing");
	refused("1 + 2)", "without its '(' after '1 + 2'");
	refused("1 < 2 < 3", "second comparison");
	refused("2 ^ 3", "no powers after '2 '");
	refused("1 && 2", "write 'and'");
	refused("l2.size = 3", "write '=='");
	refused("l2.sise > 3", "unknown name 'l2.sise'");
	refused("64 MiBs", "no number with a unit");
	refused("sqrt(4)", "no function 'sqrt'");
	refused("load_extension('x')", "no function");
	refused("1; drop", "no meaning");
	refused("'a", "no partner");
	refused("'a\"b'", "quotation mark in it");
	refused("select 1", "unknown name 'select'");
	refused("0x10", "decimal");
}

/* `n` ones added up. */
static char *ones(size_t n)
{
	char *text = malloc(2 * n);

	CHECK(text && n);
	for (size_t i = 0; i < n; i++)
		memcpy(text + 2 * i, "1+", 2);
	text[2 * n - 1] = '\0';
	return text;
}

/* Each number of such a text was once looked at together with all that follows it. */
TEST(a_long_sum_is_worth_what_it_says_and_a_longer_one_is_refused_in_a_line)
{
	char *most = ones(901), *more = ones(902), *huge = ones(400000);

	CHECK(number(most) == 901);
	refused(more, "...' is no expression: it has more than 900 names, words and signs");
	refused(huge, "...' is no expression: it has more than 900 names, words and signs");
	memcpy(huge + 100, "&&", 2);
	refused(huge, "write 'and' after '...1+1+");
	free(most);
	free(more);
	free(huge);
}

SUITE(t_expr, T(arithmetic_is_in_doubles_with_the_usual_precedence), T(comparisons_and_words_give_one_or_zero),
      T(names_and_units), T(what_is_not_there_is_null), T(what_is_refused_says_where),
      T(a_long_sum_is_worth_what_it_says_and_a_longer_one_is_refused_in_a_line));
