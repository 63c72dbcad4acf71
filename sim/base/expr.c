/* expr.c - cuts an expression into words, rewrites them as SQL over numbered values, and lets SQLite evaluate it. */
#include "sim/base/expr.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/cfg.h"
#include "sim/base/db.h"

#define NAMES_MAX    64
#define WORDS_MAX    900 /* signs and words between values: SQLite takes a tree of 1,000 levels */
#define DEPTH_MAX    32
#define SHOWN_MAX    80 /* of a text, in a message */
#define NAME_MAX_LEN 96

struct exprs {
	struct arena *arena;
	struct db *db;
};

struct expr {
	struct exprs *set;
	const char *text, *sql;
	int ids[NAMES_MAX];
	size_t n_ids;
};

struct cutter {
	const char *text, *p; /* the whole; what is left */
	struct expr *x;
	struct str sql;
	expr_find_fn *find;
	void *arg;
	struct err *e;
	int depth, words;
	bool compared[DEPTH_MAX + 1]; /* a comparison stands to the left, in this pair of parentheses */
};

/* --- life cycle -------------------------------------------------------------------------------------------- */

struct exprs *exprs_new(struct err *e)
{
	struct exprs *s = calloc(1, sizeof *s);

	if (!s || !(s->arena = arena_new(0))) {
		err_nomem(e, "for expressions");
		free(s);
		return NULL;
	}
	if (!(s->db = db_open(":memory:", DB_WRITE, 0, NULL, 0, e))) {
		exprs_free(s);
		return NULL;
	}
	return s;
}

void exprs_free(struct exprs *s)
{
	if (!s)
		return;
	db_free(s->db);
	arena_free(s->arena);
	free(s);
}

/* --- words ------------------------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Begins a fault with the text it is in; of a long one the start, so that the reason has room. */
static int no_expr(const char *text, struct err *e, const char *fmt, ...) ERR_FMT(3, 4);
static int no_expr(const char *text, struct err *e, const char *fmt, ...)
{
	const size_t n = strlen(text);
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	return err_set(e, ERR_CONFIG, "'%.*s%s' is no expression: %s", n > SHOWN_MAX ? SHOWN_MAX : (int)n, text,
	               n > SHOWN_MAX ? "..." : "", why);
}

static int expr_fail(struct cutter *c, const char *what)
{
	const int at = (int)(c->p - c->text), n = at > SHOWN_MAX ? SHOWN_MAX : at;

	if (at == 0)
		return no_expr(c->text, c->e, "%s at its start", what);
	return no_expr(c->text, c->e, "%s after '%s%.*s'", what, at > n ? "..." : "", n, c->p - n);
}

/* Letters, digits and single dots between: l2.size */
static size_t name_len(const char *p)
{
	size_t n = 0;

	while (is_letter(p[n]) || (n && is_digit(p[n])) || (n && p[n] == '.' && is_letter(p[n + 1])))
		n++;
	return n;
}

static bool word_is(const char *p, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(p, word, n) == 0;
}

/* What stands behind a number, when it is a unit: its length with "/s". 0: no word, or one that joins. */
static size_t unit_len(const char *p)
{
	size_t n = 0;

	while (is_letter(p[n]))
		n++;
	if (n == 0 || word_is(p, n, "and") || word_is(p, n, "or"))
		return 0;
	if (p[n - 1] == 'B' && p[n] == '/' && p[n + 1] == 's' && !is_letter(p[n + 2]) && !is_digit(p[n + 2]))
		n += 2;
	return n;
}

static int put_number(struct cutter *c, double v)
{
	char text[40];

	snprintf(text, sizeof text, "%.17g", v);
	str_add(&c->sql, text);
	if (!strpbrk(text, ".e")) /* an integer would divide as one */
		str_add(&c->sql, ".0");
	return 0;
}

