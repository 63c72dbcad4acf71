/* dram_cmd.c - the controller of the command path: queues, what a chosen command means for them, refresh, and the
 * skipping of ticks in which nothing can be chosen. */
#include "arch/mem/dram_cmd_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct dram_cmd {
	struct dram_cmd_table t;
	struct dram_fieldmap map;
	dram_cmd_done *done;
	void *owner;
	tick_t now, next;
	uint64_t seq;
	struct channel *channel;
};

/* --- life cycle -------------------------------------------------------------------------------------------- */

static int channel_init(struct channel *c, const struct dram_cmd_table *t)
{
	uint32_t n_ents = t->read_queue + t->write_queue;

	c->t = t;
	c->unit_banks = t->groups * t->banks;
	c->n_units = t->pcs * t->ranks;
	c->n_banks = c->n_units * c->unit_banks;
	n_ents += c->n_banks;
	c->refresh_size = 2 * c->n_banks;
	if (!(c->ent = calloc(n_ents, sizeof *c->ent)) || !(c->bank = calloc(c->n_banks, sizeof *c->bank)) ||
	    !(c->unit = calloc(c->n_units, sizeof *c->unit)) ||
	    !(c->group = calloc((size_t)c->n_units * t->groups, sizeof *c->group)) ||
	    !(c->active = calloc((1 + 2 * CANDS) * (size_t)c->n_banks, sizeof *c->active)) ||
	    !(c->refresh = calloc(c->refresh_size, sizeof *c->refresh)))
		return -1;
	for (uint32_t i = 0; i < n_ents; i++)
		c->ent[i].next = i + 1 < n_ents ? (uint16_t)(i + 1) : NO_ENT;
	for (uint32_t i = 0; i < 2 * CANDS; i++)
		c->cand[i / CANDS][i % CANDS] = &c->active[(i + 1) * c->n_banks];
	for (uint32_t i = 0; i < c->n_units; i++) {
		struct unit *u = &c->unit[i];

		u->pc_from = (uint16_t)(i / t->ranks * t->ranks);
		u->pc_to = (uint16_t)(u->pc_from + t->ranks);
		u->from = t->stacked ? u->pc_from : (uint16_t)i;
		u->to = t->stacked ? u->pc_to : (uint16_t)(i + 1);
	}
	for (uint32_t i = 0; i < c->n_banks; i++) {
		struct bank *b = &c->bank[i];

		b->row = NO_ROW;
		b->unit = (uint16_t)(i / c->unit_banks);
		b->group = (uint16_t)(i / t->banks);
		b->place = (uint16_t)(i % c->unit_banks);
		for (int q = READS; q <= WRITES; q++)
			b->head[q] = b->tail[q] = b->hit[q] = b->miss[q] = b->cand[q][CAND_OPEN] =
				b->cand[q][CAND_CLOSE] = b->cand[q][CAND_COLUMN] = NO_ENT;
	}
	c->opening = c->cas = NO_ENT;
	c->col_next = c->row_next = TICK_NEVER;
	c->refresh_next = t->refresh == DRAM_REFRESH_ALL    ? t->refi
	                  : t->refresh == DRAM_REFRESH_BANK ? t->refi_pb
	                                                    : TICK_NEVER;
	return 0;
}

struct dram_cmd *dram_cmd_new(const struct dram_cmd_table *t, const struct dram_fieldmap *map, dram_cmd_done *done,
                              void *owner, struct err *e)
{
	struct dram_cmd *d = calloc(1, sizeof *d);

	if (!d || !(d->channel = calloc(t->channels, sizeof *d->channel)))
		goto nomem;
	d->t = *t;
	d->map = *map;
	d->done = done;
	d->owner = owner;
	for (uint32_t i = 0; i < t->channels; i++)
		if (channel_init(&d->channel[i], &d->t) < 0)
			goto nomem;
	for (uint32_t i = 0; i < t->channels; i++) {
		struct channel *c = &d->channel[i];

		if (t->refresh == DRAM_REFRESH_BANK)
			c->refresh_next += i * t->refi / t->channels; /* not all at once */
		c->next = c->refresh_next;
	}
	d->next = d->channel[0].next;
	return d;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for the command path of 'dram'");
	dram_cmd_free(d);
	return NULL;
}

