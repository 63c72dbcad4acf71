#include "sim/engine/pass_count.h"

#include <string.h>

#include "arch/machine/machine_power.h"
#include "workloads/quant.h"
#include "workloads/work.h"

/* --- units ------------------------------------------------------------------------------------------------------- */

/* How often an instruction is run in full, and whether with the last tile's work once more. */
struct turns {
	uint64_t full;
	bool last;
};

static struct turns turns_of(const struct isa_cmd *c, const struct isa_insn *i)
{
	const bool ends =
		i->code == ISA_SEND; /* in the last round of a loop that it stays through, others in the first */
	uint64_t n = 1;
	bool last = true;

	if (i->when != ISA_TILE)
		return (struct turns){ 1, false };
	if (!c->trips[0])
		return i->stays & 1 ? (struct turns){ c->tiles > 1, c->tiles == 1 }
		                    : (struct turns){ c->tiles ? c->tiles - 1 : 0, c->tiles > 0 };
	for (int l = 0; l < ISA_LOOPS; l++) {
		const bool stays = i->stays >> l & 1;

		n *= stays ? 1 : c->trips[l];
		last &= !stays || ends || c->trips[l] == 1;
	}
	return (struct turns){ n - last, last };
}

/* Of a nest whose last rounds are smaller: each loop is in its last of several rounds, or in one of the others. */
static uint64_t edged_work(const struct isa_prog *p, const struct isa_cmd *c, const struct isa_insn *i)
{
	const struct isa_remainders *e = &p->edges[i->edges - 1];
	const bool ends = i->code == ISA_SEND;
	uint64_t work = 0;

	for (unsigned at = 0; at < 1u << ISA_LOOPS; at++) {
		uint64_t n = 1;

		for (int l = 0; l < ISA_LOOPS; l++) {
			const bool last = at >> l & 1, several = c->trips[l] > 1;

			if (i->stays >> l & 1)
				n *= last == (ends && several);
			else
				n *= last ? several : several ? c->trips[l] - 1 : 1;
		}
		work += n * e->at[at & e->loops].work;
	}
	return work;
}

static uint64_t work_of_insn(const struct isa_prog *p, const struct isa_cmd *c, const struct isa_insn *i)
{
	const struct turns t = turns_of(c, i);

	return i->edges && i->when == ISA_TILE ? edged_work(p, c, i) : t.full * i->work + (t.last ? i->work_last : 0);
}

static int pass_count_unit_of(const struct isa_insn *i)
{
	for (int u = 0; u < UNIT_COUNT; u++)
		if (unit_table[u]->res == (enum res)i->unit)
			return u;
	return -1;
}

/* By the wider operand, which is the activations' but where they are narrowed. */
static enum npu_format format_of(const struct machine_cfg *c, const struct op *o)
{
	const enum dtype want = quant_dtype((enum quant)c->activations.quant);
	const enum dtype d = want && dtype_bits(want) < dtype_bits(o->dtype) ? want : o->dtype;

	switch (d) {
	case DT_BF16:
		return NPU_bf16;
	case DT_FP16:
		return NPU_fp16;
	case DT_INT8:
	case DT_INT16:
		return NPU_int8;
	default:
		break;
	}
	if (dtype_bits(d) <= 4)
		return NPU_int4;
	return dtype_bits(d) <= 8 ? NPU_fp8 : NPU_fp32;
}

/* Where a unit's events go: the run's sums, and what they cost the op they are of. */
struct counting {
	const struct machine_cfg *c;
	struct npu_activity *x;
	uint64_t *fj; /* of the op */
};

static void pass_count_add(const struct counting *to, int event, uint64_t n)
{
	to->x->n[event] = energy_add(to->x->n[event], n);
	*to->fj = energy_add(*to->fj, energy_events(n, npu_event_energy(&to->c->power, event), ENERGY_ONE));
}

/* A vector unit's steps by pipe, as the op has them. */
static void count_steps(const struct op_stream *s, const struct op *o, enum isa_code code, uint64_t n,
                        const struct counting *to)
{
	struct work w;
	uint64_t all, special;

	if (code == ISA_CONVERT || code == ISA_SORT) {
		pass_count_add(to, code == ISA_SORT ? NPU_EVENT_compare : NPU_EVENT_convert, n);
		return;
	}
	w = work_of(s, o);
	all = energy_add(w.alu, w.sfu);
	special = all ? (uint64_t)((double)n * (double)w.sfu / (double)all) : 0;
	pass_count_add(to, NPU_EVENT_sfu, special);
	pass_count_add(to, NPU_EVENT_alu, n - special);
}

