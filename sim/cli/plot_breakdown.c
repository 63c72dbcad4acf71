/* plot_breakdown.c - npusim plot breakdown: stored runs by kind of op, beside what was measured. */
#include "sim/cli/picture.h"
#include "sim/cli/plot.h"
#include "sim/report/kinds.h"
#include "sim/report/labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/db/res.h"
#include "sim/base/cfg.h"

#define RUNS_MAX    4  /* side by side in one category */
#define KINDS_SHOW  12 /* the rest is one bar */
#define RUNS_MEMORY ((size_t)4 << 30)

struct options {
	const char *results;
	struct picture_to plot;
};

struct kind {
	const char *name;
	uint64_t measured, run[RUNS_MAX];
};

/* A carried op has no simulated time; its measured one is left out too. */
static void add_run(const struct res_stored *r, int run, struct kind *kinds, int *n)
{
	struct kinds_row rows[OP_KINDS];
	const size_t all = kinds_of(r, rows);

	for (size_t i = 0; i < all; i++) {
		int at = 0;

		while (at < *n && strcmp(kinds[at].name, rows[i].name) != 0)
			at++;
		if (at == OP_KINDS || rows[i].carried == rows[i].ops)
			continue;
		if (at == *n)
			kinds[(*n)++] = (struct kind){ .name = rows[i].name };
		kinds[at].run[run] += rows[i].span_ps;
		if (run == 0)
			kinds[at].measured += rows[i].measured_ns * 1000;
	}
}

static uint64_t longest(const struct kind *k)
{
	uint64_t most = k->measured;

	for (int i = 0; i < RUNS_MAX; i++)
		most = k->run[i] > most ? k->run[i] : most;
	return most;
}

static int longest_first(const void *x, const void *y)
{
	const struct kind *a = x, *b = y;
	uint64_t la = longest(a), lb = longest(b);

	return la != lb ? (la > lb ? -1 : 1) : strcmp(a->name, b->name);
}

static void bar(struct plot *p, int series, int category, uint64_t ps, uint64_t measured)
{
	char note[64];

	if (measured && ps)
		snprintf(note, sizeof note, "%.4g (%.3gx)", unit_ps_us(ps), (double)measured / (double)ps);
	else
		snprintf(note, sizeof note, "%.4g", unit_ps_us(ps));
	plot_bar(p, series, category, unit_ps_us(ps), note);
}

static struct plot *plot_breakdown_chart(const struct res_stored *runs, const char *const *names, int n_runs)
{
	struct kind kinds[OP_KINDS], rest = { .name = "the rest" };
	const bool measured = runs[0].workload.measured_ns > 0;
	struct str sub = STR_INIT;
	struct plot *p;
	int series[RUNS_MAX + 1], n = 0;
	char label[256];

	for (int i = 0; i < n_runs; i++)
		add_run(&runs[i], i, kinds, &n);
	qsort(kinds, (size_t)n, sizeof *kinds, longest_first);
	str_addf(&sub, "%s%s%s", runs[0].workload.range ? runs[0].workload.range : "the whole trace",
	         measured ? "; in brackets how many times faster than measured" : "", "");
	p = plot_new("Time by kind of op", str_c(&sub));
	str_free(&sub);
	plot_axis(p, PLOT_X, PLOT_LINEAR, "time (us)");
	snprintf(label, sizeof label, "measured, %.6g us", unit_us((int64_t)runs[0].workload.measured_ns));
	series[0] = measured ? plot_series(p, PLOT_BARS, PLOT_GREY, label) : -1;
	for (int i = 0; i < n_runs; i++) {
		snprintf(label, sizeof label, "%s, %.6g us", names[i], unit_ps_us(runs[i].run.total_ps));
		series[i + 1] = plot_series(p, PLOT_BARS, PLOT_AUTO, label);
	}
	for (int i = n > KINDS_SHOW + 1 ? KINDS_SHOW : n; i < n; i++) {
		rest.measured += kinds[i].measured;
		for (int k = 0; k < n_runs; k++)
			rest.run[k] += kinds[i].run[k];
	}
	if (n > KINDS_SHOW + 1) {
		kinds[KINDS_SHOW] = rest;
		n = KINDS_SHOW + 1;
	}
	for (int i = 0; i < n; i++) {
		int c = plot_category(p, kinds[i].name);

		if (measured)
			bar(p, series[0], c, kinds[i].measured, 0);
		for (int k = 0; k < n_runs; k++)
			bar(p, series[k + 1], c, kinds[i].run[k], kinds[i].measured);
	}
	return p;
}

static int read_runs(const struct options *o, const struct opt_list *args, struct arena *a, struct res_stored *runs,
                     struct err *e)
{
	struct resdb *db = res_open(o->results, DB_READ, e);
	int rc = db ? 0 : -1;

	for (int i = 0; rc == 0 && i < args->n; i++) {
		struct err inner = ERR_INIT;
		uint64_t id = 0;

		if (cfg_parse_value(CFG_T_U64, args->v[i], &id, &inner) < 0 || id == 0 || id > INT64_MAX)
			rc = err_set(e, ERR_USAGE, "'%s' is no number of a run: 'npusim compare -r R.db' lists them",
			             args->v[i]);
		else if ((rc = res_get(db, (int64_t)id, a, &runs[i], e)) == 0 &&
		         runs[i].workload_id != runs[0].workload_id)
			rc = err_set(e, ERR_USAGE, "runs %" PRId64 " and %" PRId64 " are over different workloads",
			             runs[0].run.id, runs[i].run.id);
	}
	res_free(db);
	return rc;
}

static int name_them(const struct res_stored *runs, int n, struct arena *a, const char **names, struct err *e)
{
	const struct res_stored *v[RUNS_MAX];

	for (int i = 0; i < n; i++)
		v[i] = &runs[i];
	return labels_runs(v, (size_t)n, a, names, e);
}

static int plot_breakdown(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct res_stored runs[RUNS_MAX];
	const char *names[RUNS_MAX];
	struct arena *a;
	int rc = -1;

	if (picture_check(&o->plot, e) < 0)
		return -1;
	if (!(a = arena_new(RUNS_MEMORY)))
		return err_nomem(e, "for the runs");
	if (read_runs(o, args, a, runs, e) == 0 && name_them(runs, args->n, a, names, e) == 0)
		rc = picture_put(&o->plot, plot_breakdown_chart(runs, names, args->n), d->to, e);
	arena_free(a);
	return rc;
}

int cmd_plot_breakdown(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .results = "results.db" };
	const struct opt opts[] = {
		{ 'r', "results", OPT_READ, &o.results, "R.db",
		  "where 'npusim run -o' stored the runs; results.db by"
		  " default" },
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END, .arg = OPT_ARGS_WORDS },
	};
	const struct opt_cmd cmd = { "npusim plot breakdown RUN... -r R.db -o FILE",
		                     "Draws the time of up to four stored runs over the same workload by kind of op, "
		                     "longest first, beside the"
		                     " measured one." PICTURE_NEEDS,
		                     "npusim plot breakdown 1 -r /tmp/r.db -o /tmp/breakdown.svg\n"
		                     "npusim plot breakdown 1 2 -r /tmp/r.db -o /tmp/breakdown.png\n"
		                     "npusim plot breakdown 1 -r /tmp/r.db --script\n",
		                     opts,
		                     1,
		                     RUNS_MAX };

	return cmd_do(&cmd, NULL, plot_breakdown, &o, argc, argv, out, e);
}
