#include "sim/report/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "arch/machine/machine_conf.h"
#include "sim/report/run_verdict.h"
#include "sim/study/limits.h"
#include "sim/ui/number.h"
#include "sim/ui/units.h"

struct teller {
	const struct res_stored *r;
	const struct machine_conf *was, *file; /* as it ran, and as its file is now; NULL: neither is known */
	struct verdict v;
	double total_us;
	bool request; /* stages of one answer, each op as often as its steps */
	struct explain_lines to;
};

/* --- lines ------------------------------------------------------------------------------------------------- */

const char *explain_text(struct explain_lines *to, const char *fmt, ...)
{
	char buf[1024];
	va_list args;
	const char *s;

	va_start(args, fmt);
	vsnprintf(buf, sizeof buf, fmt, args);
	va_end(args);
	s = arena_strdup(to->a, buf);
	to->failed |= !s;
	return s ? s : "";
}

void explain_add(struct explain_lines *to, struct explain_line line)
{
	if (to->n < EXPLAIN_LINES)
		to->v[to->n++] = line;
}

const char *explain_number(struct explain_lines *to, double x)
{
	struct str s = STR_INIT;
	const char *out;

	number_add(&s, x);
	out = explain_text(to, "%s", str_c(&s));
	to->failed |= s.failed;
	str_free(&s);
	return out;
}

/* What a time is said in: of two the longer one's. */
static const char *time_unit(double us, double *per)
{
	static const struct {
		const char *name;
		double below, us;
	} units[] = {
		{ "ps", 0.001, 1e-6 }, { "ns", 1, 1e-3 }, { "us", 10000, 1 }, { "ms", 1e7, 1e3 }, { "s", INFINITY, 1e6 }
	};
	size_t i = 0;

	while (us >= units[i].below)
		i++;
	*per = units[i].us;
	return units[i].name;
}

const char *explain_time(struct explain_lines *to, double us)
{
	double per;
	const char *unit = time_unit(us, &per);

	return explain_text(to, "%s %s", explain_number(to, us / per), unit);
}

const char *explain_times(struct explain_lines *to, double low_us, double high_us)
{
	double per;
	const char *unit = time_unit(high_us, &per);

	return explain_text(to, "%s to %s %s", explain_number(to, low_us / per), explain_number(to, high_us / per),
	                    unit);
}

static const char *time_text(struct teller *t, double us)
{
	return explain_time(&t->to, us);
}

static const char *times_text(struct teller *t, double x)
{
	return explain_text(&t->to, x < 0.095 ? "%.3f times" : x < 9.95 ? "%.2f times" : "%.0f times", x);
}

static const char *bytes_text(struct teller *t, double n)
{
	return n < 1e6   ? explain_text(&t->to, "%.3g kB", n / 1e3)
	       : n < 1e9 ? explain_text(&t->to, n < 1e8 ? "%.3g MB" : "%.0f MB", n / 1e6)
	                 : explain_text(&t->to, "%.3g GB", n / 1e9);
}

/* --- where a constant is from ------------------------------------------------------------------------------ */

static bool value_of(const struct machine_conf *c, const char *key, struct str *out, const char **source)
{
	struct err ignored = ERR_INIT;
	size_t i;

	if (!c || cfg_find(c->raw, key, &i, &ignored) < 0)
		return false;
	cfg_value(c->raw, i, out);
	*source = cfg_at(c->raw, i).source;
	return !out->failed;
}

static const char *constant(struct teller *t, const char *key)
{
	struct str was = STR_INIT, now = STR_INIT;
	const char *ignored, *source = "", *text;

	if (!value_of(t->was, key, &was, &ignored))
		text = explain_text(&t->to, "the machine cannot be read by this build");
	else if (!value_of(t->file, key, &now, &source))
		text = explain_text(&t->to, "%s is %s; '%.200s' is not here to say where from", key, str_c(&was),
		                    t->r->run.config_path);
	else if (strcmp(str_c(&was), str_c(&now)) == 0)
		text = explain_text(&t->to, "%s is %s: %s", key, str_c(&was), source);
	else
		text = explain_text(&t->to, "%s is %s, set for this run (its file has %s)", key, str_c(&was),
		                    str_c(&now));
	str_free(&was);
	str_free(&now);
	return text;
}

/* A GPU's launches have no row in `npusim limits`. */
static const char *gpu_key(enum res r)
{
	static const char *const keys[RES_COUNT] = {
		[RES_DRAM] = "gpu.dram_read",   [RES_L2] = "gpu.l2_rate",        [RES_MATRIX] = "gpu.flop_bf16",
		[RES_VECTOR] = "gpu.flop_fp32", [RES_LATENCY] = "gpu.step_dram", [RES_DISPATCH] = "gpu.launch",
	};

	return keys[r];
}

