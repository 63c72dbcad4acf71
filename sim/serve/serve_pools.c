#include "sim/serve/serve_pools.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/serve/serve_int.h"

const char *const serve_pool_names[SCHED_POOLS] = { "prefill", "decode" };

/* --- what is asked ------------------------------------------------------------------------------------------------------ */

const char *serve_pools_count(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")] ? colon : NULL;
}

/* "h200:2": the machine, and how many; without a number one. */
static int machines_of(const char *text, char **config, uint32_t *n, struct err *e)
{
	const char *count = serve_pools_count(text);
	const unsigned long v = count ? strtoul(count + 1, NULL, 10) : 1;

	if (!v || v > SCHED_MACHINES)
		return err_set(e, ERR_USAGE, "'%s': machines of a pool are 1 to %d, as in 'dsocr:4'", text,
		               SCHED_MACHINES);
	*n = (uint32_t)v;
	*config = count ? strndup(text, (size_t)(count - text)) : strdup(text);
	return *config ? 0 : err_nomem(e, "for a pool");
}

/* "decode:l2.size=1 MiB" is of that pool alone. */
static int sets_of(const struct serve_ask *o, int pool, struct serve_ask *to, struct err *e)
{
	const char **v = calloc((size_t)o->n_sets + 1, sizeof *v);

	if (!v)
		return err_nomem(e, "for a pool");
	to->sets = v;
	to->n_sets = 0;
	for (int i = 0; i < o->n_sets; i++) {
		const char *colon = strchr(o->sets[i], ':'), *equals = strchr(o->sets[i], '=');
		const size_t n = colon && equals && colon < equals ? (size_t)(colon - o->sets[i]) : 0;
		int of = pool;

		for (int k = 0; n && k < SCHED_POOLS; k++)
			if (strlen(serve_pool_names[k]) == n && strncmp(o->sets[i], serve_pool_names[k], n) == 0)
				of = k;
		if (of == pool)
			v[to->n_sets++] =
				n && strncmp(o->sets[i], serve_pool_names[pool], n) == 0 ? colon + 1 : o->sets[i];
	}
	return 0;
}

static int ask(struct serve_pools *x, const struct serve_ask *o, int pool, const char *text, struct err *e)
{
	struct serve_ask *to = pool ? &x->second : &x->first;
	char *config = NULL;

	*to = *o;
	to->sets = NULL;
	to->config = NULL;
	if (machines_of(text, &config, &x->pool[pool].machines, e) < 0)
		return -1;
	to->config = config;
	return sets_of(o, pool, to, e);
}

/* Nobody decodes beside prompts, so a step has as many of their tokens as it takes; nor is anything drafted for them. */
static void of_prompts(const struct serve_ask *o, struct sched_policy *p)
{
	p->part = SCHED_FILLS;
	p->draft = 0;
	if (!o->chunk_given)
		p->chunk = p->max_tokens;
}

int serve_pools_load(struct serve_run *r, struct err *e)
{
	const struct serve_ask *o = r->o;
	struct serve_pools *x = calloc(1, sizeof *x);

	if (!x)
		return err_nomem(e, "for pools of machines");
	r->pools = x;
	x->n = o->decode ? 2 : 1;
	x->faster = 1;
	x->pool[0].r = r;
	x->pool[1].r = &x->decode;
	if (ask(x, o, 0, o->decode ? o->prefill : o->config, e) < 0 || (o->decode && ask(x, o, 1, o->decode, e) < 0))
		return -1;
	if (serve_machine(r, &x->first, e) < 0)
		return x->n > 1 ? err_add(e, "of the machines that prefill") : -1;
	if (x->n > 1 && serve_machine(&x->decode, &x->second, e) < 0)
		return err_add(e, "of the machines that decode");
	r->o = o;
	if (x->n > 1) {
		of_prompts(o, &r->policy);
		x->decode.policy.part = SCHED_DECODES;
	}
	return 0;
}

/* --- the way of a cache ------------------------------------------------------------------------------------------------------ */

static bool stops(const struct serve_run *r, const struct serve_ask *o)
{
	return o->copies == SERVE_COPIES_UNKNOWN ? machine_runs(&r->conf->cfg) == MACHINE_LAUNCHES
	                                         : o->copies == SERVE_COPIES_STOP;
}

static struct link_time send(const struct serve_run *end, const struct serve_pools *x, uint64_t bytes)
{
	struct link_cfg c = end->conf->cfg.links;

	c.bandwidth *= x->faster;
	return link_time(&c, &(struct link_ask){ .what = LINK_SEND, .chips = 2, .bytes = bytes });
}

