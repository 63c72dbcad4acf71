/* model_arch.c - the architectures: what their code does that a configuration does not say. One row a `model_type`.
 *
 * Source of each row: the model's code in Hugging Face transformers (src/transformers/models/TYPE/modeling_TYPE.py), of
 * which a configuration is the arguments; deepseek_ocr: github.com/deepseek-ai/DeepSeek-OCR. */
#include <string.h>

#include "sim/base/str.h"
#include "workloads/model/model.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct model_arch archs[] = {
	{ .type = "llama" },
	{ .type = "mistral" },
	{ .type = "mixtral" },
	{ .type = "seed_oss" },
	{ .type = "smollm3", .tied = true },
	{ .type = "internlm2" },
	{ .type = "hunyuan_v1_dense", .head_norms = true },
	{ .type = "hunyuan_v1_moe", .head_norms = true },
	{ .type = "llama4_text", .no_rope_full = true, .full_every = 4, .other = MODEL_CHUNKED, .shared = 1 },
	{ .type = "qwen2", .qkv_bias = true },
	{ .type = "qwen2_moe", .qkv_bias = true, .shared_gate = true },
	{ .type = "qwen3", .head_norms = true },
	{ .type = "qwen3_moe", .head_norms = true },
	{ .type = "qwen3_vl_text", .head_norms = true },
	{ .type = "qwen3_vl_moe_text", .head_norms = true },
	{ .type = "qwen3_next",
	  .head_norms = true,
	  .shared_gate = true,
	  .out_gate = true,
	  .full_every = 4,
	  .other = MODEL_LINEAR },
	{ .type = "qwen3_5_text", .head_norms = true },
	{ .type = "qwen3_5_moe_text", .head_norms = true, .shared_gate = true },
	{ .type = "phi3", .joined = true },
	{ .type = "phi",
	  .block = MODEL_PARALLEL,
	  .layer_norm = true,
	  .norm_bias = true,
	  .plain_mlp = true,
	  .biases = true,
	  .head_bias = true },
	{ .type = "phimoe", .layer_norm = true, .norm_bias = true, .head_bias = true },
	{ .type = "starcoder2",
	  .tied = true,
	  .layer_norm = true,
	  .norm_bias = true,
	  .plain_mlp = true,
	  .biases = true },
	{ .type = "gemma", .tied = true, .scaled_embed = true },
	{ .type = "gemma2",
	  .tied = true,
	  .scaled_embed = true,
	  .block = MODEL_AROUND,
	  .full_every = 2,
	  .other = MODEL_SLIDING },
	{ .type = "gemma3_text", .tied = true, .scaled_embed = true, .block = MODEL_AROUND, .head_norms = true },
	{ .type = "gemma4_text",
	  .tied = true,
	  .scaled_embed = true,
	  .block = MODEL_AROUND,
	  .head_norms = true,
	  .both = true,
	  .not_described = "how dense MLP and experts join, how many a token picks" },
	{ .type = "gpt_oss", .expert_bias = true, .sinks = true },
	{ .type = "granite" },
	{ .type = "granitemoe" },
	{ .type = "granitemoeshared" },
	{ .type = "olmo2", .wide_norms = true, .block = MODEL_BEHIND },
	{ .type = "olmo3", .wide_norms = true, .block = MODEL_BEHIND, .full_every = 4, .other = MODEL_SLIDING },
	{ .type = "olmoe", .wide_norms = true },
	{ .type = "exaone4", .head_norms = true, .block = MODEL_BEHIND, .no_rope_full = true },
	{ .type = "cohere", .tied = true, .block = MODEL_PARALLEL, .layer_norm = true },
	{ .type = "cohere2",
	  .tied = true,
	  .block = MODEL_PARALLEL,
	  .layer_norm = true,
	  .no_rope_full = true,
	  .full_every = 4,
	  .other = MODEL_SLIDING },
	{ .type = "glm4", .block = MODEL_AROUND, .no_out_bias = true },
	{ .type = "glm4_moe", .no_out_bias = true, .score_bias = true },
	{ .type = "ernie4_5", .tied = true },
	{ .type = "ernie4_5_moe", .tied = true, .score_bias = true },
	{ .type = "minimax_m2", .wide_norms = true, .score_bias = true },
	{ .type = "dots1", .head_norms = true, .score_bias = true },
	{ .type = "deepseek_v2" },
	{ .type = "deepseek_v3", .score_bias = true },
	{ .type = "kimi_k2", .score_bias = true },
	{ .type = "deepseek_v32", .score_bias = true, .indexed = true },
	{ .type = "glm_moe_dsa", .score_bias = true, .indexed = true },
	{ .type = "deepseek_ocr" },
};

/* What configurations with several parts call their decoder, and older names. */
static const struct {
	const char *type, *is;
} aliases[] = {
	{ "gemma3", "gemma3_text" },       { "gemma4", "gemma4_text" },
	{ "llama4", "llama4_text" },       { "mistral3", "mistral" },
	{ "qwen2_vl", "qwen2" },           { "qwen2_vl_text", "qwen2" },
	{ "qwen2_5_vl", "qwen2" },         { "qwen2_5_vl_text", "qwen2" },
	{ "qwen3_vl", "qwen3_vl_text" },   { "qwen3_vl_moe", "qwen3_vl_moe_text" },
	{ "qwen3_5", "qwen3_5_text" },     { "qwen3_5_moe", "qwen3_5_moe_text" },
	{ "DeepseekOCR", "deepseek_ocr" }, { "deepseek_vl_v2", "deepseek_ocr" },
};

const struct model_arch *model_arch_table(size_t *n)
{
	*n = COUNT(archs);
	return archs;
}

const struct model_arch *model_arch_find(const char *type, const char **near)
{
	const char *names[COUNT(archs)];

	for (size_t i = 0; i < COUNT(aliases); i++)
		if (strcmp(type, aliases[i].type) == 0)
			type = aliases[i].is;
	for (size_t i = 0; i < COUNT(archs); i++) {
		if (strcmp(type, archs[i].type) == 0)
			return &archs[i];
		names[i] = archs[i].type;
	}
	*near = str_nearest(type, names, COUNT(archs));
	return NULL;
}
