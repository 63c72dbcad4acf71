/* program_check.c - whether a program can be run: ranges, order, and what the machine has.
 *
 * Names and numbers were resolved when they were read. Here: tensors that lie where addresses are and apart, operands and
 * moves within their tensors, nothing read before it is written, loops whose trips agree, tiles that fit SRAM, units the
 * machine has, experts that a router can pick, and sums (bytes, picoseconds, steps) that stay far from what a counter
 * holds. After that nothing an engine does with the program leaves its tables. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/npu/unit.h"
#include "sim/program/program_int.h"

#define MOST_TILES  (1u << 20)
#define MOST_BYTES  (UINT64_C(1) << 40) /* of a tensor, and of what a command moves; sim/map/map_bound.c */
#define MOST_MOVED  (UINT64_C(1) << 42)
#define MOST_ADDR   (UINT64_C(1) << 44)
#define MOST_SPAN   (1000 * UINT64_C(1000000000000)) /* a quarter of an hour, of a command's math */
#define MOST_ALL    (UINT64_C(1) << 60)
#define MOST_COPIES (1u << 20)

struct check {
	const struct op_stream *s;
	const struct isa_prog *p;
	const struct machine_cfg *c;
	const struct program_lines *l;
	struct arena *a;
	struct err *e;
	uint8_t *kept;                    /* by tensor: stored to SRAM so far */
	uint32_t *named;                  /* by tensor: the last command, from 1, whose ops name it */
	uint64_t sram, span, work, moved; /* so far */
	uint64_t held;                    /* of SRAM, by what commands have kept there */
};

