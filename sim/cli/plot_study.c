/* plot_study.c - npusim plot pareto and plot tornado: the front of a stored sweep, and what matters in it. What is
 * drawn is what npusim pareto and npusim sensitivity print. */
#include <string.h>

#include "sim/cli/picture.h"
#include "sim/cli/plot.h"
#include "sim/cli/sweep.h"
#include "sim/study/study.h"

struct options {
	struct opt_list less, more, where;
	const char *of, *title;
	uint64_t sweep;
	struct picture_to plot;
};

typedef int check_fn(struct study *t, struct err *e);

static int front(struct study *t, struct err *e)
{
	if (study_some(t, e) < 0)
		return -1;
	return t->n_goals > 1 ? 0
	                      : err_set(e, ERR_USAGE,
	                                "a front takes two objectives, and '%s' is the only one: --minimize EXPR",
	                                t->goals[0].name);
}

/* Of all points, also of those that miss a constraint. */
static int tornado(struct study *t, struct err *e)
{
	struct study_term *terms;
	double mean;
	size_t n;

	if (study_any(t, e) < 0 || study_effects(t, &terms, &n, &mean, e) < 0)
		return -1;
	t->points = t->all;
	t->n = t->n_all;
	return n ? 0 : err_set(e, ERR_IO, "no axis of this sweep takes several values");
}

struct drawn {
	const char *path;
	struct study *t;
};

static int put_study(struct out_json *j, void *arg, struct err *e)
{
	const struct drawn *x = arg;
	int rc;

	out_json_open(j, "runs", '[');
	out_json_close(j, ']');
	out_json_open(j, "sweeps", '[');
	rc = page_study(j, x->path, x->t, e);
	out_json_close(j, ']');
	return rc;
}

static int plot_study_draw(const char *path, const struct options *o, check_fn *check, struct str *out, struct err *e)
{
	const char *name = o->of;
	const struct study_ask ask = { .sweep = (int64_t)o->sweep,
		                       .less = name ? &name : o->less.v,
		                       .n_less = name ? 1 : o->less.n,
		                       .more = o->more.v,
		                       .n_more = o->more.n,
		                       .where = o->where.v,
		                       .n_where = o->where.n };
	struct resdb *db = res_open(path, DB_READ, e);
	char title[SWEEP_NAME_MAX];
	struct study t;
	int rc = -1;

	memset(&t, 0, sizeof t);
	if (db && study_open(&t, db, &ask, e) == 0 && check(&t, e) == 0) {
		sweep_stem(t.v.head.name, title);
		rc = picture_put_page(&o->plot, o->title ? o->title : title, put_study, &(struct drawn){ path, &t },
		                      check == front ? "sweep0-front" : "sweep0-tornado", out, e);
	}
	study_free(&t);
	res_free(db);
	return rc;
}

static int plot_study_command(const struct opt_cmd *cmd, struct options *o, check_fn *check, int argc, char **argv,
                              struct str *out, struct err *e)
{
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = picture_check(&o->plot, e)) == 0)
		rc = plot_study_draw(args.v[0], o, check, out, e);
	opt_list_free(&args);
	opt_list_free(&o->less);
	opt_list_free(&o->more);
	opt_list_free(&o->where);
	return rc < 0 ? -1 : 0;
}

#define SWEEP_OPTS \
	{ 0, "where", OPT_LIST, &o.where, "EXPR", SWEEP_WHERE_HELP }, \
		{ 0, "title", OPT_TEXT, &o.title, "TEXT", "instead of the name of the sweep's file" }, \
	{ \
		0, "sweep", OPT_COUNT, &o.sweep, "N", "which of the file's sweeps; the last by default" \
	}

int cmd_plot_pareto(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .of = NULL };
	const struct opt opts[] = {
		{ 0, "minimize", OPT_LIST, &o.less, "EXPR",
		  "an objective, instead of the sweep's own; the first is drawn upwards, the second to the right" },
		{ 0, "maximize", OPT_LIST, &o.more, "EXPR", "the same, where more is better" },
		SWEEP_OPTS,
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim plot pareto R.db [--minimize EXPR]... [--maximize EXPR]... [--where EXPR]... -o FILE",
		"Draws the points of a stored sweep by its first two objectives, with the front "
		"that no point beats and "
		"its knee." PICTURE_NEEDS,
		"npusim plot pareto /tmp/sweep.db -o /tmp/front.svg\n",
		opts,
		1,
		1
	};

	return plot_study_command(&cmd, &o, front, argc, argv, out, e);
}

int cmd_plot_tornado(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .of = "latency_us" };
	const struct opt opts[] = {
		{ 0, "of", OPT_TEXT, &o.of, "EXPR", "of what; latency_us by default" },
		SWEEP_OPTS,
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim plot tornado R.db [--of EXPR] [--where EXPR]... -o FILE",
		"Draws what matters in a stored sweep: for every axis how far its best and its "
		"worst value lie from the "
		"mean of all"
		" points (also of those that miss a constraint), most of the variance first." PICTURE_NEEDS,
		"npusim plot tornado /tmp/sweep.db -o /tmp/tornado.svg\n"
		"npusim plot tornado /tmp/sweep.db --of dram_bytes -o /tmp/tornado.png\n",
		opts,
		1,
		1
	};

	return plot_study_command(&cmd, &o, tornado, argc, argv, out, e);
}
