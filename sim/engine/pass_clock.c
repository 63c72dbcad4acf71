#include "sim/engine/pass_clock.h"

#include <string.h>

/* --- the program ------------------------------------------------------------------------------------------------- */

/* As many cycles, each longer. */
static ps_t slower(ps_t t, uint64_t full, uint64_t khz)
{
	return (ps_t)((double)t * (double)full / (double)khz + 0.5);
}

static void slow_edges(struct isa_remainders *e, uint64_t full, uint64_t khz)
{
	for (int i = 0; i < 1 << ISA_LOOPS; i++) {
		e->at[i].span = slower(e->at[i].span, full, khz);
		e->at[i].latency = slower(e->at[i].latency, full, khz);
	}
}

int pass_slowed(const struct isa_prog *p, uint64_t full, uint64_t khz, struct arena *a, struct isa_prog *out,
                struct err *e)
{
	struct isa_insn *insns;
	struct isa_remainders *edges;

	*out = *p;
	if (khz == full || !p->n_insns)
		return 0;
	if (!(insns = arena_array(a, p->n_insns, sizeof *insns)) ||
	    !(edges = arena_array(a, p->n_edges + 1, sizeof *edges)))
		return err_set(e, ERR_NOMEM, "out of memory for a program");
	memcpy(insns, p->insns, p->n_insns * sizeof *insns);
	if (p->n_edges)
		memcpy(edges, p->edges, p->n_edges * sizeof *edges);
	for (size_t i = 0; i < p->n_insns; i++) {
		if (insns[i].unit == RES_LINK) /* links have clocks of their own */
			continue;
		insns[i].span = slower(insns[i].span, full, khz);
		insns[i].span_last = slower(insns[i].span_last, full, khz);
		insns[i].latency = slower(insns[i].latency, full, khz);
	}
	for (size_t i = 0; i < p->n_edges; i++)
		slow_edges(&edges[i], full, khz);
	out->insns = insns;
	out->edges = edges;
	return 0;
}

/* --- the clock --------------------------------------------------------------------------------------------------- */

struct asking {
	const struct machine_cfg *c;
	pass_at_fn *at;
	void *self;
	struct err *e;
	uint64_t low, steps; /* clocks: low + i steps, the last is the full one */
	struct figures full;
	bool failed;
};

static uint64_t clock_of(const struct asking *q, uint64_t i)
{
	return i >= q->steps ? q->c->clock : q->low + i * NPU_CLOCK_STEP;
}

static bool pass_clock_ask(struct asking *q, uint64_t i, struct figures *out)
{
	struct run_result r;

	if (i >= q->steps && q->full.energy_fj) {
		*out = q->full;
		return true;
	}
	q->failed |= q->at(q->self, clock_of(q, i), &r, q->e) < 0;
	*out = r.figures;
	return !q->failed;
}

static bool pass_clock_fits(const struct asking *q, const struct figures *x)
{
	return energy_power(x->energy_fj, x->total_ps) <= q->c->power.cap;
}

static bool in_time(const struct asking *q, const struct figures *x)
{
	return x->total_ps <= q->c->power.latency_target;
}

/* Of clocks from `low` on, of which the first ones are as `holds` says and the others not, or the other way: the first that
 * is not like the first. */
static uint64_t turns_at(struct asking *q, bool (*holds)(const struct asking *q, const struct figures *x), bool first)
{
	uint64_t low = 0, high = q->steps + 1;

	while (low < high && !q->failed) {
		const uint64_t mid = (low + high) / 2;
		struct figures x;

		if (!pass_clock_ask(q, mid, &x))
			break;
		if (holds(q, &x) == first)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int no_clock_fits(const struct asking *q)
{
	struct str cap = STR_INIT, low = STR_INIT;
	struct figures x;
	struct asking again = *q;

	if (!pass_clock_ask(&again, 0, &x))
		return -1;
	cfg_format_value(CFG_T_POWER, q->c->power.cap, &cap);
	cfg_format_value(CFG_T_FREQ, clock_of(q, 0), &low);
	err_set(q->e, ERR_CONFIG,
	        "'power.cap' is %s, and this takes %.4g W at the lowest clock that has a voltage, %s: none fits",
	        str_c(&cap), (double)energy_power(x.energy_fj, x.total_ps) / 1e6, str_c(&low));
	str_free(&cap);
	str_free(&low);
	return -1;
}

/* The highest that fits and is no faster; -1: none does. */
static int64_t capped(struct asking *q)
{
	struct figures x;
	uint64_t i;

	if (pass_clock_fits(q, &q->full))
		return (int64_t)q->steps;
	i = turns_at(q, pass_clock_fits, true);
	if (q->failed)
		return -1;
	if (i == 0)
		return no_clock_fits(q);
	for (i--; i > 0 && pass_clock_ask(q, i, &x) && x.total_ps < q->full.total_ps; i--) {}
	return q->failed ? -1 : (int64_t)i;
}

uint64_t pass_clock(const struct machine_cfg *c, pass_at_fn *at, void *self, struct err *e)
{
	const struct npu_power_cfg *p = &c->power;
	const uint64_t low = p->n_points ? p->points[0].clock : NPU_CLOCK_STEP;
	struct asking q = { .c = c, .at = at, .self = self, .e = e, .low = low };
	int64_t best, slowest;

	if (!npu_power_known(p) || (!p->cap && p->mode != NPU_PACE))
		return c->clock;
	q.steps = c->clock > low ? (c->clock - low + NPU_CLOCK_STEP - 1) / NPU_CLOCK_STEP : 0;
	if (!pass_clock_ask(&q, q.steps, &q.full))
		return 0;
	best = p->cap ? capped(&q) : (int64_t)q.steps;
	if (best < 0)
		return 0;
	if (p->mode == NPU_PACE) {
		slowest = (int64_t)turns_at(&q, in_time, false);
		best = slowest < best ? slowest : best;
	}
	return q.failed ? 0 : clock_of(&q, (uint64_t)best);
}
