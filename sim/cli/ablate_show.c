/* ablate_show.c - an ablation as tables, CSV and JSON. */
#include <stdio.h>
#include <string.h>

#include "sim/cli/ablate.h"

#define COLS(a) (sizeof(a) / sizeof *(a))
#define WIDTH   80

double ablate_rate(const struct ablate_view *v, size_t workload, const struct ablate_run *r)
{
	return r->run && !r->refused && r->total_ps ? (double)v->tokens[workload] * 1e12 / (double)r->total_ps : 0;
}

const char *ablate_how_run(const struct ablate_view *v)
{
	return strcmp(v->fidelity, "event") == 0      ? "with events"
	       : strcmp(v->fidelity, "analytic") == 0 ? "in closed form"
	                                              : "in closed form, and with events where that says too little";
}

int ablate_shows(const struct ablate_view *v, size_t change)
{
	double most = -1e30;
	int best = -1;

	if (v->x->changes[change].pays >= 0)
		return v->x->changes[change].pays;
	for (size_t w = 0; w < v->x->n_workloads; w++)
		if (v->results[w].alone[change].run && ablate_alone(&v->results[w], change).value > most) {
			most = ablate_alone(&v->results[w], change).value;
			best = (int)w;
		}
	return best;
}

/* --- tables -------------------------------------------------------------------------------------------------------- */

static void cells(struct out_table *t, const struct ablate_view *v, size_t w, const struct ablate_run *r)
{
	const double rate = ablate_rate(v, w, r);

	if (!r->run || r->refused) {
		for (int i = 0; i < 3; i++)
			out_null(t);
		return;
	}
	out_real(t, cmd_ps_us(r->total_ps));
	if (rate > 0)
		out_real(t, rate);
	else
		out_null(t);
	out_real(t, (double)r->dram_bytes / 1e6);
}

static void energy(struct out_table *t, bool any, const struct ablate_run *r)
{
	if (!any)
		return;
	if (r->energy_fj)
		out_real(t, (double)r->energy_fj / 1e9);
	else
		out_null(t);
}

static void area(struct out_table *t, const struct ablate_run *r)
{
	out_real_or_null(t, r->area_nm2 ? (double)r->area_nm2 / 1e12 : 0.0 / 0.0);
}

static void worth_cell(struct out_table *t, const struct ablate_worth *w, double times)
{
	out_real_or_null(t, w->known ? times * w->value : 0.0 / 0.0);
}

static void by_cell(struct out_table *t, const struct ablate_worth *w)
{
	out_text(t, !w->known ? NULL : w->by == RUN_EVENT ? "event" : "analytic");
}

static void change_row(struct out_table *t, const struct ablate_view *v, size_t w, size_t i, bool any_energy)
{
	const struct ablate_result *r = &v->results[w];
	const struct ablate_worth alone = ablate_alone(r, i), missed = ablate_missed(r, i);

	out_text(t, v->x->changes[i].name);
	out_text(t, ablate_verdict_name(ablate_judge(v->x, r, i)));
	by_cell(t, &alone);
	cells(t, v, w, &r->alone[i]);
	energy(t, any_energy, &r->alone[i]);
	area(t, &r->alone[i]);
	worth_cell(t, &alone, 100);
	worth_cell(t, &missed, 100);
}

/* A machine as a whole; where it was run by both, each beside the base by the same. */
static void whole_row(struct out_table *t, const struct ablate_view *v, size_t w, const char *name,
                      const struct ablate_run *r, const struct ablate_run *base, bool any_energy)
{
	out_text(t, name);
	out_text(t, r->refused ? "cannot be" : "");
	out_text(t, r->by == RUN_EVENT ? "event" : "analytic");
	cells(t, v, w, r);
	energy(t, any_energy, r);
	area(t, r);
	if (r->refused)
		out_null(t);
	else
		out_real(t, 100 * (1 - (double)r->total_ps / (double)base->total_ps));
	out_null(t);
	if (r->form && base->form)
		whole_row(t, v, w, name, r->form, base->form, any_energy);
}

