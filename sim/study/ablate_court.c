/* ablate_court.c - what the runs of suites of workloads say of a claim. */
#include "sim/study/ablate_court.h"

#include <math.h>

#define NM2_MM2 1e12

/* --- a workload ---------------------------------------------------------------------------------------------------- */

static bool ablate_court_joules(const struct ablation *x, size_t change)
{
	return x->changes[change].expects == ABLATE_LESS_ENERGY;
}

static double die_of(const struct ablate_run *r)
{
	return (double)r->area_nm2;
}

/* Nm2 more than what it is measured from, on the first workload that both were run on. */
static double area_more(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	for (size_t w = 0; w < x->n_workloads; w++) {
		const struct ablate_run *it = &r[w].alone[change], *than = ablate_ref(x, &r[w], change);

		if (it->run && !it->refused && than->run && !than->refused)
			return die_of(it) - die_of(than);
	}
	return 0;
}

/* What so much area would do elsewhere, as log of a ratio of times, and how far that may be off. */
static double owed(const struct ablation *x, const struct ablate_result *r, double area, double *half)
{
	const struct ablate_worth w = ablate_exchange(r);
	const double gives = die_of(&r->base) - die_of(&r->exchange);
	const double share = w.known && gives > 0 && area > 0 ? area / gives : 0;

	*half = share * (share > 0 ? ablate_half(x, r, x->n_changes, &w) : 0);
	return share > 0 && w.value < 0 ? share * log(1 - w.value) : 0;
}

/* --- a suite ------------------------------------------------------------------------------------------------------- */

static enum ablate_effect effect_of(const struct ablate_change *c, const struct ablate_suite *s)
{
	const double net = s->saves - s->owes;

	if (c->expects == ABLATE_NO_SLOWER)
		return s->saves >= -ABLATE_SPARED ? ABLATE_PAYS : -s->saves > s->half ? ABLATE_LOSES : ABLATE_OPEN;
	if (net > s->half)
		return ABLATE_PAYS;
	if (-net > s->half)
		return ABLATE_LOSES;
	return fabs(net) > ABLATE_NOTICED ? ABLATE_OPEN : ABLATE_NO_EFFECT;
}

static struct ablate_suite judge(const struct ablation *x, const struct ablate_result *r, size_t change, size_t suite,
                                 double area)
{
	const struct ablate_change *c = &x->changes[change];
	const bool joules = ablate_court_joules(x, change);
	struct ablate_suite s = { .low = 1e30, .high = -1e30 };
	double logs = 0, owes = 0, energy = 0, times = 0, half;

	for (size_t w = 0; w < x->n_workloads; w++) {
		const struct ablate_worth time = ablate_alone(x, &r[w], change), e = ablate_joules(x, &r[w], change);
		const struct ablate_worth *of = joules ? &e : &time;

		if (x->workloads[w].suite != (int)suite || !of->known)
			continue;
		s.n++;
		logs += log(1 - of->value);
		energy += log(1 - e.value);
		s.half += ablate_half(x, &r[w], change, of);
		s.low = fmin(s.low, of->value);
		times += log(1 - time.value);
		if (of->value > s.high) {
			s.high = of->value;
			s.best = w;
		}
		if (c->expects == ABLATE_FASTER) {
			owes += owed(x, &r[w], area, &half);
			s.half += half;
		}
	}
	if (!s.n)
		return (struct ablate_suite){ .n = 0 };
	s.saves = 1 - exp(logs / (double)s.n);
	s.time = 1 - exp(times / (double)s.n);
	s.energy = 1 - exp(energy / (double)s.n);
	s.owes = exp(owes / (double)s.n) - 1;
	s.half = fmax(s.half / (double)s.n, ABLATE_NOTICED);
	s.effect = effect_of(c, &s);
	return s;
}

