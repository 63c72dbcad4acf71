/* cmd_pareto.c - npusim pareto, best and sensitivity: what a stored sweep says about its designs.
 *
 * Objectives are the sweep's own, or those of the command line. Only points that are done, meet the sweep's constraints
 * and have a value for every objective count. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd_sweep.h"

#define GOALS_MAX 8

struct options {
	struct opt_list less, more;
	const char *of, *format;
	uint64_t sweep, n;
};

struct goal {
	const char *name;
	bool more;
	const struct expr_value *values;
};

struct study {
	struct resdb *db;
	struct sweep_view v;
	struct goal goals[GOALS_MAX];
	int n_goals;
	size_t *points, n; /* those that count, in order */
};

/* --- reading ----------------------------------------------------------------------------------------------- */

static int add_goal(struct study *t, const char *text, struct expr *x, bool more, struct err *e)
{
	struct expr_value *values;

	if (t->n_goals == GOALS_MAX)
		return err_set(e, ERR_USAGE, "more than %d objectives", GOALS_MAX);
	if (!x && !(x = expr_new(t->v.s->exprs, text, sweep_find, t->v.s, e))) {
		if (e->kind == ERR_CONFIG)
			e->kind = ERR_USAGE;
		return err_add(e, "reading an objective");
	}
	if (sweep_view_values(&t->v, x, &values, e) < 0)
		return -1;
	t->goals[t->n_goals++] = (struct goal){ text, more, values };
	return 0;
}

static int add_goals(struct study *t, const struct options *o, struct err *e)
{
	const struct sweep *s = t->v.s;

	for (int i = 0; i < o->less.n; i++)
		if (add_goal(t, o->less.v[i], NULL, false, e) < 0)
			return -1;
	for (int i = 0; i < o->more.n; i++)
		if (add_goal(t, o->more.v[i], NULL, true, e) < 0)
			return -1;
	for (size_t c = 0; o->less.n + o->more.n == 0 && c < s->n_columns; c++)
		if (s->columns[c].goal != SWEEP_COLUMN &&
		    add_goal(t, s->columns[c].name, s->columns[c].x, s->columns[c].goal == SWEEP_MAXIMIZE, e) < 0)
			return -1;
	return t->n_goals ? 0 : add_goal(t, "latency_us", NULL, false, e);
}

static int study_open(struct study *t, const char *path, const struct options *o, struct err *e)
{
	bool *feasible;

	memset(t, 0, sizeof *t);
	if (!(t->db = res_open(path, DB_READ, e)) || sweep_view_open(&t->v, t->db, (int64_t)o->sweep, e) < 0 ||
	    add_goals(t, o, e) < 0 || sweep_view_feasible(&t->v, &feasible, e) < 0)
		return -1;
	if (!(t->points = arena_array(t->v.a, t->v.n + 1, sizeof *t->points)))
		return err_set(e, ERR_NOMEM, "no memory for the points");
	for (size_t i = 0; i < t->v.n; i++) {
		bool known = feasible[i];

		for (int g = 0; g < t->n_goals; g++)
			known &= t->goals[g].values[i].type == EXPR_NUMBER;
		if (known)
			t->points[t->n++] = i;
	}
	return t->n ? 0
	            : err_set(e, ERR_IO,
	                      "no point of this sweep is done, meets its constraints and has a value for every"
	                      " objective");
}

static void study_free(struct study *t)
{
	sweep_view_free(&t->v);
	res_free(t->db);
}

/* Smaller is better, whichever way the goal goes. */
static double cost(const struct study *t, int goal, size_t point)
{
	double v = t->goals[goal].values[point].number;

	return t->goals[goal].more ? -v : v;
}

/* --- tables of points -------------------------------------------------------------------------------------- */

/* An objective that is an axis stands there already. */
static bool is_axis(const struct study *t, int goal)
{
	for (size_t i = 0; i < t->v.s->n_axes; i++)
		if (strcmp(t->v.s->axes[i].key, t->goals[goal].name) == 0)
			return true;
	return false;
}

static struct out_table *table_of(const struct study *t, const char *last)
{
	const struct sweep *s = t->v.s;
	struct out_col *cols = arena_array(t->v.a, s->n_axes + (size_t)t->n_goals + 2, sizeof *cols);
	int n = 0;

	if (!cols)
		return NULL;
	cols[n++] = (struct out_col){ "point", OUT_INT, 0 };
	for (size_t i = 0; i < s->n_axes; i++)
		cols[n++] = (struct out_col){ s->axes[i].key, OUT_TEXT, 0 };
	for (int g = 0; g < t->n_goals; g++)
		if (!is_axis(t, g))
			cols[n++] = (struct out_col){ t->goals[g].name, OUT_REAL, 3 };
	if (last)
		cols[n++] = (struct out_col){ last, OUT_TEXT, 0 };
	return out_table_new(cols, n, NULL);
}

