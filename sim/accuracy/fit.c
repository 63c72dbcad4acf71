#include "sim/accuracy/fit.h"
#include "arch/machine/machine_gpu.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

#define HUBER     0.05
#define BEYOND    0.02 /* of what an error is beyond most_off: the search still sees which way is down */
#define SCANS     2    /* of every parameter, before a rugged search */
#define SCANNED   8    /* values of it */
#define MOST      600  /* evaluations of a search, times its parameters */
#define TOLERANCE 1e-4 /* of a parameter's logarithm */

uint64_t fit_round(uint64_t v)
{
	uint64_t unit = 1;

	while (v / unit >= 10000)
		unit *= 10;
	return (v + unit / 2) / unit * unit;
}

struct fitting {
	struct fit_plan *p;
	struct machine_conf *conf;
	const struct fit_data *data;
	size_t n; /* samples of all sets that the fit looks at */
	struct place {
		uint32_t set, sample;
		unsigned fold;
		size_t group;
	} * at;
	size_t *group; /* of a parameter */
	size_t n_groups;
	unsigned evaluations;
	bool changed;       /* a parameter, since samples were timed last */
	double done, share; /* for the progress: before this search, and of it */
};

/* A search over the parameters of one group, without the samples of one fold. */
struct search {
	struct fitting *f;
	size_t group, params[FIT_MAX];
	unsigned n, fold, evaluations, most;
};

static void fit_put(struct fitting *f, size_t i, uint64_t v)
{
	const struct fit_param *x = &f->p->fit[i];

	f->changed = true;
	if (!x->of_kernel) {
		cfg_set_raw(f->conf->raw, x->row, v, "fitted");
		return;
	}
	for (size_t k = 0; k < f->data->n_sets; k++)
		cases_put(&f->data->sets[k], &x->number, (uint32_t)v);
}

static struct sample *sample(const struct fitting *f, size_t i)
{
	return &f->data->sets[f->at[i].set].v[f->at[i].sample];
}

static double ratio(struct fitting *f, size_t i, const struct gpu *g)
{
	const struct sample *x = sample(f, i);

	if (f->changed && f->data->settle)
		f->data->settle(f->data->engine);
	f->changed = false;
	if (f->data->time)
		f->data->time(f->data->engine, f->at[i].set, f->at[i].sample);
	else
		cases_time_one(&f->data->sets[f->at[i].set], f->at[i].sample, g);
	return (double)x->time.total / 1e3 / (double)x->measured_ns;
}

/* --- which parameters share samples --------------------------------------------------------------------------------
 */

#define NO_GROUP SIZE_MAX

static size_t root(const size_t *up, size_t i)
{
	while (up[i] != i)
		i = up[i];
	return i;
}

/* Every parameter is moved in turn; the samples whose time moves with it depend on it. */
static int find_groups(struct fitting *f, struct err *e)
{
	struct gpu g = machine_gpu(&f->conf->cfg);
	const size_t n_fit = f->p->n_fit;
	ps_t *base = malloc((f->n + 1) * sizeof *base);
	size_t *up = malloc((n_fit + 1) * sizeof *up);
	bool moved;
	int rc = 0;

	f->group = malloc((n_fit + 1) * sizeof *f->group);
	if (!base || !up || !f->group) {
		free(base);
		free(up);
		return err_set(e, ERR_NOMEM, "out of memory for the fit");
	}
	for (size_t i = 0; i < n_fit; i++) {
		fit_put(f, i, f->p->fit[i].start);
		up[i] = i;
	}
	for (size_t k = 0; k < f->n; k++) {
		ratio(f, k, &g);
		base[k] = sample(f, k)->time.total;
		f->at[k].group = NO_GROUP;
	}
	for (size_t i = 0; i < n_fit; i++) {
		struct fit_param *x = &f->p->fit[i];

		x->samples = 0;
		moved = false;
		for (int side = 0; side < 2; side++) {
			fit_put(f, i, side ? x->to : x->from);
			for (size_t k = 0; k < f->n; k++) {
				ratio(f, k, &g);
				if (sample(f, k)->time.total == base[k])
					continue;
				moved |= true;
				x->samples += side == 0;
				if (f->at[k].group == NO_GROUP)
					f->at[k].group = i;
				else
					up[root(up, f->at[k].group)] = root(up, i);
			}
		}
		fit_put(f, i, x->start);
		if (!moved && f->data->all_move) {
			rc = err_set(
				e, ERR_CONFIG,
				"'%s' moves no row, anywhere between its bounds: what it is cannot be told from these rows",
				x->name);
			break;
		}
	}
	f->n_groups = 0;
	for (size_t i = 0; i < n_fit; i++)
		if (root(up, i) == i)
			f->group[i] = f->n_groups++;
	for (size_t i = 0; i < n_fit; i++)
		f->group[i] = f->group[root(up, i)];
	for (size_t k = 0; k < f->n; k++)
		if (f->at[k].group != NO_GROUP)
			f->at[k].group = f->group[f->at[k].group];
	free(base);
	free(up);
	return rc;
}

