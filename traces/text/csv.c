/* csv.c - rows out of bytes. */
#include "traces/text/csv.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/str.h"

struct csv {
	struct input *in;
	unsigned char *buf;
	size_t from, to; /* what is unread of it */
	bool at_end;
	uint64_t line, row_line;
	struct str text;         /* the row's fields, each ended by a zero */
	size_t *at, n, cap;      /* where each begins */
	size_t *place;           /* the same in the file's bytes; one more: the row's end */
	uint64_t before, row_at; /* bytes that lay before buf; where the row began */
};

struct csv *csv_new(struct input *in, struct err *e)
{
	struct csv *c = calloc(1, sizeof *c);

	if (c && (c->buf = malloc(INPUT_CHUNK))) {
		c->in = in;
		c->line = c->row_line = 1;
		return c;
	}
	csv_free(c);
	err_nomem(e, NULL);
	return NULL;
}

void csv_free(struct csv *c)
{
	if (!c)
		return;
	str_free(&c->text);
	free(c->at);
	free(c->place);
	free(c->buf);
	free(c);
}

/* Reads on until `want` bytes are unread, or the end. */
static int csv_fill(struct csv *c, size_t want, struct err *e)
{
	while (c->to - c->from < want && !c->at_end) {
		long n;

		c->before += c->from;
		memmove(c->buf, c->buf + c->from, c->to - c->from);
		c->to -= c->from;
		c->from = 0;
		if ((n = input_read(c->in, c->buf + c->to, INPUT_CHUNK - c->to, e)) < 0)
			return -1;
		c->at_end = n == 0;
		c->to += (size_t)n;
	}
	return 0;
}

static int skip_line(struct csv *c, struct err *e)
{
	for (;;) {
		unsigned char *nl = memchr(c->buf + c->from, '\n', c->to - c->from);

		if (nl) {
			c->from = (size_t)(nl - c->buf) + 1;
			c->line++;
			return 0;
		}
		c->from = c->to;
		if (csv_fill(c, 1, e) < 0)
			return -1;
		if (c->from == c->to)
			return 0;
	}
}

static void skip_mark(struct csv *c)
{
	if (c->line == 1 && c->to - c->from >= 3 && memcmp(c->buf + c->from, "\xef\xbb\xbf", 3) == 0)
		c->from += 3;
}

int csv_skip_to(struct csv *c, csv_is_header *is, void *arg, struct err *e)
{
	for (;;) {
		const unsigned char *end;
		size_t n;

		if (csv_fill(c, CSV_LINE_SEEN, e) < 0)
			return -1;
		skip_mark(c);
		n = c->to - c->from < CSV_LINE_SEEN ? c->to - c->from : CSV_LINE_SEEN;
		if (n == 0)
			return 0;
		if ((end = memchr(c->buf + c->from, '\n', n)))
			n = (size_t)(end - (c->buf + c->from));
		if (n > 0 && c->buf[c->from + n - 1] == '\r')
			n--;
		if (is(arg, (const char *)c->buf + c->from, n))
			return 1;
		if (skip_line(c, e) < 0)
			return -1;
	}
}

static int csv_fault(struct csv *c, uint64_t line, const char *what, struct err *e)
{
	err_set(e, ERR_IO, "%s", what);
	return err_at(e, input_name(c->in), line > INT_MAX ? INT_MAX : (int)line, 0);
}

static uint64_t position(const struct csv *c)
{
	return c->before + c->from - c->row_at;
}

static int more_fields(struct csv *c, struct err *e)
{
	const size_t cap = c->cap ? 2 * c->cap : 64;
	size_t *at = realloc(c->at, cap * sizeof *at), *place;

	if (!at)
		return err_nomem(e, NULL);
	c->at = at;
	if (!(place = realloc(c->place, (cap + 1) * sizeof *place)))
		return err_nomem(e, NULL);
	c->place = place;
	c->cap = cap;
	return 0;
}

static int begin_field(struct csv *c, struct err *e)
{
	if (c->n == CSV_FIELDS)
		return csv_fault(c, c->line, "a row has more than 16384 fields", e);
	if (c->n == c->cap && more_fields(c, e) < 0)
		return -1;
	c->place[c->n] = position(c);
	c->at[c->n++] = c->text.len;
	return 0;
}

