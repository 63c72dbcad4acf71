#include "arch/gpu/gpu.h"

#include "workloads/work.h"

/* --- what the forms share ------------------------------------------------------------------------------------ */

uint64_t gpu_isqrt(uint64_t v)
{
	uint64_t r = 0, bit = UINT64_C(1) << 62;

	while (bit > v)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (v >= r + bit) {
			v -= r + bit;
			r = (r >> 1) + bit;
		} else {
			r >>= 1;
		}
	}
	return r;
}

uint64_t gpu_l2_share(const struct gpu *g, uint32_t ppm)
{
	return g->l2 / 1024 * ppm / 1000000 * 1024;
}

uint64_t gpu_missed(const struct gpu_mem *m)
{
	return m->read >> 10 ? ((m->read - m->read_hit) >> 10) * 1000000 / (m->read >> 10) : 0;
}

#define ONE (UINT64_C(1) << 30)

/* The larger times (1 + r^p)^(1/p), r the smaller over it, in 30 bits after the point. */
ps_t gpu_overlap(uint32_t p, ps_t a, ps_t b)
{
	ps_t large = ps_max(a, b), small = ps_min(a, b);
	uint64_t r, x;

	if (!small)
		return large;
	while (large >> 34) /* 17 ms: 30 bits of the ratio are there without the lowest */
		return 2 * gpu_overlap(p, a / 2, b / 2);
	r = (small << 30) / large;
	for (uint32_t k = p; k > 1; k /= 2)
		r = r * r >> 30;
	x = ONE + r;
	for (uint32_t k = p; k > 1; k /= 2)
		x = gpu_isqrt(x << 30);
	return (large >> 30) * x + ((large & (ONE - 1)) * x >> 30);
}

struct gpu_grid gpu_grid_of(const struct gpu *g, const struct gpu_launch *l)
{
	const struct op_launch *a = l->at;
	uint32_t cluster = a->cluster[0] * a->cluster[1] * a->cluster[2];
	struct gpu_grid x = { .ctas = (uint64_t)a->grid[0] * a->grid[1] * a->grid[2],
		              .threads = (uint64_t)a->block[0] * a->block[1] * a->block[2] };
	struct occupancy o = occupancy_of(&g->cfg->sm, g->sms, (uint32_t)x.threads, a->registers,
	                                  a->smem_static + a->smem_dynamic, cluster);

	x.ctas = x.ctas ? x.ctas : 1;
	x.per_sm = o.ctas ? o.ctas : 1;
	x.sms = x.ctas < o.sms ? (uint32_t)x.ctas : o.sms;
	x.rounds = div_up(x.ctas, (uint64_t)x.per_sm * o.sms);
	return x;
}

ps_t gpu_memory_time(const struct gpu *g, const struct gpu_mem *m)
{
	ps_t dram = clock_transfer(m->read - m->read_hit, g->c->dram_read) +
	            clock_transfer(m->write_back, g->c->dram_write);

	return ps_max(dram, clock_transfer(m->read + m->write, g->c->l2_rate));
}

ps_t gpu_step(const struct gpu *g, const struct gpu_mem *m)
{
	uint64_t ppm = m->read ? (m->read_hit >> 20 ? (m->read_hit >> 10) * 1000000 / (m->read >> 10)
	                                            : m->read_hit * 1000000 / m->read)
	                       : 1000000;
	ps_t far = ps_max(g->c->step_dram, g->c->step_l2);

	return far - (far - g->c->step_l2) * ppm / 1000000;
}

/* Arrivals are counted one warp after the other: 20, 25, 42 and 76 ns with 128, 256, 512 and 1024 threads. */
ps_t gpu_barrier(const struct gpu *g, uint64_t threads)
{
	return threads <= 128 ? g->c->barrier : g->c->barrier + g->c->barrier * (threads - 128) / 320;
}

static uint32_t flop_rate(const struct gpu_common_cfg *c, enum dtype d)
{
	uint32_t bits = dtype_bits(d);

	if (d == DT_TF32)
		return c->flop_tf32;
	return bits > 16 ? c->flop_fp32 : bits > 8 ? c->flop_bf16 : c->flop_fp8;
}

ps_t gpu_math_time(const struct gpu *g, enum dtype d, uint64_t macs, uint32_t sms)
{
	bool tensor = dtype_bits(d) <= 16 || d == DT_TF32;

	return clock_span(div_up(2 * macs, (uint64_t)flop_rate(g->c, d) * (sms ? sms : 1)),
	                  tensor ? g->c->clock_tensor : g->clock);
}

ps_t gpu_issue_time(const struct gpu *g, uint64_t instructions10, uint32_t sms)
{
	return clock_span(div_up(instructions10 * 10, (uint64_t)g->c->issue * (sms ? sms : 1)), g->clock);
}

/* --- forms nothing is known of ------------------------------------------------------------------------------- */

void gpu_plain(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	struct gpu_grid x = gpu_grid_of(g, l);
	struct work w = work_of(l->stream, l->op);

	t->start = gpu_step(g, &l->mem) * (l->kernel.start ? l->kernel.start : 1);
	t->memory = gpu_memory_time(g, &l->mem);
	t->pipe = gpu_issue_time(g, (w.alu + w.sfu) * (l->kernel.instructions ? l->kernel.instructions : 10), x.sms);
	if (l->nth + 1 != l->count && l->kernel.moves != KERNEL_MOVES_ALL)
		t->pipe = 0;
}

/* --- a launch ------------------------------------------------------------------------------------------------ */

static gpu_form *const forms[KERNEL_FORMS] = { gpu_plain, gpu_copy,    gpu_copy,         gpu_stream, gpu_rows,
	                                       gpu_chain, gpu_product, gpu_split_reduce, gpu_dot,    gpu_attention,
	                                       gpu_flash, gpu_combine, gpu_walk,         gpu_mma };

/* I1, whatever a form thinks of: bytes over the sustained rates. CTAs of a product that want the same bytes at the same
 * time share a request, so that its L2 moves fewer than its operands have. */
static ps_t least(const struct gpu *g, const struct gpu_launch *l)
{
	struct gpu_mem m = l->mem;

	if (l->kernel.form == KERNEL_PRODUCT || l->kernel.form == KERNEL_MMA)
		m.read_hit = 0, m.read -= l->mem.read_hit, m.write = m.write_back;
	return gpu_memory_time(g, &m);
}

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
	forms[l->kernel.form](g, l, &t);
	t.start += code_fetch(g, l);
	if (!t.body)
		t.body = gpu_overlap(g->c->overlap, gpu_overlap(g->c->overlap, t.chain, t.memory), t.pipe);
	/* Bytes may flow from the first load on, which some forms have in `start`. */
	floor = least(g, l);
	if (t.start + t.body + t.finish < floor)
		t.body = floor - t.start - t.finish;
	t.total = t.launch + t.start + t.body + t.finish;
	if (t.body < t.launch + t.start + t.finish)
		t.bound = t.launch > t.start + t.finish ? RES_DISPATCH : RES_DEPENDENCY;
	else if (t.memory >= t.chain && t.memory >= t.pipe)
		t.bound = l->mem.read - l->mem.read_hit + l->mem.write_back ? RES_DRAM : RES_L2;
	else if (t.pipe >= t.chain)
		t.bound = l->op->kind == OP_GEMM || l->op->kind == OP_ATTENTION ? RES_MATRIX : RES_VECTOR;
	else
		t.bound = RES_DEPENDENCY;
	return t;
}
