/* plot_fidelity.c - npusim plot fidelity: how far the closed form is off events, at mappings that are forced. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/probe_forced.h"
#include "sim/cli/picture.h"
#include "sim/cli/plot.h"
#include "sim/ui/outfile.h"
#include "sim/ui/progress.h"

#define SHORT_US    10 /* below it, a wait more or less is much of the time */
#define NAMED       5  /* the worst of those that are not short */
#define NUMBER      200
#define NUMBER_MOST 100000

struct options {
	uint64_t number, seed;
	const char *table;
	struct picture_to plot;
};

static double off(const struct probe_forced *x)
{
	return 100 * ((double)x->form / (double)x->event - 1);
}

static bool is_short(const struct probe_forced *x)
{
	return unit_ps_us(x->event) < SHORT_US;
}

/* --- how far they are apart ------------------------------------------------------------------------------------------ */

struct apart {
	size_t n;
	double median, p90, p99, worst;
};

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The smallest that as large a part is no larger than. */
static double at(const double *v, size_t n, double part)
{
	return v[(size_t)fmax(ceil(part * (double)n) - 1, 0)];
}

/* Of those that are short, of those that are not, or (`which` -1) of all. */
static struct apart apart_of(const struct probe_forced *x, size_t n, int which, double *room)
{
	struct apart a = { .n = 0 };

	for (size_t i = 0; i < n; i++)
		if (which < 0 || is_short(&x[i]) == which)
			room[a.n++] = fabs(off(&x[i]));
	if (!a.n)
		return a;
	qsort(room, a.n, sizeof *room, by_size);
	a.median = at(room, a.n, 0.5), a.p90 = at(room, a.n, 0.9), a.p99 = at(room, a.n, 0.99);
	a.worst = room[a.n - 1];
	return a;
}

static void say_apart(const char *what, const struct apart *a, struct str *out)
{
	str_addf(out, "%zu %s: median %.1f, p90 %.1f, p99 %.1f, worst %.0f %%", a->n, what, a->median, a->p90, a->p99,
	         a->worst);
}

/* --- the table --------------------------------------------------------------------------------------------------------- */

