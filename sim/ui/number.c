#include "sim/ui/number.h"

#include <math.h>
#include <stdio.h>

#define PLAIN 100 /* from here on whole */
#define WORDS 1e6 /* from here on a count is told in words */

/* Three digits that count, and no noughts behind the point: 99.5, 0.25, 0.0000123. */
static void add_small(struct str *s, double x)
{
	const double size = fabs(x);
	int places = size > 0 ? 2 - (int)floor(log10(size)) : 0;
	char digits[64];
	size_t n;

	places = places < 0 ? 0 : places > 40 ? 40 : places;
	n = (size_t)snprintf(digits, sizeof digits, "%.*f", places, x);
	if (places) {
		while (digits[n - 1] == '0')
			n--;
		digits[digits[n - 1] == '.' ? n - 1 : n] = '\0';
	}
	str_add(s, digits);
}

static void add_whole(struct str *s, double x)
{
	char digits[400];
	size_t n = (size_t)snprintf(digits, sizeof digits, "%.0f", fabs(x));

	str_add(s, x < 0 ? "-" : "");
	for (size_t i = 0; i < n; i++)
		str_addf(s, "%s%c", i && (n - i) % 3 == 0 ? "," : "", digits[i]);
}

void number_add(struct str *s, double x)
{
	if (!isfinite(x))
		str_addf(s, "%g", x);
	else if (fabs(x) < PLAIN)
		add_small(s, x);
	else
		add_whole(s, x);
}

void number_count(struct str *s, double n)
{
	static const struct {
		double unit;
		const char *name;
	} words[] = { { 1e6, "million" }, { 1e9, "billion" }, { 1e12, "trillion" } };
	size_t k = 0;

	if (n < WORDS) {
		add_whole(s, n);
		return;
	}
	while (k < 2 && n / words[k].unit >= 999.5) /* a thousand, when rounded */
		k++;
	if (n / words[k].unit < PLAIN)
		add_small(s, n / words[k].unit);
	else
		add_whole(s, n / words[k].unit);
	str_addf(s, " %s", words[k].name);
}
