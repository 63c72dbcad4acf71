#include "sim/report/doc.h"

#include <stdarg.h>
#include <string.h>

#include "sim/ui/out_html.h"

static const enum out_format shapes[OUT_FORMATS] = {
	[OUT_TABLE] = OUT_TABLE, [OUT_HTML] = OUT_TABLE, [OUT_CSV] = OUT_CSV, [OUT_SQL] = OUT_CSV, [OUT_JSON] = OUT_JSON
};

void doc_init(struct doc *d, enum out_format f, size_t width, struct str *to)
{
	*d = (struct doc){ .format = shapes[f], .as = f, .name = "npusim", .width = width, .to = to, .out = to };
	if (f == OUT_HTML)
		d->to = &d->said;
	out_json_init(&d->json, to);
}

void doc_again(struct doc *d, enum out_format f)
{
	const char *name = d->name;
	const bool colour = d->colour;

	doc_init(d, f, d->width, d->out);
	d->name = name;
	d->colour = colour;
}

/* Sentences between elements of a page stay as they are laid out. */
static void flush(struct doc *d)
{
	const char *text = str_c(&d->said);

	text += strspn(text, "\n");
	if (*text) {
		out_html_element("pre", "", text, &d->page);
		str_addc(&d->page, '\n');
	}
	d->page.failed |= d->said.failed;
	str_clear(&d->said);
}

void doc_end(struct doc *d)
{
	if (d->as != OUT_HTML)
		return;
	flush(d);
	if (d->page.len) {
		out_html_head(d->name, d->out);
		str_addn(d->out, str_c(&d->page), d->page.len);
		str_add(d->out, "</html>\n");
	}
	d->out->failed |= d->page.failed;
	str_free(&d->said);
	str_free(&d->page);
}

void doc_free(struct doc *d, struct str *text)
{
	d->to->failed |= text->failed;
	str_free(text);
}

void doc_drop(struct doc *d)
{
	str_clear(d->to);
	str_clear(&d->page);
}

void doc_init_tree(struct doc *d, struct json_tree *tree, struct str *to)
{
	doc_init(d, OUT_JSON, 0, to);
	out_json_init_tree(&d->json, tree, to);
}

/* --- what is around figures --------------------------------------------------------------------------------------- */

/* A row's object begins with what stands in it first. */
static void begin_row(struct doc *d)
{
	if (!d->in_table || d->in_row)
		return;
	d->in_row = true;
	if (d->in_line) {
		str_add(d->to, d->rows ? ",\n  " : "\n  ");
		out_json_init(&d->json, d->to);
		d->json.pretty = false;
	}
	out_json_open(&d->json, NULL, '{');
}

void doc_open(struct doc *d, const char *key, char bracket)
{
	if (d->format == OUT_JSON) {
		begin_row(d);
		out_json_open(&d->json, key, bracket);
	} else {
		d->nested += d->in_table;
	}
}

void doc_close(struct doc *d, char bracket)
{
	if (d->format == OUT_JSON)
		out_json_close(&d->json, bracket);
	else
		d->nested -= d->in_table;
}

/* Is a table shown here? Within a row only by JSON, and CSV has the first alone. */
static bool shown(struct doc *d)
{
	return d->format == OUT_JSON || (!d->in_table && (d->format == OUT_TABLE || d->tables == 1));
}

void doc_table_open(struct doc *d, const char *key, const char *title)
{
	d->tables += !d->in_table;
	if (!shown(d))
		return;
	d->rows = 0;
	if (d->format != OUT_JSON) {
		d->table = out_table_new(NULL, 0, d->as == OUT_SQL ? d->name : title);
		d->to->failed |= !d->table;
	} else if (!key && d->json.depth == 0) {
		d->in_line = true;
		str_addc(d->to, '[');
	} else {
		out_json_open(&d->json, key, '[');
	}
	d->in_table = true;
	d->in_row = false;
}

