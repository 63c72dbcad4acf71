/* serve_show.c - what serving a list came to: for people, as JSON, and request by request as CSV. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "sim/cli/serve.h"
#include "sim/engine/engine.h"

#define COLS(a) ((int)(sizeof(a) / sizeof *(a)))

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

static void verdict(const struct serve_run *r, struct str *out)
{
	const struct sched_result *x = &r->result;
	const struct latency_stat *t = &r->latency.of[LATENCY_TTFT], *o = &r->latency.of[LATENCY_TPOT];
	const struct workload_part part = workload_part(&r->own.w);

	if (makes_tokens(r)) {
		str_addf(out, "%.5g tokens/s, %.4g requests/s: ", per_second(x->made, x->end),
		         per_second(x->n, x->end));
	} else {
		workload_part_text(&part, out);
		str_add(out, ", which make no tokens alone: ");
	}
	str_addf(out, "%s on %s, %zu requests in %.4g s\n", r->own.w.model->name, r->conf->cfg.name, x->n,
	         seconds(x->end));
	pair(out, makes_tokens(r) ? "first token after" : "through these for a first token after", t->p50, t->p99,
	     o->n ? "; " : "\n");
	if (o->n)
		pair(out, "each one more", o->p50, o->p99, "\n");
	if (!isnan(r->joules)) {
		str_addf(out, "%.4g J, ", r->joules);
		if (makes_tokens(r))
			str_addf(out, "%.4g J a token, ", r->joules / (double)x->made);
		str_addf(out, "%.4g W in the mean\n", r->joules / seconds(x->end));
	} else {
		str_add(out, "joules: not known, as no power of this machine is modelled\n");
	}
	str_addc(out, '\n');
}

static void latencies(const struct serve_run *r, struct str *out)
{
	static const struct out_col cols[] = {
		{ "latency_ms", OUT_TEXT, 0 }, { "requests", OUT_INT, 0 }, { "mean", OUT_REAL, 3 },
		{ "p50", OUT_REAL, 3 },        { "p90", OUT_REAL, 3 },     { "p95", OUT_REAL, 3 },
		{ "p99", OUT_REAL, 3 },        { "max", OUT_REAL, 3 },
	};
	static const char *const names[LATENCIES] = { "first token (TTFT)", "each one more (TPOT)", "last token",
		                                      "in the queue" };
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);

	for (int i = 0; i < LATENCIES; i++) {
		const struct latency_stat *s = &r->latency.of[i];

		out_text(t, names[i]);
		out_int(t, (int64_t)s->n);
		out_real(t, ms(s->mean));
		out_real(t, ms(s->p50));
		out_real(t, ms(s->p90));
		out_real(t, ms(s->p95));
		out_real(t, ms(s->p99));
		out_real(t, ms(s->max));
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	str_addc(out, '\n');
}

static void line(struct out_table *t, const char *what, double v, const char *unit, const char *note)
{
	out_text(t, what);
	out_real(t, v);
	out_text(t, unit);
	out_text(t, note);
}

static void load(const struct serve_run *r, struct out_table *t)
{
	const struct sched_result *x = &r->result;

	line(t, "busy", x->end ? 100 * (double)x->busy / (double)x->end : 0, "%", "of the time a step ran");
	if (makes_tokens(r)) {
		line(t, "output", per_second(x->made, x->end), "tokens/s", "");
		line(t, "prompts", per_second(x->prompt_tokens, x->end), "tokens/s", "computed");
	}
	line(t, "in the system", mean_of(x->in_system, x->end), "requests", "in the mean");
	line(t, "waiting", mean_of(x->waiting, x->end), "requests", "in the mean");
	line(t, "batch", mean_batch(x), "sequences", "a step, in the mean");
	line(t, "batch, most", x->batch_peak, "sequences", "");
	line(t, "steps", (double)x->steps, "", "");
	line(t, "of decode alone", (double)x->decode_steps, "", "");
	line(t, "of prompts alone", (double)x->prompt_steps, "", "");
	line(t, "of both", (double)x->mixed_steps, "", "");
}

static void memory(const struct serve_run *r, struct out_table *t)
{
	const struct sched_result *x = &r->result;
	const double blocks = (double)r->policy.blocks;

	line(t, "KV blocks", blocks, "", "that the memory has room for");
	line(t, "KV in use, most", 100 * (double)x->blocks_peak / blocks, "%", "");
	line(t, "KV in use, mean", 100 * mean_of(x->blocks_ps, x->end) / blocks, "%", "");
	line(t, "gave up blocks", (double)x->preemptions, "times", "");
	if (r->policy.preempt == SCHED_SWAP)
		line(t, "moved", (double)x->swapped_bytes / 1e9, "GB", "to the host and back");
	else
		line(t, "computed again", (double)x->recomputed, "tokens", "");
	if (r->policy.draft) {
		line(t, "drafts right", x->checked ? 100 * (double)x->accepted / (double)x->checked : 0, "%",
		     "of all that were checked");
	}
}

static void figures(const struct serve_run *r, struct str *out)
{
	static const struct out_col cols[] = {
		{ "load", OUT_TEXT, 0 }, { "value", OUT_REAL, 2 }, { "unit", OUT_TEXT, 0 }, { "note", OUT_TEXT, 0 }
	};
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);

	load(r, t);
	memory(r, t);
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	str_addc(out, '\n');
}

static void bytes(struct str *out, const char *before, uint64_t v)
{
	str_add(out, before);
	str_add_bytes(out, v);
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
	bytes(out, "memory   weights ", r->own.memory.weights + r->draft.memory.weights);
	bytes(out, ", KV cache ", r->kv_bytes);
	str_addf(out, " in blocks of %u tokens", p->block);
	bytes(out, " and ", p->block_bytes);
	str_addc(out, '\n');
	if (p->draft)
		str_addf(out, "drafts   %u tokens a step, each right with %g %%, %s%s\n", p->draft, p->accept_ppm / 1e4,
		         r->draft.w.model ? "by "
		         : r->draft.cost  ? "at a share of a step"
		                          : "for nothing",
		         r->draft.w.model ? r->draft.w.model->name : "");
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
	const struct serve_opts *o = r->o;
	const size_t n = latency_within(&r->arrivals, &r->result, o->slo_ttft, o->slo_tpot);

	if (o->slo_ttft || o->slo_tpot)
		str_addf(out, "bounds   %zu of %zu requests (%.4g %%) are within them: %.4g requests/s\n", n,
		         r->result.n, 100 * (double)n / (double)r->result.n, per_second(n, r->result.end));
}

/* Drawn lengths have tails that no model takes. */
static void cut(const struct serve_run *r, struct str *out)
{
	if (r->arrivals.prompts_cut || r->arrivals.outputs_cut)
		str_addf(out, "cut      %zu prompts and %zu outputs, to the %u tokens that the model takes of both\n",
		         r->arrivals.prompts_cut, r->arrivals.outputs_cut, r->own.w.model->context);
}

