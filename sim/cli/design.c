/* design.c - npusim design: the cheapest machine for a goal. */
#include "sim/design/design.h"

#include <string.h>

#include "sim/base/path.h"
#include "sim/cli/mixed.h"
#include "sim/report/baseline.h"
#include "sim/report/design_explain.h"
#include "sim/report/design_page.h"
#include "sim/report/run_verdict.h"
#include "sim/study/split.h"
#include "sim/ui/outfile.h"
#include "sim/ui/progress.h"

/* results/report/embed.S */
extern const char report_page[], report_page_end[];

#define EVENTS_MOST 200 /* and as many as lie beside: 300 in all */

struct options {
	const char *config, *axes, *minimise, *maximise, *mix, *output, *fidelity, *start, *format;
	struct opt_list sets, reach, within, axis;
	struct workload_spec workload;
	uint64_t forms, events, jobs, seed;
	uint32_t sure_ppm;
	bool unreal, allow_opaque;
};

static void on_progress(void *arg, size_t done, size_t of)
{
	(void)of;
	progress_set(arg, done);
}

static bool is_page(const char *path)
{
	const size_t n = strlen(path);

	return n > 5 && strcmp(path + n - 5, ".html") == 0;
}

static int write_page(const struct design_doc *v, struct err *e)
{
	const struct page_template t = { report_page, report_page_end };
	struct str html = STR_INIT;
	int rc = design_page(&t, v, &html, e);

	if (rc == 0)
		rc = outfile_write(v->written, &html, e);
	str_free(&html);
	return rc;
}

static int search(const struct options *o, struct design_question *q, struct arena *a, struct doc *d, struct err *e)
{
	struct design_result r;
	struct design_doc v = { .r = &r,
		                .machine = o->config,
		                .objective = q->objective,
		                .maximise = q->maximise,
		                .bounds = q->bounds,
		                .n_bounds = q->n_bounds,
		                .written = o->output,
		                .workload = q->job.n_parts ? q->job.workload->source : q->job.stream->source,
		                .parts = q->job.parts,
		                .n_parts = q->job.n_parts };
	struct explain_line lines[EXPLAIN_LINES];
	int n, rc = design_run(q, a, &r, e);

	if (rc == 0 && (rc = n = design_explain(&v, a, lines, e)) >= 0) {
		rc = 0;
		v.lines = lines;
		v.n_lines = (size_t)n;
	}

	if (rc == 0 && o->output)
		rc = is_page(o->output) ? write_page(&v, e) : design_doc_write(&v, e);
	if (rc == 0) {
		design_doc(d, &v);
		if (!r.reached)
			rc = err_set(e, ERR_BOUND, "no design of %.3g reaches the goal; the nearest is above", r.space);
	}
	design_free(&r);
	return rc;
}

/* The workload or the mix, read for this machine. */
static int with_workload(const struct options *o, struct machine_conf *c, struct design_question *q, struct arena *a,
                         struct doc *d, struct err *e)
{
	struct baseline *b = baseline_new(&path_source, NULL);
	struct mixed m = { .n = 0 };
	struct mix mix = { .n = 0 };
	int rc = -1;

	if (o->mix && mix_parse(o->mix, a, &mix, e) < 0)
		goto out;
	if (!o->mix) {
		mix.v[0] = (struct mix_part){ "the workload", split_without(&o->workload), 1 };
		mix.n = 1;
	}
	if (mixed_read(&mix, &c->cfg, o->allow_opaque, &m, e) < 0)
		goto out;
	q->job.stream = m.parts[0].stream;
	q->job.parts = m.parts;
	q->job.n_parts = o->mix ? m.n : 0;
	q->job.workload = &m.workload;
	q->job.spec = o->workload;
	q->job.build = split_build;
	q->job.build_arg = &c->cfg;
	q->look = run_verdict_row;
	q->look_arg = b;
	q->arg = progress_new("design", "designs", q->forms);
	rc = search(o, q, a, d, e);
	progress_free(q->arg);
out:
	mixed_free(&m);
	baseline_free(b);
	return rc;
}

static int check(struct options *o, struct err *e)
{
	if (!o->config)
		return err_set(e, ERR_USAGE, "the machine is missing: -c CONFIG.yaml");
	if (o->mix && workload_source(&o->workload) != WORKLOAD_NONE)
		return err_set(e, ERR_USAGE, "option '--mix' and '-t' or '-m' are two workloads: give one");
	if (!o->mix && workload_check(&o->workload, WORKLOAD_DESIGN, e) < 0)
		return -1;
	if (o->sure_ppm && (o->sure_ppm < 500000 || o->sure_ppm > 990000))
		return err_set(e, ERR_USAGE, "how sure lies between 50 %% and 99 %%, for option '--sure'");
	if (o->events > EVENTS_MOST)
		return err_set(e, ERR_USAGE, "more than %d designs with events, for option '--events'", EVENTS_MOST);
	return opt_jobs(&o->jobs, DESIGN_JOBS, e);
}

