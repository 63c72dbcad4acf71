/* f_capture.c - any bytes as a spool of the capture library, and what it stored through the loader. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "traces/read/capture_import.h"
#include "validate/tests/fuzz/check_trace.h"
#include "validate/tests/fuzz/targets.h"

int fuzz_capture(const uint8_t *bytes, size_t n)
{
	struct err e = ERR_INIT;
	struct tracedb *db = tracedb_open(":memory:", DB_WRITE, &e);
	struct arena *a = arena_new(64 << 20);
	struct input *in = input_mem(bytes, n, "fuzz", &e);
	struct trace_import_stats st;
	struct trace t;
	int rc;

	if (!db || !a || !in)
		abort();
	rc = capture_import(db, in, NULL, NULL, &st, &e);
	assert((rc < 0) == (e.kind != ERR_NONE));
	if (rc == 0) {
		assert(st.kernels + st.copies + st.sets > 0 && st.cut >= 0 && (size_t)st.lost <= UINT32_MAX * (n + 1));
		if (tracedb_load(db, NULL, a, &t, &e) == 0)
			check_trace(&t);
		else
			assert(e.kind == ERR_NOMEM);
	}
	input_free(in);
	arena_free(a);
	tracedb_free(db);
	return 0;
}
