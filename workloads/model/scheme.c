/* scheme.c - the formats and schemes, a row each. */
#include "workloads/model/scheme.h"

#include <string.h>

#include "sim/base/str.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct scheme_format formats[] = {
	{ .name = "own" },
	{ .name = "fp8", .dtype = DT_FP8, .stored = QUANT_FP8 },
	{ .name = "fp8_block", .dtype = DT_FP8, .tile_bytes = 4, .stored = QUANT_FP8 },
	{ .name = "int8", .dtype = DT_INT8, .row_bytes = 4, .stored = QUANT_INT8 },
	{ .name = "int4", .dtype = DT_INT4, .row_bytes = 2 },
	{ .name = "int4_g128", .dtype = DT_INT4, .block = 128, .block_bits = 8 * 66, .stored = QUANT_INT4 },
	{ .name = "int4_g128_64", .dtype = DT_INT4, .block = 128, .block_bits = 8 * 72 },
	{ .name = "nvfp4", .dtype = DT_FP4, .block = 16, .block_bits = 8 * 9, .stored = QUANT_NVFP4 },
	{ .name = "mxfp4", .dtype = DT_FP4, .block = 32, .block_bits = 8 * 17, .stored = QUANT_MXFP4 },
	{ .name = "bfp8_b", .dtype = DT_FP8, .block = 16, .block_bits = 8 * 17, .stored = QUANT_BFP8_B },
	{ .name = "bfp4_b", .dtype = DT_FP4, .block = 16, .block_bits = 8 * 9, .stored = QUANT_BFP4_B },
	{ .name = "q4_0", .dtype = DT_INT4, .block = 32, .block_bits = 8 * 18 },
	{ .name = "q4_1", .dtype = DT_INT4, .block = 32, .block_bits = 8 * 20 },
	{ .name = "q5_0", .dtype = DT_INT8, .block = 32, .block_bits = 8 * 22 },
	{ .name = "q8_0", .dtype = DT_INT8, .block = 32, .block_bits = 8 * 34 },
	{ .name = "q2_k", .dtype = DT_INT4, .block = 256, .block_bits = 8 * 84 },
	{ .name = "q3_k", .dtype = DT_INT4, .block = 256, .block_bits = 8 * 110 },
	{ .name = "q4_k", .dtype = DT_INT4, .block = 256, .block_bits = 8 * 144 },
	{ .name = "q5_k", .dtype = DT_INT8, .block = 256, .block_bits = 8 * 176 },
	{ .name = "q6_k", .dtype = DT_INT8, .block = 256, .block_bits = 8 * 210 },
};

/* Embedding, router and head stay as the model has them. */
#define LAYERS(f) \
	{ \
		[SCHEME_ATTENTION] = f, [SCHEME_LATENT] = f, [SCHEME_KV_B] = f, [SCHEME_VALUE] = f, [SCHEME_OUT] = f, \
		[SCHEME_MLP] = f, [SCHEME_DOWN] = f, [SCHEME_EXPERT] = f, [SCHEME_EXPERT_DOWN] = f \
	}
/* All but the router; llama.cpp stores the head in six bits. */
#define GGML(f, head) \
	{ \
		[SCHEME_EMBED] = f, [SCHEME_ATTENTION] = f, [SCHEME_LATENT] = f, [SCHEME_KV_B] = f, \
		[SCHEME_VALUE] = f, [SCHEME_OUT] = f, [SCHEME_MLP] = f, [SCHEME_DOWN] = f, [SCHEME_EXPERT] = f, \
		[SCHEME_EXPERT_DOWN] = f, [SCHEME_HEAD] = head \
	}

/* As LAYERS, and the head; the embedding is a table that the CPU reads a row of. */
#define RKLLM(f) \
	{ \
		[SCHEME_ATTENTION] = f, [SCHEME_LATENT] = f, [SCHEME_KV_B] = f, [SCHEME_VALUE] = f, [SCHEME_OUT] = f, \
		[SCHEME_MLP] = f, [SCHEME_DOWN] = f, [SCHEME_EXPERT] = f, [SCHEME_EXPERT_DOWN] = f, [SCHEME_HEAD] = f \
	}

