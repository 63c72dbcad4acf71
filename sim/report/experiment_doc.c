/* experiment_doc.c - a study as tables, CSV, JSON and Markdown. */
#include <math.h>
#include <string.h>

#include "sim/report/experiment_doc.h"

#define WIDTH          100
#define MARKDOWN_WIDTH 120

static const struct doc_lines lines = { 0, 0, WIDTH }, said = { 0, 2, WIDTH }, indented = { 2, 2, WIDTH },
			      as_it_is = { 2, 2, 0 };

/* --- for people ---------------------------------------------------------------------------------------------------- */

struct group {
	const struct experiment *x;
	const struct experiment_group *g;
	const double *most; /* of each figure */
};

/* A run: the values of its keys, then the figures that are columns. Numbers are texts, as each has its own decimals. */
static void group_row(struct doc *d, const void *of, size_t i)
{
	const struct group *t = of;
	const struct experiment_group *g = t->g;
	const struct experiment_run *u = &t->x->runs[g->first + i];
	struct str cell = STR_INIT;

	for (size_t k = 0; k < g->n_loops; k++)
		doc_text(d, g->loops[k].key, u->shown[k]);
	for (size_t f = 0; f < g->n_figures; f++) {
		if (!g->figures[f].as)
			continue;
		str_clear(&cell);
		if (!d->heads)
			experiment_number(&u->figures[f], g->figures[f].digits, &cell);
		doc_number(d, g->figures[f].as, str_c(&cell));
		if (g->figures[f].bar && !d->heads && u->figures[f].type == EXPR_NUMBER && t->most[f] > 0)
			doc_mark(d, OUT_PLAIN, u->figures[f].number / t->most[f]);
	}
	doc_free(d, &cell);
}

static void run_commands(struct doc *d, const struct experiment *x, const struct experiment_group *g)
{
	doc_fold(d, g->n == 1 ? "the command" : "the commands");
	for (size_t i = g->first; doc_on_page(d) && i < g->first + g->n; i++) {
		bool again = false;

		for (size_t k = g->first; k < i; k++)
			again |= x->runs[k].same == x->runs[i].same;
		if (!again)
			doc_put_lines(d, DOC_CODE, as_it_is, x->runs[i].command);
	}
	doc_fold(d, NULL);
}

static void group_table(struct doc *d, const struct experiment *x, const struct experiment_group *g)
{
	double most[EXPERIMENT_FIGURES] = { 0 };

	for (size_t f = 0; f < g->n_figures; f++)
		for (size_t i = g->first; i < g->first + g->n; i++)
			if (x->runs[i].figures[f].type == EXPR_NUMBER)
				most[f] = fmax(most[f], fabs(x->runs[i].figures[f].number));
	doc_item(d, true);
	doc_table(d, NULL, g->table, g->n, group_row, (&(struct group){ x, g, most }));
	for (size_t i = g->first; i < g->first + g->n; i++)
		if (x->runs[i].failed)
			doc_say(d, "(%s: %s)\n", x->runs[i].label, x->runs[i].failed);
	doc_say(d, "\n");
	run_commands(d, x, g);
	doc_item(d, false);
}

static void experiment_doc_counts(size_t n, const size_t *counted, struct str *out)
{
	str_addf(out, "%zu claim%s: ", n, n == 1 ? "" : "s");
	for (int v = 0, some = 0; v < EXPERIMENT_VERDICTS; v++)
		if (counted[v])
			str_addf(out, "%s%zu %s", some++ ? ", " : "", counted[v],
			         experiment_verdict_name((enum experiment_verdict)v));
}

static const enum out_mark marks[EXPERIMENT_VERDICTS] = { OUT_GOOD, OUT_MID, OUT_BAD, OUT_MID, OUT_MID, OUT_MID };

