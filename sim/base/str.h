/* str.h - a growing byte string, the helpers on names, and integers and quantities as text. */
#ifndef NPUSIM_SIM_BASE_STR_H
#define NPUSIM_SIM_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
	char *p;
	size_t len, cap;
	bool failed;
}; /* p is always NUL-terminated once anything was added */
#define STR_INIT \
	{ \
		NULL, 0, 0, false \
	}

void str_add(struct str *s, const char *text);
void str_addn(struct str *s, const char *text, size_t n);
void str_addc(struct str *s, char c);
/* As a cell of CSV: quoted, with an apostrophe before what a spreadsheet would compute (str_is_formula). */
void str_add_cell(struct str *s, const char *text);
/* A text that begins with =, +, -, @ or a control character and is no number: whoever may name a kernel could else write
 * what runs where the table is opened. */
bool str_is_formula(const char *text);
void str_add_quoted(struct str *s, const char *text); /* between double quotes, those within doubled: CSV, SQL names */
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_addv(struct str *s, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void str_add_bytes(struct str *s, uint64_t bytes); /* for a reader: "15.99 GiB", four digits of it */
void str_clear(struct str *s);                     /* empty, keeps the memory */
void str_free(struct str *s);
const char *str_c(const struct str *s); /* "" when nothing was added */

bool str_prefix(const char *s, const char *prefix);
/* Behind something: ".html" is no page. */
bool str_suffix(const char *s, const char *suffix);
/* The code point at `text`, of which n bytes are left, and its length in bytes; 0 when it is not valid UTF-8. */
size_t str_utf8(const char *text, size_t n, uint32_t *cp);
/* Edit distance with transpositions, blind to case: the nearest of n names (NULL entries are skipped) within a third
 * of the word's length (at least 2); else, of a word of three letters or more, the shortest that begins with it; or NULL. */
const char *str_nearest(const char *word, const char *const *names, size_t n);

#endif