/* --- a search --------------------------------------------------------------------------------------------------------
 */

static double objective(unsigned n, const double *logs, double *gradient, void *arg)
{
	struct search *s = arg;
	struct fitting *f = s->f;
	struct gpu g = machine_gpu(&f->conf->cfg);
	double loss = 0;
	size_t count = 0;

	(void)gradient;
	for (unsigned i = 0; i < n; i++) {
		const struct fit_param *x = &f->p->fit[s->params[i]];
		double v = exp(logs[i]);

		v = v < (double)x->from ? (double)x->from : v > (double)x->to ? (double)x->to : v;
		fit_put(f, s->params[i], (uint64_t)(v + 0.5));
	}
	for (size_t k = 0; k < f->n; k++) {
		double r;

		if (f->at[k].group != s->group || (s->fold < f->data->folds && f->at[k].fold == s->fold))
			continue;
		r = ratio(f, k, &g);
		r = fabs(log(r > 1e-6 ? r : 1e-6));
		if (f->data->most_off > 0 && r > f->data->most_off)
			r = f->data->most_off + BEYOND * (r - f->data->most_off);
		loss += r < HUBER ? r * r / (2 * HUBER) : r - HUBER / 2;
		count++;
	}
	if (f->data->progress && ++s->evaluations % 100 == 0)
		f->data->progress(f->data->arg, f->done + f->share * (double)s->evaluations / (double)s->most);
	f->evaluations++;
	return count ? loss / (double)count : 0;
}

/* The best of some values of each parameter in turn, twice: a start for the search where times are no smooth function. */
static void scan(struct search *s, const double *low, const double *high, double *at)
{
	double least = objective(s->n, at, NULL, s);

	for (unsigned turn = 0; turn < SCANS * s->n; turn++) {
		const unsigned i = turn % s->n;
		double best = at[i];

		for (int k = 0; k < SCANNED; k++) {
			double loss;

			at[i] = low[i] + (high[i] - low[i]) * (k + 0.5) / SCANNED;
			loss = objective(s->n, at, NULL, s);
			if (loss < least) {
				least = loss;
				best = at[i];
			}
		}
		at[i] = best;
	}
}

static int fit_own_run(struct search *s, uint64_t *values, struct err *e)
{
	struct fitting *f = s->f;
	nlopt_opt o = nlopt_create(NLOPT_LN_SBPLX, s->n);
	double low[FIT_MAX], high[FIT_MAX], at[FIT_MAX], step[FIT_MAX], loss;
	nlopt_result rc;

	if (!o)
		return err_set(e, ERR_NOMEM, "out of memory for the fit");
	for (unsigned i = 0; i < s->n; i++) {
		const struct fit_param *x = &f->p->fit[s->params[i]];

		low[i] = log((double)x->from);
		high[i] = log((double)x->to);
		at[i] = log((double)x->start);
		step[i] = (high[i] - low[i]) / (f->data->rugged ? 2 * SCANNED : 10);
	}
	s->most = (f->data->most ? f->data->most : MOST) * s->n;
	if (f->data->rugged)
		scan(s, low, high, at);
	nlopt_set_lower_bounds(o, low);
	nlopt_set_upper_bounds(o, high);
	nlopt_set_initial_step(o, step);
	nlopt_set_min_objective(o, objective, s);
	nlopt_set_xtol_abs1(o, TOLERANCE);
	nlopt_set_ftol_abs(o, 1e-7);
	nlopt_set_maxeval(o, (int)s->most);
	rc = nlopt_optimize(o, at, &loss);
	nlopt_destroy(o);
	if (rc < 0 && rc != NLOPT_ROUNDOFF_LIMITED)
		return err_set(e, ERR_STUCK, "the fit failed (NLopt code %d)", (int)rc);
	for (unsigned i = 0; i < s->n; i++) {
		values[s->params[i]] = fit_round((uint64_t)(exp(at[i]) + 0.5));
		fit_put(f, s->params[i], values[s->params[i]]);
	}
	f->done += f->share;
	return 0;
}

/* All groups, without one fold; the values stay set, rounded. */
static int fit_once(struct fitting *f, unsigned fold, uint64_t *values, struct err *e)
{
	for (size_t group = 0; group < f->n_groups; group++) {
		struct search s = { .f = f, .group = group, .fold = fold };

		for (size_t i = 0; i < f->p->n_fit; i++)
			if (f->group[i] == group)
				s.params[s.n++] = i;
		if (fit_own_run(&s, values, e) < 0)
			return -1;
	}
	return 0;
}

