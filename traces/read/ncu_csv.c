/* ncu_csv.c - kernels and their metrics out of rows of either shape.
 *
 * A kernel is gathered until the next one begins, and then put with its metrics: a launch has to have its duration
 * when it is put. */
#include "traces/read/ncu_csv.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/str.h"
#include "traces/text/csv.h"
#include "traces/text/measure.h"

#define MOST        (INT64_C(1) << 62)
#define GUESS_ROWS  100000     /* after so many rows without a telling number there will be none */
#define METRICS_MAX CSV_FIELDS /* of one kernel */
#define UNIT_MAX    40

enum column { ID, PROCESS, KERNEL, CONTEXT, STREAM, BLOCK, GRID, DEVICE, CC, SECTION, METRIC, UNIT, VALUE, N_COLUMNS };

/* clang-format off */
static const char *const spelt[N_COLUMNS] = {
	[ID] = "ID", [PROCESS] = "Process ID", [KERNEL] = "Kernel Name", [CONTEXT] = "Context", [STREAM] = "Stream",
	[BLOCK] = "Block Size", [GRID] = "Grid Size", [DEVICE] = "Device", [CC] = "CC", [SECTION] = "Section Name",
	[METRIC] = "Metric Name", [UNIT] = "Metric Unit", [VALUE] = "Metric Value",
};
/* clang-format on */

/* Metrics that are fields of a launch, as the raw page and the sections call them. */
static const struct fact {
	const char *raw, *shown;
} facts[] = {
	{ "gpu__time_duration.sum", "Duration" },
	{ "launch__registers_per_thread", "Registers Per Thread" },
	{ "launch__shared_mem_per_block_static", "Static Shared Memory Per Block" },
	{ "launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block" },
	{ "launch__cluster_dim_x", NULL },
	{ "launch__cluster_dim_y", NULL },
	{ "launch__cluster_dim_z", NULL },
};
enum { F_DURATION, F_REGISTERS, F_STATIC, F_DYNAMIC, F_CLUSTER, N_FACTS = sizeof facts / sizeof *facts };

struct metric {
	size_t name;
	double value;
	size_t unit;
}; /* offsets in reader.text */

/* What the wide page says of a column above its rows. */
struct head {
	size_t name;
	char unit[UNIT_MAX];
	int exp, fact;
	bool is_metric;
};

struct reader {
	struct csv *csv;
	struct input *in;
	struct tracedb *db;
	const char *file;
	input_progress *progress;
	void *arg;
	enum measure_mark mark;
	int at[N_COLUMNS];  /* place in the row, -1: not there */
	size_t width;       /* of the header */
	char said[240];     /* the profiler's first complaint */
	struct head *heads; /* of the wide page */
	size_t n_heads;
	struct str head_text;
	int device_name, device_sms, device_mem; /* columns of the wide page, -1: not there */
	int64_t devices[64];                     /* put already */
	int n_devices;
	/* the kernel being gathered */
	bool open;
	struct str key, name, text; /* key: what tells it from the next */
	struct trace_launch l;
	bool has[N_FACTS];
	struct metric *metrics;
	size_t n_metrics, cap_metrics;
	int64_t now; /* end of the last launch */
};

/* --- the header ------------------------------------------------------------------------------------------------ */

static bool starts(const char *line, size_t n, const char *word)
{
	const size_t k = strlen(word);

	return n >= k && memcmp(line, word, k) == 0;
}

bool ncu_csv_is_header(const char *line, size_t n)
{
	return starts(line, n, "\"ID\",\"") || starts(line, n, "ID,Process ID,");
}

bool ncu_csv_is_chatter(const char *line, size_t n)
{
	return starts(line, n, "==PROF==") || starts(line, n, "==ERROR==") || starts(line, n, "==WARNING==");
}

static bool is_header(void *arg, const char *line, size_t n)
{
	struct reader *r = arg;
	const bool error = starts(line, n, "==ERROR=="), warning = starts(line, n, "==WARNING==");

	if (ncu_csv_is_header(line, n))
		return true;
	if ((error && !starts(r->said, strlen(r->said), "==ERROR==")) || (warning && !r->said[0]))
		snprintf(r->said, sizeof r->said, "%.*s", (int)n, line);
	return false;
}

