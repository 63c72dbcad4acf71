/* err.c - the error value. Text that does not fit ends in "..."; it is never lost silently. */
#include "sim/base/err.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CONTEXT ", while "

/* Appends to msg; an overflow is marked by its last three characters. */
static void append(struct err *e, size_t at, const char *fmt, va_list ap)
{
	size_t room = sizeof e->msg - at;
	int n = vsnprintf(e->msg + at, room, fmt, ap);

	if (n < 0)
		e->msg[at] = '\0';
	else if ((size_t)n >= room)
		memcpy(e->msg + sizeof e->msg - 4, "...", 4);
}

int err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return -1;
	assert(e->kind == ERR_NONE && kind != ERR_NONE); /* a second error would hide the first */
	e->kind = kind;
	va_start(ap, fmt);
	append(e, 0, fmt, ap);
	va_end(ap);
	return -1;
}

int err_nomem(struct err *e, const char *what)
{
	return what ? err_set(e, ERR_NOMEM, "no memory %s", what) : err_set(e, ERR_NOMEM, "out of memory");
}

int err_add(struct err *e, const char *fmt, ...)
{
	const char *context = CONTEXT;
	va_list ap;
	size_t n;

	if (!e)
		return -1;
	assert(e->kind != ERR_NONE); /* context needs a fault */
	n = strlen(e->msg);
	context += n && e->msg[n - 1] == '?'; /* a question needs no comma */
	if (n + sizeof CONTEXT >= sizeof e->msg) {
		memcpy(e->msg + sizeof e->msg - 4, "...", 4);
		return -1;
	}
	memcpy(e->msg + n, context, strlen(context) + 1);
	va_start(ap, fmt);
	append(e, n + strlen(context), fmt, ap);
	va_end(ap);
	return -1;
}

int err_sys(struct err *e, enum err_kind kind, int errnum, const char *fmt, ...)
{
	const char *why = strerror(errnum);
	va_list ap;
	size_t n;

	if (!e)
		return -1;
	assert(e->kind == ERR_NONE && kind != ERR_NONE);
	e->kind = kind;
	va_start(ap, fmt);
	append(e, 0, fmt, ap);
	va_end(ap);
	n = strlen(e->msg);
	/* "No such file" -> "no such file"; an abbreviation ("RPC ...") stays as it is */
	if (snprintf(e->msg + n, sizeof e->msg - n, ": %c%s",
	             why[0] && !isupper((unsigned char)why[1]) ? tolower((unsigned char)why[0]) : why[0],
	             why[0] ? why + 1 : "") >= (int)(sizeof e->msg - n))
		memcpy(e->msg + sizeof e->msg - 4, "...", 4);
	return -1;
}

int err_at(struct err *e, const char *file, int line, int col)
{
	if (!e || e->file[0])
		return -1;
	snprintf(e->file, sizeof e->file, "%s", file);
	e->line = line;
	e->col = col;
	return -1;
}

void err_clear(struct err *e)
{
	const struct err clear = ERR_INIT;

	if (e)
		*e = clear;
}

/* A bounded writer that goes on counting, as snprintf does. */
struct sink {
	char *buf;
	size_t size, len;
};

static void err_put(struct sink *s, char c)
{
	if (s->len + 1 < s->size)
		s->buf[s->len] = c;
	s->len++;
}

/* What was read may hold terminal escapes; they must not reach the terminal. Line breaks in our own text stay. */
static void put_text(struct sink *s, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		err_put(s, c == 0x7f || (c < 0x20 && c != '\n' && c != '\t') ? '?' : *text);
	}
}

static void put_caret(struct sink *s, const char *src, int col)
{
	/* Columns count code points; a tab is repeated so that the caret stands below whatever it expands to. */
	for (int at = 1; at < col; src++) {
		if (!*src)
			break;
		if (((unsigned char)*src & 0xc0) == 0x80)
			continue;
		err_put(s, *src == '\t' ? '\t' : ' ');
		at++;
	}
	err_put(s, '^');
}

static bool col_in(const char *src, int col)
{
	int n = 1;

	for (; *src; src++)
		n += ((unsigned char)*src & 0xc0) != 0x80;
	return col >= 1 && col <= n;
}

int err_format(const struct err *e, char *buf, size_t size)
{
	struct sink s = { buf, size, 0 };
	char place[32];

	if (e->file[0]) {
		put_text(&s, e->file);
		if (e->line > 0 && e->col > 0)
			snprintf(place, sizeof place, ":%d:%d: ", e->line, e->col);
		else if (e->line > 0)
			snprintf(place, sizeof place, ":%d: ", e->line);
		else
			snprintf(place, sizeof place, ": ");
		put_text(&s, place);
	}
	put_text(&s, e->msg);
	if (e->src[0]) {
		put_text(&s, "\n  ");
		put_text(&s, e->src);
		if (col_in(e->src, e->col)) {
			put_text(&s, "\n  ");
			put_caret(&s, e->src, e->col);
		}
	}
	if (size)
		buf[s.len < size ? s.len : size - 1] = '\0';
	return (int)s.len;
}

int err_exit_code(const struct err *e)
{
	switch (e->kind) {
	case ERR_NONE:
		return 0;
	case ERR_BOUND:
		return 1;
	case ERR_USAGE:
		return 2;
	case ERR_CONFIG:
		return 3;
	case ERR_IO:
		return 4;
	case ERR_NOMEM:
		return 4;
	case ERR_STUCK:
		return 5;
	}
	return 4;
}
