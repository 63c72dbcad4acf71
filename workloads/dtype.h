/* dtype.h - number formats: one row each. */
#ifndef NPUSIM_WORKLOADS_DTYPE_H
#define NPUSIM_WORKLOADS_DTYPE_H

#include <stdint.h>

/* X(ID, name, bits, format in which products of it are summed). TF32 is stored as FP32 and multiplied with 10 mantissa bits;
 * a BOOL is a byte, as frameworks store it. */
/* clang-format off */
#define DTYPE_ROWS(X) \
	X(NONE,  none,   0, NONE)  X(FP64,  fp64,  64, FP64)  X(FP32,  fp32,  32, FP32)  X(TF32, tf32, 32, FP32) \
	X(BF16,  bf16,  16, FP32)  X(FP16,  fp16,  16, FP32)  X(FP8,   fp8,    8, FP32) \
	X(INT64, int64, 64, INT64) X(INT32, int32, 32, INT32) X(INT16, int16, 16, INT16) X(INT8, int8, 8, INT32) \
	X(BOOL,  bool,   8, BOOL)  X(INT4,  int4,   4, INT32) X(FP4,   fp4,    4, FP32)

#define DTYPE_ID(id, name, bits, sum) DT_##id,
enum dtype { DTYPE_ROWS(DTYPE_ID) DTYPES };
#undef DTYPE_ID
/* clang-format on */

uint32_t dtype_bits(enum dtype d);
static inline uint64_t dtype_bytes(enum dtype d, uint64_t elems)
{
	return (elems * dtype_bits(d) + 7) / 8;
}
const char *dtype_name(enum dtype d);              /* "bf16" */
enum dtype dtype_accumulates(enum dtype d);        /* in which products of it are summed */
enum dtype dtype_parse(const char *name);          /* our names; DT_NONE when unknown */
enum dtype dtype_from_framework(const char *name); /* "c10::BFloat16", "long int", ...; DT_NONE when unknown */
const char *dtype_to_framework(enum dtype d);      /* one of those names, "" of what no framework has */

#endif
