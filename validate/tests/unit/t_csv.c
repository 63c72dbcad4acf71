/* t_csv.c - rows out of bytes, gzip or not, and the numbers and units that profilers write for people. */
#include <math.h>
#include <stdlib.h>
#include <zlib.h>

#include "traces/text/csv.h"
#include "traces/text/measure.h"
#include "validate/tests/test.h"

struct table {
	struct input *in;
	struct csv *csv;
	struct err e;
};

static void up_bytes(struct table *t, const void *bytes, size_t n)
{
	memset(t, 0, sizeof *t);
	t->in = input_mem(bytes, n, "x.csv", &t->e);
	CHECK(t->in);
	t->csv = csv_new(t->in, &t->e);
	CHECK(t->csv);
}

static void up(struct table *t, const char *text)
{
	up_bytes(t, text, strlen(text));
}

static void down(struct table *t)
{
	csv_free(t->csv);
	input_free(t->in);
}

/* The next row's fields joined by bars. */
static const char *row(struct table *t)
{
	static char all[4096];
	size_t len = 0;

	if (csv_row(t->csv, &t->e) != 1)
		return t->e.kind == ERR_NONE ? "END" : t->e.msg;
	for (size_t i = 0; i < csv_count(t->csv); i++)
		len += (size_t)snprintf(all + len, sizeof all - len, "%s%s", i ? "|" : "", csv_field(t->csv, i));
	return all;
}

/* --- rows ------------------------------------------------------------------------------------------------------ */

TEST(quotes_line_ends_and_widths_are_read_as_written)
{
	struct table t;

	up(&t, "a,b,c\r\n\"x, y\",\"say \"\"hi\"\"\",\n\n\"two\nlines\",it's \"5\" wide\n,,\nlast\rone,2");
	CHECK_STR(row(&t), "a|b|c");
	CHECK_STR(row(&t), "x, y|say \"hi\"|");
	CHECK_U64(csv_line(t.csv), 2);
	CHECK_STR(row(&t), "");
	CHECK_U64(csv_count(t.csv), 1);
	CHECK_STR(row(&t), "two\nlines|it's \"5\" wide");
	CHECK_U64(csv_line(t.csv), 4);
	CHECK_STR(row(&t), "||");
	CHECK_U64(csv_line(t.csv), 6);
	CHECK_STR(row(&t), "last\rone|2");
	CHECK_STR(csv_field(t.csv, 9), "");
	CHECK_STR(row(&t), "END");
	down(&t);
	up(&t, "\xef\xbb\xbf\"a\"\r\nb,");
	CHECK_STR(row(&t), "a");
	CHECK_STR(row(&t), "b|");
	CHECK_STR(row(&t), "END");
	down(&t);
}

TEST(broken_rows_name_their_line)
{
	struct table t;

	up(&t, "a\n\"b\nc,d");
	CHECK_STR(row(&t), "a");
	CHECK_HAS(row(&t), "a quote is opened in this row and never closed");
	CHECK_U64(t.e.line, 2);
	down(&t);
	up(&t, "\"a\"b,c");
	CHECK_HAS(row(&t), "text stands behind a closing quote");
	down(&t);
	up_bytes(&t, "a\0b,c", 5);
	CHECK_HAS(row(&t), "a zero byte");
	down(&t);
}

TEST(rows_are_counted_and_the_input_stands_at_its_beginning)
{
	struct table t;
	size_t n;

	up(&t, "a,b\n1,2\n\n\"two\nlines\",3");
	CHECK(csv_count_rows(t.in, &n, &t.e) == 0);
	CHECK_U64(n, 4);
	CHECK_STR(row(&t), "a|b");
	down(&t);
	up(&t, "a\n\"open");
	CHECK(csv_count_rows(t.in, &n, &t.e) == -1 && t.e.line == 2);
	down(&t);
}

