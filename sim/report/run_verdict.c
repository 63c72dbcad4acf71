/* run_verdict.c - what is said first of a run: the figures, and their words. */
#include "sim/report/run_verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/db/res_sweep.h"
#include "sim/ui/number.h"
#include "workloads/known.h"

#define MOSTLY_CARRIED 0.5 /* of the measured time: more than that, and what is simulated is no answer */

/* --- figures ------------------------------------------------------------------------------------------------------------- */

/* A model's step knows its tokens, and a trace at another batch its sequences. */
static void amounts(const struct run_report *r, struct verdict *v)
{
	const int64_t steps = r->trace->range || r->model || r->scaled ? 1 : r->trace->steps;

	v->steps = steps > 1 ? (uint64_t)steps : 1;
	v->tokens = r->tokens ? r->tokens : r->model ? 0 : workload_stream_tokens(r->stream, v->steps);
	v->carried = r->stream->measured_ns ? (double)r->stream->opaque_ns / (double)r->stream->measured_ns : 0;
	v->unknown = ops_none_known(r->stream);
	if (v->unknown)
		v->kinds = ops_unknown_names(r->stream, &v->longest);
	v->carried_us = unit_ps_us(r->result->carried_ps) / (double)v->steps;
	v->us = v->unknown || v->carried > MOSTLY_CARRIED
	                ? 0
	                : unit_ps_us(figure_whole_ps(&r->result->figures)) / (double)v->steps;
}

static void hold_of(const ps_t *stall, const ps_t *peak, const struct figures *x, struct verdict *v)
{
	v->held = run_largest(stall);
	v->held_share = run_share(stall[v->held], x->total_ps);
	v->full = peak[v->held] ? v->held : run_largest(peak);
	/* Of a pipeline bytes are the mean chip's, which waits for others. */
	v->full_share = run_share(v->full == RES_DRAM && !x->bubble_ps ? x->pins_ps : peak[v->full], x->total_ps);
	v->bubbles = run_share(x->bubble_ps, x->total_ps);
	v->mfu = run_share(x->macs_ps, x->total_ps);
	v->bandwidth = run_share(x->pins_ps, x->total_ps);
}

/* What an op waited for that no silicon was held against: all but DRAM and L2, which a GPU has too, and arrays, which a TPU has. */
static double not_held(const struct run_op *x)
{
	return 1 - (double)(x->stall_ppm[RES_DRAM] + x->stall_ppm[RES_L2] + x->stall_ppm[RES_MATRIX]) / 1e6;
}

static struct interval_range either_side(double spread)
{
	return (struct interval_range){ exp(-spread), exp(spread) };
}

static struct interval_range gpu_range(const struct run_report *r, const struct baseline *b)
{
	struct interval_shares s = { .n = 0 };

	for (size_t i = 0; i < r->stream->n_ops; i++)
		if (!r->result->ops[i].carried)
			interval_add(&s, r->stream->ops[i].family, (double)r->result->ops[i].span_ps);
	return either_side(b->interval.quantile *
	                   interval_spread_gpu(&b->interval, &b->accuracy, &s, r->conf->cfg.name));
}

/* By rows of its family's silicon, of ops in classes that these have rows of. */
static struct interval_range held_range(const struct run_report *r, const struct baseline *b,
                                        const struct interval_family *f)
{
	struct interval_shares s = { .n = 0 };
	struct interval own = b->interval;
	double strange = 0;

	own.silicon = f->rows;
	for (size_t i = 0; i < r->stream->n_ops; i++) {
		const struct op *o = &r->stream->ops[i];
		const struct run_op *x = &r->result->ops[i];

		if (x->carried || !f->met[interval_part_of(o)])
			continue;
		interval_add(&s, op_kind_name(o->kind), (double)x->span_ps);
		if (accuracy_of(&f->rows, op_kind_name(o->kind)))
			strange += (double)x->span_ps * not_held(x);
	}
	return either_side(fmax(own.npu_quantile, INTERVAL_NORMAL) *
	                   interval_spread_npu(&own, &s, s.all > 0 ? strange / s.all : 0));
}

