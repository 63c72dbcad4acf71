/* build_int.h - a stream while it is built; for sim/build only.
 *
 * Functions that add something cannot fail on their own: the first that has no memory marks the builder, and all do
 * nothing from there on (I1); build_stream looks at the end. */
#ifndef NPUSIM_SIM_BUILD_BUILD_INT_H
#define NPUSIM_SIM_BUILD_BUILD_INT_H

#include "sim/build/build.h"

#define NO_TENSOR UINT32_MAX

/* The kinds of op that are built: a row of build_ops.c each. */
/* clang-format off */
enum bop {
	B_EMBED, B_CONVERT, B_MUL, B_SCALE, B_ADD, B_ADD_SCALAR, B_SQUARE, B_RSQRT, B_NEG, B_SILU, B_GELU, B_RELU, B_SIGMOID, B_TANH,
	B_COS, B_SIN, B_DIV, B_FILL, B_ARANGE, B_DIV_FLOOR, B_MEAN, B_SUM, B_ARGMAX, B_CONCAT, B_SOFTMAX, B_TOPK, B_SCATTER,
	B_INDEX_PUT, B_COPY, B_SORT, B_GATHER, B_HOST, B_PRODUCT, B_ROUTER, B_GROUPED, B_ATTENTION, B_LATENT, B_RMS, B_ADD_RMS,
	B_LAYER_NORM, B_ROPE, B_CACHE, B_ACT_MUL, B_GATE_TOPK, B_COMBINE, B_CONV, B_STATE, B_PATCH, B_QUANT, B_ALL_REDUCE, B_ALL_GATHER,
	B_REDUCE_SCATTER, B_ALL_TO_ALL, B_SEND, BOPS
};
/* clang-format on */

struct builder {
	const struct model *m, *whole_model; /* one chip's share; all of it */
	const struct build_how *h;
	struct build_split split;
	uint32_t from, to, layers; /* of the model's layers, those of this stage */
	struct arena *a;
	struct err *e;
	struct op_stream *s;
	size_t cap_ops, cap_tensors, cap_operands, cap_launches, cap_routes;
	bool failed;
	struct op nowhere; /* what is built once that is so (I1) */
	struct op_tensor no_tensor;

	int32_t layer;
	enum op_phase phase;
	uint64_t rows;            /* tokens of this step */
	uint64_t own_rows;        /* of the residual stream, those that this chip has */
	struct build_group whole; /* what is no step of groups: one */
	const struct build_group *groups;
	uint32_t n_groups, group;
	uint64_t done;                  /* steps before this one: each group's context is longer by so many */
	uint64_t first_row, group_rows; /* of the group's */
	uint64_t batch, q_len, kv_len, old_len,
		room;   /* its sequences; one's new tokens, all it looks at, those before; of all steps */
	uint32_t table; /* of a paged cache's blocks */
	uint32_t *outside, n_outside, cap_outside, next_outside; /* tensors that steps share, in order */
	bool again;                                              /* this is not the first step: they are there */
	uint32_t *grown, n_grown, cap_grown, next_grown;         /* caches as the step before left them */
	uint32_t cos, sin, positions;
};

/* An operand: all of a tensor where bytes is 0. */
struct part {
	uint32_t tensor;
	uint64_t offset, bytes, touched; /* touched 0: as bytes */
	uint32_t slot;
};

/* build.c: from here on a group's batch and lengths hold. */
void b_use_group(struct builder *b, uint32_t group);
/* A tensor's name, of groups beside each other the group's own. */
const char *b_group_name(struct builder *b, const char *name);
/* The group's rows of what has all rows of the step. */
struct part b_of_group(struct builder *b, struct part p);

static inline struct part all_of(uint32_t tensor)
{
	return (struct part){ .tensor = tensor };
}
/* Columns [from, from + n) of a tensor of `rows` rows of `width` elements. */
struct part b_columns(struct builder *b, uint32_t tensor, uint64_t rows, uint64_t width, uint64_t from, uint64_t n);
/* Rows [from, from + n). */
struct part b_lines(struct builder *b, uint32_t tensor, uint64_t width, uint64_t from, uint64_t n);

