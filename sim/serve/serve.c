#include <math.h>
#include <string.h>

#include "arch/gpu/gpu_power.h"
#include "arch/machine/machine_gpu.h"
#include "sim/base/path.h"
#include "sim/base/ratio.h"
#include "sim/engine/pass_energy.h"
#include "sim/engine/run_result.h"
#include "sim/serve/serve_int.h"
#include "sim/serve/serve_pools.h"

#define REQUESTS 1000

/* --- what a step takes ------------------------------------------------------------------------------------------------ */

/* Drafting: a pass over what decodes for each token, prompts' pieces with the first. */
static int drafted(struct serve_run *r, const struct sched_step *s, struct sched_cost *out, struct err *e)
{
	const struct sched_step more = { .seqs = s->seqs, .context_sum = s->context_sum };
	struct sched_cost first, next = { 0, 0 };
	uint64_t passes = s->seqs ? r->policy.draft - 1 : 0;

	if (cost_of(r->draft.cost, s, &first, e) < 0 || (passes && cost_of(r->draft.cost, &more, &next, e) < 0))
		return -1;
	first.time += passes * next.time;
	first.energy_fj += passes * next.energy_fj;
	if (!r->draft.w.model) {
		first.time = ratio_of(first.time, r->o->draft_ppm, 1000000);
		first.energy_fj = energy_scale(first.energy_fj, r->o->draft_ppm);
	}
	out->time += first.time;
	out->energy_fj = energy_add(out->energy_fj, first.energy_fj);
	return 0;
}

/* Of all that takes power while it waits, so long; fJ of a machine. */
static uint64_t waiting(const struct serve_run *r, ps_t t)
{
	const struct gpu g = machine_gpu(&r->conf->cfg);

	if (machine_runs(&r->conf->cfg) != MACHINE_LAUNCHES)
		return serve_chips(r) * pass_energy_waiting(&r->conf->cfg, t);
	return gpu_power_known(&g) ? serve_chips(r) * gpu_energy_idle(&g, t) : 0;
}

static void stretched(const struct serve_run *r, const struct sched_step *s, struct sched_cost *c)
{
	const uint64_t ppm = r->stretch_ppm[s->n_pieces ? SERVE_PROMPTS : SERVE_DECODE];
	const ps_t was = c->time;

	if (!ppm)
		return;
	c->time = ratio_of(was, ppm, 1000000);
	if (c->energy_fj && c->time > was) {
		c->energy_fj = energy_add(c->energy_fj, waiting(r, c->time - was));
	} else if (c->energy_fj) {
		const uint64_t less = waiting(r, was - c->time);

		c->energy_fj -= less < c->energy_fj ? less : c->energy_fj;
	}
}

int serve_step_alone(void *ctx, const struct sched_step *s, struct sched_cost *out, struct err *e)
{
	struct serve_run *r = ctx;

	if (cost_of(r->own.cost, s, out, e) < 0 || (r->draft.cost && drafted(r, s, out, e) < 0))
		return -1;
	stretched(r, s, out);
	return 0;
}

int serve_step_cost(void *ctx, const struct sched_step *s, struct sched_cost *out, struct err *e)
{
	struct serve_run *r = ctx;

	return r->watcher && r->watcher->failed(r->watcher->arg, e) < 0 ? -1 : serve_step_alone(r, s, out, e);
}

void serve_step_seen(void *ctx, const struct sched_step *s, const struct sched_tick *t)
{
	struct serve_run *r = ctx;

	if (s->seqs || s->n_pieces) {
		serve_kept_add(r->kept, s);
		serve_kept_add(r->typical, s);
	}
	if (r->watcher)
		r->watcher->step(r->watcher->arg, s, t);
}

/* --- the machine and its models ------------------------------------------------------------------------------------------- */

static int side(struct serve_run *r, struct serve_side *x, const struct workload_spec *o, uint32_t queries,
                struct err *e)
{
	const struct build_group one = { 1, 1, 0, false };