void serve_table(const struct serve_run *r, struct str *out)
{
	verdict(r, out);
	latencies(r, out);
	figures(r, out);
	told(r, out);
	within(r, out);
	cut(r, out);
	trust(r, out);
}

/* --- JSON ----------------------------------------------------------------------------------------------------------------- */

static void json_latency(struct out_json *j, const char *key, const struct latency_stat *s)
{
	const struct {
		const char *name;
		ps_t v;
	} of[] = { { "mean", s->mean }, { "p50", s->p50 }, { "p90", s->p90 },
		   { "p95", s->p95 },   { "p99", s->p99 }, { "max", s->max } };

	if (!s->n) {
		out_json_null(j, key);
		return;
	}
	out_json_open(j, key, '{');
	out_json_u64(j, "requests", s->n);
	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		out_json_real(j, of[i].name, ms(of[i].v));
	out_json_close(j, '}');
}

static void json_policy(struct out_json *j, const struct sched_policy *p)
{
	out_json_open(j, "policy", '{');
	out_json_u64(j, "max_batch", p->max_batch);
	out_json_u64(j, "max_tokens", p->max_tokens);
	out_json_u64(j, "chunk", p->chunk);
	out_json_text(j, "reserve", p->reserve_all ? "all" : "prompt");
	out_json_text(j, "preempt", p->preempt == SCHED_SWAP ? "swap" : "recompute");
	out_json_real(j, "overhead_us", (double)p->overhead / 1e6);
	out_json_u64(j, "draft", p->draft);
	out_json_real(j, "accept", p->accept_ppm / 1e6);
	out_json_u64(j, "seed", p->seed);
	out_json_close(j, '}');
}

