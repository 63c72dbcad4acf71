/* build_experts.c - a router and its experts, in the three styles.
 *
 * A stream does not say which experts a step picks, only how many different ones (a route); the run draws them. Slot s of
 * a route works on its share of the picked rows (build_picks.h). */
#include "sim/build/build_int.h"
#include "sim/build/build_picks.h"
#include "workloads/experts.h"

struct moe {
	uint32_t experts;     /* on this chip */
	uint64_t tokens, all; /* that this chip routes; of all chips that the experts here are for */
	struct build_picks picked;
	uint32_t route;
	uint32_t weights; /* of the picks */
	uint32_t gate, up, down;
};

/* Weights of all experts as one tensor; a route's pick says which instance. */
static uint32_t expert_weight(struct builder *b, enum scheme_class c, uint64_t n, uint64_t k, uint32_t experts,
                              const char *name)
{
	const struct scheme_format *f = scheme_format_of(b->h->quant, c, b->layer, b->m->layers);

	return b_stored(b, f, scheme_bytes(f, b->m->dtype, n, k), experts, name);
}

static struct moe moe_of(struct builder *b)
{
	const struct model_moe *m = &b->m->moe;
	const struct build_split *s = &b->split;
	struct moe x = { .experts = (b->h->experts ? b->h->experts : m->experts) / s->ep,
		         .tokens = s->across ? div_up(b->rows, s->tp) : b->rows,
		         .all = b->rows * (s->across ? s->dp : 1) };
	const struct build_router r = { m->experts, m->top, x.experts, b->h->skew };

	b->failed |= build_picks_make(b->a, &r, x.all, &x.picked) < 0;
	return x;
}

static void routed(struct builder *b, const struct moe *x)
{
	if (!b->failed)
		b->s->ops[b->s->n_ops - 1].routed_by = (int32_t)x->route;
}

/* --- the router ---------------------------------------------------------------------------------------------------- */

/* One row of fp32 is cuBLAS's dot kernel, of more a product without tensor cores. */
static uint32_t fp32_scores(struct builder *b, uint32_t x, uint32_t w, uint64_t rows, uint64_t experts)
{
	const uint64_t dot[3] = { 16, 1, experts }, sum[3] = { 1, 1, experts }, tiles[3] = { (rows + 63) / 64, 1, 20 };
	const uint64_t join[3] = { (experts + 31) / 32, (rows + 15) / 16, 1 };
	uint32_t y;
	struct op *o = b_op(b, B_ROUTER, DT_FP32, DT_FP32);

	o->shape = (struct op_shape){ .batch = 1, .m = rows, .n = experts, .k = b->m->hidden, .strided = true };
	if (rows > 1)
		o->family = "gemm", o->rule = "cutlass_gemm";
	y = b_make(b, DT_FP32, rows * experts);
	b_read(b, all_of(x));
	b_read(b, all_of(w));
	b_write(b, all_of(y));
	if (rows == 1) {
		b_launch(b, "void dot_kernel<float, 128, 0>", dot, 128, 1, 28);
		b_launch(b, "void reduce_1Block_kernel<float, 128, 7>", sum, 128, 1, 24);
	} else {
		b_launch(b, "void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>", tiles, 128, 1, 74);
		b_launch(b, "void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float>", join, 32, 16, 32);
	}
	return y;
}

static uint32_t scores(struct builder *b, struct part x, uint64_t rows)
{
	const struct model *m = b->m;
	const uint64_t n = m->moe.experts;
	uint32_t w, y, f;

	if (!eager(b))
		return b_product(b, x, (struct gemm){ SCHEME_ROUTER, rows, n, m->hidden, NO_TENSOR, "router", 0 });
	w = b_weight(b, SCHEME_ROUTER, n, m->hidden, "router");
	f = b_to(b, x, DT_FP32, rows * m->hidden);
	y = b_to(b, all_of(w), DT_FP32, n * m->hidden);
	return fp32_scores(b, f, y, rows, n);
}

