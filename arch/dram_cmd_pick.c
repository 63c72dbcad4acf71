/* dram_cmd_pick.c - which command a channel's controller issues next.
 *
 * Requests of a bank are in one list a direction. A bank offers at most two candidates: the oldest request of its open
 * row, and the oldest of another row; no other of its requests can be first ready and first come. So the choice looks
 * at banks, by mask, and only at those whose rank could take the command at all. */
#include "arch/dram_cmd_int.h"

bool dram_turn_mode(struct channel *c)
{
	bool was = c->write_mode;

	c->resized = false;
	if (!was)
		c->write_mode = c->n[WRITES] > c->t->high || c->n[READS] == 0;
	else if (c->n[WRITES] < c->t->low && c->n[READS] != 0)
		c->write_mode = false;
	if (c->write_mode == was)
		return false;
	c->col_next = c->row_next = 0;
	return true;
}

static bool choose_active(struct channel *c, tick_t now, struct choice *x, tick_t *next)
{
	tick_t best = TICK_NEVER;

	for (uint32_t i = 0; i < c->n_active; i++) {
		const struct ent *n = &c->ent[c->active[i]];
		const struct bank *b = &c->bank[n->bank];
		int q = n->b.write;
		tick_t r = later(later(b->col[q], c->group[b->group].col[q]), c->unit[b->unit].col[q]);

		r = dram_whole_clock(c, r);

		if (r > now) {
			*next = sooner(*next, r);
			continue;
		}
		if (best != TICK_NEVER)
			*next = now;
		if (n->accepted < best) {
			best = n->accepted;
			*x = (struct choice){ q ? DRAM_WR : DRAM_RD, c->active[i], (int16_t)i, n->bank };
		}
	}
	return best != TICK_NEVER;
}

/* The refresh that is due first, or what it needs before. */
static bool choose_refresh(struct channel *c, tick_t now, int may, struct choice *x, tick_t *next)
{
	uint32_t at = c->refresh[c->refresh_at], from, to, busy = 0;
	uint64_t open = 0;
	tick_t r;

	if (c->t->refresh == DRAM_REFRESH_BANK) {
		bool is_open = c->bank[at].row != NO_ROW;

		*x = (struct choice){ is_open ? DRAM_PRE : DRAM_REFPB, NO_ENT, -1, at };
		busy = c->bank[at].active;
	} else {
		dram_dev_scope(c, at, &from, &to);
		for (uint32_t i = from; i < to; i++) {
			open |= c->unit[i].open;
			busy += c->unit[i].active;
		}
		*x = (struct choice){ open ? DRAM_PREAB : DRAM_REFAB, NO_ENT, -1, at * c->unit_banks };
	}
	if (busy || c->opening != NO_ENT)
		return false; /* a request is still to be served from an open row: its column command looks again */
	r = dram_dev_ready(c, x->k, x->bank);
	if (x->k == DRAM_REFAB || x->k == DRAM_REFPB)
		r = dram_whole_clock(c, r);
	if (r > now) {
		*next = sooner(*next, r);
		return false;
	}
	if ((may & CLOSES) && x->k != DRAM_PRE && x->k != DRAM_PREAB) {
		*next = now + 1;
		return false;
	}
	return true;
}

struct best { uint64_t seq; struct choice x; tick_t *next; tick_t now; };

/* Another one that is ready stays so until the bus is free again: then it is looked at next. */
static inline void weigh(const struct channel *c, struct best *best, enum dram_command k, uint16_t ent, uint32_t bank)
{
	if (best->seq != UINT64_MAX)
		*best->next = best->now;
	if (c->ent[ent].seq >= best->seq)
		return;
	best->seq = c->ent[ent].seq;
	best->x = (struct choice){ k, ent, -1, bank };
}

static inline void weigh_columns(const struct channel *c, uint32_t i, int q, tick_t now, struct best *best,
                                 tick_t *next)
{
	const struct unit *u = &c->unit[i];

	if (u->col[q] > now) {
		*next = sooner(*next, dram_whole_clock(c, u->col[q]));
		return;
	}
	for (uint64_t m = u->hit[q]; m; m &= m - 1) {
		uint32_t bank = i * c->unit_banks + (uint32_t)__builtin_ctzll(m);
		const struct bank *b = &c->bank[bank];
		tick_t r = later(b->col[q], c->group[b->group].col[q]);

		if (r > now)
			*next = sooner(*next, dram_whole_clock(c, r));
		else
			weigh(c, best, q == READS ? DRAM_RD : DRAM_WR, b->hit[q], bank);
	}
}

static inline void weigh_opens(const struct channel *c, uint32_t i, int q, tick_t now, struct best *best, tick_t *next)
{
	const struct unit *u = &c->unit[i];

	if (u->act > now) {
		*next = sooner(*next, dram_whole_clock(c, u->act));
		return;
	}
	for (uint64_t m = u->closed[q]; m; m &= m - 1) {
		uint32_t bank = i * c->unit_banks + (uint32_t)__builtin_ctzll(m);
		const struct bank *b = &c->bank[bank];
		tick_t r = later(b->act, c->group[b->group].act);

		if (r > now)
			*next = sooner(*next, dram_whole_clock(c, r));
		else
			weigh(c, best, DRAM_ACT, b->miss[q], bank);
	}
}

static inline void weigh_closes(const struct channel *c, uint32_t i, int q, tick_t now, struct best *best, tick_t *next)
{
	const struct unit *u = &c->unit[i];

	if (u->pre > now) {
		*next = sooner(*next, u->pre);
		return;
	}
	for (uint64_t m = u->miss[q] & ~u->held; m; m &= m - 1) {
		uint32_t bank = i * c->unit_banks + (uint32_t)__builtin_ctzll(m);
		const struct bank *b = &c->bank[bank];

		if (c->t->row_hit && b->hit[q] != NO_ENT && c->ent[b->hit[q]].seq < c->ent[b->miss[q]].seq)
			continue;
		if (b->pre > now)
			*next = sooner(*next, b->pre);
		else
			weigh(c, best, DRAM_PRE, b->miss[q], bank);
	}
}

bool dram_choose(struct channel *c, tick_t now, int may, struct choice *x, tick_t *next)
{
	struct best best = { .seq = UINT64_MAX, .next = next, .now = now };
	int q;

	*next = TICK_NEVER;
	if ((may & COLUMNS) && c->n_active && choose_active(c, now, x, next)) {
		for (uint32_t i = 0; i < c->n_units; i++)
			if (c->unit[i].hit[READS] | c->unit[i].hit[WRITES])
				*next = now;
		return true;
	}
	if (c->n_refresh)
		return (may & ROWS) && choose_refresh(c, now, may, x, next);
	if (c->resized)
		dram_turn_mode(c);
	q = c->write_mode;
	if (!c->n[q])
		return false;
	for (uint32_t i = 0; i < c->n_units; i++) {
		const struct unit *u = &c->unit[i];

		if ((may & COLUMNS) && u->hit[q])
			weigh_columns(c, i, q, now, &best, next);
		if (!(may & ROWS))
			continue;
		if (u->closed[q] && c->opening == NO_ENT) {
			if (may & CLOSES)
				*next = sooner(*next, dram_whole_clock(c, later(now + 1, u->act)));
			else
				weigh_opens(c, i, q, now, &best, next);
		}
		if (u->miss[q] & ~u->held)
			weigh_closes(c, i, q, now, &best, next);
	}
	*x = best.x;
	return best.seq != UINT64_MAX;
}
