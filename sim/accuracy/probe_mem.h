/* probe_mem.h - the microbenchmarks one runs on a GPU's memory, on a simulated machine: through its NoC, L2, victim
 * cache and DRAM, as the machine's DMA would ask, with nothing else running.
 *
 * latency: one line at a time, each asked for when the one before has come, round and round through a growing working
 *   set, as a GPU's pointer chase does: its blocks of 4 KiB are in a random order that stays, one random line of each.
 *   The set is read in that order twice first, whole blocks at a time. Under LRU a set that does not fit therefore
 *   misses altogether; what another policy keeps of it shows. Between two accesses lie up to 1023 clocks at random, which
 *   are not counted: else a chase could fall into step with the refresh.
 * l2: a growing working set read in tiles again and again, a window of them under way: bytes/s and hit rate.
 * stream: read, write, triad (two read, one written) and copy of arrays far larger than the caches, in tiles; measured
 *   once the caches are full, so that a byte written is a byte written back, and until DRAM has it. Bytes count as in
 *   STREAM: a copy's twice, a triad's three times.
 * Leaves out: the DMA engines' width and descriptor set-up, and what cores do with the bytes. All requests are of class
 * activation: a KV buffer and a bypass of weights do not show here. */
#ifndef NPUSIM_SIM_ACCURACY_PROBE_MEM_H
#define NPUSIM_SIM_ACCURACY_PROBE_MEM_H

#include "arch/machine/machine_cfg.h"

struct probe_mem_opts {
	uint64_t tile;    /* bytes; 0: the machine's dma.tile, 64 KiB at most */
	uint32_t window;  /* tiles under way; 0: the machine's dma.outstanding, twice */
	uint64_t largest; /* last working set; 0: 8 times the caches, 16 MiB or more (stream: 256) */
	uint32_t samples; /* accesses of a chase; 0: 4000 */
	uint64_t seed;
	const uint64_t *sets; /* latency: these working sets instead, in whole blocks */
	int n_sets;
};

/* Nanoseconds are of one request. A field below 0 has no meaning here. */
struct probe_mem_point {
	const char *what;             /* "read", "write", "triad", "copy"; "chase" */
	uint64_t ws_bytes;            /* working set, or bytes moved */
	double hit, gbps, efficiency; /* shares of 1; efficiency: of the peak of the L2, or of DRAM (stream) */
	double mean_ns, p99_ns, hit_ns, miss_ns; /* hit_ns, miss_ns: mean of those that hit, that missed */
};

#define PROBE_MEM_POINTS 80

/* Fill *resolved with the options in effect and up to PROBE_MEM_POINTS points; return how many, or -1. */
int probe_mem_latency(const struct machine_cfg *c, const struct probe_mem_opts *o, struct probe_mem_opts *resolved,
                      struct probe_mem_point *points, struct err *e);
int probe_mem_l2(const struct machine_cfg *c, const struct probe_mem_opts *o, struct probe_mem_opts *resolved,
                 struct probe_mem_point *points, struct err *e);
int probe_mem_stream(const struct machine_cfg *c, const struct probe_mem_opts *o, struct probe_mem_opts *resolved,
                     struct probe_mem_point *points, struct err *e);

#endif
