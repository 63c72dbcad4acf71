/* analytic_way.c - a move through the memory system: what is found where, and how long it takes. */
#include <stdlib.h>
#include <string.h>

#include "arch/mem/cache.h"
#include "arch/mem/dram_tile.h"
#include "sim/engine/analytic_int.h"

#define PROBE_PIECES 96
#define PROBE_WARM   16
#define PIECE_PS     (100 * PS_NS) /* as dram.c hands them out: a piece's pin time, and how far ahead of the bus */
#define AHEAD_PS     (200 * PS_NS)

/* --- what DRAM does with a stream -------------------------------------------------------------------------- */

/* Open time (no refresh in it) that a stream of pieces needs a byte, times 2^LINE_FRACTION. */
static int probe(const struct dram_timing *t, uint64_t piece, bool write, uint64_t *per_byte, struct err *e)
{
	struct dram_tile *d = dram_tile_new(t, e);
	struct dram_tile_stats s = { .bursts = 0 };
	ps_t end = 0, from = 0;

	if (!d)
		return -1;
	for (uint32_t i = 0; i < PROBE_PIECES; i++) {
		const struct mem_run r = { i * piece, piece };
		ps_t now = end > AHEAD_PS ? end - AHEAD_PS : 0;

		dram_tile_serve(d, now, &r, 1, write, &s);
		end = s.bus_end;
		if (i + 1 == PROBE_WARM)
			from = end;
	}
	dram_tile_free(d);
	*per_byte = ((dram_tile_open(t, end) - dram_tile_open(t, from)) << LINE_FRACTION) /
	            (piece * (PROBE_PIECES - PROBE_WARM));
	return 0;
}

static int dram_init(struct ways *w, const struct dram_cfg *c, struct err *e)
{
	struct dram_timing t;
	uint64_t read, write, piece, peak = dram_peak(c), least;

	if (dram_is_fixed(c)) {
		line_init(&w->dram_line, c->fixed_bandwidth);
		w->write_per_byte = w->dram_line.per_byte;
		w->dram_latency = c->fixed_latency;
		w->dram_grain = w->dram_parts = 1;
		return 0;
	}
	t = dram_timing(c);
	piece = round_up(peak / (UINT64_C(1000000000000) / PIECE_PS) + 1, 4096);
	line_init(&w->dram_line, peak);
	least = w->dram_line.per_byte;
	if (probe(&t, piece, false, &read, e) < 0 || probe(&t, piece, true, &write, e) < 0)
		return -1;
	if (t.t_refi > t.t_block) {
		/* Of every tREFI so much is lost, and who comes in then waits half of it. */
		read += read / (t.t_refi - t.t_block) * t.t_block +
		        read % (t.t_refi - t.t_block) * t.t_block / (t.t_refi - t.t_block);
		write += write / (t.t_refi - t.t_block) * t.t_block +
		         write % (t.t_refi - t.t_block) * t.t_block / (t.t_refi - t.t_block);
		w->dram_latency = t.t_block * t.t_block / (2 * t.t_refi);
	}
	w->dram_line.per_byte = read > least ? read : least; /* I1 */
	w->dram_line.most = UINT64_MAX / w->dram_line.per_byte;
	w->write_per_byte = write > least ? write : least;
	w->dram_latency += t.t_controller + t.t_rp + t.t_rcd + t.t_cl;
	/* A queue's high mark is a quarter of its places, its low mark a quarter of that. */
	w->posts = c->queue / 4;
	w->posted_most = ((uint64_t)t.write_reach * t.units * t.burst_bytes * w->write_per_byte) >> LINE_FRACTION;
	w->dram_parts = t.units;
	w->dram_grain = t.interleave;
	w->dram_part_per_byte = (dram_bus_time(&t, 1024) << LINE_FRACTION) / (1024 * t.burst_bytes);
	return 0;
}

/* Where dirty lines are also written earlier, while DRAM is idle (l2.write_back: eager): the part of `span` that was.
 */