size_t experiment_worst(const struct experiment *x, size_t i)
{
	static const enum experiment_verdict order[EXPERIMENT_VERDICTS] = { EXPERIMENT_WRONG,      EXPERIMENT_PART,
		                                                            EXPERIMENT_OPEN,       EXPERIMENT_RIGHT,
		                                                            EXPERIMENT_ARITHMETIC, EXPERIMENT_CANNOT };
	size_t seen = 0;

	for (int v = 0; v < EXPERIMENT_VERDICTS; v++)
		for (size_t k = 0; k < x->n_claims; k++)
			if (x->claims[k].verdict == order[v] && seen++ == i)
				return k;
	return i;
}

static void claim_text(struct doc *d, const struct experiment *x, const struct experiment_claim *c)
{
	struct str s = STR_INIT;

	doc_item(d, true);
	str_addf(&s, "\"%s\"%s%s%s", c->says, c->at ? " (" : "", c->at ? c->at : "", c->at ? ")" : "");
	doc_put_judged(d, marks[c->verdict], experiment_verdict_name(c->verdict), said, str_c(&s));
	doc_put_lines(d, DOC_TEXT, indented, c->cannot ? c->cannot : c->why);
	doc_fold(d, "shown by");
	for (size_t k = 0; k < c->n_runs && (k < 2 || doc_on_page(d)); k++) {
		str_clear(&s);
		str_addf(&s, "npusim %s", x->runs[c->runs[k]].command);
		doc_put_lines(d, DOC_CODE, as_it_is, str_c(&s));
	}
	doc_fold(d, NULL);
	doc_say(d, "\n");
	doc_item(d, false);
	doc_free(d, &s);
}

static void ask_text(struct doc *d, const struct experiment *x, const struct experiment_ask *q)
{
	doc_put_lines(d, DOC_HEADING, lines, q->ask);
	doc_put_lines(d, DOC_TEXT, indented, q->answer);
	doc_say(d, "\n");
	for (size_t i = 0; i < q->n_shows; i++)
		group_table(d, x, q->shows[i]);
}

/* A page opens with what came out wrong, a terminal ends with it: that is what is seen first there. */
static size_t wrong_first(struct doc *d, const struct experiment *x, const char *counts)
{
	const size_t n = doc_on_page(d) ? x->counted[EXPERIMENT_WRONG] : 0;

	if (!n)
		return 0;
	doc_put_lines(d, DOC_HEADING, lines, "What came out wrong");
	doc_put_lines(d, DOC_SOFT, lines, counts);
	for (size_t i = 0; i < n; i++)
		claim_text(d, x, &x->claims[experiment_worst(x, i)]);
	return n;
}

static void one(struct doc *d, const struct experiment *x)
{
	size_t told;
	struct str counts = STR_INIT;

	experiment_doc_counts(x->n_claims, x->counted, &counts);
	doc_put_lines(d, DOC_TITLE, lines, x->title);
	if (x->question)
		doc_put_lines(d, DOC_SOFT, lines, x->question);
	doc_say(d, "\n");
	if (x->answer) {
		doc_put_lines(d, DOC_TEXT, lines, x->answer);
		doc_say(d, "\n");
	}
	told = wrong_first(d, x, str_c(&counts));
	for (size_t i = 0; i < x->n_asks; i++)
		ask_text(d, x, &x->asks[i]);
	for (size_t i = 0; i < x->n_groups; i++)
		if (x->groups[i].table && !x->groups[i].asked)
			group_table(d, x, &x->groups[i]);
	if (x->n_claims > told) {
		doc_put_lines(d, DOC_TEXT, lines, told ? "The other claims" : str_c(&counts));
		doc_say(d, "\n");
	}
	for (size_t i = told; i < x->n_claims; i++)
		claim_text(d, x, &x->claims[experiment_worst(x, i)]);
	doc_free(d, &counts);
}

void experiment_commands(const struct experiments *s, struct str *out)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->v[i]->n_runs; k++)
			if (s->v[i]->runs[k].same == k)
				str_addf(out, "npusim %s\n", s->v[i]->runs[k].command);
}