void doc_row(struct doc *d, doc_row_fn *row, const void *x, size_t i)
{
	if (!d->in_table || (d->format != OUT_JSON && !d->table))
		return;
	row(d, x, i);
	if (d->in_row && d->format == OUT_JSON)
		out_json_close(&d->json, '}');
	d->rows += d->in_row;
	d->in_row = false;
}

static void put_table(struct doc *d)
{
	if (d->as == OUT_HTML)
		flush(d);
	out_table_write(d->table, d->as, d->width, d->as == OUT_HTML ? &d->page : d->to);
}

void doc_table_close(struct doc *d, doc_row_fn *row, const void *x)
{
	if (!d->in_table)
		return;
	if (d->format == OUT_JSON && d->in_line) {
		str_add(d->to, d->rows ? "\n]\n" : "]\n");
	} else if (d->format == OUT_JSON) {
		out_json_close(&d->json, ']');
	} else if (d->table) {
		d->heads = true;
		if (!d->rows && row)
			row(d, x, 0);
		d->heads = false;
		if (!d->rows && !row)
			; /* nothing says what its columns would be */
		else if (d->as == OUT_TABLE)
			out_table_fit(d->table, d->width, d->to);
		else
			put_table(d);
		out_table_free(d->table);
		d->table = NULL;
	}
	d->in_table = d->in_line = d->in_row = false;
}

void doc_put_table(struct doc *d, const char *key, const char *title, size_t n, doc_row_fn *row, const void *x)
{
	const bool within = d->in_table, line = d->in_line;
	const size_t rows = d->rows;

	if (within && d->format != OUT_JSON)
		return;
	begin_row(d);
	d->in_line = false;
	doc_table_open(d, key, title);
	for (size_t i = 0; i < n; i++)
		doc_row(d, row, x, i);
	doc_table_close(d, row, x);
	if (within) { /* on with the row that it stands in */
		d->in_table = d->in_row = true;
		d->in_line = line;
		d->rows = rows;
	}
}

void doc_record(struct doc *d, const char *key, doc_row_fn *row, const void *x)
{
	if (d->format != OUT_JSON) {
		doc_table(d, key, NULL, 1, row, x);
		return;
	}
	doc_open(d, key, '{');
	row(d, x, 0);
	doc_close(d, '}');
}

void doc_put_texts(struct doc *d, const char *key, const char *const *v, size_t n)
{
	doc_open(d, key, '[');
	for (size_t i = 0; i < n; i++)
		doc_text(d, NULL, v[i]);
	doc_close(d, ']');
}

void doc_put_reals(struct doc *d, const char *key, const double *v, size_t n)
{
	doc_open(d, key, '[');
	for (size_t i = 0; i < n; i++)
		doc_real(d, NULL, 0, v[i]);
	doc_close(d, ']');
}

void doc_say(struct doc *d, const char *format, ...)
{
	va_list ap;

	if (d->format != OUT_TABLE)
		return;
	va_start(ap, format);
	str_addv(d->to, format, ap);
	va_end(ap);
}

/* --- prose -------------------------------------------------------------------------------------------------------- */

bool doc_on_page(const struct doc *d)
{
	return d->as == OUT_HTML;
}

void doc_put_lines(struct doc *d, enum doc_style style, struct doc_lines how, const char *text)
{
	static const struct {
		const char *tag, *class;
	} elements[] = {
		[DOC_TITLE] = { "h1", "" },   [DOC_HEADING] = { "h2", "" },       [DOC_TEXT] = { "p", "" },
		[DOC_SOFT] = { "p", "soft" }, [DOC_QUOTE] = { "blockquote", "" }, [DOC_CODE] = { "code", "" }
	};

	if (doc_on_page(d)) {
		flush(d);
		str_add(&d->page, style == DOC_CODE ? "<p>" : "");
		out_html_element(elements[style].tag, elements[style].class, text, &d->page);
		str_add(&d->page, style == DOC_CODE ? "</p>\n" : "\n");
	} else if (d->format == OUT_TABLE) {
		doc_say(d, "%*s", (int)how.at, "");
		if (how.width)
			out_wrap(text, how.at, how.indent, how.width, d->to);
		else
			doc_say(d, "%s\n", text);
	}
}