static const char *resource_source(struct teller *t, enum res r)
{
	const bool launches = t->was && machine_runs(&t->was->cfg) == MACHINE_LAUNCHES;
	char own[64];
	const char *key = launches ? gpu_key(r) : t->was && limits_own_key(t->was, r, own) ? own : NULL;

	if (key || !t->was)
		return constant(t, key ? key : "");
	if (r != RES_DEPENDENCY)
		return "no parameter of its own";
	return launches ? "no parameter of its own: steps of a kernel wait for each other"
	                : "no parameter of its own: it comes of how the ops depend";
}

/* --- the sentences ----------------------------------------------------------------------------------------- */

static const char *all_ops(struct teller *t)
{
	return explain_text(&t->to, "%zu ops", t->r->workload.n_ops);
}

/* "dsocr", "2 x h200". */
static const char *machine_text(struct teller *t)
{
	return t->v.chips > 1 ? explain_text(&t->to, "%" PRIu64 " x %s", t->v.chips, t->r->run.config_name)
	                      : t->r->run.config_name;
}

static const char *what_ran(struct teller *t)
{
	const struct verdict *v = &t->v;

	if (t->request)
		return v->tokens ? explain_text(&t->to, "An answer of %s token%s",
		                                explain_number(&t->to, (double)v->tokens), v->tokens == 1 ? "" : "s")
		                 : "All stages together";
	return workload_is_part(&v->part) ? "This part of a step" : "A step";
}

static void tell_time(struct teller *t)
{
	const struct res_run *x = &t->r->run;
	const struct verdict *v = &t->v;
	const double us = t->total_us / (double)v->steps;
	const char *rate = "";

	if (v->tokens && v->us > 0 && !workload_is_part(&v->part))
		rate = explain_text(&t->to, ", %s tokens a second",
		                    explain_number(&t->to, (double)(v->tokens / v->steps) * 1e6 / us));
	explain_add(&t->to,
	            (struct explain_line){
			    "time",
			    explain_text(&t->to, "%s take%s %s on %s%s.", what_ran(t),
	                                 t->request && !v->tokens ? "" : "s", time_text(t, us), machine_text(t), rate),
			    "step_us", us, "us", all_ops(t),
			    explain_text(&t->to, "simulated %s, start %s, seed %" PRIu64 ", by build %s",
	                                 strcmp(x->fidelity, "analytic") == 0 ? "in closed form" : "with events",
	                                 x->start, x->seed, x->build) });
}

static void tell_sure(struct teller *t)
{
	static const char *const from[INTERVAL_FROMS] = {
		[INTERVAL_UNSAID] = "the GPU's model held against steps that were measured",
		[INTERVAL_ROWS] = "rows of ops measured on silicon of its family",
		[INTERVAL_FITTED] = "what its family's numbers were found on: nothing was held back",
		[INTERVAL_OTHERS] = "families of NPUs when they were new: no silicon of this one was met",
	};
	const struct verdict *v = &t->v;
	const double us = t->total_us / (double)v->steps;

	if (!v->interval)
		return;
	explain_add(&t->to,
	            (struct explain_line){
			    "sure",
			    explain_text(&t->to, "Four times in five such a machine takes %s.",
	                                 explain_times(&t->to, us * v->time.low, us * v->time.high)),
			    "interval.high", us * v->time.high, "us",
			    explain_text(&t->to, "%.3g to %.3g times what is simulated", v->time.low, v->time.high),
			    explain_text(&t->to, "%s (configs/accuracy/intervals.yaml)", from[v->from]) });
}

static void tell_held(struct teller *t)
{
	const enum res r = t->v.held;

	if (t->v.held_share > 0)
		explain_add(&t->to, (struct explain_line){
					    "held",
					    explain_text(&t->to, "The machine waits for %s %.0f %% of the time, %s.",
		                                         res_name(r), 100 * t->v.held_share,
		                                         time_text(t, t->v.held_share * t->total_us)),
					    "held_by.share_of_time", t->v.held_share, "",
					    explain_text(&t->to, "resource %s", res_name(r)), resource_source(t, r) });
}

/* What a chip alone would not have. */
static void tell_links(struct teller *t)
{
	const double us = unit_ps_us(t->r->run.links_ps);

	if (t->v.chips > 1)
		explain_add(&t->to,
		            (struct explain_line){ "links",
		                                   explain_text(&t->to, "Collectives take %.2g %% of the time, %s.",
		                                                100 * t->v.links, time_text(t, us)),
		                                   "links_us", us, "us", "the links", constant(t, "links.bandwidth") });
}

