#include "arch/gpu/host.h"

const struct cfg_field host_schema[] = {
	CFG_PS(struct host_cfg, launch, "launch", "8.9 us", 0, 1000 * PS_US, NULL,
	       "the launching thread's time for one activity, framework included",
	       "two eager decode steps on one box: 10.3 us an activity in one model, 7.5 us in the other"),
	CFG_PS(struct host_cfg, sync, "sync", "10 us", 0, 1000 * PS_US, NULL,
	       "from the device's end to the thread's next step, after a blocking copy",
	       "our choice: between a poll and a wake-up; eager steps do not settle it beside host.launch"),
	CFG_PS(struct host_cfg, stream_gap, "stream_gap", "800 ns", 0, 1000 * PS_US, NULL,
	       "between two kernels of a stream that both wait there",
	       "measured on an H200, traces/h200/micro/graph.csv: stream_node less graph_node of empty kernels"),
	CFG_PS(struct host_cfg, graph_launch, "graph_launch", "2.2 us", 0, 1000 * PS_US, NULL,
	       "of a whole graph, beyond its nodes",
	       "measured on an H200, traces/h200/micro/graph.csv: graph_wall of 20 empty kernels less 20 graph_node"),
	CFG_PS(struct host_cfg, graph_node, "graph_node", "0 ns", 0, 1000 * PS_US, NULL,
	       "between two nodes of a graph; 0.38 us is what a process has that captured four graphs or more",
	       "measured on an H200, traces/h200/micro/graph_state.csv: nothing under the first three graphs of a process"),
	CFG_PS(struct host_cfg, record, "record", "0 ns", 0, 1000 * PS_US, NULL,
	       "what a kernel's activity record reads over the time it takes unrecorded under a graph",
	       "0 on an H200 (15 ns, traces/h200/micro/graph_cupti.csv, of a resolution of 32)"),
	CFG_END
};

struct host_wall host_wall(const struct host_cfg *c, const struct op_stream *s, const ps_t *took)
{
	struct host_wall w = { .graph = c->graph_launch };
	ps_t thread = 0, device = 0;

	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];

		for (uint32_t k = o->first_launch; k < o->first_launch + o->n_launches; k++) {
			thread += c->launch;
			device = (thread > device + c->stream_gap ? thread : device + c->stream_gap) + took[k];
			w.graph += (took[k] > c->record ? took[k] - c->record : 0) + c->graph_node;
		}
		if (o->kind == OP_HOST_SYNC)
			thread = device + c->sync;
	}
	w.eager = device > thread ? device : thread;
	return w;
}