void doc_put_judged(struct doc *d, enum out_mark m, const char *word, struct doc_lines how, const char *text)
{
	struct str s = STR_INIT;

	if (doc_on_page(d)) {
		flush(d);
		str_addf(&d->page, "<p><span class=\"v %s\">", out_mark_name(m));
		out_html_text(word, &d->page);
		str_add(&d->page, "</span>: ");
		out_html_text(text, &d->page);
		str_add(&d->page, "</p>\n");
		return;
	}
	str_addf(&s, "%s: %s", word, text);
	doc_put_lines(d, DOC_TEXT, how, str_c(&s));
	doc_free(d, &s);
}

static void markup(struct doc *d, const char *text)
{
	if (!doc_on_page(d))
		return;
	flush(d);
	str_add(&d->page, text);
}

void doc_item(struct doc *d, bool open)
{
	markup(d, open ? "<article>" : "</article>\n");
}

void doc_fold(struct doc *d, const char *summary)
{
	markup(d, summary ? "<details>" : "</details>\n");
	if (summary && doc_on_page(d))
		out_html_element("summary", "soft", summary, &d->page);
}

void doc_mark(struct doc *d, enum out_mark m, double bar)
{
	if (d->table && !d->heads && !d->nested)
		out_mark(d->table, m, bar);
}

#define LABEL 11 /* "machine    " */

void doc_say_fact(struct doc *d, const char *label, const char *text, size_t width)
{
	struct str line = STR_INIT;

	while (d->format == OUT_TABLE && *text) {
		const size_t n = strcspn(text, "\n");

		str_clear(&line);
		str_addn(&line, text, n);
		doc_say(d, "%-*s", LABEL, label);
		if (width)
			out_wrap(str_c(&line), LABEL, LABEL, width, d->to);
		else
			doc_say(d, "%s\n", str_c(&line));
		text += n + (text[n] != '\0');
		label = "";
	}
	doc_free(d, &line);
}

void doc_say_more(struct doc *d, size_t shown, size_t all)
{
	if (shown < all)
		doc_say(d, "(%zu more; without -n all are listed)\n", all - shown);
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

bool doc_head(struct doc *d, const char *key, enum out_type type, int digits)
{
	if (d->format == OUT_JSON) {
		begin_row(d);
		d->key = key;
		return true;
	}
	if (!d->table || d->nested)
		return false;
	if (!d->rows)
		out_table_col(d->table, (struct out_col){ key, type, digits });
	d->in_row = true;
	return !d->heads;
}

void doc_put_text(struct doc *d, const char *v)
{
	if (d->table)
		out_text(d->table, v);
	else
		out_json_text(&d->json, d->key, v);
}

void doc_put_cut(struct doc *d, const char *v, size_t most)
{
	struct str s = STR_INIT;

	if (d->as == OUT_TABLE && strlen(v) > most) {
		str_addn(&s, v, most - 3);
		str_add(&s, "...");
		v = str_c(&s);
	}
	doc_put_text(d, v);
	doc_free(d, &s);
}

void doc_put_int(struct doc *d, int64_t v)
{
	if (d->table)
		out_int(d->table, v);
	else
		out_json_int(&d->json, d->key, v);
}

void doc_put_count(struct doc *d, uint64_t v)
{
	if (d->table)
		out_int(d->table, (int64_t)v);
	else
		out_json_u64(&d->json, d->key, v);
}

void doc_put_real(struct doc *d, double v)
{
	if (d->table)
		out_real(d->table, v);
	else
		out_json_real(&d->json, d->key, v);
}

void doc_put_bool(struct doc *d, bool v)
{
	if (d->table)
		out_int(d->table, v);
	else
		out_json_bool(&d->json, d->key, v);
}

void doc_put_null(struct doc *d)
{
	if (d->table)
		out_null(d->table);
	else
		out_json_null(&d->json, d->key);
}