static bool resource_named(const char *name, enum res *out)
{
	for (int k = 0; k < RES_COUNT; k++)
		if (name && strcmp(res_name((enum res)k), name) == 0) {
			*out = (enum res)k;
			return true;
		}
	return false;
}

static void tell_floor(struct teller *t)
{
	const struct res_run *x = &t->r->run;
	const double us = unit_ps_us(x->roofline_ps);
	enum res r;

	if (us > 0 && resource_named(x->roofline_bound, &r))
		explain_add(
			&t->to,
			(struct explain_line){
				"floor",
				explain_text(&t->to,
		                             "No mapping could take less than %s: %s has that much work at its peak.",
		                             time_text(t, us), res_name(r)),
				"roofline_us", us, "us", explain_text(&t->to, "resource %s", res_name(r)),
				resource_source(t, r) });
}

static void tell_traffic(struct teller *t)
{
	const struct res_run *x = &t->r->run;
	const double moved = (double)(x->dram_read_bytes + x->dram_write_bytes);
	const double must = (double)x->compulsory_bytes;
	const char *dram = t->v.chips > 1 ? "a chip's DRAM" : "DRAM";

	if (moved > 0)
		explain_add(
			&t->to,
			(struct explain_line){
				"traffic",
				must > 0 ? explain_text(&t->to, "%s pass %s, %.2f times the %s that must.",
		                                        bytes_text(t, moved), dram, moved / must, bytes_text(t, must))
					 : explain_text(&t->to, "%s pass %s.", bytes_text(t, moved), dram),
				"dram_bytes", moved, "B", all_ops(t),
				must > 0 ? explain_text(&t->to, "each tensor once, less what the chip could keep; %s",
		                                        constant(t, "l2.size"))
					 : constant(t, "l2.size") });
}

/* A trace's name ends in its range. */
static const char *workload_text(struct teller *t)
{
	const struct res_workload *w = &t->r->workload;

	return !w->range || strstr(w->source, w->range) ? explain_text(&t->to, "%.400s", w->source)
	                                                : explain_text(&t->to, "%.300s, %.200s", w->source, w->range);
}

static void tell_kind(struct teller *t)
{
	const struct res_stored *r = t->r;
	const char *kind = NULL;
	uint64_t most = 0, ops = 0;

	for (size_t i = 0; i < r->workload.n_ops; i++) {
		uint64_t sum = 0, n = 0;

		if (i && strcmp(r->workload.ops[i].kind, r->workload.ops[i - 1].kind) == 0)
			continue; /* it was summed when it was met first */
		for (size_t k = 0; k < r->workload.n_ops; k++)
			if (strcmp(r->workload.ops[k].kind, r->workload.ops[i].kind) == 0) {
				sum += r->run.ops[k].span_ps;
				n++;
			}
		if (sum > most) {
			most = sum;
			ops = n;
			kind = r->workload.ops[i].kind;
		}
	}
	if (kind)
		explain_add(&t->to,
		            (struct explain_line){
				    "kind",
				    explain_text(&t->to, "%.0f %% of the time goes into %s: %" PRIu64 " of %zu ops.",
		                                 100 * unit_ps_us(most) / t->total_us, kind, ops, r->workload.n_ops),
				    "by_kind[0].us", unit_ps_us(most), "us",
				    explain_text(&t->to, "%" PRIu64 " ops of kind %s", ops, kind),
				    explain_text(&t->to, "the ops of %s", workload_text(t)) });
}

static const char *op_named(struct teller *t, size_t i)
{
	return explain_text(&t->to, "op %zu, %.100s", i, t->r->workload.ops[i].name);
}

static const char *op_source(struct teller *t, size_t i)
{
	enum res r;

	return resource_named(t->r->run.ops[i].bound, &r) ? resource_source(t, r) : "it is carried";
}

static void tell_longest(struct teller *t)
{
	const struct res_run *x = &t->r->run;
	size_t best = 0;

	if (x->n_warnings && t->r->run.n_next)
		return; /* a warning has its place */
	for (size_t i = 0; i < x->n_ops; i++)
		if (x->ops[i].span_ps > x->ops[best].span_ps)
			best = i;
	if (x->n_ops && x->ops[best].bound && x->ops[best].span_ps)
		explain_add(&t->to, (struct explain_line){
					    "longest",
					    explain_text(&t->to, "The longest op is %zu, %.100s: %s%s, held by %s.",
		                                         best, t->r->workload.ops[best].name,
		                                         time_text(t, unit_ps_us(x->ops[best].span_ps)),
		                                         t->request ? " in all steps that it stands for" : "",
		                                         x->ops[best].bound),
					    explain_text(&t->to, "ops[%zu].us", best), unit_ps_us(x->ops[best].span_ps),
					    "us", op_named(t, best), op_source(t, best) });
}

