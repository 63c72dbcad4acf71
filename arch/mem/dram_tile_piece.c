/* dram_tile_piece.c - the equations of dram_tile.h: a piece after the other, in each of the units that hold it. */
#include "arch/mem/dram_tile_int.h"

#include <string.h>

/* The same n bursts of one stripe in units lo .. hi - 1. */
struct piece {
	uint32_t lo, hi;
	uint32_t bank, row, group; /* of the first burst */
	uint32_t n;
	uint64_t share; /* bursts of the whole request in this unit: what a turnaround is spread over */
};

/* --- when it may start ------------------------------------------------------------------------------------- */

static inline size_t batch(const struct dram_tile *d, uint64_t bursts)
{
	return bursts < d->t.write_batch ? (size_t)bursts : d->t.write_batch;
}

/* How long the bus stands still before this piece. A controller turns it once a batch of writes: fewer pay a part. */
static inline ps_t turnaround(const struct dram_tile *d, struct unit *u, struct work *w, const struct piece *p)
{
	ps_t cost = 0;

	if (u->dir != w->dir) {
		if (u->dir != DIR_NONE) {
			cost = w->dir == DIR_WRITE ? d->to_write[batch(d, p->share)] : u->back;
			w->turns++;
		}
		u->back = 0;
		u->dir = w->dir;
	}
	if (w->dir == DIR_WRITE)
		u->back = ps_min(u->back + d->to_read[batch(d, p->n)], d->to_read[d->t.write_batch]);
	return cost;
}

/* Opens the rows that are not open in k banks that become ready together, from `a` on; returns when the first is
 * usable. */
static ps_t activate(const struct dram_tile *d, struct unit *u, struct bank *b, ps_t a, ps_t rcd, uint32_t row,
                     uint32_t k)
{
	ps_t act = ps_max(u->gate, a), last, at = b->row == ROW_NONE ? a : a + d->t.t_rp;

	u->gate = act + k * d->t.t_act;
	act = ps_max(act, ps_max(at, b->ready));
	last = act + (k - 1) * d->t.t_act;
	b->before = b->row;
	b->until = act > d->t.t_rp ? act - d->t.t_rp : 0;
	b->row = row;
	b->usable = last + rcd;
	b->ready = last + d->t.t_rc;
	return act + rcd;
}

/* When the controller gets to see a piece: its queue holds no more than what the bus carries in its reach. */
static inline ps_t seen(const struct unit *u, const struct work *w, ps_t reach)
{
	return u->end[w->dir] > w->a + reach ? u->end[w->dir] - reach : w->a;
}

/* When it may open rows for it: while it reads it opens none for writes, nor the other way round. */
static inline ps_t opens(const struct unit *u, const struct work *w, ps_t at)
{
	return u->dir == w->dir || u->dir == DIR_NONE ? at : ps_max(at, u->bus);
}

/* Makes one bank of the groups' banks again, as far as `row` is concerned; returns how many of them must open it. In
 * those that need not it is usable at b->usable. */
static uint32_t unite(const struct dram_tile *d, struct bank *b, const struct bank *single, uint32_t row)
{
	struct bank all = { .row = ROW_NONE, .before = ROW_NONE };
	uint32_t k = 0;

	for (uint32_t g = 0; g < d->t.groups; g++) {
		const struct bank *x = &single[g];

		if (x->row == row) {
			all.usable = ps_max(all.usable, x->usable);
		} else {
			k++;
			if (x->row != ROW_NONE)
				all.row = x->row;
		}
		all.ready = ps_max(all.ready, x->ready);
	}
	if (k == 0)
		all.row = row;
	*b = all;
	return k;
}

/* How far others may run ahead on the bus while a piece waits for its bank: what the queue holds besides it. */
static inline ps_t past(ps_t reach, ps_t span)
{
	return reach > span ? reach - span : 0;
}

/* When a bank that is refreshed at time `at` has its row again; 0: none of those of that number is. *group is its
 * group. */
