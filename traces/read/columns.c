/* columns.c - the header, the rows, and where in them something is wrong. */
#include "traces/read/columns.h"

#include <limits.h>
#include <string.h>

#include "sim/base/str.h"
#include "traces/text/decimal.h"

#define MOST (INT64_C(1) << 61) /* sums of two do not overflow */

size_t columns_find(const struct columns *c, const char *name)
{
	for (size_t i = 0; i < csv_count(c->csv); i++) {
		const char *p = csv_field(c->csv, i);

		if (i == 0 && str_prefix(p, "\xef\xbb\xbf"))
			p += 3;
		if (strcmp(p, name) == 0)
			return i;
	}
	return COLUMNS_NONE;
}

int columns_need(const struct columns *c, const char *name, size_t *at, struct err *e)
{
	*at = columns_find(c, name);
	if (*at != COLUMNS_NONE)
		return 0;
	err_set(e, ERR_IO, "the table has no column '%s'", name);
	return columns_fault(c, COLUMNS_NONE, e);
}

const char *columns_text(const struct columns *c, size_t at)
{
	return at == COLUMNS_NONE ? "" : csv_field(c->csv, at);
}

int columns_fault(const struct columns *c, size_t at, struct err *e)
{
	const uint64_t line = csv_line(c->csv);

	return err_at(e, c->file, line > INT_MAX ? INT_MAX : (int)line,
	              at == COLUMNS_NONE ? 0 : csv_column(c->csv, at));
}

int columns_number(const struct columns *c, size_t at, const char *name, int shift, int64_t least, int64_t *v,
                   struct err *e)
{
	const char *p = columns_text(c, at);
	size_t n = strlen(p);
	int rc;

	while (n > 0 &&
	       (*p == ' ' || *p == '\t')) /* CANN ends its times with a tab, so that spreadsheets keep all digits */
		p++, n--;
	while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	rc = decimal_scaled(p, n, shift, v);
	if (rc == 0 && *v >= least && *v < MOST)
		return 0;
	err_set(e, ERR_IO, "'%.40s' is %s for '%s'", p, rc == -1 ? "no number" : "out of range", name);
	return columns_fault(c, at, e);
}

bool columns_has(const char *line, size_t n, const char *const *names)
{
	for (; *names; names++) {
		const size_t k = strlen(*names);
		size_t i = 0;

		while (i + k <= n && memcmp(line + i, *names, k) != 0)
			i++;
		if (i + k > n)
			return false;
	}
	return true;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static bool is_empty(const struct csv *c)
{
	return csv_count(c) == 1 && !*csv_field(c, 0);
}

static int read_row(const struct columns_table *t, void *reader, const struct columns *c, struct err *e)
{
	const size_t n = csv_count(c->csv);

	if (is_empty(c->csv))
		return 0;
	if (n != c->width && !(n == c->width + 1 && !*csv_field(c->csv, n - 1)) && n + 1 != c->width) {
		err_set(e, ERR_IO, "a row of %zu fields under a header of %zu", n, c->width);
		return columns_fault(c, COLUMNS_NONE, e);
	}
	return t->row(reader, c, e);
}

static int read_table(const struct columns_table *t, void *reader, struct columns *c, struct input *in,
                      input_progress *progress, void *arg, struct err *e)
{
	uint64_t rows = 0;
	int rc = csv_skip_to(c->csv, t->is_header, NULL, e);

	if (rc == 0)
		return err_set(e, ERR_IO, "no %s in '%s'", t->what, c->file);
	if (rc < 0 || csv_row(c->csv, e) < 0)
		return -1;
	c->width = csv_count(c->csv);
	if (t->header(reader, c, e) < 0)
		return -1;
	while ((rc = csv_row(c->csv, e)) == 1) {
		if (read_row(t, reader, c, e) < 0)
			return -1;
		if (progress && ++rows % 1024 == 0)
			progress(arg, input_done(in), input_size(in));
	}
	return rc < 0 ? -1 : t->end ? t->end(reader, c, e) : 0;
}

/* The table was read well and may be of no use. */
static int check_content(const struct columns *c, struct err *e)
{
	struct trace_import_stats st = { 0 };

	tracedb_stats(c->db, &st);
	return st.kernels + st.stats
	               ? 0
	               : err_set(e, ERR_IO, "no kernels in '%s': its table has no rows of a device", c->file);
}

int columns_import(const struct columns_table *t, void *reader, struct tracedb *db, struct input *in,
                   input_progress *progress, void *arg, struct trace_import_stats *st, struct err *e)
{
	struct columns c = { .file = input_name(in), .db = db };
	char hash[INPUT_DIGEST];
	struct trace_import src = { input_name(in), t->tool, hash, 0, -1, true, NULL };
	int rc;

	if (input_digest(in, hash, e) < 0 || (rc = tracedb_begin(db, &src, e)) < 0)
		return -1;
	if (rc == 1)
		return 1;
	rc = -1;
	if ((c.csv = csv_new(in, e)) && read_table(t, reader, &c, in, progress, arg, e) == 0 &&
	    check_content(&c, e) == 0 && tracedb_finish(db, &src, st, e) == 0)
		rc = 0;
	csv_free(c.csv);
	if (rc < 0)
		tracedb_abort(db);
	return rc;
}
