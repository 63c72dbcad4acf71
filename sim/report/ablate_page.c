/* ablate_page.c - an ablation as one HTML page without scripts: of each change whether it is as claimed on each workload, by how
 * much, and why. It reads at the width of a phone, in light and dark, and on paper. */
#include <math.h>
#include <string.h>

#include "sim/report/ablate_doc.h"
#include "sim/report/plain_page.h"

static const char *ablate_page_class_of(enum ablate_verdict v)
{
	static const char *const names[] = {
		"none", "none", "refused", "right", "nothing", "wrong", "together", "none"
	};

	return names[v];
}

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

/* --- a cell -------------------------------------------------------------------------------------------------------- */

static void percent_cell(struct str *out, const char *key, bool known, double x, bool bar)
{
	plain_page_open_cell(out, key, "n");
	if (known)
		str_addf(out, "%+.1f %%", 100 * x);
	else
		str_add(out, "&ndash;");
	if (known && bar && fabs(x) >= 0.005)
		plain_page_bar(out, 100 * fabs(x), x < 0);
	plain_page_close_cell(out);
}

static void number_cell(struct str *out, const char *key, const char *format, double x)
{
	plain_page_open_cell(out, key, "n");
	if (x > 0)
		str_addf(out,
		         strcmp(format, "us") == 0   ? "%.1f us"
		         : strcmp(format, "MB") == 0 ? "%.0f MB"
		                                     : "%.1f",
		         x);
	else
		str_add(out, "&ndash;");
	plain_page_close_cell(out);
}

/* --- the whole machine --------------------------------------------------------------------------------------------- */

static void machine_row(struct str *out, const struct ablate_doc *v, size_t w, const char *name,
                        const struct ablate_run *r)
{
	const struct ablate_run *base = &v->results[w].base;
	const bool known = r->run && !r->refused;

	str_add(out, "<tr>");
	plain_page_open_cell(out, "workload", "");
	plain_page_text(out, v->x->workloads[w].name);
	plain_page_close_cell(out);
	plain_page_open_cell(out, "machine", "");
	plain_page_text(out, name);
	plain_page_close_cell(out);
	number_cell(out, "time", "us", known ? doc_us(r->total_ps) : 0);
	number_cell(out, "tokens/s", "", known ? ablate_rate(v, w, r) : 0);
	number_cell(out, "DRAM", "MB", known ? (double)r->dram_bytes / 1e6 : 0);
	number_cell(out, "energy", "mJ", known ? (double)r->energy_fj / 1e12 : 0);
	percent_cell(out, "saves", known && r != base, known ? 1 - (double)r->total_ps / (double)base->total_ps : 0,
	             true);
	str_add(out, "</tr>\n");
}

static void machines(const struct ablate_doc *v, struct str *out)
{
	str_add(out,
	        "<table class=\"stack\"><thead><tr><th>workload<th>machine<th class=\"n\">time<th class=\"n\">tokens/s"
	        "<th class=\"n\">DRAM<th class=\"n\">energy<th class=\"n\">saves</tr></thead>\n<tbody>\n");
	for (size_t w = 0; w < v->x->n_workloads; w++) {
		if (v->x->workloads[w].only)
			continue;
		machine_row(out, v, w, "none of them", &v->results[w].base);
		if (v->results[w].all.run)
			machine_row(out, v, w, "all together", &v->results[w].all);
	}
	str_add(out, "</tbody></table>\n");
}

/* --- changes ------------------------------------------------------------------------------------------------------- */

