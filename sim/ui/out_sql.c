/* out_sql.c - a table as statements that make it, for sqlite3, DuckDB and PostgreSQL. */
#include <inttypes.h>
#include <strings.h>

#include "sim/ui/out_int.h"

/* 'it''s' as a value, "it's" as a name. */
static void quoted(const char *text, char quote, struct str *to)
{
	str_addc(to, quote);
	for (; *text; text++) {
		if (*text == quote)
			str_addc(to, quote);
		str_addc(to, *text);
	}
	str_addc(to, quote);
}

/* Names of columns are told apart whatever their case: a second one has its place behind it. */
static void add_column(const struct out_table *t, int i, struct str *to)
{
	static const char *const types[] = {
		[OUT_TEXT] = "TEXT", [OUT_INT] = "BIGINT", [OUT_REAL] = "DOUBLE PRECISION", [OUT_BYTES] = "BIGINT"
	};
	struct str name = STR_INIT;
	bool again = false;

	str_add(&name, t->cols[i].name);
	for (int k = 0; k < i; k++)
		again |= strcasecmp(t->cols[k].name, t->cols[i].name) == 0;
	if (again)
		str_addf(&name, "_%d", i + 1);
	str_add(to, i ? ", " : "");
	quoted(str_c(&name), '"', to);
	str_addf(to, " %s", types[t->cols[i].type]);
	to->failed |= name.failed;
	str_free(&name);
}

static void add_value(const struct out_cell *c, struct str *to)
{
	if (c->kind == CELL_NULL)
		str_add(to, "NULL");
	else if (c->kind == CELL_TEXT)
		quoted(c->v.text, '\'', to);
	else if (c->kind == CELL_INT)
		str_addf(to, "%" PRId64, c->v.i);
	else
		str_addf(to, "%.9g", c->v.r);
}

void out_write_sql(const struct out_table *t, struct str *to)
{
	const size_t cols = (size_t)t->n_cols;

	str_add(to, "BEGIN;\nCREATE TABLE ");
	quoted(t->title, '"', to);
	str_add(to, " (");
	for (int i = 0; i < t->n_cols; i++)
		add_column(t, i, to);
	str_add(to, ");\n");
	for (size_t i = 0; i < t->n; i++) {
		if (i % cols == 0) {
			str_add(to, "INSERT INTO ");
			quoted(t->title, '"', to);
			str_add(to, " VALUES (");
		}
		str_add(to, i % cols ? ", " : "");
		add_value(&t->cells[i], to);
		str_add(to, i % cols == cols - 1 ? ");\n" : "");
	}
	str_add(to, "COMMIT;\n");
}
