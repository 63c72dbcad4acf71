#include "workloads/quant.h"

#define ROW(id, name, dtype, group, scale) [QUANT_##id] = { #name, DT_##dtype, group, scale },
static const struct {
	const char *name;
	enum dtype dtype;
	uint16_t group, scale_bits;
} quants[] = { QUANTS(ROW) };
_Static_assert(sizeof quants / sizeof *quants == QUANT_COUNT, "a row for every way to store");

const char *quant_name(enum quant q)
{
	return (unsigned)q < QUANT_COUNT ? quants[q].name : "?";
}

enum dtype quant_dtype(enum quant q)
{
	return (unsigned)q < QUANT_COUNT ? quants[q].dtype : DT_NONE;
}

uint32_t quant_group(enum quant q)
{
	return (unsigned)q < QUANT_COUNT ? quants[q].group : 0;
}

uint64_t quant_bytes(enum quant q, uint64_t values, uint64_t group)
{
	const uint64_t scales = group ? (values + group - 1) / group * quants[q].scale_bits : 0;

	return (values * dtype_bits(quants[q].dtype) + scales + 7) / 8;
}
