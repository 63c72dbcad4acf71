#include "sim/report/limits_store.h"

#include <string.h>

#include "sim/base/path.h"
#include "sim/report/run_verdict.h"

static const char *fidelity_name(enum run_fidelity f)
{
	return f == RUN_ANALYTIC ? "analytic" : "event";
}

/* As npusim run keeps it, so that both store one run. */
static void keep_verdict(const struct run_report *r, struct run_result *x)
{
	struct baseline *b = baseline_new(&path_source, r->model ? NULL : r->trace);
	struct err none = ERR_INIT;
	struct arena *a = arena_new(0);
	struct verdict v;

	if (b && a && run_verdict_make(r, b, NULL, a, &v, &none) == 0)
		run_verdict_keep(&v, &x->figures);
	arena_free(a);
	baseline_free(b);
}

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
		                   .fidelity = fidelity_name(events ? RUN_EVENT : q->run.fidelity),
		                   .within = limits_within(r, x),
		                   .refused = x->refused };
}

int limits_store(struct resdb *db, const struct limits_question *q, const struct workload *w,
                 const struct limits_result *x, struct err *e)
{
	struct res_limit *rows = arena_array(w->in.arena, x->n + 1, sizeof *rows);
	const struct res_limits l = { q->step_ppm, x->n, rows };
	struct machine_conf *c = machine_conf_load(q->config, q->sets, q->n_sets, e);
	struct diag_list diags = { .n = 0 };
	struct run_opts how = q->run;
	struct run_result result;
	struct run_report r = { .conf = c,
		                .diags = &diags,
		                .trace = &w->in.trace,
		                .model = w->model,
		                .part = workload_part(w),
		                .scaled = w->scaled,
		                .tokens = workload_tokens(w),
		                .stream = q->stream,
		                .result = &result,
		                .start = q->run.start,
		                .seed = q->run.seed,
		                .rules_hash = w->rules_hash };
	int rc = -1;

	memset(&result, 0, sizeof result);
	how.fidelity = q->events ? RUN_EVENT : q->run.fidelity;
	for (size_t i = 0; rows && i < x->n; i++)
		rows[i] = judged(q, x, &x->rows[i]);
	if (!rows) {
		err_set(e, ERR_NOMEM, "no memory to store the limits");
	} else if (c && run_stream(q->stream, c, &how, w->in.arena, &result, e) == 0) {
		diag_run(&c->cfg, &result, &diags);
		keep_verdict(&r, &result);
		if (run_store(&r, db, 0, w->in.arena, e) == 0)
			rc = res_put_limits(db, r.stored, &l, e);
	}
	machine_conf_free(c);
	return rc;
}
