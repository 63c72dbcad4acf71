/* build_vision.c - the encoders of a picture as DeepSeek-OCR has them: SAM with windows and relative positions, its neck and
 * two strided convolutions, CLIP on what these give, a projector to the decoder's width.
 *
 * Convolutions are products over their patches, with the copy that lays the patches out where they overlap. A window layer
 * pads its picture to whole windows and works on these, padding included. Relative positions are two products of queries
 * with a table's rows, whose sum over all pairs is added to the scores: eager and fused have it as a tensor of its own, as
 * PyTorch does; on an NPU it is added where the scores are.
 * CLIP's step is held against a capture (validate/tests/unit/t_build.c); SAM was never measured by us.
 * Source: github.com/deepseek-ai/DeepSeek-OCR deepencoder.py; facebookresearch/segment-anything modeling/image_encoder.py.
 * Leaves out: resizing positions to other picture sizes, CLIP's quick form of gelu (one op here as in the capture). */
#include "sim/build/build_int.h"

static uint64_t build_vision_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

/* A product with a bias, as all of an encoder's are; no scheme narrows them. */
static uint32_t linear(struct builder *b, uint32_t x, uint64_t m, uint64_t n, uint64_t k, const char *name)
{
	const enum dtype d = b->m->dtype;
	const uint32_t w = b_there(b, OP_WEIGHT, d, b_bytes(d, n * k), 1, name);
	struct op *o = b_op(b, B_PRODUCT, d, d);
	uint32_t y;

	o->shape = (struct op_shape){ .batch = 1, .m = m, .n = n, .k = k, .strided = true };
	y = b_make(b, d, m * n);
	b_read(b, all_of(x));
	b_read(b, all_of(w));
	b_read(b, all_of(b_vector(b, n, "bias")));
	b_write(b, all_of(y));
	k_unknown(b, b_rows[B_PRODUCT].kernel);
	return y;
}

static uint32_t build_vision_move(struct builder *b, uint32_t x, uint64_t n)
{
	const enum dtype d = b->m->dtype;
	const uint32_t y = b_make(b, d, n);

	b_op(b, B_PATCH, d, d)->shape = (struct op_shape){ .elems = n, .strided = true };
	b_read(b, all_of(x));
	b_write(b, all_of(y));
	k_flat(b, "void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda>", n, 512, 128);
	return y;
}

static uint32_t plus(struct builder *b, uint32_t x, uint32_t y, uint64_t n)
{
	return b_each(b, B_ADD, n, false, all_of(x), all_of(y));
}

/* SAM's picture comes out of a convolution and keeps its order, channel by channel, through every sum, while blocks work
 * place by place: 32 neighbours of a sum's second operand, and of what a norm lays out for itself before, lie in 32
 * sectors. */
static void lies_apart(struct builder *b)
{
	if (!b->failed && !for_npu(b))
		b->s->ops[b->s->n_ops - 1].shape.apart = 32;
}

static uint32_t residual(struct builder *b, struct part x, struct part y, uint64_t n)
{
	const uint32_t sum = b_each(b, B_ADD, n, !for_npu(b), x, y);

	lies_apart(b);
	return sum;
}

static uint32_t block_norm(struct builder *b, uint32_t x, uint64_t rows, uint64_t width, const char *name)
{
	if (!for_npu(b)) {
		x = build_vision_move(b, x, rows * width);
		lies_apart(b);
	}
	return b_layer_norm(b, x, rows, width, true, name);
}

/* --- attention over a picture --------------------------------------------------------------------------------------- */

struct picture {
	uint64_t windows, tokens, side, heads, dim; /* tokens of a window: side x side, or of no square */
};

/* Queries times the rows of a table, for height and for width; both added up for every pair. */
static uint32_t relative(struct builder *b, uint32_t qkv, const struct picture *p)
{
	const enum dtype d = b->m->dtype;
	const uint64_t tokens = p->tokens, groups = p->windows * p->heads, pairs = groups * tokens * tokens;
	const uint32_t table = b_there(b, OP_WEIGHT, d, b_bytes(d, 2 * (2 * p->side - 1) * p->dim), 1, "relative");
	uint32_t parts[2], y;

	for (int i = 0; i < 2; i++) {
		struct op *o = b_op(b, B_PRODUCT, d, d);
		struct part q = all_of(qkv);

		o->shape = (struct op_shape){
			.batch = p->side, .m = groups * p->side, .n = p->side, .k = p->dim, .strided = true
		};
		q.touched = b_bytes(d, groups * tokens * p->dim);
		parts[i] = b_make(b, d, groups * tokens * p->side);
		b_read(b, q);
		b_read(b, all_of(table));
		b_write(b, all_of(parts[i]));
		k_unknown(b, b_rows[B_PRODUCT].kernel);
	}
	if (for_npu(b))
		return parts[0];
	b_op(b, B_ADD, d, d)->shape = (struct op_shape){ .elems = pairs, .arity = 2, .strided = true };
	y = b_make(b, d, pairs);
	b_read(b, all_of(parts[0]));
	b_read(b, all_of(parts[1]));
	b_write(b, all_of(y));
	k_each(b, B_ADD, pairs, d, d, true);
	return y;
}

