#include "sim/report/pools_doc.h"

#include <inttypes.h>
#include <math.h>

static void one(const struct serve_run *r, struct str *out)
{
	str_add(out, r->conf->cfg.name);
	if (serve_chips(r) > 1)
		str_addf(out, " of %u chips", serve_chips(r));
}

static void so_many(const struct serve_pool *p, struct str *out)
{
	if (p->machines > 1)
		str_addf(out, "%u x ", p->machines);
	one(p->r, out);
}

void pools_doc_machines(const struct serve_run *r, struct str *out)
{
	const struct serve_pools *x = r->pools;

	if (!x) {
		one(r, out);
		return;
	}
	so_many(&x->pool[0], out);
	if (x->n < 2)
		return;
	str_add(out, " for prompts and ");
	so_many(&x->pool[1], out);
	str_add(out, " to decode");
}

static const struct sched_result *machine(const struct serve_pools *x, size_t pool, uint32_t k)
{
	return &x->result.machine[(pool ? x->pool[0].machines : 0) + k];
}

/* What waits and works is in the mean; tokens of prompts and tokens made, a second. */
static void pool(struct doc *d, const void *of, size_t i)
{
	const struct serve_pools *x = of;
	const struct serve_pool *p = &x->pool[i];
	const double end = (double)x->result.all.end, n = (double)p->machines;
	double busy = 0, most = 0, waiting = 0, running = 0, seqs = 0, steps = 0, blocks = 0, peak = 0;
	uint64_t prompts = 0, made = 0, gave_up = 0;

	for (uint32_t k = 0; !d->heads && k < p->machines; k++) {
		const struct sched_result *m = machine(x, i, k);

		busy += (double)m->busy;
		most = fmax(most, (double)m->busy);
		waiting += (double)m->waiting;
		running += (double)m->running;
		seqs += (double)m->seqs_sum;
		steps += (double)m->steps;
		blocks += (double)m->blocks_ps;
		peak = fmax(peak, (double)m->blocks_peak);
		prompts += m->prompt_tokens;
		made += m->made;
		gave_up += m->preemptions;
	}
	doc_text(d, "pool", x->n > 1 ? serve_pool_names[i] : "all");
	doc_text(d, "machine", p->r->conf->cfg.name);
	doc_count(d, "machines", p->machines);
	doc_real(d, "busy_pct", 1, 100 * busy / n / end);
	doc_real(d, "waiting", 2, waiting / end);
	doc_real(d, "batch", 2, steps > 0 ? seqs / steps : 0);
	doc_real(d, "prompts_s", 0, (double)prompts * 1e12 / end);
	doc_real(d, "tokens_s", 0, (double)made * 1e12 / end);
	doc_real(d, "kv_most_pct", 1, 100 * peak / (double)p->r->policy.blocks);
	doc_count(d, "gave_up", gave_up);
	if (d->format == OUT_JSON) {
		doc_real(d, "busiest_pct", 0, 100 * most / end);
		doc_real(d, "running", 0, running / end);
		doc_real(d, "kv_pct", 0, 100 * blocks / n / end / (double)p->r->policy.blocks);
		doc_count(d, "steps", (uint64_t)steps);
		doc_count(d, "weight_bytes", p->r->own.memory.weights + p->r->draft.memory.weights);
		doc_count(d, "kv_bytes", p->r->kv_bytes);
		doc_count(d, "blocks", p->r->policy.blocks);
		doc_count(d, "chunk", p->r->policy.chunk);
		doc_bool(d, "stops_for_moves", p->r->policy.stops);
	}
}

static double mean(ps_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n / 1e9 : NAN;
}

/* Of all links of both pools' machines, whichever pool has fewer. */
static double links_pct(const struct serve_pools *x)
{
	const uint32_t n = x->pool[0].machines < x->pool[1].machines ? x->pool[0].machines : x->pool[1].machines;

	return 100 * (double)x->result.moving / (double)x->result.all.end / n;
}

static void ways(struct doc *d, const struct serve_pools *x)
{
	const struct sched_pools *r = &x->result;

	doc_open(d, "moves", '{');
	doc_count(d, "caches", r->moves);
	doc_count(d, "bytes", r->moved_bytes);
	doc_real(d, "mean_ms", 0, mean(r->moving, r->moves));
	doc_real(d, "most_ms", 0, (double)r->moving_most / 1e9);
	doc_real(d, "waited_mean_ms", 0, mean(r->waiting, r->moves));
	doc_real(d, "links_pct", 0, links_pct(x));
	doc_real(d, "joules", 0, x->link_joules);
	doc_close(d, '}');
}

static void ways_text(const struct serve_pools *x, struct str *out)
{
	const struct sched_pools *r = &x->result;
	const bool first = x->pool[0].r->policy.stops, second = x->pool[1].r->policy.stops;

	if (!r->moves) {
		str_add(out, "no cache moves: every output is one token\n");
		return;
	}
	str_addf(out, "%" PRIu64 " caches moved, ", r->moves);
	str_add_bytes(out, r->moved_bytes / r->moves);
	str_addf(out, " in %.3g ms each (%.3g at the most) behind %.3g ms of waiting for room and link\n",
	         mean(r->moving, r->moves), (double)r->moving_most / 1e9, mean(r->waiting, r->moves));
	str_addf(out, "links %.3g %% busy with them, %.3g J; %s meanwhile\n", links_pct(x), x->link_joules,
	         first && second ? "no steps run"
	         : first         ? "those that prefill wait, those that decode go on"
	         : second        ? "those that prefill go on, those that decode wait"
	                         : "steps go on");
}

void pools_doc(struct doc *d, const struct serve_run *r)
{
	const struct serve_pools *x = r->pools;

	doc_table(d, "pools", NULL, x->n, pool, x);
	if (x->n < 2)
		return;
	if (d->format == OUT_JSON)
		ways(d, x);
	else
		ways_text(x, d->to);
}

void pools_doc_request(struct doc *d, const struct serve_run *r, size_t i)
{
	const struct serve_pools *x = r->pools;
	const struct sched_way *w = &x->result.way[i];
	const bool moves = x->n > 1 && w->to;

	doc_count(d, "machine", w->machine[0]);
	if (x->n < 2)
		return;
	doc_count_if(d, "decode_machine", moves, w->machine[1]);
	doc_real_if(d, "kv_wait_ms", 0, moves, (double)(w->from - r->result.v[i].first) / 1e9);
	doc_real_if(d, "kv_ms", 0, moves, (double)(w->to - w->from) / 1e9);
}
