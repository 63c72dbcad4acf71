#include <stdlib.h>
#include <string.h>

#include "arch/mem/cache.h"
#include "arch/mem/cache_lru.h"
#include "arch/mem/dram_tile.h"
#include "arch/mem/memq.h"
#include "sim/base/ratio.h"
#include "sim/engine/analytic_memory.h"

#define PROBE_PIECES 96
#define PROBE_WARM   16
#define PIECE_PS     (100 * PS_NS) /* as dram.c hands them out: a piece's pin time, and how far ahead of the bus */
#define AHEAD_PS     (200 * PS_NS)

static uint64_t l2_chunk(const struct l2_cfg *c)
{
	return cache_chunk_bytes(c->line, c->sector < c->line ? c->sector : c->line);
}

/* --- what DRAM does with a stream -------------------------------------------------------------------------- */

/* Open time (no refresh in it) that a stream of pieces needs a byte, times 2^SERVER_FRACTION. */
static int analytic_memory_probe(const struct dram_timing *t, uint64_t piece, bool write, uint64_t *per_byte,
                                 struct err *e)
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
	*per_byte = ((dram_tile_open(t, end) - dram_tile_open(t, from)) << SERVER_FRACTION) /
	            (piece * (PROBE_PIECES - PROBE_WARM));
	return 0;
}

static int dram_init(struct hierarchy *h, const struct dram_cfg *c, struct err *e)
{
	struct dram_timing t;
	uint64_t read, write, piece, peak = dram_peak(c), least;

	if (dram_is_fixed(c)) {
		server_init(&h->dram_server, dram_fixed_rate(c));
		h->write_per_byte = h->dram_server.per_byte;
		h->dram_pins_ppm = 1000000;
		h->dram_latency = c->fixed_latency;
		h->dram_interleave = h->dram_units = 1;
		return 0;
	}
	t = dram_timing(c);
	piece = round_up(peak / (UINT64_C(1000000000000) / PIECE_PS) + 1, 4096);
	server_init(&h->dram_server, peak);
	least = h->dram_server.per_byte;
	if (analytic_memory_probe(&t, piece, false, &read, e) < 0 ||
	    analytic_memory_probe(&t, piece, true, &write, e) < 0)
		return -1;
	if (t.t_refi > t.t_block) {
		/* Of every tREFI so much is lost, and who comes in then waits half of it. */
		read += ratio_of(read, t.t_block, t.t_refi - t.t_block);
		write += ratio_of(write, t.t_block, t.t_refi - t.t_block);
		h->dram_latency = t.t_block * t.t_block / (2 * t.t_refi);
	}
	h->dram_server.per_byte = read > least ? read : least; /* I1 */
	h->dram_server.most = UINT64_MAX / h->dram_server.per_byte;
	h->dram_pins_ppm = least * 1000000 / h->dram_server.per_byte;
	h->write_per_byte = write > least ? write : least;
	h->dram_opens = t.t_rp + t.t_rcd;
	h->dram_row = t.row_bytes;
	h->dram_latency += t.t_controller + h->dram_opens + t.t_cl;
	/* A queue's high mark is a quarter of its places, its low mark a quarter of that. */
	h->posts = c->queue / 4;
	h->post_span = (MEMQ_RUNS * l2_chunk(&h->c->mem.l2) * h->write_per_byte) >> SERVER_FRACTION;
	h->posted_most = ((uint64_t)t.write_reach * t.units * t.burst_bytes * h->write_per_byte) >> SERVER_FRACTION;
	h->dram_units = t.units;
	h->dram_interleave = t.interleave;
	h->dram_unit_per_byte = (dram_bus_time(&t, 1024) << SERVER_FRACTION) / (1024 * t.burst_bytes);
	return 0;
}

static uint64_t l2_dirty(const struct hierarchy *h)
{
	return h->sample ? sample_dirty(h->sample) : h->l2 ? residency_dirty(h->l2) : 0;
}

/* Where dirty lines are also written earlier, while DRAM is idle (l2.write_back: eager): the part of `span` that was.
 */
static ps_t written_early(struct hierarchy *h, ps_t at, ps_t span)
{
	struct server *bus = &h->dram_server;
	ps_t early = ps_min(span, bus->idle);

	if (!h->c->mem.l2.write_back)
		return 0;
	/* Idle time of long ago counts as far as what is dirty now could have used it. */
	if (bus->idle > span)
		bus->idle = ps_min(bus->idle, span + ((l2_dirty(h) * h->write_per_byte) >> SERVER_FRACTION));
	bus->idle -= early;
	return early + server_fill(bus, 0, at, span - early);
}

