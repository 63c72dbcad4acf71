#include "sim/design/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/design/design_int.h"
#include "sim/engine/real.h"

const char *design_value(const char *set)
{
	return strchr(set, '=') + 1;
}

/* --- what a run answers ----------------------------------------------------------------------------------------------- */

static void held_by(const struct res_point *row, struct design_one *one)
{
	uint64_t most = 0;

	for (size_t i = 0; i < row->n_resources; i++)
		for (int k = 0; k < RES_COUNT; k++)
			if (row->resources[i].stall_ps > most &&
			    strcmp(row->resources[i].name, res_name((enum res)k)) == 0) {
				most = row->resources[i].stall_ps;
				one->held = (enum res)k;
			}
	one->held_share = row->total_ps ? (double)most / (double)row->total_ps : 0;
}

static int tell_parts(const struct design_search *x, const struct res_point *row, struct design_one *one)
{
	const struct sweep_job *job = &x->q->job;
	double *us;

	if (!job->n_parts)
		return 0;
	if (!(us = arena_array(x->a, job->n_parts, sizeof *us)))
		return design_no_memory(x->e);
	for (size_t i = 0; i < job->n_parts; i++)
		us[i] = sweep_part_us(job->parts[i].name, row, x->a);
	one->part_us = us;
	return 0;
}

static void tell_real(const struct machine_conf *c, const struct res_point *row, struct design_one *one)
{
	one->n_beyond = real_machine(&c->cfg, 1, one->beyond);
	if (row->total_ps)
		one->n_beyond +=
			real_power(&c->cfg, row->chips > 1 ? (unsigned)row->chips : 1,
		                   (double)row->energy_fj / (double)row->total_ps / 1e3, &one->beyond[one->n_beyond]);
}

static void tell_score(const struct design_search *x, const struct design_score *score, struct design_one *one)
{
	const struct design_goal *g = &x->goal;

	for (size_t i = 0; i < g->n_bounds; i++)
		one->bound[i] = (struct design_figure){ g->bounds[i].text, g->bounds[i].left_text, score->shown[i],
			                                score->share[i] };
	one->objective = score->shown[g->n_bounds];
	one->meets = design_meets(g, score);
}

int design_tell(struct design_search *x, const char *const *sets, const struct design_asked *asked,
                const struct machine_conf *c, struct design_one *one, struct design_score *score)
{
	const struct res_point *row = &asked->row;

	*one = (struct design_one){ .sets = sets,
		                    .by_events = asked->by == RUN_EVENT,
		                    .failed = row->failed,
		                    .why = row->reason,
		                    .figures = row->figures,
		                    .low = 1,
		                    .high = 1 };
	if (design_goal_score(&x->goal, x->s, c, row, x->q->job.workload, score, x->e) < 0)
		return -1;
	for (size_t i = 0; asked->by == RUN_ANALYTIC && i < DESIGN_FIGURES; i++)
		score->figure[i] += x->shift[i];
	tell_score(x, score, one);
	if (row->failed)
		return 0;
	held_by(row, one);
	tell_real(c, row, one);
	one->high = exp((double)row->spread_ppm / 1e6);
	one->low = exp(-(double)(row->spread_down_ppm ? row->spread_down_ppm : row->spread_ppm) / 1e6);
	return tell_parts(x, row, one);
}

int design_run_sets(struct design_search *x, const char *const *sets, enum run_fidelity by, struct design_one *one,
                    struct design_score *score)
{
	struct design_asked asked = { .sets = sets, .by = by };
	struct err why = ERR_INIT;
	struct machine_conf *c = sweep_conf(x->s, sets, &why);
	int rc = 0;

	if (!c) {
		asked.row.failed = true;
		if (!(asked.row.reason = arena_strdup(x->a, why.msg)))
			return design_no_memory(x->e);
	} else {
		rc = design_runner_run(x->runner, &asked, 1, x->a, x->e);
	}
	x->out->explained += c != NULL;
	rc = rc < 0 ? -1 : design_tell(x, sets, &asked, c, one, score);
	machine_conf_free(c);
	return rc;
}

/* --- designs of the space --------------------------------------------------------------------------------------------- */

static uint64_t place_hash(const struct design_search *x, const uint32_t *at)
{
	return hash_mix(hash_bytes(HASH_INIT, at, x->dims * sizeof *at));
}