	if (workload_describe(o, &(struct workload_reader){ &path_source, &r->conf->cfg, NULL, NULL, NULL }, &x->w, e) <
	    0)
		return -1;
	x->w.how.phase = BUILD_STEP;
	x->w.how.library = r->o->attention;
	x->w.how.mixed = r->o->mixed;
	x->w.how.groups = &one;
	x->w.how.n_groups = 1;
	if (build_check(x->w.model, &x->w.how, e) < 0)
		return -1;
	x->w.how.groups = NULL;
	x->w.how.n_groups = 0;
	if (!(x->steps = steps_new(r->conf, x->w.model, &x->w.how, r->policy.block, &r->how, (uint32_t)r->o->jobs, e)))
		return -1;
	if (!(x->cost = cost_new(queries, r->o->exact, steps_simulate, x->steps, e)))
		return -1;
	if (r->o->mixed && machine_runs(&r->conf->cfg) == MACHINE_LAUNCHES)
		cost_mixed(x->cost);
	return 0;
}

uint32_t serve_chips(const struct serve_run *r)
{
	return build_split_of(&r->own.w.how).tp;
}

uint32_t serve_all_chips(const struct serve_run *r)
{
	uint32_t n = 0;

	for (uint32_t k = 0; r->pools && k < r->pools->n; k++)
		n += r->pools->pool[k].machines * serve_chips(r->pools->pool[k].r);
	return r->pools ? n : serve_chips(r);
}

/* The draft's own model, or the model itself at a share of its cost. */
static int draft_side(struct serve_run *r, struct err *e)
{
	const struct workload_spec small = { .model = r->o->draft_model, .tp = r->o->workload.tp };

	if (r->o->draft_model)
		return side(r, &r->draft, &small, 1, e) < 0 ? err_add(e, "reading option '--draft-model'") : 0;
	if (!r->o->draft_ppm)
		return 0;
	return (r->draft.cost = cost_new(1, false, steps_simulate, r->own.steps, e)) ? 0 : -1;
}

static void side_free(struct serve_side *x)
{
	cost_free(x->cost);
	steps_free(x->steps);
	workload_free(&x->w);
}

/* --- requests ----------------------------------------------------------------------------------------------------------------- */

int serve_plan(const struct serve_ask *o, struct arrive_plan *p, struct err *e)
{
	const char *when = o->arrivals ? o->arrivals : o->rate ? "poisson" : "at-once";

	p->when = strcmp(when, "poisson") == 0    ? ARRIVE_POISSON
	          : strcmp(when, "constant") == 0 ? ARRIVE_CONSTANT
	                                          : ARRIVE_AT_ONCE;
	if (p->when == ARRIVE_AT_ONCE && strcmp(when, "at-once") != 0)
		return err_set(e, ERR_USAGE, "unknown arrivals '%s': they are poisson, constant or at-once", when);
	if (p->when == ARRIVE_AT_ONCE ? o->rate != NULL : !o->rate)
		return err_set(e, ERR_USAGE,
		               o->rate ? "what arrives at once has no rate: options '--rate' and '--arrivals at-once'"
		                       : "how often requests arrive is missing: '--rate 4/s'");
	return (o->rate && arrive_rate_parse(o->rate, &p->gap, e) < 0) ||
	                       arrive_length_parse(o->prompt ? o->prompt : "512", "prompt", &p->prompt, e) < 0 ||
	                       arrive_length_parse(o->output ? o->output : "128", "output", &p->output, e) < 0
	               ? -1
	               : 0;
}

int serve_draw(const struct serve_run *r, uint64_t seed, size_t n, struct arrivals *out, struct err *e)
{
	struct arrive_plan p = { .n = n, .context = r->own.w.model->context, .seed = seed };

	return serve_plan(r->o, &p, e) < 0 ? -1 : arrive_make(&p, out, e);
}

static int read_list(struct serve_run *r, struct err *e)
{
	struct input *in = input_open(r->o->requests, e);
	int rc = in ? arrive_read(in, &r->arrivals, e) : -1;

	input_free(in);
	return rc;
}

/* --- the whole ------------------------------------------------------------------------------------------------------------------ */