static int cut_number(struct cutter *c)
{
	static const enum cfg_type types[] = {
		CFG_T_BYTES, CFG_T_RATE, CFG_T_FREQ, CFG_T_PS, CFG_T_ENERGY, CFG_T_POWER
	};
	char *end, text[64];
	double v = strtod(c->p, &end);
	const char *unit = end;
	size_t n;
	int len;

	if (memchr(c->p, 'x', (size_t)(end - c->p)) || memchr(c->p, 'X', (size_t)(end - c->p)))
		return expr_fail(c, "a decimal number is due");
	while (*unit == ' ')
		unit++;
	if (!(n = unit_len(unit))) {
		c->p = end;
		return put_number(c, v);
	}
	len = snprintf(text, sizeof text, "%.*s %.*s", (int)(end - c->p), c->p, (int)n, unit);
	for (size_t i = 0; len < (int)sizeof text && i < sizeof types / sizeof *types; i++) {
		struct err ignored = ERR_INIT;
		uint64_t raw;

		if (cfg_parse_value(types[i], text, &raw, &ignored) < 0)
			continue;
		c->p = unit + n;
		return put_number(c, types[i] == CFG_T_FREQ     ? (double)raw * 1000
		                     : types[i] == CFG_T_ENERGY ? (double)raw / 1e3
		                     : types[i] == CFG_T_POWER  ? (double)raw / 1e6
		                                                : (double)raw);
	}
	return no_expr(c->text, c->e, "'%.*s' is no number with a unit", (int)(unit + n - c->p), c->p);
}

static int cut_text(struct cutter *c)
{
	const char *end = strchr(c->p + 1, *c->p);

	if (!end)
		return expr_fail(c, "a quotation mark has no partner");
	for (const char *p = c->p + 1; p < end; p++)
		if (*p == '\'' || *p == '"' || (unsigned char)*p < ' ')
			return expr_fail(c, "a text with a quotation mark in it");
	str_addf(&c->sql, "'%.*s'", (int)(end - c->p - 1), c->p + 1);
	c->p = end + 1;
	return 0;
}

static int cut_name(struct cutter *c, size_t n)
{
	char name[NAME_MAX_LEN];
	size_t k;
	int id;

	if (n >= sizeof name)
		return expr_fail(c, "a name that is too long");
	memcpy(name, c->p, n);
	name[n] = '\0';
	if ((id = c->find(c->arg, name, c->e)) < 0)
		return strcmp(name, c->text) == 0 ? -1 : err_add(c->e, "reading '%.*s'", SHOWN_MAX, c->text);
	for (k = 0; k < c->x->n_ids && c->x->ids[k] != id; k++)
		continue;
	if (k == NAMES_MAX)
		return expr_fail(c, "one name too many");
	if (k == c->x->n_ids)
		c->x->ids[c->x->n_ids++] = id;
	str_addf(&c->sql, "?%zu", k + 1);
	c->p += n;
	return 0;
}

static int cut_word(struct cutter *c)
{
	static const char *const functions[] = { "min", "max", "abs", "round" };
	const size_t n = name_len(c->p);
	const char *next = c->p + n + strspn(c->p + n, " ");

	if (word_is(c->p, n, "and") || word_is(c->p, n, "or") || word_is(c->p, n, "not")) {
		str_addf(&c->sql, "%.*s", (int)n, c->p);
		if (c->p[0] != 'n')
			c->compared[c->depth] = false;
		c->p += n;
		return 0;
	}
	if (word_is(c->p, n, "true") || word_is(c->p, n, "false")) {
		str_add(&c->sql, c->p[0] == 't' ? "1.0" : "0.0");
		c->p += n;
		return 0;
	}
	if (*next != '(')
		return cut_name(c, n);
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (word_is(c->p, n, functions[i])) {
			str_add(&c->sql, functions[i]);
			c->p += n;
			return 0;
		}
	return no_expr(c->text, c->e, "there is no function '%.*s'; there are min, max, abs and round", (int)n, c->p);
}

static int cut_sign(struct cutter *c)
{
	static const char *const two[] = { "<=", ">=", "==", "!=" };
	static const struct {
		const char *wrong, *right;
	} hints[] = {
		{ "&&", "write 'and'" },         { "||", "write 'or'" },         { "!", "write 'not'" },
		{ "**", "there are no powers" }, { "^", "there are no powers" }, { "<>", "write '!='" },
		{ "=", "write '=='" },           { "//", "write '/'" },
	};
	bool compares = false;
	size_t n = 0;

	for (size_t i = 0; i < sizeof two / sizeof *two; i++)
		if (memcmp(c->p, two[i], c->p[1] ? 2 : 1) == 0 && c->p[1]) {
			compares = true;
			n = 2;
		}
	for (size_t i = 0; !n && i < sizeof hints / sizeof *hints; i++)
		if (str_prefix(c->p, hints[i].wrong))
			return expr_fail(c, hints[i].right);
	if (!n && strchr("<>", *c->p)) {
		compares = true;
		n = 1;
	}
	if (!n && strchr("+-*/%(),", *c->p))
		n = 1;
	if (!n)
		return expr_fail(c, "a sign that has no meaning here");
	if (compares && c->compared[c->depth])
		return expr_fail(c, "a second comparison (join two with 'and')");
	if (*c->p == '(') {
		if (++c->depth > DEPTH_MAX)
			return expr_fail(c, "too many parentheses");
		c->compared[c->depth] = false;
	}
	if (*c->p == ')' && --c->depth < 0)
		return expr_fail(c, "a ')' without its '('");
	if (*c->p == ',')
		c->compared[c->depth] = false;
	if (compares)
		c->compared[c->depth] = true;
	str_addn(&c->sql, c->p, n);
	c->p += n;
	return 0;
}

