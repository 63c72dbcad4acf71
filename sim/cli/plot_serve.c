/* plot_serve.c - npusim plot curve and plot serve: what users and machines get of requests, and a server's own log beside it. */
#include "sim/cli/picture.h"
#include "sim/cli/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/serve/curve.h"
#include "sim/serve/serve_options.h"

#define MACHINES 8
#define BAND     10 /* percent */

struct options {
	const char *config, *serve;
	struct opt_list sets;
	struct workload_spec workload;
	uint64_t jobs;
	struct picture_to plot;
};

/* The traffic in words as what is asked of a machine. */
static int ask(const struct options *o, const char *words, struct arena *a, struct serve_opts *t, struct err *e)
{
	t->ask.workload = o->workload;
	t->ask.sets = o->sets.v;
	t->ask.n_sets = o->sets.n;
	t->ask.jobs = o->jobs;
	t->ask.check = 0;
	return opt_jobs(&t->ask.jobs, STEPS_JOBS, e) < 0 || serve_options_parse(words, a, t, e) < 0
	               ? -1
	               : serve_options(t, e);
}

static int check(const struct options *o, struct err *e)
{
	if (picture_check(&o->plot, e) < 0)
		return -1;
	if (!o->config)
		return opt_machine_missing(e);
	return workload_check(&o->workload, WORKLOAD_SERVE, e);
}

/* --- a curve ---------------------------------------------------------------------------------------------------------- */

/* One machine's, each point with its number of requests at a time. */
static int curve_of(const char *config, struct serve_opts *t, struct plot *p, struct err *e)
{
	struct curve_point v[CURVE_POINTS];
	struct serve_run r = { .o = NULL };
	int n = -1, s;

	t->ask.config = config;
	if (serve_load(&r, &t->ask, e) == 0 && serve_size(&r, e) == 0 && (n = curve_make(&r, v, e)) >= 0) {
		s = plot_series(p, PLOT_DOTTED_LINE, PLOT_AUTO, r.conf->cfg.name);
		for (int i = 0; i < n; i++)
			plot_xy(p, s, v[i].user, v[i].machine);
		for (int i = 0; i < n; i++) {
			char text[16];

			snprintf(text, sizeof text, "%u", v[i].loop);
			plot_text(p, v[i].user, v[i].machine, text);
		}
	}
	serve_free(&r);
	return n < 0 ? -1 : 0;
}

static int plot_curve(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct serve_opts t = SERVE_OPTS_INIT;
	struct arena *a = arena_new(0);
	char text[512], *names, *next;
	struct plot *p = NULL;
	int rc = -1, n = 0;

	(void)args;
	t.curve = true;
	if (!a || !(names = o->config ? arena_strdup(a, o->config) : "")) {
		err_nomem(e, "for a curve");
		goto out;
	}
	if (check(o, e) < 0 || ask(o, o->serve ? o->serve : "number=200", a, &t, e) < 0)
		goto out;
	snprintf(text, sizeof text, "%s; numbers are requests at a time, twice as many from point to point",
	         o->workload.model);
	p = plot_new("What a user gets, and what the machine makes", text);
	plot_axis(p, PLOT_X, PLOT_LINEAR, "tokens/s of a user");
	plot_axis(p, PLOT_Y, PLOT_LOG, "tokens/s of the machine");
	for (; names && n < MACHINES; names = next, n++) {
		if ((next = strchr(names, ',')))
			*next++ = 0;
		if (curve_of(names, &t, p, e) < 0)
			goto out;
	}
	rc = names ? err_set(e, ERR_USAGE, "more than %d machines are not told apart, for option '-c'", MACHINES)
	           : picture_put(&o->plot, p, d->to, e);
	p = names ? p : NULL;
out:
	plot_free(p);
	cfg_free(t.engine_rows);
	arena_free(a);
	return rc;
}

/* --- a log beside it ----------------------------------------------------------------------------------------------------- */

/* Each request's figure: measured across, simulated up. */
static struct plot *beside(const struct serve_run *r, const char *engine)
{
	static const struct {
		enum latency_of of;
		const char *name;
	} shown[] = { { LATENCY_TOTAL, "end to end" },
		      { LATENCY_TTFT, "first token" },
		      { LATENCY_TPOT, "each one more" } };
	char text[512];
	struct plot *p;

