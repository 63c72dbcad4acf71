/* progress.h - a progress line on stderr for long work: only on a terminal, at most ten times a second. It says how long
 * what is left takes; so where there is a line nothing else foretells it. */
#ifndef NPUSIM_SIM_UI_PROGRESS_H
#define NPUSIM_SIM_UI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress;

bool progress_shown(void);                                                          /* whether there is a line, here */
struct progress *progress_new(const char *label, const char *unit, uint64_t total); /* total 0: unknown */
void progress_set(struct progress *p, uint64_t done); /* 0: nothing is done yet, and is said at once */
void progress_of(struct progress *p, uint64_t total); /* when it is known, or known to be more */
void progress_free(struct progress *p);               /* wipes the line; NULL is fine */
uint64_t progress_now_ns(void);                       /* of a clock that only goes on */

#endif