/* A transfer's write-backs. They gather; DRAM takes them when it is idle, or all but a few when they are too many: then who
 * brings more waits until there is room. Returns when that is. */
static ps_t dram_post(struct hierarchy *h, ps_t at, ps_t span)
{
	const ps_t most = ps_max(h->posted_most, ps_min(span, h->post_span) * h->posts);
	ps_t over, from;

	h->n_posts++;
	h->all_posts += span;
	span -= written_early(h, at, span);
	if (h->posted)
		h->posted -= server_fill(&h->dram_server, h->posted_at, at, h->posted);
	h->posted_at = h->posted ? ps_max(h->posted_at, at) : at;
	h->posted += span;
	if (h->posted <= most)
		return at;
	h->n_bursts++;
	over = h->posted - most;
	from = server_book(&h->dram_server, at, h->posted - most / 4).start;
	h->posted = most / 4;
	return from + over;
}

/* A read, or a write that somebody waits for: its share of the bus, and at least what the fullest channel needs; from its
 * first byte to its last. */
static struct booking dram_take(struct hierarchy *h, ps_t at, const struct transfer *t, bool goes_on)
{
	const ps_t latency = h->dram_latency - (goes_on ? t->dram_sooner : 0);
	struct booking b = server_book(&h->dram_server, at, t->dram_span);

	b.end = ps_max(b.end, b.start + t->dram_least) + latency;
	b.start += latency;
	return b;
}

/* What the fullest channel needs for so many bytes. */
static ps_t dram_least(const struct hierarchy *h, uint64_t bytes)
{
	uint64_t most = h->dram_interleave;

	if (bytes < most)
		most = bytes;
	else
		most *= div_up(div_up(bytes, h->dram_interleave), h->dram_units);
	return (most * h->dram_unit_per_byte) >> SERVER_FRACTION;
}

/* Of closing and opening a row what is spared where a transfer goes on behind the one before: of rows that hold several such
 * transfers only the first one opens them. */
static ps_t dram_sooner(const struct hierarchy *h, uint64_t bytes)
{
	return bytes < h->dram_row ? h->dram_opens - h->dram_opens * bytes / h->dram_row : 0;
}

void hierarchy_dram(const struct hierarchy *h, struct map_dram *out)
{
	const double one = (double)(UINT64_C(1) << SERVER_FRACTION);

	*out = (struct map_dram){ .read = (double)h->dram_server.per_byte / one,
		                  .write = (double)h->write_per_byte / one,
		                  .unit = (double)h->dram_unit_per_byte / one,
		                  .latency = h->dram_latency,
		                  .interleave = h->dram_interleave,
		                  .units = h->dram_units };
}

/* --- life cycle -------------------------------------------------------------------------------------------- */

static int make_l2(struct hierarchy *h, const struct l2_cfg *c, uint64_t end, struct err *e)
{
	const uint64_t chunk = l2_chunk(c);
	/* Every reader but the home's own has a copy of what it reads. */
	const uint64_t size = c->size * c->partitions / (2 * c->partitions - 1);

	if (!c->size)
		return 0;
	if (sample_needed(c))
		return (h->sample = sample_new(c, e)) ? 0 : -1;
	h->l2 = residency_new(size, chunk, c->ways, c->hash == CACHE_HASH_XOR, end, e);
	return h->l2 ? 0 : -1;
}

static void drop_contents(struct hierarchy *h)
{
	residency_free(h->l1);
	residency_free(h->l2);
	residency_free(h->kv);
	sample_free(h->sample);
	h->l1 = h->l2 = h->kv = NULL;
	h->sample = NULL;
}

static void clear_contents(struct hierarchy *h)
{
	struct residency *all[] = { h->l1, h->l2, h->kv };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i])
			residency_clear(all[i]);
	if (h->sample)
		sample_clear(h->sample);
}

