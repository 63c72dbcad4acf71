/* program_least.c - what a program cannot do without: no run is under its roofline, and no program by hand may lead under it.
 *
 * Math: a unit is busy for what it does at its peak, at the least: multiply-adds at that of the op's two formats, steps at
 * that of all its pipes together. Ops that share commands, as joined and cut ones do, are taken together: their commands do
 * the multiply-adds of their products, load each byte of theirs that is there before the program as narrow as the machine
 * stores it, and store each result that nothing reads. A program without ops says in its shapes what it multiplies: each tile
 * does that, and its command loads so many weights.
 * Leaves out: steps that are no multiply-adds, of which a program may do fewer than the mapper would; what a router picks
 * twice; formats that a program's math says itself and no op has. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/npu/unit.h"
#include "sim/base/ratio.h"
#include "sim/program/program_int.h"
#include "workloads/work.h"

/* Ops that share commands: what they ask for, and what is done. */
struct lot {
	uint32_t of; /* the first of them; itself: it is that */
	bool done;   /* a command does it */
	uint64_t macs, macs_done;
};

/* Bytes of a tensor, or of what a router picks of it, that a lot asks for; or, of commands, that it moves. */
struct bytes {
	uint32_t lot, tensor, slot;
	bool store;
	bool moved;
	uint32_t op; /* that asks */
	uint64_t n;
};

struct least {
	const struct program_whole *w;
	struct err *e;
	struct lot *lots; /* by op */
	struct bytes *bytes;
	size_t n_bytes;
	struct sparsity sparse;
};

static int program_least_at(const struct least *k, uint32_t line, const char *fmt, ...) ERR_FMT(3, 4);
static int program_least_at(const struct least *k, uint32_t line, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	err_set(k->e, ERR_IO, "%s", text);
	return err_at(k->e, k->w->l->file, (int)line, 0);
}

/* --- rates --------------------------------------------------------------------------------------------------------- */

static const struct unit_ops *program_least_unit_of(const struct isa_insn *i, enum unit *id)
{
	for (int u = 0; u < UNIT_COUNT; u++)
		if (unit_table[u]->res == (enum res)i->unit) {
			*id = (enum unit)u;
			return unit_table[u];
		}
	return NULL;
}

/* Multiply-adds or steps a cycle. */
static uint64_t rate_of(const struct least *k, const struct isa_insn *i, const struct unit_ops *u, enum unit id)
{
	const struct unit_env env = machine_unit(k->w->c, id);
	const struct map_pair *pair = &k->w->map->floor.op_pair[i->op];
	const enum dtype own = dtype_bits((enum dtype)i->dtype) ? (enum dtype)i->dtype : DT_BF16;
	struct unit_steps s;

	if (u->steps) {
		u->steps(&env, &s);
		return i->code == ISA_SORT ? s.compare : s.alu + s.sfu + s.convert;
	}
	return pair->weight && !k->w->implied
	               ? unit_peak(u, &env, (enum dtype)pair->weight, (enum dtype)pair->with, pair->passes)
	               : u->peak(&env, own, own);
}

static int check_turn(const struct least *k, uint32_t line, const struct unit_ops *u, uint64_t rate, uint64_t work,
                      ps_t span)
{
	const ps_t least = rate ? clock_span(work / rate, k->w->c->clock) : PS_NEVER;

	if (!work || span >= least)
		return 0;
	if (!rate)
		return program_least_at(k, line, "the %s units cannot do its work in this format", u->label);
	return program_least_at(k, line,
	                        "%" PRIu64 " %s keep the machine's %s units busy for %" PRIu64
	                        " ps at the least, and 'span' is %" PRIu64,
	                        work, u->steps ? "steps" : "multiply-adds", u->label, least, span);
}

/* Bytes that a chip sends, at the rate of all its links; parts are rounded. */
static int check_sent(const struct least *k, uint32_t line, uint64_t work, ps_t span)
{
	const uint64_t rate = k->w->c->links.bandwidth;
	const ps_t least = rate ? clock_transfer(work, rate) : 0;

	if (span + 2 >= least)
		return 0;
	return program_least_at(k, line,
	                        "%" PRIu64 " bytes keep the machine's links busy for %" PRIu64
	                        " ps at the least, and 'span' is %" PRIu64,
	                        work, least, span);
}