	snprintf(text, sizeof text, "%s on %s%s%s: %zu requests; the band is %d %%", r->own.w.model->name,
	         r->conf->cfg.name, engine ? " under " : "", engine ? engine : "", r->arrivals.n, BAND);
	p = plot_new("Requests, measured beside simulated", text);
	plot_axis(p, PLOT_X, PLOT_LOG, "measured (ms)");
	plot_axis(p, PLOT_Y, PLOT_LOG, "simulated (ms)");
	plot_diagonal(p, BAND);
	for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
		const struct latency_off *off = &r->beside[shown[k].of];
		int s;

		if (!off->n)
			continue;
		snprintf(text, sizeof text, "%s, %.1f %% off in the mean, %+.1f %% of the medians", shown[k].name,
		         off->mean, off->p50);
		s = plot_series(p, PLOT_POINTS, PLOT_AUTO, text);
		for (size_t i = 0; i < r->arrivals.n; i++) {
			const ps_t was = latency_measured(shown[k].of, &r->arrivals.v[i]),
				   is = latency_one(shown[k].of, &r->arrivals.v[i], &r->result.v[i]);

			if (was != PS_NEVER && is != PS_NEVER)
				plot_xy(p, s, (double)was / 1e9, (double)is / 1e9);
		}
	}
	return p;
}

static int plot_serve(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct serve_opts t = SERVE_OPTS_INIT;
	struct serve_run r = { .o = NULL };
	struct arena *a = arena_new(0);
	int rc = -1;

	(void)args;
	t.ask.config = o->config;
	if (!a)
		err_nomem(e, "for a picture");
	else if (check(o, e) == 0 && o->serve && ask(o, o->serve, a, &t, e) == 0 && serve_load(&r, &t.ask, e) == 0) {
		if (!r.arrivals.measured)
			err_set(e, ERR_USAGE,
			        "the list has no measured_ttft_ms and measured_total_ms to be set beside: option '--serve"
			        " requests=LOG.csv'");
		else if (serve_size(&r, e) == 0 && serve_steps(&r, NULL, e) == 0 && serve_sum(&r, e) == 0)
			rc = picture_put(&o->plot, beside(&r, t.engine_rows ? t.preset.name : NULL), d->to, e);
	} else if (!o->serve && !e->kind) {
		err_set(e, ERR_USAGE, "the log is missing: --serve 'requests=LOG.csv,engine=vllm'");
	}
	serve_free(&r);
	cfg_free(t.engine_rows);
	arena_free(a);
	return rc;
}

#define ROWS(o, c, what) \
	{ 'c', "config", OPT_READ, &(o).config, c, what }, \
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &(o).workload, WORKLOAD_SERVE) }, \
		{ 0, "serve", OPT_TEXT, &(o).serve, "TRAFFIC", CMD_SERVE_HELP }, \
		{ 's',       "set",       OPT_SETS, \
		  &(o).sets, "KEY=VALUE", "change a parameter of the machine first; may be repeated" }, \
		{ 'j', "jobs", OPT_COUNT, &(o).jobs, "N", "workers; as many as there are processors by default" }, \
		PICTURE_OPTS(&(o).plot), \
	{ \
		.type = OPT_END \
	}

int cmd_plot_curve(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .config = NULL };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = { ROWS(o, "CONFIG,...", "machines, in YAML") };
	const struct opt_cmd cmd = {
		"npusim plot curve -c CONFIG,... -m MODEL -o FILE [--serve TRAFFIC] [options]",
		"Draws what 'npusim serve --curve' finds: the tokens a second that each user gets beside those that the machine makes, with 1,"
		" 2, 4, ... requests at a time. A line a machine; up and to the right is better." PICTURE_NEEDS,
		"npusim plot curve -c dsocr -m llama-3.2-1b --serve 'number=100,output=32' -o /tmp/curve.svg\n"
		"npusim plot curve -c dsocr,h100 -m llama-3.2-1b --serve 'number=64,output=16,max_batch=16' -o /tmp/curve.png\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, NULL, plot_curve, &o, argc, argv, out, e);
}

int cmd_plot_serve(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .config = NULL };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = { ROWS(o, "CONFIG", "the machine, in YAML") };
	const struct opt_cmd cmd = {
		"npusim plot serve -c CONFIG -m MODEL --serve 'requests=LOG.csv,engine=ENGINE' -o FILE [options]",
		"Draws requests that a real server answered beside what is simulated of them: time to the first token, of each one more and"
		" to the last, a dot a request. The list has measured_ttft_ms and measured_total_ms ('npusim help requests')." PICTURE_NEEDS,
		"npusim plot serve -c rtx4090 -m llama-3.1-8b --serve 'requests=/tmp/log.csv,engine=vllm' -o /tmp/serve.svg\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, NULL, plot_serve, &o, argc, argv, out, e);
}
