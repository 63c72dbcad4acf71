/* compare.c - npusim compare: stored runs side by side, by kind and op by op, or one against what was measured.
 *
 * The first column is the reference: ratios are its time over the others'. Ops line up by id where the runs share
 * their workload; where they do not, only kinds are compared. */
#include "sim/cli/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/cfg.h"
#include "sim/base/hash.h"
#include "sim/cli/named.h"
#include "sim/lower/lower.h"

#define RUNS_MAX    COMPARE_MAX
#define RUNS_MEMORY ((size_t)4 << 30) /* beyond that the file is damaged or hostile */

#define NO_SWEEP UINT64_MAX

struct options {
	const char *results, *format;
	struct workload_spec workload;
	uint64_t top, sweep;
};

/* A column: times of the ops of one run, or the measured ones. */
struct column {
	char title[24];
	const char *name;             /* NULL: measured */
	const struct res_stored *run; /* NULL: measured */
	const struct res_workload *workload;
	uint64_t total_ps;
};

struct comparison {
	struct column cols[RUNS_MAX + 1];
	int n;
	bool lined_up; /* all share one workload */
};

/* Time of op i of a column; false: carried. */
static bool op_ps(const struct column *c, size_t i, uint64_t *ps)
{
	if (c->run && c->run->run.ops[i].carried)
		return false;
	*ps = c->run ? c->run->run.ops[i].span_ps : c->workload->ops[i].measured_ns * 1000;
	return true;
}

/* --- by kind ----------------------------------------------------------------------------------------------- */

struct kind {
	const char *name;
	uint64_t ops, ps[RUNS_MAX + 1];
};

static int add_kinds(const struct comparison *c, struct kind *kinds, int max)
{
	int n = 0;

	for (int k = 0; k < c->n; k++)
		for (size_t i = 0; i < c->cols[k].workload->n_ops; i++) {
			const char *name = c->cols[k].workload->ops[i].kind;
			uint64_t ps = 0;
			int at = 0;

			while (at < n && strcmp(kinds[at].name, name) != 0)
				at++;
			if (at == max)
				continue;
			if (at == n)
				kinds[n++] = (struct kind){ .name = name };
			kinds[at].ops += k == 0;
			if (op_ps(&c->cols[k], i, &ps))
				kinds[at].ps[k] += ps;
		}
	return n;
}

