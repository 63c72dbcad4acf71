#include "sim/report/job_int.h"

#include <string.h>

#include "sim/base/path.h"
#include "sim/report/timeline.h"
#include "sim/study/split.h"
#include "sim/ui/opt.h"
#include "sim/ui/outfile.h"
#include "sim/ui/progress.h"

#define TOP_SHOWN 10 /* ops in the table of all pages */

/* The first option given that is of one run; NULL: none. */
static const char *of_one_run(const struct job *j)
{
	return j->explain_map      ? "explain-map"
	       : j->explain_fusion ? "explain-fusion"
	       : j->program        ? "program"
	       : j->timeline       ? "timeline"
	       : j->top != JOB_TOP ? "ops"
	                           : NULL;
}

static int check_stages(const struct job *j, struct err *e)
{
	const char *one = of_one_run(j);
	struct arena *a = one ? NULL : arena_new(0);
	struct request r;
	int rc;

	if (one)
		return err_set(
			e, ERR_USAGE,
			"option '--%s' is of one run, and '--stages' makes several: give the stage alone, without"
			" '--stages'",
			one);
	rc = a ? request_parse(j->stages, &j->workload, a, &r, e) : err_nomem(e, "for a request");
	arena_free(a);
	return rc;
}

static int check_machines(const struct job *j, struct err *e)
{
	const char *one = j->results ? "output" : j->stages ? "stages" : of_one_run(j);

	return one ? err_set(e, ERR_USAGE, "option '--%s' is of one run, and '-c' names several machines", one) : 0;
}

int job_check(const struct job *j, struct err *e)
{
	if (!j->config)
		return opt_machine_missing(e);
	if (job_is_machines(j) && check_machines(j, e) < 0)
		return -1;
	if ((j->stages ? check_stages(j, e) : workload_check(&j->workload, WORKLOAD_RUN, e)) < 0)
		return -1;
	if (j->workload.program && j->explain_map) /* it is mapped already, whatever it was made of */
		return err_set(e, ERR_USAGE,
		               "option '--explain-map' is of another workload: '--program-in' gives a program");
	return 0;
}

/* --- one run ----------------------------------------------------------------------------------------------- */

struct inputs {
	struct resdb *db;
	struct machine_base *machines;
	struct machine_conf *conf; /* of them, as they are */
	struct workload w;
	struct baseline *baseline;
	struct arena *texts; /* of the split that was found */
	uint32_t splits;
};

static void inputs_free(struct inputs *in)
{
	baseline_free(in->baseline);
	res_free(in->db);
	machine_conf_free(in->conf);
	machine_base_free(in->machines);
	workload_free(&in->w);
	arena_free(in->texts);
}

static int check_mapped(const struct job *j, const struct machine_conf *conf, struct err *e)
{
	const bool maps = machine_runs(&conf->cfg) == MACHINE_COMMANDS;

	if (!maps && j->program)
		return err_set(e, ERR_USAGE,
		               "'%s' runs the trace's launches: it has no program, for option '--program'", j->config);
	if (eval_check(conf, j->config, &j->workload, e) < 0)
		return -1;
	if (!maps && j->explain_map)
		return err_set(e, ERR_USAGE,
		               "'%s' runs the trace's launches: nothing is mapped, for option '--explain-map'",
		               j->config);
	return 0;
}

/* A pipeline is several programs. */
static int check_one_program(const struct job *j, const struct workload *w, struct err *e)
{
	const char *option = j->program       ? "--program"
	                     : j->explain_map ? "--explain-map"
	                     : j->timeline    ? "--timeline"
	                                      : NULL;

	if (!w->stream.stages || !option)
		return 0;
	return err_set(e, ERR_USAGE,
	               "a pipeline's stages are a program each: '%s' is of one (of one stage: --layers, without --pp)",
	               option);
}

static int machines_read(const struct job *j, struct inputs *in, struct err *e)
{
	if (!(in->machines = machine_base_load(j->config, j->sets, j->n_sets, e)) ||
	    !(in->conf = machine_base_conf(in->machines, NULL, 0, e)))
		return -1;
	return 0;
}

/* The workload, split as this machine likes best where that is asked. */
static int workload_of(const struct job *j, struct inputs *in, struct err *e)
{
	struct workload_spec spec = j->workload;

	if (!(in->texts = arena_new(0)))
		return err_nomem(e, "for a split");
	if (split_settle(&spec, in->conf, &j->how, in->texts, &in->splits, e) < 0)
		return -1;
	return j->read(&spec, &in->conf->cfg, &in->w, e);
}

static int inputs_read(const struct job *j, struct inputs *in, struct err *e)
{
	if (machines_read(j, in, e) < 0 || check_mapped(j, in->conf, e) < 0 ||
	    (j->results && !(in->db = res_open(j->results, DB_WRITE, e))) || workload_of(j, in, e) < 0 ||
	    check_one_program(j, &in->w, e) < 0)
		return -1;
	return eval_check_work(in->conf, &in->w, e);
}

