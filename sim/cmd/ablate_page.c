/* ablate_page.c - an ablation as one HTML page without scripts: of each change whether it is as claimed on each workload, by how
 * much, and why. It reads at the width of a phone, in light and dark, and on paper. */
#include <math.h>
#include <string.h>

#include "sim/cmd/ablate.h"

static const char head[] =
	"<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<style>\n"
	":root{color-scheme:light dark;--fg:#1b1f24;--bg:#fff;--soft:#57606a;--line:#d0d7de;--card:#f6f8fa;--good:#1a7f37;"
	"--bad:#b42318;--mid:#805500;--bar:#4f8f5f;--loss:#c65a4a}\n"
	"@media (prefers-color-scheme:dark){:root{--fg:#e6edf3;--bg:#0d1117;--soft:#9aa4af;--line:#30363d;--card:#161b22;"
	"--good:#56d364;--bad:#ff8a80;--mid:#e3b341;--bar:#3f8f55;--loss:#b5483b}}\n"
	"*{box-sizing:border-box}body{margin:0 auto;max-width:1100px;padding:16px;background:var(--bg);color:var(--fg);"
	"font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\n"
	"h1{font-size:1.5rem;line-height:1.25}h2{font-size:1.15rem;margin:0}p{margin:.4em 0}p.m::first-letter{text-transform:uppercase}.soft{color:var(--soft)}\n"
	"article{border:1px solid var(--line);border-radius:8px;background:var(--card);padding:12px 16px;margin:14px 0;"
	"break-inside:avoid}\n"
	"code{font:.85em ui-monospace,monospace;background:color-mix(in srgb,var(--line) 45%,transparent);border-radius:4px;"
	"padding:1px 4px}\n"
	"blockquote{margin:.5em 0;padding-left:10px;border-left:3px solid var(--line);color:var(--soft)}\n"
	"table{border-collapse:collapse;width:100%;margin:.6em 0;font-size:.92rem}th,td{text-align:left;padding:5px 8px;"
	"border-top:1px solid var(--line);vertical-align:top}th{color:var(--soft);font-weight:600}\n"
	"td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
	".v{font-weight:600;white-space:nowrap}.right,.together{color:var(--good)}.wrong,.refused{color:var(--bad)}"
	".nothing,.none{color:var(--mid)}\n"
	".bar{display:block;height:6px;border-radius:3px;background:var(--bar);margin:3px 0 0 auto}.bar.loss{background:var(--loss)}\n"
	"@media (max-width:640px){table.stack thead{display:none}table.stack tr{display:block;border-top:1px solid "
	"var(--line);padding:6px 0}table.stack td{display:flex;gap:10px;justify-content:space-between;border:0;padding:2px 0;"
	"text-align:left;white-space:normal}table.stack td::before{content:attr(data-k);color:var(--soft);flex:0 0 7em}"
	"table.stack td.why{display:block}table.stack td.why::before{content:none}table.stack td>span.c{text-align:right}}\n"
	"@media print{body{max-width:none;font-size:11px}article{background:none}}\n"
	"</style>\n";

/* --- text ---------------------------------------------------------------------------------------------------------- */

static void escaped(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '&')
			str_add(out, "&amp;");
		else if (*text == '<')
			str_add(out, "&lt;");
		else if (*text == '>')
			str_add(out, "&gt;");
		else if (*text == '"')
			str_add(out, "&quot;");
		else
			str_addc(out, *text);
	}
}

static void element(struct str *out, const char *tag, const char *class, const char *text)
{
	str_addf(out, "<%s%s%s%s>", tag, *class ? " class=\"" : "", class, *class ? "\"" : "");
	escaped(out, text);
	str_addf(out, "</%s>", tag);
}

static const char *class_of(enum ablate_verdict v)
{
	static const char *const names[] = { "none", "none", "refused", "right", "nothing", "wrong", "together" };

	return names[v];
}

