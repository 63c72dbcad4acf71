/* program_words.c - a line of a program's text taken apart: bare words, key=value, and what stands between quotes. */
#include <string.h>

#include "sim/program/program_int.h"

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* From behind the opening quote; what it says, in place. The place behind the closing one; NULL: there is none. */
static char *unquote(char *at)
{
	char *to = at;

	for (; *at && *at != '"'; at++) {
		if (*at != '\\') {
			*to++ = *at;
		} else if (at[1] == '"' || at[1] == '\\') {
			*to++ = *++at;
		} else if (at[1] == 'x' && hex(at[2]) >= 0 && hex(at[3]) >= 0 && hex(at[2]) + hex(at[3]) > 0) {
			*to++ = (char)(hex(at[2]) * 16 + hex(at[3]));
			at += 3;
		} else {
			return NULL;
		}
	}
	if (!*at)
		return NULL;
	*to = 0;
	return at + 1;
}

/* One word from `at` on; where it ends, or NULL and why. */
static char *take_word(struct program_words *r, char *line, char *at)
{
	struct program_word *w = &r->w[r->n++];

	*w = (struct program_word){ .text = at, .col = (int)(at - line) + 1 };
	while (*at && *at != ' ' && *at != '\t' && *at != '=' && *at != '"')
		at++;
	if (*at == '=') {
		*at++ = 0;
		w->key = w->text;
		w->text = at;
	}
	if (*at == '"' && at == w->text) {
		w->text = at + 1;
		w->quoted = true;
		if (!(at = unquote(at + 1))) {
			r->why = "the quote does not close, or has an escape other than \\\", \\\\ and \\xHH";
			r->col = w->col;
			return NULL;
		}
	} else {
		while (*at && *at != ' ' && *at != '\t' && *at != '"')
			at++;
	}
	if (*at && *at != ' ' && *at != '\t') {
		r->why = "a quote begins in the middle of a word, or a word right behind one";
		r->col = (int)(at - line) + 1;
		return NULL;
	}
	return at;
}

int program_split(struct program_words *r, char *line)
{
	r->n = 0;
	for (char *at = line;;) {
		while (*at == ' ' || *at == '\t')
			at++;
		if (!*at || *at == '#')
			return 0;
		if (r->n == PROGRAM_WORDS) {
			r->why = "the line has too many words";
			r->col = (int)(at - line) + 1;
			return -1;
		}
		if (!(at = take_word(r, line, at)))
			return -1;
		if (*at)
			*at++ = 0;
	}
}
