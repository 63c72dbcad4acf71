/* dram_cmd_dev.c - what DRAM commands do to the times of banks, bank groups and ranks. */
#include "arch/dram_cmd_int.h"

void dram_dev_scope(const struct channel *c, uint32_t unit, uint32_t *from, uint32_t *to)
{
	*from = unit;
	*to = unit + 1;
	if (c->t->stacked) {
		*from = unit / c->t->ranks * c->t->ranks;
		*to = *from + c->t->ranks;
	}
}

void dram_dev_act(struct channel *c, uint32_t bank, uint32_t row, tick_t now)
{
	const struct dram_cmd_table *t = c->t;
	struct bank *b = &c->bank[bank];
	struct group *g = &c->group[b->group];
	uint32_t from, to;

	b->row = row;
	b->col[READS] = now + t->rcd;
	b->col[WRITES] = now + t->rcd_wr;
	b->pre = later(b->pre, now + t->ras);
	b->act = later(b->act, now + t->rc);
	g->act = now + t->rrd_l;
	c->unit[b->unit].open |= UINT64_C(1) << bank % c->unit_banks;
	dram_dev_scope(c, b->unit, &from, &to);
	for (uint32_t i = from; i < to; i++) {
		struct unit *u = &c->unit[i];

		/* The ACT three before this one: with this one they are four within tFAW. */
		u->faw[u->faw_at] = now + t->faw;
		u->faw_at = (u->faw_at + 1) & 3;
		u->act = later(u->act, later(now + t->rrd_s, u->faw[u->faw_at]));
		u->preab = later(u->preab, now + t->ras);
		u->ref = later(u->ref, now + t->rc_ref);
	}
}

void dram_dev_pre(struct channel *c, uint32_t bank, tick_t now)
{
	const struct dram_cmd_table *t = c->t;
	struct bank *b = &c->bank[bank];
	uint32_t from, to;

	b->row = NO_ROW;
	b->act = later(b->act, now + t->rp);
	c->unit[b->unit].open &= ~(UINT64_C(1) << bank % c->unit_banks);
	dram_dev_scope(c, b->unit, &from, &to);
	for (uint32_t i = from; i < to; i++) {
		c->unit[i].pre = later(c->unit[i].pre, now + t->ppd);
		c->unit[i].ref = later(c->unit[i].ref, now + t->rp_ref);
	}
}

static inline void read_times(const struct dram_cmd_table *t, struct group *g, struct unit *u, tick_t now)
{
	g->col[READS] = later(g->col[READS], now + t->ccd_l);
	u->col[READS] = later(u->col[READS], now + t->ccd_s);
	u->col[WRITES] = later(u->col[WRITES], now + t->rtw);
}

static inline void write_times(const struct dram_cmd_table *t, struct group *g, struct unit *u, tick_t now)
{
	g->col[WRITES] = later(g->col[WRITES], now + t->ccd_l_wr);
	g->col[READS] = later(g->col[READS], now + t->wtr_l);
	u->col[WRITES] = later(u->col[WRITES], now + t->ccd_s_wr);
	u->col[READS] = later(u->col[READS], now + t->wtr_s);
}

void dram_dev_column(struct channel *c, uint32_t bank, int dir, tick_t now)
{
	const struct dram_cmd_table *t = c->t;
	struct bank *b = &c->bank[bank];
	struct group *g = &c->group[b->group];
	tick_t pre = now + (dir == READS ? t->rtp : t->wr_pre);
	uint32_t first = b->unit / t->ranks * t->ranks, from, to;

	b->pre = later(b->pre, pre);
	for (uint32_t i = first; i < first + t->ranks; i++) {
		struct unit *u = &c->unit[i];

		if (i == b->unit) {
			if (dir == READS)
				read_times(t, g, u, now);
			else
				write_times(t, g, u, now);
			continue;
		}
		u->col[READS] = later(u->col[READS], now + (dir == READS ? t->rank_rd_rd : t->rank_wr_rd));
		u->col[WRITES] = later(u->col[WRITES], now + (dir == READS ? t->rank_rd_wr : t->rank_wr_wr));
	}
	dram_dev_scope(c, b->unit, &from, &to);
	for (uint32_t i = from; i < to; i++)
		c->unit[i].preab = later(c->unit[i].preab, pre);
}

void dram_dev_preab(struct channel *c, uint32_t unit, tick_t now)
{
	uint32_t from, to;

	dram_dev_scope(c, unit, &from, &to);
	for (uint32_t i = from; i < to; i++) {
		struct unit *u = &c->unit[i];

		u->open = 0;
		u->act = later(u->act, now + c->t->rp);
		u->ref = later(u->ref, now + c->t->rp_ref);
		for (uint32_t k = i * c->unit_banks; k < (i + 1) * c->unit_banks; k++)
			c->bank[k].row = NO_ROW;
	}
}

void dram_dev_refab(struct channel *c, uint32_t unit, tick_t now)
{
	uint32_t from, to;

	dram_dev_scope(c, unit, &from, &to);
	for (uint32_t i = from; i < to; i++) {
		c->unit[i].act = later(c->unit[i].act, now + c->t->rfc);
		c->unit[i].preab = later(c->unit[i].preab, now + c->t->rfc);
		c->unit[i].ref = later(c->unit[i].ref, now + c->t->rfc);
	}
}

void dram_dev_refpb(struct channel *c, uint32_t bank, tick_t now)
{
	struct bank *b = &c->bank[bank];
	uint32_t from, to;

	b->act = later(b->act, now + c->t->rfc_pb);
	dram_dev_scope(c, b->unit, &from, &to);
	for (uint32_t i = from; i < to; i++)
		c->unit[i].act = later(c->unit[i].act, now + c->t->rrd_s);
}

/* I1 */
tick_t dram_dev_ready(const struct channel *c, enum dram_command k, uint32_t bank)
{
	const struct bank *b = &c->bank[bank];
	const struct group *g = &c->group[b->group];
	const struct unit *u = &c->unit[b->unit];
	uint32_t from, to;
	tick_t r = 0;

	switch (k) {
	case DRAM_ACT: return later(later(b->act, g->act), u->act);
	case DRAM_PRE: return later(b->pre, u->pre);
	case DRAM_RD:  return later(later(b->col[READS], g->col[READS]), u->col[READS]);
	case DRAM_WR:  return later(later(b->col[WRITES], g->col[WRITES]), u->col[WRITES]);
	case DRAM_REFPB: return later(b->act, u->act);
	case DRAM_PREAB:
	case DRAM_REFAB:
		dram_dev_scope(c, b->unit, &from, &to);
		for (uint32_t i = from; i < to; i++)
			r = later(r, k == DRAM_PREAB ? c->unit[i].preab : c->unit[i].ref);
		return r;
	case DRAM_COMMANDS: break;
	}
	return TICK_NEVER;
}
