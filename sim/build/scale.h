/* scale.h - a decode step that was measured, asked at another batch or behind another context.
 *
 * The batch and context it had are what its attention says. Rows of products, elements and rows of everything else, and the
 * tensors they are in follow the batch; caches follow batch and context; weights and constants stay. Launches follow
 * the framework's rules of layout (build_kernel.c); products and attention are laid out by the GPU that runs them. Where a batch
 * of several makes a broadcast of what was one row (a norm's weights), the kernel for strided operands runs, as in PyTorch.
 * What is not touched by the change keeps the launches it was measured with, and attention over more keys its CTAs. Nothing of the result is measured.
 * Held against two measured steps of one model at batch 1 and 16: validate/tests/unit/t_scale.c.
 *
 * Experts: those that a batch is expected to pick, each in ops as those measured (scale_experts.c).
 *
 * Refused (ERR_CONFIG): steps without attention, prompts, layers that look at different lengths (windows), tables of ops, ops
 * known by their time alone, caches that are no whole rows of keys or values; another batch where experts are not groups of
 * ops one after the other; and attention written out, where the context changes. */
#ifndef NPUSIM_SIM_BUILD_SCALE_H
#define NPUSIM_SIM_BUILD_SCALE_H

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "workloads/op.h"

struct scale_step {
	uint64_t batch, context; /* sequences; tokens in the cache before the step */
	uint32_t skew;           /* of another batch's picks, as in build.h; thousandths, 0: even */
};

/* `to`: 0 is as it was. `was` says what that is. The tables of `out` live in `a`, names and weights in `from` too. */
int scale_stream(const struct op_stream *from, struct scale_step to, struct arena *a, struct op_stream *out,
                 struct scale_step *was, struct err *e);

#endif