static void json_memory(struct out_json *j, const struct serve_run *r)
{
	const struct sched_result *x = &r->result;

	out_json_open(j, "memory", '{');
	if (r->capacity)
		out_json_u64(j, "capacity_bytes", r->capacity);
	else
		out_json_null(j, "capacity_bytes");
	out_json_u64(j, "weight_bytes", r->own.memory.weights + r->draft.memory.weights);
	out_json_u64(j, "activation_bytes", r->own.memory.rest + r->draft.memory.rest);
	out_json_u64(j, "kv_bytes", r->kv_bytes);
	out_json_u64(j, "block_tokens", r->policy.block);
	out_json_u64(j, "block_bytes", r->policy.block_bytes);
	out_json_u64(j, "blocks", r->policy.blocks);
	out_json_u64(j, "blocks_peak", x->blocks_peak);
	out_json_real(j, "blocks_mean", mean_of(x->blocks_ps, x->end));
	out_json_u64(j, "preemptions", x->preemptions);
	out_json_u64(j, "recomputed_tokens", x->recomputed);
	out_json_u64(j, "swapped_bytes", x->swapped_bytes);
	out_json_close(j, '}');
}

static void json_check(struct out_json *j, const char *key, const struct serve_check *c)
{
	if (!c->n) {
		out_json_null(j, key);
		return;
	}
	out_json_open(j, key, '{');
	out_json_u64(j, "steps", c->n);
	out_json_real(j, "mean_pct", c->mean);
	out_json_real(j, "most_pct", c->most);
	out_json_close(j, '}');
}

static void json_steps(struct out_json *j, const struct serve_run *r)
{
	const struct sched_result *x = &r->result;

	out_json_open(j, "steps", '{');
	out_json_u64(j, "all", x->steps);
	out_json_u64(j, "decode", x->decode_steps);
	out_json_u64(j, "prompt", x->prompt_steps);
	out_json_u64(j, "mixed", x->mixed_steps);
	out_json_real(j, "mean_batch", mean_batch(x));
	out_json_u64(j, "batch_peak", x->batch_peak);
	out_json_u64(j, "simulated", r->simulated);
	json_check(j, "decode_check", &r->check[SERVE_DECODE]);
	json_check(j, "prompt_check", &r->check[SERVE_PROMPTS]);
	out_json_close(j, '}');
}

static void json_part(struct out_json *j, const struct serve_run *r)
{
	const struct workload_part part = workload_part(&r->own.w);
	struct str s = STR_INIT;

	workload_part_text(&part, &s);
	out_json_text(j, "part", s.len ? str_c(&s) : NULL);
	j->to->failed |= s.failed;
	str_free(&s);
}

static void json_rate(struct out_json *j, const struct serve_run *r, const char *key, double x)
{
	if (makes_tokens(r))
		out_json_real(j, key, x);
	else
		out_json_null(j, key);
}