static void workload_table(const struct ablate_view *v, size_t w, struct str *out)
{
	const struct ablate_result *r = &v->results[w];
	const bool watts = r->base.energy_fj != 0;
	struct out_col cols[10] = {
		{ "change", OUT_TEXT, 0 }, { "alone", OUT_TEXT, 0 },    { "by", OUT_TEXT, 0 },
		{ "us", OUT_REAL, 1 },     { "tokens/s", OUT_REAL, 1 }, { "DRAM MB", OUT_REAL, 1 }
	};
	struct out_table *t;
	int n = 6;

	if (watts)
		cols[n++] = (struct out_col){ "uJ", OUT_REAL, 1 };
	cols[n++] = (struct out_col){ "mm2", OUT_REAL, 0 };
	cols[n++] = (struct out_col){ "saves_pct", OUT_REAL, 1 };
	cols[n++] = (struct out_col){ "missed_pct", OUT_REAL, 1 };
	t = out_table_new(cols, n, v->x->workloads[w].name);
	whole_row(t, v, w, "none of them", &r->base, &r->base, watts);
	for (size_t i = 0; i < v->x->n_changes; i++)
		if (r->alone[i].run)
			change_row(t, v, w, i, watts);
	if (r->all.run)
		whole_row(t, v, w, "all together", &r->all, &r->base, watts);
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	str_addc(out, '\n');
}

/* A sentence for each change, about the workload where it shows. */
static void sentences(const struct ablate_view *v, struct str *out)
{
	struct str s = STR_INIT;

	str_add(out, "what each is worth where it shows\n---------------------------------\n");
	for (size_t i = 0; i < v->x->n_changes; i++) {
		const int w = ablate_shows(v, i);

		str_clear(&s);
		str_addf(&s, "%s: ", v->x->changes[i].name);
		if (w < 0) {
			str_addf(&s, "not modelled: %s",
			         v->x->changes[i].not_modelled ? v->x->changes[i].not_modelled : "");
		} else {
			str_addf(&s, "%s, %s: ", v->x->workloads[w].name,
			         ablate_verdict_name(ablate_judge(v->x, &v->results[w], i)));
			ablate_why(v->x, &v->results[w], i, &s);
		}
		out_wrap(str_c(&s), 0, 4, WIDTH, out);
	}
	out->failed |= s.failed;
	str_free(&s);
}

void ablate_table(const struct ablate_view *v, struct str *out)
{
	str_addf(
		out,
		"%zu changes to %s, %s; saves: alone, of the time with none of them; missed: what all but it take longer\n\n",
		v->x->n_changes, v->x->base, ablate_how_run(v));
	for (size_t w = 0; w < v->x->n_workloads; w++)
		workload_table(v, w, out);
	sentences(v, out);
}

/* --- csv ----------------------------------------------------------------------------------------------------------- */