/* By class. */
static struct interval_range foreign_range(const struct run_report *r, const struct interval_family *f,
                                           struct verdict *v)
{
	double time[INTERVAL_PARTS] = { 0 }, all = 0;

	for (size_t i = 0; i < r->stream->n_ops; i++)
		if (!r->result->ops[i].carried) {
			time[interval_part_of(&r->stream->ops[i])] += (double)r->result->ops[i].span_ps;
			all += (double)r->result->ops[i].span_ps;
		}
	for (int p = 0; p < INTERVAL_PARTS; p++) {
		v->range[p] = f->range[p];
		v->share[p] = all > 0 ? time[p] / all : 0;
	}
	return interval_range_of(f, time);
}

/* How wide the simulated time's interval is, and what says so. */
static void how_sure(const struct run_report *r, const struct baseline *b, struct arena *a, struct verdict *v)
{
	struct err none = ERR_INIT;
	struct interval_family f;
	struct interval_range met = { 1, 1 };

	if (machine_runs(&r->conf->cfg) == MACHINE_LAUNCHES) {
		v->interval = b->has_interval;
		v->time = v->interval ? gpu_range(r, b) : v->time;
		return;
	}
	if (interval_family_of(r->conf, a, &f, &none) < 0 ||
	    ((f.from == INTERVAL_ROWS || f.from == INTERVAL_PARTLY) && !b->has_interval))
		return;
	if (f.from == INTERVAL_ROWS || f.from == INTERVAL_PARTLY) {
		met = held_range(r, b, &f);
		for (int p = 0; p < INTERVAL_PARTS; p++)
			f.range[p] = f.met[p] ? met : f.range[p];
	}
	v->interval = true;
	v->from = f.from;
	v->family = strcmp(r->conf->cfg.family, MACHINE_NO_FAMILY) == 0 ? "" : r->conf->cfg.family;
	v->time = f.from == INTERVAL_ROWS ? met : foreign_range(r, &f, v);
	v->corner = f.corner;
}

/* As slow as the worst family that was met, where the machine itself is not slower: an op after the other. */
static void slow_corner(const struct marginal_question *q, const struct run_result *x, struct arena *a,
                        struct verdict *v)
{
	const struct machine_cfg *c = &q->conf->cfg;
	const char *sets[4] = { "dispatch.queue=1", "dispatch.prefetch=false" };
	int n = 2;
	ps_t took;

	if (v->corner.start > c->dispatch.latency)
		sets[n++] = arena_printf(a, "dispatch.latency=%" PRIu64 " ps", v->corner.start);
	if (v->corner.reached * 1e6 < c->mem.dram.reached)
		sets[n++] = arena_printf(a, "dram.reached=%.6f", v->corner.reached);
	if (!v->corner.start_of || (n > 2 && !sets[2]) || (n > 3 && !sets[3]))
		return;
	took = marginal_time(q, x, sets, n, a);
	v->corner_us = took ? v->us * fmax(1, (double)took / (double)x->total_ps) : 0;
}

bool run_verdict_range(const struct run_report *r, const struct baseline *b, struct arena *a,
                       struct interval_range *out)
{
	struct verdict v = { .time = { 1, 1 } };

	how_sure(r, b, a, &v);
	*out = v.time;
	return v.interval;
}

void run_verdict_row(void *baseline, const struct machine_conf *c, const struct run_result *x, struct res_point *row)
{
	const struct run_report r = { .conf = c, .stream = x->stream, .result = x };
	struct arena *a = arena_new(0);
	struct interval_range range;

	if (a && baseline && run_verdict_range(&r, baseline, a, &range)) {
		row->spread_ppm = (uint64_t)(log(range.high) * 1e6 + 0.5);
		row->spread_down_ppm = (uint64_t)(-log(range.low) * 1e6 + 0.5);
	}
	arena_free(a);
}

/* Of a ratio whose denominator's true value is within `t` of what it is taken for, and its numerator's within a spread. */
static struct interval_range over(struct interval_range t, double spread)
{
	return (struct interval_range){ exp(-hypot(log(t.high), spread)), exp(hypot(log(t.low), spread)) };
}