static int write_table(const char *path, const struct probe_forced *x, size_t n, struct err *e)
{
	static const struct out_col cols[] = {
		{ "machine", OUT_TEXT, 0 },
		{ "set", OUT_TEXT, 0 },
		{ "m", OUT_INT, 0 },
		{ "n", OUT_INT, 0 },
		{ "k", OUT_INT, 0 },
		{ "dtype", OUT_TEXT, 0 },
		{ "weight_dtype", OUT_TEXT, 0 },
		{ "start", OUT_TEXT, 0 },
		{ "event_us", OUT_REAL, 3 },
		{ "form_us", OUT_REAL, 3 },
		{ "off_pct", OUT_REAL, 2 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	struct str text = STR_INIT;
	int rc;

	for (size_t i = 0; i < n; i++) {
		struct str sets = STR_INIT;

		for (int k = 0; k < PROBE_FORCED_SETS; k++)
			str_addf(&sets, "%s%s", k ? " " : "", x[i].sets[k]);
		out_text(t, x[i].machine);
		out_text(t, str_c(&sets));
		out_int(t, (int64_t)x[i].m);
		out_int(t, (int64_t)x[i].n);
		out_int(t, (int64_t)x[i].k);
		out_text(t, x[i].dtype);
		out_text(t, x[i].weights);
		out_text(t, run_start_name(x[i].start));
		out_real(t, unit_ps_us(x[i].event));
		out_real(t, unit_ps_us(x[i].form));
		out_real(t, off(&x[i]));
		str_free(&sets);
	}
	out_table_write(t, OUT_CSV, &text);
	out_table_free(t);
	rc = outfile_write(path, &text, e);
	str_free(&text);
	return rc;
}

/* --- the picture ------------------------------------------------------------------------------------------------------- */

struct frame {
	double from, to;  /* decades of us */
	double low, high; /* percent */
};

static struct frame frame_of(const struct probe_forced *x, size_t n)
{
	struct frame f = { INFINITY, -INFINITY, -20, 20 };

	for (size_t i = 0; i < n; i++) {
		f.from = fmin(f.from, floor(log10(unit_ps_us(x[i].event))));
		f.to = fmax(f.to, ceil(log10(unit_ps_us(x[i].event))));
		f.low = fmin(f.low, 10 * floor(off(&x[i]) / 10));
		f.high = fmax(f.high, 10 * ceil(off(&x[i]) / 10));
	}
	return f;
}

static void name_worst(struct plot *p, const struct frame *f, const struct probe_forced *x, size_t n, bool *named)
{
	struct picture_names t = { .n = 0 };

	while (t.n < NAMED) {
		const struct probe_forced *w = NULL;
		double across, up;
		char text[128];

		for (size_t i = 0; i < n; i++)
			if (!named[i] && !is_short(&x[i]) && (!w || fabs(off(&x[i])) > fabs(off(w))))
				w = &x[i];
		if (!w)
			return;
		named[w - x] = true;
		snprintf(text, sizeof text, "%s %llux%llux%llu", w->machine, (unsigned long long)w->m,
		         (unsigned long long)w->n, (unsigned long long)w->k);
		across = (log10(unit_ps_us(w->event)) - f->from) / (f->to - f->from);
		up = (off(w) - f->low) / (f->high - f->low);
		picture_place(&t, text, across > 0.5, &across, &up);
		plot_text(p, pow(10, f->from + across * (f->to - f->from)), f->low + up * (f->high - f->low), text);
	}
}

static int draw(const struct options *o, const struct probe_forced *x, double *room, bool *named, struct str *out,
                struct err *e)
{
	const size_t n = (size_t)o->number;
	const struct apart all = apart_of(x, n, -1, room), brief = apart_of(x, n, 1, room),
			   lasting = apart_of(x, n, 0, room);
	const struct frame f = frame_of(x, n);
	struct str text = STR_INIT, labels[2] = { STR_INIT, STR_INIT };
	struct plot *p;
	int series[2], rc;

	say_apart("random mappings", &all, &text);
	say_apart("of 10 us and more", &lasting, &labels[0]);
	say_apart("under 10 us", &brief, &labels[1]);
	p = plot_new("Closed form beside events, mappings forced", str_c(&text));
	plot_axis(p, PLOT_X, PLOT_LOG, "with events (us)");
	plot_axis(p, PLOT_Y, PLOT_LINEAR, "closed form, off events (%)");
	plot_range(p, PLOT_X, pow(10, f.from), pow(10, f.to));
	plot_range(p, PLOT_Y, f.low, f.high);
	plot_mark(p, PLOT_Y, 0, NULL);
	plot_mark(p, PLOT_X, SHORT_US, NULL);
	series[1] = plot_series(p, PLOT_POINTS, PLOT_GREY, str_c(&labels[1]));
	series[0] = plot_series(p, PLOT_POINTS, PLOT_BLUE, str_c(&labels[0]));
	for (size_t i = 0; i < n; i++)
		plot_xy(p, series[is_short(&x[i])], unit_ps_us(x[i].event), off(&x[i]));
	name_worst(p, &f, x, n, named);
	rc = picture_put(&o->plot, p, out, e);
	str_free(&text);
	str_free(&labels[0]);
	str_free(&labels[1]);
	return rc;
}

static void on_progress(void *arg, size_t done)
{
	progress_set(arg, done);
}

static int run(const struct options *o, struct str *out, struct err *e)
{
	const size_t n = (size_t)o->number;
	struct arena *a = arena_new(0);
	struct probe_forced *x = a ? arena_array(a, n, sizeof *x) : NULL;
	double *room = a ? arena_array(a, n, sizeof *room) : NULL;
	bool *named = a ? arena_array(a, n, sizeof *named) : NULL;
	struct progress *bar = progress_new("fidelity", "mappings", n);
	int rc =
		x && room && named ? probe_forced(o->seed, n, a, x, on_progress, bar, e) : err_nomem(e, "for mappings");

	progress_free(bar);
	if (rc == 0 && o->table)
		rc = write_table(o->table, x, n, e);
	if (rc == 0)
		rc = draw(o, x, room, named, out, e);
	arena_free(a);
	return rc;
}

int cmd_plot_fidelity(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .number = NUMBER, .seed = 1 };
	const struct opt opts[] = {
		{ 'n', "number", OPT_COUNT, &o.number, "N", "so many mappings; 200 by default" },
		{ 0, "seed", OPT_U64, &o.seed, "N", "of machines, products and mappings; 1 by default" },
		{ 0, "table", OPT_WRITE, &o.table, "FILE",
		  "write what is drawn as CSV too: machine, the changes that '--set' makes, product, both times" },
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim plot fidelity -o FILE [--number N] [--seed N] [options]",
		"Draws how far the closed form is off events where the mapper did not choose: random products on the NPUs that"
		" come with npusim, of random numbers of cores and networks, each by a random mapping that is forced on it"
		" ('mapping' in a machine's file). Runs of less than 10 us are grey: a wait more or less is much of their time."
		" Needs gnuplot.",
		"npusim plot fidelity -o /tmp/fidelity.svg\n"
		"npusim plot fidelity -n 1000 --seed 7 -o /tmp/fidelity.png --table /tmp/fidelity.csv\n",
		opts,
		0,
		0
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = picture_check(&o.plot, e)) == 0)
		rc = o.number > NUMBER_MOST
		             ? err_set(e, ERR_USAGE, "at most %d mappings, for option '--number'", NUMBER_MOST)
		             : run(&o, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
