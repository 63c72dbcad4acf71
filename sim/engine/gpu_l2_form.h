/* gpu_l2_form.h - what a GPU's L2 makes of its launches' bytes, in closed form: no events, and equal layers once.
 *
 * Models: the L2 by the tags of some of its sets (analytic_sample.h). A stream whose ops repeat, period by period (layers
 * of a model, or two or more that alternate), is moved through it for its first periods and its last; those between find
 * what the last of the first found. What a layer finds is its own doing once nothing older than the one before it is in
 * the L2: so periods are left out only where those that are left out move several times its capacity.
 * Leaves out: write blocks and eager write-back, what analytic_sample.h does, differences between equal layers.
 * How far it is from events is measured: validate/tests/unit/t_gpu_forms.c. */
#ifndef NPUSIM_SIM_ENGINE_GPU_L2_FORM_H
#define NPUSIM_SIM_ENGINE_GPU_L2_FORM_H

#include "arch/gpu/gpu_work.h"
#include "arch/mem/l2.h"

/* Ops [first, first + times * period) are `times` periods of as many ops that are alike; times 0: nothing repeats. */
struct gpu_l2_form_repeats {
	uint32_t first, period, times;
};
struct gpu_l2_form_repeats gpu_l2_form_repeats(const struct op_stream *s, struct arena *a, struct err *e);

/* As gpu_work_run. */
int gpu_l2_form(struct gpu_work *w, const struct l2_cfg *l2, bool warm, struct arena *a, struct err *e);

#endif