/* Of the GPU fused: its classes, and what fusion spares at the least, which nobody measured. */
static double fused_spread(const struct run_report *r, const struct baseline *b, const struct gpu_baseline *p)
{
	const double spared = p->kernels_ps ? (double)p->joined * (double)p->least_ps / (double)p->kernels_ps : 0;
	struct interval_shares s = { .n = 0 };
	double x;

	for (size_t i = 0; i < r->stream->n_ops; i++)
		if (p->op_ps[i])
			interval_add(&s, r->stream->ops[i].family, (double)p->op_ps[i]);
	x = interval_spread_gpu(&b->interval, &b->accuracy, &s, b->gpu->cfg.name);
	return b->interval.quantile * hypot(x, INTERVAL_UNHELD * spared);
}

static int fused(const struct run_report *r, const struct baseline *b, struct arena *a, struct verdict *v,
                 struct err *e)
{
	const struct fusion_cfg how = { .enabled = true, .patterns = "default" };
	const struct fuse_patterns *patterns;
	struct run_memo *memo;
	struct gpu_baseline p;
	int rc = -1;

	/* A chip's share on one GPU is no step of a model. */
	if (!b->gpu || !b->kernels || r->given || ops_listed_all(r->stream) || r->stream->chips > 1)
		return 0;
	if (!(memo = run_memo_new_from(r->conf->source, e)))
		return -1;
	if (run_memo_patterns(memo, &how, &patterns, e) == 0 &&
	    gpu_baseline_run(r->stream, b->gpu, b->kernels, patterns, a, &p, e) == 0) {
		v->fused_ps = p.graph_ps;
		v->fused = figure_ratio_fused(&(struct figures){
			.total_ps = r->result->total_ps, .carried_ps = r->result->carried_ps, .fused_ps = p.graph_ps });
		v->fused_range =
			v->interval && b->has_interval ? over(v->time, fused_spread(r, b, &p)) : v->fused_range;
		rc = 0;
	}
	run_memo_free(memo);
	return rc;
}

int run_verdict_make(const struct run_report *r, const struct baseline *b, const struct marginal_question *q,
                     struct arena *a, struct verdict *out, struct err *e)
{
	struct run_sum kinds[OP_KINDS], all;
	struct figure_measured m;

	*out = (struct verdict){ .machine = r->conf->cfg.name,
		                 .chips = r->result->chips,
		                 .links = run_share(r->result->links_ps, r->result->total_ps),
		                 .device = b->device,
		                 .part = r->part,
		                 .longest = "",
		                 .family = "",
		                 .time = { 1, 1 },
		                 .fused_range = { 1, 1 } };
	amounts(r, out);
	hold_of(r->result->stall_ps, r->result->peak_ps, &r->result->figures, out);
	if (!out->us)
		return 0;
	if (!run_unmeasured(r)) {
		run_sum_ops(r, kinds, &all);
		m = run_measured(r, &all);
		out->kernels = figure_ratio_kernels(&r->result->figures, &m);
		out->wall = figure_ratio_wall(&r->result->figures, &m);
	}
	how_sure(r, b, a, out);
	if (out->interval) { /* what is carried is as it was measured */
		const double known = 1 - out->carried_us / out->us;

		out->time.low = 1 + (out->time.low - 1) * known;
		out->time.high = 1 + (out->time.high - 1) * known;
	}
	if (q)
		slow_corner(q, r->result, a, out);
	/* A GPU that has no kernels of the kind, as an H200 of fp4 ones, is not set beside it. */
	if (fused(r, b, a, out, e) < 0) {
		if (e->kind == ERR_NOMEM)
			return -1;
		err_clear(e);
	}
	out->buys = q != NULL;
	return q ? marginal_best(q, r->result, a, &out->buy, e) : 0;
}

/* --- kept ------------------------------------------------------------------------------------------------------------ */

#define MILLIONTHS 1e6

static uint64_t millionths(double x)
{
	return (uint64_t)(x * MILLIONTHS + 0.5);
}

/* Downwards where that is otherwise than upwards, to the millionth. */
static void keep_range(struct interval_range r, uint64_t *up, uint64_t *down)
{
	*up = millionths(log(r.high));
	*down = millionths(-log(r.low));
	*down = *down == *up ? 0 : *down;
}

