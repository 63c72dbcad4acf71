/* format.c - the table of formats, and a look at the head of a file. */
#include "traces/read/format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/str.h"
#include "traces/read/ascend_csv.h"
#include "traces/read/capture_import.h"
#include "traces/read/capture_spool.h"
#include "traces/read/counters_csv.h"
#include "traces/read/kineto.h"
#include "traces/read/ncu_csv.h"
#include "traces/read/nsys.h"
#include "traces/read/nsys_csv.h"
#include "traces/read/ops_csv.h"
#include "traces/read/replay.h"
#include "traces/read/rocprof_csv.h"
#include "traces/read/tt_csv.h"
#include "traces/read/xplane_json.h"

#define HEAD (64u * 1024)

/* A spool is read after the program that wrote it may have done nothing; as a file to import it is no use then. */
static int import_capture(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                          struct trace_import_stats *st, struct err *e)
{
	const int rc = capture_import(db, in, progress, arg, st, e);

	return rc != 2 ? rc
	               : err_set(e, ERR_IO, "no kernel, copy or set in '%s': the program did nothing on a GPU",
	                         input_name(in));
}

/* How each format is known by its content, and what reads it. A format without a reader here is read in its own way below. */
static const struct format {
	const char *name;                               /* for '--from' */
	bool (*is_bytes)(const void *p, size_t n);      /* by a file's first bytes; */
	bool (*is_text)(const char *p, size_t n);       /* by its text, from the first that is no white space; */
	bool (*is_header)(const char *line, size_t n);  /* by any line of its head; */
	bool (*is_chatter)(const char *line, size_t n); /* by a line, where no header follows */
	int (*import)(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
	              struct trace_import_stats *st, struct err *e);
	const char *lists_ops; /* the tool of a source whose kernels are rows of a table of ops */
} formats[FORMAT_COUNT] = {
	[FORMAT_AUTO] = { .name = "auto" },
	[FORMAT_XPLANE] = { .name = "xplane",
	                    .is_text = xplane_json_is_text,
	                    .import = xplane_json_import,
	                    .lists_ops = "xplane" },
	[FORMAT_KINETO] = { .name = "kineto", .is_text = kineto_is_text, .import = kineto_import },
	[FORMAT_NSYS] = { .name = "nsys", .is_bytes = nsys_is_bytes, .import = nsys_import },
	[FORMAT_NSYS_CSV] = { .name = "nsys-csv",
	                      .is_header = nsys_csv_is_header,
	                      .is_chatter = nsys_csv_is_chatter,
	                      .import = nsys_csv_import },
	[FORMAT_NCU_CSV] = { .name = "ncu-csv",
	                     .is_header = ncu_csv_is_header,
	                     .is_chatter = ncu_csv_is_chatter,
	                     .import = ncu_csv_import },
	[FORMAT_CAPTURE] = { .name = "capture", .is_bytes = capture_spool_is, .import = import_capture },
	[FORMAT_REPLAY] = { .name = "replay", .is_text = replay_is_text },
	[FORMAT_COUNTERS] = { .name = "counters", .is_text = counters_csv_is_text, .import = counters_csv_import },
	[FORMAT_OPS] = { .name = "ops", .is_text = ops_csv_is_text, .import = ops_csv_import, .lists_ops = "ops" },
	[FORMAT_TT_CSV] = { .name = "tt-metal",
	                    .is_header = tt_csv_is_header,
	                    .import = tt_csv_import,
	                    .lists_ops = "tt-metal" },
	[FORMAT_ASCEND_CSV] = { .name = "ascend",
	                        .is_header = ascend_csv_is_header,
	                        .import = ascend_csv_import,
	                        .lists_ops = "ascend" },
	[FORMAT_ROCPROF_CSV] = { .name = "rocprof", .is_header = rocprof_csv_is_header, .import = rocprof_csv_import },
};

