/* f_nsys.c - any bytes as a SQLite file through the Nsight Systems reader, and what it stored through the loader.
 * SQLite reads files only, so each input goes through a temporary one. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "traces/read/nsys.h"
#include "validate/tests/fuzz/check_trace.h"
#include "validate/tests/fuzz/targets.h"

int fuzz_nsys(const uint8_t *bytes, size_t n)
{
	struct err e = ERR_INIT;
	struct tracedb *db = tracedb_open(":memory:", DB_WRITE, &e);
	struct arena *a = arena_new(64 << 20);
	struct input *in = input_mem(bytes, n, "fuzz", &e);
	struct trace_import_stats st;
	struct trace t;

	if (!db || !a || !in)
		abort();
	if (nsys_import(db, in, NULL, NULL, &st, &e) < 0)
		assert(e.kind != ERR_NONE && e.msg[0]);
	else if (tracedb_load(db, NULL, a, &t, &e) == 0)
		check_trace(&t);
	else
		assert(e.kind == ERR_NOMEM);
	input_free(in);
	arena_free(a);
	tracedb_free(db);
	return 0;
}
