/* f_ops.c - any bytes as a table of ops, then lowered: what the importer takes is an op of no opaque kind, within bounds. */
#include "traces/read/ops_csv.h"
#include "validate/tests/fuzz/check_lowered.h"
#include "validate/tests/fuzz/targets.h"

static void check_op(const struct op_stream *s, const struct trace *t, size_t i)
{
	const struct work w = work_of(s, &s->ops[i]);

	(void)t;
	assert(s->opaque_ns == 0 && s->ops[i].kind != OP_OPAQUE && s->ops[i].n_operands > 1);
	assert(s->ops[i].n_deps == (i > 0) || s->ops[i].n_deps > 1);
	assert(w.read_bytes > 0 && w.read_bytes < UINT64_MAX / 2 && w.write_bytes > 0 && w.macs <= UINT64_C(1) << 62);
}

static fuzz_reader *chosen(int format, size_t n)
{
	(void)format, (void)n;
	return ops_csv_import;
}

int fuzz_ops(const uint8_t *bytes, size_t n)
{
	check_read(bytes, n, chosen, check_op);
	return 0;
}
