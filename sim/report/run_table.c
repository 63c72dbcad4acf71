/* run_table.c - npusim run for people, from the totals down to what stands behind them, the comparison last; and in any format. */
#include "sim/report/run.h"

#include <stdio.h>
#include <string.h>

#include "sim/report/run_verdict.h"
#include "workloads/known.h"

/* --- totals -------------------------------------------------------------------------------------------------- */

struct total {
	const char *what;
	double us, over; /* over: times the simulated time; 0: not known, or no ratio */
	const char *note;
	bool unknown; /* its time */
};

static void total_row(struct doc *d, const void *of, size_t i)
{
	const struct total *t = of;

	(void)i;
	doc_text(d, "total", t->what);
	doc_real_if(d, "us", 3, !t->unknown, t->us);
	doc_real_if(d, "x simulated", 3, t->over > 0, t->over);
	doc_text(d, "note", t->note);
}

static void total(struct doc *d, const char *what, double us, double over, const char *note)
{
	doc_row(d, total_row, &(struct total){ what, us, over, note, false }, 0);
}

static double over(ps_t part, ps_t all)
{
	return all ? unit_ps_us(part) / unit_ps_us(all) : 0;
}

/* What was measured of the trace; without an answer it is times nothing. */
static void measured(struct doc *d, const struct run_report *r, const struct run_sum *all, bool answer)
{
	const struct op_stream *s = r->stream;
	const struct figures *x = &r->result->figures;
	const struct figure_measured m = run_measured(r, all);
	const char *how = all->unmeasured ? "of the rows that say one" : "sum of kernel durations";
	struct str steps = STR_INIT;

	if (r->steps.n > 1 && strcmp(how, "sum of kernel durations") == 0) {
		str_addf(&steps, "%s; %zu steps took %.0f to %.0f us", how, r->steps.n, (double)r->steps.low_ns / 1e3,
		         (double)r->steps.high_ns / 1e3);
		how = str_c(&steps);
	}
	total(d, "measured, kernels", unit_us((int64_t)s->kernel_ns), answer ? figure_ratio_kernels(x, &m) : 0, how);
	str_free(&steps);
	if (r->whole)
		total(d, "measured, copies and sets", unit_us((int64_t)(s->measured_ns - s->kernel_ns)), 0, "");
	if (s->wall_ns < 0)
		doc_row(d, total_row,
		        &(struct total){ "measured, wall", 0, 0, "unknown (give --wall at import)", true }, 0);
	else if (r->whole)
		total(d, "measured, wall", unit_us(s->wall_ns), figure_ratio_wall(x, &m),
		      "without profiler, host included");
	else
		total(d, "measured, wall", unit_us(s->wall_ns), answer ? figure_ratio_wall(x, &m) : 0,
		      "no profiler, host included");
}

/* A model's new tokens in the time of its step. */
static void rates(struct doc *d, const struct run_report *r)
{
	if (run_tokens(r) && r->result->total_ps)
		total(d, "tokens a second", run_tokens_per_s(r), 0, "all sequences together, by the simulated time");
}

static const char *above(struct str *note, const char *resource, double total, double least)
{
	str_clear(note);
	if (least > 0)
		str_addf(note, "bound by %s; the run is %.1f %% above it", resource, 100 * (total - least) / least);
	else
		str_add(note, "nothing is necessary of DRAM or of a unit");
	return str_c(note);
}

/* What it must take at least, and what it was mapped to. */
static void bounds_of(struct doc *d, const struct run_report *r)
{
	const struct run_result *x = r->result;
	const ps_t whole = figure_whole_ps(&x->figures);
	const double us = unit_ps_us(whole), roof = unit_ps_us(x->roofline_ps), mapped = unit_ps_us(x->mapped_ps);
	struct str note = STR_INIT;

	if (!r->whole) {
		str_addf(&note, "bound by %s", res_name(x->roofline_bound));
		total(d, "roofline", roof, over(x->roofline_ps, whole), str_c(&note));
	} else {
		total(d, "roofline", roof, over(x->roofline_ps, whole),
		      above(&note, res_name(x->roofline_bound), us, roof));
		total(d, "mapped work at its peak", mapped, over(x->mapped_ps, whole),
		      above(&note, res_name(run_largest(x->peak_ps)), us, mapped));
		total(d, "  multiply-adds at their peak (MFU)", unit_ps_us(x->macs_ps), run_share(x->macs_ps, whole),
		      "on the fastest unit for their formats");
		total(d, "  DRAM's bytes at its peak (bandwidth use)", unit_ps_us(x->pins_ps),
		      run_share(x->pins_ps, whole), "");
	}
	doc_free(d, &note);
}

