#include "sim/report/serve_doc.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "sim/engine/engine.h"
#include "sim/report/pools_doc.h"

static double seconds(ps_t t)
{
	return (double)t / 1e12;
}

static double ms(ps_t t)
{
	return (double)t / 1e9;
}

static double per_second(uint64_t n, ps_t t)
{
	return t ? (double)n / seconds(t) : NAN;
}

/* A time-integral's mean over the whole. */
static double mean_of(sched_u128 integral, ps_t t)
{
	return t ? (double)integral / (double)t : 0;
}

static double mean_batch(const struct sched_result *r)
{
	return r->steps ? (double)r->seqs_sum / (double)r->steps : 0;
}

static const char *fidelity(const struct serve_run *r)
{
	return engine_of(&r->conf->cfg, r->how.fidelity)->fidelity;
}

static uint64_t asked_tokens(const struct serve_run *r, bool prompts)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->arrivals.n; i++)
		n += prompts ? r->arrivals.v[i].prompt : r->arrivals.v[i].output;
	return n;
}

/* --- how sure ---------------------------------------------------------------------------------------------------------------- */

/* What has an interval beside the waits: of the list served once. */
enum rate { TOKENS, REQUESTS, JOULES, RATES };
static const char *const rate_keys[RATES] = { "tokens_per_s", "requests_per_s", "joules_per_token" };

static double rate(enum rate of, const struct sched_result *x, double joules)
{
	switch (of) {
	case TOKENS:
		return per_second(x->made, x->end);
	case REQUESTS:
		return per_second(x->n, x->end);
	default:
		return x->made ? joules / (double)x->made : NAN;
	}
}

static struct interval_range rate_range(const struct serve_run *r, const struct serve_range *s, enum rate of)
{
	return serve_range_over(rate(of, &r->result, r->joules), rate(of, &s->fast.result, s->fast.joules),
	                        rate(of, &s->slow.result, s->slow.joules));
}

/* " (4890 to 5510)"; nothing where nobody knows. */
static void sure_rate(const struct serve_run *r, const struct serve_range *s, enum rate of, struct str *out)
{
	if (s) {
		const struct interval_range x = rate_range(r, s, of);

		str_addf(out, " (%.4g to %.4g)", x.low, x.high);
	}
}

static const struct latency_stat *stat_of(const struct latency *x, size_t i)
{
	return i < LATENCIES ? &x->of[i] : &x->itl;
}

/* Of a statistic its end: the least or the most of the three. */
static ps_t end_of(ps_t is, ps_t fast, ps_t slow, bool high)
{
	const ps_t least = ps_min(is, ps_min(fast, slow)), most = ps_max(is, ps_max(fast, slow));

	return high ? most : least;
}

static struct latency_stat stat_end(const struct serve_run *r, const struct serve_range *s, size_t i, bool high)
{
	const struct latency_stat *a = stat_of(&r->latency, i), *b = stat_of(&s->fast.latency, i),
				  *c = stat_of(&s->slow.latency, i);

	return (struct latency_stat){ a->n,
		                      end_of(a->mean, b->mean, c->mean, high),
		                      end_of(a->p50, b->p50, c->p50, high),
		                      end_of(a->p90, b->p90, c->p90, high),
		                      end_of(a->p95, b->p95, c->p95, high),
		                      end_of(a->p99, b->p99, c->p99, high),
		                      end_of(a->max, b->max, c->max, high) };
}

/* --- for people ---------------------------------------------------------------------------------------------------------- */

static void pair(struct str *out, const char *what, ps_t a, ps_t b, const char *end)
{
	str_addf(out, "%s %.4g ms, one in a hundred above %.4g%s", what, ms(a), ms(b), end);
}

/* Some of a model's layers or experts make no tokens: there is no rate of what passes them. */
static bool makes_tokens(const struct serve_run *r)
{
	const struct workload_part p = workload_part(&r->own.w);

	return !workload_is_part(&p);
}

