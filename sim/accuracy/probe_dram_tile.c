/* probe_dram_tile.c - the same streams through the tile path: the unit is a tile, two of them in flight as a double
 * buffer keeps them; a chase asks for one burst at a time. */
#include "sim/accuracy/probe_dram.h"

#include <stdlib.h>
#include <string.h>

#include "arch/mem/dram_tile.h"

#define TILE         (UINT64_C(64) << 10)
#define RUNS         64
#define IN_FLIGHT    2
#define WARM_PERCENT 5

struct tiles {
	struct probe_gen g;
	uint64_t bytes, left;
	bool one_run;
};

/* The next tile: its runs, and whether it is written. */
static uint32_t next_tile(struct tiles *t, struct mem_run *runs, bool *write)
{
	uint64_t burst = t->g.burst, took = 0;
	uint32_t n = 0;

	if (t->one_run) {
		runs[0] = (struct mem_run){ probe_gen_next(&t->g, write), t->bytes };
		return 1;
	}
	for (; took < t->bytes && n < RUNS; took += burst)
		runs[n++] = (struct mem_run){ probe_gen_next(&t->g, write), burst };
	return n;
}

/* The k-th smallest; turns the order over. */
static ps_t nth(ps_t *v, uint64_t n, uint64_t k)
{
	uint64_t lo = 0, hi = n - 1;

	while (lo < hi) {
		ps_t mid = v[lo + (hi - lo) / 2];
		uint64_t i = lo, j = hi;

		for (;; i++, j--) {
			ps_t x;

			while (v[i] < mid)
				i++;
			while (v[j] > mid)
				j--;
			if (i >= j)
				break;
			x = v[i];
			v[i] = v[j];
			v[j] = x;
		}
		if (k <= j)
			hi = j;
		else
			lo = j + 1;
	}
	return v[k];
}

static void report(struct probe_result *r, const struct dram_timing *t, uint64_t bytes, ps_t time, ps_t *latency,
                   uint64_t n)
{
	double sum = 0;

	r->peak_gbps = (double)t->peak / 1e9;
	r->gbps = time ? (double)bytes / ((double)time / 1e3) : 0;
	r->efficiency = r->gbps / r->peak_gbps;
	r->mean_ns = r->p99_ns = -1;
	if (!n)
		return;
	for (uint64_t i = 0; i < n; i++)
		sum += (double)latency[i];
	r->mean_ns = sum / (double)n / 1e3;
	r->p99_ns = (double)nth(latency, n, n - 1 - n / 100) / 1e3;
}

int probe_dram_tile(const struct dram_cfg *c, const struct probe_stream *s, struct probe_result *r, struct err *e)
{
	struct dram_timing t = dram_timing(c);
	struct dram_map_size size = { .n = { c->channels, c->pseudo_channels, c->ranks, c->bank_groups, c->banks,
		                             c->rows, c->row_bytes / t.burst_bytes },
		                      .burst_bytes = t.burst_bytes };
	struct tiles tiles = { .bytes = s->chase ? t.burst_bytes : s->tile ? s->tile : TILE };
	struct probe_stream of_tiles = *s;
	struct dram_tile_stats stats = { 0 };
	struct dram_tile *d;
	struct mem_run runs[RUNS];
	uint64_t tile_bursts = tiles.bytes / t.burst_bytes, n, reads = 0, bytes = 0;
	ps_t *latency, flight[IN_FLIGHT] = { 0 }, begin = 0, end = 0;
	bool write;

	memset(r, 0, sizeof *r);
	if (dram_is_fixed(c))
		return err_set(e, ERR_CONFIG, "DRAM of kind 'fixed' has no banks");
	t.t_controller = 0; /* as in the command path: the device alone */
	tiles.one_run = s->order != PROBE_STRIDE && !(s->order == PROBE_RANDOM && s->chunk < tiles.bytes);
	if (!tiles.one_run && tile_bursts > RUNS)
		tile_bursts = RUNS;
	n = (s->requests ? s->requests : 2000 * tile_bursts) / (tile_bursts ? tile_bursts : 1);
	n = n < 40 ? 40 : n;
	if (tiles.one_run)
		size.burst_bytes = tiles.bytes;
	probe_gen_init(&tiles.g, &of_tiles, &size);
	if (tiles.one_run)
		tiles.g.bytes = tiles.g.bytes / tiles.bytes * t.burst_bytes / tiles.bytes * tiles.bytes;
	d = dram_tile_new(&t, e);
	latency = calloc(n, sizeof *latency);
	if (d && !latency)
		err_set(e, ERR_NOMEM, "out of memory for the DRAM probe");
	for (uint64_t i = 0; d && latency && i < n; i++) {
		ps_t *slot = &flight[s->chase ? 0 : i % IN_FLIGHT], arrival = *slot;
		uint32_t k = next_tile(&tiles, runs, &write);

		*slot = dram_tile_serve(d, arrival, runs, k, write, &stats);
		end = ps_max(end, *slot);
		if (i < n * WARM_PERCENT / 100) {
			begin = end;
			continue;
		}
		for (uint32_t j = 0; j < k; j++)
			bytes += runs[j].bytes;
		if (!write)
			latency[reads++] = *slot - arrival;
	}
	if (d && latency) {
		r->requests = stats.bursts;
		report(r, &t, bytes, end - begin, latency, reads);
	}
	r->commands.commands[DRAM_ACT] = stats.activates;
	free(latency);
	dram_tile_free(d);
	return d && latency ? 0 : -1;
}
