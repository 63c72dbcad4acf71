/* out.c - tables for people and in CSV. */
#include "sim/ui/out_int.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const out_format_names[OUT_FORMATS] = { "table", "csv", "json", "html", "sql" };

int out_format_parse(const char *name, enum out_format *f, struct err *e)
{
	for (int i = 0; i < OUT_FORMATS; i++)
		if (strcmp(name, out_format_names[i]) == 0)
			return *f = (enum out_format)i, 0;
	return err_set(e, ERR_USAGE, "unknown format '%s': it is one of table, csv, json, html or sql", name);
}

/* --- filling ----------------------------------------------------------------------------------------------- */

struct out_table *out_table_new(const struct out_col *cols, int n, const char *title)
{
	struct out_table *t = calloc(1, sizeof *t);

	if (!t || !(t->arena = arena_new(0)) || !(t->cols = arena_array(t->arena, (size_t)n + 1, sizeof *cols)))
		goto fail;
	for (int i = 0; i < n; i++) {
		t->cols[i] = cols[i];
		if (!(t->cols[i].name = arena_strdup(t->arena, cols[i].name)))
			goto fail;
	}
	if (title && !(t->title = arena_strdup(t->arena, title)))
		goto fail;
	t->n_cols = n;
	return t;
fail:
	out_table_free(t);
	return NULL;
}

void out_table_free(struct out_table *t)
{
	if (!t)
		return;
	arena_free(t->arena);
	free(t->cells);
	free(t);
}

void out_table_col(struct out_table *t, struct out_col c)
{
	struct out_col *cols = t ? arena_array(t->arena, (size_t)t->n_cols + 1, sizeof *cols) : NULL;

	if (!cols || !(c.name = arena_strdup(t->arena, c.name))) {
		if (t)
			t->failed = true;
		return;
	}
	if (t->n_cols)
		memcpy(cols, t->cols, (size_t)t->n_cols * sizeof *cols);
	cols[t->n_cols++] = c;
	t->cols = cols;
}

static void out_add(struct out_table *t, struct out_cell c)
{
	if (!t || t->failed)
		return;
	if (t->n == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 256;
		struct out_cell *v = realloc(t->cells, cap * sizeof *v);

		if (!v) {
			t->failed = true;
			return;
		}
		t->cells = v;
		t->cap = cap;
	}
	t->cells[t->n++] = c;
}

void out_text(struct out_table *t, const char *v)
{
	struct out_cell c = { .kind = v ? CELL_TEXT : CELL_NULL };

	if (t && v && !(c.v.text = arena_strdup(t->arena, v)))
		t->failed = true;
	out_add(t, c);
}

void out_int(struct out_table *t, int64_t v)
{
	out_add(t, (struct out_cell){ .kind = CELL_INT, .v.i = v });
}

void out_real(struct out_table *t, double v)
{
	struct out_cell c = { .kind = isfinite(v) ? CELL_REAL : CELL_NULL };

	if (c.kind == CELL_REAL)
		c.v.r = v == 0 ? 0 : v; /* minus zero is a rounding artefact */
	out_add(t, c);
}

void out_null(struct out_table *t)
{
	out_add(t, (struct out_cell){ .kind = CELL_NULL });
}

void out_mark(struct out_table *t, enum out_mark m, double bar)
{
	if (!t || t->failed || !t->n)
		return;
	t->cells[t->n - 1].mark = m;
	t->cells[t->n - 1].bar = isfinite(bar) ? bar : 0;
}

/* --- aligned table ----------------------------------------------------------------------------------------- */

/* Text as it may go to a terminal: one line, no control characters, valid UTF-8. Returns its width. */
static size_t add_clean(struct str *to, const char *text)
{
	size_t n = strlen(text), width = 0;

	while (n) {
		uint32_t cp = 0;
		size_t len = str_utf8(text, n, &cp);

		if (!len || cp < 0x20 || (cp >= 0x7f && cp < 0xa0)) {
			str_addc(to, len && (cp == '\n' || cp == '\t') ? ' ' : '?');
			len = len ? len : 1;
		} else {
			str_addn(to, text, len);
		}
		text += len;
		n -= len;
		width++;
	}
	return width;
}