static void put_point(const struct study *t, size_t i, struct out_table *table)
{
	out_int(table, (int64_t)t->v.points[i].point);
	for (size_t k = 0; k < t->v.s->n_axes; k++)
		out_text(table, t->v.points[i].values[k].text);
	for (int g = 0; g < t->n_goals; g++)
		if (!is_axis(t, g))
			out_real(table, t->goals[g].values[i].number);
}

/* By the first objective, then the others, then the number: insertion, so that the order is the same everywhere. */
static bool before(const struct study *t, size_t a, size_t b)
{
	for (int g = 0; g < t->n_goals; g++)
		if (cost(t, g, a) < cost(t, g, b) || cost(t, g, a) > cost(t, g, b))
			return cost(t, g, a) < cost(t, g, b);
	return a < b;
}

static void sort_points(struct study *t)
{
	for (size_t i = 1; i < t->n; i++) {
		size_t x = t->points[i], k = i;

		for (; k > 0 && before(t, x, t->points[k - 1]); k--)
			t->points[k] = t->points[k - 1];
		t->points[k] = x;
	}
}

/* --- pareto ------------------------------------------------------------------------------------------------ */

static bool dominates(const struct study *t, size_t a, size_t b)
{
	bool better = false;

	for (int g = 0; g < t->n_goals; g++) {
		if (cost(t, g, a) > cost(t, g, b))
			return false;
		better |= cost(t, g, a) < cost(t, g, b);
	}
	return better;
}

static void keep_front(struct study *t)
{
	size_t kept = 0, *front = arena_array(t->v.a, t->n, sizeof *front);

	for (size_t i = 0; front && i < t->n; i++) {
		bool beaten = false;

		for (size_t k = 0; k < t->n && !beaten; k++)
			beaten = dominates(t, t->points[k], t->points[i]);
		if (!beaten)
			front[kept++] = t->points[i];
	}
	t->points = front;
	t->n = front ? kept : 0;
}

/* The point of the front nearest to the best of every objective at once, each scaled to the front's span. */
static size_t knee(const struct study *t)
{
	double least = INFINITY;
	size_t at = 0;

	for (size_t i = 0; i < t->n; i++) {
		double sum = 0;

		for (int g = 0; g < t->n_goals; g++) {
			double low = INFINITY, high = -INFINITY, x;

			for (size_t k = 0; k < t->n; k++) {
				low = fmin(low, cost(t, g, t->points[k]));
				high = fmax(high, cost(t, g, t->points[k]));
			}
			x = high > low ? (cost(t, g, t->points[i]) - low) / (high - low) : 0;
			sum += x * x;
		}
		if (sum < least) {
			least = sum;
			at = i;
		}
	}
	return at;
}

static int pareto(const char *path, struct options *o, enum out_format f, struct str *out, struct err *e)
{
	struct out_table *table = NULL;
	struct study t;
	size_t all, mid;
	int rc = study_open(&t, path, o, e);

	if (rc < 0)
		goto out;
	all = t.n;
	keep_front(&t);
	if (!t.n || !(table = table_of(&t, "note"))) {
		rc = err_set(e, ERR_NOMEM, "no memory for the front");
		goto out;
	}
	sort_points(&t);
	mid = knee(&t);
	for (size_t i = 0; i < t.n; i++) {
		put_point(&t, t.points[i], table);
		out_text(table, t.n_goals > 1 && i == mid ? "knee" : NULL);
	}
	if (f == OUT_TABLE)
		str_addf(out, "%zu of %zu points: no other is as good in every objective and better in one\n\n", t.n,
		         all);
	out_table_write(table, f, out);
out:
	out_table_free(table);
	study_free(&t);
	return rc;
}

/* --- best -------------------------------------------------------------------------------------------------- */

static int best(const char *path, struct options *o, enum out_format f, struct str *out, struct err *e)
{
	struct out_table *table = NULL;
	struct study t;
	int rc = study_open(&t, path, o, e);

	if (rc == 0 && !(table = table_of(&t, NULL)))
		rc = err_set(e, ERR_NOMEM, "no memory for the table");
	if (rc == 0) {
		sort_points(&t);
		for (size_t i = 0; i < t.n && i < o->n; i++)
			put_point(&t, t.points[i], table);
		if (f == OUT_TABLE)
			str_addf(out, "%s %s first, of %zu points\n\n", t.goals[0].more ? "most" : "least",
			         t.goals[0].name, t.n);
		out_table_write(table, f, out);
	}
	out_table_free(table);
	study_free(&t);
	return rc;
}

/* --- sensitivity ------------------------------------------------------------------------------------------- */

/* One axis, or two together: what share of the variance its means explain. */
struct term {
	size_t a, b;
	double share, low, high;
	const char *at_low, *at_high;
};

