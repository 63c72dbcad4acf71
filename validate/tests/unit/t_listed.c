/* t_listed.c - rows of tables of ops: bytes, shapes and work by hand, and the op stream that a table is lowered to. */
#include "workloads/listed.h"

#include "sim/lower/lower.h"
#include "traces/read/ops_csv.h"
#include "validate/tests/tracebed.h"
#include "workloads/work.h"

/* Cells as "m 2 n 3": column, value. */
static void set(struct listed *x, const char *op, const char *cells)
{
	static char text[512];
	struct err e = ERR_INIT;
	char *p = text;

	*x = (struct listed){ .algorithm = OP_ATTN_ANY };
	snprintf(text, sizeof text, "%s", cells);
	CHECK_OK(listed_cell(x, LISTED_OP, op, &e), e);
	for (char *name, *value; (name = strtok(p, " ")) && (value = strtok(NULL, " ")); p = NULL) {
		int c = 0;

		while (c < LISTED_COUNT && strcmp(listed_column_name((enum listed_column)c), name) != 0)
			c++;
		CHECK(c < LISTED_COUNT);
		CHECK_OK(listed_cell(x, (enum listed_column)c, value, &e), e);
	}
}

static struct listed_shape shape(const char *op, const char *cells)
{
	struct err e = ERR_INIT;
	enum listed_column at;
	struct listed_shape s;
	struct listed x;

	set(&x, op, cells);
	CHECK_OK(listed_finish(&x, &at, &e), e);
	listed_shape(&x, &s);
	return s;
}

TEST(a_product_reads_its_operands_in_their_formats_and_writes_what_it_sums_in)
{
	struct listed_shape s = shape("gemm", "m 2 n 64 k 256 batch 3");

	CHECK(s.n == 3 && s.dtype == DT_BF16 && s.out_dtype == DT_BF16 && s.s.batch == 3);
	CHECK(s.io[0].bytes == 3 * 2 * 256 * 2 && s.io[1].bytes == 3 * 64 * 256 * 2 && s.io[2].bytes == 3 * 2 * 64 * 2);
	CHECK(s.io[1].role == OP_WEIGHT && s.io[2].write && !s.io[1].write);
	s = shape("gemm", "m 2 n 64 k 256 dtype fp32");
	CHECK(s.io[0].bytes == 2 * 256 * 4 && s.io[2].bytes == 2 * 64 * 4 && s.out_dtype == DT_FP32);
	s = shape("gemm", "m 2 n 64 k 256 dtype int8");
	CHECK(s.io[0].bytes == 2 * (256 + 2) && s.io[1].bytes == 64 * (256 + 2)); /* a 16-bit scale a row */
	CHECK(s.io[2].bytes == 2 * 64 * 2 && s.out_dtype == DT_BF16);
}

TEST(scales_of_narrow_weights_are_bytes)
{
	struct listed_shape s = shape("gemm", "m 1 n 64 k 256 weight_dtype int4");

	CHECK(s.dtype == DT_BF16 && s.io[0].bytes == 512 && s.io[1].dtype == DT_INT4 && s.io[1].quant == QUANT_INT4);
	CHECK_U64(s.io[1].bytes, 64 * 256 / 2 + 64 * 2 * 2); /* 16 bits for 128 */
	CHECK_U64(shape("gemm", "m 1 n 64 k 256 weight_dtype nvfp4").io[1].bytes, 64 * 256 / 2 + 64 * 256 / 16);
	CHECK_U64(shape("gemm", "m 1 n 64 k 256 weight_dtype mxfp4").io[1].bytes, 64 * 256 / 2 + 64 * 256 / 32);
	s = shape("gemm", "m 1 n 64 k 256 dtype fp8_e4m3 weight_dtype fp8_e5m2");
	CHECK(s.io[0].quant == QUANT_FP8_E4M3 && s.io[1].quant == QUANT_FP8_E5M2 && s.dtype == DT_FP8);
}

