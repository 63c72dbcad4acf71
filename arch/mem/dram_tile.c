#include "arch/mem/dram_tile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"

#define ROW_NONE UINT32_MAX

#define TOGETHER 64 /* requests over all units in a row after which they count as one again */

enum dir { DIR_READ, DIR_WRITE, DIR_NONE };

/* Times below are in open time. */
struct unit {
	ps_t bus, gate; /* free again */
	ps_t end[2];    /* of the last piece read, written: the controller's queue reaches on from there */
	ps_t back;      /* turnaround the next read pays */
	enum dir dir;
	ps_t phase;     /* how much later than the first unit's its banks are refreshed */
	bool opened[2]; /* the last piece read, written had to open its row */
};

/* The banks of one number in all groups, while they agree; `split`: see d->single instead. */
struct bank {
	ps_t usable; /* the open row may be read or written, after what was asked of it before */
	ps_t ready;  /* earliest ACT of another row, tRP included */
	ps_t until;  /* the row before was open; who was seen by then was served with it */
	uint32_t row, before;
	bool split;
};

/* The units one by one, or all of them as one while they agree. */
struct view {
	struct unit *unit;
	struct bank *bank;   /* [bank][unit] */
	struct bank *single; /* [bank][unit][group] */
	uint32_t units;
};

struct dram_tile {
	struct dram_timing t;
	uint32_t group_mask, bank_mask, bank_bits;
	uint32_t stripe; /* bursts of one */
	uint64_t round;  /* a burst of every unit */
	ps_t burst_ps;
	unsigned burst_shift, stripe_shift, block_shift;
	ps_t after_read, after_write; /* from the end of a piece to the bank's next ACT */
	ps_t *bus_time;               /* of n bursts, up to a stripe */
	ps_t *to_write, *to_read;     /* turnaround by bursts written, up to a batch */
	ps_t *reach[2];               /* of the queue, in time, reads and writes, by bursts of pieces that open rows */
	ps_t *turn_at;    /* [bank] when the one in group 0 is refreshed for the first time; NULL: not one by one */
	ps_t group_turns; /* from a bank's turn to that of the bank in the next group */
	ps_t *data_time;  /* of n bursts, from one row's bank in each group, up to a stripe */
	struct view gang, each;
	bool apart;      /* `each` is what counts */
	uint32_t spread; /* requests over all units since one that was not */
	bool *taken;     /* [bank] that `each` has its own of since the units came apart */
};

/* --- open time --------------------------------------------------------------------------------------------- */

uint64_t dram_tile_windows(const struct dram_timing *t, ps_t when)
{
	if (t->t_refi_bank)
		return when / (t->t_refi_bank / (t->groups * t->banks));
	return t->t_refi ? when / t->t_refi : 0;
}

ps_t dram_tile_open(const struct dram_timing *t, ps_t when)
{
	ps_t n, into;

	if (!t->t_refi || when < t->t_refi)
		return when;
	n = when / t->t_refi;
	into = when % t->t_refi;
	return when - (n - 1) * t->t_block - ps_min(into, t->t_block);
}

ps_t dram_tile_when(const struct dram_timing *t, ps_t open)
{
	if (!t->t_refi || open <= t->t_refi)
		return open;
	return open + (1 + (open - t->t_refi - 1) / (t->t_refi - t->t_block)) * t->t_block;
}

/* --- life cycle -------------------------------------------------------------------------------------------- */

static unsigned log2_of(uint64_t v)
{
	unsigned n = 0;

	assert(v && !(v & (v - 1)));
	while (v >>= 1)
		n++;
	return n;
}

static int view_new(struct view *v, const struct dram_timing *t, uint32_t units)
{
	size_t n = (size_t)units * t->banks;

	v->units = units;
	v->unit = calloc(units, sizeof *v->unit);
	v->bank = calloc(n, sizeof *v->bank);
	v->single = calloc(n * t->groups, sizeof *v->single);
	return v->unit && v->bank && v->single ? 0 : -1;
}

static void view_free(struct view *v)
{
	free(v->unit);
	free(v->bank);
	free(v->single);
}

static int turns_new(struct dram_tile *d)
{
	const struct dram_timing *t = &d->t;
	ps_t gap = t->t_refi_bank / (t->groups * t->banks), in_group = t->banks / t->ranks;

	if (!t->t_refi_bank)
		return 0;
	if (!(d->turn_at = calloc(t->banks, sizeof *d->turn_at)))
		return -1;
	d->group_turns = in_group * gap;
	for (uint32_t b = 0; b < t->banks; b++)
		d->turn_at[b] = (b % t->ranks * t->groups * in_group + b / t->ranks + 1) * gap;
	return 0;
}

