/* run_table.c - npusim run for people: from the totals down to what stands behind them, the comparison last. */
#include "sim/report/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/report/figure_out.h"
#include "sim/report/run_verdict.h"
#include "sim/report/types_out.h"
#include "workloads/known.h"

#define COLS(a) (sizeof(a) / sizeof *(a))

static void finish(struct out_table *t, struct str *out)
{
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	str_addc(out, '\n');
}

static double mib(uint64_t bytes)
{
	return (double)bytes / 1048576;
}

/* --- head and totals --------------------------------------------------------------------------------------- */

static void interval(const struct run_report *r, struct str *out)
{
	struct str s = STR_INIT;

	if (r->verdict)
		run_verdict_classes(r->verdict, &s);
	if (s.len)
		str_addf(out, "interval   %s\n", str_c(&s));
	out->failed |= s.failed;
	str_free(&s);
}

static void types(const struct run_report *r, struct str *out)
{
	struct str s = STR_INIT;

	if (r->lowered)
		types_out_text(r->lowered, &s);
	if (s.len)
		str_addf(out, "types      %s\n", str_c(&s));
	out->failed |= s.failed;
	str_free(&s);
}

static void head(const struct run_report *r, struct str *out)
{
	const struct run_result *x = r->result;
	char hash[17];

	hash_hex(x->config_hash, hash);
	str_addf(out, "machine    %s (%s, hash %s)\n", r->conf->cfg.name, r->conf->path, hash);
	if (r->model)
		str_addf(out, "workload   %s: %s: %zu ops by description, nothing measured\n", r->trace->path,
		         r->trace->range, r->stream->n_ops);
	else if (r->given)
		str_addf(out, "workload   %s, a tile program: %zu commands for %zu ops, nothing mapped or measured\n",
		         r->trace->path, x->map->prog.n_cmds, r->stream->n_ops);
	else if (r->scaled)
		str_addf(out, "workload   %s, %s: %zu ops, nothing measured of them\n", r->trace->path, r->trace->range,
		         r->stream->n_ops);
	else
		str_addf(out, "workload   %s, %s%s: %" PRIu64 " kernels, %" PRIu64 " copies and sets, %zu ops\n",
		         r->trace->path,
		         !r->trace->range                             ? "all of it"
		         : str_prefix(r->trace->range, "rewritten: ") ? "all of it "
		                                                      : "range ",
		         r->trace->range ? r->trace->range : "", r->lowered->kernels,
		         r->lowered->launches - r->lowered->kernels, r->stream->n_ops);
	types(r, out);
	run_align_table(r, out);
	run_rewrite_table(r, out);
	if (ops_listed_all(r->stream))
		str_addf(
			out,
			"table      of ops: each waits for the row before it and has operands of its own; %zu of them say no"
			" measured time\n",
			ops_listed_without_time(r->stream));
	if (strcmp(r->trace->tool, "replay") == 0)
		str_addf(
			out,
			"replay     a published table of kernels in the order of another trace: %s (--context), copies without"
			" time\n",
			r->trace->command);
	if (r->start == RUN_COLD)
		str_add(out, "start      cold: the first time through, with nothing on chip\n");
	else if (r->start == RUN_RESIDENT)
		str_add(out,
		        "start      resident: run once to warm up, then measured with operands in SRAM as far as they fit\n");
	else
		str_add(out, "start      steady: run once to warm up, then measured\n");
	if (r->stream->n_routes)
		str_addf(out, "experts    %zu routers; an expert is picked again with probability %.4g (%s)%s\n",
		         r->stream->n_routes, (double)x->reuse_ppm / 1e6,
		         r->reuse_given ? "--expert-reuse"
		                        : "assumed, top-k over experts: a trace does not say which are picked",
		         r->lowered && r->lowered->inferred_groups ? "; how many rows each has is inferred: even picks"
		                                                   : "");
	str_addf(out, "fidelity   %s: ", x->engine->how);
	if (x->engine->events)
		str_addf(out, "%" PRIu64 " events, ", x->events);
	str_addf(out, "%" PRIu64 " cycles\n", x->cycles);
	if (r->not_validated)
		str_addf(out, "unknown    not validated, on no machine: %s\n", r->not_validated);
	interval(r, out);
	str_add(out, "accuracy   ");
	run_trust(r, "           ", out);
	for (size_t i = 0; i < r->says->n; i++)
		str_addf(out, "\n%s%s", i ? "           " : "warning    ", r->says->v[i].text);
	str_add(out, "\n\n");
}