static uint32_t looks(struct builder *b, uint32_t qkv, const struct picture *p, uint32_t bias)
{
	const enum dtype d = b->m->dtype;
	const uint64_t tokens = p->tokens, all = p->windows * tokens,
		       grid[3] = { build_vision_up(tokens, 128) * p->heads * p->windows, 1, 1 };
	struct part third = all_of(qkv);
	uint32_t y;

	b_op(b, B_ATTENTION, d, d)->shape = (struct op_shape){ .batch = p->windows,
		                                               .heads = p->heads,
		                                               .kv_heads = p->heads,
		                                               .q_len = tokens,
		                                               .kv_len = tokens,
		                                               .head_dim = p->dim,
		                                               .v_dim = p->dim,
		                                               .strided = true };
	y = b_make(b, d, all * p->heads * p->dim);
	third.touched = b_bytes(d, all * p->heads * p->dim);
	for (int i = 0; i < 3; i++)
		b_read(b, third);
	if (bias != NO_TENSOR)
		b_read(b, all_of(bias));
	b_write(b, all_of(y));
	if (!for_npu(b))
		b_launch(
			b,
			"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1x1_kernel0_0",
			grid, 384, 1, 168);
	return y;
}

static uint32_t mlp(struct builder *b, uint32_t x, uint64_t rows, uint64_t width, uint64_t inter)
{
	x = linear(b, x, rows, inter, width, "fc1");
	x = b_each1(b, B_GELU, rows * inter, false, all_of(x));
	return linear(b, x, rows, width, inter, "fc2");
}

/* --- SAM ---------------------------------------------------------------------------------------------------------------- */

static bool is_global(const struct model_sam *s, uint32_t layer)
{
	for (uint32_t i = 0; i < s->n_global; i++)
		if (s->global_at[i] == layer)
			return true;
	return false;
}

static uint32_t sam_layer(struct builder *b, uint32_t x, uint32_t layer, uint64_t grid)
{
	const struct model_sam *s = &b->m->sam;
	const bool global = is_global(s, layer);
	const uint64_t rows = b->h->batch * grid * grid, w = s->width, windows = build_vision_up(grid, s->window);
	const struct picture p = { .windows = b->h->batch * (global ? 1 : windows * windows),
		                   .tokens = global ? grid * grid : (uint64_t)s->window * s->window,
		                   .side = global ? grid : s->window,
		                   .heads = s->heads,
		                   .dim = w / s->heads };
	const uint64_t all = p.windows * p.tokens;
	uint32_t y = block_norm(b, x, rows, w, "norm1"), qkv;

	y = global ? y : build_vision_move(b, y, all * w);
	qkv = linear(b, y, all, 3 * w, w, "qkv");
	y = looks(b, qkv, &p, relative(b, qkv, &p));
	y = linear(b, build_vision_move(b, y, all * w), all, w, w, "proj");
	y = global ? y : build_vision_move(b, y, rows * w);
	x = residual(b, all_of(x), all_of(y), rows * w);
	y = mlp(b, block_norm(b, x, rows, w, "norm2"), rows, w, s->mlp);
	return residual(b, all_of(x), all_of(y), rows * w);
}

/* A convolution of 3 x 3: its patches laid out, then a product. */
static uint32_t conv3(struct builder *b, uint32_t x, uint64_t rows, uint64_t out, uint64_t in, const char *name)
{
	const enum dtype d = b->m->dtype;
	const uint32_t w = b_there(b, OP_WEIGHT, d, b_bytes(d, 9 * in * out), 1, name),
		       patches = build_vision_move(b, x, rows * 9 * in);
	uint32_t y;

	b_op(b, B_PRODUCT, d, d)->shape =
		(struct op_shape){ .batch = 1, .m = rows, .n = out, .k = 9 * in, .strided = true };
	y = b_make(b, d, rows * out);
	b_read(b, all_of(patches));
	b_read(b, all_of(w));
	b_write(b, all_of(y));
	k_unknown(b, b_rows[B_PRODUCT].kernel);
	return y;
}

