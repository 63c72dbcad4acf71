/* nvtx_op.h - the ranges that PyTorch's emit_nvtx writes are its ops: "aten::mm, seq = 12, op_id = 345,
 * sizes = [[4, 8], [8, 16]]", the sizes where record_shapes was on. */
#ifndef NPUSIM_TRACES_READ_NVTX_OP_H
#define NPUSIM_TRACES_READ_NVTX_OP_H

#include "sim/base/str.h"
#include "traces/db/tracedb.h"
#include "traces/read/kineto_args.h"

struct nvtx_op {
	struct str name;
	struct kargs args;
}; /* memory that is used again; starts zeroed */

bool nvtx_is_op(const char *text);
/* Puts the op of a range whose name is one's text; its launches are those whose calls it is around. */
int nvtx_put_op(struct nvtx_op *o, struct tracedb *db, const struct trace_range *r, struct err *e);
void nvtx_op_free(struct nvtx_op *o);

#endif
