#include "sim/report/packed.h"

#include <stdlib.h>
#include <zlib.h>

static void digits(const unsigned char *p, size_t n, struct str *out)
{
	for (size_t i = 0; i < n; i += 4) {
		const size_t most = n - i < 4 ? n - i : 4;
		char c[5];
		uint32_t v = 0;

		for (size_t k = 0; k < 4; k++)
			v = v << 8 | (k < most ? p[i + k] : 0);
		for (int k = 4; k >= 0; k--, v /= 85)
			c[k] = 40 + v % 85 == '<' ? '}' : (char)(40 + v % 85);
		str_addn(out, c, most + 1);
	}
}

int packed(const void *p, size_t n, struct str *out, struct err *e)
{
	uLongf size = compressBound(n);
	unsigned char *to = malloc(size);
	int rc = 0;

	if (to && compress2(to, &size, p, n, 9) == Z_OK)
		digits(to, size, out);
	else
		rc = err_nomem(e, "for the page");
	free(to);
	return rc;
}