int hierarchy_contents(struct hierarchy *h, uint64_t end, struct err *e)
{
	const struct machine_cfg *c = h->c;
	const struct l1_cfg *l1 = &c->mem.l1;

	h->posted = h->owed = 0;
	if (h->end >= end) {
		clear_contents(h);
		return 0;
	}
	if (h->end) /* again, and larger: there will be others */
		end = UINT64_C(1) << log2_up(end);
	h->end = end;
	drop_contents(h);
	if (make_l2(h, &c->mem.l2, end, e) < 0 ||
	    (c->mem.kv_buffer.size && !(h->kv = residency_new(c->mem.kv_buffer.size, KV_CHUNK, 0, false, end, e))) ||
	    (l1_cache(l1) && !(h->l1 = residency_new(l1_cache(l1) + l1->victim * c->cores,
	                                             cache_chunk_bytes(l1->line, l1->sector), l1->ways, true, end, e))))
		return -1;
	return 0;
}

int hierarchy_init(struct hierarchy *h, const struct machine_cfg *c, struct err *e)
{
	const struct l1_cfg *l1 = &c->mem.l1;

	h->c = c;
	if (dram_init(h, &c->mem.dram, e) < 0)
		return -1;
	if (c->mem.l2.size) {
		h->l2_latency = c->mem.l2.latency;
		h->far_latency = c->mem.l2.partitions > 1 ? c->mem.l2.far_latency : 0;
	}
	h->noc = noc_shape(&c->mem.noc, c->clock);
	server_init(&h->noc_server[0], h->noc.up);
	server_init(&h->noc_server[1], h->noc.down);
	server_init(&h->l1_server, l1->bandwidth * c->cores * c->clock * 1000);
	server_init(&h->l2_server, l2_bandwidth(&c->mem.l2, c->clock));
	server_init(&h->kv_server, c->mem.kv_buffer.bandwidth);
	server_init(&h->dma_server, dma_rate(&c->dma, c->cores) * c->clock * 1000);
	for (int i = 0; i < 2; i++)
		if (!(h->replies[i] = calloc(c->dma.outstanding, sizeof **h->replies)))
			return err_set(e, ERR_NOMEM, "out of memory for descriptors");
	return 0;
}

void hierarchy_drop(struct hierarchy *h)
{
	drop_contents(h);
	free(h->replies[0]);
	free(h->replies[1]);
}

void hierarchy_servers(struct hierarchy *h, struct server *all[HIERARCHY_SERVERS])
{
	all[0] = &h->l1_server;
	all[1] = &h->l2_server;
	all[2] = &h->kv_server;
	all[3] = &h->dram_server;
	all[4] = &h->dma_server;
	all[5] = &h->noc_server[0];
	all[6] = &h->noc_server[1];
}

void hierarchy_begin(struct hierarchy *h)
{
	struct server *all[HIERARCHY_SERVERS];

	h->posted_at = 0;
	h->settled = h->n.dram_write;
	hierarchy_servers(h, all);
	for (int i = 0; i < HIERARCHY_SERVERS; i++)
		server_clear(all[i]);
	for (int i = 0; i < 2; i++) {
		memset(h->replies[i], 0, h->c->dma.outstanding * sizeof **h->replies);
		h->next_reply[i] = 0;
	}
}

/* So much DRAM time of writes, in bytes. */
static uint64_t written_in(const struct hierarchy *h, ps_t span)
{
	const uint64_t per_byte = h->write_per_byte;

	return (span / per_byte << SERVER_FRACTION) + div_up(span % per_byte << SERVER_FRACTION, per_byte);
}

/* All reads are back, so what is booked beyond the end are write-backs. */
void hierarchy_over(struct hierarchy *h, ps_t end)
{
	h->posted += server_busy(&h->dram_server, end, h->dram_server.end);
	h->n.dram_write += h->owed;
	h->owed =
		ps_min(written_in(h, h->posted), h->n.dram_write - h->settled); /* its time is rounded, and so longer */
	h->n.dram_write -= h->owed;
	h->n.dram_posted = h->owed;
}

void hierarchy_forget(struct hierarchy *h, ps_t before)
{
	struct server *all[HIERARCHY_SERVERS];

	hierarchy_servers(h, all);
	for (int i = 0; i < HIERARCHY_SERVERS; i++)
		server_forget(all[i], before);
}

/* --- what is where ----------------------------------------------------------------------------------------- */

static uint64_t sectors(uint64_t sector, uint64_t addr, uint64_t bytes)
{
	return round_up(addr + bytes, sector) - addr / sector * sector;
}

static struct residency_found l2_touch(struct hierarchy *h, uint8_t cls, uint64_t addr, uint64_t bytes,
                                       enum residency_use use)
{
	if (h->sample)
		return sample_touch(h->sample, cls, addr, bytes, use);
	return residency_touch(h->l2, addr, bytes, use);
}