static int grow(struct design_search *x)
{
	const size_t cap = x->cap ? 2 * x->cap : 256;
	struct design_seen **v = arena_array(x->a, cap, sizeof(struct design_seen *));
	size_t *table = arena_array(x->a, 4 * cap, sizeof *table);

	if (!v || !table)
		return design_no_memory(x->e);
	if (x->n)
		memcpy(v, x->v, x->n * sizeof(struct design_seen *));
	x->v = v;
	x->cap = cap;
	x->table = table;
	x->n_table = 4 * cap;
	for (size_t i = 0; i < x->n; i++) {
		uint64_t h = place_hash(x, v[i]->at);

		while (table[h & (x->n_table - 1)])
			h++;
		table[h & (x->n_table - 1)] = i + 1;
	}
	return 0;
}

/* Why nobody needs to run it: 1; 0: it may be run. */
static int is_out(struct design_search *x, struct design_seen *d)
{
	struct err why = ERR_INIT;
	struct machine_conf *c = sweep_conf(x->s, d->sets, &why);
	struct real_beyond beyond[REAL_MOST];
	struct res_value values[DESIGN_AXES];
	struct sweep_row row = { x->s, c, NULL, values, NULL };
	int rc = 0;

	if (!c) {
		x->out->refused++;
		return 1;
	}
	if (!x->q->unreal && real_machine(&c->cfg, 1, beyond)) {
		x->out->unreal++;
		x->out->unreal_why = arena_strdup(x->a, beyond[0].text);
		rc = 1;
	}
	for (size_t i = 0; i < x->s->n_axes; i++)
		values[i] = x->s->axes[i].values[d->at[x->s->axes[i].dim]];
	for (size_t i = 0; rc == 0 && i < x->s->n_where; i++) {
		struct expr_value v;

		if (sweep_value(&row, x->s->where[i], &v, x->e) < 0)
			rc = -1;
		else
			rc = v.type != EXPR_NUMBER || v.number == 0;
	}
	if (rc == 0 && design_goal_score(&x->goal, x->s, c, NULL, NULL, &d->early, x->e) < 0)
		rc = -1;
	machine_conf_free(c);
	return rc;
}

static struct design_seen *design_add(struct design_search *x, const uint32_t *at)
{
	struct design_seen *d = arena_alloc(x->a, sizeof *d);
	const char **sets = arena_array(x->a, x->s->n_axes, sizeof *sets);
	int out;

	if (!d || !sets) {
		design_no_memory(x->e);
		return NULL;
	}
	memcpy(d->at, at, x->dims * sizeof *at);
	for (size_t k = 0; k < x->dims; k++)
		d->x[k] = x->count[k] > 1 ? (double)at[k] / (double)(x->count[k] - 1) : 0;
	for (size_t i = 0; i < x->s->n_axes; i++)
		sets[i] = x->s->axes[i].sets[at[x->s->axes[i].dim]];
	d->sets = sets;
	if ((out = is_out(x, d)) < 0)
		return NULL;
	d->out = out;
	return d;
}

struct design_seen *design_look(struct design_search *x, const uint32_t *at)
{
	struct design_seen *d;
	uint64_t h;

	if (x->n == x->cap && grow(x) < 0)
		return NULL;
	for (h = place_hash(x, at); x->table[h & (x->n_table - 1)]; h++) {
		d = x->v[x->table[h & (x->n_table - 1)] - 1];
		if (memcmp(d->at, at, x->dims * sizeof *at) == 0)
			return d;
	}
	if (!(d = design_add(x, at)))
		return NULL;
	x->v[x->n++] = d;
	x->table[h & (x->n_table - 1)] = x->n;
	return d;
}

static struct design_score *score_by(struct design_seen *d, enum run_fidelity by)
{
	return by == RUN_EVENT ? &d->event : &d->form;
}

static int told(struct design_search *x, struct design_seen *d, const struct design_asked *asked)
{
	struct machine_conf *c = sweep_conf(x->s, d->sets, x->e);
	int rc = -1;

	if (!d->one)
		d->one = arena_alloc(x->a, sizeof *d->one);
	if (!d->one)
		design_no_memory(x->e);
	else if (c)
		rc = design_tell(x, d->sets, asked, c, d->one, score_by(d, asked->by));
	machine_conf_free(c);
	return rc;
}

/* How many more may be run. */
static size_t left(const struct design_search *x, enum run_fidelity by)
{
	const size_t most = by == RUN_EVENT ? DESIGN_EVENTS_MOST : x->q->forms - x->kept,
		     ran = by == RUN_EVENT ? x->out->events : x->out->forms;

	return ran >= most || (by == RUN_EVENT && x->out->work >= DESIGN_WORK) ? 0 : most - ran;
}

