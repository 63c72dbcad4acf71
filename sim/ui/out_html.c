#include "sim/ui/out_html.h"

#include <math.h>
#include <string.h>

#include "sim/ui/out_int.h"

#define FEW      3   /* columns have room on a phone */
#define BAR_MOST 100 /* pixels */

static const char style[] =
	"<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<style>\n"
	":root{color-scheme:light dark;--fg:#1b1f24;--bg:#fff;--soft:#57606a;--line:#d0d7de;--card:#f6f8fa;--good:#1a7f37;"
	"--bad:#b42318;--mid:#805500;--bar:#4f8f5f;--loss:#c65a4a}\n"
	"@media (prefers-color-scheme:dark){:root{--fg:#e6edf3;--bg:#0d1117;--soft:#9aa4af;--line:#30363d;--card:#161b22;"
	"--good:#56d364;--bad:#ff8a80;--mid:#e3b341;--bar:#3f8f55;--loss:#b5483b}}\n"
	"*{box-sizing:border-box}body{margin:0 auto;max-width:1100px;padding:16px;background:var(--bg);color:var(--fg);"
	"font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\n"
	"h1{font-size:1.5rem;line-height:1.25}h2{font-size:1.15rem;margin:0}p{margin:.4em 0}.soft{color:var(--soft)}\n"
	"article{border:1px solid var(--line);border-radius:8px;background:var(--card);padding:12px 16px;margin:14px 0;"
	"break-inside:avoid}\n"
	"code{font:.85em ui-monospace,monospace;background:color-mix(in srgb,var(--line) 45%,transparent);border-radius:4px;"
	"padding:1px 4px}\n"
	"blockquote{margin:.5em 0;padding-left:10px;border-left:3px solid var(--line);color:var(--soft)}\n"
	"table{border-collapse:collapse;width:100%;margin:.6em 0;font-size:.92rem}th,td{text-align:left;padding:5px 8px;"
	"border-top:1px solid var(--line);vertical-align:top;overflow-wrap:break-word}th{color:var(--soft);font-weight:600}\n"
	"pre{font:.85em/1.45 ui-monospace,monospace;white-space:pre-wrap;margin:.6em 0}\n"
	"td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
	".v{font-weight:600;white-space:nowrap}.good{color:var(--good)}.bad{color:var(--bad)}"
	".mid{color:var(--mid)}\n"
	".bar{display:block;height:6px;border-radius:3px;background:var(--bar);margin:3px 0 0 auto}.bar.loss{background:var(--loss)}\n"
	"@media (max-width:640px){table.stack thead{display:none}table.stack tr{display:block;border-top:1px solid "
	"var(--line);padding:6px 0}table.stack td{display:flex;gap:10px;justify-content:space-between;border:0;padding:2px 0;"
	"text-align:left;white-space:normal}table.stack td::before{content:attr(data-k);color:var(--soft);flex:0 0 7em}"
	"table.stack td>span.c{text-align:right}table.stack td:has(>span.c:empty){display:none}}\n"
	"@media print{body{max-width:none;font-size:11px}article{background:none}}\n"
	"</style>\n";

void out_html_text(const char *text, struct str *to)
{
	size_t n = strlen(text);

	while (n) {
		uint32_t cp = 0;
		const size_t len = str_utf8(text, n, &cp);

		if (!len || (cp < 0x20 && !strchr("\n\t", (int)cp)) || (cp >= 0x7f && cp < 0xa0))
			str_addc(to, '?');
		else if (cp == '&')
			str_add(to, "&amp;");
		else if (cp == '<')
			str_add(to, "&lt;");
		else if (cp == '>')
			str_add(to, "&gt;");
		else if (cp == '"')
			str_add(to, "&quot;");
		else
			str_addn(to, text, len);
		text += len ? len : 1;
		n -= len ? len : 1;
	}
}

void out_html_element(const char *tag, const char *class, const char *text, struct str *to)
{
	str_addf(to, "<%s%s%s%s>", tag, *class ? " class=\"" : "", class, *class ? "\"" : "");
	out_html_text(text, to);
	str_addf(to, "</%s>", tag);
}

void out_html_head(const char *title, struct str *to)
{
	str_add(to, "<!doctype html>\n<html lang=\"en\">\n");
	str_add(to, style);
	out_html_element("title", "", title, to);
	str_addc(to, '\n');
}

/* --- tables ------------------------------------------------------------------------------------------------ */

const char *out_mark_name(enum out_mark m)
{
	static const char *const names[] = { "", "good", "bad", "mid" };

	return names[m];
}

/* On a phone a row is a list, where the column's name stands before each cell. */
static void add_td(const struct out_col *col, const struct out_cell *c, struct str *text, struct str *to)
{
	str_clear(text);
	out_add_cell(text, c, col);
	str_addf(to, "<td%s data-k=\"", col->type == OUT_TEXT ? "" : " class=\"n\"");
	out_html_text(col->name, to);
	str_add(to, "\"><span class=\"c\">");
	if (c->kind == CELL_NULL)
		str_add(to, "&ndash;");
	else if (c->mark)
		str_addf(to, "<span class=\"v %s\">", out_mark_name(c->mark));
	if (c->kind != CELL_NULL)
		out_html_text(str_c(text), to);
	if (c->mark && c->kind != CELL_NULL)
		str_add(to, "</span>");
	if (c->bar != 0)
		str_addf(to, "<span class=\"bar%s\" style=\"width:%.0fpx\"></span>", c->bar < 0 ? " loss" : "",
		         fmin(BAR_MOST, fmax(2, BAR_MOST * fabs(c->bar))));
	str_add(to, "</span></td>");
}

void out_write_html(const struct out_table *t, struct str *to)
{
	const size_t cols = (size_t)t->n_cols;
	struct str text = STR_INIT;

	if (t->title)
		out_html_element("h2", "", t->title, to);
	str_add(to, cols > FEW ? "<table class=\"stack\"><thead><tr>" : "<table><thead><tr>");
	for (size_t i = 0; i < cols; i++)
		out_html_element("th", t->cols[i].type == OUT_TEXT ? "" : "n", t->cols[i].name, to);
	str_add(to, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < t->n; i++) {
		str_add(to, i % cols ? "" : "<tr>");
		add_td(&t->cols[i % cols], &t->cells[i], &text, to);
		str_add(to, i % cols == cols - 1 ? "</tr>\n" : "");
	}
	str_add(to, "</tbody></table>\n");
	to->failed |= text.failed;
	str_free(&text);
}