void serve_doc_verdict(const struct serve_run *r, const struct serve_range *s, struct str *out)
{
	const struct sched_result *x = &r->result;
	const struct latency_stat *t = &r->latency.of[LATENCY_TTFT], *o = &r->latency.of[LATENCY_TPOT];
	const struct workload_part part = workload_part(&r->own.w);

	if (makes_tokens(r)) {
		str_addf(out, "%.5g tokens/s", per_second(x->made, x->end));
		sure_rate(r, s, TOKENS, out);
		str_addf(out, ", %.4g requests/s", per_second(x->n, x->end));
		sure_rate(r, s, REQUESTS, out);
		str_add(out, ": ");
	} else {
		workload_part_text(&part, out);
		str_add(out, ", which make no tokens alone: ");
	}
	str_addf(out, "%s on ", r->own.w.model->name);
	pools_doc_machines(r, out);
	str_addf(out, ", %zu requests in %.4g s\n", x->n, seconds(x->end));
	pair(out, makes_tokens(r) ? "first token after" : "through these for a first token after", t->p50, t->p99,
	     o->n ? "; " : "\n");
	if (o->n)
		pair(out, "each one more", o->p50, o->p99, "\n");
	if (!isnan(r->joules)) {
		str_addf(out, "%.4g J, ", r->joules);
		if (makes_tokens(r)) {
			str_addf(out, "%.4g J a token", r->joules / (double)x->made);
			sure_rate(r, s, JOULES, out);
			str_add(out, ", ");
		}
		str_addf(out, "%.4g W in the mean\n", r->joules / seconds(x->end));
	} else {
		str_add(out, "joules: not known, as no power of this machine is modelled\n");
	}
	str_addc(out, '\n');
}

struct waits {
	const struct serve_run *r;
	const struct serve_range *sure;
};

/* With its interval a wait has three rows. */
static void latency(struct doc *d, const void *of, size_t i)
{
	static const char *const names[] = { "first token (TTFT)", "each one more (TPOT)", "last token", "in the queue",
		                             "between tokens (ITL)" };
	static const char *const ends[] = { NULL, "  from", "  to" };
	const struct waits *w = of;
	const size_t rows = w->sure ? 3 : 1, l = i / rows;
	const struct latency_stat one =
		i % rows ? stat_end(w->r, w->sure, l, i % rows == 2) : *stat_of(&w->r->latency, l);
	const struct latency_stat *const s = &one;

	doc_text(d, "latency_ms", i % rows ? ends[i % rows] : names[l]);
	doc_count_if(d, "requests", !(i % rows), s->n);
	doc_real(d, "mean", 3, ms(s->mean));
	doc_real(d, "p50", 3, ms(s->p50));
	doc_real(d, "p90", 3, ms(s->p90));
	doc_real(d, "p95", 3, ms(s->p95));
	doc_real(d, "p99", 3, ms(s->p99));
	doc_real(d, "max", 3, ms(s->max));
}

struct line {
	const char *what, *unit, *note;
	double v;
};

static void line_row(struct doc *d, const void *of, size_t i)
{
	const struct line *x = of;

	(void)i;
	doc_text(d, "load", x->what);
	doc_real(d, "value", 2, x->v);
	doc_text(d, "unit", x->unit);
	doc_text(d, "note", x->note);
}

static void line(struct doc *d, const char *what, double v, const char *unit, const char *note)
{
	doc_row(d, line_row, &(struct line){ what, unit, note, v }, 0);
}

static void serve_doc_load(struct doc *d, const struct serve_run *r)
{
	const struct sched_result *x = &r->result;

	line(d, "busy", x->end ? 100 * (double)x->busy / (double)x->end : 0, "%", "of the time a step ran");
	if (makes_tokens(r)) {
		line(d, "output", per_second(x->made, x->end), "tokens/s", "");
		line(d, "prompts", per_second(x->prompt_tokens, x->end), "tokens/s", "computed");
	}
	line(d, "in the system", mean_of(x->in_system, x->end), "requests", "in the mean");
	line(d, "waiting", mean_of(x->waiting, x->end), "requests", "in the mean");
	line(d, "batch", mean_batch(x), "sequences", "a step, in the mean");
	line(d, "batch, most", x->batch_peak, "sequences", "");
	line(d, "steps", (double)x->steps, "", "");
	line(d, "of decode alone", (double)x->decode_steps, "", "");
	line(d, "of prompts alone", (double)x->prompt_steps, "", "");
	line(d, "of both", (double)x->mixed_steps, "", "");
}