/* --- the whole -----------------------------------------------------------------------------------------------------
 */

/* Mean absolute percentage error of the samples of a fold (folds: of all), or of a group (NO_GROUP: of any). */
static double mape_of(struct fitting *f, unsigned fold, size_t group, size_t *count)
{
	struct gpu g = machine_gpu(&f->conf->cfg);
	double sum = 0;

	*count = 0;
	for (size_t k = 0; k < f->n; k++) {
		if ((fold < f->data->folds && f->at[k].fold != fold) || (group != NO_GROUP && f->at[k].group != group))
			continue;
		sum += 100 * fabs(ratio(f, k, &g) - 1);
		(*count)++;
	}
	return *count ? sum / (double)*count : 0;
}

/* Where a machine is made anew of each value, one beyond the bounds may make none. */
static uint64_t within(const struct fitting *f, const struct fit_param *x, uint64_t v)
{
	return !f->data->settle ? v : v < x->from ? x->from : v > x->to ? x->to : v;
}

static void sensitivities(struct fitting *f)
{
	size_t count;

	for (size_t i = 0; i < f->p->n_fit; i++) {
		struct fit_param *x = &f->p->fit[i];
		double as_is = mape_of(f, f->data->folds, f->group[i], &count), up, down;

		fit_put(f, i, within(f, x, x->value + x->value / 10));
		up = mape_of(f, f->data->folds, f->group[i], &count);
		fit_put(f, i, within(f, x, x->value - x->value / 10));
		down = mape_of(f, f->data->folds, f->group[i], &count);
		fit_put(f, i, x->value);
		x->sensitivity = (up > down ? up : down) - as_is;
	}
}

static unsigned fold_of(const struct fitting *f, uint32_t set, const struct sample *x)
{
	if (f->data->by_set)
		return set;
	return f->data->folds ? (unsigned)((x->hash >> 20) % f->data->folds) : 0;
}

static int fit_gather(struct fitting *f, struct err *e)
{
	size_t most = 1;

	for (size_t i = 0; i < f->data->n_sets; i++)
		most += f->data->sets[i].n;
	if (!(f->at = malloc(most * sizeof *f->at)))
		return err_set(e, ERR_NOMEM, "out of memory for the fit");
	for (uint32_t i = 0; i < f->data->n_sets; i++)
		for (uint32_t k = 0; k < f->data->sets[i].n; k++) {
			const struct sample *x = &f->data->sets[i].v[k];

			if ((f->data->all || x->split == SAMPLE_FITTED) && x->measured_ns)
				f->at[f->n++] = (struct place){ i, k, fold_of(f, i, x), 0 };
		}
	return f->n ? 0 : err_set(e, ERR_IO, "no sample of the fitted split is in the traces");
}

static int fit_all(struct fitting *f, struct fit_report *out, struct err *e)
{
	uint64_t values[FIT_MAX];
	size_t count;

	if (fit_gather(f, e) < 0 || find_groups(f, e) < 0)
		return -1;
	f->share = f->n_groups ? 1.0 / (double)(f->n_groups * (f->data->folds + 1)) : 1;
	for (unsigned fold = 0; fold < f->data->folds; fold++) {
		if (fit_once(f, fold, values, e) < 0)
			return -1;
		out->cv_mape += mape_of(f, fold, NO_GROUP, &count) * (double)count / (double)f->n;
		for (size_t i = 0; i < f->p->n_fit; i++) {
			struct fit_param *x = &f->p->fit[i];

			x->low = fold == 0 || values[i] < x->low ? values[i] : x->low;
			x->high = fold == 0 || values[i] > x->high ? values[i] : x->high;
		}
	}
	out->evaluations = f->evaluations;
	if (f->data->by_set) /* asked for what sets tell of each other */
		return 0;
	if (fit_once(f, f->data->folds, values, e) < 0)
		return -1;
	for (size_t i = 0; i < f->p->n_fit; i++)
		f->p->fit[i].value = values[i];
	out->mape = mape_of(f, f->data->folds, NO_GROUP, &count);
	sensitivities(f);
	out->samples = f->n;
	out->searches = f->n_groups;
	out->evaluations = f->evaluations;
	return 0;
}

int fit_run(struct fit_plan *p, struct machine_conf *conf, const struct fit_data *data, struct fit_report *out,
            struct err *e)
{
	struct fitting f = { .p = p, .conf = conf, .data = data };
	int rc;

	memset(out, 0, sizeof *out);
	rc = fit_all(&f, out, e);
	free(f.at);
	free(f.group);
	return rc;
}
