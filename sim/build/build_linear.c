/* build_linear.c - gated linear attention (Gated DeltaNet): a state of fixed size a head instead of keys and values.
 *
 * A token's key reads the state, its value corrects it, its query reads it again: three passes of k_dim x v_dim
 * multiplications a head, over a state in fp32 that is read and written once a step. A prompt goes through in chunks by
 * kernels of the same kind: its state is moved once, its multiplications are counted token by token.
 * Source: S. Yang et al., Gated Delta Networks (arXiv 2412.06464); modeling_qwen3_next.py of transformers. */
#include "sim/build/build_int.h"

static uint64_t sequences(const struct builder *b)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < b->n_groups; i++)
		n += b->groups[i].batch;
	return n;
}

static uint32_t convolved(struct builder *b, uint32_t x, uint64_t width)
{
	const struct model *m = b->m;
	const uint64_t n = b->rows * width, kept = sequences(b) * width * (m->linear.conv - 1);
	const uint32_t w = b_vector(b, width * m->linear.conv, "conv");
	const uint32_t state = b_there(b, OP_KV, m->dtype, b_bytes(m->dtype, kept), 1, "conv_state");
	uint32_t y;

	b_op(b, B_CONV, m->dtype, m->dtype)->shape = (struct op_shape){ .elems = n, .arity = m->linear.conv };
	y = b_make(b, m->dtype, n);
	b_read(b, all_of(x));
	b_read(b, all_of(w));
	b_read(b, all_of(state));
	b_write(b, all_of(y));
	b_write(b, all_of(state));
	k_flat(b, b_rows[B_CONV].kernel, n, 256, 128);
	return y;
}

/* The group's sequences, each with its state. */
static void recurrence_of(struct builder *b, uint32_t qkv, uint32_t gates, uint32_t *y)
{
	const struct model_linear *l = &b->m->linear;
	const uint64_t heads = b->batch * l->v_heads, grid[3] = { (l->v_dim + 7) / 8, heads, 1 };
	const uint32_t state =
		b_there(b, OP_KV, DT_FP32, b_bytes(DT_FP32, heads * l->k_dim * l->v_dim), 1, b_group_name(b, "state"));

	b_op(b, B_STATE, DT_FP32, b->m->dtype)->shape =
		(struct op_shape){ .batch = heads, .m = 3 * b->q_len, .n = l->v_dim, .k = l->k_dim };
	if (*y == NO_TENSOR)
		*y = b_make(b, b->m->dtype, b->rows * l->v_heads * l->v_dim);
	b_read(b, b_of_group(b, all_of(qkv)));
	b_read(b, b_of_group(b, all_of(gates)));
	b_read(b, all_of(state));
	b_write(b, b_of_group(b, all_of(*y)));
	b_write(b, all_of(state));
	if (!for_npu(b))
		b_launch(b, b_rows[B_STATE].kernel, grid, 32, 1, 128);
}

static uint32_t recurrence(struct builder *b, uint32_t qkv, uint32_t gates)
{
	uint32_t y = NO_TENSOR;

	for (uint32_t g = 0; g < b->n_groups; g++) {
		b_use_group(b, g);
		recurrence_of(b, qkv, gates, &y);
	}
	b_use_group(b, 0);
	return y;
}

uint32_t b_linear(struct builder *b, uint32_t x, uint32_t layer)
{
	const struct model *m = b->m;
	const struct model_linear *l = &m->linear;
	const uint64_t keys = (uint64_t)l->k_heads * l->k_dim, values = (uint64_t)l->v_heads * l->v_dim,
		       n = b->rows * values;
	uint32_t qkv, z, gates, y;

	(void)layer; /* all are alike */
	qkv = b_product(
		b, all_of(x),
		(struct gemm){ SCHEME_ATTENTION, b->rows, 2 * keys + values, m->hidden, NO_TENSOR, "in_qkv", 0 });
	z = b_product(b, all_of(x),
	              (struct gemm){ SCHEME_ATTENTION, b->rows, values, m->hidden, NO_TENSOR, "in_z", 0 });
	gates = b_product(b, all_of(x),
	                  (struct gemm){ SCHEME_ATTENTION, b->rows, 2 * l->v_heads, m->hidden, NO_TENSOR, "in_ba", 0 });
	qkv = convolved(b, qkv, 2 * keys + values);
	y = recurrence(b, qkv, gates);
	y = b_norm(b, all_of(y), b->rows * l->v_heads, l->v_dim, "norm");
	y = b_each(b, B_MUL, n, false, all_of(y), all_of(b_each1(b, B_SILU, n, false, all_of(z))));
	return b_product(b, all_of(y), (struct gemm){ SCHEME_OUT, b->rows, m->hidden, values, NO_TENSOR, "out", 0 });
}