/* "auto, kineto, nsys or replay" */
static void list_names(struct str *to)
{
	for (int i = 0; i < FORMAT_COUNT; i++)
		str_addf(to, "%s%s", i == 0 ? "" : i + 1 < FORMAT_COUNT ? ", " : " or ", formats[i].name);
}

int format_parse(const char *name, enum trace_format *f, struct err *e)
{
	struct str all = STR_INIT;

	for (int i = 0; i < FORMAT_COUNT; i++)
		if (strcmp(name, formats[i].name) == 0) {
			*f = (enum trace_format)i;
			return 0;
		}
	list_names(&all);
	err_set(e, ERR_USAGE, "unknown format '%s' for '--from': it is one of %s", name, str_c(&all));
	str_free(&all);
	return -1;
}

bool format_lists_ops(enum trace_format f)
{
	return formats[f].lists_ops != NULL;
}

bool format_tool_lists_ops(const char *tool)
{
	for (int i = 0; i < FORMAT_COUNT; i++)
		if (formats[i].lists_ops && strcmp(formats[i].lists_ops, tool) == 0)
			return true;
	return false;
}

/* --- by content ------------------------------------------------------------------------------------------------ */

static enum trace_format of_line(const char *line, size_t n, bool chatter)
{
	for (int i = 0; i < FORMAT_COUNT; i++) {
		bool (*is)(const char *line, size_t n) = chatter ? formats[i].is_chatter : formats[i].is_header;

		if (is && is(line, n))
			return (enum trace_format)i;
	}
	return FORMAT_AUTO;
}

/* A table's header decides; without one, what only one profiler says. */
static enum trace_format of_lines(const char *p, size_t n)
{
	enum trace_format said = FORMAT_AUTO, f;

	for (const char *end = p + n, *next; p < end; p = next) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const size_t len = (size_t)((nl ? nl : end) - p);

		next = nl ? nl + 1 : end;
		if ((f = of_line(p, len, false)) != FORMAT_AUTO)
			return f;
		if (said == FORMAT_AUTO)
			said = of_line(p, len, true);
	}
	return said;
}

static enum trace_format of_bytes(const char *p, size_t n)
{
	for (int i = 0; i < FORMAT_COUNT; i++)
		if (formats[i].is_bytes && formats[i].is_bytes(p, n))
			return (enum trace_format)i;
	if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3, n -= 3;
	while (n > 0 && isspace((unsigned char)*p))
		p++, n--;
	for (int i = 0; i < FORMAT_COUNT; i++)
		if (formats[i].is_text && formats[i].is_text(p, n))
			return (enum trace_format)i;
	return of_lines(p, n);
}

/* --- what is not read, and what makes something of it that is --------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
	const size_t n = strlen(name), k = strlen(end);

	return n > k && strcmp(name + n - k, end) == 0;
}

/* Reports have no first bytes that are documented: their names tell. */
static const struct report {
	const char *end, *tool, *before, *behind; /* the command, around the file's name */
} reports[] = {
	{ ".nsys-rep", "Nsight Systems", "nsys export --type sqlite", "" },
	{ ".qdrep", "Nsight Systems", "nsys export --type sqlite", "" },
	{ ".ncu-rep", "Nsight Compute", "ncu --import", " --page raw --csv >report.csv" },
};

static const struct archive {
	size_t at;
	const char *magic, *what, *unpack;
} archives[] = {
	{ 257, "ustar", "a tar archive", "tar -xf" },
	{ 0, "PK\003\004", "a zip archive", "unzip" },
	{ 0, "\x28\xb5\x2f\xfd", "packed by zstd", "zstd -d" },
	{ 0,
	  "\xfd"
	  "7zXZ",
	  "packed by xz", "xz -dk" },
	{ 0, "BZh", "packed by bzip2", "bzip2 -dk" },
};

