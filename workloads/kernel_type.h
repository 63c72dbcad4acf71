/* kernel_type.h - number formats in a kernel's name: template arguments ("CUDAFunctor_add<c10::BFloat16>"), words
 * ("ampere_bf16_s16816gemm"), letters ("nvjet_sm90_tst").
 *
 * What a name says is what the kernel computes with. Where it converts as it loads (PyTorch's LoadWithCast), operands in
 * memory may be of other formats, and only `out` of a copy is sure. cuDNN's attention says "f16" of either half format. */
#ifndef NPUSIM_WORKLOADS_KERNEL_TYPE_H
#define NPUSIM_WORKLOADS_KERNEL_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "workloads/dtype.h"

#define KERNEL_TYPES 4

struct kernel_type {
	enum dtype in[KERNEL_TYPES]; /* of operands in the call's order; one stands for all */
	uint32_t n_in;               /* 0: the name does not say */
	enum dtype out;              /* DT_NONE: the name does not say */
	uint32_t bytes;              /* of an element, where that is all the name says; 0 */
	bool casts;                  /* operands in memory may differ from `in` */
};

struct kernel_type kernel_type(const char *name);

#endif
