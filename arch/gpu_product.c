/* gpu_product.c - see the head of arch/gpu.h. */
#include "arch/gpu.h"

const struct cfg_field gpu_product_schema[] = { CFG_END };

void gpu_product(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	gpu_plain(g, l, t);
}

void gpu_split_reduce(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	gpu_plain(g, l, t);
}

void gpu_dot(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	gpu_plain(g, l, t);
}
