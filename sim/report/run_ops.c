/* run_ops.c - the ops of a run, and its kinds of op: all of them in JSON and CSV, the longest in a table. */
#include "sim/report/run.h"

#include <stdlib.h>

#include "sim/report/figure_doc.h"
#include "workloads/known.h"

struct view {
	const struct run_report *r;
	const struct run_sum *sums; /* by kind */
	const int *order;
	const char *part; /* of a model; NULL: all of it */
	unsigned known;   /* of the run's ops */
};

/* --- ops --------------------------------------------------------------------------------------------------- */

/* An object; "dram:0.8 latency:0.2"; for people the share of what bounds it. */
static void stalls(struct doc *d, const struct run_op *x)
{
	const bool json = d->format == OUT_JSON;
	struct str text = STR_INIT;

	if (d->format == OUT_TABLE) {
		doc_real(d, "of it_pct", 1, x->stall_ppm[x->bound] / 1e4);
		return;
	}
	doc_open(d, "stalls", '{');
	for (int k = 0; k < RES_COUNT && !d->heads && !x->carried; k++) {
		const double part = (double)x->stall_ppm[k] / 1e6;

		if (part > 0 && json)
			doc_real(d, res_name((enum res)k), 3, part);
		else if (part > 0)
			str_addf(&text, "%s%s:%.9g", text.len ? " " : "", res_name((enum res)k), part);
	}
	doc_close(d, '}');
	if (!json)
		doc_text_if(d, "stalls", !x->carried, str_c(&text));
	doc_free(d, &text);
}

/* Nothing of a model is measured, and not every row of a table of ops. */
static void measured(struct doc *d, bool known, uint64_t ns)
{
	doc_real_if(d, "measured_us", 3, known, unit_us((int64_t)ns));
}

static void op_row(struct doc *d, const void *of, size_t i)
{
	const struct view *v = of;
	const struct run_report *r = v->r;
	const struct run_op *x = &r->result->ops[i];
	const struct op *o = &r->stream->ops[i];
	const bool people = d->format == OUT_TABLE, json = d->format == OUT_JSON;
	const unsigned known = people || d->heads ? v->known : run_op_known(r->result, x);

	doc_int(d, "id", o->id);
	if (people)
		doc_count_if(d, "layer", o->layer >= 0, (uint64_t)o->layer);
	doc_text(d, people ? "op" : "name", o->name);
	doc_text(d, "kind", op_kind_name(o->kind));
	if (!people && !json)
		doc_int(d, "layer", o->layer);
	figure_doc_op(d, OP_TIME, &x->figures, known);
	doc_text_if(d, "bound", !x->carried, res_name(x->bound));
	figure_doc_op(d, OP_LIMIT, &x->figures, known);
	stalls(d, x);
	figure_doc_op(d, OP_WORK, &x->figures, known);
	if (json)
		figure_doc_op(d, OP_REST, &x->figures, known);
	measured(d, !d->heads && !run_unmeasured(r) && !ops_listed_unmeasured(o), o->measured_ns);
	if (json && r->counted && r->counted->ns[o->id])
		doc_real(d, "measured_dram_bytes", 0, r->counted->bytes[o->id]);
	if (json) {
		doc_text(d, "family", o->family);
		doc_int(d, "layer", o->layer);
		doc_bool(d, "carried", x->carried);
	}
	doc_text(d, people ? "fused as" : "fused", run_pattern(r->result, x));
	if (!json)
		figure_doc_op(d, OP_REST, &x->figures, known);
	if (!json && !people)
		doc_text(d, "part", v->part);
}

void run_ops_doc(struct doc *d, const struct run_report *r)
{
	struct str part = STR_INIT;
	struct view v = { .r = r };

	workload_part_text(&r->part, &part);
	v.part = part.len ? str_c(&part) : NULL;
	doc_table(d, "ops", NULL, r->stream->n_ops, op_row, &v);
	doc_free(d, &part);
}

struct ranked {
	ps_t us;
	uint32_t id;
};

