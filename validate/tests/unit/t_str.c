/* t_str.c - the string builder, UTF-8, and guesses at misspelt names. */
#include "sim/base/str.h"

#include "validate/tests/test.h"

TEST(bytes_are_written_for_a_reader)
{
	static const struct {
		uint64_t n;
		const char *text;
	} row[] = { { 0, "0 B" },
		    { 999, "999 B" },
		    { 1000, "0.9766 KiB" },
		    { 1024, "1 KiB" },
		    { 1048576, "1 MiB" },
		    { UINT64_C(17168290176), "15.99 GiB" },
		    { UINT64_MAX, "16 EiB" } };

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct str s = STR_INIT;

		str_add_bytes(&s, row[i].n);
		CHECK_STR(str_c(&s), row[i].text);
		str_free(&s);
	}
}

TEST(an_empty_string_is_readable_before_anything_was_added)
{
	struct str s = STR_INIT;

	CHECK_STR(str_c(&s), "");
	str_free(&s);
	str_free(NULL);
}

TEST(pieces_are_appended_in_order)
{
	struct str s = STR_INIT;

	str_add(&s, "ab");
	str_addn(&s, "cdef", 2);
	str_addc(&s, 'e');
	str_addf(&s, "%d-%s", 42, "x");
	str_add(&s, "");
	str_addn(&s, NULL, 0);
	CHECK_STR(str_c(&s), "abcde42-x");
	CHECK_U64(s.len, 9);
	str_clear(&s);
	CHECK_STR(str_c(&s), "");
	str_add(&s, "again");
	CHECK_STR(str_c(&s), "again");
	str_free(&s);
	CHECK(!s.p && !s.len && !s.cap);
}

TEST(every_length_around_the_growth_steps_is_kept_whole)
{
	for (size_t n = 0; n < 1100; n++) {
		struct str s = STR_INIT;

		for (size_t i = 0; i < n; i++)
			str_addc(&s, (char)('a' + i % 26));
		str_addf(&s, "%s", "|end");
		CHECK_U64(s.len, n + 4);
		CHECK_U64(strlen(str_c(&s)), n + 4);
		CHECK_STR(str_c(&s) + n, "|end");
		str_free(&s);
	}
}

TEST(quotes_within_are_doubled)
{
	struct str s = STR_INIT;

	str_add_quoted(&s, "a \"b\", c");
	str_add_quoted(&s, "");
	CHECK_STR(str_c(&s), "\"a \"\"b\"\", c\"\"\"");
	str_free(&s);
}

