#include "sim/accuracy/energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the model's answer ---------------------------------------------------------------------------------------- */

/* A kernel's time at another clock: what is not DRAM's goes with the core's cycles. */
struct at_clock {
	const struct energy_case *c;
	double core, dram; /* ps, at the measured clock */
};

static double overlapped(double a, double b)
{
	return pow(pow(a, 4) + pow(b, 4), 0.25);
}

static uint64_t watts_at(const struct gpu *g, void *arg)
{
	const struct at_clock *x = arg;
	const double from = (double)(x->c->clock ? x->c->clock : g->top);
	const ps_t t = (ps_t)overlapped(x->core * from / (double)g->clock, x->dram);
	struct gpu_energy e;

	gpu_energy_of(g, &x->c->work, t, &e);
	return energy_power(gpu_energy_sum(&e), t);
}

/* At the measured time and clock. */
static void parts_of(struct energy_case *c, const struct gpu *at)
{
	struct gpu_energy one;

	if (!c->launches) {
		gpu_energy_of(at, &c->work, c->time, &c->parts);
		return;
	}
	memset(&c->parts, 0, sizeof c->parts);
	for (uint32_t i = 0; i < c->kernels; i++) {
		gpu_energy_of(at, &c->launches[i], c->took[i], &one);
		gpu_energy_add(&c->parts, &one);
	}
	c->parts.part[GPU_WAIT_idle] = gpu_energy_idle(at, c->time);
}

void energy_ask(struct energy_case *c, const struct gpu *g)
{
	const struct gpu at = gpu_at_clock(g, c->clock && c->clock < g->top ? c->clock : g->top);
	const double t = (double)c->time;
	uint64_t droops;
	struct at_clock x = { c, 0,
		              (double)clock_transfer(c->work.n[GPU_EVENT_dram_read] + c->work.n[GPU_EVENT_dram_write],
		                                     g->c->dram_read) };

	parts_of(c, &at);
	c->simulated = gpu_energy_sum(&c->parts);
	x.dram = x.dram < 0.97 * t ? x.dram : 0.97 * t;
	x.core = pow(pow(t, 4) - pow(x.dram, 4), 0.25);
	c->simulated_clock = gpu_power_clock(g, watts_at, &x);
	droops = gpu_power_droop(g, &c->work, clock_cycles(c->time, at.clock));
	c->simulated_clock = droops < c->simulated_clock ? droops : c->simulated_clock;
	c->top = g->top;
	c->capped = c->clock && c->clock + GPU_CLOCK_STEP < g->top;
}

/* --- errors ---------------------------------------------------------------------------------------------------- */

static int by_real(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void score_one(const struct energy_cases *sets, size_t n, enum sample_split split, const char *cls,
                      double *errors, struct energy_score *out)
{
	double measured = 0, off = 0;
	size_t k = 0;

	*out = (struct energy_score){ .cls = cls };
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < sets[i].n; j++) {
			const struct energy_case *c = &sets[i].v[j];
			const double m = (double)c->measured, d = (double)c->simulated - m;

			if (!sample_split_has(split, c->split) || (cls && strcmp(cls, c->cls) != 0))
				continue;
			errors[k++] = 100 * fabs(d) / m;
			out->mape += 100 * fabs(d) / m;
			out->bias += 100 * d / m;
			measured += m;
			off += fabs(d);
			if (c->clock && (c->capped || c->simulated_clock < c->top)) {
				out->n_clock++;
				out->clock_mape +=
					100 * fabs((double)c->simulated_clock - (double)c->clock) / (double)c->clock;
			}
		}
	out->n = k;
	if (!k)
		return;
	qsort(errors, k, sizeof *errors, by_real);
	out->mape /= (double)k;
	out->bias /= (double)k;
	out->weighted_ape = 100 * off / measured;
	out->median_ape = k % 2 ? errors[k / 2] : (errors[k / 2 - 1] + errors[k / 2]) / 2;
	out->p90_ape = errors[(size_t)(0.9 * (double)(k - 1) + 0.5)];
	out->clock_mape = out->n_clock ? out->clock_mape / (double)out->n_clock : 0;
}

int energy_score(const struct energy_cases *sets, size_t n, enum sample_split split, struct arena *a,
                 struct energy_score **out, struct err *e)
{
	size_t most = 1, classes = 0;
	double *errors;

	for (size_t i = 0; i < n; i++)
		most += sets[i].n;
	*out = arena_array(a, most + 1, sizeof **out);
	errors = arena_array(a, most, sizeof *errors);
	if (!*out || !errors)
		return err_set(e, ERR_NOMEM, "out of memory for scores");
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < sets[i].n; j++) {
			const char *cls = sets[i].v[j].cls;
			size_t k = 0;

			while (k < classes && strcmp((*out)[k].cls, cls) != 0)
				k++;
			if (k == classes && sample_split_has(split, sets[i].v[j].split))
				(*out)[classes++].cls = cls;
		}
	for (size_t k = 0; k < classes; k++)
		score_one(sets, n, split, (*out)[k].cls, errors, &(*out)[k]);
	score_one(sets, n, split, NULL, errors, &(*out)[classes]);
	return (int)classes + 1;
}