static ps_t written_early(struct ways *w, ps_t at, ps_t span)
{
	struct line *l = &w->dram_line;
	ps_t early = ps_min(span, l->idle);
	uint64_t dirty = 0;

	if (!w->c->mem.l2.write_back)
		return 0;
	/* Idle time of long ago counts as far as what is dirty now could have used it. */
	if (l->idle > span) {
		for (int i = 0; i < PARTS; i++)
			dirty += w->l2[i] ? held_dirty(w->l2[i]) : 0;
		l->idle = ps_min(l->idle, span + ((dirty * w->write_per_byte) >> LINE_FRACTION));
	}
	l->idle -= early;
	return early + line_fill(l, 0, at, span - early);
}

/* A transfer's write-backs. They gather; DRAM takes them when it is idle, or all but a few when they are too many. */
static void dram_post(struct ways *w, ps_t at, ps_t span)
{
	ps_t most = ps_max(w->posted_most, span * w->posts);

	span -= written_early(w, at, span);
	if (w->posted)
		w->posted -= line_fill(&w->dram_line, w->posted_at, at, w->posted);
	w->posted_at = w->posted ? ps_max(w->posted_at, at) : at;
	w->posted += span;
	if (w->posted <= most)
		return;
	line_book(&w->dram_line, at, w->posted - most / 4);
	w->posted = most / 4;
}

/* A read, or a write that somebody waits for: its share of the bus, and at least what the fullest channel needs. */
static struct line_span dram_take(struct ways *w, ps_t at, const struct leg *l)
{
	struct line_span s = line_book(&w->dram_line, at, l->dram_span);

	s.end = ps_max(s.end, s.start + l->dram_least) + w->dram_latency;
	return s;
}

/* What the fullest channel needs for so many bytes. */
static ps_t dram_least(const struct ways *w, uint64_t bytes)
{
	uint64_t most = w->dram_grain;

	if (bytes < most)
		most = bytes;
	else
		most *= div_up(div_up(bytes, w->dram_grain), w->dram_parts);
	return (most * w->dram_part_per_byte) >> LINE_FRACTION;
}

/* --- life cycle -------------------------------------------------------------------------------------------- */

static int make_l2(struct ways *w, const struct l2_cfg *c, uint64_t end, struct err *e)
{
	uint64_t chunk = cache_chunk_bytes(c->line, c->sector < c->line ? c->sector : c->line), rest, kv, pin;
	const bool hash = c->hash == CACHE_HASH_XOR;

	if (!c->size)
		return 0;
	kv = c->size / c->ways * c->kv_ways;
	pin = c->size / c->ways * c->weight_ways;
	rest = c->size - kv - pin + c->victim;
	/* Every reader but the home's own has a copy of what it reads. */
	rest = rest * c->partitions / (2 * c->partitions - 1);
	if (!(w->l2[PART_REST] = held_new(rest, chunk, c->ways, hash, end, e)) ||
	    (kv && !(w->l2[PART_KV] = held_new(kv, chunk, c->kv_ways, hash, end, e))) ||
	    (pin && !(w->l2[PART_PIN] = held_new(pin, chunk, 0, false, end, e))) ||
	    (c->policy == CACHE_STREAM_BYPASS && !(w->seen = held_new(c->size, chunk, 1, false, end, e))))
		return -1;
	w->l2_latency = c->latency;
	w->far = c->partitions > 1 ? c->far_latency : 0;
	return 0;
}

int ways_init(struct ways *w, const struct machine_cfg *c, uint64_t end, struct err *e)
{
	const struct l1_cfg *l1 = &c->mem.l1;

	w->c = c;
	if (dram_init(w, &c->mem.dram, e) < 0 || make_l2(w, &c->mem.l2, end, e) < 0 ||
	    (c->mem.kv_buffer.size && !(w->kv = held_new(c->mem.kv_buffer.size, KV_CHUNK, 0, false, end, e))) ||
	    (l1_cache(l1) && !(w->l1 = held_new(l1_cache(l1) + l1->victim * c->cores,
	                                        cache_chunk_bytes(l1->line, l1->sector), l1->ways, true, end, e))))
		return -1;
	line_init(&w->l1_line, l1->bandwidth * c->cores * c->clock * 1000);
	line_init(&w->l2_line, l2_bandwidth(&c->mem.l2, c->clock));
	line_init(&w->kv_line, c->mem.kv_buffer.bandwidth);
	line_init(&w->dma_line, dma_rate(&c->dma, c->cores) * c->clock * 1000);
	for (int i = 0; i < 2; i++)
		if (!(w->sent[i] = calloc(c->dma.outstanding, sizeof **w->sent)))
			return err_set(e, ERR_NOMEM, "out of memory for descriptors");
	return 0;
}