static int check_math(const struct least *k, const struct isa_insn *i, uint32_t line)
{
	const struct isa_remainders *e = i->edges ? &k->w->map->prog.edges[i->edges - 1] : NULL;
	enum unit id = UNIT_COUNT;
	const struct unit_ops *u = program_least_unit_of(i, &id);
	uint64_t rate;

	if (i->unit == RES_LINK && !i->edges)
		return check_sent(k, line, i->work, i->span) < 0 ? -1 : check_sent(k, line, i->work_last, i->span_last);
	if (!u)
		return i->work || i->work_last
		               ? program_least_at(k, line, "'work' is what a compute unit does, and '%s' is none",
		                                  res_name((enum res)i->unit))
		               : 0;
	rate = rate_of(k, i, u, id);
	if (check_turn(k, line, u, rate, i->work, i->span) < 0 ||
	    check_turn(k, line, u, rate, i->work_last, i->span_last) < 0)
		return -1;
	for (unsigned n = 1; e && n < 1u << ISA_LOOPS; n++)
		if (!(n & ~(unsigned)e->loops) && check_turn(k, line, u, rate, e->at[n].work, e->at[n].span) < 0)
			return -1;
	return 0;
}

/* --- what ops ask for ------------------------------------------------------------------------------------------------ */

static uint32_t root(struct lot *v, uint32_t i)
{
	while (v[i].of != i)
		i = v[i].of = v[v[i].of].of;
	return i;
}

/* The first op that any command has with another is the lot's. */
static void program_least_join(const struct least *k, const struct isa_cmd *c)
{
	const uint32_t *ops = k->w->map->prog.members + c->first_op;

	for (uint32_t i = 0; i < c->n_ops; i++) {
		const uint32_t a = root(k->lots, ops[0]), b = root(k->lots, ops[i]);

		k->lots[a > b ? a : b].of = a < b ? a : b;
		k->lots[ops[i]].done = true;
	}
}

/* Of so many values, those that are there, where a unit leaves out the rest. */
static uint64_t present(const struct least *k, uint64_t n)
{
	return k->sparse.of ? n / k->sparse.of * k->sparse.keep : n;
}

static uint64_t program_least_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static void program_least_ask(const struct least *k, uint32_t op, uint64_t macs)
{
	struct lot *x = &k->lots[root(k->lots, op)];

	x->macs = program_least_add(x->macs, present(k, macs));
}

static int find_lots(const struct least *k)
{
	const struct op_stream *s = k->w->s;
	const struct isa_prog *p = &k->w->map->prog;

	for (uint32_t i = 0; i < s->n_ops; i++)
		k->lots[i] = (struct lot){ .of = i };
	for (uint32_t n = 0; n < p->n_cmds; n++)
		program_least_join(k, &p->cmds[n]);
	for (uint32_t i = 0; i < s->n_ops; i++) {
		if (!op_is_timed(&s->ops[i]))
			continue;
		if (!k->lots[i].done)
			return program_least_at(k, k->w->l->op[i], "no command does op %u: give one 'ops=%u'", i, i);
		if (op_is_product(s->ops[i].kind))
			program_least_ask(k, i, work_of(s, &s->ops[i]).macs);
	}
	return 0;
}

static int check_products(const struct least *k)
{
	const struct op_stream *s = k->w->s;
	const struct isa_prog *p = &k->w->map->prog;
	enum unit id;

	for (uint32_t n = 0; n < p->n_cmds; n++)
		for (uint32_t x = 0; x < p->cmds[n].n_insns; x++) {
			const struct isa_insn *i = &p->insns[p->cmds[n].first_insn + x];

			if (!isa_is_move(i) && op_is_product(s->ops[i->op].kind) && program_least_unit_of(i, &id))
				k->lots[root(k->lots, i->op)].macs_done += isa_turns(p, &p->cmds[n], i).work;
		}
	for (uint32_t i = 0; i < s->n_ops; i++)
		if (k->lots[i].macs_done < k->lots[i].macs)
			return program_least_at(k, k->w->l->op[i],
			                        "op %u takes %" PRIu64 " multiply-adds, and its commands do %" PRIu64
			                        " ('work')",
			                        i, k->lots[i].macs, k->lots[i].macs_done);
	return 0;
}

/* --- bytes ----------------------------------------------------------------------------------------------------------- */

/* Bits of a tensor's value where the machine stores it narrower. */
static uint32_t bits_of(const struct least *k, const struct op_tensor *t)
{
	const struct machine_cfg *c = k->w->c;
	const enum quant q = (enum quant)(t->role == OP_WEIGHT ? c->weights.quant : t->role == OP_KV ? c->kv.quant : 0);
	const uint32_t as = dtype_bits(t->dtype), to = dtype_bits(quant_dtype(q));

	return to && to < as ? to : as;
}

