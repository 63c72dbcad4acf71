#include "sim/accuracy/fit_energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arch/machine/machine_gpu.h"

#define COSTS  FIT_ENERGY_COSTS
#define HUBER  0.04
#define OTHERS 0.5 /* weight of another board's rows: squared, a quarter */
#define TURNS  12  /* of weights; of scales half as many */
#define SWEEPS 20000
#define UNIT   UINT64_C(1000000) /* of a cost, in the probe that finds what it multiplies */

static const char *const cost_keys[COSTS] = { "power.lit", "power.awake",
#define X(name, block, scaled, unit, help) "power." #name,
	                                      GPU_EVENT_ROWS(X)
#undef X
};

/* A case: what each cost multiplies, over the measured energy; what is left for them of that. */
struct line {
	double x[COSTS], y, idle;
	size_t set, at;
	unsigned fold;
};

struct problem {
	struct line *v;
	size_t n, n_sets;
	double *core, *dram; /* of each set */
	double cost[COSTS];
};

static bool of_dram(size_t k)
{
	return k >= GPU_WAITS - 1 && strcmp(gpu_energy_rows[k + 1].block, "dram") == 0;
}

static double scale_of(const struct problem *p, const struct line *l, size_t k)
{
	return of_dram(k) ? p->dram[l->set] : p->core[l->set];
}

static double predicted(const struct problem *p, const struct line *l)
{
	double sum = l->idle;

	for (size_t k = 0; k < COSTS; k++)
		sum += l->x[k] * p->cost[k] * scale_of(p, l, k);
	return sum;
}

/* --- the problem -------------------------------------------------------------------------------------------------- */

static void fit_energy_put(struct gpu_power_cfg *c, size_t k, uint64_t v)
{
	if (k == 0)
		c->lit = v;
	else if (k == 1)
		c->awake = v;
	else
		c->cost[k - 2] = v;
}

/* The model itself says what a cost multiplies: all others are 0. */
static void fit_energy_probe(struct machine_cfg *m, struct energy_cases *sets, struct line *l)
{
	struct energy_case *c = &sets[l->set].v[l->at];
	const struct gpu g = machine_gpu(m);

	for (size_t k = 0; k < COSTS; k++)
		fit_energy_put(&m->gpu.power, k, 0);
	energy_ask(c, &g);
	l->idle = (double)c->simulated / (double)c->measured;
	l->y = 1 - l->idle;
	for (size_t k = 0; k < COSTS; k++) {
		fit_energy_put(&m->gpu.power, k, UNIT);
		energy_ask(c, &g);
		l->x[k] = (double)c->parts.part[k + 1] / (double)UNIT / (double)c->measured;
		fit_energy_put(&m->gpu.power, k, 0);
	}
}

/* The mean power of the first table's idle rows. */
static int set_idle(struct machine_conf *conf, const struct energy_cases *sets, struct fit_energy *out, struct err *e)
{
	struct gpu_power_cfg *p = &conf->cfg.gpu.power;
	const double share = p->idle ? (double)p->idle_low / (double)p->idle : 72.1 / 120; /* an H100's, gpu_power.c */
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < sets->n; i++)
		if (strncmp(sets->v[i].name, "idle", 4) == 0)
			sum += sets->v[i].watts, n++;
	if (!n && !p->idle)
		return err_set(e, ERR_IO, "%s: no row 'idle': what the board takes with nothing to do is not known",
		               sets->path);
	out->idle.given = p->idle;
	out->idle_low.given = p->idle_low;
	out->idle.cases = out->idle_low.cases = n;
	out->idle.value = n ? (uint64_t)(sum / (double)n * 1e6 / 10000 + 0.5) * 10000 : p->idle;
	out->idle_low.value = n ? (uint64_t)((double)out->idle.value * share / 10000 + 0.5) * 10000 : p->idle_low;
	p->idle = out->idle.value;
	p->idle_low = out->idle_low.value;
	return 0;
}

/* --- least squares -------------------------------------------------------------------------------------------------- */

struct normal {
	double g[COSTS][COSTS], h[COSTS];
};