static int not_read(const char *name, const char *head, size_t n, struct err *e)
{
	for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
		if (ends_with(name, reports[i].end))
			return err_set(e, ERR_IO, "'%s' is a report of %s: '%s %s%s' makes of it what is read here",
			               name, reports[i].tool, reports[i].before, name, reports[i].behind);
	for (size_t i = 0; i < sizeof archives / sizeof *archives; i++) {
		const struct archive *a = &archives[i];
		const size_t k = strlen(a->magic);

		if (n >= a->at + k && memcmp(head + a->at, a->magic, k) == 0)
			return err_set(e, ERR_IO, "'%s' is %s: '%s %s', and import what comes out", name, a->what,
			               a->unpack, name);
	}
	return err_set(
		e, ERR_IO,
		"'%s' is no profile that is read here: those are PyTorch profiler (Kineto) JSON, Nsight Systems"
		" SQLite, nsys stats CSV (cuda_gpu_kern_sum), Nsight Compute CSV, tables of ops (CSV whose header"
		" begins with 'op,'), tt-metal's ops report, Ascend's kernel_details.csv, XLA's trace viewer JSON,"
		" rocprof's kernel tables and spools of 'npusim trace record', plain or gzipped, and replays (YAML)",
		name);
}

int format_of(struct input *in, struct err *e)
{
	char *head = malloc(HEAD);
	size_t got = 0;
	int f = FORMAT_AUTO;
	long n = 0;

	if (!head)
		return err_nomem(e, NULL);
	input_rewind(in);
	while (got < HEAD && (n = input_read(in, head + got, HEAD - got, e)) > 0)
		got += (size_t)n;
	if (n >= 0 || got > 0) { /* a file that breaks off later is its reader's to refuse */
		f = of_bytes(head, got);
		if (f != FORMAT_AUTO)
			err_clear(e);
	}
	if (n >= 0 && f == FORMAT_AUTO && got > 0)
		not_read(input_name(in), head, got, e);
	else if (n >= 0 && got == 0)
		err_set(e, ERR_IO, "'%s' is empty", input_name(in));
	free(head);
	input_rewind(in);
	return n < 0 && f == FORMAT_AUTO ? -1 : f;
}

/* --- importing ------------------------------------------------------------------------------------------------- */

int format_import(struct tracedb *db, enum trace_format f, const char *path, input_progress *progress, void *arg,
                  struct trace_import_stats *st, struct err *e)
{
	return format_import_with(db, f, path, &(struct format_options){ .progress = progress, .arg = arg }, st, e);
}

/* The profile that a replay takes its order from: any but a replay, which could be itself. */
static int import_order(struct tracedb *db, const char *path, struct err *e)
{
	struct input *in = input_open(path, e);
	const int f = in ? format_of(in, e) : -1;
	struct trace_import_stats st;
	int rc = -1;

	if (f == FORMAT_REPLAY)
		rc = REPLAY_NO_PROFILE;
	else if (f > FORMAT_AUTO)
		rc = formats[f].import(db, in, NULL, NULL, &st, e);
	input_free(in);
	return rc;
}

int format_import_with(struct tracedb *db, enum trace_format f, const char *path, const struct format_options *o,
                       struct trace_import_stats *st, struct err *e)
{
	struct input *in = input_open(path, e);
	int rc = -1, found = f;

	if (in && o->temp)
		input_set_temp(in, o->temp);
	if (in && f == FORMAT_AUTO)
		found = format_of(in, e);
	if (in && found == FORMAT_REPLAY)
		rc = replay_import(db, path, o->context, import_order, st, e);
	else if (in && found > FORMAT_AUTO && o->context)
		err_set(e, ERR_IO, "a context is for a replay, and '%s' has its own", path);
	else if (in && found > FORMAT_AUTO)
		rc = formats[found].import(db, in, o->progress, o->arg, st, e);
	if (rc == 0 && found > FORMAT_AUTO && format_lists_ops((enum trace_format)found))
		st->unlisted = st->kernels - st->linked;
	input_free(in);
	return rc;
}