size_t out_add_cell(struct str *to, const struct out_cell *c, const struct out_col *col)
{
	size_t at = to->len;

	switch (c->kind) {
	case CELL_NULL:
		str_addc(to, '-');
		break;
	case CELL_TEXT:
		return add_clean(to, c->v.text);
	case CELL_INT:
		if (col->type == OUT_BYTES && c->v.i >= 0)
			str_add_bytes(to, (uint64_t)c->v.i);
		else
			str_addf(to, "%" PRId64, c->v.i);
		break;
	case CELL_REAL:
		str_addf(to, "%.*f", col->digits, c->v.r);
		if (!to->failed && to->p[at] == '-' && !strpbrk(to->p + at, "123456789")) { /* -0.00 */
			to->len = at;
			str_addf(to, "%.*f", col->digits, 0.0);
		}
		break;
	}
	return to->len - at;
}

static void pad(struct str *to, size_t n)
{
	while (n--)
		str_addc(to, ' ');
}

/* A text to so many columns, of which the last says that it goes on. */
static void out_cut(struct str *s, size_t width)
{
	size_t at = 0, columns = 0;

	while (s->p && s->p[at] && columns + 1 < width) {
		uint32_t cp;
		const size_t len = str_utf8(s->p + at, s->len - at, &cp);

		at += len ? len : 1;
		columns++;
	}
	if (!s->p || !s->p[at])
		return;
	s->len = at;
	s->p[at] = '\0';
	str_add(s, "…");
}

/* One line; `scratch` is reused. Trailing blanks are left out. */
static void add_line(const struct out_table *t, const struct out_cell *cells, const size_t *widths, struct str *scratch,
                     struct str *to)
{
	size_t gap = 0;

	for (int i = 0; i < t->n_cols; i++) {
		size_t w;

		str_clear(scratch);
		w = cells ? out_add_cell(scratch, &cells[i], &t->cols[i]) : add_clean(scratch, t->cols[i].name);
		if (w > widths[i]) {
			out_cut(scratch, widths[i]);
			w = widths[i];
		}
		gap += i ? 2 : 0;
		if (t->cols[i].type != OUT_TEXT) {
			gap += widths[i] - w;
			w = widths[i];
		}
		to->failed |= scratch->failed;
		if (!scratch->len) {
			gap += widths[i];
			continue;
		}
		pad(to, gap);
		str_add(to, str_c(scratch));
		gap = widths[i] - w;
	}
	str_addc(to, '\n');
}

#define LEAST_CUT 10  /* columns: a text is not cut shorter */
#define TELL_ROWS 100 /* of more rows not all pairs are told apart */

/* Do two different texts of this column look alike at this width? */
static bool look_alike(const struct out_table *t, size_t col, size_t width)
{
	const size_t cols = (size_t)t->n_cols, rows = t->n / cols;
	struct str a = STR_INIT, b = STR_INIT;
	bool alike = false;

	for (size_t i = 0; rows <= TELL_ROWS && i < rows && !alike; i++)
		for (size_t k = 0; k < i && !alike; k++) {
			const struct out_cell *x = &t->cells[i * cols + col], *y = &t->cells[k * cols + col];

			if (x->kind != CELL_TEXT || y->kind != CELL_TEXT || strcmp(x->v.text, y->v.text) == 0)
				continue;
			str_clear(&a);
			str_clear(&b);
			if (add_clean(&a, x->v.text) > width)
				out_cut(&a, width);
			if (add_clean(&b, y->v.text) > width)
				out_cut(&b, width);
			alike = strcmp(str_c(&a), str_c(&b)) == 0;
		}
	str_free(&a);
	str_free(&b);
	return alike;
}

static size_t wide_as(const size_t *widths, size_t cols)
{
	size_t sum = 2 * (cols - 1);

	for (size_t i = 0; i < cols; i++)
		sum += widths[i];
	return sum;
}

