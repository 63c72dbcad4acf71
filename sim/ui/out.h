/* out.h - the product on stdout: one table model, written as an aligned table, csv or json.
 *
 * Numbers keep their type; doubles are printed with %.9g in csv and json, and with the column's own digits in
 * tables. Strings are escaped as each format wants. out_json_* write nested documents for the commands whose JSON
 * is fixed by contract. Everything is buffered and written once, so a full disk is one error. */
#ifndef NPUSIM_SIM_UI_OUT_H
#define NPUSIM_SIM_UI_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/err.h"
#include "sim/base/str.h"

enum out_format { OUT_TABLE, OUT_CSV, OUT_JSON };
int out_format_parse(const char *name, enum out_format *f, struct err *e); /* ERR_USAGE */

/* --- tables ------------------------------------------------------------------------------------------------ */
enum out_type { OUT_TEXT, OUT_INT, OUT_REAL, OUT_BYTES }; /* bytes: whole, in tables as people say them: 8.13 MiB */
struct out_col {
	const char *name;
	enum out_type type;
	int digits;
}; /* digits after the point, in tables */
struct out_table;

struct out_table *out_table_new(const struct out_col *cols, int n, const char *title); /* title: table format only */
void out_table_free(struct out_table *t);
void out_text(struct out_table *t, const char *v); /* cells go left to right, then the next row; NULL is null */
void out_int(struct out_table *t, int64_t v);
void out_real(struct out_table *t, double v);
void out_null(struct out_table *t);
void out_real_or_null(struct out_table *t, double v);                               /* not a number: null */
void out_table_write(const struct out_table *t, enum out_format f, struct str *to); /* json: an array of objects */
/* As a table no wider than `width`, 0: as wide as it is: texts are cut, the longest first, never so that two that differ in the
 * same column look alike. On a terminal out_table_write does so at the terminal's width. */
void out_table_fit(const struct out_table *t, size_t width, struct str *to);

/* Words in lines of `width`: the first goes on at column `at`, those below begin at `indent`. Ends the last line. */
void out_wrap(const char *text, size_t at, size_t indent, size_t width, struct str *to);

/* --- json -------------------------------------------------------------------------------------------------- */
struct out_json {
	struct str *to;
	int depth;
	bool first[16], pretty;
};
void out_json_init(struct out_json *j, struct str *to);
void out_json_open(struct out_json *j, const char *key, char bracket);  /* key NULL inside arrays; '{' or '[' */
void out_json_close(struct out_json *j, char bracket);                  /* '}' or ']' */
void out_json_text(struct out_json *j, const char *key, const char *v); /* NULL is null */
void out_json_int(struct out_json *j, const char *key, int64_t v);
void out_json_u64(struct out_json *j, const char *key, uint64_t v);
void out_json_real(struct out_json *j, const char *key, double v); /* %.9g; not finite is null */
void out_json_bool(struct out_json *j, const char *key, bool v);
void out_json_null(struct out_json *j, const char *key);
void out_json_lines(struct out_json *j, const char *key, const char *text); /* an array of its lines */

/* Writes all of it and flushes; a short write is ERR_IO. */
int out_flush(const struct str *s, FILE *f, struct err *e);

#endif
