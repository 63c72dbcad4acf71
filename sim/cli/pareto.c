/* pareto.c - npusim pareto, best and sensitivity: what a stored sweep says about its designs.
 *
 * Objectives are the sweep's own, or those of the command line. Only points that are done, meet the sweep's constraints
 * and have a value for every objective count. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/study.h"

struct options {
	struct opt_list less, more, where;
	const char *of, *format;
	uint64_t sweep, n;
};

/* --- tables of points -------------------------------------------------------------------------------------- */

/* An objective that is an axis stands there already. */
static bool is_axis(const struct study *t, int goal)
{
	for (size_t i = 0; i < t->v.s->n_axes; i++)
		if (strcmp(t->v.s->axes[i].key, t->goals[goal].name) == 0)
			return true;
	return false;
}

/* A column of the sweep that is no objective stands beside them. */
static bool is_own(const struct study *t, size_t column)
{
	const struct sweep_column *c = &t->v.s->columns[column];

	for (int g = 0; g < t->n_goals; g++)
		if (strcmp(t->goals[g].name, c->name) == 0)
			return false;
	return c->goal == SWEEP_COLUMN;
}

/* Values of the sweep's own columns, by column; NULL: it is none. */
static int own_values(struct study *t, struct expr_value ***out, struct err *e)
{
	const struct sweep *s = t->v.s;

	if (!(*out = arena_array(t->v.a, s->n_columns + 1, sizeof **out)))
		return err_nomem(e, "for the table");
	for (size_t c = 0; c < s->n_columns; c++)
		if (is_own(t, c) && sweep_view_values(&t->v, s->columns[c].x, &(*out)[c], e) < 0)
			return -1;
	return 0;
}

static struct out_table *table_of(const struct study *t, const char *last)
{
	const struct sweep *s = t->v.s;
	struct out_col *cols = arena_array(t->v.a, s->n_axes + s->n_columns + (size_t)t->n_goals + 2, sizeof *cols);
	int n = 0;

	if (!cols)
		return NULL;
	cols[n++] = (struct out_col){ "point", OUT_INT, 0 };
	for (size_t i = 0; i < s->n_axes; i++)
		cols[n++] = (struct out_col){ s->axes[i].key, OUT_TEXT, 0 };
	for (int g = 0; g < t->n_goals; g++)
		if (!is_axis(t, g))
			cols[n++] = (struct out_col){ t->goals[g].name, OUT_REAL, 3 };
	for (size_t c = 0; c < s->n_columns; c++)
		if (is_own(t, c))
			cols[n++] = (struct out_col){ s->columns[c].name, OUT_REAL, 3 };
	if (last)
		cols[n++] = (struct out_col){ last, OUT_TEXT, 0 };
	return out_table_new(cols, n, NULL);
}

static void put_point(const struct study *t, struct expr_value *const *own, size_t i, struct out_table *table)
{
	out_int(table, (int64_t)t->v.points[i].point);
	for (size_t k = 0; k < t->v.s->n_axes; k++)
		out_text(table, t->v.points[i].values[k].text);
	for (int g = 0; g < t->n_goals; g++)
		if (!is_axis(t, g))
			out_real(table, t->goals[g].values[i].number);
	for (size_t c = 0; c < t->v.s->n_columns; c++)
		if (own[c] && own[c][i].type == EXPR_NUMBER)
			out_real(table, own[c][i].number);
		else if (own[c])
			out_null(table);
}

/* --- ends of axes ------------------------------------------------------------------------------------------ */

/* The best among points whose axis has not the value that the best of all has there. */
static double best_elsewhere(const struct study *t, size_t axis, double value)
{
	double best = INFINITY;

	for (size_t i = 0; i < t->n; i++)
		if (t->v.points[t->points[i]].values[axis].number != value)
			best = fmin(best, study_cost(t, 0, t->points[i]));
	return best;
}