static int write_program(const char *path, const struct op_stream *s, const struct map_result *m, struct err *e)
{
	struct str text = STR_INIT;
	int rc;

	program_write(s, m, &text);
	rc = outfile_write(path, &text, e);
	str_free(&text);
	return rc;
}

static int simulate(const struct job *j, struct inputs *in, struct eval *x, uint64_t *host_ns, struct err *e)
{
	const struct trace *t = &in->w.in.trace;
	const bool traced = in->w.source == WORKLOAD_TRACE || in->w.source == WORKLOAD_LAID;
	struct eval_job job = { j->buys ? in->machines : NULL, in->conf, &in->w, j->how };
	struct timeline *line = NULL;
	uint64_t began;

	if (j->timeline && !(line = timeline_open(j->timeline, &in->w.stream, in->conf,
	                                          t->n_devices ? t->devices[0].name : NULL, &x->result, e)))
		return -1;
	job.how.watch = line ? timeline_watch(line) : NULL;
	began = progress_now_ns();
	if (timeline_close(line, eval_run(&job, in->w.in.arena, x, e), e) < 0)
		return -1;
	*host_ns = progress_now_ns() - began;
	job.how.watch = NULL;
	in->baseline = baseline_new(&path_source, traced ? t : NULL);
	eval_verdict(&job, in->baseline, in->w.in.arena, x);
	return 0;
}

/* What is asked beside the run. */
static int asked(const struct job *j, struct inputs *in, struct eval *x, struct err *e)
{
	struct run_report *r = &x->report;

	r->whole = j->whole;
	r->splits = in->splits;
	r->top = j->top != JOB_TOP ? j->top : j->whole ? TOP_SHOWN : 0;
	r->explain_fusion = j->explain_fusion;
	r->results_path = j->results;
	r->timeline_path = j->timeline;
	if (j->whole && in->w.source == WORKLOAD_TRACE &&
	    measured_spread(j->workload.trace, &in->w.in.trace, &r->steps, e) < 0)
		return -1;
	if (j->program && write_program(j->program, &in->w.stream, x->result.map, e) < 0)
		return -1;
	if (j->explain_fusion && x->result.map && in->conf->cfg.fusion.enabled && !r->given &&
	    run_apart(r, in->machines, &j->how, e) < 0)
		return -1;
	return j->explain_map ? run_mapping(r, j->explain_map, in->w.in.arena, e) : 0;
}

static int single(const struct job *j, struct doc *d, struct err *e)
{
	struct err not_stored = ERR_INIT;
	struct inputs in;
	struct eval x;
	uint64_t host_ns;
	int rc = -1;

	memset(&in, 0, sizeof in);
	if (inputs_read(j, &in, e) < 0 || simulate(j, &in, &x, &host_ns, e) < 0 || asked(j, &in, &x, e) < 0)
		goto out;
	if (in.db) {
		res_close(in.db, run_store(&x.report, in.db, host_ns, in.w.in.arena, &not_stored), &not_stored);
		in.db = NULL;
	}
	run_doc(d, &x.report);
	if (not_stored.kind)
		*e = not_stored;
	else
		rc = eval_check_opaque(&in.w, j->allow_opaque, e);
out:
	inputs_free(&in);
	return rc;
}

/* --- stages ------------------------------------------------------------------------------------------------ */

static int answer(const struct job *j, const struct staged_job *s, struct resdb **db, struct arena *a, struct staged *x,
                  struct doc *d, struct err *e)
{
	const struct staged_view v = { s, j->whole, j->results };
	struct err not_stored = ERR_INIT;
	const uint64_t began = progress_now_ns();

	if ((j->results && !(*db = res_open(j->results, DB_WRITE, e))) || staged_run(s, a, x, e) < 0)
		return -1;
	if (*db) {
		res_close(*db, staged_store(x, *db, progress_now_ns() - began, a, &not_stored), &not_stored);
		*db = NULL;
	}
	staged_doc(d, x, &v);
	if (!not_stored.kind)
		return 0;
	*e = not_stored;
	return -1;
}

static int stages(const struct job *j, struct doc *d, struct err *e)
{
	struct inputs in;
	struct staged_job s;
	struct staged *x;
	struct arena *a;
	int rc = -1;

	memset(&in, 0, sizeof in);
	if (machines_read(j, &in, e) == 0) {
		s = (struct staged_job){ in.machines, in.conf, j->config, j->how, j->read, j->allow_opaque };
		a = arena_new(0);
		x = a ? arena_alloc(a, sizeof *x) : NULL;
		if (!x) {
			err_nomem(e, "for a request");
		} else {
			*x = (struct staged){ .tokens = 0 };
			if (request_parse(j->stages, &j->workload, a, &x->request, e) == 0)
				rc = answer(j, &s, &in.db, a, x, d, e);
			staged_free(x);
		}
		arena_free(a);
	}
	inputs_free(&in);
	return rc;
}

int job_run(const struct job *j, struct doc *d, struct err *e)
{
	return job_is_machines(j) ? job_machines(j, d, e) : j->stages ? stages(j, d, e) : single(j, d, e);
}
