/* probe.c - npusim probe: the table of its commands. */
#include "sim/cli/cmd.h"

const struct cmd cmd_probe_table[] = {
	{ "dram", cmd_probe_dram, NULL, "efficiency and latency of one DRAM under a stream of bursts" },
	{ "l2", cmd_probe_l2, NULL, "hit rate and bandwidth of a machine's L2 over growing working sets" },
	{ "latency", cmd_probe_latency, NULL, "a pointer chase through a machine's L2 and DRAM" },
	{ "stream", cmd_probe_stream, NULL, "read, write and copy bandwidth of a machine" },
	{ "link", cmd_probe_link, NULL, "collectives over the links of a system, by size or beside measured ones" },
	{ "kernel", cmd_probe_kernel, NULL, "time and bound of a GPU kernel that is described, not traced" },
	{ "occupancy", cmd_probe_occupancy, NULL, "blocks of a kernel an SM holds at once, and which limit that is" },
	{ "model", cmd_probe_model, NULL, "what the GPU model answers for a fixed table of launches, by family" },
	{ NULL, NULL, NULL, NULL }
};
