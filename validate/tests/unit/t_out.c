/* t_out.c - the three formats, byte for byte. */
#include "sim/ui/out.h"
#include "sim/ui/outfile.h"

#include <math.h>

#include "sim/ui/progress.h"
#include "validate/tests/test.h"

static const struct out_col cols[] = {
	{ "name", OUT_TEXT, 0 }, { "n", OUT_INT, 0 }, { "time us", OUT_REAL, 2 }, { "note", OUT_TEXT, 0 }
};

static struct out_table *sample(void)
{
	struct out_table *t = out_table_new(cols, 4, "two rows");

	out_text(t, "gemm");
	out_int(t, 1234567);
	out_real(t, 3.14159);
	out_text(t, "a, \"b\"");
	out_text(t, "\xc3\xa4tt\xe2\x82\xac");
	out_int(t, -1);
	out_null(t);
	out_text(t, "");
	return t;
}

static void written(struct out_table *t, enum out_format f, const char *want)
{
	struct str s = STR_INIT;

	out_table_write(t, f, 0, &s);
	CHECK(!s.failed);
	CHECK_STR(str_c(&s), want);
	str_free(&s);
}

TEST(a_table_is_aligned_by_characters_with_numbers_to_the_right)
{
	struct out_table *t = sample();

	written(t, OUT_TABLE,
	        "two rows\n"
	        "name        n  time us  note\n"
	        "----  -------  -------  ------\n"
	        "gemm  1234567     3.14  a, \"b\"\n"
	        "\xc3\xa4tt\xe2\x82\xac       -1        -\n");
	out_table_free(t);
}

TEST(bytes_are_said_in_units_in_a_table_and_counted_elsewhere)
{
	static const struct out_col two[] = { { "op", OUT_TEXT, 0 }, { "bytes", OUT_BYTES, 0 } };
	struct out_table *t = out_table_new(two, 2, NULL);

	out_text(t, "a");
	out_int(t, 8529920);
	out_text(t, "b");
	out_int(t, 96);
	out_text(t, "c");
	out_null(t);
	written(t, OUT_TABLE, "op      bytes\n--  ---------\na   8.135 MiB\nb        96 B\nc           -\n");
	written(t, OUT_CSV, "op,bytes\na,8529920\nb,96\nc,\n");
	out_table_free(t);
}

static void fitted(const struct out_table *t, size_t width, const char *want)
{
	struct str s = STR_INIT;

	out_table_fit(t, width, &s);
	CHECK(!s.failed);
	CHECK_STR(str_c(&s), want);
	str_free(&s);
}

/* The longest text gives first, numbers never, and what differs still does. */
TEST(a_table_that_is_too_wide_is_cut_where_that_loses_least)
{
	static const struct out_col cols[] = { { "name", OUT_TEXT, 0 }, { "n", OUT_INT, 0 }, { "note", OUT_TEXT, 0 } };
	struct out_table *t = out_table_new(cols, 3, NULL);

	out_text(t, "a kernel of a long name, one");
	out_int(t, 1234567);
	out_text(t, "short");
	out_text(t, "b");
	out_int(t, 2);
	out_text(t, "\xc3\xa4 note");
	fitted(t, 0,
	       "name                                n  note\n"
	       "----------------------------  -------  ------\n"
	       "a kernel of a long name, one  1234567  short\n"
	       "b                                   2  \xc3\xa4 note\n");
	fitted(t, 30,
	       "name                 n  note\n"
	       "-------------  -------  ------\n"
	       "a kernel of \xe2\x80\xa6  1234567  short\n"
	       "b                    2  \xc3\xa4 note\n");
	/* no shorter than says something */
	fitted(t, 5,
	       "name              n  note\n"
	       "----------  -------  ------\n"
	       "a kernel \xe2\x80\xa6  1234567  short\n"
	       "b                 2  \xc3\xa4 note\n");
	out_table_free(t);
}

