/* dtype.c - number formats: sizes, our names, and the names frameworks use for them. */
#include "workloads/dtype.h"

#include <string.h>

#define ROW(id, name, bits, sum) { #name, bits, DT_##sum },
static const struct {
	const char *name;
	uint32_t bits;
	enum dtype sum;
} formats[DTYPES] = { DTYPE_ROWS(ROW) };

/* Prefixes, since frameworks append variants: Float8_e4m3fn, Float8_e5m2fnuz, ... */
/* clang-format off */
static const struct { const char *prefix; enum dtype d; } framework[] = {
	{ "c10::BFloat16", DT_BF16 }, { "at::BFloat16", DT_BF16 }, { "c10::Half", DT_FP16 }, { "at::Half", DT_FP16 },
	{ "c10::Float8", DT_FP8 }, { "c10::Float4", DT_FP4 }, { "c10::quint4", DT_INT4 }, { "c10::qint8", DT_INT8 },
	{ "c10::quint8", DT_INT8 }, { "c10::qint32", DT_INT32 }, { "float", DT_FP32 }, { "double", DT_FP64 },
	{ "long", DT_INT64 }, { "int", DT_INT32 }, { "short", DT_INT16 }, { "signed char", DT_INT8 },
	{ "char", DT_INT8 }, { "unsigned char", DT_INT8 }, { "unsigned short", DT_INT16 }, { "unsigned int", DT_INT32 },
	{ "unsigned long", DT_INT64 }, { "bool", DT_BOOL },
	/* of either part; who counts elements counts two (shape_args.c) */
	{ "c10::complex<float>", DT_FP32 }, { "c10::complex<double>", DT_FP64 }, { "c10::complex<c10::Half>", DT_FP16 },
};
/* clang-format on */

uint32_t dtype_bits(enum dtype d)
{
	return (unsigned)d < DTYPES ? formats[d].bits : 0;
}

const char *dtype_name(enum dtype d)
{
	return (unsigned)d < DTYPES ? formats[d].name : "none";
}

enum dtype dtype_parse(const char *name)
{
	for (int d = DT_NONE + 1; d < DTYPES; d++)
		if (strcmp(formats[d].name, name) == 0)
			return (enum dtype)d;
	return DT_NONE;
}

enum dtype dtype_from_framework(const char *name)
{
	for (size_t i = 0; i < sizeof framework / sizeof *framework; i++) {
		size_t n;

		if (*name != *framework[i].prefix)
			continue;
		n = strlen(framework[i].prefix);
		if (strncmp(name, framework[i].prefix, n) != 0)
			continue;
		/* a variant goes on with "_e4m3fn" or " int"; "int8" is another word than "int" */
		if (name[n] == '\0' || name[n] == ' ' || name[n] == '_')
			return framework[i].d;
	}
	return DT_NONE;
}

const char *dtype_to_framework(enum dtype d)
{
	for (size_t i = 0; i < sizeof framework / sizeof *framework; i++)
		if (framework[i].d == d && strcmp(framework[i].prefix, "c10::Float8") != 0)
			return framework[i].prefix;
	return d == DT_FP8 ? "c10::Float8_e4m3fn" : "";
}

enum dtype dtype_accumulates(enum dtype d)
{
	return (unsigned)d < DTYPES ? formats[d].sum : d;
}
