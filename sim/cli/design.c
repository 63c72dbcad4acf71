/* design.c - npusim design: the cheapest machine for a goal. */
#include "sim/cli/design.h"

#include <string.h>

#define EVENTS_MOST 200 /* and as many as lie beside: 300 in all */
#define FORMS_MOST  1000000
#define NOT_SURE    UINT32_MAX /* '--sure' is not given: 0 % is, and is refused */
#define SERVED      60         /* designs that serve requests, each of which takes some fifty steps */

static int check(struct design_opts *o, struct err *e)
{
	if (!o->config)
		return opt_machine_missing(e);
	if (o->mix && workload_source(&o->workload) != WORKLOAD_NONE)
		return err_set(e, ERR_USAGE, "option '--mix' and '-t' or '-m' are two workloads: give one");
	if (!o->mix && workload_check(&o->workload, WORKLOAD_DESIGN, e) < 0)
		return -1;
	if (o->serve && (o->mix || workload_source(&o->workload) != WORKLOAD_MODEL))
		return err_set(e, ERR_USAGE, "requests are served by one model, '-m MODEL': option '--serve'");
	if (o->serve && o->sure_ppm != NOT_SURE)
		return err_set(
			e, ERR_USAGE,
			"an interval is of a step's time, and what is served has none: without '--sure', and '--reach' for as much"
			" more as you want to spare");
	if (!o->forms)
		o->forms = o->serve ? SERVED : DESIGN_FORMS;
	if (!o->fidelity)
		o->fidelity = o->serve ? "analytic" : "event";
	if (o->sure_ppm != NOT_SURE && (o->sure_ppm < 500000 || o->sure_ppm > 990000))
		return err_set(e, ERR_USAGE, "how sure lies between 50 %% and 99 %%, for option '--sure'");
	if (o->forms > FORMS_MOST)
		return err_set(e, ERR_USAGE, "more than %d designs, for option '--evaluations'", FORMS_MOST);
	if (o->events > EVENTS_MOST)
		return err_set(e, ERR_USAGE, "more than %d designs with events, for option '--events'", EVENTS_MOST);
	if (!o->events && strcmp(o->fidelity, "event") == 0)
		return err_set(e, ERR_USAGE,
		               "by events at least one design runs with them, for option '--events';"
		               " '--fidelity analytic' runs none");
	return opt_jobs(&o->jobs, DESIGN_JOBS, e);
}

static int design(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct design_opts *o = options;
	const struct design_goals g = { o->reach.v, o->within.v, o->reach.n, o->within.n, o->minimise, o->maximise };
	const char *bounds[DESIGN_BOUNDS];
	struct design_question q = { .backend = &pool_processes };
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
		q.sure = o->sure_ppm == NOT_SURE ? 0 : (double)o->sure_ppm / 1e6;
		rc = design_answer(o, c, &q, a, d, e);
	}
	machine_conf_free(c);
	arena_free(a);
	return rc;
}

int cmd_design(int argc, char **argv, struct str *out, struct err *e)
{
	struct design_opts o = { .events = DESIGN_EVENTS, .seed = RUN_SEED, .start = "steady", .sure_ppm = NOT_SURE };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG", "the machine that is changed, in YAML" },
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.workload, WORKLOAD_DESIGN) },
		{ 0, "mix", OPT_TEXT, &o.mix, "MIX", CMD_MIX_HELP },
		{ 0, "serve", OPT_TEXT, &o.serve, "TRAFFIC", CMD_SERVE_HELP },
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
		{ 'n', "evaluations", OPT_COUNT, &o.forms, "N",
		  "designs to run in closed form; 300 by default, 60 with --serve" },
		{ 0, "events", OPT_U64, &o.events, "N",
		  "designs to run with events then, up to 200, and those beside the best, 300 in all; 60 by default. 24,000,000 events that they serve end them, too: a minute of two cores" },
		{ 0, "fidelity", OPT_TEXT, &o.fidelity, "event|analytic",
		  "analytic (default with --serve): in closed form alone; event (default): then the best with events, which count" },
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
		"npusim design -c CONFIG (-t T.db | -m MODEL [--serve TRAFFIC] | --mix MIX) --reach EXPR [--minimize EXPR] [--within EXPR]... [options]",
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
		"npusim design -c dsocr -m llama-3.2-1b --serve 'find_rate,slo_ttft=200 ms,slo_tpot=10 ms,number=100' --reach 'max_rate >= 300'\n"
		"npusim design -c edge -m qwen2-0.5b --reach 'tokens_per_s >= 40' --axis dram.channels=x1,x2,x3,x4 --axis cores=2..16\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, &o.format, design, &o, argc, argv, out, e);
}
