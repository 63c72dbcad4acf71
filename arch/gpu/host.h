/* host.h - the host that launches a GPU's kernels: wall time from kernel times.
 *
 * Eager: one thread launches every activity in turn at a cost each; a launch reaches the device when it is made, runs
 * when the one before it is over and a stream's gap has passed; a blocking copy lets the thread go on only when the
 * device is done with all before it. Under a graph the device goes from node to node by itself; how fast depends on the
 * process (host.graph_node).
 * Leaves out: what a framework does between launches beyond its mean, several threads, copies beside kernels.
 * Parameters are a host's, fitted from wall times of whole steps: they say nothing of another host. */
#ifndef NPUSIM_ARCH_GPU_HOST_H
#define NPUSIM_ARCH_GPU_HOST_H

#include "sim/base/cfg.h"
#include "workloads/op.h"

struct host_cfg {
	ps_t launch;       /* of the launching thread, an activity */
	ps_t sync;         /* from the device's end to the thread's next step */
	ps_t stream_gap;   /* between two kernels of a stream that both wait there */
	ps_t graph_launch; /* of a whole graph, beyond its nodes */
	ps_t graph_node;   /* of each node, beyond its kernel */
	ps_t record;       /* in a kernel's recorded time, and in no graph */
};

extern const struct cfg_field host_schema[];

struct host_wall {
	ps_t eager, graph;
};

/* `took[k]` is launch k of the stream, as a profiler would record it. */
struct host_wall host_wall(const struct host_cfg *c, const struct op_stream *s, const ps_t *took);

#endif