void run_verdict_keep(const struct verdict *v, struct figures *x)
{
	x->tokens = workload_is_part(&v->part) ? 0 : v->tokens;
	x->workload_steps = v->steps;
	x->part_layers = v->part.layers;
	x->part_of_layers = v->part.of_layers;
	x->part_experts = v->part.experts;
	x->part_of_experts = v->part.of_experts;
	x->unknown_kernels = v->kinds;
	x->fused_ps = v->fused_ps;
	if (!v->interval)
		return;
	x->interval_from = v->from;
	keep_range(v->time, &x->spread_ppm, &x->spread_down_ppm);
	keep_range(v->fused_range, &x->fused_spread_ppm, &x->fused_down_ppm);
}

static struct interval_range kept_range(uint64_t up, uint64_t down)
{
	return (struct interval_range){ exp(-(double)(down ? down : up) / MILLIONTHS), exp((double)up / MILLIONTHS) };
}

/* A resource of a stored run; 0: this build has none of that name. */
static bool resource_named(const char *name, enum res *out)
{
	for (int k = 0; k < RES_COUNT; k++)
		if (strcmp(res_name((enum res)k), name) == 0) {
			*out = (enum res)k;
			return true;
		}
	return false;
}

static void stored_hold(const struct res_run *r, struct verdict *v)
{
	ps_t stall[RES_COUNT] = { 0 }, peak[RES_COUNT] = { 0 };
	enum res k;

	for (size_t i = 0; i < r->n_resources; i++)
		if (resource_named(r->resources[i].name, &k)) {
			stall[k] = r->resources[i].stall_ps;
			peak[k] = r->resources[i].peak_ps;
		}
	hold_of(stall, peak, &r->figures, v);
}

static void stored_buy(const struct res_next *x, struct marginal *b)
{
	*b = (struct marginal){ .key = x->key,
		                .now = x->now ? x->now : "",
		                .then = x->then ? x->then : "",
		                .saves = x->saves,
		                .has_range = isfinite(x->low) && isfinite(x->high),
		                .low = x->low,
		                .high = x->high,
		                .has_mm2 = isfinite(x->mm2),
		                .mm2 = x->mm2,
		                .has_watts = isfinite(x->watts),
		                .watts = x->watts };
	snprintf(b->beyond, sizeof b->beyond, "%s", x->beyond ? x->beyond : "");
}

void run_verdict_stored(const struct res_stored *r, struct verdict *out)
{
	const struct res_run *x = &r->run;
	const struct res_workload *w = &r->workload;
	const double total = unit_ps_us(figure_whole_ps(&x->figures));

	*out = (struct verdict){ .machine = x->config_name,
		                 .chips = x->chips,
		                 .links = run_share(x->links_ps, x->total_ps),
		                 .device = "",
		                 .longest = "",
		                 .family = "",
		                 .part = { x->part_layers, x->part_of_layers, x->part_experts, x->part_of_experts },
		                 .unknown = x->unknown_kernels != 0,
		                 .kinds = x->unknown_kernels };
	out->tokens = x->tokens;
	out->old = !x->workload_steps;
	out->steps = x->workload_steps ? x->workload_steps : 1;
	out->carried = w->measured_ns ? (double)w->opaque_ns / (double)w->measured_ns : 0;
	out->us = out->unknown || out->carried > MOSTLY_CARRIED ? 0 : total / (double)out->steps;
	out->carried_us = unit_ps_us(x->carried_ps) / (double)out->steps;
	stored_hold(x, out);
	if (!out->us)
		return;
	out->kernels = w->kernel_ns ? unit_us((int64_t)w->kernel_ns) / total : 0;
	out->wall = w->wall_ns > 0 ? unit_us(w->wall_ns) / total : 0;
	out->fused_ps = x->fused_ps;
	out->fused = figure_ratio_fused(&x->figures);
	out->interval = x->spread_ppm != 0;
	out->from = x->interval_from < INTERVAL_FROMS ? (enum interval_from)x->interval_from : INTERVAL_UNSAID;
	out->time = kept_range(x->spread_ppm, x->spread_down_ppm);
	out->fused_range = kept_range(x->fused_spread_ppm, x->fused_down_ppm);
	out->buys = x->n_next > 0;
	for (size_t i = 0; i < x->n_next; i++)
		stored_buy(&x->next[i], strcmp(x->next[i].kind, "amount") == 0 ? &out->buy.amount : &out->buy.choice);
}

