/* build_stream.c - the tables of a stream as they grow: tensors, ops, operands, launches, routes. */
#include <string.h>

#include "sim/build/build_int.h"

/* Room for one more; the old table stays in the arena. */
static bool build_stream_grow(struct builder *b, void *table, size_t n, size_t *cap, size_t size)
{
	void **t = table, *more;
	const size_t want = *cap ? 2 * *cap : 1024;

	if (b->failed)
		return false;
	if (n < *cap)
		return true;
	if (!(more = arena_array(b->a, want, size))) {
		b->failed = true;
		return false;
	}
	if (n)
		memcpy(more, *t, n * size);
	*t = more;
	*cap = want;
	return true;
}

uint64_t b_bytes(enum dtype d, uint64_t elems)
{
	return dtype_bytes(d, elems);
}

struct op_tensor *b_tensor(struct builder *b, uint32_t t)
{
	return t < b->s->n_tensors ? &b->s->tensors[t] : &b->no_tensor;
}

static uint32_t build_stream_tensor(struct builder *b, struct op_tensor t)
{
	if (!build_stream_grow(b, &b->s->tensors, b->s->n_tensors, &b->cap_tensors, sizeof *b->s->tensors))
		return 0;
	t.layer = b->layer;
	b->s->tensors[b->s->n_tensors] = t;
	return (uint32_t)b->s->n_tensors++;
}

uint32_t b_make_role(struct builder *b, enum op_role role, enum dtype d, uint64_t elems)
{
	return build_stream_tensor(
		b, (struct op_tensor){
			   .role = role, .dtype = d, .bytes = b_bytes(d, elems), .instances = 1, .route = -1 });
}

uint32_t b_make(struct builder *b, enum dtype d, uint64_t elems)
{
	return b_make_role(b, OP_ACTIVATION, d, elems);
}

static const char *named(struct builder *b, const char *name)
{
	const char *full = b->layer < 0 ? arena_strdup(b->a, name) : arena_printf(b->a, "layer%d.%s", b->layer, name);

	b->failed |= !full;
	return full;
}

uint32_t b_there(struct builder *b, enum op_role role, enum dtype d, uint64_t bytes, uint32_t instances,
                 const char *name)
{
	struct op_tensor t = {
		.role = role, .dtype = d, .bytes = bytes, .instances = instances, .route = -1, .external = true
	};
	size_t cap = b->cap_outside;

	if (b->again && b->next_outside < b->n_outside)
		return b->outside[b->next_outside++];
	if (!build_stream_grow(b, &b->outside, b->n_outside, &cap, sizeof *b->outside))
		return 0;
	b->cap_outside = (uint32_t)cap;
	if (instances > 1 || (b->s->n_routes && role == OP_WEIGHT && instances == 1 && strstr(name, "expert.")))
		t.route = (int32_t)b->s->n_routes - 1;
	t.name = named(b, name);
	b->outside[b->n_outside++] = build_stream_tensor(b, t);
	return b->outside[b->n_outside - 1];
}

uint32_t b_grown_from(struct builder *b, uint32_t first)
{
	return b->again && b->next_grown < b->n_grown ? b->grown[b->next_grown] : first;
}

void b_grown_to(struct builder *b, uint32_t to)
{
	size_t cap = b->cap_grown;

	if (b->again && b->next_grown < b->n_grown) {
		b->grown[b->next_grown++] = to;
		return;
	}
	if (!build_stream_grow(b, &b->grown, b->n_grown, &cap, sizeof *b->grown))
		return;
	b->cap_grown = (uint32_t)cap;
	b->grown[b->n_grown++] = to;
	b->next_grown++;
}

uint32_t b_route(struct builder *b, uint32_t experts, uint32_t top)
{
	if (!build_stream_grow(b, &b->s->routes, b->s->n_routes, &b->cap_routes, sizeof *b->s->routes))
		return 0;
	b->s->routes[b->s->n_routes] = (struct op_route){ experts, top, b->layer, UINT32_MAX, UINT32_MAX };
	return (uint32_t)b->s->n_routes++;
}

