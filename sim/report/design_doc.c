#include "sim/report/design_doc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/out_json.h"
#include "sim/ui/number.h"
#include "sim/ui/outfile.h"

#define BESIDE_MOST 12 /* rows for people */
#define WIDTH       100

/* --- a design's figures ---------------------------------------------------------------------------------------------- */

static struct figure_value named(const char *name, const struct design_one *one)
{
	const struct figure_measured none = { .wall_ns = -1 };

	return figure_value(figure_named(name), &one->figures, &none);
}

static void figure(struct doc *d, const char *key, int digits, const char *name, const struct design_one *one)
{
	const struct figure_value v = d->heads ? (struct figure_value){ .known = false } : named(name, one);

	doc_real_if(d, key, digits, v.known && !one->failed, v.x);
}

/* Those that all tables have; what is asked for stands before them where it is none of these. */
static const struct {
	const char *name;
	int digits;
	bool rare;
} usual[] = { { "tokens_per_s", 0, false },     { "latency_us", 1, false },  { "max_rate", 2, false },
	      { "tokens_per_s_user", 1, true }, { "ttft_p99_ms", 1, false }, { "tpot_p99_ms", 2, false },
	      { "area_mm2", 1, false },         { "power_w", 1, false },     { "cost_usd", 0, true } };

static bool is_usual(const char *name)
{
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (strcmp(usual[i].name, name) == 0)
			return true;
	return false;
}

/* Of a step, or of a server: the row says nothing of the other. */
static bool tells(const struct design_doc *x, size_t i)
{
	return figure_is_of(figure_named(usual[i].name), x->r->s->traffic);
}

/* What is asked for, by the goal or of it. */
static bool is_asked(const struct design_doc *x, const char *name)
{
	bool asked = strcmp(x->objective, name) == 0;

	for (size_t i = 0; i < x->n_bounds; i++)
		asked |= strstr(x->bounds[i], name) != NULL;
	return asked;
}

/* `all`: also what a row has room for only where it is asked for. */
static void cells(struct doc *d, const struct design_doc *x, const struct design_one *one, bool all)
{
	if (!is_usual(x->objective))
		doc_real_if(d, x->objective, 3, !one->failed, one->objective);
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (tells(x, i) && (all || !usual[i].rare || is_asked(x, usual[i].name)))
			figure(d, usual[i].name, usual[i].digits, usual[i].name, one);
}

static const char *fidelity(const struct design_one *one)
{
	return one->by_events ? "event" : "analytic";
}

/* "dram 73 %" */
static const char *held(const struct design_one *one, char buf[40])
{
	if (one->failed)
		return "-";
	snprintf(buf, 40, "%s %.0f %%", res_name(one->held), 100 * one->held_share);
	return buf;
}

/* --- for people -------------------------------------------------------------------------------------------------------- */

struct row {
	const struct design_doc *x;
	const char *name;
	const struct design_one *one;
};

static void design_row(struct doc *d, const void *of, size_t i)
{
	const struct row *r = of;
	const struct design_one *one = r->one;
	const struct figure_value rate =
		d->heads ? (struct figure_value){ .known = false } : named("tokens_per_s", one);
	char buf[40];

	(void)i;
	doc_text(d, "design", r->name);
	cells(d, r->x, one, true);
	if (!r->x->r->s->traffic) {
		doc_real_if(d, "low", 0, rate.known && !one->failed, rate.x / one->high);
		doc_real_if(d, "high", 0, rate.known && !one->failed, rate.x / one->low);
	}
	doc_text(d, "held by", held(one, buf));
	doc_text(d, "goal", one->failed ? "fails" : one->meets ? "met" : "missed");
}

static void step_row(struct doc *d, const void *of, size_t i)
{
	const struct design_doc *x = of;
	const struct design_step *s = &x->r->steps[i];
	const struct design_one *before = i ? &x->r->steps[i - 1].after : &x->r->base;
	char buf[40];

	doc_text(d, "held by", d->heads ? "" : held(before, buf));
	doc_text(d, "so change", s->key);
	doc_text(d, "from", s->from);
	doc_text(d, "to", s->to);
	cells(d, x, &s->after, false);
	doc_text(d, "goal", s->after.failed ? "fails" : s->after.meets ? "met" : "missed");
}

