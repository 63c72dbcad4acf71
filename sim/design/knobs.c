#include "sim/design/knobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/design/design.h"
#include "sim/serve/serve_pools.h"

#define CAPACITY_KEY "dram.capacity"
#define TRIALS       256 /* of machines */

/* --- what is tried ---------------------------------------------------------------------------------------------------------- */

struct trial {
	struct knob k;
	const char **sets; /* over the question's */
	size_t n_sets;
	struct sched_policy policy;
	uint32_t faster; /* times the rate at which caches move */
};

/* Where a step does not hold a larger batch or chunk, it is larger, too. */
static void make_room(struct sched_policy *p)
{
	const uint64_t rows = (uint64_t)p->max_batch * (1 + p->draft) + p->chunk;

	if (p->max_tokens < rows)
		p->max_tokens = (uint32_t)rows;
}

static int of_policy(const char *option, uint32_t now, uint32_t most, struct arena *a, struct trial *t)
{
	if (!now || now > most / 2)
		return 0;
	t->k = (struct knob){ .key = option,
		              .now = arena_printf(a, "%u", now),
		              .then = arena_printf(a, "%u", 2 * now) };
	return t->k.now && t->k.then ? 1 : -1;
}

/* "decode:dram.channels"; `pool` NULL: there is one kind of machine. */
static const char *of_pool(const char *pool, const char *text, struct arena *a)
{
	return pool ? arena_printf(a, "%s:%s", pool, text) : text;
}

static int of_memory(const struct serve_run *r, const char *pool, struct arena *a, struct trial *t)
{
	const uint64_t now = r->conf->cfg.mem.dram.capacity;
	struct str s = STR_INIT, twice = STR_INIT;

	if (!now || r->o->kv_memory)
		return 0;
	cfg_format_value(CFG_T_BYTES, now, &s);
	cfg_format_value(CFG_T_BYTES, 2 * now, &twice);
	t->k = (struct knob){ .key = of_pool(pool, CAPACITY_KEY, a),
		              .now = arena_strdup(a, str_c(&s)),
		              .then = arena_strdup(a, str_c(&twice)) };
	t->n_sets = 1;
	if ((t->sets = arena_array(a, 1, sizeof *t->sets)))
		t->sets[0] = arena_printf(a, "%s=%s", of_pool(pool, CAPACITY_KEY, a), str_c(&twice));
	str_free(&s);
	str_free(&twice);
	return t->k.key && t->k.now && t->k.then && t->sets && t->sets[0] ? 1 : -1;
}

/* What a machine is made of. */
static int of_machine(const struct serve_run *r, const char *pool, struct arena *a, const struct trial *same,
                      struct trial *v, size_t *n, struct err *e)
{
	struct design_double *d;
	size_t n_d;
	int more;

	if (design_doubles(r->conf, a, &d, &n_d, e) < 0)
		return -1;
	for (size_t i = 0; i < n_d && *n < TRIALS; i++) {
		struct trial *t = &v[(*n)++];

		*t = *same;
		t->k = (struct knob){ .key = of_pool(pool, d[i].key, a), .now = d[i].now, .then = d[i].then };
		t->n_sets = d[i].n_sets;
		if (!t->k.key || !(t->sets = arena_array(a, d[i].n_sets + 1, sizeof *t->sets)))
			return err_nomem(e, "for a server's knobs");
		for (size_t k = 0; k < d[i].n_sets; k++)
			if (!(t->sets[k] = of_pool(pool, d[i].sets[k], a)))
				return err_nomem(e, "for a server's knobs");
	}
	if (*n == TRIALS)
		return 0;
	v[*n] = *same;
	if ((more = of_memory(r, pool, a, &v[*n])) < 0)
		return err_nomem(e, "for a server's knobs");
	*n += (size_t)more;
	return 0;
}

/* The way of a cache between two pools: at a rate that was given, or over the slower of both machines' links. */
static int of_way(const struct serve_run *r, struct arena *a, struct trial *t)
{
	struct str s = STR_INIT, twice = STR_INIT;
	uint64_t rate = r->o->kv_rate;

	if (!r->pools || r->pools->n < 2)
		return 0;
	for (uint32_t k = 0; k < r->pools->n && !r->o->kv_rate; k++) {
		const uint64_t is = r->pools->pool[k].r->conf->cfg.links.bandwidth;

		rate = !rate || is < rate ? is : rate;
	}
	cfg_format_value(CFG_T_RATE, rate, &s);
	cfg_format_value(CFG_T_RATE, 2 * rate, &twice);
	t->k = (struct knob){ .key = r->o->kv_rate ? "--kv-rate" : "links between pools",
		              .now = arena_strdup(a, str_c(&s)),
		              .then = arena_strdup(a, str_c(&twice)) };
	t->faster = 2;
	str_free(&s);
	str_free(&twice);
	return t->k.now && t->k.then ? 1 : -1;
}