static uint32_t probabilities(struct builder *b, uint32_t x, uint64_t rows)
{
	const uint64_t n = b->m->moe.experts;
	const enum dtype d = b_tensor(b, x)->dtype;
	const uint64_t grid[3] = { (rows + 7) / 8, 1, 1 };
	uint32_t y;

	if (b->m->arch->score_bias) {
		y = b_each1(b, B_SIGMOID, rows * n, false, all_of(x));
		return b_each(b, B_ADD, rows * n, rows > 1, all_of(y), all_of(b_vector(b, n, "router.bias")));
	}
	b_op(b, B_SOFTMAX, d, d)->shape = (struct op_shape){ .rows = rows, .cols = n };
	y = b_make(b, d, rows * n);
	b_read(b, all_of(x));
	b_write(b, all_of(y));
	if (!for_npu(b))
		b_launch(b, "void softmax_warp_forward<float, float, float, 6, false, false>", grid, 32, 4, 22);
	return y;
}

/* Values into x->weights; returns the indices. */
static uint32_t top(struct builder *b, struct moe *x, uint32_t p, enum bop what)
{
	const uint64_t grid[3] = { x->tokens, 1, 1 }, k = b->m->moe.top;
	const enum dtype d = b_tensor(b, p)->dtype;
	uint32_t index;
	struct op *o = b_op(b, what, d, d);

	o->shape = (struct op_shape){ .rows = x->tokens, .cols = b->m->moe.experts, .top = k };
	x->weights = b_make(b, d, x->tokens * k);
	index = b_make_role(b, OP_INDEX, eager(b) ? DT_INT64 : DT_INT32, x->tokens * k);
	b_read(b, all_of(p));
	b_write(b, all_of(x->weights));
	b_write(b, all_of(index));
	if (!for_npu(b))
		b_launch(b,
		         what == B_TOPK ? "void at::native::sbtopk::gatherTopK<float, unsigned int, 1, false>"
		                        : b_rows[what].kernel,
		         grid, 64, 1, 32);
	x->route = b_route(b, x->experts, x->picked.hit);
	if (!b->failed)
		b->s->routes[x->route].topk_op = (uint32_t)b->s->n_ops - 1;
	return index;
}

/* --- one expert after the other -------------------------------------------------------------------------------------- */

static uint32_t expert_product(struct builder *b, const struct moe *x, uint32_t slot, struct part in, uint32_t w,
                               uint64_t n, uint64_t k)
{
	const uint64_t rows = build_picks_rows(&x->picked, slot);
	const enum dtype math = scheme_math(b->h->quant, SCHEME_EXPERT, b->layer, b->m->dtype);
	struct op *o = b_op(b, B_PRODUCT, math, b->m->dtype);
	uint32_t y;

	o->shape = (struct op_shape){ .batch = 1, .m = rows, .n = n, .k = k, .strided = true };
	o->family = rows == 1 ? "gemv" : "gemm";
	y = b_make(b, b->m->dtype, rows * n);
	b_read(b, in);
	b_read(b, (struct part){ .tensor = w, .slot = slot });
	b_write(b, all_of(y));
	k_unknown(b, b_rows[B_PRODUCT].kernel);
	routed(b, x);
	return y;
}

static uint32_t expert(struct builder *b, const struct moe *x, uint32_t slot, uint32_t gathered)
{
	const struct model *m = b->m;
	const uint64_t inter = m->moe.inter, rows = build_picks_rows(&x->picked, slot), hidden = m->hidden;
	const struct part in = b_lines(b, gathered, hidden, build_picks_first(&x->picked, slot), rows);
	uint32_t gate, up, y;

	gate = expert_product(b, x, slot, in, x->gate, inter, hidden);
	gate = b_activated(b, rows * inter, false, all_of(gate));
	if (m->arch->plain_mlp)
		return expert_product(b, x, slot, all_of(gate), x->down, hidden, inter);
	up = expert_product(b, x, slot, in, x->up, inter, hidden);
	y = b_each(b, B_MUL, rows * inter, false, all_of(gate), all_of(up));
	return expert_product(b, x, slot, all_of(y), x->down, hidden, inter);
}

