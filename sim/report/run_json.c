/* run_json.c - npusim run in JSON and CSV. Names that scripts rely on come first; the rest is ours to add to. The
 * figures are those of results/figure.h. A field whose model does not exist yet is null, never 0; so is everything
 * simulated of a carried op. */
#include "sim/report/run.h"
#include "workloads/known.h"

#include <inttypes.h>
#include <stdio.h>

#include "sim/base/hash.h"
#include "sim/report/figure_out.h"
#include "sim/report/run_verdict.h"
#include "sim/report/types_out.h"

static void stalls(struct out_json *j, const struct run_op *o)
{
	out_json_open(j, "stalls", '{');
	for (int k = 0; k < RES_COUNT && !o->carried; k++)
		if (o->stall_ppm[k])
			out_json_real(j, res_name((enum res)k), (double)o->stall_ppm[k] / 1e6);
	out_json_close(j, '}');
}

/* Nothing of a model is measured, and not every row of a table of ops. */
static void measured_us(struct out_json *j, bool unknown, uint64_t ns)
{
	if (unknown)
		out_json_null(j, "measured_us");
	else
		out_json_real(j, "measured_us", unit_us((int64_t)ns));
}

static void op(struct out_json *j, const struct run_report *r, size_t i)
{
	const struct run_op *o = &r->result->ops[i];
	const struct op *of = &r->stream->ops[i];
	const unsigned known = run_op_known(r->result, o);

	out_json_open(j, NULL, '{');
	out_json_int(j, "id", of->id);
	out_json_text(j, "name", of->name);
	out_json_text(j, "kind", op_kind_name(of->kind));
	op_figure_json(j, OP_TIME, &o->figures, known);
	out_json_text(j, "bound", o->carried ? NULL : res_name(o->bound));
	op_figure_json(j, OP_LIMIT, &o->figures, known);
	stalls(j, o);
	op_figure_json(j, OP_WORK, &o->figures, known);
	op_figure_json(j, OP_REST, &o->figures, known);
	measured_us(j, run_unmeasured(r) || ops_listed_unmeasured(of), of->measured_ns);
	if (r->counted && r->counted->ns[of->id])
		out_json_real(j, "measured_dram_bytes", r->counted->bytes[of->id]);
	out_json_text(j, "family", of->family);
	out_json_int(j, "layer", of->layer);
	out_json_bool(j, "carried", o->carried);
	out_json_text(j, "fused", run_pattern(r->result, o));
	out_json_close(j, '}');
}