TEST(endless_fields_and_rows_are_refused_in_bounded_memory)
{
	const size_t n = 10u << 20;
	char *big = malloc(n);
	struct table t;

	CHECK(big);
	memset(big, 'x', n);
	up_bytes(&t, big, n);
	CHECK_HAS(row(&t), "a field is longer than 1 MiB");
	down(&t);
	big[0] = '"';
	up_bytes(&t, big, n);
	CHECK_HAS(row(&t), "a field is longer than 1 MiB");
	down(&t);
	for (size_t i = 0; i < n; i += 100000)
		big[i] = ',';
	up_bytes(&t, big, n);
	CHECK_HAS(row(&t), "a row is longer than 4 MiB");
	down(&t);
	memset(big, ',', n);
	up_bytes(&t, big, n);
	CHECK_HAS(row(&t), "a row has more than 16384 fields");
	down(&t);
	free(big);
}

static bool is_head(void *arg, const char *line, size_t n)
{
	size_t *seen = arg;

	*seen += n;
	return n >= 4 && memcmp(line, "HEAD", 4) == 0;
}

TEST(chatter_before_the_header_is_no_csv)
{
	char *text = malloc(700000);
	size_t seen = 0;
	struct table t;

	CHECK(text);
	strcpy(text, "an open \" quote\r\n");
	memset(text + 17, 'y', 600000);
	strcpy(text + 600017, "\nHEAD,b\n1,2\n");
	up(&t, text);
	CHECK(csv_skip_to(t.csv, is_head, &seen, &t.e) == 1);
	CHECK_U64(seen, 15 + CSV_LINE_SEEN + 6);
	CHECK_STR(row(&t), "HEAD|b");
	CHECK_U64(csv_line(t.csv), 3);
	CHECK_STR(row(&t), "1|2");
	CHECK(csv_skip_to(t.csv, is_head, &seen, &t.e) == 0);
	down(&t);
	free(text);
}

/* --- gzip ------------------------------------------------------------------------------------------------------ */

static size_t zip(const char *text, size_t n, unsigned char *out, size_t cap)
{
	z_stream z;

	memset(&z, 0, sizeof z);
	CHECK(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	z.next_in = (Bytef *)(uintptr_t)text;
	z.avail_in = (uInt)n;
	z.next_out = out;
	z.avail_out = (uInt)cap;
	CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
	n = cap - z.avail_out;
	deflateEnd(&z);
	return n;
}

TEST(gzip_is_taken_off_member_by_member)
{
	unsigned char z[512] = { 0 };
	size_t n = zip("a,b\n1,", 6, z, sizeof z);
	char digest[INPUT_DIGEST], again[INPUT_DIGEST];
	struct table t;

	n += zip("2\n", 2, z + n, sizeof z - n);
	up_bytes(&t, z, n + 20); /* and padding */
	CHECK_STR(row(&t), "a|b");
	CHECK_STR(row(&t), "1|2");
	CHECK_STR(row(&t), "END");
	CHECK(input_zipped(t.in));
	CHECK_OK(input_digest(t.in, digest, &t.e), t.e);
	CHECK_OK(input_digest(t.in, again, &t.e), t.e);
	CHECK_STR(digest, again);
	down(&t);
	up_bytes(&t, z, n - 4);
	CHECK_STR(row(&t), "a|b");
	CHECK_HAS(row(&t), "'x.csv' ends in the middle of its gzip stream");
	down(&t);
	memset(z + 12, 0xff, 4);
	up_bytes(&t, z, n);
	CHECK_HAS(row(&t), "'x.csv' is damaged: its gzip stream breaks");
	down(&t);
}

/* --- numbers --------------------------------------------------------------------------------------------------- */

TEST(numbers_lose_their_thousands_and_nothing_else)
{
	static const struct {
		const char *text, *point, *comma;
	} all[] = {
		{ "4,963,609,951.19", "4963609951.19", NULL },
		{ "14,103,936", "14103936", NULL },
		{ "9920", "9920", "9920" },
		{ "27.595.520", NULL, "27595520" },
		{ "9,00", NULL, "9.00" },
		{ "1.234,5", NULL, "1234.5" },
		{ "-3.5", "-3.5", NULL },
		{ "1.5e-3", "1.5e-3", NULL },
		{ "n/a", NULL, NULL },
		{ "", NULL, NULL },
		{ "12-3", NULL, NULL },
		{ "1e", NULL, NULL },
		{ "1,23", NULL, "1.23" },
		{ "nan", NULL, NULL },
		{ "0x10", NULL, NULL },
		{ "5.", NULL, NULL },
		{ "1,2345", NULL, "1.2345" },
	};
	char clean[MEASURE_MAX];

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		CHECK(measure_clean(all[i].text, MEASURE_POINT, clean) == (all[i].point != NULL));
		if (all[i].point)
			CHECK_STR(clean, all[i].point);
		CHECK(measure_clean(all[i].text, MEASURE_COMMA, clean) == (all[i].comma != NULL));
		if (all[i].comma)
			CHECK_STR(clean, all[i].comma);
	}
}

