#include "sim/report/eval.h"

#include <string.h>

#include "sim/accuracy/rows.h"
#include "sim/base/path.h"
#include "sim/report/difference.h"
#include "workloads/known.h"

#define OPAQUE_MAX_PCT 5 /* of the measured time: above it a run says little about the workload */

static bool launches(const struct machine_conf *conf)
{
	return machine_runs(&conf->cfg) == MACHINE_LAUNCHES;
}

int eval_check(const struct machine_conf *conf, const char *config, const struct workload_spec *s, struct err *e)
{
	if (launches(conf) && s->program)
		return err_set(e, ERR_USAGE,
		               "'%s' runs a trace's launches: it takes no program, for option '--program-in'", config);
	if (launches(conf) && s->rewrite)
		return err_set(
			e, ERR_USAGE,
			"'%s' runs the trace's launches, which a rewritten op no longer has, for option '--rewrite'",
			config);
	return 0;
}

int eval_check_work(const struct machine_conf *conf, const struct workload *w, struct err *e)
{
	if (w->source != WORKLOAD_TRACE || !ops_listed_all(&w->stream) || !launches(conf))
		return 0;
	return rows_have_kernels(&w->stream, conf, e);
}

int eval_check_opaque(const struct workload *w, bool allowed, struct err *e)
{
	struct err found = ERR_INIT;
	struct str hint = STR_INIT;

	if (allowed || workload_opaque(&w->stream, OPAQUE_MAX_PCT, &found) == 0)
		return 0;
	workload_lay_hint(&path_source, w, &hint);
	err_set(e, found.kind, "%s%s", found.msg, str_c(&hint));
	str_free(&hint);
	return -1;
}

/* All that the reports ask of the job and of the result. */
static void what_ran(const struct eval_job *j, struct eval *x)
{
	struct run_report *r = &x->report;
	const struct workload *w = j->w;

	diag_work(w->doubted, &x->diags);
	diag_run(&j->conf->cfg, &x->result, &x->diags);
	*r = (struct run_report){ .start = j->how.start, .seed = j->how.seed, .reuse_given = j->how.reuse_given };
	r->conf = j->conf;
	r->trace = &w->in.trace;
	r->model = w->model;
	r->spec = &w->spec;
	r->not_validated = w->model ? workload_unknown(w->model, &w->how, launches(j->conf)) : NULL;
	r->part = workload_part(w);
	r->scaled = w->scaled;
	r->given = w->source == WORKLOAD_PROGRAM;
	r->tokens = workload_tokens(w);
	r->rewritten = &w->rewritten;
	r->laid = &w->laid;
	r->stream = &w->stream;
	r->lowered = &w->lowered;
	r->counted = w->in.counters && !w->scaled && !w->rewritten.list.n ? &w->counted : NULL;
	r->result = &x->result;
	r->diags = &x->diags;
	r->rules_hash = w->rules_hash;
}

int eval_run(const struct eval_job *j, struct arena *a, struct eval *x, struct err *e)
{
	struct run_opts how = j->how;

	memset(x, 0, sizeof *x);
	how.program = j->w->source == WORKLOAD_PROGRAM ? &j->w->program.map : NULL;
	if (run_stream(&j->w->stream, j->conf, &how, a, &x->result, e) < 0)
		return -1;
	what_ran(j, x);
	return 0;
}

/* Another machine of the family is as sure as this one. */
static bool range_of(void *eval, const struct machine_conf *c, const struct run_result *x, double *low, double *high)
{
	const struct eval *of = eval;
	const struct run_report other = { .conf = c, .stream = x->stream, .result = x };
	const struct baseline *b = of->report.baseline;
	struct interval_side first, second;
	struct interval_range r;

	if (!difference_side(&of->report, &of->verdict, b, &first) ||
	    !difference_side(&other, &of->verdict, b, &second))
		return false;
	r = difference_range(&first, &second, b);
	*low = r.low;
	*high = r.high;
	return true;
}

void eval_verdict(const struct eval_job *j, const struct baseline *b, struct arena *a, struct eval *x)
{
	const struct marginal_question q = { .q = { .stream = &j->w->stream, .run = j->how, .step_ppm = 1000000 },
		                             .machines = j->machines,
		                             .conf = j->conf,
		                             .range = range_of,
		                             .arg = x };
	/* A pipeline has no one program to try more of the machine with. */
	const bool buys = j->machines && !launches(j->conf) && !x->report.given && !j->w->stream.stages;
	struct err none = ERR_INIT;

	x->report.baseline = b;
	if (b && run_verdict_make(&x->report, b, buys ? &q : NULL, a, &x->verdict, &none) == 0) {
		run_verdict_keep(&x->verdict, &x->result.figures);
		x->report.verdict = &x->verdict;
	}
}
