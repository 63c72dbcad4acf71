#include "arch/npu/cp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "arch/watch.h"

const struct cfg_field dispatch_schema[] = {
	CFG_PS(struct dispatch_cfg, latency, "latency", "350 ns", 0, 1000 * PS_US, NULL,
	       "from a command's dependencies being met to its units starting",
	       "one dependent step on an H200 is 0.369 us (prototype fit over its operator sweep, GPU-MODEL section "
	       "2)"),
	CFG_U64(struct dispatch_cfg, layout, "layout", "0", 0, UINT64_C(1) << 50, NULL,
	        "values a second that the driver lays out for a product of several rows, operands and results, one command after"
	        " the other; 0: nothing has to be",
	        "our choice: units read and write rows as they are"),
	CFG_PS(struct dispatch_cfg, interval, "interval", "20 ns", 0, 1000 * PS_US, NULL,
	       "shortest time between two dispatches", "our choice: about 30 cycles to decode a descriptor"),
	CFG_U32(struct dispatch_cfg, queue, "queue", "64", 1, 4096, NULL, "commands in flight", "our choice"),
	CFG_U32(struct dispatch_cfg, batch, "batch", "1", 1, 256, NULL,
	        "consecutive commands dispatched as one; inside a batch a dependent starts after core.depth cycles",
	        "1: off, as on the GPU that was measured"),
	CFG_BOOL(
		struct dispatch_cfg, join, "join", "false",
		"up to dispatch.batch independent products of the same few rows (q, k and v; gate and up) are one command",
		"profile report, 7: fine-grained batching of small operations; off: each its own"),
	CFG_BOOL(struct dispatch_cfg, dynamic, "dynamic", "false",
	         "experts are chosen on the device; otherwise the host reads the picks and decides",
	         "the traced GPU asks the host"),
	CFG_PS(struct dispatch_cfg, branch, "branch", "100 ns", 0, 1000 * PS_US, NULL,
	       "deciding on the device, after the picks are known",
	       "our choice: a dependent load and a descriptor fetch"),
	CFG_PS(struct dispatch_cfg, host, "host", "12 us", 0, 100000 * PS_US, NULL,
	       "a host round trip: interrupt, read, decide, submit",
	       "one cudaStreamSynchronize with its pageable copy and the next launch lasts 10 to 15 us in the H200 "
	       "trace"),
	CFG_BOOL(
		struct dispatch_cfg, prefetch, "prefetch", "true",
		"weights and caches of a command are fetched while it waits for its start and for what it depends on; off: it "
		"fetches once it has started",
		"our choice: descriptors are known ahead; off where a runtime starts each op by itself (XDNA2: a start and "
		"bytes add up)"),
	CFG_PS(struct dispatch_cfg, launch, "launch", "2 us", 0, 100000 * PS_US, NULL,
	       "the host rings the doorbell, once a run",
	       "PCIe write and descriptor fetch: about 1 us each way (our estimate)"),
	CFG_PS(struct dispatch_cfg, floor, "floor", "0 ns", 0, 100000 * PS_US, NULL,
	       "the host starts no two commands closer: the time of one that is shorter, of the first with its doorbell",
	       "0: the host keeps up; Arc Pro B60 30 to 32 us (AIConfigurator's table), tt-metal without trace 300"),
	CFG_END
};

/* A command between dispatch and completion. */
struct flight {
	struct cp *cp;
	struct ev ev; /* it wakes, or the host answers */
	uint32_t cmd;
};

struct cp {
	struct comp_env env;
	struct dispatch_cfg cfg;
	struct core *core;
	ps_t local; /* start of a dependent inside a batch */
	const struct isa_prog *p;
	struct cp_result *results;
	uint32_t *deps_left;
	uint8_t *done;
	size_t cap;              /* of deps_left and done */
	struct flight *flights;  /* by command modulo the window */
	uint32_t next, frontier; /* to dispatch; the oldest not complete */
	int64_t decider;         /* command the host decides after: nothing later is dispatched; -1 */
	ps_t issue_at, retired_at, began;
	struct ev ev; /* the next dispatch */
	uint64_t dispatched, round_trips, branches;
};

static void pump(struct cp *c);

static struct flight *flight_of(struct cp *c, uint32_t cmd)
{
	return &c->flights[cmd % c->cfg.queue];
}

static void cp_start(struct cp *c, uint32_t cmd)
{
	core_explain_time(core_account(c->core, cmd), evq_now(c->env.q), RES_DISPATCH);
	core_ready(c->core, cmd);
}

static void awake(void *owner, struct ev *ev)
{
	struct flight *f = owner;

	(void)ev;
	cp_start(f->cp, f->cmd);
}

/* Its dependencies are met: the units start after the dispatch latency. Where there is none, at once: what it loads from
 * now on is waited for. */
