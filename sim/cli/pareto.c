/* pareto.c - npusim pareto, best and sensitivity: what a stored sweep says about its designs.
 *
 * Objectives are the sweep's own, or those of the command line. Only points that are done, meet the sweep's constraints
 * and have a value for every objective count. */
#include <string.h>

#include "sim/cli/sweep.h"
#include "sim/report/study_doc.h"

struct options {
	struct opt_list less, more, where;
	const char *of, *format; /* of: in place of the objectives; NULL: them */
	uint64_t sweep, n;
};

static int open_study(struct study *t, struct resdb **db, const char *path, const struct options *o, struct err *e)
{
	const struct study_ask ask = { .sweep = (int64_t)o->sweep,
		                       .less = o->of ? &o->of : o->less.v,
		                       .n_less = o->of ? 1 : o->less.n,
		                       .more = o->more.v,
		                       .n_more = o->more.n,
		                       .where = o->where.v,
		                       .n_where = o->where.n };

	memset(t, 0, sizeof *t);
	*db = res_open(path, DB_READ, e);
	return *db ? study_open(t, *db, &ask, e) : -1;
}

static int pareto(void *o, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct study t;
	struct resdb *db;
	int rc = open_study(&t, &db, args->v[0], o, e);

	if (rc == 0 && (rc = study_some(&t, e)) == 0)
		rc = study_front_doc(d, &t, e);
	study_free(&t);
	res_free(db);
	return rc;
}

static int best(void *o, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct study t;
	struct resdb *db;
	int rc = open_study(&t, &db, args->v[0], o, e);

	if (rc == 0 && (rc = study_some(&t, e)) == 0)
		rc = study_best_doc(d, &t, ((const struct options *)o)->n, e);
	study_free(&t);
	res_free(db);
	return rc;
}

static int sensitivity(void *o, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct study t;
	struct resdb *db;
	int rc = open_study(&t, &db, args->v[0], o, e);

	if (rc == 0 && (rc = study_any(&t, e)) == 0)
		rc = study_terms_doc(d, &t, ((const struct options *)o)->of, e);
	study_free(&t);
	res_free(db);
	return rc;
}

/* --- options ----------------------------------------------------------------------------------------------- */

#define GOAL_OPTS \
	{ 0, "minimize", OPT_LIST, &o.less, "EXPR", "an objective, instead of the sweep's own; may be repeated" }, \
	{ \
		0, "maximize", OPT_LIST, &o.more, "EXPR", "the same, where more is better" \
	}
#define COMMON_OPTS \
	{ 0, "where", OPT_LIST, &o.where, "EXPR", SWEEP_WHERE_HELP }, \
		{ 0, "sweep", OPT_COUNT, &o.sweep, "N", "which of the file's sweeps; the last by default" }, \
	{ \
		0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP \
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

	return cmd_do(&cmd, &o.format, pareto, &o, argc, argv, out, e);
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

	return cmd_do(&cmd, &o.format, best, &o, argc, argv, out, e);
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

	return cmd_do(&cmd, &o.format, sensitivity, &o, argc, argv, out, e);
}