static int by_time(const void *x, const void *y)
{
	const struct kind *a = x, *b = y;

	if (a->ps[0] != b->ps[0])
		return a->ps[0] > b->ps[0] ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Of all columns; and how many times the first is of the others. */
static void times(struct doc *d, const struct comparison *c, const uint64_t *ps)
{
	for (int k = 0; k < c->n; k++)
		doc_ps(d, c->cols[k].title, 3, ps[k]);
	for (int k = 1; k < c->n; k++) {
		char name[64];

		snprintf(name, sizeof name, "%s/%s", c->cols[0].title, c->cols[k].title);
		doc_real_if(d, name, 3, ps[k], (double)ps[0] / (double)ps[k]);
	}
}

struct kinds {
	const struct comparison *c;
	struct kind v[OP_KINDS + 1]; /* the last is all of them */
	int n;
};

static void kind(struct doc *d, const void *of, size_t i)
{
	const struct kinds *x = of;
	const struct kind *k = &x->v[i];

	doc_text(d, "kind", k->name);
	doc_count(d, "ops", k->ops);
	if (d->format != OUT_JSON) {
		times(d, x->c, k->ps);
		return;
	}
	doc_open(d, "us", '[');
	for (int c = 0; c < x->c->n; c++)
		doc_ps(d, NULL, 3, k->ps[c]);
	doc_close(d, ']');
}

static void write_kinds(struct doc *d, const struct comparison *c)
{
	struct kinds x = { .c = c };
	struct kind *all;

	x.n = add_kinds(c, x.v, OP_KINDS);
	qsort(x.v, (size_t)x.n, sizeof *x.v, by_time);
	all = &x.v[x.n];
	*all = (struct kind){ .name = "all", .ops = c->cols[0].workload->n_ops };
	for (int k = 0; k < c->n; k++)
		all->ps[k] = c->cols[k].total_ps;
	doc_table(d, "by_kind", "by kind of op, us", (size_t)x.n + (d->format != OUT_JSON), kind, &x);
}

/* --- op by op ---------------------------------------------------------------------------------------------- */

struct change {
	uint64_t by;
	size_t op;
};

static int by_change(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	if (a->by != b->by)
		return a->by > b->by ? -1 : 1;
	return a->op < b->op ? -1 : a->op > b->op;
}

/* Farthest from the reference in any column. */
static uint64_t change_of(const struct comparison *c, size_t i)
{
	uint64_t most = 0, first = 0, ps;

	op_ps(&c->cols[0], i, &first);
	for (int k = 1; k < c->n; k++) {
		uint64_t by;

		if (!op_ps(&c->cols[k], i, &ps))
			continue;
		by = ps > first ? ps - first : first - ps;
		most = by > most ? by : most;
	}
	return most;
}

struct ops {
	const struct comparison *c;
	const struct change *order;
};

static void op(struct doc *d, const void *of, size_t i)
{
	const struct ops *x = of;
	const size_t at = d->heads ? 0 : x->order[i].op;
	const struct comparison *c = x->c;
	const struct res_work_op *o = &c->cols[0].workload->ops[at];
	const bool json = d->format == OUT_JSON;

	doc_count(d, "id", at);
	if (!json)
		doc_int(d, "layer", o->layer);
	doc_text(d, json ? "name" : "op", o->name);
	doc_text(d, "kind", o->kind);
	doc_open(d, "us", '[');
	for (int k = 0; json && k < c->n; k++) {
		uint64_t ps = 0;
		const bool known = op_ps(&c->cols[k], at, &ps);

		doc_ps_if(d, NULL, 3, known, ps);
	}
	doc_close(d, ']');
	for (int k = 0; !json && k < c->n; k++) {
		uint64_t ps = 0;
		const bool known = !d->heads && op_ps(&c->cols[k], at, &ps);

		doc_ps_if(d, c->cols[k].title, 3, known, ps);
	}
}

/* For people those that differ, most first; for programs all in order. */
static int write_ops(struct doc *d, const struct comparison *c, uint64_t top, struct err *e)
{
	const bool people = d->format == OUT_TABLE;
	const size_t n = c->cols[0].workload->n_ops;
	struct change *order = calloc(n ? n : 1, sizeof *order);
	const struct ops x = { c, order };
	size_t shown = 0;

	if (!order)
		return err_nomem(e, "for the comparison");
	for (size_t i = 0; i < n; i++)
		order[i] = (struct change){ people ? change_of(c, i) : 0, i };
	qsort(order, n, sizeof *order, by_change);
	while (shown < n && (!people || (shown < top && order[shown].by)))
		shown++;
	doc_table(d, "ops", "ops that differ most, us", shown, op, &x);
	free(order);
	return 0;
}

/* --- heads ------------------------------------------------------------------------------------------------- */

struct showing {
	const struct res_stored *const *runs;
	const char *const *names;
	size_t n;
	struct arena *a;
};

/* For people what a run is called, and the figures one looks for first. */
static void run(struct doc *d, const void *of, size_t i)
{
	const struct showing *s = of;
	const struct res_run *r = d->heads ? NULL : &s->runs[i]->run;
	char hash[17];

	doc_int(d, "run", r->id);
	if (d->format == OUT_TABLE) {
		doc_ps(d, "total_us", 3, r->total_ps);
		doc_ps(d, "roofline_us", 3, r->roofline_ps);
		doc_real(d, "DRAM_MB", 1, (double)(r->dram_read_bytes + r->dram_write_bytes) / 1e6);
		doc_text(d, "what it is", s->names[i]);
		return;
	}
	doc_text(d, "machine", r->config_name);
	doc_text(d, "config_hash", (hash_hex(r->config_hash, hash), hash));
	doc_int(d, "workload", s->runs[i]->workload_id);
	doc_text(d, "range", s->runs[i]->workload.range);
	doc_text(d, "start", r->start);
	doc_ps(d, "total_us", 3, r->total_ps);
	doc_ps(d, "roofline_us", 3, r->roofline_ps);
	doc_text(d, "roofline", r->roofline_bound);
	doc_bytes(d, "dram_read_bytes", r->dram_read_bytes);
	doc_bytes(d, "dram_write_bytes", r->dram_write_bytes);
	doc_ps(d, "carried_us", 3, r->carried_ps);
	doc_text(d, "build", r->build);
	doc_text(d, "name", s->names[i]);
}

struct keys {
	const struct showing *s;
	struct named_keys k;
};

/* A parameter in which the machines differ. */
static void key(struct doc *d, const void *of, size_t i)
{
	const struct keys *x = of;
	char title[24];

	doc_text(d, "parameter", x->k.keys[i]);
	for (size_t r = 0; r < x->s->n; r++) {
		snprintf(title, sizeof title, "run %lld", (long long)x->s->runs[r]->run.id);
		doc_text(d, title, x->k.values[i * x->s->n + r]);
	}
}

static int write_keys(struct doc *d, const struct showing *s, struct err *e)
{
	struct keys x = { .s = s };

	if (named_differ(s->runs, s->n, s->a, &x.k, e) < 0)
		return -1;
	if (x.k.n) {
		doc_table(d, NULL, "in what the machines differ", x.k.n, key, &x);
		doc_say(d, "\n");
	}
	return 0;
}

static void column(struct doc *d, const void *of, size_t i)
{
	const struct column *c = (const struct column *)of + i;

	doc_text(d, "title", c->title);
	doc_text(d, "name", c->name);
	if (c->run)
		doc_int(d, "run", c->run->run.id);
	else
		doc_text(d, "run", NULL);
	doc_ps(d, "total_us", 3, c->total_ps);
}

static int write_json(struct doc *d, const struct comparison *c, struct err *e)
{
	int rc = 0;

	doc_open(d, NULL, '{');
	doc_table(d, "columns", NULL, (size_t)c->n, column, c->cols);
	write_kinds(d, c);
	if (c->lined_up)
		rc = write_ops(d, c, 0, e);
	else
		doc_table(d, "ops", NULL, 0, op, NULL);
	doc_close(d, '}');
	return rc;
}

static int write_all(struct doc *d, const struct comparison *c, const struct showing *s, uint64_t top, struct err *e)
{
	if (d->format == OUT_JSON)
		return write_json(d, c, e);
	if (d->format == OUT_CSV && c->lined_up)
		return write_ops(d, c, top, e);
	if (d->format == OUT_TABLE) {
		doc_table(d, NULL, NULL, s->n, run, s);
		doc_say(d, "\n");
		if (s->n > 1 && write_keys(d, s, e) < 0)
			return -1;
		if (c->lined_up && top) {
			if (write_ops(d, c, top, e) < 0)
				return -1;
			doc_say(d, "\n");
		} else if (!c->lined_up) {
			doc_say(d, "the runs are over different workloads: their ops do not line up\n\n");
		}
	}
	write_kinds(d, c);
	return 0;
}

/* --- what is compared -------------------------------------------------------------------------------------- */

static uint64_t measured_ps(const struct res_stored *run)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < run->workload.n_ops; i++)
		ns += run->run.ops[i].carried ? 0 : run->workload.ops[i].measured_ns;
	return ns * 1000;
}