/* What waits takes power too, where that is known. */
double serve_joules(const struct serve_run *r, const struct sched_result *x, double *idle)
{
	*idle = NAN;
	if (!x->energy_fj && x->worked)
		return NAN;
	*idle = (double)waiting(r, PS_MS) / 1e15 * (double)(x->end - x->worked) / (double)PS_MS;
	return (double)x->energy_fj / 1e15 + *idle;
}

int serve_machine(struct serve_run *r, const struct serve_ask *o, struct err *e)
{
	r->o = o;
	r->policy = o->policy;
	r->how = o->how;
	if (!o->machine && !(r->own_conf = machine_conf_load(o->config, o->sets, o->n_sets, e)))
		return -1;
	r->conf = o->machine ? o->machine : r->own_conf;
	if (!o->start_given && machine_runs(&r->conf->cfg) == MACHINE_LAUNCHES)
		r->how.start = RUN_COLD;
	if (side(r, &r->own, &o->workload, 1 + r->policy.draft, e) < 0 ||
	    link_check(&r->conf->cfg.links, serve_chips(r), e) < 0)
		return -1;
	return draft_side(r, e);
}

int serve_load(struct serve_run *r, const struct serve_ask *o, struct err *e)
{
	*r = (struct serve_run){ .o = o };
	if ((o->several ? serve_pools_load(r, e) : serve_machine(r, o, e)) < 0)
		return -1;
	return o->requests ? read_list(r, e) : serve_draw(r, o->seed, o->n ? o->n : REQUESTS, &r->arrivals, e);
}

int serve_one_size(struct serve_run *r, const struct arrivals *a, struct err *e)
{
	const struct model *m = r->own.w.model;

	if (m->context && m->context % r->policy.block)
		return err_set(e, ERR_USAGE,
		               "a block of %u tokens does not divide the context of %u that model '%s' takes",
		               r->policy.block, m->context, m->name);
	if (serve_memory(r, e) < 0)
		return -1;
	return sched_check(&r->policy, a, m->context, r->o->requests, e);
}

int serve_size(struct serve_run *r, struct err *e)
{
	return r->pools ? serve_pools_size(r, e) : serve_one_size(r, &r->arrivals, e);
}

static size_t simulated(const struct serve_run *r)
{
	return cost_simulated(r->own.cost) + (r->draft.cost ? cost_simulated(r->draft.cost) : 0);
}

static int keeps(struct serve_run *r, uint64_t check, struct err *e)
{
	return (r->kept = serve_kept_new(check, e)) && (r->typical = serve_kept_new(SERVE_TYPICAL, e)) ? 0 : -1;
}

static int steps_of_pools(struct serve_run *r, struct err *e)
{
	struct serve_pools *x = r->pools;
	struct serve_run *d = &x->decode;
	int rc;

	if (x->n > 1 && keeps(d, r->o->check, e) < 0)
		return -1;
	d->watcher = r->watcher;
	rc = serve_pools_run(r, &r->arrivals, true, &x->result, e);
	r->result = x->result.all; /* its tables are r's from now on */
	x->result.all.v = NULL;
	x->result.all.gaps = NULL;
	r->simulated = simulated(r) + (x->n > 1 ? simulated(d) : 0);
	return rc;
}

int serve_steps(struct serve_run *r, const struct serve_watcher *w, struct err *e)
{
	int rc;

	r->watcher = w;
	if (keeps(r, r->o->check, e) < 0)
		return -1;
	if (r->pools)
		return steps_of_pools(r, e);
	rc = sched_run(&r->policy, &r->arrivals, serve_step_cost, serve_step_seen, r, &r->result, e);
	r->simulated = simulated(r);
	return rc;
}

int serve_list(struct serve_run *r, const struct arrivals *a, struct sched_result *out, struct err *e)
{
	struct sched_pools x;
	int rc;

	if (!r->pools)
		return sched_run(&r->policy, a, serve_step_alone, NULL, r, out, e);
	rc = serve_pools_run(r, a, false, &x, e);
	*out = x.all;
	x.all.v = NULL;
	x.all.gaps = NULL;
	sched_pools_free(&x);
	return rc;
}