struct dram_tile *dram_tile_new(const struct dram_timing *t, struct err *e)
{
	size_t n_stripe = t->row_bytes * t->groups / t->burst_bytes;
	struct dram_tile *d = calloc(1, sizeof *d);
	ps_t burst, to_write, to_read;

	if (!d)
		goto nomem;
	d->t = *t;
	d->group_mask = t->groups - 1;
	d->bank_mask = t->banks - 1;
	d->bank_bits = log2_of(t->banks);
	d->burst_shift = log2_of(t->burst_bytes);
	d->stripe_shift = log2_of(t->row_bytes * t->groups);
	d->block_shift = log2_of(t->interleave);
	d->bus_time = calloc(n_stripe + 1, sizeof *d->bus_time);
	d->to_write = calloc((size_t)t->write_batch + 1, sizeof *d->to_write);
	d->to_read = calloc((size_t)t->write_batch + 1, sizeof *d->to_read);
	d->taken = calloc(t->banks, sizeof *d->taken);
	d->data_time = calloc(n_stripe + 1, sizeof *d->data_time);
	d->reach[DIR_READ] = calloc(n_stripe + 1, sizeof **d->reach);
	d->reach[DIR_WRITE] = calloc(n_stripe + 1, sizeof **d->reach);
	if (!d->bus_time || !d->data_time || !d->reach[DIR_READ] || !d->reach[DIR_WRITE] || !d->to_write ||
	    !d->to_read || !d->taken || turns_new(d) < 0 || view_new(&d->gang, t, 1) < 0 ||
	    view_new(&d->each, t, t->units) < 0)
		goto nomem;
	for (size_t n = 0; n <= n_stripe; n++)
		d->bus_time[n] = dram_bus_time(t, n);
	d->stripe = (uint32_t)n_stripe;
	d->round = (uint64_t)t->units * t->burst_bytes;
	burst = d->burst_ps = d->bus_time[1];
	/* In time on the bus: RD to WR is tRTW between commands; WR to RD waits for the data and tWTR. */
	to_write = t->t_rtw > burst ? t->t_rtw - burst : 0;
	to_read = t->t_cwl + t->t_wtr;
	for (size_t n = 0; n <= t->write_batch; n++) {
		d->to_write[n] = div_up(to_write * n, t->write_batch);
		d->to_read[n] = div_up(to_read * n, t->write_batch);
	}
	d->after_read = t->t_rtp + t->t_rp > burst ? t->t_rtp + t->t_rp - burst : 0;
	d->after_write = t->t_cwl + t->t_wr + t->t_rp;
	for (size_t n = 1; n <= n_stripe; n++) {
		/* A request leaves the queue when it opens its row: a piece of n bursts takes n less its rows. */
		uint64_t k = n < t->groups ? n : t->groups;
		ps_t slow = ps_max(burst, t->t_ccd_bank);

		d->data_time[n] = ps_max(d->bus_time[n], n * t->t_ccd_bank);
		d->reach[DIR_READ][n] = t->read_reach * (n + k) / n * slow;
		d->reach[DIR_WRITE][n] = t->write_reach * (n + k) / n * slow;
	}
	dram_tile_reset(d);
	return d;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for 'dram'");
	dram_tile_free(d);
	return NULL;
}

void dram_tile_free(struct dram_tile *d)
{
	if (!d)
		return;
	free(d->bus_time);
	free(d->data_time);
	free(d->reach[DIR_READ]);
	free(d->reach[DIR_WRITE]);
	free(d->to_write);
	free(d->to_read);
	free(d->taken);
	free(d->turn_at);
	view_free(&d->gang);
	view_free(&d->each);
	free(d);
}

void dram_tile_reset(struct dram_tile *d)
{
	d->apart = false;
	d->gang.unit[0] = (struct unit){ .dir = DIR_NONE };
	for (size_t i = 0; i < d->t.banks; i++)
		d->gang.bank[i] = (struct bank){ .row = ROW_NONE, .before = ROW_NONE };
}

/* --- together or apart ------------------------------------------------------------------------------------- */

static void come_apart(struct dram_tile *d)
{
	for (uint32_t i = 0; i < d->t.units; i++)
		d->each.unit[i] = d->gang.unit[0];
	for (uint32_t i = 0; i < d->t.units; i++)
		d->each.unit[i].phase = i % d->t.channels * d->t.t_refi_bank / d->t.channels;
	memset(d->taken, 0, d->t.banks * sizeof *d->taken);
	d->apart = true;
}

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