static int expr_cut(struct cutter *c)
{
	for (;;) {
		int rc;

		while (*c->p == ' ' || *c->p == '\t' || *c->p == '\n')
			c->p++;
		if (!*c->p)
			return c->depth ? expr_fail(c, "a ')' is missing") : 0;
		str_addc(&c->sql, ' ');
		if (!is_digit(*c->p) && *c->p != '.' && ++c->words > WORDS_MAX)
			return no_expr(c->text, c->e, "it has more than %d names, words and signs", WORDS_MAX);
		if (is_digit(*c->p) || (*c->p == '.' && is_digit(c->p[1])))
			rc = cut_number(c);
		else if (is_letter(*c->p))
			rc = cut_word(c);
		else if (*c->p == '\'' || *c->p == '"')
			rc = cut_text(c);
		else
			rc = cut_sign(c);
		if (rc < 0)
			return -1;
	}
}

/* --- making and evaluating --------------------------------------------------------------------------------- */

/* The order of words is wrong; SQLite says at which, in our rewritten form. */
static int fail_order(struct expr *x, struct err *e)
{
	struct err why = ERR_INIT;
	const char *near, *end;

	if (db_stmt(x->set->db, x->sql, &why))
		return 0;
	if ((near = strstr(why.msg, "near \"")) && (end = strchr(near + 6, '"')) && near[6] != '?' && near[6] != ')' &&
	    end - near < 24) /* those two are of our own making */
		return no_expr(x->text, e, "something is missing before '%.*s'", (int)(end - near - 6), near + 6);
	return no_expr(x->text, e, "between its names and numbers something is missing");
}

struct expr *expr_new(struct exprs *s, const char *text, expr_find_fn *find, void *arg, struct err *e)
{
	struct expr *x = arena_alloc(s->arena, sizeof *x);
	struct cutter c = { .x = x, .sql = STR_INIT, .find = find, .arg = arg, .e = e };
	int rc;

	if (!x || !(x->text = arena_strdup(s->arena, text))) {
		err_nomem(e, "for an expression");
		return NULL;
	}
	x->set = s;
	c.text = c.p = x->text;
	if (!text[strspn(text, " \t\n")]) {
		err_set(e, ERR_CONFIG, "an expression is empty");
		return NULL;
	}
	str_add(&c.sql, "select case when typeof(v) = 'text' then null else v end from (select (");
	rc = expr_cut(&c);
	str_add(&c.sql, ") as v)");
	if (rc == 0 && (c.sql.failed || !(x->sql = arena_strdup(s->arena, str_c(&c.sql)))))
		rc = err_nomem(e, "for an expression");
	str_free(&c.sql);
	if (rc < 0 || fail_order(x, e) < 0)
		return NULL;
	return x;
}

int expr_eval(struct expr *x, expr_value_fn *value, void *arg, struct expr_value *out, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(x->set->db, x->sql, e);
	int rc;

	if (!s)
		return -1;
	for (size_t i = 0; i < x->n_ids; i++) {
		struct expr_value v = value(arg, x->ids[i]);

		if (v.type == EXPR_NUMBER)
			db_bind_f64(s, (int)i + 1, v.number);
		else
			db_bind_text(s, (int)i + 1, v.type == EXPR_TEXT ? v.text : NULL);
	}
	if ((rc = db_step(x->set->db, s, e)) < 0)
		return -1;
	*out = (struct expr_value){ EXPR_NULL, 0, NULL };
	if (rc == 1 && !db_col_null(s, 0))
		*out = (struct expr_value){ EXPR_NUMBER, db_col_f64(s, 0), NULL };
	return db_run(x->set->db, s, e);
}

const char *expr_text(const struct expr *x)
{
	return x->text;
}

size_t expr_ids(const struct expr *x, const int **ids)
{
	*ids = x->ids;
	return x->n_ids;
}