TEST(operands_lie_where_a_row_says)
{
	struct listed_shape s = shape("gemm", "m 2 n 64 k 256 resident in+out dtype bfp8_b");
	struct listed x = { .algorithm = OP_ATTN_ANY };
	struct err e = ERR_INIT;

	CHECK(s.io[0].resident && !s.io[1].resident && s.io[2].resident);
	CHECK(s.io[0].bytes == 2 * 256 * 17 / 16 && s.io[2].bytes == 2 * 64 * 17 / 16); /* as they came */
	s = shape("attention", "heads 2 q_len 1 kv_len 9 head_dim 16 resident weights");
	CHECK(!s.io[0].resident && s.io[1].resident && s.io[1].role == OP_KV);
	CHECK(!shape("gemm", "m 2 n 64 k 256").io[0].resident);
	CHECK(listed_cell(&x, LISTED_RESIDENT, "in+l1", &e) < 0);
	CHECK_HAS(e.msg, "'in', 'weights', 'out'");
	err_clear(&e);
	CHECK(listed_cell(&x, LISTED_RESIDENT, "in+", &e) < 0);
	err_clear(&e);
	CHECK(listed_cell(&x, LISTED_RESIDENT, "+in", &e) < 0);
	err_clear(&e);
}

TEST(a_product_says_its_passes)
{
	struct listed x = { .algorithm = OP_ATTN_ANY };
	enum listed_column at = LISTED_OP;
	struct err e = ERR_INIT;

	CHECK_U64(shape("gemm", "m 2 n 64 k 256 passes 4").s.passes, 4);
	CHECK_U64(shape("gemm", "m 2 n 64 k 256").s.passes, 0);
	CHECK(listed_cell(&x, LISTED_OP, "gemm", &e) == 0 && listed_cell(&x, LISTED_M, "2", &e) == 0 &&
	      listed_cell(&x, LISTED_N, "64", &e) == 0 && listed_cell(&x, LISTED_K, "64", &e) == 0 &&
	      listed_cell(&x, LISTED_PASSES, "17", &e) == 0);
	CHECK(listed_finish(&x, &at, &e) < 0 && at == LISTED_PASSES);
	CHECK_HAS(e.msg, "16 at the most");
	err_clear(&e);
}

TEST(attention_over_a_latent_reads_it_once)
{
	struct listed_shape s =
		shape("attention", "batch 2 heads 128 q_len 1 kv_len 1024 head_dim 576 v_dim 512 algorithm mla");

	CHECK(s.n == 3 && s.io[1].role == OP_KV && s.io[2].write && s.s.kv_heads == 1);
	CHECK_U64(s.io[1].bytes, 2 * 1024 * 576 * 2);
	CHECK_U64(s.io[2].bytes, 2 * 128 * 512 * 2);
	CHECK(s.s.head_dim == 576 && s.s.v_dim == 512);
	/* Others may have narrower values too, and read both. */
	s = shape("attention", "heads 16 q_len 1 kv_len 64 head_dim 192 v_dim 128");
	CHECK(s.n == 4 && s.io[1].bytes == 16 * 64 * 192 * 2 && s.io[2].bytes == 16 * 64 * 128 * 2 &&
	      s.io[3].bytes == 16 * 128 * 2);
}

TEST(attention_reads_keys_and_values_of_its_kv_heads)
{
	struct listed_shape s =
		shape("attention", "batch 2 heads 32 kv_heads 8 q_len 1 kv_len 1024 head_dim 128 causal 1");

	CHECK(s.n == 4 && s.io[1].role == OP_KV && s.io[2].role == OP_KV);
	CHECK(s.io[0].bytes == 2 * 32 * 128 * 2 && s.io[1].bytes == 2 * 8 * 1024 * 128 * 2 &&
	      s.io[3].bytes == s.io[0].bytes);
	CHECK(s.s.v_dim == 128 && s.s.causal);
	s = shape("attention", "heads 4 q_len 16 kv_len 16 head_dim 64 dtype fp16 weight_dtype fp8");
	CHECK(s.s.kv_heads == 4 && s.s.batch == 1 && !s.s.causal && s.out_dtype == DT_FP16);
	CHECK_U64(s.io[1].bytes, 4 * 16 * (64 + 2));
}