static void total_row(struct out_table *t, const char *what, double us, double over, const char *note)
{
	out_text(t, what);
	out_real(t, us);
	if (over > 0)
		out_real(t, over);
	else
		out_null(t);
	out_text(t, note);
}

/* What was measured of the trace. */
static void measured(const struct run_report *r, const struct figure_measured *m, bool unmeasured, struct out_table *t)
{
	const struct run_result *x = r->result;
	const struct op_stream *s = r->stream;

	total_row(t, "measured, kernels", unit_us((int64_t)s->kernel_ns), figure_ratio_kernels(&x->figures, m),
	          unmeasured      ? "of the rows that say one"
	          : x->carried_ps ? "sum of kernel durations; the ratio leaves out carried ones"
	                          : "sum of kernel durations");
	total_row(t, "measured, copies and sets", unit_us((int64_t)(s->measured_ns - s->kernel_ns)), 0, "");
	if (s->wall_ns >= 0) {
		total_row(t, "measured, wall", unit_us(s->wall_ns), figure_ratio_wall(&x->figures, m),
		          "without profiler, host included");
	} else {
		out_text(t, "measured, wall");
		out_null(t);
		out_null(t);
		out_text(t, "unknown (give --wall at import)");
	}
}

/* A model's new tokens in the time of its step. */
static void rates(const struct run_report *r, struct out_table *t)
{
	if (!run_tokens(r) || !r->result->total_ps)
		return;
	out_text(t, "tokens a second");
	out_real(t, run_tokens_per_s(r));
	out_null(t);
	out_text(t, "all sequences together, by the simulated time");
}

static void above(struct str *note, const char *resource, double total, double least)
{
	str_clear(note);
	if (least > 0)
		str_addf(note, "bound by %s; the run is %.1f %% above it", resource, 100 * (total - least) / least);
	else
		str_add(note, "nothing is necessary of DRAM or of a unit");
}

static void totals(const struct run_report *r, const struct run_sum *all, struct str *out)
{
	static const struct out_col cols[] = {
		{ "total", OUT_TEXT, 0 },
		{ "us", OUT_REAL, 3 },
		{ "x simulated", OUT_REAL, 3 },
		{ "note", OUT_TEXT, 0 },
	};
	const struct run_result *x = r->result;
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);
	const double total = unit_ps_us(x->total_ps), roof = unit_ps_us(x->roofline_ps);
	const struct figure_measured m = run_measured(r, all);
	struct str note = STR_INIT;

	if (!r->verdict || r->verdict->us > 0)
		total_row(t, "simulated", total, total > 0 ? 1 : 0, "");
	else
		total_row(t, "what was simulated", total, 0, "less than half of it: no answer");
	if (x->copies_ps && !run_unmeasured(r)) /* what stands beside 'measured, kernels' */
		total_row(t, "  kernels alone", unit_ps_us(x->total_ps - x->copies_ps),
		          (double)(x->total_ps - x->copies_ps) / (double)x->total_ps, "the rest is copies and sets");
	above(&note, res_name(x->roofline_bound), total, roof);
	total_row(t, "roofline", roof, total > 0 ? roof / total : 0, str_c(&note));
	above(&note, res_name(run_largest(x->peak_ps)), total, unit_ps_us(x->mapped_ps));
	total_row(t, "mapped work at its peak", unit_ps_us(x->mapped_ps),
	          total > 0 ? unit_ps_us(x->mapped_ps) / total : 0, str_c(&note));
	total_row(t, "  multiply-adds at their peak (MFU)", unit_ps_us(x->macs_ps), run_share(x->macs_ps, x->total_ps),
	          "on the fastest unit for their formats");
	total_row(t, "  DRAM's bytes at its peak (bandwidth use)", unit_ps_us(x->pins_ps),
	          run_share(x->pins_ps, x->total_ps), "");
	if (run_unmeasured(r))
		rates(r, t);
	else
		measured(r, &m, all->unmeasured > 0, t);
	if (x->wall_eager_ps) {
		total_row(t, "simulated, wall under a graph", unit_ps_us(x->wall_graph_ps),
		          (double)x->wall_graph_ps / (double)x->total_ps, "one launch, then node after node");
		total_row(t, "simulated, wall launched one by one", unit_ps_us(x->wall_eager_ps),
		          (double)x->wall_eager_ps / (double)x->total_ps, "by this configuration's host (host.*)");
	}
	if (x->carried_ps)
		total_row(t, "carried", unit_ps_us(x->carried_ps), 0,
		          "opaque ops at their measured time, outside all of the above");
	finish(t, out);
	str_free(&note);
}

