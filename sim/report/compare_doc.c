#include "sim/report/compare_doc_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/path.h"
#include "sim/report/kinds.h"
#include "sim/report/labels.h"
#include "workloads/op.h"

/* A column: times of the ops of one run, or the measured ones. */
struct column {
	char title[24];
	const char *name;             /* NULL: measured */
	const struct res_stored *run; /* NULL: measured */
	const struct res_workload *workload;
	uint64_t total_ps;
};

struct comparison {
	struct column cols[COMPARE_DOC_MOST + 1];
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
	uint64_t ops, ps[COMPARE_DOC_MOST + 1];
};

static int add_kinds(const struct comparison *c, struct kind *kinds, int max)
{
	struct kinds_row rows[OP_KINDS];
	int n = 0;

	for (int k = 0; k < c->n; k++) {
		const struct column *of = &c->cols[k];
		const struct res_stored r = { of->run ? of->run->run : c->cols[c->n - 1].run->run, *of->workload, 0 };
		const size_t all = kinds_of(&r, rows);

		for (size_t i = 0; i < all; i++) {
			int at = 0;

			while (at < n && strcmp(kinds[at].name, rows[i].name) != 0)
				at++;
			if (at == max)
				continue;
			if (at == n)
				kinds[n++] = (struct kind){ .name = rows[i].name };
			kinds[at].ops += k == 0 ? rows[i].ops : 0;
			kinds[at].ps[k] +=
				of->run ? rows[i].span_ps : (rows[i].measured_ns + rows[i].carried_ns) * 1000;
		}
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

/* For people what a run is called, and the figures one looks for first. */
static void compare_doc_run(struct doc *d, const void *of, size_t i)
{
	const struct compare_showing *s = of;
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

static void find_ratios(const struct compare_showing *s, struct compare_ratios *out)
{
	struct baseline *b = baseline_new(&path_source, NULL);
	struct interval_side first, side;
	const bool known = difference_stored(s->runs[0], b, s->a, &first);

	*out = (struct compare_ratios){ .s = s };
	for (size_t i = 0; i < s->n; i++)
		if (known && difference_stored(s->runs[i], b, s->a, &side))
			out->v[i] = difference_range(&first, &side, b);
	baseline_free(b);
}

static void ratio(struct doc *d, const void *of, size_t i)
{
	const struct compare_ratios *x = of;
	const struct res_run *first = d->heads ? NULL : &x->s->runs[0]->run, *r = d->heads ? NULL : &x->s->runs[i]->run;
	const double times = r && r->total_ps ? (double)first->total_ps / (double)r->total_ps : 0;
	const bool known = r && x->v[i].low > 0;

	doc_int(d, "run", r->id);
	doc_real_if(d, "x", 3, times > 0, times);
	doc_real_if(d, "low", 3, known, times * x->v[i].low);
	doc_real_if(d, "high", 3, known, times * x->v[i].high);
}

static void write_said(struct doc *d, const struct compare_ratios *x)
{
	static const struct doc_lines how = { 0, 2, 100 };
	struct str lines[COMPARE_DOC_SAID] = { STR_INIT, STR_INIT, STR_INIT, STR_INIT };
	const int n = x->s->n == 2 ? compare_doc_said(x, lines) : 0;

	doc_open(d, "said", '[');
	for (int i = 0; i < n; i++)
		if (d->format == OUT_JSON)
			doc_text(d, NULL, str_c(&lines[i]));
		else
			doc_put_lines(d, i ? DOC_TEXT : DOC_HEADING, how, str_c(&lines[i]));
	doc_close(d, ']');
	for (int i = 0; i < COMPARE_DOC_SAID; i++)
		doc_free(d, &lines[i]);
	if (n)
		doc_say(d, "\n");
}

static void write_ratios(struct doc *d, const struct comparison *c, const struct compare_showing *s)
{
	struct compare_ratios x;

	if (s->n < 2 || !c->lined_up)
		return;
	find_ratios(s, &x);
	write_said(d, &x);
	doc_table(d, "ratios",
	          "times as fast as the first, four times in five: what both are wrong about alike cancels", s->n,
	          ratio, &x);
	doc_say(d, "\n");
}

struct keys {
	const struct compare_showing *s;
	struct labels_keys k;
};

/* A parameter in which the machines differ. */
static void key(struct doc *d, const void *of, size_t i)
{
	const struct keys *x = of;
	char title[24];

	doc_text(d, "parameter", x->k.keys[i]);
	doc_open(d, "values", '[');
	for (size_t r = 0; d->format == OUT_JSON && r < x->s->n; r++)
		doc_text(d, NULL, x->k.values[i * x->s->n + r]);
	doc_close(d, ']');
	for (size_t r = 0; d->format != OUT_JSON && r < x->s->n; r++) {
		snprintf(title, sizeof title, "run %lld", (long long)x->s->runs[r]->run.id);
		doc_text(d, title, x->k.values[i * x->s->n + r]);
	}
}

static int write_keys(struct doc *d, const struct compare_showing *s, struct err *e)
{
	struct keys x = { .s = s };

	if (labels_differ(s->runs, s->n, s->a, &x.k, e) < 0)
		return -1;
	if (x.k.n || d->format == OUT_JSON) {
		doc_table(d, "parameters", "in what the machines differ", x.k.n, key, &x);
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

static int write_json(struct doc *d, const struct comparison *c, const struct compare_showing *s, bool ops,
                      struct err *e)
{
	int rc = 0;

	doc_open(d, NULL, '{');
	doc_table(d, "columns", NULL, (size_t)c->n, column, c->cols);
	write_ratios(d, c, s);
	if (s->n > 1 && write_keys(d, s, e) < 0)
		return -1;
	write_kinds(d, c);
	if (s->n > 1)
		compare_doc_sums(d, s);
	if (ops && c->lined_up)
		rc = write_ops(d, c, 0, e);
	else if (ops)
		doc_table(d, "ops", NULL, 0, op, NULL);
	doc_close(d, '}');
	return rc;
}

static int write_all(struct doc *d, const struct comparison *c, const struct compare_showing *s,
                     const struct compare_doc *of, struct err *e)
{
	const uint64_t top = of->top;

	if (d->format == OUT_JSON)
		return write_json(d, c, s, !of->brief, e);
	if (d->format == OUT_CSV && c->lined_up)
		return write_ops(d, c, top, e);
	if (d->format == OUT_TABLE) {
		write_ratios(d, c, s);
		doc_table(d, NULL, NULL, s->n, compare_doc_run, s);
		doc_say(d, "\n");
		if (s->n > 1 && write_keys(d, s, e) < 0)
			return -1;
		if (s->n > 1)
			compare_doc_sums(d, s);
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

static void add_run(struct comparison *c, const struct res_stored *run, const char *name)
{
	struct column *k = &c->cols[c->n++];

	*k = (struct column){ .name = name, .run = run, .workload = &run->workload, .total_ps = run->run.total_ps };
	snprintf(k->title, sizeof k->title, "run %lld", (long long)run->run.id);
}

int compare_doc(struct doc *d, const struct compare_doc *of, struct err *e)
{
	const char *names[COMPARE_DOC_MOST];
	const struct compare_showing s = { of->runs, names, of->n, of->a };
	struct comparison c = { .lined_up = true };

	if (labels_runs(of->runs, of->n, of->a, names, e) < 0)
		return -1;
	if (of->measured)
		c.cols[c.n++] = (struct column){ "measured", NULL, NULL, of->measured, measured_ps(of->runs[0]) };
	for (size_t i = 0; i < of->n; i++) {
		c.lined_up &= of->runs[i]->workload_id == of->runs[0]->workload_id;
		add_run(&c, of->runs[i], names[i]);
	}
	return write_all(d, &c, &s, of, e);
}

int compare_list_doc(struct doc *d, const struct res_stored *const *runs, size_t n, struct arena *a, struct err *e)
{
	const char **names = arena_array(a, n + 1, sizeof *names);

	if (!names)
		return err_nomem(e, "for the runs");
	if (labels_runs(runs, n, a, names, e) < 0)
		return -1;
	doc_table(d, NULL, NULL, n, compare_doc_run, &((struct compare_showing){ runs, names, n, a }));
	return 0;
}
