/* str.c - the byte string and edit distance. A failed allocation leaves what was there and sets `failed`, which
 * the writer checks once at the end. */
#include "sim/base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 63 /* longer names have no typing errors worth a guess */

static bool reserve(struct str *s, size_t more)
{
	size_t cap = s->cap ? s->cap : 64;
	char *p;

	if (s->failed || more >= SIZE_MAX / 2 - s->len) {
		s->failed = true;
		return false;
	}
	if (s->len + more < s->cap)
		return true;
	while (cap <= s->len + more)
		cap *= 2;
	if (!(p = realloc(s->p, cap))) {
		s->failed = true;
		return false;
	}
	s->p = p;
	s->cap = cap;
	return true;
}

void str_addn(struct str *s, const char *text, size_t n)
{
	if (!reserve(s, n))
		return;
	if (n)
		memcpy(s->p + s->len, text, n);
	s->len += n;
	s->p[s->len] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_addn(s, text, strlen(text));
}

void str_addc(struct str *s, char c)
{
	str_addn(s, &c, 1);
}

void str_add_quoted(struct str *s, const char *text)
{
	str_addc(s, '"');
	for (; *text; text++) {
		if (*text == '"')
			str_addc(s, '"');
		str_addc(s, *text);
	}
	str_addc(s, '"');
}

bool str_is_formula(const char *text)
{
	char *end;

	if (!strchr("=+-@\t\r", *text) || !text[0] || !text[1])
		return false;
	strtod(text, &end);
	return *end || !strchr("+-", *text);
}

void str_add_cell(struct str *s, const char *text)
{
	struct str safe = STR_INIT;

	if (!str_is_formula(text)) {
		str_add_quoted(s, text);
		return;
	}
	str_addc(&safe, '\'');
	str_add(&safe, text);
	str_add_quoted(s, str_c(&safe));
	s->failed |= safe.failed;
	str_free(&safe);
}

void str_addv(struct str *s, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0) {
		s->failed = true;
	} else if (reserve(s, (size_t)n)) {
		vsnprintf(s->p + s->len, (size_t)n + 1, fmt, again);
		s->len += (size_t)n;
	}
	va_end(again);
}

void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_addv(s, fmt, ap);
	va_end(ap);
}

void str_add_bytes(struct str *s, uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double n = (double)bytes;
	int u = 0;

	for (; n >= 1000; n /= 1024)
		u++;
	str_addf(s, "%.4g %s", n, units[u]);
}

void str_clear(struct str *s)
{
	s->len = 0;
	s->failed = false;
	if (s->p)
		s->p[0] = '\0';
}

void str_free(struct str *s)
{
	const struct str empty = STR_INIT;

	if (!s)
		return;
	free(s->p);
	*s = empty;
}

const char *str_c(const struct str *s)
{
	return s->p ? s->p : "";
}

bool str_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_suffix(const char *s, const char *suffix)
{
	const size_t n = strlen(s), k = strlen(suffix);

	return n > k && strcmp(s + n - k, suffix) == 0;
}

size_t str_utf8(const char *text, size_t n, uint32_t *cp)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	size_t len;
	uint32_t c;

	if (!n)
		return 0;
	if (p[0] < 0x80) {
		*cp = p[0];
		return 1;
	}
	len = p[0] >= 0xf0 && p[0] < 0xf8 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc0 ? 2 : 0;
	if (!len || p[0] >= 0xf8 || len > n)
		return 0;
	c = p[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3fu);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*cp = c;
	return len;
}

static int lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Optimal string alignment: insert, delete, change, swap neighbours; a letter's case costs nothing. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned char row[3][WORD_MAX + 1];
	unsigned char *prev2 = row[0], *prev = row[1], *cur = row[2];

	for (size_t j = 0; j <= nb; j++)
		prev[j] = (unsigned char)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned char *t;

		cur[0] = (unsigned char)i;
		for (size_t j = 1; j <= nb; j++) {
			int d = prev[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));

			if (prev[j] + 1 < d)
				d = prev[j] + 1;
			if (cur[j - 1] + 1 < d)
				d = cur[j - 1] + 1;
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]) && prev2[j - 2] + 1 < d)
				d = prev2[j - 2] + 1;
			cur[j] = (unsigned char)d;
		}
		t = prev2, prev2 = prev, prev = cur, cur = t;
	}
	return prev[nb];
}

/* The shortest of the names that go on where the word ends. */
static const char *longer(const char *word, size_t len, const char *const *names, size_t n)
{
	const char *found = NULL;

	for (size_t i = 0; len >= 3 && i < n; i++)
		if (names[i] && strncasecmp(names[i], word, len) == 0 && (!found || strlen(names[i]) < strlen(found)))
			found = names[i];
	return found;
}

const char *str_nearest(const char *word, const char *const *names, size_t n)
{
	size_t len = strlen(word), best = len / 3 < 2 ? 2 : len / 3;
	const char *found = NULL;

	if (!len || len > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t nl = names[i] ? strlen(names[i]) : 0, d;

		if (!nl || nl > WORD_MAX)
			continue;
		d = distance(word, len, names[i], nl);
		/* changing every letter of a short word is no resemblance */
		if (d >= len || d > best || (found && d == best))
			continue;
		found = names[i];
		best = d;
	}
	return found ? found : longer(word, len, names, n);
}