static void memory(struct doc *d, const struct serve_run *r)
{
	const struct sched_result *x = &r->result;
	const double blocks = (double)r->policy.blocks;

	if (r->arrivals.give_up)
		line(d, "clients left", (double)x->gone, "requests", "before their last token; in no latency");
	line(d, "KV blocks", blocks, "", "that the memory has room for");
	line(d, "KV in use, most", 100 * (double)x->blocks_peak / blocks, "%", "");
	line(d, "KV in use, mean", 100 * mean_of(x->blocks_ps, x->end) / blocks, "%", "");
	line(d, "gave up blocks", (double)x->preemptions, "times", "");
	if (r->policy.preempt == SCHED_SWAP)
		line(d, "moved", (double)x->swapped_bytes / 1e9, "GB", "to the host and back");
	else
		line(d, "found again", (double)x->found, "tokens", "in blocks that were given up");
	line(d, "computed again", (double)x->recomputed, "tokens", "");
	if (r->policy.draft) {
		line(d, "drafts right", x->checked ? 100 * (double)x->accepted / (double)x->checked : 0, "%",
		     "of all that were checked");
	}
}

static void serve_doc_bytes(struct str *out, const char *before, uint64_t v)
{
	str_add(out, before);
	str_add_bytes(out, v);
}

/* What of the host is not nothing, with its source. */
static void engine(const struct serve_run *r, struct str *out)
{
	const struct cfg *c = r->o->engine;

	for (size_t i = 0; i < cfg_count(c); i++) {
		const struct cfg_row x = cfg_at(c, i);

		if (!x.given || (i && !cfg_raw(c, i)))
			continue;
		str_addf(out, i ? "         %s " : "engine   ", x.field->key);
		cfg_value(c, i, out);
		if (i)
			str_addf(out, " (%s)", x.source);
		str_addc(out, '\n');
	}
}

static void told_memory(const struct serve_run *r, struct str *out)
{
	if (r->pools ? r->pools->n > 1 : r->policy.part != SCHED_WHOLE)
		str_addf(out, "memory   %s: weights ", r->conf->cfg.name);
	else
		str_addf(out, "memory   %sweights ", serve_chips(r) > 1 ? "of a chip: " : "");
	serve_doc_bytes(out, "", r->own.memory.weights + r->draft.memory.weights);
	serve_doc_bytes(out, ", KV cache ", r->kv_bytes);
	str_addf(out, " in blocks of %u tokens", r->policy.block);
	serve_doc_bytes(out, " and ", r->policy.block_bytes);
	str_addc(out, '\n');
}

/* Of a list that tells pages of its prompts: what of them others had computed. */
static void prefixes(const struct serve_run *r, struct str *out)
{
	const struct sched_result *x = &r->result;
	const double asked = (double)(x->shared + x->prompt_tokens);

	if (!r->policy.prefix) {
		str_add(out, "prefixes that requests share are computed by each: --prefix-cache finds them\n");
		return;
	}
	str_addf(out, "prefixes %" PRIu64 " tokens of prompts (%.4g %%) found in what others computed; ", x->shared,
	         asked > 0 ? 100 * (double)x->shared / asked : 0);
	serve_doc_bytes(out, "at most ", x->pages_peak * (ARRIVE_PAGE / r->policy.block) * r->policy.block_bytes);
	str_addf(out, " of it at a time,\n         %" PRIu64 " tokens given up for other blocks\n", x->evicted);
}

