/* check_trace.h - what holds of any trace that a reader stored and the loader gave back. */
#ifndef NPUSIM_TESTS_FUZZ_CHECK_TRACE_H
#define NPUSIM_TESTS_FUZZ_CHECK_TRACE_H

#include <assert.h>

#include "traces/trace.h"

static inline void check_trace(const struct trace *t)
{
	assert(t->n_launches > 0 && t->path && t->digest);
	for (size_t i = 0; i < t->n_launches; i++)
		assert(t->launches[i].name && t->launches[i].start_ns >= 0 && t->launches[i].dur_ns >= 0);
}

#endif