const char *experiment_stem(const struct experiment *x, size_t *n)
{
	const char *name = strrchr(x->path, '/'), *end;

	name = name ? name + 1 : x->path;
	end = strrchr(name, '.');
	*n = end && end > name ? (size_t)(end - name) : strlen(name);
	return name;
}

/* --- CSV and JSON -------------------------------------------------------------------------------------------------- */

static void claim_row(struct doc *d, const void *of, size_t i)
{
	const struct experiment *x = of;
	const struct experiment_claim *c = d->heads ? NULL : &x->claims[i];
	const char *why = c && c->cannot ? c->cannot : c ? c->why : NULL;

	if (d->format == OUT_CSV) {
		size_t n = 0;
		const char *stem = c ? experiment_stem(x, &n) : NULL;

		doc_text(d, "study", arena_strndup(x->a, stem, n));
	}
	doc_text(d, "verdict", experiment_verdict_name(c->verdict));
	doc_text(d, d->format == OUT_CSV ? "claim" : "says", c->says);
	doc_text(d, "at", c->at);
	if (d->format == OUT_CSV) {
		doc_text(d, "why", why);
		doc_text(d, "command", c->n_runs ? x->runs[c->runs[0]].command : NULL);
		return;
	}
	doc_text(d, "right", c->right);
	doc_text(d, "in_part", c->in_part);
	doc_text(d, "why", why);
	doc_open(d, "commands", '[');
	for (size_t k = 0; k < c->n_runs; k++)
		doc_text(d, NULL, x->runs[c->runs[k]].command);
	doc_close(d, ']');
}

static void ask_line(struct doc *d, const void *of, size_t i)
{
	const struct experiment *x = of;
	const struct experiment_ask *q = d->heads ? NULL : &x->asks[i];
	size_t n = 0;
	const char *stem = q ? experiment_stem(x, &n) : NULL;

	doc_text(d, "study", arena_strndup(x->a, stem, n));
	doc_text(d, "ask", q->ask);
	doc_text(d, "answer", q->answer);
}

static void ask_row(struct doc *d, const void *of, size_t i)
{
	const struct experiment_ask *q = (const struct experiment_ask *)of + i;

	doc_text(d, "ask", q->ask);
	doc_text(d, "answer", q->answer);
	doc_open(d, "shows", '[');
	for (size_t k = 0; k < q->n_shows; k++)
		doc_text(d, NULL, q->shows[k]->name);
	doc_close(d, ']');
}

static void run_row(struct doc *d, const void *of, size_t i)
{
	const struct experiment_run *u = (const struct experiment_run *)of + i;

	doc_text(d, "name", u->label);
	doc_text(d, "command", u->command);
	doc_text(d, "failed", u->failed);
	doc_open(d, "figures", '{');
	for (size_t f = 0; f < u->group->n_figures; f++) {
		const struct expr_value *v = &u->figures[f];

		if (v->type == EXPR_NUMBER)
			doc_real(d, u->group->figures[f].name, 0, v->number);
		else
			doc_text(d, u->group->figures[f].name, v->type == EXPR_TEXT ? v->text : NULL);
	}
	doc_close(d, '}');
}

static void members(struct doc *d, const struct experiment *x)
{
	doc_open(d, NULL, '{');
	doc_text(d, "study", x->path);
	doc_text(d, "title", x->title);
	doc_text(d, "question", x->question);
	doc_text(d, "answer", x->answer);
	if (x->n_asks)
		doc_table(d, "asks", NULL, x->n_asks, ask_row, x->asks);
	doc_table(d, "runs", NULL, x->n_runs, run_row, x->runs);
	doc_table(d, "claims", NULL, x->n_claims, claim_row, x);
	doc_close(d, '}');
}

/* The claims; of studies without any, the questions. */
static void rows_of_all(struct doc *d, const struct experiments *s)
{
	doc_row_fn *row = ask_line;

	for (size_t i = 0; i < s->n; i++)
		row = s->v[i]->n_claims ? claim_row : row;
	doc_table_open(d, NULL, NULL);
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < (row == claim_row ? s->v[i]->n_claims : s->v[i]->n_asks); k++)
			doc_row(d, row, s->v[i], k);
	doc_table_close(d, row, NULL);
}

