/* program_make.c - what a program's lines amount to: an op stream and the commands for it, held together and handed on. */
#include <string.h>

#include "sim/base/hash.h"
#include "sim/program/program_int.h"

int program_no_memory(struct program_reader *r)
{
	return err_nomem(r->e, "for a program");
}

/* The next entry, zeroed; NULL: no memory. */
void *program_push(struct program_reader *r, struct program_table *t, size_t size)
{
	char *v = t->v;

	if (t->n == t->cap) {
		const size_t cap = t->cap ? 2 * t->cap : 64;

		if (!(v = arena_array(r->a, cap, size))) {
			program_no_memory(r);
			return NULL;
		}
		if (t->n)
			memcpy(v, t->v, t->n * size);
		t->v = v;
		t->cap = cap;
	}
	return v + t->n++ * size;
}

/* An op of a program that has none: what its command moves and computes. */
static int imply_op(struct program_reader *r, size_t k)
{
	const struct isa_prog p = { .edges = r->edges.v };
	const struct isa_cmd *c = (const struct isa_cmd *)r->cmds.v + k;
	struct program_op *x = (struct program_op *)r->ops.v + k;
	const struct isa_insn *insns = (const struct isa_insn *)r->insns.v + c->first_insn;
	uint64_t steps = 0, macs = 0;

	x->op.first_operand = (uint32_t)r->operands.n;
	for (uint32_t i = 0; i < c->n_insns; i++) {
		const struct isa_insn *n = &insns[i];
		struct op_operand *y;

		if (!isa_is_move(n)) {
			const bool product = n->code == ISA_GEMV || n->code == ISA_GEMM || n->code == ISA_IMC;
			const struct isa_turn all = isa_turns(&p, c, n);
			const uint32_t bits = product ? dtype_bits((enum dtype)n->dtype) : 0;

			/* Its rate is that of its own format: the op has the narrowest. */
			if (bits && bits < dtype_bits(x->op.dtype))
				x->op.dtype = x->op.out_dtype = (enum dtype)n->dtype;

			/* Held against what may be in program_check.c, before anyone asks. */
			*(product ? &macs : &steps) += all.work;
			x->share += all.span;
			continue;
		}
		if (!(y = program_push(r, &r->operands, sizeof *y)))
			return -1;
		*y = (struct op_operand){ n->tensor, n->code == ISA_STORE, n->offset, n->bytes, n->bytes, n->slot };
		x->op.n_operands++;
	}
	x->op.kind = macs ? OP_GEMM : steps ? OP_ELEMENTWISE : OP_COPY;
	x->op.cost = steps && !macs ? OP_COST_ALU : OP_COST_MOVE;
	x->op.shape = macs ? (struct op_shape){ .batch = 1, .m = 1, .n = 1, .k = macs }
	                   : (struct op_shape){ .elems = steps ? steps : 1, .arity = steps != 0 };
	return 0;
}

static int imply_ops(struct program_reader *r)
{
	for (size_t k = 0; r->implied && k < r->cmds.n; k++) {
		const struct isa_cmd *c = (const struct isa_cmd *)r->cmds.v + k;
		struct program_op *x = (struct program_op *)r->ops.v + k;

		if (imply_op(r, k) < 0)
			return -1;
		x->op.first_dep = c->first_dep;
		x->op.n_deps = c->n_deps;
	}
	if (r->implied)
		r->op_deps = r->deps;
	return 0;
}

/* Behind the one before, where nothing is said: no number stands for that, as any may be said. */
static void place_tensors(struct program_reader *r, uint64_t *end)
{
	const bool *placed = r->placed.v;

	*end = 256;
	for (size_t i = 0; i < r->tensors.n; i++) {
		struct op_tensor *t = &program_tensors(r)[i];
		uint64_t to;

		if (!placed[i])
			t->addr = (*end + 255) / 256 * 256;
		if (t->instances > 1 && !t->stride)
			t->stride = t->bytes;
		to = t->addr + t->bytes + (t->instances > 1 ? (t->instances - 1) * t->stride : 0); /* checked later */
		*end = to > *end ? to : *end;
	}
}

static int make_stream(struct program_reader *r, const char *text, size_t n, struct op_stream *s, uint64_t **shares)
{
	const struct program_op *from = r->ops.v;
	char hash[17];

	*s = (struct op_stream){ .source = arena_strdup(r->a, r->file), .wall_ns = -1 };
	hash_hex(hash_bytes(HASH_INIT, text, n), hash);
	s->digest = arena_printf(r->a, "program:%s", hash);
	s->n_ops = r->ops.n;
	s->ops = arena_array(r->a, r->ops.n + 1, sizeof *s->ops);
	*shares = arena_array(r->a, r->ops.n + 1, sizeof **shares);
	if (!s->source || !s->digest || !s->ops || !*shares)
		return program_no_memory(r);
	for (size_t i = 0; i < r->ops.n; i++) {
		s->ops[i] = from[i].op;
		if (s->ops[i].kind == OP_COLLECTIVE && s->ops[i].shape.peers > s->chips)
			s->chips = s->ops[i].shape.peers;
		(*shares)[i] = from[i].share;
	}
	s->tensors = r->tensors.v;
	s->n_tensors = r->tensors.n;
	s->operands = r->operands.v;
	s->n_operands = r->operands.n;
	s->deps = r->op_deps.v;
	s->n_deps = r->op_deps.n;
	s->routes = r->routes.v;
	s->n_routes = r->routes.n;
	return 0;
}

/* Where tiles of different sizes lie. */
static void place_edges(struct program_reader *r)
{
	const struct isa_insn *insns = r->insns.v;
	struct isa_remainders *edges = r->edges.v;

	for (size_t k = 0; k < r->cmds.n; k++) {
		const struct isa_cmd *c = (const struct isa_cmd *)r->cmds.v + k;

		for (uint32_t i = c->first_insn; i < c->first_insn + c->n_insns; i++)
			if (insns[i].edges && isa_is_move(&insns[i]))
				isa_edges_place(c, &insns[i], &edges[insns[i].edges - 1]);
	}
}

int program_make(struct program_reader *r, const struct machine_cfg *c, const char *text, size_t n, struct program *out)
{
	struct isa_prog p = { .cmds = r->cmds.v,
		              .n_cmds = r->cmds.n,
		              .insns = r->insns.v,
		              .n_insns = r->insns.n,
		              .edges = r->edges.v,
		              .n_edges = r->edges.n,
		              .deps = r->deps.v,
		              .members = r->members.v };
	const struct program_lines l = { r->file,       r->tensor_line.v, r->op_line.v,
		                         r->cmd_line.v, r->insn_line.v,   r->edges_given.v };
	uint64_t *shares, end;

	place_tensors(r, &end);
	if (imply_ops(r) < 0 || make_stream(r, text, n, &out->stream, &shares) < 0)
		return -1;
	out->stream.addr_end = end;
	if (program_check(&out->stream, &p, c, &l, r->a, r->e) < 0)
		return -1;
	place_edges(r);
	if (map_given(&out->stream, c, &p, shares, r->a, &out->map, r->e) < 0)
		return -1;
	return program_least(&(struct program_whole){ &out->stream, &out->map, c, &l, r->implied }, r->a, r->e);
}
