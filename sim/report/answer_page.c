/* answer_page.c - a study as one HTML page without scripts. */
#include <math.h>
#include <string.h>

#include "sim/report/answer_doc.h"
#include "sim/report/plain_page.h"

#define BAR 90 /* pixels of the largest */

static const char *class_of(enum answer_verdict v)
{
	static const char *const names[] = { "right", "nothing", "wrong", "none", "none" };

	return names[v];
}

/* --- tables -------------------------------------------------------------------------------------------------------- */

static double most(const struct answer *x, const struct answer_group *g, size_t figure)
{
	double best = 0;

	for (size_t i = g->first; i < g->first + g->n; i++)
		if (x->runs[i].figures[figure].type == EXPR_NUMBER)
			best = fmax(best, fabs(x->runs[i].figures[figure].number));
	return best;
}

static void head_row(const struct answer_group *g, struct str *out)
{
	str_add(out, "<table class=\"stack\"><thead><tr>");
	for (size_t k = 0; k < g->n_loops; k++) {
		str_add(out, "<th>");
		plain_page_text(out, g->loops[k].key);
	}
	for (size_t f = 0; f < g->n_figures; f++)
		if (g->figures[f].as) {
			str_add(out, "<th class=\"n\">");
			plain_page_text(out, g->figures[f].as);
		}
	str_add(out, "</tr></thead>\n<tbody>\n");
}

static void figure_cell(const struct answer *x, const struct answer_group *g, size_t run, size_t f, struct str *out)
{
	const struct expr_value *v = &x->runs[run].figures[f];
	struct str text = STR_INIT;

	answer_number(v, g->figures[f].digits, &text);
	plain_page_open_cell(out, g->figures[f].as, "n");
	plain_page_text(out, str_c(&text));
	if (g->figures[f].bar && v->type == EXPR_NUMBER && v->number != 0)
		plain_page_bar(out, BAR * fabs(v->number) / most(x, g, f), v->number < 0);
	plain_page_close_cell(out);
	str_free(&text);
}

static void command(const char *text, struct str *out)
{
	str_add(out, "<p><code>npusim ");
	plain_page_text(out, text);
	str_add(out, "</code></p>\n");
}

static void commands(const struct answer *x, const struct answer_group *g, struct str *out)
{
	str_addf(out, "<details><summary class=\"soft\">the command%s</summary>\n", g->n == 1 ? "" : "s");
	for (size_t i = g->first; i < g->first + g->n; i++) {
		bool again = false;

		for (size_t k = g->first; k < i; k++)
			again |= x->runs[k].same == x->runs[i].same;
		if (!again)
			command(x->runs[i].command, out);
	}
	str_add(out, "</details>");
}

static void group_table(const struct answer *x, const struct answer_group *g, struct str *out)
{
	str_add(out, "<article>");
	plain_page_element(out, "h2", "", g->table);
	head_row(g, out);
	for (size_t i = g->first; i < g->first + g->n; i++) {
		str_add(out, "<tr>");
		for (size_t k = 0; k < g->n_loops; k++) {
			plain_page_open_cell(out, g->loops[k].key, "");
			plain_page_text(out, x->runs[i].shown[k]);
			plain_page_close_cell(out);
		}
		for (size_t f = 0; f < g->n_figures; f++)
			if (g->figures[f].as)
				figure_cell(x, g, i, f, out);
		str_add(out, "</tr>\n");
	}
	str_add(out, "</tbody></table>\n");
	for (size_t i = g->first; i < g->first + g->n; i++)
		if (x->runs[i].failed) {
			str_addf(out, "<p class=\"soft\">%s: ", x->runs[i].label);
			plain_page_text(out, x->runs[i].failed);
			str_add(out, "</p>\n");
		}
	commands(x, g, out);
	str_add(out, "</article>\n");
}

/* --- claims -------------------------------------------------------------------------------------------------------- */

static void claim(const struct answer *x, const struct answer_claim *c, struct str *out)
{
	str_add(out, "<article>");
	plain_page_element(out, "blockquote", "", c->diags);
	if (c->at)
		plain_page_element(out, "p", "soft", c->at);
	str_addf(out, "<p><span class=\"v %s\">%s</span>: ", class_of(c->verdict), answer_verdict_name(c->verdict));
	plain_page_text(out, c->cannot ? c->cannot : c->why);
	str_add(out, "</p>\n");
	if (c->n_runs) {
		str_add(out, "<details><summary class=\"soft\">shown by</summary>");
		for (size_t k = 0; k < c->n_runs; k++)
			command(x->runs[c->runs[k]].command, out);
		str_add(out, "</details>");
	}
	str_add(out, "</article>\n");
}

static void answer_page_counts(const struct answer *x, struct str *out)
{
	str_add(out, "<p>");
	for (int v = 0, some = 0; v < ANSWER_VERDICTS; v++)
		if (x->counted[v])
			str_addf(out, "%s<span class=\"v %s\">%zu %s</span>", some++ ? ", " : "",
			         class_of((enum answer_verdict)v), x->counted[v],
			         answer_verdict_name((enum answer_verdict)v));
	str_addf(out, " of %zu claims</p>\n", x->n_claims);
}

void answer_page(const struct answer *x, struct str *out)
{
	const char *name = strrchr(x->path, '/');

	plain_page_head(x->title, out);
	plain_page_element(out, "h1", "", x->title);
	if (x->question)
		plain_page_element(out, "p", "soft", x->question);
	if (x->answer)
		plain_page_element(out, "p", "", x->answer);
	answer_page_counts(x, out);
	for (size_t i = 0; i < x->n_groups; i++)
		if (x->groups[i].table)
			group_table(x, &x->groups[i], out);
	for (size_t i = 0; i < x->n_claims; i++)
		claim(x, &x->claims[answer_worst(x, i)], out);
	str_add(out, "<p class=\"soft\">Made by <code>npusim study ");
	plain_page_text(out, name ? name + 1 : x->path);
	str_add(out, "</code>; every verdict follows from figures of the commands.</p>\n</html>\n");
}
