/* quant.h - how a tensor's values are stored narrower than they were traced: the format of a value, and its scales.
 *
 * Plain data. A scale belongs to `group` neighbouring values along the reduction (k), or to a whole row of it. Bytes are
 * those of values and scales together; zero points and scales of scales (nvfp4's one a tensor) are left out.
 * Sources: nvfp4, mxfp4: OCP Microscaling Formats 1.0 and NVIDIA's NVFP4 note (an e4m3 scale for 16 values, an e8m0 one
 * for 32); bfp8_b, bfp4_b: tt-metal's block formats, an exponent of 8 bits for 16 values; int4: a 16-bit scale for 128 values, as GPTQ and AWQ checkpoints come; 8 bits: a 16-bit scale a row. */
#ifndef NPUSIM_WORKLOADS_QUANT_H
#define NPUSIM_WORKLOADS_QUANT_H

#include "workloads/dtype.h"

/* X(ID, name, format of a value, values a scale (0: a row), bits of a scale) */
/* clang-format off */
#define QUANTS(X) \
	X(AS_TRACED, as_traced, NONE, 0,   0)  X(BF16,     bf16,     BF16, 0,  0)  X(FP16,     fp16,     FP16, 0, 0) \
	X(FP8,       fp8,       FP8,  0,   16) X(FP8_E4M3, fp8_e4m3, FP8,  0,  16) X(FP8_E5M2, fp8_e5m2, FP8,  0, 16) \
	X(INT8,      int8,      INT8, 0,   16) X(INT4,     int4,     INT4, 128, 16) \
	X(FP4,       fp4,       FP4,  32,  8)  X(NVFP4,    nvfp4,    FP4,  16, 8)  X(MXFP4,    mxfp4,    FP4,  32, 8) \
	X(BFP8_B,    bfp8_b,    FP8,  16,  8)  X(BFP4_B,   bfp4_b,   FP4,  16, 8)

#define QUANT_ID(id, name, dtype, group, scale) QUANT_##id,
enum quant { QUANTS(QUANT_ID) QUANT_COUNT };
#undef QUANT_ID
/* clang-format on */

const char *quant_name(enum quant q);
enum dtype quant_dtype(enum quant q); /* of a value; DT_NONE: as traced */
uint32_t quant_group(enum quant q);   /* values a scale; 0: a row */
/* `values` of them, a scale to every `group`; 0: none has one. */
uint64_t quant_bytes(enum quant q, uint64_t values, uint64_t group);

#endif
