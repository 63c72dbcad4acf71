/* t_doc.c - one document in every format, byte for byte. */
#include "sim/report/doc.h"

#include <math.h>

#include "validate/tests/test.h"

struct kernel {
	const char *name;
	uint64_t ns, n;
};

static const struct kernel kernels[] = { { "gemm", 1500, 3 }, { "a, b", 250, 0 } };

static void bin(struct doc *d, const void *x, size_t i)
{
	const int *from = x;

	doc_int(d, "from", from[i]);
}

static void kernel(struct doc *d, const void *all, size_t i)
{
	static const int bins[] = { 1, -2 };
	const struct kernel *k = (const struct kernel *)all + i;

	if (!d->heads && strcmp(k->name, "left out") == 0)
		return;
	doc_text(d, "name", k->name);
	doc_count(d, "n", k->n);
	doc_ns(d, "us", 2, k->ns);
	doc_real_if(d, "mean_us", 2, k->n, (double)k->ns / 1e3 / (double)k->n);
	if (d->format == OUT_JSON)
		doc_bool(d, "few", k->n < 2);
	doc_open(d, "of", '{');
	doc_text(d, "in", "it");
	doc_table(d, "bins", NULL, k->n ? 2 : 0, bin, bins);
	doc_close(d, '}');
	doc_bytes(d, "bytes", 2048);
}

static void family(struct doc *d, const void *x, size_t i)
{
	(void)x;
	doc_count(d, "family", i);
}

static void whole(struct doc *d, size_t n)
{
	static const double v[] = { 1, 0.5 };

	doc_open(d, NULL, '{');
	doc_text(d, "range", NULL);
	doc_say(d, "%d sentences\n", 1);
	doc_table(d, "kernels", "longest first", n, kernel, kernels);
	doc_table(d, "families", NULL, 1, family, NULL);
	doc_reals(d, "us", v, 2);
	doc_close(d, '}');
}

static void written(void (*make)(struct doc *d, size_t n), size_t n, enum out_format f, const char *want)
{
	struct str s = STR_INIT;
	struct doc d;

	doc_init(&d, f, 0, &s);
	make(&d, n);
	doc_end(&d);
	CHECK(!s.failed);
	CHECK_STR(str_c(&s), want);
	str_free(&s);
}

TEST(people_read_all_tables_and_sentences)
{
	written(whole, 2, OUT_TABLE,
	        "1 sentences\n"
	        "longest first\n"
	        "name  n    us  mean_us  bytes\n"
	        "----  -  ----  -------  -----\n"
	        "gemm  3  1.50     0.50  2 KiB\n"
	        "a, b  0  0.25        -  2 KiB\n"
	        "family\n"
	        "------\n"
	        "     0\n");
}

TEST(csv_has_the_first_table)
{
	written(whole, 2, OUT_CSV, "name,n,us,mean_us,bytes\ngemm,3,1.5,0.5,2048\n\"a, b\",0,0.25,,2048\n");
}

TEST(json_has_members_tables_and_what_is_nested_in_rows)
{
	written(whole, 2, OUT_JSON,
	        "{\n"
	        "  \"range\": null,\n"
	        "  \"kernels\": [\n"
	        "    {\n"
	        "      \"name\": \"gemm\",\n"
	        "      \"n\": 3,\n"
	        "      \"us\": 1.5,\n"
	        "      \"mean_us\": 0.5,\n"
	        "      \"few\": false,\n"
	        "      \"of\": {\n"
	        "        \"in\": \"it\",\n"
	        "        \"bins\": [\n"
	        "          {\n"
	        "            \"from\": 1\n"
	        "          },\n"
	        "          {\n"
	        "            \"from\": -2\n"
	        "          }\n"
	        "        ]\n"
	        "      },\n"
	        "      \"bytes\": 2048\n"
	        "    },\n"
	        "    {\n"
	        "      \"name\": \"a, b\",\n"
	        "      \"n\": 0,\n"
	        "      \"us\": 0.25,\n"
	        "      \"mean_us\": null,\n"
	        "      \"few\": true,\n"
	        "      \"of\": {\n"
	        "        \"in\": \"it\",\n"
	        "        \"bins\": []\n"
	        "      },\n"
	        "      \"bytes\": 2048\n"
	        "    }\n"
	        "  ],\n"
	        "  \"families\": [\n"
	        "    {\n"
	        "      \"family\": 0\n"
	        "    }\n"
	        "  ],\n"
	        "  \"us\": [\n"
	        "    1,\n"
	        "    0.5\n"
	        "  ]\n"
	        "}\n");
}

