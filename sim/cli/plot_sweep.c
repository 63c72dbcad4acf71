/* plot_sweep.c - npusim plot sweep: stored points as lines over one axis.
 *
 * One line for every y, or for every value of --by. What differs between the points of one line other than by x would
 * be drawn over each other, so it is refused: the axis is named, and --where can pick one of its values. Conditions of
 * several --where must all hold. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/picture.h"
#include "sim/cli/plot.h"
#include "sim/cli/sweep.h"

#define SERIES_MAX 12
#define MARKS_MAX  8
#define MIB        (1024.0 * 1024)
#define LOG_FROM   8 /* a span of so many times its least is read better in octaves */

struct options {
	const char *x, *y, *by, *title, *x_label, *y_label;
	struct opt_list where, marks;
	bool percent, linear;
	uint64_t sweep;
	struct picture_to plot;
};

struct drawing {
	struct sweep_view v;
	const struct options *o;
	const struct sweep_axis *x_axis; /* NULL: x is an expression */
	double *x;                       /* of every point, in the axis' base units */
	size_t *order;                   /* points by x */
	size_t by;                       /* n_axes: none */
	struct expr *y[SERIES_MAX];
	int n_y;
	struct expr_value *values[SERIES_MAX];
	double most[SERIES_MAX]; /* the largest value that is drawn */
	bool *drawn;             /* points that are done and meet --where */
	bool bytes, octaves;     /* how x is shown */
};

/* --- what is asked ----------------------------------------------------------------------------------------- */