static void kinds(struct out_json *j, const struct run_report *r, const struct run_sum sums[OP_KINDS])
{
	int order[OP_KINDS], n = run_order_kinds(sums, order);

	out_json_open(j, "by_kind", '[');
	for (int i = 0; i < n; i++) {
		const struct run_sum *k = &sums[order[i]];

		out_json_open(j, NULL, '{');
		out_json_text(j, "kind", op_kind_name((enum op_kind)order[i]));
		out_json_u64(j, "ops", k->ops);
		if (k->carried == k->ops)
			out_json_null(j, "us");
		else
			out_json_real(j, "us", unit_ps_us(k->span_ps));
		measured_us(j, run_unmeasured(r) || k->unmeasured, k->measured_ns);
		out_json_real(j, "carried_us", unit_us((int64_t)k->carried_ns));
		out_json_open(j, "bounds", '{');
		for (int b = 0; b < RES_COUNT; b++)
			if (k->stall_ps[b] > 0)
				out_json_real(j, res_name((enum res)b), k->stall_ps[b] / (double)k->span_ps);
		out_json_close(j, '}');
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}

static void by_resource(struct out_json *j, const char *key, const ps_t *v)
{
	out_json_open(j, key, '{');
	for (int k = 0; k < RES_COUNT; k++)
		if (v[k])
			out_json_real(j, res_name((enum res)k), unit_ps_us(v[k]));
	out_json_close(j, '}');
}

/* By block, then by what it did; uJ. */
static void energy(struct out_json *j, const struct run_result *r)
{
	if (!r->energy)
		return;
	out_json_open(j, "energy_parts_uj", '{');
	for (size_t i = 0; i < r->n_energy; i++) {
		const struct energy_row *row = r->energy[i].row;
		char key[64];

		snprintf(key, sizeof key, "%s.%s", row->block, row->name);
		if (r->energy[i].fj)
			out_json_real(j, key, (double)r->energy[i].fj / 1e9);
	}
	out_json_close(j, '}');
}

static void stats(struct out_json *j, const struct run_result *r)
{
	out_json_open(j, "stats", '{');
	for (size_t i = 0; i < r->n_stats; i++)
		out_json_u64(j, r->stats[i].name, r->stats[i].value);
	out_json_close(j, '}');
}

static void warnings(struct out_json *j, const struct says_list *l)
{
	out_json_open(j, "warnings", '[');
	for (size_t i = 0; i < l->n; i++) {
		out_json_open(j, NULL, '{');
		out_json_text(j, "what", l->v[i].what);
		out_json_text(j, "text", l->v[i].text);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}

static void fusions(struct out_json *j, const struct run_report *r)
{
	const struct map_result *m = r->result->map;

	out_json_open(j, "fusions", '[');
	for (size_t i = 0; m && i < m->n_fusions; i++) {
		const struct map_fusion *f = &m->fusions[i];

		out_json_open(j, NULL, '{');
		out_json_text(j, "pattern", f->pattern);
		out_json_int(j, "first_op", f->first_op);
		out_json_int(j, "ops", f->n_ops);
		out_json_u64(j, "saved_bytes", f->saved_bytes);
		out_json_int(j, "saved_dispatches", f->saved_dispatches);
		out_json_real(j, "predicted_us", unit_ps_us(f->predicted));
		out_json_real(j, "unfused_us", unit_ps_us(f->unfused));
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}

/* Where most was carried the simulated part is no answer: it stands under a name of its own, and total_us and what is made of it
 * are null, as the verdict's step_us is. */
static void head_json(struct out_json *j, const struct run_report *r, const struct figures *x,
                      const struct figure_measured *m)
{
	if (r->verdict)
		run_verdict_json(j, r->verdict);
	figure_json(j, FIGURE_HEAD, x, m);
	if (x->total_ps != r->result->total_ps)
		out_json_real(j, "simulated_part_us", unit_ps_us(r->result->total_ps));
}

void run_json(const struct run_report *r, struct str *out)
{
	const struct run_result *x = r->result;
	struct figures answer = x->figures;
	struct run_sum sums[OP_KINDS], all;
	struct figure_measured m;
	struct str trust = STR_INIT;
	struct out_json j;
	char hash[17];

	run_sum_ops(r, sums, &all);
	m = run_measured(r, &all);
	hash_hex(x->config_hash, hash);
	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	if (r->verdict && !r->verdict->us)
		answer.total_ps = answer.cycles = 0;
	head_json(&j, r, &answer, &m);
	out_json_text(&j, "config_hash", hash);
	out_json_text(&j, "fidelity", r->result->engine->fidelity);
	figure_json(&j, FIGURE_WALL, &x->figures, &m);
	out_json_text(&j, "config", r->conf->cfg.name);
	out_json_text(&j, "workload", r->trace->path);
	if (r->lowered)
		types_out_json(r->lowered, &j);
	out_json_text(&j, "range", r->trace->range);
	run_align_json(&j, r);
	run_rewrite_json(&j, r);
	out_json_text(&j, "start", run_start_name(r->start));
	out_json_real(&j, "expert_reuse", (double)x->reuse_ppm / 1e6);
	out_json_bool(&j, "expert_reuse_assumed", !r->reuse_given);
	out_json_u64(&j, "seed", r->seed);
	figure_json(&j, FIGURE_EFFORT, &x->figures, &m);
	run_trust(r, "", &trust);
	out_json_text(&j, "accuracy", str_c(&trust));
	if (r->not_validated)
		out_json_text(&j, "not_validated", r->not_validated);
	str_free(&trust);
	warnings(&j, r->says);
	out_json_text(&j, "roofline_bound", res_name(x->roofline_bound));
	figure_json(&j, FIGURE_REST, &answer, &m);
	by_resource(&j, "stall_us", x->stall_ps);
	by_resource(&j, "roofline_terms_us", x->floor_ps);
	by_resource(&j, "mapped_terms_us", x->peak_ps);
	energy(&j, x);
	kinds(&j, r, sums);
	out_json_open(&j, "ops", '[');
	for (size_t i = 0; i < r->stream->n_ops; i++)
		op(&j, r, i);
	out_json_close(&j, ']');
	if (r->explain_fusion) {
		fusions(&j, r);
		run_fusion_json(&j, r);
	}
	if (r->told)
		run_mapping_json(&j, r);
	stats(&j, x);
	if (r->stored)
		out_json_int(&j, "run", r->stored);
	out_json_close(&j, '}');
}

/* --- csv --------------------------------------------------------------------------------------------------- */

static void csv_op(struct out_table *t, const struct run_report *r, size_t i, const char *part, struct str *text)
{
	const struct run_op *o = &r->result->ops[i];
	const struct op *of = &r->stream->ops[i];
	const unsigned known = run_op_known(r->result, o);

	str_clear(text);
	for (int k = 0; k < RES_COUNT && !o->carried; k++)
		if (o->stall_ppm[k])
			str_addf(text, "%s%s:%.9g", text->len ? " " : "", res_name((enum res)k),
			         (double)o->stall_ppm[k] / 1e6);
	out_int(t, of->id);
	out_text(t, of->name);
	out_text(t, op_kind_name(of->kind));
	out_int(t, of->layer);
	op_figure_csv(t, OP_TIME, &o->figures, known);
	out_text(t, o->carried ? NULL : res_name(o->bound));
	op_figure_csv(t, OP_LIMIT, &o->figures, known);
	out_text(t, o->carried ? NULL : str_c(text));
	op_figure_csv(t, OP_WORK, &o->figures, known);
	if (run_unmeasured(r) || ops_listed_unmeasured(of))
		out_null(t);
	else
		out_real(t, unit_us((int64_t)of->measured_ns));
	out_text(t, run_pattern(r->result, o));
	op_figure_csv(t, OP_REST, &o->figures, known);
	out_text(t, part);
}

/* Texts, with the parts of the figures after them. */
static struct out_table *csv_table(void)
{
	static const struct {
		struct out_col col;
		enum op_part then;
	} texts[] = {
		{ { "id", OUT_INT, 0 }, OP_NOWHERE },           { { "name", OUT_TEXT, 0 }, OP_NOWHERE },
		{ { "kind", OUT_TEXT, 0 }, OP_NOWHERE },        { { "layer", OUT_INT, 0 }, OP_TIME },
		{ { "bound", OUT_TEXT, 0 }, OP_LIMIT },         { { "stalls", OUT_TEXT, 0 }, OP_WORK },
		{ { "measured_us", OUT_REAL, 3 }, OP_NOWHERE }, { { "fused", OUT_TEXT, 0 }, OP_REST },
		{ { "part", OUT_TEXT, 0 }, OP_NOWHERE },
	};
	struct out_col cols[sizeof texts / sizeof *texts + OP_FIGURE_ROWS];
	int n = 0;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		cols[n++] = texts[i].col;
		if (texts[i].then != OP_NOWHERE)
			op_figure_csv_cols(texts[i].then, cols, &n);
	}
	return out_table_new(cols, n, NULL);
}

void run_csv(const struct run_report *r, struct str *out)
{
	struct out_table *t = csv_table();
	struct str text = STR_INIT, part = STR_INIT;

	workload_part_text(&r->part, &part);
	for (size_t i = 0; i < r->stream->n_ops; i++)
		csv_op(t, r, i, part.len ? str_c(&part) : NULL, &text);
	out_table_write(t, OUT_CSV, out);
	out->failed |= text.failed | part.failed;
	str_free(&text);
	str_free(&part);
	out_table_free(t);
}