static void told(const struct serve_run *r, struct str *out)
{
	const struct sched_policy *p = &r->policy;
	const struct build_how *h = &r->own.w.how;

	str_addf(out, "model    %s, cache in %s, %s\n", h->quant->name, dtype_name(h->kv), build_style_name(h->style));
	str_addf(out, "batching %u sequences, %u tokens a step, ", p->max_batch, p->max_tokens);
	if (p->chunk)
		str_addf(out, "%u of them prompts'", p->chunk);
	else
		str_add(out, "prompts whole");
	str_addf(out, "; lets in by %s, gives up by %s\n", p->reserve_all ? "prompt and output" : "prompt",
	         p->preempt == SCHED_SWAP ? "swapping" : "computing again");
	told_memory(r, out);
	if (r->pools && r->pools->n > 1)
		told_memory(r->pools->pool[1].r, out);
	if (r->arrivals.pages)
		prefixes(r, out);
	if (r->o->engine)
		engine(r, out);
	if (p->draft)
		str_addf(out, "drafts   %u tokens a step, each right with %g %%, %s%s\n", p->draft, p->accept_ppm / 1e4,
		         r->draft.w.model ? "by "
		         : r->draft.cost  ? "at a share of a step"
		                          : "for nothing",
		         r->draft.w.model ? r->draft.w.model->name : "");
}

/* What a list has measured, beside what was simulated of it. */
static void beside(const struct serve_run *r, struct str *out)
{
	static const char *const names[LATENCIES] = { "TTFT", "TPOT", "last token", NULL };

	for (int l = 0; l < LATENCIES; l++)
		if (names[l] && r->beside[l].n)
			str_addf(out, "%s %s off by %.1f %% of what %zu requests took (bias %+.1f, medians %+.1f %%)\n",
			         l ? "        " : "measured", names[l], r->beside[l].mean, r->beside[l].n,
			         r->beside[l].bias, r->beside[l].p50);
}

static void sure_steps(const struct serve_range *s, struct str *out)
{
	static const char *const kinds[SERVE_KINDS] = { "that only decode take", "with prompts" };
	const char *before = "sure     steps ";

	for (int k = 0; s && k < SERVE_KINDS; k++)
		if (s->any[k]) {
			str_addf(out, "%s%s %.2f to %.2f of their time", before, kinds[k], s->step[k].low,
			         s->step[k].high);
			before = ", those ";
		}
	if (s)
		str_add(out, ", four times in five;\n         from and to: all is served with either\n");
}

static void trust(const struct serve_run *r, struct str *out)
{
	static const char *const kinds[SERVE_KINDS] = { "that only decode", "with prompts" };

	str_addf(out, "steps    %zu simulated (%s), the others lie between them", r->simulated, fidelity(r));
	for (int k = 0; k < SERVE_KINDS; k++)
		if (r->check[k].n)
			str_addf(out,
			         "\n         %zu %s simulated as they are: off by %.2g %% in the mean, %.2g %% at most",
			         r->check[k].n, kinds[k], r->check[k].mean, r->check[k].most);
	str_addc(out, '\n');
}

static void within(const struct serve_run *r, struct str *out)
{
	const struct serve_ask *o = r->o;
	const size_t n = latency_within(&r->arrivals, &r->result, o->slo_ttft, o->slo_tpot);

	if (o->slo_ttft || o->slo_tpot)
		str_addf(out, "bounds   %zu of %zu requests (%.4g %%) are within them: %.4g requests/s\n", n,
		         r->result.n, 100 * (double)n / (double)r->result.n, per_second(n, r->result.end));
}

/* Drawn lengths have tails that no model takes. */
static void serve_doc_cut(const struct serve_run *r, struct str *out)
{
	if (r->arrivals.prompts_cut || r->arrivals.outputs_cut)
		str_addf(out, "cut      %zu prompts and %zu outputs, to the %u tokens that the model takes of both\n",
		         r->arrivals.prompts_cut, r->arrivals.outputs_cut, r->own.w.model->context);
}

static void serve_doc_table(struct doc *d, const struct serve_run *r, const struct capacity_doc *found,
                            const struct serve_range *sure)
{
	const struct waits w = { r, sure };

	if (found)
		capacity_doc(d, found);
	serve_doc_verdict(r, sure, d->to);
	doc_table(d, NULL, NULL, (LATENCIES + 1) * (sure ? 3 : 1), latency, &w);
	doc_say(d, "\n");
	if (found && found->knobs) { /* with the knobs above it a screen is full */
		trust(r, d->to);
		sure_steps(sure, d->to);
		doc_say(d, "load and memory at that rate: without --limits, or --format json\n");
		return;
	}
	if (r->pools) {
		pools_doc(d, r);
	} else {
		doc_table_open(d, NULL, NULL);
		serve_doc_load(d, r);
		memory(d, r);
		doc_table_close(d, line_row, NULL);
	}
	doc_say(d, "\n");
	told(r, d->to);
	within(r, d->to);
	serve_doc_cut(r, d->to);
	beside(r, d->to);
	trust(r, d->to);
	sure_steps(sure, d->to);
}