static uint64_t at_most(uint64_t reuse, uint64_t dim)
{
	dim = dim ? dim : 1;
	return reuse && reuse < dim ? reuse : dim;
}

/* Bytes of its operands and partial sums that a product's unit asks of the scratchpad: narrow weights as they are where it
 * multiplies them so, else widened. */
static uint64_t operand_bytes(const struct machine_cfg *c, const struct op *o, const struct map_pair *pair, int unit,
                              uint64_t macs)
{
	const struct op_shape *s = &o->shape;
	const bool attention = o->kind == OP_ATTENTION;
	const uint64_t group = attention && s->kv_heads ? div_up(s->heads, s->kv_heads) : 1;
	const uint64_t m = attention ? s->q_len * group : s->m, n = attention ? s->kv_len : s->n,
		       k = attention ? s->head_dim : s->k;
	const struct unit_env u = machine_unit(c, (enum unit)unit);
	const enum dtype with = pair->with ? (enum dtype)pair->with : o->dtype;
	enum dtype weight = pair->weight ? (enum dtype)pair->weight : with;
	struct unit_reuse r = { 0, 0, 0 };
	uint64_t sums;

	if (unit_table[unit]->reuse)
		unit_table[unit]->reuse(&u, &r);
	if (dtype_bits(weight) < dtype_bits(with) &&
	    !(unit_table[unit]->native && unit_table[unit]->native(&u, weight, with)))
		weight = with;
	sums = macs / at_most(r.sums, k) * 4;
	return dtype_bytes(weight, macs / at_most(r.weights, m)) + dtype_bytes(with, macs / at_most(r.activations, n)) +
	       (r.sums && r.sums < k ? 2 * sums : sums);
}

static void count_insn(const struct op_stream *s, const struct map_lower_bound *floor, const struct isa_insn *i,
                       uint64_t n, const struct counting *to)
{
	const struct op *o = &s->ops[i->op];
	const int unit = pass_count_unit_of(i);

	if (unit < 0 || !n)
		return;
	if (unit_table[unit]->last_resort && (i->code != ISA_VECTOR || o->kind != OP_GEMM)) {
		count_steps(s, o, (enum isa_code)i->code, n, to);
		return;
	}
	pass_count_add(to, NPU_MACS(unit, format_of(to->c, o)), n);
	pass_count_add(to, NPU_EVENT_sram_operand, operand_bytes(to->c, o, &floor->op_pair[i->op], unit, n));
}

uint64_t pass_count_links(const struct isa_prog *p)
{
	uint64_t bytes = 0;

	for (size_t k = 0; k < p->n_cmds; k++)
		for (uint32_t n = 0; n < p->cmds[k].n_insns; n++) {
			const struct isa_insn *i = &p->insns[p->cmds[k].first_insn + n];

			bytes += i->unit == RES_LINK ? work_of_insn(p, &p->cmds[k], i) : 0;
		}
	return bytes;
}

/* Math that a tensor which stays needs once was done in an earlier pass, but of the first one. Values of ops that are no
 * products pass the scratchpad once each way, fused or not. */
static void count_units(const struct machine_cfg *c, enum run_start start, const struct run_result *r,
                        struct npu_activity *out, uint64_t *op_fj)
{
	const struct isa_prog *p = &r->map->prog;
	const struct op_stream *s = r->stream;

	for (size_t k = 0; k < p->n_cmds; k++)
		for (uint32_t n = 0; n < p->cmds[k].n_insns; n++) {
			const struct isa_insn *i = &p->insns[p->cmds[k].first_insn + n];

			if (i->code != ISA_LOAD && i->code != ISA_STORE && i->op < s->n_ops &&
			    (!i->pinned || start == RUN_COLD))
				count_insn(s, &r->map->floor, i, work_of_insn(p, &p->cmds[k], i),
				           &(struct counting){ c, out, &op_fj[i->op] });
		}
	for (size_t i = 0; i < s->n_ops; i++) {
		struct work w;

		if (r->map->cmd_of_op[i] == UINT32_MAX || op_is_product(s->ops[i].kind))
			continue;
		w = work_of(s, &s->ops[i]);
		pass_count_add(&(struct counting){ c, out, &op_fj[i] }, NPU_EVENT_sram_value,
		               energy_add(w.read_bytes, w.write_bytes));
	}
}

