#include "sim/ui/number.h"

#include <stdio.h>

void number_add(struct str *s, double x)
{
	char digits[32];
	size_t n;

	if (x < 100 || x >= 1e15) {
		str_addf(s, "%.3g", x);
		return;
	}
	n = (size_t)snprintf(digits, sizeof digits, "%.0f", x);
	for (size_t i = 0; i < n; i++)
		str_addf(s, "%s%c", i && (n - i) % 3 == 0 ? "," : "", digits[i]);
}

void number_count(struct str *s, double n)
{
	if (n < 100)
		str_addf(s, "%.0f", n);
	else if (n < 1e6 || n >= 1e15)
		number_add(s, n);
	else
		str_addf(s, "%.3g %s",
		         n < 1e9    ? n / 1e6
		         : n < 1e12 ? n / 1e9
		                    : n / 1e12,
		         n < 1e9    ? "million"
		         : n < 1e12 ? "billion"
		                    : "trillion");
}
