/* run_members.c - a run in JSON. Names that scripts rely on come first; the rest is ours to add to. The figures are those of
 * results/figure.h. A field whose model does not exist yet is null, never 0; so is everything simulated of a carried op. */
#include "sim/report/run.h"

#include <stdio.h>

#include "sim/base/hash.h"
#include "sim/report/figure_doc.h"
#include "sim/report/run_verdict.h"
#include "sim/report/types_doc.h"

void run_by_resource(struct doc *d, const char *key, const ps_t *v)
{
	doc_open(d, key, '{');
	for (int k = 0; k < RES_COUNT; k++)
		if (v[k])
			doc_ps(d, res_name((enum res)k), 3, v[k]);
	doc_close(d, '}');
}

void run_energy_part(struct doc *d, const struct energy_row *row, double uj)
{
	char key[64];

	snprintf(key, sizeof key, "%s.%s", row->block, row->name);
	if (uj > 0)
		doc_real(d, key, 3, uj);
}

static void energy(struct doc *d, const struct run_result *x)
{
	if (!x->energy)
		return;
	doc_open(d, "energy_parts_uj", '{');
	for (size_t i = 0; i < x->n_energy; i++)
		run_energy_part(d, x->energy[i].row, (double)x->energy[i].fj / 1e9);
	doc_close(d, '}');
}

static void warning_row(struct doc *d, const void *of, size_t i)
{
	const struct diag_list *l = of;

	doc_text(d, "what", l->v[i].what);
	doc_text(d, "text", l->v[i].text);
}

/* Where most was carried the simulated part is no answer: it stands under a name of its own, and total_us and what is made of it
 * are null, as the verdict's step_us is. */
static void head(struct doc *d, const struct run_report *r, const struct figures *x, const struct figure_measured *m)
{
	if (r->verdict)
		run_verdict_doc(d, r->verdict);
	figure_doc_part(d, FIGURE_HEAD, x, m);
	if (x->total_ps != r->result->total_ps)
		doc_ps(d, "simulated_part_us", 3, r->result->total_ps);
}

static void accuracy(struct doc *d, const struct run_report *r)
{
	struct str trust = STR_INIT;

	run_trust(r, &trust);
	doc_text(d, "accuracy", str_c(&trust));
	doc_free(d, &trust);
}

void run_members(struct doc *d, const struct run_report *r)
{
	const struct run_result *x = r->result;
	struct figures answer = x->figures;
	struct run_sum sums[OP_KINDS], all;
	struct figure_measured m;
	char hash[17];

	run_sum_ops(r, sums, &all);
	m = run_measured(r, &all);
	hash_hex(x->config_hash, hash);
	doc_open(d, NULL, '{');
	if (r->verdict && !r->verdict->us)
		answer.total_ps = answer.cycles = 0;
	head(d, r, &answer, &m);
	doc_text(d, "config_hash", hash);
	doc_text(d, "fidelity", x->engine->fidelity);
	figure_doc_part(d, FIGURE_WALL, &x->figures, &m);
	doc_text(d, "config", r->conf->cfg.name);
	doc_text(d, "workload", r->trace->path);
	if (r->lowered)
		types_doc(d, r->lowered);
	doc_text(d, "range", r->trace->range);
	run_align_doc(d, r);
	run_rewrite_doc(d, r);
	doc_text(d, "start", run_start_name(r->start));
	doc_real(d, "expert_reuse", 3, (double)x->reuse_ppm / 1e6);
	doc_bool(d, "expert_reuse_assumed", !r->reuse_given);
	doc_count(d, "seed", r->seed);
	figure_doc_part(d, FIGURE_EFFORT, &x->figures, &m);
	accuracy(d, r);
	if (r->not_validated)
		doc_text(d, "not_validated", r->not_validated);
	doc_table(d, "warnings", NULL, r->diags->n, warning_row, r->diags);
	doc_text(d, "roofline_bound", res_name(x->roofline_bound));
	figure_doc_part(d, FIGURE_REST, &answer, &m);
	run_by_resource(d, "stall_us", x->stall_ps);
	run_by_resource(d, "roofline_terms_us", x->floor_ps);
	run_by_resource(d, "mapped_terms_us", x->peak_ps);
	energy(d, x);
	run_kinds_doc(d, r, sums);
	run_ops_doc(d, r);
	if (r->explain_fusion) {
		run_chains_doc(d, r);
		run_fusion_doc(d, r);
	}
	if (r->told)
		run_mapping_doc(d, r);
	doc_open(d, "stats", '{');
	for (size_t i = 0; i < x->n_stats; i++)
		doc_count(d, x->stats[i].name, x->stats[i].value);
	doc_close(d, '}');
	if (r->stored)
		doc_int(d, "run", r->stored);
	doc_close(d, '}');
}