static int ncu_csv_fault(const struct reader *r, struct err *e)
{
	const uint64_t line = csv_line(r->csv);

	return err_at(e, r->file, line > INT_MAX ? INT_MAX : (int)line, 0);
}

static const char *ncu_csv_cell(const struct reader *r, enum column k)
{
	return r->at[k] < 0 ? "" : csv_field(r->csv, (size_t)r->at[k]);
}

/* To the row below the header: 1 long, 2 wide, -1 error. */
static int ncu_csv_read_header(struct reader *r, struct err *e)
{
	int rc = csv_skip_to(r->csv, is_header, r, e);

	if (rc == 0 && r->said[0])
		return err_set(e, ERR_IO, "no kernels in '%s': Nsight Compute says '%s'", r->file, r->said);
	if (rc == 0)
		return err_set(e, ERR_IO,
		               "no table of Nsight Compute in '%s': no line begins with '\"ID\",\"Process ID\"'",
		               r->file);
	if (rc < 0 || csv_row(r->csv, e) < 0)
		return -1;
	r->width = csv_count(r->csv);
	for (int k = 0; k < N_COLUMNS; k++) {
		r->at[k] = -1;
		for (size_t i = 0; i < csv_count(r->csv) && r->at[k] < 0; i++)
			if (strcmp(csv_field(r->csv, i), spelt[k]) == 0)
				r->at[k] = (int)i;
	}
	if (r->at[ID] < 0 || r->at[KERNEL] < 0) {
		err_set(e, ERR_IO, "the header has no column '%s'", spelt[r->at[ID] < 0 ? ID : KERNEL]);
		return ncu_csv_fault(r, e);
	}
	if (r->at[METRIC] < 0)
		return 2;
	if (r->at[VALUE] < 0 || r->at[UNIT] < 0) {
		err_set(e, ERR_IO, "the header has no column '%s'", spelt[r->at[VALUE] < 0 ? VALUE : UNIT]);
		return ncu_csv_fault(r, e);
	}
	return 1;
}

/* --- a kernel -------------------------------------------------------------------------------------------------- */

/* "(108, 1, 1)"; false when it is none. Not told at all is fine. */
static bool triple(const char *text, uint32_t out[3])
{
	const char *p = text + (*text == '(');

	if (!*text)
		return true;
	for (int i = 0; i < 3; i++) {
		char *end;
		long long v = strtoll(p, &end, 10);

		if (end == p || v < 0 || v > UINT32_MAX)
			return false;
		out[i] = (uint32_t)v;
		p = end + strspn(end, ", ");
	}
	return *p == ')' || *p == '\0';
}

static int64_t small(const char *text)
{
	const long long v = strtoll(text, NULL, 10);

	return v > 0 ? v : 0;
}

static int put_device(struct reader *r, struct err *e)
{
	const int64_t id = small(ncu_csv_cell(r, DEVICE));
	struct trace_device d = { .id = id };
	char name[64], clean[MEASURE_MAX];
	const char *point = strchr(ncu_csv_cell(r, CC), '.');

	for (int i = 0; i < r->n_devices; i++)
		if (r->devices[i] == id)
			return 0;
	if (r->n_devices == sizeof r->devices / sizeof *r->devices)
		return 0;
	r->devices[r->n_devices++] = id;
	snprintf(name, sizeof name, "GPU of compute capability %.16s",
	         *ncu_csv_cell(r, CC) ? ncu_csv_cell(r, CC) : "unknown");
	d.name = r->device_name >= 0 ? csv_field(r->csv, (size_t)r->device_name) : name;
	d.sm_major = (int32_t)(small(ncu_csv_cell(r, CC)) % 1000);
	d.sm_minor = point ? (int32_t)(small(point + 1) % 1000) : 0;
	if (r->device_sms >= 0 && measure_clean(csv_field(r->csv, (size_t)r->device_sms), r->mark, clean))
		d.sms = (int32_t)(small(clean) % 1000000);
	if (r->device_mem >= 0 && measure_clean(csv_field(r->csv, (size_t)r->device_mem), r->mark, clean))
		d.mem_bytes = small(clean);
	return tracedb_put_device(r->db, &d, e);
}