static int csv_add(struct csv *c, const unsigned char *p, size_t n, struct err *e)
{
	if (c->text.len + n - c->at[c->n - 1] > CSV_FIELD_MAX)
		return csv_fault(c, c->row_line, "a field is longer than 1 MiB", e);
	if (c->text.len + n > CSV_ROW_MAX)
		return csv_fault(c, c->row_line, "a row is longer than 4 MiB", e);
	if (memchr(p, '\0', n))
		return csv_fault(c, c->row_line, "a zero byte: this is no text", e);
	str_addn(&c->text, (const char *)p, n);
	return c->text.failed ? err_nomem(e, NULL) : 0;
}

/* What ends a run of plain bytes, inside and outside of quotes. */
static size_t run_length(const unsigned char *p, size_t n, bool quoted)
{
	size_t i = 0;

	if (quoted) {
		const unsigned char *q = memchr(p, '"', n);

		return q ? (size_t)(q - p) : n;
	}
	while (i < n && p[i] != ',' && p[i] != '\n' && p[i] != '\r')
		i++;
	return i;
}

static void count_lines(struct csv *c, const unsigned char *p, size_t n)
{
	for (const unsigned char *end = p + n; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		c->line++;
}

static int quoted_field(struct csv *c, struct err *e)
{
	for (c->from++;;) {
		size_t n;

		if (csv_fill(c, 2, e) < 0)
			return -1;
		if (c->from == c->to)
			return csv_fault(c, c->row_line, "a quote is opened in this row and never closed", e);
		n = run_length(c->buf + c->from, c->to - c->from, true);
		count_lines(c, c->buf + c->from, n);
		if (csv_add(c, c->buf + c->from, n, e) < 0)
			return -1;
		c->from += n;
		if (n > 0)
			continue;
		if (c->to - c->from < 2 || c->buf[c->from + 1] != '"') {
			c->from++;
			return 0;
		}
		if (csv_add(c, c->buf + c->from, 1, e) < 0)
			return -1;
		c->from += 2;
	}
}

static int plain_field(struct csv *c, struct err *e)
{
	for (;;) {
		size_t n;

		if (csv_fill(c, 2, e) < 0)
			return -1;
		n = run_length(c->buf + c->from, c->to - c->from, false);
		if (csv_add(c, c->buf + c->from, n, e) < 0)
			return -1;
		c->from += n;
		if (c->from == c->to) {
			if (c->at_end)
				return 0;
			continue;
		}
		if (c->buf[c->from] != '\r')
			return 0;
		if (csv_fill(c, 2, e) < 0)
			return -1;
		if (c->to - c->from < 2 || c->buf[c->from + 1] == '\n')
			return 0;
		if (csv_add(c, c->buf + c->from, 1, e) < 0) /* a lone return is text */
			return -1;
		c->from++;
	}
}

int csv_row(struct csv *c, struct err *e)
{
	str_clear(&c->text);
	c->n = 0;
	c->row_line = c->line;
	if (csv_fill(c, 3, e) < 0)
		return -1;
	skip_mark(c);
	c->row_at = c->before + c->from;
	if (c->from == c->to)
		return 0;
	for (;;) {
		bool quoted;

		if (csv_fill(c, 2, e) < 0 || begin_field(c, e) < 0)
			return -1;
		quoted = c->from < c->to && c->buf[c->from] == '"';
		if ((quoted ? quoted_field(c, e) : plain_field(c, e)) < 0 || csv_fill(c, 2, e) < 0)
			return -1;
		str_addc(&c->text, '\0');
		if (c->text.failed)
			return err_nomem(e, NULL);
		c->place[c->n] = position(c);
		if (c->from == c->to)
			return 1;
		if (c->buf[c->from] == ',') {
			c->from++;
			continue;
		}
		if (c->buf[c->from] == '\r')
			c->from++;
		if (c->from < c->to && c->buf[c->from] != '\n')
			return csv_fault(c, c->line, "text stands behind a closing quote", e);
		if (c->from < c->to)
			c->from++;
		c->line++;
		return 1;
	}
}

size_t csv_count(const struct csv *c)
{
	return c->n;
}

const char *csv_field(const struct csv *c, size_t i)
{
	return i < c->n ? str_c(&c->text) + c->at[i] : "";
}

uint64_t csv_line(const struct csv *c)
{
	return c->row_line;
}

int csv_column(const struct csv *c, size_t i)
{
	const size_t at = c->n ? c->place[i < c->n ? i : c->n] : 0;

	return at < INT_MAX ? (int)at + 1 : INT_MAX;
}

int csv_count_rows(struct input *in, size_t *n, struct err *e)
{
	struct csv *c = csv_new(in, e);
	int rc;

	if (!c)
		return -1;
	for (*n = 0; (rc = csv_row(c, e)) > 0; ++*n)
		continue;
	csv_free(c);
	input_rewind(in);
	return rc;
}
