#include "sim/report/limits_doc.h"

#include <stdio.h>
#include <string.h>

#define WIDTH      80
#define SHOWN_PCT  0.05 /* the table's rows change the time by so much, one way at least */
#define PAIRS_MOST 10   /* rows of pairs in the table: the rest are like them */

#define PARTS_MOST 32 /* that could be named as not missed: units, caches, buffers */

static double gain(const struct limits_doc *v, const struct limits_row *x)
{
	return 100 * limits_gain(v->r, x, v->step_ppm);
}

static double form_gain(const struct limits_doc *v, const struct limits_row *x)
{
	struct limits_row form = *x;

	form.event_ps = 0;
	return gain(v, &form);
}

/* Of those figures that count. */
static double micros(const struct limits_doc *v, const struct limits_row *x)
{
	return doc_us(limits_by_events(v->r, x) ? x->event_ps : x->total_ps);
}

/* --- the answer ---------------------------------------------------------------------------------------------------- */

/* What the time is waited for: all above a twentieth of it. */
static void say_waits(const struct limits_result *r, struct str *out)
{
	bool told[RES_COUNT] = { false };

	for (int n = 0; n < RES_COUNT; n++) {
		int most = -1;

		for (int k = 0; k < RES_COUNT; k++)
			if (!told[k] && r->stall_ps[k] > r->base_ps / 20 &&
			    (most < 0 || r->stall_ps[k] > r->stall_ps[most]))
				most = k;
		if (most < 0)
			return;
		told[most] = true;
		str_addf(out, "%s %s %.0f %%", n ? "," : "\nwaits for", res_name((enum res)most),
		         100 * (double)r->stall_ps[most] / (double)r->base_ps);
	}
}

/* "dma.width 64 B -> 128 B", or of a pair "a 1 -> 2 with b 3 -> 4": its texts are joined by " + ". */
static void say_change(const struct limits_row *x, struct str *out)
{
	const char *key = x->key, *now = x->now, *then = x->then;

	for (const char *with = ""; key; with = " with ") {
		const char *k = strstr(key, " + "), *n = strstr(now, " + "), *t = strstr(then, " + ");

		str_addf(out, "%s%.*s %.*s -> %.*s", with, (int)(k ? k - key : (long)strlen(key)), key,
		         (int)(n ? n - now : (long)strlen(now)), now, (int)(t ? t - then : (long)strlen(then)), then);
		key = k ? k + 3 : NULL;
		now = n ? n + 3 : now;
		then = t ? t + 3 : then;
	}
}

static void say_form(const struct limits_doc *v, const struct limits_row *x, double sign, struct str *out)
{
	if (limits_by_events(v->r, x))
		str_addf(out, " (%.2f %% in closed form)", sign * form_gain(v, x));
}

static void say_best(const struct limits_doc *v, enum limits_move m, const char *what, const char *none,
                     struct str *out)
{
	const struct limits_row *x = limits_best(v->r, m);
	struct str text = STR_INIT;

	str_addf(out, "%-16s ", what);
	if (x) {
		say_change(x, &text);
		str_addf(&text, ":%s %.2f %%", m == LIMITS_PAIR ? " together" : "", gain(v, x));
		say_form(v, x, 1, &text);
	} else {
		str_add(&text, none);
	}
	if (x && m == LIMITS_PAIR)
		str_addf(&text, ", alone %.2f %% and %.2f %%",
		         100 * (1 - (double)x->alone_ps[0] / (double)v->r->base_ps),
		         100 * (1 - (double)x->alone_ps[1] / (double)v->r->base_ps));
	if (x && x->beyond)
		str_addf(&text, "; nobody builds it: %s", x->beyond);
	out_wrap(str_c(&text), 17, 17, WIDTH, out);
	out->failed |= text.failed;
	str_free(&text);
}

/* Names one after another, in lines that end before WIDTH and begin below the first. */
static void say_names(const char *const *names, size_t n, struct str *out)
{
	size_t at = 17;

	for (size_t i = 0; i < n; i++) {
		const size_t len = strlen(names[i]) + 1;

		if (i && at + len + 1 > WIDTH) {
			str_addf(out, "\n%17s", "");
			at = 17;
		} else if (i) {
			str_addc(out, ' ');
			at++;
		}
		str_addf(out, "%s%s", names[i], i + 1 < n ? "," : "\n");
		at += len;
	}
}