static int begin_kernel(struct reader *r, struct err *e)
{
	r->open = true;
	r->n_metrics = 0;
	memset(r->has, 0, sizeof r->has);
	str_clear(&r->text);
	str_clear(&r->name);
	str_add(&r->name, *ncu_csv_cell(r, KERNEL) ? ncu_csv_cell(r, KERNEL) : "(unnamed)");
	if (r->name.failed)
		return err_nomem(e, NULL);
	r->l = (struct trace_launch){ .kind = TRACE_KERNEL,
		                      .context = small(ncu_csv_cell(r, CONTEXT)),
		                      .stream = small(ncu_csv_cell(r, STREAM)),
		                      .device = small(ncu_csv_cell(r, DEVICE)),
		                      .bytes = -1 };
	if (!triple(ncu_csv_cell(r, GRID), r->l.grid) || !triple(ncu_csv_cell(r, BLOCK), r->l.block)) {
		err_set(e, ERR_IO, "grid '%.60s' or block '%.60s' is not of the form '(1, 1, 1)'",
		        ncu_csv_cell(r, GRID), ncu_csv_cell(r, BLOCK));
		return ncu_csv_fault(r, e);
	}
	return put_device(r, e);
}

static int end_kernel(struct reader *r, struct err *e)
{
	if (!r->open)
		return 0;
	r->open = false;
	r->l.name = str_c(&r->name);
	r->l.start_ns = r->now;
	if (r->l.dur_ns > MOST - r->now)
		return err_set(e, ERR_IO, "the sum of durations is out of range in '%s'", r->file);
	r->now += r->l.dur_ns;
	if (tracedb_put_launch(r->db, &r->l, 0, e) < 0)
		return -1;
	if (!r->has[F_DURATION])
		tracedb_untimed(r->db);
	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct metric *m = &r->metrics[i];

		if (tracedb_put_metric(r->db, str_c(&r->text) + m->name, m->value, str_c(&r->text) + m->unit, e) < 0)
			return -1;
	}
	if (r->progress)
		r->progress(r->arg, input_done(r->in), input_size(r->in));
	return 0;
}

static int take_fact(struct reader *r, int fact, const char *text, int exp, struct err *e)
{
	const int64_t most = fact == F_DURATION ? MOST : UINT32_MAX;
	char clean[MEASURE_MAX];
	int64_t v;
	int rc;

	if (strcmp(text, "n/a") == 0 || !*text)
		return 0;
	rc = measure_clean(text, r->mark, clean) ? measure_whole(clean, exp, &v) : -1;
	if (rc < 0 || v < 0 || v > most) {
		err_set(e, ERR_IO, "'%.60s' is %s for '%s'", text, rc == -1 ? "no number" : "out of range",
		        facts[fact].raw);
		return ncu_csv_fault(r, e);
	}
	if (r->has[fact])
		return 0;
	r->has[fact] = true;
	if (fact == F_DURATION)
		r->l.dur_ns = v;
	else if (fact == F_REGISTERS)
		r->l.registers = (uint32_t)v;
	else if (fact == F_STATIC)
		r->l.smem_static = (uint64_t)v;
	else if (fact == F_DYNAMIC)
		r->l.smem_dynamic = (uint64_t)v;
	else
		r->l.cluster[fact - F_CLUSTER] = (uint32_t)v;
	return 0;
}

static size_t keep_text(struct str *s, const char *text)
{
	const size_t at = s->len;

	str_addn(s, text, strlen(text) + 1);
	return at;
}

static int add_metric(struct reader *r, const char *section, const char *name, const char *unit, const char *text,
                      int exp, struct err *e)
{
	char clean[MEASURE_MAX];
	struct metric *m;

	if (!measure_clean(text, r->mark, clean))
		return 0;
	if (r->n_metrics == METRICS_MAX) {
		err_set(e, ERR_IO, "a kernel has more than %d metrics", METRICS_MAX);
		return ncu_csv_fault(r, e);
	}
	if (r->n_metrics == r->cap_metrics) {
		size_t cap = r->cap_metrics ? 2 * r->cap_metrics : 256;

		if (!(m = realloc(r->metrics, cap * sizeof *m)))
			return err_nomem(e, NULL);
		r->metrics = m;
		r->cap_metrics = cap;
	}
	m = &r->metrics[r->n_metrics++];
	m->name = r->text.len;
	if (*section)
		str_addf(&r->text, "%s: ", section);
	keep_text(&r->text, name);
	m->unit = keep_text(&r->text, unit);
	m->value = measure_value(clean, exp);
	return r->text.failed ? err_nomem(e, NULL) : 0;
}