void experiment_doc(struct doc *d, const struct experiments *s)
{
	const bool list = d->format == OUT_JSON && s->n != 1;

	if (d->format == OUT_CSV) {
		rows_of_all(d, s);
		return;
	}
	if (list)
		doc_open(d, NULL, '[');
	for (size_t i = 0; i < s->n; i++) {
		if (d->format == OUT_JSON)
			members(d, s->v[i]);
		if (d->format == OUT_TABLE) {
			doc_say(d, "%s", i ? "\n" : "");
			one(d, s->v[i]);
		}
	}
	if (list)
		doc_close(d, ']');
}

void experiment_page(const struct experiment *x, struct str *out)
{
	const struct experiments one = { (struct experiment **)&x, 1 };
	struct doc d;

	doc_init(&d, OUT_HTML, 0, out);
	d.name = x->title;
	experiment_doc(&d, &one);
	doc_end(&d);
}

/* --- markdown ------------------------------------------------------------------------------------------------------ */

/* What would end a cell, or begin something else. */
static void cell(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("|*_<>`", *text))
			str_addc(out, '\\');
		str_addc(out, *text == '\n' ? ' ' : *text);
	}
}

static void claim_line(const struct experiment *x, size_t i, size_t number, struct str *out)
{
	const struct experiment_claim *c = &x->claims[i];

	str_addf(out, "| %zu | ", number);
	cell(out, c->at ? c->at : "");
	str_add(out, " | ");
	cell(out, c->says);
	str_addf(out, " | **%s** | ", experiment_verdict_name(c->verdict));
	cell(out, c->cannot ? c->cannot : c->why);
	str_add(out, " | ");
	for (size_t k = 0; k < c->n_runs && k < 2; k++)
		str_addf(out, "%s`npusim %s`", k ? "<br>" : "", x->runs[c->runs[k]].command);
	str_add(out, " |\n");
}

static void one_markdown(const struct experiment *x, const char *level, size_t *number, struct str *out)
{
	str_addf(out, "%s %s\n\n", level, x->title);
	if (x->question) {
		out_wrap(x->question, 0, 0, MARKDOWN_WIDTH, out);
		str_addc(out, '\n');
	}
	if (x->answer) {
		out_wrap(x->answer, 0, 0, MARKDOWN_WIDTH, out);
		str_addc(out, '\n');
	}
	for (size_t i = 0; i < x->n_asks; i++) {
		str_addf(out, "%s# %s\n\n", level, x->asks[i].ask);
		out_wrap(x->asks[i].answer, 0, 0, MARKDOWN_WIDTH, out);
		str_addc(out, '\n');
	}
	if (!x->n_claims)
		return;
	str_addf(out, "`%s`; ", x->path);
	experiment_doc_counts(x->n_claims, x->counted, out);
	str_add(out, ".\n\n| | where | what is said | verdict | why | command |\n|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < x->n_claims; i++)
		claim_line(x, i, ++*number, out);
}

void experiment_markdown(const struct experiments *s, struct str *out)
{
	size_t counted[EXPERIMENT_VERDICTS] = { 0 }, all = 0, number = 0;

	for (size_t i = 0; i < s->n; i++) {
		all += s->v[i]->n_claims;
		for (int v = 0; v < EXPERIMENT_VERDICTS; v++)
			counted[v] += s->v[i]->counted[v];
	}
	if (s->n == 1) {
		one_markdown(s->v[0], "#", &number, out);
		return;
	}
	str_add(out, "# Claims, and what the figures say\n\n");
	experiment_doc_counts(all, counted, out);
	str_add(out, ". `npusim study` writes this; each verdict follows from figures of the commands beside it.\n");
	for (size_t i = 0; i < s->n; i++) {
		if (!s->v[i]->n_claims)
			continue;
		str_addc(out, '\n');
		one_markdown(s->v[i], "##", &number, out);
	}
}
