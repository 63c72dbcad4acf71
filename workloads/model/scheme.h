/* scheme.h - quantisation schemes: how the weights of each class are stored, and what products are computed in.
 *
 * A format stores blocks of weights along k in so many bytes, scales and minima included; a scale for each row of
 * outputs, or for each tile of rows and k, comes on top. A scheme gives each class of weights a format, the k-quants by
 * layer as llama.cpp mixes them. `math` is what products multiply: the activations' format, or their own where they are
 * quantised too (fp8, w8a8, nvfp4, mxfp4).
 * Sources: vLLM's quantisation docs (what stays 16-bit: embedding, router, head, norms); OCP Microscaling 1.0 (mxfp4: 32
 * values, an 8-bit scale); NVIDIA's nvfp4 (16 values, an fp8 scale); llama.cpp ggml-common.h (blocks of the k-quants) and
 * src/llama-quant.cpp (which layers get more bits).
 * A checkpoint may mix formats by layer and part as it likes: its own scheme has a table (`at`, see model_quant.c).
 * Leaves out: a second scale a tensor. */
#ifndef NPUSIM_WORKLOADS_MODEL_SCHEME_H
#define NPUSIM_WORKLOADS_MODEL_SCHEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "workloads/quant.h"

/* SCHEME_VALUE and SCHEME_DOWN: the value projection and the MLP's last product, which k-quants store in more bits.
 * SCHEME_LATENT and SCHEME_KV_B: latent attention's products into a rank, and of keys and values out of it. */
/* clang-format off */
enum scheme_class { SCHEME_EMBED, SCHEME_ATTENTION, SCHEME_LATENT, SCHEME_KV_B, SCHEME_VALUE, SCHEME_OUT, SCHEME_MLP,
                   SCHEME_DOWN, SCHEME_EXPERT, SCHEME_EXPERT_DOWN, SCHEME_ROUTER, SCHEME_HEAD, SCHEME_CLASSES };
/* clang-format on */

struct scheme_format {
	const char *name;
	enum dtype dtype;           /* of a weight, scales aside; DT_NONE: the model's */
	uint32_t block, block_bits; /* weights along k, and their bits; 0: by dtype */
	uint32_t row_bytes;         /* a row of outputs more */
	uint32_t tile_bytes;        /* 128 x 128 weights more */
	enum quant stored;          /* as streams say it; QUANT_AS_TRACED: by dtype alone */
};

/* A class of weights in one layer: how it is stored, and what its products multiply (DT_NONE: the model's own). */
struct scheme_at {
	const struct scheme_format *format;
	enum dtype math;
};

struct scheme {
	const char *name, *help;
	const char *format[SCHEME_CLASSES]; /* names; NULL: the model's own */
	enum dtype math;                    /* DT_NONE: the model's own */
	const char *more;                   /* format of what gets more bits; NULL: nothing does */
	const struct scheme_at *at;         /* instead of these: all classes outside the layers, then of each layer */
};

/* NULL, with the nearest name and the list in the error. */
const struct scheme *scheme_find(const char *name, struct err *e);
const struct scheme *scheme_table(size_t *n);
/* Of a class in a layer (-1: outside the layers) of so many. */
const struct scheme_format *scheme_format_of(const struct scheme *q, enum scheme_class c, int32_t layer,
                                             uint32_t layers);
/* Whether all of two layers is stored, and multiplied, alike. */
bool scheme_same_layers(const struct scheme *q, int32_t i, int32_t k, uint32_t layers);
/* Bytes of n rows of k weights; `own` is the model's number format. */
uint64_t scheme_bytes(const struct scheme_format *f, enum dtype own, uint64_t n, uint64_t k);
/* What a product of that class multiplies. */
enum dtype scheme_math(const struct scheme *q, enum scheme_class c, int32_t layer, enum dtype own);
/* Of the KV cache by name (bf16, fp16, fp8, int8); DT_NONE with the error set. */
enum dtype scheme_kv(const char *name, struct err *e);

#endif
