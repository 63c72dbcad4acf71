/* f_kineto.c - any bytes through the Kineto reader, and what it stored through the loader. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "traces/read/kineto.h"
#include "validate/tests/fuzz/targets.h"

#define KINETO_TEXT_MAX (3u << 20) /* an event's text, each byte of which may have become U+FFFD */

/* What a loaded trace promises, whatever was imported. */
static void check_trace(const struct trace *t)
{
	assert(t->n_launches > 0 && t->steps > 0 && t->path && t->digest);
	for (size_t i = 0; i < t->n_launches; i++) {
		const struct trace_launch *l = &t->launches[i];

		assert(l->name && l->start_ns >= 0 && l->dur_ns >= 0);
		assert(i == 0 || l[-1].start_ns <= l->start_ns);
		for (const struct trace_op *o = l->op; o; o = o->up) {
			assert(o->name && o->n_args <= TRACE_MAX_ARGS && (o->parent == -1) == !o->up);
			assert(!o->up || (o->up->start_ns <= o->start_ns && o->up->dur_ns >= o->dur_ns));
			for (uint32_t k = 0; k < o->n_args; k++)
				assert(o->args[k].ndims <= TRACE_MAX_DIMS &&
				       strlen(o->args[k].dtype) < KINETO_TEXT_MAX &&
				       strlen(o->args[k].scalar) < KINETO_TEXT_MAX);
		}
	}
}

int fuzz_kineto(const uint8_t *bytes, size_t n)
{
	struct err e = ERR_INIT;
	struct tracedb *db = tracedb_open(":memory:", DB_WRITE, &e);
	struct arena *a = arena_new(64 << 20);
	struct input *in = input_mem(bytes, n, "fuzz", &e);
	struct trace_import_stats st;
	struct trace t;

	if (!db || !a || !in)
		abort();
	if (kineto_import(db, in, NULL, NULL, &st, &e) == 0) {
		if (tracedb_load(db, NULL, a, &t, &e) == 0)
			check_trace(&t);
		else
			assert(e.kind == ERR_NOMEM);
		err_clear(&e);
		if (t.n_ranges && tracedb_load(db, t.ranges[0].name, a, &t, &e) == 0)
			check_trace(&t);
	} else {
		assert(e.kind != ERR_NONE && e.msg[0]);
	}
	input_free(in);
	arena_free(a);
	tracedb_free(db);
	return 0;
}
