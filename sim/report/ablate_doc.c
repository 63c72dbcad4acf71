#include "sim/report/ablate_doc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH      80
#define PAGE_FIRST 2 /* sentences above the matrix of a page */

double ablate_rate(const struct ablate_doc *v, size_t workload, const struct ablate_run *r)
{
	return r->run && !r->refused && r->total_ps ? (double)v->tokens[workload] * 1e12 / (double)r->total_ps : 0;
}

const char *ablate_how_run(const struct ablate_doc *v)
{
	return strcmp(v->fidelity, "event") == 0      ? "with events"
	       : strcmp(v->fidelity, "analytic") == 0 ? "in closed form"
	                                              : "in closed form, and with events where that says too little";
}

int ablate_shows(const struct ablate_doc *v, size_t change)
{
	double most = -1e30;
	int best = -1;

	if (v->x->changes[change].pays >= 0)
		return v->x->changes[change].pays;
	for (size_t w = 0; w < v->x->n_workloads; w++)
		if (v->results[w].alone[change].run && ablate_alone(v->x, &v->results[w], change).value > most) {
			most = ablate_alone(v->x, &v->results[w], change).value;
			best = (int)w;
		}
	return best;
}

/* --- figures ------------------------------------------------------------------------------------------------------- */

/* A row: the machine with one change, or as a whole. */
struct row {
	const struct ablate_doc *v;
	size_t w;
	const char *name;
	const struct ablate_run *r, *base;
	size_t change; /* of one change */
	bool whole;
};

static bool there(const struct ablate_run *r)
{
	return r->run && !r->refused;
}

static const char *ablate_doc_by_name(const struct ablate_worth *w)
{
	return !w->known ? NULL : w->by == RUN_EVENT ? "event" : "analytic";
}

/* What a run took; names and digits for people, or those of CSV. */
static void run_cells(struct doc *d, const struct row *x, bool watts)
{
	const bool people = d->format == OUT_TABLE;
	const int digits = people ? 1 : 3;
	const struct ablate_run *r = x->r;
	const double rate = d->heads ? 0 : ablate_rate(x->v, x->w, r);

	doc_ps_if(d, "us", digits, there(r), r->total_ps);
	doc_real_if(d, people ? "tokens/s" : "tokens_s", digits, there(r) && rate > 0, rate);
	doc_real_if(d, people ? "DRAM MB" : "dram_mb", digits, there(r), (double)r->dram_bytes / 1e6);
	if (watts)
		doc_real_if(d, people ? "uJ" : "energy_uj", digits, r->energy_fj, (double)r->energy_fj / 1e9);
	doc_real_if(d, people ? "mm2" : "area_mm2", people ? 0 : 2, r->area_nm2, (double)r->area_nm2 / 1e12);
}

/* --- the court ----------------------------------------------------------------------------------------------------- */

struct judged {
	const struct ablate_doc *v;
	const struct ablate_court *court;
};

static void suite_member(struct doc *d, const void *of, size_t i)
{
	const struct judged *x = of;
	const struct ablate_suite *s = &x->court->suites[i];

	if (!s->n)
		return;
	doc_text(d, "suite", x->v->x->suites[i]);
	doc_count(d, "workloads", s->n);
	doc_text(d, "effect", ablate_effect_name(s->effect));
	doc_real(d, "saves", 5, s->saves);
	doc_real(d, "half", 5, s->half);
	doc_real(d, "low", 5, s->low);
	doc_real(d, "high", 5, s->high);
	doc_real(d, "owes", 5, s->owes);
	doc_real(d, "time_saves", 5, s->time);
	doc_real(d, "energy_saves", 5, s->energy);
}

static bool suite_runs(const struct ablation *x, size_t suite)
{
	for (size_t w = 0; w < x->n_workloads; w++)
		if (x->workloads[w].suite == (int)suite)
			return true;
	return false;
}