void ways_drop(struct ways *w)
{
	held_free(w->l1);
	for (int i = 0; i < PARTS; i++)
		held_free(w->l2[i]);
	held_free(w->seen);
	held_free(w->kv);
	free(w->sent[0]);
	free(w->sent[1]);
}

static struct line *const *lines(struct ways *w, struct line **all)
{
	all[0] = &w->l1_line;
	all[1] = &w->l2_line;
	all[2] = &w->kv_line;
	all[3] = &w->dram_line;
	all[4] = &w->dma_line;
	return all;
}

void ways_begin(struct ways *w)
{
	struct line *all[5];

	w->posted = w->posted_at = 0;
	for (int i = 0; i < 5; i++)
		line_clear(lines(w, all)[i]);
	for (int i = 0; i < 2; i++) {
		memset(w->sent[i], 0, w->c->dma.outstanding * sizeof **w->sent);
		w->next[i] = 0;
	}
}

void ways_forget(struct ways *w, ps_t before)
{
	struct line *all[5];

	for (int i = 0; i < 5; i++)
		line_forget(lines(w, all)[i], before);
}

/* --- what is where ----------------------------------------------------------------------------------------- */

static uint64_t sectors(uint64_t sector, uint64_t addr, uint64_t bytes)
{
	return round_up(addr + bytes, sector) - addr / sector * sector;
}

static struct held_found l2_touch(struct ways *w, uint8_t cls, uint64_t addr, uint64_t bytes, enum held_use use)
{
	struct held_found f = { 0, 0, 0 }, g;

	if (cls == MEM_KV && w->l2[PART_KV])
		return held_touch(w->l2[PART_KV], addr, bytes, use);
	if (cls == MEM_WEIGHT && w->l2[PART_PIN]) {
		f = held_touch(w->l2[PART_PIN], addr, bytes, use);
		if (f.kept >= bytes) /* the rest of a range that does not fit goes with the others, whole */
			return f;
	}
	if (w->seen && cls == MEM_WEIGHT && use == HELD_READ && !held_here(w->l2[PART_REST], addr, bytes)) {
		if (2 * held_here(w->seen, addr, bytes) < bytes)
			use = HELD_PASS;
		held_touch(w->seen, addr, bytes, HELD_READ);
	}
	g = held_touch(w->l2[PART_REST], addr, bytes, use);
	g.hit = g.hit > f.hit ? g.hit : f.hit;
	return g;
}

/* `bytes` of the range are asked for. */
static void l2_find(struct ways *w, struct way *x, uint8_t cls, uint64_t addr, uint64_t range, uint64_t bytes,
                    enum held_use use)
{
	const struct l2_cfg *c = &w->c->mem.l2;
	uint64_t sector = c->sector < c->line ? c->sector : c->line, asked, hit;
	struct held_found f;

	if (!c->size) {
		x->dram += bytes;
		w->n.l2_passed += bytes;
		*(x->write ? &w->n.dram_write : &w->n.dram_read) += bytes;
		return;
	}
	f = l2_touch(w, cls, addr, range, use);
	asked = bytes == range ? sectors(sector, addr, bytes) : round_up(bytes, sector);
	hit = f.hit == range ? asked : f.hit / sector * sector;
	hit = hit < asked ? hit : asked;
	w->n.l2_hit += hit;
	w->n.l2_miss += asked - hit;
	w->n.l2_back += f.pushed;
	w->n.dram_write += f.pushed;
	x->back += f.pushed;
	if (x->write) {
		w->n.l2_write += asked;
		return;
	}
	w->n.l2_read += asked;
	w->n.l2_fill += asked - hit;
	w->n.dram_read += asked - hit;
	x->dram += asked - hit;
}

