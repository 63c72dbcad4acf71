/* dram_cmd_queue.c - the requests of a channel: their lists, the command that each bank could take next for one of them
 * (its candidates), and what a command that is issued means for both. */
#include "arch/mem/dram_cmd_int.h"

#include <assert.h>

/* --- candidates -------------------------------------------------------------------------------------------- */

/* Puts a bank's candidate in, in place of the one it had. */
static inline void set_cand(struct channel *c, struct bank *b, int q, int kind, const struct cand *x)
{
	uint16_t *at = &b->cand[q][kind];

	if (*at == NO_ENT)
		*at = (uint16_t)c->n_cand[q][kind]++;
	c->cand[q][kind][*at] = *x;
}

static inline void drop_cand(struct channel *c, struct bank *b, int q, int kind)
{
	struct cand *all = c->cand[q][kind];
	uint16_t at = b->cand[q][kind];

	if (at == NO_ENT)
		return;
	all[at] = all[--c->n_cand[q][kind]];
	c->bank[all[at].bank].cand[q][kind] = at;
	b->cand[q][kind] = NO_ENT;
}

static inline void set_column(struct channel *c, uint32_t bank, int q)
{
	struct bank *b = &c->bank[bank];

	if (b->hit[q] == NO_ENT || b->due)
		drop_cand(c, b, q, CAND_COLUMN);
	else
		set_cand(c, b, q, CAND_COLUMN,
		         &(struct cand){ b->col[q], &c->group[b->group].col[q], &c->unit[b->unit].col[q],
		                         c->ent[b->hit[q]].seq, bank, b->hit[q], c->t->clock_ticks == 2,
		                         q == READS ? DRAM_RD : DRAM_WR });
}

/* A row with an active request is not closed, nor, by the scheduler row_hit, one with an older request for it. */
static inline bool may_close(const struct channel *c, const struct bank *b, int q)
{
	return !b->active && !(c->t->row_hit && b->hit[q] != NO_ENT && c->ent[b->hit[q]].seq < c->ent[b->miss[q]].seq);
}

static inline void set_row(struct channel *c, uint32_t bank, int q)
{
	struct bank *b = &c->bank[bank];
	const struct unit *u = &c->unit[b->unit];
	bool open = b->row != NO_ROW, want = b->miss[q] != NO_ENT && !b->due;

	if (want && open && may_close(c, b, q))
		set_cand(c, b, q, CAND_CLOSE,
		         &(struct cand){ b->pre, &c->no_gate, &u->pre, c->ent[b->miss[q]].seq, bank, b->miss[q], 0,
		                         DRAM_PRE });
	else
		drop_cand(c, b, q, CAND_CLOSE);
	if (want && !open && !(c->opening != NO_ENT && c->ent[c->opening].bank == bank))
		set_cand(c, b, q, CAND_OPEN,
		         &(struct cand){ b->act, &c->group[b->group].act, &u->act, c->ent[b->miss[q]].seq, bank,
		                         b->miss[q], c->t->clock_ticks == 2, DRAM_ACT });
	else
		drop_cand(c, b, q, CAND_OPEN);
}

static inline void set_cands(struct channel *c, uint32_t bank, int q)
{
	set_column(c, bank, q);
	set_row(c, bank, q);
}

/* The oldest request of a list for the open row, and the oldest for another one. */
static void first_of(const struct channel *c, const struct bank *b, uint16_t from, uint16_t *hit, uint16_t *miss)
{
	for (uint16_t i = from; i != NO_ENT; i = c->ent[i].next) {
		uint16_t *at = c->ent[i].row == b->row ? hit : miss;

		if (*at == NO_ENT)
			*at = i;
		if (*hit != NO_ENT && *miss != NO_ENT)
			return;
	}
}

/* After the bank's row changed. */
static void sort_bank(struct channel *c, uint32_t bank)
{
	struct bank *b = &c->bank[bank];

	for (int q = READS; q <= WRITES; q++) {
		if (b->head[q] == NO_ENT)
			continue;
		b->hit[q] = NO_ENT;
		b->miss[q] = b->row == NO_ROW ? b->head[q] : NO_ENT;
		if (b->row != NO_ROW)
			first_of(c, b, b->head[q], &b->hit[q], &b->miss[q]);
		set_cands(c, bank, q);
	}
}

