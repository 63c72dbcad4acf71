/* align_name.c - what a kernel's name and grid say: its operator, dtypes, how many tensors it reads, how many results.
 *
 * PyTorch's names are C++ templates: the functor's first argument, or the last lambda's, is the type of the arithmetic.
 * Its elementwise kernels give each CTA a fixed number of results (CUDALoops.cuh of PyTorch 2.11; 14,700 launches of
 * traces/h200 bear it out): 1024 where operands lie alike, 512 where types are picked at run time, and what the template
 * says where operands are broadcast. */
#include <stdlib.h>
#include <string.h>

#include "sim/align/align_int.h"
#include "sim/base/str.h"

bool align_has_op(const struct trace_launch *l)
{
	for (uint32_t i = 0; l->op && i < l->op->n_args; i++)
		if (l->op->args[i].ndims > 0)
			return true;
	return false;
}

uint32_t align_wanted(const struct trace *t)
{
	uint64_t all = 0, without = 0;

	for (size_t i = 0; i < t->n_launches; i++) {
		const struct trace_launch *l = &t->launches[i];
		const uint64_t took = l->dur_ns > 0 ? (uint64_t)l->dur_ns : 0;

		all += took;
		without += align_has_op(l) ? 0 : took;
	}
	return all ? (uint32_t)(without * 1000 / all) : 0;
}

/* --- types ------------------------------------------------------------------------------------------------------- */

static enum dtype type_at(const char *p)
{
	char word[24];
	const size_t n = strcspn(p, ",>)( *&");

	if (n >= sizeof word)
		return DT_NONE;
	memcpy(word, p, n);
	word[n] = '\0';
	return dtype_from_framework(word);
}

/* The first argument of the first "{lambda(...)" that has one that is a type. */
static enum dtype of_lambda(const char *name, bool second)
{
	enum dtype d = DT_NONE;

	for (const char *p = name; d == DT_NONE && (p = strstr(p, "{lambda(")) != NULL;) {
		p += strlen("{lambda(");
		d = type_at(p);
		if (second && d == DT_BOOL) {
			const char *q = p + strcspn(p, ",)");

			d = *q == ',' ? type_at(q + 1 + (q[1] == ' ')) : d;
		}
	}
	return d;
}

static enum dtype align_name_behind(const char *name, const char *word)
{
	const char *p = strstr(name, word);

	p = p ? strchr(p, '<') : NULL;
	return p ? type_at(p + 1) : DT_NONE;
}

static enum dtype opaque_type(const char *name, enum dtype of_model)
{
	const char *p = strstr(name, "OpaqueType<");

	if (!p)
		return DT_NONE;
	switch (p[strlen("OpaqueType<")]) {
	case '2':
		return of_model;
	case '4':
		return DT_FP32;
	case '8':
		return DT_INT64;
	default:
		return DT_INT8;
	}
}

static enum dtype type_of(const struct align *al, const char *name)
{
	static const char *const of_template[] = { "compare_scalar_kernel",
		                                   "Functor",
		                                   "ReduceOp",
		                                   "layer_norm_kernel",
		                                   "softmax_warp_forward",
		                                   "SoftMax",
		                                   "indexSelect",
		                                   "gatherTopK",
		                                   "roll_cuda" };
	enum dtype d = DT_NONE;

	if (strstr(name, "bfloat16_copy_kernel"))
		return DT_BF16;
	if (strstr(name, "float16_copy_kernel"))
		return DT_FP16;
	for (size_t i = 0; d == DT_NONE && i < sizeof of_template / sizeof *of_template; i++)
		d = align_name_behind(name, of_template[i]);
	if (d == DT_NONE)
		d = of_lambda(name, strstr(name, "where_kernel") != NULL);
	if (d == DT_NONE)
		d = opaque_type(name, al->m->dtype);
	return d != DT_NONE ? d : al->m->dtype;
}

/* --- operators --------------------------------------------------------------------------------------------------- */

/* Kernels whose rule asks for the operator's name, too, or whose operator no function names. */
static const char *own_op(const char *name)
{
	static const struct {
		const char *word, *op;
	} known[] = {
		{ "indexSelect", "aten::index_select" },
		{ "index_copy", "aten::index_copy_" },
		{ "index_put", "aten::_index_put_impl_" },
		{ "index_kernel_impl", "aten::index" },
		{ "kernelHistogram1D", "aten::histc" },
		{ "SortKV", "aten::sort" },
		{ "RadixSort", "aten::sort" },
		{ "MergeSort", "aten::sort" },
		{ "DeviceScan", "aten::cumsum" },
		{ "masked_fill_kernel", "aten::masked_fill_" },
		{ "vectorized_gather_kernel", "aten::index_select" },
		{ "CatArray", "aten::cat" },
		{ "indexing_backward", "aten::_index_put_impl_" },
		{ "roll_cuda_kernel", "aten::roll" },
		{ "k_get_rows", "aten::index_select" },
		{ "k_set_rows", "aten::index_copy_" },
		{ "unary_gated_op", "aten::mul" },
		{ "op_add", "aten::add" },
		{ "op_mul", "aten::mul" },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strstr(name, known[i].word))
			return known[i].op;
	return !strstr(name, "layer_norm")    ? NULL
	       : strstr(name, "float, true>") ? "aten::_fused_rms_norm"
	                                      : "aten::native_layer_norm";
}

