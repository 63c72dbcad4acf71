/* progress.h - a progress line on stderr for long work: only on a terminal, at most ten times a second. */
#ifndef NPUSIM_SIM_UI_PROGRESS_H
#define NPUSIM_SIM_UI_PROGRESS_H

#include <stdint.h>

struct progress;

struct progress *progress_new(const char *label, const char *unit, uint64_t total); /* total 0: unknown */
void progress_set(struct progress *p, uint64_t done);
void progress_free(struct progress *p); /* wipes the line; NULL is fine */

#endif
