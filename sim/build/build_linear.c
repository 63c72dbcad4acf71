/* build_linear.c - linear attention (Gated DeltaNet, Kimi's, MiniMax's lightning attention): a state of fixed size a head instead of keys and values.
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

uint32_t b_convolved(struct builder *b, struct part x, uint64_t width, uint32_t taps, uint32_t kept)
{
	const struct model *m = b->m;
	const uint64_t n = b->rows * width;
	const uint32_t w = b_vector(b, width * taps, "conv");
	const uint32_t state =
		b_there(b, OP_KV, m->dtype, b_bytes(m->dtype, sequences(b) * width * kept), 1, "conv_state");
	uint32_t y;

	b_op(b, B_CONV, m->dtype, m->dtype)->shape = (struct op_shape){ .elems = n, .arity = taps };
	y = b_make(b, m->dtype, n);
	b_read(b, x);
	b_read(b, all_of(w));
	b_read(b, all_of(state));
	b_write(b, all_of(y));
	b_write(b, all_of(state));
	k_flat(b, b_rows[B_CONV].kernel, n, 256, 128);
	return y;
}

/* The group's sequences, each with its state. */
static void scan_of(struct builder *b, const struct scan *s, uint32_t *y)
{
	const uint64_t heads = b->batch * s->heads, grid[3] = { (s->n + 7) / 8, heads, 1 };
	const uint32_t state =
		b_there(b, OP_KV, s->state, b_bytes(s->state, heads * s->k * s->n), 1, b_group_name(b, "state"));

	b_op(b, B_STATE, s->state, b->m->dtype)->shape =
		(struct op_shape){ .batch = heads, .m = 3 * b->q_len, .n = s->n, .k = s->k };
	if (*y == NO_TENSOR)
		*y = b_make(b, b->m->dtype, b->rows * s->heads * s->n);
	b_read(b, b_of_group(b, all_of(s->x)));
	if (s->gates != NO_TENSOR)
		b_read(b, b_of_group(b, all_of(s->gates)));
	b_read(b, all_of(state));
	b_write(b, b_of_group(b, all_of(*y)));
	b_write(b, all_of(state));
	if (!for_npu(b))
		b_launch(b, s->kernel, grid, 32, 1, 128);
}

uint32_t b_scanned(struct builder *b, struct scan s)
{
	uint32_t y = NO_TENSOR;

	for (uint32_t g = 0; g < b->n_groups; g++) {
		b_use_group(b, g);
		scan_of(b, &s, &y);
	}
	b_use_group(b, 0);
	return y;
}

static uint32_t linear_product(struct builder *b, uint32_t x, uint64_t n, uint64_t k, const char *name)
{
	return b_product(b, all_of(x), (struct gemm){ SCHEME_ATTENTION, b->rows, n, k, NO_TENSOR, name, 0 });
}

uint32_t b_linear(struct builder *b, uint32_t x, uint32_t layer)
{
	const struct model *m = b->m;
	const struct model_linear *l = &m->linear;
	const uint64_t keys = (uint64_t)l->k_heads * l->k_dim, values = (uint64_t)l->v_heads * l->v_dim,
		       n = b->rows * values;
	uint32_t qkv, z, gates = NO_TENSOR, low, y;

	(void)layer; /* all are alike */
	qkv = b_product(
		b, all_of(x),
		(struct gemm){ SCHEME_ATTENTION, b->rows, 2 * keys + values, m->hidden, NO_TENSOR, "in_qkv", 0 });
	if (m->arch->rank_gates) {
		low = linear_product(b, x, 2 * (uint64_t)l->k_dim, m->hidden, "gates_a");
		z = linear_product(b, low, values, l->k_dim, "z_b");
		gates = linear_product(b, low, values, l->k_dim, "gates_b");
		linear_product(b, x, l->v_heads, m->hidden, "beta");
	} else {
		z = linear_product(b, x, values, m->hidden, "in_z");
		if (!m->arch->plain_linear)
			gates = linear_product(b, x, 2 * l->v_heads, m->hidden, "in_ba");
	}
	if (!m->arch->plain_linear)
		qkv = b_convolved(b, all_of(qkv), 2 * keys + values, l->conv, l->conv - 1);
	y = b_scanned(b, (struct scan){ qkv, gates, l->v_heads, l->v_dim, l->k_dim, DT_FP32, b_rows[B_STATE].kernel });
	if (m->arch->plain_linear)
		y = b_norm(b, all_of(y), b->rows, values, "norm");
	else
		y = b_norm(b, all_of(y), b->rows * l->v_heads, l->v_dim, "norm");
	y = b_each(b, B_MUL, n, false, all_of(y), all_of(b_each1(b, B_SILU, n, false, all_of(z))));
	return b_product(b, all_of(y), (struct gemm){ SCHEME_OUT, b->rows, m->hidden, values, NO_TENSOR, "out", 0 });
}