/* "cos" of "...cos_kernel_cuda(at::...". */
static const char *word_before_kernel(struct align *al, const char *name)
{
	const char *end = strstr(name, "_kernel_cuda"), *p = end;

	if (!end)
		return NULL;
	while (p > name && ((p[-1] >= 'a' && p[-1] <= 'z') || p[-1] == '_' || (p[-1] >= '0' && p[-1] <= '9')))
		p--;
	return arena_printf(al->a, "aten::%.*s", (int)(end - p), p);
}

static const char *op_of_rule(struct align *al, const struct rule *u, const char *name)
{
	static const struct {
		const char *reader, *op;
	} known[] = {
		{ "product", "aten::mm" },
		{ "grouped", "aten::_grouped_mm" },
		{ "attention", "aten::scaled_dot_product_attention" },
		{ "softmax", "aten::_softmax" },
		{ "norm_out", "_C::rms_norm" },
		{ "add_norm", "_C::fused_add_rms_norm" },
		{ "out_first", "_C::silu_and_mul" },
		{ "rope", "_C::rotary_embedding" },
		{ "cache_write", "_C_cache_ops::reshape_and_cache_flash" },
		{ "copy", "aten::copy_" },
		{ "fill", "aten::fill_" },
		{ "arange", "aten::arange" },
		{ "concat", "aten::cat" },
		{ "fused", "triton" },
		{ "topk", "aten::topk" },
		{ "sort", "aten::sort" },
		{ "gather", "aten::index_select" },
		{ "index", "aten::index" },
		{ "scan", "aten::cumsum" },
		{ "histogram", "aten::histc" },
	};

	if (!u || !u->shape)
		return NULL;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(u->shape, known[i].reader) == 0)
			return known[i].op;
	if (strcmp(u->shape, "reduce") == 0)
		return arena_printf(al->a, "aten::%s", op_reduce_name(u->reduce));
	if (strcmp(u->shape, "elementwise") != 0)
		return NULL;
	if (strcmp(u->fn, "compare") == 0)
		return "aten::gt";
	if (strcmp(u->fn, "logical") == 0)
		return strstr(name, "_kernel_cuda") && strstr(name, "not") ? "aten::bitwise_not" : "aten::bitwise_and";
	if (strcmp(u->fn, "op") == 0 || !u->fn[0])
		return word_before_kernel(al, name);
	return arena_printf(al->a, "aten::%s", u->fn);
}

/* --- grids ------------------------------------------------------------------------------------------------------- */

static bool of_ggml(const char *name)
{
	return strstr(name, "k_bin_bcast") || strstr(name, "unary_gated_op");
}

static uint32_t inputs_of(const char *name, const char *op)
{
	const char *p = strstr(name, "std::array<char*, ");

	if (of_ggml(name))
		return 2;

	if (p)
		return (uint32_t)strtoul(p + strlen("std::array<char*, "), NULL, 10) - 1;
	if (strstr(name, "where_kernel"))
		return 3;
	if (op && strcmp(op, "aten::masked_fill_") == 0)
		return 2;
	if (strstr(name, "OnSelf_") || strstr(name, "UnaryFunctor"))
		return 1;
	return strstr(name, "BinaryFunctor") || strstr(name, "CUDAFunctor_add") || strstr(name, "CompareFunctor") ||
	                       strstr(name, "maximum_kernel") || strstr(name, "minimum_kernel")
	               ? 2
	               : 1;
}

/* Results a CTA makes; 0: the name does not tell. */
static uint64_t per_cta(const struct trace_launch *l, bool *flat)
{
	const char *n = l->name, *p;
	uint64_t threads = 0, each = 0;
	char *end;

	*flat = false;
	if (strstr(n, "elementwise_kernel_with_index"))
		return l->block[0];
	if (strstr(n, "vectorized_elementwise_kernel") || strstr(n, "vectorized_templated_elementwise_kernel")) {
		*flat = true;
		return l->block[0] * UINT64_C(8);
	}
	if (strstr(n, "unrolled_elementwise_kernel")) {
		*flat = true;
		return l->block[0] * UINT64_C(4);
	}
	if (!(p = strstr(n, "elementwise_kernel<")))
		return 0;
	threads = strtoul(p + strlen("elementwise_kernel<"), &end, 10);
	if (*end == ',')
		each = strtoul(end + 1, NULL, 10);
	return threads && each && threads <= 1024 && each <= 64 ? threads * each : 0;
}