static const struct scheme schemes[] = {
	{ "bf16", "16 bits, as the model comes (bf16 or fp16)", { NULL }, DT_NONE, NULL, NULL },
	{ "fp8", "fp8 weights and activations, a scale a tensor", LAYERS("fp8"), DT_FP8, NULL, NULL },
	{ "fp8_block", "the same, a scale for 128 x 128 weights: DeepSeek-V3", LAYERS("fp8_block"), DT_FP8, NULL,
	  NULL },
	{ "w8a8", "int8 weights and activations, a scale a row", LAYERS("int8"), DT_INT8, NULL, NULL },
	{ "w8a16", "int8 weights, a scale a row; 16-bit activations", LAYERS("int8"), DT_NONE, NULL, NULL },
	{ "w4a16", "int4 weights, a scale a row; 16-bit activations", LAYERS("int4"), DT_NONE, NULL, NULL },
	{ "w4a16_g128", "int4 weights, a 16-bit scale for 128; 16-bit activations", LAYERS("int4_g128"), DT_NONE, NULL,
	  NULL },
	{ "nvfp4", "fp4 weights and activations, an fp8 scale for 16", LAYERS("nvfp4"), DT_FP4, NULL, NULL },
	{ "nvfp4a16", "the same, 16-bit activations: where nothing multiplies fp4", LAYERS("nvfp4"), DT_NONE, NULL,
	  NULL },
	{ "nvfp4_moe",
	  "the same but attention's first products: DeepSeek-R1-NVFP4-v2",
	  { [SCHEME_OUT] = "nvfp4",
	    [SCHEME_MLP] = "nvfp4",
	    [SCHEME_DOWN] = "nvfp4",
	    [SCHEME_EXPERT] = "nvfp4",
	    [SCHEME_EXPERT_DOWN] = "nvfp4" },
	  DT_FP4,
	  NULL,
	  NULL },
	{ "mxfp4", "fp4 weights and activations, an 8-bit scale for 32", LAYERS("mxfp4"), DT_FP4, NULL, NULL },
	{ "mxfp4a16", "the same, 16-bit activations: where nothing multiplies fp4", LAYERS("mxfp4"), DT_NONE, NULL,
	  NULL },
	{ "mxfp4_moe",
	  "fp4 experts with 16-bit activations, as gpt-oss comes",
	  { [SCHEME_EXPERT] = "mxfp4", [SCHEME_EXPERT_DOWN] = "mxfp4" },
	  DT_NONE,
	  NULL,
	  NULL },
	{ "bfp8_b", "tt-metal's bfp8_b weights: an exponent for 16; the head too", RKLLM("bfp8_b"), DT_NONE, NULL,
	  NULL },
	{ "bfp4_b_mlp",
	  "the same with an MLP's first products in bfp4_b",
	  { [SCHEME_ATTENTION] = "bfp8_b",
	    [SCHEME_VALUE] = "bfp8_b",
	    [SCHEME_OUT] = "bfp8_b",
	    [SCHEME_MLP] = "bfp4_b",
	    [SCHEME_DOWN] = "bfp8_b",
	    [SCHEME_EXPERT] = "bfp4_b",
	    [SCHEME_EXPERT_DOWN] = "bfp8_b",
	    [SCHEME_HEAD] = "bfp8_b" },
	  DT_NONE,
	  NULL,
	  NULL },
	{ "q4_0", "llama.cpp's Q4_0", GGML("q4_0", "q6_k"), DT_NONE, NULL, NULL },
	{ "q8_0", "llama.cpp's Q8_0", GGML("q8_0", "q8_0"), DT_NONE, NULL, NULL },
	{ "q2_k", "llama.cpp's Q2_K: values and an MLP's last product in 3 bits", GGML("q2_k", "q6_k"), DT_NONE, "q3_k",
	  NULL },
	{ "q4_k_s", "llama.cpp's Q4_K_S", GGML("q4_k", "q6_k"), DT_NONE, NULL, NULL },
	{ "q4_k_m", "llama.cpp's Q4_K_M: six bits where it counts most", GGML("q4_k", "q6_k"), DT_NONE, "q6_k", NULL },
	{ "q5_k_m", "llama.cpp's Q5_K_M: six bits where it counts most", GGML("q5_k", "q6_k"), DT_NONE, "q6_k", NULL },
	{ "q6_k", "llama.cpp's Q6_K", GGML("q6_k", "q6_k"), DT_NONE, NULL, NULL },
	{ "rkllm_w8a8", "Rockchip's w8a8: the head too", RKLLM("int8"), DT_INT8, NULL, NULL },
	{ "rkllm_w4a16", "Rockchip's w4a16: the head too", RKLLM("int4"), DT_NONE, NULL, NULL },
	{ "rkllm_w4a16_g128", "Rockchip's w4a16_g128: the head too, 64 bits of scale for 128", RKLLM("int4_g128_64"),
	  DT_NONE, NULL, NULL },
};

