#include "workloads/experts.h"

uint32_t experts_hit(uint32_t experts, uint32_t top, uint64_t tokens)
{
	double miss = 1, base;

	if (!experts || top >= experts)
		return experts;
	base = 1 - (double)top / experts;
	for (uint64_t n = tokens; n; n /= 2) {
		miss *= n & 1 ? base : 1;
		base *= base;
	}
	return (uint32_t)((1 - miss) * experts + 0.5);
}

struct experts_tile experts_tile_of(uint64_t tokens)
{
	return (struct experts_tile){ .rows = tokens <= 32    ? 16
		                              : tokens <= 96  ? 32
		                              : tokens <= 512 ? 64
		                                              : 128,
		                      .outputs = tokens <= 64 ? 64 : 128,
		                      .threads = tokens <= 128 ? 128 : 256 };
}

struct experts_tile experts_tile_of_blocks(uint64_t tokens)
{
	return (struct experts_tile){ .rows = tokens <= 64 ? 16 : 64, .outputs = 128, .threads = 128 };
}
