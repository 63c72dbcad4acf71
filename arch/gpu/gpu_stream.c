/* gpu_stream.c - kernels whose threads each load, compute and store elements of their own, copies and sets. */
#include "arch/gpu/gpu_flow.h"
#include "arch/gpu/gpu_form.h"

#define MICRO "measured on an H200, traces/h200/micro/"
#define FIT   "fitted on operator cases of an H200"

/* A device copy of more than this many bytes that are no whole pages takes longer (the trace files under traces/h200). */
#define ODD_FROM (UINT64_C(1) << 20)
#define ODD_PAGE UINT64_C(4096)

const struct cfg_field gpu_stream_schema[] = {
	CFG_PS(struct gpu_stream_cfg, spread, "spread", "698.7 ns", 0, 100 * PS_US, NULL,
	       "how long the first loads queue when many go to DRAM at once", FIT),
	CFG_BYTES(struct gpu_stream_cfg, spread_bytes, "spread_bytes", "207.8 kB", 0, UINT64_C(1) << 40, NULL,
	          "missed bytes with which half of that is reached", FIT),
	CFG_PPM(struct gpu_stream_cfg, write_buffer, "write_buffer", "0.3815", 0, 10000000,
	        "of the L2's size: what a launch stores before DRAM turns between reads and writes",
	        FIT ": 2 to 34 MB in all move at 4.65 TB/s, more at 4.2 to 4.3"),
	CFG_PS(struct gpu_stream_cfg, copy, "copy", "100 ns", 0, 100 * PS_US, NULL,
	       "what a device copy takes beside an empty kernel, a round trip and its bytes",
	       MICRO "launch_cupti.csv: memcpy_node"),
	CFG_PS(struct gpu_stream_cfg, set, "set", "200 ns", 0, 100 * PS_US, NULL,
	       "what a set takes beside an empty kernel and its bytes", MICRO "launch_cupti.csv: memset_node"),
	CFG_BYTES(struct gpu_stream_cfg, inline_set, "inline_set", "8 KiB", 0, UINT64_C(1) << 40, NULL,
	          "sets of fewer bytes go word by word", MICRO "launch_cupti.csv: memset_node, 4 and 8 KiB"),
	CFG_RATE(struct gpu_stream_cfg, inline_rate, "inline_rate", "5 GB/s", 1, UINT64_C(1) << 50, NULL,
	         "bytes/s of such a set", MICRO "launch_cupti.csv: memset_node, 256 B to 4 KiB; operator cases"),
	CFG_PS(struct gpu_stream_cfg, odd, "odd", "3.8 us", 0, 100 * PS_US, NULL,
	       "of a copy of more than 1 MiB, the bytes beyond whole pages of 4 KiB, beside the others",
	       "operator cases and steps on an H200 (traces/h200): 12 sizes of 1.2 to 9.5 MB, which take 1.4 to 5 us more"),
	CFG_U32(struct gpu_stream_cfg, same, "same_line", "2", 0, 1u << 20, NULL,
	        "cycles that each SM waits for each other one that asks for the same line of parameters",
	        MICRO "prompt.csv: concatenations that keep 2 to 132 SMs busy take 0.07 to 1.1 us more, of 8 lines"),
	CFG_U32(struct gpu_stream_cfg, apart, "apart", "72", 1, 1u << 20, NULL,
	        "sectors a cycle and SM of a copy whose neighbours lie apart, times 100",
	        MICRO "torch.csv.gz: transposes of 1024 x 1024 to 4096 x 4096"),
	CFG_END
};