static void json_load(struct out_json *j, const struct serve_run *r)
{
	const struct sched_result *x = &r->result;

	json_part(j, r);
	out_json_u64(j, "requests", x->n);
	out_json_u64(j, "prompt_tokens", asked_tokens(r, true));
	out_json_u64(j, "output_tokens", x->made);
	out_json_u64(j, "prompts_cut", r->arrivals.prompts_cut);
	out_json_u64(j, "outputs_cut", r->arrivals.outputs_cut);
	out_json_real(j, "seconds", seconds(x->end));
	out_json_real(j, "busy_seconds", seconds(x->busy));
	json_rate(j, r, "tokens_per_s", per_second(x->made, x->end));
	json_rate(j, r, "prompt_tokens_per_s", per_second(x->prompt_tokens, x->end));
	json_rate(j, r, "requests_per_s", per_second(x->n, x->end));
	for (int i = 0; i < LATENCIES; i++) {
		char key[32];

		snprintf(key, sizeof key, "%s_ms", latency_name((enum latency_of)i));
		json_latency(j, key, &r->latency.of[i]);
	}
	out_json_real(j, "in_system_mean", mean_of(x->in_system, x->end));
	out_json_real(j, "waiting_mean", mean_of(x->waiting, x->end));
	out_json_u64(j, "within_bounds", latency_within(&r->arrivals, x, r->o->slo_ttft, r->o->slo_tpot));
	out_json_real(j, "joules", r->joules);
	out_json_real(j, "idle_joules", r->idle_joules);
	json_rate(j, r, "joules_per_token", r->joules / (double)x->made);
	out_json_real(j, "power_w", r->joules / seconds(x->end));
}

void serve_json(const struct serve_run *r, struct str *out)
{
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "model", r->own.w.model->name);
	out_json_text(&j, "machine", r->conf->cfg.name);
	out_json_text(&j, "fidelity", fidelity(r));
	out_json_text(&j, "quant", r->own.w.how.quant->name);
	out_json_text(&j, "style", build_style_name(r->own.w.how.style));
	json_load(&j, r);
	json_steps(&j, r);
	json_memory(&j, r);
	out_json_u64(&j, "drafts_checked", r->result.checked);
	out_json_u64(&j, "drafts_accepted", r->result.accepted);
	json_policy(&j, &r->policy);
	out_json_close(&j, '}');
}

/* --- CSV ------------------------------------------------------------------------------------------------------------------ */

void serve_csv(const struct serve_run *r, struct str *out)
{
	static const struct out_col cols[] = {
		{ "arrival_s", OUT_REAL, 0 }, { "prompt", OUT_INT, 0 },   { "output", OUT_INT, 0 },
		{ "queue_ms", OUT_REAL, 0 },  { "ttft_ms", OUT_REAL, 0 }, { "tpot_ms", OUT_REAL, 0 },
		{ "total_ms", OUT_REAL, 0 },  { "steps", OUT_INT, 0 },    { "preempted", OUT_INT, 0 },
		{ "id", OUT_TEXT, 0 },
	};
	const bool ids = r->arrivals.ids.len; /* as the list has them */
	struct out_table *t = out_table_new(cols, COLS(cols) - !ids, NULL);

	for (size_t i = 0; i < r->arrivals.n; i++) {
		const struct arrival *a = &r->arrivals.v[i];
		const struct sched_request *x = &r->result.v[i];
		const ps_t one = latency_one(LATENCY_TPOT, a, x);

		out_real(t, seconds(a->at));
		out_int(t, a->prompt);
		out_int(t, a->output);
		out_real(t, ms(latency_one(LATENCY_QUEUE, a, x)));
		out_real(t, ms(latency_one(LATENCY_TTFT, a, x)));
		out_real_or_null(t, one == PS_NEVER ? NAN : ms(one));
		out_real(t, ms(latency_one(LATENCY_TOTAL, a, x)));
		out_int(t, x->steps);
		out_int(t, x->preempted);
		if (ids)
			out_text(t, arrive_id(&r->arrivals, i));
	}
	out_table_write(t, OUT_CSV, out);
	out_table_free(t);
}