static void change_row(const struct ablate_doc *v, size_t w, size_t i, struct str *out)
{
	const struct ablate_result *r = &v->results[w];
	const enum ablate_verdict judged = ablate_verdict_of(v->x, r, i);
	const struct ablate_worth alone = ablate_alone(v->x, r, i), missed = ablate_missed(r, i);
	struct str why = STR_INIT;

	ablate_why(v->x, r, i, &why);
	str_add(out, "<tr>");
	plain_page_open_cell(out, "workload", "");
	plain_page_text(out, v->x->workloads[w].name);
	plain_page_close_cell(out);
	plain_page_open_cell(out, "the claim is", "");
	str_addf(out, "<span class=\"v %s\">", ablate_page_class_of(judged));
	plain_page_text(out, words_of(judged, v->x->changes[i].expects));
	str_add(out, "</span>");
	plain_page_close_cell(out);
	percent_cell(out, "saves alone", alone.known, alone.value, true);
	percent_cell(out, "missed by all", missed.known, missed.value, false);
	plain_page_open_cell(out, "by", "");
	str_add(out, alone.by == RUN_EVENT ? "events" : "closed form");
	plain_page_close_cell(out);
	plain_page_open_cell(out, "why", "why");
	plain_page_text(out, str_c(&why));
	plain_page_close_cell(out);
	str_add(out, "</tr>\n");
	out->failed |= why.failed;
	str_free(&why);
}

/* On the suites, before each workload. */
static void ruling(const struct ablate_doc *v, size_t i, struct str *out)
{
	static const char *const classes[] = { "right", "nothing", "wrong", "none", "none" };
	struct ablate_court c;
	struct str why = STR_INIT;

	ablate_court(v->x, v->results, i, &c);
	if (c.ruling == ABLATE_NOT_RULED)
		return;
	ablate_court_why(v->x, v->results, i, &why);
	str_addf(out, "<p><span class=\"v %s\">%s</span>: ", classes[c.ruling], ablate_ruling_name(c.ruling));
	plain_page_text(out, str_c(&why));
	str_add(out, "</p>\n");
	out->failed |= why.failed;
	str_free(&why);
}

static void change(const struct ablate_doc *v, size_t i, struct str *out)
{
	const struct ablate_change *c = &v->x->changes[i];

	str_add(out, "<article>");
	plain_page_element(out, "h2", "", c->name);
	if (c->diags)
		plain_page_element(out, "blockquote", "", c->diags);
	if (c->not_modelled) {
		str_add(out, "<p><span class=\"v none\">not modelled</span>: ");
		plain_page_text(out, c->not_modelled);
		str_add(out, "</p></article>\n");
		return;
	}
	if (c->mechanism)
		plain_page_element(out, "p", "m", c->mechanism);
	str_add(out, "<p class=\"soft\">");
	for (size_t k = 0; k < c->n_sets; k++) {
		str_add(out, k ? " " : "");
		plain_page_element(out, "code", "", c->sets[k]);
	}
	str_addf(out, " &middot; claimed %s</p>\n",
	         c->expects == ABLATE_LESS_ENERGY ? "to take less energy"
	         : c->expects == ABLATE_NO_SLOWER ? "to be no slower"
	                                          : "to be faster");
	ruling(v, i, out);
	str_add(out,
	        "<table class=\"stack\"><thead><tr><th>workload<th>the claim is<th class=\"n\">saves alone<th class=\"n\">"
	        "missed by all<th>by<th>why</tr></thead>\n<tbody>\n");
	for (size_t w = 0; w < v->x->n_workloads; w++)
		if (v->results[w].alone[i].run)
			change_row(v, w, i, out);
	str_add(out, "</tbody></table></article>\n");
}

void ablate_page(const struct ablate_doc *v, struct str *out)
{
	const char *name = strrchr(v->x->path, '/');

	name = name ? name + 1 : v->x->path;
	plain_page_head(name, out);
	str_add(out, "\n<h1>What each change is worth: ");
	plain_page_text(out, name);
	str_add(out, "</h1>\n<p>Changes to ");
	plain_page_element(out, "code", "", v->x->base);
	for (size_t k = 0; k < v->x->n_sets; k++) {
		str_add(out, k ? " " : " with ");
		plain_page_element(out, "code", "", v->x->sets[k]);
	}
	str_addf(
		out,
		". <b>Saves alone</b>: of the time with none of the changes. <b>Missed by all</b>: how much longer all the"
		" others take without it. Simulated %s; npusim %s.</p>\n",
		ablate_how_run(v), v->build);
	machines(v, out);
	for (size_t i = 0; i < v->x->n_changes; i++)
		change(v, i, out);
	str_add(out, "</html>\n");
}
