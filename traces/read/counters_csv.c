/* counters_csv.c - the header, then a row a kernel. */
#include "traces/read/counters_csv.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/str.h"
#include "traces/metric.h"
#include "traces/text/csv.h"

#define COLUMNS_MAX 256
#define WORD_MAX    128
#define YEAR_US     (86400e6 * 365)    /* of all rows together */
#define EXACT       9007199254740992.0 /* 2^53: what a double counts */

#define NAME_OF(id, name) #name,
static const char *const metrics[] = { METRIC_SHOWN(NAME_OF) METRIC_REST(NAME_OF) METRIC_ALSO(NAME_OF) };
#undef NAME_OF
enum { METRICS = sizeof metrics / sizeof *metrics };

enum column { KERNEL, NAME, DEVICE, GRID, BLOCK, REGISTERS, SMEM, ROW, CLASS, COLUMNS, METRIC = COLUMNS };
static const char *const columns[COLUMNS] = { "kernel",    "name", "device", "grid", "block",
	                                      "registers", "smem", "row",    "class" };

struct reader {
	struct csv *csv;
	const char *file;
	struct {
		enum column of;
		char name[WORD_MAX]; /* of a metric */
	} col[COLUMNS_MAX];
	size_t width;
	int64_t rows, now_ns, devices;
	char device[WORD_MAX]; /* the one put last */
};

/* --- lines ------------------------------------------------------------------------------------------------- */

static bool is_row(void *arg, const char *line, size_t n)
{
	(void)arg;
	while (n > 0 && (*line == ' ' || *line == '\t' || *line == '\r'))
		line++, n--;
	return n > 0 && *line != '#';
}

bool counters_csv_is_text(const char *p, size_t n)
{
	static const char word[] = "kernel,";

	for (const char *end = p + n, *next; p < end; p = next) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const size_t len = (size_t)((nl ? nl : end) - p);

		next = nl ? nl + 1 : end;
		if (is_row(NULL, p, len))
			return len >= strlen(word) && memcmp(p, word, strlen(word)) == 0;
	}
	return false;
}

static int next_row(struct reader *r, struct err *e)
{
	const int rc = csv_skip_to(r->csv, is_row, NULL, e);

	return rc <= 0 ? rc : csv_row(r->csv, e);
}

static int counters_csv_fault(const struct reader *r, size_t field, struct err *e)
{
	const uint64_t line = csv_line(r->csv);

	return err_at(e, r->file, line > INT_MAX ? INT_MAX : (int)line, csv_column(r->csv, field));
}

/* --- the header -------------------------------------------------------------------------------------------- */

static int unknown_column(const char *text, struct err *e)
{
	const char *all[COLUMNS + METRICS], *near;

	for (int i = 0; i < COLUMNS; i++)
		all[i] = columns[i];
	for (int i = 0; i < METRICS; i++)
		all[COLUMNS + i] = metrics[i];
	if (!*text)
		return err_set(e, ERR_IO, "a column without a name");
	near = str_nearest(text, all, COLUMNS + METRICS);
	return err_set(e, ERR_IO, "unknown column '%.60s'%s%s%s", text, near ? ": the nearest is '" : "",
	               near ? near : "", near ? "'" : "");
}

/* Nsight Compute's names have two underscores behind the unit's. */
static int column_of(const char *text, enum column *of, struct err *e)
{
	for (int i = 0; i < COLUMNS; i++)
		if (strcmp(text, columns[i]) == 0) {
			*of = (enum column)i;
			return 0;
		}
	*of = METRIC;
	if (strlen(text) < WORD_MAX && strstr(text, "__"))
		return 0;
	for (int i = 0; i < METRICS; i++)
		if (strcmp(text, metrics[i]) == 0)
			return 0;
	return unknown_column(text, e);
}

static int counters_csv_read_header(struct reader *r, struct err *e)
{
	const int rc = next_row(r, e);
	bool any = false;

	r->width = rc > 0 ? csv_count(r->csv) : 0;
	if (rc < 0)
		return -1;
	if (rc == 0 || strcmp(csv_field(r->csv, 0), "kernel") != 0)
		return err_set(e, ERR_IO, "'%s' is no table of counters: its header begins with 'kernel,'", r->file);
	if (r->width > COLUMNS_MAX) {
		err_set(e, ERR_IO, "%zu columns: the most is %d", r->width, COLUMNS_MAX);
		return counters_csv_fault(r, 0, e);
	}
	for (size_t i = 0; i < r->width; i++) {
		const char *text = csv_field(r->csv, i);

		if (column_of(text, &r->col[i].of, e) < 0)
			return counters_csv_fault(r, i, e);
		strcpy(r->col[i].name, text);
		any = any || r->col[i].of == METRIC;
		for (size_t k = 0; k < i; k++)
			if (strcmp(r->col[k].name, text) == 0) {
				err_set(e, ERR_IO, "column '%s' is there twice", text);
				return counters_csv_fault(r, i, e);
			}
	}
	if (any)
		return 0;
	err_set(e, ERR_IO, "no column is a counter: duration_us, dram_throughput_pct and l2_hit_rate_pct are some");
	return counters_csv_fault(r, 0, e);
}

/* --- a row ------------------------------------------------------------------------------------------------- */

static int counters_csv_number(const char *text, const char *what, double most, double *v, struct err *e)
{
	char *end;

	*v = strtod(text, &end);
	if (end == text || *end || !(*v >= 0 && *v <= most))
		return err_set(e, ERR_IO, "'%.40s' is no number from 0 to %g, for '%s'", text, most, what);
	return 0;
}

