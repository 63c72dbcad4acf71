/* decimal.c - exact integers from decimal text. */
#include "traces/text/decimal.h"

#include <stdbool.h>

#define EXP_CAP 100000 /* beyond it every nonzero number is out of range or rounds to zero */

/* Reads "[+-]digits" at *p; false when there is no digit. Saturates. */
static bool exponent(const char **p, const char *end, int *exp)
{
	bool neg = false;
	int v = 0;

	if (*p < end && (**p == '+' || **p == '-'))
		neg = *(*p)++ == '-';
	if (*p == end || **p < '0' || **p > '9')
		return false;
	for (; *p < end && **p >= '0' && **p <= '9'; (*p)++)
		if (v < EXP_CAP)
			v = v * 10 + (**p - '0');
	*exp = neg ? -v : v;
	return true;
}

/* Most numbers of a trace are short and whole. */
static bool short_whole(const char *text, size_t n, int64_t *out)
{
	int64_t v = 0;

	if (n == 0 || n > 18)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		v = v * 10 + (text[i] - '0');
	}
	*out = v;
	return true;
}

int decimal_scaled(const char *text, size_t n, int shift, int64_t *out)
{
	const char *p = text, *end = text + n, *whole, *frac = NULL;
	size_t n_whole, n_frac = 0;
	bool neg = false, up = false;
	const uint64_t max = INT64_MAX;
	uint64_t v = 0;
	int64_t take;
	int exp = 0;

	if (shift == 0 && short_whole(text, n, out))
		return 0;
	if (p < end && *p == '-')
		neg = true, p++;
	for (whole = p; p < end && *p >= '0' && *p <= '9'; p++)
		;
	n_whole = (size_t)(p - whole);
	if (p < end && *p == '.') {
		for (frac = ++p; p < end && *p >= '0' && *p <= '9'; p++)
			;
		n_frac = (size_t)(p - frac);
		if (n_frac == 0)
			return -1;
	}
	if (n_whole + n_frac == 0)
		return -1;
	if (p < end && (*p == 'e' || *p == 'E') && (p++, !exponent(&p, end, &exp)))
		return -1;
	if (p != end)
		return -1;

	/* The digits form one string; `take` of them stand before the scaled point. */
	take = (int64_t)n_whole + exp + shift;
	for (int64_t i = 0; i < take; i++) {
		size_t k = (size_t)i;
		unsigned d = 0;

		if (k < n_whole)
			d = (unsigned)(whole[k] - '0');
		else if (k < n_whole + n_frac)
			d = (unsigned)(frac[k - n_whole] - '0');
		else if (v == 0)
			break; /* 0e999 */
		if (v > (max - d) / 10)
			return -2;
		v = v * 10 + d;
	}
	if (take >= 0 && (size_t)take < n_whole + n_frac)
		up = ((size_t)take < n_whole ? whole[take] : frac[(size_t)take - n_whole]) >= '5';
	if (up && v == max)
		return -2;
	v += up;
	*out = neg ? -(int64_t)v : (int64_t)v; /* of its range the one value INT64_MIN is refused */
	return 0;
}
