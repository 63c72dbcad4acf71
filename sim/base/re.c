/* re.c - how long an expression is once its repeats are written out. */
#include "sim/base/re.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of each group that is open what stands before `last`, its newest part, which a repeat would be of. */
struct sizes {
	uint64_t before[RE_DEEP + 1], last;
	int depth;
};

/* Behind the ']' that closes what begins with '['. */
static const char *behind_set(const char *p)
{
	p += 1 + (p[1] == '^');
	for (p += *p == ']'; *p && *p != ']'; p++)
		if (*p == '[' && p[1] && strchr(":.=", p[1])) {
			const char end[] = { p[1], ']', '\0' }, *stop = strstr(p + 2, end);

			p = stop ? stop + 1 : p;
		}
	return p + (*p == ']');
}

/* "{3}", "{3,}", "{3,5}": as often as that. */
static const char *repeat(const char *p, uint64_t *times)
{
	const char *comma, *end = strchr(p, '}');

	*times = strtoul(p + 1, NULL, 10);
	if (!end)
		return p + 1;
	comma = memchr(p, ',', (size_t)(end - p));
	if (comma)
		*times = comma + 1 == end ? *times + 1 : strtoul(comma + 1, NULL, 10);
	return end + 1;
}

static void next(struct sizes *s, uint64_t size)
{
	s->before[s->depth] += s->last;
	s->last = size;
}

/* One part further; NULL: too much, as `why` says. */
static const char *re_part(struct sizes *s, const char *p, const char **why)
{
	uint64_t times;

	switch (*p) {
	case '\\':
		if (p[1] >= '1' && p[1] <= '9') {
			*why = "it looks back at a group";
			return NULL;
		}
		next(s, 1);
		return p + 1 + (p[1] != '\0');
	case '[':
		next(s, 1);
		return behind_set(p);
	case '(':
		next(s, 0);
		if (s->depth == RE_DEEP) {
			*why = "its groups are too deep";
			return NULL;
		}
		s->before[++s->depth] = 0;
		return p + 1;
	case ')':
		if (s->depth)
			s->last += 1 + s->before[s->depth--];
		return p + 1;
	case '*':
	case '+':
	case '?':
		s->last *= 2;
		return p + 1;
	case '{':
		p = repeat(p, &times);
		s->last *= times <= RE_MOST ? times : RE_MOST + 1;
		return p;
	default:
		next(s, 1);
		return p + 1;
	}
}

static const char *refusal(const char *text)
{
	struct sizes s = { .depth = 0 };
	const char *why = NULL;

	for (const char *p = text; p && *p;) {
		p = re_part(&s, p, &why);
		if (s.last > RE_MOST || s.before[s.depth] > RE_MOST)
			return "it is too long, with its repeats written out";
	}
	return why;
}

int re_compile(regex_t *re, const char *text, int flags, char *why, size_t n)
{
	const char *no = refusal(text);
	int rc;

	if (no) {
		snprintf(why, n, "%s", no);
		return -1;
	}
	if ((rc = regcomp(re, text, REG_EXTENDED | flags)) == 0)
		return 0;
	regerror(rc, re, why, n);
	return -1;
}