/* --- JSON ----------------------------------------------------------------------------------------------------------------- */

static void json_latency(struct doc *d, const char *key, const struct latency_stat *s)
{
	const struct {
		const char *name;
		ps_t v;
	} of[] = { { "mean", s->mean }, { "p50", s->p50 }, { "p90", s->p90 },
		   { "p95", s->p95 },   { "p99", s->p99 }, { "max", s->max } };

	if (!s->n) {
		doc_text(d, key, NULL);
		return;
	}
	doc_open(d, key, '{');
	doc_count(d, "requests", s->n);
	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		doc_real(d, of[i].name, 0, ms(of[i].v));
	doc_close(d, '}');
}

static void json_beside(struct doc *d, const struct serve_run *r)
{
	if (!r->arrivals.measured)
		return;
	doc_open(d, "measured", '{');
	for (int l = 0; l < LATENCIES; l++) {
		const struct latency_off *x = &r->beside[l];

		if (!x->n)
			continue;
		doc_open(d, latency_name((enum latency_of)l), '{');
		doc_count(d, "samples", x->n);
		doc_real(d, "mape", 0, x->mean);
		doc_real(d, "bias", 0, x->bias);
		doc_real(d, "p50_off", 0, x->p50);
		doc_close(d, '}');
	}
	doc_close(d, '}');
}

static void json_policy(struct doc *d, const struct sched_policy *p)
{
	doc_open(d, "policy", '{');
	doc_count(d, "max_batch", p->max_batch);
	doc_count(d, "max_tokens", p->max_tokens);
	doc_count(d, "chunk", p->chunk);
	doc_text(d, "reserve", p->reserve_all ? "all" : "prompt");
	doc_text(d, "preempt", p->preempt == SCHED_SWAP ? "swap" : "recompute");
	doc_count(d, "concurrency", p->loop);
	doc_bool(d, "prefix_cache", p->prefix);
	doc_real(d, "overhead_us", 0, (double)p->overhead / 1e6);
	doc_real(d, "overhead_sequence_us", 0, (double)p->sequence / 1e6);
	doc_bool(d, "overhead_ahead", p->ahead);
	doc_real(d, "request_us", 0, (double)p->request / 1e6);
	doc_real(d, "prompt_token_us", 0, (double)p->prompt_token / 1e6);
	doc_count(d, "draft", p->draft);
	doc_real(d, "accept", 0, p->accept_ppm / 1e6);
	doc_count(d, "seed", p->seed);
	doc_close(d, '}');
}

static void json_memory(struct doc *d, const struct serve_run *r)
{
	const struct sched_result *x = &r->result;

	doc_open(d, "memory", '{');
	doc_count_if(d, "capacity_bytes", r->capacity, r->capacity);
	doc_count(d, "weight_bytes", r->own.memory.weights + r->draft.memory.weights);
	doc_count(d, "activation_bytes", r->own.memory.rest + r->draft.memory.rest);
	doc_count(d, "kv_bytes", r->kv_bytes);
	doc_count(d, "block_tokens", r->policy.block);
	doc_count(d, "block_bytes", r->policy.block_bytes);
	doc_count(d, "blocks", r->policy.blocks);
	doc_count(d, "blocks_peak", x->blocks_peak);
	doc_real(d, "blocks_mean", 0, mean_of(x->blocks_ps, x->end));
	doc_count(d, "preemptions", x->preemptions);
	doc_count(d, "recomputed_tokens", x->recomputed);
	doc_count(d, "found_tokens", x->found);
	doc_count(d, "swapped_bytes", x->swapped_bytes);
	doc_close(d, '}');
}