static int design(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct options *o = options;
	const struct design_goals g = { o->reach.v, o->within.v, o->reach.n, o->within.n, o->minimise, o->maximise };
	const char *bounds[DESIGN_BOUNDS];
	struct design_question q = { .backend = &pool_processes, .progress = on_progress };
	struct arena *a = arena_new(0);
	struct machine_conf *c = NULL;
	int rc = -1;

	(void)args;
	if (!a)
		err_nomem(e, "for a design");
	else if (check(o, e) == 0 && design_goals(&g, bounds, &q, e) == 0 &&
	         run_start_parse(o->start, &q.job.how.start, e) == 0 &&
	         run_fidelity_parse(o->fidelity, &q.job.how.fidelity, e) == 0 &&
	         (c = machine_conf_load(o->config, o->sets.v, o->sets.n, e))) {
		q.config = o->config;
		q.sets = o->sets.v;
		q.n_sets = o->sets.n;
		q.axes_file = o->axes;
		q.axes = o->axis.v;
		q.n_axes = (size_t)o->axis.n;
		q.unreal = o->unreal;
		q.forms = o->forms;
		q.events = o->events;
		q.job.jobs = (unsigned)o->jobs;
		q.seed = q.job.how.seed = o->seed;
		q.sure = o->sure_ppm / 1e6;
		rc = with_workload(o, c, &q, a, d, e);
	}
	machine_conf_free(c);
	arena_free(a);
	return rc;
}

int cmd_design(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = {
		.forms = DESIGN_FORMS, .events = DESIGN_EVENTS, .seed = RUN_SEED, .start = "steady", .fidelity = "event"
	};
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG", "the machine that is changed, in YAML" },
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.workload, WORKLOAD_DESIGN) },
		{ 0, "mix", OPT_TEXT, &o.mix, "MIX", CMD_MIX_HELP },
		{ 0, "reach", OPT_LIST, &o.reach, "EXPR",
		  "a comparison that must hold, 'tokens_per_s >= 1500'; may be repeated. Names are those of sweeps" },
		{ 0, "within", OPT_LIST, &o.within, "EXPR",
		  "the same of what it may take, 'power_w <= 150'; may be repeated" },
		{ 0, "minimize", OPT_TEXT, &o.minimise, "EXPR",
		  "of designs that do, which is best; area_mm2 by default where something is to be reached" },
		{ 0, "maximize", OPT_TEXT, &o.maximise, "EXPR",
		  "the same the other way; tokens_per_s where nothing is" },
		{ 0, "sure", OPT_PPM, &o.sure_ppm, "P%",
		  "bounds hold at both ends of each design's interval, in which the truth lies with so much chance: 80 % are the"
		  " intervals that 'npusim run' prints" },
		{ 0, "axes", OPT_READ, &o.axes, "FILE",
		  "what may change: a file with 'axes:' as a sweep's has them ('link' and 'where', too); xN is so many times what the"
		  " machine has. By default configs/design has a list for the machine's kind" },
		{ 0, "axis", OPT_LIST, &o.axis, "KEY=A,B",
		  "one of them: values, xN or FROM..TO; with --axes over the file's; may be repeated" },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE",
		  "change a parameter of the machine first; may be repeated" },
		{ 0, "unreal", OPT_FLAG, &o.unreal, NULL,
		  "also designs that nobody can build: dies over a reticle, more DRAM than their edges have room for" },
		{ 'n', "evaluations", OPT_COUNT, &o.forms, "N", "designs to run in closed form; 300 by default" },
		{ 0, "events", OPT_U64, &o.events, "N",
		  "designs to run with events then, up to 200, and those beside the best, 300 in all; 60 by default. 24,000,000 events that they serve end them, too: a minute of two cores" },
		{ 0, "fidelity", OPT_TEXT, &o.fidelity, "event|analytic",
		  "analytic: in closed form alone; event (default): then the best with events, which count" },
		{ 0, "start", OPT_TEXT, &o.start, "steady|cold|resident", "as for 'npusim run'" },
		{ 'j', "jobs", OPT_COUNT, &o.jobs, "N",
		  "workers; as many as there are processors by default. The answer does not depend on it" },
		{ 0, "seed", OPT_U64, &o.seed, "N", "of everything drawn at random; 1 by default" },
		{ 0, "allow-opaque", OPT_FLAG, &o.allow_opaque, NULL, "as for 'npusim run'" },
		{ 'o', "output", OPT_WRITE, &o.output, "DESIGN.yaml|.html",
		  "write the design there: as a machine's file, or, where the name ends in .html, a page of it for any browser" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim design -c CONFIG (-t T.db | -m MODEL | --mix MIX) --reach EXPR [--minimize EXPR] [--within EXPR]... [options]",
		"The machine that reaches a goal at the least price: of all that the axes allow, that nobody could not build, the one"
		" that meets every --reach and --within and has least of --minimize. A search in closed form learns from each"
		" design that it runs what others are likely to be worth; the best are run again with events, which count. The answer"
		" says what to change, in the order in which it pays, each change beside what held the design before it; which"
		" designs a step away would be better and by what they fail; what the second best costs; and where the best lies at"
		" an axis' end. Exit code 1 when no design reaches the goal: then the nearest is told.",
		"npusim design -c dsocr -m llama-3.2-1b --reach 'tokens_per_s >= 1500'\n"
		"npusim design -c dsocr -m llama-3.2-1b --maximize tokens_per_s --within 'power_w <= 150' --within 'area_mm2 <= 400'\n"
		"npusim design -c dsocr -m llama-3.2-1b --reach 'tokens_per_s >= 500' --sure 80% -o /tmp/design.yaml\n"
		"npusim design -c dsocr -m llama-3.2-1b --reach 'tokens_per_s >= 1500' -o /tmp/design.html\n"
		"npusim design -c dsocr --mix 'llama-3.2-1b:decode:0.9, llama-3.2-1b:prefill:0.1' --reach 'mix.worst_ns <= 2000000'\n"
		"npusim design -c edge -m qwen2-0.5b --reach 'tokens_per_s >= 40' --axis dram.channels=x1,x2,x3,x4 --axis cores=2..16\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, &o.format, design, &o, argc, argv, out, e);
}
