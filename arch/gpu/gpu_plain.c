/* gpu_plain.c - kernels nothing is known of: one dependent step, bytes over bandwidth, instructions over the issue rate, and
 * multiply-adds over the tensor cores', which none does more of. */
#include "arch/gpu/gpu_form.h"
#include "workloads/work.h"

void gpu_plain(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	struct gpu_grid x = gpu_grid_of(g, l);
	struct work w = work_of(l->stream, l->op);

	t->start = gpu_step(g, &l->mem) * (l->kernel.start ? l->kernel.start : 1);
	t->memory = gpu_memory_time(g, &l->mem);
	t->pipe = gpu_issue_time(g, (w.alu + w.sfu) * (l->kernel.instructions ? l->kernel.instructions : 10), x.sms);
	if (l->nth + 1 != l->count && l->kernel.moves != KERNEL_MOVES_ALL)
		t->pipe = 0;
	else if (w.macs && l->count == 1)
		t->pipe = ps_max(t->pipe, gpu_math_time(g, dtype_bits(l->op->dtype) > 16 ? DT_TF32 : l->op->dtype,
		                                        w.macs, x.sms));
}
