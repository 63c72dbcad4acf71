#include "sim/report/limits_store.h"

#include "sim/base/path.h"
#include "sim/report/eval.h"

/* As it was judged: by events where they were asked, and then against the base with events. */
static struct res_limit judged(const struct limits_question *q, const struct limits_result *r,
                               const struct limits_row *x)
{
	const bool events = limits_by_events(r, x);

	return (struct res_limit){ .key = x->key,
		                   .now = x->now,
		                   .then = x->then,
		                   .move = limits_move_name(x->move),
		                   .step = x->step,
		                   .total_ps = events ? x->event_ps : x->total_ps,
		                   .base_ps = events ? r->event_ps : r->base_ps,
		                   .fidelity = run_fidelity_name(events ? RUN_EVENT : q->run.fidelity),
		                   .within = limits_within(r, x),
		                   .refused = x->refused };
}

int limits_store(struct resdb *db, const struct limits_question *q, const struct workload *w,
                 const struct limits_result *x, struct err *e)
{
	struct res_limit *rows = arena_array(w->in.arena, x->n + 1, sizeof *rows);
	const struct res_limits l = { q->step_ppm, x->n, rows };
	struct machine_conf *c = machine_conf_load(q->config, q->sets, q->n_sets, e);
	struct baseline *b = baseline_new(&path_source, w->model ? NULL : &w->in.trace);
	struct eval_job j = { .conf = c, .w = w, .how = q->run };
	struct eval run;
	int rc = -1;

	j.how.fidelity = q->events ? RUN_EVENT : q->run.fidelity;
	for (size_t i = 0; rows && i < x->n; i++)
		rows[i] = judged(q, x, &x->rows[i]);
	if (!rows) {
		err_set(e, ERR_NOMEM, "no memory to store the limits");
	} else if (c && eval_run(&j, w->in.arena, &run, e) == 0) {
		eval_verdict(&j, b, w->in.arena, &run);
		if (run_store(&run.report, db, 0, w->in.arena, e) == 0)
			rc = res_put_limits(db, run.report.stored, &l, e);
	}
	baseline_free(b);
	machine_conf_free(c);
	return rc;
}
