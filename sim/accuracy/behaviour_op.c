/* behaviour_op.c - ops that no trace laid out: the launches that the device's libraries would make. */
#include <stdio.h>

#include "sim/accuracy/behaviour_int.h"

static int laid_out(struct behaviour_maker *x, const char *family, struct behaviour_bed *b, struct err *e)
{
	struct geometry g;

	b->stream.ops = &b->op;
	b->stream.tensors = b->tensors;
	b->stream.operands = b->operands;
	if (!gpu_geometry_of(&x->g, x->k, &b->stream, &b->op, &g))
		return 0;
	return behaviour_add_op(x, family, b, &g, e);
}

/* --- products ----------------------------------------------------------------------------------------------------- */

static int products(struct behaviour_maker *x, struct err *e)
{
	static const enum dtype formats[] = { DT_BF16, DT_FP8, DT_INT8, DT_FP4 };
	static const uint64_t m[] = { 1, 4, 16, 33, 128, 1000 }, n[] = { 64, 1280, 3072, 12288 },
			      k[] = { 384, 2560, 9216 };
	char family[64];

	for (size_t f = 0; f < BEHAVIOUR_COUNT(formats); f++)
		for (size_t i = 0; i < BEHAVIOUR_COUNT(m); i++)
			for (size_t j = 0; j < BEHAVIOUR_COUNT(n); j++)
				for (size_t l = 0; l < BEHAVIOUR_COUNT(k); l++) {
					struct behaviour_bed b;

					behaviour_bed(
						&b, OP_GEMM, formats[f],
						&(struct op_shape){ .batch = 1, .m = m[i], .n = n[j], .k = k[l] });
					snprintf(family, sizeof family, "gemm %s, %s", dtype_name(formats[f]),
					         m[i] == 1 ? "one row" : "rows");
					if (laid_out(x, family, &b, e) < 0)
						return -1;
				}
	return 0;
}

/* --- attention ---------------------------------------------------------------------------------------------------- */

static const char *const libraries[] = {
	"", ", FlashAttention 2", ", FlashAttention 3", ", FlashInfer", ", TensorRT-LLM", ", Triton"
};

static int attention(struct behaviour_maker *x, const struct op_shape *s, enum op_attn algorithm, int library,
                     enum dtype d, struct err *e)
{
	struct behaviour_bed b;
	char family[64];

	behaviour_bed(&b, OP_ATTENTION, d, s);
	b.op.algorithm = algorithm;
	b.op.library = (enum op_library)library;
	b.op.mixed = s->batch > 1 && s->window;
	snprintf(family, sizeof family, "attention %s%s%s", op_attn_name(algorithm), libraries[library],
	         s->q_len > 1 ? ", prompt" : "");
	return laid_out(x, family, &b, e);
}

static int attentions_of(struct behaviour_maker *x, enum op_attn algorithm, int library, struct err *e)
{
	static const enum dtype formats[] = { DT_BF16, DT_FP8 };
	static const uint64_t queries[] = { 1, 3, 500 }, keys[] = { 300, 5000 }, dims[] = { 64, 96, 128, 256 },
			      batch[] = { 1, 9 };
	static const struct {
		uint64_t heads, shared;
	} heads[] = { { 32, 8 }, { 16, 16 }, { 128, 1 } };

	for (size_t q = 0; q < BEHAVIOUR_COUNT(queries); q++)
		for (size_t k = 0; k < BEHAVIOUR_COUNT(keys); k++)
			for (size_t d = 0; d < BEHAVIOUR_COUNT(dims); d++)
				for (size_t h = 0; h < BEHAVIOUR_COUNT(heads); h++)
					for (int i = 0; i < 8; i++) {
						const bool latent = algorithm == OP_ATTN_MLA;
						const struct op_shape s = {
							.batch = batch[i & 1],
							.heads = heads[h].heads,
							.kv_heads = heads[h].shared,
							.q_len = queries[q],
							.kv_len = keys[k] > queries[q] ? keys[k] : queries[q],
							.head_dim = latent ? 576 : dims[d],
							.v_dim = latent ? 512 : dims[d],
							.window = i & 2 ? 128 : 0,
							.causal = queries[q] > 1,
							.paged = !(i & 1) || library > 0,
						};

						if (attention(x, &s, algorithm, library, formats[i >> 2], e) < 0)
							return -1;
					}
	return 0;
}

static int attentions(struct behaviour_maker *x, struct err *e)
{
	static const enum op_attn algorithms[] = { OP_ATTN_FLASH, OP_ATTN_SPLIT_KV, OP_ATTN_MLA };

	for (size_t a = 0; a < BEHAVIOUR_COUNT(algorithms); a++)
		for (int library = OP_LIBRARY_ANY; library <= OP_LIBRARY_TRITON; library++)
			if ((algorithms[a] != OP_ATTN_MLA || library == OP_LIBRARY_ANY) &&
			    attentions_of(x, algorithms[a], library, e) < 0)
				return -1;
	return 0;
}

/* --- the rest ----------------------------------------------------------------------------------------------------- */

static int others(struct behaviour_maker *x, struct err *e)
{
	static const enum dtype to[] = { DT_BF16, DT_FP32, DT_FP8, DT_FP4 };
	static const uint64_t rows[] = { 1, 40, 3000 }, cols[] = { 64, 1536, 32000 };

	for (int kind = 0; kind < OP_KINDS; kind++)
		for (size_t i = 0; i < BEHAVIOUR_COUNT(rows); i++)
			for (size_t j = 0; j < BEHAVIOUR_COUNT(cols); j++)
				for (int v = 0; v < 4; v++) {
					const struct op_shape s = { .elems = rows[i] * cols[j],
						                    .rows = rows[i],
						                    .cols = cols[j],
						                    .top = 8,
						                    .arity = 1 + (uint32_t)v % 2,
						                    .strided = v >= 2,
						                    .walked = v >= 2 ? 4 : 0,
						                    .apart = v == 3 ? 16 : 0 };
					struct behaviour_bed b;

					if (op_is_product((enum op_kind)kind) || !op_traits[kind].kernel)
						continue;
					behaviour_bed(&b, (enum op_kind)kind, DT_BF16, &s);
					b.op.out_dtype = to[v];
					b.op.cost = (enum op_cost)v;
					b.op.reduce = v % 2 ? OP_RED_MAX : OP_RED_MEAN;
					if (laid_out(x, op_kind_name((enum op_kind)kind), &b, e) < 0)
						return -1;
				}
	return 0;
}

int behaviour_ops(struct behaviour_maker *x, struct err *e)
{
	return products(x, e) < 0 || attentions(x, e) < 0 || others(x, e) < 0 ? -1 : 0;
}
