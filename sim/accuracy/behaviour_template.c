/* behaviour_template.c - every template of the table of kernels, on three sizes of each kind of op that it may do. */
#include "sim/accuracy/behaviour_int.h"

#define SIZES 3
#define KINDS 4

static const struct op_shape shapes[SIZES] = {
	{ .batch = 1,
	  .m = 1,
	  .n = 1024,
	  .k = 1024,
	  .heads = 32,
	  .kv_heads = 8,
	  .q_len = 1,
	  .kv_len = 700,
	  .head_dim = 128,
	  .v_dim = 128,
	  .elems = 4096,
	  .rows = 1,
	  .cols = 32000,
	  .top = 8,
	  .arity = 2 },
	{ .batch = 8,
	  .m = 65,
	  .n = 2816,
	  .k = 2048,
	  .heads = 16,
	  .kv_heads = 16,
	  .q_len = 9,
	  .kv_len = 2048,
	  .head_dim = 64,
	  .v_dim = 64,
	  .elems = (1 << 20) + 77,
	  .rows = 512,
	  .cols = 4096,
	  .top = 64,
	  .arity = 2,
	  .causal = true,
	  .strided = true,
	  .walked = 3,
	  .apart = 8 },
	{ .batch = 1,
	  .m = 2048,
	  .n = 8192,
	  .k = 4096,
	  .heads = 32,
	  .kv_heads = 4,
	  .q_len = 2048,
	  .kv_len = 4096,
	  .head_dim = 128,
	  .v_dim = 128,
	  .window = 1024,
	  .elems = (24 << 20) + 2048,
	  .rows = 65536,
	  .cols = 128,
	  .top = 1,
	  .arity = 3,
	  .causal = true,
	  .paged = true },
};
static const struct {
	uint32_t ctas, threads;
} grids[SIZES] = { { 7, 32 }, { 269, 1024 }, { 5000, 256 } };

/* What a template of that form computes; OP_OPAQUE ends it. */
static const enum op_kind kinds[KERNEL_FORMS][KINDS] = {
	[KERNEL_PLAIN] = { OP_ELEMENTWISE, OP_GEMM, OP_OPAQUE },
	[KERNEL_SET] = { OP_COPY, OP_OPAQUE },
	[KERNEL_COPY] = { OP_COPY, OP_OPAQUE },
	[KERNEL_STREAM] = { OP_ELEMENTWISE, OP_CONCAT, OP_GATHER, OP_OPAQUE },
	[KERNEL_ROWS] = { OP_REDUCE, OP_SOFTMAX, OP_NORM, OP_OPAQUE },
	[KERNEL_CHAIN] = { OP_TOPK, OP_SORT, OP_SCAN, OP_OPAQUE },
	[KERNEL_PRODUCT] = { OP_GEMM, OP_OPAQUE },
	[KERNEL_SPLIT_REDUCE] = { OP_GEMM, OP_OPAQUE },
	[KERNEL_DOT] = { OP_GEMM, OP_OPAQUE },
	[KERNEL_ATTENTION] = { OP_ATTENTION, OP_OPAQUE },
	[KERNEL_FLASH] = { OP_ATTENTION, OP_OPAQUE },
	[KERNEL_COMBINE] = { OP_ATTENTION, OP_OPAQUE },
	[KERNEL_WALK] = { OP_GEMM, OP_ATTENTION, OP_ELEMENTWISE, OP_OPAQUE },
	[KERNEL_MMA] = { OP_GEMM, OP_OPAQUE },
	[KERNEL_GROUPED] = { OP_GEMM, OP_OPAQUE },
	[KERNEL_STRIPE] = { OP_GEMM, OP_OPAQUE },
};

/* clang-format off */
static const char *const families[] = {
#define X(form, name, time, least, what) [KERNEL_##form] = "templates: " #name,
	KERNEL_FORM_ROWS(X)
#undef X
};
/* clang-format on */

/* A kernel's name says its tile; a template's alone does not. */
static uint32_t or_else(uint32_t v, uint32_t usual)
{
	return v ? v : usual;
}

static struct kernel with_tile(struct kernel k)
{
	k.tile_m = or_else(k.tile_m, 128);
	k.tile_n = or_else(k.tile_n, 64);
	k.tile_k = or_else(k.tile_k, 64);
	k.stages = or_else(k.stages, 4);
	k.cluster_m = or_else(k.cluster_m, 1);
	k.cluster_n = or_else(k.cluster_n, 1);
	return k;
}

static struct op_launch launch_of(const struct kernel *k, int size, uint32_t parts)
{
	return (struct op_launch){ .trace_id = -1,
		                   .name = "",
		                   .grid = { grids[size].ctas, 1, parts },
		                   .block = { grids[size].threads, 1, 1 },
		                   .cluster = { k->cluster_m * k->cluster_n, 1, 1 },
		                   .registers = 64,
		                   .smem_dynamic = size == 1 ? 40 << 10 : 4096,
		                   .waits_for = -1 };
}

/* Alone, and behind another launch whose parts it may join. */
static int template_on(struct behaviour_maker *x, const struct kernel *k, enum op_kind kind, int size, enum dtype d,
                       struct err *e)
{
	struct geometry alone = { .n = 1, .kernel = { *k } }, behind = { .n = 2, .kernel = { *k, *k } };
	struct behaviour_bed b;

	behaviour_bed(&b, kind, d, &shapes[size]);
	b.op.cost = size == 0 ? OP_COST_ACT : size == 1 ? OP_COST_DIV : OP_COST_ALU;
	b.op.reduce = size == 0 ? OP_RED_ARGMAX : OP_RED_SUM;
	alone.at[0] = launch_of(k, size, 1);
	behind.at[0] = launch_of(k, size, 5);
	behind.at[1] = launch_of(k, 0, 2);
	behind.kernel[0].form = kind == OP_GEMM ? KERNEL_PRODUCT : k->form;
	if (behaviour_add_op(x, families[k->form], &b, &alone, e) < 0)
		return -1;
	return op_is_product(kind) ? behaviour_add_op(x, families[k->form], &b, &behind, e) : 0;
}

int behaviour_templates(struct behaviour_maker *x, struct err *e)
{
	static const enum dtype formats[] = { DT_BF16, DT_FP32, DT_FP8 };

	for (size_t r = 0; r < kernels_count(x->k); r++) {
		const struct kernel k = with_tile(kernels_at(x->k, r));

		for (int i = 0; i < KINDS && kinds[k.form][i] != OP_OPAQUE; i++)
			for (int size = 0; size < SIZES; size++)
				for (size_t d = 0; d < BEHAVIOUR_COUNT(formats); d++)
					if (template_on(x, &k, kinds[k.form][i], size, formats[d], e) < 0)
						return -1;
	}
	return 0;
}