void ablate_court(const struct ablation *x, const struct ablate_result *r, size_t change, struct ablate_court *out)
{
	size_t n = 0, pays = 0, open = 0;

	*out = (struct ablate_court){ .ruling = ABLATE_NOT_RULED };
	if (x->changes[change].not_modelled)
		return;
	out->area = area_more(x, r, change);
	for (size_t i = 0; i < x->n_suites; i++) {
		struct ablate_suite *s = &out->suites[i];

		if (!(x->changes[change].suites >> i & 1))
			continue;
		*s = judge(x, r, change, i, out->area);
		n += s->n > 0;
		pays += s->n && s->effect == ABLATE_PAYS;
		open += s->n && s->effect == ABLATE_OPEN;
	}
	if (n)
		out->ruling = pays == n ? ABLATE_RULED_RIGHT
		              : pays    ? ABLATE_RULED_PART
		              : open    ? ABLATE_RULED_OPEN
		                        : ABLATE_RULED_WRONG;
}

const char *ablate_ruling_name(enum ablate_ruling v)
{
	static const char *const names[] = { "right", "in part", "wrong", "open", "not judged" };

	return names[v];
}

const char *ablate_effect_name(enum ablate_effect v)
{
	static const char *const names[] = { "nothing", "pays", "loses", "open" };

	return names[v];
}

/* --- why ----------------------------------------------------------------------------------------------------------- */

static void amount(double x, struct str *out)
{
	str_addf(out, "%s %.1f %%", x < 0 ? "costs" : "saves", 100 * fabs(x));
}

static void suite_why(const struct ablation *x, size_t i, const struct ablate_suite *s, struct str *out)
{
	str_addf(out, "%s%s: ", out->len ? "; " : "", x->suites[i]);
	amount(s->saves, out);
	str_addf(out, " (+-%.1f; %.1f to %.1f)", 100 * s->half, 100 * s->low, 100 * s->high);
	if (s->owes > ABLATE_NOTICED / 10)
		str_addf(out, ", its area is worth %.1f %%", 100 * s->owes);
	if (s->effect == ABLATE_OPEN)
		str_add(out, ", within error");
}

/* The one workload that gains most, where the suites gain nothing, or not all of them. */
static void best_why(const struct ablation *x, const struct ablate_court *v, struct str *out)
{
	const struct ablate_suite *best = NULL;

	for (size_t i = 0; i < x->n_suites; i++)
		if (v->suites[i].n && (!best || v->suites[i].high > best->high))
			best = &v->suites[i];
	if (best && v->ruling != ABLATE_RULED_RIGHT && best->high > best->half)
		str_addf(out, ". It gains most on %s: %.1f %%", x->workloads[best->best].name, 100 * best->high);
}

/* The workload that a change names, where it is none of its suites. */
static void pays_why(const struct ablation *x, const struct ablate_result *r, size_t change, struct str *out)
{
	const int at = x->changes[change].pays;
	enum ablate_verdict v;

	if (at < 0 || !r[at].alone[change].run ||
	    (x->workloads[at].suite >= 0 && x->changes[change].suites >> x->workloads[at].suite & 1))
		return;
	v = ablate_verdict_of(x, &r[at], change);
	str_addf(out, ". On %s it %s: ", x->workloads[at].name,
	         v == ABLATE_RIGHT || v == ABLATE_TOGETHER ? "pays" : "does not pay");
	ablate_why(x, &r[at], change, out);
}

void ablate_court_why(const struct ablation *x, const struct ablate_result *r, size_t change, struct str *out)
{
	const struct ablate_change *c = &x->changes[change];
	struct ablate_court v;
	struct str s = STR_INIT;

	ablate_court(x, r, change, &v);
	if (c->not_modelled) {
		str_add(out, c->not_modelled);
		return;
	}
	if (c->ref >= 0)
		str_addf(out, "%s '%s': ", c->over ? "over" : "beside", x->changes[c->ref].name);
	for (size_t i = 0; i < x->n_suites; i++)
		if (v.suites[i].n)
			suite_why(x, i, &v.suites[i], &s);
	str_add(out, str_c(&s));
	if (fabs(v.area) >= NM2_MM2 / 2)
		str_addf(out, "; %+.0f mm2", v.area / NM2_MM2);
	best_why(x, &v, out);
	pays_why(x, r, change, out);
	out->failed |= s.failed;
	str_free(&s);
}
