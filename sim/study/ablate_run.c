/* ablate_run.c - the runs of an ablation on one workload, side by side: in closed form, and of those again with events that are
 * too near each other for that. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/pool.h"
#include "sim/study/ablate.h"
#include "sim/study/limits_int.h"

/* --- which runs ---------------------------------------------------------------------------------------------------- */

/* By itself: a workload of a suite is for the changes of that suite, one for some changes alone for those that name it. */
static bool wanted(const struct ablation *x, size_t workload, size_t change)
{
	const struct ablate_change *c = &x->changes[change];
	const struct ablate_workload *w = &x->workloads[workload];

	if (c->not_modelled || c->pays == (int)workload)
		return !c->not_modelled;
	return w->suite >= 0 ? c->suites >> w->suite & 1 : !w->only;
}

/* Or because another is measured from it. */
static bool asked(const struct ablation *x, size_t workload, size_t change)
{
	bool yes = wanted(x, workload, change);

	for (size_t i = 0; !yes && i < x->n_changes; i++)
		yes = x->changes[i].ref == (int)change && wanted(x, workload, i);
	return yes;
}

static bool ablate_run_whole(const struct ablation *x, size_t workload)
{
	return !x->workloads[workload].only && x->n_run > 1;
}

/* Whether there is a run of all the others. */
static bool in_whole(const struct ablation *x, size_t workload, size_t change)
{
	return ablate_run_whole(x, workload) && !x->workloads[workload].alone && !x->changes[change].apart;
}

size_t ablate_runs(const struct ablation *x, size_t workload)
{
	size_t n = (size_t)(1 + ablate_run_whole(x, workload) + (x->n_exchange > 0));

	for (size_t i = 0; i < x->n_changes; i++)
		n += asked(x, workload, i) * (size_t)(1 + in_whole(x, workload, i));
	return n;
}

/* Where a row's answer goes. */
enum place { BASE, EXCHANGE, ALL, ALONE, WITHOUT };
struct slot {
	enum place place;
	size_t change;
	struct ablate_run *to;
};

struct plan {
	const struct ablation *x;
	struct arena *a;
	struct limits_rows rows;
	struct slot *slots; /* by row */
	struct err *e;
};

/* A row of the changes [from, to) without `but` and those that stand apart. */
static int ablate_run_add(struct plan *p, size_t from, size_t to, size_t but, struct slot slot)
{
	struct limits_row *row = limits_rows_add(&p->rows);
	size_t n = 0;
	const char **sets;

	for (size_t i = from; i < to; i++)
		n += p->x->changes[i].n_sets;
	if (!row || !(sets = arena_array(p->a, n + 1, sizeof *sets)))
		return err_nomem(p->e, "for an ablation");
	for (size_t i = from; i < to; i++)
		for (size_t k = 0; i != but && !p->x->changes[i].apart && k < p->x->changes[i].n_sets; k++)
			sets[row->n_sets++] = p->x->changes[i].sets[k];
	row->sets = sets;
	p->slots[p->rows.n - 1] = slot;
	return 0;
}

static int add_sets(struct plan *p, const char *const *sets, size_t n, struct slot slot)
{
	struct limits_row *row = sets ? limits_rows_add(&p->rows) : NULL;

	if (!row)
		return err_nomem(p->e, "for an ablation");
	row->sets = sets;
	row->n_sets = n;
	p->slots[p->rows.n - 1] = slot;
	return 0;
}

static int add_alone(struct plan *p, size_t change, struct ablate_run *to)
{
	size_t n;
	const char *const *sets = ablate_change_sets(p->x, &p->x->changes[change], p->a, &n);

	return add_sets(p, sets, n, (struct slot){ ALONE, change, to });
}

static int ablate_run_plan(struct plan *p, size_t workload, struct ablate_result *out)
{
	const size_t n = p->x->n_changes, none = n;

	if (ablate_run_add(p, 0, 0, none, (struct slot){ BASE, none, &out->base }) < 0 ||
	    (p->x->n_exchange &&
	     add_sets(p, p->x->exchange, p->x->n_exchange, (struct slot){ EXCHANGE, none, &out->exchange }) < 0) ||
	    (ablate_run_whole(p->x, workload) &&
	     ablate_run_add(p, 0, n, none, (struct slot){ ALL, none, &out->all }) < 0))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (asked(p->x, workload, i) &&
		    (add_alone(p, i, &out->alone[i]) < 0 ||
		     (in_whole(p->x, workload, i) &&
		      ablate_run_add(p, 0, n, i, (struct slot){ WITHOUT, i, &out->without[i] }) < 0)))
			return -1;
	return 0;
}

/* --- running ------------------------------------------------------------------------------------------------------- */

