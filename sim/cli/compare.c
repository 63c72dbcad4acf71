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
#define COLS(a)     (sizeof(a) / sizeof *(a))

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

static int column_heads(const struct comparison *c, struct out_col *cols, int n)
{
	for (int k = 0; k < c->n; k++)
		cols[n++] = (struct out_col){ c->cols[k].title, OUT_REAL, 3 };
	return n;
}

static void times(const struct comparison *c, const uint64_t *ps, struct out_table *t)
{
	for (int k = 0; k < c->n; k++)
		out_real(t, cmd_ps_us(ps[k]));
	for (int k = 1; k < c->n; k++) {
		if (ps[k])
			out_real(t, (double)ps[0] / (double)ps[k]);
		else
			out_null(t);
	}
}

static void write_kinds(const struct comparison *c, enum out_format f, struct str *out)
{
	struct kind kinds[OP_KINDS];
	struct out_col cols[2 + 2 * (RUNS_MAX + 1)] = { { "kind", OUT_TEXT, 0 }, { "ops", OUT_INT, 0 } };
	uint64_t totals[RUNS_MAX + 1];
	char ratio[RUNS_MAX + 1][64];
	struct out_table *t;
	int n = add_kinds(c, kinds, OP_KINDS), width = column_heads(c, cols, 2);

	for (int k = 1; k < c->n; k++) {
		snprintf(ratio[k], sizeof ratio[k], "%s/%s", c->cols[0].title, c->cols[k].title);
		cols[width++] = (struct out_col){ ratio[k], OUT_REAL, 3 };
	}
	t = out_table_new(cols, width, "by kind of op, us");
	qsort(kinds, (size_t)n, sizeof *kinds, by_time);
	for (int i = 0; i < n; i++) {
		out_text(t, kinds[i].name);
		out_int(t, (int64_t)kinds[i].ops);
		times(c, kinds[i].ps, t);
	}
	for (int k = 0; k < c->n; k++)
		totals[k] = c->cols[k].total_ps;
	out_text(t, "all");
	out_int(t, (int64_t)c->cols[0].workload->n_ops);
	times(c, totals, t);
	out_table_write(t, f, out);
	out_table_free(t);
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

static int write_ops(const struct comparison *c, uint64_t top, enum out_format f, struct str *out, struct err *e)
{
	const size_t n = c->cols[0].workload->n_ops;
	struct out_col cols[4 + RUNS_MAX + 1] = {
		{ "id", OUT_INT, 0 },
		{ "layer", OUT_INT, 0 },
		{ "op", OUT_TEXT, 0 },
		{ "kind", OUT_TEXT, 0 },
	};
	struct change *order = calloc(n ? n : 1, sizeof *order);
	struct out_table *t;

	if (!order)
		return err_nomem(e, "for the comparison");
	t = out_table_new(cols, column_heads(c, cols, 4), f == OUT_TABLE ? "ops that differ most, us" : NULL);
	for (size_t i = 0; i < n; i++)
		order[i] = (struct change){ f == OUT_TABLE ? change_of(c, i) : 0, i };
	qsort(order, n, sizeof *order, by_change);
	for (size_t i = 0; i < n && (i < top || f != OUT_TABLE); i++) {
		const struct res_work_op *o = &c->cols[0].workload->ops[order[i].op];

		if (f == OUT_TABLE && !order[i].by)
			break;
		out_int(t, (int64_t)order[i].op);
		out_int(t, o->layer);
		out_text(t, o->name);
		out_text(t, o->kind);
		for (int k = 0; k < c->n; k++) {
			uint64_t ps;

			if (op_ps(&c->cols[k], order[i].op, &ps))
				out_real(t, cmd_ps_us(ps));
			else
				out_null(t);
		}
	}
	out_table_write(t, f, out);
	out_table_free(t);
	free(order);
	return 0;
}

/* --- heads ------------------------------------------------------------------------------------------------- */

/* For people: what the runs are called, and the figures one looks for first. */
static void name_runs(const struct res_stored *const *runs, const char *const *names, size_t n, struct str *out)
{
	static const struct out_col cols[] = {
		{ "run", OUT_INT, 0 },      { "total_us", OUT_REAL, 3 },   { "roofline_us", OUT_REAL, 3 },
		{ "DRAM_MB", OUT_REAL, 1 }, { "what it is", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);

	for (size_t i = 0; i < n; i++) {
		const struct res_run *r = &runs[i]->run;

		out_int(t, r->id);
		out_real(t, cmd_ps_us(r->total_ps));
		out_real(t, cmd_ps_us(r->roofline_ps));
		out_real(t, (double)(r->dram_read_bytes + r->dram_write_bytes) / 1e6);
		out_text(t, names[i]);
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

/* The parameters in which the machines differ. */
static int write_keys(const struct res_stored *const *runs, size_t n, struct arena *a, struct str *out, struct err *e)
{
	struct out_col cols[RUNS_MAX + 1] = { { "parameter", OUT_TEXT, 0 } };
	char titles[RUNS_MAX][24];
	struct named_keys k;
	struct out_table *t;

	if (named_differ(runs, n, a, &k, e) < 0)
		return -1;
	if (!k.n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		snprintf(titles[i], sizeof titles[i], "run %lld", (long long)runs[i]->run.id);
		cols[i + 1] = (struct out_col){ titles[i], OUT_TEXT, 0 };
	}
	t = out_table_new(cols, (int)n + 1, "in what the machines differ");
	for (size_t i = 0; i < k.n; i++) {
		out_text(t, k.keys[i]);
		for (size_t r = 0; r < n; r++)
			out_text(t, k.values[i * n + r]);
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	str_addc(out, '\n');
	return 0;
}

static void write_runs(const struct res_stored *const *runs, const char *const *names, size_t n, enum out_format f,
                       struct str *out)
{
	static const struct out_col cols[] = {
		{ "run", OUT_INT, 0 },
		{ "machine", OUT_TEXT, 0 },
		{ "config_hash", OUT_TEXT, 0 },
		{ "workload", OUT_INT, 0 },
		{ "range", OUT_TEXT, 0 },
		{ "start", OUT_TEXT, 0 },
		{ "total_us", OUT_REAL, 3 },
		{ "roofline_us", OUT_REAL, 3 },
		{ "roofline", OUT_TEXT, 0 },
		{ "dram_read_bytes", OUT_BYTES, 0 },
		{ "dram_write_bytes", OUT_BYTES, 0 },
		{ "carried_us", OUT_REAL, 3 },
		{ "build", OUT_TEXT, 0 },
		{ "name", OUT_TEXT, 0 },
	};
	struct out_table *t;
	char hash[17];

	if (f == OUT_TABLE) {
		name_runs(runs, names, n, out);
		return;
	}
	t = out_table_new(cols, COLS(cols), NULL);
	for (size_t i = 0; i < n; i++) {
		const struct res_run *r = &runs[i]->run;

		hash_hex(r->config_hash, hash);
		out_int(t, r->id);
		out_text(t, r->config_name);
		out_text(t, hash);
		out_int(t, runs[i]->workload_id);
		out_text(t, runs[i]->workload.range);
		out_text(t, r->start);
		out_real(t, cmd_ps_us(r->total_ps));
		out_real(t, cmd_ps_us(r->roofline_ps));
		out_text(t, r->roofline_bound);
		out_int(t, (int64_t)r->dram_read_bytes);
		out_int(t, (int64_t)r->dram_write_bytes);
		out_real(t, cmd_ps_us(r->carried_ps));
		out_text(t, r->build);
		out_text(t, names[i]);
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void write_json(const struct comparison *c, struct str *out)
{
	struct kind kinds[OP_KINDS];
	struct out_json j;
	int n = add_kinds(c, kinds, OP_KINDS);

	qsort(kinds, (size_t)n, sizeof *kinds, by_time);
	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_open(&j, "columns", '[');
	for (int k = 0; k < c->n; k++) {
		out_json_open(&j, NULL, '{');
		out_json_text(&j, "title", c->cols[k].title);
		out_json_text(&j, "name", c->cols[k].name);
		if (c->cols[k].run)
			out_json_int(&j, "run", c->cols[k].run->run.id);
		else
			out_json_null(&j, "run");
		out_json_real(&j, "total_us", cmd_ps_us(c->cols[k].total_ps));
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_open(&j, "by_kind", '[');
	for (int i = 0; i < n; i++) {
		out_json_open(&j, NULL, '{');
		out_json_text(&j, "kind", kinds[i].name);
		out_json_u64(&j, "ops", kinds[i].ops);
		out_json_open(&j, "us", '[');
		for (int k = 0; k < c->n; k++)
			out_json_real(&j, NULL, cmd_ps_us(kinds[i].ps[k]));
		out_json_close(&j, ']');
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_open(&j, "ops", '[');
	for (size_t i = 0; c->lined_up && i < c->cols[0].workload->n_ops; i++) {
		out_json_open(&j, NULL, '{');
		out_json_int(&j, "id", (int64_t)i);
		out_json_text(&j, "name", c->cols[0].workload->ops[i].name);
		out_json_text(&j, "kind", c->cols[0].workload->ops[i].kind);
		out_json_open(&j, "us", '[');
		for (int k = 0; k < c->n; k++) {
			uint64_t ps;

			if (op_ps(&c->cols[k], i, &ps))
				out_json_real(&j, NULL, cmd_ps_us(ps));
			else
				out_json_null(&j, NULL);
		}
		out_json_close(&j, ']');
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_close(&j, '}');
}

/* What is shown, and where what is made for it lives. */
struct showing {
	const struct res_stored *const *runs;
	const char *const *names;
	size_t n;
	struct arena *a;
};

static int write_all(const struct comparison *c, const struct showing *s, const struct options *o, enum out_format f,
                     struct str *out, struct err *e)
{
	if (f == OUT_JSON) {
		write_json(c, out);
		return 0;
	}
	if (f == OUT_CSV) {
		if (c->lined_up)
			return write_ops(c, o->top, f, out, e);
		write_kinds(c, f, out);
		return 0;
	}
	write_runs(s->runs, s->names, s->n, f, out);
	str_addc(out, '\n');
	if (s->n > 1 && write_keys(s->runs, s->n, s->a, out, e) < 0)
		return -1;
	if (c->lined_up && o->top) {
		if (write_ops(c, o->top, f, out, e) < 0)
			return -1;
		str_addc(out, '\n');
	} else if (!c->lined_up) {
		str_add(out, "the runs are over different workloads: their ops do not line up\n\n");
	}
	write_kinds(c, f, out);
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

static int list(struct resdb *db, struct arena *a, enum out_format f, struct str *out, struct err *e)
{
	struct res_stored *all;
	const struct res_stored **runs;
	const char **names;
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
	write_runs(runs, names, n, f, out);
	return 0;
}

static int compare(const struct options *o, const struct opt_list *args, struct resdb *db, struct arena *a,
                   enum out_format f, struct str *out, struct err *e)
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

		return compare_points(db, &d, f, out, e);
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
	return write_all(&c, &(struct showing){ shown, names, (size_t)args->n, a }, o, f, out, e);
}

static int check_options(const struct options *o, const struct opt_list *args, enum out_format *f, struct err *e)
{
	if (workload_check(&o->workload, WORKLOAD_COMPARE, e) < 0)
		return -1;
	if (!o->workload.trace && (o->workload.range || o->workload.rules))
		return err_set(e, ERR_USAGE, "options '--range' and '--rules' say how '-t' is read: give it");
	if (o->workload.trace && args->n != 1)
		return err_set(e, ERR_USAGE, "'-t' compares one run with what was measured; %d are named", args->n);
	if (o->sweep != NO_SWEEP && args->n < 2)
		return err_set(e, ERR_USAGE, "'--sweep' compares points: name two of them or more");
	return cmd_format(o->format, f, e);
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
	struct opt_list args = { NULL, 0 };
	struct resdb *db = NULL;
	struct arena *a = NULL;
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc)
		goto out;
	rc = -1;
	if (check_options(&o, &args, &f, e) < 0 || !(db = res_open(o.results, DB_READ, e)))
		goto out;
	if (!(a = arena_new(RUNS_MEMORY))) {
		err_nomem(e, "for the runs");
		goto out;
	}
	rc = args.n ? compare(&o, &args, db, a, f, out, e) : list(db, a, f, out, e);
out:
	arena_free(a);
	res_free(db);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