/* Says where the best design lies on the end of what was tried and the axis matters: what lies beyond nobody knows. */
static void say_ends(const struct study *t, struct str *out)
{
	const size_t at = t->n ? t->points[0] : 0;
	const double best = t->n ? study_cost(t, 0, at) : 0;
	bool said = false;

	for (size_t k = 0; t->n && k < t->v.s->n_axes; k++) {
		const struct res_value *v = &t->v.points[at].values[k];
		double low = v->number, high = v->number;

		for (size_t i = 0; v->is_number && i < t->n; i++) {
			low = fmin(low, t->v.points[t->points[i]].values[k].number);
			high = fmax(high, t->v.points[t->points[i]].values[k].number);
		}
		if (!v->is_number || low == high || (v->number != low && v->number != high) ||
		    strcmp(t->goals[0].name, t->v.s->axes[k].key) == 0 ||
		    best_elsewhere(t, k, v->number) - best <= 1e-3 * fabs(best))
			continue;
		str_addf(out, "%s%s is best at %s, the end of what was tried: %s may be better still\n",
		         said ? "" : "\n", t->v.s->axes[k].key, v->text, v->number == high ? "more" : "less");
		said = true;
	}
}

/* --- pareto ------------------------------------------------------------------------------------------------ */

static int open_study(struct study *t, struct resdb **db, const char *path, const struct options *o, struct err *e)
{
	const struct study_ask ask = { (int64_t)o->sweep, o->less, o->more, o->where };

	memset(t, 0, sizeof *t);
	*db = res_open(path, DB_READ, e);
	return *db ? study_open(t, *db, &ask, e) : -1;
}

static int pareto(const char *path, struct options *o, enum out_format f, struct str *out, struct err *e)
{
	struct out_table *table = NULL;
	struct expr_value **own;
	struct study t;
	size_t all, mid;
	struct resdb *db;
	int rc = open_study(&t, &db, path, o, e);

	if (rc < 0 || (rc = study_some(&t, e)) < 0)
		goto out;
	all = t.n;
	if ((rc = study_keep_front(&t, e)) < 0 || (rc = own_values(&t, &own, e)) < 0)
		goto out;
	if (!(table = table_of(&t, "note"))) {
		rc = err_nomem(e, "for the front");
		goto out;
	}
	study_sort(&t);
	mid = study_knee(&t);
	for (size_t i = 0; i < t.n; i++) {
		put_point(&t, own, t.points[i], table);
		out_text(table, t.n_goals > 1 && i == mid ? "knee" : NULL);
	}
	if (f == OUT_TABLE)
		str_addf(out, "%zu of %zu points: no other is as good in every objective and better in one\n\n", t.n,
		         all);
	out_table_write(table, f, out);
out:
	out_table_free(table);
	study_free(&t);
	res_free(db);
	return rc;
}

/* --- best -------------------------------------------------------------------------------------------------- */

static int best(const char *path, struct options *o, enum out_format f, struct str *out, struct err *e)
{
	struct out_table *table = NULL;
	struct study t;
	struct resdb *db;
	struct expr_value **own;
	int rc = open_study(&t, &db, path, o, e);

	if (rc == 0 && (rc = study_some(&t, e)) == 0)
		rc = own_values(&t, &own, e);
	if (rc == 0 && !(table = table_of(&t, NULL)))
		rc = err_nomem(e, "for the table");
	if (rc == 0) {
		study_sort(&t);
		for (size_t i = 0; i < t.n && i < o->n; i++)
			put_point(&t, own, t.points[i], table);
		if (f == OUT_TABLE)
			str_addf(out, "%s %s first, of %zu points\n\n", t.goals[0].more ? "most" : "least",
			         t.goals[0].name, t.n);
		out_table_write(table, f, out);
		if (f == OUT_TABLE)
			say_ends(&t, out);
	}
	out_table_free(table);
	study_free(&t);
	res_free(db);
	return rc;
}

/* --- sensitivity ------------------------------------------------------------------------------------------- */

static void put_term(const struct study *t, const struct study_term *x, struct out_table *table)
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

/* And how many of the points miss a constraint: best and pareto leave those out. */
static void say_over(const struct study *t, const char *of, struct str *out)
{
	const size_t missed = t->n_all - t->n;

	str_addf(out, "%s over %zu points: which axis explains how much of its variance, alone and two together\n", of,
	         t->n_all);
	if (missed)
		str_addf(out, "%zu of them miss%s a constraint\n", missed, missed == 1 ? "es" : "");
	str_addc(out, '\n');
}

