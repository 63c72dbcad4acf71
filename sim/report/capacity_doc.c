#include "sim/report/capacity_doc.h"

#include <math.h>

#define ENOUGH 1.005 /* times the rate: a doubling that is worth a word */

/* Of one limit, as it is said and as a member of JSON. */
static const struct {
	const char *name, *key;
} limits[CAPACITY_LIMITS] = { { "neither limit", NULL }, { "TTFT", "ttft" }, { "TPOT", "tpot" } };

static double share(const struct capacity_doc *v)
{
	return v->o->slo_ppm / 1e4;
}

/* "2.5/s", "any rate" */
static void say_rate(double rate, struct str *out)
{
	if (isinf(rate))
		str_add(out, "any rate");
	else if (rate > 0)
		str_addf(out, "%.4g/s", rate);
	else
		str_add(out, "no rate");
}

/* "TTFT 200 ms and TPOT 30 ms" */
static void say_limits(const struct serve_ask *o, struct str *out)
{
	if (o->slo_ttft)
		str_addf(out, "TTFT %.4g ms%s", (double)o->slo_ttft / 1e9, o->slo_tpot ? " and " : "");
	if (o->slo_tpot)
		str_addf(out, "TPOT %.4g ms", (double)o->slo_tpot / 1e9);
}

static void say_draws(const struct capacity *c, struct str *out)
{
	str_addc(out, '\n');
	say_rate(c->low, out);
	str_add(out, " to ");
	say_rate(c->high, out);
	str_addf(out, " of %d draws of such a list, this one in the middle", CAPACITY_DRAWS);
}

void capacity_doc_verdict(const struct capacity_doc *v, struct str *out)
{
	const struct capacity *c = v->c;
	const double rate = c->rate[CAPACITY_BOTH];

	if (rate > 0 && isfinite(rate)) {
		str_addf(out, "%.4g requests/s at the most: %.6g %% of them within ", rate, share(v));
		say_limits(v->o, out);
		if (c->high > c->low)
			say_draws(c, out);
	} else {
		str_addf(out, "%s has %.6g %% of the requests within ",
		         rate > 0 ? "any rate, even all at once," : "no rate", share(v));
		say_limits(v->o, out);
	}
	str_addc(out, '\n');
	if (capacity_held_by(c) != CAPACITY_BOTH) {
		str_addf(out, "held by %s", limits[capacity_held_by(c)].name);
		for (int l = CAPACITY_TTFT; l < CAPACITY_LIMITS && v->o->slo_ttft && v->o->slo_tpot; l++) {
			str_addf(out, "%s %s alone allows ", l == CAPACITY_TTFT ? ":" : ",", limits[l].name);
			say_rate(c->rate[l], out);
		}
		str_addc(out, '\n');
	}
	if (isfinite(c->above) && rate > 0)
		str_addf(out, "at %.4g/s: %.4g %% within both, %.4g %% within TTFT, %.4g %% within TPOT\n", c->above,
		         100 * c->kept[CAPACITY_BOTH], 100 * c->kept[CAPACITY_TTFT], 100 * c->kept[CAPACITY_TPOT]);
}

/* What of several machines holds it. */
static const char *const raised[RAISES] = { "prefill", "decode", "both", "links" };

static void pools(const struct capacity_doc *v, struct str *out)
{
	const enum raise_by held = raise_held_by(v->raise, v->c);
	const bool two = !isnan(v->raise->rate[RAISE_DECODE]);

	if (isnan(v->raise->rate[RAISE_FIRST]))
		return;
	if (two)
		str_addf(out, "held by %s: ",
		         held == RAISES        ? "neither pool"
		         : held == RAISE_BOTH  ? "both pools"
		         : held == RAISE_LINKS ? "the links between the pools"
		         : held == RAISE_FIRST ? "the machines that prefill"
		                               : "the machines that decode");
	str_add(out, "one machine more");
	str_add(out, two ? " that prefills\nmakes it " : " makes it ");
	say_rate(v->raise->rate[RAISE_FIRST], out);
	if (two) {
		str_add(out, ", one that decodes ");
		say_rate(v->raise->rate[RAISE_DECODE], out);
		str_add(out, ", one of each ");
		say_rate(v->raise->rate[RAISE_BOTH], out);
		str_add(out, ", links twice as fast ");
		say_rate(v->raise->rate[RAISE_LINKS], out);
	}
	str_addc(out, '\n');
}

