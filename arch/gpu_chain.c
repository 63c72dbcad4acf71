/* gpu_chain.c - kernels of scans, sorts and selections: passes in a fixed order, each a chain of round trips. */
#include "arch/gpu.h"

void gpu_chain(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct kernel *k = &l->kernel;
	const struct op_shape *s = &l->op->shape;
	struct gpu_flow f = { .grid = gpu_grid_of(g, l), .elements = s->rows * s->cols };
	uint64_t threads = f.grid.threads ? f.grid.threads : 1, turns = k->turns;
	uint64_t at_once = div_up(f.grid.ctas, f.grid.sms ? f.grid.sms : 1), row = dtype_bytes(l->op->dtype, s->cols);
	bool near = (at_once < f.grid.per_sm ? at_once : f.grid.per_sm) * row <= g->rows->l1;
	ps_t turn = gpu_flow_turn(g, l) + gpu_flow_again(g, l, near ? GPU_L1 : GPU_L2);

	if (!f.elements)
		f.elements = s->elems;
	/* Items in registers: a CTA goes through as many as it can hold, padding too. */
	if (turns)
		f.elements = f.grid.ctas * threads * turns;
	f.head = gpu_flow_head(g, l, &f.grid);
	if (s->rows > 1)
		f.head += clock_span(k->index_cycles, g->clock);
	if (k->tree_cycles)
		turn += clock_span((uint64_t)k->tree_cycles * log2_up(l->at->block[0] ? l->at->block[0] : 1), g->clock);
	/* Barriers keep the CTA's threads, and little else is in the SM, at loads or at arithmetic together. */
	f.parties = k->barriers_once ? 1 : 0;
	if (k->selects) {
		turns = s->top;
	} else if (k->look_back) {
		f.in_order = true;
		turns = f.grid.ctas;
	} else if (k->items) {
		turns = div_up(div_up(f.elements, f.grid.ctas), threads * k->items);
	}
	f.loop = turns * turn;
	gpu_flow_time(g, l, &f, t);
}
