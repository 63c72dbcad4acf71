/* gpu_geometry_reduce.c - the launch that PyTorch gives a reduction, for ops of which no launch is known.
 *
 * Threads of a CTA lie along what is contiguous in memory: along the row that is summed, or across results where the summed
 * dimension is not the innermost. Where a thread would still take many values, the CTA's other threads share the row too; where
 * that leaves many and the grid does not fill the GPU, several CTAs share a result, and the last of them adds the parts. So the
 * sum of a whole tensor fills the GPU. Limits: at::native's Reduce.cuh (PyTorch 2.x), 512 threads a CTA.
 *
 * Leaves out: results that are vectorised across, and reductions over several dimensions with gaps between them. */
#include "arch/gpu/gpu_geometry_int.h"

#define THREADS     512
#define WARP        32
#define VECTOR      16  /* bytes that a thread loads at once along a row */
#define FEW_VALUES  16  /* of a thread: fewer are not divided further */
#define MANY_VALUES 256 /* of a thread: more are divided, and may be over CTAs */

/* The largest power of two not above n, and not above `most`, which is one. */
static uint64_t power_below(uint64_t n, uint64_t most)
{
	uint64_t p = 1;

	while (p * 2 <= n && p < most)
		p *= 2;
	return p;
}

void gpu_geometry_reduce(const struct gpu *g, const struct kernels *k, const struct op *o, struct geometry *out)
{
	const uint64_t rows = o->shape.rows ? o->shape.rows : 1, cols = o->shape.cols ? o->shape.cols : 1,
		       bytes = ps_max(1, dtype_bytes(o->dtype, 1)), vector = ps_max(1, VECTOR / bytes);
	const bool along = !o->shape.strided;
	/* x: along memory, y: across. */
	const uint64_t x = along ? (cols > vector ? cols / vector : cols) : rows, y = along ? rows : cols,
		       height = power_below(y, THREADS / power_below(x, WARP)),
		       width = power_below(x, THREADS / height);
	const uint64_t sm_threads = ps_max(1, g->cfg->sm.threads),
		       target = g->sms * ps_max(1, sm_threads / (width * height));
	uint64_t values = along ? div_up(cols, width) : cols, ctas = along ? rows : div_up(rows, width), parts = 1;
	const bool shared = values >= height * FEW_VALUES || values >= MANY_VALUES; /* the row, by the CTA's y */

	if (shared)
		values = div_up(values, height);
	else if (along)
		ctas = div_up(rows, height);
	if (shared && values >= MANY_VALUES && ctas <= target)
		parts = ps_max(ps_min(div_up(target, ctas), div_up(values, FEW_VALUES)), div_up(values, MANY_VALUES));
	out->n = 0;
	gpu_geometry_put(out, k, o, op_traits[o->kind].kernel, (struct grid){ ctas, parts, 1, (uint32_t)width });
	out->at[0].block[1] = (uint32_t)height;
	out->at[0].registers = 32;
	/* Where threads of a CTA join their sums. */
	out->at[0].smem_dynamic = width * height > WARP ? (uint32_t)(width * height * sizeof(float)) : 16;
}