/* What is queued at the units evens out: requests over all of them come after. Of the rows the first unit's counts. */
static void come_together(struct dram_tile *d)
{
	struct unit all = d->each.unit[0];
	ps_t bus = 0, end[2] = { 0 };

	for (uint32_t i = 0; i < d->t.units; i++) {
		const struct unit *u = &d->each.unit[i];

		bus += u->bus / d->t.units;
		end[0] += u->end[0] / d->t.units;
		end[1] += u->end[1] / d->t.units;
		all.gate = ps_max(all.gate, u->gate);
		all.back = ps_max(all.back, u->back);
	}
	all.bus = bus;
	all.end[0] = end[0];
	all.end[1] = end[1];
	d->gang.unit[0] = all;
	for (uint32_t k = 0; k < d->t.banks; k++) {
		const struct bank *b = &d->each.bank[(size_t)k * d->t.units];
		struct bank one = *b;

		if (!d->taken[k])
			continue;
		if (b->split)
			one = d->each.single[(size_t)k * d->t.units * d->t.groups];
		one.split = false;
		for (uint32_t i = 0; i < d->t.units; i++) {
			if (b[i].split)
				continue;
			one.usable = ps_max(one.usable, b[i].usable);
			one.ready = ps_max(one.ready, b[i].ready);
		}
		d->gang.bank[k] = one;
	}
	d->apart = false;
}

/* --- one piece --------------------------------------------------------------------------------------------- */

/* The same n bursts of one stripe in units lo .. hi - 1. */
struct piece {
	uint32_t lo, hi;
	uint32_t bank, row, group; /* of the first burst */
	uint32_t n;
	uint64_t share; /* bursts of the whole request in this unit: what a turnaround is spread over */
};

struct work {
	ps_t a; /* arrival, open time */
	enum dir dir;
	ps_t end, bus;          /* so far; bus: of it without banks that are waited for while others go on */
	uint64_t opened, turns; /* rows opened, changes of direction: of a run, in units of the view */
};

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

