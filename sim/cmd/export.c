/* export.c - npusim export: stored results as CSV. */
#include "sim/cmd/cmd.h"

#include <string.h>

#include "results/db/res_export.h"
#include "sim/ui/outfile.h"

struct options {
	const char *to;
	uint64_t sweep;
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

static int export(const struct opt_list *args, const struct options *o, struct str *out, struct err *e)
{
	struct resdb *db = res_open(args->v[0], DB_READ, e);
	struct res_export x = { args->n > 1 ? args->v[1] : res_export_names[0], (int64_t)o->sweep, to_text, out };
	struct outfile file = { .f = NULL };
	size_t rows;
	int rc = db ? 0 : -1;

	if (rc == 0 && o->to && (rc = outfile_open(&file, o->to, e)) == 0) {
		x.take = to_file;
		x.ctx = &file;
	}
	if (rc == 0)
		rc = outfile_close(&file, res_export_csv(db, &x, &rows, e), e);
	if (rc < 0)
		str_clear(out);
	else if (o->to)
		str_addf(out, "%zu rows of '%s' are in '%s'\n", rows, x.what, o->to);
	res_free(db);
	return rc;
}

int cmd_export(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { NULL, 0 };
	const struct opt opts[] = {
		{ 'o', "output", OPT_WRITE, &o.to, "FILE.csv", "write there; stdout by default" },
		{ 0, "sweep", OPT_COUNT, &o.sweep, "N",
		  "only this sweep of the file; by default all, of points the last one" },
		{ .type = OPT_END, .arg = OPT_ARGS_FIRST },
	};
	const struct opt_cmd cmd = {
		"npusim export R.db "
		"[points|values|stats|kinds|resources|sweeps|runs|ops|stalls|run-stats|run-resources|limits]",
		"Writes stored results as CSV, for pandas, R or a spreadsheet. 'points', the default, is a row a "
		"design of a"
		" sweep: its axes as columns (numbers in bytes, bytes a second, Hz and ps), its times and totals. The "
		"others"
		" are the file's views, a row a value: what a point's statistics, kinds of op and resources are; of "
		"stored"
		" runs the totals, ops, what each op waited for, statistics and resources. results/schema.md explains "
		"every"
		" column, and how to read the file without this command.",
		"npusim export /tmp/sweep.db -o /tmp/points.csv\n"
		"npusim export /tmp/sweep.db stats | grep ',dram.busy_ps,'\n"
		"npusim export /tmp/r.db ops -o /tmp/ops.csv\n",
		opts,
		1,
		2
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0)
		rc = export(&args, &o, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
