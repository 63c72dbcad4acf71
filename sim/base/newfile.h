/* newfile.h - where an output goes, whatever its path is.
 *
 * A plain file, or a name that is free, gets what was written when all of it is there, and until then keeps what it
 * holds: it is written beside and renamed (temp.h). Symbolic links are followed to the file they lead to. Devices and
 * pipes are written to, and so is the file that is our own standard output or error; a folder or a socket is refused.
 * A file that is replaced keeps its mode. What the command has read is not replaced (inputs.h). */
#ifndef NPUSIM_SIM_BASE_NEWFILE_H
#define NPUSIM_SIM_BASE_NEWFILE_H

#include "sim/base/temp.h"

struct newfile {
	int fd;           /* to write to; what it is may not be sought in */
	const char *path; /* as it was given; must live as long */
	bool direct;      /* there is nothing to rename */
	struct temp temp;
	struct str to; /* where the path leads */
};

int newfile_open(struct newfile *n, const char *path, struct err *e);
/* Closes it. rc == 0: it takes its place. rc < 0: something went wrong before, and what was there stays; returns -1. */
int newfile_close(struct newfile *n, int rc, struct err *e);

/* Whether writing to one path writes to the other: one plain file, or one name that is still free. Not for what is never
 * replaced: two may go to one device. */
bool newfile_same(const char *a, const char *b);

#endif