static double worst(const struct design_one *one, size_t n)
{
	double least = 0;

	for (size_t i = 0; i < n; i++)
		least = fmin(least, one->bound[i].margin);
	return least;
}

static void beside_row(struct doc *d, const void *of, size_t i)
{
	const struct design_doc *x = of;
	const struct design_beside *b = &x->r->beside[i];

	doc_text(d, "beside it", b->key);
	doc_text(d, "from", b->from);
	doc_text(d, "to", b->to);
	cells(d, x, &b->one, false);
	doc_name(d, "fails", 40, b->fails);
	doc_real_if(d, "by_pct", 1, !b->one.failed, -100 * worst(&b->one, x->n_bounds));
}

static void say_goal(struct doc *d, const struct design_doc *x)
{
	const struct design_result *r = x->r;
	const double was = r->base.objective, is = r->best.objective;

	if (r->reached)
		doc_say(d, "%s %s: %.5g", x->maximise ? "most" : "least", x->objective, is);
	else
		doc_say(d, "not reached; the nearest has %s %.5g", x->objective, is);
	if (!r->base.failed && r->changed)
		doc_say(d, " (%s as it is: %.5g)", x->machine, was);
	doc_say(d, "\n");
	for (size_t i = 0; i < x->n_bounds; i++)
		doc_say(d, "%-7s %s: %.5g, %.1f %% %s\n", r->best.bound[i].margin < 0 ? "missed" : "met", x->bounds[i],
		        r->best.bound[i].value, 100 * fabs(r->best.bound[i].margin),
		        r->best.bound[i].margin < 0 ? "off" : "to spare");
	if (!r->changed)
		doc_say(d, "%s as it is is that design\n", x->machine);
	doc_say(d, "\n");
}

/* Words after `head`, in lines that end before WIDTH. */
static void say_list(struct doc *d, const char *head, const char *const *v, size_t n)
{
	size_t at = strlen(head);

	if (!n)
		return;
	doc_say(d, "%s", head);
	for (size_t i = 0; i < n; i++) {
		const size_t length = strlen(v[i]) + 2;

		if (at + length > WIDTH) {
			doc_say(d, "\n ");
			at = 1;
		}
		doc_say(d, " %s%s", v[i], i + 1 < n ? "," : "\n");
		at += length;
	}
}

static void say_second(struct doc *d, const struct design_doc *x)
{
	const struct design_result *r = x->r;
	const char *differs[DESIGN_AXES];
	char head[128];
	size_t n = 0;

	if (!r->has_second || !r->reached)
		return;
	for (size_t i = 0; i < r->s->n_axes; i++)
		if (strcmp(r->second.sets[i], r->best.sets[i]) != 0)
			differs[n++] = r->second.sets[i];
	snprintf(head, sizeof head, "second best, %.60s %+.2f %%:", x->objective,
	         100 * (r->second.objective / r->best.objective - 1));
	doc_say(d, "\n");
	say_list(d, head, differs, n);
}

static void say_search(struct doc *d, const struct design_doc *x)
{
	const struct design_result *r = x->r;
	struct str space = STR_INIT;

	say_list(d, "at the end of its axis (--axis KEY=... goes on):", r->ends, r->n_ends);
	number_count(&space, r->space);
	doc_say(d, "searched: %s designs; run: %zu in closed form, %zu with events\n", str_c(&space), r->forms,
	        r->events);
	str_free(&space);
	if (r->spared)
		doc_say(d, "no run was left for %zu of them: -n asks for more in closed form%s\n", r->spared,
		        r->work >= DESIGN_WORK || r->events >= DESIGN_EVENTS_MOST
		                ? "; those with events have served all that a search may"
		                : "");
	if (r->unreal)
		doc_say_fact(d, "left out", r->unreal_why, WIDTH);
	if (is_asked(x, "cost_usd"))
		doc_say_fact(d, "cost_usd", figure_named("cost_usd")->help, WIDTH);
	if (x->written)
		doc_say(d, "written: %s\n", x->written);
}

