/* gpu_geometry.h - the launches a GPU's libraries would make for an op, where no trace of that device says.
 *
 * Products: every tile the library has for the device's generation, with k whole and split, is timed by the machine's
 * own closed form, and the fastest is taken: what a library's heuristic aims at. Where it was seen to split k less often
 * than would be best, a rule says so (gpu_geometry.c, cuts_k). fp8 products go by a table of tokens and outputs, as vLLM
 * dispatches them. One row of 16-bit operands is a GEMV kernel where there are no wgmma products
 * (the DeepSeek-OCR profile of an RTX 5090 has gemvx kernels there, traces/rtx5090). Attention with few queries:
 * FlashAttention 2's split-KV kernel; heads that share keys are rows of one tile, and the keys are split where that fills
 * the SMs. Over paged keys: FlashAttention 3 on Hopper, TensorRT-LLM's kernel on data-centre Blackwell, elsewhere, of an
 * algorithm that splits in any case, FlashInfer's and Triton's kernels, as vLLM plans them; or whose the op says
 * (gpu_geometry_attend.c).
 * Everything else keeps what the trace says: PyTorch's grids follow from the op's elements and rows, not from the
 * device; ops that have no launches get those rules here.
 * Leaves out: what a library knows from timing its kernels on the device; workspace limits; batched products' tricks.
 * A product in a format that the device's tensor cores do not take is refused, in one line.
 * Sources: tile names in profiles of cuBLAS 12 and CUTLASS 3 on sm_80 to sm_120; Dao-AILab/flash-attention 2
 * csrc/flash_attn (block sizes, when keys are split); vllm-project/vllm csrc/libtorch_stable/quantization/w8a8/cutlass
 * (fp8 tiles). */
#ifndef NPUSIM_ARCH_GPU_GPU_GEOMETRY_H
#define NPUSIM_ARCH_GPU_GPU_GEOMETRY_H

#include "arch/gpu/gpu_work.h"

#define GEOMETRY_LAUNCHES 2

/* Launches of one op; `at[k].name` is a kernel's as a profiler would show it. */
struct geometry {
	uint32_t n;
	struct op_launch at[GEOMETRY_LAUNCHES];
	struct kernel kernel[GEOMETRY_LAUNCHES];
};

/* False: no rule for this op. */
bool gpu_geometry_of(const struct gpu *g, const struct kernels *k, const struct op_stream *s, const struct op *o,
                     struct geometry *out);
/* Into how many parts FlashAttention 2 splits `blocks` tiles of keys when there are `ctas` without splitting. */
uint32_t gpu_geometry_kv_splits(uint64_t ctas, uint32_t sms, uint64_t blocks);
/* Was this stream traced on another device than `g`, or on none, or is the geometry of some launches not known? Then
 * not all of its launches are what would run here. */
bool gpu_geometry_foreign(const struct gpu *g, const struct op_stream *s);
/* The stream for this device and its launches, ready to be moved: products and attention are laid out anew, as is what
 * has no launches; the others keep theirs. Measured times stay with an op's first launch. */
int gpu_geometry_work(const struct gpu *g, const struct kernels *k, const struct op_stream *s, struct arena *a,
                      struct op_stream *out, struct gpu_work *w, struct err *e);

#endif