static void weights_apart(struct builder *b, struct moe *x)
{
	const struct model *m = b->m;

	x->gate = expert_weight(b, SCHEME_EXPERT, m->moe.inter, m->hidden, x->experts, "expert.gate");
	x->up = m->arch->plain_mlp ? NO_TENSOR
	                           : expert_weight(b, SCHEME_EXPERT, m->moe.inter, m->hidden, x->experts, "expert.up");
	x->down = expert_weight(b, SCHEME_EXPERT_DOWN, m->hidden, m->moe.inter, x->experts, "expert.down");
}

static uint32_t one_by_one(struct builder *b, const struct moe *x, uint32_t gathered)
{
	struct part *outs = arena_array(b->a, x->picked.hit, sizeof *outs);
	const uint64_t n = x->picked.rows * b->m->hidden;

	if (!outs) {
		b->failed = true;
		return 0;
	}
	for (uint32_t s = 0; s < x->picked.hit && !b->failed; s++)
		outs[s] = all_of(expert(b, x, s, gathered));
	return b_concat(b, b->m->dtype, n, false, outs, x->picked.hit, NO_TENSOR);
}

/* --- eager ----------------------------------------------------------------------------------------------------------- */

static void build_experts_copy(struct builder *b, uint32_t from, uint32_t to, uint64_t n)
{
	const uint64_t grid[3] = { 0, 0, 0 };

	b_op(b, B_COPY, DT_INT64, DT_INT64)->shape = (struct op_shape){ .elems = n };
	b_read(b, all_of(from));
	b_write(b, all_of(to));
	b_launch(b, b_rows[B_COPY].kernel, grid, 0, 0, 0);
	if (!b->failed)
		b->s->launches[b->s->n_launches - 1].kind = 1; /* a copy, not a kernel */
}

static uint32_t fresh(struct builder *b, enum bop what, uint64_t n)
{
	uint32_t y;

	b_op(b, what, DT_INT64, DT_INT64)->shape = (struct op_shape){ .elems = n };
	y = b_make_role(b, OP_INDEX, DT_INT64, n);
	b_write(b, all_of(y));
	k_each(b, what, n, DT_INT64, DT_INT64, false);
	return y;
}

/* How many tokens each expert has: ones scattered, summed, and read by the host. Returns the sums. */
static uint32_t tokens_of_experts(struct builder *b, const struct moe *x, uint32_t index)
{
	const uint64_t n = x->tokens * b->m->moe.experts, picks = x->tokens * b->m->moe.top, grid[3] = { 1, 1, 1 };
	const uint32_t zeros = fresh(b, B_FILL, n);
	uint32_t sums;

	b_op(b, B_SCATTER, DT_INT64, DT_INT64)->shape = (struct op_shape){ .elems = picks };
	b_read(b, all_of(index));
	b_write(b, (struct part){ .tensor = zeros, .touched = b_bytes(DT_INT64, picks) });
	k_flat(b, "void at::native::_scatter_gather_elementwise_kernel<128, 8>", picks, 1024, 128);
	b_op(b, B_SUM, DT_INT64, DT_INT64)->shape =
		(struct op_shape){ .rows = b->m->moe.experts, .cols = x->tokens, .strided = true };
	sums = b_make_role(b, OP_INDEX, DT_INT64, b->m->moe.experts);
	b_read(b, all_of(zeros));
	b_write(b, all_of(sums));
	b_launch(b,
	         "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<long, sum_functor<long, long, long> > >",
	         grid, 16, x->tokens < 8 ? 1 : 8, 80);
	return sums;
}