static void simulated(struct doc *d, const struct run_report *r, bool answer)
{
	const struct run_result *x = r->result;
	const ps_t kernels = x->total_ps - x->copies_ps;

	if (answer)
		total(d, x->carried_ps ? "simulated, with what is carried" : "simulated",
		      unit_ps_us(figure_whole_ps(&x->figures)), x->total_ps ? 1 : 0,
		      !r->whole && r->verdict->steps > 1 ? "all steps together" : "");
	else
		total(d, "what was simulated", unit_ps_us(x->total_ps), 0, "less than half of it: no answer");
	if (x->copies_ps && !run_unmeasured(r)) /* what stands beside 'measured, kernels' */
		total(d, "  kernels alone", unit_ps_us(kernels), over(kernels, figure_whole_ps(&x->figures)),
		      r->whole ? "the rest is copies and sets" : "the rest is copies, sets");
	bounds_of(d, r);
}

/* Of a GPU with its host. */
static void walls(struct doc *d, const struct run_report *r)
{
	const struct run_result *x = r->result;
	const ps_t whole = figure_whole_ps(&x->figures);

	if (!x->wall_eager_ps)
		return;
	total(d, r->whole ? "simulated, wall under a graph" : "simulated, wall under graph",
	      unit_ps_us(x->wall_graph_ps), over(x->wall_graph_ps, whole),
	      r->whole ? "one launch, then node after node" : "");
	total(d, r->whole ? "simulated, wall launched one by one" : "simulated, wall one by one",
	      unit_ps_us(x->wall_eager_ps), over(x->wall_eager_ps, whole),
	      r->whole ? "by this configuration's host (host.*)" : "by host.*");
}

static void fused(struct doc *d, const struct run_report *r)
{
	const struct verdict *v = r->verdict;
	struct str note = STR_INIT;

	str_addf(&note, "%s, fused, as one graph", v->device[0] ? v->device : "H200");
	if (v->fused_ps)
		total(d, "simulated GPU", unit_ps_us(v->fused_ps + r->result->carried_ps), v->fused, str_c(&note));
	doc_free(d, &note);
}

/* The first page says nothing that is simulated where that is no answer. */
static void totals(struct doc *d, const struct run_report *r, const struct run_sum *all)
{
	const struct run_result *x = r->result;
	const bool answer = r->verdict ? r->verdict->us > 0 : r->whole, shown = r->whole || answer;

	doc_table_open(d, NULL, NULL);
	if (shown)
		simulated(d, r, answer);
	if (!run_unmeasured(r))
		measured(d, r, all, shown);
	else if (r->whole)
		rates(d, r);
	if (shown)
		walls(d, r);
	if (answer && !r->whole)
		fused(d, r);
	if (x->carried_ps)
		total(d, "carried", unit_ps_us(x->carried_ps),
		      shown ? over(x->carried_ps, figure_whole_ps(&x->figures)) : 0,
		      "measured time of what no rule knows");
	doc_table_close(d, total_row, &(struct total){ .what = NULL });
	doc_say(d, "\n");
}

/* --- the whole run ----------------------------------------------------------------------------------------- */

static void bound_row(struct doc *d, const void *of, size_t k)
{
	const struct run_result *x = of;

	doc_text(d, "resource", res_name((enum res)k));
	doc_ps(d, "stall_us", 3, x->stall_ps[k]);
	doc_real(d, "share_pct", 1, unit_pct((double)x->stall_ps[k], (double)x->total_ps));
	doc_ps(d, "needs_us", 3, x->peak_ps[k]);
}

static void bounds(struct doc *d, const struct run_result *x)
{
	bool used[RES_COUNT] = { false };

	doc_table_open(d, NULL, "what bounds the run (needs_us: all its work, as mapped, at the resource's peak)");
	for (;;) {
		int best = -1;

		for (int k = 0; k < RES_COUNT; k++)
			if (!used[k] && (x->stall_ps[k] || x->peak_ps[k]) &&
			    (best < 0 || x->stall_ps[k] > x->stall_ps[best]))
				best = k;
		if (best < 0)
			break;
		used[best] = true;
		doc_row(d, bound_row, x, (size_t)best);
	}
	doc_table_close(d, bound_row, x);
	doc_say(d, "\n");
}

