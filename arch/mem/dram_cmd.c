/* dram_cmd.c - the controller of the command path: its channels, refresh, the slots of the command buses, and the
 * skipping of ticks in which nothing can be chosen. */
#include "arch/mem/dram_cmd_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct dram_cmd {
	struct dram_cmd_table t;
	struct dram_fieldmap map;
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
	for (uint32_t i = 0; i < t->channels; i++)
		if (channel_init(&d->channel[i], &d->t) < 0)
			goto nomem;
	for (uint32_t i = 0; i < t->channels; i++) {
		struct channel *c = &d->channel[i];

		c->done = done;
		c->owner = owner;
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

/* --- what is asked ----------------------------------------------------------------------------------------- */

bool dram_cmd_room(const struct dram_cmd *d, uint32_t channel, bool write)
{
	return d->channel[channel].n[write] < (write ? d->t.write_queue : d->t.read_queue);
}

bool dram_cmd_offer(struct dram_cmd *d, const struct dram_place *at, const struct dram_burst *burst)
{
	struct channel *c = &d->channel[at->channel];

	if (!dram_cmd_room(d, at->channel, burst->write))
		return false;
	if (dram_queue_put(c, at, burst, d->now, d->seq++) || dram_turns(c))
		d->next = c->next = d->now + 1;
	return true;
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
		if (!c->bank[bank].due)
			dram_queue_due(c, bank);
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

static void column_slot(struct channel *c, tick_t now)
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
		dram_queue_issue(c, &x, now);
		c->col_next = later(sooner(c->col_next, next), c->bus[1]);
	} else {
		c->col_next = later(next, now + 1);
	}
}

static void row_slot(struct channel *c, tick_t now, bool closes)
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
		dram_queue_issue(c, &x, now);
		c->row_next = later(sooner(c->row_next, next), c->bus[0]);
	} else {
		c->row_next = later(next, now + 1);
	}
}

/* One command bus. */
static void any_slot(struct channel *c, tick_t now)
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
		dram_queue_issue(c, &x, now);
		c->row_next = c->bus[0];
	} else {
		c->row_next = later(next, now + 1);
	}
}

/* LPDDR: one command bus, on which an ACT-2 and a CAS may have to go first. */
static void lpddr_slot(struct channel *c, tick_t now)
{
	struct choice x = { 0 };
	tick_t next = TICK_NEVER;

	if (dram_turns(c))
		dram_turn_mode(c);
	if (now < c->row_next)
		return;
	c->row_next = now + 1;
	if (c->opening != NO_ENT && now >= c->opening_since + c->t->aad) {
		dram_queue_finish_open(c, now);
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
		dram_queue_issue(c, &x, now);
		return;
	}
	if (dram_choose_any(c, now, &x, &next)) {
		if ((x.k != DRAM_RD && x.k != DRAM_WR) || !c->t->wck || now < c->wck_until) {
			dram_queue_issue(c, &x, now);
			return;
		}
		if (c->opening == NO_ENT || c->opening_since + c->t->aad > now + 1) {
			c->cas = x.ent;
			return;
		}
	}
	if (c->opening != NO_ENT) {
		dram_queue_finish_open(c, now);
		return;
	}
	c->row_next = later(next, now + 1);
}

static void channel_step(struct channel *c, tick_t now)
{
	bool whole = c->t->clock_ticks == 1 || (now & 1);

	c->stats.steps++;
	if (now == c->refresh_next)
		due(c);
	c->next = c->refresh_next;
	if (c->t->aad) {
		lpddr_slot(c, now);
	} else if (c->t->split_bus) {
		if (whole)
			column_slot(c, now);
		row_slot(c, now, !whole);
		c->col_next = dram_whole_clock(c, c->col_next);
		c->next = sooner(c->next, c->col_next);
	} else {
		any_slot(c, now);
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
			channel_step(c, to);
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
