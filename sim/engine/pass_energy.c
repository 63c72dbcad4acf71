#include "sim/engine/pass_energy.h"

#include <string.h>

#include "sim/engine/pass_count.h"

/* --- by op ------------------------------------------------------------------------------------------------------- */

/* What an op's share of some rows goes by. */
enum by { BY_WORK, BY_BYTES, BY_DRAM, BY_TIME, BYS };

static enum by by_of(int row)
{
	const int event = row - NPU_WAITS;

	if (event < 0)
		return BY_TIME;
	if (event <= NPU_EVENT_compare || event == NPU_EVENT_sram_operand || event == NPU_EVENT_sram_value)
		return BY_WORK;
	if (event == NPU_EVENT_refresh)
		return BY_TIME;
	return event == NPU_EVENT_dram_read || event == NPU_EVENT_dram_write || event == NPU_EVENT_activate ? BY_DRAM
	                                                                                                    : BY_BYTES;
}

static uint64_t weight(const struct run_op *o, enum by by, uint64_t work)
{
	const uint64_t w[BYS] = {
		[BY_WORK] = work, [BY_BYTES] = o->mem_bytes, [BY_DRAM] = o->dram_bytes, [BY_TIME] = o->span_ps
	};

	return o->carried ? 0 : w[by];
}

/* Of what is left a part as large as the weight is of the weights left. */
static uint64_t pass_energy_part(uint64_t weight, uint64_t weights, uint64_t left)
{
	return weight >= weights ? left : ps_min(left, (uint64_t)((double)left * ((double)weight / (double)weights)));
}

static void share_out(struct run_result *r, enum by by, const uint64_t *work, uint64_t fj)
{
	uint64_t weights = 0, time = 0;

	for (size_t i = 0; i < r->stream->n_ops; i++) {
		weights = energy_add(weights, weight(&r->ops[i], by, work[i]));
		time = energy_add(time, weight(&r->ops[i], BY_TIME, 0));
	}
	if (!weights) /* bytes that no op was told of, and nothing of a stream without time */
		by = BY_TIME, weights = time;
	for (size_t i = 0; i < r->stream->n_ops && weights; i++) {
		const uint64_t w = weight(&r->ops[i], by, work[i]), mine = w ? pass_energy_part(w, weights, fj) : 0;

		r->ops[i].energy_fj += mine;
		fj -= mine;
		weights -= w;
	}
}

/* --- the run ----------------------------------------------------------------------------------------------------- */

static void pass_energy_rows(const struct npu_energy *x, const uint64_t *work, struct run_result *r)
{
	uint64_t by[BYS] = { 0 };

	for (int i = 0; i < NPU_ENERGIES; i++) {
		r->energy[i] = (struct run_energy){ &npu_energy_rows[i], x->part[i] };
		r->energy_fj = energy_add(r->energy_fj, x->part[i]);
		by[by_of(i)] = energy_add(by[by_of(i)], x->part[i]);
	}
	for (int b = 0; b < BYS; b++)
		share_out(r, (enum by)b, work, by[b]);
}

uint64_t pass_energy_waiting(const struct machine_cfg *c, ps_t t)
{
	struct machine_cfg slow = *c;
	struct npu_activity did;
	struct npu_energy x;
	uint64_t fj = 0;

	if (!npu_power_known(&c->power))
		return 0;
	if (c->power.n_points && c->power.points[0].clock < slow.clock)
		slow.clock = c->power.points[0].clock;
	pass_count_idle(&slow, t, &did);
	npu_energy_of(&c->power, slow.clock, c->clock, &did, t, &x);
	for (int i = 0; i < NPU_ENERGIES; i++)
		fj = energy_add(fj, x.part[i]);
	return fj;
}

int pass_energy(const struct machine_cfg *c, uint64_t top, const struct stat_reg *st, enum run_start start,
                struct arena *a, struct run_result *r, struct err *e)
{
	struct machine_cfg full = *c;
	struct npu_activity did;
	struct npu_energy x;
	uint64_t *work;

	if (!npu_power_known(&c->power))
		return 0;
	if (!(work = arena_array(a, r->stream->n_ops + 1, sizeof *work)) ||
	    !(r->energy = arena_array(a, NPU_ENERGIES, sizeof *r->energy)))
		return err_set(e, ERR_NOMEM, "out of memory for results");
	r->n_energy = NPU_ENERGIES;
	pass_count(c, st, start, r, &did, work);
	npu_energy_of(&c->power, c->clock, top, &did, r->total_ps, &x);
	pass_energy_rows(&x, work, r);
	r->clock_khz = c->clock;
	full.clock = top;
	/* Until the time that it has is over it waits. */
	if (c->power.latency_target > r->total_ps)
		r->energy_period_fj =
			energy_add(r->energy_fj, pass_energy_waiting(&full, c->power.latency_target - r->total_ps));
	return 0;
}