struct traffic {
	const char *what;
	uint64_t bytes;
	ps_t in; /* 0: of it no rate is told */
};

static void traffic_row(struct doc *d, const void *of, size_t i)
{
	const struct traffic *t = (const struct traffic *)of + i;

	doc_text(d, "DRAM traffic", t->what);
	doc_count(d, "bytes", t->bytes);
	doc_real(d, "MiB", 2, (double)t->bytes / 1048576);
	doc_real_if(d, "GB/s", 1, t->in, (double)t->bytes * 1e3 / (double)t->in); /* bytes a ps are TB/s */
}

static void traffic(struct doc *d, const struct run_result *x)
{
	struct traffic t[7] = {
		{ "read", x->dram_read_bytes, x->total_ps },
		{ "  of it first reads of what was not on chip", x->first_read_bytes, 0 },
		{ "written back", x->dram_write_bytes, x->total_ps },
		{ "necessary of any run (each tensor once, less what the chip could keep)", x->compulsory_bytes, 0 },
		{ "still dirty on chip at the end", x->dirty_bytes, 0 },
	};
	size_t n = 5;

	if (x->narrowed_bytes)
		t[n++] = (struct traffic){ "spared by weights.dtype and kv.dtype", x->narrowed_bytes, 0 };
	if (x->map && x->map->held_bytes)
		t[n++] = (struct traffic){ "of weights that stay in a unit's arrays", x->map->held_bytes, 0 };
	doc_table(d, NULL, NULL, n, traffic_row, t);
	doc_say(d, "\n");
}

/* Statistics named BLOCK.busy_ps are times the block's unit worked. */
static void unit_row(struct doc *d, const void *of, size_t i)
{
	static const char suffix[] = ".busy_ps";
	const struct run_result *x = of;
	const char *s = d->heads ? "" : x->stats[i].name;
	const size_t n = strlen(s), k = sizeof suffix - 1;
	struct str name = STR_INIT;

	if (!d->heads && (n <= k || strcmp(s + n - k, suffix) != 0))
		return;
	str_addn(&name, s, d->heads ? 0 : n - k);
	doc_text(d, "unit", str_c(&name));
	doc_ps(d, "busy_us", 3, x->stats[i].value);
	doc_real(d, "busy_pct", 1, unit_pct((double)x->stats[i].value, (double)x->total_ps));
	doc_free(d, &name);
}

/* --- measured against simulated ---------------------------------------------------------------------------- */

/* Below 0: not known. */
struct beside {
	const char *what;
	uint64_t ops;
	double measured, simulated;
};

static void beside_row(struct doc *d, const void *of, size_t i)
{
	const struct beside *x = of;

	(void)i;
	doc_text(d, "kind", x->what);
	doc_count(d, "ops", x->ops);
	doc_real_if(d, "measured_us", 3, x->measured >= 0, x->measured);
	doc_real_if(d, "simulated_us", 3, x->simulated >= 0, x->simulated);
	doc_real_if(d, "measured/simulated", 3, x->simulated > 0 && x->measured >= 0, x->measured / x->simulated);
}

static void beside(struct doc *d, const char *what, const struct run_sum *k, double simulated)
{
	const double us = k->unmeasured ? -1 : unit_us((int64_t)(k->measured_ns - k->carried_ns));

	doc_row(d, beside_row, &(struct beside){ what, k->ops - k->carried, us, simulated }, 0);
}

static void comparison(struct doc *d, const struct run_report *r, const struct run_sum sums[OP_KINDS],
                       const struct run_sum *all)
{
	const bool listed = ops_listed_all(r->stream);
	int order[OP_KINDS], n = run_order_kinds(sums, order);
	const double total = unit_ps_us(r->result->total_ps);
	const uint64_t ops = all->ops - all->carried;

	doc_table_open(d, NULL,
	               listed ? "measured (by the table) against simulated, by kind of op"
	                      : "measured (GPU kernels, copies and sets) against simulated, by kind of op");
	for (int i = 0; i < n; i++)
		if (sums[order[i]].carried < sums[order[i]].ops)
			beside(d, op_kind_name((enum op_kind)order[i]), &sums[order[i]],
			       unit_ps_us(sums[order[i]].span_ps));
	beside(d, "all ops", all, total);
	if (!listed)
		doc_row(d, beside_row,
		        &(struct beside){ "kernels alone", ops, unit_us((int64_t)all->kernel_ns),
		                          unit_ps_us(r->result->total_ps - r->result->copies_ps) },
		        0);
	if (all->carried)
		doc_row(d, beside_row,
		        &(struct beside){ "carried, in no sum above", all->carried, unit_us((int64_t)all->carried_ns),
		                          -1 },
		        0);
	if (r->stream->wall_ns >= 0)
		doc_row(d, beside_row,
		        &(struct beside){ "wall, without profiler", all->ops, unit_us(r->stream->wall_ns),
		                          unit_ps_us(figure_whole_ps(&r->result->figures)) },
		        0);
	doc_table_close(d, NULL, NULL);
}