TEST(a_cell_that_a_spreadsheet_would_compute_begins_with_an_apostrophe)
{
	static const char *const formulas[] = {
		"=1+1", "=cmd|' /C calc'!A0", "+x", "-x", "@SUM(A1)", "-1+cmd", "=5", "\t=1", "+1 ns"
	};
	static const char *const others[] = {
		"", "-", "=", "-1", "+1.5e3", "-inf", "a=1", "gemm", " =1", "1-2", "'=1"
	};
	struct str s = STR_INIT;

	for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
		if (!str_is_formula(formulas[i]))
			test_fail(__FILE__, __LINE__, "%s", formulas[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (str_is_formula(others[i]))
			test_fail(__FILE__, __LINE__, "%s", others[i]);
	str_add_cell(&s, "=HYPERLINK(\"x\")");
	str_add_cell(&s, "-1");
	CHECK_STR(str_c(&s), "\"'=HYPERLINK(\"\"x\"\")\"\"-1\"");
	str_free(&s);
}

TEST(an_impossible_length_fails_and_leaves_what_was_there)
{
	struct str s = STR_INIT;

	str_add(&s, "kept");
	str_addn(&s, "x", SIZE_MAX / 2);
	CHECK(s.failed);
	CHECK_STR(str_c(&s), "kept");
	str_add(&s, "not added after a failure");
	CHECK_STR(str_c(&s), "kept");
	str_clear(&s);
	CHECK(!s.failed);
	str_free(&s);
}

TEST(a_prefix_is_a_prefix)
{
	CHECK(str_prefix("dram.size", "dram."));
	CHECK(str_prefix("x", ""));
	CHECK(str_prefix("x", "x"));
	CHECK(!str_prefix("x", "xy"));
	CHECK(str_suffix("a.html", ".html") && !str_suffix(".html", ".html") && !str_suffix("a.htm", ".html"));
	CHECK(!str_prefix("", "x"));
}

static size_t decode(const char *text, uint32_t *cp)
{
	*cp = 0;
	return str_utf8(text, strlen(text), cp);
}

TEST(utf8_is_decoded_at_its_boundaries)
{
	uint32_t cp;

	CHECK(decode("a", &cp) == 1 && cp == 'a');
	CHECK(decode("\x7f", &cp) == 1 && cp == 0x7f);
	CHECK(decode("\xc2\x80", &cp) == 2 && cp == 0x80);
	CHECK(decode("\xdf\xbf", &cp) == 2 && cp == 0x7ff);
	CHECK(decode("\xe0\xa0\x80", &cp) == 3 && cp == 0x800);
	CHECK(decode("\xef\xbf\xbd", &cp) == 3 && cp == 0xfffd);
	CHECK(decode("\xf0\x90\x80\x80", &cp) == 4 && cp == 0x10000);
	CHECK(decode("\xf4\x8f\xbf\xbf", &cp) == 4 && cp == 0x10ffff);
	CHECK(str_utf8("", 0, &cp) == 0);
}

TEST(what_is_not_utf8_is_refused)
{
	static const char *const bad[] = { "\x80",
		                           "\xbf",
		                           "\xc0\x80",
		                           "\xc1\xbf",
		                           "\xe0\x9f\xbf",
		                           "\xf0\x8f\xbf\xbf",
		                           "\xed\xa0\x80",
		                           "\xed\xbf\xbf",
		                           "\xf4\x90\x80\x80",
		                           "\xf8\x88\x80\x80\x80",
		                           "\xff",
		                           "\xfe",
		                           "\xc3",
		                           "\xe2\x82",
		                           "\xf0\x9f\x98",
		                           "\xc3(",
		                           "\xe2\x28\xa1" };
	uint32_t cp;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (decode(bad[i], &cp) != 0)
			test_fail(__FILE__, __LINE__, "row %zu was taken", i);
	CHECK(str_utf8("\xe2\x82\xac", 2, &cp) == 0); /* cut by the length given */
}

static const char *const keys[] = { "size", "banks", "latency", "policy", "bandwidth", "rows" };

static const char *near(const char *word)
{
	const char *n = str_nearest(word, keys, sizeof keys / sizeof *keys);

	return n ? n : "(none)";
}

TEST(a_typing_error_finds_its_word)
{
	CHECK_STR(near("sise"), "size");
	CHECK_STR(near("szie"), "size");
	CHECK_STR(near("siz"), "size");
	CHECK_STR(near("sizes"), "size");
	CHECK_STR(near("SIZE"), "size");
	CHECK_STR(near("bnaks"), "banks");
	CHECK_STR(near("bandwith"), "bandwidth");
	CHECK_STR(near("bandwidht"), "bandwidth");
	CHECK_STR(near("ltncy"), "latency");
}

TEST(no_guess_is_made_from_too_little)
{
	CHECK_STR(near("frequency"), "(none)");
	CHECK_STR(near("x"), "(none)");
	CHECK_STR(near("xy"), "(none)");
	CHECK_STR(near(""), "(none)");
	CHECK_STR(near("bandbandb"), "(none)");
}

TEST(a_word_begun_finds_the_shortest_that_goes_on)
{
	static const char *const models[] = { "qwen3-32b", "llama-3.1-70b", "llama-2-7b", "llama-3.2-1b" };

	CHECK_STR(str_nearest("llama", models, 4), "llama-2-7b");
	CHECK_STR(str_nearest("LLAMA-3", models, 4), "llama-3.2-1b");
	CHECK(!str_nearest("ll", models, 4)); /* too little */
	CHECK(!str_nearest("amall", models, 4));
}

TEST(the_first_of_equally_near_names_wins)
{
	static const char *const two[] = { "bar", "baz" };

	CHECK_STR(str_nearest("bax", two, 2), "bar");
	CHECK_STR(str_nearest("baz", two, 2), "baz");
}

TEST(very_long_words_and_holes_in_the_list_are_harmless)
{
	char word[5000];
	const char *list[] = { NULL, "", word, "abc" };

	memset(word, 'a', sizeof word - 1);
	word[sizeof word - 1] = '\0';
	CHECK(!str_nearest(word, list, 4));
	CHECK_STR(str_nearest("abd", list, 4), "abc");
	word[63] = '\0';
	CHECK(str_nearest(word, list, 4) == word);
	CHECK(!str_nearest("abc", NULL, 0));
}

SUITE(t_str, T(an_empty_string_is_readable_before_anything_was_added), T(pieces_are_appended_in_order),
      T(every_length_around_the_growth_steps_is_kept_whole), T(an_impossible_length_fails_and_leaves_what_was_there),
      T(quotes_within_are_doubled), T(utf8_is_decoded_at_its_boundaries), T(what_is_not_utf8_is_refused),
      T(a_typing_error_finds_its_word), T(no_guess_is_made_from_too_little),
      T(a_word_begun_finds_the_shortest_that_goes_on), T(the_first_of_equally_near_names_wins),
      T(a_cell_that_a_spreadsheet_would_compute_begins_with_an_apostrophe), T(bytes_are_written_for_a_reader),
      T(a_prefix_is_a_prefix), T(very_long_words_and_holes_in_the_list_are_harmless));
