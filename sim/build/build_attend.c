/* build_attend.c - attention itself, by the algorithm that is asked for (attend.h), or the one that style and phase have. */
#include "sim/build/build_int.h"

#define COMBINED  2    /* fp32 beside a part's sums, each row: a maximum and a sum */
#define WARP_COLS 1024 /* of a row that PyTorch's softmax keeps in a warp */

/* Of a prompt: cuDNN's kernel as an H200 runs it, 128 queries a CTA (traces/h200). */
static void prompt_launch(struct builder *b, const struct attend *x)
{
	const uint64_t grid[3] = { (x->q_len + 127) / 128 * x->heads * x->batch, 1, 1 };

	if (!for_npu(b))
		b_launch(
			b,
			"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1x1_kernel0_0",
			grid, 384, 1, 168);
}

/* What of a cache is looked at: of one with room for more, the part that is filled. */
static struct part looked_at(struct builder *b, uint32_t cache, const struct attend *x, uint64_t dim)
{
	struct part p = all_of(cache);
	const uint64_t want = b_bytes(b_tensor(b, cache)->dtype, x->batch * x->kv_len * x->kv_heads * dim);

	if (want < b_tensor(b, cache)->bytes)
		p.touched = want;
	return p;
}

/* In what keys or values are multiplied: as they are cached where that is 8 bits. */
static enum dtype math_of(struct builder *b, uint32_t keys)
{
	const enum dtype kv = b_tensor(b, keys)->dtype;

	return dtype_bits(kv) == 8 ? kv : b->m->dtype;
}

/* --- one op ------------------------------------------------------------------------------------------------------- */

static struct op_shape build_attend_shape_of(const struct builder *b, const struct attend *x)
{
	return (struct op_shape){ .batch = x->batch,
		                  .heads = x->heads,
		                  .kv_heads = x->kv_heads,
		                  .q_len = x->q_len,
		                  .kv_len = x->kv_len,
		                  .head_dim = x->dim,
		                  .v_dim = x->v_dim,
		                  .causal = x->causal && x->q_len > 1,
		                  .paged = b->h->style == BUILD_FUSED };
}

/* Where results go: among all groups' rows, or into a tensor of their own. */
static uint32_t result(struct builder *b, const struct attend *x)
{
	return x->into != NO_TENSOR ? x->into : b_make(b, b->m->dtype, x->batch * x->q_len * x->heads * x->v_dim);
}

/* Where an engine has one call for all of a step's queries, those of sequences that decode are beside prompts'. */
static bool beside_prompts(const struct builder *b)
{
	for (uint32_t i = 0; b->h->mixed && i < b->n_groups; i++)
		if (b->groups[i].tokens > 1)
			return true;
	return false;
}

static uint32_t one_op(struct builder *b, const struct attend *x, enum op_attn algorithm)
{
	const enum dtype own = b->m->dtype;
	const uint32_t y = result(b, x);
	struct op *o = b_op(b, B_ATTENTION, math_of(b, x->k), own);

	o->shape = build_attend_shape_of(b, x);
	o->algorithm = algorithm;
	o->library = b->h->library;
	o->mixed = x->q_len == 1 && o->shape.paged && beside_prompts(b);
	b_read(b, b_of_group(b, x->q));
	b_read(b, looked_at(b, x->k, x, x->dim));
	if (x->v != x->k)
		b_read(b, looked_at(b, x->v, x, x->v_dim));
	b_read_table(b);
	b_write(b, b_of_group(b, all_of(y)));
	if (x->q_len > 64)
		prompt_launch(b, x);
	else
		k_unknown(b, b_rows[B_ATTENTION].kernel);
	return y;
}

/* --- parts of the keys -------------------------------------------------------------------------------------------- */

/* Keys [from, from + n) of each sequence of a cache. */
static struct part some_keys(struct builder *b, uint32_t cache, const struct attend *x, uint64_t dim, uint64_t from,
                             uint64_t n)
{
	const struct op_tensor *t = b_tensor(b, cache);
	/* Where both are one tensor, a row is as wide as that has it. */
	const uint64_t row = x->k == x->v ? t->bytes / (x->batch * x->kv_len) : b_bytes(t->dtype, x->kv_heads * dim),
		       room = t->bytes / (x->batch * (row ? row : 1));
	struct part p = { .tensor = cache, .offset = from * row };

	p.bytes = ((x->batch - 1) * room + n) * row;
	p.touched = x->batch * n * row;
	return p;
}

