#include "sim/design/knobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/design/design.h"

#define CAPACITY_KEY "dram.capacity"

/* --- what is tried ---------------------------------------------------------------------------------------------------------- */

struct trial {
	struct knob k;
	const char **sets; /* over the question's */
	size_t n_sets;
	struct sched_policy policy;
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

static int of_memory(const struct serve_run *r, struct arena *a, struct trial *t)
{
	const uint64_t now = r->conf->cfg.mem.dram.capacity;
	struct str s = STR_INIT, twice = STR_INIT;

	if (!now || r->o->kv_memory)
		return 0;
	cfg_format_value(CFG_T_BYTES, now, &s);
	cfg_format_value(CFG_T_BYTES, 2 * now, &twice);
	t->k = (struct knob){ .key = CAPACITY_KEY,
		              .now = arena_strdup(a, str_c(&s)),
		              .then = arena_strdup(a, str_c(&twice)) };
	t->n_sets = 1;
	if ((t->sets = arena_array(a, 1, sizeof *t->sets)))
		t->sets[0] = arena_printf(a, CAPACITY_KEY "=%s", str_c(&twice));
	str_free(&s);
	str_free(&twice);
	return t->k.now && t->k.then && t->sets && t->sets[0] ? 1 : -1;
}

static int trials(const struct serve_run *r, struct arena *a, struct trial **out, size_t *n, struct err *e)
{
	struct design_double *d;
	struct trial *v;
	size_t n_d;
	int more;

	*n = 0;
	if (design_doubles(r->conf, a, &d, &n_d, e) < 0)
		return -1;
	if (!(*out = v = arena_array(a, n_d + 3, sizeof *v)))
		return err_nomem(e, "for a server's knobs");
	for (size_t i = 0; i < n_d; i++)
		v[(*n)++] = (struct trial){
			{ .key = d[i].key, .now = d[i].now, .then = d[i].then }, d[i].sets, d[i].n_sets, r->o->policy
		};
	for (int i = 0; i < 3; i++) {
		struct trial *t = &v[*n];

		*t = (struct trial){ .policy = r->o->policy };
		more = i == 0   ? of_memory(r, a, t)
		       : i == 1 ? of_policy("--max-batch", t->policy.max_batch, SCHED_BATCH, a, t)
		                : of_policy("--chunk", t->policy.chunk, ARRIVE_TOKENS, a, t);
		if (more < 0)
			return err_nomem(e, "for a server's knobs");
		if (i == 1)
			t->policy.max_batch *= 2;
		if (i == 2)
			t->policy.chunk *= 2;
		make_room(&t->policy);
		*n += (size_t)more;
	}
	return 0;
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
	const double near = found->rate[CAPACITY_BOTH];

	if (!sets)
		return err_nomem(e, "for a server's knobs");
	for (size_t i = 0; i < n; i++)
		sets[i] = i < (size_t)ask.n_sets ? ask.sets[i] : t->sets[i - (size_t)ask.n_sets];
	ask.sets = sets;
	ask.n_sets = (int)n;
	ask.policy = t->policy;
	ask.seed = found->seed;
	ask.n = ask.requests ? 0 : base->arrivals.n;
	if (serve_load(&r, &ask, &why) == 0 && serve_size(&r, &why) == 0 &&
	    capacity_find(&r, 1, isfinite(near) ? near : 0, &c, &why) == 0) {
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
