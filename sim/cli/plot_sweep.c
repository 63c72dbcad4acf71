/* plot_sweep.c - npusim plot sweep: stored points as lines over one axis. */
#include "sim/cli/picture.h"
#include "sim/cli/plot.h"
#include "sim/cli/sweep.h"
#include "sim/report/sweep_chart.h"

#define MARKS_MAX 8

struct options {
	struct sweep_chart c;
	struct opt_list where, marks;
	uint64_t sweep;
	struct picture_to plot;
};

static int plot_sweep(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct options *o = options;
	struct resdb *db;
	struct plot *p = NULL;

	if (picture_check(&o->plot, e) < 0)
		return -1;
	if (!o->c.x)
		return err_set(e, ERR_USAGE, "the axis is missing: --x KEY");
	if (o->marks.n > MARKS_MAX)
		return err_set(e, ERR_USAGE, "more than %d marks", MARKS_MAX);
	o->c.where = o->where.v;
	o->c.n_where = o->where.n;
	o->c.marks = o->marks.v;
	o->c.n_marks = o->marks.n;
	o->c.sweep = (int64_t)o->sweep;
	if ((db = res_open(args->v[0], DB_READ, e)))
		p = sweep_chart(&o->c, db, e);
	res_free(db);
	return p ? picture_put(&o->plot, p, d->to, e) : -1;
}

int cmd_plot_sweep(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .c = { .y = "latency_us" } };
	const struct opt opts[] = {
		{ 0, "x", OPT_TEXT, &o.c.x, "KEY", "from left to right: an axis, or an expression" },
		{ 0, "y", OPT_TEXT, &o.c.y, "EXPR,...",
		  "what is drawn: names and expressions over results, parameters and the"
		  " sweep's columns; latency_us by default" },
		{ 0, "by", OPT_TEXT, &o.c.by, "KEY", "a line for each value of this axis" },
		{ 0, "where", OPT_LIST, &o.where, "EXPR", SWEEP_WHERE_HELP },
		{ 0, "percent", OPT_FLAG, &o.c.percent, NULL,
		  "values in percent of the largest of their name, to see several of"
		  " different units together; names that end in _pct are percents already" },
		{ 0, "linear", OPT_FLAG, &o.c.linear, NULL, "a linear x, also where it spans several octaves" },
		{ 0, "mark", OPT_LIST, &o.marks, "X=TEXT",
		  "a dashed line at this place of x, with its text; may be repeated" },
		{ 0, "title", OPT_TEXT, &o.c.title, "TEXT", "instead of the name of the sweep's file" },
		{ 0, "xlabel", OPT_TEXT, &o.c.x_label, "TEXT", "instead of the axis' key" },
		{ 0, "ylabel", OPT_TEXT, &o.c.y_label, "TEXT", "instead of the value's name" },
		{ 0, "sweep", OPT_COUNT, &o.sweep, "N", "which of the file's sweeps; the last by default" },
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim plot sweep R.db --x KEY [--y EXPR,...] [--by KEY] [--where EXPR]... -o FILE",
		"Draws the points of a stored sweep as lines over one of its axes." PICTURE_NEEDS,
		"npusim plot sweep /tmp/sweep.db --x l2.size --y latency_us --by kv_buffer.size -o /tmp/l2.svg\n"
		"npusim plot sweep /tmp/sweep.db --x l2.size --y latency_us,dram_bytes,l2_hit_pct --percent"
		" --where 'kv_buffer.size == 0' -o /tmp/l2.png\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, NULL, plot_sweep, &o, argc, argv, out, e);
}
