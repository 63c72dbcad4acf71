/* plot_script.c - a chart as the text gnuplot reads. */
#include "results/plot/plot_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPLIT      0.8   /* of a category's height is bars */
#define LABEL_STEP 0.055 /* of the chart's height between labels of lines */
#define TEXT_MAX   100   /* code points of a text that are shown, and of a category's name */
#define NAME_MAX   36
#define LEGEND     84 /* characters a row of the legend has room for */
#define GREY_TEXT  "#505050"

static const char *const colours[] = {
	"#4d4d4d", "#4d4d4d", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#f0e442", "#000000",
};

/* What is drawn, once the data are known. */
struct view {
	double from[2], to[2];
	bool log[2];
	double step[2]; /* between ticks; 0 where they are listed */
	int groups;     /* of bars side by side */
	bool bars;
	int n_key, key; /* entries of the legend, characters of the longest */
	int right;      /* characters for labels beside the chart */
};

/* A string gnuplot takes as it is: no escapes, no substitution. In labels of ticks a percent sign is doubled. */
static void quote_short(struct str *out, const char *text, bool tick, int most)
{
	size_t n = text ? strlen(text) : 0, at = 0;
	int shown = 0;

	str_addc(out, '\'');
	while (at < n && shown < most) {
		uint32_t cp;
		size_t len = str_utf8(text + at, n - at, &cp);

		if (!len)
			str_addc(out, '?');
		else if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0))
			str_addc(out, ' ');
		else if (cp == '\'')
			str_add(out, "''");
		else if (cp == '%' && tick)
			str_add(out, "%%");
		else
			str_addn(out, text + at, len);
		at += len ? len : 1;
		shown++;
	}
	if (at < n)
		str_add(out, "\xe2\x80\xa6");
	str_addc(out, '\'');
}

static void quote(struct str *out, const char *text)
{
	quote_short(out, text, false, TEXT_MAX);
}