/* Which token each pick is of, sorted by expert; the sorted picks in `*picks`. */
static uint32_t sorted(struct builder *b, const struct moe *x, uint32_t index, uint32_t *picks)
{
	const uint64_t n = x->tokens * b->m->moe.top, grid[3] = { 1, 1, 1 };
	const uint32_t keys = b_make_role(b, OP_INDEX, DT_INT64, n);
	uint32_t numbers, order, values;
	struct op *o;

	build_experts_copy(b, index, keys, n);
	numbers = fresh(b, B_ARANGE, n);
	order = b_make_role(b, OP_INDEX, DT_INT64, n);
	build_experts_copy(b, numbers, order, n);
	values = b_make_role(b, OP_INDEX, DT_INT64, n);
	build_experts_copy(b, order, values, n);
	o = b_op(b, B_SORT, DT_INT64, DT_INT64);
	o->shape = (struct op_shape){ .rows = 1, .cols = n };
	b_read(b, all_of(keys));
	b_read(b, all_of(values));
	b_write(b, all_of(keys));
	b_write(b, all_of(values));
	if (n <= K_SORT_SHORT)
		b_launch(b, "void at::native::bitonicSortKVInPlace<-2, -1, 16, 16, long, long>", grid, 16, 1, 40);
	else
		b_launch(b, K_SORT_LONG, grid, K_SORT_LONG_THREADS, 1, K_SORT_LONG_REGISTERS);
	*picks = keys;
	return b_each1(b, B_DIV_FLOOR, n, false, all_of(values));
}

static uint32_t build_experts_gather(struct builder *b, uint32_t x, uint32_t index, uint64_t rows)
{
	const enum dtype d = b->m->dtype;
	const uint64_t n = rows * b->m->hidden, grid[3] = { rows, 1, 1 };
	uint32_t y;

	b_op(b, B_GATHER, d, d)->shape = (struct op_shape){ .elems = n };
	y = b_make(b, d, n);
	b_read(b, all_of(x));
	b_read(b, all_of(index));
	b_write(b, all_of(y));
	b_launch(b, "void at::native::vectorized_gather_kernel<16, long>", grid, 256, 1, 32);
	return y;
}

static void host_reads(struct builder *b, const struct moe *x, uint32_t sums)
{
	const uint64_t grid[3] = { 0, 0, 0 };

	b_op(b, B_HOST, DT_INT64, DT_INT64)->shape = (struct op_shape){ .elems = b->m->moe.experts };
	b_read(b, all_of(sums));
	b_launch(b, b_rows[B_HOST].kernel, grid, 0, 0, 0);
	if (b->failed)
		return;
	b->s->launches[b->s->n_launches - 1].kind = 1;
	b->s->routes[x->route].sync_op = (uint32_t)b->s->n_ops - 1;
}

/* Back in the tokens' order, weighed, and summed over the picks of each. */
static uint32_t scattered_sum(struct builder *b, const struct moe *x, uint32_t y, uint32_t picks)
{
	const enum dtype d = b->m->dtype;
	const uint64_t hidden = b->m->hidden, n = x->picked.rows * hidden,
		       grid[3] = { (x->tokens * hidden + 511) / 512, 1, 1 };
	uint32_t put, f;

	b_op(b, B_INDEX_PUT, d, d)->shape = (struct op_shape){ .elems = n };
	put = b_make(b, d, n);
	b_read(b, all_of(y));
	b_read(b, all_of(picks));
	b_write(b, all_of(put));
	k_flat(b, "void at::native::index_elementwise_kernel<128, 4, index_put_kernel_impl>", n, 512, 128);
	f = b_to(b, all_of(put), DT_FP32, n);
	f = b_each(b, B_MUL, n, true, all_of(f), all_of(x->weights));
	b_op(b, B_SUM, DT_FP32, DT_FP32)->shape =
		(struct op_shape){ .rows = x->tokens * hidden, .cols = b->m->moe.top, .strided = true };
	put = b_make(b, DT_FP32, x->tokens * hidden);
	b_read(b, all_of(f));
	b_write(b, all_of(put));
	b_launch(
		b,
		"void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, sum_functor<float, float, float> > >",
		grid, 32, 4, 54);
	return b_to(b, all_of(put), d, x->tokens * hidden);
}

static uint32_t eager_experts(struct builder *b, struct moe *x, uint32_t in)
{
	uint32_t index = top(b, x, probabilities(b, scores(b, all_of(in), x->tokens), x->tokens), B_TOPK), sums, picks,
		 order;

	sums = tokens_of_experts(b, x, index);
	order = sorted(b, x, index, &picks);
	order = build_experts_gather(b, in, order, x->picked.rows);
	host_reads(b, x, sums);
	weights_apart(b, x);
	return scattered_sum(b, x, one_by_one(b, x, order), picks);
}