static size_t value_index(const struct study *t, size_t point, size_t axis)
{
	const struct sweep_axis *x = &t->v.s->axes[axis];
	size_t i = 0;

	while (i < x->n && strcmp(x->values[i].text, t->v.points[point].values[axis].text) != 0)
		i++;
	return i;
}

/* Sum over cells of n (mean - all)^2, where a cell is one value of a and one of b (b == a: of a alone). */
static int between(const struct study *t, struct term *x, double mean, double *out, struct err *e)
{
	/* One place more an axis: continuous samples have values that the file does not list. */
	const size_t na = t->v.s->axes[x->a].n + 1, nb = x->a == x->b ? 1 : t->v.s->axes[x->b].n + 1;
	double *sum = calloc(na * nb, sizeof *sum);
	size_t *n = calloc(na * nb, sizeof *n);

	*out = 0;
	x->low = INFINITY;
	x->high = -INFINITY;
	for (size_t i = 0; sum && n && i < t->n; i++) {
		size_t cell =
			value_index(t, t->points[i], x->a) * nb + (nb > 1 ? value_index(t, t->points[i], x->b) : 0);

		sum[cell] += t->goals[0].values[t->points[i]].number;
		n[cell]++;
	}
	for (size_t c = 0; sum && n && c < na * nb; c++) {
		double m = n[c] ? sum[c] / (double)n[c] : mean;
		const char *name = c / nb < na - 1 ? t->v.s->axes[x->a].values[c / nb].text : "?";

		*out += (double)n[c] * (m - mean) * (m - mean);
		if (n[c] && m < x->low) {
			x->low = m;
			x->at_low = name;
		}
		if (n[c] && m > x->high) {
			x->high = m;
			x->at_high = name;
		}
	}
	free(sum);
	free(n);
	return sum && n ? 0 : err_set(e, ERR_NOMEM, "no memory for the means");
}

static void put_term(const struct study *t, const struct term *x, struct out_table *table)
{
	const struct sweep_axis *axes = t->v.s->axes;
	char name[160];

	snprintf(name, sizeof name, "%s%s%s", axes[x->a].key, x->a == x->b ? "" : " x ",
	         x->a == x->b ? "" : axes[x->b].key);
	out_text(table, name);
	out_real(table, fabs(x->share) < 1e-12 ? 0 : 100 * x->share); /* what rounding leaves of nothing */
	if (x->a != x->b) {
		for (int i = 0; i < 2; i++) {
			out_null(table);
			out_text(table, NULL);
		}
		return;
	}
	out_real(table, x->low);
	out_text(table, x->at_low);
	out_real(table, x->high);
	out_text(table, x->at_high);
}

static int measure(const struct study *t, struct term *terms, size_t *n, struct err *e)
{
	const size_t axes = t->v.s->n_axes;
	double mean = 0, total = 0, ss;
	size_t k = 0;

	for (size_t i = 0; i < t->n; i++)
		mean += t->goals[0].values[t->points[i]].number / (double)t->n;
	for (size_t i = 0; i < t->n; i++) {
		double d = t->goals[0].values[t->points[i]].number - mean;

		total += d * d;
	}
	for (size_t a = 0; a < axes; a++, k++) {
		terms[k] = (struct term){ .a = a, .b = a };
		if (between(t, &terms[k], mean, &ss, e) < 0)
			return -1;
		terms[k].share = total > 0 ? ss / total : 0;
	}
	for (size_t a = 0; a < axes; a++)
		for (size_t b = a + 1; b < axes; b++, k++) {
			terms[k] = (struct term){ .a = a, .b = b };
			if (between(t, &terms[k], mean, &ss, e) < 0)
				return -1;
			terms[k].share = total > 0 ? ss / total - terms[a].share - terms[b].share : 0;
		}
	*n = k;
	return 0;
}

