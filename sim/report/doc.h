/* doc.h - what a command found, stated once and rendered as tables for people, as CSV or as JSON.
 *
 * A document has members (key and value), tables and sentences. JSON has members and tables; people read tables and
 * sentences; CSV is its first table. A row is a function that states its figures one by one, each with key, type, digits
 * for people and value, so every renderer has the same figures in the same order, and a figure is one line:
 *
 *   static void kernel(struct doc *d, const void *all, size_t i)
 *   {
 *           const struct kernel *k = (const struct kernel *)all + i;
 *
 *           doc_text(d, "name", k->name);
 *           doc_ns(d, "total_us", 3, k->ns);
 *   }
 *   ...
 *   doc_table(d, "kernels", "longest first", n, kernel, all);
 *
 * A row that states nothing is left out. What only one renderer shows stands under `if (d->format == ...)`. The columns are
 * those of the first row, so all rows state the same; a table without rows has them, too: it asks for row 0, and values are
 * not evaluated then. */
#ifndef NPUSIM_SIM_REPORT_DOC_H
#define NPUSIM_SIM_REPORT_DOC_H

#include "sim/ui/out.h"

struct doc {
	enum out_format format;
	size_t width; /* of a screen that tables are cut to; 0: none */
	struct str *to;

	struct out_json json;
	struct out_table *table; /* of people and of CSV, while it is filled */
	const char *key;         /* of the value that follows */
	size_t rows;             /* of that table */
	int tables, nested;      /* begun before; open within a row, which only JSON shows */
	bool in_table, in_row, in_line, heads;
};

void doc_init(struct doc *d, enum out_format f, size_t width, struct str *to);
/* As a tree of JSON; `to` is where memory that failed is told, and stays empty. */
void doc_init_tree(struct doc *d, struct json_tree *tree, struct str *to);

/* Objects and lists around members and tables: of JSON alone. `key` NULL: in a list, and of the document. */
void doc_open(struct doc *d, const char *key, char bracket);
void doc_close(struct doc *d, char bracket);

/* Row i of `x`. */
typedef void doc_row_fn(struct doc *d, const void *x, size_t i);
/* `title`: for people; NULL: none. Without a key it is all of a JSON document: a line an object. */
void doc_put_table(struct doc *d, const char *key, const char *title, size_t n, doc_row_fn *row, const void *x);
/* The same row by row, where `i` is what the caller says; `row` at the end is for the columns of an empty one. */
void doc_table_open(struct doc *d, const char *key, const char *title);
void doc_row(struct doc *d, doc_row_fn *row, const void *x, size_t i);
void doc_table_close(struct doc *d, doc_row_fn *row, const void *x);
/* An object of JSON, a table of one row. */
void doc_record(struct doc *d, const char *key, doc_row_fn *row, const void *x);
/* Lists of JSON. */
void doc_put_texts(struct doc *d, const char *key, const char *const *v, size_t n);
void doc_put_reals(struct doc *d, const char *key, const double *v, size_t n);

static inline double doc_us(uint64_t ps)
{
	return (double)ps / 1e6;
}
/* Below a list that is cut to the N that -n asks for. */
void doc_say_more(struct doc *d, size_t shown, size_t all);
/* Lines of a text behind a label, as wide as `width` (0: as they are); nothing where it is empty. */
void doc_say_fact(struct doc *d, const char *label, const char *text, size_t width);
/* For people alone. */
void doc_say(struct doc *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- figures: a member, or a cell of a row ------------------------------------------------------------------------ */

/* Is a value wanted? Not of members for people, and not where only columns are asked for. */
bool doc_head(struct doc *d, const char *key, enum out_type type, int digits);
void doc_put_text(struct doc *d, const char *v);
void doc_put_cut(struct doc *d, const char *v, size_t most);
void doc_put_int(struct doc *d, int64_t v);
void doc_put_count(struct doc *d, uint64_t v);
void doc_put_real(struct doc *d, double v);
void doc_put_bool(struct doc *d, bool v);
void doc_put_null(struct doc *d);

/* clang-format off */
#define DOC_VALUE(d, key, type, digits, put) (doc_head((d), (key), (type), (digits)) ? (put) : (void)0)
#define doc_table(d, key, title, n, row, x) ((d)->heads ? (void)0 : doc_put_table((d), (key), (title), (n), (row), (x)))
#define doc_texts(d, key, v, n)         ((d)->heads ? (void)0 : doc_put_texts((d), (key), (v), (n)))
#define doc_reals(d, key, v, n)         ((d)->heads ? (void)0 : doc_put_reals((d), (key), (v), (n)))
#define doc_text(d, key, v)             DOC_VALUE(d, key, OUT_TEXT, 0, doc_put_text((d), (v)))  /* NULL is null */
#define doc_name(d, key, most, v)       DOC_VALUE(d, key, OUT_TEXT, 0, doc_put_cut((d), (v), (most))) /* for people, of so many characters */
#define doc_int(d, key, v)              DOC_VALUE(d, key, OUT_INT, 0, doc_put_int((d), (v)))
#define doc_count(d, key, v)            DOC_VALUE(d, key, OUT_INT, 0, doc_put_count((d), (v)))
#define doc_bytes(d, key, v)            DOC_VALUE(d, key, OUT_BYTES, 0, doc_put_count((d), (v)))
#define doc_bool(d, key, v)             DOC_VALUE(d, key, OUT_INT, 0, doc_put_bool((d), (v)))   /* in cells 0 and 1 */
#define doc_real(d, key, digits, v)     DOC_VALUE(d, key, OUT_REAL, digits, doc_put_real((d), (v))) /* not finite: null */
#define doc_ps(d, key, digits, v)       doc_real(d, key, digits, (double)(v) / 1e6)             /* ps, told in us */
#define doc_ns(d, key, digits, v)       doc_real(d, key, digits, (double)(v) / 1e3)             /* ns, told in us */
/* Null where it is not known. */
#define DOC_IF(d, known, put)           ((known) ? (put) : doc_put_null(d))
#define doc_text_if(d, key, known, v)   DOC_VALUE(d, key, OUT_TEXT, 0, DOC_IF(d, known, doc_put_text((d), (v))))
#define doc_count_if(d, key, known, v)  DOC_VALUE(d, key, OUT_INT, 0, DOC_IF(d, known, doc_put_count((d), (v))))
#define doc_bytes_if(d, key, known, v)  DOC_VALUE(d, key, OUT_BYTES, 0, DOC_IF(d, known, doc_put_count((d), (v))))
#define doc_real_if(d, key, digits, known, v) \
	DOC_VALUE(d, key, OUT_REAL, digits, DOC_IF(d, known, doc_put_real((d), (v))))
#define doc_ps_if(d, key, digits, known, v) doc_real_if(d, key, digits, known, (double)(v) / 1e6)
/* clang-format on */

#endif