static void say_free(const struct limits_doc *v, struct str *out)
{
	const struct limits_result *r = v->r;

	str_addf(out, "%-16s ", "costs nothing");
	if (!r->n_free) {
		str_add(out, "to have less of: there is no such thing\n");
		return;
	}
	str_addf(out, "to have %s of, each alone (under 0.05 %%):\n%17s", v->step_ppm == 1000000 ? "half" : "less", "");
	say_names(r->free, r->n_free, out);
	str_addf(out, "%17sall of them together: ", "");
	if (r->all_free.refused)
		str_addf(out, "%s\n", r->all_free.refused);
	else {
		str_addf(out, "%.2f %%", -gain(v, &r->all_free));
		say_form(v, &r->all_free, -1, out);
		str_addc(out, '\n');
	}
}

/* Parts that nobody would miss, each alone. */
static void say_parts(const struct limits_result *r, struct str *out)
{
	const char *names[PARTS_MOST];
	size_t n = 0;

	for (size_t i = 0; i < r->n && n < PARTS_MOST; i++)
		if (r->rows[i].move == LIMITS_REMOVE && limits_costs_nothing(r, &r->rows[i]))
			names[n++] = r->rows[i].key;
	if (!n)
		return;
	str_addf(out, "%17sto be without, each alone:\n%17s", "", "");
	say_names(names, n, out);
}

static void limits_doc_answer(const struct limits_doc *v, struct str *out)
{
	const struct limits_result *r = v->r;
	const bool closed = strcmp(v->fidelity, "analytic") == 0;

	str_addf(out, "%s%s%s: %.3f us %s", v->config, v->part ? ", " : "", v->part ? v->part : "", doc_us(r->base_ps),
	         closed ? "in closed form" : "with events");
	if (r->event_ps)
		str_addf(out, ", %.3f us with events", doc_us(r->event_ps));
	say_waits(r, out);
	str_addf(out, "\n%zu runs %s", r->runs, closed ? "in closed form" : "with events");
	if (r->event_runs)
		str_addf(out, " and %zu with events", r->event_runs);
	str_addf(out, ", %zu of them pairs", r->pairs_tried);
	str_add(out, "\nsaves, costs: % of the time");
	if (v->step_ppm != 1000000)
		str_addf(out, ", per %g %% of the parameter", v->step_ppm / 1e4);
	if (r->event_ps)
		str_add(out, "; by: e with events, f in closed form,\n"
		             "~ within error: no more than the two differ by");
	str_add(out, "\n\n");
	say_best(v, LIMITS_MORE, "buys most", "more of nothing saves time", out);
	say_best(v, LIMITS_PAIR, "only together", "no pair saves more than its two alone", out);
	say_best(v, LIMITS_SWITCH, "as a switch", "none saves time", out);
	say_best(v, LIMITS_ADD, "a part more", "none saves time", out);
	say_free(v, out);
	say_parts(r, out);
}

/* --- tables -------------------------------------------------------------------------------------------------------- */

static const struct limits_row *other(const struct limits_result *r, const char *key, enum limits_move m)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->rows[i].move == m && strcmp(r->rows[i].key, key) == 0)
			return &r->rows[i];
	return NULL;
}

static const char *limits_doc_by_name(const struct limits_doc *v, const struct limits_row *x)
{
	return limits_by_events(v->r, x) ? "event" : v->fidelity;
}

static char by_letter(const struct limits_doc *v, const struct limits_row *x)
{
	if (!x || x->refused)
		return '-';
	return limits_within(v->r, x) ? '~' : strcmp(limits_doc_by_name(v, x), "event") == 0 ? 'e' : 'f';
}

/* What is there then and what that saves, in %, or costs: sign -1. How long it takes is for programs: lines have 80 columns. */
static void values(struct doc *d, const struct limits_doc *v, const struct limits_row *x, const char *then,
                   const char *what)
{
	const bool known = x && !x->refused;

	doc_text(d, then, x ? x->then : NULL);
	doc_real_if(d, what, 2, known, (strcmp(what, "costs") == 0 ? -1 : 1) * gain(v, x));
}

/* Nobody would notice. */
static bool unseen(const struct limits_doc *v, const struct limits_row *x)
{
	return !x || x->refused || (gain(v, x) < SHOWN_PCT && gain(v, x) > -SHOWN_PCT);
}

static void by(struct doc *d, const struct limits_doc *v, const struct limits_row *x, const struct limits_row *other)
{
	char text[] = { '-', '\0', '\0' };

	if (!d->heads) {
		text[0] = by_letter(v, x);
		text[1] = other ? by_letter(v, other) : '\0';
	}
	doc_text(d, "by", text);
}

/* Both ways of an amount in one row. */
static void amount(struct doc *d, const struct limits_doc *v, const struct limits_row *more,
                   const struct limits_row *less)
{
	doc_text(d, "parameter", more ? more->key : less->key);
	doc_text(d, "now", more ? more->now : less->now);
	values(d, v, more, "better", "saves");
	values(d, v, less, "worse", "costs");
	by(d, v, more, less);
}

