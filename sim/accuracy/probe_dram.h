/* probe_dram.h - microbenchmarks of DRAM: streams of single bursts through the command path (arch/mem/dram_cmd.h), or of
 * tiles through the tile path (arch/mem/dram_tile.h), and what they reach.
 *
 * A saturating stream is made in order and waits in staging FIFOs, one a channel for reads and one for writes, that
 * hold 64 bursts times the channels in all; from there each tick puts into the controllers what they take.
 * Under `load` bursts arrive at that share of the peak, evenly or at random, whether or not they are taken. A chase
 * sends the next burst when the last one's data is there.
 * The first 5 % warm up. Latency is from acceptance to the last byte; under load from arrival. These are the rules the
 * measurements in validate/data/dram were made by (README.md there). Controller and device only: no PHY, no NoC. */
#ifndef NPUSIM_SIM_ACCURACY_PROBE_DRAM_H
#define NPUSIM_SIM_ACCURACY_PROBE_DRAM_H

#include "arch/mem/dram_cmd.h"

enum probe_order { PROBE_SEQ, PROBE_RANDOM, PROBE_STRIDE, PROBE_COPY };

struct probe_stream {
	enum probe_order order;
	bool chase;
	uint64_t stride;        /* bytes */
	uint64_t chunk;         /* random: bytes read in order at each place; copy: bytes a turn. 0: a burst */
	uint64_t skew;          /* copy: B is half the memory and this from A */
	uint32_t reads, writes; /* of each group; 0, 0: reads only */
	uint32_t load;          /* ppm of the peak; 0: saturating */
	bool poisson;
	uint64_t requests; /* bursts; 0: enough for 40 refreshes, and 20000 */
	uint64_t tile;     /* tile path: bytes of a tile; 0: 64 KiB */
	uint64_t seed;
};

struct probe_result {
	uint64_t requests;
	double efficiency, gbps, peak_gbps;
	double mean_ns, p99_ns;         /* of reads; below 0: there were none */
	bool saturated;                 /* under load: fewer than 98.5 % of it were served */
	struct dram_cmd_stats commands; /* command path */
};

/* "seq", "random", "stride=1024", "mix=2:1", "copy", "chase" and what README.md lists; ERR_USAGE. */
int probe_dram_pattern(struct probe_stream *s, const char *text, struct err *e);
int probe_dram_command(const struct dram_cfg *c, const struct probe_stream *s, struct probe_result *r, struct err *e);
int probe_dram_tile(const struct dram_cfg *c, const struct probe_stream *s, struct probe_result *r, struct err *e);

/* The generator alone, for benchmarks and tests: burst i of the stream. */
struct probe_gen {
	struct probe_stream s;
	uint64_t burst, bytes, at, left, i;
	uint32_t turn;
	uint64_t rng[2];
};
void probe_gen_init(struct probe_gen *g, const struct probe_stream *s, const struct dram_map_size *size);
uint64_t probe_gen_next(struct probe_gen *g, bool *write);

#endif
