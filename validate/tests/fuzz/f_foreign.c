/* f_foreign.c - any bytes through the readers of other devices' profiles, then lowered: a kernel that got an op is modelled, within
 * bounds, and all others are opaque. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/lower/lower.h"
#include "traces/read/ascend_csv.h"
#include "traces/read/format.h"
#include "traces/read/rocprof_csv.h"
#include "traces/read/tt_csv.h"
#include "traces/read/xplane_json.h"
#include "workloads/listed.h"
#include "workloads/work.h"

#define ROWS_LOWERED 4096

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

typedef int reader(struct tracedb *, struct input *, input_progress *, void *, struct trace_import_stats *,
                   struct err *);

/* A rule for every kernel would model those without an op, too. */
static const char table[] =
	"rules:\n- {name: any, kernel: '.', kind: opaque, family: other, friendly: any, library: none}\n";

static void check_stream(const struct op_stream *s, const struct trace *t)
{
	struct err e = ERR_INIT;

	assert(s->n_ops == t->n_launches);
	if (s->n_ops <= ROWS_LOWERED)
		assert(lower_check(s, &e) == 0);
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct work w = work_of(s, &s->ops[i]);

		assert((s->ops[i].kind != OP_OPAQUE) == listed_is(&t->launches[i]));
		assert(s->ops[i].kind == OP_OPAQUE ||
		       (w.read_bytes > 0 && w.read_bytes < UINT64_MAX / 2 && w.macs <= UINT64_C(1) << 62));
	}
}

static void check(struct tracedb *db, struct arena *a)
{
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
		check_stream(&s, &t);
	rules_free(r);
}

/* What a reader is given by name, with --from, is not looked at before. */
static reader *chosen(int format, size_t n)
{
	static reader *const all[] = { tt_csv_import, ascend_csv_import, rocprof_csv_import, xplane_json_import };

	return format == FORMAT_TT_CSV        ? tt_csv_import
	       : format == FORMAT_ASCEND_CSV  ? ascend_csv_import
	       : format == FORMAT_ROCPROF_CSV ? rocprof_csv_import
	       : format == FORMAT_XPLANE      ? xplane_json_import
	                                      : all[n % 4];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
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
	if (chosen(format, n)(db, in, NULL, NULL, &st, &e) < 0)
		assert(e.kind != ERR_NONE && e.msg[0]);
	else
		check(db, a);
	input_free(in);
	arena_free(a);
	tracedb_free(db);
	return 0;
}
