/* run_brief.c - npusim run on one page: what is said first, what was run, where the time went. Forty lines of eighty columns;
 * run_table.c has the rest. */
#include "sim/report/run.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/report/run_verdict.h"
#include "sim/report/types_out.h"
#include "sim/ui/screen.h"
#include "workloads/known.h"

#define WIDTH      80
#define LABEL      11 /* "machine    " */
#define KINDS_MOST 8
#define WARNS_MOST 3

#define COLS(a) (sizeof(a) / sizeof *(a))

/* --- text -------------------------------------------------------------------------------------------------- */

/* A label, and a text in lines as wide as the page, broken at blanks. */
static void said(struct str *out, const char *label, const char *text)
{
	str_addf(out, "%-*s", LABEL, label);
	out_wrap(text, LABEL, LABEL, WIDTH, out);
}

void run_verdict(const struct run_report *r, struct str *out)
{
	struct str lines[VERDICT_LINES] = VERDICT_INIT;
	const int n = r->verdict ? run_verdict_text(r->verdict, lines) : 0;

	for (int i = 0; i < n; i++)
		str_addf(out, i == 0 && screen_colour() ? "\033[1m%s\033[0m\n" : "%s\n", str_c(&lines[i]));
	if (n)
		str_addc(out, '\n');
	for (int i = 0; i < VERDICT_LINES; i++) {
		out->failed |= lines[i].failed;
		str_free(&lines[i]);
	}
}

/* --- what was run ------------------------------------------------------------------------------------------ */

static void workload(const struct run_report *r, struct str *to)
{
	str_add(to, r->trace->path);
	if (r->trace->range)
		str_addf(to, ", %s", r->trace->range);
	if (run_unmeasured(r))
		str_addf(to, ": %zu ops, nothing measured of them", r->stream->n_ops);
	else
		str_addf(to, ": %" PRIu64 " kernels, %" PRIu64 " copies and sets, %zu ops", r->lowered->kernels,
		         r->lowered->launches - r->lowered->kernels, r->stream->n_ops);
	if (r->start != RUN_STEADY)
		str_addf(to, "; start %s", run_start_name(r->start));
}

static void assumed(const struct run_report *r, struct str *to)
{
	if (r->stream->n_routes)
		str_addf(to, "%zu routers; an expert is picked again with probability %.4g (%s)%s", r->stream->n_routes,
		         (double)r->result->reuse_ppm / 1e6,
		         r->reuse_given ? "--expert-reuse" : "assumed, top-k over experts",
		         r->lowered && r->lowered->inferred_groups ? "; their rows are inferred" : "");
}

/* What --rewrite found; how many bytes it spares stands with --all. */
static void rewritten(const struct run_report *r, struct str *out)
{
	struct str t = STR_INIT;

	for (size_t i = 0; r->rewritten && i < r->rewritten->list.n; i++) {
		const struct rewrite_done *d = &r->rewritten->done[i];

		str_clear(&t);
		str_addf(&t, "%s: ", d->how->name);
		if (d->changed || d->removed || d->kept)
			str_addf(&t, "%zu ops changed, %zu gone", (size_t)d->changed, (size_t)d->removed);
		else
			str_addf(&t, "nothing to rewrite: %s", d->how->none);
		said(out, i ? "" : "rewritten", str_c(&t));
	}
	out->failed |= t.failed;
	str_free(&t);
}

static void facts(const struct run_report *r, struct str *out)
{
	struct str t = STR_INIT;
	char hash[17];

	hash_hex(r->result->config_hash, hash);
	str_addf(&t, "%s (%s, hash %s), %s", r->conf->cfg.name, r->conf->path, hash,
	         r->result->engine->events ? "simulated with events" : "in closed form");
	said(out, "machine", str_c(&t));
	str_clear(&t);
	workload(r, &t);
	said(out, "workload", str_c(&t));
	str_clear(&t);
	run_align_text(r, &t);
	if (t.len)
		said(out, "aligned", str_c(&t));
	rewritten(r, out);
	str_clear(&t);
	if (r->lowered)
		types_out_text(r->lowered, &t);
	if (t.len)
		said(out, "types", str_c(&t));
	str_clear(&t);
	if (r->verdict)
		run_verdict_classes(r->verdict, &t);
	if (t.len)
		said(out, "interval", str_c(&t));
	if (ops_listed_all(r->stream))
		said(out, "table", "of ops: each waits for the row before it and has operands of its own");
	if (strcmp(r->trace->tool, "replay") == 0)
		said(out, "replay", r->trace->command);
	str_clear(&t);
	assumed(r, &t);
	if (t.len)
		said(out, "experts", str_c(&t));
	if (r->not_validated) {
		str_clear(&t);
		str_addf(&t, "not validated, on no machine: %s", r->not_validated);
		said(out, "unknown", str_c(&t));
	}
	for (size_t i = 0; i < r->says->n && i < WARNS_MOST; i++)
		said(out, i ? "" : "warning", r->says->v[i].text);
	str_clear(&t);
	run_energy_line(r, &t);
	if (t.len)
		said(out, "energy", str_c(&t));
	str_addc(out, '\n');
	out->failed |= t.failed;
	str_free(&t);
}

/* --- tables ------------------------------------------------------------------------------------------------ */

static void finish(struct out_table *t, struct str *out)
{
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	str_addc(out, '\n');
}

static void row(struct out_table *t, const char *what, double us, double total, const char *note)
{
	out_text(t, what);
	out_real(t, us);
	if (total > 0)
		out_real(t, us / total);
	else
		out_null(t);
	out_text(t, note);
}

