/* recording.h - a CUDA program under npusim's own capture library (traces/capture/), into a trace database.
 *
 * The program runs as it would without us, with the library named in CUDA_INJECTION64_PATH. Each process that uses CUDA
 * appends to a spool of its own in T.db.spools; when the program has ended, whichever way, they are imported and the
 * folder goes. What cannot be imported stays there. */
#ifndef NPUSIM_TRACES_READ_RECORDING_H
#define NPUSIM_TRACES_READ_RECORDING_H

#include "traces/db/tracedb.h"

#define RECORDING_LIBRARY "libnpusim-capture.so"

/* One spool: where it lay, and what capture_import said of it (0 to 2). */
typedef void recording_spool(void *arg, const char *path, const char *name, int rc,
                             const struct trace_import_stats *st);

struct recording {
	const char *db;
	const char *library; /* NULL: RECORDING_LIBRARY beside this program, or where it was installed */
	bool redact;
	recording_spool *tell;
	void *arg;
	int status;      /* out: of wait */
	size_t imported; /* out: spools that are in the database */
};

/* `argv` ends with NULL. */
int recording_run(struct recording *r, char **argv, struct err *e);

#endif
