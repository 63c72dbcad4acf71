/* dram_cmd_dev.c - what DRAM commands do to the times of banks, bank groups and ranks. */
#include "arch/mem/dram_cmd_int.h"

void dram_dev_act(struct channel *c, uint32_t bank, uint32_t row, tick_t now)
{
	const struct dram_cmd_table *t = c->t;
	struct bank *b = &c->bank[bank];
	struct unit *own = &c->unit[b->unit];

	b->row = row;
	b->col[READS] = now + t->rcd;
	b->col[WRITES] = now + t->rcd_wr;
	b->pre = later(b->pre, now + t->ras);
	b->act = later(b->act, now + t->rc);
	c->group[b->group].act = now + t->rrd_l;
	own->open |= UINT64_C(1) << b->place;
	for (struct unit *u = &c->unit[own->from], *end = &c->unit[own->to]; u < end; u++) {
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
	struct unit *own = &c->unit[b->unit];

	b->row = NO_ROW;
	b->act = later(b->act, now + t->rp);
	own->open &= ~(UINT64_C(1) << b->place);
	for (struct unit *u = &c->unit[own->from], *end = &c->unit[own->to]; u < end; u++) {
		u->pre = later(u->pre, now + t->ppd);
		u->ref = later(u->ref, now + t->rp_ref);
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
	struct unit *own = &c->unit[b->unit];
	tick_t pre = now + (dir == READS ? t->rtp : t->wr_pre);

	b->pre = later(b->pre, pre);
	if (dir == READS)
		read_times(t, g, own, now);
	else
		write_times(t, g, own, now);
	for (struct unit *u = &c->unit[own->pc_from], *end = &c->unit[own->pc_to]; u < end; u++) {
		if (u == own)
			continue;
		u->col[READS] = later(u->col[READS], now + (dir == READS ? t->rank_rd_rd : t->rank_wr_rd));
		u->col[WRITES] = later(u->col[WRITES], now + (dir == READS ? t->rank_rd_wr : t->rank_wr_wr));
	}
	for (struct unit *u = &c->unit[own->from], *end = &c->unit[own->to]; u < end; u++)
		u->preab = later(u->preab, pre);
}

void dram_dev_preab(struct channel *c, uint32_t unit, tick_t now)
{
	for (uint32_t i = c->unit[unit].from; i < c->unit[unit].to; i++) {
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
	for (uint32_t i = c->unit[unit].from; i < c->unit[unit].to; i++) {
		c->unit[i].act = later(c->unit[i].act, now + c->t->rfc);
		c->unit[i].preab = later(c->unit[i].preab, now + c->t->rfc);
		c->unit[i].ref = later(c->unit[i].ref, now + c->t->rfc);
	}
}

void dram_dev_refpb(struct channel *c, uint32_t bank, tick_t now)
{
	struct bank *b = &c->bank[bank];
	const struct unit *own = &c->unit[b->unit];

	b->act = later(b->act, now + c->t->rfc_pb);
	for (uint32_t i = own->from; i < own->to; i++)
		c->unit[i].act = later(c->unit[i].act, now + c->t->rrd_s);
}

/* I1 */
tick_t dram_dev_ready(const struct channel *c, enum dram_command k, uint32_t bank)
{
	const struct bank *b = &c->bank[bank];
	const struct group *g = &c->group[b->group];
	const struct unit *u = &c->unit[b->unit];
	tick_t r = 0;

	switch (k) {
	case DRAM_ACT:
		return later(later(b->act, g->act), u->act);
	case DRAM_PRE:
		return later(b->pre, u->pre);
	case DRAM_RD:
		return later(later(b->col[READS], g->col[READS]), u->col[READS]);
	case DRAM_WR:
		return later(later(b->col[WRITES], g->col[WRITES]), u->col[WRITES]);
	case DRAM_REFPB:
		return later(b->act, u->act);
	case DRAM_PREAB:
	case DRAM_REFAB:
		for (uint32_t i = u->from; i < u->to; i++)
			r = later(r, k == DRAM_PREAB ? c->unit[i].preab : c->unit[i].ref);
		return r;
	case DRAM_COMMANDS:
		break;
	}
	return TICK_NEVER;
}
