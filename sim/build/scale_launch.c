/* scale_launch.c - launches of a step at another batch: names as they were measured, grids by the framework's rules. */
#include <string.h>

#include "sim/build/scale_int.h"

#define SMS_UNKNOWN   132u
#define CATS_OF_AN_SM 32u /* Shape.cu: no more CTAs of a concatenation on each SM; 4,224 in traces/h200 */
#define CAT_BYTES     2048u
#define WIDE          "elementwise_kernel<128, "
#define VECTORIZED    "vectorized_elementwise_kernel<"

static uint32_t ctas(uint64_t elems, uint64_t share)
{
	const uint64_t n = elems ? (elems + share - 1) / share : 1;

	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* CTAs of rows that follow as the op does. */
static uint32_t as_many(const struct scaling *x, const struct op *o, uint32_t was)
{
	const struct scale_op how = x->of_op[o->id];

	return how.cols ? was : ctas(was * how.by.to, how.by.was);
}

/* Elements of a CTA of PyTorch's elementwise kernels; 0: another kernel. */
static uint64_t share_of(const char *name)
{
	const char *wide = strstr(name, WIDE);

	if (strstr(name, VECTORIZED))
		return 1024;
	if (strstr(name, "unrolled_elementwise_kernel<"))
		return 512;
	if (strstr(name, "elementwise_kernel_with_index<"))
		return 64;
	if (wide)
		return wide[strlen(WIDE)] == '2' ? 256 : 512;
	return 0;
}

/* An operand that stays while the others grow: broadcast, which the vectorised kernel does not do. */
static bool broadcasts(const struct scaling *x, const struct op *o)
{
	const uint64_t out = x->s->tensors[x->s->operands[o->first_operand + o->n_operands - 1].tensor].bytes;

	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *p = &x->s->operands[o->first_operand + i];
		const enum op_role role = x->s->tensors[p->tensor].role;

		if (!p->write && (role == OP_WEIGHT || role == OP_CONSTANT) && p->touched < out)
			return true;
	}
	return false;
}

static const char *strided_name(struct scaling *x, const struct op *o, const char *name)
{
	const char *v = strstr(name, VECTORIZED), *rest = v ? strchr(v, ',') : NULL, *s;

	if (!rest || o->kind != OP_ELEMENTWISE || x->was.batch > 1 || x->to.batch == 1 || !broadcasts(x, o))
		return name;
	s = arena_printf(x->a, "%.*s" WIDE "%d%s", (int)(v - name), name, dtype_bits(o->dtype) > 16 ? 2 : 4, rest);
	return s ? s : name;
}

static void flat(struct scaling *x, const struct op *o, struct op_launch *l)
{
	const uint64_t share = share_of(l->name = strided_name(x, o, l->name));

	if (share)
		l->grid[0] = ctas(o->shape.elems, share);
	else if (l->grid[0] > 1 && o->kind != OP_EMBED)
		l->grid[0] = as_many(x, o, l->grid[0]);
}

static void concat(const struct scaling *x, const struct op *o, struct op_launch *l)
{
	const uint32_t most = CATS_OF_AN_SM * (x->s->sms ? x->s->sms : SMS_UNKNOWN);
	uint64_t member = 0;

	if (l->grid[1] > 1) /* one a member */
		l->grid[1] = o->shape.arity;
	if (!strstr(l->name, "_vectorized"))
		return;
	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *p = &x->s->operands[o->first_operand + i];

		if (!p->write && p->touched > member)
			member = p->touched;
	}
	l->grid[0] = ctas(member, CAT_BYTES);
	if (l->grid[0] > most)
		l->grid[0] = most;
}

/* A contiguous row's reduction by PyTorch's rule; any other has as many CTAs more as it has rows. */
static void reduce(const struct scaling *x, const struct op *o, struct op_launch *l)
{
	const struct op_shape *was = &x->from->ops[o->id].shape;
	uint64_t grid[3];
	uint32_t block[2];

	k_reduce_shape(was->rows, was->cols, grid, block);
	if (grid[0] != l->grid[0] || block[0] != l->block[0] || block[1] != l->block[1]) {
		l->grid[0] = as_many(x, o, l->grid[0]);
		return;
	}
	k_reduce_shape(o->shape.rows, o->shape.cols, grid, l->block);
	l->grid[0] = ctas(grid[0], 1);
}

/* Short rows are sorted in a network, longer ones by digits. */
static void sort(const struct scaling *x, const struct op *o, struct op_launch *l)
{
	l->grid[0] = as_many(x, o, l->grid[0]);
	if (o->shape.cols > K_SORT_SHORT && x->from->ops[o->id].shape.cols <= K_SORT_SHORT) {
		l->name = K_SORT_LONG;
		l->block[0] = K_SORT_LONG_THREADS;
		l->registers = K_SORT_LONG_REGISTERS;
	}
}

static void lay_out(struct scaling *x, const struct op *o, struct op_launch *l)
{
	if (!l->block[0])
		return;
	if (o->kind == OP_REDUCE)
		reduce(x, o, l);
	else if (o->kind == OP_CONCAT)
		concat(x, o, l);
	else if (o->kind == OP_SORT)
		sort(x, o, l);
	else if (op_traits[o->kind].dims == OP_DIMS_ROWS) /* a CTA a row, or some rows */
		l->grid[0] = as_many(x, o, l->grid[0]);
	else
		flat(x, o, l);
}

/* Attention over more keys has the same CTAs, each with more to do. */
static bool as_it_was(const struct scaling *x, const struct op *o)
{
	return (o->kind == OP_ATTENTION && x->to.batch == x->was.batch) ||
	       memcmp(&o->shape, &x->from->ops[o->id].shape, sizeof o->shape) == 0;
}

/* One launch, which the GPU lays out. */
static uint32_t scale_launch_one(struct op_launch *l, const char *kernel)
{
	l->name = kernel;
	l->kind = 0; /* a kernel, whatever stood first: a set before split products */
	memset(l->grid, 0, sizeof l->grid);
	memset(l->block, 0, sizeof l->block);
	l->cluster[0] = l->cluster[1] = l->cluster[2] = 1;
	l->registers = 0;
	l->smem_static = l->smem_dynamic = l->local = 0;
	return 1;
}

void scale_launches(struct scaling *x)
{
	struct op_launch *to = x->s->launches;
	uint32_t n = 0;

	for (size_t i = 0; i < x->s->n_ops; i++) {
		struct op *o = &x->s->ops[i];
		const uint32_t first = n;

		for (uint32_t k = 0; k < o->n_launches; k++) {
			struct op_launch *l = &to[n];

			*l = x->from->launches[o->first_launch + k];
			l->trace_id = -1;
			l->start_ns = l->measured_ns = l->host_start_ns = 0;
			l->waits_for = (int32_t)n - 1;
			l->wait_kind = n ? OP_WAIT_STREAM : OP_WAIT_NONE;
			n++;
			if (as_it_was(x, o))
				continue;
			if (op_is_product(o->kind)) {
				scale_launch_one(l, o->kind == OP_GEMM ? b_rows[B_PRODUCT].kernel : l->name);
				break;
			}
			lay_out(x, o, l);
		}
		o->first_launch = first;
		o->n_launches = n - first;
	}
	x->s->n_launches = n;
}
