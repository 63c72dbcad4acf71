/* answer_doc.c - a study as tables, CSV, JSON and Markdown. */
#include <string.h>

#include "sim/report/answer_doc.h"
#include "sim/ui/out.h"

#define WIDTH          100
#define MARKDOWN_WIDTH 120

/* --- tables -------------------------------------------------------------------------------------------------------- */

/* One group's runs: the values of its keys, then the figures that are columns. Numbers are texts, as each has its own decimals. */
static void group_table(const struct answer *x, const struct answer_group *g, struct str *out)
{
	struct out_col cols[ANSWER_KEYS + ANSWER_FIGURES];
	struct out_table *t;
	struct str cell = STR_INIT;
	int n = 0;

	for (size_t k = 0; k < g->n_loops; k++)
		cols[n++] = (struct out_col){ g->loops[k].key, OUT_TEXT, 0 };
	for (size_t f = 0; f < g->n_figures; f++)
		if (g->figures[f].as)
			cols[n++] = (struct out_col){ g->figures[f].as, OUT_TEXT, 0 };
	t = out_table_new(cols, n, g->table);
	for (size_t i = g->first; i < g->first + g->n; i++) {
		for (size_t k = 0; k < g->n_loops; k++)
			out_text(t, x->runs[i].shown[k]);
		for (size_t f = 0; f < g->n_figures; f++) {
			if (!g->figures[f].as)
				continue;
			str_clear(&cell);
			answer_number(&x->runs[i].figures[f], g->figures[f].digits, &cell);
			out_text(t, str_c(&cell));
		}
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	for (size_t i = g->first; i < g->first + g->n; i++)
		if (x->runs[i].failed)
			str_addf(out, "(%s: %s)\n", x->runs[i].label, x->runs[i].failed);
	str_addc(out, '\n');
	str_free(&cell);
}

static void answer_doc_counts(size_t n, const size_t *counted, struct str *out)
{
	str_addf(out, "%zu claim%s: ", n, n == 1 ? "" : "s");
	for (int v = 0, some = 0; v < ANSWER_VERDICTS; v++)
		if (counted[v])
			str_addf(out, "%s%zu %s", some++ ? ", " : "", counted[v],
			         answer_verdict_name((enum answer_verdict)v));
}

size_t answer_worst(const struct answer *x, size_t i)
{
	static const enum answer_verdict order[ANSWER_VERDICTS] = { ANSWER_WRONG, ANSWER_PART, ANSWER_RIGHT,
		                                                    ANSWER_ARITHMETIC, ANSWER_CANNOT };
	size_t seen = 0;

	for (int v = 0; v < ANSWER_VERDICTS; v++)
		for (size_t k = 0; k < x->n_claims; k++)
			if (x->claims[k].verdict == order[v] && seen++ == i)
				return k;
	return i;
}

static void claim_text(const struct answer *x, const struct answer_claim *c, struct str *out)
{
	struct str s = STR_INIT;

	str_addf(&s, "%s: \"%s\"%s%s%s", answer_verdict_name(c->verdict), c->diags, c->at ? " (" : "",
	         c->at ? c->at : "", c->at ? ")" : "");
	out_wrap(str_c(&s), 0, 2, WIDTH, out);
	str_add(out, "  ");
	out_wrap(c->cannot ? c->cannot : c->why, 2, 2, WIDTH, out);
	for (size_t k = 0; k < c->n_runs && k < 2; k++)
		str_addf(out, "  npusim %s\n", x->runs[c->runs[k]].command);
	str_addc(out, '\n');
	str_free(&s);
}

static void one_table(const struct answer *x, struct str *out)
{
	out_wrap(x->title, 0, 0, WIDTH, out);
	if (x->question)
		out_wrap(x->question, 0, 0, WIDTH, out);
	str_addc(out, '\n');
	if (x->answer) {
		out_wrap(x->answer, 0, 0, WIDTH, out);
		str_addc(out, '\n');
	}
	for (size_t i = 0; i < x->n_groups; i++)
		if (x->groups[i].table)
			group_table(x, &x->groups[i], out);
	answer_doc_counts(x->n_claims, x->counted, out);
	str_add(out, "\n\n");
	for (size_t i = 0; i < x->n_claims; i++)
		claim_text(x, &x->claims[answer_worst(x, i)], out);
}

void answer_table(const struct answers *s, struct str *out)
{
	for (size_t i = 0; i < s->n; i++) {
		if (i)
			str_add(out, "\n");
		one_table(s->v[i], out);
	}
}

void answer_commands(const struct answers *s, struct str *out)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->v[i]->n_runs; k++)
			if (s->v[i]->runs[k].same == k)
				str_addf(out, "npusim %s\n", s->v[i]->runs[k].command);
}

const char *answer_stem(const struct answer *x, size_t *n)
{
	const char *name = strrchr(x->path, '/'), *end;

	name = name ? name + 1 : x->path;
	end = strrchr(name, '.');
	*n = end && end > name ? (size_t)(end - name) : strlen(name);
	return name;
}

/* --- csv and json -------------------------------------------------------------------------------------------------- */

static void csv_rows(const struct answer *x, const char *study, struct out_table *t)
{
	for (size_t i = 0; i < x->n_claims; i++) {
		const struct answer_claim *c = &x->claims[i];

		out_text(t, study);
		out_text(t, answer_verdict_name(c->verdict));
		out_text(t, c->diags);
		out_text(t, c->at);
		out_text(t, c->cannot ? c->cannot : c->why);
		out_text(t, c->n_runs ? x->runs[c->runs[0]].command : NULL);
	}
}