/* What an op waited for most, but for what bounds it; RES_COUNT: for nothing else. */
static enum res waited_besides(const struct res_op *o)
{
	enum res r, best = RES_COUNT;
	uint32_t most = 0;

	for (uint32_t i = 0; i < o->n_stalls; i++)
		if (o->stalls[i].ppm > most && o->bound && strcmp(o->stalls[i].resource, o->bound) != 0 &&
		    resource_named(o->stalls[i].resource, &r)) {
			most = o->stalls[i].ppm;
			best = r;
		}
	return best;
}

/* The op with most time in which its fullest resource was not busy. */
static void tell_gap(struct teller *t)
{
	const struct res_run *x = &t->r->run;
	size_t best = 0;
	ps_t lost = 0, all = 0;
	enum res r;

	for (size_t i = 0; i < x->n_ops; i++) {
		const ps_t l = x->ops[i].span_ps > x->ops[i].limit_ps ? x->ops[i].span_ps - x->ops[i].limit_ps : 0;

		all += l;
		if (l > lost) {
			lost = l;
			best = i;
		}
	}
	if (!lost)
		return;
	r = waited_besides(&x->ops[best]);
	explain_add(
		&t->to,
		(struct explain_line){
			"gap",
			explain_text(
				&t->to,
				"For %.0f %% of the time the resource that an op needs most is not busy: longest, %s, in op %zu, "
				"%.100s%s%s.",
				100 * unit_ps_us(all) / t->total_us, time_text(t, unit_ps_us(lost)), best,
				t->r->workload.ops[best].name, r < RES_COUNT ? ", which waits for " : "",
				r < RES_COUNT ? res_name(r) : ""),
			"sum of ops[].us - limit_us", unit_ps_us(all), "us", op_named(t, best),
			r < RES_COUNT ? resource_source(t, r) : op_source(t, best) });
}

static void tell_energy(struct teller *t)
{
	const struct res_run *x = &t->r->run;
	const struct res_energy *most = NULL;
	struct str ignored = STR_INIT;
	const char *key, *source;
	uint64_t all = 0;
	double mj;

	for (size_t i = 0; i < x->n_energy; i++) {
		all += x->energy[i].fj;
		most = !most || x->energy[i].fj > most->fj ? &x->energy[i] : most;
	}
	if (!all)
		return;
	mj = (double)all / 1e12;
	key = explain_text(&t->to, "power.%.40s", most->name);
	if (!value_of(t->was, key, &ignored, &source))
		key = explain_text(&t->to, "power.%.40s", most->block);
	str_free(&ignored);
	explain_add(&t->to,
	            (struct explain_line){
			    "energy",
			    explain_text(&t->to, "%s takes %s %s, %s W in the mean; %.0f %% of that is %s (%s).",
	                                 t->v.chips > 1 ? "A chip" : "It",
	                                 explain_number(&t->to, mj < 1000 ? mj : mj / 1000), mj < 1000 ? "mJ" : "J",
	                                 explain_number(&t->to, (double)all / (double)x->total_ps / 1e3),
	                                 100 * (double)most->fj / (double)all, most->name, most->block),
			    "energy_uj", (double)all / 1e9, "uJ", explain_text(&t->to, "block %s", most->block),
			    constant(t, key) });
}

static void tell_math(struct teller *t)
{
	if (t->v.mfu > 0)
		explain_add(&t->to,
		            (struct explain_line){
				    "math",
				    explain_text(&t->to,
		                                 "Multiply-adds need %.2g %% of the time on the fastest unit for them.",
		                                 100 * t->v.mfu),
				    "mfu", t->v.mfu, "", all_ops(t), resource_source(t, RES_MATRIX) });
}

