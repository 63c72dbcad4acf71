/* f_links.c - any bytes as a table of measured collectives, as `npusim probe link --beside` reads it: refused with a place, or each
 * row timed on random links. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/accuracy/probe_link.h"
#include "sim/base/hash.h"
#include "validate/tests/fuzz/targets.h"

int fuzz_links(const uint8_t *bytes, size_t n)
{
	static const char *const names[] = { "torus", "ring", "full", "switch", "mesh" };
	struct err e = ERR_INIT;
	struct input *in = input_mem(bytes, n, "fuzz", &e);
	struct arena *a = arena_new(64 << 20);
	const struct cfg_section sections[] = { { "links", link_schema, 0 }, { NULL, NULL, 0 } };
	char topology[64];
	struct link_cfg links;
	struct cfg *c = cfg_new(sections, &links, &e);
	struct probe_link x;

	snprintf(topology, sizeof topology, "links.topology=%s", names[hash_bytes(HASH_INIT, bytes, n) % 5]);
	if (!in || !a || !c || cfg_set(c, "links.bandwidth=1 GB/s", &e) < 0 || cfg_set(c, topology, &e) < 0)
		abort();
	if (probe_link_read(in, "fuzz", LINK_COLLECTIVE_COUNT, 0, a, &x, &e) < 0) {
		assert(e.kind != ERR_NONE && e.msg[0]);
	} else if (probe_link_run(&links, &x, &e) == 0) {
		for (size_t i = 0; i < x.n; i++) {
			const struct link_time t = x.row[i].time;

			if (x.row[i].us <= 0 || !t.total || t.total != t.start + t.steps + t.wire + t.own)
				abort();
		}
	} else {
		assert(e.kind == ERR_CONFIG);
	}
	cfg_free(c);
	arena_free(a);
	input_free(in);
	return 0;
}
