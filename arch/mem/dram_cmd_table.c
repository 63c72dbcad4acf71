/* dram_cmd_table.c - struct dram_cfg in ticks of its command clock.
 *
 * Times of the sources count from the last tick of a command, at which the device has it whole; the model notes the
 * first one. So a time grows by what the command before it is longer than a tick, and shrinks by what the one after it
 * is. */
#include "arch/mem/dram_cmd.h"

#include <string.h>

/* To the nearest tick: files state whole clocks in ns, rounded to ps. */
static tick_t ticks(const struct dram_cfg *c, ps_t t)
{
	return (t * c->clock_ticks + c->t_ck / 2) / c->t_ck;
}

static tick_t plus(tick_t t, int more)
{
	return more < 0 && t < (tick_t)-more ? 0 : t + (tick_t)(int64_t)more;
}

static tick_t most(tick_t a, tick_t b)
{
	return a > b ? a : b;
}

/* Half of a burst is not a number of ticks where a pin rate was set by hand: then the burst is rounded up. */
static tick_t burst_ticks(const struct dram_cfg *c)
{
	ps_t t = div_up((uint64_t)c->burst_length * 1000000, c->pin_mbps);
	tick_t n = ticks(c, t);

	return n ? n : 1;
}

static void columns(struct dram_cmd_table *t, const struct dram_cfg *c)
{
	tick_t ccd = most(ticks(c, c->t_ccd_s), t->burst), cwl = ticks(c, c->t_cwl), cl = ticks(c, c->t_cl);
	tick_t cs = ticks(c, c->t_cs);

	t->ccd_s = t->ccd_s_wr = ccd;
	t->ccd_l = most(ccd, ticks(c, c->t_ccd_l));
	if (c->bank_groups == 1)
		t->ccd_l = most(ccd, ticks(c, c->t_ccd_bank));
	t->ccd_l_wr = c->t_ccd_l_wr ? most(ccd, ticks(c, c->t_ccd_l_wr)) : t->ccd_l;
	t->rtw = ticks(c, c->t_rtw);
	t->wtr_s = cwl + t->burst + ticks(c, c->t_wtr_s);
	t->wtr_l = cwl + t->burst + ticks(c, c->t_wtr);
	t->rank_rd_rd = c->stacked ? ccd + cs : t->burst + cs;
	t->rank_rd_wr = c->stacked ? t->rtw : t->burst + cs;
	t->rank_wr_wr = ccd;
	t->rank_wr_rd = c->stacked ? t->wtr_s : cwl + t->burst + cs > cl ? cwl + t->burst + cs - cl : t->burst;
}

/* Longer commands: the time between two counts from their first ticks. */
static void dram_cmd_table_rows(struct dram_cmd_table *t, const struct dram_cfg *c)
{
	const int act = (int)c->act_ticks - 1, col = (int)c->column_ticks - 1;
	const struct dram_timing s = dram_timing(c);
	const tick_t rp = ticks(c, s.t_rp);

	t->rcd = plus(ticks(c, s.t_rcd), act - col);
	t->rcd_wr = plus(ticks(c, s.t_rcd_wr), act - col);
	t->ras = plus(ticks(c, c->t_ras), act);
	t->rc = ticks(c, c->t_rc);
	t->rp = plus(rp, -act);
	t->rrd_s = ticks(c, c->t_rrd_s);
	t->rrd_l = ticks(c, c->t_rrd_l);
	t->faw = ticks(c, c->t_faw);
	t->ppd = ticks(c, c->t_ppd);
	t->rtp = plus(ticks(c, c->t_rtp), col);
	t->wr_pre = plus(ticks(c, c->t_cwl) + t->burst + ticks(c, c->t_wr), col);
	t->aad = ticks(c, c->t_aad);
	t->wck = ticks(c, c->t_wck);
	t->rfc = plus(ticks(c, c->t_rfc), -act);
	t->rfc_pb = plus(ticks(c, c->t_rfc_pb), -act);
	t->refi = ticks(c, c->t_refi);
	t->refi_pb = ticks(c, c->t_refi_pb);
	t->rc_ref = plus(t->rc, act);
	t->rp_ref = rp;
}

static int dram_cmd_table_check(const struct dram_cfg *c, struct err *e)
{
	if (dram_is_fixed(c))
		return err_set(e, ERR_CONFIG, "DRAM of kind 'fixed' has no commands");
	if ((uint64_t)c->bank_groups * c->banks > 64)
		return err_set(e, ERR_CONFIG, "the command path takes 64 banks of a rank at most, not %u",
		               c->bank_groups * c->banks);
	if (c->pseudo_channels * c->ranks > 64)
		return err_set(e, ERR_CONFIG,
		               "the command path takes 64 ranks and pseudo-channels of a channel at most, not %u",
		               c->pseudo_channels * c->ranks);
	return 0;
}

int dram_cmd_table(struct dram_cmd_table *t, const struct dram_cfg *c, struct err *e)
{
	memset(t, 0, sizeof *t);
	if (dram_cmd_table_check(c, e) < 0)
		return -1;
	t->channels = c->channels;
	t->pcs = c->pseudo_channels;
	t->ranks = c->ranks;
	/* Without bank groups the longer times hold within a bank. */
	t->groups = c->bank_groups > 1 ? c->bank_groups : c->banks;
	t->banks = c->bank_groups > 1 ? c->banks : 1;
	t->size = (struct dram_map_size){
		.n = { c->channels, c->pseudo_channels, c->ranks, c->bank_groups, c->banks, c->rows,
		       c->row_bytes / dram_burst_bytes(c) },
		.burst_bytes = dram_burst_bytes(c),
	};
	t->t_ck = c->t_ck;
	t->clock_ticks = c->clock_ticks;
	t->act_ticks = c->act_ticks;
	t->column_ticks = c->column_ticks;
	t->split_bus = c->split_bus;
	t->stacked = c->stacked || c->ranks == 1;
	t->row_hit = c->scheduler == DRAM_FRFCFS_ROW_HIT;
	t->closed_page = c->page == DRAM_PAGE_CLOSED;
	t->refresh = c->t_refi ? c->refresh : DRAM_REFRESH_NONE;
	t->burst = burst_ticks(c);
	t->read_latency = ticks(c, dram_timing(c).t_cl) + t->burst;
	t->write_latency = ticks(c, c->t_cwl) + t->burst;
	columns(t, c);
	dram_cmd_table_rows(t, c);
	t->read_queue = c->read_queue;
	t->write_queue = c->write_queue;
	/* More than `high` waiting starts draining, fewer than `low` ends it. */
	t->high = (uint32_t)((uint64_t)c->write_queue * c->drain_high / 1000000);
	t->low = (uint32_t)div_up((uint64_t)c->write_queue * c->drain_low, 1000000);
	return 0;
}

uint64_t dram_cmd_ps(const struct dram_cmd_table *t, tick_t n)
{
	return n * t->t_ck / t->clock_ticks;
}
