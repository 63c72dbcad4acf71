/* build.h - from a model to an op stream: what a trace gives, made without one.
 *
 * A stream is one phase: `decode` adds one token to each of `batch` sequences of `context` tokens, `tokens` times over;
 * `prefill` takes `tokens` new tokens a sequence behind `context` cached ones; `vision` encodes `batch` pictures of the
 * model's size; `step` is a server's: groups of sequences side by side, some with a token or a few to check, some with a
 * piece of a prompt. All groups' rows go through products, norms and experts together; each group has its own part of the
 * cache and its own attention, as engines launch it, and as many rows of logits as it asks for: all of tokens that are
 * checked, the last of a prompt's piece. Only styles fused and npu have it. Its ops know their tensors, so nothing is inferred. Five styles:
 *   eager   the kernels a framework launches, one op each: norms and rope written out, caches grown by concatenation,
 *           experts one after the other. What we traced on an H200 (traces/h200) is the truth for these.
 *   fused   those of an inference engine: q, k and v one product, gate and up one, norm with the residual before it, rope,
 *           a write into the cache, experts grouped.
 *   npu     what the mapper wants: norms, rope and the cache's write as ops of their own, products apart, so that
 *           independent ones may run side by side.
 *   rkllm   npu's ops in an order in which all but products and attention ride with a product (configs/fusion/rkllm.yaml):
 *           each projection's norm, rope and write into the cache behind it.
 *   llamacpp  the nodes of llama.cpp's graph, a kernel each, as of May 2024; one sequence of a dense model.
 *   llamacpp_fa  the same in 2025: flash attention, norms with their gain and gates with their product in one kernel.
 * All but npu's and rkllm's ops have a launch with its kernel's name, and geometry where the framework's rules give it; products
 * and attention of few queries are laid out by the GPU that runs them (arch/gpu/gpu_geometry.h). Nothing is measured.
 * Experts: tokens pick independently and evenly. So many different ones are read as that is expected to be, and the
 * picked rows are shared out among them as evenly as they go. With `skew` they pick expert i of a layer, the likeliest
 * first, with a chance as i^-skew (at most 1): fewer different ones, and more rows for some. Which ones a run draws for a
 * route is even all the same.
 * `layers`, `experts`: how many of them are on this chip; embedding and head are on every chip.
 * `tp`, `pp`, `ep`, `dp`: the stream of one of so many chips (build_split.c), with the collectives between them; of a pipeline
 * all of its unlike stages, one behind the other, each with a stream of its own (op.h: op_stage).
 *
 * Paged caches (`block`): attention reads `entry` bytes for each block of each sequence it looks at, once a layer.
 *
 * Leaves out: sampling but for the largest logit (eager), dropout, MTP layers; within a group lengths are one: of sequences of several, the
 * mean has the same rows, keys, bytes and operations, but not the imbalance of the longest. */
#ifndef NPUSIM_SIM_BUILD_BUILD_H
#define NPUSIM_SIM_BUILD_BUILD_H

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/base/str.h"
#include "sim/build/attend.h"
#include "workloads/model/model.h"
#include "workloads/model/scheme.h"
#include "workloads/op.h"

enum build_phase { BUILD_DECODE, BUILD_PREFILL, BUILD_VISION, BUILD_STEP };
enum build_style { BUILD_EAGER, BUILD_FUSED, BUILD_NPU, BUILD_LLAMACPP, BUILD_RKLLM, BUILD_LLAMACPP_FA };

#define BUILD_MAX_BATCH  65536
#define BUILD_MAX_TOKENS (UINT64_C(1) << 24)
#define BUILD_MAX_IMAGE  8192
#define BUILD_MAX_CHIPS  1024
#define BUILD_MAX_OPS    2000000

/* Sequences of a step that are alike: each has `tokens` new ones behind `context` cached ones. */
struct build_group {
	uint32_t batch;
	uint64_t tokens, context;
	bool prompt; /* a piece of one: only its last token asks for logits, and a latent is expanded */
};

struct build_how {
	enum build_phase phase;
	enum build_style style;
	uint32_t batch;
	uint64_t context, tokens;
	const struct scheme *quant;
	enum dtype kv;
	uint32_t layers, experts;         /* on this chip; 0: all */
	uint32_t tp, pp, ep, dp, micro;   /* 0: not given (build_split_of) */
	bool part_norms;                  /* a chip of those that share a layer norms its part of the rows */
	uint32_t skew;                    /* of the picks, thousandths; 0: even */
	uint32_t image;                   /* pixels of a picture's side; 0: the encoder's own */
	const struct build_group *groups; /* of a step, whose batch, context and tokens above are not looked at */
	uint32_t n_groups;
	uint32_t block, entry;   /* tokens of a block of a paged cache, bytes of its entry; 0: the cache is one piece */
	enum attend_way attend;  /* attention's algorithm; ATTEND_OWN: as the style has it */
	enum op_library library; /* whose kernels a paged cache's attention takes (arch/gpu/gpu_geometry_attend.c) */
	bool mixed;              /* of a step with prompts by one call, those that decode, too */
};

const char *build_phase_name(enum build_phase p);
const char *build_style_name(enum build_style s);
static inline bool build_is_ggml(enum build_style s)
{
	return s == BUILD_LLAMACPP || s == BUILD_LLAMACPP_FA;
}
/* How a model is split: chips that share each layer, stages, chips that share the experts, replicas of a stage; parts of a
 * replica's batch that go through the stages one behind the other, and the sequences of each. */
struct build_split {
	uint32_t tp, pp, ep, dp, micro;
	uint32_t batch;
	bool across; /* tokens go to the replicas that have their experts */
};
struct build_split build_split_of(const struct build_how *h);
static inline uint64_t build_split_chips(const struct build_split *x)
{
	return (uint64_t)x->tp * x->pp * x->dp;
}
/* New tokens of all sequences together; of a picture 0. */
uint64_t build_tokens(const struct build_how *h);
/* Whether it can be built: what is described, known, and within the model's bounds. ERR_USAGE for what was asked,
 * ERR_CONFIG for what the model lacks. */
int build_check(const struct model *m, const struct build_how *h, struct err *e);
/* Everything lives in `a`. */
int build_stream(const struct model *m, const struct build_how *h, struct arena *a, struct op_stream *out,
                 struct err *e);

/* The stream as a table of ops: CSV whose header begins with `op,`, a line an op, which other commands read. */
void build_table(const struct op_stream *s, struct str *out);

#endif
