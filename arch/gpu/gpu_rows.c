/* gpu_rows.c - rows that warps or CTAs reduce, normalise or take the softmax of; columns that threads sum. */
#include "arch/gpu/gpu_flow.h"
#include "arch/gpu/gpu_form.h"

#define SCHEDULERS 4 /* of an SM; a warp belongs to one */
#define MICRO      "measured on an H200, traces/h200/micro/"

const struct cfg_field gpu_rows_schema[] = {
	CFG_PPM(struct gpu_rows_cfg, resident, "resident", "0.6019", 1, 10000000,
	        "of the L2's size: bytes under way of which it keeps none for a later pass; of a quarter of that, all",
	        "fitted on operator cases of an H200; its halves keep copies (traces/h200/micro/latency.csv, chase)"),
	CFG_BYTES(struct gpu_rows_cfg, l1, "l1", "248 KiB", 0, UINT64_C(1) << 40, NULL,
	          "bytes of rows under way in an SM that its L1 keeps for a second pass",
	          "256 KB an SM (NVIDIA H100 white paper) less the least that is set aside as shared memory; " MICRO
	          "torch.csv.gz: norms of 128 KiB rows, 1 and 2 an SM"),
	CFG_PS(struct gpu_rows_cfg, step_l1, "step_l1", "20.79 ns", 0, 100 * PS_US, NULL, "a load that hits the L1",
	       MICRO "latency.csv: chase, path=l1"),
	CFG_PS(struct gpu_rows_cfg, join, "join", "1990 ns", 0, 100 * PS_US, NULL,
	       "how long CTAs of one result take to store, fence, count and find out who is last",
	       MICRO "torch.csv.gz: sums of 131072 to 524288 in 16 to 64 CTAs, less the same share in one"),
	CFG_U32(struct gpu_rows_cfg, overlap, "overlap", "2", 1, 64, NULL,
	        "exponent of the smooth maximum of a loop's round trips and its bytes' time",
	        "traces/h200/micro/stream.csv: DRAM reads of 132 SMs by bytes in flight"),
	CFG_END
};

/* Levels of a tree over `n`. */
static uint64_t levels(uint64_t n)
{
	return n > 1 ? log2_up(n) : 0;
}

/* What the last CTA does where the grid's y splits a result: stores its part, waits until all can see it, counts itself
 * in, reads what the others left and reduces that as it did its own. */
static ps_t joined(const struct gpu *g, const struct op_launch *a, uint64_t together, ps_t tree)
{
	return a->grid[1] > 1 ? g->cfg->rows.join + g->c->step_l2 * div_up(a->grid[1], together ? together : 1) + tree
	                      : 0;
}

/* Half the lines lie in the other half of the L2; warps that wait longer for theirs find the others' instructions of an
 * iteration done. */
static ps_t late(const struct gpu *g, const struct gpu_launch *l, ps_t rest)
{
	ps_t fresh = gpu_flow_fresh(g, l) / 2;

	return fresh > rest ? fresh - rest : 0;
}

/* Sums over a dim that is not the innermost: neighbours in memory are results of their own, a thread takes some of them
 * and walks down, `unroll` rows at a time. Rows are split over the CTA's y where it has shared memory to join them,
 * and over the grid's y, whose last CTA joins the parts. */
static void down(const struct gpu *g, const struct gpu_launch *l, struct gpu_flow *f)
{
	const struct op_launch *a = l->at;
	uint64_t y = a->smem_static + a->smem_dynamic > 16 ? a->block[1] : 1;
	uint64_t each = div_up(l->op->shape.cols, a->grid[1] ? a->grid[1] : 1);

	ps_t tree = clock_span(levels(y) * l->kernel.tree_cycles, g->clock);
	ps_t turn = gpu_flow_turn(g, l);

	turn += late(g, l, turn - l->kernel.steps * gpu_step(g, &l->mem));
	f->loop = div_up(each, y * (l->kernel.unroll ? l->kernel.unroll : 1)) * turn;
	f->head += tree + joined(g, a, a->block[1], tree);
}

/* Round trips of a pass over `cols` by threads that take `tile` an iteration together: whole groups of iterations have
 * their loads moved together, what is left goes one by one. Threads differ by one iteration; the slowest counts. */
static uint64_t trips(const struct kernel *k, uint64_t cols, uint64_t tile)
{
	uint64_t group = k->group ? k->group : 1, least = cols / tile, most = div_up(cols, tile);

	least = least / group + least % group;
	most = most / group + most % group;
	return least > most ? least : most;
}

/* Of a row in the L2, a scale that is not: each CTA waits for it once. Where rows miss, too, the head has that trip. */
static ps_t scale_from_dram(const struct gpu *g, const struct gpu_launch *l)
{
	const uint64_t missed = l->mem.read - l->mem.read_hit;
	uint64_t all = 0, most = 0;

	for (uint32_t i = 0; i < l->op->n_operands; i++) {
		const struct op_operand *x = &l->stream->operands[l->op->first_operand + i];

		all += x->write ? 0 : x->touched;
		most = x->write || x->touched < most ? most : x->touched;
	}
	if (all == most || missed * 2 < all - most || gpu_flow_far(l))
		return 0;
	return ps_max(g->c->step_dram, g->c->step_l2) - g->c->step_l2;
}