static int program_check_at(const struct check *k, uint32_t line, const char *fmt, ...) ERR_FMT(3, 4);
static int program_check_at(const struct check *k, uint32_t line, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	err_set(k->e, ERR_IO, "%s", text);
	return err_at(k->e, k->l->file, (int)line, 0);
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

static uint64_t end_of(const struct op_tensor *t)
{
	return t->addr + (t->instances - 1) * t->stride + t->bytes;
}

static int check_tensor(const struct check *k, uint32_t i)
{
	const struct op_tensor *t = &k->s->tensors[i];
	const uint32_t line = k->l->tensor[i];

	if (!t->bytes || t->bytes > MOST_BYTES)
		return program_check_at(k, line, "tensor '%s' has %" PRIu64 " bytes: give 1 to 1 TiB", t->name,
		                        t->bytes);
	if (!t->instances || t->instances > MOST_COPIES)
		return program_check_at(k, line, "tensor '%s' has %u instances: 1 to %u can be", t->name, t->instances,
		                        MOST_COPIES);
	if (t->instances > 1 && (t->stride < t->bytes || t->stride > MOST_BYTES))
		return program_check_at(k, line,
		                        "the instances of tensor '%s' lie over each other: 'stride' is %" PRIu64,
		                        t->name, t->stride);
	if (t->addr > MOST_ADDR || t->stride * (t->instances - 1) > MOST_ADDR || end_of(t) > MOST_ADDR)
		return program_check_at(k, line, "tensor '%s' lies behind 2^44, where addresses end", t->name);
	if (t->route >= 0 && (size_t)t->route >= k->s->n_routes)
		return program_check_at(k, line, "tensor '%s' is of router %d, and there are %zu", t->name,
		                        (int)t->route, k->s->n_routes);
	if (t->route >= 0 && t->instances < k->s->routes[t->route].experts)
		return program_check_at(k, line, "tensor '%s' has %u instances for the %u experts of its router",
		                        t->name, t->instances, k->s->routes[t->route].experts);
	return 0;
}

struct place {
	uint64_t from, to;
	uint32_t tensor;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
	                          : (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

/* What is there before the program is there at once; what it makes may lie where something else was. */
static int check_apart(const struct check *k)
{
	struct place *v = arena_array(k->a, k->s->n_tensors + 1, sizeof *v);
	size_t n = 0;

	if (!v)
		return err_nomem(k->e, "for a program");
	for (uint32_t i = 0; i < k->s->n_tensors; i++)
		if (k->s->tensors[i].external)
			v[n++] = (struct place){ k->s->tensors[i].addr, end_of(&k->s->tensors[i]), i };
	qsort(v, n, sizeof *v, by_place);
	for (size_t i = 1; i < n; i++)
		if (v[i].from < v[i - 1].to)
			return program_check_at(k, k->l->tensor[v[i].tensor],
			                        "tensors '%s' and '%s' overlap, and both are external",
			                        k->s->tensors[v[i - 1].tensor].name, k->s->tensors[v[i].tensor].name);
	return 0;
}

/* --- ops --------------------------------------------------------------------------------------------------------- */

static int program_check_by_value(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int check_list(const struct check *k, uint32_t line, uint32_t *v, uint32_t n)
{
	if (n > 1)
		qsort(v, n, sizeof *v, program_check_by_value);
	for (uint32_t i = 1; i < n; i++)
		if (v[i] == v[i - 1])
			return program_check_at(k, line, "'after' names %u twice", v[i]);
	return 0;
}

static int check_operand(const struct check *k, const struct op *o, const struct op_operand *x, uint8_t *there)
{
	const struct op_tensor *t = &k->s->tensors[x->tensor];
	const uint32_t line = k->l->op[o->id];

	if (x->offset > t->bytes || x->bytes > t->bytes - x->offset || x->touched > x->bytes)
		return program_check_at(k, line, "op %u reaches outside of tensor '%s', which has %" PRIu64 " bytes",
		                        o->id, t->name, t->bytes);
	if (t->route >= 0 && x->slot >= k->s->routes[t->route].top)
		return program_check_at(k, line, "op %u takes pick %u, and the router of '%s' makes %u", o->id, x->slot,
		                        t->name, k->s->routes[t->route].top);
	if (!x->write && !t->external && !there[x->tensor])
		return program_check_at(k, line, "op %u reads '%s' before anything writes it, and it is not external",
		                        o->id, t->name);
	return 0;
}

/* The first size that an op of its kind has and of which this one has none; NULL: it has of all. */
static const char *none_of(const struct op *o)
{
	const struct op_shape *s = &o->shape;

	switch (o->kind) {
	case OP_GEMM:
		return !s->batch ? "batch" : !s->m ? "m" : !s->n ? "n" : !s->k ? "k" : NULL;
	case OP_ATTENTION:
		return !s->heads      ? "heads"
		       : !s->q_len    ? "q_len"
		       : !s->kv_len   ? "kv_len"
		       : !s->head_dim ? "head_dim"
		                      : NULL;
	case OP_REDUCE:
	case OP_SOFTMAX:
	case OP_NORM:
	case OP_TOPK:
	case OP_SORT:
	case OP_SCAN:
		return !s->rows ? "rows" : !s->cols ? "cols" : NULL;
	case OP_ELEMENTWISE:
	case OP_CONVERT:
	case OP_ROPE:
	case OP_COPY:
	case OP_CONCAT:
	case OP_GATHER:
	case OP_SCATTER:
	case OP_EMBED:
		return !s->elems ? "elems" : NULL;
	case OP_COLLECTIVE:
	case OP_HOST_SYNC:
	case OP_OPAQUE:
	case OP_KINDS:
		break;
	}
	return NULL;
}

static int check_op(const struct check *k, const struct op *o, uint8_t *there)
{
	const struct op_operand *x = k->s->operands + o->first_operand;
	const uint32_t line = k->l->op[o->id];

	if (none_of(o))
		return program_check_at(k, line, "op %u has a shape of 0: give '%s'", o->id, none_of(o));
	if (o->routed_by >= 0 && (size_t)o->routed_by >= k->s->n_routes)
		return program_check_at(k, line, "op %u is routed by router %d, and there are %zu", o->id,
		                        (int)o->routed_by, k->s->n_routes);
	for (uint32_t i = 0; i < o->n_operands; i++)
		if (check_operand(k, o, &x[i], there) < 0)
			return -1;
	for (uint32_t i = 0; i < o->n_operands; i++)
		there[x[i].tensor] |= x[i].write;
	return check_list(k, line, k->s->deps + o->first_dep, o->n_deps);
}

/* --- instructions ------------------------------------------------------------------------------------------------- */

/* Tensors that the ops of the nth command name have its number from here on. */
static void mark_tensors(const struct check *k, uint32_t n)
{
	const struct isa_cmd *c = &k->p->cmds[n];

	for (uint32_t i = 0; i < c->n_ops; i++) {
		const struct op *o = &k->s->ops[k->p->members[c->first_op + i]];

		for (uint32_t x = 0; x < o->n_operands; x++)
			k->named[k->s->operands[o->first_operand + x].tensor] = n + 1;
	}
}

/* Of the tiles that its loops come to, those from the first on without a gap: the last begins where none is behind it. */
static uint64_t tiles_reached(const struct isa_cmd *c, const struct isa_insn *i)
{
	uint64_t last = 0;
	bool taken[ISA_LOOPS] = { false };

	if (!c->trips[0])
		return c->tiles;
	for (int n = 0, l; n < ISA_LOOPS; n++) { /* the smallest step that is left */
		l = -1;
		for (int k = 0; k < ISA_LOOPS; k++)
			if (!taken[k] && (l < 0 || i->step[k] < i->step[l]))
				l = k;
		taken[l] = true;
		if (i->step[l] > last + 1)
			break;
		last += (uint64_t)i->step[l] * (c->trips[l] - 1);
	}
	return last + 1;
}

/* The furthest of its tiles begins within what multiplication holds; what it moves in all rounds is bounded. */
static int check_tiles(struct check *k, const struct isa_cmd *c, const struct isa_insn *i, uint32_t line)
{
	uint64_t index = 0, moved = i->bytes, far;

	for (int l = 0; l < ISA_LOOPS && i->when == ISA_TILE && c->trips[0]; l++) {
		index += (uint64_t)i->step[l] * (c->trips[l] - 1);
		if (!(i->stays >> l & 1) && (!i->step[l] || c->trips[l] == 1))
			moved = __builtin_mul_overflow(moved, (uint64_t)c->trips[l], &moved) ? UINT64_MAX : moved;
	}
	if (i->when == ISA_TILE && i->bytes && !i->tile_bytes)
		return program_check_at(k, line, "it moves %" PRIu64 " bytes in tiles of none: give 'by'", i->bytes);
	if (__builtin_mul_overflow(i->tile_bytes, index, &far) || i->tile_bytes > MOST_BYTES || index > UINT32_MAX)
		return program_check_at(k, line, "the steps of its tiles lead out of every tensor");
	if (i->when == ISA_TILE && !i->edges && i->tile_bytes * tiles_reached(c, i) < i->bytes)
		return program_check_at(k, line, "its tiles have %" PRIu64 " bytes, and %" PRIu64 " are to be moved",
		                        i->tile_bytes * tiles_reached(c, i), i->bytes);
	if (moved > MOST_MOVED || (k->moved += moved) > MOST_ALL)
		return program_check_at(k, line,
		                        "it moves more than 4 TiB, again and again: such a command is not simulated");
	return 0;
}

static int check_move(struct check *k, const struct isa_cmd *c, const struct isa_insn *i, uint32_t line)
{
	const struct op_tensor *t = &k->s->tensors[i->tensor];

	if (k->named[i->tensor] != (uint32_t)(c - k->p->cmds) + 1)
		return program_check_at(k, line, "no op of the command reads or writes '%s'", t->name);
	if (i->offset > t->bytes || i->bytes > t->bytes - i->offset)
		return program_check_at(
			k, line, "bytes %" PRIu64 " to %" PRIu64 " of tensor '%s' are asked for, and it has %" PRIu64,
			i->offset, i->offset + i->bytes, t->name, t->bytes);
	if ((i->when == ISA_POST) == (i->code == ISA_LOAD) && i->when != ISA_TILE)
		return program_check_at(k, line, "loads stand before the loop or in it, stores in it or behind it");
	if (i->route >= 0 && ((size_t)i->route >= k->s->n_routes || i->slot >= k->s->routes[i->route].top ||
	                      t->instances < k->s->routes[i->route].experts))
		return program_check_at(k, line, "router %d makes no pick %u among the %u instances of '%s'",
		                        (int)i->route, i->slot, t->instances, t->name);
	if (i->code == ISA_LOAD && i->src == ISA_SRAM && !k->kept[i->tensor])
		return program_check_at(
			k, line, "'%s' comes from SRAM, and no command before stores it there ('to=sram')", t->name);
	if (i->code == ISA_STORE && i->dst == ISA_SRAM && i->bytes > k->held)
		return program_check_at(k, line, "%" PRIu64 " bytes of '%s' stay in SRAM, and commands keep %" PRIu64,
		                        i->bytes, t->name, k->held);
	k->kept[i->tensor] |= i->code == ISA_STORE && i->dst == ISA_SRAM;
	if (i->copies > k->c->cores || i->share > (i->when == ISA_TILE ? i->tile_bytes : i->bytes))
		return program_check_at(k, line, "a core has a part of its bytes, and there are %u cores", k->c->cores);
	return check_tiles(k, c, i, line);
}

static int has_unit(const struct check *k, const struct isa_insn *i, uint32_t line)
{
	for (int u = 0; u < UNIT_COUNT; u++)
		if (unit_table[u]->res == (enum res)i->unit)
			return machine_unit(k->c, (enum unit)u).cfg->units
			               ? 0
			               : program_check_at(k, line, "the machine has no %s unit ('%s.units' is 0)",
			                                  unit_table[u]->name, unit_table[u]->name);
	if (i->unit == RES_FUSION)
		return k->c->fusion.enabled
		               ? 0
		               : program_check_at(k, line, "the machine has no fusion engine ('fusion.enabled')");
	if (i->unit == RES_LINK && !k->c->links.bandwidth)
		return program_check_at(k, line, "the machine has no links ('links.bandwidth' is 0)");
	return i->unit == RES_DMA || i->unit == RES_NOC || i->unit == RES_LINK
	               ? 0
	               : program_check_at(k, line, "'%s' is no unit that computes", res_name((enum res)i->unit));
}

static int check_math(struct check *k, const struct isa_cmd *c, const struct isa_insn *i, uint32_t line)
{
	const uint64_t rounds = i->when == ISA_TILE ? c->tiles : 1;
	const struct isa_remainder most = program_remainder_most(k->p, i);
	uint64_t span, work;

	if (has_unit(k, i, line) < 0)
		return -1;
	if (i->idle > 1000000)
		return program_check_at(k, line, "'idle' is in millionths: at most 1000000");
	if (__builtin_mul_overflow(most.span, rounds, &span) || span > MOST_SPAN || most.latency > MOST_SPAN)
		return program_check_at(k, line,
		                        "its unit is busy for more than 1000 s: such a command is not simulated");
	if (__builtin_mul_overflow(most.work, rounds, &work) || work > MOST_ALL || (k->work += work) > MOST_ALL ||
	    (k->span += span + most.latency * rounds) > MOST_ALL)
		return program_check_at(k, line, "the program's times or steps are more than a counter holds");
	return 0;
}

/* --- commands ----------------------------------------------------------------------------------------------------- */

static int check_loops(const struct check *k, const struct isa_cmd *c, uint32_t line)
{
	uint64_t all = 1;

	if (c->tiles > MOST_TILES)
		return program_check_at(k, line, "%u tiles are more than %u", c->tiles, MOST_TILES);
	if (!c->trips[0] && !c->trips[1] && !c->trips[2])
		return 0;
	for (int l = 0; l < ISA_LOOPS; l++)
		all *= c->trips[l] > MOST_TILES ? 0 : c->trips[l];
	return all == c->tiles ? 0
	                       : program_check_at(k, line, "the trips %ux%ux%u are not %u tiles", c->trips[0],
	                                          c->trips[1], c->trips[2], c->tiles);
}

/* All that is kept while it runs stands beside what it holds: the oldest command can always end. */
static int check_sram(struct check *k, const struct isa_cmd *c, uint32_t line)
{
	uint64_t room;

	if (c->keeps_bytes > k->sram - k->held)
		return program_check_at(k, line,
		                        "it keeps %" PRIu64 " bytes, and the machine's SRAM has %" PRIu64 " free",
		                        c->keeps_bytes, k->sram - k->held);
	k->held += c->keeps_bytes;
	room = k->sram - k->held;
	if (c->fixed_bytes > room || (c->tiles && c->slot_bytes > room - c->fixed_bytes))
		return program_check_at(k, line,
		                        "it holds %" PRIu64 " bytes and %" PRIu64
		                        " a tile, and the machine's SRAM has %" PRIu64,
		                        c->fixed_bytes, c->slot_bytes, room);
	if (c->frees_bytes > k->held)
		return program_check_at(k, line, "it frees %" PRIu64 " bytes, and commands keep %" PRIu64,
		                        c->frees_bytes, k->held);
	return 0;
}

static int check_command(struct check *k, uint32_t n)
{
	const struct isa_cmd *c = &k->p->cmds[n];
	const uint32_t line = k->l->cmd[n];

	if (check_loops(k, c, line) < 0 || check_sram(k, c, line) < 0)
		return -1;
	if (n && c->batch < k->p->cmds[n - 1].batch)
		return program_check_at(k, line, "batches go on: %u follows %u", c->batch, k->p->cmds[n - 1].batch);
	if (c->chained && !n)
		return program_check_at(k, line, "the first command is chained to none");
	if (c->routed_by >= 0 && (uint32_t)c->routed_by >= n)
		return program_check_at(k, line, "'routed' names command %d, which is not before this one",
		                        (int)c->routed_by);
	return check_list(k, line, (uint32_t *)k->p->deps + c->first_dep, c->n_deps);
}

static int check_insn(struct check *k, const struct isa_cmd *c, uint32_t n)
{
	const struct isa_insn *i = &k->p->insns[n];
	const uint32_t line = k->l->insn[n];
	const char *why = NULL;
	char text[128];

	if (i->when == ISA_TILE && !c->tiles)
		return program_check_at(k, line, "its command has no tiles: give 'tiles'");
	/* Math that the mapper puts before the loop for an operand that is there whole says what that stays through. */
	if (i->when != ISA_TILE &&
	    ((i->stays && isa_is_move(i)) || i->tile_bytes || i->step[0] || i->step[1] || i->step[2]))
		return program_check_at(k, line, "'by', 'step' and 'stays' are of what stands in the loop");
	if (i->stays && !c->trips[0])
		return program_check_at(k, line,
		                        "'stays' names loops of its command's nest, which has none: give 'trips'");
	if (i->turn && (!isa_is_move(i) || !(i->stays & 1) || i->turn >= c->trips[0]))
		return program_check_at(k, line,
		                        "'turn' is a round of the outermost loop, of a move that 'stays' through it");
	if (i->edges)
		why = program_remainders_fault(k->p, c, i, k->l->edges_given[i->edges - 1], text, sizeof text);
	if (why)
		return program_check_at(k, line, "%s", why);
	return isa_is_move(i) ? check_move(k, c, i, line) : check_math(k, c, i, line);
}

int program_check(const struct op_stream *s, const struct isa_prog *p, const struct machine_cfg *c,
                  const struct program_lines *l, struct arena *a, struct err *e)
{
	struct check k = { .s = s, .p = p, .c = c, .l = l, .a = a, .e = e };
	uint8_t *there = arena_alloc(a, s->n_tensors + 1);

	k.kept = arena_alloc(a, s->n_tensors + 1);
	k.named = arena_array(a, s->n_tensors + 1, sizeof *k.named);
	if (!there || !k.named || !k.kept)
		return err_nomem(e, "for a program");
	k.sram = (sram_size(&c->sram) - c->sram.pin) * c->cores;
	for (uint32_t i = 0; i < s->n_tensors; i++)
		if (check_tensor(&k, i) < 0)
			return -1;
	if (check_apart(&k) < 0)
		return -1;
	for (size_t i = 0; i < s->n_ops; i++)
		if (check_op(&k, &s->ops[i], there) < 0)
			return -1;
	for (uint32_t n = 0; n < p->n_cmds; n++) {
		const struct isa_cmd *x = &p->cmds[n];

		if (check_command(&k, n) < 0)
			return -1;
		mark_tensors(&k, n);
		for (uint32_t i = x->first_insn; i < x->first_insn + x->n_insns; i++)
			if (check_insn(&k, x, i) < 0)
				return -1;
		k.held -= x->frees_bytes;
	}
	return k.held ? program_check_at(&k, 1, "%" PRIu64 " bytes stay in SRAM behind the last command: give 'frees'",
	                                 k.held)
	              : 0;
}