TEST(a_table_without_rows_has_its_columns)
{
	written(whole, 0, OUT_CSV, "name,n,us,mean_us,bytes\n");
}

/* Row 0 of nothing: its values are not looked at. */
static void nothing(struct doc *d, size_t n)
{
	doc_table(d, NULL, NULL, n, kernel, NULL);
}

TEST(values_of_a_row_that_is_not_there_are_not_evaluated)
{
	written(nothing, 0, OUT_CSV, "name,n,us,mean_us,bytes\n");
	written(nothing, 0, OUT_JSON, "[]\n");
}

static void unknown(struct doc *d, size_t n)
{
	(void)n;
	doc_table_open(d, NULL, "nothing");
	doc_table_close(d, NULL, NULL);
}

TEST(a_table_of_no_rows_that_nothing_describes_is_nothing)
{
	written(unknown, 0, OUT_TABLE, "");
	written(unknown, 0, OUT_CSV, "");
	written(unknown, 0, OUT_JSON, "[]\n");
}

static void alone(struct doc *d, size_t n)
{
	const struct kernel v[] = { kernels[0], { "left out", 0, 0 }, kernels[1] };

	doc_table(d, NULL, NULL, n, kernel, v);
}

TEST(a_document_that_is_a_table_is_a_line_an_object)
{
	written(alone, 3, OUT_JSON,
	        "[\n"
	        "  {\"name\": \"gemm\", \"n\": 3, \"us\": 1.5, \"mean_us\": 0.5, \"few\": false, \"of\": {\"in\": \"it\","
	        " \"bins\": [{\"from\": 1}, {\"from\": -2}]}, \"bytes\": 2048},\n"
	        "  {\"name\": \"a, b\", \"n\": 0, \"us\": 0.25, \"mean_us\": null, \"few\": true, \"of\": {\"in\": \"it\","
	        " \"bins\": []}, \"bytes\": 2048}\n"
	        "]\n");
}

TEST(a_row_that_states_nothing_is_left_out)
{
	written(alone, 3, OUT_CSV, "name,n,us,mean_us,bytes\ngemm,3,1.5,0.5,2048\n\"a, b\",0,0.25,,2048\n");
}

static void one(struct doc *d, size_t n)
{
	doc_record(d, NULL, family, &n);
}

TEST(a_record_is_an_object_or_a_table_of_one_row)
{
	written(one, 0, OUT_JSON, "{\n  \"family\": 0\n}\n");
	written(one, 0, OUT_CSV, "family\n0\n");
}

static void numbers(struct doc *d, const void *x, size_t i)
{
	(void)x, (void)i;
	doc_real(d, "nan", 1, NAN);
	doc_int(d, "int", -5);
	doc_count(d, "count", UINT64_MAX >> 1);
	doc_bool(d, "bool", true);
	doc_text_if(d, "text", false, "unseen");
}

static void number(struct doc *d, size_t n)
{
	(void)n;
	doc_record(d, NULL, numbers, NULL);
}

TEST(what_is_not_known_is_null)
{
	written(number, 0, OUT_JSON,
	        "{\n  \"nan\": null,\n  \"int\": -5,\n  \"count\": 9223372036854775807,\n  \"bool\": true,\n  \"text\": null\n}\n");
	written(number, 0, OUT_CSV, "nan,int,count,bool,text\n,-5,9223372036854775807,1,\n");
}

TEST(lines_of_a_fact_stand_behind_its_label_in_a_table_alone)
{
	struct str got = STR_INIT;
	struct doc d;

	doc_init(&d, OUT_TABLE, 0, &got);
	doc_say_fact(&d, "machine", "two words\n  as it is\n", 0);
	doc_say_fact(&d, "narrow", "two words\nthree", 16);
	doc_say_fact(&d, "empty", "", 80);
	CHECK_STR(str_c(&got), "machine    two words\n             as it is\n"
	                       "narrow     two\n           words\n           three\n");
	str_clear(&got);
	doc_init(&d, OUT_CSV, 0, &got);
	doc_say_fact(&d, "machine", "two words", 0);
	CHECK_STR(str_c(&got), "");
	str_free(&got);
}