/* build_stream.c */
struct op *b_op(struct builder *b, enum bop what, enum dtype in, enum dtype out);
void b_read(struct builder *b, struct part p);
void b_write(struct builder *b, struct part p);
/* A tensor the stream makes. */
uint32_t b_make(struct builder *b, enum dtype d, uint64_t elems);
uint32_t b_make_role(struct builder *b, enum op_role role, enum dtype d, uint64_t elems);
/* One that is there before it; the same in every step. `instances` above 1 are experts, whose route is the last one made. */
uint32_t b_there(struct builder *b, enum op_role role, enum dtype d, uint64_t bytes, uint32_t instances,
                 const char *name);
/* What a cache that grows was grown to before: the first time `first`, which is there. Then say what it is grown to. */
uint32_t b_grown_from(struct builder *b, uint32_t first);
void b_grown_to(struct builder *b, uint32_t to);
uint32_t b_route(struct builder *b, uint32_t experts, uint32_t top);
struct op_tensor *b_tensor(struct builder *b, uint32_t t);
/* Adds a launch to the newest op. block[0] 0: laid out by the GPU that runs it. */
void b_launch(struct builder *b, const char *kernel, const uint64_t grid[3], uint32_t threads, uint32_t threads_y,
              uint32_t registers);
uint64_t b_bytes(enum dtype d, uint64_t elems);

/* build_ops.c: ops with their launches; each returns what it makes. */
struct op_row {
	enum op_kind kind;
	const char *family, *rule, *fn;
	enum op_cost cost;
	enum op_reduce reduce;
	const char *kernel; /* what stands in the kernel's name */
};
extern const struct op_row b_rows[BOPS];
/* Weights of a format, so many bytes an instance. */
uint32_t b_stored(struct builder *b, const struct scheme_format *f, uint64_t bytes, uint32_t instances,
                  const char *name);
uint32_t b_weight(struct builder *b, enum scheme_class c, uint64_t n, uint64_t k, const char *name);
uint32_t b_vector(struct builder *b, uint64_t n, const char *name); /* a gain, a bias */
struct gemm {
	enum scheme_class class;
	uint64_t m, n, k;
	uint32_t bias; /* NO_TENSOR: none */
	const char *name;
	uint64_t values; /* of the n rows, those of the value projection, which a scheme may store otherwise */
};
/* As a product multiplies them: quantised just before it, where that is not how they are. */
struct part b_quantised(struct builder *b, struct part x, enum dtype math, uint64_t elems);
uint32_t b_product(struct builder *b, struct part x, struct gemm g);
/* Elementwise over `elems`; `wide`: some operand is strided or broadcast. */
uint32_t b_each(struct builder *b, enum bop what, uint64_t elems, bool wide, struct part x, struct part y);
uint32_t b_each1(struct builder *b, enum bop what, uint64_t elems, bool wide, struct part x);
/* An MLP's activation of x; the square of relu is an op more. */
uint32_t b_activated(struct builder *b, uint64_t elems, bool wide, struct part x);
uint32_t b_to(struct builder *b, struct part x, enum dtype to, uint64_t elems);
uint32_t b_reduce(struct builder *b, enum bop what, uint64_t rows, uint64_t cols, uint32_t x, enum dtype out);
uint32_t b_concat(struct builder *b, enum dtype d, uint64_t elems, bool strided, const struct part *in, uint32_t n,
                  uint32_t to);
uint32_t b_norm(struct builder *b, struct part x, uint64_t rows, uint64_t cols, const char *name); /* by style */
/* With a gain, or with a bias, too. */
uint32_t b_layer_norm(struct builder *b, uint32_t x, uint64_t rows, uint64_t cols, bool bias, const char *name);

/* build_kernel.c: launches as the framework or the engine makes them. */
#define K_SORT_SHORT          32 /* values of a row that one network sorts */
#define K_SORT_LONG           "void at::native::radixSortKVInPlace<-2, -1, 64, 32, long, long>"
#define K_SORT_LONG_THREADS   64
#define K_SORT_LONG_REGISTERS 220
void k_each(struct builder *b, enum bop what, uint64_t elems, enum dtype in, enum dtype out, bool wide);
void k_reduce(struct builder *b, enum bop what, uint64_t rows, uint64_t cols);
void k_reduce_shape(uint64_t rows, uint64_t cols, uint64_t grid[3], uint32_t block[2]);
void k_rows(struct builder *b, const char *kernel, uint64_t rows, uint64_t cols);
void k_flat(struct builder *b, const char *kernel, uint64_t elems, uint64_t per_cta, uint32_t threads);
void k_unknown(struct builder *b, const char *kernel);
void k_concat(struct builder *b, uint64_t member_bytes, uint32_t members, bool strided);

