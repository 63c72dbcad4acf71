/* limits.c - npusim limits: what a little more of each resource would buy. */
#include "sim/cmd/run.h"

#include <string.h>

#include "sim/sweep/limits.h"
#include "sim/ui/progress.h"
#include "workloads/rules.h"

struct options {
	const char *config, *trace, *range, *start, *fidelity, *rules, *results, *format;
	struct opt_list sets;
	uint32_t step_ppm;
	uint64_t seed;
};

static void on_progress(void *arg, size_t done, size_t of)
{
	(void)of;
	progress_set(arg, done);
}

static void table(const struct limits_result *r, const struct options *o, struct str *out)
{
	static const struct out_col cols[] = {
		{ "parameter", OUT_TEXT, 0 }, { "now", OUT_TEXT, 0 },      { "then", OUT_TEXT, 0 },
		{ "step_pct", OUT_REAL, 1 },  { "total_us", OUT_REAL, 3 }, { "gain_pct", OUT_REAL, 2 },
		{ "note", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < r->n; i++) {
		const struct limits_row *x = &r->rows[i];

		out_text(t, x->key);
		out_text(t, x->now);
		out_text(t, x->then);
		out_real(t, 100 * x->step);
		if (x->refused) {
			out_null(t);
			out_null(t);
		} else {
			out_real(t, cmd_ps_us(x->total_ps));
			out_real(t, 100 * limits_gain(r, x, o->step_ppm));
		}
		out_text(t, x->refused ? x->refused : "");
	}
	out_table_write(t, o->format && strcmp(o->format, "csv") == 0 ? OUT_CSV : OUT_TABLE, out);
	out_table_free(t);
}

static void json(const struct limits_result *r, const struct options *o, struct str *out)
{
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_real(&j, "total_us", cmd_ps_us(r->base_ps));
	out_json_real(&j, "per", o->step_ppm / 1e6);
	out_json_text(&j, "fidelity", o->fidelity ? o->fidelity : "event");
	out_json_text(&j, "roofline_bound", res_name(r->bound));
	out_json_open(&j, "limits", '[');
	for (size_t i = 0; i < r->n; i++) {
		const struct limits_row *x = &r->rows[i];

		out_json_open(&j, NULL, '{');
		out_json_text(&j, "key", x->key);
		out_json_text(&j, "now", x->now);
		out_json_text(&j, "then", x->then);
		out_json_real(&j, "step", x->step);
		if (x->refused) {
			out_json_null(&j, "total_us");
			out_json_null(&j, "gain_pct");
		} else {
			out_json_real(&j, "total_us", cmd_ps_us(x->total_ps));
			out_json_real(&j, "gain_pct", 100 * limits_gain(r, x, o->step_ppm));
		}
		out_json_text(&j, "refused", x->refused);
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_close(&j, '}');
	str_addc(out, '\n');
}

/* The design itself as a run, with what was found about it. */
static int store(struct resdb *db, const struct limits_question *q, const struct rules *rules,
                 const struct cmd_trace *t, const struct limits_result *x, struct err *e)
{
	struct res_limit *rows = arena_array(t->arena, x->n + 1, sizeof *rows);
	const struct res_limits l = { q->step_ppm, x->n, rows };
	struct machine_conf *c = machine_conf_load(q->config, q->sets, q->n_sets, e);
	struct says_list says = { .n = 0 };
	struct run_result result;
	struct run_report r = { .conf = c,
		                .says = &says,
		                .trace = &t->trace,
		                .stream = q->stream,
		                .result = &result,
		                .start = q->run.start,
		                .seed = q->run.seed,
		                .rules_hash = rules_hash(rules) };
	int rc = -1;

	memset(&result, 0, sizeof result);
	for (size_t i = 0; rows && i < x->n; i++)
		rows[i] = (struct res_limit){ x->rows[i].key,  x->rows[i].now,      x->rows[i].then,
			                      x->rows[i].step, x->rows[i].total_ps, x->rows[i].refused };
	if (!rows) {
		err_set(e, ERR_NOMEM, "no memory to store the limits");
	} else if (c && run_stream(q->stream, c, &q->run, t->arena, &result, e) == 0) {
		says_run(&c->cfg, &result, &says);
		if (run_store(&r, db, 0, t->arena, e) == 0)
			rc = res_put_limits(db, r.stored, &l, e);
	}
	machine_conf_free(c);
	return rc;
}

static int limits(const struct options *o, enum out_format f, struct str *out, struct err *e)
{
	const struct run_opts how = { .start = o->start && strcmp(o->start, "cold") == 0 ? RUN_COLD : RUN_STEADY,
		                      .fidelity = o->fidelity && strcmp(o->fidelity, "analytic") == 0 ? RUN_ANALYTIC
		                                                                                      : RUN_EVENT,
		                      .seed = o->seed };
	struct resdb *db = o->results ? res_open(o->results, DB_WRITE, e) : NULL;
	struct rules *rules = o->results && !db ? NULL : rules_load(o->rules, e);
	struct lower_stats lowered;
	struct op_stream s;
	struct limits_question q = { .config = o->config,
		                     .sets = o->sets.v,
		                     .n_sets = o->sets.n,
		                     .stream = &s,
		                     .run = how,
		                     .step_ppm = o->step_ppm,
		                     .progress = on_progress };
	struct limits_result r;
	struct cmd_trace t = { .arena = NULL };
	struct progress *p = NULL;
	int rc = -1;

	if (!rules || cmd_trace_load(o->trace, o->range, &t, e) < 0 ||
	    lower_trace(&t.trace, rules, t.arena, &s, &lowered, e) < 0)
		goto out;
	q.arg = p = progress_new("limits", "parameters", 0);
	if (limits_run(&q, t.arena, &r, e) < 0)
		goto out;
	if (f == OUT_JSON) {
		json(&r, o, out);
	} else {
		if (f == OUT_TABLE)
			str_addf(
				out,
				"%s: %.3f us%s, roofline bound by %s; gain_pct is per %g %% more of the parameter, each alone\n\n",
				o->config, cmd_ps_us(r.base_ps), how.fidelity == RUN_ANALYTIC ? " (closed form)" : "",
				res_name(r.bound), o->step_ppm / 1e4);
		table(&r, o, out);
	}
	rc = db ? store(db, &q, rules, &t, &r, e) : 0;
out:
	progress_free(p);
	res_free(db);
	cmd_trace_free(&t);
	rules_free(rules);
	return rc;
}

static int check_options(const struct options *o, enum out_format *f, struct err *e)
{
	if (!o->config)
		return err_set(e, ERR_USAGE, "the machine is missing: -c CONFIG.yaml");
	if (!o->trace)
		return err_set(e, ERR_USAGE, "the workload is missing: -t T.db, which 'npusim trace import' makes");
	if (o->start && strcmp(o->start, "steady") != 0 && strcmp(o->start, "cold") != 0)
		return err_set(e, ERR_USAGE, "unknown start '%s': it is steady or cold", o->start);
	if (o->fidelity && strcmp(o->fidelity, "event") != 0 && strcmp(o->fidelity, "analytic") != 0)
		return err_set(e, ERR_USAGE, "unknown fidelity '%s': it is event or analytic", o->fidelity);
	if (o->step_ppm < 1000 || o->step_ppm > 1000000)
		return err_set(e, ERR_USAGE, "a step lies between 0.1 %% and 100 %%, for option '--step'");
	return cmd_format(o->format, f, e);
}

int cmd_limits(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .step_ppm = 100000, .seed = 1 };
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG", "the machine, in YAML" },
		{ 't', "trace", OPT_READ, &o.trace, "T.db",
		  "the workload: a trace database that 'npusim trace import' made" },
		{ 0, "range", OPT_TEXT, &o.range, "NAME", "only what was launched inside this annotation" },
		{ 's', "set", OPT_LIST, &o.sets, "KEY=VALUE",
		  "change a parameter of the machine first; may be repeated" },
		{ 0, "step", OPT_PPM, &o.step_ppm, "FRACTION",
		  "how much more of each: 10 % by default. Counts and powers of"
		  " two move by the next step they can; the gain is scaled to FRACTION" },
		{ 0, "start", OPT_TEXT, &o.start, "steady|cold", "steady (default) or cold, as for 'npusim run'" },
		{ 0, "fidelity", OPT_TEXT, &o.fidelity, "event|analytic",
		  "event (default) or analytic, as for 'npusim run':"
		  " the closed form answers some twenty times as fast, and misses what is smaller than it is off" },
		{ 0, "seed", OPT_U64, &o.seed, "N", "of everything drawn at random; 1 by default" },
		{ 0, "rules", OPT_READ, &o.rules, "FILE", "the table that makes ops of kernels" },
		{ 'o', "output", OPT_WRITE, &o.results, "R.db",
		  "store the design as a run in this results database, as"
		  " 'npusim run' would, and what was found with it: 'npusim report' shows both" },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim limits -c CONFIG -t T.db [--range NAME] [--set KEY=VALUE]... [options]",
		"What 10 % more of each resource would buy on this design and workload: every amount (a size, a rate, a number"
		" of units) is raised and every latency lowered, one at a time, and the workload is run again. The parameter"
		" to buy next is on top. Two that only pay together show no gain here.",
		"npusim limits -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1\n"
		"npusim limits -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1 -o /tmp/r.db\n"
		"npusim report /tmp/r.db -o /tmp/run.html\n"
		"npusim limits -c configs/npu/edge.yaml -t /tmp/t.db --range decode_step_1 --step 50% --format csv\n"
		"npusim limits -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1 --fidelity analytic\n",
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
