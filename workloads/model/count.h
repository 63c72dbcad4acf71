/* count.h - parameters, bytes and operations of a model in closed form: what no run needs and every run must agree with.
 *
 * Parameters are those of a checkpoint: tied embeddings once, encoders too as far as they are counted, layers that predict
 * further tokens left out (model_mtp_params has those). A token's
 * operations are two a parameter that multiplies it (embedding rows multiply nothing) and, for each key it looks at, two
 * a dimension of its queries and of its values. Bytes a token at batch 1: all weights it multiplies, the KV cache it
 * looks at, and the row it adds. MLA is counted absorbed: keys and values are the latent; an
 * indexer reads a key of its own of every token.
 * Leaves out: activations, norms' and rope's arithmetic, the encoders of pictures but in their own sum. */
#ifndef NPUSIM_WORKLOADS_MODEL_COUNT_H
#define NPUSIM_WORKLOADS_MODEL_COUNT_H

#include "sim/base/str.h"
#include "workloads/model/model.h"
#include "workloads/model/scheme.h"

struct model_params {
	uint64_t embed, head, attention, mlp, experts, shared, router, norms, vision, total;
	uint64_t active; /* that a token of text passes: picked experts only, the embedding's one row left out */
};

struct model_token {
	uint64_t flops, attention_flops; /* the second is a part of the first */
	uint64_t weight_bytes, kv_bytes; /* read */
	uint64_t kv_row_bytes;           /* added to the cache */
};

void model_params_of(const struct model *m, struct model_params *p);
/* Parameters of one layer's attention, whatever its kind, norms of heads included. */
uint64_t model_attention_params(const struct model *m, uint32_t layer);
uint64_t model_sam_params(const struct model *m);
uint64_t model_clip_params(const struct model *m);
/* Of the layers that predict further tokens, the shared embedding and head left out. */
uint64_t model_mtp_params(const struct model *m);
/* What of the checkpoint is in no step: towers, layers that predict further tokens. Nothing where there is none. */
void model_left_out_text(const struct model *m, struct str *to);
/* Bytes of the whole checkpoint, and of the KV cache of one token in all layers that have one. */
uint64_t model_weight_bytes(const struct model *m, const struct scheme *q);
uint64_t model_kv_bytes(const struct model *m, enum dtype kv);
/* Fixed state of a sequence in layers of linear attention. */
uint64_t model_state_bytes(const struct model *m);
/* A token decoded behind `context` others. Its top experts must be known. */
void model_token_of(const struct model *m, const struct scheme *q, enum dtype kv, uint64_t context,
                    struct model_token *t);

#endif