/* For people a column a suite; of JSON a list. */
static void court_row(struct doc *d, const void *of, size_t i)
{
	const struct ablate_doc *v = of;
	const struct ablation *x = v->x;
	struct ablate_court c;
	struct str why = STR_INIT, cell = STR_INIT;
	double energy = 0, n = 0;

	if (d->heads)
		return;
	ablate_court(x, v->results, i, &c);
	if (!x->changes[i].says || (d->format == OUT_TABLE && c.ruling == ABLATE_NOT_RULED))
		return;
	ablate_court_why(x, v->results, i, &why);
	doc_text(d, d->format == OUT_TABLE ? "claim" : "name", x->changes[i].name);
	if (d->format == OUT_JSON)
		doc_text(d, "says", x->changes[i].says);
	doc_text(d, "verdict", ablate_ruling_name(c.ruling));
	for (size_t k = 0; k < x->n_suites; k++) {
		const struct ablate_suite *s = &c.suites[k];

		energy += s->energy * (double)s->n;
		n += (double)s->n;
		if (d->format != OUT_TABLE || !suite_runs(x, k))
			continue;
		str_clear(&cell);
		if (s->n)
			str_addf(&cell, "%.1f +-%.1f", 100 * s->saves, 100 * s->half);
		doc_text(d, x->suites[k], str_c(&cell));
	}
	doc_real_if(d, d->format == OUT_TABLE ? "energy" : "energy_saves_pct", 1, n > 0, n > 0 ? 100 * energy / n : 0);
	doc_real(d, d->format == OUT_TABLE ? "mm2" : "area_mm2", d->format == OUT_TABLE ? 0 : 2, c.area / 1e12);
	if (d->format == OUT_JSON) {
		doc_text(d, "why", str_c(&why));
		doc_table(d, "suites", NULL, x->n_suites, suite_member, &((struct judged){ v, &c }));
	}
	d->to->failed |= why.failed | cell.failed;
	str_free(&why);
	str_free(&cell);
}

/* --- tables -------------------------------------------------------------------------------------------------------- */

static enum out_mark mark_of(enum ablate_verdict v)
{
	return v == ABLATE_RIGHT || v == ABLATE_TOGETHER  ? OUT_GOOD
	       : v == ABLATE_WRONG || v == ABLATE_REFUSED ? OUT_BAD
	                                                  : OUT_MID;
}

static void change_row(struct doc *d, const struct row *x)
{
	const struct ablate_result *r = &x->v->results[x->w];
	const enum ablate_verdict judged = ablate_verdict_of(x->v->x, r, x->change);
	const struct ablate_worth alone = ablate_alone(x->v->x, r, x->change), missed = ablate_missed(r, x->change);

	doc_text(d, "change", x->name);
	doc_text(d, "alone", ablate_verdict_name(judged));
	doc_mark(d, mark_of(judged), 0);
	doc_text(d, "by", ablate_doc_by_name(&alone));
	run_cells(d, x, r->base.energy_fj);
	doc_real_if(d, "saves_pct", 1, alone.known, 100 * alone.value);
	if (alone.known && fabs(alone.value) >= 0.005)
		doc_mark(d, OUT_PLAIN, alone.value);
	doc_real_if(d, "missed_pct", 1, missed.known, 100 * missed.value);
}

static void whole_row(struct doc *d, const struct row *x)
{
	const struct ablate_run *r = x->r;

	doc_text(d, "change", x->name);
	doc_text(d, "alone", r->refused ? "cannot be" : "");
	doc_text(d, "by", r->by == RUN_EVENT ? "event" : "analytic");
	run_cells(d, x, x->v->results[x->w].base.energy_fj);
	doc_real_if(d, "saves_pct", 1, !r->refused, 100 * (1 - (double)r->total_ps / (double)x->base->total_ps));
	doc_real_if(d, "missed_pct", 1, false, 0);
}

static void ablate_doc_row(struct doc *d, const void *of, size_t i)
{
	const struct row *x = of;

	(void)i;
	if (x->whole)
		whole_row(d, x);
	else
		change_row(d, x);
}