static void wake(struct cp *c, uint32_t cmd)
{
	const struct isa_cmd *k = &c->p->cmds[cmd];
	struct flight *f = flight_of(c, cmd);
	const bool inside = cmd > 0 && c->p->cmds[cmd - 1].batch == k->batch;
	const ps_t wait = k->chained ? 0 : inside ? ps_min(c->local, c->cfg.latency) : dispatch_wait(&c->cfg, k);

	if (wait == 0) {
		cp_start(c, cmd);
		return;
	}
	ev_init(&f->ev, EV_WORK, awake, f);
	evq_push(c->env.q, &f->ev, evq_now(c->env.q) + wait);
}

static void retire(struct cp *c)
{
	ps_t now = evq_now(c->env.q);

	while (c->frontier < c->next && c->done[c->frontier]) {
		struct cp_result *r = &c->results[c->frontier];

		r->retired = now;
		r->span = now - c->retired_at;
		core_explain_time(core_account(c->core, c->frontier), now, RES_DEPENDENCY);
		r->acc = *core_account(c->core, c->frontier);
		if (r->span == 0)
			memset(r->acc.stall, 0, sizeof r->acc.stall);
		c->retired_at = now;
		c->frontier++;
		watch_level(c->env.watch, WATCH_COMMANDS, now, c->next - c->frontier);
		/* What the next one waited for so far was this one's time, not its own. */
		if (c->frontier < c->next) {
			struct core_account *a = core_account(c->core, c->frontier);

			memset(a->stall, 0, sizeof a->stall);
			a->mark = now;
		}
	}
}

static void complete(struct cp *c, uint32_t cmd)
{
	const struct isa_prog *p = c->p;

	c->done[cmd] = 1;
	for (uint32_t i = p->first_succ[cmd]; i < p->first_succ[cmd + 1]; i++) {
		uint32_t s = p->succ[i];

		assert(c->deps_left[s] > 0); /* I1 */
		if (--c->deps_left[s] == 0 && s < c->next)
			wake(c, s);
	}
	retire(c);
	pump(c);
}

static void decided(void *owner, struct ev *ev)
{
	struct flight *f = owner;
	struct cp *c = f->cp;

	core_explain_time(core_account(c->core, f->cmd), ev->when, c->cfg.dynamic ? RES_DISPATCH : RES_HOST);
	if (c->decider == f->cmd)
		c->decider = -1;
	if (c->issue_at < ev->when)
		c->issue_at = ev->when;
	if (!c->cfg.dynamic)
		watch_busy(c->env.watch, RES_HOST, ev->when - c->cfg.host, ev->when, f->cmd);
	complete(c, f->cmd);
	core_decided(c->core);
}

/* No earlier than the host can start the next. */
static void let_go(void *owner, struct ev *ev)
{
	struct flight *f = owner;

	core_explain_time(core_account(f->cp->core, f->cmd), ev->when, RES_HOST);
	complete(f->cp, f->cmd);
}

static void over(struct cp *c, uint32_t cmd)
{
	struct flight *f = flight_of(c, cmd);
	const ps_t least = (cmd ? c->results[cmd].dispatched : c->began) + c->cfg.floor;

	if (c->p->cmds[cmd].chained || evq_now(c->env.q) >= least) {
		complete(c, cmd);
		return;
	}
	ev_init(&f->ev, EV_WORK, let_go, f);
	evq_push(c->env.q, &f->ev, least);
}

static void core_done(void *ctx, uint32_t cmd)
{
	struct cp *c = ctx;
	struct flight *f = flight_of(c, cmd);

	if (!c->p->cmds[cmd].sync) {
		over(c, cmd);
		return;
	}
	if (c->cfg.dynamic)
		c->branches++;
	else
		c->round_trips++;
	ev_init(&f->ev, EV_WORK, decided, f);
	evq_push(c->env.q, &f->ev, evq_now(c->env.q) + (c->cfg.dynamic ? c->cfg.branch : c->cfg.host));
}

static bool is_decided(void *ctx, int32_t cmd)
{
	const struct cp *c = ctx;

	return c->done[cmd];
}

static void on_issue(void *owner, struct ev *ev)
{
	(void)ev;
	pump(owner);
}

/* Dispatches in program order as far as the window, the rate and the host let it. */
static void pump(struct cp *c)
{
	ps_t now = evq_now(c->env.q);

	while (c->next < c->p->n_cmds && c->next - c->frontier < c->cfg.queue && c->decider < 0) {
		uint32_t cmd = c->next;
		const struct isa_cmd *k = &c->p->cmds[cmd];

		if (now < c->issue_at) {
			if (ev_idle(&c->ev))
				evq_push(c->env.q, &c->ev, c->issue_at);
			return;
		}
		if (!k->chained && (cmd + 1 == c->p->n_cmds || c->p->cmds[cmd + 1].batch != k->batch))
			c->issue_at = now + dispatch_apart(&c->cfg, isa_dispatches(k));
		if (k->sync && !c->cfg.dynamic)
			c->decider = cmd;
		c->next++;
		c->dispatched += isa_dispatches(k);
		c->results[cmd].dispatched = now;
		watch_level(c->env.watch, WATCH_COMMANDS, now, c->next - c->frontier);
		if (c->issue_at > now)
			watch_busy(c->env.watch, RES_DISPATCH, now, c->issue_at, cmd);
		flight_of(c, cmd)->cmd = cmd;
		core_dispatch(c->core, cmd);
		if (cmd == c->frontier) {
			/* The oldest was not even dispatched: the host, the rate or the doorbell held it back. */
			struct core_account *a = core_account(c->core, cmd);

			a->mark = c->retired_at;
			core_explain_time(a, now, cmd > 0 && !c->p->cmds[cmd - 1].sync ? RES_DISPATCH : RES_HOST);
		}
		if (c->deps_left[cmd] == 0)
			wake(c, cmd);
	}
}

