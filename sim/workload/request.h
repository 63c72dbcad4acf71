/* request.h - a request to a model as one workload: its pictures, its prompt and the tokens of its answer, stage by stage.
 *
 *   STAGE[:KEY=VALUE,...];STAGE...      vision:image=1024; vision:image=640,batch=6; prefill:tokens=873; decode:tokens=256
 *
 * STAGE is a phase: vision, prefill or decode. Keys are the rows of workload_rows but the phase, so a stage is of a model or of
 * a trace's range, and what was given beside the list is each stage's default. A value may have commas in it where
 * what follows is no KEY=.
 *
 * `tokens` of a decode is its steps, one after the other, each behind one token more. Where `context` is not given, a model's prompt
 * and decode begin behind what the stages before left in the cache. A range that was measured has its own context: with
 * `context` its cache grows from there, as sim/build/scale.h does it; without, each step is the measured one.
 *
 * Not each of the steps is run. They are cut into blocks, and a block is as many times its middle one: exact where time is
 * linear in the context, as whole steps so that times, bytes and joules add up to the last unit. Cut finer, a block is three, of
 * which the one in the middle keeps its own: what was run is run no more.
 *
 * Leaves out: stages side by side (a picture encoded while a prompt is read), several requests at once (sim/serve). */
#ifndef NPUSIM_SIM_WORKLOAD_REQUEST_H
#define NPUSIM_SIM_WORKLOAD_REQUEST_H

#include "sim/workload/workload.h"

#define REQUEST_STAGES 32
#define REQUEST_CUTS   3           /* at most so often into three */
#define REQUEST_BLOCKS (3 * 3 * 3) /* that is */
#define REQUEST_NEAR   500         /* fine enough: another cut changes the sum by less than one part of this */

struct request_stage {
	enum build_phase phase;
	const char *name;          /* "decode", "vision 2" where there are several */
	struct workload_spec spec; /* of the first step */
	uint64_t steps;            /* one after the other */
	bool grows;                /* each step is behind one token more than the one before */
};
struct request {
	struct request_stage v[REQUEST_STAGES];
	size_t n;
};

/* Steps that are run as one of them. */
struct request_block {
	uint64_t first, n, at; /* steps from 0; `at` is run */
};

/* `all`: what is given beside the list. Each stage is checked as a workload of its own. Texts are in `a` and in `all`. */
int request_parse(const char *list, const struct workload_spec *all, struct arena *a, struct request *out,
                  struct err *e);
/* KEY=VALUE,KEY=VALUE of `what` ("a stage") into a spec: the rows of workload_rows but the phase. */
int request_keys(const char *p, const char *what, struct arena *a, struct workload_spec *s, struct err *e);
/* The blocks after so many cuts; returns how many. */
size_t request_blocks(const struct request_stage *s, unsigned cuts, struct request_block out[REQUEST_BLOCKS]);
/* One step's spec. */
struct workload_spec request_step(const struct request_stage *s, uint64_t step);
/* "273 new tokens behind 0", "256 steps behind 273 to 528 tokens", "6 pictures of 640 x 640 pixels" */
void request_text(const struct request_stage *s, struct str *to);

#endif