void gpu_copy(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	struct gpu_flow f = { .grid = { .ctas = 1, .threads = 32, .rounds = 1, .per_sm = 1, .sms = 1 } };
	uint64_t bytes = l->mem.write ? l->mem.write : l->mem.read;
	struct gpu_launch as = *l;

	if (l->kernel.form == KERNEL_SET) {
		f.head = g->cfg->stream.set;
		/* Only the bytes of the op are known: of a set beside a kernel, none. */
		if (bytes < g->cfg->stream.inline_set)
			f.head += clock_transfer(bytes, g->cfg->stream.inline_rate);
	} else {
		as.kernel.start = as.kernel.start ? as.kernel.start : 1;
		f.head = g->cfg->stream.copy + gpu_flow_head(g, &as, &f.grid);
		if (bytes > ODD_FROM && bytes % ODD_PAGE)
			f.loop = g->cfg->stream.odd;
	}
	gpu_flow_time(g, l, &f, t);
}

/* The grid's y counts a concat's members, of which the largest keeps its CTAs busy. Where elements go one by one, those
 * of each member work for themselves; where the largest is not contiguous, an element's place in it is worked out as its
 * place in the result is. Returns the elements of the largest. */
static uint64_t members(const struct gpu *g, const struct gpu_launch *l, struct gpu_flow *f)
{
	const uint64_t each = dtype_bytes(l->op->dtype, 1), across = l->at->grid[0];
	uint64_t most = 0, busy = 0;

	for (uint32_t i = 0; l->stream && i < l->op->n_operands; i++) {
		const struct op_operand *x = &l->stream->operands[l->op->first_operand + i];
		uint64_t n = x->write || !each ? 0 : x->touched / each,
			 ctas = div_up(n, f->grid.threads ? f->grid.threads : 1);

		most = n > most ? n : most;
		busy += ctas < across ? ctas : across;
	}
	f->grid.ctas = l->kernel.steps && busy ? busy : across;
	f->grid.rounds = div_up(f->grid.ctas, (uint64_t)f->grid.per_sm * g->sms);
	if (f->grid.ctas < f->grid.sms)
		f->grid.sms = (uint32_t)f->grid.ctas;
	if (l->kernel.steps && l->op->shape.strided)
		f->elements *= 2;
	return most ? most : l->op->shape.elems;
}

void gpu_stream(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	struct gpu_flow f = { .grid = gpu_grid_of(g, l), .elements = l->op->shape.elems };
	const struct kernel *k = &l->kernel;
	struct gpu_launch as = *l;
	uint64_t threads = f.grid.threads ? f.grid.threads : 1, tile = threads * (k->items ? k->items : 1), turns,
		 own = f.elements, across = f.grid.ctas;

	if (l->op->kind == OP_CONCAT && l->at->grid[1] > 1)
		own = members(g, l, &f), across = l->at->grid[0];
	if (!l->mem.read)
		as.kernel.start = 0;
	if (k->index_instructions) /* of one dim beside another, and of two inputs, where nobody said */
		as.kernel.instructions += k->index_instructions * (l->op->shape.walked ? l->op->shape.walked : 2) *
		                          (l->op->shape.arity ? l->op->shape.arity : 2);
	f.head = gpu_flow_head(g, &as, &f.grid);
	/* Guarded elements come one after the other, in the CTA that is launched last. */
	if (k->tail_cycles && f.elements % tile)
		f.tail = clock_span(div_up(f.elements % tile, threads) * k->tail_cycles, g->clock);
	/* A thread's elements one after the other, where a store stands between a load and the next. */
	turns = k->items ? div_up(own, threads) : div_up(own, threads * across);
	if (k->items && turns > k->items)
		turns = k->items;
	f.loop = turns * (gpu_flow_turn(g, l) + gpu_flow_fresh(g, l));
	if (k->parameters) {
		f.head += clock_span((uint64_t)k->parameters * (l->op->shape.strided ? 2 : 1) * g->cfg->stream.same *
		                             f.grid.sms,
		                     g->clock);
		/* Of a loop that loads again only when it has stored, the last turn is behind all instructions. */
		f.head += f.loop / turns, f.loop -= f.loop / turns;
	}
	if (l->op->shape.apart)
		f.sectors = clock_span(
			div_up(f.elements * l->op->shape.apart * 100, UINT64_C(32) * g->cfg->stream.apart * f.grid.sms),
			g->clock);
	gpu_flow_time(g, &as, &f, t);
}