/* DRAM's bytes on the GPU and here, of the ops of a kind of which they were counted. */
static void counted_row(struct doc *d, const void *of, size_t kind)
{
	const struct run_report *r = of;
	double gpu = 0, here = 0;
	int64_t ops = 0;

	for (size_t k = 0; k < r->stream->n_ops; k++)
		if (r->counted->ns[k] && r->stream->ops[k].kind == kind) {
			gpu += r->counted->bytes[k];
			here += (double)r->result->ops[k].dram_bytes;
			ops++;
		}
	if (!ops && !d->heads)
		return;
	doc_text(d, "kind", op_kind_name((enum op_kind)kind));
	doc_int(d, "ops", ops);
	doc_int(d, "counted", (int64_t)gpu);
	doc_int(d, "simulated", (int64_t)here);
	doc_real_if(d, "counted/simulated", 3, here > 0, gpu / here);
}

static void counted(struct doc *d, const struct run_report *r, const struct run_sum sums[OP_KINDS])
{
	int order[OP_KINDS], n = run_order_kinds(sums, order);

	doc_say(d, "\n");
	doc_table_open(d, NULL, "bytes of DRAM, counted on the GPU by Nsight Compute and simulated, by kind of op");
	for (int i = 0; i < n; i++)
		doc_row(d, counted_row, r, (size_t)order[i]);
	doc_table_close(d, counted_row, r);
}

/* --- pages ------------------------------------------------------------------------------------------------- */

static void fusions_and_map(struct doc *d, const struct run_report *r)
{
	if (r->explain_fusion)
		run_fusion_doc(d, r);
	if (r->explain_fusion && r->whole)
		run_chains_doc(d, r);
	if (r->told)
		run_mapping_doc(d, r);
	if (r->stored)
		doc_say(d, "stored as run %lld of '%s'\n\n", (long long)r->stored, r->results_path);
	if (r->timeline_path)
		doc_say(d, "the run over time is in '%s': open it at ui.perfetto.dev\n\n", r->timeline_path);
}

static void first_page(struct doc *d, const struct run_report *r, const struct run_sum sums[OP_KINDS],
                       const struct run_sum *all)
{
	totals(d, r, all);
	if (!r->verdict || r->verdict->us > 0)
		run_kinds_doc(d, r, sums);
	if (r->top)
		run_top_doc(d, r);
	fusions_and_map(d, r);
	doc_say(d, "--all prints the rest: every table, and how far each figure may be trusted\n");
}

static void all_pages(struct doc *d, const struct run_report *r, const struct run_sum sums[OP_KINDS],
                      const struct run_sum *all)
{
	totals(d, r, all);
	run_kinds_doc(d, r, sums);
	if (r->top)
		run_top_doc(d, r);
	bounds(d, r->result);
	traffic(d, r->result);
	run_energy_doc(d, r);
	doc_table(d, NULL, NULL, r->result->n_stats, unit_row, r->result);
	doc_say(d, "\n");
	fusions_and_map(d, r);
	if (!run_unmeasured(r))
		comparison(d, r, sums, all);
	if (r->counted)
		counted(d, r, sums);
}

void run_doc(struct doc *d, const struct run_report *r)
{
	struct run_sum sums[OP_KINDS], all;

	if (d->format == OUT_JSON) {
		run_members(d, r);
	} else if (d->format == OUT_CSV) {
		run_ops_doc(d, r);
	} else {
		run_sum_ops(r, sums, &all);
		run_verdict(r, d);
		run_facts(r, d);
		(r->whole ? all_pages : first_page)(d, r, sums, &all);
	}
}
