/* f_requests.c - any bytes as a list of requests: what is taken is in order, within bounds, and reads back alike. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/serve/arrive.h"
#include "validate/tests/fuzz/targets.h"

static int read_bytes(const void *bytes, size_t n, struct arrivals *a, struct err *e)
{
	struct input *in = input_mem(bytes, n, "fuzz", e);
	int rc;

	if (!in)
		abort();
	rc = arrive_read(in, a, e);
	input_free(in);
	return rc;
}

static void check(const struct arrivals *a)
{
	struct err e = ERR_INIT;
	struct str text = STR_INIT;
	struct arrivals b;

	assert(a->n > 0 && a->n <= ARRIVE_MOST);
	for (size_t i = 0; i < a->n; i++) {
		assert(a->v[i].prompt >= 1 && a->v[i].prompt <= ARRIVE_TOKENS);
		assert(a->v[i].output >= 1 && a->v[i].output <= ARRIVE_TOKENS);
		assert(a->v[i].at <= 2 * ARRIVE_LATEST && (!i || a->v[i].at >= a->v[i - 1].at));
	}
	arrive_write(a, &text);
	if (a->v[a->n - 1].at <= ARRIVE_LATEST) {
		assert(read_bytes(str_c(&text), text.len, &b, &e) == 0 && b.n == a->n);
		for (size_t i = 0; i < a->n; i++)
			assert(a->v[i].at == b.v[i].at && a->v[i].prompt == b.v[i].prompt &&
			       a->v[i].output == b.v[i].output);
		arrive_free(&b);
	}
	str_free(&text);
}

int fuzz_requests(const uint8_t *bytes, size_t n)
{
	struct err e = ERR_INIT;
	struct arrivals a;

	if (read_bytes(bytes, n, &a, &e) < 0) {
		assert(e.kind != ERR_NONE && e.msg[0] && !a.v);
		return 0;
	}
	check(&a);
	arrive_free(&a);
	return 0;
}