static int axis_named(const struct drawing *d, const char *key, const char *option, size_t *out, struct err *e)
{
	const struct sweep *s = d->v.s;
	const char *names[64], *near;
	size_t n = s->n_axes < 64 ? s->n_axes : 64;

	for (size_t i = 0; i < s->n_axes; i++)
		if (strcmp(s->axes[i].key, key) == 0) {
			*out = i;
			return 0;
		}
	for (size_t i = 0; i < n; i++)
		names[i] = s->axes[i].key;
	near = str_nearest(key, names, n);
	return err_set(e, ERR_USAGE, "'%s' is no axis of this sweep%s%s%s, for option '%s'", key,
	               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", option);
}

static int new_expr(struct drawing *d, const char *text, const char *option, struct expr **out, struct err *e)
{
	if ((*out = expr_new(d->v.s->exprs, text, sweep_find, d->v.s, e)))
		return 0;
	if (e->kind == ERR_CONFIG)
		e->kind = ERR_USAGE;
	return err_add(e, "reading option '%s'", option);
}

/* Expressions between commas; those in parentheses belong to a function. */
static int read_y(struct drawing *d, struct err *e)
{
	const char *p = d->o->y;

	for (;;) {
		const char *end = p;
		char text[512];

		for (int depth = 0; *end && (*end != ',' || depth > 0); end++)
			depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
		if (d->n_y == SERIES_MAX)
			return err_set(e, ERR_USAGE, "more than %d values, for option '--y'", SERIES_MAX);
		p += strspn(p, " ");
		if ((size_t)(end - p) >= sizeof text)
			return err_set(e, ERR_USAGE, "an expression is too long, for option '--y'");
		snprintf(text, sizeof text, "%.*s", (int)(end - p), p);
		if (new_expr(d, text, "--y", &d->y[d->n_y], e) < 0)
			return -1;
		d->n_y++;
		if (!*end)
			return 0;
		p = end + 1;
	}
}

static int choose_points(struct drawing *d, struct err *e)
{
	bool any = false;

	if (sweep_view_where(&d->v, d->o->where.v, d->o->where.n, &d->drawn, e) < 0)
		return -1;
	for (size_t i = 0; i < d->v.n; i++) {
		d->drawn[i] &= !d->v.points[i].failed;
		any |= d->drawn[i];
	}
	return any ? 0 : err_set(e, ERR_IO, "there is no point to draw");
}

/* Two points at one place of one line: which axis tells them apart? */
static int check_lines(const struct drawing *d, struct err *e)
{
	const struct sweep *s = d->v.s;

	for (size_t i = 0; i < d->v.n; i++)
		for (size_t k = 0; d->drawn[i] && k < i; k++) {
			const struct res_value *a = d->v.points[i].values, *b = d->v.points[k].values;

			if (!d->drawn[k] || d->x[i] != d->x[k] ||
			    (d->by < s->n_axes && strcmp(a[d->by].text, b[d->by].text) != 0))
				continue;
			for (size_t x = 0; x < s->n_axes; x++)
				if (strcmp(a[x].text, b[x].text) != 0)
					return err_set(e, ERR_USAGE,
					               "points of one line differ in '%s' too (%s and %s): draw a line "
					               "for each with --by %s, or choose with --where",
					               s->axes[x].key, b[x].text, a[x].text, s->axes[x].key);
		}
	return 0;
}

/* x is an axis, or else an expression. */
static int read_x(struct drawing *d, struct err *e)
{
	const struct sweep *s = d->v.s;
	struct expr_value *values = NULL;
	struct expr *x;
	size_t n = d->v.n ? d->v.n : 1, axis = s->n_axes;

	for (size_t i = 0; i < s->n_axes; i++)
		if (strcmp(s->axes[i].key, d->o->x) == 0)
			axis = i;
	if (axis < s->n_axes && d->v.n && !d->v.points[0].values[axis].is_number)
		return err_set(e, ERR_USAGE, "'%s' is no number: draw a line for each of its values with --by",
		               d->o->x);
	d->x_axis = axis < s->n_axes ? &s->axes[axis] : NULL;
	d->x = arena_array(d->v.a, n, sizeof *d->x);
	d->order = arena_array(d->v.a, n, sizeof *d->order);
	if (!d->x || !d->order)
		return err_nomem(e, "for the picture");
	if (!d->x_axis && (new_expr(d, d->o->x, "--x", &x, e) < 0 || sweep_view_values(&d->v, x, &values, e) < 0))
		return -1;
	for (size_t i = 0; i < d->v.n; i++) {
		size_t k = i;

		d->x[i] = d->x_axis ? d->v.points[i].values[axis].number : values[i].number;
		d->drawn[i] &= d->x_axis || values[i].type == EXPR_NUMBER;
		for (; k > 0 && d->x[d->order[k - 1]] > d->x[i]; k--)
			d->order[k] = d->order[k - 1];
		d->order[k] = i;
	}
	return 0;
}

static int evaluate(struct drawing *d, struct err *e)
{
	for (int y = 0; y < d->n_y; y++) {
		if (sweep_view_values(&d->v, d->y[y], &d->values[y], e) < 0)
			return -1;
		for (size_t i = 0; i < d->v.n; i++)
			if (d->drawn[i] && d->values[y][i].type == EXPR_NUMBER)
				d->most[y] = fmax(d->most[y], d->values[y][i].number);
	}
	return 0;
}

/* --- the picture ------------------------------------------------------------------------------------------- */

static void scale_x(struct drawing *d)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < d->v.n; i++)
		if (d->drawn[i]) {
			least = fmin(least, d->x[i]);
			most = fmax(most, d->x[i]);
		}
	d->bytes = d->x_axis && d->x_axis->field->type == CFG_T_BYTES;
	d->octaves = !d->o->linear && d->x_axis && least > 0 && most >= least * LOG_FROM;
}

static double place_x(const struct drawing *d, double v)
{
	switch (d->x_axis ? d->x_axis->field->type : CFG_T_END) {
	case CFG_T_BYTES:
		return d->octaves ? v : v / MIB;
	case CFG_T_RATE:
		return v / 1e12;
	case CFG_T_FREQ:
		return v / 1e9;
	case CFG_T_PS:
		return v / 1e3;
	default:
		return v;
	}
}

static void label_x(const struct drawing *d, char *text, size_t size)
{
	static const char *const units[] = {
		[CFG_T_BYTES] = " (MiB)", [CFG_T_RATE] = " (TB/s)", [CFG_T_FREQ] = " (GHz)", [CFG_T_PS] = " (ns)",
		[CFG_T_STR] = "",         [CFG_T_ENERGY] = " (pJ)", [CFG_T_POWER] = " (W)"
	};
	enum cfg_type t = d->x_axis ? d->x_axis->field->type : CFG_T_STR;

	snprintf(text, size, "%s%s", d->o->x, t == CFG_T_BYTES && d->octaves ? "" : units[t] ? units[t] : "");
}