static inline ps_t refreshed(const struct dram_tile *d, const struct unit *u, uint32_t bank, ps_t at, uint32_t *group)
{
	ps_t period = d->t.t_refi_bank, first = d->turn_at[bank] + u->phase, into;

	if (at < first)
		return 0; /* nothing is refreshed as time begins */
	into = (at - first) % period;
	*group = (uint32_t)(into / d->group_turns);
	into -= *group * d->group_turns;
	return *group < d->t.groups && into < d->t.t_block_bank ? at - into + d->t.t_block_bank : 0;
}

/* --- the equations ----------------------------------------------------------------------------------------- */

/* Fewer bursts than groups: each in a bank of its own. */
static void serve_few(const struct dram_tile *d, struct view *v, const struct piece *p, uint32_t i, struct work *w)
{
	size_t at = (size_t)p->bank * v->units + i;
	struct unit *u = &v->unit[i];
	struct bank *b = &v->bank[at], *single = &v->single[at * d->t.groups];
	ps_t rcd = w->dir == DIR_WRITE ? d->t.t_rcd_wr : d->t.t_rcd, burst = d->bus_time[1];
	ps_t span = d->bus_time[p->n], reach = d->reach[w->dir][u->opened[w->dir] ? p->n : d->stripe];
	ps_t sight = seen(u, w, reach), from = opens(u, w, sight);
	uint64_t before = w->opened;
	ps_t turn = turnaround(d, u, w, p), need = w->a, end = 0, late = 0;

	if (!b->split) {
		for (uint32_t g = 0; g < d->t.groups; g++)
			single[g] = *b;
		b->split = true;
	}
	for (uint32_t n = 0; n < p->n; n++) {
		struct bank *x = &single[(p->group + n) & d->group_mask];
		ps_t col;

		if (x->row == p->row) {
			col = ps_max(w->a, x->usable);
		} else if (x->before == p->row && sight <= x->until && span <= reach) {
			col = w->a;
		} else {
			need = ps_max(need, w->a + rcd + (x->row == ROW_NONE ? 0 : d->t.t_rp));
			col = activate(d, u, x, from, rcd, p->row, 1);
			w->opened++;
		}
		end = ps_max(end, col + burst);
		if (d->turn_at) {
			ps_t at = ps_max(col, u->bus + turn), again;
			uint32_t group = 0;

			if ((again = refreshed(d, u, p->bank, at, &group)) && group == ((p->group + n) & d->group_mask))
				late = ps_max(late, again + burst);
		}
	}
	u->bus = ps_max(ps_max(u->bus + turn, need) + span, end - ps_min(end, past(reach, span)));
	u->bus = ps_max(u->bus, late - ps_min(late, past(reach * d->t.groups, span)));
	end = ps_max(end, u->bus);
	u->end[w->dir] = ps_max(u->end[w->dir], end);
	w->bus = ps_max(w->bus, end);
	end = ps_max(end, late);
	u->opened[w->dir] = w->opened > before;
	for (uint32_t n = 0; n < p->n; n++) {
		struct bank *x = &single[(p->group + n) & d->group_mask];

		x->ready = ps_max(x->ready, end + (w->dir == DIR_WRITE ? d->after_write : d->after_read));
	}
	w->end = ps_max(w->end, end);
}

/* Bursts in every group. This loop is where the time of a tile goes: what it needs is in locals, since the compiler
 * must think that every store may change what a pointer leads to. */