static int by_time(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	if (a->us != b->us)
		return a->us > b->us ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

void run_top_doc(struct doc *d, const struct run_report *r)
{
	const struct view v = { .r = r, .known = run_known(r->result) };
	const size_t n = r->stream->n_ops;
	struct ranked *rank = calloc(n ? n : 1, sizeof *rank);

	if (!rank) {
		d->to->failed = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		rank[i] = (struct ranked){ r->result->ops[i].span_ps, (uint32_t)i };
	qsort(rank, n, sizeof *rank, by_time);
	doc_table_open(d, NULL, "ops that take longest");
	for (size_t i = 0; i < n && d->rows < r->top; i++)
		if (!r->result->ops[rank[i].id].carried)
			doc_row(d, op_row, &v, rank[i].id);
	doc_table_close(d, op_row, &v);
	doc_say(d, "\n");
	free(rank);
}

/* --- kinds ------------------------------------------------------------------------------------------------- */

/* On the first page, where more is to be said of several chips. */
#define KINDS_MOST  8
#define KINDS_CHIPS 6

/* "dram 81 %, dispatch 12 %, ...": what most of the time of a kind's ops was waited for, down to 5 %. */
static void bound_mix(const struct run_sum *k, int most, struct str *to)
{
	bool used[RES_COUNT] = { false };

	for (int n = 0; n < most; n++) {
		int best = -1;

		for (int b = 0; b < RES_COUNT; b++)
			if (!used[b] && k->stall_ps[b] > 0 && (best < 0 || k->stall_ps[b] > k->stall_ps[best]))
				best = b;
		if (best < 0 || k->stall_ps[best] * 20 < (double)k->span_ps)
			return;
		used[best] = true;
		str_addf(to, "%s%s %.0f %%", to->len ? ", " : "", res_name((enum res)best),
		         unit_pct(k->stall_ps[best], (double)k->span_ps));
	}
}

static void for_people(struct doc *d, const struct run_report *r, const struct run_sum *k)
{
	const double us = (double)k->span_ps;
	struct str mix = STR_INIT;

	bound_mix(k, r->whole ? RES_COUNT : 2, &mix);
	doc_real(d, r->whole ? "share_pct" : "pct", 1, unit_pct(us, (double)r->result->total_ps));
	if (r->whole)
		doc_ps(d, "limit_us", 3, k->limit_ps);
	doc_real(d, "mfu_pct", 1, unit_pct((double)k->macs_ps, us));
	doc_real(d, "bw_pct", 1, unit_pct((double)k->pins_ps, us));
	doc_text(d, r->whole ? "bound by (share of its time)" : "held by", str_c(&mix));
	doc_free(d, &mix);
}

static void kind_row(struct doc *d, const void *of, size_t i)
{
	const struct view *v = of;
	const struct run_sum *k = &v->sums[v->order[i]];
	const bool people = d->format == OUT_TABLE, brief = people && !v->r->whole, none = k->carried == k->ops;

	if (people && none && !d->heads)
		return;
	doc_text(d, brief ? "kind of op" : "kind", op_kind_name((enum op_kind)v->order[i]));
	doc_count(d, "ops", k->ops);
	doc_real_if(d, "us", brief ? 1 : 3, !none, unit_ps_us(k->span_ps));
	if (people) {
		for_people(d, v->r, k);
		return;
	}
	measured(d, !run_unmeasured(v->r) && !k->unmeasured, k->measured_ns);
	doc_real(d, "carried_us", 3, unit_us((int64_t)k->carried_ns));
	doc_open(d, "bounds", '{');
	for (int b = 0; b < RES_COUNT; b++)
		if (k->stall_ps[b] > 0)
			doc_real(d, res_name((enum res)b), 3, k->stall_ps[b] / (double)k->span_ps);
	doc_close(d, '}');
}

void run_kinds_doc(struct doc *d, const struct run_report *r, const struct run_sum sums[OP_KINDS])
{
	int order[OP_KINDS] = { 0 }, n = run_order_kinds(sums, order), left = 0;
	const int page = r->result->chips > 1 ? KINDS_CHIPS : KINDS_MOST;
	const int most = d->format == OUT_TABLE && !r->whole && n > page ? page : n;
	const struct view v = { .r = r, .sums = sums, .order = order };
	ps_t rest = 0;

	doc_table(d, "by_kind", r->whole ? "simulated time by kind of op" : NULL, (size_t)most, kind_row, &v);
	for (int i = most; i < n; i++)
		if (sums[order[i]].carried < sums[order[i]].ops) {
			left++;
			rest += sums[order[i]].span_ps;
		}
	if (left)
		doc_say(d, "%d more kinds: %.1f us\n", left, unit_ps_us(rest));
	doc_say(d, "\n");
}