static void prose(struct doc *d, size_t n)
{
	static const struct doc_lines lines = { 2, 4, 20 };

	doc_put_lines(d, DOC_TITLE, (struct doc_lines){ 0, 0, 0 }, "a title");
	doc_item(d, true);
	doc_put_lines(d, DOC_TEXT, lines, "a text that is wrapped");
	doc_put_judged(d, OUT_BAD, "wrong", lines, "<why>");
	doc_say(d, "\n  said & done\n");
	doc_table(d, NULL, "longest", n, family, NULL);
	doc_fold(d, "more");
	doc_put_lines(d, DOC_CODE, lines, "code");
	doc_fold(d, NULL);
	doc_item(d, false);
	doc_say(d, "\n");
}

TEST(prose_is_lines_on_a_terminal_and_elements_on_a_page)
{
	struct str s = STR_INIT;
	const char *body;
	struct doc d;

	written(prose, 1, OUT_TABLE,
	        "a title\n  a text that is\n    wrapped\n  wrong: <why>\n\n  said & done\nlongest\nfamily\n------\n     0\n"
	        "  code\n\n");
	written(prose, 1, OUT_CSV, "family\n0\n");
	written(prose, 1, OUT_JSON, "[\n  {\"family\": 0}\n]\n");
	doc_init(&d, OUT_HTML, 0, &s);
	d.name = "<name>";
	prose(&d, 1);
	CHECK_STR(str_c(&s), ""); /* until it is whole */
	doc_end(&d);
	CHECK_HAS(str_c(&s), "<!doctype html>");
	CHECK_HAS(str_c(&s), "<title>&lt;name&gt;</title>\n");
	body = strstr(str_c(&s), "</title>\n");
	CHECK_STR(body,
	          "</title>\n<h1>a title</h1>\n<article><p>a text that is wrapped</p>\n"
	          "<p><span class=\"v bad\">wrong</span>: &lt;why&gt;</p>\n<pre>  said &amp; done\n</pre>\n"
	          "<h2>longest</h2><table><thead><tr><th class=\"n\">family</th></tr></thead>\n<tbody>\n"
	          "<tr><td class=\"n\" data-k=\"family\"><span class=\"c\">0</span></td></tr>\n</tbody></table>\n"
	          "<details><summary class=\"soft\">more</summary><p><code>code</code></p>\n</details>\n</article>\n"
	          "</html>\n");
	str_free(&s);
}

static void dropped(struct doc *d, size_t n)
{
	prose(d, n);
	doc_drop(d);
}

TEST(what_is_dropped_or_says_nothing_is_no_page)
{
	written(dropped, 1, OUT_HTML, "");
	written(dropped, 1, OUT_TABLE, "");
	written(unknown, 0, OUT_HTML, "");
}

TEST(sql_is_csvs_table_under_the_documents_name)
{
	written(whole, 2, OUT_SQL,
	        "BEGIN;\nCREATE TABLE \"npusim\" (\"name\" TEXT, \"n\" BIGINT, \"us\" DOUBLE PRECISION,"
	        " \"mean_us\" DOUBLE PRECISION, \"bytes\" BIGINT);\n"
	        "INSERT INTO \"npusim\" VALUES ('gemm', 3, 1.5, 0.5, 2048);\n"
	        "INSERT INTO \"npusim\" VALUES ('a, b', 0, 0.25, NULL, 2048);\nCOMMIT;\n");
}

SUITE(t_doc, T(prose_is_lines_on_a_terminal_and_elements_on_a_page), T(what_is_dropped_or_says_nothing_is_no_page),
      T(sql_is_csvs_table_under_the_documents_name), T(lines_of_a_fact_stand_behind_its_label_in_a_table_alone),
      T(people_read_all_tables_and_sentences), T(csv_has_the_first_table),
      T(json_has_members_tables_and_what_is_nested_in_rows), T(a_table_without_rows_has_its_columns),
      T(values_of_a_row_that_is_not_there_are_not_evaluated), T(a_table_of_no_rows_that_nothing_describes_is_nothing),
      T(a_document_that_is_a_table_is_a_line_an_object), T(a_row_that_states_nothing_is_left_out),
      T(a_record_is_an_object_or_a_table_of_one_row), T(what_is_not_known_is_null));
