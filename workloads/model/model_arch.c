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
	{ .type = "qwen2", .qkv_bias = true },
	{ .type = "qwen3", .head_norms = true },
	{ .type = "qwen3_moe", .head_norms = true },
	{ .type = "qwen3_vl_text", .head_norms = true },
	{ .type = "qwen3_5_text", .head_norms = true },
	{ .type = "qwen3_5_moe_text", .head_norms = true, .shared_gate = true },
	{ .type = "phi3", .joined = true },
	{ .type = "phi", .not_described = "layer norms, a parallel block and biases throughout" },
	{ .type = "gemma", .tied = true, .scaled_embed = true },
	{ .type = "gemma2", .tied = true, .scaled_embed = true, .four_norms = true },
	{ .type = "gemma3_text", .tied = true, .scaled_embed = true, .four_norms = true, .head_norms = true },
	{ .type = "gemma4_text",
	  .tied = true,
	  .scaled_embed = true,
	  .four_norms = true,
	  .head_norms = true,
	  .both = true,
	  .not_described = "how its dense MLP and its experts join, and how many experts a token picks" },
	{ .type = "gpt_oss", .expert_bias = true, .sinks = true },
	{ .type = "olmoe", .wide_norms = true },
	{ .type = "minimax_m2", .wide_norms = true, .score_bias = true },
	{ .type = "deepseek_v2" },
	{ .type = "deepseek_v3", .score_bias = true },
	{ .type = "kimi_k2", .score_bias = true },
	{ .type = "deepseek_v32",
	  .score_bias = true,
	  .not_described = "the indexer that picks the keys its attention reads" },
	{ .type = "deepseek_ocr" },
};

/* What configurations with several parts call their decoder, and older names. */
static const struct {
	const char *type, *is;
} aliases[] = {
	{ "gemma3", "gemma3_text" },          { "gemma4", "gemma4_text" },           { "qwen3_vl", "qwen3_vl_text" },
	{ "qwen3_5", "qwen3_5_text" },        { "qwen3_5_moe", "qwen3_5_moe_text" }, { "DeepseekOCR", "deepseek_ocr" },
	{ "deepseek_vl_v2", "deepseek_ocr" },
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