/* A machine as a whole; where it was run by both, each beside the base by the same. */
static void ablate_doc_whole(struct doc *d, struct row x)
{
	x.whole = true;
	for (; x.r; x.r = x.r->form, x.base = x.base->form) {
		doc_row(d, ablate_doc_row, &x, 0);
		if (!x.base->form)
			return;
	}
}

static void workload_table(struct doc *d, const struct ablate_doc *v, size_t w)
{
	const struct ablate_result *r = &v->results[w];

	doc_table_open(d, NULL, v->x->workloads[w].name);
	ablate_doc_whole(d, (struct row){ .v = v, .w = w, .name = "none of them", .r = &r->base, .base = &r->base });
	for (size_t i = 0; i < v->x->n_changes; i++)
		if (r->alone[i].run)
			doc_row(d, ablate_doc_row,
			        &(struct row){
					.v = v, .w = w, .name = v->x->changes[i].name, .r = &r->alone[i], .change = i },
			        0);
	if (r->all.run)
		ablate_doc_whole(
			d, (struct row){ .v = v, .w = w, .name = "all together", .r = &r->all, .base = &r->base });
	doc_table_close(d, NULL, NULL);
	doc_say(d, "\n");
}

static bool has_mix(const struct ablation *x)
{
	for (size_t w = 0; w < x->n_workloads; w++)
		if (x->workloads[w].weight > 0)
			return true;
	return false;
}

static void mix_row(struct doc *d, const void *of, size_t i)
{
	const struct ablate_doc *v = of;
	struct ablate_worth alone = { .known = false }, missed = { .known = false };
	const bool people = d->format == OUT_TABLE;

	if (!d->heads) {
		alone = ablate_mix(v->x, v->results, i, false);
		missed = ablate_mix(v->x, v->results, i, true);
	}
	doc_text(d, "change", v->x->changes[i].name);
	doc_real_if(d, people ? "saves_pct" : "saves", people ? 1 : 5, alone.known, (people ? 100 : 1) * alone.value);
	doc_real_if(d, people ? "missed_pct" : "missed", people ? 1 : 5, missed.known,
	            (people ? 100 : 1) * missed.value);
}

/* The mean over the steps of those workloads that have a weight. */
static void mix(struct doc *d, const struct ablate_doc *v)
{
	if (!has_mix(v->x))
		return;
	doc_table(d, "mix", "the mix, by the workloads' weights", v->x->n_changes, mix_row, v);
	doc_say(d, "\n");
}

/* A sentence for each change, about the workload where it shows. */
static void sentences(const struct ablate_doc *v, struct str *out)
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
			         ablate_verdict_name(ablate_verdict_of(v->x, &v->results[w], i)));
			ablate_why(v->x, &v->results[w], i, &s);
		}
		out_wrap(str_c(&s), 0, 4, WIDTH, out);
	}
	out->failed |= s.failed;
	str_free(&s);
}

/* --- what to do, by workload --------------------------------------------------------------------------------------- */

/* ", 12.0 %"; nothing where that would be a nought. */
static void add_saves(struct str *s, double part)
{
	if (fabs(100 * part) >= 0.05)
		str_addf(s, ", %.1f %%", 100 * part);
}

/* "yes, 12 %": what a verdict advises. */
static void advice(const struct ablate_doc *v, size_t w, size_t i, struct str *s)
{
	static const char *const words[] = { [ABLATE_NOT_MODELLED] = "",          [ABLATE_NOT_RUN] = "",
		                             [ABLATE_REFUSED] = "cannot be",      [ABLATE_RIGHT] = "yes",
		                             [ABLATE_NOTHING] = "no need",        [ABLATE_WRONG] = "no",
		                             [ABLATE_TOGETHER] = "with the rest", [ABLATE_WITHIN] = "too close" };
	const enum ablate_verdict judged = ablate_verdict_of(v->x, &v->results[w], i);
	const struct ablate_worth alone = ablate_alone(v->x, &v->results[w], i);

	str_add(s, words[judged]);
	if ((judged == ABLATE_RIGHT || judged == ABLATE_WRONG) && alone.known)
		add_saves(s, alone.value);
}

