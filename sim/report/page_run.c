/* page_run.c - a stored run as the page gets it. */
#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/path.h"
#include "sim/report/explain.h"
#include "sim/report/figure_doc.h"
#include "sim/report/kinds.h"
#include "sim/report/labels.h"
#include "sim/report/page_int.h"
#include "sim/report/run_verdict.h"
#include "sim/study/limits.h"
#include "sim/ui/units.h"

/* --- ops --------------------------------------------------------------------------------------------------- */

/* Of its time, what was waited for that bounds it. */
static double bound_share(const struct res_op *o)
{
	for (uint32_t i = 0; i < o->n_stalls; i++)
		if (o->bound && strcmp(o->stalls[i].resource, o->bound) == 0)
			return o->stalls[i].ppm / 1e6;
	return 0;
}

static void put_op(struct out_json *j, const struct res_work_op *w, const struct res_op *o)
{
	out_json_open(j, NULL, '[');
	out_json_text(j, NULL, w->name);
	out_json_text(j, NULL, w->kind);
	out_json_text(j, NULL, w->family);
	out_json_int(j, NULL, w->layer);
	figure_doc_page(j, OP_TIME, &o->figures, o->known);
	out_json_real(j, NULL, unit_us((int64_t)w->measured_ns));
	figure_doc_page(j, OP_LIMIT, &o->figures, o->known);
	out_json_text(j, NULL, o->bound);
	figure_doc_page(j, OP_WORK, &o->figures, o->known);
	out_json_real(j, NULL, bound_share(o));
	figure_doc_page(j, OP_REST, &o->figures, o->known);
	out_json_close(j, ']');
}

static void put_op_columns(struct out_json *j)
{
	static const char *const first[] = { "name", "kind", "family", "layer" };

	out_json_open(j, "op_columns", '[');
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		out_json_text(j, NULL, first[i]);
	figure_doc_page_names(j, OP_TIME);
	out_json_text(j, NULL, "measured_us");
	figure_doc_page_names(j, OP_LIMIT);
	out_json_text(j, NULL, "bound");
	figure_doc_page_names(j, OP_WORK);
	out_json_text(j, NULL, "bound_share");
	figure_doc_page_names(j, OP_REST);
	out_json_close(j, ']');
}

static void page_run_put_ops(struct out_json *j, const struct res_stored *r)
{
	put_op_columns(j);
	out_json_open(j, "ops", '[');
	for (size_t i = 0; i < r->workload.n_ops; i++)
		put_op(j, &r->workload.ops[i], &r->run.ops[i]);
	out_json_close(j, ']');
}

/* --- kinds ------------------------------------------------------------------------------------------------- */

