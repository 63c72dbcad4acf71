/* dtype.h - number formats and their sizes in bits. */
#ifndef NPUSIM_WORKLOADS_DTYPE_H
#define NPUSIM_WORKLOADS_DTYPE_H

#include <stdint.h>

/* clang-format off */
enum dtype { DT_NONE, DT_FP64, DT_FP32, DT_TF32, DT_BF16, DT_FP16, DT_FP8, DT_INT64, DT_INT32, DT_INT16, DT_INT8,
             DT_BOOL, DT_INT4, DT_FP4, DTYPES };
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