/* --- words --------------------------------------------------------------------------------------------------------------- */

static void add_time(struct str *s, double us)
{
	number_add(s, us < 10000 ? us : us / 1000);
	str_add(s, us < 10000 ? " us" : " ms");
}

static struct interval_range around(double x, struct interval_range r)
{
	return (struct interval_range){ x * r.low, x * r.high };
}

/* Of what is so much over the time. */
static struct interval_range per(struct interval_range time)
{
	return (struct interval_range){ 1 / time.high, 1 / time.low };
}

static void add_interval(struct str *s, const struct verdict *v, struct interval_range i,
                         void (*add)(struct str *s, double x))
{
	if (!v->interval)
		return;
	str_add(s, " (");
	add(s, i.low);
	str_add(s, " to ");
	add(s, i.high);
	str_addc(s, ')');
}

/* A part of a model makes no token: of that the time alone is said. */
static void say_time(const struct verdict *v, struct str *s)
{
	const uint64_t each = v->tokens / v->steps;
	const double rate = (double)each * 1e6 / v->us;
	const bool part = workload_is_part(&v->part);
	char chips[32] = "";

	if (v->chips > 1)
		snprintf(chips, sizeof chips, "%" PRIu64 " x ", v->chips);
	if (part) {
		workload_part_text(&v->part, s);
		str_add(s, ": ");
	} else if (v->tokens) {
		number_add(s, rate);
		str_add(s, " tokens/s");
		add_interval(s, v, around(rate, per(v->time)), number_add);
		str_add(s, ": ");
	}
	add_time(s, v->us);
	if (part || !v->tokens)
		add_interval(s, v, around(v->us, v->time), add_time);
	if (part)
		str_addf(s, " of a step on %s%s", chips, v->machine);
	else if (v->tokens)
		str_addf(s, " a step of %" PRIu64 " token%s on %s%s", each, each == 1 ? "" : "s", chips, v->machine);
	else
		str_addf(s, " on %s%s%s", chips, v->machine, v->old ? "" : "; how many tokens that makes is not known");
	if (v->steps > 1)
		str_addf(s, ", mean of %" PRIu64, v->steps);
}

static void add_ratio(struct str *s, double x)
{
	str_addf(s, x < 0.95 ? "%.2gx" : x < 9.95 ? "%.1fx" : "%.0fx", x);
}

static void add_ratios(struct str *s, double x, struct interval_range r)
{
	const struct interval_range i = around(x, r);

	str_addf(s, i.low < 0.95 ? " (%.2g-%.2g)" : i.high < 9.95 ? " (%.1f-%.1f)" : " (%.0f-%.0f)", i.low, i.high);
}

static void say_ratios(const struct verdict *v, struct str *s)
{
	const char *of = v->device[0] ? v->device : v->kernels > 0 ? "measured GPU" : "H200";

	if (v->kernels > 0) {
		add_ratio(s, v->kernels);
		str_addf(s, " the %s's kernels", of);
		if (v->wall > 0) {
			str_add(s, ", ");
			add_ratio(s, v->wall);
			str_add(s, " its wall");
		}
	} else {
		str_add(s, "nothing measured");
	}
	if (v->old)
		return;
	str_add(s, "; ");
	if (v->chips > 1) {
		str_add(s, "a chip's share is set beside no GPU");
	} else if (v->fused > 0) {
		add_ratio(s, v->fused);
		if (v->interval)
			add_ratios(s, v->fused, v->fused_range);
		str_addf(s, v->kernels > 0 ? " it fused, graphed" : " an %s fused and graphed, simulated", of);
	} else {
		str_addf(s, "no model of %s to set beside it", v->device[0] ? v->device : "such a GPU");
	}
}

