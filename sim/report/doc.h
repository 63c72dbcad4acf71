/* doc.h - what a command found, stated once and rendered as tables for people, as a page, as CSV, SQL or JSON.
 *
 * A document has members (key and value), tables and sentences. JSON has members and tables; people read tables and
 * sentences, on a terminal or as HTML; CSV and SQL are its first table. A row is a function that states its figures one by one, each with key, type, digits
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
	enum out_format format; /* for whom: OUT_TABLE for people, OUT_CSV for tables of programs, OUT_JSON */
	enum out_format as;     /* how that is written: HTML is for people, and SQL is CSV's table */
	const char *name;       /* of SQL's table, and a page's title */
	size_t width;           /* of a screen that tables are cut to; 0: none */
	bool colour;            /* that screen takes it */
	struct str *to;         /* sentences, and all of what is no page */
	struct str *out;        /* the document */
	struct str said, page;  /* of HTML: sentences that no element has yet; the body */

	struct out_json json;
	struct out_table *table; /* of people and of CSV, while it is filled */
	const char *key;         /* of the value that follows */
	size_t rows;             /* of that table */
	int tables, nested;      /* begun before; open within a row, which only JSON shows */
	bool in_table, in_row, in_line, heads;
};

void doc_init(struct doc *d, enum out_format f, size_t width, struct str *to);
/* The same in another format, before anything is stated. */
void doc_again(struct doc *d, enum out_format f);
/* All is stated: a page is written, if there is anything on it. */
void doc_end(struct doc *d);
/* Of a text that was stated: where memory failed it, it fails the document. */
void doc_free(struct doc *d, struct str *text);
/* Nothing of it is to be shown. */
void doc_drop(struct doc *d);
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

/* --- prose: for people -------------------------------------------------------------------------------------------- */

/* On a terminal a text in lines of `width` (0: as it is) that begins at column `at` and goes on at `indent`; on a page an element. */
enum doc_style { DOC_TITLE, DOC_HEADING, DOC_TEXT, DOC_SOFT, DOC_QUOTE, DOC_CODE };
struct doc_lines {
	size_t at, indent, width;
};
void doc_put_lines(struct doc *d, enum doc_style style, struct doc_lines how, const char *text);
/* "word: text", where a page shows how the word judges. */
void doc_put_judged(struct doc *d, enum out_mark m, const char *word, struct doc_lines how, const char *text);
/* On a page alone: what belongs together, and lists that open at a touch; NULL closes it. */
bool doc_on_page(const struct doc *d);
void doc_item(struct doc *d, bool open);
void doc_fold(struct doc *d, const char *summary);

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
/* Of the cell before, on a page: how it is judged, and a bar, of -1 to 1. */
void doc_mark(struct doc *d, enum out_mark m, double bar);

/* clang-format off */
#define DOC_VALUE(d, key, type, digits, put) (doc_head((d), (key), (type), (digits)) ? (put) : (void)0)
#define doc_table(d, key, title, n, row, x) ((d)->heads ? (void)0 : doc_put_table((d), (key), (title), (n), (row), (x)))
#define doc_texts(d, key, v, n)         ((d)->heads ? (void)0 : doc_put_texts((d), (key), (v), (n)))
#define doc_reals(d, key, v, n)         ((d)->heads ? (void)0 : doc_put_reals((d), (key), (v), (n)))
#define doc_text(d, key, v)             DOC_VALUE(d, key, OUT_TEXT, 0, doc_put_text((d), (v)))  /* NULL is null */
#define doc_name(d, key, most, v)       DOC_VALUE(d, key, OUT_TEXT, 0, doc_put_cut((d), (v), (most))) /* for people, of so many characters */
#define doc_number(d, key, v)           DOC_VALUE(d, key, doc_on_page(d) ? OUT_REAL : OUT_TEXT, 0, doc_put_text((d), (v))) /* a number as text */
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
