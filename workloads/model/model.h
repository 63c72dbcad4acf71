/* model.h - a model as its configuration describes it: dimensions, kinds of layers, what stands in them (L3: plain data).
 *
 * Read from a file of ours (workloads/models/NAME.yaml, first key `model: 1`, whose keys are checked) or from a Hugging
 * Face config.json as it is (keys of no interest are passed over). Both use the names of that format, and `model_type`
 * picks the row of the table of architectures (model_arch.c) that says what a config leaves unsaid: biases, norms,
 * whether embeddings are tied.
 *
 * Described: decoders with norms before, behind or around attention and MLP, or both blocks beside each other, with
 * multi-head, grouped and multi-query attention, latent attention (MLA), sliding windows or chunks in some or all layers,
 * gated linear attention (Gated DeltaNet), MLPs with and without a gate, routed and shared experts in some or all layers,
 * multipliers; state spaces (Mamba, Mamba-2) and short convolutions in some or all layers, layers of one block; and the
 * encoders of DeepSeek-OCR. Not described: encoder-decoders.
 * What a file does not say is 0 here, and whoever needs it fails with its key's name (model_need). */
#ifndef NPUSIM_WORKLOADS_MODEL_MODEL_H
#define NPUSIM_WORKLOADS_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/source.h"
#include "workloads/dtype.h"

#define MODEL_MAX_LAYERS 1024
#define MODEL_MAX_DIM    (1u << 20) /* of any width, count of heads or experts */
#define MODEL_MAX_VOCAB  (1u << 24)

/* What mixes tokens in a layer: attention of some kind, linear attention, a state space, a short convolution, nothing. */
/* clang-format off */
enum model_layer { MODEL_FULL, MODEL_SLIDING, MODEL_LINEAR, MODEL_CHUNKED, MODEL_MAMBA, MODEL_CONV, MODEL_NOTHING };
/* clang-format on */
/* Of which kind a family's layers without attention are: Mamba has a state a channel, Mamba-2 one a head. */
enum model_ssm_kind { MODEL_SSM_NONE, MODEL_SSM_CHANNELS, MODEL_SSM_HEADS, MODEL_SSM_CONV };
/* Where a layer's norms stand: before attention and MLP, around each, behind each, or one before both beside each
 * other, or one before each of these. */
enum model_block { MODEL_BEFORE, MODEL_AROUND, MODEL_BEHIND, MODEL_PARALLEL, MODEL_PARALLEL_TWO };
enum model_act { MODEL_SILU, MODEL_GELU, MODEL_RELU, MODEL_RELU2 /* its square */, MODEL_XIELU };

/* What `model_type` says and a configuration does not. */
struct model_arch {
	const char *type;
	bool tied;       /* embeddings, where the file is silent */
	bool qkv_bias;   /* queries, keys and values have biases */
	bool head_norms; /* a norm over each head of queries and keys */
	bool wide_norms; /* the same, over all heads together */
	enum model_block block;
	bool layer_norm, norm_bias; /* norms take the mean away; and add a bias */
	bool plain_mlp;             /* no gate: up, activation, down */
	bool biases, head_bias;     /* every product of a layer has a bias; that of the vocabulary */
	bool mlp_biases;            /* only those of the MLP */
	bool bare_norm, embed_norm; /* norms have no weights; there is one behind the embedding */
	enum model_act act;         /* where the file is silent */
	bool no_rope;               /* nothing rotates */
	uint32_t positions; /* positions are learned: rows of that table beyond the longest context, and one; 0: none */
	bool one_kv;        /* a single head of keys and values, where multi_query is not false */
	bool half_rotary;   /* half of a head rotates */
	bool half_inter;    /* intermediate_size is of gate and up together */
	uint32_t inter_times;      /* an MLP is so many times as wide as the model, where the file is silent */
	enum model_ssm_kind ssm;   /* of its layers without attention (model_ssm.c) */
	bool plain_linear;         /* linear attention with fixed decays: no convolution, no products of gates */
	bool rank_gates;           /* gates of linear attention come through a rank, a head's width */
	bool beside_ssm;           /* a state space beside attention in each layer */
	bool all_state;            /* no attention, no MLP */
	bool scan_norms;           /* norms of what goes into the scan */
	bool v_of_hidden;          /* of latent attention's values, too: hidden_size over heads */
	bool no_out_bias;          /* attention_bias is of queries, keys and values alone */
	bool out_gate;             /* attention's results are weighed, where the file is silent */
	bool no_rope_full;         /* in layers that look at everything heads do not rotate */
	uint32_t full_every;       /* one layer in so many looks at everything, the others ... */
	enum model_layer other;    /* ... are such; 0: the file says which */
	uint32_t shared;           /* shared experts, where no key counts them */
	bool scaled_embed;         /* rows of the embedding are multiplied */
	bool expert_bias;          /* biases in router and experts */
	bool sinks;                /* a learned logit a head beside the keys */
	bool score_bias;           /* the router adds a learned bias to choose, not to weigh */
	bool shared_gate;          /* shared experts are weighed by a gate of one output */
	bool both;                 /* a dense MLP beside the experts in every layer */
	bool indexed;              /* an indexer picks the keys that attention reads */
	bool joined;               /* q, k and v one product, gate and up another, in the framework's own code */
	const char *not_described; /* what stands in its layers and in no key; NULL: nothing that matters */
};

struct scheme;
struct model_quant;

struct model_mla {
	uint32_t q_rank, kv_rank, nope, rope, v; /* q_rank 0: queries are one product; kv_rank 0: no MLA */
};

/* Sparse attention: each query reads the `top` keys that an indexer picks. top 0: there is none. */
struct model_index {
	uint32_t heads, dim, top;
};

