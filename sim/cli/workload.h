/* workload.h - a workload from a model's description: the options that several commands have in common. */
#ifndef NPUSIM_SIM_CLI_WORKLOAD_H
#define NPUSIM_SIM_CLI_WORKLOAD_H

#include "sim/build/build.h"
#include "sim/cli/cmd.h"
#include "sim/workload/part.h"

/* As given on the command line; NULL and 0: the default. */
struct workload_opts {
	const char *model, *phase, *quant, *kv, *style, *attention, *skew;
	uint64_t batch, context, tokens, layers, experts, image;
};

#define WORKLOAD_MODEL_HELP \
	"the workload: a model by its description, no trace; a name of 'npusim workload list', a file like those in" \
	" workloads/models, or a Hugging Face config.json"
#define WORKLOAD_PHASE_HELP \
	"decode (default): one more token for each sequence; prefill: a prompt; vision: the encoders of a picture"
#define WORKLOAD_BATCH_HELP   "sequences side by side; 1 by default"
#define WORKLOAD_CONTEXT_HELP "the tokens in the cache before; of a model 1024 by default, of a prompt none"
#define WORKLOAD_TOKENS_HELP \
	"prefill: new tokens of each sequence, 512 by default; decode: tokens one after the other while the cache grows, 1 by" \
	" default"
#define WORKLOAD_QUANT_HELP \
	"how the weights are stored and products computed: bf16, fp8, w8a8, w4a16_g128, nvfp4, q4_k_m, ...;" \
	" 'npusim workload list --quant' has them all. By default as the model comes"
#define WORKLOAD_KV_HELP "format of the KV cache; by default as the model's activations"
#define WORKLOAD_STYLE_HELP \
	"which ops: eager, the kernels a framework launches; fused, those of an inference engine; npu, what the mapper takes best;" \
	" llamacpp, those of llama.cpp of May 2024, llamacpp_fa of 2025 with -fa (one sequence, decode); rkllm, those of Rockchip's runtime, where all rides with products." \
	" npu by default, and fused on a GPU's configuration"
#define WORKLOAD_ATTENTION_HELP \
	"the algorithm of attention: flash, tiles of keys past blocks of queries; split_kv, keys in parts that a combine joins;" \
	" materialised, scores in memory; mla, over the cached latent of a model that has one. By default as the style has it;" \
	" 'npusim workload attend' has operations, bytes and buffers of each"
#define WORKLOAD_LAYERS_HELP  "so many of the model's layers are on this chip; all by default"
#define WORKLOAD_EXPERTS_HELP "so many of each layer's experts are on this chip; all by default"
#define WORKLOAD_IMAGE_HELP \
	"vision: pixels of a picture's side, as many pictures as '--batch' says; by default what the model's encoder is made" \
	" for. DeepSeek-OCR takes 512 (tiny), 640 (small, and the crops of a large page), 1024 (base) and 1280 (large)"
#define WORKLOAD_SKEW_HELP \
	"how unevenly tokens pick experts: the i-th likeliest with a chance as i^-S, 0 to 4; 0 by default: evenly"

/* The rows of an option table. */
#define WORKLOAD_ROWS(w) \
	{ 'm', "model", OPT_READ, &(w).model, "MODEL", WORKLOAD_MODEL_HELP }, \
		{ 0, "phase", OPT_TEXT, &(w).phase, "decode|prefill|vision", WORKLOAD_PHASE_HELP }, \
		WORKLOAD_SHAPE_ROWS(w)
#define WORKLOAD_SHAPE_ROWS(w) \
	{ 0, "batch", OPT_COUNT, &(w).batch, "B", WORKLOAD_BATCH_HELP }, \
		{ 0, "tokens", OPT_COUNT, &(w).tokens, "T", WORKLOAD_TOKENS_HELP }, \
		{ 0, "quant", OPT_TEXT, &(w).quant, "SCHEME", WORKLOAD_QUANT_HELP }, \
		{ 0, "kv", OPT_TEXT, &(w).kv, "bf16|fp16|fp8|int8", WORKLOAD_KV_HELP }, \
		{ 0, "style", OPT_TEXT, &(w).style, "eager|fused|npu|llamacpp|llamacpp_fa|rkllm", WORKLOAD_STYLE_HELP }, \
		{ 0, "attention", OPT_TEXT, &(w).attention, "flash|split_kv|materialised|mla", WORKLOAD_ATTENTION_HELP }, \
		{ 0, "layers", OPT_COUNT, &(w).layers, "N", WORKLOAD_LAYERS_HELP }, \
		{ 0, "experts", OPT_COUNT, &(w).experts, "N", WORKLOAD_EXPERTS_HELP }, \
		{ 0, "image", OPT_COUNT, &(w).image, "PIXELS", WORKLOAD_IMAGE_HELP }, \
	{ \
		0, "skew", OPT_TEXT, &(w).skew, "S", WORKLOAD_SKEW_HELP \
	}

/* The options' meaning for a model; `style` where none is given. Checked on their own, not against the model. */
int workload_how(const struct model *m, const struct workload_opts *o, enum build_style style, struct build_how *how,
                 struct err *e);
/* The whole way: reads the model, builds its stream. The model is freed by model_free whether this fails or not. */
int workload_stream(const struct workload_opts *o, enum build_style style, struct arena *a, struct model **m,
                    struct build_how *how, struct op_stream *s, struct err *e);
/* The same where a trace would stand: `t` says what it is called, and holds the stream's memory; there is nothing measured. */
struct workload {
	struct model *model; /* NULL: none was read */
	struct build_how how;
	struct str text;
};
int workload_read(const struct workload_opts *o, bool gpu, struct workload *w, struct cmd_trace *t, struct op_stream *s,
                  struct err *e);
void workload_free(struct workload *w);
/* What of the model is on this chip; a trace is whole. */
struct workload_part workload_part(const struct workload *w);
/* A trace or a model, and no option that is of the other; `rebatch`: a trace too may be asked at another batch. */
int workload_check(const struct workload_opts *o, const char *trace, const char *range, bool rebatch, struct err *e);
/* "0.8", in thousandths; *out stays where there is none. */
int workload_skew(const char *s, uint32_t *out, struct err *e);
/* What of a model's ops was never held against a measured figure, on any machine or, of a GPU, on this kind; NULL: all were. */
const char *workload_unknown(const struct model *m, const struct build_how *how, bool gpu);
/* An option of a workload that makes no sense without '-m', in the user's words; NULL: there is none. */
const char *workload_stray(const struct workload_opts *o);
/* "decode, batch 1, 1024 tokens in the cache, bf16, fused" */
void workload_text(const struct build_how *how, struct str *out);

cmd_fn cmd_workload_build, cmd_workload_attend;

#endif