/* `bytes` of the range are asked for. */
static void l2_access(struct hierarchy *h, struct access *a, uint8_t cls, uint64_t addr, uint64_t range, uint64_t bytes,
                      enum residency_use use)
{
	const struct l2_cfg *c = &h->c->mem.l2;
	uint64_t sector = c->sector < c->line ? c->sector : c->line, asked, hit;
	struct residency_found f;

	if (!c->size) {
		a->dram += bytes;
		h->n.l2_passed += bytes;
		*(a->write ? &h->n.dram_write : &h->n.dram_read) += bytes;
		return;
	}
	f = l2_touch(h, cls, addr, range, use);
	asked = bytes == range ? sectors(sector, addr, bytes) : round_up(bytes, sector);
	hit = f.hit == range ? asked : f.hit / sector * sector;
	hit = hit < asked ? hit : asked;
	h->n.l2_hit += hit;
	h->n.l2_miss += asked - hit;
	h->n.l2_back += f.evicted;
	h->n.dram_write += f.evicted;
	a->writeback += f.evicted;
	if (a->write) {
		h->n.l2_write += asked;
		return;
	}
	h->n.l2_read += asked;
	h->n.l2_fill += asked - hit;
	h->n.dram_read += asked - hit;
	a->dram += asked - hit;
}

static void kv_access(struct hierarchy *h, struct access *a, uint64_t addr, uint64_t range)
{
	struct residency_found f = residency_touch(h->kv, addr, range, a->write ? RESIDENCY_WRITE : RESIDENCY_READ);
	uint64_t here = a->write ? f.kept : f.hit, fill = a->write ? 0 : f.kept - f.hit, spill = range - f.kept;

	a->to_kv = true;
	a->kv = sectors(KV_LINE, addr, range);
	*(a->write ? &h->n.kv_write : &h->n.kv_read) += a->kv;
	h->n.kv_hit += here;
	h->n.kv_fill += fill;
	*(a->write ? &h->n.kv_spill_write : &h->n.kv_spill_read) += spill;
	a->past_kv = fill + spill;
	a->kv_first = range - fill - spill;
	if (fill)
		l2_access(h, a, MEM_KV, addr, range, fill, RESIDENCY_PASS);
	if (spill)
		l2_access(h, a, MEM_KV, addr, range, spill, a->write ? RESIDENCY_WRITE : RESIDENCY_READ);
}

struct access hierarchy_access(struct hierarchy *h, const struct isa_insn *i, uint64_t addr)
{
	const uint64_t bytes = i->bytes;
	const bool write = i->code == ISA_STORE;
	struct access a = { .bytes = bytes, .past_l1 = bytes, .write = write, .copies = i->copies > 1 ? i->copies : 1 };

	*(write ? &h->n.dma_write : &h->n.dma_read) += a.copies * bytes;
	if (i->src == ISA_SRAM && !write) {
		a.between = true;
		h->n.noc_core += bytes;
		h->n.noc_copied += (a.copies - 1) * bytes;
		return a;
	}
	if (h->l1 && write) {
		residency_drop(h->l1, addr, bytes);
		h->n.l1_through += bytes;
	} else if (h->l1) {
		uint64_t sector = h->c->mem.l1.sector, asked = sectors(sector, addr, bytes), hit;
		struct residency_found f = residency_touch(h->l1, addr, bytes, RESIDENCY_READ);

		hit = f.hit == bytes ? asked : f.hit / sector * sector;
		h->n.l1_read += asked;
		h->n.l1_hit += hit;
		h->n.l1_miss += asked - hit;
		a.past_l1 = asked - hit;
	}
	*(write ? &h->n.noc_down : &h->n.noc_up) += a.past_l1;
	h->n.noc_copied += (a.copies - 1) * a.past_l1;
	if (!a.past_l1)
		return a;
	if (i->cls == MEM_KV && h->kv)
		kv_access(h, &a, addr, bytes);
	else
		l2_access(h, &a, i->cls, addr, bytes, a.past_l1, write ? RESIDENCY_WRITE : RESIDENCY_READ);
	return a;
}

/* Of so many bytes that are used in turn, what the L2 loses before it is asked for again. */
static uint64_t lost(const struct hierarchy *h, uint64_t between, uint64_t bytes)
{
	return (uint64_t)((double)bytes *
	                  cache_lost((double)between, (double)residency_capacity(h->l2), h->c->mem.l2.ways));
}

