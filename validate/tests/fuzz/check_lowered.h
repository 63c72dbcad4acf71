/* check_lowered.h - any bytes through a reader of tables that list ops, then lowered: what it refuses has a reason, and the stream of
 * what it takes holds together. */
#ifndef NPUSIM_TESTS_FUZZ_CHECK_LOWERED_H
#define NPUSIM_TESTS_FUZZ_CHECK_LOWERED_H

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/lower/lower.h"
#include "traces/read/format.h"
#include "workloads/work.h"

#define ROWS_LOWERED 4096

typedef int fuzz_reader(struct tracedb *, struct input *, input_progress *, void *, struct trace_import_stats *,
                        struct err *);
/* Of what the bytes look like; of a text of `n` bytes. */
typedef fuzz_reader *fuzz_choose(int format, size_t n);
typedef void fuzz_op(const struct op_stream *s, const struct trace *t, size_t i);

static inline void check_stream(const struct op_stream *s, const struct trace *t, fuzz_op *each)
{
	struct err e = ERR_INIT;

	assert(s->n_ops == t->n_launches);
	if (s->n_ops <= ROWS_LOWERED)
		assert(lower_check(s, &e) == 0);
	for (size_t i = 0; i < s->n_ops; i++)
		each(s, t, i);
}

/* Lowering needs a rule table, of which listed rows use nothing; a rule for every kernel would model those without an op, too. */
static inline void check_lowered(struct tracedb *db, struct arena *a, fuzz_op *each)
{
	static const char table[] =
		"rules:\n- {name: any, kernel: '.', kind: opaque, family: other, friendly: any, library: none}\n";
	struct err e = ERR_INIT;
	struct rules *r = rules_parse(table, sizeof table - 1, "table", &e);
	struct lower_stats st;
	struct op_stream s;
	struct trace t;

	if (!r)
		abort();
	if (tracedb_load_any(db, NULL, a, &t, &e) < 0)
		assert(e.kind == ERR_NOMEM);
	else if (t.n_launches && lower_trace(&t, r, a, &s, &st, &e) < 0)
		assert(e.kind == ERR_NOMEM || strstr(e.msg, "address space"));
	else if (t.n_launches)
		check_stream(&s, &t, each);
	rules_free(r);
}

static inline void check_read(const uint8_t *bytes, size_t n, fuzz_choose *choose, fuzz_op *each)
{
	struct err e = ERR_INIT;
	struct tracedb *db = tracedb_open(":memory:", DB_WRITE, &e);
	struct arena *a = arena_new(256 << 20);
	struct input *in = input_mem(bytes, n, "fuzz", &e);
	struct trace_import_stats st;
	int format;

	if (!db || !a || !in)
		abort();
	format = format_of(in, &e);
	err_clear(&e);
	if (choose(format, n)(db, in, NULL, NULL, &st, &e) < 0)
		assert(e.kind != ERR_NONE && e.msg[0]);
	else
		check_lowered(db, a, each);
	input_free(in);
	arena_free(a);
	tracedb_free(db);
}

#endif