/* Returns the features of `*side` x `*side` places, as wide as the last convolution. */
static uint32_t sam(struct builder *b, uint64_t *side)
{
	const struct model_sam *s = &b->m->sam;
	const enum dtype d = b->m->dtype;
	const uint64_t grid = (b->h->image ? b->h->image : s->image) / s->patch, rows = b->h->batch * grid * grid,
		       patch = 3 * (uint64_t)s->patch * s->patch;
	uint32_t x = b_there(b, OP_ACTIVATION, d, b_bytes(d, rows * patch), 1, "picture");
	uint64_t now = rows, from = s->neck;

	x = linear(b, build_vision_move(b, x, rows * patch), rows, s->width, patch, "patch_embed");
	x = residual(b, all_of(x), all_of(b_there(b, OP_WEIGHT, d, b_bytes(d, grid * grid * s->width), 1, "positions")),
	             rows * s->width);
	for (uint32_t i = 0; i < s->layers && !b->failed; i++) {
		b->layer = (int32_t)i;
		x = sam_layer(b, x, i, grid);
	}
	b->layer = -1;
	x = linear(b, x, rows, s->neck, s->width, "neck1");
	x = b_layer_norm(b, x, rows, s->neck, true, "neck1.norm");
	x = conv3(b, x, rows, s->neck, s->neck, "neck2");
	x = b_layer_norm(b, x, rows, s->neck, true, "neck2.norm");
	*side = grid;
	for (uint32_t i = 0; i < s->n_down; i++) {
		now /= 4;
		*side /= 2;
		x = conv3(b, x, now, s->down[i], from, i ? "down2" : "down1");
		from = s->down[i];
	}
	return x;
}

/* --- CLIP and the projector ---------------------------------------------------------------------------------------------- */

static uint32_t clip_layer(struct builder *b, uint32_t x, uint64_t tokens)
{
	const struct model_clip *c = &b->m->clip;
	const uint64_t rows = b->h->batch * tokens, w = c->width;
	const struct picture p = { .windows = b->h->batch, .tokens = tokens, .heads = c->heads, .dim = w / c->heads };
	uint32_t y = b_layer_norm(b, x, rows, w, true, "norm1");

	y = linear(b, y, rows, 3 * w, w, "qkv");
	y = looks(b, y, &p, NO_TENSOR);
	x = plus(b, x, linear(b, y, rows, w, w, "out"), rows * w);
	return plus(b, x, mlp(b, b_layer_norm(b, x, rows, w, true, "norm2"), rows, w, c->mlp), rows * w);
}

static uint32_t clip(struct builder *b, uint32_t x, uint64_t tokens)
{
	const struct model_clip *c = &b->m->clip;

	for (uint32_t i = 0; i < c->layers && !b->failed; i++) {
		b->layer = (int32_t)i;
		x = clip_layer(b, x, tokens);
	}
	b->layer = -1;
	return x;
}

static uint32_t with_class(struct builder *b, uint32_t features, uint64_t tokens)
{
	const enum dtype d = b->m->dtype;
	const uint64_t w = b->m->clip.width, rows = b->h->batch * (tokens + 1);
	const struct part members[2] = { all_of(b_vector(b, w, "class")), all_of(features) };
	uint32_t x = b_concat(b, d, rows * w, false, members, 2, NO_TENSOR);

	x = b_each(b, B_ADD, rows * w, b->h->batch > 1, all_of(x),
	           all_of(b_there(b, OP_WEIGHT, d, b_bytes(d, (tokens + 1) * w), 1, "clip.positions")));
	return b_layer_norm(b, x, rows, w, true, "clip.norm");
}

void b_vision(struct builder *b)
{
	const struct model_projector *p = &b->m->projector;
	uint64_t side, tokens, rows;
	uint32_t features, x;
	struct part members[2];

	b->layer = -1;
	b->phase = OP_PREFILL;
	features = sam(b, &side);
	tokens = side * side;
	rows = b->h->batch * tokens;
	x = clip(b, with_class(b, features, tokens), tokens + 1);
	members[0] = b_lines(b, x, b->m->clip.width, b->h->batch, rows);
	members[1] = all_of(features);
	x = b_concat(b, b->m->dtype, rows * p->in, true, members, 2, NO_TENSOR);
	linear(b, x, rows, p->out, p->in, "projector");
}