static void unlink_ent(struct channel *c, uint16_t i, int q)
{
	struct ent *x = &c->ent[i];
	struct bank *b = &c->bank[x->bank];
	uint16_t *mark = b->hit[q] == i ? &b->hit[q] : b->miss[q] == i ? &b->miss[q] : NULL;

	if (mark) {
		bool hit = mark == &b->hit[q];
		uint16_t k = x->next;

		while (k != NO_ENT && (c->ent[k].row == b->row) != hit)
			k = c->ent[k].next;
		*mark = k;
	}
	if (x->prev != NO_ENT)
		c->ent[x->prev].next = x->next;
	else
		b->head[q] = x->next;
	if (x->next != NO_ENT)
		c->ent[x->next].prev = x->prev;
	else
		b->tail[q] = x->prev;
	c->n[q]--;
	c->freed = true;
	if (mark == &b->hit[q])
		set_column(c, x->bank, q);
	if (mark && (mark == &b->miss[q] || c->t->row_hit))
		set_row(c, x->bank, q);
}

bool dram_queue_put(struct channel *c, const struct dram_place *at, const struct dram_burst *burst, tick_t now,
                    uint64_t seq)
{
	struct bank *b = &c->bank[at->bank];
	int q = burst->write ? WRITES : READS;
	uint16_t i = c->spare;
	struct ent *x = &c->ent[i];
	bool hit = b->row == at->row;

	c->spare = x->next;
	*x = (struct ent){ .accepted = now,
		           .seq = seq,
		           .b = *burst,
		           .row = at->row,
		           .bank = (uint16_t)at->bank,
		           .next = NO_ENT,
		           .prev = b->tail[q] };
	if (b->tail[q] != NO_ENT)
		c->ent[b->tail[q]].next = i;
	else
		b->head[q] = i;
	b->tail[q] = i;
	c->n[q]++;
	if ((hit ? b->hit[q] : b->miss[q]) != NO_ENT)
		return false;
	*(hit ? &b->hit[q] : &b->miss[q]) = i;
	if (hit)
		set_column(c, at->bank, q);
	else
		set_row(c, at->bank, q);
	if (hit && c->t->split_bus)
		c->col_next = sooner(c->col_next, now + 1);
	else
		c->row_next = sooner(c->row_next, now + 1);
	return true;
}

/* --- issuing ----------------------------------------------------------------------------------------------- */

static void promote(struct channel *c, uint16_t ent)
{
	const struct ent *n = &c->ent[ent];
	struct bank *b = &c->bank[n->bank];
	int q = n->b.write;

	c->active[c->n_active++] = (struct cand){
		b->col[q], &c->group[b->group].col[q], &c->unit[b->unit].col[q],      n->accepted, n->bank,
		ent,       c->t->clock_ticks == 2,     q == READS ? DRAM_RD : DRAM_WR
	};
	if (!b->active++) {
		drop_cand(c, b, READS, CAND_CLOSE);
		drop_cand(c, b, WRITES, CAND_CLOSE);
	}
	c->unit[b->unit].active++;
	if (c->t->split_bus)
		c->col_next = sooner(c->col_next, sooner(b->col[READS], b->col[WRITES]));
}

static void serve(struct channel *c, const struct choice *x, tick_t now)
{
	struct ent *n = &c->ent[x->ent];
	struct bank *b = &c->bank[x->bank];
	int q = n->b.write ? WRITES : READS;
	tick_t latency = q == READS ? c->t->read_latency : c->t->write_latency;

	dram_dev_column(c, x->bank, q, now);
	if (c->t->wck)
		c->wck_until = later(c->wck_until, now + latency + c->t->wck);
	if (x->active >= 0) {
		c->n_active--;
		for (uint32_t i = (uint32_t)x->active; i < c->n_active; i++)
			c->active[i] = c->active[i + 1];
		b->active--;
		c->unit[b->unit].active--;
		c->row_next = sooner(c->row_next, b->pre); /* its bank may be closed again */
		for (int k = READS; k <= WRITES; k++)
			if (b->miss[k] != NO_ENT)
				set_row(c, x->bank, k);
	} else {
		unlink_ent(c, x->ent, q);
		for (int k = READS; k <= WRITES; k++)
			if (b->cand[k][CAND_CLOSE] != NO_ENT)
				c->cand[k][CAND_CLOSE][b->cand[k][CAND_CLOSE]].at = b->pre;
		if (c->t->row_hit)
			c->row_next = 0;
	}
	if (c->t->split_bus && (b->hit[READS] != NO_ENT || b->hit[WRITES] != NO_ENT))
		c->col_next = sooner(c->col_next, now + c->t->ccd_s); /* the next one of this row, at the earliest */
	c->done(c->owner, &n->b, n->accepted, q == READS ? now + latency : now); /* I2 */
	n->next = c->spare;
	c->spare = x->ent;
	if (c->t->closed_page && !b->active && b->hit[READS] == NO_ENT && b->hit[WRITES] == NO_ENT) {
		dram_dev_pre(c, x->bank, later(b->pre, now)); /* auto-precharge: no command of its own */
		sort_bank(c, x->bank);
		c->row_next = 0;
	}
}

