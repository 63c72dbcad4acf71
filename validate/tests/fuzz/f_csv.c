/* f_csv.c - any bytes through the readers of profiler tables, and what they stored through the loader. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/profile/counters.h"
#include "traces/read/counters_csv.h"
#include "traces/read/format.h"
#include "traces/read/ncu_csv.h"
#include "traces/read/nsys_csv.h"
#include "validate/tests/fuzz/targets.h"

static void check_trace(const struct trace *t)
{
	assert(t->n_launches + t->n_stats > 0 && t->path && t->digest);
	for (size_t i = 0; i < t->n_launches; i++) {
		const struct trace_launch *l = &t->launches[i];

		assert(l->kind == TRACE_KERNEL && l->name && l->start_ns >= 0 && l->dur_ns >= 0);
		assert(i == 0 || l[-1].start_ns + l[-1].dur_ns == l->start_ns);
	}
	for (size_t i = 0; i < t->n_stats; i++)
		assert(t->stats[i].name && t->stats[i].instances > 0 && t->stats[i].total_ns >= 0);
}

/* What the commands that rank and classify read of it. */
static void check_stored(struct tracedb *db, struct arena *a, const struct trace *t)
{
	struct err e = ERR_INIT;
	struct counters *c = counters_load(db, &e);
	struct counted mean;
	struct trace g;

	check_trace(t);
	if (tracedb_load_groups(db, NULL, a, &g, &e) == 0)
		assert(g.n_grouped == t->n_launches && g.n_groups <= g.n_grouped);
	for (size_t i = 0; c && i < t->n_launches; i++) {
		assert(!counters_own(c, t->launches[i].id) || counters_next(c, &t->launches[i]));
		if (i < 16)
			counters_mean(c, t->launches[i].name, &mean);
	}
	counters_free(c);
}

int fuzz_csv(const uint8_t *bytes, size_t n)
{
	struct err e = ERR_INIT;
	struct tracedb *db = tracedb_open(":memory:", DB_WRITE, &e);
	struct arena *a = arena_new(64 << 20);
	struct input *in = input_mem(bytes, n, "fuzz", &e);
	struct trace_import_stats st;
	struct trace t;
	int (*import)(struct tracedb *, struct input *, input_progress *, void *, struct trace_import_stats *,
	              struct err *);
	int format;

	if (!db || !a || !in)
		abort();
	format = format_of(in, &e);
	assert((e.kind != ERR_NONE) == (format <= FORMAT_AUTO));
	err_clear(&e);
	/* What a reader is given by name, with --from, is not looked at before: either may get anything. */
	import = format == FORMAT_COUNTERS                                          ? counters_csv_import
	         : format == FORMAT_NCU_CSV || (format != FORMAT_NSYS_CSV && n % 2) ? ncu_csv_import
	                                                                            : nsys_csv_import;
	if (import(db, in, NULL, NULL, &st, &e) < 0)
		assert(e.kind != ERR_NONE && e.msg[0]);
	else if (tracedb_load_any(db, NULL, a, &t, &e) == 0)
		check_stored(db, a, &t);
	else
		assert(e.kind == ERR_NOMEM);
	input_free(in);
	arena_free(a);
	tracedb_free(db);
	return 0;
}