/* A machine that only prefills fills its steps, but where a chunk was given. */
static int of_limits(const struct serve_run *r, struct arena *a, const struct trial *same, struct trial *v, size_t *n)
{
	const bool steps = r->pools && r->pools->n > 1 && !r->o->chunk_given;
	const struct sched_policy *p = &same->policy;

	for (int i = 0; i < 3; i++) {
		struct trial *t = &v[*n];
		int more;

		*t = *same;
		more = i == 0   ? of_policy("--max-batch", p->max_batch, SCHED_BATCH, a, t)
		       : i == 2 ? of_way(r, a, t)
		       : steps  ? of_policy("--max-tokens", p->max_tokens, ARRIVE_TOKENS, a, t)
		                : of_policy("--chunk", p->chunk, ARRIVE_TOKENS, a, t);
		if (more < 0)
			return -1;
		if (i == 0)
			t->policy.max_batch *= 2;
		else if (i == 1 && steps)
			t->policy.max_tokens *= 2;
		else if (i == 1)
			t->policy.chunk *= 2;
		make_room(&t->policy);
		*n += (size_t)more;
	}
	return 0;
}

static int trials(const struct serve_run *r, struct arena *a, struct trial **out, size_t *n, struct err *e)
{
	const struct trial same = { .policy = r->o->policy, .faster = 1 };
	const uint32_t pools = r->pools ? r->pools->n : 1;

	*n = 0;
	if (!(*out = arena_array(a, TRIALS + 3, sizeof **out)))
		return err_nomem(e, "for a server's knobs");
	for (uint32_t k = 0; k < pools; k++)
		if (of_machine(r->pools ? r->pools->pool[k].r : r, pools > 1 ? serve_pool_names[k] : NULL, a, &same,
		               *out, n, e) < 0)
			return -1;
	return of_limits(r, a, &same, *out, n) < 0 ? err_nomem(e, "for a server's knobs") : 0;
}

/* --- trying it -------------------------------------------------------------------------------------------------------------- */

/* Of the list that the rate was found for. */
static int one(const struct serve_run *base, const struct capacity *found, struct trial *t, struct arena *a,
               struct err *e)
{
	struct serve_ask ask = *base->o;
	const size_t n = (size_t)ask.n_sets + t->n_sets;
	const char **sets = arena_array(a, n + 1, sizeof *sets);
	struct serve_run r = { .o = NULL };
	struct err why = ERR_INIT;
	struct capacity c;

	if (!sets)
		return err_nomem(e, "for a server's knobs");
	for (size_t i = 0; i < n; i++)
		sets[i] = i < (size_t)ask.n_sets ? ask.sets[i] : t->sets[i - (size_t)ask.n_sets];
	ask.sets = sets;
	ask.n_sets = (int)n;
	ask.policy = t->policy;
	ask.seed = found->seed;
	ask.n = ask.requests ? 0 : base->arrivals.n;
	if (serve_load(&r, &ask, &why) == 0 && r.pools)
		r.pools->faster = t->faster;
	if (!why.kind && serve_size(&r, &why) == 0 && capacity_find(&r, 1, capacity_beside(found), &c, &why) == 0) {
		t->k.rate = c.rate[CAPACITY_BOTH];
		t->k.held = capacity_held_by(&c);
	}
	serve_free(&r);
	if (why.kind == ERR_CONFIG || why.kind == ERR_STUCK || why.kind == ERR_USAGE)
		return (t->k.refused = arena_strdup(a, why.msg)) ? 0 : err_nomem(e, "for a server's knobs");
	*e = why;
	return why.kind ? -1 : 0;
}

/* What there is not comes last. */
static int by_rate(const void *x, const void *y)
{
	const struct knob *a = x, *b = y;

	if (!a->refused != !b->refused)
		return a->refused ? 1 : -1;
	return a->rate < b->rate || a->rate > b->rate ? (a->rate < b->rate ? 1 : -1) : strcmp(a->key, b->key);
}

int knobs_try(const struct serve_run *r, const struct capacity *base, void (*progress)(void *arg, size_t done),
              void *arg, struct arena *a, struct knob **out, size_t *n, struct err *e)
{
	struct trial *v;

	if (trials(r, a, &v, n, e) < 0)
		return -1;
	if (!(*out = arena_array(a, *n + 1, sizeof **out)))
		return err_nomem(e, "for a server's knobs");
	for (size_t i = 0; i < *n; i++) {
		if (one(r, base, &v[i], a, e) < 0)
			return -1;
		(*out)[i] = v[i].k;
		if (progress)
			progress(arg, i + 1);
	}
	qsort(*out, *n, sizeof **out, by_rate);
	return 0;
}