/* Levels of which the formula does not know what they keep. */
static bool by_contents(const struct hierarchy *h, const struct isa_insn *i)
{
	return !h->l2 || h->l1 || (i->cls == MEM_KV && h->kv) || i->code == ISA_STORE || i->src == ISA_SRAM;
}

uint64_t hierarchy_kv_room(const struct hierarchy *h)
{
	return h->kv ? residency_capacity(h->kv) - residency_bytes(h->kv) : 0;
}

uint64_t hierarchy_kv_lacks(const struct hierarchy *h, uint64_t addr, uint64_t bytes)
{
	return bytes - residency_here(h->kv, addr, bytes);
}

void hierarchy_add(struct access *to, const struct access *x)
{
	to->kv_first += to->kv_first == to->bytes ? x->kv_first : 0;
	to->bytes += x->bytes;
	to->past_l1 += x->past_l1;
	to->kv += x->kv;
	to->past_kv += x->past_kv;
	to->dram += x->dram;
	to->writeback += x->writeback;
}

/* One more round of a move. */
static void add_round(struct access *sum, struct access x)
{
	const struct access before = *sum;

	*sum = x;
	sum->past_l1 += before.past_l1;
	sum->kv += before.kv;
	sum->past_kv += before.past_kv;
	sum->dram += before.dram;
	sum->writeback += before.writeback;
}

/* Each of so many rounds as their mean, rounded up: all that was counted takes its time. */
static void mean_of(struct access *sum, uint64_t n)
{
	if (n < 2)
		return;
	sum->past_l1 = div_up(sum->past_l1, n);
	sum->kv = div_up(sum->kv, n);
	sum->past_kv = div_up(sum->past_kv, n);
	sum->dram = div_up(sum->dram, n);
	sum->writeback = div_up(sum->writeback, n);
}

struct access hierarchy_again(struct hierarchy *h, const struct isa_insn *i, uint64_t addr, uint64_t times,
                              uint64_t between)
{
	struct hierarchy_counts before = h->n, *n = &h->n;
	struct access a = hierarchy_access(h, i, addr);
	const uint64_t asked = n->l2_read - before.l2_read, back = n->l2_back - before.l2_back;
	uint64_t miss;

	if (by_contents(h, i)) {
		for (uint64_t k = 1; k < times; k++)
			add_round(&a, hierarchy_access(h, i, addr));
		mean_of(&a, times);
		return a;
	}
	/* Contents are as after the last time; of the counts only what had to go is kept. */
	miss = lost(h, between, asked);
	before.l2_back += back;
	before.dram_write += back;
	before.dma_read += times * (n->dma_read - before.dma_read);
	before.noc_up += times * (n->noc_up - before.noc_up);
	before.noc_copied += times * (n->noc_copied - before.noc_copied);
	before.l2_read += times * asked;
	before.l2_hit += times * (asked - miss);
	before.l2_miss += times * miss;
	before.l2_fill += times * miss;
	before.dram_read += times * miss;
	*n = before;
	a.dram = miss;
	a.writeback = div_up(back, times);
	return a;
}

uint64_t hierarchy_resident(const struct hierarchy *h, uint64_t addr, uint64_t bytes, bool kv)
{
	uint64_t n = kv && h->kv ? residency_here(h->kv, addr, bytes) : 0,
		 most = h->l1 ? residency_here(h->l1, addr, bytes) : 0;

	n += h->sample ? sample_here(h->sample, addr, bytes) : h->l2 ? residency_here(h->l2, addr, bytes) : 0;
	n = n > most ? n : most;
	return n < bytes ? n : bytes;
}

/* --- how long it takes ------------------------------------------------------------------------------------- */

/* A transfer's part of what the whole move has of something; rounded up, so that none is free. */
static uint64_t analytic_memory_part(uint64_t of, uint64_t bytes, uint64_t whole)
{
	if (of == 0 || bytes >= whole)
		return of;
	if (of == whole)
		return bytes;
	if ((of | bytes) >> 32)
		return of / whole * bytes + of % whole / (whole / bytes) + 1;
	return of * bytes / whole + 1;
}