struct model_moe {
	uint32_t experts, top, inter, shared_inter; /* shared_inter: of all shared experts together */
	bool in[MODEL_MAX_LAYERS];                  /* layers that have experts */
};

struct model_linear {
	uint32_t k_heads, v_heads, k_dim, v_dim, conv;
};

/* Of Mamba, inner channels are heads of one. */
struct model_ssm {
	uint32_t heads, head_dim, groups, state, conv, expand, rank, inner;
	bool by_channel, conv_bias, proj_bias, no_norm; /* no_norm: none before the last product */
	bool wide;                                      /* its state is in fp32 */
};

/* SAM, CLIP, projector, as DeepSeek-OCR has them; width 0: there are none. */
struct model_sam {
	uint32_t width, layers, heads, patch, image, mlp, window, n_global, global_at[64], neck, down[4], n_down;
};
struct model_clip {
	uint32_t width, layers, heads, mlp, patch, image;
};
struct model_projector {
	uint32_t in, out;
};

/* An encoder beside the decoder that no step runs (model_tower.c). */
#define MODEL_TOWERS 4
struct model_tower {
	const char *what;
	uint64_t params; /* 0: not counted */
};

struct model {
	const char *name, *path, *source;
	const struct model_arch *arch;
	uint32_t hidden, layers, heads, kv_heads, head_dim, inter, vocab, context;
	uint32_t full_head_dim, full_kv_heads; /* of layers that are MODEL_FULL, where those differ */
	bool k_is_v;                           /* in full layers keys are values: one product */
	uint32_t rotary;                       /* dimensions of a head that rotate */
	uint32_t window;                       /* keys of a sliding layer, or of a chunk */
	uint8_t layer[MODEL_MAX_LAYERS];       /* enum model_layer */
	bool bare[MODEL_MAX_LAYERS];           /* a layer has no MLP and no experts */
	bool tied, qkv_bias, out_bias, mlp_bias, out_gate, norm_top, softcap, final_softcap, head_norms;
	bool scale_embed, scale_block, scale_logits; /* multiplied: the embedding, what a block gives, logits */
	enum model_block block;
	bool no_rope;
	uint32_t positions; /* rows of a table of learned positions; 0: none */
	enum model_act act;
	enum dtype dtype;
	struct model_mla mla;
	struct model_index index;
	struct model_moe moe;
	struct model_linear linear;
	struct model_ssm ssm;
	struct model_sam sam;
	struct model_clip clip;
	struct model_projector projector;
	const struct scheme *scheme;        /* that its weights come in */
	const char *quant, *kv;             /* its name, and that of its cache's format; NULL: as `dtype` */
	const char *quant_words, *kv_words; /* what the file says instead, where that is not understood; NULL */
	struct model_quant *checkpoint;     /* a scheme of its own; NULL */
	uint64_t published;                 /* parameters, as the publisher counts them; 0: not known */
	const char *published_by;
	uint32_t mtp_layers; /* further layers that predict tokens ahead: in no step here */
	struct model_tower towers[MODEL_TOWERS];
	uint32_t n_towers;
	char own_name[96];
	void *memory; /* of all texts */
};

/* A name of a shipped model ("llama-3.1-8b"), a path, or a folder with a config.json. NULL with the error set: exit code 4 where there is no such
 * file, 3 where it is no model. */
struct model *model_load(const char *name_or_path, struct err *e);
struct model *model_load_from(const struct source *from, const char *name_or_path, struct err *e);
struct model *model_parse(const char *text, size_t n, const char *name, struct err *e);
void model_free(struct model *m);

/* The file of a shipped one, where no file of that name is here. */
bool model_shipped(const char *name, char *path, unsigned size);
/* Names of the shipped ones, sorted, into `out`; whoever called frees each and the array. */
int model_list(char ***out, size_t *n, struct err *e);
int model_list_from(const struct source *from, char ***out, size_t *n, struct err *e);
void model_list_free(char **names, size_t n);

/* The row of an architecture; NULL, and the nearest one's name in `near`, where there is none. */
const struct model_arch *model_arch_find(const char *type, const char **near);
const struct model_arch *model_arch_table(size_t *n);

/* Bytes of a token's key in an indexer's cache: FP8, a float for 128 values. */
static inline uint64_t model_index_row(const struct model *m)
{
	return m->index.top ? m->index.dim + 4 * ((m->index.dim + 127) / 128) : 0;
}
/* Heads of one layer, whatever its kind. */
struct model_heads {
	uint32_t heads, kv_heads, dim, v_dim;
};
struct model_heads model_heads_of(const struct model *m, uint32_t layer);
bool model_has_experts(const struct model *m, uint32_t layer);
bool model_has_mlp(const struct model *m, uint32_t layer);
/* Whether a layer looks at keys, or has a state instead. */
bool model_has_keys(const struct model *m, uint32_t layer);
bool model_has_state(const struct model *m, uint32_t layer);
/* Whether a layer has a state space or a short convolution, beside attention or in its place. */
bool model_has_ssm(const struct model *m, uint32_t layer);
/* Whether any layer has a state, or all of two have the same parts. */
bool model_has_states(const struct model *m);
bool model_same_layers(const struct model *m, uint32_t i, uint32_t k);
/* Channels that a layer's convolution goes over; rows of its first product. */
uint64_t model_ssm_width(const struct model *m);
uint64_t model_ssm_rows(const struct model *m);
/* Whether a layer looks at a window or a chunk only. */
bool model_windowed(const struct model *m, uint32_t layer);

/* Keys that each of `fresh` new tokens behind `old` ones looks at. Not causal: all look at as many, in the mean. */
struct model_seen {
	uint64_t keys;
	bool causal;
};
struct model_seen model_seen(const struct model *m, uint32_t layer, uint64_t old, uint64_t fresh);

#endif
