/* f_foreign.c - any bytes through the readers of other devices' profiles, then lowered: a kernel that got an op is modelled, within
 * bounds, and all others are opaque. */
#include "traces/read/ascend_csv.h"
#include "traces/read/rocprof_csv.h"
#include "traces/read/tt_csv.h"
#include "traces/read/xplane_json.h"
#include "validate/tests/fuzz/check_lowered.h"
#include "validate/tests/fuzz/targets.h"
#include "workloads/listed.h"

static void check_op(const struct op_stream *s, const struct trace *t, size_t i)
{
	const struct work w = work_of(s, &s->ops[i]);

	assert((s->ops[i].kind != OP_OPAQUE) == listed_is(&t->launches[i]));
	assert(s->ops[i].kind == OP_OPAQUE ||
	       (w.read_bytes > 0 && w.read_bytes < UINT64_MAX / 2 && w.macs <= UINT64_C(1) << 62));
}

/* What a reader is given by name, with --from, is not looked at before. */
static fuzz_reader *chosen(int format, size_t n)
{
	static fuzz_reader *const all[] = { tt_csv_import, ascend_csv_import, rocprof_csv_import, xplane_json_import };

	return format == FORMAT_TT_CSV        ? tt_csv_import
	       : format == FORMAT_ASCEND_CSV  ? ascend_csv_import
	       : format == FORMAT_ROCPROF_CSV ? rocprof_csv_import
	       : format == FORMAT_XPLANE      ? xplane_json_import
	                                      : all[n % 4];
}

int fuzz_foreign(const uint8_t *bytes, size_t n)
{
	check_read(bytes, n, chosen, check_op);
	return 0;
}
