/* compare.c - npusim compare: stored runs side by side, or one against what was measured; designs of a sweep. */
#include "sim/cli/cmd.h"

#include <string.h>

#include "sim/base/cfg.h"
#include "sim/report/compare_doc.h"
#include "sim/report/points_doc.h"

#define RUNS_MEMORY ((size_t)4 << 30) /* beyond that the file is damaged or hostile */
#define NO_SWEEP    UINT64_MAX

_Static_assert(COMPARE_DOC_MOST == POINTS_DOC_MOST, "runs and points are numbered on one command line");

struct options {
	const char *results, *format;
	struct workload_spec workload;
	uint64_t top, sweep;
};

/* The measured times of the run's workload as the trace has them now. */
static int compare_measure(const struct options *o, const struct res_stored *run, struct arena *a,
                           struct res_workload *w, struct err *e)
{
	struct workload_spec asked = o->workload;
	struct workload x = { .model = NULL };
	struct res_work_op *ops = NULL;
	int rc = -1;

	*w = run->workload;
	asked.range = asked.range ? asked.range : w->range;
	if (cmd_workload_read(&asked, NULL, &x, e) < 0)
		goto out;
	if (strcmp(x.in.trace.digest, w->digest) != 0) {
		err_set(e, ERR_IO, "run %lld is over another trace than '%s' holds", (long long)run->run.id,
		        asked.trace);
		goto out;
	}
	if (x.stream.n_ops != w->n_ops) {
		err_set(e, ERR_IO, "run %lld has %zu ops, and '%s' is lowered to %zu now: run it again",
		        (long long)run->run.id, w->n_ops, asked.trace, x.stream.n_ops);
		goto out;
	}
	if (!(ops = arena_array(a, w->n_ops ? w->n_ops : 1, sizeof *ops))) {
		err_nomem(e, "for the comparison");
		goto out;
	}
	memcpy(ops, w->ops, w->n_ops * sizeof *ops);
	for (size_t i = 0; i < x.stream.n_ops; i++)
		ops[i].measured_ns = x.stream.ops[i].measured_ns;
	w->ops = ops;
	rc = 0;
out:
	workload_free(&x);
	return rc;
}

static int read_ids(const struct opt_list *args, bool points, int64_t *ids, struct err *e)
{
	if (args->n > COMPARE_DOC_MOST)
		return err_set(e, ERR_USAGE, "%d %s are more than can stand side by side: at most %d", args->n,
		               points ? "points" : "runs", COMPARE_DOC_MOST);
	for (int i = 0; i < args->n; i++) {
		struct err inner = ERR_INIT;
		uint64_t v = 0;

		if (cfg_parse_value(CFG_T_U64, args->v[i], &v, &inner) < 0 || (v == 0 && !points) || v > INT64_MAX)
			return err_set(e, ERR_USAGE,
			               points ? "'%s' is no number of a point: 'npusim export R.db' lists them"
			                      : "'%s' is no number of a run: 'npusim compare -r R.db' lists them",
			               args->v[i]);
		ids[i] = (int64_t)v;
	}
	return 0;
}

static int compare_list(struct resdb *db, struct arena *a, struct doc *d, struct err *e)
{
	struct res_stored *all;
	const struct res_stored **runs;
	size_t n;

	if (res_list(db, a, &all, &n, e) < 0)
		return -1;
	if (!(runs = arena_array(a, n + 1, sizeof *runs)))
		return err_nomem(e, "for the runs");
	for (size_t i = 0; i < n; i++)
		runs[i] = &all[i];
	return compare_list_doc(d, runs, n, a, e);
}

static int compare(const struct options *o, const struct opt_list *args, struct resdb *db, struct arena *a,
                   struct doc *d, struct err *e)
{
	struct res_stored runs[COMPARE_DOC_MOST];
	const struct res_stored *shown[COMPARE_DOC_MOST];
	struct compare_doc c = { .runs = shown, .n = (size_t)args->n, .top = o->top, .a = a };
	struct res_workload measured;
	int64_t ids[COMPARE_DOC_MOST];

	if (read_ids(args, o->sweep != NO_SWEEP, ids, e) < 0)
		return -1;
	if (o->sweep != NO_SWEEP)
		return points_doc(d, db, &(struct points_doc){ (int64_t)o->sweep, ids, args->n, o->top }, e);
	for (int i = 0; i < args->n; i++) {
		if (res_get(db, ids[i], a, &runs[i], e) < 0)
			return -1;
		shown[i] = &runs[i];
	}
	if (args->n == 1) {
		measured = runs[0].workload;
		c.measured = &measured;
		if (o->workload.trace && compare_measure(o, &runs[0], a, &measured, e) < 0)
			return -1;
	}
	return compare_doc(d, &c, e);
}

static int compare_show(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct resdb *db = NULL;
	struct arena *a = NULL;
	int rc = -1;

	if (workload_check(&o->workload, WORKLOAD_COMPARE, e) < 0)
		return -1;
	if (!o->workload.trace && (o->workload.range || o->workload.rules))
		return err_set(e, ERR_USAGE, "options '--range' and '--rules' say how '-t' is read: give it");
	if (o->workload.trace && args->n != 1)
		return err_set(e, ERR_USAGE, "'-t' compares one run with what was measured; %d are named", args->n);
	if (o->sweep != NO_SWEEP && args->n < 2)
		return err_set(e, ERR_USAGE, "'--sweep' compares points: name two of them or more");
	if (!(db = res_open(o->results, DB_READ, e)))
		return -1;
	if (!(a = arena_new(RUNS_MEMORY)))
		err_nomem(e, "for the runs");
	else
		rc = args->n ? compare(o, args, db, a, d, e) : compare_list(db, a, d, e);
	arena_free(a);
	res_free(db);
	return rc;
}

int cmd_compare(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .results = "results.db", .top = 20, .sweep = NO_SWEEP };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ 'r', "results", OPT_READ, &o.results, "R.db",
		  "where 'npusim run -o' stored the runs; results.db by"
		  " default" },
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.workload, WORKLOAD_COMPARE) },
		{ 0, "sweep", OPT_U64, &o.sweep, "N", "compare points of this sweep, not runs; 0: of the last one" },
		{ 0, "ops", OPT_U64, &o.top, "N",
		  "list the N ops, of points the N statistics, that differ most; 20 by default (json and csv have all)" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP "; csv has the ops" },
		{ .type = OPT_END, .arg = OPT_ARGS_WORDS },
	};
	const struct opt_cmd cmd = {
		"npusim compare [RUN | POINT]... [-r R.db] [-t T.db] [--sweep N]",
		"Stored runs side by side: what differs of the machines, time by kind of op, by what was waited for and op by op,"
		" energy by block; of two first the difference in sentences. The first run named is the reference: a ratio above"
		" 1 says that the other is faster. One run alone is compared with what was measured. Without a run the"
		" stored ones are listed. With -t the measured times are that trace's, of the run's own range unless '--range' says another. With --sweep the numbers are points of a sweep: their settings, kinds of op, what"
		" held each back, and the statistics that differ most.",
		"npusim compare -r /tmp/r.db\n"
		"npusim compare 1 2 -r /tmp/r.db\n"
		"npusim compare 1 2 -r /tmp/r.db --format html >/tmp/differences.html\n"
		"npusim compare 1 -r /tmp/r.db -t /tmp/t.db\n"
		"npusim compare 0 8 -r /tmp/sweep.db --sweep 0\n",
		opts,
		0,
		-1
	};

	return cmd_do(&cmd, &o.format, compare_show, &o, argc, argv, out, e);
}