/* What so many bytes as traced are at the least: values without scales. */
static uint64_t stored(const struct least *k, const struct op_tensor *t, uint64_t bytes)
{
	const uint32_t as = dtype_bits(t->dtype);
	const uint64_t there = t->role == OP_WEIGHT ? present(k, bytes) : bytes;

	return as ? ratio_of(there, bits_of(k, t), as) : there;
}

static void program_least_put(struct least *k, const struct bytes *x)
{
	if (x->n)
		k->bytes[k->n_bytes++] = *x;
}

/* Of what is there before the program, less what ops before have written into it; results that no op reads. */
static void ask_bytes(struct least *k, uint64_t *written, const uint8_t *read)
{
	const struct op_stream *s = k->w->s;

	for (uint32_t i = 0; i < s->n_ops; i++) {
		const struct op_operand *x = s->operands + s->ops[i].first_operand;

		for (uint32_t n = 0; n < s->ops[i].n_operands && op_is_timed(&s->ops[i]); n++) {
			const struct op_tensor *t = &s->tensors[x[n].tensor];
			const uint64_t own = x[n].write ? 0 : written[x[n].tensor];

			if (x[n].write ? !read[x[n].tensor] : t->external && own < x[n].touched)
				program_least_put(k, &(struct bytes){ .lot = root(k->lots, i),
				                                      .tensor = x[n].tensor,
				                                      .slot = t->route < 0 ? 0 : x[n].slot,
				                                      .store = x[n].write,
				                                      .op = i,
				                                      .n = stored(k, t, x[n].touched - own) });
		}
		for (uint32_t n = 0; n < s->ops[i].n_operands; n++)
			written[x[n].tensor] = program_least_add(written[x[n].tensor], x[n].write ? x[n].touched : 0);
	}
}

