/* f_ops.c - any bytes as a table of ops, then lowered: what the importer takes is an op of no opaque kind, within bounds. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/lower/lower.h"
#include "traces/read/format.h"
#include "traces/read/ops_csv.h"
#include "workloads/listed.h"
#include "workloads/work.h"

#define ROWS_LOWERED 4096

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Lowering needs a rule table, of which rows of a table of ops use nothing. */
static const char table[] =
	"rules:\n- {name: any, kernel: '.', kind: opaque, family: other, friendly: any, library: none}\n";

static void check_stream(const struct op_stream *s, const struct trace *t)
{
	struct err e = ERR_INIT;

	assert(s->n_ops == t->n_launches && s->opaque_ns == 0);
	if (s->n_ops <= ROWS_LOWERED)
		assert(lower_check(s, &e) == 0);
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct work w = work_of(s, &s->ops[i]);

		assert(s->ops[i].kind != OP_OPAQUE && s->ops[i].n_operands > 1);
		assert(s->ops[i].n_deps == (i > 0) || s->ops[i].n_deps > 1);
		assert(w.read_bytes > 0 && w.read_bytes < UINT64_MAX / 2 && w.write_bytes > 0 &&
		       w.macs <= UINT64_C(1) << 62);
	}
}

static void lower(struct tracedb *db, struct arena *a)
{
	struct err e = ERR_INIT;
	struct rules *r = rules_parse(table, sizeof table - 1, "table", &e);
	struct lower_stats st;
	struct op_stream s;
	struct trace t;

	if (!r)
		abort();
	if (tracedb_load(db, NULL, a, &t, &e) < 0 || lower_trace(&t, r, a, &s, &st, &e) < 0)
		assert(e.kind == ERR_NOMEM || strstr(e.msg, "address space"));
	else
		check_stream(&s, &t);
	rules_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct err e = ERR_INIT;
	struct tracedb *db = tracedb_open(":memory:", DB_WRITE, &e);
	struct arena *a = arena_new(256 << 20);
	struct input *in = input_mem(bytes, n, "fuzz", &e);
	struct trace_import_stats st;

	if (!db || !a || !in)
		abort();
	format_of(in, &e);
	err_clear(&e);
	if (ops_csv_import(db, in, NULL, NULL, &st, &e) < 0)
		assert(e.kind != ERR_NONE && e.msg[0]);
	else
		lower(db, a);
	input_free(in);
	arena_free(a);
	tracedb_free(db);
	return 0;
}
