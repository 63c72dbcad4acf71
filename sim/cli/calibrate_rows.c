/* calibrate_rows.c - npusim calibrate on an NPU, by tables of ops (sim/accuracy/fit_rows.h). */
#include "sim/cli/calibrate.h"

#include <stdlib.h>

#include "workloads/known.h"

struct inputs {
	struct arena *a;
	struct workload *read;
	struct fit_rows_table *tables;
	size_t n;
};

static int read_one(struct inputs *in, const struct calibrate_rows *o, const struct machine_conf *conf,
                    const char *path, enum run_start start, struct err *e)
{
	struct workload *w = &in->read[in->n];

	in->tables[in->n++] = (struct fit_rows_table){ path, &w->stream, start };
	if (cmd_workload_read(&(struct workload_spec){ .trace = path, .rules = o->rules }, &conf->cfg, w, e) < 0)
		return -1;
	if (!ops_listed_all(&w->stream))
		return err_set(e, ERR_IO, "'%s' is no table of ops (CSV whose header begins with 'op,')", path);
	return 0;
}

static int read_all(struct inputs *in, const struct calibrate_rows *o, const struct machine_conf *conf, struct err *e)
{
	const struct opt_list *lists[] = { o->tables, o->resident };
	const size_t most = (size_t)(o->tables->n + o->resident->n) + 1;

	if (!(in->a = arena_new(MEASURED_MEMORY)) || !(in->read = arena_array(in->a, most, sizeof *in->read)) ||
	    !(in->tables = arena_array(in->a, most, sizeof *in->tables)))
		return err_nomem(e, "for tables");
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < lists[k]->n; i++)
			if (read_one(in, o, conf, lists[k]->v[i], k ? RUN_RESIDENT : RUN_COLD, e) < 0)
				return -1;
	return 0;
}

int calibrate_rows(const struct calibrate_rows *o, struct machine_conf *conf, struct doc *d, struct err *e)
{
	struct inputs in = { .n = 0 };
	struct fit_rows_ask q = { o->config, o->sets->v, o->sets->n,      NULL,       0, o->kind, o->rows,
		                  o->folds,  o->jobs,    &pool_processes, o->fidelity };
	struct fit_rows found;
	struct fit_plan *p = NULL;
	int rc = read_all(&in, o, conf, e);

	q.tables = in.tables;
	q.n = in.n;
	if (rc == 0 && !(p = fit_plan_load(o->plan, conf, NULL, e)))
		rc = -1;
	if (rc == 0 && (rc = fit_rows_run(&q, conf, p, in.a, &found, e)) == 0) {
		fit_rows_doc(d, &q, &found, p, conf->raw);
		if (o->output && (rc = fit_rows_keep(&found, p, conf->raw, e)) == 0)
			rc = fit_write(conf->raw, o->output, e);
	}
	if (rc == 0 && o->check)
		rc = fit_plan_changed(p, e);
	fit_plan_free(p);
	for (size_t i = 0; i < in.n; i++)
		workload_free(&in.read[i]);
	arena_free(in.a);
	return rc;
}
