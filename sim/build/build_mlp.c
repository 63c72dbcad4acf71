/* build_mlp.c - an MLP: gate, activation, up, product of both, down; or, without a gate, up, activation, down. */
#include "sim/build/build_int.h"

static uint32_t act_and_mul(struct builder *b, struct part gate_up, uint64_t rows, uint64_t inter)
{
	const enum dtype d = b->m->dtype;
	const uint32_t y = b_make(b, d, rows * inter);

	b_op(b, B_ACT_MUL, d, d)->shape = (struct op_shape){ .elems = rows * inter, .arity = 2 };
	b_read(b, gate_up);
	b_write(b, all_of(y));
	k_rows(b, b_rows[B_ACT_MUL].kernel, rows, inter);
	return y;
}

/* Two views of one product, as a framework works on them. */
static uint32_t halves(struct builder *b, uint32_t gate_up, uint64_t inter)
{
	const uint64_t rows = b->rows, n = rows * inter;
	const struct part gate = b_columns(b, gate_up, rows, 2 * inter, 0, inter);
	const struct part up = b_columns(b, gate_up, rows, 2 * inter, inter, inter);
	const uint32_t y = b_activated(b, n, rows > 1, gate);

	return b_each(b, B_MUL, n, rows > 1, up, all_of(y));
}

static uint32_t bias(struct builder *b, uint64_t n, const char *name)
{
	return b->m->mlp_bias ? b_vector(b, n, name) : NO_TENSOR;
}

static const char *build_mlp_part_of(struct builder *b, const char *name, const char *part)
{
	const char *s = arena_printf(b->a, "%s%s", name, part);

	b->failed |= !s;
	return s ? s : "";
}

uint32_t b_mlp(struct builder *b, uint32_t x, uint64_t inter, const char *name)
{
	const struct model *m = b->m;
	const uint64_t rows = b->rows, n = rows * inter;
	const bool join = b->h->style == BUILD_FUSED || (eager(b) && m->arch->joined);
	uint32_t gate, up, y;

	if (m->arch->plain_mlp) {
		up = b_product(b, all_of(x),
		               (struct gemm){ SCHEME_MLP, rows, inter, m->hidden, bias(b, inter, "up.bias"),
		                              build_mlp_part_of(b, name, "up"), 0 });
		y = b_activated(b, n, false, all_of(up));
	} else if (join) {
		gate = b_product(b, all_of(x),
		                 (struct gemm){ SCHEME_MLP, rows, 2 * inter, m->hidden,
		                                bias(b, 2 * inter, "gate_up.bias"),
		                                build_mlp_part_of(b, name, "gate_up"), 0 });
		y = eager(b) ? halves(b, gate, inter) : act_and_mul(b, all_of(gate), rows, inter);
	} else {
		gate = b_product(b, all_of(x),
		                 (struct gemm){ SCHEME_MLP, rows, inter, m->hidden, bias(b, inter, "gate.bias"),
		                                build_mlp_part_of(b, name, "gate"), 0 });
		gate = b_activated(b, n, false, all_of(gate));
		up = b_product(b, all_of(x),
		               (struct gemm){ SCHEME_MLP, rows, inter, m->hidden, bias(b, inter, "up.bias"),
		                              build_mlp_part_of(b, name, "up"), 0 });
		y = b_each(b, B_MUL, n, false, all_of(gate), all_of(up));
	}
	return b_product(b, all_of(y),
	                 (struct gemm){ SCHEME_DOWN, rows, m->hidden, inter, bias(b, m->hidden, "down.bias"),
	                                build_mlp_part_of(b, name, "down"), 0 });
}
