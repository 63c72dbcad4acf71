#include "arch/isa.h"

const char *isa_code_name(enum isa_code c)
{
	static const char *const names[] = { "load", "store",   "gemv",    "gemm",  "vector",      "reduce",
		                             "sfu",  "convert", "gather",  "sort",  "fused_begin", "fused_end",
		                             "sync", "send",    "receive", "launch" };

	return (unsigned)c < ISA_CODES ? names[c] : "?";
}
