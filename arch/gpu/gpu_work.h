/* gpu_work.h - from an op stream to the launches of a GPU, with what its L2 makes of their bytes.
 *
 * Each launch gets the counts of its kernel template and the op it works for. Its operands then go through the
 * machine's own L2, in order, as reads and writes of their address ranges: hits, misses and write-backs are results of
 * the L2's state, as for an NPU. Times come after that, in closed form (arch/gpu/gpu.h), so a calibration asks the memory
 * once and the closed forms often.
 * Which launch of an op moves its operands is the template's word (kernel.moves); parts of a split product or
 * attention are the closed form's own business.
 * Leaves out: the order of accesses within a launch, two launches at once. A routed op's experts are drawn by a hash of
 * router and pass, distinct within a step. */
#ifndef NPUSIM_ARCH_GPU_GPU_WORK_H
#define NPUSIM_ARCH_GPU_GPU_WORK_H

#include "arch/gpu/gpu_traffic.h"
#include "arch/gpu/kernels.h"
#include "sim/base/arena.h"
#include "workloads/op.h"

struct gpu_work {
	const struct op_stream *stream;
	struct gpu_launch *launches;
	size_t n; /* as in stream->launches */
};

int gpu_work_make(const struct op_stream *s, const struct kernels *k, struct arena *a, struct gpu_work *out,
                  struct err *e);

/* So many bytes of an operand were just written, and nothing has read them before this op: says so to the first of its
 * launches that reads. gpu_work_make has said it of what the stream's ops write. */
void gpu_work_fresh(struct gpu_work *w, const struct op *o, uint64_t bytes);

/* What lies between launches of the same kernel where ops [first, first + n) run again and again, nothing else between:
 * fills their `others`. gpu_work_make assumes it of the whole stream. */
int gpu_work_repeat(struct gpu_work *w, uint32_t first, uint32_t n, struct err *e);

/* The operands of op `op`, launch by launch; fills their `mem`. `pass` draws the experts. */
int gpu_work_move(struct gpu_work *w, uint32_t op, uint32_t pass, struct gpu_traffic *t, struct err *e);
/* The same, where `move` says what a range of a tensor finds. */
struct gpu_range {
	uint64_t addr, bytes;
	uint32_t tensor;
	bool write;
};
typedef int gpu_move_fn(void *arg, const struct gpu_range *r, struct gpu_mem *m, struct err *e);
int gpu_work_move_by(struct gpu_work *w, uint32_t op, uint32_t pass, gpu_move_fn *move, void *arg, struct err *e);
/* All ops once to warm up, then once for what counts. */
int gpu_work_run(struct gpu_work *w, bool warm, struct gpu_traffic *t, struct err *e);

#endif