static void amount_row(struct doc *d, const void *of, size_t i)
{
	const struct limits_doc *v = of;
	const struct limits_row *x = d->heads ? NULL : &v->r->rows[i], *less;

	if (d->heads)
		amount(d, v, NULL, NULL);
	else if (x->move == LIMITS_MORE &&
	         ((less = other(v->r, x->key, LIMITS_LESS)), !unseen(v, x) || !unseen(v, less)))
		amount(d, v, x, less);
}

/* Those that can only be less come last. */
static void less_row(struct doc *d, const void *of, size_t i)
{
	const struct limits_doc *v = of;
	const struct limits_row *x = &v->r->rows[i];

	if (x->move == LIMITS_LESS && !other(v->r, x->key, LIMITS_MORE) && !unseen(v, x))
		amount(d, v, NULL, x);
}

static void amounts(struct doc *d, const struct limits_doc *v)
{
	doc_table_open(d, NULL, NULL);
	for (size_t i = 0; i < v->r->n; i++)
		doc_row(d, amount_row, v, i);
	for (size_t i = 0; i < v->r->n; i++)
		doc_row(d, less_row, v, i);
	doc_table_close(d, amount_row, v);
}

static bool taken_otherwise(const struct limits_row *x)
{
	return x->move == LIMITS_SWITCH || x->move == LIMITS_ADD || x->move == LIMITS_REMOVE;
}

static void switch_row(struct doc *d, const void *of, size_t i)
{
	const struct limits_doc *v = of;
	const struct limits_row *x = d->heads ? NULL : &v->r->rows[i];

	if (x && (!taken_otherwise(x) || unseen(v, x)))
		return;
	doc_text(d, "switch or part", x->key);
	doc_text(d, "now", x->now);
	values(d, v, x, "then", "saves");
	by(d, v, x, NULL);
}

static void pair_row(struct doc *d, const void *of, size_t i)
{
	const struct limits_doc *v = of;
	const struct limits_row *x = &v->r->rows[i];

	if (x->move != LIMITS_PAIR || d->rows == PAIRS_MOST)
		return;
	doc_text(d, "pair", x->key);
	values(d, v, x, "then", "saves");
	doc_real(d, "beyond", 2, 100 * limits_beyond(v->r, x));
}

static void pairs(struct doc *d, const struct limits_doc *v)
{
	size_t all = 0;

	for (size_t i = 0; i < v->r->n; i++)
		all += v->r->rows[i].move == LIMITS_PAIR;
	if (!all)
		return;
	doc_say(d, "\npairs: beyond is more than the two save alone\n");
	doc_table(d, NULL, NULL, v->r->n, pair_row, v);
	if (all > PAIRS_MOST)
		doc_say(d, "%zu more are in --format csv and json\n", all - PAIRS_MOST);
}

static void say_unseen(struct doc *d, const struct limits_doc *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->r->n; i++)
		n += v->r->rows[i].move != LIMITS_PAIR && !v->r->rows[i].refused && unseen(v, &v->r->rows[i]);
	if (n)
		doc_say(d, "(%zu changes of under %g %% are in --format csv and json)\n", n, SHOWN_PCT);
}

static void refusals(struct doc *d, const struct limits_result *r)
{
	struct str text = STR_INIT;
	bool first = true;

	for (size_t i = 0; i < r->n; i++) {
		if (!r->rows[i].refused)
			continue;
		str_clear(&text);
		str_addf(&text, "%s=%s: %s", r->rows[i].key, r->rows[i].then, r->rows[i].refused);
		doc_say(d, "%s  ", first ? "\nnot possible:\n" : "");
		out_wrap(str_c(&text), 2, 4, WIDTH, d->to);
		first = false;
	}
	doc_free(d, &text);
}

static void limits_doc_table(struct doc *d, const struct limits_doc *v)
{
	limits_doc_answer(v, d->to);
	doc_say(d, "\n");
	say_unseen(d, v);
	amounts(d, v);
	doc_say(d, "\n");
	doc_table(d, NULL, NULL, v->r->n, switch_row, v);
	pairs(d, v);
	refusals(d, v->r);
}

/* --- for programs -------------------------------------------------------------------------------------------------- */

static void csv_row(struct doc *d, const void *of, size_t i)
{
	const struct limits_doc *v = of;
	const struct limits_row *x = &v->r->rows[i];

	doc_text(d, "move", limits_move_name(x->move));
	doc_text(d, "parameter", x->key);
	doc_text(d, "now", x->now);
	doc_text(d, "then", x->then);
	doc_real_if(d, "step_pct", 1, x->step > 0, 100 * x->step);
	doc_real_if(d, "total_us", 3, !x->refused, micros(v, x));
	doc_real_if(d, "gain_pct", 2, !x->refused, gain(v, x));
	doc_real_if(d, "beyond_pct", 2, x->move == LIMITS_PAIR, 100 * limits_beyond(v->r, x));
	doc_text(d, "by", x->refused ? NULL : limits_doc_by_name(v, x));
	doc_real_if(d, "gain_form_pct", 2, limits_by_events(v->r, x) && !x->refused, form_gain(v, x));
	doc_int(d, "within_error", limits_within(v->r, x));
	doc_text(d, "note", x->refused ? x->refused : x->beyond ? x->beyond : "");
}