static void read_grid(const struct trace_launch *l, struct kname *k)
{
	const uint64_t each = l->grid[0] ? per_cta(l, &k->flat) : 0;

	if (!each)
		return;
	k->hi = l->grid[0] * each;
	k->lo = k->hi - each;
}

static int read_name(struct align *al, const struct trace_launch *l, struct kname *k)
{
	struct trace_launch asked = *l;
	struct trace_op op = { .name = own_op(l->name), .parent = -1 };

	asked.op = op.name ? &op : NULL;
	k->rule = rules_match(al->rules, &asked);
	k->op = op.name ? op.name : op_of_rule(al, k->rule, l->name);
	if (l->kind != TRACE_KERNEL)
		return 0;
	k->type = type_of(al, l->name);
	k->casts = strstr(l->name, "LoadWithCast") || strstr(l->name, "gpu_kernel_impl<") ||
	           strstr(l->name, "float16_copy_kernel");
	k->from = strstr(l->name, "float16_copy_kernel") ? DT_FP32 : DT_NONE;
	k->inputs = inputs_of(l->name, k->op);
	read_grid(l, k);
	k->flat = k->flat || of_ggml(l->name);
	return 0;
}

int align_names(struct align *al)
{
	if (!(al->names = arena_array(al->a, al->t->n_launches, sizeof *al->names)))
		return err_nomem(al->e, "for an alignment");
	for (size_t i = 0; i < al->t->n_launches; i++)
		if (!align_has_op(&al->t->launches[i]) && read_name(al, &al->t->launches[i], &al->names[i]) < 0)
			return -1;
	return 0;
}

/* --- formats of weights ------------------------------------------------------------------------------------------- */

/* ggml's numbers of formats (ggml.h). Those between are taken as the next of ours; scales are left out. */
static enum dtype of_ggml_type(unsigned long t)
{
	static const enum dtype types[] = {
		[0] = DT_FP32,  [1] = DT_FP16,  [2] = DT_INT4,  [3] = DT_INT4,  [6] = DT_INT8,
		[7] = DT_INT8,  [8] = DT_INT8,  [9] = DT_INT8,  [10] = DT_INT4, [11] = DT_INT4,
		[12] = DT_INT4, [13] = DT_INT8, [14] = DT_INT8, [30] = DT_BF16, [39] = DT_FP4,
	};

	return t < sizeof types / sizeof *types ? types[t] : DT_NONE;
}

enum dtype align_weight_type(const char *kernel)
{
	static const struct {
		const char *word;
		enum dtype type;
	} words[] = { { "e2m1", DT_FP4 },  { "fp4", DT_FP4 },       { "e4m3", DT_FP8 },    { "fp8", DT_FP8 },
		      { "w8a8", DT_INT8 }, { "int8", DT_INT8 },     { "marlin", DT_INT4 }, { "awq", DT_INT4 },
		      { "gptq", DT_INT4 }, { "fpA_intB", DT_INT4 }, { "machete", DT_INT4 } };
	const char *p = strstr(kernel, "(ggml_type)");

	if (p)
		return of_ggml_type(strtoul(p + strlen("(ggml_type)"), NULL, 10));
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(kernel, words[i].word))
			return words[i].type;
	return DT_NONE;
}

/* --- anchors ----------------------------------------------------------------------------------------------------- */

/* In a model of 16 bits a product of fp32 is that of positions and frequencies, from which rotary tables are made. */
bool align_is_table(const struct align *al, size_t launch)
{
	const char *n = al->t->launches[launch].name;
	const struct rule *u = al->names[launch].rule;

	if (!u || u->kind != OP_GEMM || u->joins_previous || dtype_bits(al->m->dtype) > 16)
		return false;
	return strstr(n, "sgemm") || strstr(n, "<int, float") || strstr(n, "_kernel<float") ||
	       strstr(n, "kernel<int, int, float, float, float");
}

bool align_is_grouped(const struct rule *u)
{
	return strcmp(u->family, "moe_gemm") == 0;
}

bool align_anchors(const struct align *al, size_t launch)
{
	const struct rule *u = al->names[launch].rule;

	return u && (u->kind == OP_GEMM || u->kind == OP_ATTENTION) && !u->joins_previous && !u->part &&
	       !align_is_table(al, launch);
}
