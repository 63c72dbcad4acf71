/* dram_cmd_pick.c - which command a channel's controller issues next.
 *
 * Requests of a bank are in one list a direction. A bank offers at most two candidates: the oldest request of its open
 * row, and the oldest of another row; no other of its requests can be first ready and first come. The candidates of a
 * channel lie side by side, in no order, and a choice is one pass over them without a branch that depends on one: with
 * random requests every such branch would be guessed wrong. */
#include "arch/mem/dram_cmd_int.h"

void dram_turn_mode(struct channel *c)
{
	c->write_mode = !c->write_mode;
	c->col_next = c->row_next = 0;
}

/* What a pass sees: of those that are ready the oldest (in a tie the first) and how many, and when the next will be. */
struct look {
	uint64_t key;
	tick_t next;
	uint32_t ready;
};

#define LOOK_INIT \
	{ \
		UINT64_MAX, TICK_NEVER, 0 \
	}
#define KEY_BITS 14 /* of a candidate's place; above them its age */

/* `place` is that of the first. Masks instead of conditions: compilers make branches of those. */
static inline void dram_cmd_pick_look(struct look *l, const struct cand *x, uint32_t n, uint64_t place, tick_t now)
{
	struct look k = *l;

	for (const struct cand *end = x + n; x < end; x++, place++) {
		tick_t r = later(x->at, later(*x->group, *x->unit)) | x->whole;
		uint64_t waits = -(uint64_t)(r > now);

		k.key = sooner(k.key, x->seq << KEY_BITS | place | waits);
		k.next = sooner(k.next, r | ~waits);
		k.ready += 1 + (uint32_t)waits;
	}
	*l = k;
}

static inline bool chosen(const struct look *l, const struct cand *all, bool active, tick_t now, struct choice *x,
                          tick_t *next)
{
	uint64_t place = l->key & ((1 << KEY_BITS) - 1);

	*next = l->ready > 1 ? now : l->next;
	if (!l->ready)
		return false;
	*x = (struct choice){ all[place].k, all[place].ent, active ? (int16_t)place : -1, all[place].bank };
	return true;
}

/* The refresh that is due first, or what it needs before. */
static bool choose_refresh(struct channel *c, tick_t now, bool closes, struct choice *x, tick_t *next)
{
	uint32_t at = c->refresh[c->refresh_at], busy = 0;
	uint64_t open = 0;
	tick_t r;

	if (c->t->refresh == DRAM_REFRESH_BANK) {
		bool is_open = c->bank[at].row != NO_ROW;

		*x = (struct choice){ is_open ? DRAM_PRE : DRAM_REFPB, NO_ENT, -1, at };
		busy = c->bank[at].active;
	} else {
		for (uint32_t i = c->unit[at].from; i < c->unit[at].to; i++) {
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
	if (closes && x->k != DRAM_PRE && x->k != DRAM_PREAB) {
		*next = now + 1;
		return false;
	}
	return true;
}

static inline bool choose_active(struct channel *c, tick_t now, struct look *l, struct choice *x, tick_t *next)
{
	dram_cmd_pick_look(l, c->active, c->n_active, 0, now);
	if (!l->ready)
		return false;
	l->ready += c->n_cand[READS][CAND_COLUMN] + c->n_cand[WRITES][CAND_COLUMN];
	return chosen(l, c->active, true, now, x, next);
}

/* ACT, which may have to wait until `from`. Often none is ready because no rank takes one yet: then they need no look.
 */
static inline void look_opens(struct channel *c, struct look *l, int q, tick_t now, tick_t from)
{
	tick_t gate = TICK_NEVER;

	for (const struct unit *u = c->unit, *end = u + c->n_units; u < end; u++)
		gate = sooner(gate, u->act);
	gate = later(gate, from);
	if (gate > now)
		l->next = sooner(l->next, dram_whole_clock(c, gate));
	else
		dram_cmd_pick_look(l, c->cand[q][CAND_OPEN], c->n_cand[q][CAND_OPEN], 0, now);
}

static inline void look_rows(struct channel *c, struct look *l, int q, tick_t now, tick_t opens)
{
	if (c->n_cand[q][CAND_OPEN] && c->opening == NO_ENT)
		look_opens(c, l, q, now, opens);
	dram_cmd_pick_look(l, c->cand[q][CAND_CLOSE], c->n_cand[q][CAND_CLOSE], c->n_banks, now);
}

bool dram_choose_column(struct channel *c, tick_t now, struct choice *x, tick_t *next)
{
	struct look l = LOOK_INIT;
	int q = c->write_mode;

	if (c->n_active && choose_active(c, now, &l, x, next))
		return true;
	if (!c->n_refresh || c->t->refresh == DRAM_REFRESH_BANK)
		dram_cmd_pick_look(&l, c->cand[q][CAND_COLUMN], c->n_cand[q][CAND_COLUMN], 0, now);
	return chosen(&l, c->cand[q][CAND_COLUMN], false, now, x, next);
}

bool dram_choose_row(struct channel *c, tick_t now, bool closes, struct choice *x, tick_t *next)
{
	struct look l = LOOK_INIT;
	int q = c->write_mode;

	if (c->n_refresh) {
		*next = TICK_NEVER;
		if (choose_refresh(c, now, closes, x, next))
			return true;
		if (c->t->refresh == DRAM_REFRESH_ALL)
			return false;
		l.next = *next;
	}
	look_rows(c, &l, q, now, closes ? now + 1 : 0);
	return chosen(&l, c->cand[q][0], false, now, x, next);
}

bool dram_choose_any(struct channel *c, tick_t now, struct choice *x, tick_t *next)
{
	struct look l = LOOK_INIT;
	int q = c->write_mode;

	if (c->n_active && choose_active(c, now, &l, x, next))
		return true;
	if (c->n_refresh) {
		*next = l.next;
		if (choose_refresh(c, now, false, x, next))
			return true;
		if (c->t->refresh == DRAM_REFRESH_ALL)
			return false;
		l.next = *next;
	}
	look_rows(c, &l, q, now, 0);
	dram_cmd_pick_look(&l, c->cand[q][CAND_COLUMN], c->n_cand[q][CAND_COLUMN], 2 * (uint64_t)c->n_banks, now);
	return chosen(&l, c->cand[q][0], false, now, x, next);
}