/* Coordinate descent: a coefficient after the other to its best value, not under 0, until none moves. */
static void solve(const struct normal *m, double *c)
{
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		double moved = 0;

		for (size_t k = 0; k < COSTS; k++) {
			double r = m->h[k], v;

			if (m->g[k][k] <= 0)
				continue;
			for (size_t j = 0; j < COSTS; j++)
				r -= m->g[k][j] * c[j];
			v = c[k] + r / m->g[k][k];
			v = v > 0 ? v : 0;
			moved += fabs(v - c[k]) * sqrt(m->g[k][k]);
			c[k] = v;
		}
		if (moved < 1e-10)
			return;
	}
}

static double weight(const struct problem *p, const struct line *l)
{
	const double off = fabs(predicted(p, l) - 1), w = off > HUBER ? HUBER / off : 1;

	return w * (l->set ? OTHERS * OTHERS : 1);
}

/* Without one fold. */
static void costs(struct problem *p, unsigned fold)
{
	for (int turn = 0; turn < TURNS; turn++) {
		struct normal m = { .h = { 0 } };

		for (size_t i = 0; i < p->n; i++) {
			const struct line *l = &p->v[i];
			const double w = turn ? weight(p, l) : l->set ? OTHERS * OTHERS : 1;

			if (l->fold == fold)
				continue;
			for (size_t k = 0; k < COSTS; k++) {
				const double x = l->x[k] * scale_of(p, l, k);

				m.h[k] += w * x * l->y;
				for (size_t j = 0; j < COSTS; j++)
					m.g[k][j] += w * x * l->x[j] * scale_of(p, l, j);
			}
		}
		solve(&m, p->cost);
	}
}

/* Another board's two scales, by the costs as they are. */
static void scales(struct problem *p, size_t set, unsigned fold)
{
	double cc = 0, cd = 0, dd = 0, cy = 0, dy = 0, det;

	for (size_t i = 0; i < p->n; i++) {
		const struct line *l = &p->v[i];
		const double w = weight(p, l);
		double c = 0, d = 0;

		if (l->set != set || l->fold == fold)
			continue;
		for (size_t k = 0; k < COSTS; k++)
			*(of_dram(k) ? &d : &c) += l->x[k] * p->cost[k];
		cc += w * c * c;
		cd += w * c * d;
		dd += w * d * d;
		cy += w * c * l->y;
		dy += w * d * l->y;
	}
	det = cc * dd - cd * cd;
	if (det <= 1e-12 * cc * dd)
		return;
	p->core[set] = (cy * dd - dy * cd) / det;
	p->dram[set] = (dy * cc - cy * cd) / det;
}