static void serve_full(const struct dram_tile *d, struct view *v, const struct piece *p, struct work *w)
{
	bool write = w->dir == DIR_WRITE;
	struct bank *b = &v->bank[(size_t)p->bank * v->units + p->lo];
	struct unit *u = &v->unit[p->lo], *stop = u + (p->hi - p->lo);
	const ps_t a = w->a, rcd = write ? d->t.t_rcd_wr : d->t.t_rcd, after = write ? d->after_write : d->after_read;
	const ps_t span = d->bus_time[p->n], burst = d->bus_time[1], t_act = d->t.t_act;
	const uint32_t row = p->row, groups = d->t.groups;
	const enum dir dir = w->dir;
	const ps_t reaches[2] = { d->reach[dir][d->stripe], d->reach[dir][p->n] }, data = d->data_time[p->n];
	const bool turns = d->turn_at;
	uint64_t opened = 0;
	ps_t last = w->end, busy = w->bus;

	for (; u < stop; u++, b++) {
		const ps_t reach = reaches[u->opened[dir]], sight = seen(u, w, reach), from = opens(u, w, sight);
		ps_t turn = write || u->dir != dir ? turnaround(d, u, w, p) : 0;
		ps_t need = a, open = 0, late = 0, end;
		uint32_t k = groups;

		if (b->split) {
			k = unite(d, b, &v->single[(size_t)(b - v->bank) * groups], row);
			open = b->usable;
		}
		if (b->row == row) {
			end = ps_max(a, b->usable) + data;
			b->usable = end;
			u->opened[dir] = false;
		} else if (b->before == row && sight <= b->until && span <= reach) {
			end = a + data;
			u->opened[dir] = false;
		} else {
			need += rcd + (b->row == ROW_NONE ? 0 : d->t.t_rp);
			end = ps_max(activate(d, u, b, from, rcd, row, k), open) + data;
			b->usable = end;
			end = ps_max(end, b->usable - data + (k - 1) * t_act + burst);
			u->opened[dir] = true;
			opened += k;
		}
		u->bus = ps_max(ps_max(u->bus + turn, need) + span, end - ps_min(end, past(reach, span)));
		end = ps_max(end, u->bus);
		if (turns) {
			uint32_t group;

			late = refreshed(d, u, p->bank, end - burst, &group) + burst;
			u->bus = ps_max(u->bus, late - ps_min(late, past(reach * groups, span)));
			end = ps_max(end, u->bus);
		}
		u->end[dir] = ps_max(u->end[dir], end);
		busy = ps_max(busy, end);
		b->ready = ps_max(b->ready, end + after);
		last = ps_max(last, ps_max(end, late));
	}
	w->end = last;
	w->bus = busy;
	w->opened += opened;
}

/* --- a range of bytes -------------------------------------------------------------------------------------- */

/* A bank's state is each unit's own from its first use on since they came apart. */
static void take_bank(struct dram_tile *d, uint32_t bank)
{
	const struct bank *from = &d->gang.bank[bank], *groups = &d->gang.single[(size_t)bank * d->t.groups];
	size_t first = (size_t)bank * d->t.units;

	for (size_t i = first; i < first + d->t.units; i++) {
		d->each.bank[i] = *from;
		if (from->split)
			memcpy(&d->each.single[i * d->t.groups], groups, d->t.groups * sizeof *groups);
	}
	d->taken[bank] = true;
}

void dram_tile_pieces(struct dram_tile *d, struct view *v, uint32_t lo, uint32_t hi, uint64_t from, uint64_t to,
                      struct work *w)
{
	uint64_t share = (to - from) >> d->burst_shift;

	while (from < to) {
		uint64_t stripe = from >> d->stripe_shift, end = ps_min((stripe + 1) << d->stripe_shift, to);
		uint64_t row = stripe >> d->bank_bits;
		struct piece p = {
			.lo = lo,
			.hi = hi,
			.bank = (uint32_t)stripe & d->bank_mask,
			.row = (uint32_t)row & (ROW_NONE >> 1),
			.group = (uint32_t)(from >> d->burst_shift) & d->group_mask,
			.n = (uint32_t)((end - from) >> d->burst_shift),
			.share = share,
		};

		if (d->t.hashed)
			p.bank ^= (uint32_t)(row ^ row >> d->bank_bits ^ row >> 2 * d->bank_bits) & d->bank_mask;
		if (d->apart && !d->taken[p.bank])
			take_bank(d, p.bank);
		if (p.n >= d->t.groups)
			serve_full(d, v, &p, w);
		else
			for (uint32_t i = lo; i < hi; i++)
				serve_few(d, v, &p, i, w);
		from = end;
	}
}