TEST(the_rest_by_hand)
{
	struct listed_shape s = shape("elementwise:add", "rows 4 cols 8 batch 2");

	CHECK(s.n == 3 && s.s.elems == 64 && s.s.arity == 2 && s.io[0].bytes == 128 && s.io[2].bytes == 128);
	s = shape("norm:layer_norm", "rows 4 cols 8");
	CHECK(s.n == 4 && s.io[1].role == OP_WEIGHT && s.io[1].bytes == 16 && s.io[2].bytes == 16);
	CHECK(shape("norm", "rows 4 cols 8").n == 3);
	s = shape("reduce:argmax", "rows 4 cols 8");
	CHECK(s.out_dtype == DT_INT64 && s.io[1].bytes == 32 && s.io[1].role == OP_INDEX);
	s = shape("topk", "rows 4 cols 8 k 2");
	CHECK(s.s.top == 2 && s.n == 3 && s.io[1].bytes == 16 && s.io[2].bytes == 64);
	s = shape("convert:fp8", "elements 100 dtype fp32");
	CHECK(s.io[0].bytes == 400 && s.io[1].bytes == 102 && s.out_dtype == DT_FP8);
	s = shape("concat", "elements 101");
	CHECK(s.n == 3 && s.io[0].bytes == 100 && s.io[1].bytes == 102 && s.io[2].bytes == 202);
	s = shape("embed", "rows 3 cols 8 weight_dtype int8");
	CHECK(s.io[0].role == OP_WEIGHT && s.io[0].bytes == 3 * 10 && s.io[1].bytes == 24 && s.io[2].bytes == 48);
}