/* What units could have done while they waited; `st` NULL: all the time. */
static void count_waiting(const struct machine_cfg *c, const struct stat_reg *st, ps_t total, struct npu_activity *out)
{
	for (int i = 0; i < UNIT_COUNT; i++) {
		const struct unit_env u = machine_unit(c, (enum unit)i);
		const ps_t busy = st ? ps_min(stat_get_or(st, unit_table[i]->busy_stat, 0), total) : 0;
		const uint64_t peak =
			c->unit[i].units && unit_table[i]->peak ? unit_table[i]->peak(&u, DT_BF16, DT_BF16) : 0;

		out->waited[i] = energy_events(clock_cycles(total - busy, c->clock),
		                               peak * (unit_table[i]->last_resort ? 2 : 1), ENERGY_ONE);
	}
}

/* --- bytes ------------------------------------------------------------------------------------------------------- */

static uint64_t got(const struct stat_reg *st, const char *name)
{
	return stat_get_or(st, name, 0);
}

static void count_levels(const struct stat_reg *st, struct npu_activity *x)
{
	static const struct {
		int event;
		const char *stat;
	} rows[] = {
		{ NPU_EVENT_sram_fill, "dma.read_bytes" },
		{ NPU_EVENT_sram_drain, "dma.write_bytes" },
		{ NPU_EVENT_l1_hit, "l1.hit_bytes" },
		{ NPU_EVENT_l1_fill, "l1.fill_bytes" },
		{ NPU_EVENT_kv_hit, "kv_buffer.hit_bytes" },
		{ NPU_EVENT_kv_fill, "kv_buffer.fill_bytes" },
		{ NPU_EVENT_l2_hit, "l2.hit_bytes" },
		{ NPU_EVENT_l2_fill, "l2.fill_bytes" },
		{ NPU_EVENT_l2_writeback, "l2.writeback_bytes" },
		{ NPU_EVENT_dram_read, "dram.read_bytes" },
		{ NPU_EVENT_dram_write, "dram.write_bytes" },
		{ NPU_EVENT_command, "dispatch.commands" },
		{ NPU_EVENT_transfer, "dma.transfers" },
	};
	const uint64_t miss = got(st, "l2.miss_bytes"), fill = got(st, "l2.fill_bytes");

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		x->n[rows[i].event] = got(st, rows[i].stat);
	x->n[NPU_EVENT_l2_write] = miss > fill ? miss - fill : 0;
}

static void count_network(const struct machine_cfg *c, const struct stat_reg *st, struct npu_activity *x)
{
	const uint64_t hops = machine_hops(c);

	x->n[NPU_EVENT_noc_up] = energy_events(got(st, "noc.up_bytes"), hops, 10000);
	x->n[NPU_EVENT_noc_down] = energy_events(got(st, "noc.down_bytes"), hops, 10000);
	x->n[NPU_EVENT_noc_copy] = energy_events(got(st, "noc.copied_bytes"), hops, 10000);
	x->n[NPU_EVENT_noc_core] = energy_events(got(st, "noc.core_bytes"), hops, 10000);
}

#define REFRESHES 8192 /* commands that refresh all rows (JEDEC, of every kind here) */

static uint64_t refreshed(const struct dram_cfg *d, ps_t t)
{
	if (dram_is_fixed(d) || !d->t_refi || d->refresh == DRAM_REFRESH_NONE)
		return 0;
	return (uint64_t)((double)d->capacity * (double)t / ((double)d->t_refi * REFRESHES));
}

static void count_dram(const struct machine_cfg *c, const struct stat_reg *st, ps_t total, struct npu_activity *x)
{
	const struct dram_cfg *d = &c->mem.dram;
	const uint64_t bytes = x->n[NPU_EVENT_dram_read] + x->n[NPU_EVENT_dram_write];

	if (!dram_is_fixed(d))
		x->n[NPU_EVENT_activate] = stat_get_or(st, "dram.activates", div_up(bytes, d->row_bytes));
	x->n[NPU_EVENT_refresh] = refreshed(d, total);
}

void pass_count_idle(const struct machine_cfg *c, ps_t t, struct npu_activity *out)
{
	memset(out, 0, sizeof *out);
	count_waiting(c, NULL, t, out);
	out->n[NPU_EVENT_refresh] = refreshed(&c->mem.dram, t);
}

void pass_count(const struct machine_cfg *c, const struct stat_reg *st, enum run_start start,
                const struct run_result *r, struct npu_activity *out, uint64_t *op_fj)
{
	memset(out, 0, sizeof *out);
	count_units(c, start, r, out, op_fj);
	count_waiting(c, st, r->total_ps, out);
	count_levels(st, out);
	count_network(c, st, out);
	count_dram(c, st, r->total_ps, out);
}
