/* pass.h - a run of a machine that runs commands: the stream mapped to a program, a pass to warm up, a pass that is
 * measured, and its time, stalls and bytes shared out to the ops, with the roofline beside it.
 *
 * With events or in closed form: the two differ in struct pass_ops alone. */
#ifndef NPUSIM_SIM_ENGINE_PASS_H
#define NPUSIM_SIM_ENGINE_PASS_H

#include "arch/machine/machine_conf.h"
#include "arch/npu/cp.h"
#include "sim/engine/run_result.h"

typedef int pass_fn(void *m, const struct isa_prog *p, const uint32_t *const *picks, struct cp_result *res,
                    struct err *e);

/* A machine for one program. */
struct pass_ops {
	void *(*make)(const struct machine_cfg *c, const struct isa_prog *p, struct err *e); /* keeps both */
	void (*free)(void *m);
	struct stat_reg *(*stats)(void *m);
	/* Of the program that the machine is for, but for the bytes that its moves are of. */
	pass_fn *warm;         /* for what it leaves on chip: `res` may stay as it is */
	pass_fn *step;         /* res[n_cmds] is filled */
	void (*rest)(void *m); /* behind a pass that stored nothing: DRAM is as in a new machine; NULL: it is */
	uint64_t (*resident)(const void *m, uint64_t addr, uint64_t bytes, bool kv);
	bool (*pinned)(const void *m, uint32_t tensor);
	/* All three NULL where no clock runs: a pass begins at 0, serves no events, and there is nothing to look on at. */
	ps_t (*now)(const void *m);
	uint64_t (*events)(const void *m);
	void (*watch)(void *m, const struct watch *w);
};

/* What engine_ops' run and stats do, by such a machine. */
int pass_run(const struct pass_ops *ops, const struct machine_conf *conf, const struct run_opts *o, struct arena *a,
             struct run_result *out, struct err *e);
int pass_stats(const struct pass_ops *ops, const struct machine_cfg *c, stat_each_fn *each, void *arg, struct err *e);

#endif