/* Through a framework op and back nothing is lost. */
TEST(a_row_survives_as_a_framework_op)
{
	static const struct {
		const char *op, *cells;
	} rows[] = {
		{ "gemm", "m 2 n 64 k 256 batch 3 dtype fp16 weight_dtype mxfp4 measured_uj 0.125" },
		{ "attention", "heads 32 kv_heads 8 q_len 1 kv_len 64 head_dim 128 causal 0 algorithm materialised" },
		{ "elementwise:gelu", "elements 12" },
		{ "convert:nvfp4", "rows 4 cols 32 dtype fp32 measured_mhz 1700.5" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct listed_shape was = shape(rows[i].op, rows[i].cells), is;
		struct listed_room room;
		struct trace_op o;
		struct listed x, y;

		set(&x, rows[i].op, rows[i].cells);
		listed_to_op(&x, &room, &o);
		CHECK(listed_of_op(&o, &y) == 0 && y.given == (x.given & ~UINT32_C(1)));
		CHECK(y.algorithm == x.algorithm);
		listed_shape(&y, &is);
		CHECK(memcmp(&was, &is, sizeof was) == 0);
	}
}

/* --- lowered ------------------------------------------------------------------------------------------------------ */

struct low {
	struct bed b;
	struct rules *r;
	struct op_stream s;
	struct lower_stats st;
};

static void low_open(struct low *l, const char *text)
{
	char path[4096];
	struct input *in;

	bed_open(&l->b, ":memory:", DB_WRITE);
	in = input_mem(text, strlen(text), "ops.csv", &l->b.e);
	CHECK_OK(ops_csv_import(l->b.db, in, NULL, NULL, &l->b.st, &l->b.e), l->b.e);
	input_free(in);
	bed_load(&l->b, NULL);
	snprintf(path, sizeof path, "%s/configs/rules/pytorch-cuda.yaml", test_root());
	l->r = rules_load(path, &l->b.e);
	CHECK_OK(lower_trace(&l->b.t, l->r, l->b.a, &l->s, &l->st, &l->b.e), l->b.e);
	CHECK_OK(lower_check(&l->s, &l->b.e), l->b.e);
}

static void low_close(struct low *l)
{
	rules_free(l->r);
	bed_close(&l->b);
}

TEST(rows_have_operands_of_their_own_and_wait_for_the_row_before)
{
	struct low l;

	low_open(&l, "op,name,m,n,k,measured_us\ngemm,fused_nvjet,1,64,64,2\ngemm,,1,64,64,3\ngemm,,128,64,64,4\n");
	CHECK(l.s.n_ops == 3 && l.s.n_tensors == 9 && l.st.inferred_tensors == 0 && l.s.opaque_ns == 0);
	for (uint32_t i = 0; i < 3; i++) {
		const struct op *o = &l.s.ops[i];

		CHECK(o->kind == OP_GEMM && o->n_operands == 3 && o->n_deps == (i > 0) && o->layer == -1);
		CHECK(!i || l.s.deps[o->first_dep] == i - 1);
		for (uint32_t k = 0; k < 3; k++)
			CHECK_U64(l.s.operands[o->first_operand + k].tensor, 3 * i + k);
	}
	CHECK_STR(l.s.ops[0].name, "fused_nvjet");
	CHECK_STR(l.s.ops[1].name, "gemv 64x64");
	CHECK_STR(l.s.ops[0].family, "gemv");
	CHECK_STR(l.s.ops[2].family, "gemm");
	CHECK_STR(l.s.tensors[1].name, "row0.w");
	CHECK_STR(l.s.tensors[8].name, "row2.out");
	CHECK(l.s.ops[1].phase == OP_DECODE && l.s.ops[2].phase == OP_PREFILL);
	CHECK_U64(l.s.measured_ns, 9000);
	CHECK_U64(work_of(&l.s, &l.s.ops[2]).flops, 2 * 128 * 64 * 64);
	low_close(&l);
}

TEST(an_op_has_the_algorithm_that_its_row_names)
{
	struct low l;

	low_open(&l, "op,heads,q_len,kv_len,head_dim,algorithm\nattention,4,1,64,64,per_head\nattention,4,1,64,64\n");
	CHECK(l.s.ops[0].algorithm == OP_ATTN_PER_HEAD && l.s.ops[1].algorithm == OP_ATTN_ANY);
	CHECK(l.s.ops[0].layer == -1 && l.s.tensors[1].role == OP_KV);
	CHECK_STR(l.s.tensors[2].name, "row0.kv1");
	low_close(&l);
}

/* A trace may claim anything: what no table could have made is carried, not believed. */
TEST(what_only_says_that_it_is_a_row_is_opaque)
{
	static const struct trace_arg bad[][1] = {
		{ { .dtype = "", .scalar = "0", .ndims = -1, .list = -1, .pos = LISTED_M } },
		{ { .dtype = "", .scalar = "99999999999999999999", .ndims = -1, .list = -1, .pos = LISTED_N } },
		{ { .dtype = "", .scalar = "4", .ndims = -1, .list = -1, .pos = -7 } },
		{ { .dtype = "", .scalar = "4", .ndims = -1, .list = -1, .pos = LISTED_COUNT } },
		{ { .dtype = "zz", .scalar = "", .ndims = -1, .list = -1, .pos = LISTED_DTYPE } },
	};
	struct listed x;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(listed_of_op(&(struct trace_op){ .name = "listed::gemm", .n_args = 1, .args = bad[i] }, &x) ==
		      -1);
	CHECK(listed_of_op(&(struct trace_op){ .name = "listed::nothing" }, &x) == -1);
	CHECK(listed_of_op(&(struct trace_op){ .name = "aten::mm" }, &x) == -1);
}

SUITE(t_listed, T(a_product_reads_its_operands_in_their_formats_and_writes_what_it_sums_in),
      T(scales_of_narrow_weights_are_bytes), T(operands_lie_where_a_row_says), T(a_product_says_its_passes),
      T(attention_over_a_latent_reads_it_once), T(attention_reads_keys_and_values_of_its_kv_heads), T(the_rest_by_hand),
      T(a_row_survives_as_a_framework_op), T(rows_have_operands_of_their_own_and_wait_for_the_row_before),
      T(an_op_has_the_algorithm_that_its_row_names), T(what_only_says_that_it_is_a_row_is_opaque));