static void json_check(struct doc *d, const char *key, const struct serve_check *c)
{
	if (!c->n) {
		doc_text(d, key, NULL);
		return;
	}
	doc_open(d, key, '{');
	doc_count(d, "steps", c->n);
	doc_real(d, "mean_pct", 0, c->mean);
	doc_real(d, "most_pct", 0, c->most);
	doc_close(d, '}');
}

static void json_steps(struct doc *d, const struct serve_run *r)
{
	const struct sched_result *x = &r->result;

	doc_open(d, "steps", '{');
	doc_count(d, "all", x->steps);
	doc_count(d, "decode", x->decode_steps);
	doc_count(d, "prompt", x->prompt_steps);
	doc_count(d, "mixed", x->mixed_steps);
	doc_real(d, "mean_batch", 0, mean_batch(x));
	doc_count(d, "batch_peak", x->batch_peak);
	doc_count(d, "simulated", r->simulated);
	json_check(d, "decode_check", &r->check[SERVE_DECODE]);
	json_check(d, "prompt_check", &r->check[SERVE_PROMPTS]);
	doc_close(d, '}');
}

static void json_part(struct doc *d, const struct serve_run *r)
{
	const struct workload_part part = workload_part(&r->own.w);
	struct str s = STR_INIT;

	workload_part_text(&part, &s);
	doc_text(d, "part", s.len ? str_c(&s) : NULL);
	doc_free(d, &s);
}

static void json_rate(struct doc *d, const struct serve_run *r, const char *key, double x)
{
	doc_real_if(d, key, 0, makes_tokens(r), x);
}

static void json_load(struct doc *d, const struct serve_run *r)
{
	const struct sched_result *x = &r->result;

	json_part(d, r);
	doc_count(d, "requests", x->n);
	if (r->arrivals.give_up)
		doc_count(d, "gone", x->gone);
	doc_count(d, "prompt_tokens", asked_tokens(r, true));
	doc_count(d, "output_tokens", x->made);
	if (r->arrivals.pages) {
		doc_count(d, "shared_tokens", x->shared);
		doc_count(d, "evicted_tokens", x->evicted);
		doc_count(d, "shared_peak_tokens", x->pages_peak * ARRIVE_PAGE);
	}
	doc_count(d, "prompts_cut", r->arrivals.prompts_cut);
	doc_count(d, "outputs_cut", r->arrivals.outputs_cut);
	doc_real(d, "seconds", 0, seconds(x->end));
	doc_real(d, "busy_seconds", 0, seconds(x->busy));
	json_rate(d, r, "tokens_per_s", per_second(x->made, x->end));
	json_rate(d, r, "prompt_tokens_per_s", per_second(x->prompt_tokens, x->end));
	json_rate(d, r, "requests_per_s", per_second(x->n, x->end));
	for (int i = 0; i < LATENCIES; i++) {
		char key[32];

		snprintf(key, sizeof key, "%s_ms", latency_name((enum latency_of)i));
		json_latency(d, key, &r->latency.of[i]);
	}
	json_latency(d, "e2e_ms", &r->latency.of[LATENCY_TOTAL]);
	json_latency(d, "itl_ms", &r->latency.itl);
	doc_real(d, "in_system_mean", 0, mean_of(x->in_system, x->end));
	doc_real(d, "waiting_mean", 0, mean_of(x->waiting, x->end));
	doc_count(d, "within_bounds", latency_within(&r->arrivals, x, r->o->slo_ttft, r->o->slo_tpot));
	doc_real(d, "joules", 0, r->joules);
	doc_real(d, "idle_joules", 0, r->idle_joules);
	json_rate(d, r, "joules_per_token", r->joules / (double)x->made);
	doc_real(d, "power_w", 0, r->joules / seconds(x->end));
}

static void json_ends(struct doc *d, const char *key, double low, double high)
{
	doc_open(d, key, '{');
	doc_real(d, "low", 0, low);
	doc_real(d, "high", 0, high);
	doc_close(d, '}');
}