static int width_of(const char *text)
{
	int n = 0;

	for (; text && *text && n < TEXT_MAX; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static bool bars(const struct plot_curve *s)
{
	return s->kind == PLOT_BARS || s->kind == PLOT_STACK;
}

static bool line(const struct plot_curve *s)
{
	return s->kind == PLOT_LINE || s->kind == PLOT_DOTTED_LINE;
}

/* --- ends and ticks of the axes ---------------------------------------------------------------------------- */

static bool drawable(const struct plot *p, enum plot_axis a, double v)
{
	return isfinite(v) && (p->ax[a].scale == PLOT_LINEAR || v > 0);
}

static bool point_drawable(const struct plot *p, const struct plot_curve *s, const struct plot_point *v)
{
	if (bars(s))
		return drawable(p, PLOT_X, v->x);
	if (!drawable(p, PLOT_X, v->x) || !drawable(p, PLOT_Y, v->y))
		return false;
	if (s->kind == PLOT_BUBBLES)
		return isfinite(v->to);
	return drawable(p, s->kind == PLOT_STEPS ? PLOT_X : PLOT_Y, v->to);
}

struct span {
	double from, to;
	bool any;
};

static void widen(struct span *s, double v)
{
	if (!s->any || v < s->from)
		s->from = v;
	if (!s->any || v > s->to)
		s->to = v;
	s->any = true;
}

static double stacked(const struct plot *p, int upto, int category)
{
	double sum = 0;

	for (int i = 0; i < upto; i++)
		for (int k = 0; k < p->s[i].n && p->s[i].kind == PLOT_STACK; k++)
			if (p->s[i].v[k].y == category && point_drawable(p, &p->s[i], &p->s[i].v[k]))
				sum += p->s[i].v[k].x;
	return sum;
}

static void extent(const struct plot *p, struct span x[2], bool *notes)
{
	for (int i = 0; i < p->n_series; i++) {
		const struct plot_curve *s = &p->s[i];

		for (int k = 0; k < s->n; k++) {
			const struct plot_point *v = &s->v[k];

			if (!point_drawable(p, s, v))
				continue;
			widen(&x[PLOT_X], s->kind == PLOT_STACK ? stacked(p, i + 1, (int)v->y) : v->x);
			*notes |= v->note != NULL;
			if (bars(s))
				continue;
			widen(&x[PLOT_Y], v->y);
			if (s->kind != PLOT_BUBBLES)
				widen(&x[s->kind == PLOT_STEPS ? PLOT_X : PLOT_Y], v->to);
		}
	}
	for (int i = 0; i < p->n_marks; i++)
		if (drawable(p, p->mark[i].axis, p->mark[i].x))
			widen(&x[p->mark[i].axis], p->mark[i].x);
}

/* The i-th of ..., 0.5, 1, 2, 5, 10, ...: 1 is number 0. */
static double round_number(int i)
{
	static const int heads[] = { 1, 2, 5 };
	double ten = 1;
	int decade = (i - (i < 0 ? 2 : 0)) / 3;

	for (int k = 0; k < abs(decade); k++)
		ten *= 10;
	return decade < 0 ? heads[i - 3 * decade] / ten : heads[i - 3 * decade] * ten;
}

#define ROUND_MIN (-900)
#define ROUND_MAX 900
/* The number of the last one up to v; a hair above v counts as v. */
static int round_below(double v)
{
	int low = ROUND_MIN, high = ROUND_MAX;

	while (low < high) {
		int mid = low + (high - low + 1) / 2;

		if (round_number(mid) <= v * (1 + 1e-9))
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

static int round_above(double v)
{
	int i = round_below(v);

	return round_number(i) >= v * (1 - 1e-9) ? i : i + 1;
}

static void linear_ends(struct view *w, enum plot_axis a, bool given)
{
	double width = w->to[a] - w->from[a];

	w->step[a] = round_number(round_below(width / 4));
	if (given)
		return;
	w->from[a] = floor(w->from[a] / w->step[a] + 1e-9) * w->step[a];
	w->to[a] = ceil(w->to[a] / w->step[a] - 1e-9) * w->step[a];
}

static void log_ends(struct view *w, enum plot_axis a, enum plot_scale scale)
{
	double low = 1, high = 1;

	if (scale == PLOT_LOG) {
		w->from[a] = round_number(round_below(w->from[a]));
		w->to[a] = round_number(round_above(w->to[a]));
	} else {
		while (low > w->from[a])
			low /= 2;
		while (low * 2 <= w->from[a])
			low *= 2;
		for (high = low; high < w->to[a];)
			high *= 2;
		w->from[a] = low;
		w->to[a] = high;
	}
	if (w->from[a] >= w->to[a])
		w->to[a] = 2 * w->from[a];
}

#define NOTE_CHARACTER 0.0115 /* of the chart's width, as wide as a note's character at most is */
#define NOTE_MOST      0.6    /* of it, that a note may take */

/* How far the axis must go for the notes behind bars to be seen whole. */
static double end_of_notes(const struct plot *p, double from, double to)
{
	double end = to;

	for (int i = 0; i < p->n_series; i++)
		for (int k = 0; k < p->s[i].n && p->s[i].kind == PLOT_BARS; k++) {
			const struct plot_point *v = &p->s[i].v[k];
			const double takes = v->note ? NOTE_CHARACTER * (width_of(v->note) + 2) : 0;

			if (v->note && point_drawable(p, &p->s[i], v))
				end = fmax(end, from + (v->x - from) / (1 - fmin(takes, NOTE_MOST)));
		}
	return end;
}

static int plot_script_look(const struct plot *p, struct view *w, struct err *e)
{
	struct span x[2] = { { 0, 0, false }, { 0, 0, false } };
	bool notes = false;

	*w = (struct view){ .bars = false };
	for (int i = 0; i < p->n_series; i++) {
		const struct plot_curve *s = &p->s[i];

		w->bars |= bars(s);
		w->groups += s->kind == PLOT_BARS;
		if (!line(s) && s->label) {
			w->n_key++;
			w->key = width_of(s->label) > w->key ? width_of(s->label) : w->key;
		}
		if (line(s) && s->label && width_of(s->label) > w->right)
			w->right = width_of(s->label);
	}
	w->n_key += p->diagonal >= 0;
	extent(p, x, &notes);
	if (!x[PLOT_X].any || (w->bars ? !p->n_categories : !x[PLOT_Y].any))
		return err_set(e, ERR_IO, "there is nothing to draw");
	if (p->diagonal >= 0) {
		widen(&x[PLOT_X], x[PLOT_Y].from);
		widen(&x[PLOT_X], x[PLOT_Y].to);
		x[PLOT_Y] = x[PLOT_X];
	}
	for (int a = PLOT_X; a <= PLOT_Y; a++) {
		const struct plot_ax *ax = &p->ax[a];

		w->log[a] = ax->scale != PLOT_LINEAR;
		if (a == PLOT_Y && w->bars) {
			w->log[a] = false;
			continue;
		}
		w->from[a] = ax->given ? ax->from : w->log[a] || x[a].from < 0 ? x[a].from : 0;
		w->to[a] = ax->given ? ax->to : x[a].to;
		if (w->log[a] && !(w->from[a] > 0))
			return err_set(e, ERR_IO, "a logarithmic axis begins above 0");
		if (notes && a == PLOT_X)
			w->to[a] = w->log[a] ? 3 * w->to[a]
			                     : fmax(w->to[a] + (w->to[a] - w->from[a]) * 0.12,
			                            end_of_notes(p, w->from[a], w->to[a]));
		if (!(w->from[a] < w->to[a]))
			w->to[a] = w->from[a] + (w->from[a] != 0 ? fabs(w->from[a]) : 1);
		if (!w->log[a])
			linear_ends(w, (enum plot_axis)a, ax->given);
		else if (!ax->given)
			log_ends(w, (enum plot_axis)a, ax->scale);
	}
	return 0;
}

static void bytes_text(double v, char *buf, size_t n)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	int u = 0;

	for (; v >= 1024 && u < 4; u++)
		v /= 1024;
	snprintf(buf, n, "%.9g %s", v, units[u]);
}

static void tick(struct str *out, int *n, const char *label, double at)
{
	str_add(out, (*n)++ ? ", " : " (");
	quote_short(out, label, true, NAME_MAX);
	str_addf(out, " %.9g", at);
}

static void log_ticks(const struct view *w, enum plot_axis a, enum plot_scale scale, struct str *out)
{
	double span = w->to[a] / w->from[a], v;
	char text[64];
	int n = 0;

	if (scale == PLOT_BYTES) {
		double by = span <= 512 ? 2 : span <= 1 << 18 ? 4 : 16;

		for (v = 1; v < w->from[a]; v *= by)
			continue;
		for (; v <= w->to[a]; v *= by) {
			bytes_text(v, text, sizeof text);
			tick(out, &n, text, v);
		}
	} else {
		for (int i = round_above(w->from[a]); i <= round_below(w->to[a]); i++) {
			if (span > 3000 && i % 3)
				continue;
			snprintf(text, sizeof text, "%.6g", round_number(i));
			tick(out, &n, text, round_number(i));
		}
	}
	str_add(out, n ? ")" : "");
}

static void axes(const struct plot *p, const struct view *w, struct str *out)
{
	static const char names[] = "xy";

	for (int a = PLOT_X; a <= PLOT_Y; a++) {
		if (p->ax[a].label) {
			str_addf(out, "set %clabel ", names[a]);
			quote(out, p->ax[a].label);
			str_add(out, " textcolor rgb '" GREY_TEXT "'\n");
		}
		if (a == PLOT_Y && w->bars) {
			str_addf(out, "set yrange [%.9g:-0.5]\nset ytics scale 0", p->n_categories - 0.5);
			for (int i = 0, n = 0; i < p->n_categories; i++) {
				tick(out, &n, p->category[i], i);
				if (i == p->n_categories - 1)
					str_addc(out, ')');
			}
			str_add(out, "\nset grid noytics\n");
			continue;
		}
		if (w->log[a])
			str_addf(out, "set logscale %c %d\n", names[a], p->ax[a].scale == PLOT_BYTES ? 2 : 10);
		str_addf(out, "set %crange [%.9g:%.9g]\nset %ctics", names[a], w->from[a], w->to[a], names[a]);
		if (w->log[a])
			log_ticks(w, (enum plot_axis)a, p->ax[a].scale, out);
		else
			str_addf(out, " %.9g, %.9g", w->from[a], w->step[a]);
		str_addc(out, '\n');
	}
}

/* Where v is on its axis: 0 at its begin, 1 at its end. */
static double plot_script_place(const struct view *w, enum plot_axis a, double v)
{
	if (w->log[a])
		return log(v / w->from[a]) / log(w->to[a] / w->from[a]);
	return (v - w->from[a]) / (w->to[a] - w->from[a]);
}

/* --- texts ------------------------------------------------------------------------------------------------- */

/* Lines of text above the chart. */
static double head_lines(const struct plot *p, const struct view *w, int *columns)
{
	*columns = w->key < LEGEND / 2 - 6 ? LEGEND / (w->key + 6) : 1;
	return 0.9 + 1.25 * ((w->n_key + *columns - 1) / *columns) + 1.4 * (p->subtitle != NULL) +
	       1.4 * (p->title != NULL);
}

/* Begins where the chart does, or, where that may be far to the right, where the names of the bars may. */
static void head_text(const struct view *w, const char *text, double up, const char *look, struct str *out)
{
	str_add(out, "set label ");
	quote(out, text);
	str_addf(out, " at %s 0, graph 1 left offset character %.1f, %.2f %s\n", w->bars ? "screen" : "graph",
	         w->bars ? 1.5 : 0, up, look);
}

static void plot_script_head(const struct plot *p, const struct view *w, struct str *out)
{
	int columns;
	double up = head_lines(p, w, &columns);

	str_addf(out, "set tmargin %.2f\n", up);
	if (p->title)
		head_text(w, p->title, up -= 1.4, "font ',15'", out);
	if (p->subtitle)
		head_text(w, p->subtitle, up - 1.4, "textcolor rgb '" GREY_TEXT "'", out);
	if (w->right)
		str_addf(out, "set rmargin %d\n", w->right + 3);
	if (w->n_key)
		str_addf(out,
		         "set key at graph 0, graph 1 left bottom horizontal maxcols %d Left reverse samplen 1.2"
		         " width -1 height 0.3 textcolor rgb '" GREY_TEXT "'\n",
		         columns);
	else
		str_add(out, "unset key\n");
}

static void marks(const struct plot *p, const struct view *w, struct str *out)
{
	for (int i = 0; i < p->n_marks; i++) {
		const struct plot_note *m = &p->mark[i];
		bool x = m->axis == PLOT_X;

		if (!drawable(p, m->axis, m->x))
			continue;
		str_addf(out,
		         x ? "set arrow from first %.9g, graph 0 to first %.9g, graph 1"
		           : "set arrow from graph 0, first %.9g to graph 1, first %.9g",
		         m->x, m->x);
		str_add(out, " nohead back dashtype 2 linecolor rgb '#808080'\n");
		if (!m->text)
			continue;
		str_add(out, "set label ");
		quote(out, m->text);
		if (x)
			str_addf(out, " at first %.9g, graph 0.03 left rotate by 90 offset character %.1f, 0", m->x,
			         plot_script_place(w, PLOT_X, m->x) > 0.97 ? -0.8 : 0.8);
		else
			str_addf(out, " at graph 0.01, first %.9g left offset character 0, 0.6", m->x);
		str_add(out, " textcolor rgb '" GREY_TEXT "'\n");
	}
	for (int i = 0; i < p->n_texts; i++) {
		const struct plot_note *m = &p->text[i];

		if (!drawable(p, PLOT_X, m->x) || !drawable(p, PLOT_Y, m->y))
			continue;
		str_add(out, "set label ");
		quote(out, m->text);
		str_addf(out,
		         " at first %.9g, first %.9g left offset character 0.6, 0.5 textcolor rgb '" GREY_TEXT "'\n",
		         m->x, m->y);
	}
}

struct tag {
	int series;
	double x, y;
};

static int lower_first(const void *x, const void *y)
{
	const struct tag *a = x, *b = y;

	if (a->y != b->y)
		return a->y < b->y ? -1 : 1;
	return a->series - b->series;
}

/* Moves labels that would overlap apart, each group of them about the middle of where they belong, and into the chart.
 */
static void spread(struct tag *t, int n)
{
	struct group {
		double middle;
		int n;
	} g[PLOT_SERIES_MAX];
	int groups = 0;

	for (int i = 0; i < n; i++) {
		g[groups++] = (struct group){ t[i].y, 1 };
		for (;;) {
			struct group *b = &g[groups - 1], *a = b - 1;
			double half = (b->n - 1) * LABEL_STEP / 2;

			b->middle = b->middle + half > 1 ? 1 - half : b->middle - half < 0 ? half : b->middle;
			if (groups == 1 || b->middle - a->middle >= (a->n + b->n) * LABEL_STEP / 2 - 1e-9)
				break;
			a->middle = (a->middle * a->n + b->middle * b->n) / (a->n + b->n);
			a->n += b->n;
			groups--;
		}
	}
	for (int i = 0, k = 0; i < groups; i++)
		for (int j = 0; j < g[i].n; j++)
			t[k++].y = g[i].middle + (j - (g[i].n - 1) / 2.0) * LABEL_STEP;
}

/* The names of lines at their ends, in their colour, none upon another. */
static void tags(const struct plot *p, const struct view *w, struct str *out)
{
	struct tag t[PLOT_SERIES_MAX];
	int n = 0;

	for (int i = 0; i < p->n_series; i++) {
		const struct plot_curve *s = &p->s[i];

		for (int k = s->n - 1; line(s) && s->label && k >= 0; k--)
			if (point_drawable(p, s, &s->v[k])) {
				t[n++] = (struct tag){ i, plot_script_place(w, PLOT_X, s->v[k].x),
					               plot_script_place(w, PLOT_Y, s->v[k].y) };
				break;
			}
	}
	qsort(t, (size_t)n, sizeof *t, lower_first);
	spread(t, n);
	for (int i = 0; i < n; i++) {
		str_add(out, "set label ");
		quote(out, p->s[t[i].series].label);
		str_addf(out, " at graph %.3f, graph %.3f left textcolor rgb '%s'\n", t[i].x + 0.012, t[i].y,
		         colours[p->s[t[i].series].colour]);
	}
}

/* --- data -------------------------------------------------------------------------------------------------- */

static void bar(const struct plot *p, const struct view *w, int i, const struct plot_point *v, int group,
                struct str *out)
{
	const struct plot_curve *s = &p->s[i];
	double base = w->log[PLOT_X] ? w->from[PLOT_X] : 0, thick = SPLIT / (w->groups ? w->groups : 1);
	double top = v->y - SPLIT / 2 + group * thick, bottom = top + thick, to = v->x;

	if (s->kind == PLOT_STACK) {
		base += stacked(p, i, (int)v->y);
		top = v->y - SPLIT / 2;
		bottom = v->y + SPLIT / 2;
		to += base;
	}
	str_addf(out, "%.9g %.9g %.9g %.9g %.9g %.9g\n", to, (top + bottom) / 2, base, to, top, bottom);
}

static void bar_notes(const struct plot *p, const struct view *w, int i, int group, struct str *out)
{
	double thick = SPLIT / (w->groups ? w->groups : 1);

	for (int k = 0; k < p->s[i].n; k++) {
		const struct plot_point *v = &p->s[i].v[k];
		bool stack = p->s[i].kind == PLOT_STACK;

		if (!v->note || !point_drawable(p, &p->s[i], v))
			continue;
		str_add(out, "set label ");
		quote(out, v->note);
		str_addf(out, " at first %.9g, first %.9g left offset character 0.6, 0 textcolor rgb '" GREY_TEXT "'\n",
		         stack ? stacked(p, i + 1, (int)v->y) : v->x,
		         stack ? v->y : v->y - SPLIT / 2 + (group + 0.5) * thick);
	}
}

/* The size of a point: the smallest can be seen, and from there areas are to scale. */
static double bubble(double size)
{
	return 0.4 + 3.2 * sqrt(size < 0 ? 0 : size > 1 ? 1 : size);
}

static void block(const struct plot *p, const struct view *w, int i, int group, struct str *out)
{
	const struct plot_curve *s = &p->s[i];

	str_addf(out, "$s%d << END\n", i + 1);
	for (int k = 0; k < s->n; k++) {
		const struct plot_point *v = &s->v[k];

		if (!point_drawable(p, s, v))
			continue;
		if (bars(s))
			bar(p, w, i, v, group, out);
		else if (s->kind == PLOT_STEPS)
			str_addf(out, "%.9g %.9g %.9g %.9g %.9g %.9g\n", v->to, v->y, v->x, v->to,
			         w->log[PLOT_Y] ? w->from[PLOT_Y] : 0, v->y);
		else if (s->kind == PLOT_BUBBLES)
			str_addf(out, "%.9g %.9g %.3f\n", v->x, v->y, bubble(v->to));
		else if (s->kind == PLOT_BAND)
			str_addf(out, "%.9g %.9g %.9g\n", v->x, v->y, v->to);
		else
			str_addf(out, "%.9g %.9g\n", v->x, v->y);
	}
	str_add(out, "END\n");
}

static void diagonal(const struct plot *p, const struct view *w, struct str *out)
{
	str_add(out, "$d << END\n");
	for (int k = 0; k <= 64; k++) {
		double from = w->from[PLOT_X], to = w->to[PLOT_X], x;

		x = w->log[PLOT_X] ? from * exp(log(to / from) * k / 64) : from + (to - from) * k / 64;
		str_addf(out, "%.6g %.6g %.6g\n", x, x * (1 - p->diagonal / 100), x * (1 + p->diagonal / 100));
	}
	str_add(out, "END\n");
}

static void plot_script_draw(const struct plot_curve *s, int i, struct str *out)
{
	const char *c = colours[s->colour];

	str_addf(out, " $s%d using ", i + 1);
	switch (s->kind) {
	case PLOT_LINE:
		str_addf(out, "1:2 with lines linewidth 2 linecolor rgb '%s'", c);
		break;
	case PLOT_DOTTED_LINE:
		str_addf(out, "1:2 with linespoints linewidth 1.5 pointtype 7 pointsize 0.45 linecolor rgb '%s'", c);
		break;
	case PLOT_POINTS:
		str_addf(out, "1:2 with points pointtype 7 pointsize 0.55 linecolor rgb '%s'", c);
		break;
	case PLOT_BUBBLES:
		str_addf(out, "1:2:3 with points pointtype 7 pointsize variable linecolor rgb '#70%s'", c + 1);
		break;
	case PLOT_BAND:
		str_addf(out, "1:2:3 with filledcurves fillstyle transparent solid 0.18 noborder fillcolor rgb '%s'",
		         c);
		break;
	case PLOT_STEPS:
	case PLOT_BARS:
	case PLOT_STACK:
		str_addf(out, "1:2:3:4:5:6 with boxxyerror fillstyle solid 1 border rgb '#ffffff' fillcolor rgb '%s'",
		         c);
		break;
	}
	if (line(s) || !s->label) {
		str_add(out, " notitle");
	} else {
		str_add(out, " title ");
		quote(out, s->label);
	}
}

static void terminal(const struct plot *p, const struct view *w, enum plot_format f, struct str *out)
{
	int wide = 800, high = 450, columns;

	if (w->bars)
		high = 62 + (int)(17 * head_lines(p, w, &columns)) +
		       p->n_categories * (w->groups > 1 ? 16 * w->groups + 8 : 24);
	else if (p->diagonal >= 0)
		wide = 640, high = 600;
	str_add(out, "set encoding utf8\nset terminal ");
	switch (f) {
	case PLOT_SVG:
		str_addf(out, "svg size %d,%d noenhanced font 'sans-serif,13' background '#ffffff'", wide, high);
		break;
	case PLOT_PNG:
		str_addf(out, "pngcairo size %d,%d noenhanced font 'sans-serif,11' background '#ffffff'", wide, high);
		break;
	case PLOT_PDF:
		str_addf(out, "pdfcairo size %.2fin,%.2fin noenhanced font 'sans-serif,10'", wide / 100.0,
		         high / 100.0);
		break;
	}
	str_addc(out, '\n');
}

int plot_script(const struct plot *p, enum plot_format f, struct str *out, struct err *e)
{
	const char *between = "plot";
	int group[PLOT_SERIES_MAX], n = 0;
	struct view w;

	if (!p)
		return err_set(e, ERR_NOMEM, "out of memory for a chart");
	if (p->failed)
		return err_set(e, ERR_IO, "no chart: %s", p->failed);
	if (plot_script_look(p, &w, e) < 0)
		return -1;
	terminal(p, &w, f, out);
	str_add(out,
	        "set border 3 linecolor rgb '#808080'\nset tics nomirror out scale 0.5 textcolor rgb '" GREY_TEXT "'\n"
	        "set mxtics 1\nset mytics 1\n"
	        "set grid linetype 1 linecolor rgb '#e6e6e6' linewidth 0.7\n");
	axes(p, &w, out);
	plot_script_head(p, &w, out);
	marks(p, &w, out);
	for (int i = 0; i < p->n_series; i++) {
		group[i] = p->s[i].kind == PLOT_BARS ? n++ : 0;
		bar_notes(p, &w, i, group[i], out);
	}
	tags(p, &w, out);
	if (p->diagonal >= 0)
		diagonal(p, &w, out);
	for (int i = 0; i < p->n_series; i++)
		block(p, &w, i, group[i], out);
	if (p->diagonal >= 0) {
		str_addf(out,
		         "plot $d using 1:2:3 with filledcurves fillstyle transparent solid 0.18 noborder fillcolor "
		         "rgb '#4d4d4d'"
		         " title '\xc2\xb1%.9g %%', \\\n     $d using 1:1 with lines linecolor rgb '#808080' notitle",
		         p->diagonal);
		between = ", \\\n    ";
	}
	for (int i = 0; i < p->n_series; i++) {
		str_add(out, between);
		plot_script_draw(&p->s[i], i, out);
		between = ", \\\n    ";
	}
	str_addc(out, '\n');
	return out->failed ? err_set(e, ERR_NOMEM, "out of memory for a chart") : 0;
}