/* On a suite by what it does there; without suites a column a workload. */
static void suite_advice(struct doc *d, const struct ablate_court *c, size_t k)
{
	static const enum out_mark marks[] = { OUT_MID, OUT_GOOD, OUT_BAD, OUT_MID };
	static const char *const words[] = { "no need", "yes", "no", "too close" };
	const struct ablate_suite *s = &c->suites[k];
	struct str cell = STR_INIT;

	if (s->n) {
		str_add(&cell, words[s->effect]);
		add_saves(&cell, s->saves);
	}
	doc_put_text(d, str_c(&cell));
	if (s->n)
		doc_mark(d, marks[s->effect], 0);
	doc_free(d, &cell);
}

/* On any of the workloads. */
static bool tried(const struct ablate_doc *v, size_t change)
{
	for (size_t w = 0; w < v->x->n_workloads; w++)
		if (v->results[w].alone[change].run)
			return true;
	return false;
}

static void matrix_row(struct doc *d, const void *of, size_t i)
{
	const struct ablate_doc *v = of;
	struct ablate_court c;
	struct str cell = STR_INIT;

	if (!d->heads && !tried(v, i))
		return;
	doc_text(d, "change", v->x->changes[i].name);
	if (!d->heads && v->x->n_suites)
		ablate_court(v->x, v->results, i, &c);
	for (size_t k = 0; k < v->x->n_suites; k++)
		if (suite_runs(v->x, k) && doc_head(d, v->x->suites[k], OUT_TEXT, 0))
			suite_advice(d, &c, k);
	for (size_t w = 0; !v->x->n_suites && w < v->x->n_workloads; w++) {
		str_clear(&cell);
		if (!d->heads)
			advice(v, w, i, &cell);
		doc_text(d, v->x->workloads[w].name, str_c(&cell));
		if (cell.len)
			doc_mark(d, mark_of(ablate_verdict_of(v->x, &v->results[w], i)), 0);
	}
	doc_free(d, &cell);
}

/* The answer: which change on which workload. */
static void page_matrix(struct doc *d, const struct ablate_doc *v)
{
	doc_item(d, true);
	doc_table(d, NULL,
	          v->x->n_suites ? "build it? by suite, with what it saves there in the mean"
	                         : "build it? by workload, with what it saves alone",
	          v->x->n_changes, matrix_row, v);
	doc_item(d, false);
}

/* The same as npusim explain has it. */
static void page_sentences(struct doc *d, const struct ablate_doc *v)
{
	struct str s = STR_INIT;

	doc_item(d, true);
	doc_put_lines(d, DOC_HEADING, (struct doc_lines){ 0, 0, WIDTH }, "In sentences");
	for (size_t i = 0; i < v->n_lines; i++) { /* the first, too: each with where it is from */
		doc_put_lines(d, DOC_TEXT, (struct doc_lines){ 0, 0, WIDTH }, v->lines[i].text);
		str_clear(&s);
		str_addf(&s, "%s; %s", v->lines[i].where, v->lines[i].source);
		doc_put_lines(d, DOC_SOFT, (struct doc_lines){ 0, 0, WIDTH }, str_c(&s));
	}
	doc_item(d, false);
	doc_free(d, &s);
}

/* --- a page: of each change, is it as claimed on each workload, by how much, and why ------------------------------- */

/* What a verdict means of a claim, in words. */
static const char *words_of(enum ablate_verdict v, enum ablate_expects expects)
{
	const bool no_slower = expects == ABLATE_NO_SLOWER;

	switch (v) {
	case ABLATE_RIGHT:
		return no_slower ? "right: it is not missed" : "right: it pays";
	case ABLATE_TOGETHER:
		return "right, with the others";
	case ABLATE_NOTHING:
		return "nothing here";
	case ABLATE_WRONG:
		return no_slower ? "not here: it is missed" : "not here: it costs";
	default:
		return ablate_verdict_name(v);
	}
}

