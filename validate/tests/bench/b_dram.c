/* b_dram.c - speed of the command path and of the tile path: bursts and tiles a second of processor time.
 *
 *   b_dram CONFIG seq|random N      one line: bursts per second of processor time
 *   b_dram CONFIG tile BYTES N      one line: ns of processor time a tile */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/accuracy/probe_dram_ref.h"

int main(int argc, char **argv)
{
	const char *sets[] = { "dram.read_queue=32", "dram.write_queue=32", "dram.channels=1" };
	struct probe_stream s;
	struct probe_result r;
	struct err e = ERR_INIT;
	struct dram_cfg c;
	bool tile = argc == 5 && strcmp(argv[2], "tile") == 0;
	clock_t start;
	double seconds;
	int rc;

	if (argc != (tile ? 5 : 4)) {
		fprintf(stderr, "usage: b_dram CONFIG seq|random N | b_dram CONFIG tile BYTES N\n");
		return 2;
	}
	if (probe_dram_load(&c, argv[1], sets, tile ? 2 : 3, &e) < 0 ||
	    probe_dram_pattern(&s, tile ? "seq" : argv[2], &e) < 0) {
		fprintf(stderr, "b_dram: %s\n", e.msg);
		return 1;
	}
	s.requests = strtoull(argv[argc - 1], NULL, 10);
	if (tile) {
		s.tile = strtoull(argv[3], NULL, 10);
		s.requests *= s.tile / dram_burst_bytes(&c);
	}
	start = clock();
	rc = (tile ? probe_dram_tile : probe_dram_command)(&c, &s, &r, &e);
	seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	if (rc < 0) {
		fprintf(stderr, "b_dram: %s\n", e.msg);
		return 1;
	}
	if (tile)
		printf("%.1f\n", seconds * 1e9 / strtod(argv[4], NULL));
	else
		printf("%.0f\n", (double)s.requests / seconds);
	return 0;
}