static void measured(const struct run_report *r, double total, struct out_table *t)
{
	const struct op_stream *s = r->stream;
	struct run_sum kinds[OP_KINDS], all;
	struct figure_measured m;

	run_sum_ops(r, kinds, &all);
	m = run_measured(r, &all);
	out_text(t, "measured, kernels");
	out_real(t, unit_us((int64_t)s->kernel_ns));
	out_real_or_null(t, total > 0 && figure_ratio_kernels(&r->result->figures, &m) > 0
	                            ? figure_ratio_kernels(&r->result->figures, &m)
	                            : 0.0 / 0.0);
	out_text(t, all.unmeasured ? "of the rows that say one" : "sum of kernel durations");
	if (s->wall_ns < 0) {
		out_text(t, "measured, wall");
		out_null(t);
		out_null(t);
		out_text(t, "unknown (give --wall at import)");
		return;
	}
	row(t, "measured, wall", unit_us(s->wall_ns), total, "no profiler, host included");
}

static void gpu_walls(const struct run_report *r, double total, struct out_table *t)
{
	if (!r->result->wall_eager_ps)
		return;
	row(t, "simulated, wall under graph", unit_ps_us(r->result->wall_graph_ps), total, "");
	row(t, "simulated, wall one by one", unit_ps_us(r->result->wall_eager_ps), total, "by host.*");
}

static void totals(const struct run_report *r, struct str *out)
{
	static const struct out_col cols[] = {
		{ "total", OUT_TEXT, 0 }, { "us", OUT_REAL, 3 }, { "x simulated", OUT_REAL, 3 }, { "note", OUT_TEXT, 0 }
	};
	const struct run_result *x = r->result;
	const bool answer = r->verdict && r->verdict->us > 0;
	const double total = answer ? unit_ps_us(x->total_ps) : 0;
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);
	struct str note = STR_INIT;

	if (answer) {
		row(t, "simulated", total, total, r->verdict->steps > 1 ? "all steps together" : "");
		if (x->copies_ps && !run_unmeasured(r)) /* what stands beside 'measured, kernels' */
			row(t, "  kernels alone", unit_ps_us(x->total_ps - x->copies_ps), total,
			    "the rest is copies, sets");
		str_addf(&note, "bound by %s", res_name(x->roofline_bound));
		row(t, "roofline", unit_ps_us(x->roofline_ps), total, str_c(&note));
	}
	if (!run_unmeasured(r))
		measured(r, total, t);
	if (answer)
		gpu_walls(r, total, t);
	if (answer && r->verdict->fused_ps) {
		str_clear(&note);
		str_addf(&note, "%s, fused, as one graph", r->verdict->device[0] ? r->verdict->device : "H200");
		row(t, "simulated GPU", unit_ps_us(r->verdict->fused_ps), total, str_c(&note));
	}
	if (x->carried_ps)
		row(t, "carried", unit_ps_us(x->carried_ps), 0, "measured time of what no rule knows");
	finish(t, out);
	out->failed |= note.failed;
	str_free(&note);
}

/* "dram 73 %, latency 13 %": the two that most of a kind's time was waited for. */
static void bound_by(const struct run_sum *k, struct str *to)
{
	int best[2] = { -1, -1 };

	str_clear(to);
	for (int n = 0; n < 2; n++)
		for (int b = 0; b < RES_COUNT; b++)
			if (b != best[0] && k->stall_ps[b] > 0 &&
			    (best[n] < 0 || k->stall_ps[b] > k->stall_ps[best[n]]))
				best[n] = b;
	for (int n = 0; n < 2 && best[n] >= 0 && k->stall_ps[best[n]] * 20 >= (double)k->span_ps; n++)
		str_addf(to, "%s%s %.0f %%", n ? ", " : "", res_name((enum res)best[n]),
		         unit_pct(k->stall_ps[best[n]], (double)k->span_ps));
}

static void kinds(const struct run_report *r, struct str *out)
{
	static const struct out_col cols[] = {
		{ "kind of op", OUT_TEXT, 0 }, { "ops", OUT_INT, 0 },      { "us", OUT_REAL, 1 },
		{ "pct", OUT_REAL, 1 },        { "mfu_pct", OUT_REAL, 1 }, { "bw_pct", OUT_REAL, 1 },
		{ "held by", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);
	struct run_sum sums[OP_KINDS], all;
	int order[OP_KINDS], n, left = 0;
	struct str by = STR_INIT;
	ps_t rest = 0;

	run_sum_ops(r, sums, &all);
	n = run_order_kinds(sums, order);
	for (int i = 0; i < n; i++) {
		const struct run_sum *k = &sums[order[i]];

		if (k->carried == k->ops)
			continue;
		if (i >= KINDS_MOST) {
			left++;
			rest += k->span_ps;
			continue;
		}
		bound_by(k, &by);
		out_text(t, op_kind_name((enum op_kind)order[i]));
		out_int(t, (int64_t)k->ops);
		out_real(t, unit_ps_us(k->span_ps));
		out_real(t, unit_pct((double)k->span_ps, (double)r->result->total_ps));
		out_real(t, unit_pct((double)k->macs_ps, (double)k->span_ps));
		out_real(t, unit_pct((double)k->pins_ps, (double)k->span_ps));
		out_text(t, str_c(&by));
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	if (left)
		str_addf(out, "%d more kinds: %.1f us\n", left, unit_ps_us(rest));
	str_addc(out, '\n');
	out->failed |= by.failed;
	str_free(&by);
}

void run_brief(const struct run_report *r, struct str *out)
{
	run_verdict(r, out);
	facts(r, out);
	totals(r, out);
	if (!r->verdict || r->verdict->us > 0)
		kinds(r, out);
	run_asked(r, out);
	str_add(out, "--all prints the rest: every table, and how far each figure may be trusted\n");
}