/* Local bytes [from, to) of units lo .. hi - 1 of the view, stripe by stripe. */
static void serve_units(struct dram_tile *d, struct view *v, uint32_t lo, uint32_t hi, uint64_t from, uint64_t to,
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

/* --- the address map --------------------------------------------------------------------------------------- */

/* Blocks of `interleave` bytes go round the units; round q starts at unit turn(q). */
static uint32_t turn(const struct dram_tile *d, uint64_t q)
{
	return d->t.hashed ? (uint32_t)(hash_mix(q) % d->t.units) : 0;
}

/* A run as a range of places: unit-sized rounds of blocks, and bytes within the first and the last block. */
struct span {
	uint64_t q0, q1; /* first and last round */
	uint32_t s0, s1; /* first and last block's place in its round */
	uint32_t turn0, turn1;
	uint64_t head, tail; /* offset of the first byte in block s0, of the last plus one in block s1 */
};

static inline uint32_t wrap(uint32_t i, uint32_t n)
{
	return i >= n ? i - n : i;
}

/* What unit i holds of it, as local bytes. */
static void share_of(const struct dram_tile *d, const struct span *s, uint32_t i, uint64_t *from, uint64_t *to)
{
	uint32_t n = d->t.units;
	uint32_t x = wrap(i + n - s->turn0, n), y = wrap(i + n - s->turn1, n);
	uint64_t block = d->t.interleave;

	*from = (x >= s->s0 ? s->q0 : s->q0 + 1) * block + (x == s->s0 ? s->head : 0);
	*to = (y <= s->s1 ? s->q1 + 1 : s->q1) * block - (y == s->s1 ? block - s->tail : 0);
}

/* Units that hold the same local range follow each other except at a few cuts: one call for each stretch between. */
static void serve_span(struct dram_tile *d, const struct span *s, struct work *w)
{
	uint32_t n = d->t.units, first = wrap(s->turn0 + s->s0, n), last = wrap(s->turn1 + s->s1, n);
	uint32_t cut[8] = { 0, first, wrap(first + 1, n), s->turn0, last, wrap(last + 1, n), s->turn1, n };
	uint32_t lo = 0;
	uint64_t from = 0, to = 0;

	for (int i = 1; i < 8; i++) {
		uint32_t c = cut[i];
		int k = i;

		for (; k > 0 && cut[k - 1] > c; k--)
			cut[k] = cut[k - 1];
		cut[k] = c;
	}
	for (int i = 0; i < 7; i++) {
		uint64_t f, t;

		if (cut[i] == cut[i + 1])
			continue;
		share_of(d, s, cut[i], &f, &t);
		if (f == from && t == to)
			continue;
		serve_units(d, &d->each, lo, cut[i], from, to, w);
		lo = cut[i];
		from = f;
		to = t;
	}
	serve_units(d, &d->each, lo, n, from, to, w);
}

struct dram_place dram_tile_place(const struct dram_timing *t, uint64_t addr)
{
	uint64_t block = addr / t->interleave, q = block / t->units, turned = t->hashed ? hash_mix(q) % t->units : 0;
	uint32_t unit = (uint32_t)((block + turned) % t->units), per_group = t->banks / t->ranks, bank;
	uint64_t burst = (q * t->interleave + addr % t->interleave) / t->burst_bytes;
	uint64_t columns = t->row_bytes / t->burst_bytes, stripe = burst / (columns * t->groups),
		 row = stripe / t->banks;
	unsigned bits = log2_of(t->banks);

	bank = (uint32_t)stripe & (t->banks - 1);
	if (t->hashed)
		bank ^= (uint32_t)(row ^ row >> bits ^ row >> 2 * bits) & (t->banks - 1);
	return (struct dram_place){
		.channel = unit % t->channels,
		.bank = ((unit / t->channels * t->ranks + bank % t->ranks) * t->groups + (uint32_t)burst % t->groups) *
		                per_group +
		        bank / t->ranks,
		.row = (uint32_t)row,
		.column = (uint32_t)(burst / t->groups % columns),
	};
}

static void serve_apart(struct dram_tile *d, uint64_t lo, uint64_t last, struct work *w)
{
	uint64_t b0 = lo >> d->block_shift, b1 = last >> d->block_shift, mask = d->t.interleave - 1;
	struct span s = { .q0 = b0 / d->t.units, .q1 = b1 / d->t.units, .head = lo & mask, .tail = (last & mask) + 1 };

	s.s0 = (uint32_t)(b0 - s.q0 * d->t.units);
	s.s1 = (uint32_t)(b1 - s.q1 * d->t.units);
	if (b0 == b1) {
		uint32_t i = wrap(turn(d, s.q0) + s.s0, d->t.units);

		serve_units(d, &d->each, i, i + 1, s.q0 * d->t.interleave + s.head, s.q0 * d->t.interleave + s.tail, w);
		return;
	}
	s.turn0 = turn(d, s.q0);
	s.turn1 = s.q1 == s.q0 ? s.turn0 : turn(d, s.q1);
	serve_span(d, &s, w);
}

/* Every unit has a part, the same but for a block: each is taken to have the mean, and the last byte comes when a unit
 * with a block more is done. */
static void serve_together(struct dram_tile *d, uint64_t lo, uint64_t last, struct work *w)
{
	uint64_t from = lo / d->round << d->burst_shift, to = (last + 1) / d->round << d->burst_shift;
	uint64_t most = div_up(div_up(last + 1 - lo, d->t.interleave), d->t.units) << (d->block_shift - d->burst_shift);
	uint64_t bursts = (to - from) >> d->burst_shift;

	serve_units(d, &d->gang, 0, 1, from, to, w);
	if (most > bursts) {
		w->end += (most - bursts) * d->bus_time[1];
		w->bus += (most - bursts) * d->bus_time[1];
	}
	w->opened *= d->t.units;
	w->turns *= d->t.units;
}

static void serve_run(struct dram_tile *d, const struct mem_run *r, struct work *w, struct dram_tile_stats *s)
{
	uint64_t lo = r->addr >> d->burst_shift << d->burst_shift;
	uint64_t last = (r->addr + r->bytes - 1) | (d->t.burst_bytes - 1), n = (last + 1 - lo) >> d->burst_shift;

	w->opened = w->turns = 0;
	if (last + 1 - lo >= d->t.units * d->t.interleave) {
		if (d->apart && ++d->spread == TOGETHER)
			come_together(d);
	} else {
		if (!d->apart)
			come_apart(d);
		d->spread = 0;
	}
	(d->apart ? serve_apart : serve_together)(d, lo, last, w);
	s->bursts += n;
	s->activates += ps_min(w->opened, n);
	s->row_hits += n - ps_min(w->opened, n);
	s->turnarounds += w->turns;
	s->bus_ps += n * d->burst_ps;
}

ps_t dram_tile_serve(struct dram_tile *d, ps_t arrival, const struct mem_run *runs, uint32_t n_runs, bool write,
                     struct dram_tile_stats *s)
{
	struct work w = { .a = dram_tile_open(&d->t, arrival), .dir = write ? DIR_WRITE : DIR_READ };

	w.end = w.bus = w.a;
	for (uint32_t i = 0; i < n_runs; i++)
		if (runs[i].bytes)
			serve_run(d, &runs[i], &w, s);
	s->bus_end = dram_tile_when(&d->t, w.bus) + (write ? d->t.t_cwl : d->t.t_cl);
	return dram_tile_when(&d->t, w.end) + (write ? d->t.t_cwl : d->t.t_cl);
}