/* --- kinds ------------------------------------------------------------------------------------------------- */

/* "dram 81 %, dispatch 12 %, ...": what the time of a kind's ops was waited for, down to 5 %. */
static void bound_mix(const struct run_sum *k, struct str *to)
{
	bool used[RES_COUNT] = { false };

	str_clear(to);
	for (;;) {
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

static void kinds(const struct run_report *r, const struct run_sum sums[OP_KINDS], struct str *out)
{
	static const struct out_col cols[] = {
		{ "kind", OUT_TEXT, 0 },     { "ops", OUT_INT, 0 },
		{ "us", OUT_REAL, 3 },       { "share_pct", OUT_REAL, 1 },
		{ "limit_us", OUT_REAL, 3 }, { "mfu_pct", OUT_REAL, 1 },
		{ "bw_pct", OUT_REAL, 1 },   { "bound by (share of its time)", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, COLS(cols), "simulated time by kind of op");
	int order[OP_KINDS], n = run_order_kinds(sums, order);
	struct str mix = STR_INIT;

	for (int i = 0; i < n; i++) {
		const struct run_sum *k = &sums[order[i]];

		if (k->carried == k->ops)
			continue;
		bound_mix(k, &mix);
		out_text(t, op_kind_name((enum op_kind)order[i]));
		out_int(t, (int64_t)k->ops);
		out_real(t, unit_ps_us(k->span_ps));
		out_real(t, unit_pct((double)k->span_ps, (double)r->result->total_ps));
		out_real(t, unit_ps_us(k->limit_ps));
		out_real(t, unit_pct((double)k->macs_ps, (double)k->span_ps));
		out_real(t, unit_pct((double)k->pins_ps, (double)k->span_ps));
		out_text(t, str_c(&mix));
	}
	finish(t, out);
	str_free(&mix);
}

/* --- ops --------------------------------------------------------------------------------------------------- */

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

/* Without a model of power it has no column of energy. */
static struct out_table *top_table(unsigned known)
{
	static const struct out_col first[] = {
		{ "id", OUT_INT, 0 }, { "layer", OUT_INT, 0 }, { "op", OUT_TEXT, 0 }, { "kind", OUT_TEXT, 0 }
	};
	static const struct out_col then[] = {
		{ "bound", OUT_TEXT, 0 },
		{ "of it_pct", OUT_REAL, 1 },
		{ "measured_us", OUT_REAL, 3 },
		{ "fused as", OUT_TEXT, 0 },
	};
	struct out_col cols[COLS(first) + COLS(then) + OP_FIGURE_ROWS];
	int n = COLS(first);

	memcpy(cols, first, sizeof first);
	op_figure_table_cols(OP_TIME, known, cols, &n);
	memcpy(cols + n, then, sizeof then);
	n += (int)COLS(then);
	op_figure_table_cols(OP_REST, known, cols, &n);
	return out_table_new(cols, n, "ops that take longest");
}

static void top_ops(const struct run_report *r, struct str *out)
{
	const size_t n = r->stream->n_ops;
	const unsigned known = run_known(r->result);
	struct ranked *rank = calloc(n ? n : 1, sizeof *rank);
	struct out_table *t = top_table(known);
	size_t shown = 0;

	if (!rank)
		out->failed = true;
	for (size_t i = 0; rank && i < n; i++)
		rank[i] = (struct ranked){ r->result->ops[i].span_ps, (uint32_t)i };
	if (rank)
		qsort(rank, n, sizeof *rank, by_time);
	for (size_t i = 0; rank && i < n && shown < r->top; i++) {
		const struct op *o = &r->stream->ops[rank[i].id];
		const struct run_op *x = &r->result->ops[rank[i].id];

		if (x->carried)
			continue;
		shown++;
		out_int(t, o->id);
		if (o->layer >= 0)
			out_int(t, o->layer);
		else
			out_null(t);
		out_text(t, o->name);
		out_text(t, op_kind_name(o->kind));
		op_figure_table_cells(t, OP_TIME, &x->figures, known);
		out_text(t, res_name(x->bound));
		out_real(t, x->stall_ppm[x->bound] / 1e4);
		if (run_unmeasured(r) || ops_listed_unmeasured(o))
			out_null(t);
		else
			out_real(t, unit_us((int64_t)o->measured_ns));
		out_text(t, run_pattern(r->result, x));
		op_figure_table_cells(t, OP_REST, &x->figures, known);
	}
	finish(t, out);
	free(rank);
}

/* --- the whole run ----------------------------------------------------------------------------------------- */

static void bounds(const struct run_report *r, struct str *out)
{
	static const struct out_col cols[] = {
		{ "resource", OUT_TEXT, 0 },
		{ "stall_us", OUT_REAL, 3 },
		{ "share_pct", OUT_REAL, 1 },
		{ "needs_us", OUT_REAL, 3 },
	};
	const struct run_result *x = r->result;
	struct out_table *t = out_table_new(cols, COLS(cols),
	                                    "what bounds the run (needs_us: all its work, as mapped,"
	                                    " at the resource's peak)");
	bool used[RES_COUNT] = { false };

	for (;;) {
		int best = -1;

		for (int k = 0; k < RES_COUNT; k++)
			if (!used[k] && (x->stall_ps[k] || x->peak_ps[k]) &&
			    (best < 0 || x->stall_ps[k] > x->stall_ps[best]))
				best = k;
		if (best < 0)
			break;
		used[best] = true;
		out_text(t, res_name((enum res)best));
		out_real(t, unit_ps_us(x->stall_ps[best]));
		out_real(t, unit_pct((double)x->stall_ps[best], (double)x->total_ps));
		out_real(t, unit_ps_us(x->peak_ps[best]));
	}
	finish(t, out);
}

static void traffic_row(struct out_table *t, const char *what, uint64_t bytes, ps_t total)
{
	out_text(t, what);
	out_int(t, (int64_t)bytes);
	out_real(t, mib(bytes));
	if (total)
		out_real(t, (double)bytes * 1e3 / (double)total); /* bytes a ps are TB/s */
	else
		out_null(t);
}

static void traffic(const struct run_report *r, struct str *out)
{
	static const struct out_col cols[] = {
		{ "DRAM traffic", OUT_TEXT, 0 },
		{ "bytes", OUT_INT, 0 },
		{ "MiB", OUT_REAL, 2 },
		{ "GB/s", OUT_REAL, 1 },
	};
	const struct run_result *x = r->result;
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);

	traffic_row(t, "read", x->dram_read_bytes, x->total_ps);
	traffic_row(t, "  of it first reads of what was not on chip", x->first_read_bytes, 0);
	traffic_row(t, "written back", x->dram_write_bytes, x->total_ps);
	traffic_row(t, "necessary of any run (each tensor once, less what the chip could keep)", x->compulsory_bytes,
	            0);
	traffic_row(t, "still dirty on chip at the end", x->dirty_bytes, 0);
	if (x->narrowed_bytes)
		traffic_row(t, "spared by weights.dtype and kv.dtype", x->narrowed_bytes, 0);
	if (x->map && x->map->held_bytes)
		traffic_row(t, "of weights that stay in a unit's arrays", x->map->held_bytes, 0);
	finish(t, out);
}

/* Statistics named BLOCK.busy_ps are times the block's unit worked. */
static void utilisation(const struct run_report *r, struct str *out)
{
	static const struct out_col cols[] = {
		{ "unit", OUT_TEXT, 0 },
		{ "busy_us", OUT_REAL, 3 },
		{ "busy_pct", OUT_REAL, 1 },
	};
	static const char suffix[] = ".busy_ps";
	const struct run_result *x = r->result;
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);
	struct str name = STR_INIT;

	for (size_t i = 0; i < x->n_stats; i++) {
		const char *s = x->stats[i].name;
		size_t n = strlen(s), k = sizeof suffix - 1;

		if (n <= k || strcmp(s + n - k, suffix) != 0)
			continue;
		str_clear(&name);
		str_addn(&name, s, n - k);
		out_text(t, str_c(&name));
		out_real(t, unit_ps_us(x->stats[i].value));
		out_real(t, unit_pct((double)x->stats[i].value, (double)x->total_ps));
	}
	finish(t, out);
	str_free(&name);
}

static void fusions(const struct run_report *r, struct str *out)
{
	static const struct out_col cols[] = {
		{ "ops", OUT_TEXT, 0 },          { "fused as", OUT_TEXT, 0 },
		{ "saved_bytes", OUT_INT, 0 },   { "saved_dispatches", OUT_INT, 0 },
		{ "predicted_us", OUT_REAL, 3 }, { "unfused_us", OUT_REAL, 3 },
		{ "chain", OUT_TEXT, 0 },
	};
	const struct map_result *m = r->result->map;
	struct out_table *t =
		out_table_new(cols, COLS(cols), "fusions (times: each alone, again and again, which decides)");
	struct str ops = STR_INIT, chain = STR_INIT;

	for (size_t i = 0; m && i < m->n_fusions; i++) {
		const struct map_fusion *f = &m->fusions[i];

		str_clear(&ops);
		str_clear(&chain);
		str_addf(&ops, "%" PRIu32 "-%" PRIu32, f->first_op, f->first_op + f->n_ops - 1);
		for (uint32_t k = 0; k < f->n_ops; k++)
			str_addf(&chain, "%s%s", k ? ", " : "", r->stream->ops[f->first_op + k].name);
		out_text(t, str_c(&ops));
		out_text(t, f->pattern);
		out_int(t, (int64_t)f->saved_bytes);
		out_int(t, f->saved_dispatches);
		out_real(t, unit_ps_us(f->predicted));
		out_real(t, unit_ps_us(f->unfused));
		out_text(t, str_c(&chain));
	}
	finish(t, out);
	out->failed |= ops.failed || chain.failed;
	str_free(&ops);
	str_free(&chain);
}

/* --- measured against simulated ---------------------------------------------------------------------------- */

/* Measured below 0: not of all of them. */
static void compare_row(struct out_table *t, const char *what, uint64_t ops, double measured, double simulated)
{
	out_text(t, what);
	out_int(t, (int64_t)ops);
	if (measured < 0)
		out_null(t);
	else
		out_real(t, measured);
	if (simulated < 0)
		out_null(t);
	else
		out_real(t, simulated);
	if (simulated > 0 && measured >= 0)
		out_real(t, measured / simulated);
	else
		out_null(t);
}

static void comparison(const struct run_report *r, const struct run_sum sums[OP_KINDS], const struct run_sum *all,
                       struct str *out)
{
	static const struct out_col cols[] = {
		{ "kind", OUT_TEXT, 0 },
		{ "ops", OUT_INT, 0 },
		{ "measured_us", OUT_REAL, 3 },
		{ "simulated_us", OUT_REAL, 3 },
		{ "measured/simulated", OUT_REAL, 3 },
	};
	const bool listed = ops_listed_all(r->stream);
	struct out_table *t = out_table_new(cols, COLS(cols),
	                                    listed ? "measured (by the table) against simulated, by kind of op"
	                                           : "measured (GPU kernels, copies and sets) against simulated,"
	                                             " by kind of op");
	int order[OP_KINDS], n = run_order_kinds(sums, order);
	const double total = unit_ps_us(r->result->total_ps);

	for (int i = 0; i < n; i++) {
		const struct run_sum *k = &sums[order[i]];

		if (k->carried < k->ops)
			compare_row(t, op_kind_name((enum op_kind)order[i]), k->ops - k->carried,
			            k->unmeasured ? -1 : unit_us((int64_t)(k->measured_ns - k->carried_ns)),
			            unit_ps_us(k->span_ps));
	}
	compare_row(t, "all ops", all->ops - all->carried,
	            all->unmeasured ? -1 : unit_us((int64_t)(all->measured_ns - all->carried_ns)), total);
	if (!listed)
		compare_row(t, "kernels alone", all->ops - all->carried, unit_us((int64_t)all->kernel_ns),
		            unit_ps_us(r->result->total_ps - r->result->copies_ps));
	if (all->carried)
		compare_row(t, "carried, in no sum above", all->carried, unit_us((int64_t)all->carried_ns), -1);
	if (r->stream->wall_ns >= 0 && !all->carried)
		compare_row(t, "wall, without profiler", all->ops, unit_us(r->stream->wall_ns), total);
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

/* DRAM's bytes on the GPU and here, of the ops of which they were counted. */
static void counted(const struct run_report *r, const struct run_sum sums[OP_KINDS], struct str *out)
{
	static const struct out_col cols[] = {
		{ "kind", OUT_TEXT, 0 },
		{ "ops", OUT_INT, 0 },
		{ "counted", OUT_INT, 0 },
		{ "simulated", OUT_INT, 0 },
		{ "counted/simulated", OUT_REAL, 3 },
	};
	struct out_table *t = out_table_new(cols, COLS(cols),
	                                    "bytes of DRAM, counted on the GPU by Nsight Compute and"
	                                    " simulated, by kind of op");
	int order[OP_KINDS], n = run_order_kinds(sums, order);

	for (int i = 0; i < n; i++) {
		double gpu = 0, here = 0;
		int64_t ops = 0;

		for (size_t k = 0; k < r->stream->n_ops; k++)
			if (r->counted->ns[k] && (int)r->stream->ops[k].kind == order[i]) {
				gpu += r->counted->bytes[k];
				here += (double)r->result->ops[k].dram_bytes;
				ops++;
			}
		if (!ops)
			continue;
		out_text(t, op_kind_name((enum op_kind)order[i]));
		out_int(t, ops);
		out_int(t, (int64_t)gpu);
		out_int(t, (int64_t)here);
		if (here > 0)
			out_real(t, gpu / here);
		else
			out_null(t);
	}
	str_addc(out, '\n');
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void written(const struct run_report *r, struct str *out)
{
	if (r->stored)
		str_addf(out, "stored as run %lld of '%s'\n\n", (long long)r->stored, r->results_path);
	if (r->timeline_path)
		str_addf(out, "the run over time is in '%s': open it at ui.perfetto.dev\n\n", r->timeline_path);
}

void run_asked(const struct run_report *r, struct str *out)
{
	if (r->top)
		top_ops(r, out);
	if (r->explain_fusion)
		run_fusion_table(r, out);
	if (r->told)
		run_mapping_table(r, out);
	written(r, out);
}

void run_table(const struct run_report *r, struct str *out)
{
	struct run_sum sums[OP_KINDS], all;

	if (!r->whole) {
		run_brief(r, out);
		return;
	}
	run_sum_ops(r, sums, &all);
	run_verdict(r, out);
	head(r, out);
	totals(r, &all, out);
	kinds(r, sums, out);
	if (r->top)
		top_ops(r, out);
	bounds(r, out);
	traffic(r, out);
	run_energy_table(r, out);
	utilisation(r, out);
	if (r->explain_fusion) {
		run_fusion_table(r, out);
		fusions(r, out);
	}
	if (r->told)
		run_mapping_table(r, out);
	written(r, out);
	if (!run_unmeasured(r))
		comparison(r, sums, &all, out);
	if (r->counted)
		counted(r, sums, out);
}