static int stuck(struct cp *c, struct err *e)
{
	struct str why = STR_INIT;

	core_explain(c->core, &why);
	err_set(e, ERR_STUCK, "the machine is stuck at command %u of %zu: %s", c->frontier, c->p->n_cmds, str_c(&why));
	str_free(&why);
	return -1;
}

static int make_room(struct cp *c, size_t n_cmds, struct err *e)
{
	if (c->cap >= n_cmds)
		return 0;
	free(c->deps_left);
	free(c->done);
	c->deps_left = calloc(n_cmds, sizeof *c->deps_left);
	c->done = calloc(n_cmds, 1);
	c->cap = c->deps_left && c->done ? n_cmds : 0;
	return c->cap ? 0 : err_set(e, ERR_NOMEM, "out of memory for %zu commands", n_cmds);
}

int cp_begin(struct cp *c, const struct isa_prog *p, const uint32_t *const *picks, struct cp_result *results,
             struct err *e)
{
	if (make_room(c, p->n_cmds, e) < 0)
		return -1;
	c->p = p;
	c->results = results;
	c->next = c->frontier = 0;
	c->decider = -1;
	/* Every op is carried: there is nothing to ring the doorbell for. */
	if (p->n_cmds == 0)
		return 0;
	memset(results, 0, p->n_cmds * sizeof *results);
	memset(c->done, 0, p->n_cmds);
	for (size_t i = 0; i < p->n_cmds; i++)
		c->deps_left[i] = p->cmds[i].n_deps;
	c->retired_at = c->began = evq_now(c->env.q);
	c->issue_at = c->retired_at + c->cfg.launch;
	watch_busy(c->env.watch, RES_HOST, c->retired_at, c->issue_at, WATCH_NO_CMD);
	if (core_begin(c->core, p, picks, e) < 0)
		return -1;
	pump(c);
	return 0;
}

bool cp_done(const struct cp *c)
{
	return c->frontier == c->p->n_cmds;
}

int cp_run(struct cp *c, const struct isa_prog *p, const uint32_t *const *picks, struct cp_result *results,
           struct err *e)
{
	if (cp_begin(c, p, picks, results, e) < 0)
		return -1;
	while (!cp_done(c))
		if (!evq_step(c->env.q))
			return evq_failed(c->env.q) ? err_nomem(e, "for the event queue") : stuck(c, e);
	if (evq_failed(c->env.q))
		return err_nomem(e, "for the event queue");
	return 0; /* write-backs still on their way take their time in what comes next */
}

struct cp *cp_new(const struct comp_env *env, const struct dispatch_cfg *cfg, const struct dma_cfg *dma,
                  const struct sram_cfg *sram, uint32_t cores, uint32_t depth, struct err *e)
{
	struct cp *c = calloc(1, sizeof *c);
	struct core_owner owner = { c, core_done, is_decided };

	if (!c || !(c->flights = calloc(cfg->queue, sizeof *c->flights))) {
		err_set(e, ERR_NOMEM, "out of memory for the command processor");
		goto fail;
	}
	c->env = *env;
	c->cfg = *cfg;
	c->local = clock_span(depth, env->clock_khz);
	for (uint32_t i = 0; i < cfg->queue; i++) {
		c->flights[i].cp = c;
		ev_init(&c->flights[i].ev, EV_WORK, awake, &c->flights[i]);
	}
	ev_init(&c->ev, EV_WORK, on_issue, c);
	if (!(c->core = core_new(env, dma, sram, cores, cfg->queue, cfg->prefetch, &owner, e)) ||
	    stat_add(env->stats, "dispatch.commands", "", "commands dispatched", STAT_COUNT, &c->dispatched, e) < 0 ||
	    stat_add(env->stats, "dispatch.round_trips", "", "decisions the host took", STAT_COUNT, &c->round_trips,
	             e) < 0 ||
	    stat_add(env->stats, "dispatch.branches", "", "decisions the device took", STAT_COUNT, &c->branches, e) < 0)
		goto fail;
	return c;
fail:
	cp_free(c);
	return NULL;
}

void cp_free(struct cp *c)
{
	if (!c)
		return;
	core_free(c->core);
	free(c->flights);
	free(c->deps_left);
	free(c->done);
	free(c);
}

void cp_watch(struct cp *c, const struct watch *w)
{
	c->env.watch = w;
	core_watch(c->core, w);
}

struct core *cp_core(struct cp *c)
{
	return c->core;
}
