/* gpu_chain.c - kernels of scans, sorts and selections: passes in a fixed order, each a chain of round trips. */
#include "arch/gpu/gpu_flow.h"
#include "arch/gpu/gpu_form.h"

void gpu_chain(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct kernel *k = &l->kernel;
	const struct op_shape *s = &l->op->shape;
	struct gpu_flow f = { .grid = gpu_grid_of(g, l), .elements = s->rows * s->cols };
	uint64_t threads = f.grid.threads ? f.grid.threads : 1, turns = k->turns;
	uint64_t most = div_up(f.grid.ctas, f.grid.sms ? f.grid.sms : 1);
	uint64_t at_once = most < f.grid.per_sm ? most : f.grid.per_sm;
	bool near = at_once * dtype_bytes(l->op->dtype, s->cols) <= g->cfg->rows.l1;
	struct gpu_kept kept = { .l1 = near ? 1000000 : 0 };
	ps_t turn = gpu_flow_turn(g, l) + gpu_flow_again(g, l, kept);

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
	/* Barriers keep a CTA's threads at loads or at arithmetic together; some kernels have the SM to themselves. */
	f.parties = k->barriers_once ? 1 : k->tree_cycles || k->passes ? at_once : 0;
	if (k->passes) { /* over keys and values that the op does not name */
		f.reread = k->passes * dtype_bytes(l->op->dtype, s->rows * s->cols);
		f.kept.dram = gpu_flow_gone(g, f.reread);
	}
	if (k->selects) {
		turns = s->top;
	} else if (k->look_back) {
		f.in_order = true;
		turns = f.grid.ctas;
	} else if (k->items) {
		turns = div_up(div_up(f.elements, f.grid.ctas), threads * k->items);
	}
	f.loop = turns * turn;
	if (k->tree_cycles) { /* cycles of one CTA alone have its instructions in them */
		ps_t own = gpu_issue_time(g, div_up(f.elements * k->instructions, f.grid.ctas), 1) / f.grid.rounds;

		f.loop -= own < f.loop ? own : f.loop;
	}
	gpu_flow_time(g, l, &f, t);
}
