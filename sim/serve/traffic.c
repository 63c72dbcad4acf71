#include "sim/serve/traffic.h"

#include <math.h>
#include <string.h>

#include "sim/engine/run.h"
#include "sim/serve/capacity.h"

#define PER_S 1e18 /* uHz of a period in ps */

static uint64_t rate(double count, ps_t in)
{
	return in ? (uint64_t)llround(count * PER_S / (double)in) : 0;
}

static void latencies(const struct serve_run *r, struct figures *f)
{
	const struct latency_stat *of = r->latency.of;

	f->ttft_p50_ps = of[LATENCY_TTFT].p50;
	f->ttft_p99_ps = of[LATENCY_TTFT].p99;
	f->tpot_p50_ps = of[LATENCY_TPOT].p50;
	f->tpot_p99_ps = of[LATENCY_TPOT].p99;
	f->e2e_p50_ps = of[LATENCY_TOTAL].p50;
	f->e2e_p99_ps = of[LATENCY_TOTAL].p99;
	f->user_uhz = f->tokens ? rate(1, of[LATENCY_TPOT].mean) : 0;
}

/* Of a model that is split, all chips'. */
static void chips(const struct serve_run *r, struct figures *f)
{
	run_early(&r->conf->cfg, f);
	if (serve_chips(r) < 2)
		return;
	f->chips = serve_chips(r);
	f->area_nm2 *= f->chips;
	f->cost_uusd *= f->chips;
}

static void sums(const struct serve_run *r, struct figures *f)
{
	const struct sched_result *x = &r->result;
	const double made = (double)x->made;
	const struct workload_part part = workload_part(&r->own.w);
	const size_t kept = latency_within(&r->arrivals, x, r->o->slo_ttft, r->o->slo_tpot);

	f->total_ps = (uint64_t)llround((double)x->end / made);
	f->tokens = !workload_is_part(&part); /* a part of a model makes none */
	f->energy_fj = isnan(r->joules) ? 0 : (uint64_t)llround(r->joules * 1e15 / made);
	f->requests_uhz = rate((double)x->n, x->end);
	f->machine_uhz = f->tokens ? rate(made, x->end) : 0;
	f->within_ppm = (uint64_t)llround(1e6 * (double)kept / (double)x->n);
}

/* As often as there were such steps. */
static int hold(const struct serve_run *r, const struct cost_point *p, uint64_t steps, double *stall, struct err *e)
{
	struct steps_held h;

	if (!steps)
		return 0;
	if (steps_hold(r->own.steps, p, &h, e) < 0)
		return -1;
	for (int k = 0; k < RES_COUNT; k++)
		stall[k] += (double)steps * (double)h.stall[k];
	return 0;
}

static uint32_t mean(double sum, uint64_t n)
{
	return n && sum > (double)n ? (uint32_t)llround(sum / (double)n) : 1;
}

static int held(const struct serve_run *r, struct traffic_point *out, struct err *e)
{
	const struct sched_result *x = &r->result;
	const uint64_t decode = x->decode_steps + x->mixed_steps, prompt = x->prompt_steps + x->mixed_steps;
	const struct sched_piece piece = { mean((double)x->prompt_tokens, prompt), 0 };
	double stall[RES_COUNT] = { 0 }, all = 0, context = 0;

	for (size_t i = 0; i < r->arrivals.n; i++)
		context += (double)r->arrivals.v[i].prompt + (double)r->arrivals.v[i].output / 2;
	const struct cost_point decoding = { .seqs = mean((double)x->seqs_sum, decode),
		                             .queries = 1 + r->policy.draft,
		                             .context = mean(context, r->arrivals.n) },
				prompts = { .pieces = &piece, .n_pieces = 1 };

	if (hold(r, &decoding, decode, stall, e) < 0 || hold(r, &prompts, prompt, stall, e) < 0)
		return -1;
	for (int k = 0; k < RES_COUNT; k++)
		all += stall[k];
	for (int k = 0; k < RES_COUNT && all > 0; k++)
		out->stall[k] = (ps_t)llround(stall[k] / all * (double)x->worked / (double)x->made);
	return 0;
}

static int largest_rate(struct serve_run *r, struct figures *f, struct err *e)
{
	struct capacity c;

	if (!r->o->find)
		return 0;
	if (capacity_find(r, 1, 0, &c, e) < 0)
		return -1;
	f->max_uhz = (uint64_t)llround(1e6 * fmin(c.rate[CAPACITY_BOTH], CAPACITY_MOST));
	f->rates_tried = c.runs;
	return 0;
}

int traffic_point(const struct serve_ask *o, struct traffic_point *out, struct err *e)
{
	struct serve_run r = { .o = NULL };
	int rc = -1;

	memset(out, 0, sizeof *out);
	if (serve_load(&r, o, e) == 0 && serve_size(&r, e) == 0 && largest_rate(&r, &out->figures, e) == 0 &&
	    serve_steps(&r, NULL, e) == 0 && serve_sum(&r, e) == 0) {
		chips(&r, &out->figures);
		sums(&r, &out->figures);
		latencies(&r, &out->figures);
		out->latency = r.latency.of[LATENCY_TOTAL].mean;
		rc = held(&r, out, e);
	}
	serve_free(&r);
	return rc;
}
