/* export.c - npusim export: stored results as CSV. Points have the sweep's own columns and objectives beside what is
 * stored: those are expressions, worked out here. */
#include "sim/cli/export_chakra.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/db/res_export.h"
#include "sim/study/sweep_view.h"
#include "sim/ui/outfile.h"

struct options {
	const char *to;
	uint64_t sweep;
	struct export_chakra chakra;
};

static int to_file(void *ctx, struct str *text, struct err *e)
{
	struct outfile *o = ctx;

	str_addn(&o->text, str_c(text), text->len);
	str_clear(text);
	return outfile_flush(o, e);
}

static int to_text(void *ctx, struct str *text, struct err *e)
{
	struct str *out = ctx;

	(void)e;
	str_addn(out, str_c(text), text->len);
	str_clear(text);
	return 0;
}

/* --- the sweep's own columns ------------------------------------------------------------------------------- */

static int own_column(struct sweep_view *v, struct expr *x, double **out, struct err *e)
{
	struct expr_value *values;

	if (sweep_view_values(v, x, &values, e) < 0)
		return -1;
	if (!(*out = arena_array(v->a, v->n + 1, sizeof **out)))
		return err_nomem(e, "for the sweep's columns");
	for (size_t i = 0; i < v->n; i++)
		(*out)[i] = values[i].type == EXPR_NUMBER ? values[i].number : (double)NAN;
	return 0;
}

static int own_columns(struct sweep_view *v, struct resdb *db, int64_t sweep, struct res_export_more *m, struct err *e)
{
	const char **names;
	double **values;
	uint64_t *points;

	if (sweep_view_open(v, db, sweep, e) < 0)
		return -1;
	names = arena_array(v->a, v->s->n_columns + 1, sizeof *names);
	values = arena_array(v->a, v->s->n_columns + 1, sizeof *values);
	points = arena_array(v->a, v->n + 1, sizeof *points);
	if (!names || !values || !points)
		return err_nomem(e, "for the sweep's columns");
	for (size_t i = 0; i < v->n; i++)
		points[i] = v->points[i].point;
	*m = (struct res_export_more){ names, v->s->n_columns, points, v->n, values };
	for (size_t c = 0; c < v->s->n_columns; c++) {
		names[c] = v->s->columns[c].name;
		if (own_column(v, v->s->columns[c].x, &values[c], e) < 0)
			return -1;
	}
	return 0;
}

/* What is stored goes out even where its columns cannot be worked out, *why: another build's sweep may name what this
 * one does not know. A file without a sweep is told by the export itself. */
static int add_own(struct sweep_view *v, struct resdb *db, struct res_export *x, struct res_export_more *m,
                   struct err *why, struct err *e)
{
	if (strcmp(x->what, res_export_names[0]) != 0)
		return 0;
	if (own_columns(v, db, x->sweep, m, why) == 0) {
		x->more = m;
		x->sweep = v->head.id;
	} else if (why->kind == ERR_NOMEM) {
		*e = *why;
		return -1;
	}
	return 0;
}

/* --- all of it --------------------------------------------------------------------------------------------- */

static int export_results(const struct options *o, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct str *out = d->to;
	struct resdb *db = res_open(args->v[0], DB_READ, e);
	struct res_export x = { args->n > 1 ? args->v[1] : res_export_names[0], (int64_t)o->sweep, to_text, out, NULL };
	struct res_export_more own;
	struct sweep_view view = { .a = NULL };
	struct outfile file = { .f = NULL };
	size_t rows;
	struct err why = ERR_INIT;
	int rc = db ? add_own(&view, db, &x, &own, &why, e) : -1;

	if (rc == 0 && o->to && (rc = outfile_open(&file, o->to, e)) == 0) {
		x.take = to_file;
		x.ctx = &file;
	}
	if (rc == 0)
		rc = outfile_close(&file, res_export_csv(db, &x, &rows, e), e);
	if (rc == 0 && why.kind != ERR_NONE)
		fprintf(stderr, "npusim: note: the sweep's own columns are left out: %s\n", why.msg);
	if (rc < 0)
		str_clear(out);
	else if (o->to)
		str_addf(out, "%zu rows of '%s' are in '%s'\n", rows, x.what, o->to);
	sweep_view_free(&view);
	res_free(db);
	return rc;
}

static int export(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;

	if (o->chakra.prefix && (args->n || o->to || o->sweep))
		return err_set(e, ERR_USAGE, "a run's trace is of no stored results, for option '--chakra'");
	if (o->chakra.prefix)
		return export_chakra(&o->chakra, d->to, e);
	if (!args->n)
		return err_set(e, ERR_USAGE,
		               "the results are missing: npusim export R.db, or --chakra PREFIX of a run");
	if (o->chakra.config || o->chakra.sets.n || workload_source(&o->chakra.workload) != WORKLOAD_NONE)
		return err_set(e, ERR_USAGE, "stored results have their machine and workload: these are of '--chakra'");
	return export_results(o, args, d, e);
}

int cmd_export(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .to = NULL };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ 'o', "output", OPT_WRITE, &o.to, "FILE.csv", "write there; stdout by default" },
		{ 0, "sweep", OPT_COUNT, &o.sweep, "N",
		  "only this sweep of the file; by default all, of points the last one" },
		{ 0, "chakra", OPT_TEXT, &o.chakra.prefix, "PREFIX",
		  "instead: a run as Chakra execution traces, PREFIX.CHIP.et, which ASTRA-sim reads; its process groups in"
		  " PREFIX.groups.json" },
		{ 'c', "config", OPT_READ, &o.chakra.config, "CONFIG", "of that run: the system" },
		{ 's', "set", OPT_SETS, &o.chakra.sets, "KEY=VALUE", "change a parameter of it; may be repeated" },
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.chakra.workload, WORKLOAD_LIMITS) },
		{ .type = OPT_END, .arg = OPT_ARGS_FIRST },
	};
	const struct opt_cmd cmd = {
		"npusim export [--chakra PREFIX -c SYSTEM -m MODEL ...] R.db "
		"[points|values|stats|kinds|resources|sweeps|runs|ops|stalls|run-stats|run-resources|limits|warnings|energy|next]",
		"Writes stored results as CSV, for pandas, R or a spreadsheet. 'points', the default, is a row a "
		"design of a"
		" sweep: its axes as columns (numbers in bytes, bytes a second, Hz and ps), its times and totals, and "
		"the columns and objectives of the sweep's own. The others"
		" are the file's views, a row a value: what a point's statistics, kinds of op and resources are; of "
		"stored"
		" runs the totals, ops, what each op waited for, statistics and resources. results/schema.md explains "
		"every"
		" column, and how to read the file without this command. With --chakra it is operators and collectives of a model's"
		" step, with their simulated times, for a simulator of larger networks.",
		"npusim export /tmp/sweep.db -o /tmp/points.csv\n"
		"npusim export /tmp/sweep.db stats | grep ',dram.busy_ps,'\n"
		"npusim export /tmp/r.db ops -o /tmp/ops.csv\n"
		"npusim export --chakra /tmp/step -c dsocr-8 -m llama-3.1-8b --tp 4 --pp 2 --batch 8\n",
		opts,
		0,
		2
	};

	return cmd_do(&cmd, NULL, export, &o, argc, argv, out, e);
}