void dram_cmd_free(struct dram_cmd *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; d->channel && i < d->t.channels; i++) {
		struct channel *c = &d->channel[i];

		free(c->ent);
		free(c->bank);
		free(c->unit);
		free(c->group);
		free(c->active);
		free(c->refresh);
	}
	free(d->channel);
	free(d);
}

/* --- queues ------------------------------------------------------------------------------------------------ */

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

bool dram_cmd_room(const struct dram_cmd *d, uint32_t channel, bool write)
{
	return d->channel[channel].n[write] < (write ? d->t.write_queue : d->t.read_queue);
}

bool dram_cmd_offer(struct dram_cmd *d, const struct dram_place *at, const struct dram_burst *burst)
{
	struct channel *c = &d->channel[at->channel];
	struct bank *b = &c->bank[at->bank];
	int q = burst->write ? WRITES : READS;
	uint16_t i = c->spare;
	struct ent *x = &c->ent[i];
	bool hit = b->row == at->row;

	if (c->n[q] >= (q == WRITES ? d->t.write_queue : d->t.read_queue))
		return false;
	c->spare = x->next;
	*x = (struct ent){ .accepted = d->now,
		           .seq = d->seq++,
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
	if (hit ? b->hit[q] == NO_ENT : b->miss[q] == NO_ENT) {
		*(hit ? &b->hit[q] : &b->miss[q]) = i;
		if (hit)
			set_column(c, at->bank, q);
		else
			set_row(c, at->bank, q);
		if (hit && d->t.split_bus)
			c->col_next = sooner(c->col_next, d->now + 1);
		else
			c->row_next = sooner(c->row_next, d->now + 1);
		d->next = c->next = d->now + 1;
	} else if (dram_turns(c)) {
		d->next = c->next = d->now + 1;
	}
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

static void serve(struct dram_cmd *d, struct channel *c, const struct choice *x, tick_t now)
{
	struct ent *n = &c->ent[x->ent];
	struct bank *b = &c->bank[x->bank];
	int q = n->b.write ? WRITES : READS;
	tick_t latency = q == READS ? d->t.read_latency : d->t.write_latency;

	dram_dev_column(c, x->bank, q, now);
	if (d->t.wck)
		c->wck_until = later(c->wck_until, now + latency + d->t.wck);
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
		if (d->t.row_hit)
			c->row_next = 0;
	}
	if (d->t.split_bus && (b->hit[READS] != NO_ENT || b->hit[WRITES] != NO_ENT))
		c->col_next = sooner(c->col_next, now + d->t.ccd_s); /* the next one of this row, at the earliest */
	d->done(d->owner, &n->b, n->accepted, q == READS ? now + latency : now); /* I2 */
	n->next = c->spare;
	c->spare = x->ent;
	if (d->t.closed_page && !b->active && b->hit[READS] == NO_ENT && b->hit[WRITES] == NO_ENT) {
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

/* ACT-2 */
static void finish_open(struct channel *c, tick_t now)
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

static void issue(struct dram_cmd *d, struct channel *c, const struct choice *x, tick_t now)
{
	const struct dram_cmd_table *t = &d->t;
	tick_t *bus = &c->bus[t->split_bus && (x->k == DRAM_RD || x->k == DRAM_WR)];

	c->stats.commands[x->k]++;
	*bus = now + 1;
	switch (x->k) {
	case DRAM_RD:
	case DRAM_WR:
		*bus = now + t->column_ticks;
		serve(d, c, x, now);
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

/* --- stepping ---------------------------------------------------------------------------------------------- */

/* As many banks as give each its turn once a tREFI, of each pseudo-channel in turn. */
static void due_banks(struct channel *c)
{
	tick_t n = (c->n_banks * c->t->refi_pb + c->t->refi / 2) / c->t->refi;

	c->refresh_next += c->t->refi_pb;
	for (n = n ? n : 1; n > 0; n--) {
		uint32_t turn = c->refresh_turn, bank = turn % c->t->pcs * (c->n_banks / c->t->pcs) + turn / c->t->pcs;

		c->refresh_turn = (turn + 1) % c->n_banks;
		if (c->bank[bank].due)
			continue;
		c->bank[bank].due = true;
		c->refresh[(c->refresh_at + c->n_refresh++) % c->refresh_size] = (uint16_t)bank;
		set_cands(c, bank, READS);
		set_cands(c, bank, WRITES);
	}
}

static void due(struct channel *c)
{
	uint32_t step = c->t->stacked ? c->t->ranks : 1;

	if (c->t->refresh == DRAM_REFRESH_BANK) {
		due_banks(c);
	} else {
		c->refresh_next += c->t->refi;
		for (uint32_t i = 0; i < c->n_units && c->n_refresh < c->refresh_size; i += step)
			c->refresh[(c->refresh_at + c->n_refresh++) % c->refresh_size] = (uint16_t)i;
	}
	c->col_next = c->row_next = 0;
}

static void column_slot(struct dram_cmd *d, struct channel *c, tick_t now)
{
	struct choice x;
	tick_t next;

	if (dram_turns(c))
		dram_turn_mode(c);
	if (now < c->col_next)
		return;
	if (c->bus[1] > now) {
		c->col_next = c->bus[1];
	} else if (dram_choose_column(c, now, &x, &next)) {
		c->col_next = TICK_NEVER;
		issue(d, c, &x, now);
		c->col_next = later(sooner(c->col_next, next), c->bus[1]);
	} else {
		c->col_next = later(next, now + 1);
	}
}

static void row_slot(struct dram_cmd *d, struct channel *c, tick_t now, bool closes)
{
	struct choice x;
	tick_t next;

	if (dram_turns(c))
		dram_turn_mode(c);
	if (now < c->row_next)
		return;
	if (c->bus[0] > now) {
		c->row_next = c->bus[0];
	} else if (dram_choose_row(c, now, closes, &x, &next)) {
		c->row_next = TICK_NEVER;
		issue(d, c, &x, now);
		c->row_next = later(sooner(c->row_next, next), c->bus[0]);
	} else {
		c->row_next = later(next, now + 1);
	}
}

/* One command bus. */
static void any_slot(struct dram_cmd *d, struct channel *c, tick_t now)
{
	struct choice x;
	tick_t next;

	if (dram_turns(c))
		dram_turn_mode(c);
	if (now < c->row_next)
		return;
	if (c->bus[0] > now) {
		c->row_next = c->bus[0];
	} else if (dram_choose_any(c, now, &x, &next)) {
		c->row_next = TICK_NEVER;
		issue(d, c, &x, now);
		c->row_next = c->bus[0];
	} else {
		c->row_next = later(next, now + 1);
	}
}

/* LPDDR: one command bus, on which an ACT-2 and a CAS may have to go first. */
static void lpddr_slot(struct dram_cmd *d, struct channel *c, tick_t now)
{
	struct choice x = { 0 };
	tick_t next = TICK_NEVER;

	if (dram_turns(c))
		dram_turn_mode(c);
	if (now < c->row_next)
		return;
	c->row_next = now + 1;
	if (c->opening != NO_ENT && now >= c->opening_since + d->t.aad) {
		finish_open(c, now);
		return;
	}
	if (c->cas != NO_ENT) {
		struct ent *n = &c->ent[c->cas];
		int16_t active = -1;

		for (uint32_t i = 0; i < c->n_active; i++)
			if (c->active[i].ent == c->cas)
				active = (int16_t)i;
		x = (struct choice){ n->b.write ? DRAM_WR : DRAM_RD, c->cas, active, n->bank };
		c->cas = NO_ENT;
		issue(d, c, &x, now);
		return;
	}
	if (dram_choose_any(c, now, &x, &next)) {
		if ((x.k != DRAM_RD && x.k != DRAM_WR) || !d->t.wck || now < c->wck_until) {
			issue(d, c, &x, now);
			return;
		}
		if (c->opening == NO_ENT || c->opening_since + d->t.aad > now + 1) {
			c->cas = x.ent;
			return;
		}
	}
	if (c->opening != NO_ENT) {
		finish_open(c, now);
		return;
	}
	c->row_next = later(next, now + 1);
}

static void channel_step(struct dram_cmd *d, struct channel *c, tick_t now)
{
	bool whole = d->t.clock_ticks == 1 || (now & 1);

	c->stats.steps++;
	if (now == c->refresh_next)
		due(c);
	c->next = c->refresh_next;
	if (d->t.aad) {
		lpddr_slot(d, c, now);
	} else if (d->t.split_bus) {
		if (whole)
			column_slot(d, c, now);
		row_slot(d, c, now, !whole);
		c->col_next = dram_whole_clock(c, c->col_next);
		c->next = sooner(c->next, c->col_next);
	} else {
		any_slot(d, c, now);
	}
	c->next = sooner(c->next, c->row_next);
	if (c->next <= now || dram_turns(c))
		c->next = now + 1;
}

tick_t dram_cmd_now(const struct dram_cmd *d)
{
	return d->now;
}

tick_t dram_cmd_next(const struct dram_cmd *d)
{
	return d->next;
}

bool dram_cmd_step(struct dram_cmd *d, tick_t to)
{
	tick_t next = TICK_NEVER;
	bool freed = false;

	assert(to > d->now);
	d->now = to;
	for (struct channel *c = d->channel, *end = c + d->t.channels; c < end; c++) {
		if (c->next <= to) {
			c->freed = false;
			channel_step(d, c, to);
			freed |= c->freed;
		}
		next = sooner(next, c->next);
	}
	d->next = next;
	return freed;
}

/* --- for tests and reports --------------------------------------------------------------------------------- */

tick_t dram_cmd_ready_at(const struct dram_cmd *d, enum dram_command c, const struct dram_place *at)
{
	return dram_dev_ready(&d->channel[at->channel], c, at->bank);
}

bool dram_cmd_is_open(const struct dram_cmd *d, const struct dram_place *at)
{
	return d->channel[at->channel].bank[at->bank].row == at->row;
}

void dram_cmd_issue(struct dram_cmd *d, enum dram_command k, const struct dram_place *at, tick_t when)
{
	struct channel *c = &d->channel[at->channel];
	uint32_t unit = c->bank[at->bank].unit;

	switch (k) {
	case DRAM_ACT:
		dram_dev_act(c, at->bank, at->row, when);
		break;
	case DRAM_PRE:
		dram_dev_pre(c, at->bank, when);
		break;
	case DRAM_RD:
		dram_dev_column(c, at->bank, READS, when);
		break;
	case DRAM_WR:
		dram_dev_column(c, at->bank, WRITES, when);
		break;
	case DRAM_PREAB:
		dram_dev_preab(c, unit, when);
		break;
	case DRAM_REFAB:
		dram_dev_refab(c, unit, when);
		break;
	case DRAM_REFPB:
		dram_dev_refpb(c, at->bank, when);
		break;
	case DRAM_COMMANDS:
		break;
	}
}

struct dram_cmd_stats dram_cmd_stats(const struct dram_cmd *d)
{
	struct dram_cmd_stats s = { { 0 }, 0 };

	for (uint32_t i = 0; i < d->t.channels; i++) {
		for (int k = 0; k < DRAM_COMMANDS; k++)
			s.commands[k] += d->channel[i].stats.commands[k];
		s.steps += d->channel[i].stats.steps;
	}
	return s;
}
