/* engine_analytic.c - commands on the machine in closed form: no clock, no events, nothing to look on at. */
#include "sim/engine/analytic.h"
#include "sim/engine/engine.h"
#include "sim/engine/pass.h"

#define WRITES_FEW 100 /* a part of what is read that takes no time to speak of */
#define LAST       16

static void *engine_analytic_make(const struct machine_cfg *c, const struct isa_prog *p, struct err *e)
{
	return analytic_new(c, p, e);
}

static void engine_analytic_drop(void *m)
{
	analytic_free(m);
}

static struct stat_reg *stats_of(void *m)
{
	return analytic_stats(m);
}

static void engine_analytic_count(const struct isa_prog *p, const struct isa_cmd *c, uint64_t *read, uint64_t *written)
{
	for (uint32_t i = c->first_insn; i < c->first_insn + c->n_insns; i++) {
		const struct isa_insn *x = &p->insns[i];

		*read += x->code == ISA_LOAD ? x->bytes : 0;
		*written += x->code == ISA_STORE && x->dst != ISA_SRAM ? x->bytes : 0;
	}
}

/* Whether a pass may begin behind a write queue of the one before that matters: its last commands, which move a LAST-th of all,
 * write much. What was written before them has gone out since. */
static bool writes_much(const struct isa_prog *p)
{
	uint64_t all = 0, read = 0, written = 0;

	for (size_t k = 0; k < p->n_cmds; k++)
		engine_analytic_count(p, &p->cmds[k], &all, &all);
	for (size_t k = p->n_cmds; k-- > 0 && read + written < all / LAST;)
		engine_analytic_count(p, &p->cmds[k], &read, &written);
	return written > read / WRITES_FEW;
}

static int warm(void *m, const struct isa_prog *p, const uint32_t *const *picks, struct cp_result *res, struct err *e)
{
	analytic_bytes(m, p);
	if (writes_much(p))
		return analytic_step(m, picks, res, e);
	analytic_warm(m, picks);
	return 0;
}

static int engine_analytic_step(void *m, const struct isa_prog *p, const uint32_t *const *picks, struct cp_result *res,
                                struct err *e)
{
	analytic_bytes(m, p);
	return analytic_step(m, picks, res, e);
}

static uint64_t resident(const void *m, uint64_t addr, uint64_t bytes, bool kv)
{
	return analytic_resident(m, addr, bytes, kv);
}

static bool pinned(const void *m, uint32_t tensor)
{
	return analytic_pinned(m, tensor);
}

static const struct pass_ops ops = {
	.make = engine_analytic_make,
	.free = engine_analytic_drop,
	.stats = stats_of,
	.warm = warm,
	.step = engine_analytic_step,
	.resident = resident,
	.pinned = pinned,
};

static bool can(const struct machine_cfg *c, enum run_fidelity f)
{
	return machine_runs(c) == MACHINE_COMMANDS && f == RUN_ANALYTIC;
}

static int engine_analytic_run(const struct machine_conf *conf, const struct run_opts *o, struct arena *a,
                               struct run_result *out, struct err *e)
{
	return pass_run(&ops, conf, o, a, out, e);
}

static int stats(const struct machine_cfg *c, stat_each_fn *each, void *arg, struct err *e)
{
	return pass_stats(&ops, c, each, arg, e);
}

const struct engine_ops engine_analytic = { .fidelity = "analytic",
	                                    .how = "analytic: a closed form of the machine, no events",
	                                    .can = can,
	                                    .run = engine_analytic_run,
	                                    .stats = stats };