static bool gpu_rows_scaled(const struct gpu_launch *l)
{
	uint64_t reads = 0;

	for (uint32_t i = 0; i < l->op->n_operands; i++)
		reads += !l->stream->operands[l->op->first_operand + i].write;
	return reads > 1;
}

/* Where a later pass finds its row. A scale is read in that pass too, and comes from the L2 whatever the row does. What
 * the pass stores displaces the row's end from the L1 before it is read. */
struct gpu_kept gpu_rows_kept(const struct gpu *g, const struct gpu_launch *l, const struct gpu_grid *x, uint64_t row)
{
	uint64_t slots = (uint64_t)x->per_sm * g->sms, running = x->ctas < slots ? x->ctas : slots;
	uint64_t rows = div_up(running, g->sms) * row, l1 = g->cfg->rows.l1;
	struct gpu_kept k = { 0, 0 };

	if (!gpu_rows_scaled(l) && rows && rows <= l1)
		k.l1 = 2 * rows <= l1 ? 1000000 : (uint32_t)((l1 - rows) * 1000000 / rows);
	k.dram = (uint32_t)((uint64_t)gpu_flow_gone(g, running * row) * (1000000 - k.l1) / 1000000);
	return k;
}

static void along(const struct gpu *g, const struct gpu_launch *l, struct gpu_flow *f)
{
	const struct kernel *k = &l->kernel;
	const struct op_shape *s = &l->op->shape;
	uint64_t threads = f->grid.threads ? f->grid.threads : 1;
	uint64_t parts = l->at->grid[1] ? l->at->grid[1] : 1, y = l->at->block[1] ? l->at->block[1] : 1, each, width;
	uint64_t rows = div_up(s->rows ? s->rows : 1, div_up(f->grid.ctas, parts)), cols = div_up(s->cols, parts);
	uint64_t warps = div_up(threads, 32);
	uint64_t bytes = dtype_bytes(l->op->dtype, 1), items = k->items, turns, moved;
	struct gpu_launch still = *l;
	uint64_t unrolled;
	ps_t tree = 0, guards = 0, rest, step;

	if (!items)
		items = k->vector_bytes && bytes ? k->vector_bytes / bytes : 1;
	/* The CTA's y is rows of its own where it has more than one. */
	each = k->row_warps == 1 ? 32 : threads / (y < rows ? y : rows);
	if (k->row_warps > 1)
		each = threads / (rows < warps ? rows : warps);
	width = each;
	each *= items ? items : 1;
	turns = div_up(cols, each ? each : 1);
	moved = trips(k, cols, each ? each : 1);
	if (k->row_warps == 1) {
		/* The code is unrolled to a power of two, guarded beyond the row. */
		unrolled = k->turns ? (UINT64_C(1) << k->turns) / 32 : turns;
		guards = (unrolled ? unrolled : 1) * clock_span(k->tail_cycles, g->clock) * div_up(rows, warps);
		f->elements = s->rows * (s->cols + 32 * unrolled) / 2;
		turns *= div_up(rows, warps);
		moved = div_up(turns, k->group ? k->group : 1);
	} else {
		/* A row in registers: a thread's elements, one after the other. */
		if (k->turns)
			turns = k->turns, f->elements = s->rows * threads * turns;
		tree = clock_span(levels(width / 32) * k->tree_cycles, g->clock);
		if (k->row_warps)
			turns *= div_up(rows, warps), moved *= div_up(rows, warps);
	}
	f->head += tree + joined(g, l->at, threads, tree);
	if (s->rows > 1)
		f->head += clock_span(k->index_cycles, g->clock);
	if (k->again) {
		f->head += scale_from_dram(g, l);
		f->reread = k->again * l->mem.read;
		f->kept = gpu_rows_kept(g, l, &f->grid, s->cols * bytes);
	}
	still.kernel.steps = 0;
	rest = gpu_flow_turn(g, &still);
	step = gpu_flow_turn(g, l) - rest + late(g, l, rest);
	f->loop = guards + moved * step + turns * (rest + gpu_flow_again(g, l, f->kept));
	/* The first group's loads are the head's. */
	if (k->start && k->steps && moved)
		f->loop -= step;
}

void gpu_rows(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	struct gpu_flow f = { .grid = gpu_grid_of(g, l), .elements = l->op->shape.rows * l->op->shape.cols };
	uint64_t at_once = div_up(f.grid.ctas, f.grid.sms ? f.grid.sms : 1);

	at_once = at_once < f.grid.per_sm ? at_once : f.grid.per_sm;
	f.parties = div_up(at_once * f.grid.threads, 32 * SCHEDULERS);
	f.head = gpu_flow_head(g, l, &f.grid);
	if (l->op->kind == OP_REDUCE && l->op->shape.strided)
		down(g, l, &f);
	else
		along(g, l, &f);
	gpu_flow_time(g, l, &f, t);
}