/* Most of the variance first, axes in the file's order where two are equal. */
static void sort_terms(struct term *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct term x = v[i];
		size_t k = i;

		for (; k > 0 && v[k - 1].share < x.share; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

static int sensitivity(const char *path, struct options *o, enum out_format f, struct str *out, struct err *e)
{
	static const struct out_col cols[] = { { "axis", OUT_TEXT, 0 },       { "variance_pct", OUT_REAL, 2 },
		                               { "least_mean", OUT_REAL, 3 }, { "at", OUT_TEXT, 0 },
		                               { "most_mean", OUT_REAL, 3 },  { "at_most", OUT_TEXT, 0 } };
	struct out_table *table = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	struct term *terms;
	struct study t;
	size_t n = 0;
	int rc;

	opt_list_free(&o->less);
	opt_list_free(&o->more);
	o->less = (struct opt_list){ &o->of, 1 };
	o->more = (struct opt_list){ NULL, 0 };
	rc = study_open(&t, path, o, e);
	o->less = (struct opt_list){ NULL, 0 };
	if (rc == 0 &&
	    (!table || !(terms = arena_array(t.v.a, t.v.s->n_axes * (t.v.s->n_axes + 1) / 2, sizeof *terms))))
		rc = err_set(e, ERR_NOMEM, "no memory for the effects");
	if (rc == 0 && (rc = measure(&t, terms, &n, e)) == 0) {
		sort_terms(terms, n);
		for (size_t i = 0; i < n; i++) /* an axis of one value explains nothing */
			if (t.v.s->axes[terms[i].a].n > 1 && t.v.s->axes[terms[i].b].n > 1)
				put_term(&t, &terms[i], table);
		if (f == OUT_TABLE)
			str_addf(out,
			         "%s over %zu points: which axis explains how much of its variance, alone and two "
			         "together\n\n",
			         o->of, t.n);
		out_table_write(table, f, out);
	}
	out_table_free(table);
	study_free(&t);
	return rc;
}

/* --- options ----------------------------------------------------------------------------------------------- */

typedef int study_fn(const char *path, struct options *o, enum out_format f, struct str *out, struct err *e);

static int command(const struct opt_cmd *cmd, struct options *o, study_fn *run, int argc, char **argv, struct str *out,
                   struct err *e)
{
	struct opt_list args = { NULL, 0 };
	enum out_format f;
	int rc = cmd_parse(cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = cmd_format(o->format, &f, e)) == 0)
		rc = run(args.v[0], o, f, out, e);
	opt_list_free(&args);
	opt_list_free(&o->less);
	opt_list_free(&o->more);
	return rc < 0 ? -1 : 0;
}

#define GOAL_OPTS                                                                                                      \
	{ 0, "minimize", OPT_LIST, &o.less, "EXPR", "an objective, instead of the sweep's own; may be repeated" },     \
	{                                                                                                              \
		0, "maximize", OPT_LIST, &o.more, "EXPR", "the same, where more is better"                             \
	}
#define COMMON_OPTS                                                                                                    \
	{ 0, "sweep", OPT_U64, &o.sweep, "N", "which of the file's sweeps; the last by default" },                     \
	{                                                                                                              \
		0, "format", OPT_TEXT, &o.format, "FORMAT", CMD_FORMAT_HELP                                            \
	}

int cmd_pareto(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = 0 };
	const struct opt opts[] = { GOAL_OPTS, COMMON_OPTS, { .type = OPT_END } };
	const struct opt_cmd cmd = {
		"npusim pareto R.db [--minimize EXPR]... [--maximize EXPR]...",
		"The designs of a stored sweep that no other beats in every objective at once, best in the first "
		"objective first."
		" The knee is the one nearest to the best of all objectives, each scaled to the span of the front.",
		"npusim pareto /tmp/sweep.db\n"
		"npusim pareto /tmp/sweep.db --minimize latency_us --minimize '(l2.size + kv_buffer.size) / 1 MiB'\n",
		opts,
		1,
		1
	};

	return command(&cmd, &o, pareto, argc, argv, out, e);
}

int cmd_best(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = 10 };
	const struct opt opts[] = { { 'n', "rows", OPT_U64, &o.n, "N", "how many; 10 by default" },
		                    GOAL_OPTS,
		                    COMMON_OPTS,
		                    { .type = OPT_END } };
	const struct opt_cmd cmd = {
		"npusim best R.db [-n N] [--minimize EXPR | --maximize EXPR]",
		"The best designs of a stored sweep by its first objective, among those that meet its constraints.",
		"npusim best /tmp/sweep.db -n 5\n"
		"npusim best /tmp/sweep.db --maximize 'l2.hit_bytes / l2.read_bytes'\n",
		opts,
		1,
		1
	};

	return command(&cmd, &o, best, argc, argv, out, e);
}

int cmd_sensitivity(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .of = "latency_us" };
	const struct opt opts[] = { { 0, "of", OPT_TEXT, &o.of, "EXPR", "of what; latency_us by default" },
		                    COMMON_OPTS,
		                    { .type = OPT_END } };
	const struct opt_cmd cmd = { "npusim sensitivity R.db [--of EXPR]",
		                     "What matters in a stored sweep: for every axis the share of the variance that "
		                     "its means explain, with its least and"
		                     " largest mean, and for every two axes what they explain together beyond each "
		                     "alone. The shares add up only on a"
		                     " whole grid; on a part of one they are a hint.",
		                     "npusim sensitivity /tmp/sweep.db\n"
		                     "npusim sensitivity /tmp/sweep.db --of dram_bytes --format csv\n",
		                     opts,
		                     1,
		                     1 };

	return command(&cmd, &o, sensitivity, argc, argv, out, e);
}
