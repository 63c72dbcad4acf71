/* probe_dram_tiles.c - one stream of tiles through the tile path and, burst by burst at the same places, through the
 * command path. */
#include "sim/accuracy/probe_dram_tiles.h"

#include <stdlib.h>
#include <string.h>

#include "arch/mem/dram_tile.h"
#include "sim/base/rng.h"

#define WARM_PERCENT 10
#define APART        37 /* tiles: streams do not start a power of two apart */

/* --- streams ----------------------------------------------------------------------------------------------- */

static const struct probe_tiles known[] = {
	{ .name = "seq", .streams = 1, .reads = 1 },
	{ .name = "write", .streams = 1, .writes = 1 },
	{ .name = "8 streams", .streams = 8, .reads = 1 },
	{ .name = "64 streams", .streams = 64, .reads = 1 },
	{ .name = "random", .reads = 1 },
	{ .name = "2R:1W", .streams = 1, .reads = 2, .writes = 1 },
	{ .name = "copy", .streams = 1, .reads = 1, .writes = 1 },
	{ .name = "random 2R:1W", .reads = 2, .writes = 1 },
};

const struct probe_tiles *probe_tiles_known(size_t i)
{
	return i < sizeof known / sizeof *known ? &known[i] : NULL;
}

struct gen {
	struct probe_tiles s;
	uint64_t tiles, i, at[2];
	struct rng rng;
};

/* Reads in the first half of the memory, writes in the second. */
static uint64_t next_tile(struct gen *g, bool *write)
{
	uint64_t half = g->tiles / 2, turn = g->i % (g->s.reads + g->s.writes), n, at;

	*write = turn >= g->s.reads;
	n = g->at[*write]++;
	if (!g->s.streams)
		at = rng_below(&g->rng, half);
	else
		at = (n % g->s.streams * (half / g->s.streams + APART) + n / g->s.streams) % half;
	g->i++;
	return ((*write ? half : 0) + at) * g->s.tile;
}

static int probe_dram_tiles_start(struct gen *g, const struct probe_tiles *s, const struct dram_cfg *c, struct err *e)
{
	uint64_t bytes = (uint64_t)c->channels * c->pseudo_channels * c->ranks * c->bank_groups * c->banks * c->rows *
	                 c->row_bytes;

	memset(g, 0, sizeof *g);
	g->s = *s;
	g->tiles = bytes / s->tile;
	rng_seed(&g->rng, s->seed, "probe_dram_tiles");
	if (s->tile < dram_burst_bytes(c) || s->tile % dram_burst_bytes(c) || g->tiles < 64)
		return err_set(e, ERR_USAGE,
		               "a tile of %llu bytes is no whole number of bursts, or too large for this memory",
		               (unsigned long long)s->tile);
	return 0;
}

static uint32_t in_flight(const struct probe_tiles *s)
{
	uint64_t n = s->window / s->tile;

	return n < 2 ? 2 : (uint32_t)n;
}

/* --- the tile path ----------------------------------------------------------------------------------------- */

static int by_tile(const struct dram_cfg *c, const struct probe_tiles *s, double *efficiency, struct err *e)
{
	struct dram_timing t = dram_timing(c);
	uint64_t n = s->tiles, warm = n * WARM_PERCENT / 100;
	uint32_t depth = in_flight(s);
	ps_t *flight = calloc(depth, sizeof *flight), begin = 0, end = 0;
	struct dram_tile_stats stats = { 0 };
	struct dram_tile *d;
	struct gen g;
	int rc = -1;

	t.t_controller = 0;
	if (!flight)
		err_set(e, ERR_NOMEM, "out of memory for the DRAM probe");
	d = flight ? dram_tile_new(&t, e) : NULL;
	if (d && probe_dram_tiles_start(&g, s, c, e) == 0) {
		for (uint64_t i = 0; i < n; i++) {
			ps_t *slot = &flight[i % depth];
			bool write;
			struct mem_run run = { next_tile(&g, &write), s->tile };

			*slot = dram_tile_serve(d, *slot, &run, 1, write, &stats);
			end = ps_max(end, *slot);
			if (i == warm)
				begin = end;
		}
		*efficiency = (double)((n - 1 - warm) * s->tile) / ((double)(end - begin) * (double)t.peak / 1e12);
		rc = 0;
	}
	free(flight);
	dram_tile_free(d);
	return rc;
}

/* --- the command path -------------------------------------------------------------------------------------- */

