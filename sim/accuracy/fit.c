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
#define ROUNDS    5    /* of a search that goes by ways found at its start (fit_data.hold) */
#define CLOSER    2    /* halvings of a round's way that did not pay once ways were found anew */
#define COARSE    32   /* a count below it moves by more than a search's steps: it is walked one by one */
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
	struct fit_report *out;
	size_t n; /* samples of all sets that the fit looks at */
	struct place {
		uint32_t set, sample;
		unsigned fold;
		size_t group;
	} * at;
	size_t *group; /* of a parameter */
	size_t n_groups;
	unsigned evaluations;
	bool holds;       /* searches go by ways that are held */
	uint64_t numbers; /* under which they were, so far */
	uint64_t own;     /* the first of this search */
	bool by_all;      /* a sample goes by whichever of the shared ways and this search's own is fastest */
	bool changed;     /* a parameter, since samples were timed last */
	uint64_t at_values[FIT_MAX];
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

	f->changed |= f->at_values[i] != v;
	f->at_values[i] = v;
	if (!x->of_kernel) {
		cfg_set_raw(f->conf->raw, x->row, v, "fitted");
		return;
	}
	for (size_t k = 0; k < f->data->n_sets; k++)
		cases_put(&f->data->sets[k], &x->number, (uint32_t)v);
}

static void fit_hold(struct fitting *f, uint64_t number)
{
	if (f->holds)
		f->data->hold(f->data->engine, number);
}

/* Ways are found anew, and stay. */
static void fit_hold_anew(struct fitting *f)
{
	fit_hold(f, ++f->numbers);
}

static struct sample *sample(const struct fitting *f, size_t i)
{
	return &f->data->sets[f->at[i].set].v[f->at[i].sample];
}

/* Places in the box of all parameters: the start; a quarter from its low end; from its high end; and there, with one of them at
 * the other. */
static uint64_t ways_in_all(const struct fitting *f)
{
	return 3 + f->p->n_fit;
}

static ps_t time_one(struct fitting *f, size_t i)
{
	f->data->time(f->data->engine, f->at[i].set, f->at[i].sample);
	return sample(f, i)->time.total;
}

/* Who finds ways anew takes the fastest, too; 0 is none. */
static void fastest_of_all(struct fitting *f, size_t i)
{
	ps_t least = 0;

	for (uint64_t number = 1; number <= f->numbers; number++) {
		ps_t t;

		if (number > ways_in_all(f) && number < f->own)
			continue;
		fit_hold(f, number);
		t = time_one(f, i);
		least = t && (!least || t < least) ? t : least;
	}
	sample(f, i)->time.total = least;
}

static double ratio(struct fitting *f, size_t i, const struct gpu *g)
{
	struct sample *x = sample(f, i);

	if (f->changed && f->data->settle)
		f->data->settle(f->data->engine);
	f->changed = false;
	if (f->by_all)
		fastest_of_all(f, i);
	else if (f->data->time)
		time_one(f, i);
	else
		cases_time_one(&f->data->sets[f->at[i].set], f->at[i].sample, g);
	return (double)x->time.total / 1e3 / (double)x->measured_ns;
}

/* --- ways that are held --------------------------------------------------------------------------------------------
 */

static double place_of(const struct fitting *f, uint64_t k, size_t i)
{
	const struct fit_param *x = &f->p->fit[i];
	const double low = log((double)x->from), high = log((double)x->to), at = k == 1 || k == i + 3 ? 0.25 : 0.75;

	return k ? exp(low + (high - low) * at) : (double)x->start;
}