struct transfer hierarchy_transfer(const struct hierarchy *h, const struct access *a, uint64_t from, uint64_t bytes,
                                   uint64_t share)
{
	struct transfer t = { .bytes = bytes, .past_l1 = analytic_memory_part(a->past_l1, bytes, a->bytes) };
	uint64_t past = bytes, whole = a->bytes; /* of it and of all, what is behind the part that the KV buffer has */

	if (hierarchy_cut(a)) {
		whole -= a->kv_first;
		past -= a->kv_first > from ? ps_min(bytes, a->kv_first - from) : 0;
	}
	t.kv = a->to_kv ? analytic_memory_part(a->kv, bytes, a->bytes) : 0;
	t.l2 = a->to_kv ? analytic_memory_part(past ? a->past_kv : 0, past, whole) : t.past_l1;
	if (h->c->mem.l2.size) {
		t.dram = analytic_memory_part(past ? a->dram : 0, past, whole);
		t.writeback = analytic_memory_part(past ? a->writeback : 0, past, whole);
	} else {
		t.dram = t.l2;
	}
	t.l1_span = server_time_of(&h->l1_server, bytes);
	t.l2_span = server_time_of(&h->l2_server, t.l2);
	t.kv_span = server_time_of(&h->kv_server, t.kv);
	t.dram_span = server_time_of(&h->dram_server, t.dram);
	t.dram_least = dram_least(h, t.dram);
	t.dram_sooner = dram_sooner(h, t.dram);
	t.writeback_span = (t.writeback * h->write_per_byte) >> SERVER_FRACTION;
	t.dma_span = server_time_of(&h->dma_server, share ? share * h->c->cores : bytes);
	if (h->noc.port && t.past_l1)
		t.noc_span = noc_span(&h->noc, h->c->cores,
		                      &(struct mem_req){ .bytes = t.past_l1,
		                                         .copies = a->copies,
		                                         .share = share,
		                                         .write = a->write,
		                                         .between = a->between },
		                      &t.noc_load);
	return t;
}

static struct booking later(struct booking b, ps_t by)
{
	return (struct booking){ b.start + by, b.end + by };
}

/* A level's own part and what came from the one below: what is here streams out from the start on, else as it comes. */
static struct booking joined(struct booking here, struct booking below, bool all_below)
{
	return (struct booking){ all_below ? ps_max(here.start, below.start) : here.start,
		                 ps_max(here.end, below.end) };
}

/* From the L2's door, or DRAM's where there is none: when the first byte is answered, and the last. */
static inline struct booking l2_move(struct hierarchy *h, const struct transfer *t, ps_t at, bool goes_on)
{
	struct booking l2;

	if (!h->c->mem.l2.size)
		return dram_take(h, at, t, goes_on);
	l2 = server_book(&h->l2_server, at, t->l2_span);
	at = l2.start + h->c->mem.l2.miss_latency;
	if (t->dram)
		l2 = joined(l2, dram_take(h, at, t, goes_on), t->dram >= t->l2);
	if (t->writeback)
		l2.end = ps_max(l2.end, dram_post(h, at, t->writeback_span));
	return later(l2, h->l2_latency + h->far_latency);
}

static inline struct booking behind_noc(struct hierarchy *h, const struct access *a, const struct transfer *t, ps_t at,
                                        bool goes_on)
{
	struct booking b;

	if (!a->to_kv)
		return l2_move(h, t, at, goes_on);
	b = server_book(&h->kv_server, at, t->kv_span);
	if (t->l2)
		b = joined(b, l2_move(h, t, b.start, goes_on), t->l2 >= t->kv);
	return later(b, h->c->mem.kv_buffer.latency);
}

/* What streams through a server as it comes: it ends no earlier than its last byte came, and its first byte is as late as
 * the server is. */
static struct booking streamed(struct server *s, struct booking b, ps_t span)
{
	const ps_t at = ps_max(b.start, b.end > span ? b.end - span : 0);
	const struct booking through = server_book(s, at, span);

	return (struct booking){ b.start + (through.start - at), ps_max(through.end, b.end) };
}

/* Through the network and whatever is behind it, from the cores' side and back. */
static struct booking past_noc(struct hierarchy *h, const struct access *a, const struct transfer *t, ps_t at,
                               bool goes_on)
{
	struct server *links = &h->noc_server[a->write && !h->noc.one_way];
	struct booking b;

	h->n.noc_busy += t->noc_span;
	if (a->between)
		return later(streamed(links, (struct booking){ at, at }, t->noc_span), h->noc.between);
	if (a->write && t->noc_span)
		at = server_book(links, at, t->noc_span).end;
	b = behind_noc(h, a, t, at + h->noc.latency, goes_on);
	if (!a->write && t->noc_span)
		b = streamed(links, b, t->noc_span);
	return later(b, h->noc.latency);
}

