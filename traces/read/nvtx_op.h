/* nvtx_op.h - the ranges that PyTorch's emit_nvtx writes are its ops: "aten::mm, seq = 12, op_id = 345,
 * sizes = [[4, 8], [8, 16]], input_op_ids = [(344,0), (0,-1)]", the sizes where record_shapes was on. Which op made an
 * input tells how a view lies in memory (nvtx_view.h); types and numbers are not there, and the members of a list stand
 * among the arguments. Our own traces/capture/torch_ops.py writes behind the sizes what is missing, as Kineto has it:
 * "types = ["c10::BFloat16", ["float", "float"]], strides = [[8, 1], [[2, 1], [2, 1]]], values = ["", "-1"]". */
#ifndef NPUSIM_TRACES_READ_NVTX_OP_H
#define NPUSIM_TRACES_READ_NVTX_OP_H

#include "sim/base/str.h"
#include "traces/db/tracedb.h"
#include "traces/read/kineto_args.h"
#include "traces/read/nvtx_view.h"

struct nvtx_op {
	struct str name;
	struct kargs args;
	struct nvtx_view *views; /* of ops that were put, at their number modulo NVTX_VIEWS; NULL: none yet */
};                               /* memory that is used again; starts zeroed */

bool nvtx_is_op(const char *text);
/* Puts the op of a range whose name is one's text; its launches are those whose calls it is around. */
int nvtx_put_op(struct nvtx_op *o, struct tracedb *db, const struct trace_range *r, struct err *e);
void nvtx_op_free(struct nvtx_op *o);

#endif