static void kv_find(struct ways *w, struct way *x, uint64_t addr, uint64_t range)
{
	struct held_found f = held_touch(w->kv, addr, range, x->write ? HELD_WRITE : HELD_READ);
	uint64_t here = x->write ? f.kept : f.hit, fill = x->write ? 0 : f.kept - f.hit, spill = range - f.kept;

	x->to_kv = true;
	x->kv = sectors(KV_LINE, addr, range);
	*(x->write ? &w->n.kv_write : &w->n.kv_read) += x->kv;
	w->n.kv_hit += here;
	w->n.kv_fill += fill;
	*(x->write ? &w->n.kv_spill_write : &w->n.kv_spill_read) += spill;
	x->spilled = fill + spill;
	if (fill)
		l2_find(w, x, MEM_KV, addr, range, fill, HELD_PASS);
	if (spill)
		l2_find(w, x, MEM_KV, addr, range, spill, x->write ? HELD_WRITE : HELD_READ);
}

struct way ways_find(struct ways *w, uint8_t cls, uint64_t addr, uint64_t bytes, bool write)
{
	struct way x = { .bytes = bytes, .below = bytes, .write = write };

	*(write ? &w->n.dma_write : &w->n.dma_read) += bytes;
	if (w->l1 && write) {
		held_drop(w->l1, addr, bytes);
		w->n.l1_through += bytes;
	} else if (w->l1) {
		uint64_t sector = w->c->mem.l1.sector, asked = sectors(sector, addr, bytes), hit;
		struct held_found f = held_touch(w->l1, addr, bytes, HELD_READ);

		hit = f.hit == bytes ? asked : f.hit / sector * sector;
		w->n.l1_read += asked;
		w->n.l1_hit += hit;
		w->n.l1_miss += asked - hit;
		x.below = asked - hit;
	}
	*(write ? &w->n.noc_down : &w->n.noc_up) += x.below;
	if (!x.below)
		return x;
	if (cls == MEM_KV && w->kv)
		kv_find(w, &x, addr, bytes);
	else
		l2_find(w, &x, cls, addr, bytes, x.below, write ? HELD_WRITE : HELD_READ);
	return x;
}

uint64_t ways_resident(const struct ways *w, uint64_t addr, uint64_t bytes, bool kv)
{
	uint64_t n = kv && w->kv ? held_here(w->kv, addr, bytes) : 0, most = w->l1 ? held_here(w->l1, addr, bytes) : 0;

	for (int i = 0; i < PARTS; i++)
		if (w->l2[i])
			n += held_here(w->l2[i], addr, bytes);
	n = n > most ? n : most;
	return n < bytes ? n : bytes;
}

/* --- how long it takes ------------------------------------------------------------------------------------- */

/* A transfer's part of what the whole move has of something; rounded up, so that none is free. */
static uint64_t part(uint64_t of, uint64_t bytes, uint64_t whole)
{
	if (of == 0 || bytes >= whole)
		return of;
	if (of == whole)
		return bytes;
	if ((of | bytes) >> 32)
		return of / whole * bytes + of % whole / (whole / bytes) + 1;
	return of * bytes / whole + 1;
}

struct leg ways_leg(const struct ways *w, const struct way *x, uint64_t bytes)
{
	struct leg l = { .bytes = bytes, .asked = part(x->below, bytes, x->bytes) };

	l.kv = x->to_kv ? part(x->kv, bytes, x->bytes) : 0;
	l.beyond = x->to_kv ? part(x->spilled, bytes, x->bytes) : l.asked;
	if (w->c->mem.l2.size) {
		l.dram = part(x->dram, bytes, x->bytes);
		l.back = part(x->back, bytes, x->bytes);
	} else {
		l.dram = l.beyond;
	}
	l.l1_span = line_span_of(&w->l1_line, bytes);
	l.l2_span = line_span_of(&w->l2_line, l.beyond);
	l.kv_span = line_span_of(&w->kv_line, l.kv);
	l.dram_span = line_span_of(&w->dram_line, l.dram);
	l.dram_least = dram_least(w, l.dram);
	l.back_span = (l.back * w->write_per_byte) >> LINE_FRACTION;
	l.dma_span = line_span_of(&w->dma_line, bytes);
	return l;
}

