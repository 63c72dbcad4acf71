#include "sim/report/machines_doc.h"

#include <stdio.h>

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
	const bool range = v && v->interval && v->us > 0;
	char buf[40];

	doc_text(d, "machine", x->configs[i]);
	doc_real_if(d, "tokens_per_s", 0, tokens > 0, tokens);
	doc_real_if(d, "low", 0, tokens > 0 && range, tokens / v->time.high);
	doc_real_if(d, "high", 0, tokens > 0 && range, tokens / v->time.low);
	doc_real_if(d, "step_us", 1, v && v->us > 0, v->us);
	doc_real_if(d, "x", 2, v && v->us > 0 && first > 0, first / v->us);
	doc_real_if(d, "mJ_per_token", 3, tokens > 0 && f->energy_fj, watts / tokens * 1e3);
	doc_real_if(d, "power_w", 0, watts > 0, watts);
	doc_real_if(d, "area_mm2", 0, f && f->area_nm2, (double)f->area_nm2 / 1e12);
	doc_real_if(d, "cost_usd", 0, f && f->cost_uusd, (double)f->cost_uusd / 1e6);
	doc_text_if(d, "held by", v != NULL, held(v, buf));
	doc_text_if(d, "interval by", v != NULL, by(v, r));
}

/* Each run's document, but its ops. */
static void machines_json(struct doc *d, const struct machines_doc *x)
{
	doc_open(d, NULL, '{');
	doc_text(d, "fidelity", x->fidelity);
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
		figure_doc_part(d, FIGURE_HEAD, &r->result->figures, &m);
		figure_doc_part(d, FIGURE_REST, &r->result->figures, &m);
		if (x->v[i].report.verdict)
			run_verdict_doc(d, v);
		doc_close(d, '}');
	}
	doc_close(d, ']');
	doc_close(d, '}');
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
	        "\nx: step_us of %s over it. low, high: tokens_per_s four times in five; machines whose interval is by the\n"
	        "same err alike, so their ratio is surer than either. 'npusim run -c %s' says what holds one\n",
	        x->configs[0], x->configs[0]);
	doc_say_fact(d, "cost_usd", figure_named("cost_usd")->help, WIDTH);
}
