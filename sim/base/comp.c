#include "sim/base/comp.h"

const char *res_name(enum res r)
{
	static const char *const names[] = { "dram",   "l2",     "l1",       "kv",         "sram",
		                             "noc",    "link",   "dma",      "gemv",       "matrix",
		                             "vector", "fusion", "dispatch", "dependency", "host" };

	return (unsigned)r < RES_COUNT ? names[r] : "?";
}
