/* temp.h - a file that is in the making: it goes with whoever makes it.
 *
 * Where the file system can do it the file has no name until it is given one, so that a process which is killed leaves
 * nothing. Elsewhere, and from then on, it is called "STEM.npusim-XXXXXX" and locked as long as its maker lives: whoever
 * makes another one in that folder removes those that are locked by nobody. Only files of the same user are removed. */
#ifndef NPUSIM_SIM_BASE_TEMP_H
#define NPUSIM_SIM_BASE_TEMP_H

#include <stdbool.h>

#include "sim/base/err.h"
#include "sim/base/str.h"

struct temp {
	int fd;                /* for reading and writing; -1: none */
	struct str stem, name; /* the name is empty as long as it has none */
};
#define TEMP_INIT \
	{ \
		-1, STR_INIT, STR_INIT \
	}

/* `stem` is the path that its own begins with; `named`: with a name from the start. The errno of a failure is returned
 * below zero, for the caller's words: -ENOSPC, -ENOMEM. */
int temp_open(struct temp *t, const char *stem, bool named);
int temp_link(struct temp *t);                   /* gives it its name */
int temp_take(struct temp *t, const char *path); /* it becomes `path`, in the same folder; closes it */
void temp_free(struct temp *t);                  /* without temp_take nothing is left of it */

#endif
