/* chrome_trace.h - a measured trace as a timeline that ui.perfetto.dev and chrome://tracing open.
 *
 * A device is a process and its streams are threads; the host is a process with the framework's ops and
 * the annotations by thread, and one thread of launch calls; arrows lead from the call to what ran. Threads are
 * numbered from 1 in order of appearance, as viewers take small numbers only; their names say what they were. Launches
 * come some at a time (tracedb_load_pieces) and go to the file as they come: memory does not grow with the trace. */
#ifndef NPUSIM_SIM_REPORT_CHROME_TRACE_H
#define NPUSIM_SIM_REPORT_CHROME_TRACE_H

#include "sim/report/chrome.h"
#include "traces/trace.h"

/* A stream of a device, or a thread of the host. */
struct chrome_track {
	int64_t process, id;
};

struct chrome_trace {
	struct chrome c;
	struct chrome_track *tracks;
	size_t n, cap;
	int64_t *wide; /* ids of ops that may go on in the next piece, in order */
	size_t n_wide;
	int64_t from, to; /* of the host's calls so far */
};

void chrome_trace_begin(struct chrome_trace *t, struct outfile *o);
int chrome_trace_piece(struct chrome_trace *t, const struct trace *x, struct err *e);
int chrome_trace_end(struct chrome_trace *t, const struct trace *x, struct err *e); /* annotations and names */
void chrome_trace_free(struct chrome_trace *t);

#endif