/* What a verdict means of a claim, in words. */
static const char *words_of(enum ablate_verdict v, bool no_slower)
{
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

static void open_cell(struct str *out, const char *key, const char *class)
{
	str_addf(out, "<td class=\"%s\" data-k=\"%s\"><span class=\"c\">", class, key);
}

static void close_cell(struct str *out)
{
	str_add(out, "</span></td>");
}

static void percent_cell(struct str *out, const char *key, bool known, double x, bool bar)
{
	open_cell(out, key, "n");
	if (known)
		str_addf(out, "%+.1f %%", 100 * x);
	else
		str_add(out, "&ndash;");
	if (known && bar && fabs(x) >= 0.005)
		str_addf(out, "<span class=\"bar%s\" style=\"width:%.0fpx\"></span>", x < 0 ? " loss" : "",
		         fmin(100, fmax(2, 100 * fabs(x))));
	close_cell(out);
}

static void number_cell(struct str *out, const char *key, const char *format, double x)
{
	open_cell(out, key, "n");
	if (x > 0)
		str_addf(out,
		         strcmp(format, "us") == 0   ? "%.1f us"
		         : strcmp(format, "MB") == 0 ? "%.0f MB"
		                                     : "%.1f",
		         x);
	else
		str_add(out, "&ndash;");
	close_cell(out);
}

/* --- the whole machine --------------------------------------------------------------------------------------------- */

static void machine_row(struct str *out, const struct ablate_view *v, size_t w, const char *name,
                        const struct ablate_run *r)
{
	const struct ablate_run *base = &v->results[w].base;
	const bool known = r->run && !r->refused;

	str_add(out, "<tr>");
	open_cell(out, "workload", "");
	escaped(out, v->x->workloads[w].name);
	close_cell(out);
	open_cell(out, "machine", "");
	escaped(out, name);
	close_cell(out);
	number_cell(out, "time", "us", known ? cmd_ps_us(r->total_ps) : 0);
	number_cell(out, "tokens/s", "", known ? ablate_rate(v, w, r) : 0);
	number_cell(out, "DRAM", "MB", known ? (double)r->dram_bytes / 1e6 : 0);
	percent_cell(out, "saves", known && r != base, known ? 1 - (double)r->total_ps / (double)base->total_ps : 0,
	             true);
	str_add(out, "</tr>\n");
}

static void machines(const struct ablate_view *v, struct str *out)
{
	str_add(out,
	        "<table class=\"stack\"><thead><tr><th>workload<th>machine<th class=\"n\">time<th class=\"n\">tokens/s"
	        "<th class=\"n\">DRAM<th class=\"n\">saves</tr></thead>\n<tbody>\n");
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

static void change_row(const struct ablate_view *v, size_t w, size_t i, struct str *out)
{
	const struct ablate_result *r = &v->results[w];
	const enum ablate_verdict judged = ablate_judge(v->x, r, i);
	struct str why = STR_INIT;

	ablate_why(v->x, r, i, &why);
	str_add(out, "<tr>");
	open_cell(out, "workload", "");
	escaped(out, v->x->workloads[w].name);
	close_cell(out);
	open_cell(out, "the claim is", "");
	str_addf(out, "<span class=\"v %s\">", class_of(judged));
	escaped(out, words_of(judged, v->x->changes[i].no_slower));
	str_add(out, "</span>");
	close_cell(out);
	percent_cell(out, "saves alone", !r->alone[i].refused, ablate_alone(r, i), true);
	percent_cell(out, "missed by all", r->without[i].run && !r->without[i].refused, ablate_missed(r, i), false);
	open_cell(out, "why", "why");
	escaped(out, str_c(&why));
	close_cell(out);
	str_add(out, "</tr>\n");
	out->failed |= why.failed;
	str_free(&why);
}

static void change(const struct ablate_view *v, size_t i, struct str *out)
{
	const struct ablate_change *c = &v->x->changes[i];

	str_add(out, "<article>");
	element(out, "h2", "", c->name);
	if (c->says)
		element(out, "blockquote", "", c->says);
	if (c->not_modelled) {
		str_add(out, "<p><span class=\"v none\">not modelled</span>: ");
		escaped(out, c->not_modelled);
		str_add(out, "</p></article>\n");
		return;
	}
	if (c->mechanism)
		element(out, "p", "m", c->mechanism);
	str_add(out, "<p class=\"soft\">");
	for (size_t k = 0; k < c->n_sets; k++) {
		str_add(out, k ? " " : "");
		element(out, "code", "", c->sets[k]);
	}
	str_addf(out, " &middot; claimed to be %s</p>\n", c->no_slower ? "no slower" : "faster");
	str_add(out,
	        "<table class=\"stack\"><thead><tr><th>workload<th>the claim is<th class=\"n\">saves alone<th class=\"n\">"
	        "missed by all<th>why</tr></thead>\n<tbody>\n");
	for (size_t w = 0; w < v->x->n_workloads; w++)
		if (v->results[w].alone[i].run)
			change_row(v, w, i, out);
	str_add(out, "</tbody></table></article>\n");
}

void ablate_page(const struct ablate_view *v, struct str *out)
{
	const char *name = strrchr(v->x->path, '/');

	name = name ? name + 1 : v->x->path;
	str_add(out, "<!doctype html>\n<html lang=\"en\">\n");
	str_add(out, head);
	element(out, "title", "", name);
	str_add(out, "\n<h1>What each change is worth: ");
	escaped(out, name);
	str_add(out, "</h1>\n<p>Changes to ");
	element(out, "code", "", v->x->base);
	for (size_t k = 0; k < v->x->n_sets; k++) {
		str_add(out, k ? " " : " with ");
		element(out, "code", "", v->x->sets[k]);
	}
	str_addf(
		out,
		". <b>Saves alone</b>: of the time with none of the changes. <b>Missed by all</b>: how much longer all the"
		" others take without it. Simulated %s; npusim %s.</p>\n",
		strcmp(v->fidelity, "event") == 0 ? "with events" : "in closed form", v->build);
	machines(v, out);
	for (size_t i = 0; i < v->x->n_changes; i++)
		change(v, i, out);
	str_add(out, "</html>\n");
}