struct op *b_op(struct builder *b, enum bop what, enum dtype in, enum dtype out)
{
	const struct op_row *r = &b_rows[what];
	struct op *o;

	if (!build_stream_grow(b, &b->s->ops, b->s->n_ops, &b->cap_ops, sizeof *b->s->ops))
		return &b->nowhere;
	o = &b->s->ops[b->s->n_ops];
	*o = (struct op){ .id = (uint32_t)b->s->n_ops,
		          .kind = r->kind,
		          .name = "",
		          .family = r->family,
		          .rule = r->rule,
		          .phase = b->phase,
		          .layer = b->layer,
		          .dtype = in,
		          .out_dtype = out,
		          .acc_dtype = dtype_bits(in) == 64 ? in : DT_FP32,
		          .cost = r->cost,
		          .fn = r->fn,
		          .reduce = r->reduce,
		          .first_operand = (uint32_t)b->s->n_operands,
		          .first_launch = (uint32_t)b->s->n_launches,
		          .routed_by = -1 };
	b->s->n_ops++;
	return o;
}

static void operand(struct builder *b, struct part p, bool write)
{
	struct op_operand *x;
	uint64_t all;

	if (!build_stream_grow(b, &b->s->operands, b->s->n_operands, &b->cap_operands, sizeof *b->s->operands))
		return;
	all = b->s->tensors[p.tensor].bytes;
	x = &b->s->operands[b->s->n_operands++];
	*x = (struct op_operand){ p.tensor, write, p.offset, p.bytes ? p.bytes : all - p.offset, 0, p.slot };
	x->touched = p.touched ? p.touched : x->bytes;
	b->s->ops[b->s->n_ops - 1].n_operands++;
}

struct part b_columns(struct builder *b, uint32_t tensor, uint64_t rows, uint64_t width, uint64_t from, uint64_t n)
{
	const enum dtype d = b_tensor(b, tensor)->dtype;
	struct part p = { .tensor = tensor, .offset = b_bytes(d, from), .touched = b_bytes(d, rows * n) };

	p.bytes = b_bytes(d, (rows - 1) * width + n);
	return p;
}

struct part b_lines(struct builder *b, uint32_t tensor, uint64_t width, uint64_t from, uint64_t n)
{
	const enum dtype d = b_tensor(b, tensor)->dtype;

	return (struct part){ .tensor = tensor, .offset = b_bytes(d, from * width), .bytes = b_bytes(d, n * width) };
}

void b_read(struct builder *b, struct part p)
{
	operand(b, p, false);
}

void b_write(struct builder *b, struct part p)
{
	operand(b, p, true);
}

void b_launch(struct builder *b, const char *kernel, const uint64_t grid[3], uint32_t threads, uint32_t threads_y,
              uint32_t registers)
{
	struct op_launch *l;

	if (!build_stream_grow(b, &b->s->launches, b->s->n_launches, &b->cap_launches, sizeof *b->s->launches))
		return;
	l = &b->s->launches[b->s->n_launches];
	*l = (struct op_launch){ .trace_id = -1,
		                 .name = kernel,
		                 .block = { threads, threads ? threads_y : 0, threads ? 1 : 0 },
		                 .cluster = { 1, 1, 1 },
		                 .registers = registers,
		                 .waits_for = (int32_t)b->s->n_launches - 1,
		                 .wait_kind = b->s->n_launches ? OP_WAIT_STREAM : OP_WAIT_NONE };
	for (int i = 0; i < 3; i++)
		l->grid[i] = grid[i] < UINT32_MAX ? (uint32_t)grid[i] : UINT32_MAX;
	b->s->n_launches++;
	b->s->ops[b->s->n_ops - 1].n_launches++;
}