/* "224x1x1", "224". */
static int sizes(const char *text, const char *what, uint32_t out[3], struct err *e)
{
	const char *p = text;

	out[0] = out[1] = out[2] = 1;
	for (int i = 0; i < 3; i++) {
		char *end;
		const unsigned long long v = strtoull(p, &end, 10);

		if (end == p || *p == '-' || *p == '+' || v < 1 || v > INT32_MAX)
			break;
		out[i] = (uint32_t)v;
		if (!*end)
			return 0;
		if (*end != 'x')
			break;
		p = end + 1;
	}
	return err_set(e, ERR_IO, "'%.40s' is no %s, such as 224x1x1", text, what);
}

static int put_device(struct reader *r, struct tracedb *db, const char *name, int64_t *id, struct err *e)
{
	struct trace_device d = { .id = r->devices, .name = r->device };

	*id = r->devices - 1;
	if (strcmp(name, r->device) == 0)
		return 0;
	if (strlen(name) >= sizeof r->device)
		return err_set(e, ERR_IO, "a device's name of %zu bytes: the most is %zu", strlen(name),
		               sizeof r->device - 1);
	strcpy(r->device, name);
	*id = r->devices++;
	return tracedb_put_device(db, &d, e);
}

static int launch_cell(struct reader *r, struct tracedb *db, size_t i, struct trace_launch *l, struct err *e)
{
	const char *text = csv_field(r->csv, i);
	double v;

	switch (r->col[i].of) {
	case KERNEL:
	case NAME:
		if (r->col[i].of == NAME || !l->name)
			l->name = text;
		return 0;
	case DEVICE:
		return put_device(r, db, text, &l->device, e);
	case GRID:
		return sizes(text, "grid", l->grid, e);
	case BLOCK:
		return sizes(text, "block", l->block, e);
	case REGISTERS:
	case SMEM:
		if (counters_csv_number(text, r->col[i].name, UINT32_MAX, &v, e) < 0)
			return -1;
		if (r->col[i].of == SMEM)
			l->smem_dynamic = (uint64_t)v;
		else
			l->registers = (uint32_t)v;
		return 0;
	case ROW:
	case CLASS:
		return 0;
	case METRIC:
		break;
	}
	if (counters_csv_number(text, r->col[i].name, EXACT, &v, e) < 0)
		return -1;
	if (strcmp(r->col[i].name, "duration_us") == 0)
		v *= 1e3;
	else if (strcmp(r->col[i].name, "gpu__time_duration.sum") != 0)
		return 0;
	if (v > YEAR_US * 1e3 - (double)r->now_ns)
		return err_set(e, ERR_IO, "'%.40s': all rows together take more than a year", text);
	l->dur_ns = (int64_t)(v + 0.5);
	return 0;
}

static int put_metrics(struct reader *r, struct tracedb *db, struct err *e)
{
	for (size_t i = 0; i < csv_count(r->csv); i++) {
		const char *text = csv_field(r->csv, i);

		if (r->col[i].of == METRIC && *text &&
		    tracedb_put_metric(db, r->col[i].name, strtod(text, NULL), "", e) < 0)
			return -1;
	}
	return 0;
}

static int counters_csv_read_row(struct reader *r, struct tracedb *db, struct err *e)
{
	struct trace_launch l = {
		.kind = TRACE_KERNEL, .bytes = -1, .host_start_ns = -1, .host_dur_ns = -1, .start_ns = r->now_ns
	};
	bool timed = false;

	if (csv_count(r->csv) > r->width) {
		err_set(e, ERR_IO, "a row of %zu cells under a header of %zu", csv_count(r->csv), r->width);
		return counters_csv_fault(r, r->width, e);
	}
	for (size_t i = 0; i < csv_count(r->csv); i++) {
		if (*csv_field(r->csv, i) && launch_cell(r, db, i, &l, e) < 0)
			return counters_csv_fault(r, i, e);
		timed = timed || l.dur_ns > 0;
	}
	if (!l.name) {
		err_set(e, ERR_IO, "a kernel without a name");
		return counters_csv_fault(r, 0, e);
	}
	r->rows++;
	r->now_ns += l.dur_ns;
	if (tracedb_put_launch(db, &l, 0, e) < 0)
		return -1;
	if (!timed)
		tracedb_untimed(db);
	return put_metrics(r, db, e);
}

static int counters_csv_read_table(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                                   struct err *e)
{
	struct reader *r = calloc(1, sizeof *r);
	int rc = -1;

	if (!r)
		return err_nomem(e, "for the table of counters");
	r->file = input_name(in);
	if ((r->csv = csv_new(in, e)) && counters_csv_read_header(r, e) == 0) {
		while ((rc = next_row(r, e)) == 1 && (rc = counters_csv_read_row(r, db, e)) == 0)
			if (progress && r->rows % 1024 == 0)
				progress(arg, input_done(in), input_size(in));
		if (rc == 0 && r->rows == 0)
			rc = err_set(e, ERR_IO, "no kernels in '%s': its table has no rows", r->file);
	}
	csv_free(r->csv);
	free(r);
	return rc;
}

int counters_csv_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                        struct trace_import_stats *st, struct err *e)
{
	char hash[INPUT_DIGEST];
	struct trace_import src = { input_name(in), "counters-csv", hash, 0, -1, true, NULL };
	int rc;

	if (input_digest(in, hash, e) < 0 || (rc = tracedb_begin(db, &src, e)) < 0)
		return -1;
	if (rc == 1)
		return 1;
	if (counters_csv_read_table(db, in, progress, arg, e) == 0 && tracedb_finish(db, &src, st, e) == 0)
		return 0;
	tracedb_abort(db);
	return -1;
}
