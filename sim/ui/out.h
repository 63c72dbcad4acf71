/* out.h - one table model, written as an aligned table, csv, HTML or SQL.
 *
 * Numbers keep their type; doubles are printed with %.9g in csv and SQL, and with the column's own digits for people. Strings are escaped as each format wants. Documents that have more than a table are sim/report/doc.h's. */
#ifndef NPUSIM_SIM_UI_OUT_H
#define NPUSIM_SIM_UI_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/base/out_json.h"
#include "sim/base/str.h"

enum out_format { OUT_TABLE, OUT_CSV, OUT_JSON, OUT_HTML, OUT_SQL, OUT_FORMATS };
extern const char *const out_format_names[OUT_FORMATS];
int out_format_parse(const char *name, enum out_format *f, struct err *e); /* ERR_USAGE */

/* --- tables ------------------------------------------------------------------------------------------------ */
enum out_type { OUT_TEXT, OUT_INT, OUT_REAL, OUT_BYTES }; /* bytes: whole, in tables as people say them: 8.13 MiB */
struct out_col {
	const char *name;
	enum out_type type;
	int digits;
}; /* digits after the point, in tables */
struct out_table;

struct out_table *out_table_new(const struct out_col *cols, int n,
                                const char *title); /* title: for people; of SQL the name */
void out_table_free(struct out_table *t);
void out_table_col(struct out_table *t, struct out_col c); /* one more; before the second row's cells */
void out_text(struct out_table *t, const char *v);         /* cells go left to right, then the next row; NULL is null */
void out_int(struct out_table *t, int64_t v);
void out_real(struct out_table *t, double v);
void out_null(struct out_table *t);
/* What HTML shows of the last cell beside its text: how it is judged, and a bar, of -1 to 1; 0: none. */
enum out_mark { OUT_PLAIN, OUT_GOOD, OUT_BAD, OUT_MID };
const char *out_mark_name(enum out_mark m); /* of a class of CSS */
void out_mark(struct out_table *t, enum out_mark m, double bar);
/* `width`: of a screen, to which a table for people is cut; 0: none. */
void out_table_write(const struct out_table *t, enum out_format f, size_t width, struct str *to);
/* As a table no wider than `width`, 0: as wide as it is: texts are cut, the longest first, never so that two that differ in the
 * same column look alike. out_table_write does so at the width it is given. */
void out_table_fit(const struct out_table *t, size_t width, struct str *to);

/* Words in lines of `width`: the first goes on at column `at`, those below begin at `indent`. Ends the last line. */
void out_wrap(const char *text, size_t at, size_t indent, size_t width, struct str *to);

#endif
