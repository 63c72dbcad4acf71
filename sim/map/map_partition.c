/* map_partition.c - which core has what of a product's operands, and what that takes of scratchpads and ports.
 *
 * SRAM is counted as if every core were as full as the fullest one, so an operand that all want takes as often as much.
 * Of a batch, and of attention's heads, each has its own left operand: columns of different ones share none. */
#include "sim/map/map_int.h"

uint64_t map_partition_bytes(const struct mapper *m, const struct unit_split *s, int operand, const uint64_t mnk[3],
                             uint64_t bytes)
{
	return s->m ? partition_share(s, (enum partition_operand)operand, mnk, bytes) * m->c->cores : bytes;
}

uint64_t map_share(const struct mapper *m, const struct unit_split *s, int operand, const uint64_t mnk[3],
                   uint64_t bytes)
{
	const uint64_t share = s->m ? partition_share(s, (enum partition_operand)operand, mnk, bytes) : 0;

	return share * m->c->cores > bytes ? share : 0;
}

/* Each core pads the rows it has; parts of k and copies for parts of m are rows of their own. */
uint64_t map_padding(const struct unit_plan *p, uint64_t rows)
{
	return p->pad * rows * ps_max(1, p->split.m) * ps_max(1, p->split.k);
}

void map_partition_move(const struct mapper *m, struct isa_insn *i, const struct unit_split *s, int operand,
                        const uint64_t mnk[3])
{
	const uint32_t copies = partition_copies(s, (enum partition_operand)operand);

	/* One core has one name: 0. */
	i->copies = i->code == ISA_LOAD && copies > 1 ? copies : 0;
	i->share = map_share(m, s, operand, mnk, i->when == ISA_TILE ? i->tile_bytes : i->bytes);
}

/* Left operands that columns are divided among. */
static uint64_t groups_of(const struct op *o)
{
	const struct op_shape *s = &o->shape;

	return (s->batch ? s->batch : 1) * (o->kind == OP_ATTENTION && s->kv_heads ? s->kv_heads : 1);
}

static int operand_of(const struct mapper *m, const struct op *o, const struct isa_insn *i)
{
	if (i->code == ISA_STORE)
		return PARTITION_C;
	for (uint32_t k = 0; k < o->n_operands; k++) {
		const struct op_operand *x = &m->s->operands[o->first_operand + k];

		if (!x->write)
			return x->tensor == i->tensor ? PARTITION_A : PARTITION_B;
	}
	return PARTITION_B;
}

void map_partition_moves(const struct mapper *m, struct map_candidate *d, const struct op *o,
                         const struct unit_split *s, const uint64_t mnk[3])
{
	const uint64_t groups = groups_of(o);

	for (uint32_t n = 0; n < d->n; n++) {
		struct isa_insn *i = &d->insn[n];
		const uint64_t bytes = i->when == ISA_TILE ? i->tile_bytes : i->bytes;
		struct unit_split own = *s;
		int operand;

		if (i->op != o->id || (i->code != ISA_LOAD && i->code != ISA_STORE) ||
		    (i->code == ISA_STORE && o->kind == OP_ATTENTION))
			continue;
		operand = operand_of(m, o, i);
		if (operand == PARTITION_A) /* of n's parts, each wants the rows of its own groups alone */
			own.n = (uint32_t)div_up(s->n, groups);
		map_partition_move(m, i, &own, operand, mnk);
		if (operand == PARTITION_A)
			i->share = div_up(i->share, ps_min(groups, s->n));
		if (i->share && i->when == ISA_TILE)
			d->slot_bytes += i->share * m->c->cores - bytes;
		else if (i->share &&
		         !(i->code == ISA_LOAD && m->stationary[i->tensor])) /* those lie in a unit's arrays */
			d->fixed_bytes += i->share * m->c->cores - bytes;
	}
}

static struct isa_insn *map_partition_put(struct map_candidate *d, const struct op *o, enum isa_when when,
                                          uint8_t stays, ps_t span, ps_t latency)
{
	struct isa_insn *i = map_add(d);

	i->code = ISA_SEND;
	i->when = (uint8_t)when;
	i->unit = RES_NOC;
	i->src = i->dst = ISA_SRAM;
	i->dtype = DT_FP32;
	i->op = o->id;
	i->stays = stays;
	i->span = i->span_last = span;
	i->latency = latency;
	return i;
}

struct isa_insn *map_emit_exchange(struct map_candidate *d, const struct op *o, const struct map_math *x,
                                   enum isa_when when, uint64_t times, uint8_t stays)
{
	if (x->plan.split.k < 2)
		return NULL;
	return map_partition_put(d, o, when, stays, x->plan.exchange * times, x->plan.exchange_latency);
}

/* Cores that share a head's keys each have a sum of values, a largest score and a sum of weights for each of its rows. */
void map_emit_combine(const struct mapper *m, struct map_candidate *d, const struct op *o, const struct map_math *x)
{
	const struct op_shape *s = &o->shape;
	const uint64_t kv_heads = s->kv_heads ? s->kv_heads : 1, group = s->heads / kv_heads ? s->heads / kv_heads : 1,
		       rows = div_up(s->q_len * group, x->plan.split.m);
	const uint32_t cores = (uint32_t)div_up(x->plan.split.n, groups_of(o));
	ps_t latency, span;

	if (o->kind != OP_ATTENTION || cores < 2)
		return;
	span = partition_exchange(&m->unit[x->unit], rows, (s->v_dim ? s->v_dim : s->head_dim) + 2, cores, &latency);
	map_partition_put(d, o, ISA_POST, 0, span, latency);
}