/* Longest first, by name where two are equal. */
static void sort_kinds(struct kinds_row *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const struct kinds_row x = v[i];
		size_t k = i;

		for (; k > 0 && (v[k - 1].span_ps < x.span_ps ||
		                 (v[k - 1].span_ps == x.span_ps && strcmp(v[k - 1].name, x.name) > 0));
		     k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

static void put_kinds(struct out_json *j, const struct res_stored *r)
{
	struct kinds_row kinds[OP_KINDS];
	const size_t n = kinds_of(r, kinds);

	sort_kinds(kinds, n);
	out_json_open(j, "kinds", '[');
	for (size_t i = 0; i < n; i++) {
		out_json_open(j, NULL, '{');
		out_json_text(j, "kind", kinds[i].name);
		out_json_u64(j, "ops", kinds[i].ops);
		out_json_u64(j, "carried", kinds[i].carried);
		out_json_real(j, "us", unit_ps_us(kinds[i].span_ps));
		out_json_real(j, "limit_us", unit_ps_us(kinds[i].limit_ps));
		out_json_real(j, "measured_us", unit_us((int64_t)kinds[i].measured_ns));
		out_json_open(j, "stalls", '[');
		for (size_t k = 0; k < r->run.n_resources && k < RES_COUNT; k++)
			out_json_real(j, NULL, kinds[i].stall_ps[k] / 1e6);
		out_json_close(j, ']');
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	out_json_open(j, "resources", '[');
	for (size_t k = 0; k < r->run.n_resources && k < RES_COUNT; k++) {
		out_json_open(j, NULL, '{');
		out_json_text(j, "name", r->run.resources[k].name);
		out_json_real(j, "stall_us", unit_ps_us(r->run.resources[k].stall_ps));
		out_json_real(j, "peak_us", unit_ps_us(r->run.resources[k].peak_ps));
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	out_json_open(j, "energy", '[');
	for (size_t k = 0; k < r->run.n_energy; k++) {
		out_json_open(j, NULL, '{');
		out_json_text(j, "block", r->run.energy[k].block);
		out_json_text(j, "name", r->run.energy[k].name);
		out_json_real(j, "uj", (double)r->run.energy[k].fj / 1e9);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}

/* --- limits ------------------------------------------------------------------------------------------------ */

/* Scaled as limits.h does; nothing where limits was not asked. */
static void put_limits(struct out_json *j, const struct res_run *r)
{
	const struct res_limits *l = &r->limits;

	if (l->n == 0) {
		out_json_null(j, "limits");
		return;
	}
	out_json_open(j, "limits", '{');
	out_json_real(j, "per", l->per_ppm / 1e6);
	out_json_open(j, "rows", '[');
	for (size_t i = 0; i < l->n; i++) {
		const struct res_limit *x = &l->rows[i];
		const struct limits_result base = { .base_ps = x->base_ps ? x->base_ps : r->total_ps };
		const struct limits_row row = { .step = x->step, .total_ps = x->total_ps, .refused = x->refused };

		out_json_open(j, NULL, '{');
		out_json_text(j, "move", x->move);
		out_json_text(j, "key", x->key);
		out_json_text(j, "now", x->now);
		out_json_text(j, "then", x->then);
		out_json_real(j, "step", x->step);
		if (x->refused) {
			out_json_null(j, "us");
			out_json_null(j, "gain");
		} else {
			out_json_real(j, "us", unit_ps_us(x->total_ps));
			out_json_real(j, "gain", limits_gain(&base, &row, l->per_ppm));
			out_json_text(j, "by", x->fidelity ? x->fidelity : r->fidelity);
			out_json_bool(j, "within_error", x->within);
		}
		out_json_text(j, "refused", x->refused);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	out_json_close(j, '}');
}

/* --- the run ----------------------------------------------------------------------------------------------- */

static void page_run_put_head(struct out_json *j, const char *from, const struct res_stored *r)
{
	const struct res_run *x = &r->run;
	const struct res_workload *w = &r->workload;
	char hash[17];

	hash_hex(x->config_hash, hash);
	out_json_text(j, "from", from);
	out_json_int(j, "id", x->id);
	out_json_text(j, "name", x->config_name);
	out_json_text(j, "config", x->config_path);
	out_json_text(j, "hash", hash);
	out_json_text(j, "build", x->build);
	out_json_text(j, "start", x->start);
	out_json_text(j, "fidelity", x->fidelity);
	out_json_u64(j, "seed", x->seed);
	out_json_text(j, "workload", w->source);
	out_json_int(j, "workload_id", r->workload_id);
	out_json_text(j, "range", w->range);
}

static void put_figure(struct out_json *j, const char *name, const struct res_run *x)
{
	const struct figure *f = figure_named(name);
	const struct figure_value v = figure_value(f, &x->figures, NULL);

	if (v.known && (f->zero == FIGURE_ZERO || f->make || v.n))
		out_json_real(j, name, v.x);
	else
		out_json_null(j, name);
}

static void put_warnings(struct out_json *j, const struct res_run *x)
{
	out_json_open(j, "warnings", '[');
	for (size_t i = 0; i < x->n_warnings; i++)
		out_json_text(j, NULL, x->warnings[i].text);
	out_json_close(j, ']');
}

static void put_totals(struct out_json *j, const struct res_stored *r)
{
	const struct res_run *x = &r->run;
	const struct res_workload *w = &r->workload;

	out_json_real(j, "total_us", unit_ps_us(x->total_ps));
	out_json_real(j, "roofline_us", unit_ps_us(x->roofline_ps));
	out_json_text(j, "roofline_bound", x->roofline_bound);
	put_figure(j, "mapped_us", x);
	put_figure(j, "mfu", x);
	put_figure(j, "bandwidth_use", x);
	put_warnings(j, x);
	out_json_real(j, "carried_us", unit_ps_us(x->carried_ps));
	out_json_real(j, "kernels_us", unit_us((int64_t)w->kernel_ns));
	out_json_real(j, "measured_us", unit_us((int64_t)w->measured_ns));
	if (w->wall_ns >= 0)
		out_json_real(j, "wall_us", unit_us(w->wall_ns));
	else
		out_json_null(j, "wall_us");
	out_json_u64(j, "dram_read_bytes", x->dram_read_bytes);
	out_json_u64(j, "dram_write_bytes", x->dram_write_bytes);
	out_json_u64(j, "flops", x->flops);
}

/* What to change, each with its price and how sure it is. */
static void put_next(struct out_json *j, const struct verdict *v)
{
	const struct marginal *const of[] = { &v->buy.amount, &v->buy.choice };

	out_json_open(j, "next", '[');
	for (size_t i = 0; i < 2; i++) {
		struct str s = STR_INIT;

		if (!of[i]->key)
			continue;
		run_verdict_buy(of[i], true, &s);
		out_json_text(j, NULL, str_c(&s));
		str_free(&s);
	}
	out_json_close(j, ']');
}

static void put_verdict(struct out_json *j, const struct res_stored *r)
{
	struct str lines[VERDICT_LINES] = VERDICT_INIT;
	struct verdict v;
	int n;

	run_verdict_stored(r, &v);
	put_next(j, &v);
	v.buys = false; /* it stands apart */
	n = run_verdict_text(&v, lines);
	out_json_open(j, "verdict", '[');
	for (int i = 0; i < n; i++)
		out_json_text(j, NULL, str_c(&lines[i]));
	out_json_close(j, ']');
	for (int i = 0; i < VERDICT_LINES; i++)
		str_free(&lines[i]);
	if (v.fused_ps)
		out_json_real(j, "fused_us", unit_ps_us(v.fused_ps));
	else
		out_json_null(j, "fused_us");
	out_json_u64(j, "steps", v.steps);
}

static int put_explained(struct out_json *j, const struct res_stored *r, struct err *e)
{
	struct explain_line lines[EXPLAIN_LINES];
	struct arena *a = arena_new(0);
	const int n = a ? explain_run(r, a, lines, e) : err_nomem(e, "for the report");

	out_json_open(j, "explained", '[');
	for (int i = 0; i < n; i++) {
		out_json_open(j, NULL, '{');
		out_json_text(j, "text", lines[i].text);
		out_json_text(j, "where", lines[i].where);
		out_json_text(j, "source", lines[i].source);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	arena_free(a);
	return n < 0 ? -1 : 0;
}

/* What ran, as a heading has it: a model without what was asked of it, which stands among the run's facts. */
static void put_work(struct out_json *j, const char *work)
{
	struct str name = STR_INIT;

	str_addn(&name, work, strcspn(work, ","));
	out_json_text(j, "work", str_c(&name));
	str_free(&name);
}

int page_lead(struct out_json *j, const struct res_stored *r, struct err *e)
{
	put_verdict(j, r);
	return put_explained(j, r, e);
}

int page_run(struct out_json *j, const char *from, const char *called, const char *within, const struct res_stored *r,
             struct err *e)
{
	struct run_made made = { .launches = false };
	struct baseline *b;
	struct str trust = STR_INIT, work = STR_INIT;
	bool failed;
	int rc;

	out_json_open(j, NULL, '{');
	page_run_put_head(j, from, r);
	out_json_text(j, "called", called);
	labels_workload(r, &work);
	put_work(j, str_c(&work));
	out_json_text(j, "within", within);
	rc = page_lead(j, r, e);
	put_totals(j, r);
	made.launches = page_machine(j, &r->run);
	out_json_bool(j, "gpu", made.launches);
	for (size_t i = 0; i < r->workload.n_ops; i++) {
		run_made_add(&made, r->workload.ops[i].kind, r->workload.ops[i].family, r->workload.ops[i].measured_ns);
		run_made_part(&made, r->workload.ops[i].kind, strcmp(r->workload.ops[i].family, "gemv") == 0,
		              r->workload.ops[i].measured_ns);
	}
	b = baseline_new(&path_source, NULL);
	run_made_trust(&made, b, &trust);
	baseline_free(b);
	out_json_lines(j, "trust", str_c(&trust));
	failed = trust.failed || work.failed;
	str_free(&work);
	str_free(&trust);
	put_kinds(j, r);
	put_limits(j, &r->run);
	page_run_put_ops(j, r);
	out_json_close(j, '}');
	return rc < 0 ? -1 : failed ? err_nomem(e, "for the report") : 0;
}