static uint32_t one_part(struct builder *b, const struct attend *x, uint64_t from, uint64_t n)
{
	const uint32_t y = b_make(b, DT_FP32, x->batch * x->q_len * x->heads * (x->v_dim + COMBINED));
	struct op *o = b_op(b, B_ATTENTION, math_of(b, x->k), DT_FP32);

	o->shape = build_attend_shape_of(b, x);
	o->shape.kv_len = n;
	o->algorithm = OP_ATTN_SPLIT_KV;
	b_read(b, b_of_group(b, x->q));
	b_read(b, some_keys(b, x->k, x, x->dim, from, n));
	if (x->v != x->k)
		b_read(b, some_keys(b, x->v, x, x->v_dim, from, n));
	b_read_table(b);
	b_write(b, all_of(y));
	return y;
}

static uint32_t in_parts(struct builder *b, const struct attend *x)
{
	const uint64_t parts = attend_parts(x->q_len, x->kv_len), rows = x->batch * x->q_len * x->heads;
	uint32_t sums[ATTEND_PARTS], y;

	if (parts == 1 || !for_npu(b))
		return one_op(b, x, x->q_len == 1 ? OP_ATTN_SPLIT_KV : OP_ATTN_FLASH);
	for (uint64_t i = 0; i < parts; i++) {
		const uint64_t from = attend_part_from(x->kv_len, parts, i);

		sums[i] = one_part(b, x, from, attend_part_from(x->kv_len, parts, i + 1) - from);
	}
	b_op(b, B_COMBINE, DT_FP32, b->m->dtype)->shape = (struct op_shape){ .rows = rows * x->v_dim, .cols = parts };
	y = result(b, x);
	for (uint64_t i = 0; i < parts; i++)
		b_read(b, all_of(sums[i]));
	b_write(b, b_of_group(b, all_of(y)));
	return y;
}

/* --- scores in memory --------------------------------------------------------------------------------------------- */

/* Of each KV head the rows of its group, times keys or values. */
struct matmul {
	struct part left, right, out;
	uint64_t n, k;
};

static void build_attend_product(struct builder *b, const struct attend *x, const struct matmul *w)
{
	struct op *o = b_op(b, B_PRODUCT, math_of(b, w->right.tensor), b->m->dtype);

	o->shape = (struct op_shape){ .batch = x->batch * x->kv_heads,
		                      .m = x->heads / x->kv_heads * x->q_len,
		                      .n = w->n,
		                      .k = w->k,
		                      .strided = true };
	b_read(b, w->left);
	b_read(b, w->right);
	b_read_table(b);
	b_write(b, w->out);
	k_unknown(b, b_rows[B_PRODUCT].kernel);
}

static uint32_t softmax(struct builder *b, uint32_t scores, uint64_t rows, uint64_t cols)
{
	const enum dtype d = b->m->dtype;
	uint32_t y;

	b_op(b, B_SOFTMAX, d, d)->shape = (struct op_shape){ .rows = rows, .cols = cols };
	y = b_make(b, d, rows * cols);
	b_read(b, all_of(scores));
	b_write(b, all_of(y));
	k_rows(b,
	       cols <= WARP_COLS ? b_rows[B_SOFTMAX].kernel
	                         : "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8>",
	       rows, cols);
	return y;
}

static uint32_t written_out(struct builder *b, const struct attend *x)
{
	const uint64_t rows = x->batch * x->heads * x->q_len;
	const uint32_t scores = b_make(b, b->m->dtype, rows * x->kv_len);
	uint32_t shares, y;

	build_attend_product(b, x,
	                     &(struct matmul){ b_of_group(b, x->q), looked_at(b, x->k, x, x->dim), all_of(scores),
	                                       x->kv_len, x->dim });
	shares = softmax(b, scores, rows, x->kv_len);
	y = result(b, x);
	build_attend_product(b, x,
	                     &(struct matmul){ all_of(shares), looked_at(b, x->v, x, x->v_dim),
	                                       b_of_group(b, all_of(y)), x->v_dim, x->kv_len });
	return y;
}

/* --- which --------------------------------------------------------------------------------------------------------- */

uint32_t b_attend(struct builder *b, struct attend x)
{
	switch (b->h->attend) {
	case ATTEND_FLASH:
		return one_op(b, &x, OP_ATTN_FLASH);
	case ATTEND_SPLIT_KV:
		return in_parts(b, &x);
	case ATTEND_MATERIALISED:
		return written_out(b, &x);
	default:
		return one_op(b, &x, x.q_len == 1 && b->h->style == BUILD_FUSED ? OP_ATTN_SPLIT_KV : OP_ATTN_FLASH);
	}
}