void serve_pools_move(const struct serve_run *r, uint32_t tokens, struct sched_move *out)
{
	const struct serve_pools *x = r->pools;
	const struct serve_ask *o = &x->first;
	const uint64_t bytes = tokens * x->token + x->sequence;
	uint64_t fj = 0;

	*out = (struct sched_move){ .bytes = bytes * x->chips };
	if (o->kv_rate)
		out->time = o->kv_latency + clock_transfer(out->bytes, o->kv_rate * x->faster);
	for (uint32_t k = 0; k < x->n; k++) {
		const struct link_cfg *c = &x->pool[k].r->conf->cfg.links;

		if (!o->kv_rate)
			out->time = ps_max(out->time, send(x->pool[k].r, x, bytes).total);
		fj = c->energy > fj ? c->energy : fj;
	}
	out->energy_fj = link_energy(&(struct link_cfg){ .energy = fj }, out->bytes);
}

static void move(void *ctx, uint32_t tokens, struct sched_move *out)
{
	serve_pools_move(ctx, tokens, out);
}

static int check_links(const struct serve_pools *x, struct err *e)
{
	for (uint32_t k = 0; k < x->n && !x->first.kv_rate; k++) {
		const struct link_cfg *c = &x->pool[k].r->conf->cfg.links;
		struct err why = ERR_INIT;

		if (!c->bandwidth)
			return err_set(e, ERR_USAGE,
			               "'%s', which is to %s, has no links for a cache to move on: --kv-rate '50 GB/s',"
			               " --set %s:links.bandwidth='50 GB/s', or a machine of configs/system",
			               x->pool[k].r->conf->cfg.name, serve_pool_names[k], serve_pool_names[k]);
		if (link_check(c, 2, &why) < 0)
			return err_set(e, ERR_USAGE, "%s: --kv-rate '50 GB/s' says how a cache moves", why.msg);
	}
	return 0;
}

/* --- size -------------------------------------------------------------------------------------------------------------------- */

static int check_caches(const struct serve_pools *x, struct err *e)
{
	const struct steps_memory *a = &x->pool[0].r->own.memory, *b = &x->pool[1].r->own.memory;
	const uint64_t is = a->token + x->pool[0].r->draft.memory.token,
		       other = b->token + x->pool[1].r->draft.memory.token;

	if (is == other && a->sequence == b->sequence)
		return 0;
	return err_set(e, ERR_USAGE,
	               "a token is %" PRIu64 " B in the cache of '%s', which is to prefill, and %" PRIu64
	               " in that of '%s', which is to decode: both are to keep it in one format ('--kv', 'kv.dtype')",
	               is, x->pool[0].r->conf->cfg.name, other, x->pool[1].r->conf->cfg.name);
}

int serve_pools_size(struct serve_run *r, struct err *e)
{
	struct serve_pools *x = r->pools;

	for (uint32_t k = 0; k < x->n; k++) {
		if (serve_one_size(x->pool[k].r, &r->arrivals, e) < 0)
			return x->n > 1 ? err_add(e, "of the machines that %s", serve_pool_names[k]) : -1;
		x->pool[k].r->policy.stops = stops(x->pool[k].r, r->o);
	}
	x->token = r->own.memory.token + r->draft.memory.token;
	x->sequence = r->own.memory.sequence + r->draft.memory.sequence;
	x->chips = serve_chips(r);
	return x->n < 2 ? 0 : check_caches(x, e) < 0 || check_links(x, e) < 0 ? -1 : 0;
}

/* --- serving ------------------------------------------------------------------------------------------------------------------- */

int serve_pools_run(struct serve_run *r, const struct arrivals *a, bool seen, struct sched_pools *out, struct err *e)
{
	struct serve_pools *x = r->pools;
	struct sched_plan p = { .pools = x->n,
		                .router = r->o->router,
		                .cost = seen ? serve_step_cost : serve_step_alone,
		                .seen = seen ? serve_step_seen : NULL,
		                .move = move,
		                .ctx = r };

	for (uint32_t k = 0; k < x->n; k++)
		p.pool[k] = (struct sched_plan_pool){ x->pool[k].r->policy, x->pool[k].machines, x->pool[k].r };
	return sched_pool_run(&p, a, out, e);
}

double serve_pools_joules(struct serve_run *r, double *idle)
{
	struct serve_pools *x = r->pools;
	const struct sched_result *m = x->result.machine;
	double all = 0;

	x->link_joules = (double)x->result.moved_fj / 1e15;
	*idle = 0;
	for (uint32_t k = 0; k < x->n; k++) {
		struct sched_result sum = { .end = 0 };
		double waits;

		for (uint32_t i = 0; i < x->pool[k].machines; i++, m++) {
			sum.energy_fj += m->energy_fj;
			sum.worked += m->worked;
			sum.end += x->result.all.end;
		}
		all += serve_joules(x->pool[k].r, &sum, &waits);
		*idle += waits;
	}
	return all + x->link_joules;
}

void serve_pools_free(struct serve_run *r)
{
	struct serve_pools *x = r->pools;

	if (!x)
		return;
	serve_one_free(&x->decode);
	sched_pools_free(&x->result);
	for (uint32_t k = 0; k < SCHED_POOLS; k++) {
		struct serve_ask *o = k ? &x->second : &x->first;

		free((void *)(uintptr_t)o->sets);
		free((void *)(uintptr_t)o->config);
	}
	free(x);
}