/* From the L2's door, or DRAM's where there is none, to the answer. */
static inline ps_t l2_move(struct ways *w, const struct leg *l, ps_t at, struct core_stamps *s)
{
	struct line_span l2, d;
	ps_t ready;

	if (!w->c->mem.l2.size) {
		d = dram_take(w, at, l);
		s->t[CORE_AT_LEVEL] = ps_max(s->t[CORE_AT_LEVEL], at);
		s->t[CORE_AT_DRAM] = at;
		s->t[CORE_AT_DRAM_DONE] = d.end;
		s->level = RES_DRAM;
		return d.end;
	}
	l2 = line_book(&w->l2_line, at, l->l2_span);
	ready = l2.end;
	if (!s->t[CORE_AT_LEVEL])
		s->t[CORE_AT_LEVEL] = l2.start;
	at = l2.start + w->c->mem.l2.miss_latency;
	if (l->dram) {
		d = dram_take(w, at, l);
		ready = ps_max(ready, d.end);
		s->t[CORE_AT_DRAM] = at;
		s->t[CORE_AT_DRAM_DONE] = d.end;
	}
	if (l->back)
		dram_post(w, at, l->back_span);
	return ready + w->l2_latency + w->far;
}

static inline ps_t behind_noc(struct ways *w, const struct way *x, const struct leg *l, ps_t at, struct core_stamps *s)
{
	ps_t ready = 0;

	s->level = RES_L2;
	if (x->to_kv) {
		struct line_span kv = line_book(&w->kv_line, at, l->kv_span);

		s->t[CORE_AT_LEVEL] = at = kv.start;
		ready = kv.end;
	}
	if (l->beyond)
		ready = ps_max(ready, l2_move(w, l, at, s));
	if (!x->to_kv)
		return ready;
	s->level = RES_KV;
	return ready + w->c->mem.kv_buffer.latency;
}

ps_t ways_move(struct ways *w, const struct way *x, const struct leg *l, ps_t issue, bool demand, struct core_stamps *s)
{
	const ps_t hop = w->c->mem.noc.latency;
	ps_t *slot = &w->sent[demand][w->next[demand]], at, reply;
	struct line_span l1 = { 0, 0 };

	w->n.dma_transfers++;
	at = ps_max(issue, *slot) + w->c->dma.setup;
	s->t[CORE_AT_ISSUE] = issue;
	s->t[CORE_AT_SENT] = s->t[CORE_AT_L1] = at;
	s->t[CORE_AT_LEVEL] = s->t[CORE_AT_DRAM] = 0; /* not asked */
	s->level = RES_L1;
	if (w->l1) {
		l1 = line_book(&w->l1_line, at, l->l1_span);
		at = l1.start;
	}
	if (l->asked) {
		s->t[CORE_AT_L1] = at;
		s->t[CORE_AT_ARRIVE] = at + hop;
		reply = ps_max(behind_noc(w, x, l, at + hop, s) + hop, l1.end);
	} else {
		s->t[CORE_AT_ARRIVE] = s->t[CORE_AT_SENT];
		s->t[CORE_AT_LEVEL] = at;
		reply = l1.end;
	}
	if (w->l1)
		reply += w->c->mem.l1.latency;
	if (!s->t[CORE_AT_DRAM])
		s->t[CORE_AT_DRAM] = s->t[CORE_AT_DRAM_DONE] = s->t[CORE_AT_LEVEL];
	s->t[CORE_AT_REPLY] = *slot = reply;
	w->next[demand] = w->next[demand] + 1 == w->c->dma.outstanding ? 0 : w->next[demand] + 1;
	/* Bytes stream through the engines as they arrive. */
	at = reply > l->dma_span ? reply - l->dma_span : 0;
	s->t[CORE_AT_DONE] = ps_max(line_book(&w->dma_line, at, l->dma_span).end, reply);
	return s->t[CORE_AT_DONE];
}

/* --- statistics -------------------------------------------------------------------------------------------- */

