/* measure.c - thousands, decimal marks, prefixes. */
#include "traces/text/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/text/decimal.h"

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_number(const char *text)
{
	const char *p = text + (*text == '-');

	return digit(*p) && p[strspn(p, "0123456789.,eE+-")] == '\0';
}

/* Nothing but a decimal mark comes once with other than three digits behind it, or last after a mark of another
 * sort; nothing but a thousands mark comes twice. */
enum measure_mark measure_guess(const char *text)
{
	const char *comma = strrchr(text, ','), *point = strrchr(text, '.'), *last;

	if (!is_number(text) || strpbrk(text, "eE") || (!comma && !point))
		return MEASURE_UNKNOWN;
	if (comma && point)
		return comma > point ? MEASURE_COMMA : MEASURE_POINT;
	last = comma ? comma : point;
	if (strchr(text, *last) != last) /* it comes twice */
		return *last == ',' ? MEASURE_POINT : MEASURE_COMMA;
	if (strlen(last + 1) == 3 && last - text <= 3 + (*text == '-') && !(last - text == 1 && *text == '0'))
		return MEASURE_UNKNOWN;
	return *last == ',' ? MEASURE_COMMA : MEASURE_POINT;
}

static const char *digits(const char *p)
{
	return p + strspn(p, "0123456789");
}

/* -1.5e+3 and less of it. */
static bool grammatical(const char *text)
{
	const char *p = digits(text + (*text == '-'));

	if (*p == '.' && digit(p[1]))
		p = digits(p + 1);
	if (*p == 'e' || *p == 'E') {
		p += p[1] == '+' || p[1] == '-' ? 2 : 1;
		if (!digit(*p))
			return false;
		p = digits(p);
	}
	return *p == '\0';
}

bool measure_clean(const char *text, enum measure_mark mark, char out[MEASURE_MAX])
{
	const char decimal = mark == MEASURE_COMMA ? ',' : '.', group = mark == MEASURE_COMMA ? '.' : ',';
	bool fraction = false;
	size_t n = 0;

	if (!is_number(text))
		return false;
	for (const char *p = text; *p; p++) {
		if (*p == group) {
			if (fraction || !digit(p[1]) || !digit(p[2]) || !digit(p[3]) || digit(p[4]))
				return false;
			continue;
		}
		if (n + 1 == MEASURE_MAX || (*p == decimal && fraction))
			return false;
		fraction |= *p == decimal;
		out[n++] = *p == decimal ? '.' : *p;
	}
	out[n] = '\0';
	return grammatical(out);
}

/* Times as older and newer versions spell them. */
static const struct unit {
	const char *spelt, *base;
	int exp;
} units[] = {
	{ "ns", "ns", 0 },      { "us", "ns", 3 },      { "ms", "ns", 6 },      { "s", "ns", 9 },
	{ "nsecond", "ns", 0 }, { "usecond", "ns", 3 }, { "msecond", "ns", 6 }, { "second", "ns", 9 },
};

/* Length of the prefix: 1 in "Mbyte", of 6; 0 in "SM", as what follows a prefix begins small. */
static size_t prefix(const char *text, size_t n, int *exp)
{
	static const char prefixes[] = "KMGTP";
	const char *p = n > 1 && text[1] >= 'a' && text[1] <= 'z' ? strchr(prefixes, *text) : NULL;

	*exp = p ? 3 * (int)(p - prefixes + 1) : 0;
	return p ? 1 : 0;
}

static const struct unit *time_unit(const char *text, size_t n)
{
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strlen(units[i].spelt) == n && memcmp(units[i].spelt, text, n) == 0)
			return &units[i];
	return NULL;
}

void measure_unit(const char *unit, char *base, size_t cap, int *exp10)
{
	const size_t whole = strlen(unit), top = strcspn(unit, "/");
	const struct unit *t = time_unit(unit, top), *per;
	const size_t skip = t ? 0 : prefix(unit, top, exp10);

	if (t)
		*exp10 = t->exp;
	if (top == whole) {
		snprintf(base, cap, "%s", t ? t->base : unit + skip);
		return;
	}
	if ((per = time_unit(unit + top + 1, whole - top - 1))) { /* rates are per second */
		if (!t && top - skip == 5 && memcmp(unit + skip, "cycle", 5) == 0)
			snprintf(base, cap, "hz");
		else
			snprintf(base, cap, "%.*s/s", t ? 2 : (int)(top - skip), t ? t->base : unit + skip);
		*exp10 += 9 - per->exp;
		return;
	}
	snprintf(base, cap, "%.*s%s", t ? 2 : (int)(top - skip), t ? t->base : unit + skip, unit + top);
}

double measure_value(const char *clean, int exp10)
{
	const char *mark = strpbrk(clean, "eE");
	const int n = (int)(mark ? mark - clean : (long)strlen(clean));
	char text[MEASURE_MAX + 16];
	long own = mark ? strtol(mark + 1, NULL, 10) : 0;

	own = own > 9999 ? 9999 : own < -9999 ? -9999 : own;
	snprintf(text, sizeof text, "%.*se%ld", n, clean, own + exp10);
	return strtod(text, NULL);
}

int measure_whole(const char *clean, int exp10, int64_t *out)
{
	return decimal_scaled(clean, strlen(clean), exp10, out);
}
