/* chrome.h - timelines in the trace event format of Chrome (JSON), which ui.perfetto.dev and chrome://tracing open.
 *
 * A process (pid) has threads (tid), both with names; viewers want threads numbered from 1, each number in one process only. Spans of a thread nest or
 * are apart. Times are ns and printed in microseconds with all their digits: viewers keep no less than a ns. Events may
 * come in any order. Format: "Trace Event Format", Google, 2016. */
#ifndef NPUSIM_SIM_REPORT_CHROME_H
#define NPUSIM_SIM_REPORT_CHROME_H

#include <stdint.h>

#include "sim/ui/out.h"
#include "sim/ui/outfile.h"

/* A viewer holds some times as much; one decode step is a tenth of it. */
#define CHROME_MOST (UINT64_C(256) << 20)

struct chrome {
	struct outfile *o;
	bool any;
	uint64_t bytes, most; /* written; more is an error */
	const char *advice;
};

/* `advice`: what makes it smaller, in words of who writes it: "take a part of the trace with '--range'". It must live as long. */
void chrome_begin(struct chrome *c, struct outfile *o, const char *advice);
void chrome_end(struct chrome *c); /* the file is to be closed then */
/* Now and then, for large timelines; -1: it cannot be written, or is too large for anything that could show it. */
int chrome_flush(struct chrome *c, struct err *e);

/* An event is open until chrome_close_event: what it has beyond these is added by out_json_*. `ph`: "X" a span, "C" a
 * counter, "s" and "f" an arrow's ends, "M" a name. */
void chrome_open_event(struct chrome *c, struct out_json *j, const char *ph, const char *name, int64_t pid, int tid);
void chrome_close_event(struct out_json *j);
void chrome_time(struct out_json *j, const char *key, int64_t ns);
void chrome_span(struct out_json *j, const char *cat, int64_t start_ns, int64_t dur_ns);
/* `what`: "process_name", "thread_name". */
void chrome_name(struct chrome *c, const char *what, int64_t pid, int tid, const char *name);
/* Where it stands among its like: "process_sort_index", "thread_sort_index". */
void chrome_rank(struct chrome *c, const char *what, int64_t pid, int tid, int64_t rank);
/* One end of arrow `id`, at a moment within a span of that thread. */
void chrome_arrow(struct chrome *c, const char *ph, const char *name, int64_t id, int64_t pid, int tid, int64_t at_ns);

#endif