static void people(struct doc *d, const struct design_doc *x)
{
	const struct design_result *r = x->r;
	const size_t n = r->n_beside < BESIDE_MOST ? r->n_beside : BESIDE_MOST;

	say_goal(d, x);
	doc_table_open(d, NULL, NULL);
	doc_row(d, design_row, &(struct row){ x, "as it is", &r->base }, 0);
	doc_row(d, design_row, &(struct row){ x, r->reached ? "best" : "nearest", &r->best }, 0);
	if (r->has_second && r->reached)
		doc_row(d, design_row, &(struct row){ x, "second", &r->second }, 0);
	doc_table_close(d, design_row, NULL);
	doc_say(d, "\n");
	if (r->n_steps)
		doc_table(d, NULL, NULL, r->n_steps, step_row, x);
	if (r->n_beside) {
		doc_say(d, "\n");
		doc_table(d, NULL, NULL, n, beside_row, x);
		doc_say_more(d, n, r->n_beside);
	}
	say_second(d, x);
	say_search(d, x);
}

/* --- for programs --------------------------------------------------------------------------------------------------------- */

static void members(struct doc *d, const struct design_doc *x, const struct design_one *one)
{
	const struct figure_value rate = named("tokens_per_s", one);

	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (tells(x, i))
			figure(d, usual[i].name, 3, usual[i].name, one);
	if (!x->r->s->traffic) {
		doc_real_if(d, "low", 3, rate.known && !one->failed, rate.x / one->high);
		doc_real_if(d, "high", 3, rate.known && !one->failed, rate.x / one->low);
	}
	doc_real_if(d, "objective", 6, !one->failed, one->objective);
	doc_bool(d, "meets", one->meets);
	doc_text_if(d, "held", !one->failed, res_name(one->held));
	doc_real_if(d, "held_share", 4, !one->failed, one->held_share);
	doc_text(d, "fidelity", fidelity(one));
	doc_text(d, "refused", one->failed ? one->why : NULL);
	doc_open(d, "parts", '[');
	for (size_t i = 0; one->part_us && i < x->n_parts; i++) {
		doc_open(d, NULL, '{');
		doc_text(d, "name", x->parts[i].name);
		doc_real(d, "weight", 6, x->parts[i].weight);
		doc_real(d, "us", 6, one->part_us[i]);
		doc_close(d, '}');
	}
	doc_close(d, ']');
	doc_open(d, "beyond", '[');
	for (size_t i = 0; i < one->n_beyond; i++)
		doc_text(d, NULL, one->beyond[i].text);
	doc_close(d, ']');
	doc_open(d, "bounds", '[');
	for (size_t i = 0; !one->failed && i < x->n_bounds; i++) {
		doc_open(d, NULL, '{');
		doc_text(d, "bound", x->bounds[i]);
		doc_real(d, "value", 6, one->bound[i].value);
		doc_real(d, "margin", 6, one->bound[i].margin);
		doc_close(d, '}');
	}
	doc_close(d, ']');
}

static void sets(struct doc *d, const struct sweep *s, const struct design_one *one)
{
	doc_open(d, "sets", '{');
	for (size_t i = 0; i < s->n_axes; i++)
		doc_text(d, s->axes[i].key, strchr(one->sets[i], '=') + 1);
	doc_close(d, '}');
}

static void one_object(struct doc *d, const struct design_doc *x, const char *key, const struct design_one *one)
{
	doc_open(d, key, '{');
	sets(d, x->r->s, one);
	members(d, x, one);
	doc_close(d, '}');
}

static void change(struct doc *d, const char *key, const char *from, const char *to)
{
	doc_text(d, "key", key);
	doc_text(d, "from", from);
	doc_text(d, "to", to);
}

