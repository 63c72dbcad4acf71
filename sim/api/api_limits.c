/* api_limits.c - what each parameter of a machine is worth, for npusim.h. */
#include "sim/api/api.h"
#include "sim/study/limits.h"

static void tell(const struct limits_result *r, npusim_limit_fn *each, void *arg)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct limits_row *row = &r->rows[i];
		const struct npusim_limit x = { .size = sizeof x,
			                        .move = limits_move_name(row->move),
			                        .key = row->key,
			                        .now = row->now,
			                        .then = row->then,
			                        .refused = row->refused,
			                        .us = row->refused ? 0 : (double)row->total_ps / 1e6,
			                        .saves = row->refused ? 0
			                                              : 1 - (double)row->total_ps / (double)r->base_ps,
			                        .within = !row->refused && limits_within(r, row) };

		each(arg, &x);
	}
}

static int limits(npusim_machine *m, npusim_work *w, const char *const *v, size_t n, struct arena *a,
                  struct limits_result *out, struct err *e)
{
	struct limits_question q = { .config = m->name, .run = run_opts_default(), .step_ppm = 1000000 };
	const struct workload *x;

	q.run.fidelity = RUN_ANALYTIC;
	if (w->spec.program)
		return err_set(e, ERR_USAGE, "a program is mapped for one machine, and this asks of others");
	if (api_options(v, n, &q.run, e) < 0)
		return -1;
	if (!(x = api_work_for(w, m->conf, e)))
		return -1;
	q.stream = &x->stream;
	return limits_run_on(&q, m->machines, a, out, e);
}

static int asked(npusim_machine *m, npusim_work *w, const char *const *v, size_t n, npusim_limit_fn *each, void *arg,
                 struct err *e)
{
	struct limits_result r;
	struct arena *a = arena_new(0);
	locale_t was;
	int rc;

	if (!a)
		return err_nomem(e, "for limits");
	was = api_enter(m->n);
	rc = limits(m, w, v, n, a, &r, e);
	api_leave(was);
	if (rc == 0)
		tell(&r, each, arg); /* in the caller's own locale */
	arena_free(a);
	return rc;
}

int npusim_limits(npusim_machine *m, npusim_work *w, const char *const *v, size_t n, npusim_limit_fn *each, void *arg,
                  struct npusim_error *e)
{
	struct err err = ERR_INIT;

	api_clear(e);
	if (!m || !w || !each)
		err_set(&err, ERR_USAGE, "npusim_limits: the %s is NULL",
		        !m   ? "machine"
		        : !w ? "workload"
		             : "function");
	else if (m->n != w->n)
		err_set(&err, ERR_USAGE, "npusim_limits: machine and workload are of two npusims");
	else if (asked(m, w, v, n, each, arg, &err) == 0)
		return 0;
	return api_fail(&err, e);
}
