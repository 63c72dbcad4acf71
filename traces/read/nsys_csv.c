/* nsys_csv.c - the header, then a row a kernel. */
#include "traces/read/nsys_csv.h"

#include <limits.h>
#include <string.h>

#include "traces/text/csv.h"
#include "traces/text/measure.h"

#define MOST (INT64_C(1) << 62) /* sums of two of them do not overflow */

enum column { TOTAL, INSTANCES, MEDIAN, LEAST, LONGEST, DEVIATION, NAME, N_COLUMNS };

/* As the newest version spells them, and as versions before 2021 did. */
static const char *const spelt[N_COLUMNS][2] = {
	[TOTAL] = { "Total Time", "Total Time" },
	[INSTANCES] = { "Instances", "Instances" },
	[MEDIAN] = { "Med", "Median" },
	[LEAST] = { "Min", "Minimum" },
	[LONGEST] = { "Max", "Maximum" },
	[DEVIATION] = { "StdDev", "StdDev" },
	[NAME] = { "Name", "Name" },
};

struct reader {
	struct csv *csv;
	const char *file;
	int at[N_COLUMNS], exp[N_COLUMNS]; /* place in the row, -1: not there; power of ten to ns */
	size_t width;
	char other[80], said[200]; /* the header of another report; what a log says */
	int64_t instances, total;
};

/* --- the header ------------------------------------------------------------------------------------------------ */

static bool starts(const char *line, size_t n, const char *word)
{
	const size_t k = strlen(word);

	return n >= k && memcmp(line, word, k) == 0;
}

static bool nsys_csv_has(const char *line, size_t n, const char *word)
{
	const size_t k = strlen(word);

	for (size_t i = 0; i + k <= n; i++)
		if (memcmp(line + i, word, k) == 0)
			return true;
	return false;
}

bool nsys_csv_is_header(const char *line, size_t n)
{
	static const char *const firsts[] = { "Time (%),",   "Time(%),",   "\"Time (%)\",", "\"Time(%)\",",
		                              "Start (ns),", "Start(ns),", "Count,QCount,", "Total (MB)," };

	for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
		if (starts(line, n, firsts[i]))
			return true;
	return false;
}

bool nsys_csv_is_chatter(const char *line, size_t n)
{
	return starts(line, n, "Generating SQLite file ") || starts(line, n, "Processing [") ||
	       starts(line, n, "SKIPPED: ");
}

static bool is_ours(void *arg, const char *line, size_t n)
{
	struct reader *r = arg;

	if (nsys_csv_is_header(line, n)) {
		if (nsys_csv_has(line, n, "Instances") && nsys_csv_has(line, n, "Total Time") &&
		    nsys_csv_has(line, n, "Name"))
			return true;
		if (!r->other[0])
			memcpy(r->other, line, n < sizeof r->other - 1 ? n : sizeof r->other - 1);
	} else if (!r->said[0] && (nsys_csv_has(line, n, "SKIPPED") || nsys_csv_has(line, n, "ERROR") ||
	                           nsys_csv_has(line, n, "Error"))) {
		memcpy(r->said, line, n < sizeof r->said - 1 ? n : sizeof r->said - 1);
	}
	return false;
}

static int no_report(const struct reader *r, struct err *e)
{
	if (r->other[0])
		return err_set(e, ERR_IO,
		               "not the report on kernels in '%s': its columns are '%s', and 'nsys stats --report"
		               " cuda_gpu_kern_sum' is read",
		               r->file, r->other);
	if (r->said[0])
		return err_set(e, ERR_IO, "no kernels in '%s': it says '%s'", r->file, r->said);
	return err_set(e, ERR_IO, "no report of nsys stats in '%s': no line begins with 'Time (%%),Total Time'",
	               r->file);
}

/* Power of ten to nanoseconds of "Total Time (us)"; -1 for another unit. */
static int nsys_csv_unit_of(const char *paren)
{
	static const char *const units[] = { "(ns)", "(us)", "(ms)", "(s)" };

	if (*paren == '\0')
		return 0;
	for (int i = 0; i < 4; i++)
		if (strcmp(paren, units[i]) == 0)
			return 3 * i;
	return -1;
}

static int nsys_csv_fault(const struct reader *r, struct err *e)
{
	const uint64_t line = csv_line(r->csv);

	return err_at(e, r->file, line > INT_MAX ? INT_MAX : (int)line, 0);
}