/* --- grouped, and for an NPU ----------------------------------------------------------------------------------------- */

/* One kernel over the picked experts, each with its rows; padded to as many as they have on average. */
static uint32_t grouped(struct builder *b, const struct moe *x, uint32_t in, uint32_t w, uint64_t n, uint64_t k)
{
	const enum dtype math = scheme_math(b->h->quant, SCHEME_EXPERT, b->layer, b->m->dtype);
	const uint64_t m = (x->picked.rows + x->picked.hit - 1) / x->picked.hit;
	const struct part rows = b_quantised(b, all_of(in), math, b_tensor(b, in)->bytes * 8 / dtype_bits(b->m->dtype));
	struct op *o = b_op(b, B_GROUPED, math, b->m->dtype);
	const struct experts_tile tile = experts_tile_of(x->all);
	uint64_t grid[3] = { 0, 1, 1 };
	uint32_t y;

	for (uint32_t s = 0; s < x->picked.hit; s++)
		grid[0] += (build_picks_rows(&x->picked, s) + tile.rows - 1) / tile.rows *
		           ((n + tile.outputs - 1) / tile.outputs);

	o->shape = (struct op_shape){ .batch = x->picked.hit, .m = m, .n = n, .k = k, .strided = true };
	y = b_make(b, b->m->dtype, x->picked.rows * n);
	b_read(b, rows);
	for (uint32_t s = 0; s < x->picked.hit; s++)
		b_read(b, (struct part){ .tensor = w, .slot = s });
	b_write(b, all_of(y));
	routed(b, x);
	if (math == DT_FP4) /* a library's tiles, as those of one product */
		k_unknown(b, b_rows[B_GROUPED].kernel);
	else if (!for_npu(b))
		b_launch(b, b_rows[B_GROUPED].kernel, grid, tile.threads, 1, 128);
	return y;
}

static uint32_t sum_of_picks(struct builder *b, const struct moe *x, uint32_t y, enum bop what)
{
	const enum dtype d = b->m->dtype;
	uint32_t to;

	b_op(b, what, d, d)->shape =
		(struct op_shape){ .rows = x->tokens * b->m->hidden, .cols = b->m->moe.top, .strided = true };
	to = b_make(b, d, x->tokens * b->m->hidden);
	b_read(b, all_of(y));
	b_read(b, all_of(x->weights));
	b_write(b, all_of(to));
	k_flat(b, b_rows[B_COMBINE].kernel, x->tokens * b->m->hidden, 1024, 256);
	return to;
}

/* The rows that this chip routes: of a replica's chips each has a part. */
static struct part routes(struct builder *b, const struct moe *x, uint32_t in)
{
	return x->tokens < b->rows ? b_lines(b, in, b->m->hidden, 0, x->tokens) : all_of(in);
}

/* A row for each pick, in the order of the experts. */
static uint32_t by_expert(struct builder *b, struct part in, uint64_t rows)
{
	const uint64_t n = rows * b->m->hidden, grid[3] = { rows, 1, 1 };
	uint32_t y;

	b_op(b, B_GATHER, b->m->dtype, b->m->dtype)->shape = (struct op_shape){ .elems = n };
	y = b_make(b, b->m->dtype, n);
	b_read(b, in);
	b_write(b, all_of(y));
	if (!for_npu(b))
		b_launch(b, "void at::native::vectorized_gather_kernel<16, long>", grid, 256, 1, 32);
	return y;
}

/* To the chips that have the experts, or back from them. A chip with likely experts gets more rows than it sends. */
static uint32_t exchanged(struct builder *b, const struct moe *x, uint32_t y, bool back)
{
	const uint64_t sent = x->tokens * b->m->moe.top, got = x->picked.rows, hidden = b->m->hidden;

	return b_exchanged(b, y, (sent > got ? sent : got) * hidden, (back ? sent : got) * hidden);
}

