/* ops_csv.c - the header, then a row an op. */
#include "traces/read/ops_csv.h"

#include <limits.h>
#include <string.h>

#include "sim/base/str.h"
#include "traces/text/csv.h"
#include "traces/text/decimal.h"
#include "workloads/listed.h"

#define COLUMNS_MAX 64                                  /* of a header: all we know, and some to say which are not */
#define CELL_MAX    256                                 /* bytes of a cell; of a name, too */
#define TIME_MAX    (INT64_C(1000000000) * 86400 * 365) /* a year, of all rows together */
#define TICK        2                                   /* ns of host time an op: an order, no more */

struct reader {
	struct csv *csv;
	const char *file;
	enum listed_column of[COLUMNS_MAX]; /* by the place in a row */
	size_t width;
	char cells[COLUMNS_MAX][CELL_MAX];
	int64_t rows, now_ns;
};

/* --- lines -------------------------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The csv reader looks line by line for what is neither empty nor a comment. */
static bool is_row(void *arg, const char *line, size_t n)
{
	(void)arg;
	while (n > 0 && is_blank(*line))
		line++, n--;
	return n > 0 && *line != '#';
}

bool ops_csv_is_text(const char *p, size_t n)
{
	for (const char *end = p + n, *next; p < end; p = next) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const size_t len = (size_t)((nl ? nl : end) - p);

		next = nl ? nl + 1 : end;
		if (is_row(NULL, p, len))
			return (len > 2 && memcmp(p, "op,", 3) == 0) || (len > 4 && memcmp(p, "\"op\",", 5) == 0);
	}
	return false;
}

static int next_row(struct reader *r, struct err *e)
{
	const int rc = csv_skip_to(r->csv, is_row, NULL, e);

	return rc <= 0 ? rc : csv_row(r->csv, e);
}

/* Of the row that was read last; field SIZE_MAX: the row as a whole. */
static int ops_csv_fault(const struct reader *r, size_t field, struct err *e)
{
	const uint64_t line = csv_line(r->csv);

	return err_at(e, r->file, line > INT_MAX ? INT_MAX : (int)line,
	              field == SIZE_MAX ? 0 : csv_column(r->csv, field));
}

/* A cell without the blanks around it, into `out`. */
static int clean(const struct reader *r, size_t i, char out[CELL_MAX], struct err *e)
{
	const char *p = csv_field(r->csv, i);
	size_t n = strlen(p);

	while (n > 0 && is_blank(*p))
		p++, n--;
	while (n > 0 && is_blank(p[n - 1]))
		n--;
	if (n >= CELL_MAX) {
		err_set(e, ERR_IO, "a cell of %zu bytes: the most is %d", n, CELL_MAX - 1);
		return ops_csv_fault(r, i, e);
	}
	memcpy(out, p, n);
	out[n] = '\0';
	return 0;
}

/* --- the header --------------------------------------------------------------------------------------------------- */

static int column_named(const char *text, enum listed_column *out, struct err *e)
{
	const char *names[LISTED_COUNT], *near;

	for (int c = 0; c < LISTED_COUNT; c++) {
		names[c] = listed_column_name((enum listed_column)c);
		if (strcmp(names[c], text) == 0) {
			*out = (enum listed_column)c;
			return 0;
		}
	}
	if (!*text)
		return err_set(e, ERR_IO, "a column without a name");
	near = str_nearest(text, names, LISTED_COUNT);
	return err_set(e, ERR_IO, "unknown column '%.40s'%s%s%s", text, near ? ": the nearest is '" : "",
	               near ? near : "", near ? "'" : "");
}

static int ops_csv_read_header(struct reader *r, struct err *e)
{
	char name[CELL_MAX];
	const int rc = next_row(r, e);

	if (rc < 0)
		return -1;
	r->width = rc ? csv_count(r->csv) : 0;
	if (r->width == 0 || clean(r, 0, name, e) < 0 || strcmp(name, "op") != 0)
		return e->kind ? -1
		               : err_set(e, ERR_IO, "'%s' is no table of ops: its header begins with 'op,'", r->file);
	if (r->width > COLUMNS_MAX) {
		err_set(e, ERR_IO, "%zu columns: a table of ops has %d kinds of them", r->width, LISTED_COUNT);
		return ops_csv_fault(r, SIZE_MAX, e);
	}
	for (size_t i = 0; i < r->width; i++) {
		if (clean(r, i, name, e) < 0)
			return -1;
		if (column_named(name, &r->of[i], e) < 0)
			return ops_csv_fault(r, i, e);
		for (size_t k = 0; k < i; k++)
			if (r->of[k] == r->of[i]) {
				err_set(e, ERR_IO, "column '%s' is there twice", name);
				return ops_csv_fault(r, i, e);
			}
	}
	return 0;
}