static void tell_beside(struct teller *t)
{
	const struct verdict *v = &t->v;
	const struct res_workload *w = &t->r->workload;
	const double kernels = unit_us((int64_t)w->kernel_ns);

	if (v->kernels > 0)
		explain_add(
			&t->to,
			(struct explain_line){
				"measured",
				explain_text(&t->to, "The GPU that was measured took %s in its kernels, %s as long.",
		                             time_text(t, kernels), times_text(t, v->kernels)),
				"measured_us", kernels, "us", all_ops(t), workload_text(t) });
	else if (v->fused > 0)
		explain_add(
			&t->to,
			(struct explain_line){
				"beside",
				explain_text(
					&t->to,
					"An H200 with these ops fused and launched as one graph would take %s, %s as long.",
					time_text(t, unit_ps_us(v->fused_ps)), times_text(t, v->fused)),
				"fused_us", unit_ps_us(v->fused_ps), "us", all_ops(t),
				"the GPU's model that was held against an H200 (configs/gpu/h200.yaml)" });
}

/* As the run's own verdict has it, with its price. */
static bool tell_buy(struct teller *t)
{
	const struct marginal *b = &t->v.buy.amount;
	struct str s = STR_INIT;

	if (!b->key)
		return false;
	run_verdict_buy(b, true, &s);
	explain_add(&t->to, (struct explain_line){
				    "next", explain_text(&t->to, "Of all amounts one helps most: %s.", str_c(&s)),
				    "next_buy.saves", b->saves, "", explain_text(&t->to, "parameter %s", b->key),
				    constant(t, b->key) });
	str_free(&s);
	return true;
}

static void tell_next(struct teller *t)
{
	const struct res_limits *l = &t->r->run.limits;
	const struct res_limit *best = NULL;
	double saves = 0;

	if (tell_buy(t))
		return;
	for (size_t i = 0; i < l->n; i++) {
		const struct res_limit *x = &l->rows[i];
		const ps_t base = x->base_ps ? x->base_ps : t->r->run.total_ps;
		const double s = x->refused || x->within || !base ? 0 : 1 - (double)x->total_ps / (double)base;

		if (strcmp(x->move, "more") == 0 && s > saves) {
			best = x;
			saves = s;
		}
	}
	if (best)
		explain_add(
			&t->to,
			(struct explain_line){
				"next",
				explain_text(&t->to, "Of all amounts %s helps most: %s instead of %s saves %.0f %%.",
		                             best->key, best->then, best->now, 100 * saves),
				"limits[].saves", saves, "", explain_text(&t->to, "parameter %s", best->key),
				constant(t, best->key) });
}

static void tell_warnings(struct teller *t)
{
	for (size_t i = 0; i < t->r->run.n_warnings; i++) {
		const char *s = t->r->run.warnings[i].text;

		if (*s)
			explain_add(&t->to, (struct explain_line){
						    "warning",
						    explain_text(&t->to, "%c%.900s.",
			                                         *s >= 'a' && *s <= 'z' ? *s - 32 : *s, s + 1),
						    explain_text(&t->to, "warnings[%zu]", i), 1, "",
						    t->r->run.warnings[i].what, "the machine as it is written" });
	}
}

int explain_run(const struct res_stored *r, struct arena *a, struct explain_line lines[EXPLAIN_LINES], struct err *e)
{
	typedef void tell_fn(struct teller *);
	static tell_fn *const tell[] = { tell_time,  tell_sure,     tell_beside, tell_held,    tell_links,
		                         tell_floor, tell_traffic,  tell_kind,   tell_longest, tell_energy,
		                         tell_next,  tell_warnings, tell_gap,    tell_math };
	struct err ignored = ERR_INIT;
	struct machine_conf *was = machine_conf_parse(r->run.config_text, strlen(r->run.config_text),
	                                              r->run.config_path, NULL, 0, &ignored);
	struct machine_conf *file = machine_conf_load(r->run.config_path, NULL, 0, &ignored);
	struct teller t = { .r = r, .was = was, .file = file, .to = { .a = a, .v = lines } };

	if (was)
		machine_conf_explain(was, &ignored);
	if (file)
		machine_conf_explain(file, &ignored);
	t.total_us = unit_ps_us(r->run.total_ps);
	t.request = r->workload.digest && strncmp(r->workload.digest, "request:", 8) == 0;
	run_verdict_stored(r, &t.v);
	for (size_t i = 0; t.total_us > 0 && i < sizeof tell / sizeof *tell; i++)
		tell[i](&t);
	machine_conf_free(was);
	machine_conf_free(file);
	return t.to.failed ? err_nomem(e, "for what explains a run") : t.to.n;
}

void explain_row(struct doc *d, const void *of, size_t i)
{
	const struct explain_line *x = (const struct explain_line *)of + i;

	doc_text(d, "about", x->about);
	doc_text(d, "text", x->text);
	doc_text(d, "figure", x->figure);
	doc_real(d, "value", 6, x->value);
	doc_text(d, "unit", x->unit);
	doc_text(d, "where", x->where);
	doc_text(d, "source", x->source);
}
