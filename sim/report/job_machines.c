/* job_machines.c - npusim run -c A,B,C: one workload on several machines. */
#include "sim/report/job_int.h"

#include <string.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "sim/report/difference.h"
#include "sim/report/machines_doc.h"
#include "sim/study/split.h"

/* A machine, and the workload as it is run there: a GPU's kernels are others than an NPU's. */
struct one {
	struct machine_conf *conf;
	struct workload w;
	struct baseline *baseline;
	struct arena *texts; /* of a split that was found for it */
};

static void one_free(struct one *x)
{
	baseline_free(x->baseline);
	workload_free(&x->w);
	machine_conf_free(x->conf);
	arena_free(x->texts);
}

static int one_run(const struct job *q, const char *config, struct one *x, struct eval *v, struct err *e)
{
	struct eval_job j = { .how = q->how };
	struct workload_spec spec = q->workload;
	uint32_t tried = 0;

	if (!(x->texts = arena_new(0)))
		return err_nomem(e, "for a split");
	if (!(x->conf = machine_conf_load(config, q->sets, q->n_sets, e)) ||
	    eval_check(x->conf, config, &q->workload, e) < 0 ||
	    split_settle(&spec, x->conf, &q->how, x->texts, &tried, e) < 0 ||
	    q->read(&spec, &x->conf->cfg, &x->w, e) < 0 || eval_check_work(x->conf, &x->w, e) < 0 ||
	    eval_check_opaque(&x->w, q->allow_opaque, e) < 0)
		return -1;
	j.conf = x->conf;
	j.w = &x->w;
	if (eval_run(&j, x->w.in.arena, v, e) < 0)
		return -1;
	x->baseline = baseline_new(
		&path_source, x->w.source == WORKLOAD_TRACE || x->w.source == WORKLOAD_LAID ? &x->w.in.trace : NULL);
	eval_verdict(&j, x->baseline, x->w.in.arena, v);
	v->report.splits = tried;
	return 0;
}

/* The names between commas. */
static int split(const char *text, struct arena *a, const char **out, size_t *n, struct err *e)
{
	char *p = arena_strdup(a, text), *rest = NULL;

	*n = 0;
	if (!p)
		return err_nomem(e, "for the machines");
	for (char *word = strtok_r(p, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		word += strspn(word, " ");
		if (*n == MACHINES_DOC_MOST)
			return err_set(e, ERR_USAGE, "more than %d machines side by side, for option '-c'",
			               MACHINES_DOC_MOST);
		if (*word)
			out[(*n)++] = word;
	}
	return *n ? 0 : err_set(e, ERR_USAGE, "no machine in '%s', for option '-c'", text);
}

/* How sure the ratio of the first's time to each is. */
static void ratios(const struct one *v, const struct eval *evals, size_t n, struct interval_range *out)
{
	struct interval_side first, side;
	const struct baseline *b = v[0].baseline;
	const bool known = difference_side(&evals[0].report, &evals[0].verdict, b, &first);

	for (size_t i = 0; i < n; i++)
		if (known && difference_side(&evals[i].report, &evals[i].verdict, b, &side))
			out[i] = difference_range(&first, &side, b);
}

bool job_is_machines(const struct job *j)
{
	return strchr(j->config, ',') && access(j->config, F_OK) != 0;
}

int job_machines(const struct job *j, struct doc *d, struct err *e)
{
	struct arena *a = arena_new(0);
	const char *configs[MACHINES_DOC_MOST];
	struct one *v = a ? arena_array(a, MACHINES_DOC_MOST, sizeof *v) : NULL;
	struct eval *evals = a ? arena_array(a, MACHINES_DOC_MOST, sizeof *evals) : NULL;
	struct interval_range ratio[MACHINES_DOC_MOST] = { { 0, 0 } };
	struct machines_doc x = { configs, evals, 0, run_fidelity_name(j->how.fidelity), { 0, 0, 0 }, ratio };
	int rc = v && evals ? split(j->config, a, configs, &x.n, e) : err_nomem(e, "for the machines");

	for (size_t i = 0; rc == 0 && i < x.n; i++)
		if ((rc = one_run(j, configs[i], &v[i], &evals[i], e)) < 0)
			err_add(e, "running on '%s'", configs[i]);
	if (rc == 0 && v[0].w.source == WORKLOAD_TRACE)
		rc = measured_spread(j->workload.trace, &v[0].w.in.trace, &x.steps, e);
	if (rc == 0) {
		ratios(v, evals, x.n, ratio);
		machines_doc(d, &x);
	}
	for (size_t i = 0; v && i < x.n; i++)
		one_free(&v[i]);
	arena_free(a);
	return rc;
}