static const char *in_words(enum res r)
{
	static const char *const words[RES_COUNT] = {
		[RES_DRAM] = "DRAM bandwidth",          [RES_L2] = "L2 bandwidth", [RES_L1] = "L1 bandwidth",
		[RES_KV] = "the KV buffer's bandwidth", [RES_SRAM] = "SRAM",       [RES_NOC] = "the NoC's bandwidth",
		[RES_DMA] = "the DMA's bandwidth",      [RES_LINK] = "the links",  [RES_HOST] = "the host"
	};

	return words[r] ? words[r] : res_name(r);
}

static void say_held(const struct verdict *v, struct str *s)
{
	str_addf(s, "held by %s %.0f %% of the time, ", in_words(v->held), 100 * v->held_share);
	if (v->full != v->held)
		str_addf(s, "%s ", res_name(v->full));
	str_addf(s, "at %.0f %% of its peak; MFU %.2g %%", 100 * v->full_share, 100 * v->mfu);
	if (v->full != RES_DRAM)
		str_addf(s, ", DRAM %.0f %%", 100 * v->bandwidth);
	if (v->chips > 1)
		str_addf(s, ", links %.2g %%", 100 * v->links);
	if (v->bubbles > 0)
		str_addf(s, ", bubbles %.2g %%", 100 * v->bubbles);
	else if (v->chips > 1)
		str_add(s, " of the time");
}

/* "+38", "-0.4", "+0" */
static void add_more(struct str *s, double x, const char *unit)
{
	const bool none = fabs(x) < 0.05;

	str_addf(s, ", %+.*f %s", none || fabs(x) >= 9.95 ? 0 : 1, none ? 0.0 : x, unit);
}

static void add_cost(struct str *s, const struct marginal *b)
{
	if (b->has_mm2)
		add_more(s, b->mm2, "mm2");
	if (b->has_watts)
		add_more(s, b->watts, "W");
}

void run_verdict_buy(const struct marginal *b, bool interval, struct str *s)
{
	str_addf(s, "%s %s -> %s saves %.0f %%", b->key, b->now, b->then, 100 * b->saves);
	if (interval && b->has_range)
		str_addf(s, " (%.0f to %.0f)", 100 * b->low, 100 * b->high);
	add_cost(s, b);
	if (b->beyond[0])
		str_addf(s, ": %s", b->beyond);
}

/* Without its interval, which a line of 80 columns has no room for. */
static void say_buy(const struct marginal *b, const char *label, struct str *s)
{
	str_addf(s, "%s ", label);
	run_verdict_buy(b, false, s);
}

/* What to have more of, and what to choose otherwise. */
static int say_buys(const struct verdict *v, struct str *lines)
{
	const struct buys *b = &v->buy;
	int n = 0;

	if (!b->amount.key)
		str_add(&lines[n++], "next: no single amount more would save anything ('npusim limits' tries all)");
	else
		say_buy(&b->amount, "next:", &lines[n++]);
	if (b->choice.key)
		say_buy(&b->choice, b->amount.key ? "or:  " : "but: ", &lines[n++]);
	return n;
}

/* What the interval rests on, where that is no silicon of the machine's family. */
static const char *const interval_text[INTERVAL_FROMS] = {
	[INTERVAL_FITTED] = "its family's numbers were fitted to published rates: none was held back",
	[INTERVAL_OTHERS] = "no silicon of this family was met; give ten rows to 'npusim calibrate'",
	[INTERVAL_PARTLY] = "silicon of this family was met, but not in every class: there as other families",
	[INTERVAL_CALIBRATED] = "as sure as its own rows; what they say nothing of, as other families",
};

/* Which kernels, and what helps: a run's are at hand, of a stored one how many. */
static int say_unknown(const struct verdict *v, struct str *lines)
{
	if (v->longest[0])
		str_addf(&lines[0], "no answer: no rule knows any of its kernels: %.40s%s%s", v->longest,
		         strlen(v->longest) > 40 ? "..." : "", v->kinds > 1 ? ", " : "");
	else
		str_add(&lines[0], "no answer: no rule knows any of its kernels");
	if (v->longest[0] && v->kinds > 1)
		str_addf(&lines[0], "%" PRIu64 " more", v->kinds - 1);
	str_add(&lines[1], "next: 'npusim trace ops --all' lists them; --rules FILE takes rules that know them");
	return 2;
}