/* Of two pools each has its kind of steps. */
static int check_steps(struct serve_run *r, struct err *e)
{
	struct serve_run *d = r->pools && r->pools->n > 1 ? &r->pools->decode : NULL;

	if (serve_kept_check(r->kept, r->own.cost, r->check, e) < 0)
		return -1;
	if (!d)
		return 0;
	if (serve_kept_check(d->kept, d->own.cost, d->check, e) < 0)
		return -1;
	r->check[SERVE_DECODE] = d->check[SERVE_DECODE];
	return 0;
}

int serve_sum(struct serve_run *r, struct err *e)
{
	if (check_steps(r, e) < 0)
		return -1;
	r->joules = r->pools ? serve_pools_joules(r, &r->idle_joules) : serve_joules(r, &r->result, &r->idle_joules);
	for (int l = 0; l < LATENCIES && r->arrivals.measured; l++)
		if (latency_beside((enum latency_of)l, &r->arrivals, &r->result, &r->beside[l], e) < 0)
			return -1;
	return latency_sum(&r->arrivals, &r->result, &r->latency, e);
}

/* --- how sure that is --------------------------------------------------------------------------------------------------------- */

struct serve_run *serve_pool_run(struct serve_run *r, uint32_t pool)
{
	return r->pools ? r->pools->pool[pool].r : r;
}

int serve_show(struct serve_run *r, uint32_t pool, enum serve_kind of, steps_show_fn *show, void *arg, struct err *e)
{
	const struct serve_run *x = serve_pool_run(r, pool);

	for (size_t i = 0; i < serve_kept_count(x->typical, of); i++) {
		const struct cost_point p = cost_point_of(x->own.cost, serve_kept_step(x->typical, of, i));

		if (steps_show(x->own.steps, &p, show, arg, e) < 0)
			return -1;
	}
	return 0;
}

static void stretch(struct serve_run *r, const struct serve_stretch *s)
{
	for (uint32_t k = 0; k < (r->pools ? r->pools->n : 1); k++)
		for (int i = 0; i < SERVE_KINDS; i++)
			serve_pool_run(r, k)->stretch_ppm[i] = s->ppm[k][i];
}

/* Joules are those of the pools' last result. */
static int again_on_pools(struct serve_run *r, struct serve_again *out, struct err *e)
{
	struct sched_pools was = r->pools->result;
	const double links = r->pools->link_joules;
	double idle;
	int rc = serve_pools_run(r, &r->arrivals, false, &r->pools->result, e);

	if (rc == 0)
		out->joules = serve_pools_joules(r, &idle);
	out->result = r->pools->result.all;
	r->pools->result.all.v = NULL;
	r->pools->result.all.gaps = NULL;
	sched_pools_free(&r->pools->result);
	r->pools->result = was;
	r->pools->link_joules = links;
	return rc;
}

int serve_again(struct serve_run *r, const struct serve_stretch *s, struct serve_again *out, struct err *e)
{
	double idle;
	int rc;

	*out = (struct serve_again){ .joules = NAN };
	stretch(r, s);
	rc = r->pools ? again_on_pools(r, out, e) : serve_list(r, &r->arrivals, &out->result, e);
	stretch(r, &(struct serve_stretch){ .ppm = { { 0 } } });
	if (rc == 0 && !r->pools)
		out->joules = serve_joules(r, &out->result, &idle);
	return rc == 0 ? latency_sum(&r->arrivals, &out->result, &out->latency, e) : -1;
}

void serve_again_free(struct serve_again *x)
{
	sched_free(&x->result);
}

/* --- the end -------------------------------------------------------------------------------------------------------------------- */

void serve_one_free(struct serve_run *r)
{
	serve_kept_free(r->kept);
	serve_kept_free(r->typical);
	sched_free(&r->result);
	arrive_free(&r->arrivals);
	side_free(&r->draft);
	side_free(&r->own);
	machine_conf_free(r->own_conf);
}

void serve_free(struct serve_run *r)
{
	serve_one_free(r);
	serve_pools_free(r);
}
