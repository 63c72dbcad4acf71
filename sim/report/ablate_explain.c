#include "sim/report/ablate_explain.h"

#include <math.h>
#include <string.h>

#define NAMED 4 /* changes that a sentence names */

struct teller {
	const struct ablate_doc *v;
	struct explain_lines to;
};

/* --- where a figure is from ---------------------------------------------------------------------------------------- */

/* Does a later one set the same? */
static bool set_again(const struct ablate_change *c, size_t at)
{
	const size_t key = strcspn(c->sets[at], "=") + 1;

	for (size_t k = at + 1; k < c->n_sets; k++)
		if (strncmp(c->sets[k], c->sets[at], key) == 0)
			return true;
	return false;
}

/* What a change sets. */
static const char *sets_of(struct teller *t, size_t change)
{
	const struct ablate_change *c = &t->v->x->changes[change];
	struct str s = STR_INIT;
	const char *out;

	for (size_t k = 0; k < c->n_sets && s.len < 200; k++)
		if (!set_again(c, k))
			str_addf(&s, "%s%s", s.len ? ", " : "", c->sets[k]);
	out = explain_text(&t->to, "'%.80s' sets %.300s", c->name, s.len ? str_c(&s) : "nothing");
	str_free(&s);
	return out;
}

static const char *run_by(struct teller *t, const struct ablate_worth *w)
{
	return explain_text(&t->to, "%s, against %.200s without the changes",
	                    w->by == RUN_EVENT ? "run with events" : "run in closed form", t->v->x->base);
}

static const char *work_of(struct teller *t, size_t w)
{
	return t->v->x->workloads[w].name;
}

/* --- what is told ---------------------------------------------------------------------------------------------------- */

/* The whole on workload w, against the base by the same fidelity; NaN: it was not run so. */
static double whole(const struct ablate_doc *v, size_t w)
{
	const struct ablate_run *all = &v->results[w].all, *base = &v->results[w].base;

	base = base->by != all->by && base->form ? base->form : base;
	return all->run && !all->refused && base->total_ps ? 1 - (double)all->total_ps / (double)base->total_ps : NAN;
}

static void say_all(struct teller *t)
{
	const struct ablation *x = t->v->x;
	size_t best = 0, least = 0, n = 0;

	for (size_t w = 0; w < x->n_workloads; w++) {
		const double s = whole(t->v, w);

		if (!isfinite(s))
			continue;
		best = !n || s > whole(t->v, best) ? w : best;
		least = !n || s < whole(t->v, least) ? w : least;
		n++;
	}
	if (!n)
		return;
	explain_add(&t->to,
	            (struct explain_line){
			    "all",
			    n == 1 ? explain_text(&t->to, "All together save %.0f %% on %.100s.",
	                                          100 * whole(t->v, best), work_of(t, best))
				   : explain_text(&t->to,
	                                          "All together save %.0f %% on %.100s and %.0f %% on %.100s, the most"
	                                          " and the least.",
	                                          100 * whole(t->v, best), work_of(t, best), 100 * whole(t->v, least),
	                                          work_of(t, least)),
			    explain_text(&t->to, "workloads[%zu].all.us", best), whole(t->v, best), "",
			    explain_text(&t->to, "%zu workload%s", n, n == 1 ? "" : "s"),
			    explain_text(&t->to, "simulated %s, on %.200s", ablate_how_run(t->v), x->base) });
}

typedef struct ablate_worth worth_fn(const struct ablate_doc *v, size_t w, size_t change);

static struct ablate_worth alone_of(const struct ablate_doc *v, size_t w, size_t change)
{
	struct ablate_worth none = { .known = false };

	return v->results[w].alone[change].run ? ablate_alone(v->x, &v->results[w], change) : none;
}

static struct ablate_worth missed_of(const struct ablate_doc *v, size_t w, size_t change)
{
	return ablate_missed(&v->results[w], change);
}

/* The change and workload with the most of it (`sign` 1) or the least (-1); false: none is noticed. */
static bool extreme(const struct ablate_doc *v, worth_fn *of, int sign, size_t *change, size_t *w)
{
	double most = ABLATE_NOTICED;
	bool any = false;

	for (size_t i = 0; i < v->x->n_changes; i++)
		for (size_t k = 0; k < v->x->n_workloads; k++) {
			const struct ablate_worth x = of(v, k, i);

			if (!x.known || sign * x.value <= most)
				continue;
			most = sign * x.value;
			*change = i;
			*w = k;
			any = true;
		}
	return any;
}

static void say_best(struct teller *t)
{
	size_t i, w;
	struct ablate_worth x;
	const char *why;

	if (!extreme(t->v, alone_of, 1, &i, &w))
		return;
	x = alone_of(t->v, w, i);
	why = t->v->x->changes[i].mechanism;
	explain_add(&t->to,
	            (struct explain_line){ "best",
	                                   explain_text(&t->to, "Alone '%.80s' pays most: %.0f %% on %.100s%s%.300s.",
	                                                t->v->x->changes[i].name, 100 * x.value, work_of(t, w),
	                                                why ? "; " : "", why ? why : ""),
	                                   "changes[].saves", x.value, "", sets_of(t, i), run_by(t, &x) });
}

