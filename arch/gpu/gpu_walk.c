/* gpu_walk.c - CTAs that each walk over a share of their op's operands, with what any launch shows: grid, threads,
 * bytes.
 *
 * Kernels nobody has described (configs/kernels, `defaults`), and plain ones that were. A CTA's share is the bytes over
 * the CTAs; of a product, the strips that a nearly square part of the result needs, which for one token is rows of the
 * weights; of an attention over many queries, all keys its queries see. Threads load `vector_bytes` `unroll` times
 * before they wait; the first trip is the head's. Leaves out: what is shared by CTAs in step, pipelines deeper than a
 * trip. */
#include "arch/gpu/gpu_flow.h"
#include "arch/gpu/gpu_form.h"

#include "workloads/work.h"

/* Attention with more queries than this has a CTA for a block of them, which sees all keys. */
#define FEW_QUERIES 16

/* As stored: with scales, in fewer bits than they are multiplied in. Where no operand is told, as they are multiplied. */
static uint64_t weight_bytes(const struct gpu_launch *l)
{
	uint64_t bytes = 0;
	uint32_t reads = 0;

	for (uint32_t i = 0; i < l->op->n_operands; i++) {
		const struct op_operand *x = &l->stream->operands[l->op->first_operand + i];

		if (!x->write && reads++)
			bytes += x->touched;
	}
	return bytes ? bytes
	             : dtype_bytes(l->op->dtype, l->op->shape.n * l->op->shape.k * ps_max(1, l->op->shape.batch));
}

/* Bytes of a CTA of a product: a part of the result as square as the matrix allows, the depth for its two sides. */
static uint64_t strips(const struct gpu_launch *l, uint64_t ctas)
{
	const struct op *o = l->op;
	const struct op_shape *s = &o->shape;
	const uint64_t columns = s->n * (s->batch ? s->batch : 1);
	uint64_t part = div_up(s->m * columns, ctas), side = gpu_isqrt(part), rows, other;

	side = s->m < s->n ? (side < s->m ? side : s->m) : (side < s->n ? side : s->n);
	other = div_up(part, side ? side : 1);
	rows = s->m < s->n ? side : other;
	return dtype_bytes(o->dtype, rows * s->k) +
	       div_up(weight_bytes(l) * (s->m < s->n ? other : side), columns ? columns : 1);
}

static uint64_t gpu_walk_share(const struct gpu_launch *l, uint64_t ctas)
{
	const struct op *o = l->op;
	const struct op_shape *s = &o->shape;
	uint64_t even = div_up(l->mem.read ? l->mem.read : l->mem.write, ctas), own = 0;

	if (l->kernel.moves == KERNEL_MOVES_WRITES || l->kernel.moves == KERNEL_MOVES_NONE)
		return even;
	if (op_traits[o->kind].dims == OP_DIMS_PRODUCT && s->m > 1)
		own = strips(l, ctas);
	if (o->kind == OP_ATTENTION && s->q_len > FEW_QUERIES)
		own = dtype_bytes(o->dtype, s->kv_len * (s->head_dim + (s->v_dim ? s->v_dim : s->head_dim))) /
		      (s->causal ? 2 : 1);
	/* Several CTAs go over the same bytes, each with heads or columns of its own. */
	even *= l->kernel.passes ? l->kernel.passes : 1;
	return own > even ? own : even;
}

/* CTAs with nothing to multiply go through the slots one after the other: the loads that tell them so, one behind the other,
 * the store, and the next CTA's launch. */
static ps_t gpu_walk_idle(const struct gpu *g, const struct gpu_launch *l, const struct gpu_grid *x)
{
	const uint64_t slots = (uint64_t)x->per_sm * g->sms;

	return ps_max(clock_transfer(l->idle, g->c->cta_rate), l->idle * (l->kernel.start + 2) * g->c->step_l2 / slots);
}

void gpu_walk(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	struct gpu_flow f = { .grid = gpu_grid_of(g, l) };
	const struct kernel *k = &l->kernel;
	struct work w = work_of(l->stream, l->op);
	uint64_t threads = f.grid.threads, bytes = gpu_walk_share(l, f.grid.ctas);
	uint64_t trip = threads * (k->vector_bytes ? k->vector_bytes : 16) * (k->unroll ? k->unroll : 1);
	uint64_t trips = div_up(bytes, trip), busiest = div_up(f.grid.ctas, g->sms);
	bool moves = k->moves != KERNEL_MOVES_WRITES && k->moves != KERNEL_MOVES_NONE;
	struct gpu_launch as = *l;

	if (f.grid.threads < 2) { /* a copy or a set, or a trace without geometry */
		gpu_plain(g, l, t);
		return;
	}
	/* Rows of weights go to warps whole: the busiest has one more. */
	if (k->row_warps == 1 && op_traits[l->op->kind].dims == OP_DIMS_PRODUCT && threads >= 32)
		trips = div_up(l->op->shape.n, f.grid.ctas * (threads / 32)) *
		        div_up(dtype_bytes(l->op->dtype, l->op->shape.k), trip / (threads / 32));
	if (!l->mem.read && moves)
		as.kernel.start = 0;
	f.head = gpu_flow_head(g, &as, &f.grid);
	f.head += clock_span(threads > 32 ? (uint64_t)k->tree_cycles * log2_up(div_up(threads, 32)) : 0, g->clock);
	if (k->joins && k->joins <= 3 && l->nth)
		trips = div_up((l - 1)->at->grid[k->joins - 1], k->unroll ? k->unroll : 1);
	f.loop = (trips > 1 ? trips - 1 : 0) * gpu_flow_turn(g, l);
	if (moves && bytes * f.grid.ctas > l->mem.read)
		f.reread = bytes * f.grid.ctas - l->mem.read;
	if (moves && k->tensor && k->busy && k->tile_m) /* a tile a CTA, in turns over the SMs */
		f.math = gpu_math_time(g, l->op->dtype,
		                       (uint64_t)k->tile_m * k->tile_n *
		                               round_up(l->op->shape.k, k->tile_k ? k->tile_k : 1),
		                       1) *
		         busiest * 100 / k->busy;
	else if (moves &&
	         k->tensor) /* on the SM that has the most CTAs; exponentials between the products of an attention */
		f.math = gpu_math_time(g, l->op->dtype, div_up(w.macs, f.grid.ctas) * busiest, 1) +
		         clock_span(div_up(div_up(w.sfu, f.grid.ctas) * busiest, g->c->sfu), g->clock);
	else if (moves)
		f.elements = w.macs               ? w.macs
		             : l->op->shape.elems ? l->op->shape.elems
		                                  : l->op->shape.rows * l->op->shape.cols;
	gpu_flow_time(g, &as, &f, t);
	t->finish += gpu_walk_idle(g, l, &f.grid);
}
