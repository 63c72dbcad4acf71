/* gpu_stream.c - see the head of arch/gpu.h. */
#include "arch/gpu.h"

const struct cfg_field gpu_stream_schema[] = { CFG_END };

void gpu_stream(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	gpu_plain(g, l, t);
}