ps_t hierarchy_move(struct hierarchy *h, const struct access *a, const struct transfer *t, ps_t issue, bool demand,
                    bool goes_on, struct core_move *m)
{
	const ps_t sent = ps_max(issue, h->replies[demand][h->next_reply[demand]]) + h->c->dma.setup;
	const bool l1 = h->l1 && !a->between;
	struct booking b;

	h->n.dma_transfers++;
	if (l1) {
		b = server_book(&h->l1_server, sent, t->l1_span);
		if (t->past_l1)
			b = joined(b, past_noc(h, a, t, b.start, goes_on), t->past_l1 >= t->bytes);
		b = later(b, h->c->mem.l1.latency);
	} else {
		b = past_noc(h, a, t, sent, goes_on);
	}
	h->replies[demand][h->next_reply[demand]] = b.end;
	h->next_reply[demand] = h->next_reply[demand] + 1 == h->c->dma.outstanding ? 0 : h->next_reply[demand] + 1;
	/* What leaves goes through the engines at once, whatever its answer then takes. */
	if (a->write)
		b.start = sent;
	*m = (struct core_move){ issue, streamed(&h->dma_server, b, t->dma_span).end };
	return m->done;
}

ps_t hierarchy_exchange(struct hierarchy *h, ps_t at, ps_t span)
{
	const ps_t sent = dma_exchange_span(&h->c->dma, machine_core_port(h->c), span);
	ps_t over;

	if (!h->noc.port) /* any number of bytes: the cores' engines alone are in the way */
		return ps_max(at + span, server_book(&h->dma_server, at, sent).end);
	over = server_book(&h->noc_server[0], at, span).end;
	h->n.noc_busy += span;
	if (!h->noc.one_way) {
		h->n.noc_busy += span;
		over = ps_max(over, server_book(&h->noc_server[1], at, span).end);
	}
	return ps_max(over, server_book(&h->dma_server, at, sent).end);
}

static ps_t use_of(const struct server *s, const struct core_move *m, ps_t from)
{
	const ps_t early = s->end < m->done ? m->done - s->end : 0;

	if (s->end <= m->asked)
		return 0;
	return server_busy(s, ps_max(from > early ? from - early : 0, m->asked), m->done - early);
}

struct core_use hierarchy_use(const struct hierarchy *h, const struct core_move *m, ps_t from)
{
	struct core_use u = { .span = m->done - from };

	u.need[RES_DRAM] = use_of(&h->dram_server, m, from) * h->dram_pins_ppm / 1000000;
	u.need[RES_DMA] = use_of(&h->dma_server, m, from);
	u.need[RES_NOC] = ps_max(use_of(&h->noc_server[0], m, from), use_of(&h->noc_server[1], m, from));
	u.need[RES_L2] = use_of(&h->l2_server, m, from);
	u.need[RES_KV] = use_of(&h->kv_server, m, from);
	u.need[RES_L1] = use_of(&h->l1_server, m, from);
	return u;
}

/* --- statistics -------------------------------------------------------------------------------------------- */