static void limits_doc_times(struct doc *d, const struct limits_doc *v, const struct limits_row *x)
{
	doc_ps_if(d, "total_us", 3, !x->refused, x->total_ps);
	doc_real_if(d, "gain_pct", 2, !x->refused, gain(v, x));
	if (!x->refused) {
		doc_text(d, "by", limits_doc_by_name(v, x));
		doc_bool(d, "within_error", limits_within(v->r, x));
		if (limits_by_events(v->r, x))
			doc_real(d, "gain_form_pct", 2, form_gain(v, x));
	}
	doc_ps_if(d, "event_us", 3, x->event_ps, x->event_ps);
	doc_text(d, "refused", x->refused);
	if (x->beyond)
		doc_text(d, "beyond", x->beyond);
	doc_texts(d, "set", x->sets, x->n_sets);
}

static void limits_doc_members(struct doc *d, const struct limits_doc *v, const struct limits_row *x)
{
	doc_text(d, "move", limits_move_name(x->move));
	doc_text(d, "key", x->key);
	doc_text(d, "now", x->now);
	doc_text(d, "then", x->then);
	doc_real_if(d, "step", 3, x->step > 0, x->step);
	if (x->move == LIMITS_PAIR) {
		doc_ps(d, "alone_us", 3, x->alone_ps[0]);
		doc_ps(d, "other_alone_us", 3, x->alone_ps[1]);
		doc_real(d, "beyond", 2, 100 * limits_beyond(v->r, x));
	}
	limits_doc_times(d, v, x);
}

static void limits_doc_row(struct doc *d, const void *of, size_t i)
{
	const struct limits_doc *v = of;

	limits_doc_members(d, v, &v->r->rows[i]);
}

static void best(struct doc *d, const struct limits_doc *v, enum limits_move m)
{
	const struct limits_row *x = limits_best(v->r, m);

	if (!x) {
		doc_text(d, limits_move_name(m), NULL);
		return;
	}
	doc_open(d, limits_move_name(m), '{');
	limits_doc_members(d, v, x);
	doc_close(d, '}');
}

static void answer_members(struct doc *d, const struct limits_doc *v)
{
	const struct limits_result *r = v->r;

	doc_open(d, "answer", '{');
	for (int m = 0; m < LIMITS_MOVES; m++)
		if (m != LIMITS_LESS && m != LIMITS_REMOVE)
			best(d, v, (enum limits_move)m);
	doc_texts(d, "costs_nothing", r->free, r->n_free);
	doc_open(d, "not_missed", '[');
	for (size_t i = 0; i < r->n; i++)
		if (r->rows[i].move == LIMITS_REMOVE && limits_costs_nothing(r, &r->rows[i]))
			doc_text(d, NULL, r->rows[i].key);
	doc_close(d, ']');
	if (r->n_free) {
		doc_open(d, "all_of_them", '{');
		limits_doc_times(d, v, &r->all_free);
		doc_close(d, '}');
	} else {
		doc_text(d, "all_of_them", NULL);
	}
	doc_close(d, '}');
}

static void json(struct doc *d, const struct limits_doc *v)
{
	const struct limits_result *r = v->r;

	doc_open(d, NULL, '{');
	doc_ps(d, "total_us", 3, r->base_ps);
	doc_ps_if(d, "event_us", 3, r->event_ps, r->event_ps);
	doc_real(d, "per", 6, v->step_ppm / 1e6);
	doc_text(d, "part", v->part);
	doc_text(d, "fidelity", v->fidelity);
	doc_text(d, "roofline_bound", res_name(r->bound));
	doc_count(d, "runs", r->runs);
	doc_count(d, "event_runs", r->event_runs);
	doc_count(d, "pairs_tried", r->pairs_tried);
	answer_members(d, v);
	doc_table(d, "limits", NULL, r->n, limits_doc_row, v);
	doc_close(d, '}');
	str_addc(d->to, '\n');
}

void limits_doc(struct doc *d, const struct limits_doc *v)
{
	if (d->format == OUT_JSON)
		json(d, v);
	else if (d->format == OUT_CSV)
		doc_table(d, NULL, NULL, v->r->n, csv_row, v);
	else
		limits_doc_table(d, v);
}