static void fit_once(struct problem *p, unsigned fold)
{
	for (size_t s = 0; s < p->n_sets; s++)
		p->core[s] = p->dram[s] = 1;
	memset(p->cost, 0, sizeof p->cost);
	for (int turn = 0; turn < (p->n_sets > 1 ? TURNS / 2 : 1); turn++) {
		costs(p, fold);
		for (size_t s = 1; s < p->n_sets; s++)
			scales(p, s, fold);
	}
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* To four digits, as all that is fitted here. */
static uint64_t rounded(double v)
{
	double unit = 1;

	while (v / unit >= 10000)
		unit *= 10;
	return (uint64_t)(floor(v / unit + 0.5) * unit);
}

static void install(struct machine_conf *conf, const struct problem *p)
{
	for (size_t k = 0; k < COSTS; k++)
		fit_energy_put(&conf->cfg.gpu.power, k, rounded(p->cost[k]));
}

/* Answers of the cases of a fold, another board's times its scales. */
static void fit_energy_answer(struct machine_conf *conf, const struct problem *p, struct energy_cases *sets,
                              unsigned fold, bool all)
{
	const struct gpu g = machine_gpu(&conf->cfg);

	for (size_t i = 0; i < p->n; i++) {
		const struct line *l = &p->v[i];
		struct energy_case *c = &sets[l->set].v[l->at];

		if (!all && l->fold != fold)
			continue;
		energy_ask(c, &g);
		if (l->set)
			c->simulated = (uint64_t)(predicted(p, l) * (double)c->measured + 0.5);
	}
}

/* No fold has them: by the costs of all. */
static void steps(struct machine_conf *conf, struct energy_cases *sets, size_t n_sets)
{
	const struct gpu g = machine_gpu(&conf->cfg);

	for (size_t s = 0; s < n_sets; s++)
		for (size_t i = 0; i < sets[s].n; i++)
			if (sets[s].v[i].launches)
				energy_ask(&sets[s].v[i], &g);
}

static int fit_energy_gather(struct machine_conf *conf, struct energy_cases *sets, size_t n_sets, unsigned folds,
                             struct arena *a, struct problem *p, struct err *e)
{
	size_t most = 1;

	for (size_t s = 0; s < n_sets; s++)
		most += sets[s].n;
	p->v = arena_array(a, most, sizeof *p->v);
	p->core = arena_array(a, n_sets + 1, sizeof *p->core);
	p->dram = arena_array(a, n_sets + 1, sizeof *p->dram);
	p->n_sets = n_sets;
	if (!p->v || !p->core || !p->dram)
		return err_set(e, ERR_NOMEM, "out of memory for the fit");
	for (size_t s = 0; s < n_sets; s++)
		for (size_t i = 0; i < sets[s].n; i++) {
			struct line *l;

			if (sets[s].v[i].launches) /* a step: for whoever asks what the fit is worth */
				continue;
			l = &p->v[p->n++];
			*l = (struct line){ .set = s,
				            .at = i,
				            .fold = folds ? (unsigned)((sets[s].v[i].hash >> 20) % folds) : 0 };
			fit_energy_probe(&conf->cfg, sets, l);
		}
	return 0;
}

static void fit_energy_begin(const struct machine_conf *conf, const struct problem *p, struct fit_energy *out)
{
	struct err none = ERR_INIT;

	out->n = p->n;
	cfg_find(conf->raw, "power.idle", &out->idle.row, &none);
	cfg_find(conf->raw, "power.idle_low", &out->idle_low.row, &none);
	for (size_t k = 0; k < COSTS; k++) {
		struct fit_energy_cost *x = &out->cost[k];

		cfg_find(conf->raw, cost_keys[k], &x->row, &none);
		x->low = UINT64_MAX;
		x->high = 0;
		x->cases = 0;
		for (size_t i = 0; i < p->n; i++)
			x->cases += p->v[i].x[k] > 0;
	}
}

int fit_energy_run(struct machine_conf *conf, struct energy_cases *sets, size_t n_sets, unsigned folds, struct arena *a,
                   struct fit_energy *out, struct err *e)
{
	struct problem p = { .n = 0 };

	memset(out, 0, sizeof *out);
	for (size_t k = 0; k < COSTS; k++)
		out->cost[k].given = k == 0   ? conf->cfg.gpu.power.lit
		                     : k == 1 ? conf->cfg.gpu.power.awake
		                              : conf->cfg.gpu.power.cost[k - 2];
	if (set_idle(conf, sets, out, e) < 0 || fit_energy_gather(conf, sets, n_sets, folds, a, &p, e) < 0)
		return -1;
	if (!(out->scale = arena_array(a, n_sets + 1, sizeof *out->scale)))
		return err_set(e, ERR_NOMEM, "out of memory for the fit");
	fit_energy_begin(conf, &p, out);
	for (unsigned f = 0; f < folds; f++) {
		fit_once(&p, f);
		install(conf, &p);
		fit_energy_answer(conf, &p, sets, f, false);
		for (size_t k = 0; k < COSTS; k++) {
			const uint64_t v = rounded(p.cost[k]);

			out->cost[k].low = v < out->cost[k].low ? v : out->cost[k].low;
			out->cost[k].high = v > out->cost[k].high ? v : out->cost[k].high;
		}
	}
	fit_once(&p, UINT32_MAX);
	install(conf, &p);
	steps(conf, sets, n_sets);
	if (!folds)
		fit_energy_answer(conf, &p, sets, 0, true);
	for (size_t k = 0; k < COSTS; k++)
		out->cost[k].value = rounded(p.cost[k]);
	for (size_t s = 0; s < n_sets; s++)
		out->scale[s].core = p.core[s], out->scale[s].dram = p.dram[s];
	return 0;
}