static void pools_json(struct doc *d, const struct capacity_doc *v)
{
	const enum raise_by held = raise_held_by(v->raise, v->c);

	doc_text(d, "held_by_pool", isnan(v->raise->rate[RAISE_DECODE]) || held == RAISES ? NULL : raised[held]);
	doc_open(d, "one_more", '{');
	for (int by = 0; by < RAISES; by++)
		doc_real(d, raised[by], 0, v->raise->rate[by]);
	doc_close(d, '}');
}

/* Percent more than it is now. */
static double gain(const struct capacity_doc *v, const struct knob *k)
{
	const double now = v->c->rate[CAPACITY_BOTH];

	return now > 0 && isfinite(now) && isfinite(k->rate) && !k->refused ? 100 * (k->rate / now - 1) : NAN;
}

/* Any rate, and the first of all where there was none, are no percentages of what it was. */
void capacity_doc_next(const struct capacity_doc *v, struct str *out)
{
	const double now = v->c->rate[CAPACITY_BOTH];
	const struct knob *k = v->n ? &v->knobs[0] : NULL;

	if (!k || k->refused || !(k->rate > now * ENOUGH)) {
		str_add(out, now > 0 ? "next: no doubling raises it by half a percent\n"
		                     : "next: no doubling alone makes it keep any\n");
		return;
	}
	str_addf(out, "next: %s %s -> %s: %s", k->key, k->now, k->then, now > 0 ? "" : "from no rate to ");
	say_rate(k->rate, out);
	if (now > 0 && isfinite(k->rate))
		str_addf(out, ", +%.3g %%", gain(v, k));
	str_addc(out, '\n');
}

/* Why a row has no number. */
static const char *note(const struct knob *k)
{
	return k->refused ? k->refused : isinf(k->rate) ? "any rate" : "";
}

static void knob(struct doc *d, const void *of, size_t i)
{
	const struct capacity_doc *v = of;
	const struct knob *k = &v->knobs[i];

	doc_text(d, "knob", k->key);
	doc_text(d, "now", k->now);
	doc_text(d, "then", k->then);
	doc_real_if(d, "requests_per_s", 3, !k->refused, k->rate);
	doc_real(d, "more_pct", 1, gain(v, k));
	doc_text(d, "held_by", k->refused ? NULL : limits[k->held].key);
	doc_name(d, "note", 60, note(k));
}

void capacity_doc_knobs(struct doc *d, const struct capacity_doc *v)
{
	doc_table(d, "knobs", NULL, v->n, knob, v);
}

static void members(struct doc *d, const struct capacity_doc *v)
{
	const struct capacity *c = v->c;

	doc_real(d, "max_rate", 0, c->rate[CAPACITY_BOTH]);
	doc_real(d, "max_rate_low", 0, c->low);
	doc_real(d, "max_rate_high", 0, c->high);
	doc_real(d, "max_rate_ttft", 0, c->rate[CAPACITY_TTFT]);
	doc_real(d, "max_rate_tpot", 0, c->rate[CAPACITY_TPOT]);
	doc_text(d, "held_by", limits[capacity_held_by(c)].key);
	doc_real(d, "share", 0, v->o->slo_ppm / 1e6);
	doc_real_if(d, "slo_ttft_ms", 0, v->o->slo_ttft, (double)v->o->slo_ttft / 1e9);
	doc_real_if(d, "slo_tpot_ms", 0, v->o->slo_tpot, (double)v->o->slo_tpot / 1e9);
	doc_real(d, "missed_at", 0, c->above);
	doc_count(d, "rates_tried", c->runs);
}

void capacity_doc(struct doc *d, const struct capacity_doc *v)
{
	if (d->format == OUT_JSON)
		members(d, v);
	else
		capacity_doc_verdict(v, d->to);
	if (v->raise && d->format == OUT_JSON)
		pools_json(d, v);
	else if (v->raise)
		pools(v, d->to);
	if (v->knobs && d->format != OUT_JSON)
		capacity_doc_next(v, d->to);
	if (v->knobs)
		capacity_doc_knobs(d, v);
	doc_say(d, "\n");
}