/* --- the long page --------------------------------------------------------------------------------------------- */

static bool same_kernel(const struct reader *r)
{
	const size_t n = strlen(ncu_csv_cell(r, ID));

	return r->open && strncmp(str_c(&r->key), ncu_csv_cell(r, ID), n) == 0 && str_c(&r->key)[n] == '\n' &&
	       strcmp(str_c(&r->key) + n + 1, ncu_csv_cell(r, PROCESS)) == 0;
}

static int fact_of(const char *name, bool shown)
{
	for (int i = 0; i < N_FACTS; i++)
		if (shown ? facts[i].shown && strcmp(facts[i].shown, name) == 0 : strcmp(facts[i].raw, name) == 0)
			return i;
	return -1;
}

/* A row ends where its file was cut: what is not there would be read as empty. Rules have more fields than metrics, and
 * rows may end with a comma. */
static int check_width(struct reader *r, size_t least, size_t most, struct err *e)
{
	const size_t n = csv_count(r->csv);

	if (n >= least && (n <= most || (n == most + 1 && !*csv_field(r->csv, most))))
		return 0;
	err_set(e, ERR_IO, "a row of %zu fields under a header of %zu", n, r->width);
	return ncu_csv_fault(r, e);
}

static int long_row(struct reader *r, struct err *e)
{
	const char *name = ncu_csv_cell(r, METRIC), *section = ncu_csv_cell(r, SECTION);
	const bool raw = strstr(name, "__") != NULL;
	const int fact = fact_of(name, !raw);
	char unit[UNIT_MAX];
	int exp;

	if (check_width(r, (size_t)r->at[VALUE] + 1, CSV_FIELDS, e) < 0)
		return -1;
	if (!same_kernel(r)) {
		if (end_kernel(r, e) < 0)
			return -1;
		str_clear(&r->key);
		str_addf(&r->key, "%s\n%s", ncu_csv_cell(r, ID), ncu_csv_cell(r, PROCESS));
		if (r->key.failed)
			return err_nomem(e, NULL);
		if (begin_kernel(r, e) < 0)
			return -1;
	}
	if (!*name) /* a rule's row */
		return 0;
	measure_unit(ncu_csv_cell(r, UNIT), unit, sizeof unit, &exp);
	if (fact >= 0 && take_fact(r, fact, ncu_csv_cell(r, VALUE), exp, e) < 0)
		return -1;
	return add_metric(r, raw ? "" : section, name, unit, ncu_csv_cell(r, VALUE), exp, e);
}

/* --- the wide page --------------------------------------------------------------------------------------------- */

static bool is_base_column(const char *name)
{
	for (int k = 0; k < N_COLUMNS; k++)
		if (strcmp(spelt[k], name) == 0)
			return true;
	return strcmp(name, "Process Name") == 0 || strcmp(name, "Host Name") == 0 || strcmp(name, "Kernel Time") == 0;
}

static int wide_header(struct reader *r, struct err *e)
{
	r->n_heads = csv_count(r->csv);
	if (!(r->heads = calloc(r->n_heads ? r->n_heads : 1, sizeof *r->heads)))
		return err_nomem(e, NULL);
	for (size_t i = 0; i < r->n_heads; i++) {
		const char *name = csv_field(r->csv, i);

		r->heads[i].name = keep_text(&r->head_text, name);
		r->heads[i].fact = fact_of(name, false);
		r->heads[i].is_metric = !is_base_column(name) && strncmp(name, "device__attribute_", 18) != 0;
		if (strcmp(name, "device__attribute_display_name") == 0)
			r->device_name = (int)i;
		else if (strcmp(name, "device__attribute_multiprocessor_count") == 0)
			r->device_sms = (int)i;
		else if (strcmp(name, "device__attribute_total_memory") == 0)
			r->device_mem = (int)i;
	}
	return r->head_text.failed ? err_nomem(e, NULL) : 0;
}