static uint32_t picked_sum(struct builder *b, const struct moe *x, uint32_t y)
{
	return sum_of_picks(b, x, b->split.across ? exchanged(b, x, y, true) : y, B_COMBINE);
}

static uint32_t fused_experts(struct builder *b, struct moe *x, uint32_t in)
{
	const struct model *m = b->m;
	const uint64_t inter = m->moe.inter, n = x->picked.rows * inter, wide = (m->arch->plain_mlp ? 1 : 2) * inter;
	const struct part own = routes(b, x, in);
	uint32_t w13, w2, y, act;

	top(b, x, scores(b, own, x->tokens), B_GATE_TOPK);
	if (b->split.across)
		in = exchanged(b, x, by_expert(b, own, x->tokens * m->moe.top), false);
	w13 = expert_weight(b, SCHEME_EXPERT, wide, m->hidden, x->experts, "expert.gate_up");
	w2 = expert_weight(b, SCHEME_EXPERT_DOWN, m->hidden, inter, x->experts, "expert.down");
	y = grouped(b, x, in, w13, wide, m->hidden);
	if (m->arch->plain_mlp)
		return picked_sum(b, x, grouped(b, x, b_activated(b, n, false, all_of(y)), w2, m->hidden, inter));
	b_op(b, B_ACT_MUL, m->dtype, m->dtype)->shape = (struct op_shape){ .elems = n, .arity = 2 };
	act = b_make(b, m->dtype, n);
	b_read(b, all_of(y));
	b_write(b, all_of(act));
	k_rows(b, b_rows[B_ACT_MUL].kernel, x->picked.rows, inter);
	return picked_sum(b, x, grouped(b, x, act, w2, m->hidden, inter));
}

/* Slots read the tokens' rows where they are: which, the command processor knows. */
static uint32_t npu_experts(struct builder *b, struct moe *x, uint32_t in)
{
	const struct part own = routes(b, x, in);
	uint32_t rows = in, y;

	top(b, x, probabilities(b, scores(b, own, x->tokens), x->tokens), B_TOPK);
	if (b->split.across)
		rows = exchanged(b, x, by_expert(b, own, x->tokens * b->m->moe.top), false);
	else if (x->picked.rows > x->tokens || x->tokens > 1)
		rows = by_expert(b, own, x->picked.rows);
	weights_apart(b, x);
	y = one_by_one(b, x, rows);
	return sum_of_picks(b, x, b->split.across ? exchanged(b, x, y, true) : y, B_SUM);
}

/* --- shared experts --------------------------------------------------------------------------------------------------- */

static uint32_t shared(struct builder *b, uint32_t in)
{
	const uint64_t n = b->rows * b->m->hidden;
	uint32_t y = b_mlp(b, in, b->m->moe.shared_inter, "shared."), gate;

	if (!b->m->arch->shared_gate)
		return y;
	gate = b_product(b, all_of(in),
	                 (struct gemm){ SCHEME_ROUTER, b->rows, 1, b->m->hidden, NO_TENSOR, "shared.gate_score", 0 });
	gate = b_each1(b, B_SIGMOID, b->rows, false, all_of(gate));
	return b_each(b, B_MUL, n, true, all_of(y), all_of(gate));
}

uint32_t b_experts(struct builder *b, uint32_t in)
{
	struct moe x = moe_of(b);
	uint32_t y = eager(b)                     ? eager_experts(b, &x, in)
	             : b->h->style == BUILD_FUSED ? fused_experts(b, &x, in)
	                                          : npu_experts(b, &x, in);

	/* Of replicas the picks' sums are whole, each chip's of its rows; the shared experts' are parts of one. */
	if (b->split.across && !b->h->part_norms)
		y = b_gathered(b, y, b->rows * b->m->hidden);
	if (!b->m->moe.shared_inter)
		return b->split.across ? y : b_summed(b, y);
	if (b->split.across)
		return b_each(b, B_ADD, b->own_rows * b->m->hidden, false, all_of(y),
		              all_of(b_summed(b, shared(b, in))));
	return b_summed(b, b_each(b, B_ADD, b->rows * b->m->hidden, false, all_of(y), all_of(shared(b, in))));
}
