/* dram_tile.c - requests as pieces in units: the address map, and units in step or apart. */
#include "arch/mem/dram_tile_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"

#define TOGETHER 64 /* requests over all units in a row after which they count as one again */

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
		dram_tile_pieces(d, &d->each, lo, cut[i], from, to, w);
		lo = cut[i];
		from = f;
		to = t;
	}
	dram_tile_pieces(d, &d->each, lo, n, from, to, w);
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

		dram_tile_pieces(d, &d->each, i, i + 1, s.q0 * d->t.interleave + s.head,
		                 s.q0 * d->t.interleave + s.tail, w);
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

	dram_tile_pieces(d, &d->gang, 0, 1, from, to, w);
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
