#include "arch/machine/machine_ceiling.h"

#include "arch/machine/machine_peak.h"
#include "arch/machine/machine_power.h"
#include "workloads/dtype.h"

#define ONE ENERGY_ONE

/* So many events a second of so many femtojoules, in microwatts. */
static uint64_t taking(uint64_t a_second, uint64_t fj)
{
	return energy_events(a_second / 1000000, fj, 1000);
}

/* So many a cycle. */
static uint64_t clocked(const struct machine_cfg *c, uint64_t a_cycle, uint64_t fj)
{
	return taking(energy_events(a_cycle, c->clock * 1000, ONE), fj);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* --- units --------------------------------------------------------------------------------------------------------- */

static const struct {
	enum dtype d;
	enum npu_format format;
} formats[] = { { DT_FP32, NPU_fp32 }, { DT_BF16, NPU_bf16 }, { DT_FP16, NPU_fp16 }, { DT_FP8, NPU_fp8 },
	        { DT_INT8, NPU_int8 }, { DT_FP4, NPU_int4 },  { DT_INT4, NPU_int4 } };

/* Scratchpad's energy for the operands of a thousand multiply-adds, fJ. What all of a dimension reuses is held, and takes as long to
 * load as an edge of the array has steps. */
static uint64_t operands(const struct npu_costs *cost, const struct unit_reuse *r, enum dtype d)
{
	const uint64_t each[] = { r->weights, r->activations, r->sums };
	uint64_t held = 0, values = 0;

	for (int i = 0; i < 3; i++)
		if (each[i] && (!held || each[i] < held))
			held = each[i];
	held = held ? held : 1;
	for (int i = 0; i < 2; i++)
		values += 1000 / (each[i] ? each[i] : held) + 1;
	/* Sums of four bytes go to and fro. */
	return cost->sram * (dtype_bytes(d, values) + 8 * (1000 / (r->sums ? r->sums : held) + 1));
}

/* With weights and activations of each two formats. */
static uint64_t multiplying(const struct machine_cfg *c, int unit)
{
	const struct unit_ops *u = unit_table[unit];
	const struct unit_env env = machine_unit(c, (enum unit)unit);
	const struct npu_costs *cost = &c->power.used;
	struct unit_reuse r = { 0, 0, 0 };
	uint64_t most = 0;

	if (u->reuse)
		u->reuse(&env, &r);
	for (size_t w = 0; w < sizeof formats / sizeof *formats; w++)
		for (size_t a = 0; a < sizeof formats / sizeof *formats; a++) {
			const enum dtype with = formats[a].d;
			/* 32 bits pass an array twice (arch/npu/unit_matrix.c). */
			const uint64_t macs = u->peak(&env, formats[w].d, with) / (dtype_bits(with) > 16 ? 2 : 1),
				       fj = npu_mac_energy(&c->power, unit, formats[a].format) +
			                    operands(cost, &r, with) / 1000;

			most = larger(most, clocked(c, macs, fj));
		}
	return most;
}

static uint64_t stepping(const struct machine_cfg *c, int unit)
{
	const struct unit_env env = machine_unit(c, (enum unit)unit);
	const struct npu_costs *p = &c->power.used;
	struct unit_steps s;

	unit_table[unit]->steps(&env, &s);
	return larger(clocked(c, s.compare, p->compare),
	              energy_add(clocked(c, s.alu, p->alu),
	                         energy_add(clocked(c, s.sfu, p->sfu), clocked(c, s.convert, p->convert))));
}

static uint64_t units(const struct machine_cfg *c)
{
	uint64_t uw = 0;

	for (int i = 0; i < UNIT_COUNT; i++) {
		const struct unit_ops *u = unit_table[i];

		if (c->unit[i].units && u->peak)
			uw = energy_add(uw, multiplying(c, i));
		if (c->unit[i].units && u->steps)
			uw = energy_add(uw, stepping(c, i));
	}
	return uw;
}

/* --- what moves ------------------------------------------------------------------------------------------------------ */

/* A byte that comes into a core or leaves it passes the network, and once more where cores add up partial sums; values of ops that are
 * no products pass the scratchpad at its rate. */
static uint64_t cores_bytes(const struct machine_cfg *c)
{
	const struct npu_costs *p = &c->power.used;
	const uint64_t dma = dma_rate(&c->dma, c->cores), port = (uint64_t)c->mem.noc.port * c->cores,
		       hop = energy_events(p->noc, machine_hops(c), 10000);

	return energy_add(energy_add(clocked(c, dma, p->sram + hop), clocked(c, larger(dma, port), hop)),
	                  clocked(c, sram_rate(&c->sram, c->cores), p->sram));
}

static uint64_t shared_bytes(const struct machine_cfg *c)
{
	const struct npu_costs *p = &c->power.used;
	const struct memory_cfg *m = &c->mem;
	const uint64_t pins = dram_peak(&m->dram);
	uint64_t uw = 0;

	/* What comes from below is written to them beside what is asked of them. */
	if (m->l2.size)
		uw = taking(energy_add(l2_bandwidth(&m->l2, c->clock), pins), p->l2);
	if (m->kv_buffer.size)
		uw = energy_add(uw, taking(energy_add(m->kv_buffer.bandwidth, pins), p->kv_buffer));
	if (l1_cache(&m->l1))
		uw = energy_add(uw, clocked(c, 2 * m->l1.bandwidth * c->cores, p->l1));
	return uw;
}

/* Rows a second that may be opened: by four in tFAW, one in tRRD; without times one a burst of 64 B. */
static uint64_t rows_opened(const struct dram_cfg *d)
{
	const ps_t apart = larger(d->t_rrd_s, d->t_faw / 4);
	const uint64_t parts = (uint64_t)d->channels * d->pseudo_channels * (d->ranks ? d->ranks : 1);

	return apart ? parts * (1000000000000 / apart) : dram_peak(d) / 64;
}

static uint64_t memory(const struct machine_cfg *c)
{
	const struct npu_costs *p = &c->power.used;
	const struct dram_cfg *d = &c->mem.dram;
	uint64_t uw = taking(dram_peak(d), larger(p->dram_read, p->dram_write));

	if (dram_is_fixed(d))
		return uw;
	uw = energy_add(uw, taking(rows_opened(d), p->activate));
	return d->t_refi ? energy_add(uw, taking(energy_events(d->capacity / 8192, 1000000000000 / d->t_refi, ONE),
	                                         p->refresh))
	                 : uw;
}

/* One a cycle at the most. */
static uint64_t dispatching(const struct machine_cfg *c)
{
	const struct npu_costs *p = &c->power.used;

	return energy_add(clocked(c, 1, p->command), clocked(c, (uint64_t)c->dma.engines * c->cores, p->transfer));
}

/* --- the machine ------------------------------------------------------------------------------------------------------- */

static uint64_t of_npu(const struct machine_cfg *c)
{
	const struct npu_power_cfg *p = &c->power;
	const uint64_t v2 = npu_voltage2(p, c->clock),
		       chip = energy_add(energy_add(p->used.leakage, p->used.clock_tree),
	                                 energy_add(energy_add(units(c), cores_bytes(c)),
	                                            energy_add(shared_bytes(c), dispatching(c)))),
		       all = energy_add(energy_scale(chip, v2), energy_add(p->used.standby, memory(c)));

	return energy_scale(p->cap && p->cap < all ? p->cap : all, c->die.machines * ONE);
}

uint64_t machine_ceiling(const struct machine_cfg *c, const struct tech *t, const struct area *a)
{
	struct machine_peak p;

	if (machine_runs(c) == MACHINE_COMMANDS)
		return npu_power_known(&c->power) ? of_npu(c) : 0;
	if (c->gpu.power.cap)
		return c->gpu.power.cap;
	machine_peak(c, t, a, &p);
	return machine_peak_sum(&p);
}