int design_run_seen(struct design_search *x, struct design_seen *const *v, size_t n, enum run_fidelity by)
{
	struct design_asked *asked = calloc(n + 1, sizeof *asked);
	size_t *who = calloc(n + 1, sizeof *who), todo = 0;
	int rc = asked && who ? 0 : design_no_memory(x->e);

	for (size_t i = 0; rc == 0 && i < n; i++)
		if (!v[i]->out && !score_by(v[i], by)->known) {
			who[todo] = i;
			asked[todo++] = (struct design_asked){ .sets = v[i]->sets, .by = by };
		}
	for (; todo > left(x, by); todo--) {
		x->out->spared += !v[who[todo - 1]]->spared;
		v[who[todo - 1]]->spared = true;
	}
	if (rc == 0)
		rc = design_runner_run(x->runner, asked, todo, x->a, x->e);
	for (size_t i = 0; rc == 0 && i < todo; i++) {
		rc = told(x, v[who[i]], &asked[i]);
		x->out->work += asked[i].row.events;
	}
	*(by == RUN_EVENT ? &x->out->events : &x->out->forms) += todo;
	x->done += todo;
	if (x->q->progress)
		x->q->progress(x->q->arg, x->done < x->of ? x->done : x->of, x->of);
	free(asked);
	free(who);
	return rc;
}

struct design_seen *design_best(struct design_search *x, enum run_fidelity by, const struct design_seen *but)
{
	struct design_seen *best = NULL;

	for (size_t i = 0; i < x->n; i++)
		if (x->v[i] != but && score_by(x->v[i], by)->known &&
		    (!best || design_better(&x->goal, score_by(x->v[i], by), score_by(best, by))))
			best = x->v[i];
	return best && !score_by(best, by)->fails ? best : NULL;
}

int design_moved(struct design_search *x, const struct design_seen *from, size_t dim, int by, struct design_seen **out)
{
	const int64_t to = (int64_t)from->at[dim] + by;
	uint32_t at[DESIGN_AXES];

	*out = NULL;
	if (to < 0 || to >= (int64_t)x->count[dim])
		return 0;
	memcpy(at, from->at, sizeof at);
	at[dim] = (uint32_t)to;
	return (*out = design_look(x, at)) ? 0 : -1;
}

double design_space_size(const struct design_search *x)
{
	double n = 1;

	for (size_t k = 0; k < x->dims; k++)
		n *= (double)x->count[k];
	return n;
}

/* --- the whole ------------------------------------------------------------------------------------------------------ */

static int begin(struct design_search *x)
{
	struct sweep *s = x->s;

	x->dims = s->n_dims;
	for (size_t i = 0; i < s->n_axes; i++) {
		const struct sweep_axis *a = &s->axes[i];

		x->count[a->dim] = a->n;
		x->apart[a->dim] |= !a->values[0].is_number || a->field->type == CFG_T_BOOL;
	}
	for (size_t i = 0; i < DESIGN_FIGURES; i++)
		if (!(x->model[i] = design_model_new(x->dims, x->apart, x->a, x->e)))
			return -1;
	x->out->space = design_space_size(x);
	return 0;
}

/* The machine as it is, as one value for each axis. */
static const char *const *base_sets(struct design_search *x)
{
	struct machine_conf *c = machine_base_conf(x->s->machines, NULL, 0, x->e);
	const char **sets = arena_array(x->a, x->s->n_axes, sizeof *sets);
	struct str value = STR_INIT;

	if (c && !sets)
		design_no_memory(x->e);
	for (size_t i = 0; c && sets && i < x->s->n_axes; i++) {
		size_t row;

		str_clear(&value);
		if (cfg_find(c->raw, x->s->axes[i].key, &row, x->e) < 0)
			break;
		cfg_value(c->raw, row, &value);
		if (!(sets[i] = arena_printf(x->a, "%s=%s", x->s->axes[i].key, str_c(&value)))) {
			design_no_memory(x->e);
			break;
		}
	}
	str_free(&value);
	machine_conf_free(c);
	return x->e->kind ? NULL : sets;
}

/* A goal over a figure that this workload has not can never be met. */
static int check_goal(const struct design_search *x, const struct design_one *base)
{
	if (base->failed)
		return 0;
	for (size_t i = 0; i < x->goal.n_bounds; i++)
		if (isnan(base->bound[i].value))
			return err_set(x->e, ERR_USAGE, "'%s' has no value of this workload on this machine",
			               x->goal.bounds[i].left_text);
	return isnan(base->objective)
	               ? err_set(x->e, ERR_USAGE, "'%s' has no value of this workload on this machine", x->goal.text)
	               : 0;
}