/* The widest text gives a column at a time, down to what it needs. */
static void fit(const struct out_table *t, size_t width, size_t *widths)
{
	const size_t cols = (size_t)t->n_cols;
	bool *done = calloc(cols, sizeof *done);

	while (done && wide_as(widths, cols) > width) {
		size_t widest = cols;

		for (size_t i = 0; i < cols; i++)
			if (t->cols[i].type == OUT_TEXT && !done[i] && widths[i] > LEAST_CUT &&
			    (widest == cols || widths[i] > widths[widest]))
				widest = i;
		if (widest == cols)
			break;
		if (look_alike(t, widest, widths[widest] - 1))
			done[widest] = true;
		else
			widths[widest]--;
	}
	free(done);
}

void out_table_fit(const struct out_table *t, size_t width, struct str *to)
{
	size_t *widths = calloc((size_t)t->n_cols, sizeof *widths), cols = (size_t)t->n_cols;
	struct str scratch = STR_INIT;

	if (!widths) {
		to->failed = true;
		return;
	}
	for (size_t i = 0; i < cols; i++)
		widths[i] = add_clean(&scratch, t->cols[i].name);
	for (size_t i = 0; i < t->n; i++) {
		size_t w;

		str_clear(&scratch);
		w = out_add_cell(&scratch, &t->cells[i], &t->cols[i % cols]);
		if (w > widths[i % cols])
			widths[i % cols] = w;
	}
	if (width)
		fit(t, width, widths);
	if (t->title)
		str_addf(to, "%s\n", t->title);
	add_line(t, NULL, widths, &scratch, to);
	for (size_t i = 0; i < cols; i++) {
		pad(to, i ? 2 : 0);
		for (size_t k = 0; k < widths[i]; k++)
			str_addc(to, '-');
	}
	str_addc(to, '\n');
	for (size_t i = 0; cols && i + cols <= t->n; i += cols)
		add_line(t, t->cells + i, widths, &scratch, to);
	str_free(&scratch);
	free(widths);
}

/* --- csv --------------------------------------------------------------------------------------------------- */

/* An empty text is "" in quotes, a null is nothing at all. */
static void add_csv(struct str *to, const char *text)
{
	if (*text && !strpbrk(text, ",\"\r\n") && *text != ' ' && text[strlen(text) - 1] != ' ' &&
	    !str_is_formula(text))
		str_add(to, text);
	else
		str_add_cell(to, text);
}

static void write_csv(const struct out_table *t, struct str *to)
{
	size_t cols = (size_t)t->n_cols;

	for (size_t i = 0; i < cols; i++) {
		str_add(to, i ? "," : "");
		add_csv(to, t->cols[i].name);
	}
	str_addc(to, '\n');
	for (size_t i = 0; i < t->n; i++) {
		const struct out_cell *c = &t->cells[i];

		str_add(to, i % cols ? "," : "");
		if (c->kind == CELL_TEXT)
			add_csv(to, c->v.text);
		else if (c->kind == CELL_INT)
			str_addf(to, "%" PRId64, c->v.i);
		else if (c->kind == CELL_REAL)
			str_addf(to, "%.9g", c->v.r);
		if (i % cols == cols - 1)
			str_addc(to, '\n');
	}
}

/* --- all --------------------------------------------------------------------------------------------------- */

void out_table_write(const struct out_table *t, enum out_format f, size_t width, struct str *to)
{
	if (!t || t->failed) {
		to->failed = true; /* whoever writes it out reports it */
		return;
	}
	assert(t->n_cols && t->n % (size_t)t->n_cols == 0); /* whole rows */
	if (f == OUT_TABLE)
		out_table_fit(t, width, to);
	else if (f == OUT_CSV)
		write_csv(t, to);
	else if (f == OUT_HTML)
		out_write_html(t, to);
	else if (f == OUT_SQL)
		out_write_sql(t, to);
}

void out_wrap(const char *text, size_t at, size_t indent, size_t width, struct str *to)
{
	bool fresh = true;

	while (*text) {
		const size_t word = strcspn(text, " ");

		if (!fresh && at + 1 + word > width) {
			str_addf(to, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!fresh) {
			str_addc(to, ' ');
			at++;
		}
		str_addn(to, text, word);
		at += word;
		fresh = false;
		text += word + strspn(text + word, " ");
	}
	str_addc(to, '\n');
}
