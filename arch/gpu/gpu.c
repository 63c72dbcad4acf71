#include "arch/gpu/gpu.h"

#include "arch/gpu/gpu_form.h"

/* `least`: I1, whatever a form thinks of. */
static const struct {
	gpu_form *time;
	ps_t (*least)(const struct gpu *g, const struct gpu_mem *m);
} forms[] = {
#define X(form, name, time, least, what) [KERNEL_##form] = { time, least },
	KERNEL_FORM_ROWS(X)
#undef X
};
_Static_assert(sizeof forms / sizeof *forms == KERNEL_FORMS, "a closed form for each");

/* Each kernel that ran since displaces a part of the code. */
static ps_t code_fetch(const struct gpu *g, const struct gpu_launch *l)
{
	uint32_t gone = l->others < g->c->code ? l->others : g->c->code;

	if (!l->kernel.code_cycles)
		return 0;
	return clock_span((uint64_t)l->kernel.code_cycles * gone, g->clock) / g->c->code;
}

struct gpu_time gpu_time(const struct gpu *g, const struct gpu_launch *l)
{
	struct gpu_time t = { .launch = g->c->launch };
	uint64_t ctas = (uint64_t)l->at->grid[0] * l->at->grid[1] * l->at->grid[2];
	ps_t floor;

	t.launch += clock_transfer(ctas, g->c->cta_rate);
	forms[l->kernel.form].time(g, l, &t);
	t.start += code_fetch(g, l);
	if (!t.body)
		t.body = gpu_overlap(g->c->overlap, gpu_overlap(g->c->overlap, t.chain, t.memory), t.pipe);
	/* Bytes may flow from the first load on, which some forms have in `start`. */
	floor = forms[l->kernel.form].least(g, &l->mem);
	if (t.start + t.body + t.finish < floor)
		t.body = floor - t.start - t.finish;
	t.total = t.launch + t.start + t.body + t.finish;
	if (t.body < t.launch + t.start + t.finish)
		t.bound = t.launch > t.start + t.finish ? RES_DISPATCH : RES_DEPENDENCY;
	else if (t.memory >= t.chain && t.memory >= t.pipe)
		t.bound = l->mem.read - l->mem.read_hit + l->mem.write_back ? RES_DRAM : RES_L2;
	else if (t.pipe >= t.chain)
		t.bound = op_is_product(l->op->kind) ? RES_MATRIX : RES_VECTOR;
	else
		t.bound = RES_DEPENDENCY;
	return t;
}