static bool is_percent(const struct drawing *d, int y)
{
	const char *name = expr_text(d->y[y]);
	size_t n = strlen(name);

	return n >= 4 && strcmp(name + n - 4, "_pct") == 0;
}

static double place_y(const struct drawing *d, int y, double v)
{
	return d->o->percent && !is_percent(d, y) && d->most[y] > 0 ? 100 * v / d->most[y] : v;
}

static void label_series(const struct drawing *d, int y, const char *by, char *text, size_t size)
{
	const char *name = expr_text(d->y[y]);

	if (!by)
		snprintf(text, size, "%s", name);
	else if (d->n_y == 1)
		snprintf(text, size, "%s", by);
	else
		snprintf(text, size, "%s, %s", by, name);
}

static int add_series(struct drawing *d, struct plot *p, int y, const char *by, struct err *e)
{
	char label[200];
	int s;

	if (y >= SERIES_MAX)
		return err_set(e, ERR_USAGE, "more than %d lines", SERIES_MAX);
	label_series(d, y, by, label, sizeof label);
	s = plot_series(p, PLOT_DOTTED_LINE, PLOT_AUTO, label);
	for (size_t k = 0; k < d->v.n; k++) {
		const size_t i = d->order[k];
		const struct res_value *at = d->v.points[i].values;

		if (d->drawn[i] && d->values[y][i].type == EXPR_NUMBER && (!by || strcmp(at[d->by].text, by) == 0))
			plot_xy(p, s, place_x(d, d->x[i]), place_y(d, y, d->values[y][i].number));
	}
	return 0;
}

static int add_lines(struct drawing *d, struct plot *p, struct err *e)
{
	const struct sweep_axis *by = d->by < d->v.s->n_axes ? &d->v.s->axes[d->by] : NULL;
	int lines = 0;

	for (int y = 0; y < d->n_y; y++) {
		for (size_t i = 0; by && i < by->n; i++) {
			bool any = false;

			for (size_t k = 0; k < d->v.n; k++)
				any |= d->drawn[k] &&
				       strcmp(d->v.points[k].values[d->by].text, by->values[i].text) == 0;
			if (any && (++lines > SERIES_MAX || add_series(d, p, y, by->values[i].text, e) < 0))
				return e->kind ? -1
				               : err_set(e, ERR_USAGE, "more than %d lines: choose with --where",
				                         SERIES_MAX);
		}
		if (!by && add_series(d, p, y, NULL, e) < 0)
			return -1;
	}
	return 0;
}

/* "120.1 MiB=both KV caches": a place on x, in the axis' own units. */
static int add_marks(struct drawing *d, struct plot *p, struct err *e)
{
	for (int i = 0; i < d->o->marks.n; i++) {
		const char *mark = d->o->marks.v[i], *eq = strchr(mark, '=');
		struct expr_value v = { EXPR_NULL, 0, NULL };
		char text[200];
		struct expr *x;
		const int *ids;

		snprintf(text, sizeof text, "%.*s", eq ? (int)(eq - mark) : (int)strlen(mark), mark);
		if (new_expr(d, text, "--mark", &x, e) < 0)
			return -1;
		if (expr_ids(x, &ids) || expr_eval(x, NULL, NULL, &v, e) < 0 || v.type != EXPR_NUMBER)
			return err_set(e, ERR_USAGE, "'%s' is no place on the axis, for option '--mark'", text);
		plot_mark(p, PLOT_X, place_x(d, v.number), eq ? eq + 1 : text);
	}
	return 0;
}

static struct plot *chart(struct drawing *d, struct err *e)
{
	const struct options *o = d->o;
	char x[160], under[400], base[SWEEP_NAME_MAX], name[SWEEP_NAME_MAX];
	struct plot *p;