static void json(struct doc *d, const struct design_doc *x)
{
	const struct design_result *r = x->r;

	doc_open(d, NULL, '{');
	doc_bool(d, "reached", r->reached);
	doc_count(d, "evaluations", r->forms + r->events);
	doc_count(d, "event_evaluations", r->events);
	doc_count(d, "events", r->work);
	doc_count(d, "not_run", r->spared);
	doc_real(d, "space", 0, r->space);
	doc_text(d, "minimize", x->maximise ? NULL : x->objective);
	doc_text(d, "maximize", x->maximise ? x->objective : NULL);
	sets(d, r->s, &r->best);
	members(d, x, &r->best);
	one_object(d, x, "base", &r->base);
	doc_open(d, "steps", '[');
	for (size_t i = 0; i < r->n_steps; i++) {
		const struct design_one *before = i ? &r->steps[i - 1].after : &r->base;

		doc_open(d, NULL, '{');
		change(d, r->steps[i].key, r->steps[i].from, r->steps[i].to);
		doc_text_if(d, "held_before", !before->failed, res_name(before->held));
		doc_real_if(d, "held_before_share", 4, !before->failed, before->held_share);
		members(d, x, &r->steps[i].after);
		doc_close(d, '}');
	}
	doc_close(d, ']');
	doc_open(d, "beside", '[');
	for (size_t i = 0; i < r->n_beside; i++) {
		doc_open(d, NULL, '{');
		change(d, r->beside[i].key, r->beside[i].from, r->beside[i].to);
		doc_text(d, "fails", r->beside[i].fails);
		members(d, x, &r->beside[i].one);
		doc_close(d, '}');
	}
	doc_close(d, ']');
	if (r->has_second)
		one_object(d, x, "runner_up", &r->second);
	else
		doc_text(d, "runner_up", NULL);
	doc_table(d, "explained", NULL, x->n_lines, explain_row, x->lines);
	doc_texts(d, "ends", r->ends, r->n_ends);
	doc_count(d, "unreal", r->unreal);
	doc_text(d, "unreal_why", r->unreal_why);
	doc_close(d, '}');
	str_addc(d->to, '\n');
}

static void csv_row(struct doc *d, const void *of, size_t i)
{
	const struct row *rows = of, *r = &rows[i];

	doc_text(d, "design", r->name);
	doc_real_if(d, "objective", 6, !r->one->failed, r->one->objective);
	doc_bool(d, "meets", r->one->meets);
	for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
		if (tells(r->x, k))
			figure(d, usual[k].name, 3, usual[k].name, r->one);
	for (size_t k = 0; k < r->x->r->s->n_axes; k++)
		doc_text(d, r->x->r->s->axes[k].key, strchr(r->one->sets[k], '=') + 1);
}

void design_doc(struct doc *d, const struct design_doc *x)
{
	const struct design_result *r = x->r;
	const struct row rows[] = { { x, "base", &r->base }, { x, "best", &r->best }, { x, "runner_up", &r->second } };

	if (d->format == OUT_JSON)
		json(d, x);
	else if (d->format == OUT_CSV)
		doc_table(d, NULL, NULL, r->has_second ? 3 : 2, csv_row, rows);
	else
		people(d, x);
}

/* --- the machine's file ----------------------------------------------------------------------------------------------------- */

size_t design_doc_changes(const struct sweep *s, const struct design_one *one, const struct design_one *from,
                          size_t most, struct str *to)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_axes; i++)
		if (strcmp(one->sets[i], from->sets[i]) != 0 && n++ < most)
			str_addf(to, "%s%s %s", n > 1 ? ", " : "", s->axes[i].key, strchr(one->sets[i], '=') + 1);
	if (n > most)
		str_addf(to, " and %zu more", n - most);
	return n;
}

static void design_yaml(const struct design_doc *x, const struct machine_conf *c, struct str *out)
{
	const struct design_result *r = x->r;

	str_addf(out, "# %s, as npusim design changed it: %s %s", x->machine, x->maximise ? "most" : "least",
	         x->objective);
	for (size_t i = 0; i < x->n_bounds; i++)
		str_addf(out, "%s %s", i ? "," : " with", x->bounds[i]);
	str_addf(out, "\n# %s: %s %.6g\n", r->reached ? "reached" : "not reached, the nearest", x->objective,
	         r->best.objective);
	for (size_t i = 0; i < r->s->n_axes; i++)
		if (strcmp(r->base.sets[i], r->best.sets[i]) != 0)
			str_addf(out, "#   %s, was %s\n", r->best.sets[i], strchr(r->base.sets[i], '=') + 1);
	cfg_dump(c->raw, out);
}

int design_doc_yaml(const struct design_doc *x, struct str *to, struct err *e)
{
	const struct design_result *r = x->r;
	struct machine_conf *c = machine_base_conf(r->s->machines, r->best.sets, (int)r->s->n_axes, e);

	if (!c)
		return -1;
	design_yaml(x, c, to);
	machine_conf_free(c);
	return 0;
}

int design_doc_write(const struct design_doc *x, struct err *e)
{
	struct str text = STR_INIT;
	int rc = design_doc_yaml(x, &text, e);

	if (rc == 0)
		rc = outfile_write(x->written, &text, e);
	str_free(&text);
	return rc;
}
