/* stepbed.h - a measured step as an op stream, for tests. What cannot be read fails the test. */
#ifndef NPUSIM_TESTS_STEPBED_H
#define NPUSIM_TESTS_STEPBED_H

#include "sim/lower/lower.h"
#include "traces/read/format.h"
#include "validate/tests/tracebed.h"
#include "workloads/rules.h"

struct step {
	struct bed b;
	struct rules *rules;
	struct op_stream s;
};

/* `range` of traces/FILE. */
static inline void take(struct step *x, const char *file, const char *range)
{
	struct lower_stats st;
	char path[4096], db[600];

	bed_open(&x->b, test_path(db, sizeof db, "%s.db", strrchr(file, '/')), DB_WRITE);
	snprintf(path, sizeof path, "%s/traces/%s", test_root(), file);
	CHECK_OK(format_import(x->b.db, FORMAT_AUTO, path, NULL, NULL, &x->b.st, &x->b.e), x->b.e);
	bed_load(&x->b, range);
	x->rules = rules_load(NULL, &x->b.e);
	CHECK_OK(x->rules ? 0 : -1, x->b.e);
	CHECK_OK(lower_trace(&x->b.t, x->rules, x->b.a, &x->s, &st, &x->b.e), x->b.e);
}

static inline void drop(struct step *x)
{
	rules_free(x->rules);
	bed_close(&x->b);
}

#endif
