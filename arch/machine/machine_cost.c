#include "arch/machine/machine_cost.h"

#include <string.h>

#define MILLION 1e6
#define CM2     1e14 /* nm2 */
#define GB      1e9

/* Newton's method: blocks use no mathematical library, whose last digits differ from host to host. */
static double root(double x)
{
	double r = x > 1 ? x : 1;

	for (int i = 0; x > 0 && i < 200; i++)
		r = (r + x / r) / 2;
	return x > 0 ? r : 0;
}

static uint64_t on_wafer(const struct tech_wafer *w, double mm2)
{
	const double pi = 3.14159265358979, d = w->diameter, n = pi * d * d / 4 / mm2 - pi * d / root(2 * mm2);

	return n >= 1 ? (uint64_t)n : 0;
}

static double good(double cm2, uint32_t defects, uint32_t clusters)
{
	const double x = 1 + cm2 * (double)defects / MILLION / clusters;
	double y = 1;

	for (uint32_t i = 0; i < clusters; i++)
		y /= x;
	return y;
}

static void silicon(const struct machine_cfg *c, const struct tech *t, struct machine_cost *out)
{
	const uint64_t most = t->die.limit.reticle;
	double mm2, usd;

	out->dies = most ? (c->die.area + most - 1) / most : 1;
	out->die_nm2 = c->die.area / (out->dies ? out->dies : 1);
	mm2 = (double)out->die_nm2 / 1e12;
	if (!out->die_nm2 || !out->wafer || !t->die.wafer.diameter || !t->die.wafer.clusters)
		return;
	if (!(out->on_wafer = on_wafer(&t->die.wafer, mm2)))
		return;
	out->yield = (uint32_t)(good((double)out->die_nm2 / CM2, out->defects, t->die.wafer.clusters) * MILLION + 0.5);
	usd = (double)out->dies * out->wafer / (double)out->on_wafer / ((double)out->yield / MILLION);
	out->silicon = out->yield && usd < 1e12 ? (uint64_t)(usd * MILLION + 0.5) : 0;
}

void machine_cost(const struct machine_cfg *c, const struct tech *t, struct machine_cost *out)
{
	const int kind = tech_dram_kind(c->mem.dram.kind);

	memset(out, 0, sizeof *out);
	out->wafer = c->cost.wafer ? c->cost.wafer : t->wafer.price;
	out->defects = c->cost.defects ? c->cost.defects : t->wafer.defects;
	out->dram_gb = c->cost.dram ? c->cost.dram : kind >= 0 ? t->dram[kind].price : 0;
	silicon(c, t, out);
	out->dram = (uint64_t)((double)out->dram_gb * (double)c->mem.dram.capacity * c->die.machines / GB);
}

uint64_t machine_cost_all(const struct machine_cost *x)
{
	return x->silicon && x->dram ? x->silicon + x->dram : 0;
}