static void verdict_row(struct doc *d, const void *of, size_t w)
{
	const struct row *x = of;
	const struct ablate_result *r = &x->v->results[w];
	const enum ablate_verdict judged = ablate_verdict_of(x->v->x, r, x->change);
	const struct ablate_worth alone = ablate_alone(x->v->x, r, x->change), missed = ablate_missed(r, x->change);
	struct str why = STR_INIT;

	if (!r->alone[x->change].run)
		return;
	ablate_why(x->v->x, r, x->change, &why);
	doc_text(d, "workload", x->v->x->workloads[w].name);
	doc_text(d, "the claim is", words_of(judged, x->v->x->changes[x->change].expects));
	doc_mark(d, mark_of(judged), 0);
	doc_real_if(d, "saves_pct", 1, alone.known, 100 * alone.value);
	if (alone.known && fabs(alone.value) >= 0.005)
		doc_mark(d, OUT_PLAIN, alone.value);
	doc_real_if(d, "missed_pct", 1, missed.known, 100 * missed.value);
	doc_text(d, "by", alone.by == RUN_EVENT ? "events" : "closed form");
	doc_text(d, "why", str_c(&why));
	doc_free(d, &why);
}

static const struct doc_lines lines = { 0, 0, WIDTH };

static void page_sets(struct doc *d, const char *const *sets, size_t n)
{
	struct str s = STR_INIT;

	for (size_t k = 0; k < n; k++)
		str_addf(&s, "%s%s", k ? ", " : "", sets[k]);
	if (n)
		doc_put_lines(d, DOC_CODE, lines, str_c(&s));
	doc_free(d, &s);
}

static void page_head(struct doc *d, const struct ablate_doc *v)
{
	const char *name = strrchr(v->x->path, '/');
	struct str s = STR_INIT;

	str_addf(&s, "What each change is worth: %s", name ? name + 1 : v->x->path);
	doc_put_lines(d, DOC_TITLE, lines, str_c(&s));
	for (size_t i = 0; i < v->n_lines && i < PAGE_FIRST; i++)
		doc_put_lines(d, DOC_TEXT, lines, v->lines[i].text);
	doc_free(d, &s);
}

/* What a figure of it means. */
static void page_how(struct doc *d, const struct ablate_doc *v)
{
	struct str s = STR_INIT;

	str_addf(
		&s,
		"Changes to %s. saves: alone, of the time with none of the changes. missed: how much longer all the others"
		" take without it. Simulated %s; npusim %s.",
		v->x->base, ablate_how_run(v), v->build);
	doc_put_lines(d, DOC_SOFT, lines, str_c(&s));
	page_sets(d, v->x->sets, v->x->n_sets);
	doc_free(d, &s);
}

/* On the suites, before each workload. */
static void page_ruling(struct doc *d, const struct ablate_doc *v, size_t i)
{
	static const enum out_mark marks[] = { OUT_GOOD, OUT_MID, OUT_BAD, OUT_MID, OUT_MID };
	struct ablate_court c;
	struct str why = STR_INIT;

	ablate_court(v->x, v->results, i, &c);
	if (c.ruling == ABLATE_NOT_RULED)
		return;
	ablate_court_why(v->x, v->results, i, &why);
	doc_put_judged(d, marks[c.ruling], ablate_ruling_name(c.ruling), lines, str_c(&why));
	doc_free(d, &why);
}

static void page_change(struct doc *d, const struct ablate_doc *v, size_t i)
{
	static const char *const claimed[] = { [ABLATE_LESS_ENERGY] = "claimed to take less energy",
		                               [ABLATE_NO_SLOWER] = "claimed to be no slower",
		                               [ABLATE_FASTER] = "claimed to be faster" };
	const struct ablate_change *c = &v->x->changes[i];

	doc_item(d, true);
	doc_put_lines(d, DOC_HEADING, lines, c->name);
	if (c->says)
		doc_put_lines(d, DOC_QUOTE, lines, c->says);
	if (c->not_modelled) {
		doc_put_judged(d, OUT_MID, "not modelled", lines, c->not_modelled);
	} else {
		if (c->mechanism)
			doc_put_lines(d, DOC_TEXT, lines, c->mechanism);
		doc_put_lines(d, DOC_SOFT, lines, claimed[c->expects]);
		page_ruling(d, v, i);
		doc_fold(d, "what is set, and each workload");
		page_sets(d, c->sets, c->n_sets);
		doc_table_open(d, NULL, NULL);
		for (size_t w = 0; w < v->x->n_workloads; w++)
			doc_row(d, verdict_row, &(struct row){ .v = v, .change = i }, w);
		doc_table_close(d, NULL, NULL);
		doc_fold(d, NULL);
	}
	doc_item(d, false);
}