const struct scheme *scheme_table(size_t *n)
{
	*n = COUNT(schemes);
	return schemes;
}

const struct scheme *scheme_find(const char *name, struct err *e)
{
	const char *names[COUNT(schemes)], *near;
	struct str list = STR_INIT;

	for (size_t i = 0; i < COUNT(schemes); i++) {
		if (strcmp(name, schemes[i].name) == 0)
			return &schemes[i];
		names[i] = schemes[i].name;
	}
	for (size_t i = 0; i < COUNT(schemes); i++)
		str_addf(&list, "%s%s", i ? ", " : "", names[i]);
	near = str_nearest(name, names, COUNT(schemes));
	err_set(e, ERR_USAGE, "unknown quantisation '%s'%s%s%s: %s", name, near ? "; did you mean '" : "",
	        near ? near : "", near ? "'?" : "", str_c(&list));
	str_free(&list);
	return NULL;
}

/* As llama.cpp's use_more_bits: the first and last eighth of the layers, and every third between. */
static bool more_bits(int32_t layer, uint32_t layers)
{
	const uint32_t i = (uint32_t)layer, eighth = layers / 8;

	return layer >= 0 && (i < eighth || i >= 7 * layers / 8 || (i - eighth) % 3 == 2);
}

static struct scheme_at at_of(const struct scheme *q, enum scheme_class c, int32_t layer)
{
	return q->at[(layer + 1) * (int)SCHEME_CLASSES + (int)c];
}

const struct scheme_format *scheme_format_of(const struct scheme *q, enum scheme_class c, int32_t layer,
                                             uint32_t layers)
{
	const char *name = q->format[c];

	if (q->at)
		return at_of(q, c, layer).format;
	if (q->more && (c == SCHEME_VALUE || c == SCHEME_DOWN || c == SCHEME_EXPERT_DOWN) && more_bits(layer, layers))
		name = q->more;
	for (size_t i = 1; name && i < COUNT(formats); i++)
		if (strcmp(name, formats[i].name) == 0)
			return &formats[i];
	return &formats[0];
}

bool scheme_same_layers(const struct scheme *q, int32_t i, int32_t k, uint32_t layers)
{
	for (int c = 0; c < SCHEME_CLASSES; c++)
		if (scheme_format_of(q, (enum scheme_class)c, i, layers) !=
		            scheme_format_of(q, (enum scheme_class)c, k, layers) ||
		    scheme_math(q, (enum scheme_class)c, i, DT_NONE) !=
		            scheme_math(q, (enum scheme_class)c, k, DT_NONE))
			return false;
	return true;
}

static uint64_t scheme_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

uint64_t scheme_bytes(const struct scheme_format *f, enum dtype own, uint64_t n, uint64_t k)
{
	uint64_t row = scheme_up(
		f->block ? scheme_up(k, f->block) * f->block_bits : k * dtype_bits(f->dtype ? f->dtype : own), 8);

	return n * (row + f->row_bytes) + scheme_up(n, 128) * scheme_up(k, 128) * f->tile_bytes;
}

enum dtype scheme_math(const struct scheme *q, enum scheme_class c, int32_t layer, enum dtype own)
{
	if (q->at)
		return at_of(q, c, layer).math ? at_of(q, c, layer).math : own;
	return q->format[c] && q->math ? q->math : own;
}

enum dtype scheme_kv(const char *name, struct err *e)
{
	static const struct {
		const char *name;
		enum dtype dtype;
	} all[] = {
		{ "bf16", DT_BF16 }, { "fp16", DT_FP16 }, { "fp8", DT_FP8 }, { "int8", DT_INT8 }, { "int4", DT_INT4 }
	};

	for (size_t i = 0; i < COUNT(all); i++)
		if (strcmp(name, all[i].name) == 0)
			return all[i].dtype;
	err_set(e, ERR_USAGE, "unknown format '%s' of the KV cache: bf16, fp16, fp8, int8 or int4", name);
	return DT_NONE;
}
