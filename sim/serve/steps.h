/* steps.h - a server's steps on a machine: built from the model's description, run, side by side where there are several.
 *
 * A step is a stream of groups (sim/build): the sequences that decode, and each piece of a prompt. It runs as `npusim run` does,
 * steady by default; whether memory holds it is the pager's affair, so `dram.capacity` and the model's longest context are not
 * asked again. Paged caches cost: attention reads an entry for each block and layer (4 B of a block table on a GPU; on an NPU a
 * DMA descriptor of 64 B for keys and one for values, as dma.setup's row has it), and on an NPU every descriptor beyond one a
 * tile takes dma.setup of an engine, all engines at once, hidden by nothing. Not in it: rows of DRAM that blocks smaller than a row break up.
 * Of a model split over chips (`how`: tp, ep, norms) it is a chip's share with its collectives: the time is all chips', the energy
 * their sum, and what of the memory a model takes is a chip's.
 * On a GPU below its cap of power layers that are alike are run some times, and counted as often as they are: within 0.3 %
 * (t_serve).
 * Workers are processes (sim/base/pool.h) that stay for all steps; what they answer does not depend on how many there are. */
#ifndef NPUSIM_SIM_SERVE_STEPS_H
#define NPUSIM_SIM_SERVE_STEPS_H

#include "arch/machine/machine_conf.h"
#include "sim/build/build.h"
#include "sim/engine/run_result.h"
#include "sim/serve/cost.h"

#define STEPS_JOBS 256

struct steps;
/* run->memo, where there is one, is kept from list to list and from machine to machine. `how`: style, formats, layers and experts on this chip; `block` 0: caches in one piece. conf and m must live as long. */
struct steps *steps_new(const struct machine_conf *conf, const struct model *m, const struct build_how *how,
                        uint32_t block, const struct run_opts *run, uint32_t jobs, struct err *e);
void steps_free(struct steps *s);
cost_simulate_fn steps_simulate; /* ctx: struct steps */

/* A step as it is: its time, and what that was waited for. */
struct steps_held {
	ps_t time, stall[RES_COUNT];
};
int steps_hold(struct steps *s, const struct cost_point *p, struct steps_held *out, struct err *e);

/* Who is shown a step as it is: its stream and what came of it, which go when it has seen them. */
typedef void steps_show_fn(void *arg, const struct op_stream *x, const struct run_result *r);
int steps_show(struct steps *s, const struct cost_point *p, steps_show_fn *show, void *arg, struct err *e);

/* What of the machine's memory a model takes, whatever is asked of it; bytes. */
struct steps_memory {
	uint64_t weights, token, sequence,
		rest; /* of a token in the cache; of a sequence's fixed state; activations of the largest step */
};
/* Of steps of at most `seqs` sequences with `queries` rows each and `tokens` of prompts. */
int steps_memory(struct steps *s, uint32_t seqs, uint32_t queries, uint32_t tokens, struct steps_memory *out,
                 struct err *e);

#endif