void ablate_page(const struct ablate_doc *v, struct str *out)
{
	const char *name = strrchr(v->x->path, '/');
	struct doc d;

	doc_init(&d, OUT_HTML, 0, out);
	d.name = name ? name + 1 : v->x->path;
	ablate_doc(&d, v);
	doc_end(&d);
}

static void ablate_doc_table(struct doc *d, const struct ablate_doc *v)
{
	if (doc_on_page(d)) {
		page_head(d, v);
		page_matrix(d, v);
		page_sentences(d, v);
		page_how(d, v);
	} else
		doc_say(d,
		        "%zu changes to %s, %s; saves: alone, of the time with none of them; missed: what all but it take longer\n\n",
		        v->x->n_changes, v->x->base, ablate_how_run(v));
	if (v->x->n_suites) {
		doc_fold(d, "claims on suites, in figures");
		doc_table(
			d, NULL,
			"claims on suites: percent of the time (of 'less energy': of that) that is saved, and by how much that may be off",
			v->x->n_changes, court_row, v);
		doc_say(d, "\n");
		doc_fold(d, NULL);
	}
	for (size_t w = 0; w < v->x->n_workloads; w++) {
		doc_fold(d, v->x->workloads[w].name);
		workload_table(d, v, w);
		doc_fold(d, NULL);
	}
	mix(d, v);
	for (size_t i = 0; doc_on_page(d) && i < v->x->n_changes; i++)
		page_change(d, v, i);
	if (!doc_on_page(d))
		sentences(v, d->to);
}

/* --- csv ----------------------------------------------------------------------------------------------------------- */

static void csv_row(struct doc *d, const void *of, size_t i)
{
	const struct ablate_doc *v = of;
	const size_t n = v->x->n_changes, w = n ? i / n : 0, c = n ? i % n : 0;
	const struct ablate_result *r = &v->results[w];
	struct ablate_worth alone = { .known = false }, missed = { .known = false };
	struct str why = STR_INIT;

	if (!d->heads) {
		alone = ablate_alone(v->x, r, c);
		missed = ablate_missed(r, c);
		ablate_why(v->x, r, c, &why);
	}
	doc_text(d, "workload", v->x->workloads[w].name);
	doc_text(d, "change", v->x->changes[c].name);
	doc_text(d, "verdict", ablate_verdict_name(ablate_verdict_of(v->x, r, c)));
	run_cells(d, &(struct row){ .v = v, .w = w, .r = d->heads ? NULL : &r->alone[c] }, true);
	doc_real_if(d, "saves", 5, alone.known, alone.value);
	doc_real_if(d, "missed", 5, missed.known, missed.value);
	doc_text(d, "by", ablate_doc_by_name(&alone));
	doc_real_if(d, "saves_form", 5, alone.both, alone.form);
	doc_text(d, "missed_by", ablate_doc_by_name(&missed));
	doc_real_if(d, "missed_form", 5, missed.both, missed.form);
	doc_text(d, "why", str_c(&why));
	doc_free(d, &why);
}

/* --- json ---------------------------------------------------------------------------------------------------------- */