TEST(two_texts_that_differ_are_not_cut_alike)
{
	static const struct out_col cols[] = { { "name", OUT_TEXT, 0 }, { "n", OUT_INT, 0 } };
	struct out_table *t = out_table_new(cols, 2, NULL);
	struct str s = STR_INIT;

	out_text(t, "the same beginning, one");
	out_int(t, 1);
	out_text(t, "the same beginning, two");
	out_int(t, 2);
	out_table_fit(t, 12, &s);
	CHECK_HAS(str_c(&s), "the same beginning, o");
	CHECK_HAS(str_c(&s), "the same beginning, t");
	str_free(&s);
	out_table_free(t);
}

TEST(csv_quotes_what_needs_it_and_tells_null_from_empty)
{
	struct out_table *t = sample();

	written(t, OUT_CSV,
	        "name,n,time us,note\ngemm,1234567,3.14159,\"a, \"\"b\"\"\"\n"
	        "\xc3\xa4tt\xe2\x82\xac,-1,,\"\"\n");
	out_table_free(t);
}

TEST(csv_makes_no_formula_of_a_name_and_leaves_numbers)
{
	static const struct out_col cols[] = { { "name", OUT_TEXT, 0 }, { "n", OUT_INT, 0 } };
	struct out_table *t = out_table_new(cols, 2, NULL);

	out_text(t, "=1+1");
	out_int(t, -5);
	out_text(t, "-5");
	out_int(t, 5);
	written(t, OUT_CSV, "name,n\n\"'=1+1\",-5\n-5,5\n");
	out_table_free(t);
}

TEST(html_keeps_types_and_says_the_column_in_every_cell)
{
	static const struct out_col two[] = { { "a<b", OUT_TEXT, 0 }, { "n", OUT_REAL, 1 } };
	struct out_table *t = out_table_new(two, 2, "x & y");

	out_text(t, "<b>\033\xff\"");
	out_real(t, 2.25);
	out_mark(t, OUT_GOOD, -0.5);
	out_null(t);
	out_real(t, 1);
	written(t, OUT_HTML,
	        "<h2>x &amp; y</h2><table><thead><tr><th>a&lt;b</th><th class=\"n\">n</th></tr></thead>\n"
	        "<tbody>\n"
	        "<tr><td data-k=\"a&lt;b\"><span class=\"c\">&lt;b&gt;??&quot;</span></td>"
	        "<td class=\"n\" data-k=\"n\"><span class=\"c\"><span class=\"v good\">2.2</span>"
	        "<span class=\"bar loss\" style=\"width:50px\"></span></span></td></tr>\n"
	        "<tr><td data-k=\"a&lt;b\"><span class=\"c\">&ndash;</span></td>"
	        "<td class=\"n\" data-k=\"n\"><span class=\"c\">1.0</span></td></tr>\n"
	        "</tbody></table>\n");
	out_table_free(t);
}

/* A few columns have room on a phone; rows of more are laid out one cell below another there. */
TEST(html_stacks_the_cells_of_four_columns_and_not_of_three)
{
	static const char *const want[] = { NULL, NULL, NULL, "<table><thead>", "<table class=\"stack\"><thead>" };

	for (int n = 3; n <= 4; n++) {
		struct out_table *t = out_table_new(cols, n, NULL);
		struct str s = STR_INIT;

		out_table_write(t, OUT_HTML, 0, &s);
		CHECK_HAS(str_c(&s), want[n]);
		str_free(&s);
		out_table_free(t);
	}
}

TEST(sql_quotes_text_and_names_and_tells_columns_apart)
{
	static const struct out_col four[] = {
		{ "us", OUT_REAL, 3 }, { "US", OUT_INT, 0 }, { "it\"s", OUT_TEXT, 0 }, { "b", OUT_BYTES, 0 }
	};
	struct out_table *t = out_table_new(four, 4, "run");

	out_real(t, 1.5);
	out_int(t, -3);
	out_text(t, "it's; DROP TABLE run; --");
	out_int(t, 2048);
	for (int i = 0; i < 4; i++)
		out_null(t);
	written(t, OUT_SQL,
	        "BEGIN;\nCREATE TABLE \"run\" (\"us\" DOUBLE PRECISION, \"US_2\" BIGINT, \"it\"\"s\" TEXT, \"b\" BIGINT);\n"
	        "INSERT INTO \"run\" VALUES (1.5, -3, 'it''s; DROP TABLE run; --', 2048);\n"
	        "INSERT INTO \"run\" VALUES (NULL, NULL, NULL, NULL);\nCOMMIT;\n");
	out_table_free(t);
}

