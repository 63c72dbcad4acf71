#include "arch/gpu/gpu_activity.h"

#include "arch/gpu/gpu_flow.h"
#include "workloads/work.h"

#define MILLION UINT64_C(1000000)

/* Random normal numbers: sign and significand are random, the exponent nearly is not; integers are random all over. The
 * figures are ENERGY-MODEL's: entropy of a normal distribution in the format, over its bits. */
uint32_t gpu_activity_toggle(enum dtype d)
{
	uint32_t bits = dtype_bits(d);

	if (d == DT_BF16 || d == DT_FP16)
		return 640000;
	if (d == DT_FP32 || d == DT_TF32)
		return 820000;
	return d == DT_FP8 ? 780000 : bits ? 970000 : 0;
}

void gpu_activity_add(struct gpu_activity *sum, const struct gpu_activity *x)
{
	for (int i = 0; i < GPU_EVENTS; i++)
		sum->n[i] += x->n[i];
	sum->sms = sum->sms > x->sms ? sum->sms : x->sms;
}

/* A share in millionths of a count. */
static uint64_t gpu_activity_part(uint64_t n, uint64_t ppm)
{
	return n / MILLION * ppm + n % MILLION * ppm / MILLION;
}

static void instructions(struct gpu_activity *x, uint64_t n)
{
	x->n[GPU_EVENT_instruction] += n;
}

static void l2_bytes(struct gpu_activity *x, uint64_t n, enum dtype d, bool live)
{
	x->n[GPU_EVENT_l2] += n;
	x->n[GPU_EVENT_l2_live] += live ? gpu_activity_part(n, gpu_activity_toggle(d)) : 0;
}

void gpu_activity_bytes(struct gpu_activity *x, const struct gpu_mem *m, enum dtype d, bool live)
{
	const uint64_t read = m->read - m->read_hit, dram = read + m->write_back;

	x->n[GPU_EVENT_dram_read] += read;
	x->n[GPU_EVENT_dram_write] += m->write_back;
	x->n[GPU_EVENT_dram_live] += live ? gpu_activity_part(dram, gpu_activity_toggle(d)) : 0;
}

void gpu_activity_read(struct gpu_activity *x, uint64_t bytes, enum dtype d)
{
	l2_bytes(x, bytes, d, true);
}

/* --- tensor cores ---------------------------------------------------------------------------------------------- */

/* Two of 4 bits have the operands' bits of one of 8, and count as that: fp8's costs are half of bf16's, too. */
static void macs(struct gpu_activity *x, uint64_t issued, uint64_t useful, enum dtype d, bool live)
{
	const uint64_t in_one = dtype_bits(d) <= 4 ? 2 : 1;

	x->n[GPU_EVENT_mac] += issued / in_one;
	useful /= in_one;
	if (live)
		x->n[dtype_bits(d) <= 8 ? GPU_EVENT_mac_fp8
		     : d == DT_FP16     ? GPU_EVENT_mac_fp16
		                        : GPU_EVENT_mac_bf16] += useful;
}

/* Results leave a CTA through a handful of instructions each. */
#define STORE 4

static void gpu_activity_product(const struct gpu *g, const struct gpu_launch *l, bool live, struct gpu_activity *x)
{
	const struct op_shape *s = &l->op->shape;
	const uint64_t batch = s->batch ? s->batch : 1, useful = batch * s->m * s->n * s->k;
	const struct gpu_tiling t = gpu_product_tiling(g, l);
	const uint32_t bits = dtype_bits(l->op->dtype);

	if (bits > 16 && l->op->dtype != DT_TF32)
		x->n[GPU_EVENT_fma] += t.macs;
	else
		macs(x, t.macs, useful, l->op->dtype, live);
	l2_bytes(x, t.l2, l->op->dtype, live);
	instructions(x, batch * s->m * s->n * STORE);
	x->sms = t.sms;
}

/* Scores that queries' blocks of `q` and keys' of `k` look at, masked and padded ones too. */
static uint64_t scores(const struct op_shape *s, uint64_t q, uint64_t k)
{
	const uint64_t blocks = div_up(s->q_len ? s->q_len : 1, q),
		       past = s->kv_len > s->q_len ? s->kv_len - s->q_len : 0;
	uint64_t keys = blocks * round_up(s->kv_len, k);

	if (s->causal) /* the mean block sees half of the others, and its own */
		keys = blocks * round_up(past, k) + (blocks + 1) * blocks * q / 2;
	return keys * q;
}

#define SCORE 10 /* instructions of a score between the products: scale, max, exponential, sum, conversion */

static void gpu_activity_attention(const struct gpu *g, const struct gpu_launch *l, bool live, struct gpu_activity *x)
{
	const struct op_shape *s = &l->op->shape;
	const struct work w = work_of(l->stream, l->op);
	const struct gpu_grid grid = gpu_grid_of(g, l);
	const uint64_t kv = s->kv_heads ? s->kv_heads : s->heads, batch = s->batch ? s->batch : 1;
	const uint64_t dims = s->head_dim + (s->v_dim ? s->v_dim : s->head_dim);
	const uint64_t q = l->kernel.form == KERNEL_FLASH ? l->kernel.tile_n : l->kernel.tile_m, k = l->kernel.tile_k;
	/* Heads that share keys are rows of a tile where there are few queries. */
	const bool joined = s->q_len == 1 && s->heads > kv && !l->op->mixed;
	uint64_t all = w.macs / (dims ? dims : 1), heads = batch * (joined ? kv : s->heads);

	if (q && k)
		all = heads * scores(s, q, k);
	macs(x, all * dims, w.macs, l->op->dtype, live);
	instructions(x, all * SCORE);
	x->n[GPU_EVENT_sfu] += all;
	/* Every block of queries reads the keys and values it sees. */
	l2_bytes(x, l->mem.write + (q && s->q_len > q ? dtype_bytes(l->op->dtype, all / q * dims) : l->mem.read),
	         l->op->dtype, live);
	x->sms = grid.sms;
}