int hierarchy_stats(struct hierarchy *h, struct stat_reg *st, struct err *e)
{
	const struct stat_row always[] = {
		{ "dram.read_bytes", "B", "bytes read, as asked", STAT_COUNT, &h->n.dram_read },
		{ "dram.write_bytes", "B", "bytes written, when they were", STAT_COUNT, &h->n.dram_write },
		{ "dram.posted_bytes", "B", "bytes to be written that wait", STAT_LEVEL, &h->n.dram_posted },
		{ "dma.read_bytes", "B", "bytes brought into SRAM", STAT_COUNT, &h->n.dma_read },
		{ "dma.write_bytes", "B", "bytes sent out of SRAM", STAT_COUNT, &h->n.dma_write },
		{ "dma.transfers", "", "tile transfers", STAT_COUNT, &h->n.dma_transfers },
		{ "noc.up_bytes", "B", "bytes read by the cores", STAT_COUNT, &h->n.noc_up },
		{ "noc.down_bytes", "B", "bytes written by the cores", STAT_COUNT, &h->n.noc_down },
		{ "noc.copied_bytes", "B", "bytes delivered to further cores that want the same", STAT_COUNT,
		  &h->n.noc_copied },
		{ "noc.core_bytes", "B", "bytes that came from other cores", STAT_COUNT, &h->n.noc_core },
		{ "noc.busy_ps", "ps", "time that requests took of the fullest links", STAT_COUNT, &h->n.noc_busy },
	};
	const struct stat_row l2[] = {
		{ "l2.read_bytes", "B", "bytes asked by reads, in whole sectors", STAT_COUNT, &h->n.l2_read },
		{ "l2.write_bytes", "B", "bytes asked by writes, in whole sectors", STAT_COUNT, &h->n.l2_write },
		{ "l2.hit_bytes", "B", "bytes found here, reads and writes", STAT_COUNT, &h->n.l2_hit },
		{ "l2.miss_bytes", "B", "bytes not found here, reads and writes", STAT_COUNT, &h->n.l2_miss },
		{ "l2.fill_bytes", "B", "bytes fetched from the level below: what reads missed", STAT_COUNT,
		  &h->n.l2_fill },
		{ "l2.writeback_bytes", "B", "dirty bytes evicted to DRAM", STAT_COUNT, &h->n.l2_back },
		{ "l2.dirty_bytes", "B", "dirty bytes held", STAT_LEVEL, &h->n.l2_dirty },
		{ "l2.resident_bytes", "B", "bytes held", STAT_LEVEL, &h->n.l2_resident },
	};
	const struct stat_row none[] = {
		{ "l2.passed_bytes", "B", "bytes that went by where there is no L2", STAT_COUNT, &h->n.l2_passed },
	};
	const struct stat_row kv[] = {
		{ "kv_buffer.read_bytes", "B", "bytes asked by reads, in whole lines", STAT_COUNT, &h->n.kv_read },
		{ "kv_buffer.write_bytes", "B", "bytes asked by writes, in whole lines", STAT_COUNT, &h->n.kv_write },
		{ "kv_buffer.hit_bytes", "B", "bytes read or written here", STAT_COUNT, &h->n.kv_hit },
		{ "kv_buffer.fill_bytes", "B", "bytes fetched on first touch and kept", STAT_COUNT, &h->n.kv_fill },
		{ "kv_buffer.spill_read_bytes", "B", "bytes read from the level below, no room to keep them",
		  STAT_COUNT, &h->n.kv_spill_read },
		{ "kv_buffer.spill_write_bytes", "B", "bytes written to the level below, no room for them", STAT_COUNT,
		  &h->n.kv_spill_write },
		{ "kv_buffer.resident_bytes", "B", "bytes held", STAT_LEVEL, &h->n.kv_resident },
		{ "kv_buffer.dirty_bytes", "B", "dirty bytes held", STAT_LEVEL, &h->n.kv_dirty },
	};
	const struct stat_row l1[] = {
		{ "l1.read_bytes", "B", "bytes asked by reads, in whole sectors", STAT_COUNT, &h->n.l1_read },
		{ "l1.hit_bytes", "B", "bytes found here by reads", STAT_COUNT, &h->n.l1_hit },
		{ "l1.miss_bytes", "B", "bytes not found here by reads", STAT_COUNT, &h->n.l1_miss },
		{ "l1.fill_bytes", "B", "bytes fetched from the level below: what reads missed", STAT_COUNT,
		  &h->n.l1_miss },
		{ "l1.through_bytes", "B", "bytes written through to the level below", STAT_COUNT, &h->n.l1_through },
	};

	if (stat_add_all(st, always, sizeof always / sizeof *always, e) < 0 ||
	    (h->c->mem.l2.size ? stat_add_all(st, l2, sizeof l2 / sizeof *l2, e)
	                       : stat_add_all(st, none, sizeof none / sizeof *none, e)) < 0 ||
	    (h->kv && stat_add_all(st, kv, sizeof kv / sizeof *kv, e) < 0) ||
	    (h->l1 && stat_add_all(st, l1, sizeof l1 / sizeof *l1, e) < 0))
		return -1;
	return 0;
}

void hierarchy_update_levels(struct hierarchy *h)
{
	h->n.l2_dirty = l2_dirty(h);
	h->n.l2_resident = h->sample ? sample_bytes(h->sample) : h->l2 ? residency_bytes(h->l2) : 0;
	if (h->kv) {
		h->n.kv_resident = residency_bytes(h->kv);
		h->n.kv_dirty = residency_dirty(h->kv);
	}
}