/* --- the rows ----------------------------------------------------------------------------------------------------- */

/* Where a column stands in this table; SIZE_MAX: it does not. */
static size_t ops_csv_place_of(const struct reader *r, enum listed_column c)
{
	for (size_t i = 0; i < r->width; i++)
		if (r->of[i] == c)
			return i < csv_count(r->csv) ? i : csv_count(r->csv);
	return SIZE_MAX;
}

static int duration(const struct reader *r, const char *text, int64_t *ns, struct err *e)
{
	const size_t n = strlen(text);
	const int rc = decimal_scaled(text, n, DECIMAL_US_TO_NS, ns);

	if (rc == 0 && *ns > 0 && *ns <= TIME_MAX - r->now_ns)
		return 0;
	if (rc == -1 || (rc == 0 && *ns <= 0))
		return err_set(e, ERR_IO, "'measured_us' is a time above 0, not '%.40s'", text);
	return err_set(e, ERR_IO, "'measured_us' is %.40s: all rows together are more than a year", text);
}

static int read_cells(struct reader *r, struct listed *x, int64_t *ns, struct err *e)
{
	const size_t n = csv_count(r->csv);

	*x = (struct listed){ .algorithm = OP_ATTN_ANY };
	*ns = 0;
	if (n > r->width) {
		err_set(e, ERR_IO, "a row of %zu cells under a header of %zu", n, r->width);
		return ops_csv_fault(r, r->width, e);
	}
	for (size_t i = 0; i < n; i++) {
		char *cell = r->cells[i];

		if (clean(r, i, cell, e) < 0)
			return -1;
		if (listed_cell(x, r->of[i], cell, e) < 0 ||
		    (*cell && r->of[i] == LISTED_MEASURED_US && duration(r, cell, ns, e) < 0))
			return ops_csv_fault(r, i, e);
	}
	return 0;
}

static int put_row(struct reader *r, struct tracedb *db, const struct listed *x, int64_t ns, struct err *e)
{
	struct listed_room room;
	struct trace_op o;
	struct trace_launch l = { .kind = TRACE_KERNEL, .bytes = -1, .host_start_ns = -1 };

	listed_to_op(x, &room, &o);
	o.start_ns = r->rows * TICK;
	o.dur_ns = TICK - 1;
	l.name = x->text[LISTED_NAME] ? x->text[LISTED_NAME] : o.name + strlen(LISTED_SPACE);
	l.start_ns = r->now_ns;
	l.dur_ns = ns;
	r->rows++;
	r->now_ns += ns;
	return tracedb_put_op(db, &o, r->rows, e) < 0 ? -1 : tracedb_put_launch(db, &l, r->rows, e);
}

static int ops_csv_read_row(struct reader *r, struct tracedb *db, struct err *e)
{
	enum listed_column at;
	struct listed x;
	int64_t ns;

	if (read_cells(r, &x, &ns, e) < 0)
		return -1;
	if (listed_finish(&x, &at, e) < 0)
		return ops_csv_fault(r, ops_csv_place_of(r, at), e);
	return put_row(r, db, &x, ns, e);
}

static int ops_csv_read_table(struct tracedb *db, struct input *in, input_progress *progress, void *arg, struct err *e)
{
	struct reader r = { .file = input_name(in) };
	int rc = -1;

	if (!(r.csv = csv_new(in, e)))
		return -1;
	if (ops_csv_read_header(&r, e) < 0)
		goto out;
	while ((rc = next_row(&r, e)) == 1) {
		if ((rc = ops_csv_read_row(&r, db, e)) < 0)
			goto out;
		if (progress && r.rows % 1024 == 0)
			progress(arg, input_done(in), input_size(in));
	}
	if (rc == 0 && r.rows == 0)
		rc = err_set(e, ERR_IO, "no ops in '%s': its table has no rows", r.file);
out:
	csv_free(r.csv);
	return rc;
}

int ops_csv_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                   struct trace_import_stats *st, struct err *e)
{
	char hash[INPUT_DIGEST];
	struct trace_import src = { input_name(in), "ops", hash, 0, -1, false, NULL };
	int rc;

	if (input_digest(in, hash, e) < 0 || (rc = tracedb_begin(db, &src, e)) < 0)
		return -1;
	if (rc == 1)
		return 1;
	if (ops_csv_read_table(db, in, progress, arg, e) == 0 && tracedb_finish(db, &src, st, e) == 0)
		return 0;
	tracedb_abort(db);
	return -1;
}
