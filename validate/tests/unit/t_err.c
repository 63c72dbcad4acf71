/* t_err.c - the error value: what it says, how it is shown, what it does when there is too much to say. */
#include "sim/base/err.h"

#include <errno.h>

#include "validate/tests/test.h"

TEST(setting_and_adding_return_minus_one_and_read_as_one_sentence)
{
	struct err e = ERR_INIT;

	CHECK(err_set(&e, ERR_CONFIG, "%d is not a power of two", 3) == -1);
	CHECK(err_add(&e, "reading '%s'", "banks") == -1);
	CHECK(err_add(&e, "building 'dram'") == -1);
	CHECK_STR(e.msg, "3 is not a power of two, while reading 'banks', while building 'dram'");
	CHECK(e.kind == ERR_CONFIG);
	err_clear(&e);
	err_set(&e, ERR_CONFIG, "did you mean 'cores'?");
	err_add(&e, "reading '%s'", "coars");
	CHECK_STR(e.msg, "did you mean 'cores'? while reading 'coars'");
}

TEST(nobody_asking_for_the_reason_is_fine)
{
	CHECK(err_set(NULL, ERR_IO, "x") == -1);
	CHECK(err_sys(NULL, ERR_IO, ENOENT, "x") == -1);
	CHECK(err_add(NULL, "x") == -1);
	CHECK(err_at(NULL, "f", 1, 1) == -1);
	err_clear(NULL);
}

TEST(a_system_error_ends_with_its_reason_in_lower_case)
{
	struct err e = ERR_INIT;

	CHECK(err_sys(&e, ERR_IO, ENOENT, "cannot read '%s'", "a.yaml") == -1);
	CHECK_STR(e.msg, "cannot read 'a.yaml': no such file or directory");
}

TEST(the_first_place_stays)
{
	struct err e = ERR_INIT;

	err_set(&e, ERR_CONFIG, "bad");
	CHECK(err_at(&e, "inner.yaml", 3, 7) == -1);
	err_at(&e, "outer.yaml", 1, 1);
	CHECK_STR(e.file, "inner.yaml");
	CHECK_U64(e.line, 3);
	CHECK_U64(e.col, 7);
}

TEST(text_that_does_not_fit_ends_in_dots)
{
	struct err e = ERR_INIT;
	char longer[3000];

	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	err_set(&e, ERR_IO, "%s", longer);
	CHECK_U64(strlen(e.msg), sizeof e.msg - 1);
	CHECK_STR(e.msg + sizeof e.msg - 4, "...");
	err_add(&e, "%s", longer);
	CHECK_U64(strlen(e.msg), sizeof e.msg - 1);
	CHECK_STR(e.msg + sizeof e.msg - 4, "...");
	err_clear(&e);
	err_sys(&e, ERR_IO, ENOENT, "%s", longer);
	CHECK_STR(e.msg + sizeof e.msg - 4, "...");
}

TEST(the_last_context_that_fits_exactly_is_whole)
{
	struct err e = ERR_INIT;
	char fill[sizeof e.msg];
	size_t n = sizeof e.msg - 1 - strlen(", while abc");

	memset(fill, 'x', n);
	fill[n] = '\0';
	err_set(&e, ERR_IO, "%s", fill);
	err_add(&e, "abc");
	CHECK_STR(e.msg + n, ", while abc");
	err_clear(&e);
	err_set(&e, ERR_IO, "x%s", fill);
	err_add(&e, "abc");
	CHECK_U64(strlen(e.msg), sizeof e.msg - 1);
	CHECK_STR(e.msg + sizeof e.msg - 4, "...");
}

TEST(clearing_makes_it_usable_again)
{
	struct err e = ERR_INIT;

	err_set(&e, ERR_IO, "one");
	err_at(&e, "f", 1, 2);
	err_clear(&e);
	CHECK(e.kind == ERR_NONE && !e.file[0] && !e.msg[0] && e.line == 0);
	err_set(&e, ERR_STUCK, "two");
	CHECK_STR(e.msg, "two");
}

static const char *formatted(struct err *e, const char *file, int line, int col, const char *src)
{
	static char buf[2048]; /* one test, one process */

	err_set(e, ERR_CONFIG, "bad");
	if (file)
		err_at(e, file, line, col);
	snprintf(e->src, sizeof e->src, "%s", src);
	CHECK_U64(err_format(e, buf, sizeof buf), strlen(buf));
	err_clear(e);
	return buf;
}

