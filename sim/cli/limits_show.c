#include "sim/cli/limits_show.h"

#include <stdio.h>
#include <string.h>

#include "sim/cli/cmd.h"

#define WIDTH      100
#define PAIRS_MOST 10 /* rows of pairs in the table: the rest are like them */

#define PARTS_MOST 32 /* that could be named as not missed: units, caches, buffers */

static double gain(const struct limits_view *v, const struct limits_row *x)
{
	return 100 * limits_gain(v->r, x, v->step_ppm);
}

static double form_gain(const struct limits_view *v, const struct limits_row *x)
{
	struct limits_row form = *x;

	form.event_ps = 0;
	return gain(v, &form);
}

/* Of those figures that count. */
static double micros(const struct limits_view *v, const struct limits_row *x)
{
	return cmd_ps_us(limits_by_events(v->r, x) ? x->event_ps : x->total_ps);
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

static void say_form(const struct limits_view *v, const struct limits_row *x, double sign, struct str *out)
{
	if (limits_by_events(v->r, x))
		str_addf(out, " with events (%.2f %% in closed form)", sign * form_gain(v, x));
}

static void say_best(const struct limits_view *v, enum limits_move m, const char *what, const char *none,
                     struct str *out)
{
	const struct limits_row *x = limits_best(v->r, m);

	str_addf(out, "%-16s ", what);
	if (!x) {
		str_addf(out, "%s\n", none);
		return;
	}
	say_change(x, out);
	str_addf(out, ":%s %.2f %%", m == LIMITS_PAIR ? "\n                 together" : "", gain(v, x));
	say_form(v, x, 1, out);
	if (m == LIMITS_PAIR)
		str_addf(out, ", alone %.2f %% and %.2f %%", 100 * (1 - (double)x->alone_ps[0] / (double)v->r->base_ps),
		         100 * (1 - (double)x->alone_ps[1] / (double)v->r->base_ps));
	str_addc(out, '\n');
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

static void say_free(const struct limits_view *v, struct str *out)
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

static void answer(const struct limits_view *v, struct str *out)
{
	const struct limits_result *r = v->r;
	const bool closed = strcmp(v->fidelity, "analytic") == 0;

	str_addf(out, "%s%s%s: %.3f us %s", v->config, v->part ? ", " : "", v->part ? v->part : "",
	         cmd_ps_us(r->base_ps), closed ? "in closed form" : "with events");
	if (r->event_ps)
		str_addf(out, ", %.3f us with events", cmd_ps_us(r->event_ps));
	say_waits(r, out);
	str_addf(out, "\n%zu runs %s", r->runs, closed ? "in closed form" : "with events");
	if (r->event_runs)
		str_addf(out, " and %zu with events", r->event_runs);
	str_addf(out, ", %zu of them pairs; shares of the time saved or lost", r->pairs_tried);
	if (r->event_ps)
		str_add(out, ";\nby: e with events, f in closed form, ~ within error: no more than the two differ by");
	if (v->step_ppm != 1000000)
		str_addf(out, ", per %g %% of the parameter", v->step_ppm / 1e4);
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

static void value_cells(const struct limits_view *v, const struct limits_row *x, double sign, struct out_table *t)
{
	out_text(t, x ? x->then : NULL);
	if (x && !x->refused) {
		out_real(t, micros(v, x));
		out_real(t, sign * gain(v, x));
	} else {
		out_null(t);
		out_null(t);
	}
}

static const char *by_name(const struct limits_view *v, const struct limits_row *x)
{
	return limits_by_events(v->r, x) ? "event" : v->fidelity;
}

static char by_letter(const struct limits_view *v, const struct limits_row *x)
{
	if (!x || x->refused)
		return '-';
	return limits_within(v->r, x) ? '~' : strcmp(by_name(v, x), "event") == 0 ? 'e' : 'f';
}

static void by_cell(const struct limits_view *v, const struct limits_row *x, const struct limits_row *other,
                    struct out_table *t)
{
	const char text[] = { by_letter(v, x), other ? by_letter(v, other) : '\0', '\0' };

	out_text(t, text);
}

static void amount_row(const struct limits_view *v, const struct limits_row *more, const struct limits_row *less,
                       struct out_table *t)
{
	out_text(t, more ? more->key : less->key);
	out_text(t, more ? more->now : less->now);
	value_cells(v, more, 1, t);
	value_cells(v, less, -1, t);
	by_cell(v, more, less, t);
}

/* Both ways of each amount in one row; those that can only be less come last. */
static void amounts(const struct limits_view *v, struct str *out)
{
	static const struct out_col cols[] = {
		{ "parameter", OUT_TEXT, 0 }, { "now", OUT_TEXT, 0 },       { "better", OUT_TEXT, 0 },
		{ "us", OUT_REAL, 1 },        { "saves_pct", OUT_REAL, 2 }, { "worse", OUT_TEXT, 0 },
		{ "us", OUT_REAL, 1 },        { "costs_pct", OUT_REAL, 2 }, { "by", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	const struct limits_result *r = v->r;

	for (size_t i = 0; i < r->n; i++)
		if (r->rows[i].move == LIMITS_MORE)
			amount_row(v, &r->rows[i], other(r, r->rows[i].key, LIMITS_LESS), t);
	for (size_t i = 0; i < r->n; i++)
		if (r->rows[i].move == LIMITS_LESS && !other(r, r->rows[i].key, LIMITS_MORE))
			amount_row(v, NULL, &r->rows[i], t);
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static bool taken_otherwise(const struct limits_row *x)
{
	return x->move == LIMITS_SWITCH || x->move == LIMITS_ADD || x->move == LIMITS_REMOVE;
}

static void switches(const struct limits_view *v, struct str *out)
{
	static const struct out_col cols[] = {
		{ "switch or part", OUT_TEXT, 0 }, { "now", OUT_TEXT, 0 },
		{ "then", OUT_TEXT, 0 },           { "us", OUT_REAL, 1 },
		{ "saves_pct", OUT_REAL, 2 },      { "by", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < v->r->n; i++)
		if (taken_otherwise(&v->r->rows[i])) {
			out_text(t, v->r->rows[i].key);
			out_text(t, v->r->rows[i].now);
			value_cells(v, &v->r->rows[i], 1, t);
			by_cell(v, &v->r->rows[i], NULL, t);
		}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void pairs(const struct limits_view *v, struct str *out)
{
	static const struct out_col cols[] = {
		{ "pair", OUT_TEXT, 0 },      { "then", OUT_TEXT, 0 },       { "us", OUT_REAL, 1 },
		{ "saves_pct", OUT_REAL, 2 }, { "beyond_pct", OUT_REAL, 2 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	size_t n = 0, all = 0;

	for (size_t i = 0; i < v->r->n; i++) {
		const struct limits_row *x = &v->r->rows[i];

		if (x->move != LIMITS_PAIR || ++all > PAIRS_MOST)
			continue;
		out_text(t, x->key);
		value_cells(v, x, 1, t);
		out_real(t, 100 * limits_beyond(v->r, x));
		n++;
	}
	if (n) {
		str_addf(out, "\npairs: beyond_pct is more than the two save alone\n");
		out_table_write(t, OUT_TABLE, out);
	}
	if (all > n)
		str_addf(out, "%zu more are in --format csv and json\n", all - n);
	out_table_free(t);
}

static void refusals(const struct limits_result *r, struct str *out)
{
	bool first = true;

	for (size_t i = 0; i < r->n; i++) {
		if (!r->rows[i].refused)
			continue;
		if (first)
			str_add(out, "\nnot possible:\n");
		first = false;
		str_addf(out, "  %s=%s: %s\n", r->rows[i].key, r->rows[i].then, r->rows[i].refused);
	}
}

void limits_table(const struct limits_view *v, struct str *out)
{
	answer(v, out);
	str_addc(out, '\n');
	amounts(v, out);
	str_addc(out, '\n');
	switches(v, out);
	pairs(v, out);
	refusals(v->r, out);
}

/* --- for programs -------------------------------------------------------------------------------------------------- */

void limits_csv(const struct limits_view *v, struct str *out)
{
	static const struct out_col cols[] = {
		{ "move", OUT_TEXT, 0 },          { "parameter", OUT_TEXT, 0 },   { "now", OUT_TEXT, 0 },
		{ "then", OUT_TEXT, 0 },          { "step_pct", OUT_REAL, 1 },    { "total_us", OUT_REAL, 3 },
		{ "gain_pct", OUT_REAL, 2 },      { "beyond_pct", OUT_REAL, 2 },  { "by", OUT_TEXT, 0 },
		{ "gain_form_pct", OUT_REAL, 2 }, { "within_error", OUT_INT, 0 }, { "note", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < v->r->n; i++) {
		const struct limits_row *x = &v->r->rows[i];

		out_text(t, limits_move_name(x->move));
		out_text(t, x->key);
		out_text(t, x->now);
		out_text(t, x->then);
		if (x->step > 0)
			out_real(t, 100 * x->step);
		else
			out_null(t);
		if (x->refused) {
			out_null(t);
			out_null(t);
		} else {
			out_real(t, micros(v, x));
			out_real(t, gain(v, x));
		}
		if (x->move == LIMITS_PAIR)
			out_real(t, 100 * limits_beyond(v->r, x));
		else
			out_null(t);
		out_text(t, x->refused ? NULL : by_name(v, x));
		out_real_or_null(t, limits_by_events(v->r, x) && !x->refused ? form_gain(v, x) : 0.0 / 0.0);
		out_int(t, limits_within(v->r, x));
		out_text(t, x->refused ? x->refused : "");
	}
	out_table_write(t, OUT_CSV, out);
	out_table_free(t);
}

static void json_sets(struct out_json *j, const struct limits_row *x)
{
	out_json_open(j, "set", '[');
	for (size_t i = 0; i < x->n_sets; i++)
		out_json_text(j, NULL, x->sets[i]);
	out_json_close(j, ']');
}

static void json_times(const struct limits_view *v, const struct limits_row *x, struct out_json *j)
{
	if (x->refused) {
		out_json_null(j, "total_us");
		out_json_null(j, "gain_pct");
	} else {
		out_json_real(j, "total_us", cmd_ps_us(x->total_ps));
		out_json_real(j, "gain_pct", gain(v, x));
		out_json_text(j, "by", by_name(v, x));
		out_json_bool(j, "within_error", limits_within(v->r, x));
		if (limits_by_events(v->r, x))
			out_json_real(j, "gain_form_pct", form_gain(v, x));
	}
	if (x->event_ps)
		out_json_real(j, "event_us", cmd_ps_us(x->event_ps));
	else
		out_json_null(j, "event_us");
	out_json_text(j, "refused", x->refused);
	json_sets(j, x);
}

static void json_row(const struct limits_view *v, const struct limits_row *x, const char *name, struct out_json *j)
{
	out_json_open(j, name, '{');
	out_json_text(j, "move", limits_move_name(x->move));
	out_json_text(j, "key", x->key);
	out_json_text(j, "now", x->now);
	out_json_text(j, "then", x->then);
	if (x->step > 0)
		out_json_real(j, "step", x->step);
	else
		out_json_null(j, "step");
	if (x->move == LIMITS_PAIR) {
		out_json_real(j, "alone_us", cmd_ps_us(x->alone_ps[0]));
		out_json_real(j, "other_alone_us", cmd_ps_us(x->alone_ps[1]));
		out_json_real(j, "beyond_pct", 100 * limits_beyond(v->r, x));
	}
	json_times(v, x, j);
	out_json_close(j, '}');
}

static void json_answer(const struct limits_view *v, struct out_json *j)
{
	const struct limits_result *r = v->r;

	out_json_open(j, "answer", '{');
	for (int m = 0; m < LIMITS_MOVES; m++) {
		const struct limits_row *x = limits_best(r, (enum limits_move)m);

		if (m == LIMITS_LESS || m == LIMITS_REMOVE)
			continue;
		if (x)
			json_row(v, x, limits_move_name((enum limits_move)m), j);
		else
			out_json_null(j, limits_move_name((enum limits_move)m));
	}
	out_json_open(j, "costs_nothing", '[');
	for (size_t i = 0; i < r->n_free; i++)
		out_json_text(j, NULL, r->free[i]);
	out_json_close(j, ']');
	out_json_open(j, "not_missed", '[');
	for (size_t i = 0; i < r->n; i++)
		if (r->rows[i].move == LIMITS_REMOVE && limits_costs_nothing(r, &r->rows[i]))
			out_json_text(j, NULL, r->rows[i].key);
	out_json_close(j, ']');
	if (r->n_free) {
		out_json_open(j, "all_of_them", '{');
		json_times(v, &r->all_free, j);
		out_json_close(j, '}');
	} else {
		out_json_null(j, "all_of_them");
	}
	out_json_close(j, '}');
}

void limits_json(const struct limits_view *v, struct str *out)
{
	const struct limits_result *r = v->r;
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_real(&j, "total_us", cmd_ps_us(r->base_ps));
	if (r->event_ps)
		out_json_real(&j, "event_us", cmd_ps_us(r->event_ps));
	else
		out_json_null(&j, "event_us");
	out_json_real(&j, "per", v->step_ppm / 1e6);
	out_json_text(&j, "part", v->part);
	out_json_text(&j, "fidelity", v->fidelity);
	out_json_text(&j, "roofline_bound", res_name(r->bound));
	out_json_u64(&j, "runs", r->runs);
	out_json_u64(&j, "event_runs", r->event_runs);
	out_json_u64(&j, "pairs_tried", r->pairs_tried);
	json_answer(v, &j);
	out_json_open(&j, "limits", '[');
	for (size_t i = 0; i < r->n; i++)
		json_row(v, &r->rows[i], NULL, &j);
	out_json_close(&j, ']');
	out_json_close(&j, '}');
	str_addc(out, '\n');
}
