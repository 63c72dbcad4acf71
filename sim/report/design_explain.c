#include "sim/report/design_explain.h"

#include <math.h>
#include <string.h>

#include "sim/ui/number.h"

#define CHANGES_TOLD 6

struct teller {
	const struct design_doc *x;
	struct explain_lines to;
};

static const char *differs(struct teller *t, const struct design_one *one, const struct design_one *from, size_t *n)
{
	struct str text = STR_INIT;
	const char *out;

	*n = design_doc_changes(t->x->r->s, one, from, CHANGES_TOLD, &text);
	out = explain_text(&t->to, "%s", str_c(&text));
	t->to.failed |= text.failed;
	str_free(&text);
	return out;
}

static const char *by(const struct design_one *one)
{
	return one->by_events ? "run with events" : "run in closed form";
}

/* --- the sentences ------------------------------------------------------------------------------------------------ */

static void say_answer(struct teller *t)
{
	const struct design_doc *x = t->x;
	const struct design_result *r = x->r;
	size_t n;
	const char *changes = differs(t, &r->best, &r->base, &n);
	const char *text;

	if (!r->reached)
		text = explain_text(&t->to, "No design that was run reaches the goal; the nearest is %s with %s.",
		                    x->machine, n ? changes : "nothing changed");
	else if (!n)
		text = explain_text(&t->to, "Build %s as it is: nothing in the space is better.", x->machine);
	else
		text = explain_text(&t->to, "Build %s with %s.", x->machine, changes);
	explain_add(&t->to,
	            (struct explain_line){ "answer", text, "changes", (double)n, "", "the design's axes",
	                                   explain_text(&t->to, "the best of %zu designs that were run", r->n_tried) });
}

static void say_goals(struct teller *t)
{
	const struct design_one *one = &t->x->r->best;

	for (size_t i = 0; i < t->x->n_bounds; i++)
		explain_add(&t->to, (struct explain_line){
					    one->bound[i].margin < 0 ? "missed" : "goal",
					    explain_text(&t->to, "It %s %s: %s, %.1f %% %s.",
		                                         one->bound[i].margin < 0 ? "misses" : "reaches",
		                                         t->x->bounds[i], explain_number(&t->to, one->bound[i].value),
		                                         100 * fabs(one->bound[i].margin),
		                                         one->bound[i].margin < 0 ? "off" : "to spare"),
					    one->bound[i].left, one->bound[i].value, "", t->x->bounds[i], by(one) });
}

static void say_price(struct teller *t)
{
	const struct design_doc *x = t->x;
	const struct design_result *r = x->r;
	const char *was = r->base.failed || !r->changed ? ""
	                                                : explain_text(&t->to, "; of %s as it is %s%s", x->machine,
	                                                               explain_number(&t->to, r->base.objective),
	                                                               r->base.meets ? "" : ", which misses the goal");

	explain_add(&t->to,
	            (struct explain_line){ "price",
	                                   explain_text(&t->to, "%s %s is %s%s.",
	                                                x->maximise ? "What it yields:" : "Its price:", x->objective,
	                                                explain_number(&t->to, r->best.objective), was),
	                                   x->objective, r->best.objective, "",
	                                   !r->reached   ? "of the nearest design"
	                                   : x->maximise ? "the most of what reaches the goal"
	                                                 : "the least of what reaches the goal",
	                                   by(&r->best) });
}

static void say_sure(struct teller *t)
{
	const struct design_one *one = &t->x->r->best;
	const double us = (double)one->figures.total_ps / 1e6;

	if (one->high <= 1 && one->low >= 1)
		return;
	explain_add(&t->to, (struct explain_line){
				    "sure",
				    explain_text(&t->to, "A step takes %s, and four times in five the truth is %s.",
	                                         explain_time(&t->to, us),
	                                         explain_times(&t->to, us * one->low, us * one->high)),
				    "latency_us", us, "us", "a step",
				    "errors of its family's silicon, or of other families where it has none" });
}

static void say_held(struct teller *t)
{
	const struct design_one *one = &t->x->r->best;

	explain_add(&t->to, (struct explain_line){ "held",
	                                           explain_text(&t->to, "Most of its time it waits for %s, %.0f %%.",
	                                                        res_name(one->held), 100 * one->held_share),
	                                           explain_text(&t->to, "stall.%s", res_name(one->held)),
	                                           one->held_share, "", "a step", by(one) });
}

