/* explain.h - a stored run in ten sentences that one could say to a colleague: each with its figure, with what of the run that is
 * of, and with where the constant behind it is from.
 *
 * The first eight are of what was simulated and never left out where it is known; the last tell what to change, or what the run
 * was warned of. A machine's file may be gone, or may have changed since: of a value that it has no more, the source says that.
 * Leaves out: runs side by side (compare), why a mapping was chosen (run --explain-map). */
#ifndef NPUSIM_SIM_REPORT_EXPLAIN_H
#define NPUSIM_SIM_REPORT_EXPLAIN_H

#include "results/db/res.h"
#include "sim/base/arena.h"
#include "sim/report/doc.h"

#define EXPLAIN_LINES 10

struct explain_line {
	const char *about;  /* "time", "held" */
	const char *text;   /* a sentence */
	const char *figure; /* what the number is called: "total_us" */
	double value;
	const char *unit;   /* "" for a share, of 1 */
	const char *where;  /* the ops or the resource that it is of */
	const char *source; /* of the constant behind it, or of the figure itself */
};

/* EXPLAIN_LINES of them as they are told: texts live in `a`; lines beyond the last are dropped, `failed` for want of memory. */
struct explain_lines {
	struct arena *a;
	struct explain_line *v;
	int n;
	bool failed;
};
const char *explain_text(struct explain_lines *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void explain_add(struct explain_lines *to, struct explain_line line);
/* As number_add has it; "594 us", "10.7 ms"; "8.44 to 17.9 ms". */
const char *explain_number(struct explain_lines *to, double x);
const char *explain_time(struct explain_lines *to, double us);
const char *explain_times(struct explain_lines *to, double low_us, double high_us);

/* Line i of an array of them. */
void explain_row(struct doc *d, const void *of, size_t i);
/* All lives in `a`; returns how many, -1: no memory. */
int explain_run(const struct res_stored *r, struct arena *a, struct explain_line lines[EXPLAIN_LINES], struct err *e);

#endif