static int nsys_csv_read_header(struct reader *r, struct err *e)
{
	for (int k = 0; k < N_COLUMNS; k++)
		r->at[k] = -1;
	r->width = csv_count(r->csv);
	for (size_t i = 0; i < r->width; i++) {
		const char *text = csv_field(r->csv, i);
		size_t n = strcspn(text, "(");

		while (n > 0 && text[n - 1] == ' ')
			n--;
		for (int k = 0; k < N_COLUMNS; k++)
			for (int v = 0; v < 2 && r->at[k] < 0; v++)
				if (strlen(spelt[k][v]) == n && memcmp(spelt[k][v], text, n) == 0) {
					r->at[k] = (int)i;
					r->exp[k] = nsys_csv_unit_of(text + strcspn(text, "("));
					if (r->exp[k] < 0) {
						err_set(e, ERR_IO, "unknown unit of time in column '%.80s'", text);
						return nsys_csv_fault(r, e);
					}
				}
	}
	for (int k = 0; k < N_COLUMNS; k++)
		if (r->at[k] < 0 && (k == TOTAL || k == INSTANCES || k == NAME))
			return err_set(e, ERR_IO, "no column '%s' in '%s'", spelt[k][0], r->file);
	return 0;
}

/* --- the rows -------------------------------------------------------------------------------------------------- */

static int nsys_csv_number(const struct reader *r, enum column k, int64_t *v, struct err *e)
{
	const char *text = r->at[k] < 0 ? "" : csv_field(r->csv, (size_t)r->at[k]);
	char clean[MEASURE_MAX];
	int rc;

	*v = -1;
	if (!*text && k != TOTAL && k != INSTANCES)
		return 0;
	rc = measure_clean(text, MEASURE_POINT, clean) ? measure_whole(clean, r->exp[k], v) : -1;
	if (rc == 0 && *v >= 0 && *v < MOST)
		return 0;
	err_set(e, ERR_IO, "'%.80s' is %s for '%s'", text, rc == -1 ? "no number" : "out of range", spelt[k][0]);
	return nsys_csv_fault(r, e);
}

static int put_row(struct reader *r, struct tracedb *db, struct err *e)
{
	struct trace_stat s = { .name = csv_field(r->csv, (size_t)r->at[NAME]) };

	if (csv_count(r->csv) != r->width) {
		err_set(e, ERR_IO, "a row of %zu fields under a header of %zu", csv_count(r->csv), r->width);
		return nsys_csv_fault(r, e);
	}
	if (nsys_csv_number(r, TOTAL, &s.total_ns, e) < 0 || nsys_csv_number(r, INSTANCES, &s.instances, e) < 0 ||
	    nsys_csv_number(r, MEDIAN, &s.median_ns, e) < 0 || nsys_csv_number(r, LEAST, &s.min_ns, e) < 0 ||
	    nsys_csv_number(r, LONGEST, &s.max_ns, e) < 0 || nsys_csv_number(r, DEVIATION, &s.deviation_ns, e) < 0)
		return -1;
	if (s.instances == 0) {
		err_set(e, ERR_IO, "a kernel with no instances");
		return nsys_csv_fault(r, e);
	}
	if (s.instances > MOST - r->instances || s.total_ns > MOST - r->total) {
		err_set(e, ERR_IO, "the sums of instances or times are out of range");
		return nsys_csv_fault(r, e);
	}
	r->instances += s.instances;
	r->total += s.total_ns;
	return tracedb_put_stat(db, &s, e);
}

static int nsys_csv_read_rows(struct reader *r, struct tracedb *db, struct input *in, input_progress *progress,
                              void *arg, struct err *e)
{
	int64_t n = 0;
	int rc;

	/* An empty line ends the report; others may follow. */
	while ((rc = csv_row(r->csv, e)) == 1 && !(csv_count(r->csv) == 1 && !*csv_field(r->csv, 0))) {
		if (put_row(r, db, e) < 0)
			return -1;
		if (progress && ++n % 1024 == 0)
			progress(arg, input_done(in), input_size(in));
	}
	if (rc < 0)
		return -1;
	return r->instances ? 0 : err_set(e, ERR_IO, "no kernels in '%s': its report has no rows", r->file);
}

static int read_report(struct tracedb *db, struct input *in, input_progress *progress, void *arg, struct err *e)
{
	struct reader r = { .file = input_name(in) };
	int rc = -1;

	if (!(r.csv = csv_new(in, e)))
		return -1;
	if ((rc = csv_skip_to(r.csv, is_ours, &r, e)) == 0)
		rc = no_report(&r, e);
	if (rc > 0)
		rc = csv_row(r.csv, e) < 0 || nsys_csv_read_header(&r, e) < 0 ||
		                     nsys_csv_read_rows(&r, db, in, progress, arg, e) < 0
		             ? -1
		             : 0;
	csv_free(r.csv);
	return rc;
}

int nsys_csv_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                    struct trace_import_stats *st, struct err *e)
{
	char hash[INPUT_DIGEST];
	struct trace_import src = { input_name(in), "nsys-csv", hash, 0, -1, true, NULL };
	int rc;

	if (input_digest(in, hash, e) < 0 || (rc = tracedb_begin(db, &src, e)) < 0)
		return -1;
	if (rc == 1)
		return 1;
	if (read_report(db, in, progress, arg, e) == 0 && tracedb_finish(db, &src, st, e) == 0)
		return 0;
	tracedb_abort(db);
	return -1;
}