TEST(no_rows_is_still_a_document)
{
	struct out_table *t = out_table_new(cols, 2, NULL);

	written(t, OUT_TABLE, "name  n\n----  -\n");
	written(t, OUT_CSV, "name,n\n");
	out_table_free(t);
	out_table_free(NULL);
}

TEST(reals_have_nine_digits_and_no_minus_zero)
{
	static const struct out_col one[] = { { "x", OUT_REAL, 3 } };
	struct out_table *t = out_table_new(one, 1, NULL);

	out_real(t, 1.0 / 3);
	out_real(t, -0.0);
	out_real(t, -0.0001);
	out_real(t, 1e300);
	out_real(t, NAN);
	out_real(t, -INFINITY);
	written(t, OUT_CSV, "x\n0.333333333\n0\n-0.0001\n1e+300\n\n\n");
	out_table_free(t);
	t = out_table_new(one, 1, NULL);
	out_real(t, -0.0001);
	out_real(t, -0.001);
	out_real(t, 2.5);
	written(t, OUT_TABLE, "     x\n------\n 0.000\n-0.001\n 2.500\n");
	out_table_free(t);
}

TEST(integers_reach_their_ends)
{
	static const struct out_col one[] = { { "x", OUT_INT, 0 } };
	struct out_table *t = out_table_new(one, 1, NULL);

	out_int(t, INT64_MIN);
	out_int(t, INT64_MAX);
	written(t, OUT_CSV, "x\n-9223372036854775808\n9223372036854775807\n");
	out_table_free(t);
}

TEST(hostile_text_stays_on_its_line_and_in_its_cell)
{
	static const struct out_col one[] = { { "x", OUT_TEXT, 0 }, { "y", OUT_TEXT, 0 } };
	struct out_table *t = out_table_new(one, 2, NULL);

	out_text(t, "a\nb\033[31m\tc");
	out_text(t, "\xff\xc3(\x7f");
	written(t, OUT_TABLE,
	        "x           y\n----------  ----\na b?[31m c  ?"
	        "?(?\n");
	written(t, OUT_CSV, "x,y\n\"a\nb\033[31m\tc\",\xff\xc3(\x7f\n");
	out_table_free(t);
}

TEST(nested_json_is_indented_and_empty_containers_are_short)
{
	struct str s = STR_INIT;
	struct out_json j;

	out_json_init(&j, &s);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "a", "x");
	out_json_open(&j, "list", '[');
	out_json_int(&j, NULL, INT64_MIN);
	out_json_u64(&j, NULL, UINT64_MAX);
	out_json_real(&j, NULL, 0.1);
	out_json_real(&j, NULL, NAN);
	out_json_bool(&j, NULL, true);
	out_json_null(&j, NULL);
	out_json_open(&j, NULL, '{');
	out_json_close(&j, '}');
	out_json_close(&j, ']');
	out_json_open(&j, "empty", '[');
	out_json_close(&j, ']');
	out_json_text(&j, "none", NULL);
	out_json_close(&j, '}');
	CHECK_STR(str_c(&s), "{\n  \"a\": \"x\",\n  \"list\": [\n    -9223372036854775808,\n    18446744073709551615,\n"
	                     "    0.1,\n    null,\n"
	                     "    true,\n    null,\n    {}\n  ],\n  \"empty\": [],\n  \"none\": null\n}\n");
	str_clear(&s);
	out_json_init(&j, &s);
	j.pretty = false;
	out_json_open(&j, NULL, '[');
	out_json_int(&j, NULL, 1);
	out_json_int(&j, NULL, 2);
	out_json_close(&j, ']');
	CHECK_STR(str_c(&s), "[1, 2]");
	str_free(&s);
}

