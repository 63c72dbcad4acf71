#include "sim/report/machines_doc.h"

#include <stdio.h>
#include <string.h>

#include "sim/report/figure_doc.h"

#define WIDTH 100

static double rate(const struct verdict *v)
{
	return v->us && v->tokens && !workload_is_part(&v->part) ? (double)v->tokens / (double)v->steps * 1e6 / v->us
	                                                         : 0;
}

/* "DRAM bandwidth" is for sentences: here the resource's name, as stalls have it. */
static const char *held(const struct verdict *v, char buf[40])
{
	snprintf(buf, 40, "%s %.0f %%", res_name(v->held), 100 * v->held_share);
	return buf;
}

/* What an interval is made by. */
static const char *by(const struct verdict *v, const struct run_report *r)
{
	return !v->interval                                      ? NULL
	       : machine_runs(&r->conf->cfg) == MACHINE_LAUNCHES ? "its model"
	       : v->from == INTERVAL_ROWS                        ? "its family"
	       : v->from == INTERVAL_PARTLY                      ? "its family, others"
	                                                         : "other families";
}

static void machines_row(struct doc *d, const void *of, size_t i)
{
	const struct machines_doc *x = of;
	const struct run_report *r = d->heads ? NULL : &x->v[i].report;
	const struct verdict *v = d->heads ? NULL : &x->v[i].verdict;
	const double tokens = v ? rate(v) : 0, first = v ? x->v[0].verdict.us : 0;
	const struct figures *f = v ? &r->result->figures : NULL;
	const double watts = f && f->total_ps ? (double)f->energy_fj / (double)f->total_ps / 1e3 : 0;
	const bool range = v && v->interval && v->us > 0, people = d->format == OUT_TABLE;
	const double times = v && v->us > 0 ? first / v->us : 0;
	const struct interval_range *ratio = v && times > 0 && x->ratio[i].low > 0 ? &x->ratio[i] : NULL;
	char buf[40];

	doc_text(d, "machine", x->configs[i]);
	doc_real_if(d, "tokens_per_s", 0, tokens > 0, tokens);
	doc_real_if(d, "low", 0, tokens > 0 && range, tokens / v->time.high);
	doc_real_if(d, "high", 0, tokens > 0 && range, tokens / v->time.low);
	if (!people || !(rate(&x->v[0].verdict) > 0))
		doc_real_if(d, "step_us", 1, v && v->us > 0, v->us);
	doc_real_if(d, "x", 2, times > 0, times);
	doc_real_if(d, people ? "from" : "x_low", 2, ratio, times * ratio->low);
	doc_real_if(d, people ? "to" : "x_high", 2, ratio, times * ratio->high);
	doc_real_if(d, people ? "mJ_token" : "mJ_per_token", 1, tokens > 0 && f->energy_fj, watts / tokens * 1e3);
	doc_real_if(d, "power_w", 0, watts > 0, watts);
	doc_real_if(d, "area_mm2", 0, f && f->area_nm2, (double)f->area_nm2 / 1e12);
	doc_real_if(d, "cost_usd", 0, f && f->cost_uusd, (double)f->cost_uusd / 1e6);
	doc_text_if(d, "held by", v != NULL, held(v, buf));
	if (!people)
		doc_text_if(d, "interval by", v != NULL, by(v, r));
}

static void ratio_doc(struct doc *d, const struct machines_doc *x, size_t i)
{
	const struct verdict *v = &x->v[i].verdict;
	const double times = v->us > 0 ? x->v[0].verdict.us / v->us : 0;
	const bool known = times > 0 && x->ratio[i].low > 0;

	doc_real_if(d, "value", 4, times > 0, times);
	doc_real_if(d, "low", 4, known, times * x->ratio[i].low);
	doc_real_if(d, "high", 4, known, times * x->ratio[i].high);
}

/* Each run's document, but its ops. */
static void split_member(struct doc *d, const struct run_report *r)
{
	struct str s = STR_INIT;

	run_split_text(r, &s);
	doc_text(d, "split", s.len ? str_c(&s) : NULL);
	doc_free(d, &s);
}

static void machines_json(struct doc *d, const struct machines_doc *x)
{
	doc_open(d, NULL, '{');
	doc_text(d, "fidelity", x->fidelity);
	doc_open(d, "measured_steps", '{');
	doc_count(d, "n", x->steps.n);
	doc_real_if(d, "low_us", 3, x->steps.n, (double)x->steps.low_ns / 1e3);
	doc_real_if(d, "high_us", 3, x->steps.n, (double)x->steps.high_ns / 1e3);
	doc_close(d, '}');
	doc_open(d, "machines", '[');
	for (size_t i = 0; i < x->n; i++) {
		const struct run_report *r = &x->v[i].report;
		const struct verdict *v = &x->v[i].verdict;
		struct run_sum kinds[OP_KINDS], all;
		struct figure_measured m;

		run_sum_ops(r, kinds, &all);
		m = run_measured(r, &all);
		doc_open(d, NULL, '{');
		doc_text(d, "config", x->configs[i]);
		doc_text(d, "machine", r->conf->cfg.name);
		split_member(d, r);
		figure_doc_part(d, FIGURE_HEAD, &r->result->figures, &m);
		figure_doc_part(d, FIGURE_REST, &r->result->figures, &m);
		if (x->v[i].report.verdict)
			run_verdict_doc(d, v);
		doc_open(d, "ratio", '{');
		doc_text(d, "of", x->configs[0]);
		ratio_doc(d, x, i);
		doc_close(d, '}');
		doc_close(d, '}');
	}
	doc_close(d, ']');
	doc_close(d, '}');
}

static void split_facts(struct doc *d, const struct machines_doc *x)
{
	for (size_t i = 0; i < x->n; i++) {
		struct str s = STR_INIT;

		run_split_text(&x->v[i].report, &s);
		if (s.len)
			doc_say(d, "split      %s: %s\n", x->configs[i], str_c(&s));
		doc_free(d, &s);
	}
}

/* What the intervals of a list are by, where all are by the same. */
static const char *tells_by(const struct machines_doc *x)
{
	const char *first = by(&x->v[0].verdict, &x->v[0].report);

	for (size_t i = 1; i < x->n; i++) {
		const char *next = by(&x->v[i].verdict, &x->v[i].report);

		if (!first || !next || strcmp(first, next) != 0)
			return "each by its own (--format csv says which).";
	}
	return "all by the same.";
}

void machines_doc(struct doc *d, const struct machines_doc *x)
{
	const struct verdict *v = &x->v[0].verdict;
	struct str part = STR_INIT;

	if (d->format == OUT_JSON) {
		machines_json(d, x);
		return;
	}
	doc_table(d, NULL, NULL, x->n, machines_row, x);
	workload_part_text(&v->part, &part);
	if (part.len)
		doc_say(d, "\nof a part of the model, which makes no tokens: %s\n", str_c(&part));
	str_free(&part);
	doc_say(d,
	        "\nx: times as fast as %s, from, to: four times in five, less what both are wrong\n"
	        "about alike; low, high: the same of tokens_per_s,\n"
	        "%s 'npusim run -c %s' says what holds one\n",
	        x->configs[0], tells_by(x), x->configs[0]);
	split_facts(d, x);
	if (x->steps.n > 1)
		doc_say(d, "measured: %zu steps of the trace took %.0f to %.0f us in kernels\n", x->steps.n,
		        (double)x->steps.low_ns / 1e3, (double)x->steps.high_ns / 1e3);
	doc_say_fact(d, "cost_usd", figure_named("cost_usd")->help, WIDTH);
}
