/* engine_event.c - commands on the machine itself: every tile moved or computed is an event. */
#include "sim/engine/engine.h"
#include "sim/engine/machine.h"
#include "sim/engine/pass.h"

static void *engine_event_make(const struct machine_cfg *c, const struct isa_prog *p, struct err *e)
{
	(void)p; /* it comes with each pass */
	return machine_new(c, NULL, e);
}

static void engine_event_drop(void *m)
{
	machine_free(m);
}

static struct stat_reg *stats_of(void *m)
{
	return machine_stats(m);
}

static int engine_event_step(void *m, const struct isa_prog *p, const uint32_t *const *picks, struct cp_result *res,
                             struct err *e)
{
	return machine_step(m, p, picks, res, e);
}

static void rest(void *m)
{
	machine_rest(m);
}

static uint64_t resident(const void *m, uint64_t addr, uint64_t bytes, bool kv)
{
	return machine_resident(m, addr, bytes, kv);
}

static bool pinned(const void *m, uint32_t tensor)
{
	return machine_pinned(m, tensor);
}

static ps_t now(const void *m)
{
	return machine_now(m);
}

static uint64_t events(const void *m)
{
	return machine_events(m);
}

static void look_on(void *m, const struct watch *w)
{
	machine_watch(m, w);
}

static const struct pass_ops ops = {
	.make = engine_event_make,
	.free = engine_event_drop,
	.stats = stats_of,
	.warm = engine_event_step,
	.step = engine_event_step,
	.rest = rest,
	.resident = resident,
	.pinned = pinned,
	.now = now,
	.events = events,
	.watch = look_on,
};

static bool can(const struct machine_cfg *c, enum run_fidelity f)
{
	return machine_runs(c) == MACHINE_COMMANDS && f == RUN_EVENT;
}

static int engine_event_run(const struct machine_conf *conf, const struct run_opts *o, struct arena *a,
                            struct run_result *out, struct err *e)
{
	return pass_run(&ops, conf, o, a, out, e);
}

static int stats(const struct machine_cfg *c, stat_each_fn *each, void *arg, struct err *e)
{
	return pass_stats(&ops, c, each, arg, e);
}

const struct engine_ops engine_event = {
	.fidelity = "event", .how = "event", .events = true, .can = can, .run = engine_event_run, .stats = stats
};