TEST(the_place_is_shown_as_far_as_it_is_known)
{
	struct err e = ERR_INIT;

	CHECK_STR(formatted(&e, NULL, 0, 0, ""), "bad");
	CHECK_STR(formatted(&e, "a.yaml", 0, 0, ""), "a.yaml: bad");
	CHECK_STR(formatted(&e, "a.yaml", 4, 0, ""), "a.yaml:4: bad");
	CHECK_STR(formatted(&e, "a.yaml", 4, 9, ""), "a.yaml:4:9: bad");
}

TEST(the_caret_stands_under_the_column)
{
	struct err e = ERR_INIT;

	CHECK_STR(formatted(&e, "a", 1, 1, "size: 3"), "a:1:1: bad\n  size: 3\n  ^");
	CHECK_STR(formatted(&e, "a", 1, 7, "size: 3"), "a:1:7: bad\n  size: 3\n        ^");
	CHECK_STR(formatted(&e, "a", 1, 8, "size: 3"), "a:1:8: bad\n  size: 3\n         ^"); /* one past the end */
}

TEST(a_column_outside_the_line_gets_no_caret)
{
	struct err e = ERR_INIT;

	CHECK_STR(formatted(&e, "a", 1, 9, "size: 3"), "a:1:9: bad\n  size: 3");
	CHECK_STR(formatted(&e, "a", 1, 0, "size: 3"), "a:1: bad\n  size: 3");
}

TEST(the_caret_counts_characters_and_repeats_tabs)
{
	struct err e = ERR_INIT;

	CHECK_STR(formatted(&e, "a", 1, 4, "\xc3\xa4\xe2\x82\xac: x"), "a:1:4: bad\n  \xc3\xa4\xe2\x82\xac: x\n     ^");
	CHECK_STR(formatted(&e, "a", 1, 3, "\ta x"), "a:1:3: bad\n  \ta x\n  \t ^");
}

TEST(control_characters_of_the_input_do_not_reach_the_terminal)
{
	struct err e = ERR_INIT;
	char buf[256];

	err_set(&e, ERR_CONFIG, "unknown key '%s'", "\033[31mred\x7f");
	err_format(&e, buf, sizeof buf);
	CHECK_STR(buf, "unknown key '?[31mred?'");
}

TEST(formatting_into_a_small_buffer_returns_the_whole_length)
{
	struct err e = ERR_INIT;
	char buf[8];

	err_set(&e, ERR_IO, "0123456789");
	CHECK_U64(err_format(&e, buf, sizeof buf), 10);
	CHECK_STR(buf, "0123456");
	CHECK_U64(err_format(&e, NULL, 0), 10);
	CHECK_U64(err_format(&e, buf, 1), 10);
	CHECK_STR(buf, "");
}

TEST(each_kind_has_its_exit_code)
{
	static const struct {
		enum err_kind kind;
		int code;
	} rows[] = { { ERR_BOUND, 1 }, { ERR_USAGE, 2 }, { ERR_CONFIG, 3 },
		     { ERR_IO, 4 },    { ERR_NOMEM, 4 }, { ERR_STUCK, 5 } };
	struct err e = ERR_INIT;

	CHECK_U64(err_exit_code(&e), 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		err_set(&e, rows[i].kind, "x");
		CHECK_U64(err_exit_code(&e), rows[i].code);
		err_clear(&e);
	}
}

TEST(no_memory_says_for_what_where_that_is_known)
{
	struct err e = ERR_INIT;

	CHECK(err_nomem(&e, "for the replay") == -1);
	CHECK(e.kind == ERR_NOMEM);
	CHECK_STR(e.msg, "no memory for the replay");
	err_clear(&e);
	CHECK(err_nomem(&e, NULL) == -1);
	CHECK_STR(e.msg, "out of memory");
	CHECK(err_nomem(NULL, "for nobody") == -1);
}

SUITE(t_err, T(setting_and_adding_return_minus_one_and_read_as_one_sentence), T(nobody_asking_for_the_reason_is_fine),
      T(a_system_error_ends_with_its_reason_in_lower_case), T(the_first_place_stays),
      T(text_that_does_not_fit_ends_in_dots), T(the_last_context_that_fits_exactly_is_whole),
      T(clearing_makes_it_usable_again), T(the_place_is_shown_as_far_as_it_is_known),
      T(the_caret_stands_under_the_column), T(a_column_outside_the_line_gets_no_caret),
      T(the_caret_counts_characters_and_repeats_tabs), T(control_characters_of_the_input_do_not_reach_the_terminal),
      T(formatting_into_a_small_buffer_returns_the_whole_length), T(each_kind_has_its_exit_code),
      T(no_memory_says_for_what_where_that_is_known));
