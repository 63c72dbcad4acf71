/* measured.h - a selection of a trace database or of any profile, with what goes with it, in memory of its own. */
#ifndef NPUSIM_SIM_WORKLOAD_MEASURED_H
#define NPUSIM_SIM_WORKLOAD_MEASURED_H

#include "sim/base/arena.h"
#include "sim/lower/lower.h"
#include "sim/profile/counters.h"
#include "traces/db/tracedb.h"
#include "traces/text/input.h"
#include "workloads/rules.h"

/* A trace of a few minutes of decoding is some hundred MiB; far beyond that the file is damaged or hostile. */
#define MEASURED_MEMORY ((size_t)16 << 30)
#define MEASURED_PIECE  ((size_t)1 << 15) /* with its ops, lowered, 5 KB a launch */

struct measured {
	struct lower_left left; /* what of the trace was left out, where its part was asked for */
	struct arena *arena;
	struct trace trace;
	struct counters *counters; /* NULL: none are stored */
	struct rules *rules;       /* NULL: not asked for */
};

/* tracedb_load, _load_any or _load_groups. */
typedef int measured_loader(struct tracedb *t, const char *range, struct arena *a, struct trace *out, struct err *e);

struct measured_from {
	const char *path, *range; /* range NULL: all of it */
	measured_loader *load;    /* NULL: tracedb_load */
	tracedb_piece
		*each; /* not NULL: launches are given to it some at a time (tracedb_load_pieces), counters are there */
	void *each_arg;
	const char *rules;        /* a table's path, "": the one that comes with npusim; NULL: none are read */
	bool part;                /* of a whole trace the part that has ops (sim/lower/lower.h), where it is not all */
	uint64_t context;         /* of a replay; 0: what it assumes */
	input_progress *progress; /* while a profile is read; may be NULL */
	void *arg;
	const struct source *source; /* of rules */
};

bool measured_is_database(const char *path); /* one of ours; anything else is a profile, or nothing */
bool measured_is_replay(const char *path);   /* what is wrong with a file its reader says */
/* A trace database; any profile is read into one in memory, of which nothing is left behind. */
struct tracedb *measured_open(const struct measured_from *from, struct err *e);
int measured_load(const struct measured_from *from, struct measured *m, struct err *e);
void measured_free(struct measured *m);

/* Kernels' times of a trace's steps: of its annotations that are called as its range, but for the number at the end. */
struct measured_spread {
	size_t n; /* 0: it is no database, or no such range */
	uint64_t low_ns, high_ns;
};
int measured_spread(const char *path, const struct trace *t, struct measured_spread *out, struct err *e);

#endif
