/* limits.c - npusim limits: what more of each part would buy, and what less of it would cost. */
#include "sim/cli/cmd.h"

#include <string.h>

#include "sim/base/path.h"
#include "sim/base/pool.h"
#include "sim/cli/mixed.h"
#include "sim/report/limits_doc.h"
#include "sim/report/limits_store.h"
#include "sim/serve/serve_options.h"
#include "sim/study/split.h"
#include "sim/ui/progress.h"
#include "workloads/known.h"

#define PAIRS_MOST 10000

struct options {
	const char *config, *start, *fidelity, *results, *format, *mix, *serve;
	enum run_start run_start;
	struct workload_spec workload;
	struct opt_list sets;
	uint32_t step_ppm;
	uint64_t seed, jobs, pairs;
};

static void on_progress(void *arg, size_t done, size_t of)
{
	(void)of;
	progress_set(arg, done);
}

static void limits_show(const struct options *o, const struct limits_question *q, const struct workload *w,
                        const struct limits_result *r, struct doc *d)
{
	const struct workload_part part = workload_part(w);
	struct str text = STR_INIT;
	struct limits_doc v = { r, q->config, NULL, run_fidelity_name(q->run.fidelity), q->step_ppm };

	if (o->serve)
		str_addf(&text, "a request from its arrival to its last token, %s%s", o->serve,
		         workload_is_part(&part) ? ", " : "");
	workload_part_text(&part, &text);
	v.part = text.len ? str_c(&text) : NULL;
	limits_doc(d, &v);
	doc_free(d, &text);
}

static struct limits_question question(const struct options *o, const struct op_stream *s)
{
	return (struct limits_question){
		.config = o->config,
		.sets = o->sets.v,
		.n_sets = o->sets.n,
		.stream = s,
		.run = { .start = o->run_start,
		         .fidelity = o->fidelity && strcmp(o->fidelity, "event") == 0 ? RUN_EVENT : RUN_ANALYTIC,
		         .seed = o->seed },
		.step_ppm = o->step_ppm,
		.jobs = (unsigned)o->jobs,
		.backend = &pool_processes,
		.pairs = (size_t)o->pairs,
		.events = !o->fidelity && !o->serve,
		.progress = on_progress
	};
}

static int limits_check_options(struct options *o, struct err *e)
{
	if (!o->config)
		return opt_machine_missing(e);
	if ((o->mix || o->serve) && o->results)
		return err_set(
			e, ERR_USAGE,
			"a run that is stored is of one step, and '%s' is of several: '--format html >FILE.html' is its page",
			o->mix ? "--mix" : "--serve");
	if (o->mix && workload_source(&o->workload) != WORKLOAD_NONE)
		return err_set(e, ERR_USAGE, "option '--mix' and '-t' or '-m' are two workloads: give one");
	if (o->serve && (o->mix || workload_source(&o->workload) != WORKLOAD_MODEL))
		return err_set(e, ERR_USAGE, "requests are served by one model, '-m MODEL': option '--serve'");
	if (!o->mix && workload_check(&o->workload, WORKLOAD_LIMITS, e) < 0)
		return -1;
	if (o->start && run_start_parse(o->start, &o->run_start, e) < 0)
		return -1;
	if (o->fidelity && strcmp(o->fidelity, "event") != 0 && strcmp(o->fidelity, "analytic") != 0)
		return err_set(e, ERR_USAGE, "unknown fidelity '%s': it is event or analytic", o->fidelity);
	if (o->step_ppm < 1000 || o->step_ppm > 1000000)
		return err_set(e, ERR_USAGE, "a step lies between 0.1 %% and 100 %%, for option '--step'");
	if (opt_jobs(&o->jobs, LIMITS_JOBS, e) < 0)
		return -1;
	if (o->pairs > PAIRS_MOST)
		return err_set(e, ERR_USAGE, "more than %d pairs, for option '--pairs'", PAIRS_MOST);
	return 0;
}

static int limits_run_shown(const struct options *o, struct limits_question *q, struct workload *w, struct resdb *db,
                            struct doc *d, struct err *e)
{
	struct limits_result r;
	struct progress *p = progress_new("limits", "runs", 0);
	int rc;

	q->arg = p;
	if ((rc = limits_run(q, w->in.arena, &r, e)) == 0) {
		limits_show(o, q, w, &r, d);
		rc = db ? limits_store(db, q, w, &r, e) : 0;
	}
	progress_free(p);
	return rc;
}

static int limits_mixed(const struct options *o, struct doc *d, struct err *e)
{
	struct limits_part parts[MIX_PARTS];
	struct limits_question q = question(o, NULL);
	struct arena *a = arena_new(0);
	struct mixed m = { .n = 0 };
	struct mix mix;
	int rc = -1;

	if (!a)
		err_nomem(e, "for a mix");
	else if (mix_parse(o->mix, a, &mix, e) == 0 && mixed_read(&mix, NULL, false, &m, e) == 0) {
		for (size_t i = 0; i < m.n; i++)
			parts[i] = (struct limits_part){ m.parts[i].stream, m.parts[i].weight };
		q.stream = parts[0].stream;
		q.parts = parts;
		q.n_parts = m.n;
		rc = limits_run_shown(o, &q, &m.w[0], NULL, d, e);
	}
	mixed_free(&m);
	arena_free(a);
	return rc;
}