static void have_bytes(struct least *k)
{
	const struct isa_prog *p = &k->w->map->prog;

	for (uint32_t n = 0; n < p->n_cmds; n++)
		for (uint32_t x = 0; x < p->cmds[n].n_insns; x++) {
			const struct isa_insn *i = &p->insns[p->cmds[n].first_insn + x];

			if (isa_is_move(i))
				program_least_put(
					k, &(struct bytes){ .lot = root(k->lots, i->op),
				                            .tensor = i->tensor,
				                            .slot = k->w->s->tensors[i->tensor].route < 0 ? 0 : i->slot,
				                            .store = i->code == ISA_STORE,
				                            .moved = true,
				                            .n = i->bytes });
		}
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int program_least_same(const struct bytes *x, const struct bytes *y)
{
	const int lot = compare(x->lot, y->lot), tensor = compare(x->tensor, y->tensor),
		  slot = compare(x->slot, y->slot);

	return lot ? lot : tensor ? tensor : slot ? slot : compare(x->store, y->store);
}

static int by_place(const void *a, const void *b)
{
	const struct bytes *x = a, *y = b;
	const int place = program_least_same(x, y), moved = compare(x->moved, y->moved);

	return place ? place : moved ? moved : compare(x->op, y->op);
}

/* Members of a command that want the same bytes load them once: the most that one of them asks for. */
static int check_bytes(const struct least *k)
{
	for (size_t i = 0, to; i < k->n_bytes; i = to) {
		const struct bytes *most = &k->bytes[i];
		uint64_t moved = 0;

		for (to = i; to < k->n_bytes && !program_least_same(&k->bytes[i], &k->bytes[to]); to++)
			if (k->bytes[to].moved)
				moved = program_least_add(moved, k->bytes[to].n);
			else if (k->bytes[to].n > most->n)
				most = &k->bytes[to];
		if (!most->moved && moved < most->n)
			return program_least_at(
				k, k->w->l->op[most->op],
				"op %u %s %" PRIu64 " bytes of '%s', and its commands %s %" PRIu64 " of them", most->op,
				most->store ? "writes" : "reads", most->n, k->w->s->tensors[most->tensor].name,
				most->store ? "store" : "load", moved);
	}
	return 0;
}

static int check_ops(struct least *k, struct arena *a)
{
	const struct op_stream *s = k->w->s;
	uint64_t *written = arena_array(a, s->n_tensors + 1, sizeof *written);
	uint8_t *read = arena_alloc(a, s->n_tensors + 1);

	if (!written || !read)
		return err_nomem(k->e, "for a program");
	for (size_t i = 0; i < s->n_operands; i++)
		read[s->operands[i].tensor] |= !s->operands[i].write;
	ask_bytes(k, written, read);
	have_bytes(k);
	qsort(k->bytes, k->n_bytes, sizeof *k->bytes, by_place);
	return check_bytes(k);
}

/* --- without ops ----------------------------------------------------------------------------------------------------- */

/* Values that a command's loads bring, as narrow as the machine may store them. */
static uint64_t loaded(const struct least *k, const struct isa_cmd *c)
{
	const struct isa_prog *p = &k->w->map->prog;
	uint64_t values = 0;

	for (uint32_t x = c->first_insn; x < c->first_insn + c->n_insns; x++) {
		const struct isa_insn *i = &p->insns[x];

		if (i->code == ISA_LOAD) /* below 2^42 bytes */
			values += 8 * i->bytes / ps_max(1, bits_of(k, &k->w->s->tensors[i->tensor]));
	}
	return k->sparse.of ? values * k->sparse.of / k->sparse.keep : values;
}

/* Multiply-adds of a tile, by its shape; more than a counter holds: as many as it holds. */
static uint64_t of_shape(const struct isa_shape *s)
{
	uint64_t n;

	return __builtin_mul_overflow(s->m, s->rows, &n) || __builtin_mul_overflow(n, s->cols, &n) ? UINT64_MAX : n;
}

static int check_shape(const struct least *k, const struct isa_insn *i, uint32_t line, uint64_t values)
{
	const uint64_t macs = of_shape(&i->shape);
	const struct isa_shape weights = { 1, i->shape.rows, i->shape.cols };

	if (!macs)
		return 0;
	if (i->work < present(k, macs) || i->work > macs)
		return program_least_at(k, line,
		                        "a tile of its shape takes %" PRIu64 " multiply-adds, and 'work' is %" PRIu64,
		                        macs, i->work);
	if (of_shape(&weights) > values)
		return program_least_at(k, line,
		                        "a tile multiplies %" PRIu64 " weights, and its command loads %" PRIu64
		                        " values in all",
		                        of_shape(&weights), values);
	return 0;
}

/* However often values are used, each of one operand meets each of the other once at the most. */
static int check_command(const struct least *k, uint32_t n)
{
	const struct isa_prog *p = &k->w->map->prog;
	const struct isa_cmd *c = &p->cmds[n];
	const uint64_t values = loaded(k, c), half = div_up(values, 2);
	uint64_t macs = 0, most;

	for (uint32_t x = c->first_insn; x < c->first_insn + c->n_insns; x++) {
		const struct isa_insn *i = &p->insns[x];
		enum unit id;
		const struct unit_ops *u = isa_is_move(i) || i->pinned ? NULL : program_least_unit_of(i, &id);

		if (!u || u->steps)
			continue;
		if (check_shape(k, i, k->w->l->insn[x], values) < 0)
			return -1;
		macs += isa_turns(p, c, i).work;
	}
	if (__builtin_mul_overflow(half, half, &most))
		most = UINT64_MAX;
	return macs <= most ? 0
	                    : program_least_at(k, k->w->l->cmd[n],
	                                       "%" PRIu64 " multiply-adds of the %" PRIu64
	                                       " values that it loads: there are %" PRIu64 " pairs of them",
	                                       macs, values, most);
}

int program_least(const struct program_whole *w, struct arena *a, struct err *e)
{
	const struct isa_prog *p = &w->map->prog;
	struct least k = { .w = w, .e = e, .sparse = machine_sparsity(w->c) };

	k.lots = arena_array(a, w->s->n_ops + 1, sizeof *k.lots);
	k.bytes = arena_array(a, w->s->n_operands + p->n_insns + 1, sizeof *k.bytes);
	if (!k.lots || !k.bytes)
		return err_nomem(e, "for a program");
	for (uint32_t n = 0; n < p->n_insns; n++)
		if (!isa_is_move(&p->insns[n]) && check_math(&k, &p->insns[n], w->l->insn[n]) < 0)
			return -1;
	for (uint32_t n = 0; w->implied && n < p->n_cmds; n++)
		if (check_command(&k, n) < 0)
			return -1;
	return w->implied ? 0 : find_lots(&k) < 0 || check_products(&k) < 0 ? -1 : check_ops(&k, a);
}
