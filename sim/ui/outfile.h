/* outfile.h - text into a file that is there whole or not at all (newfile.h): the way out of all that commands write.
 *
 * Text comes together in `text` and goes out in pieces, so memory does not grow with the file. A full disk is one error,
 * what was there before stays, and nothing is left beside it. */
#ifndef NPUSIM_SIM_UI_OUTFILE_H
#define NPUSIM_SIM_UI_OUTFILE_H

#include <stdio.h>

#include "sim/base/err.h"
#include "sim/base/newfile.h"
#include "sim/base/str.h"

struct outfile {
	FILE *f;
	struct newfile to;
	struct str text; /* what is to be written */
	const char *path;
};

int outfile_open(struct outfile *o, const char *path, struct err *e); /* `path` must live until it is closed */
/* Hands on what has come together, once it is worth it. */
int outfile_flush(struct outfile *o, struct err *e);
/* rc < 0: something went wrong, and the file is dropped; returns -1 then. One never opened, or all zero, is fine. */
int outfile_close(struct outfile *o, int rc, struct err *e);
/* Writes all of a text to an open stream and flushes it; a short write is ERR_IO. */
int outfile_print(const struct str *text, FILE *to, struct err *e);
/* A whole text at once. */
int outfile_write(const char *path, const struct str *text, struct err *e);

#endif