/* Expressions know what the machine's row has. */
static int ask_base(struct design_search *x, struct design_one *base)
{
	const char *const *sets = base_sets(x);
	struct design_asked asked = { .sets = sets, .by = RUN_ANALYTIC };
	struct design_score score;
	struct machine_conf *c;
	int rc;

	if (!sets || !(c = sweep_conf(x->s, sets, x->e)))
		return -1;
	rc = design_runner_run(x->runner, &asked, 1, x->a, x->e);
	x->out->forms++;
	if (rc == 0)
		rc = sweep_know_stats(x->s, &asked.row, 1, x->e);
	if (rc == 0)
		rc = design_goal_read(x->q, x->s, &x->goal, x->e);
	if (rc == 0)
		rc = design_tell(x, sets, &asked, c, base, &score);
	machine_conf_free(c);
	return rc < 0 ? -1 : check_goal(x, base);
}

/* What lies beside the best; and with the runs that this leaves on with the search, as a best that only several changes at once
 * lead to lies beside nothing that is known. */
static int polish(struct design_search *x, enum run_fidelity by)
{
	size_t ran;

	do {
		if (design_polish(x, by) < 0)
			return -1;
		ran = x->out->forms;
		if (design_search_forms(x, x->q->forms - x->kept) < 0 ||
		    (by == RUN_EVENT && design_search_events(x) < 0))
			return -1;
	} while (x->out->forms > ran && x->out->forms < x->q->forms - x->kept);
	return x->out->forms > ran ? design_polish(x, by) : 0;
}

#define BETTER 1e-6 /* a price, in logarithms */

/* With the runs that nothing else took. */
static int go_on(struct design_search *x, enum run_fidelity by, struct design_seen **best)
{
	const size_t price = x->goal.n_bounds;
	struct design_seen *now;
	const struct design_score *is, *was;

	if (polish(x, by) < 0)
		return -1;
	if (!(now = design_best(x, by, NULL)))
		return 0;
	is = by == RUN_EVENT ? &now->event : &now->form;
	was = by == RUN_EVENT ? &(*best)->event : &(*best)->form;
	if (design_misses(&x->goal, is) >= design_misses(&x->goal, was) &&
	    is->figure[price] >= was->figure[price] - BETTER)
		return 0;
	*best = now;
	return design_simplify(x, by, best);
}

/* No design has an answer: because of what a run said, or nobody can build any of those seen. */
static int none_is(struct design_search *x)
{
	const char *why = x->out->unreal_why;

	for (size_t i = x->n; i-- > 0;)
		why = x->v[i]->one && x->v[i]->one->failed ? x->v[i]->one->why : why;
	if ((double)x->n < x->out->space)
		return err_set(x->e, ERR_CONFIG,
		               "none of the %zu designs that were looked at can be built and does the work%s%s", x->n,
		               why ? ": " : "", why ? why : "");
	return err_set(x->e, ERR_CONFIG, "no design of the space can be built and does the work%s%s", why ? ": " : "",
	               why ? why : "");
}

static int answer(struct design_search *x)
{
	const enum run_fidelity by = x->q->job.how.fidelity;
	struct design_score score;
	struct design_seen *best;
	const size_t beside = 2 * x->dims, forms = x->q->forms;

	/* For taking back what the search changed without need. */
	x->kept = forms > 4 * beside ? beside : forms > 2 * beside ? forms / 4 : 0;
	if (design_search_forms(x, forms > 2 * beside + x->kept ? forms - beside - x->kept : forms - x->kept) < 0 ||
	    (by == RUN_EVENT && design_search_events(x) < 0) || polish(x, by) < 0)
		return -1;
	if (!(best = design_best(x, by, NULL)))
		return none_is(x);
	x->kept = 0;
	if (design_simplify(x, by, &best) < 0 || go_on(x, by, &best) < 0)
		return -1;
	if (by == RUN_EVENT && design_run_sets(x, x->out->base.sets, RUN_EVENT, &x->out->base, &score) < 0)
		return -1;
	return design_why(x, best);
}

int design_run(const struct design_question *q, struct arena *a, struct design_result *out, struct err *e)
{
	struct design_search x = { .q = q, .a = a, .e = e, .out = out, .of = q->forms };
	int rc = -1;

	memset(out, 0, sizeof *out);
	if (!(out->s = x.s = design_space(q, a, e)))
		return -1;
	if ((x.runner = design_runner_new(q, x.s, e)) && begin(&x) == 0 && ask_base(&x, &out->base) == 0)
		rc = answer(&x);
	design_runner_free(x.runner);
	return rc;
}

void design_free(struct design_result *r)
{
	sweep_free(r->s);
	r->s = NULL;
}
