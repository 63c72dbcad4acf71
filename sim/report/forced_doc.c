#include "sim/report/forced_doc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/ui/units.h"

#define SHORT_US 10 /* below it, a wait more or less is much of the time */
#define NAMED    5  /* the worst of those that are not short */

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
static double forced_doc_at(const double *v, size_t n, double part)
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
	a.median = forced_doc_at(room, a.n, 0.5), a.p90 = forced_doc_at(room, a.n, 0.9),
	a.p99 = forced_doc_at(room, a.n, 0.99);
	a.worst = room[a.n - 1];
	return a;
}

static void say_apart(const char *what, const struct apart *a, struct str *out)
{
	str_addf(out, "%zu %s: median %.1f, p90 %.1f, p99 %.1f, worst %.0f %%", a->n, what, a->median, a->p90, a->p99,
	         a->worst);
}

/* --- the table --------------------------------------------------------------------------------------------------------- */

static void forced_doc_row(struct doc *d, const void *of, size_t i)
{
	const struct probe_forced *x = (const struct probe_forced *)of + i;
	struct str sets = STR_INIT;

	for (int k = 0; !d->heads && k < PROBE_FORCED_SETS; k++)
		str_addf(&sets, "%s%s", k ? " " : "", x->sets[k]);
	doc_text(d, "machine", x->machine);
	doc_text(d, "set", str_c(&sets));
	doc_count(d, "m", x->m);
	doc_count(d, "n", x->n);
	doc_count(d, "k", x->k);
	doc_text(d, "dtype", x->dtype);
	doc_text(d, "weight_dtype", x->weights);
	doc_text(d, "start", run_start_name(x->start));
	doc_ps(d, "event_us", 3, x->event);
	doc_ps(d, "form_us", 3, x->form);
	doc_real(d, "off_pct", 2, off(x));
	str_free(&sets);
}

void forced_doc(struct doc *d, const struct probe_forced *x, size_t n)
{
	doc_table(d, NULL, NULL, n, forced_doc_row, x);
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

static void name_worst(struct plot *p, const struct probe_forced *x, size_t n, bool *named)
{
	for (int k = 0; k < NAMED; k++) {
		const struct probe_forced *w = NULL;
		char text[128];

		for (size_t i = 0; i < n; i++)
			if (!named[i] && !is_short(&x[i]) && (!w || fabs(off(&x[i])) > fabs(off(w))))
				w = &x[i];
		if (!w)
			return;
		named[w - x] = true;
		snprintf(text, sizeof text, "%s %llux%llux%llu", w->machine, (unsigned long long)w->m,
		         (unsigned long long)w->n, (unsigned long long)w->k);
		plot_text(p, unit_ps_us(w->event), off(w), text);
	}
}

struct plot *forced_chart(const struct probe_forced *x, size_t n, double *room, bool *named)
{
	const struct apart all = apart_of(x, n, -1, room), brief = apart_of(x, n, 1, room),
			   lasting = apart_of(x, n, 0, room);
	const struct frame f = frame_of(x, n);
	struct str text = STR_INIT, labels[2] = { STR_INIT, STR_INIT };
	struct plot *p;
	int series[2];

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
	name_worst(p, x, n, named);
	str_free(&text);
	str_free(&labels[0]);
	str_free(&labels[1]);
	return p;
}
