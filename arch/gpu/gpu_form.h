/* gpu_form.h - the closed forms: each fills in the parts of a launch's time that its way of laying out the work decides.
 *
 * `launch` holds launch and CTAs when a form is called. A form that leaves `body` 0 has it made of chain, memory and
 * pipe; what a launch takes at the least is seen to by gpu_time. */
#ifndef NPUSIM_ARCH_GPU_GPU_FORM_H
#define NPUSIM_ARCH_GPU_GPU_FORM_H

#include "arch/gpu/gpu_math.h"

typedef void gpu_form(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t);
#define X(form, name, time, least, what) gpu_form time;
KERNEL_FORM_ROWS(X)
#undef X

#endif