static void run_members(struct doc *d, const char *key, const struct ablate_doc *v, size_t w,
                        const struct ablate_run *r)
{
	const double rate = ablate_rate(v, w, r);

	if (!r->run) {
		doc_text(d, key, NULL);
		return;
	}
	doc_open(d, key, '{');
	if (r->refused) {
		doc_text(d, "refused", r->refused);
	} else {
		doc_text(d, "fidelity", r->by == RUN_EVENT ? "event" : "analytic");
		doc_ps(d, "us", 3, r->total_ps);
		doc_ps_if(d, "us_form", 3, r->form, r->form->total_ps);
		doc_real_if(d, "tokens_per_s", 3, rate > 0, rate);
		doc_bytes(d, "dram_bytes", r->dram_bytes);
		doc_real_if(d, "energy_uj", 3, r->energy_fj, (double)r->energy_fj / 1e9);
		doc_real_if(d, "area_mm2", 2, r->area_nm2, (double)r->area_nm2 / 1e12);
	}
	doc_close(d, '}');
}

/* "saves", whose figure that is, and where events came after it the closed form's. */
static void worth_members(struct doc *d, const char *key, const struct ablate_worth *w)
{
	char name[32];

	doc_real_if(d, key, 5, w->known, w->value);
	snprintf(name, sizeof name, "%s_by", key);
	doc_text(d, name, ablate_doc_by_name(w));
	snprintf(name, sizeof name, "%s_form", key);
	doc_real_if(d, name, 5, w->both, w->form);
}

struct changes {
	const struct ablate_doc *v;
	size_t w;
};

static void change(struct doc *d, const void *of, size_t i)
{
	const struct changes *x = of;
	const struct ablate_doc *v = x->v;
	const struct ablate_result *r = &v->results[x->w];
	const struct ablate_worth alone = ablate_alone(v->x, r, i), missed = ablate_missed(r, i);
	struct str why = STR_INIT;

	ablate_why(v->x, r, i, &why);
	doc_text(d, "name", v->x->changes[i].name);
	doc_text(d, "verdict", ablate_verdict_name(ablate_verdict_of(v->x, r, i)));
	doc_text(d, "why", str_c(&why));
	worth_members(d, "saves", &alone);
	worth_members(d, "missed", &missed);
	run_members(d, "alone", v, x->w, &r->alone[i]);
	run_members(d, "all_but_it", v, x->w, &r->without[i]);
	doc_free(d, &why);
}

static void listed(struct doc *d, const void *of, size_t i)
{
	const struct ablate_change *c = (const struct ablate_change *)of + i;

	doc_text(d, "name", c->name);
	doc_text(d, "says", c->says);
	doc_text(d, "mechanism", c->mechanism);
	doc_text(d, "expects", c->not_modelled ? NULL : ablate_expects_name(c->expects));
	doc_text(d, "not_modelled", c->not_modelled);
	doc_texts(d, "set", c->sets, c->n_sets);
}

static void workload(struct doc *d, const void *of, size_t w)
{
	const struct ablate_doc *v = of;

	doc_text(d, "name", v->x->workloads[w].name);
	run_members(d, "base", v, w, &v->results[w].base);
	run_members(d, "all", v, w, &v->results[w].all);
	doc_table(d, "changes", NULL, v->x->n_changes, change, &((struct changes){ v, w }));
}

static void json(struct doc *d, const struct ablate_doc *v)
{
	doc_open(d, NULL, '{');
	doc_text(d, "ablation", v->x->path);
	doc_text(d, "base", v->x->base);
	doc_text(d, "fidelity", v->fidelity);
	doc_table(d, "changes", NULL, v->x->n_changes, listed, v->x->changes);
	if (v->x->n_suites)
		doc_table(d, "court", NULL, v->x->n_changes, court_row, v);
	doc_table(d, "workloads", NULL, v->x->n_workloads, workload, v);
	mix(d, v);
	doc_table(d, "explained", NULL, v->n_lines, explain_row, v->lines);
	doc_close(d, '}');
}

void ablate_doc(struct doc *d, const struct ablate_doc *v)
{
	if (d->format == OUT_JSON)
		json(d, v);
	else if (d->format == OUT_CSV)
		doc_table(d, NULL, NULL, v->x->n_workloads * v->x->n_changes, csv_row, v);
	else
		ablate_doc_table(d, v);
}