	scale_x(d);
	label_x(d, x, sizeof x);
	sweep_stem(d->v.head.base_path, base);
	sweep_stem(d->v.head.name, name);
	snprintf(under, sizeof under, "%s%s%s%s", base, o->by ? "; a line for each " : "", o->by ? o->by : "",
	         o->where.n ? "; a part of the points" : "");
	p = plot_new(o->title ? o->title : name, under);
	plot_axis(p, PLOT_X,
	          d->bytes && d->octaves ? PLOT_BYTES
	          : d->octaves           ? PLOT_LOG
	                                 : PLOT_LINEAR,
	          o->x_label ? o->x_label : x);
	plot_axis(p, PLOT_Y, PLOT_LINEAR,
	          o->y_label    ? o->y_label
	          : o->percent  ? "% of the largest value (_pct: as it is)"
	          : d->n_y == 1 ? o->y
	                        : "");
	if (add_lines(d, p, e) < 0 || add_marks(d, p, e) < 0) {
		plot_free(p);
		return NULL;
	}
	return p;
}

static int draw(const struct options *o, const char *path, struct str *out, struct err *e)
{
	struct drawing d = { .o = o };
	struct resdb *db = res_open(path, DB_READ, e);
	struct plot *p;
	int rc = -1;

	if (!db)
		return -1;
	if (sweep_view_open(&d.v, db, (int64_t)o->sweep, e) < 0)
		goto out;
	d.by = d.v.s->n_axes;
	if ((o->by && axis_named(&d, o->by, "--by", &d.by, e) < 0) || read_y(&d, e) < 0 || choose_points(&d, e) < 0 ||
	    read_x(&d, e) < 0 || check_lines(&d, e) < 0 || evaluate(&d, e) < 0)
		goto out;
	if ((p = chart(&d, e)))
		rc = picture_put(&o->plot, p, out, e);
out:
	sweep_view_free(&d.v);
	res_free(db);
	return rc;
}

/* --- options ----------------------------------------------------------------------------------------------- */

int cmd_plot_sweep(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .y = "latency_us" };
	const struct opt opts[] = {
		{ 0, "x", OPT_TEXT, &o.x, "KEY", "from left to right: an axis, or an expression" },
		{ 0, "y", OPT_TEXT, &o.y, "EXPR,...",
		  "what is drawn: names and expressions over results, parameters and the"
		  " sweep's columns; latency_us by default" },
		{ 0, "by", OPT_TEXT, &o.by, "KEY", "a line for each value of this axis" },
		{ 0, "where", OPT_LIST, &o.where, "EXPR", SWEEP_WHERE_HELP },
		{ 0, "percent", OPT_FLAG, &o.percent, NULL,
		  "values in percent of the largest of their name, to see several of"
		  " different units together; names that end in _pct are percents already" },
		{ 0, "linear", OPT_FLAG, &o.linear, NULL, "a linear x, also where it spans several octaves" },
		{ 0, "mark", OPT_LIST, &o.marks, "X=TEXT",
		  "a dashed line at this place of x, with its text; may be repeated" },
		{ 0, "title", OPT_TEXT, &o.title, "TEXT", "instead of the name of the sweep's file" },
		{ 0, "xlabel", OPT_TEXT, &o.x_label, "TEXT", "instead of the axis' key" },
		{ 0, "ylabel", OPT_TEXT, &o.y_label, "TEXT", "instead of the value's name" },
		{ 0, "sweep", OPT_COUNT, &o.sweep, "N", "which of the file's sweeps; the last by default" },
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim plot sweep R.db --x KEY [--y EXPR,...] [--by KEY] [--where EXPR]... -o FILE",
		"Draws the points of a stored sweep as lines over one of its axes. Needs gnuplot.",
		"npusim plot sweep /tmp/sweep.db --x l2.size --y latency_us --by kv_buffer.size -o /tmp/l2.svg\n"
		"npusim plot sweep /tmp/sweep.db --x l2.size --y latency_us,dram_bytes,l2_hit_pct --percent"
		" --where 'kv_buffer.size == 0' -o /tmp/l2.png\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = picture_check(&o.plot, e)) == 0) {
		if (!o.x)
			rc = err_set(e, ERR_USAGE, "the axis is missing: --x KEY");
		else if (o.marks.n > MARKS_MAX)
			rc = err_set(e, ERR_USAGE, "more than %d marks", MARKS_MAX);
		else
			rc = draw(&o, args.v[0], out, e);
	}
	opt_list_free(&args);
	opt_list_free(&o.where);
	opt_list_free(&o.marks);
	return rc < 0 ? -1 : 0;
}