static void say_missed(struct teller *t)
{
	size_t i, w;
	struct ablate_worth x;

	if (!extreme(t->v, missed_of, 1, &i, &w))
		return;
	x = missed_of(t->v, w, i);
	explain_add(&t->to,
	            (struct explain_line){
			    "missed",
			    explain_text(&t->to,
	                                 "Of the whole '%.80s' is missed most: %.100s takes %.0f %% longer without it.",
	                                 t->v->x->changes[i].name, work_of(t, w), 100 * x.value),
			    "changes[].missed", x.value, "", sets_of(t, i),
			    x.by == RUN_EVENT ? "run with events, against all of them"
					      : "run in closed form, against all of them" });
}

static void say_worst(struct teller *t)
{
	size_t i, w;
	struct ablate_worth x;

	if (!extreme(t->v, alone_of, -1, &i, &w))
		return;
	x = alone_of(t->v, w, i);
	explain_add(&t->to,
	            (struct explain_line){
			    "worst",
			    explain_text(&t->to, "Alone '%.80s' costs most: %.100s takes %.0f %% longer with it.",
	                                 t->v->x->changes[i].name, work_of(t, w), -100 * x.value),
			    "changes[].saves", x.value, "", sets_of(t, i), run_by(t, &x) });
}

/* --- changes counted ------------------------------------------------------------------------------------------------- */

/* On every workload that it was run on one of these verdicts, by bit; on none: false. */
static bool everywhere(const struct ablate_doc *v, size_t change, unsigned verdicts)
{
	size_t n = 0;

	for (size_t w = 0; w < v->x->n_workloads; w++) {
		const enum ablate_verdict x = ablate_verdict_of(v->x, &v->results[w], change);

		if (x == ABLATE_NOT_RUN || x == ABLATE_NOT_MODELLED)
			continue;
		if (!(verdicts & 1u << x))
			return false;
		n++;
	}
	return n > 0;
}

static bool not_modelled(const struct ablate_doc *v, size_t change, unsigned ignored)
{
	(void)ignored;
	return v->x->changes[change].not_modelled != NULL;
}

typedef bool holds_fn(const struct ablate_doc *v, size_t change, unsigned verdicts);

static void say_count(struct teller *t, const char *about, const char *what, holds_fn *holds, unsigned verdicts,
                      const char *source)
{
	const struct ablation *x = t->v->x;
	struct str names = STR_INIT;
	size_t n = 0;

	for (size_t i = 0; i < x->n_changes; i++)
		if (holds(t->v, i, verdicts) && n++ < NAMED)
			str_addf(&names, "%s%.80s", n > 1 ? ", " : "", x->changes[i].name);
	if (n)
		explain_add(&t->to,
		            (struct explain_line){ about,
		                                   explain_text(&t->to, "%zu of %zu %s: %.400s%s.", n, x->n_changes,
		                                                what, str_c(&names), n > NAMED ? " and others" : ""),
		                                   "changes[].verdict", (double)n, "",
		                                   explain_text(&t->to, "%zu changes on %zu workload%s", x->n_changes,
		                                                x->n_workloads, x->n_workloads == 1 ? "" : "s"),
		                                   source });
	t->to.failed |= names.failed;
	str_free(&names);
}

/* Of claims on suites. */
static void say_rulings(struct teller *t)
{
	const struct ablation *x = t->v->x;
	size_t n[ABLATE_NOT_RULED + 1] = { 0 }, all = 0;
	struct str s = STR_INIT;

	for (size_t i = 0; x->n_suites && i < x->n_changes; i++) {
		struct ablate_court c;

		if (!x->changes[i].says)
			continue;
		ablate_court(x, t->v->results, i, &c);
		n[c.ruling]++;
		all += c.ruling != ABLATE_NOT_RULED;
	}
	for (int k = 0; k < ABLATE_NOT_RULED; k++)
		if (n[k])
			str_addf(&s, "%s%zu %s", s.len ? ", " : "", n[k], ablate_ruling_name((enum ablate_ruling)k));
	if (all)
		explain_add(&t->to,
		            (struct explain_line){
				    "claims",
				    explain_text(&t->to, "%zu claims held against the means of suites: %s.", all,
		                                 str_c(&s)),
				    "court[].verdict", (double)all, "", explain_text(&t->to, "%zu suites", x->n_suites),
				    "what each saves there, less what its area is worth elsewhere" });
	t->to.failed |= s.failed;
	str_free(&s);
}

int ablate_explain(const struct ablate_doc *v, struct arena *a, struct explain_line lines[EXPLAIN_LINES], struct err *e)
{
	static const char alone[] = "each alone on every workload that it was run on";
	struct teller t = { v, { a, lines, 0, false } };

	say_all(&t);
	say_best(&t);
	say_count(&t, "pays", "pay wherever they were tried", everywhere, 1u << ABLATE_RIGHT, alone);
	say_missed(&t);
	say_count(&t, "together", "do nothing alone and would be missed", everywhere, 1u << ABLATE_TOGETHER,
	          "each alone, and all but it");
	say_worst(&t);
	say_count(&t, "nothing", "do nothing anywhere", everywhere, 1u << ABLATE_NOTHING, alone);
	say_rulings(&t);
	say_count(&t, "unsure", "are within what events and closed form differ by", everywhere, 1u << ABLATE_WITHIN,
	          "both fidelities of the same runs");
	say_count(&t, "not_modelled", "have no model and are not judged", not_modelled, 0, "the ablation's file");
	return t.to.failed ? err_nomem(e, "for an ablation") : t.to.n;
}