/* The measured times of the run's workload as the trace has them now. */
static int measure(const struct options *o, const struct res_stored *run, struct arena *a, struct res_workload *w,
                   struct err *e)
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

static void add_run(struct comparison *c, const struct res_stored *run, const char *name)
{
	struct column *k = &c->cols[c->n++];

	*k = (struct column){ .name = name, .run = run, .workload = &run->workload, .total_ps = run->run.total_ps };
	snprintf(k->title, sizeof k->title, "run %lld", (long long)run->run.id);
}

static int read_ids(const struct opt_list *args, bool points, int64_t *ids, struct err *e)
{
	if (args->n > RUNS_MAX)
		return err_set(e, ERR_USAGE, "%d %s are more than can stand side by side: at most %d", args->n,
		               points ? "points" : "runs", RUNS_MAX);
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

static int list(struct resdb *db, struct arena *a, struct doc *d, struct err *e)
{
	struct res_stored *all;
	const struct res_stored **runs;
	const char **names;
	struct showing shown;
	size_t n;

	if (res_list(db, a, &all, &n, e) < 0)
		return -1;
	runs = arena_array(a, n + 1, sizeof *runs);
	names = arena_array(a, n + 1, sizeof *names);
	if (!runs || !names)
		return err_nomem(e, "for the runs");
	for (size_t i = 0; i < n; i++)
		runs[i] = &all[i];
	if (named_runs(runs, n, a, names, e) < 0)
		return -1;
	shown = (struct showing){ runs, names, n, a };
	doc_table(d, NULL, NULL, n, run, &shown);
	return 0;
}

static int compare(const struct options *o, const struct opt_list *args, struct resdb *db, struct arena *a,
                   struct doc *out, struct err *e)
{
	struct res_stored runs[RUNS_MAX];
	const struct res_stored *shown[RUNS_MAX];
	const char *names[RUNS_MAX];
	struct comparison c = { .lined_up = true };
	struct res_workload measured;
	int64_t ids[RUNS_MAX];

	if (read_ids(args, o->sweep != NO_SWEEP, ids, e) < 0)
		return -1;
	if (o->sweep != NO_SWEEP) {
		const struct compare_designs d = { (int64_t)o->sweep, ids, args->n, o->top };

		return compare_points(db, &d, out, e);
	}
	for (int i = 0; i < args->n; i++) {
		if (res_get(db, ids[i], a, &runs[i], e) < 0)
			return -1;
		shown[i] = &runs[i];
		c.lined_up &= runs[i].workload_id == runs[0].workload_id;
	}
	if (args->n == 1) {
		measured = runs[0].workload;
		if (o->workload.trace && measure(o, &runs[0], a, &measured, e) < 0)
			return -1;
		c.cols[c.n++] = (struct column){ "measured", NULL, NULL, &measured, measured_ps(&runs[0]) };
	}
	if (named_runs(shown, (size_t)args->n, a, names, e) < 0)
		return -1;
	for (int i = 0; i < args->n; i++)
		add_run(&c, &runs[i], names[i]);
	return write_all(out, &c, &(struct showing){ shown, names, (size_t)args->n, a }, o->top, e);
}

static int show(void *options, const struct opt_list *args, struct doc *d, struct err *e)
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
		rc = args->n ? compare(o, args, db, a, d, e) : list(db, a, d, e);
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
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP "; csv has the ops" },
		{ .type = OPT_END, .arg = OPT_ARGS_WORDS },
	};
	const struct opt_cmd cmd = {
		"npusim compare [RUN | POINT]... [-r R.db] [-t T.db] [--sweep N]",
		"Stored runs side by side, by kind of op and op by op. The first run named is the reference: a ratio above"
		" 1 says that the other is faster. One run alone is compared with what was measured. Without a run the"
		" stored ones are listed. With -t the measured times are that trace's, of the run's own range unless '--range' says another. With --sweep the numbers are points of a sweep: their settings, kinds of op, what"
		" held each back, and the statistics that differ most.",
		"npusim compare -r /tmp/r.db\n"
		"npusim compare 1 2 -r /tmp/r.db\n"
		"npusim compare 1 -r /tmp/r.db -t /tmp/t.db\n"
		"npusim compare 0 8 -r /tmp/sweep.db --sweep 0\n",
		opts,
		0,
		-1
	};

	return cmd_do(&cmd, &o.format, show, &o, argc, argv, out, e);
}