static int wide_row(struct reader *r, struct err *e)
{
	if (check_width(r, r->n_heads, r->n_heads, e) < 0)
		return -1;
	if (!*ncu_csv_cell(r, ID)) { /* the row of units */
		for (size_t i = 0; i < r->n_heads; i++)
			measure_unit(csv_field(r->csv, i), r->heads[i].unit, UNIT_MAX, &r->heads[i].exp);
		return 0;
	}
	if (begin_kernel(r, e) < 0)
		return -1;
	for (size_t i = 0; i < r->n_heads; i++) {
		const struct head *h = &r->heads[i];

		if (h->fact >= 0 && take_fact(r, h->fact, csv_field(r->csv, i), h->exp, e) < 0)
			return -1;
		if (h->is_metric &&
		    add_metric(r, "", str_c(&r->head_text) + h->name, h->unit, csv_field(r->csv, i), h->exp, e) < 0)
			return -1;
	}
	return end_kernel(r, e);
}

/* --- the file -------------------------------------------------------------------------------------------------- */

static bool is_blank(const struct reader *r)
{
	return csv_count(r->csv) == 1 && !*csv_field(r->csv, 0);
}

/* Reads until a number tells the decimal mark; then the file is read again from its start. */
static int guess_mark(struct reader *r, bool wide, struct err *e)
{
	enum measure_mark m = MEASURE_UNKNOWN;
	int rc = 1;

	for (int n = 0; n < GUESS_ROWS && m == MEASURE_UNKNOWN && (rc = csv_row(r->csv, e)) == 1; n++) {
		if (!wide)
			m = measure_guess(ncu_csv_cell(r, VALUE));
		for (size_t i = 0; wide && i < r->n_heads && m == MEASURE_UNKNOWN; i++)
			if (r->heads[i].is_metric)
				m = measure_guess(csv_field(r->csv, i));
	}
	r->mark = m == MEASURE_UNKNOWN ? MEASURE_POINT : m;
	return rc < 0 ? -1 : 0;
}

static int begin_again(struct reader *r, struct err *e)
{
	csv_free(r->csv);
	input_rewind(r->in);
	if (!(r->csv = csv_new(r->in, e)))
		return -1;
	return ncu_csv_read_header(r, e) < 0 ? -1 : 0;
}

static int ncu_csv_read_file(struct reader *r, struct err *e)
{
	int shape, rc;

	if (!(r->csv = csv_new(r->in, e)) || (shape = ncu_csv_read_header(r, e)) < 0 ||
	    (shape == 2 && wide_header(r, e) < 0) || guess_mark(r, shape == 2, e) < 0 || begin_again(r, e) < 0)
		return -1;
	while ((rc = csv_row(r->csv, e)) == 1) {
		/* The profiler's last words may stand below the table. */
		if (is_blank(r) || ncu_csv_is_chatter(csv_field(r->csv, 0), strlen(csv_field(r->csv, 0))))
			continue;
		if ((shape == 1 ? long_row(r, e) : wide_row(r, e)) < 0)
			return -1;
	}
	return rc < 0 || end_kernel(r, e) < 0 ? -1 : 0;
}

int ncu_csv_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                   struct trace_import_stats *st, struct err *e)
{
	struct reader r = { .db = db,
		            .in = in,
		            .file = input_name(in),
		            .progress = progress,
		            .arg = arg,
		            .device_name = -1,
		            .device_sms = -1,
		            .device_mem = -1 };
	char hash[INPUT_DIGEST];
	struct trace_import src = { r.file, "ncu-csv", hash, 0, -1, true, NULL };
	struct trace_import_stats got;
	int rc;

	if (input_digest(in, hash, e) < 0 || (rc = tracedb_begin(db, &src, e)) < 0)
		return -1;
	if (rc == 1)
		return 1;
	rc = ncu_csv_read_file(&r, e);
	tracedb_stats(db, &got);
	if (rc == 0 && got.kernels == 0)
		rc = err_set(e, ERR_IO, "no kernels in '%s': its table has a header and no rows", r.file);
	if (rc == 0)
		rc = tracedb_finish(db, &src, st, e);
	if (rc < 0)
		tracedb_abort(db);
	csv_free(r.csv);
	free(r.heads);
	free(r.metrics);
	str_free(&r.head_text);
	str_free(&r.key);
	str_free(&r.name);
	str_free(&r.text);
	return rc;
}
