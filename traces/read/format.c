/* format.c - a look at the head of a file. */
#include "traces/read/format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "traces/read/capture_import.h"
#include "traces/read/capture_spool.h"
#include "traces/read/kineto.h"
#include "traces/read/ncu_csv.h"
#include "traces/read/nsys.h"
#include "traces/read/nsys_csv.h"
#include "traces/read/replay.h"

#define HEAD (64u * 1024)

static const char *const names[FORMAT_COUNT] = {
	[FORMAT_AUTO] = "auto",         [FORMAT_KINETO] = "kineto",   [FORMAT_NSYS] = "nsys",
	[FORMAT_NSYS_CSV] = "nsys-csv", [FORMAT_NCU_CSV] = "ncu-csv", [FORMAT_CAPTURE] = "capture",
	[FORMAT_REPLAY] = "replay",
};

int format_parse(const char *name, enum trace_format *f, struct err *e)
{
	for (int i = 0; i < FORMAT_COUNT; i++)
		if (strcmp(name, names[i]) == 0) {
			*f = (enum trace_format)i;
			return 0;
		}
	return err_set(e, ERR_USAGE, "unknown format '%s' for '--from': it is one of " FORMAT_NAMES, name);
}

/* What `nsys stats` prints around its tables. */
static bool is_nsys_chatter(const char *line, size_t n)
{
	static const char *const starts[] = { "Generating SQLite file ", "Processing [", "SKIPPED: " };

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (n >= strlen(starts[i]) && memcmp(line, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

/* A table's header decides; without one, what only one profiler says. */
static enum trace_format of_lines(const char *p, size_t n)
{
	enum trace_format said = FORMAT_AUTO;
	bool first = true; /* but for comments and empty lines */

	for (const char *end = p + n, *next; p < end; p = next) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const size_t len = (size_t)((nl ? nl : end) - p);

		next = nl ? nl + 1 : end;
		if (first && replay_is_header(p, len))
			return FORMAT_REPLAY;
		first = first && (len == 0 || *p == '#');
		if (ncu_csv_is_header(p, len))
			return FORMAT_NCU_CSV;
		if (nsys_csv_is_header(p, len))
			return FORMAT_NSYS_CSV;
		if (said == FORMAT_AUTO && ncu_csv_is_chatter(p, len))
			said = FORMAT_NCU_CSV;
		if (said == FORMAT_AUTO && is_nsys_chatter(p, len))
			said = FORMAT_NSYS_CSV;
	}
	return said;
}

static enum trace_format of_bytes(const char *p, size_t n)
{
	if (n >= 16 && memcmp(p, "SQLite format 3", 16) == 0)
		return FORMAT_NSYS;
	if (capture_spool_is(p, n))
		return FORMAT_CAPTURE;
	if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3, n -= 3;
	while (n > 0 && isspace((unsigned char)*p))
		p++, n--;
	if (n > 0 && (*p == '{' || (*p == '[' && (n < 2 || !isalnum((unsigned char)p[1])))))
		return FORMAT_KINETO;
	return of_lines(p, n);
}

int format_of(struct input *in, struct err *e)
{
	char *head = malloc(HEAD);
	size_t got = 0;
	int f = FORMAT_AUTO;
	long n = 0;

	if (!head)
		return err_set(e, ERR_NOMEM, "out of memory");
	input_rewind(in);
	while (got < HEAD && (n = input_read(in, head + got, HEAD - got, e)) > 0)
		got += (size_t)n;
	if (n >= 0 || got > 0) { /* a file that breaks off later is its reader's to refuse */
		f = of_bytes(head, got);
		if (f != FORMAT_AUTO)
			err_clear(e);
	}
	free(head);
	input_rewind(in);
	if (n < 0 && f == FORMAT_AUTO)
		return -1;
	if (f == FORMAT_AUTO && got == 0)
		err_set(e, ERR_IO, "'%s' is empty", input_name(in));
	else if (f == FORMAT_AUTO)
		err_set(e, ERR_IO,
		        "'%s' is no profile that is read here: those are PyTorch profiler (Kineto) JSON, Nsight"
		        " Systems SQLite, nsys stats CSV (cuda_gpu_kern_sum), Nsight Compute CSV and spools of 'npusim trace"
		        " record', plain or gzipped, and replays (YAML)",
		        input_name(in));
	return f;
}

int format_import(struct tracedb *db, enum trace_format f, const char *path, input_progress *progress, void *arg,
                  struct trace_import_stats *st, struct err *e)
{
	return format_import_with(db, f, path, &(struct format_options){ 0 }, progress, arg, st, e);
}

int format_import_with(struct tracedb *db, enum trace_format f, const char *path, const struct format_options *o,
                       input_progress *progress, void *arg, struct trace_import_stats *st, struct err *e)
{
	struct input *in = input_open(path, e);
	int rc = -1, found = f;

	if (in && f == FORMAT_AUTO)
		found = format_of(in, e);
	if (in && found > FORMAT_AUTO && found != FORMAT_REPLAY && o->context)
		err_set(e, ERR_IO, "a context is for a replay, and '%s' has its own", path);
	else if (in && found == FORMAT_KINETO)
		rc = kineto_import(db, path, -1, progress, arg, st, e);
	else if (in && found == FORMAT_NSYS)
		rc = nsys_import(db, in, progress, arg, st, e);
	else if (in && found == FORMAT_NSYS_CSV)
		rc = nsys_csv_import(db, in, progress, arg, st, e);
	else if (in && found == FORMAT_NCU_CSV)
		rc = ncu_csv_import(db, in, progress, arg, st, e);
	else if (in && found == FORMAT_CAPTURE && (rc = capture_import(db, in, progress, arg, st, e)) == 2)
		rc = err_set(e, ERR_IO, "no kernel, copy or set in '%s': the program did nothing on a GPU", path);
	else if (in && found == FORMAT_REPLAY)
		rc = replay_import(db, path, o->context, st, e);
	input_free(in);
	return rc;
}
