/* limits.c - npusim limits: what more of each part would buy, and what less of it would cost. */
#define _POSIX_C_SOURCE 200809L /* sysconf */
#include "sim/report/run_verdict.h"

#include <string.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "sim/base/pool.h"
#include "sim/cli/cmd.h"
#include "sim/report/limits_doc.h"
#include "sim/ui/progress.h"
#include "workloads/known.h"

#define PAIRS_MOST 10000

struct options {
	const char *config, *start, *fidelity, *results, *format;
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

/* The design itself as a run, as `npusim run` would store it, with what was found about it. */
static int store(struct resdb *db, const struct limits_question *q, const struct workload *w,
                 const struct limits_result *x, struct err *e)
{
	struct res_limit *rows = arena_array(w->in.arena, x->n + 1, sizeof *rows);
	const struct res_limits l = { q->step_ppm, x->n, rows };
	struct machine_conf *c = machine_conf_load(q->config, q->sets, q->n_sets, e);
	struct says_list says = { .n = 0 };
	struct run_opts how = q->run;
	struct run_result result;
	struct run_report r = { .conf = c,
		                .says = &says,
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
		says_run(&c->cfg, &result, &says);
		keep_verdict(&r, &result);
		if (run_store(&r, db, 0, w->in.arena, e) == 0)
			rc = res_put_limits(db, r.stored, &l, e);
	}
	machine_conf_free(c);
	return rc;
}

static void show(const struct limits_question *q, const struct workload *w, const struct limits_result *r,
                 enum out_format f, struct str *out)
{
	const struct workload_part part = workload_part(w);
	struct str text = STR_INIT;
	struct limits_doc v = { r, q->config, NULL, fidelity_name(q->run.fidelity), q->step_ppm };
	struct doc d;

	workload_part_text(&part, &text);
	v.part = text.len ? str_c(&text) : NULL;
	cmd_doc(&d, f, out);
	limits_doc(&d, &v);
	out->failed |= text.failed;
	str_free(&text);
}

static struct limits_question question(const struct options *o, const struct op_stream *s)
{
	return (struct limits_question){
		.config = o->config,
		.sets = o->sets.v,
		.n_sets = o->sets.n,
		.stream = s,
		.run = { .start = o->start && strcmp(o->start, "cold") == 0 ? RUN_COLD : RUN_STEADY,
		         .fidelity = o->fidelity && strcmp(o->fidelity, "event") == 0 ? RUN_EVENT : RUN_ANALYTIC,
		         .seed = o->seed },
		.step_ppm = o->step_ppm,
		.jobs = (unsigned)o->jobs,
		.crew = &pool_processes,
		.pairs = (size_t)o->pairs,
		.events = !o->fidelity,
		.progress = on_progress
	};
}

static int limits(const struct options *o, enum out_format f, struct str *out, struct err *e)
{
	struct resdb *db = o->results ? res_open(o->results, DB_WRITE, e) : NULL;
	struct workload w = { .model = NULL };
	struct limits_question q = question(o, &w.stream);
	struct limits_result r;
	struct progress *p = NULL;
	int rc = -1;

	if ((o->results && !db) || cmd_workload_read(&o->workload, NULL, &w, e) < 0 || ops_some_known(&w.stream, e) < 0)
		goto out;
	q.arg = p = progress_new("limits", "runs", 0);
	if (limits_run(&q, w.in.arena, &r, e) < 0)
		goto out;
	show(&q, &w, &r, f, out);
	rc = db ? store(db, &q, &w, &r, e) : 0;
out:
	progress_free(p);
	rc = res_close(db, rc, e);
	workload_free(&w);
	return rc;
}

static int check_options(struct options *o, enum out_format *f, struct err *e)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!o->config)
		return err_set(e, ERR_USAGE, "the machine is missing: -c CONFIG.yaml");
	if (workload_check(&o->workload, WORKLOAD_LIMITS, e) < 0)
		return -1;
	if (o->start && strcmp(o->start, "steady") != 0 && strcmp(o->start, "cold") != 0)
		return err_set(e, ERR_USAGE, "unknown start '%s': it is steady or cold", o->start);
	if (o->fidelity && strcmp(o->fidelity, "event") != 0 && strcmp(o->fidelity, "analytic") != 0)
		return err_set(e, ERR_USAGE, "unknown fidelity '%s': it is event or analytic", o->fidelity);
	if (o->step_ppm < 1000 || o->step_ppm > 1000000)
		return err_set(e, ERR_USAGE, "a step lies between 0.1 %% and 100 %%, for option '--step'");
	if (o->jobs == 0)
		o->jobs = cpus < 1 ? 1 : cpus < LIMITS_JOBS ? (uint64_t)cpus : LIMITS_JOBS;
	if (o->jobs > LIMITS_JOBS)
		return err_set(e, ERR_USAGE, "more than %d workers, for option '--jobs'", LIMITS_JOBS);
	if (o->pairs > PAIRS_MOST)
		return err_set(e, ERR_USAGE, "more than %d pairs, for option '--pairs'", PAIRS_MOST);
	return cmd_format(o->format, f, e);
}

int cmd_limits(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .step_ppm = 1000000, .seed = RUN_SEED, .pairs = LIMITS_PAIRS };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG", "the machine, in YAML" },
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.workload, WORKLOAD_LIMITS) },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE",
		  "change a parameter of the machine first; may be repeated" },
		{ 0, "step", OPT_PPM, &o.step_ppm, "FRACTION",
		  "how much more of each, and how much less by the same factor: 100 % by default, twice and half. Counts and"
		  " powers of two move by the next step they can; what that saves is scaled to FRACTION" },
		{ 0, "pairs", OPT_U64, &o.pairs, "N",
		  "try up to N pairs, those with the best chance first; 100 by default, 0: none" },
		{ 'j', "jobs", OPT_COUNT, &o.jobs, "N",
		  "workers; as many as there are processors by default. The answer does not depend on it" },
		{ 0, "start", OPT_TEXT, &o.start, "steady|cold", "steady (default) or cold, as for 'npusim run'" },
		{ 0, "fidelity", OPT_TEXT, &o.fidelity, "event|analytic",
		  "how all of them are run: with events, or in closed form, which answers several times as fast and misses what is"
		  " smaller than it is off. By default in closed form, and with events, which then count, what is too near the design"
		  " for it (under twice what the two are apart there) and the best: ten times as long" },
		{ 0, "seed", OPT_U64, &o.seed, "N", "of everything drawn at random; 1 by default" },
		{ 'o', "output", OPT_WRITE, &o.results, "R.db",
		  "store the design as a run in this results database, as"
		  " 'npusim run' would, and what was found with it: 'npusim report' shows both" },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP },
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
		"npusim limits -c configs/npu/edge.yaml -t /tmp/t.db --range decode_step_1 --step 10% --format csv\n"
		"npusim limits -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1 --fidelity event -j 2\n",
		opts,
		0,
		0
	};
	struct opt_list args = { NULL, 0 };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = check_options(&o, &f, e)) == 0)
		rc = limits(&o, f, out, e);
	opt_list_free(&args);
	opt_list_free(&o.sets);
	return rc < 0 ? -1 : 0;
}
