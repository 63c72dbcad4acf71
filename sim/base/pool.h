/* pool.h - jobs done by worker processes, or by this one: each is handed out as bytes and answered by bytes.
 *
 * A worker has one job at a time, so the slow ones hold nobody up, and results do not depend on how many workers there are
 * as long as a job's result depends on the job alone. Workers are forked from what the caller has then (of what changes
 * later they know what a job's bytes say), and stay for later batches with what they have found out. A worker that dies over
 * its job is replaced, and the job is given once more; when that one dies too, the result says so. Workers go with the pool,
 * and with the process that has it, in whatever way that ends: on Linux also those that are at work. They end by _exit: what
 * the caller has buffered and registered is the caller's.
 *
 * With no workers the calling process does the jobs itself, by the same functions, with the same bytes: the same results
 * where nothing can be forked. Of a job it then may die. */
#ifndef NPUSIM_SIM_BASE_POOL_H
#define NPUSIM_SIM_BASE_POOL_H

#include <stdbool.h>

#include "sim/base/err.h"
#include "sim/base/str.h"

#define POOL_WORKERS 512

/* How workers are made: pool_processes forks them. Who never names it, a library, has none of that. */
struct pool_backend;
extern const struct pool_backend pool_processes;

/* What a worker does. */
struct pool_how {
	unsigned workers;          /* at most, POOL_WORKERS at the very most; 0: none, jobs are done here */
	unsigned each;             /* jobs until a worker is replaced by a new one; 0: it stays */
	size_t frame_max;          /* bytes of a job or of a result */
	void *(*start)(void *arg); /* what a worker has for all of its jobs; may be NULL */
	void (*end)(void *arg,
	            void *state); /* frees that where no process ends with it: without workers; may be NULL */
	void (*work)(void *arg, void *state, const char *job, size_t n, struct str *result);
	void *arg;
	const struct pool_backend *backend; /* NULL: jobs are done here */
};

struct pool_result {
	const char *bytes; /* until the function that gets it returns */
	size_t n;
	const char *lost; /* why there are none: the signal, the size; NULL: here they are */
	bool died;        /* lost, as two workers died over it */
};

/* Jobs 0 to n - 1; the functions run in the calling process. */
struct pool_batch {
	size_t n;
	bool ordered; /* results in the order of jobs; else as they come */
	void (*job)(void *arg, size_t i, struct str *to);
	int (*result)(void *arg, size_t i, const struct pool_result *r, struct err *e);
	/* After results that came together, while workers do the next: `done` in all. May be NULL. */
	int (*progress)(void *arg, size_t done, struct err *e);
	bool (*stop)(void *arg); /* asked between results and while none comes; may be NULL */
	void *arg;
};

struct pool *pool_new(const struct pool_how *how, struct err *e); /* forks nothing yet */
/* 0: all results were given; 1: stopped; -1: an error, of the pool or of result() or progress(). Workers that are at work
 * then are killed. As many are forked as jobs ask for and the system allows; none is an error. */
int pool_run(struct pool *p, const struct pool_batch *b, struct err *e);
bool pool_hired(const struct pool *p); /* it has workers, from an earlier batch */
void pool_free(struct pool *p);

#endif