TEST(only_a_telling_number_decides_the_mark)
{
	static const struct {
		const char *text;
		enum measure_mark want;
	} all[] = {
		{ "1.59", MEASURE_POINT },      { "9,00", MEASURE_COMMA },       { "1,234", MEASURE_UNKNOWN },
		{ "1.234", MEASURE_UNKNOWN },   { "27.595.520", MEASURE_COMMA }, { "14,103,936", MEASURE_POINT },
		{ "58,748.42", MEASURE_POINT }, { "58.748,42", MEASURE_COMMA },  { "12", MEASURE_UNKNOWN },
		{ "n/a", MEASURE_UNKNOWN },     { "0.123", MEASURE_POINT },      { "1234.567", MEASURE_POINT },
		{ "", MEASURE_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		CHECK_U64(measure_guess(all[i].text), all[i].want);
}

TEST(units_come_down_to_their_base)
{
	static const struct {
		const char *unit, *base;
		int exp;
	} all[] = {
		{ "us", "ns", 3 },
		{ "ms", "ns", 6 },
		{ "usecond", "ns", 3 },
		{ "s", "ns", 9 },
		{ "Kbyte", "byte", 3 },
		{ "Mbyte", "byte", 6 },
		{ "Gbyte/s", "byte/s", 9 },
		{ "byte/second", "byte/s", 0 },
		{ "Kbyte/block", "byte/block", 3 },
		{ "Ghz", "hz", 9 },
		{ "cycle/nsecond", "hz", 9 },
		{ "cycle", "cycle", 0 },
		{ "SM", "SM", 0 },
		{ "%", "%", 0 },
		{ "", "", 0 },
		{ "register/thread", "register/thread", 0 },
		{ "inst/cycle", "inst/cycle", 0 },
		{ "Kinst", "inst", 3 },
		{ "K", "K", 0 },
	};
	char base[32];
	int exp;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		measure_unit(all[i].unit, base, sizeof base, &exp);
		CHECK_STR(base, all[i].base);
		CHECK(exp == all[i].exp);
	}
}

TEST(scaled_values_are_rounded_once)
{
	int64_t v;

	CHECK(measure_value("1.59", 9) == 1.59e9 && measure_value("2.33", 6) == 2330000.0);
	CHECK(measure_value("1.5e2", 3) == 150000.0 && measure_value("0", 0) == 0);
	CHECK(isinf(measure_value("1e99999999999999999999", 9)));
	CHECK(measure_whole("6.75", 3, &v) == 0 && v == 6750);
	CHECK(measure_whole("1.25", 6, &v) == 0 && v == 1250000);
	CHECK(measure_whole("99999999999999999999", 0, &v) == -2);
}

SUITE(t_csv, T(quotes_line_ends_and_widths_are_read_as_written), T(broken_rows_name_their_line),
      T(rows_are_counted_and_the_input_stands_at_its_beginning),
      T(endless_fields_and_rows_are_refused_in_bounded_memory), T(chatter_before_the_header_is_no_csv),
      T(gzip_is_taken_off_member_by_member), T(numbers_lose_their_thousands_and_nothing_else),
      T(only_a_telling_number_decides_the_mark), T(units_come_down_to_their_base), T(scaled_values_are_rounded_once));