static int sensitivity(const char *path, struct options *o, enum out_format f, struct str *out, struct err *e)
{
	static const struct out_col cols[] = { { "axis", OUT_TEXT, 0 },       { "variance_pct", OUT_REAL, 2 },
		                               { "least_mean", OUT_REAL, 3 }, { "at", OUT_TEXT, 0 },
		                               { "most_mean", OUT_REAL, 3 },  { "at_most", OUT_TEXT, 0 } };
	struct out_table *table = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	struct study_term *terms;
	struct resdb *db;
	struct study t;
	double mean;
	size_t n = 0;
	int rc;

	opt_list_free(&o->less);
	opt_list_free(&o->more);
	o->less = (struct opt_list){ &o->of, 1 };
	o->more = (struct opt_list){ NULL, 0 };
	rc = open_study(&t, &db, path, o, e);
	o->less = (struct opt_list){ NULL, 0 };
	if (rc == 0 && !table)
		rc = err_nomem(e, "for the effects");
	if (rc == 0)
		rc = study_any(&t, e);
	if (rc == 0 && (rc = study_effects(&t, &terms, &n, &mean, e)) == 0) {
		for (size_t i = 0; i < n; i++)
			put_term(&t, &terms[i], table);
		if (f == OUT_TABLE)
			say_over(&t, o->of, out);
		out_table_write(table, f, out);
	}
	out_table_free(table);
	study_free(&t);
	res_free(db);
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
	opt_list_free(&o->where);
	return rc < 0 ? -1 : 0;
}

#define GOAL_OPTS \
	{ 0, "minimize", OPT_LIST, &o.less, "EXPR", "an objective, instead of the sweep's own; may be repeated" }, \
	{ \
		0, "maximize", OPT_LIST, &o.more, "EXPR", "the same, where more is better" \
	}
#define COMMON_OPTS \
	{ 0, "where", OPT_LIST, &o.where, "EXPR", SWEEP_WHERE_HELP }, \
		{ 0, "sweep", OPT_COUNT, &o.sweep, "N", "which of the file's sweeps; the last by default" }, \
	{ \
		0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP \
	}

int cmd_pareto(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = 0 };
	const struct opt opts[] = { GOAL_OPTS, COMMON_OPTS, { .type = OPT_END } };
	const struct opt_cmd cmd = {
		"npusim pareto R.db [--minimize EXPR]... [--maximize EXPR]... [--where EXPR]...",
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
	const struct opt opts[] = { { 'n', "rows", OPT_COUNT, &o.n, "N", "how many; 10 by default" },
		                    GOAL_OPTS,
		                    COMMON_OPTS,
		                    { .type = OPT_END } };
	const struct opt_cmd cmd = {
		"npusim best R.db [-n N] [--minimize EXPR | --maximize EXPR] [--where EXPR]...",
		"The best designs of a stored sweep by its first objective, among those that meet its constraints.",
		"npusim best /tmp/sweep.db -n 5\n"
		"npusim best /tmp/sweep.db --maximize 'l2.hit_bytes / l2.read_bytes'\n"
		"npusim best /tmp/sweep.db --where 'l2.size <= 128 MiB' --where 'cores == 32'\n",
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
	const struct opt_cmd cmd = {
		"npusim sensitivity R.db [--of EXPR] [--where EXPR]...",
		"What matters in a stored sweep: for every axis the share of the variance that "
		"its means explain, with its least and"
		" largest mean, and for every two axes what they explain together beyond each "
		"alone. Points that miss a constraint of the sweep count too, for the shares add up only on a"
		" whole grid; on a part of one, as --where makes it, they are a hint.",
		"npusim sensitivity /tmp/sweep.db\n"
		"npusim sensitivity /tmp/sweep.db --of dram_bytes --format csv\n",
		opts,
		1,
		1
	};

	return command(&cmd, &o, sensitivity, argc, argv, out, e);
}