/* Requests in place of a step; of the largest rate there is a command. */
static int traffic(const struct options *o, const struct workload_spec *spec, struct serve_opts *t, struct arena *a,
                   struct err *e)
{
	t->ask.workload = *spec;
	if (serve_options_parse(o->serve, a, t, e) < 0 || serve_options(t, e) < 0)
		return -1;
	return t->find ? err_set(e, ERR_USAGE,
	                         "what raises the largest rate is asked by 'npusim serve --find-rate --limits'")
	               : 0;
}

/* One split, that of the machine as it is: what is moved afterwards runs split alike. */
static int settle(const struct limits_question *q, struct workload_spec *spec, struct arena *a, struct err *e)
{
	struct machine_conf *c;
	uint32_t tried;
	int rc = -1;

	if (!split_asked(spec))
		return 0;
	if ((c = machine_conf_load(q->config, q->sets, q->n_sets, e)))
		rc = split_settle(spec, c, &q->run, a, &tried, e);
	machine_conf_free(c);
	return rc;
}

static int limits(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct options *o = options;
	struct resdb *db = NULL;
	struct workload w = { .model = NULL };
	struct serve_opts t = SERVE_OPTS_INIT;
	struct workload_spec spec = o->workload;
	struct limits_question q;
	struct arena *texts;
	int rc = -1;

	(void)args;
	if (limits_check_options(o, e) < 0)
		return -1;
	if (o->mix)
		return limits_mixed(o, d, e);
	if (!(texts = arena_new(0)))
		return err_nomem(e, "for a split");
	q = question(o, &w.stream);
	if ((!o->results || (db = res_open(o->results, DB_WRITE, e))) && settle(&q, &spec, texts, e) == 0 &&
	    cmd_workload_read(&spec, NULL, &w, e) == 0 && ops_some_known(&w.stream, e) == 0 &&
	    (!o->serve || traffic(o, &spec, &t, texts, e) == 0)) {
		q.serve = o->serve ? &t.ask : NULL;
		q.served = traffic_point;
		rc = limits_run_shown(o, &q, &w, db, d, e);
	}
	rc = res_close(db, rc, e);
	cfg_free(t.engine_rows);
	workload_free(&w);
	arena_free(texts);
	return rc;
}

int cmd_limits(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .step_ppm = 1000000, .seed = RUN_SEED, .pairs = LIMITS_PAIRS };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG", "the machine, in YAML" },
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.workload, WORKLOAD_LIMITS) },
		{ 0, "mix", OPT_TEXT, &o.mix, "MIX", CMD_MIX_HELP },
		{ 0, "serve", OPT_TEXT, &o.serve, "TRAFFIC",
		  CMD_SERVE_HELP ". What is saved is of a request's time, in closed form" },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE",
		  "change a parameter of the machine first; may be repeated" },
		{ 0, "step", OPT_PPM, &o.step_ppm, "FRACTION",
		  "how much more of each, and how much less by the same factor: 100 % by default, twice and half. Counts and"
		  " powers of two move by the next step they can; what that saves is scaled to FRACTION" },
		{ 0, "pairs", OPT_U64, &o.pairs, "N",
		  "try up to N pairs, those with the best chance first; 100 by default, 0: none" },
		{ 'j', "jobs", OPT_COUNT, &o.jobs, "N",
		  "workers; as many as there are processors by default. The answer does not depend on it" },
		{ 0, "start", OPT_TEXT, &o.start, "steady|cold|resident", "as for 'npusim run'" },
		{ 0, "fidelity", OPT_TEXT, &o.fidelity, "event|analytic",
		  "how all of them are run: with events, or in closed form, which answers several times as fast and misses what is"
		  " smaller than it is off. By default in closed form, and with events, which then count, what is too near the design"
		  " for it (under twice what the two are apart there) and the best: ten times as long" },
		{ 0, "seed", OPT_U64, &o.seed, "N", "of everything drawn at random; 1 by default" },
		{ 'o', "output", OPT_WRITE, &o.results, "R.db",
		  "store the design as a run in this results database, as"
		  " 'npusim run' would, and what was found with it: 'npusim report' shows both. Of '--mix' and '--serve' the page is"
		  " '--format html >FILE.html'" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim limits -c CONFIG (-t T.db [--range NAME] | -m MODEL [--phase PHASE] [--batch B] [--context N]) [--set KEY=VALUE]..."
		" [options]",
		"What buys most on this design and workload, and what costs nothing to have less of. Every amount (a size, a rate, a"
		" number of units, a latency) is doubled and halved, choices are taken otherwise (fusion, dispatch.dynamic,"
		" matrix.dataflow, formats of weights and KV cache), parts are added or taken out, one at a time; then pairs that may"
		" pay only together, such as more DRAM with a wider DMA. The answer stands on top. A narrower format may also change"
		" what a model answers; that is not looked at.",
		"npusim limits -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1\n"
		"npusim limits -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1 -o /tmp/r.db\n"
		"npusim report /tmp/r.db -o /tmp/run.html\n"
		"npusim limits -c configs/npu/dsocr.yaml -m llama-3.1-8b --batch 16 --context 2048\n"
		"npusim limits -c configs/npu/edge.yaml -m qwen2-0.5b --serve 'rate=10/s,number=40' --pairs 0\n"
		"npusim limits -c configs/npu/edge.yaml -t /tmp/t.db --range decode_step_1 --step 10% --format csv\n"
		"npusim limits -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1 --fidelity event -j 2\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, &o.format, limits, &o, argc, argv, out, e);
}