TEST(formats_are_known_by_name)
{
	struct err e = ERR_INIT;
	enum out_format f = OUT_TABLE;

	for (int i = 0; i < OUT_FORMATS; i++) {
		CHECK_OK(out_format_parse(out_format_names[i], &f, &e), e);
		CHECK((int)f == i);
	}
	CHECK(out_format_parse("xml", &f, &e) == -1);
	CHECK(e.kind == ERR_USAGE);
	CHECK_STR(e.msg, "unknown format 'xml': it is one of table, csv, json, html or sql");
}

TEST(a_full_disk_is_an_error)
{
	struct str s = STR_INIT;
	struct err e = ERR_INIT;
	FILE *f = fopen("/dev/full", "w");

	if (!f)
		test_skip("not run: no /dev/full here");
	str_add(&s, "short text that only fflush finds out about");
	CHECK(outfile_print(&s, f, &e) == -1);
	CHECK(e.kind == ERR_IO);
	CHECK_STR(e.msg, "cannot write the output: no space left on device");
	fclose(f);
	str_free(&s);
}

TEST(a_document_without_memory_is_an_error_and_writes_nothing)
{
	struct str s = STR_INIT;
	struct err e = ERR_INIT;
	char path[400];
	FILE *f = fopen(test_path(path, sizeof path, "out"), "w");

	CHECK(f);
	str_add(&s, "half");
	s.failed = true;
	CHECK(outfile_print(&s, f, &e) == -1);
	CHECK(e.kind == ERR_NOMEM);
	CHECK(ftell(f) == 0);
	err_clear(&e);
	str_clear(&s);
	out_table_write(NULL, OUT_CSV, 0, &s);
	CHECK(outfile_print(&s, f, &e) == -1);
	fclose(f);
	str_free(&s);
}

TEST(everything_is_written_including_nothing)
{
	struct str s = STR_INIT;
	struct err e = ERR_INIT;
	char path[400], back[32] = "";
	FILE *f = fopen(test_path(path, sizeof path, "out"), "w+");

	CHECK(f);
	CHECK_OK(outfile_print(&s, f, &e), e);
	str_addn(&s, "a\0b\n", 4);
	CHECK_OK(outfile_print(&s, f, &e), e);
	rewind(f);
	CHECK_U64(fread(back, 1, sizeof back, f), 4);
	CHECK(memcmp(back, "a\0b\n", 4) == 0);
	fclose(f);
	str_free(&s);
}

TEST(no_progress_is_shown_where_no_terminal_is)
{
	struct progress *p = progress_new("sweep", "points", 100); /* stderr is a file here, or captured */

	if (p) {
		progress_free(p);
		test_skip("not run: stderr is a terminal");
	}
	progress_set(p, 50);
	progress_free(p);
}

SUITE(t_out, T(a_table_is_aligned_by_characters_with_numbers_to_the_right),
      T(bytes_are_said_in_units_in_a_table_and_counted_elsewhere),
      T(a_table_that_is_too_wide_is_cut_where_that_loses_least), T(two_texts_that_differ_are_not_cut_alike),
      T(csv_quotes_what_needs_it_and_tells_null_from_empty), T(html_keeps_types_and_says_the_column_in_every_cell),
      T(html_stacks_the_cells_of_four_columns_and_not_of_three), T(sql_quotes_text_and_names_and_tells_columns_apart),
      T(no_rows_is_still_a_document), T(reals_have_nine_digits_and_no_minus_zero), T(integers_reach_their_ends),
      T(hostile_text_stays_on_its_line_and_in_its_cell), T(nested_json_is_indented_and_empty_containers_are_short),
      T(formats_are_known_by_name), T(a_full_disk_is_an_error),
      T(a_document_without_memory_is_an_error_and_writes_nothing), T(everything_is_written_including_nothing),
      T(no_progress_is_shown_where_no_terminal_is), T(csv_makes_no_formula_of_a_name_and_leaves_numbers));
