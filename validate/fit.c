#include "validate/fit.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

#define HUBER     0.05
#define MOST      4000 /* evaluations of one search */
#define TOLERANCE 1e-4 /* of a parameter's logarithm */

uint64_t fit_round(uint64_t v)
{
	uint64_t unit = 1;

	while (v / unit >= 10000)
		unit *= 10;
	return (v + unit / 2) / unit * unit;
}

struct search {
	struct fit_plan *p;
	struct machine_conf *conf;
	struct cases *sets;
	size_t n_sets;
	unsigned folds, fold;       /* samples of that fold are left out; folds: none is */
	unsigned evaluations, most; /* so far, and of all searches */
	void (*progress)(void *arg, double part);
	void *arg;
};

static unsigned fold_of(const struct sample *x, unsigned folds)
{
	return folds ? (unsigned)((x->hash >> 20) % folds) : 0;
}

static bool trains(const struct search *s, const struct sample *x)
{
	return x->split == SAMPLE_FITTED && x->measured_ns && (s->fold == s->folds || fold_of(x, s->folds) != s->fold);
}

static void set_values(const struct search *s, const double *logs)
{
	for (size_t i = 0; i < s->p->n_fit; i++) {
		const struct fit_param *f = &s->p->fit[i];
		double v = exp(logs[i]);

		v = v < (double)f->from ? (double)f->from : v > (double)f->to ? (double)f->to : v;
		cfg_set_raw(s->conf->raw, f->row, (uint64_t)(v + 0.5), "fitted");
	}
}

/* Means over the samples that `in` says: the loss, and the absolute percentage error. */
static void means(struct search *s, bool (*in)(const struct search *, const struct sample *), double *loss,
                  double *mape)
{
	struct gpu g = machine_gpu(&s->conf->cfg);
	size_t n = 0;

	*loss = *mape = 0;
	for (size_t i = 0; i < s->n_sets; i++) {
		cases_time(&s->sets[i], &g);
		for (size_t k = 0; k < s->sets[i].n; k++) {
			const struct sample *x = &s->sets[i].v[k];
			double ratio, r;

			if (!in(s, x))
				continue;
			ratio = (double)x->time.total / 1e3 / (double)x->measured_ns;
			r = fabs(log(ratio > 1e-6 ? ratio : 1e-6));
			*loss += r < HUBER ? r * r / (2 * HUBER) : r - HUBER / 2;
			*mape += 100 * fabs(ratio - 1);
			n++;
		}
	}
	*loss /= n ? (double)n : 1;
	*mape /= n ? (double)n : 1;
}

static double objective(unsigned n, const double *logs, double *gradient, void *arg)
{
	struct search *s = arg;
	double loss, mape;

	(void)n;
	(void)gradient;
	set_values(s, logs);
	means(s, trains, &loss, &mape);
	s->evaluations++;
	if (s->progress && s->evaluations % 50 == 0)
		s->progress(s->arg, (double)s->evaluations / (double)s->most);
	return loss;
}

/* Fits without the search's fold; the values are left in the configuration, rounded, and in `out`. */
static int fit_once(struct search *s, uint64_t *out, struct err *e)
{
	unsigned n = (unsigned)s->p->n_fit;
	nlopt_opt o = nlopt_create(NLOPT_LN_SBPLX, n);
	double low[FIT_MAX], high[FIT_MAX], at[FIT_MAX], step[FIT_MAX], loss;
	nlopt_result rc;

	for (unsigned i = 0; i < n; i++) {
		low[i] = log((double)s->p->fit[i].from);
		high[i] = log((double)s->p->fit[i].to);
		at[i] = log((double)s->p->fit[i].start);
		step[i] = (high[i] - low[i]) / 10;
	}
	if (!o)
		return err_set(e, ERR_NOMEM, "out of memory for the fit");
	nlopt_set_lower_bounds(o, low);
	nlopt_set_upper_bounds(o, high);
	nlopt_set_initial_step(o, step);
	nlopt_set_min_objective(o, objective, s);
	nlopt_set_xtol_abs1(o, TOLERANCE);
	nlopt_set_ftol_abs(o, 1e-7);
	nlopt_set_maxeval(o, MOST);
	rc = nlopt_optimize(o, at, &loss);
	nlopt_destroy(o);
	if (rc < 0 && rc != NLOPT_ROUNDOFF_LIMITED)
		return err_set(e, ERR_STUCK, "the fit failed (NLopt code %d)", (int)rc);
	set_values(s, at);
	for (unsigned i = 0; i < n; i++) {
		out[i] = fit_round(cfg_raw(s->conf->raw, s->p->fit[i].row));
		cfg_set_raw(s->conf->raw, s->p->fit[i].row, out[i], "fitted");
	}
	return 0;
}

static bool in_fold(const struct search *s, const struct sample *x)
{
	return x->split == SAMPLE_FITTED && x->measured_ns && fold_of(x, s->folds) == s->fold;
}

static double mape_at(struct search *s, size_t i, uint64_t value)
{
	const struct fit_param *f = &s->p->fit[i];
	double loss, mape;

	cfg_set_raw(s->conf->raw, f->row, value, "fitted");
	means(s, trains, &loss, &mape);
	cfg_set_raw(s->conf->raw, f->row, f->value, "fitted");
	return mape;
}

static void sensitivities(struct search *s, double mape)
{
	for (size_t i = 0; i < s->p->n_fit; i++) {
		struct fit_param *f = &s->p->fit[i];
		double up = mape_at(s, i, f->value + f->value / 10), down = mape_at(s, i, f->value - f->value / 10);

		f->sensitivity = (up > down ? up : down) - mape;
	}
}

int fit_run(struct fit_plan *p, struct machine_conf *conf, struct cases *sets, size_t n_sets, unsigned folds,
            void (*progress)(void *arg, double part), void *arg, struct fit_report *out, struct err *e)
{
	struct search s = { .p = p,
		            .conf = conf,
		            .sets = sets,
		            .n_sets = n_sets,
		            .folds = folds,
		            .most = (folds + 1) * MOST,
		            .progress = progress,
		            .arg = arg };
	uint64_t values[FIT_MAX];
	double loss, mape;

	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < n_sets; i++)
		for (size_t k = 0; k < sets[i].n; k++)
			out->samples += sets[i].v[k].split == SAMPLE_FITTED && sets[i].v[k].measured_ns;
	if (!out->samples)
		return err_set(e, ERR_IO, "no sample of the fitted split is in the traces");
	for (s.fold = 0; p->n_fit && s.fold < folds; s.fold++) {
		if (fit_once(&s, values, e) < 0)
			return -1;
		means(&s, in_fold, &loss, &mape);
		out->cv_mape += mape / folds;
		for (size_t i = 0; i < p->n_fit; i++) {
			struct fit_param *f = &p->fit[i];

			f->low = s.fold == 0 || values[i] < f->low ? values[i] : f->low;
			f->high = s.fold == 0 || values[i] > f->high ? values[i] : f->high;
		}
	}
	s.fold = folds;
	if (p->n_fit && fit_once(&s, values, e) < 0)
		return -1;
	for (size_t i = 0; i < p->n_fit; i++)
		p->fit[i].value = values[i];
	means(&s, trains, &loss, &out->mape);
	sensitivities(&s, out->mape);
	out->evaluations = s.evaluations;
	return 0;
}