int ways_stats(struct ways *w, struct stat_reg *st, struct err *e)
{
	const struct stat_row always[] = {
		{ "dram.read_bytes", "B", "bytes read, as asked", STAT_COUNT, &w->n.dram_read },
		{ "dram.write_bytes", "B", "bytes written, as asked", STAT_COUNT, &w->n.dram_write },
		{ "dma.read_bytes", "B", "bytes brought into SRAM", STAT_COUNT, &w->n.dma_read },
		{ "dma.write_bytes", "B", "bytes sent out of SRAM", STAT_COUNT, &w->n.dma_write },
		{ "dma.transfers", "", "tile transfers", STAT_COUNT, &w->n.dma_transfers },
		{ "noc.up_bytes", "B", "bytes read by the cores", STAT_COUNT, &w->n.noc_up },
		{ "noc.down_bytes", "B", "bytes written by the cores", STAT_COUNT, &w->n.noc_down },
	};
	const struct stat_row l2[] = {
		{ "l2.read_bytes", "B", "bytes asked by reads, in whole sectors", STAT_COUNT, &w->n.l2_read },
		{ "l2.write_bytes", "B", "bytes asked by writes, in whole sectors", STAT_COUNT, &w->n.l2_write },
		{ "l2.hit_bytes", "B", "bytes found here, reads and writes", STAT_COUNT, &w->n.l2_hit },
		{ "l2.miss_bytes", "B", "bytes not found here, reads and writes", STAT_COUNT, &w->n.l2_miss },
		{ "l2.fill_bytes", "B", "bytes fetched from the level below: what reads missed", STAT_COUNT,
		  &w->n.l2_fill },
		{ "l2.writeback_bytes", "B", "dirty bytes evicted to DRAM", STAT_COUNT, &w->n.l2_back },
		{ "l2.dirty_bytes", "B", "dirty bytes held", STAT_LEVEL, &w->n.l2_dirty },
		{ "l2.resident_bytes", "B", "bytes held", STAT_LEVEL, &w->n.l2_resident },
	};
	const struct stat_row none[] = {
		{ "l2.passed_bytes", "B", "bytes that went by where there is no L2", STAT_COUNT, &w->n.l2_passed },
	};
	const struct stat_row kv[] = {
		{ "kv_buffer.read_bytes", "B", "bytes asked by reads, in whole lines", STAT_COUNT, &w->n.kv_read },
		{ "kv_buffer.write_bytes", "B", "bytes asked by writes, in whole lines", STAT_COUNT, &w->n.kv_write },
		{ "kv_buffer.hit_bytes", "B", "bytes read or written here", STAT_COUNT, &w->n.kv_hit },
		{ "kv_buffer.fill_bytes", "B", "bytes fetched on first touch and kept", STAT_COUNT, &w->n.kv_fill },
		{ "kv_buffer.spill_read_bytes", "B", "bytes read from the level below, no room to keep them",
		  STAT_COUNT, &w->n.kv_spill_read },
		{ "kv_buffer.spill_write_bytes", "B", "bytes written to the level below, no room for them", STAT_COUNT,
		  &w->n.kv_spill_write },
		{ "kv_buffer.resident_bytes", "B", "bytes held", STAT_LEVEL, &w->n.kv_resident },
		{ "kv_buffer.dirty_bytes", "B", "dirty bytes held", STAT_LEVEL, &w->n.kv_dirty },
	};
	const struct stat_row l1[] = {
		{ "l1.read_bytes", "B", "bytes asked by reads, in whole sectors", STAT_COUNT, &w->n.l1_read },
		{ "l1.hit_bytes", "B", "bytes found here by reads", STAT_COUNT, &w->n.l1_hit },
		{ "l1.miss_bytes", "B", "bytes not found here by reads", STAT_COUNT, &w->n.l1_miss },
		{ "l1.fill_bytes", "B", "bytes fetched from the level below: what reads missed", STAT_COUNT,
		  &w->n.l1_miss },
		{ "l1.through_bytes", "B", "bytes written through to the level below", STAT_COUNT, &w->n.l1_through },
	};

	if (stat_add_all(st, always, sizeof always / sizeof *always, e) < 0 ||
	    (w->c->mem.l2.size ? stat_add_all(st, l2, sizeof l2 / sizeof *l2, e)
	                       : stat_add_all(st, none, sizeof none / sizeof *none, e)) < 0 ||
	    (w->kv && stat_add_all(st, kv, sizeof kv / sizeof *kv, e) < 0) ||
	    (w->l1 && stat_add_all(st, l1, sizeof l1 / sizeof *l1, e) < 0))
		return -1;
	return 0;
}

void ways_level(struct ways *w)
{
	w->n.l2_dirty = w->n.l2_resident = 0;
	for (int i = 0; i < PARTS; i++)
		if (w->l2[i]) {
			w->n.l2_dirty += held_dirty(w->l2[i]);
			w->n.l2_resident += held_bytes(w->l2[i]);
		}
	if (w->kv) {
		w->n.kv_resident = held_bytes(w->kv);
		w->n.kv_dirty = held_dirty(w->kv);
	}
}