/* Before folds are fitted, each of which then goes by the same. */
static void find_ways(struct fitting *f)
{
	struct gpu g = machine_gpu(&f->conf->cfg);

	for (uint64_t k = 0; f->holds && k < ways_in_all(f); k++) {
		for (size_t i = 0; i < f->p->n_fit; i++)
			fit_put(f, i, (uint64_t)(place_of(f, k, i) + 0.5));
		fit_hold(f, k + 1);
		for (size_t i = 0; i < f->n; i++)
			ratio(f, i, &g);
	}
	fit_hold(f, 0);
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

/* Joins a parameter to the samples whose time moves with it; false: there is none. */
static bool moves_any(struct fitting *f, size_t i, const ps_t *base, size_t *up)
{
	struct gpu g = machine_gpu(&f->conf->cfg);
	struct fit_param *x = &f->p->fit[i];
	bool moved = false;

	x->samples = 0;
	for (int side = 0; side < 2; side++) {
		fit_put(f, i, side ? x->to : x->from);
		for (size_t k = 0; k < f->n; k++) {
			ratio(f, k, &g);
			if (sample(f, k)->time.total == base[k])
				continue;
			moved = true;
			x->samples += side == 0;
			if (f->at[k].group == NO_GROUP)
				f->at[k].group = i;
			else
				up[root(up, f->at[k].group)] = root(up, i);
		}
	}
	fit_put(f, i, x->start);
	return moved;
}

/* The same, of a parameter that may say no more than which way is taken: then no search goes by ways that are held. */
static bool moves_by_way(struct fitting *f, size_t i, const ps_t *base, size_t *up)
{
	if (moves_any(f, i, base, up))
		return true;
	if (!f->holds)
		return false;
	fit_hold(f, 0);
	f->holds = false;
	return moves_any(f, i, base, up);
}

/* Every parameter is moved in turn; the samples whose time moves with it depend on it. */
static int find_groups(struct fitting *f, struct err *e)
{
	struct gpu g = machine_gpu(&f->conf->cfg);
	const size_t n_fit = f->p->n_fit;
	ps_t *base = malloc((f->n + 1) * sizeof *base);
	size_t *up = malloc((n_fit + 1) * sizeof *up);
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
	f->holds = f->data->hold != NULL;
	f->numbers = ways_in_all(f);
	fit_hold_anew(f);
	for (size_t k = 0; k < f->n; k++) {
		ratio(f, k, &g);
		base[k] = sample(f, k)->time.total;
		f->at[k].group = NO_GROUP;
	}
	for (size_t i = 0; i < n_fit && rc == 0; i++)
		if (!moves_by_way(f, i, base, up) && f->data->all_move)
			rc = err_set(
				e, ERR_CONFIG,
				"'%s' moves no %s, anywhere between its bounds: what it is cannot be told from these %ss",
				f->p->fit[i].name, f->data->time ? "row" : "sample", f->data->time ? "row" : "sample");
	fit_hold(f, 0);
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

/* Of each parameter of a search: the logarithm of its bounds, and where the search is. */
struct search_box {
	double low[FIT_MAX], high[FIT_MAX], at[FIT_MAX];
};

/* The best of some values of each parameter in turn: a start for the search where times are no smooth function. */
static void scan(struct search *s, struct search_box *b, unsigned turns)
{
	double *at = b->at, least = objective(s->n, at, NULL, s);

	for (unsigned turn = 0; turn < turns * s->n; turn++) {
		const unsigned i = turn % s->n;
		double best = at[i];

		for (int k = 0; k < SCANNED; k++) {
			double loss;

			at[i] = b->low[i] + (b->high[i] - b->low[i]) * (k + 0.5) / SCANNED;
			loss = objective(s->n, at, NULL, s);
			if (loss < least) {
				least = loss;
				best = at[i];
			}
		}
		at[i] = best;
	}
}

/* From `at`; the first steps are so large a part of what a parameter may be. */
static int descend(struct search *s, struct search_box *b, double first, struct err *e)
{
	nlopt_opt o = nlopt_create(NLOPT_LN_SBPLX, s->n);
	double step[FIT_MAX], loss;
	nlopt_result rc;

	if (!o)
		return err_set(e, ERR_NOMEM, "out of memory for the fit");
	for (unsigned i = 0; i < s->n; i++)
		step[i] = (b->high[i] - b->low[i]) * first;
	nlopt_set_lower_bounds(o, b->low);
	nlopt_set_upper_bounds(o, b->high);
	nlopt_set_initial_step(o, step);
	nlopt_set_min_objective(o, objective, s);
	nlopt_set_xtol_abs1(o, TOLERANCE);
	nlopt_set_ftol_abs(o, 1e-7);
	nlopt_set_maxeval(o, (int)s->most);
	rc = nlopt_optimize(o, b->at, &loss);
	nlopt_destroy(o);
	return rc < 0 && rc != NLOPT_ROUNDOFF_LIMITED ? err_set(e, ERR_STUCK, "the fit failed (NLopt code %d)", (int)rc)
	                                              : 0;
}

static bool is_coarse(const struct fitting *f, size_t i, double log_of)
{
	const struct fit_param *x = &f->p->fit[i];

	return !x->of_kernel && cfg_at(f->conf->raw, x->row).field->type == CFG_T_U32 && exp(log_of) < COARSE;
}

/* All other parameters found anew with one of them as it is. */
static double descend_but(struct search *s, struct search_box *b, unsigned i, double first, struct err *e)
{
	const double low = b->low[i], high = b->high[i];
	int rc = 0;

	b->low[i] = b->high[i] = b->at[i];
	if (s->n > 1)
		rc = descend(s, b, first, e);
	b->low[i] = low;
	b->high[i] = high;
	return rc < 0 ? -1 : objective(s->n, b->at, NULL, s);
}

/* Between two counts the loss is flat, so that a search stays where it began. Each goes up or down as long as that is better, the
 * others following it. */
static int walk_counts(struct search *s, struct search_box *b, double first, struct err *e)
{
	unsigned counts = 0;
	double least;

	for (unsigned i = 0; i < s->n; i++)
		counts += is_coarse(s->f, s->params[i], b->at[i]);
	least = counts ? objective(s->n, b->at, NULL, s) : 0;
	for (unsigned i = 0; counts && i < s->n; i++)
		for (int way = 1; way >= -1 && is_coarse(s->f, s->params[i], b->at[i]); way -= 2)
			for (;;) {
				struct search_box next = *b;
				const double v = floor(exp(b->at[i]) + 0.5) + way;
				double loss;

				if (v < 1 || log(v) < b->low[i] || log(v) > b->high[i])
					break;
				next.at[i] = log(v);
				if ((loss = descend_but(s, &next, i, first, e)) < 0)
					return -1;
				if (loss >= least)
					break;
				least = loss;
				*b = next;
			}
	return 0;
}

/* The loss with ways found anew, which are among all then; less than `least`, or as near to `best` as was tried. */
static double found_anew(struct search *s, struct search_box *b, const double *best, double least)
{
	double loss = 0;

	s->f->by_all = false;
	for (int k = 0; k <= CLOSER; k++) {
		for (unsigned i = 0; k && i < s->n; i++)
			b->at[i] = (b->at[i] + best[i]) / 2;
		fit_hold_anew(s->f);
		if ((loss = objective(s->n, b->at, NULL, s)) < least)
			break;
	}
	s->f->by_all = true;
	return loss;
}

/* Goes by the ways that are known, finds them anew where it ends, and goes on from there while that is better. */
static int in_rounds(struct search *s, struct search_box *b, double first, struct err *e)
{
	double best[FIT_MAX], least = HUGE_VAL;
	int rc = 0;

	memcpy(best, b->at, sizeof best);
	s->f->own = s->f->numbers + 1;
	s->f->by_all = true;
	scan(s, b, SCANS);
	for (int round = 0; round < ROUNDS && rc == 0; round++) {
		double loss;

		if ((rc = descend(s, b, round ? first / 4 : first, e)) < 0)
			break;
		if ((loss = found_anew(s, b, best, least)) >= least)
			break;
		least = loss;
		memcpy(best, b->at, sizeof best);
	}
	s->f->by_all = false;
	fit_hold(s->f, 0);
	memcpy(b->at, best, sizeof best);
	return rc;
}

static int fit_own_run(struct search *s, uint64_t *values, struct err *e)
{
	struct fitting *f = s->f;
	const double first = f->data->rugged ? 1.0 / (2 * SCANNED) : 0.1;
	struct search_box b;
	int rc;

	for (unsigned i = 0; i < s->n; i++) {
		const struct fit_param *x = &f->p->fit[s->params[i]];

		b.low[i] = log((double)x->from);
		b.high[i] = log((double)x->to);
		b.at[i] = log((double)x->start);
	}
	s->most = (f->data->most ? f->data->most : MOST) * s->n;
	if (f->holds) { /* which ways are there is as rugged as what they take */
		rc = in_rounds(s, &b, first, e);
	} else {
		if (f->data->rugged)
			scan(s, &b, SCANS);
		rc = descend(s, &b, first, e);
		if (rc == 0)
			rc = walk_counts(s, &b, first, e);
	}
	if (rc < 0)
		return -1;
	for (unsigned i = 0; i < s->n; i++) {
		values[s->params[i]] = fit_round((uint64_t)(exp(b.at[i]) + 0.5));
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

/* A tenth of a value; of a count below ten, one. */
static uint64_t fit_tenth(uint64_t v)
{
	return v >= 10 ? v / 10 : 1;
}

static void sensitivities(struct fitting *f)
{
	size_t count;

	fit_hold_anew(f);
	for (size_t i = 0; i < f->p->n_fit; i++) {
		struct fit_param *x = &f->p->fit[i];
		const uint64_t tenth = fit_tenth(x->value);
		double as_is = mape_of(f, f->data->folds, f->group[i], &count), up, down;

		fit_put(f, i, within(f, x, x->value + tenth));
		up = mape_of(f, f->data->folds, f->group[i], &count);
		fit_put(f, i, within(f, x, x->value > tenth ? x->value - tenth : x->value));
		down = mape_of(f, f->data->folds, f->group[i], &count);
		fit_put(f, i, x->value);
		x->sensitivity = (up > down ? up : down) - as_is;
	}
	fit_hold(f, 0);
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

/* A fit without one fold, or with all of them: a job for whichever worker. */
struct fold_found {
	int rc;
	unsigned evaluations;
	double off; /* of the fold's samples together, percent */
	struct err e;
	uint64_t values[FIT_MAX];
};

static void fold_job(void *arg, size_t i, struct str *to)
{
	const unsigned fold = (unsigned)i;

	(void)arg;
	str_addn(to, (const char *)&fold, sizeof fold);
}

static void fold_work(void *arg, void *state, const char *job, size_t n, struct str *result)
{
	struct fitting *f = arg;
	const unsigned before = f->evaluations;
	struct fold_found x = { .e = ERR_INIT };
	unsigned fold;
	size_t count;

	(void)state, (void)n;
	memcpy(&fold, job, sizeof fold);
	x.rc = fit_once(f, fold, x.values, &x.e);
	if (x.rc == 0 && fold < f->data->folds)
		x.off = mape_of(f, fold, NO_GROUP, &count) * (double)count;
	x.evaluations = f->evaluations - before;
	f->evaluations = before;
	str_addn(result, (const char *)&x, sizeof x);
}

static int fold_take(void *arg, size_t fold, const struct pool_result *r, struct err *e)
{
	struct fitting *f = arg;
	struct fold_found x;

	if (r->lost || r->n != sizeof x)
		return err_set(e, ERR_STUCK, "the fit failed: %s", r->lost ? r->lost : "half an answer");
	memcpy(&x, r->bytes, sizeof x);
	if (x.rc < 0)
		*e = x.e;
	f->evaluations += x.evaluations;
	f->out->cv_mape += x.off / (double)f->n;
	for (size_t i = 0; i < f->p->n_fit && x.rc == 0; i++) {
		struct fit_param *y = &f->p->fit[i];

		if (fold == f->data->folds)
			y->value = x.values[i];
		else
			y->low = fold == 0 || x.values[i] < y->low ? x.values[i] : y->low;
		if (fold < f->data->folds)
			y->high = fold == 0 || x.values[i] > y->high ? x.values[i] : y->high;
	}
	return x.rc;
}

/* Each fold's fit, then that to all samples; where sets are asked what they tell of each other, the folds alone. */
static int fit_folds(struct fitting *f, struct err *e)
{
	const struct pool_how how = { .backend = f->data->backend,
		                      .workers = f->data->jobs > 1 ? f->data->jobs : 0,
		                      .frame_max = 2 * sizeof(struct fold_found),
		                      .work = fold_work,
		                      .arg = f };
	const struct pool_batch batch = {
		.n = f->data->folds + !f->data->by_set, .ordered = true, .job = fold_job, .result = fold_take, .arg = f
	};
	struct pool *p = pool_new(&how, e);
	const int rc = p ? pool_run(p, &batch, e) : -1;

	pool_free(p);
	return rc;
}

static int fit_all(struct fitting *f, struct err *e)
{
	struct fit_report *out = f->out;
	size_t count;

	if (fit_gather(f, e) < 0 || find_groups(f, e) < 0)
		return -1;
	f->share = f->n_groups ? 1.0 / (double)(f->n_groups * (f->data->folds + 1)) : 1;
	find_ways(f);
	if (fit_folds(f, e) < 0)
		return -1;
	out->evaluations = f->evaluations;
	if (f->data->by_set) /* asked for what sets tell of each other */
		return 0;
	for (size_t i = 0; i < f->p->n_fit; i++)
		fit_put(f, i, f->p->fit[i].value);
	out->mape = mape_of(f, f->data->folds, NO_GROUP, &count);
	sensitivities(f);
	out->samples = f->n;
	out->searches = f->n_groups;
	return 0;
}

int fit_run(struct fit_plan *p, struct machine_conf *conf, const struct fit_data *data, struct fit_report *out,
            struct err *e)
{
	struct fitting f = { .p = p, .conf = conf, .data = data, .out = out, .changed = true };
	int rc;

	memset(out, 0, sizeof *out);
	rc = fit_all(&f, e);
	free(f.at);
	free(f.group);
	return rc;
}