/* --- everything else --------------------------------------------------------------------------------------------- */

static uint64_t elements(const struct gpu_launch *l)
{
	const struct op_shape *s = &l->op->shape;
	const uint64_t n = s->elems > s->rows * s->cols ? s->elems : s->rows * s->cols;

	if (op_traits[l->op->kind].dims == OP_DIMS_PRODUCT)
		return s->m * s->n * (s->batch ? s->batch : 1);
	return n;
}

/* Rows of a matrix times few vectors: a load, and two instructions a product. */
static void dot(const struct gpu *g, const struct gpu_launch *l, bool live, struct gpu_activity *x)
{
	const struct work w = work_of(l->stream, l->op);

	instructions(x, 2 * w.macs);
	l2_bytes(x, l->mem.read + l->mem.write, l->op->dtype, live);
	x->sms = gpu_grid_of(g, l).sms;
}

/* Later passes over rows, from where the time's closed form has them. */
static void again(const struct gpu *g, const struct gpu_launch *l, const struct gpu_grid *grid, bool live,
                  struct gpu_activity *x)
{
	const struct gpu_kept kept = gpu_rows_kept(g, l, grid, dtype_bytes(l->op->dtype, l->op->shape.cols));
	const uint64_t bytes = l->kernel.again * l->mem.read;
	const struct gpu_mem far = { .read = gpu_activity_part(bytes, kept.dram) };

	gpu_activity_bytes(x, &far, l->op->dtype, live);
	l2_bytes(x, bytes - gpu_activity_part(bytes, kept.l1), l->op->dtype, live);
}

/* Kernels that walk over products or attention without tensor cores multiply by instructions. */
static void gpu_activity_each(const struct gpu *g, const struct gpu_launch *l, bool live, struct gpu_activity *x)
{
	const struct kernel *k = &l->kernel;
	const struct gpu_grid grid = gpu_grid_of(g, l);
	const struct work w = work_of(l->stream, l->op);
	const bool moves = k->moves != KERNEL_MOVES_NONE;
	if (w.macs && k->moves != KERNEL_MOVES_WRITES && k->moves != KERNEL_MOVES_NONE) {
		if (k->tensor)
			macs(x, w.macs, w.macs, l->op->dtype, live);
		else
			instructions(x, 2 * w.macs);
	}
	if (moves)
		instructions(x, elements(l) * (k->instructions ? k->instructions : 10) / 10);
	instructions(x, k->thread_instructions * grid.ctas * grid.threads);
	l2_bytes(x, l->mem.read * (1 + k->passes) + l->mem.write, l->op->dtype, live);
	if (k->again)
		again(g, l, &grid, live, x);
	x->sms = grid.sms;
}

/* Parts of a split product come from the L2 in 32 bits. */
static void split_reduce(const struct gpu *g, const struct gpu_launch *l, bool live, struct gpu_activity *x)
{
	gpu_activity_each(g, l, live, x);
	l2_bytes(x, 4 * elements(l), l->op->dtype, live);
}

/* The copy engine, or a kernel like one. */
static void gpu_activity_copy(const struct gpu *g, const struct gpu_launch *l, bool live, struct gpu_activity *x)
{
	l2_bytes(x, l->mem.read + l->mem.write, l->op->dtype, live);
	instructions(x, (l->mem.read + l->mem.write) / 8);
	x->sms = g->sms;
}

typedef void count_fn(const struct gpu *g, const struct gpu_launch *l, bool live, struct gpu_activity *x);
static count_fn *const counts[] = {
	[KERNEL_PLAIN] = gpu_activity_each,
	[KERNEL_SET] = gpu_activity_copy,
	[KERNEL_COPY] = gpu_activity_copy,
	[KERNEL_STREAM] = gpu_activity_each,
	[KERNEL_ROWS] = gpu_activity_each,
	[KERNEL_CHAIN] = gpu_activity_each,
	[KERNEL_PRODUCT] = gpu_activity_product,
	[KERNEL_SPLIT_REDUCE] = split_reduce,
	[KERNEL_DOT] = dot,
	[KERNEL_ATTENTION] = gpu_activity_attention,
	[KERNEL_FLASH] = gpu_activity_attention,
	[KERNEL_COMBINE] = gpu_activity_each,
	[KERNEL_WALK] = gpu_activity_each,
	[KERNEL_MMA] = gpu_activity_product,
	[KERNEL_GROUPED] = gpu_activity_product,
	[KERNEL_STRIPE] = gpu_activity_product,
};
_Static_assert(sizeof counts / sizeof *counts == KERNEL_FORMS, "a count for each form");

struct gpu_activity gpu_activity(const struct gpu *g, const struct gpu_launch *l, bool live)
{
	struct gpu_activity x = { .sms = 0 };

	gpu_activity_bytes(&x, &l->mem, l->op->dtype, live);
	counts[l->kernel.form](g, l, live, &x);
	return x;
}