/* What was seen of a row; the same in closed form, if that was before, stays beside it. */
static int ablate_run_take(const struct plan *p, struct ablate_run *r, enum run_fidelity by,
                           const struct limits_seen *seen)
{
	struct ablate_run *form = NULL;

	if (r->run) {
		if (!(form = arena_array(p->a, 1, sizeof *form)))
			return err_nomem(p->e, "for an ablation");
		*form = *r;
	}
	*r = (struct ablate_run){ .run = true,
		                  .by = by,
		                  .total_ps = seen->total_ps,
		                  .dram_bytes = seen->dram_bytes,
		                  .energy_fj = seen->energy_fj,
		                  .area_nm2 = seen->area_nm2,
		                  .form = form };
	memcpy(r->stall_ps, seen->stall_ps, sizeof r->stall_ps);
	if (seen->kind && !(r->refused = arena_strdup(p->a, seen->why)))
		return err_nomem(p->e, "for an ablation");
	return 0;
}

struct running {
	struct plan *p;
	struct limits_job job;
	const struct limits_row **rows; /* of this round */
	struct limits_crew *crew;
	size_t *which; /* they are of the plan */
	struct limits_seen *seen;
	size_t n;
};

static void ablate_run_ask(struct running *g, size_t row)
{
	g->rows[g->n] = &g->p->rows.v[row];
	g->which[g->n++] = row;
}

static int run_round(struct running *g)
{
	struct plan *p = g->p;

	g->job.of = g->job.done + g->n;
	if (g->n && limits_crew_run(g->crew, &g->job, g->rows, g->n, g->seen, p->e) < 0)
		return -1;
	for (size_t i = 0; i < g->n; i++)
		if (ablate_run_take(p, p->slots[g->which[i]].to, g->job.fidelity, &g->seen[i]) < 0)
			return -1;
	g->job.done = g->job.of;
	g->n = 0;
	return 0;
}

static bool measured_from(const struct ablation *x, size_t change)
{
	for (size_t i = 0; i < x->n_changes; i++)
		if (x->changes[i].ref == (int)change)
			return true;
	return false;
}

static bool too_near(const struct plan *p, const struct ablate_result *r, const struct slot *s)
{
	if (s->to->refused || s->to->by == RUN_EVENT)
		return false;
	switch (s->place) {
	case ALONE:
		return measured_from(p->x, s->change) || ablate_unsure_alone(p->x, r, s->change);
	case WITHOUT:
		return ablate_unsure_missed(p->x, r, s->change);
	default:
		return true; /* what all is measured by, and how far the closed form is off here */
	}
}

/* First what others are measured by, then those alone, then of the verdicts still open all but it. */
static int run_events(struct running *g, const struct ablate_result *r)
{
	static const enum place last[] = { ALL, ALONE, WITHOUT };

	g->job.fidelity = RUN_EVENT;
	for (size_t k = 0; k < sizeof last / sizeof *last; k++) {
		for (size_t i = 0; i < g->p->rows.n; i++)
			if (g->p->slots[i].place <= last[k] && too_near(g->p, r, &g->p->slots[i]))
				ablate_run_ask(g, i);
		if (run_round(g) < 0)
			return -1;
	}
	return 0;
}

static int run_plan(struct running *g, const struct ablate_how *how, const struct ablate_result *r)
{
	for (size_t i = 0; i < g->p->rows.n; i++)
		ablate_run_ask(g, i);
	if (!(g->crew = limits_crew_new(&g->job, g->p->rows.n, g->p->e)) || run_round(g) < 0)
		return -1;
	return how->both && !r->base.refused ? run_events(g, r) : 0;
}

int ablate_run(const struct ablation *x, size_t workload, const struct op_stream *s, const struct ablate_how *how,
               struct arena *a, struct ablate_result *out, struct err *e)
{
	const size_t runs = ablate_runs(x, workload);
	const struct limits_question q = { .config = x->base,
		                           .sets = x->sets,
		                           .n_sets = (int)x->n_sets,
		                           .stream = s,
		                           .run = { .start = x->start, .seed = how->seed },
		                           .jobs = how->jobs,
		                           .backend = &pool_processes,
		                           .progress = how->progress,
		                           .arg = how->arg };
	struct plan p = {
		.x = x, .a = a, .rows = { .a = a }, .slots = arena_array(a, runs + 1, sizeof *p.slots), .e = e
	};
	struct running g = { .p = &p,
		             .job = { .q = &q,
		                      .machines = x->machines,
		                      .fidelity = how->both ? RUN_ANALYTIC : how->fidelity,
		                      .of = runs },
		             .rows = arena_array(a, runs + 1, sizeof *g.rows),
		             .which = arena_array(a, runs + 1, sizeof *g.which),
		             .seen = calloc(runs + 1, sizeof *g.seen) };
	int rc = -1;

	*out = (struct ablate_result){ .alone = arena_array(a, x->n_changes + 1, sizeof *out->alone),
		                       .without = arena_array(a, x->n_changes + 1, sizeof *out->without) };
	if (!g.rows || !g.which || !g.seen || !p.slots || !out->alone || !out->without)
		err_nomem(e, "for an ablation");
	else if (ablate_run_plan(&p, workload, out) == 0)
		rc = run_plan(&g, how, out);
	limits_crew_free(g.crew);
	free(g.seen);
	if (rc == 0 && out->base.refused)
		return err_set(e, ERR_CONFIG, "the base cannot do workload '%s': %s", x->workloads[workload].name,
		               out->base.refused);
	return rc;
}
