/* runbed.h - a stream of ops to run, for tests: a random one with a random machine, or a traced one. What cannot be set up
 * fails the test. */
#ifndef NPUSIM_TESTS_RUNBED_H
#define NPUSIM_TESTS_RUNBED_H

#include "sim/base/rng.h"
#include "sim/build/build.h"
#include "sim/engine/run.h"
#include "traces/db/tracedb.h"
#include "workloads/rules.h"

struct runbed {
	struct arena *a;
	struct op_stream *s;
	struct str yaml; /* the random machine; empty for a trace */
	struct op_stream traced;
	struct tracedb *db;
	struct rules *rules;
	struct err e;
};

void runbed_random(struct runbed *b, struct rng *r);
/* Of traces/h200/TRACE.json.gz, `range` of it or NULL. */
void runbed_traced(struct runbed *b, const char *trace, const char *range);
/* Of workloads/ops/pays/TABLE. */
void runbed_ops(struct runbed *b, const char *table);
/* Of a table of ops as text: "op,m,n,k\ngemm,1,64,64\n". */
void runbed_table(struct runbed *b, const char *text);
/* Of a model by its name: formats that `how` leaves open are the model's own. */
void runbed_model(struct runbed *b, const char *model, const struct build_how *how);
void runbed_down(struct runbed *b);
/* The stream on `config`, or on the bed's own machine where that is NULL; false when that machine cannot be built or holds no
 * tile. */
bool runbed_run(struct runbed *b, const char *config, const char *const *sets, int n, const struct run_opts *o,
                struct run_result *x);
uint64_t runbed_stat(const struct run_result *x, const char *name); /* 0 when there is no such name */

#endif