void ablate_csv(const struct ablate_view *v, struct str *out)
{
	static const struct out_col cols[] = {
		{ "workload", OUT_TEXT, 0 },  { "change", OUT_TEXT, 0 },      { "verdict", OUT_TEXT, 0 },
		{ "us", OUT_REAL, 3 },        { "tokens_s", OUT_REAL, 3 },    { "dram_mb", OUT_REAL, 3 },
		{ "energy_uj", OUT_REAL, 3 }, { "area_mm2", OUT_REAL, 2 },    { "saves", OUT_REAL, 5 },
		{ "missed", OUT_REAL, 5 },    { "by", OUT_TEXT, 0 },          { "saves_form", OUT_REAL, 5 },
		{ "missed_by", OUT_TEXT, 0 }, { "missed_form", OUT_REAL, 5 }, { "why", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);
	struct str why = STR_INIT;

	for (size_t w = 0; w < v->x->n_workloads; w++)
		for (size_t i = 0; i < v->x->n_changes; i++) {
			const struct ablate_result *r = &v->results[w];
			const struct ablate_worth alone = ablate_alone(r, i), missed = ablate_missed(r, i);

			str_clear(&why);
			ablate_why(v->x, r, i, &why);
			out_text(t, v->x->workloads[w].name);
			out_text(t, v->x->changes[i].name);
			out_text(t, ablate_verdict_name(ablate_judge(v->x, r, i)));
			cells(t, v, w, &r->alone[i]);
			energy(t, true, &r->alone[i]);
			area(t, &r->alone[i]);
			worth_cell(t, &alone, 1);
			worth_cell(t, &missed, 1);
			by_cell(t, &alone);
			out_real_or_null(t, alone.both ? alone.form : 0.0 / 0.0);
			by_cell(t, &missed);
			out_real_or_null(t, missed.both ? missed.form : 0.0 / 0.0);
			out_text(t, str_c(&why));
		}
	out_table_write(t, OUT_CSV, out);
	out_table_free(t);
	out->failed |= why.failed;
	str_free(&why);
}

/* --- json ---------------------------------------------------------------------------------------------------------- */

static void run_json(struct out_json *j, const char *key, const struct ablate_view *v, size_t w,
                     const struct ablate_run *r)
{
	const double rate = ablate_rate(v, w, r);

	if (!r->run) {
		out_json_null(j, key);
		return;
	}
	out_json_open(j, key, '{');
	if (r->refused) {
		out_json_text(j, "refused", r->refused);
	} else {
		out_json_text(j, "fidelity", r->by == RUN_EVENT ? "event" : "analytic");
		out_json_real(j, "us", cmd_ps_us(r->total_ps));
		if (r->form)
			out_json_real(j, "us_form", cmd_ps_us(r->form->total_ps));
		else
			out_json_null(j, "us_form");
		if (rate > 0)
			out_json_real(j, "tokens_per_s", rate);
		else
			out_json_null(j, "tokens_per_s");
		out_json_u64(j, "dram_bytes", r->dram_bytes);
		if (r->energy_fj)
			out_json_real(j, "energy_uj", (double)r->energy_fj / 1e9);
		else
			out_json_null(j, "energy_uj");
		if (r->area_nm2)
			out_json_real(j, "area_mm2", (double)r->area_nm2 / 1e12);
		else
			out_json_null(j, "area_mm2");
	}
	out_json_close(j, '}');
}

/* "saves", whose figure that is, and where events came after it the closed form's. */
static void worth_json(struct out_json *j, const char *key, const struct ablate_worth *w)
{
	char name[32];

	if (w->known)
		out_json_real(j, key, w->value);
	else
		out_json_null(j, key);
	snprintf(name, sizeof name, "%s_by", key);
	out_json_text(j, name, !w->known ? NULL : w->by == RUN_EVENT ? "event" : "analytic");
	snprintf(name, sizeof name, "%s_form", key);
	if (w->both)
		out_json_real(j, name, w->form);
	else
		out_json_null(j, name);
}

static void change_json(struct out_json *j, const struct ablate_view *v, size_t w, size_t i)
{
	const struct ablate_result *r = &v->results[w];
	const struct ablate_worth alone = ablate_alone(r, i), missed = ablate_missed(r, i);
	struct str why = STR_INIT;

	ablate_why(v->x, r, i, &why);
	out_json_open(j, NULL, '{');
	out_json_text(j, "name", v->x->changes[i].name);
	out_json_text(j, "verdict", ablate_verdict_name(ablate_judge(v->x, r, i)));
	out_json_text(j, "why", str_c(&why));
	worth_json(j, "saves", &alone);
	worth_json(j, "missed", &missed);
	run_json(j, "alone", v, w, &r->alone[i]);
	run_json(j, "all_but_it", v, w, &r->without[i]);
	out_json_close(j, '}');
	j->to->failed |= why.failed;
	str_free(&why);
}

static void listed(struct out_json *j, const struct ablate_change *c)
{
	out_json_open(j, NULL, '{');
	out_json_text(j, "name", c->name);
	out_json_text(j, "says", c->says);
	out_json_text(j, "mechanism", c->mechanism);
	out_json_text(j, "expects", c->not_modelled ? NULL : ablate_expects_name(c->expects));
	out_json_text(j, "not_modelled", c->not_modelled);
	out_json_open(j, "set", '[');
	for (size_t k = 0; k < c->n_sets; k++)
		out_json_text(j, NULL, c->sets[k]);
	out_json_close(j, ']');
	out_json_close(j, '}');
}

void ablate_json(const struct ablate_view *v, struct str *out)
{
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "ablation", v->x->path);
	out_json_text(&j, "base", v->x->base);
	out_json_text(&j, "fidelity", v->fidelity);
	out_json_open(&j, "changes", '[');
	for (size_t i = 0; i < v->x->n_changes; i++)
		listed(&j, &v->x->changes[i]);
	out_json_close(&j, ']');
	out_json_open(&j, "workloads", '[');
	for (size_t w = 0; w < v->x->n_workloads; w++) {
		out_json_open(&j, NULL, '{');
		out_json_text(&j, "name", v->x->workloads[w].name);
		run_json(&j, "base", v, w, &v->results[w].base);
		run_json(&j, "all", v, w, &v->results[w].all);
		out_json_open(&j, "changes", '[');
		for (size_t i = 0; i < v->x->n_changes; i++)
			change_json(&j, v, w, i);
		out_json_close(&j, ']');
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_close(&j, '}');
}