int run_verdict_text(const struct verdict *v, struct str lines[VERDICT_LINES])
{
	int n = 0;

	if (v->unknown)
		return say_unknown(v, lines);
	if (!v->us) {
		str_addf(&lines[n++], "no answer: %.0f %% of the measured time is in ops that no rule knows",
		         100 * v->carried);
		return n;
	}
	say_time(v, &lines[n++]);
	if (v->carried_us >= 0.005 * v->us)
		str_addf(&lines[n++],
		         "%.0f %% of that is kernels no rule knows, as measured on a GPU; the rest, of the others:",
		         100 * v->carried_us / v->us);
	if (v->interval && interval_text[v->from])
		str_add(&lines[n++], interval_text[v->from]);
	say_ratios(v, &lines[n++]);
	say_held(v, &lines[n++]);
	if (v->buys)
		n += say_buys(v, &lines[n]);
	return n;
}

static void say_corner(const struct verdict *v, struct str *s)
{
	str_add(s, "; slow corner ");
	if (v->tokens && !workload_is_part(&v->part)) {
		number_add(s, (double)v->tokens / (double)v->steps * 1e6 / v->corner_us);
		str_add(s, " tokens/s");
	} else {
		add_time(s, v->corner_us);
	}
	str_addf(s, " (starts of %.3g us, %.2g of the pins)", (double)v->corner.start / (double)PS_US,
	         v->corner.reached);
}

void run_verdict_classes(const struct verdict *v, struct str *s)
{
	static const char *const words[INTERVAL_PARTS] = { "decode", "prefill", "attention of a prompt" };
	bool any = false;

	for (int p = 0; p < INTERVAL_PARTS && v->interval && interval_text[v->from]; p++) {
		if (v->share[p] < 0.005)
			continue;
		str_add(s, any ? ", " : "time: ");
		str_addf(s, "%.3g to %.3g", v->range[p].low, v->range[p].high);
		str_addf(s, any ? " (%s" : " of what is simulated (%s", words[p]);
		str_addf(s, v->share[p] < 0.995 ? ", %.0f %% of it)" : ")", 100 * v->share[p]);
		any = true;
	}
	if (any && v->from == INTERVAL_OTHERS && !v->family[0])
		str_add(s, "; no key 'family'");
	else if (any && v->from == INTERVAL_OTHERS)
		str_addf(s, "; configs/accuracy has no rows of '%s'", v->family);
	if (any && v->corner_us > 0)
		say_corner(v, s);
}

/* --- json ---------------------------------------------------------------------------------------------------------------- */

static void bounds(struct doc *d, const struct verdict *v, struct interval_range i)
{
	doc_real_if(d, "low", 0, v->interval, i.low);
	doc_real_if(d, "high", 0, v->interval, i.high);
}

static void ratio(struct doc *d, const char *key, double value, struct interval_range r, const struct verdict *v,
                  const char *how)
{
	char of[128];

	if (value <= 0) {
		doc_text(d, key, NULL);
		return;
	}
	snprintf(of, sizeof of, "%s, %s", v->device[0] ? v->device : "H200", how);
	doc_open(d, key, '{');
	doc_real(d, "value", 0, value);
	bounds(d, v, around(value, r));
	doc_text(d, "of", of);
	doc_close(d, '}');
}

static void held(struct doc *d, const struct verdict *v)
{
	if (!v->us) {
		doc_text(d, "held_by", NULL);
		return;
	}
	doc_open(d, "held_by", '{');
	doc_text(d, "resource", res_name(v->held));
	doc_real(d, "share_of_time", 0, v->held_share);
	doc_text(d, "fullest", res_name(v->full));
	doc_real(d, "of_its_peak", 0, v->full_share);
	doc_close(d, '}');
}