/* build_split.c: a model over several chips. */
/* What is one chip's of a model; `m` itself where it is not split. */
const struct model *b_share(struct builder *b, const struct model *m);
int b_split_check(const struct model *m, const struct build_how *h, struct err *e);
/* Of a row of the residual stream each chip's part of a sum becomes the sum, of all rows or of a chip's own; rows of one's own
 * become all; each chip's columns become all of them. As they are where there is one chip. */
uint32_t b_summed(struct builder *b, uint32_t x);
uint32_t b_whole(struct builder *b, uint32_t x);
uint32_t b_gathered(struct builder *b, uint32_t x, uint64_t elems);
/* To the chips that have the experts, and back: `elems` that a chip has before or after, the larger; `to` that it gets. */
uint32_t b_exchanged(struct builder *b, uint32_t x, uint64_t elems, uint64_t to);
/* To the stage so many behind this one, around the end. */
void b_send(struct builder *b, uint32_t x, uint64_t elems, uint32_t stages);

/* build_stages.c: a model's stages, and a stream of all ops of those that are unlike. `one` builds a stage. */
typedef int b_stage_fn(struct builder *b);
int b_stages(const struct builder *as, b_stage_fn *one, struct op_stream *out);

/* the blocks of a layer */
uint32_t b_attention(struct builder *b, uint32_t x, uint32_t layer); /* build_attention.c: of the normed x */
uint32_t b_latent(struct builder *b, uint32_t x, uint32_t layer);    /* build_latent.c */
/* build_indexer.c: queries, keys and weights of all rows; then the keys that a group's queries read. */
struct indexer {
	uint32_t queries, keys, weights;
};
struct indexer b_indexer(struct builder *b, uint32_t x, uint32_t q_latent);
uint32_t b_index_picks(struct builder *b, struct indexer x);
/* A convolution of so many taps over each of `width` channels, of which so many tokens are kept; a scan over a state of
 * heads x n x k values a sequence. */
struct scan {
	uint32_t x, gates;
	uint64_t heads, n, k;
	enum dtype state;
	const char *kernel;
};
uint32_t b_convolved(struct builder *b, struct part x, uint64_t width, uint32_t taps, uint32_t kept);
uint32_t b_scanned(struct builder *b, struct scan s);
uint32_t b_mamba(struct builder *b, uint32_t x); /* build_mamba.c */
uint32_t b_short_conv(struct builder *b, uint32_t x);
uint32_t b_linear(struct builder *b, uint32_t x, uint32_t layer);                /* build_linear.c */
uint32_t b_mlp(struct builder *b, uint32_t x, uint64_t inter, const char *name); /* build_mlp.c */
uint32_t b_experts(struct builder *b, uint32_t x);                               /* build_experts.c */
void b_vision(struct builder *b);                                                /* build_vision.c: all of it */
/* build_ggml.c: a layer and the head in the style of llama.cpp; what that has not. */
uint32_t b_ggml_layer(struct builder *b, uint32_t x, uint32_t layer);
void b_ggml_head(struct builder *b, uint32_t x);
int b_ggml_check(const struct model *m, const struct build_how *h, struct err *e);
/* Rotates `heads` heads of each row, all or the first `rotary` dimensions. */
uint32_t b_rope(struct builder *b, struct part x, uint64_t heads, uint64_t dim);
/* build_attend.c: attention of this step's queries over k and v, which are one where values are a part of the keys. */
struct attend {
	struct part q; /* of all groups */
	uint32_t k, v;
	uint64_t batch, heads, kv_heads, q_len, kv_len, dim, v_dim;
	bool causal;
	uint32_t into; /* of all groups' rows; NO_TENSOR: it makes its own */
};
uint32_t b_attend(struct builder *b, struct attend x);
/* What attention looks up before it finds the group's keys; nothing where they are one piece. */
void b_read_table(struct builder *b);

/* build_name.c: what people call the ops */
int b_names(struct builder *b);

static inline bool eager(const struct builder *b)
{
	return b->h->style == BUILD_EAGER;
}

/* Ops without launches. */
static inline bool for_npu(const struct builder *b)
{
	return b->h->style == BUILD_NPU || b->h->style == BUILD_RKLLM;
}

#endif