static void json_wait_ends(struct doc *d, const char *key, const struct serve_run *r, const struct serve_range *s,
                           size_t i)
{
	const struct latency_stat a = stat_end(r, s, i, false), b = stat_end(r, s, i, true);

	if (!a.n) {
		doc_text(d, key, NULL);
		return;
	}
	doc_open(d, key, '{');
	json_ends(d, "mean", ms(a.mean), ms(b.mean));
	json_ends(d, "p50", ms(a.p50), ms(b.p50));
	json_ends(d, "p90", ms(a.p90), ms(b.p90));
	json_ends(d, "p95", ms(a.p95), ms(b.p95));
	json_ends(d, "p99", ms(a.p99), ms(b.p99));
	json_ends(d, "max", ms(a.max), ms(b.max));
	doc_close(d, '}');
}

static void json_sure(struct doc *d, const struct serve_run *r, const struct serve_range *s)
{
	static const char *const kinds[SERVE_KINDS] = { "decode_steps", "prompt_steps" };

	if (!s) {
		doc_text(d, "interval", NULL);
		return;
	}
	doc_open(d, "interval", '{');
	doc_real(d, "level", 0, INTERVAL_LEVEL);
	for (int k = 0; k < SERVE_KINDS; k++)
		if (s->any[k])
			json_ends(d, kinds[k], s->step[k].low, s->step[k].high);
		else
			doc_text(d, kinds[k], NULL);
	for (int k = 0; k < RATES; k++) {
		const struct interval_range x = rate_range(r, s, (enum rate)k);

		if (makes_tokens(r) && !isnan(x.low))
			json_ends(d, rate_keys[k], x.low, x.high);
		else
			doc_text(d, rate_keys[k], NULL);
	}
	for (size_t i = 0; i < LATENCIES; i++) {
		char key[32];

		snprintf(key, sizeof key, "%s_ms", latency_name((enum latency_of)i));
		json_wait_ends(d, key, r, s, i);
	}
	json_wait_ends(d, "e2e_ms", r, s, LATENCY_TOTAL);
	json_wait_ends(d, "itl_ms", r, s, LATENCIES);
	doc_close(d, '}');
}

static void json_machine(struct doc *d, const struct serve_run *r)
{
	struct str s = STR_INIT;

	pools_doc_machines(r, &s);
	doc_text(d, "machine", str_c(&s));
	doc_count(d, "chips", serve_all_chips(r));
	doc_free(d, &s);
}

static void json(struct doc *d, const struct serve_run *r, const struct capacity_doc *found,
                 const struct serve_range *sure)
{
	doc_open(d, NULL, '{');
	doc_text(d, "model", r->own.w.model->name);
	json_machine(d, r);
	doc_text(d, "fidelity", fidelity(r));
	doc_text(d, "quant", r->own.w.how.quant->name);
	doc_text(d, "style", build_style_name(r->own.w.how.style));
	if (found)
		capacity_doc(d, found);
	json_load(d, r);
	json_beside(d, r);
	json_steps(d, r);
	if (r->pools)
		pools_doc(d, r);
	else
		json_memory(d, r);
	doc_count(d, "drafts_checked", r->result.checked);
	doc_count(d, "drafts_accepted", r->result.accepted);
	json_policy(d, &r->policy);
	json_sure(d, r, sure);
	doc_close(d, '}');
}

/* --- CSV ------------------------------------------------------------------------------------------------------------------ */

static ps_t request_end(enum latency_of l, const struct waits *w, size_t i, bool high)
{
	const struct arrival *a = &w->r->arrivals.v[i];
	const struct sched_request *const of[] = { &w->r->result.v[i], &w->sure->fast.result.v[i],
		                                   &w->sure->slow.result.v[i] };
	ps_t end = PS_NEVER;

	for (int k = 0; k < 3; k++) {
		const ps_t t = latency_one(l, a, of[k]);

		if (t != PS_NEVER)
			end = end == PS_NEVER ? t : high ? ps_max(end, t) : ps_min(end, t);
	}
	return end;
}

static void request_sure(struct doc *d, const struct waits *w, size_t i)
{
	for (int l = 0; l < LATENCY_QUEUE; l++)
		for (int high = 0; high < 2; high++) {
			const ps_t t = d->heads ? 0 : request_end((enum latency_of)l, w, i, high);
			char key[40];

			snprintf(key, sizeof key, "%s_ms_%s", latency_name((enum latency_of)l), high ? "high" : "low");
			doc_real_if(d, key, 0, t != PS_NEVER, ms(t));
		}
}