static void open_row(struct channel *c, const struct choice *x, tick_t now)
{
	struct ent *n = &c->ent[x->ent];

	assert(c->bank[x->bank].row == NO_ROW); /* I3 */
	unlink_ent(c, x->ent, n->b.write ? WRITES : READS);
	dram_dev_act(c, x->bank, n->row, now);
	if (c->t->aad) {
		/* No column command before ACT-2: the row counts as closed until then. */
		c->opening = x->ent;
		c->opening_since = now;
		c->bank[x->bank].row = NO_ROW;
		set_cands(c, x->bank, READS);
		set_cands(c, x->bank, WRITES);
		return;
	}
	sort_bank(c, x->bank);
	promote(c, x->ent);
}

void dram_queue_finish_open(struct channel *c, tick_t now)
{
	struct ent *n = &c->ent[c->opening];
	uint16_t ent = c->opening;

	c->opening = NO_ENT;
	c->bank[n->bank].row = n->row;
	set_cands(c, n->bank, READS);
	set_cands(c, n->bank, WRITES);
	sort_bank(c, n->bank);
	promote(c, ent);
	c->bus[0] = now + 1;
}

static void close_all(struct channel *c, uint32_t unit, tick_t now)
{
	dram_dev_preab(c, unit, now);
	for (uint32_t k = c->unit[unit].from * c->unit_banks; k < c->unit[unit].to * c->unit_banks; k++)
		sort_bank(c, k);
}

static void refreshed(struct channel *c)
{
	c->refresh_at = (c->refresh_at + 1) % c->refresh_size;
	c->n_refresh--;
	c->col_next = c->row_next = 0;
}

void dram_queue_issue(struct channel *c, const struct choice *x, tick_t now)
{
	const struct dram_cmd_table *t = c->t;
	tick_t *bus = &c->bus[t->split_bus && (x->k == DRAM_RD || x->k == DRAM_WR)];

	c->stats.commands[x->k]++;
	*bus = now + 1;
	switch (x->k) {
	case DRAM_RD:
	case DRAM_WR:
		*bus = now + t->column_ticks;
		serve(c, x, now);
		break;
	case DRAM_ACT:
		*bus = now + t->act_ticks;
		open_row(c, x, now);
		break;
	case DRAM_PRE:
		dram_dev_pre(c, x->bank, now);
		sort_bank(c, x->bank);
		c->row_next = sooner(c->row_next, c->bank[x->bank].act);
		break;
	case DRAM_PREAB:
		close_all(c, c->bank[x->bank].unit, now);
		c->row_next = 0;
		break;
	case DRAM_REFAB:
		dram_dev_refab(c, c->bank[x->bank].unit, now);
		refreshed(c);
		break;
	case DRAM_REFPB:
		dram_dev_refpb(c, x->bank, now);
		c->bank[x->bank].due = false;
		set_cands(c, x->bank, READS);
		set_cands(c, x->bank, WRITES);
		refreshed(c);
		break;
	case DRAM_COMMANDS:
		break;
	}
}

void dram_queue_due(struct channel *c, uint32_t bank)
{
	c->bank[bank].due = true;
	c->refresh[(c->refresh_at + c->n_refresh++) % c->refresh_size] = (uint16_t)bank;
	set_cands(c, bank, READS);
	set_cands(c, bank, WRITES);
}