struct waiting {
	struct dram_place at;
	uint32_t slot, next;
	bool write;
};
struct line {
	uint32_t first, last;
}; /* in the pool; 0: empty */
struct run {
	struct dram_cmd_table t;
	struct dram_cmd *d;
	struct gen g;
	struct dram_timing timing;
	struct line *line;            /* [channel][direction] */
	struct waiting *pool;         /* [0] stands for none */
	uint32_t spare, depth, *left; /* bursts left of the tile in each slot */
	uint64_t sent, done, warm;
	tick_t begin, end;
	bool room;
};

static void on_done(void *owner, const struct dram_burst *b, tick_t accepted, tick_t data)
{
	struct run *r = owner;

	(void)accepted;
	r->end = r->end > data ? r->end : data;
	if (--r->left[b->tag])
		return;
	if (r->done++ == r->warm)
		r->begin = r->end;
}

static void send_tile(struct run *r, uint32_t slot)
{
	uint64_t burst = r->timing.burst_bytes;
	bool write;
	uint64_t addr = next_tile(&r->g, &write), end = addr + r->g.s.tile;

	for (; addr < end; addr += burst) {
		uint32_t at = r->spare;
		struct waiting *w = &r->pool[at];
		struct line *l;

		r->spare = w->next;
		*w = (struct waiting){ dram_tile_place(&r->timing, addr), slot, 0, write };
		l = &r->line[2 * w->at.channel + write];
		*(l->first ? &r->pool[l->last].next : &l->first) = at;
		l->last = at;
		r->left[slot]++;
	}
	r->sent++;
}

static void push(struct run *r)
{
	for (uint32_t i = 0; i < 2 * r->t.channels; i++) {
		struct line *l = &r->line[i];

		while (l->first) {
			struct waiting *w = &r->pool[l->first];

			if (!dram_cmd_offer(r->d, &w->at, &(struct dram_burst){ w->slot, 0, w->write }))
				break;
			uint32_t at = l->first;

			l->first = w->next;
			w->next = r->spare;
			r->spare = at;
		}
	}
}

static void run_all(struct run *r)
{
	uint64_t n = r->g.s.tiles;

	while (r->done < n) {
		for (uint32_t i = 0; i < r->depth && r->sent < n; i++)
			if (!r->left[r->sent % r->depth])
				send_tile(r, (uint32_t)(r->sent % r->depth));
			else
				break;
		push(r);
		dram_cmd_step(r->d, dram_cmd_next(r->d));
	}
}

static int by_command(const struct dram_cfg *c, const struct probe_tiles *s, double *efficiency, struct err *e)
{
	struct dram_fieldmap map;
	struct run r = { .depth = in_flight(s), .warm = s->tiles * WARM_PERCENT / 100, .timing = dram_timing(c) };
	uint64_t bursts = r.depth * (s->tile / dram_burst_bytes(c));
	int rc = -1;

	if (dram_cmd_table(&r.t, c, e) < 0 || dram_map_parse(&map, c->fields, &r.t.size, e) < 0 ||
	    probe_dram_tiles_start(&r.g, s, c, e) < 0)
		return -1;
	r.line = calloc((size_t)2 * r.t.channels, sizeof *r.line);
	r.pool = calloc(bursts + 1, sizeof *r.pool);
	r.left = calloc(r.depth, sizeof *r.left);
	for (uint32_t i = (uint32_t)bursts; r.pool && i > 0; i--) {
		r.pool[i].next = r.spare;
		r.spare = i;
	}
	if (!r.line || !r.pool || !r.left)
		err_set(e, ERR_NOMEM, "out of memory for the DRAM probe");
	else if ((r.d = dram_cmd_new(&r.t, &map, on_done, &r, e))) {
		run_all(&r);
		*efficiency = (double)((s->tiles - 1 - r.warm) * s->tile) /
		              ((double)dram_cmd_ps(&r.t, r.end - r.begin) * (double)r.timing.peak / 1e12);
		rc = 0;
	}
	dram_cmd_free(r.d);
	free(r.line);
	free(r.pool);
	free(r.left);
	return rc;
}

int probe_tiles(const struct dram_cfg *c, const struct probe_tiles *s, struct probe_tiles_result *r, struct err *e)
{
	if (dram_is_fixed(c))
		return err_set(e, ERR_CONFIG, "DRAM of kind 'fixed' has no banks");
	return by_tile(c, s, &r->tile, e) < 0 ? -1 : by_command(c, s, &r->command, e);
}

int probe_tiles_of(const struct dram_cfg *c, const struct probe_tiles *known, uint64_t kib, uint64_t bursts,
                   struct probe_tiles_result *r, struct err *e)
{
	struct probe_tiles s = *known;

	s.tile = kib << 10;
	s.window = PROBE_TILES_WINDOW;
	s.tiles = (bursts ? bursts * dram_burst_bytes(c) : (UINT64_C(4) << 20) * c->channels) / s.tile;
	return probe_tiles(c, &s, r, e);
}
