#include "sim/report/plain_page.h"

#include <math.h>

#define BAR_MOST 100

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

void plain_page_text(struct str *out, const char *text)
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

void plain_page_element(struct str *out, const char *tag, const char *class, const char *text)
{
	str_addf(out, "<%s%s%s%s>", tag, *class ? " class=\"" : "", class, *class ? "\"" : "");
	plain_page_text(out, text);
	str_addf(out, "</%s>", tag);
}

void plain_page_head(const char *title, struct str *out)
{
	str_add(out, "<!doctype html>\n<html lang=\"en\">\n");
	str_add(out, head);
	plain_page_element(out, "title", "", title);
	str_addc(out, '\n');
}

/* --- cells --------------------------------------------------------------------------------------------------------- */

void plain_page_open_cell(struct str *out, const char *key, const char *class)
{
	str_addf(out, "<td class=\"%s\" data-k=\"", class);
	plain_page_text(out, key);
	str_add(out, "\"><span class=\"c\">");
}

void plain_page_close_cell(struct str *out)
{
	str_add(out, "</span></td>");
}

void plain_page_bar(struct str *out, double pixels, bool loss)
{
	str_addf(out, "<span class=\"bar%s\" style=\"width:%.0fpx\"></span>", loss ? " loss" : "",
	         fmin(BAR_MOST, fmax(2, pixels)));
}
