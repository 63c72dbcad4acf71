/* format.h - which profiler wrote a file, by its content and never by its name, and the reader that goes with it. */
#ifndef NPUSIM_TRACES_READ_FORMAT_H
#define NPUSIM_TRACES_READ_FORMAT_H

#include "traces/db/tracedb.h"
#include "traces/text/input.h"

enum trace_format {
	FORMAT_AUTO,
	FORMAT_XPLANE, /* before any JSON */
	FORMAT_KINETO,
	FORMAT_NSYS,
	FORMAT_NSYS_CSV,
	FORMAT_NCU_CSV,
	FORMAT_CAPTURE,
	FORMAT_REPLAY,
	FORMAT_OPS,
	FORMAT_COUNTERS,
	FORMAT_TT_CSV,
	FORMAT_ASCEND_CSV,
	FORMAT_ROCPROF_CSV,
	FORMAT_COUNT
};

int format_parse(const char *name, enum trace_format *f, struct err *e);
/* Do its kernels become rows of a table of ops (workloads/listed.h), each alone? */
bool format_lists_ops(enum trace_format f);
bool format_tool_lists_ops(const char *tool); /* as a source in a trace database has it */
/* Looks at the first 64 KiB of plain bytes, gzipped or not. FORMAT_AUTO: none that is read here (e has the reason);
 * -1 unreadable. */
int format_of(struct input *in, struct err *e);
struct format_options {
	int64_t context; /* of a replay (see replay.h) the one it is of, 0: what it assumes; for other formats 0 */
	input_progress *progress;
	void *arg;
	const char *temp; /* the folder of what must be unpacked to be read; NULL: "/tmp" */
};
/* 0 imported, 1 in the database already, -1 error (nothing of it remains). FORMAT_AUTO finds out.
 * The first has default options. */
int format_import(struct tracedb *db, enum trace_format f, const char *path, input_progress *progress, void *arg,
                  struct trace_import_stats *st, struct err *e);
int format_import_with(struct tracedb *db, enum trace_format f, const char *path, const struct format_options *o,
                       struct trace_import_stats *st, struct err *e);

#endif