void answer_csv(const struct answers *s, struct str *out)
{
	static const struct out_col cols[] = { { "study", OUT_TEXT, 0 }, { "verdict", OUT_TEXT, 0 },
		                               { "claim", OUT_TEXT, 0 }, { "at", OUT_TEXT, 0 },
		                               { "why", OUT_TEXT, 0 },   { "command", OUT_TEXT, 0 } };
	struct out_table *t = out_table_new(cols, 6, NULL);

	for (size_t i = 0; i < s->n; i++) {
		size_t n;
		const char *stem = answer_stem(s->v[i], &n), *name = arena_strndup(s->v[i]->a, stem, n);

		csv_rows(s->v[i], name, t);
	}
	out_table_write(t, OUT_CSV, out);
	out_table_free(t);
}

static void figures_json(struct out_json *j, const struct answer_run *u)
{
	for (size_t f = 0; f < u->group->n_figures; f++) {
		const struct expr_value *v = &u->figures[f];

		if (v->type == EXPR_NUMBER)
			out_json_real(j, u->group->figures[f].name, v->number);
		else
			out_json_text(j, u->group->figures[f].name, v->type == EXPR_TEXT ? v->text : NULL);
	}
}

static void claim_json(struct out_json *j, const struct answer *x, const struct answer_claim *c)
{
	out_json_open(j, NULL, '{');
	out_json_text(j, "verdict", answer_verdict_name(c->verdict));
	out_json_text(j, "says", c->diags);
	out_json_text(j, "at", c->at);
	out_json_text(j, "right", c->right);
	out_json_text(j, "in_part", c->in_part);
	out_json_text(j, "why", c->cannot ? c->cannot : c->why);
	out_json_open(j, "commands", '[');
	for (size_t k = 0; k < c->n_runs; k++)
		out_json_text(j, NULL, x->runs[c->runs[k]].command);
	out_json_close(j, ']');
	out_json_close(j, '}');
}

static void one_json(struct out_json *j, const struct answer *x)
{
	out_json_open(j, NULL, '{');
	out_json_text(j, "study", x->path);
	out_json_text(j, "title", x->title);
	out_json_text(j, "question", x->question);
	out_json_text(j, "answer", x->answer);
	out_json_open(j, "runs", '[');
	for (size_t i = 0; i < x->n_runs; i++) {
		out_json_open(j, NULL, '{');
		out_json_text(j, "name", x->runs[i].label);
		out_json_text(j, "command", x->runs[i].command);
		out_json_text(j, "failed", x->runs[i].failed);
		out_json_open(j, "figures", '{');
		figures_json(j, &x->runs[i]);
		out_json_close(j, '}');
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	out_json_open(j, "claims", '[');
	for (size_t i = 0; i < x->n_claims; i++)
		claim_json(j, x, &x->claims[i]);
	out_json_close(j, ']');
	out_json_close(j, '}');
}

void answer_json(const struct answers *s, struct str *out)
{
	struct out_json j;

	out_json_init(&j, out);
	if (s->n != 1)
		out_json_open(&j, NULL, '[');
	for (size_t i = 0; i < s->n; i++)
		one_json(&j, s->v[i]);
	if (s->n != 1)
		out_json_close(&j, ']');
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

static void claim_row(const struct answer *x, size_t i, size_t number, struct str *out)
{
	const struct answer_claim *c = &x->claims[i];

	str_addf(out, "| %zu | ", number);
	cell(out, c->at ? c->at : "");
	str_add(out, " | ");
	cell(out, c->diags);
	str_addf(out, " | **%s** | ", answer_verdict_name(c->verdict));
	cell(out, c->cannot ? c->cannot : c->why);
	str_add(out, " | ");
	for (size_t k = 0; k < c->n_runs && k < 2; k++)
		str_addf(out, "%s`npusim %s`", k ? "<br>" : "", x->runs[c->runs[k]].command);
	str_add(out, " |\n");
}

static void one_markdown(const struct answer *x, const char *level, size_t *number, struct str *out)
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
	str_addf(out, "`%s`; ", x->path);
	answer_doc_counts(x->n_claims, x->counted, out);
	str_add(out, ".\n\n| | where | what is said | verdict | why | command |\n|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < x->n_claims; i++)
		claim_row(x, i, ++*number, out);
}

void answer_markdown(const struct answers *s, struct str *out)
{
	size_t counted[ANSWER_VERDICTS] = { 0 }, all = 0, number = 0;

	for (size_t i = 0; i < s->n; i++) {
		all += s->v[i]->n_claims;
		for (int v = 0; v < ANSWER_VERDICTS; v++)
			counted[v] += s->v[i]->counted[v];
	}
	if (s->n == 1) {
		one_markdown(s->v[0], "#", &number, out);
		return;
	}
	str_add(out, "# Claims, and what the figures say\n\n");
	answer_doc_counts(all, counted, out);
	str_add(out, ". `npusim study` writes this; each verdict follows from figures of the commands beside it.\n");
	for (size_t i = 0; i < s->n; i++) {
		str_addc(out, '\n');
		one_markdown(s->v[i], "##", &number, out);
	}
}