static void request(struct doc *d, const void *of, size_t i)
{
	const struct waits *w = of;
	const struct serve_run *r = w->r;
	const struct arrival *a = &r->arrivals.v[i];
	const struct sched_request *x = &r->result.v[i];
	const ps_t one = d->heads ? 0 : latency_one(LATENCY_TPOT, a, x);

	doc_real(d, "arrival_s", 0, seconds(x->at));
	doc_count(d, "prompt", a->prompt);
	doc_count(d, "output", a->output);
	doc_real_if(d, "queue_ms", 0, d->heads || !x->gone, ms(latency_one(LATENCY_QUEUE, a, x)));
	doc_real_if(d, "ttft_ms", 0, d->heads || !x->gone, ms(latency_one(LATENCY_TTFT, a, x)));
	doc_real_if(d, "tpot_ms", 0, one != PS_NEVER, ms(one));
	doc_real_if(d, "total_ms", 0, d->heads || !x->gone, ms(latency_one(LATENCY_TOTAL, a, x)));
	for (int l = 0; l < LATENCIES && r->arrivals.measured; l++) {
		const ps_t was = d->heads ? 0 : latency_measured((enum latency_of)l, a);
		char key[40];

		snprintf(key, sizeof key, "measured_%s_ms", latency_name((enum latency_of)l));
		if (l != LATENCY_QUEUE)
			doc_real_if(d, key, 0, was != PS_NEVER, ms(was));
	}
	doc_count(d, "steps", x->steps);
	doc_count(d, "preempted", x->preempted);
	if (r->arrivals.give_up)
		doc_bool(d, "gone", x->gone);
	if (r->pools)
		pools_doc_request(d, r, i);
	if (r->arrivals.ids.len) /* as the list has them */
		doc_text(d, "id", arrive_id(&r->arrivals, i));
	if (w->sure)
		request_sure(d, w, i);
}

void serve_doc(struct doc *d, const struct serve_run *r, const struct capacity_doc *found,
               const struct serve_range *sure)
{
	const struct waits w = { r, sure };

	if (d->format == OUT_JSON)
		json(d, r, found, sure);
	else if (d->format != OUT_CSV)
		serve_doc_table(d, r, found, sure);
	else if (found && found->knobs)
		capacity_doc_knobs(d, found);
	else
		doc_table(d, NULL, NULL, r->arrivals.n, request, &w);
}

/* --- a curve ---------------------------------------------------------------------------------------------------------------- */

struct curve_rows {
	const struct serve_run *r;
	const struct curve_point *v;
};

static void curve_row(struct doc *d, const void *of, size_t i)
{
	const struct curve_rows *x = of;
	const struct curve_point *p = &x->v[i];
	const bool tokens = makes_tokens(x->r);

	doc_count(d, "concurrency", p->loop);
	doc_real_if(d, "tokens_per_s_user", 2, tokens, p->user);
	doc_real_if(d, "tokens_per_s_machine", 1, tokens, p->machine);
	doc_real(d, "ttft_p50_ms", 2, ms(p->latency.of[LATENCY_TTFT].p50));
	doc_real(d, "tpot_p50_ms", 3, ms(p->latency.of[LATENCY_TPOT].p50));
	doc_real(d, "tpot_p99_ms", 3, ms(p->latency.of[LATENCY_TPOT].p99));
}

void serve_doc_curve(struct doc *d, const struct serve_run *r, const struct curve_point *v, size_t n)
{
	const struct curve_rows rows = { r, v };

	doc_open(d, NULL, '{');
	doc_text(d, "model", r->own.w.model->name);
	json_machine(d, r);
	if (d->format == OUT_TABLE) {
		str_addf(d->to, "%s on ", r->own.w.model->name);
		pools_doc_machines(r, d->to);
		str_add(d->to, ": what a user gets, and what the machine makes, by requests at a time\n\n");
	}
	doc_table(d, "curve", NULL, n, curve_row, &rows);
	if (d->format == OUT_TABLE) {
		str_addc(d->to, '\n');
		told(r, d->to);
	}
	doc_close(d, '}');
}