/* What the first change leads to: the price where it meets the goal, else what is farthest off it. */
static void say_way(struct teller *t)
{
	const struct design_result *r = t->x->r;
	const struct design_step *s = r->steps;
	const char *what = t->x->objective;
	double value;

	if (!r->n_steps || r->base.failed)
		return;
	value = s->after.objective;
	for (size_t i = 0, worst = 0; !s->after.meets && i < t->x->n_bounds; i++)
		if (s->after.bound[i].margin <= s->after.bound[worst].margin) {
			worst = i;
			what = s->after.bound[i].left;
			value = s->after.bound[i].value;
		}
	explain_add(
		&t->to,
		(struct explain_line){
			"way",
			explain_text(
				&t->to,
				"%s as it is waits for %s %.0f %% of its time, and of all changes %s %s -> %s pays first: "
				"%s %s, the goal %s.",
				t->x->machine, res_name(r->base.held), 100 * r->base.held_share, s->key, s->from, s->to,
				what, explain_number(&t->to, value), s->after.meets ? "met" : "not met yet"),
			what, value, "", s->key, by(&s->after) });
}

static double missed(const struct design_one *one, size_t n)
{
	double least = 0;

	for (size_t i = 0; i < n; i++)
		least = fmin(least, one->bound[i].margin);
	return -least;
}

static void say_beside(struct teller *t)
{
	const struct design_doc *x = t->x;
	const struct design_beside *near = NULL;

	for (size_t i = 0; i < x->r->n_beside; i++)
		if (!x->r->beside[i].one.failed &&
		    (!near || missed(&x->r->beside[i].one, x->n_bounds) < missed(&near->one, x->n_bounds)))
			near = &x->r->beside[i];
	if (!near)
		return;
	explain_add(
		&t->to,
		(struct explain_line){
			"beside",
			explain_text(
				&t->to,
				"%zu design%s a step away would be better and fail%s; nearest is %s %s -> %s, which misses %s "
				"by %.2g %%.",
				x->r->n_beside, x->r->n_beside == 1 ? "" : "s", x->r->n_beside == 1 ? "s" : "",
				near->key, near->from, near->to, near->fails, 100 * missed(&near->one, x->n_bounds)),
			near->fails, missed(&near->one, x->n_bounds), "", near->key, by(&near->one) });
}

static void say_second(struct teller *t)
{
	const struct design_doc *x = t->x;
	const struct design_result *r = x->r;
	const double more = r->second.objective / r->best.objective - 1;
	size_t n;
	const char *changes;

	if (!r->has_second || !r->reached)
		return;
	changes = differs(t, &r->second, &r->best, &n);
	explain_add(
		&t->to,
		(struct explain_line){
			"second",
			explain_text(
				&t->to,
				"The runner-up reaches the goal, too, and lacks the price: %s %s, %+.3g %%, with %s.",
				x->objective, explain_number(&t->to, r->second.objective), 100 * more, changes),
			x->objective, r->second.objective, "", "the next best", by(&r->second) });
}

static void say_ends(struct teller *t)
{
	const struct design_result *r = t->x->r;
	struct str text = STR_INIT;

	for (size_t i = 0; i < r->n_ends && i < CHANGES_TOLD; i++)
		str_addf(&text, "%s%s", i ? ", " : "", r->ends[i]);
	if (r->n_ends > CHANGES_TOLD)
		str_addf(&text, " and %zu more", r->n_ends - CHANGES_TOLD);
	if (r->n_ends)
		explain_add(
			&t->to,
			(struct explain_line){
				"ends",
				explain_text(
					&t->to,
					"It lies at an end of %zu of its axes (%s): beyond them may be better ones.",
					r->n_ends, str_c(&text)),
				"ends", (double)r->n_ends, "", "the space's axes",
				"configs/design, --axes or --axis" });
	t->to.failed |= text.failed;
	str_free(&text);
}

static void say_search(struct teller *t)
{
	const struct design_result *r = t->x->r;
	const char *left =
		r->unreal ? explain_text(&t->to, "; designs that nobody can build were left out: %s", r->unreal_why)
			  : "";
	struct str space = STR_INIT;

	number_count(&space, r->space);
	explain_add(&t->to,
	            (struct explain_line){
			    "search",
			    explain_text(&t->to, "Of %s designs %zu were run in closed form and %zu with events%s.",
	                                 str_c(&space), r->forms, r->events, left),
			    "evaluations", (double)(r->forms + r->events), "", "the search", "npusim design" });
	t->to.failed |= space.failed;
	str_free(&space);
}

int design_explain(const struct design_doc *x, struct arena *a, struct explain_line lines[EXPLAIN_LINES], struct err *e)
{
	struct teller t = { x, { a, lines, 0, false } };

	say_answer(&t);
	if (!x->r->best.failed) {
		say_goals(&t);
		say_price(&t);
		say_sure(&t);
		say_held(&t);
		say_way(&t);
		say_beside(&t);
		say_second(&t);
		say_ends(&t);
	}
	say_search(&t);
	return t.to.failed ? err_nomem(e, "for a design") : t.to.n;
}
