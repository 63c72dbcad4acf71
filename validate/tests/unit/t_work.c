/* t_work.c - operations and bytes of every kind of op, by hand; number formats. */
#include "workloads/work.h"

#include "validate/tests/test.h"
#include "workloads/dtype.h"

static struct work work(struct op o)
{
	struct op_stream s = { 0 };

	if (!o.fn)
		o.fn = "";
	return work_of(&s, &o);
}

TEST(a_format_has_a_size_and_a_name_that_reads_back)
{
	CHECK_U64(dtype_bytes(DT_BF16, 1280), 2560);
	CHECK_U64(dtype_bytes(DT_INT4, 3), 2);
	CHECK_U64(dtype_bytes(DT_FP64, UINT64_C(1) << 48), UINT64_C(1) << 51);
	CHECK_U64(dtype_bits(DT_NONE), 0);
	CHECK_U64(dtype_bits(DTYPES), 0);
	for (int d = DT_NONE + 1; d < DTYPES; d++) {
		CHECK(dtype_bits((enum dtype)d) > 0);
		CHECK(dtype_parse(dtype_name((enum dtype)d)) == (enum dtype)d);
	}
	CHECK(dtype_parse("none") == DT_NONE && dtype_parse("bf17") == DT_NONE);
}

TEST(frameworks_names_of_formats_are_known)
{
	static const struct {
		const char *name;
		enum dtype d;
	} rows[] = {
		{ "c10::BFloat16", DT_BF16 },
		{ "c10::Half", DT_FP16 },
		{ "float", DT_FP32 },
		{ "double", DT_FP64 },
		{ "long int", DT_INT64 },
		{ "int", DT_INT32 },
		{ "short int", DT_INT16 },
		{ "signed char", DT_INT8 },
		{ "unsigned char", DT_INT8 },
		{ "bool", DT_BOOL },
		{ "c10::Float8_e4m3fn", DT_FP8 },
		{ "c10::Float8_e5m2fnuz", DT_FP8 },
		{ "Scalar", DT_NONE },
		{ "", DT_NONE },
		{ "TensorList", DT_NONE },
		{ "c10::complex<float>", DT_FP32 }, /* of a part */
		{ "int8_t*", DT_NONE },
		{ "floating", DT_NONE },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (dtype_from_framework(rows[i].name) != rows[i].d)
			test_fail(__FILE__, __LINE__, "'%s' is taken for %s", rows[i].name,
			          dtype_name(dtype_from_framework(rows[i].name)));
}

TEST(a_product_is_its_multiply_adds)
{
	struct work w = work((struct op){ .kind = OP_GEMM, .shape = { .batch = 3, .m = 2, .n = 5, .k = 7 } });

	CHECK_U64(w.macs, 210);
	CHECK_U64(w.flops, 420);
	CHECK_U64(w.alu + w.sfu, 0);
}

TEST(attention_is_two_products_and_a_softmax)
{
	struct op o = { .kind = OP_ATTENTION,
		        .shape = { .batch = 1,
		                   .heads = 10,
		                   .kv_heads = 10,
		                   .q_len = 1,
		                   .kv_len = 1025,
		                   .head_dim = 128,
		                   .v_dim = 128 } };
	struct work w = work(o);

	CHECK_U64(w.macs, UINT64_C(10) * 1025 * 256);
	CHECK_U64(w.sfu, 10250);
	CHECK_U64(w.alu, 4 * 10250 + 1280);
	o.shape.causal = true; /* one query sees every key */
	CHECK_U64(work(o).macs, w.macs);
	o.shape.q_len = o.shape.kv_len = 4;
	CHECK_U64(work_attention_pairs(&o.shape), 10); /* 1 + 2 + 3 + 4 */
	o.shape.kv_len = 6;                            /* two keys from before: 3 + 4 + 5 + 6 */
	CHECK_U64(work_attention_pairs(&o.shape), 18);
	o.shape.window = 4; /* 3 + 4 + 4 + 4 */
	CHECK_U64(work_attention_pairs(&o.shape), 15);
	o.shape.window = 2;
	CHECK_U64(work_attention_pairs(&o.shape), 8);
	o.shape.window = 6;
	CHECK_U64(work_attention_pairs(&o.shape), 18);
	o.shape.window = 0;
	o.shape.causal = false;
	CHECK_U64(work_attention_pairs(&o.shape), 24);
}

TEST(an_element_costs_by_its_class)
{
	uint32_t alu, sfu;

	work_cost(OP_COST_MOVE, 1, &alu, &sfu);
	CHECK(alu == 0 && sfu == 0);
	work_cost(OP_COST_ALU, 1, &alu, &sfu);
	CHECK(alu == 1 && sfu == 0);
	work_cost(OP_COST_ALU, 3, &alu, &sfu);
	CHECK(alu == 2 && sfu == 0);
	work_cost(OP_COST_DIV, 2, &alu, &sfu);
	CHECK(alu > 1 && sfu == 0);
	work_cost(OP_COST_SFU, 1, &alu, &sfu);
	CHECK(alu == 0 && sfu == 1);
	work_cost(OP_COST_ACT, 1, &alu, &sfu);
	CHECK(alu > 1 && sfu == 1);
	CHECK_U64(
		work((struct op){ .kind = OP_ELEMENTWISE, .cost = OP_COST_ALU, .shape = { .elems = 100, .arity = 2 } })
			.flops,
		100);
	CHECK_U64(work((struct op){ .kind = OP_CONVERT, .cost = OP_COST_ALU, .shape = { .elems = 100 } }).flops, 0);
	CHECK_U64(work((struct op){ .kind = OP_GATHER, .shape = { .elems = 100 } }).flops, 0);
}

TEST(rows_cost_by_what_is_done_along_them)
{
	struct op_shape s = { .rows = 3, .cols = 100, .top = 6 };

	CHECK_U64(work((struct op){ .kind = OP_SOFTMAX, .shape = s }).alu, 1200);
	CHECK_U64(work((struct op){ .kind = OP_SOFTMAX, .shape = s }).sfu, 303);
	CHECK_U64(work((struct op){ .kind = OP_REDUCE, .reduce = OP_RED_SUM, .shape = s }).alu, 300);
	CHECK_U64(work((struct op){ .kind = OP_REDUCE, .reduce = OP_RED_MEAN, .shape = s }).alu, 303);
	CHECK_U64(work((struct op){ .kind = OP_REDUCE, .reduce = OP_RED_ARGMAX, .shape = s }).alu, 600);
	CHECK_U64(work((struct op){ .kind = OP_NORM, .fn = "rms_norm", .shape = s }).alu, 1203);
	CHECK_U64(work((struct op){ .kind = OP_NORM, .fn = "layer_norm", .shape = s }).alu, 1803);
	CHECK_U64(work((struct op){ .kind = OP_SCAN, .shape = s }).alu, 300);
	CHECK_U64(work((struct op){ .kind = OP_TOPK, .shape = s }).alu, 1800);
	CHECK_U64(work((struct op){ .kind = OP_COLLECTIVE, .fn = "all_reduce", .shape = { .elems = 9 } }).alu, 9);
	CHECK_U64(work((struct op){ .kind = OP_COLLECTIVE, .fn = "all_gather", .shape = { .elems = 9 } }).alu, 0);
}

TEST(a_sorting_network_has_so_many_comparators)
{
	CHECK_U64(work_sort_steps(0), 0);
	CHECK_U64(work_sort_steps(1), 0);
	CHECK_U64(work_sort_steps(2), 1);
	CHECK_U64(work_sort_steps(4), 6);  /* 2 + 2 * 2: stages of 1, 2 and 1 */
	CHECK_U64(work_sort_steps(6), 24); /* as 8: 4 comparators, 6 stages */
	CHECK_U64(work_sort_steps(8), 24);
	CHECK_U64(work_topk_steps(64, 6), 384);
	CHECK_U64(work_topk_steps(4, 9), 16);
}

TEST(counts_that_do_not_fit_stay_at_the_largest)
{
	struct op o = { .kind = OP_GEMM,
		        .shape = { .batch = 1, .m = UINT64_C(1) << 40, .n = UINT64_C(1) << 40, .k = 1 } };

	CHECK_U64(work(o).macs, UINT64_MAX);
	CHECK_U64(work(o).flops, UINT64_MAX);
	CHECK_U64(work_sort_steps(UINT64_MAX), UINT64_MAX);
	o = (struct op){
		.kind = OP_ATTENTION,
		.shape = { .batch = 1, .heads = 1, .q_len = UINT64_MAX, .kv_len = 2, .head_dim = 1, .causal = true }
	};
	CHECK_U64(work(o).macs, UINT64_MAX);
}

TEST(bytes_are_what_the_operands_touch_by_role)
{
	struct op_tensor tensors[3] = { { .role = OP_WEIGHT, .bytes = 100, .instances = 1 },
		                        { .role = OP_ACTIVATION, .bytes = 10, .instances = 1 },
		                        { .role = OP_INDEX, .bytes = 8, .instances = 1 } };
	struct op_operand x[4] = { { .tensor = 0, .bytes = 100, .touched = 60 },
		                   { .tensor = 1, .bytes = 10, .touched = 10 },
		                   { .tensor = 2, .bytes = 8, .touched = 8 },
		                   { .tensor = 1, .write = true, .bytes = 10, .touched = 5 } };
	struct op_stream s = { .tensors = tensors, .n_tensors = 3, .operands = x, .n_operands = 4 };
	struct op o = { .kind = OP_COPY, .fn = "", .n_operands = 4 };
	struct work w = work_of(&s, &o);

	CHECK_U64(w.read_bytes, 78);
	CHECK_U64(w.write_bytes, 5);
	CHECK_U64(w.role_read_bytes[OP_WEIGHT], 60);
	CHECK_U64(w.role_read_bytes[OP_ACTIVATION], 10);
	CHECK_U64(w.role_read_bytes[OP_INDEX], 8);
	o = (struct op){ .kind = OP_OPAQUE, .fn = "", .opaque_bytes = 77, .opaque_flops = 5 };
	CHECK_U64(work_of(&s, &o).read_bytes, 77);
	CHECK_U64(work_of(&s, &o).flops, 5);
}

TEST(every_enumerator_has_a_name)
{
	for (int i = 0; i < OP_KINDS; i++)
		CHECK(op_kind_name((enum op_kind)i)[0] != '?');
	for (int i = 0; i <= OP_CONSTANT; i++)
		CHECK(op_role_name((enum op_role)i)[0] != '?');
	for (int i = 0; i < OP_COSTS; i++)
		CHECK(op_cost_name((enum op_cost)i)[0] != '?');
	for (int i = 0; i < OP_REDUCES; i++)
		CHECK(op_reduce_name((enum op_reduce)i)[0] != '?');
	for (int i = 0; i < OP_ATTNS; i++)
		CHECK(op_attn_name((enum op_attn)i)[0] != '?');
	CHECK_STR(op_kind_name(OP_KINDS), "?");
	CHECK_STR(op_role_name((enum op_role)99), "?");
	CHECK_STR(op_cost_name(OP_COSTS), "?");
	CHECK_STR(op_reduce_name(OP_REDUCES), "?");
	CHECK_STR(op_attn_name(OP_ATTNS), "?");
	CHECK_STR(op_phase_name(OP_PREFILL), "prefill");
	CHECK_STR(op_phase_name(OP_DECODE), "decode");
}

SUITE(t_work, T(a_format_has_a_size_and_a_name_that_reads_back), T(frameworks_names_of_formats_are_known),
      T(a_product_is_its_multiply_adds), T(attention_is_two_products_and_a_softmax), T(an_element_costs_by_its_class),
      T(rows_cost_by_what_is_done_along_them), T(a_sorting_network_has_so_many_comparators),
      T(counts_that_do_not_fit_stay_at_the_largest), T(bytes_are_what_the_operands_touch_by_role),
      T(every_enumerator_has_a_name));