static void marginal(struct doc *d, const char *name, const struct marginal *b)
{
	if (!b->key) {
		doc_text(d, name, NULL);
		return;
	}
	doc_open(d, name, '{');
	doc_text(d, "key", b->key);
	doc_text(d, "now", b->now);
	doc_text(d, "then", b->then);
	doc_real(d, "saves", 0, b->saves);
	doc_real_if(d, "saves_low", 0, b->has_range, b->low);
	doc_real_if(d, "saves_high", 0, b->has_range, b->high);
	doc_real_if(d, "mm2", 0, b->has_mm2, b->mm2);
	doc_real_if(d, "w", 0, b->has_watts, b->watts);
	if (b->beyond[0])
		doc_text(d, "beyond", b->beyond);
	doc_close(d, '}');
}

static void part(struct doc *d, const struct workload_part *p)
{
	struct str s = STR_INIT;

	workload_part_text(p, &s);
	doc_text(d, "part", s.len ? str_c(&s) : NULL);
	doc_free(d, &s);
}

static void class_row(struct doc *d, const void *of, size_t i)
{
	const struct verdict *v = of;

	doc_text(d, "class", interval_part_name((enum interval_part)i));
	doc_real(d, "low", 0, v->range[i].low);
	doc_real(d, "high", 0, v->range[i].high);
	doc_real(d, "share_of_time", 0, v->share[i]);
}

/* What an NPU's interval rests on; of classes that are not its family's rows, each. */
static void from(struct doc *d, const struct verdict *v)
{
	static const char *const from[INTERVAL_FROMS] = { [INTERVAL_ROWS] = "silicon of its family",
		                                          [INTERVAL_FITTED] = "rates its family was fitted to",
		                                          [INTERVAL_OTHERS] = "other families",
		                                          [INTERVAL_CALIBRATED] = "its own rows, and other families",
		                                          [INTERVAL_PARTLY] =
		                                                  "silicon of its family and other families" };

	doc_text(d, "from", v->interval ? from[v->from] : NULL);
	if (interval_text[v->from])
		doc_table(d, "classes", NULL, INTERVAL_PARTS, class_row, v);
}

static void corner(struct doc *d, const struct verdict *v)
{
	if (!v->corner_us) {
		doc_text(d, "slow_corner", NULL);
		return;
	}
	doc_open(d, "slow_corner", '{');
	doc_real(d, "step_us", 0, v->corner_us);
	doc_real(d, "start_us", 0, (double)v->corner.start / (double)PS_US);
	doc_text(d, "start_of", v->corner.start_of);
	doc_real(d, "reached", 0, v->corner.reached);
	doc_text(d, "reached_of", v->corner.reached_of);
	doc_close(d, '}');
}

void run_verdict_doc(struct doc *d, const struct verdict *v)
{
	struct str lines[VERDICT_LINES] = VERDICT_INIT;
	const int n = run_verdict_text(v, lines);

	doc_open(d, "verdict", '[');
	for (int i = 0; i < n; i++)
		doc_text(d, NULL, str_c(&lines[i]));
	doc_close(d, ']');
	for (int i = 0; i < VERDICT_LINES; i++) {
		d->to->failed |= lines[i].failed;
		str_free(&lines[i]);
	}
	doc_real_if(d, "tokens_per_s", 0, v->us && v->tokens && !workload_is_part(&v->part),
	            (double)v->tokens / (double)v->steps * 1e6 / v->us);
	doc_count(d, "steps", v->steps);
	part(d, &v->part);
	doc_real_if(d, "step_us", 0, v->us, v->us);
	if (v->us) {
		doc_open(d, "interval", '{');
		doc_real(d, "level", 0, INTERVAL_LEVEL);
		bounds(d, v, around(v->us, v->time));
		doc_text(d, "of", "step_us");
		from(d, v);
		corner(d, v);
		doc_close(d, '}');
	}
	ratio(d, "speedup", v->kernels, per(v->time), v, "kernels as measured");
	ratio(d, "speedup_fused", v->fused, v->fused_range, v, "fused under a graph (simulated)");
	held(d, v);
	marginal(d, "next_buy", &v->buy.amount);
	marginal(d, "next_switch", &v->buy.choice);
}

bool run_verdict_buys(const char *path)
{
	static const char *const names[] = { "verdict", "next_buy", "next_switch", "interval.slow_corner" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(path, names[i], strlen(names[i])) == 0 && strchr(".[", path[strlen(names[i])]))
			return true;
	return strcmp(path, "interval") == 0; /* the whole of it */
}
