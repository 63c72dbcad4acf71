/* t_op.c - the table of kinds of op: each row agrees with itself and with where its kind is read from; names by hand. */
#include "workloads/op.h"

#include "sim/base/str.h"
#include "validate/tests/test.h"
#include "workloads/listed.h"

/* Dimensions of what a kind reads, or writes; a KV head is its group of heads. */
static uint32_t dims_of(const struct op_traits *t, bool write)
{
	uint32_t all = 0;

	for (int i = 0; i < OP_OPERANDS && t->operands[i].dims[0]; i++)
		for (size_t d = 0; d < sizeof t->operands[i].dims && t->operands[i].dims[d]; d++)
			if (t->operands[i].write == write && !t->operands[i].scratch)
				all |= UINT32_C(1) << t->operands[i].dims[d];
	return all & OP_DIM_BIT(KV_HEADS) ? (all & ~OP_DIM_BIT(KV_HEADS)) | OP_DIM_BIT(HEADS) : all;
}

TEST(what_is_reduced_is_read_and_not_written)
{
	for (int k = 0; k < OP_KINDS; k++)
		if ((dims_of(&op_traits[k], false) & ~dims_of(&op_traits[k], true)) != op_traits[k].reduces)
			test_fail(__FILE__, __LINE__, "%s reduces other dimensions", op_traits[k].name);
}

TEST(operands_have_the_dimensions_of_their_kind_and_reads_come_first)
{
	static const uint32_t of[] = {
		[OP_DIMS_ELEMS] = OP_DIM_BIT(ELEMS),
		[OP_DIMS_ROWS] = OP_DIM_BIT(ROWS) | OP_DIM_BIT(COLS) | OP_DIM_BIT(TOP),
		[OP_DIMS_PRODUCT] = OP_DIM_BIT(BATCH) | OP_DIM_BIT(M) | OP_DIM_BIT(N) | OP_DIM_BIT(K),
		[OP_DIMS_ATTENTION] = OP_DIM_BIT(BATCH) | OP_DIM_BIT(HEADS) | OP_DIM_BIT(Q_LEN) | OP_DIM_BIT(KV_LEN) |
		                      OP_DIM_BIT(HEAD_DIM) | OP_DIM_BIT(V_DIM),
	};

	for (int k = 0; k < OP_KINDS; k++) {
		const struct op_traits *t = &op_traits[k];
		const uint32_t may = t->indexed ? of[OP_DIMS_ROWS] : of[t->dims];
		bool wrote = false, streams = false;

		for (int i = 0; i < OP_OPERANDS && t->operands[i].dims[0]; i++) {
			if (wrote && !t->operands[i].write)
				test_fail(__FILE__, __LINE__, "%s reads behind what it writes", t->name);
			wrote |= t->operands[i].write;
			streams |= t->operands[i].streams;
		}
		if ((dims_of(t, false) | dims_of(t, true)) & ~may)
			test_fail(__FILE__, __LINE__, "%s has dimensions of other kinds", t->name);
		if (streams != op_is_product((enum op_kind)k) || wrote != !t->unlisted)
			test_fail(__FILE__, __LINE__, "%s: no operand streams, or none is written", t->name);
	}
}

/* What a table may have it has a row for, and what it may not have says why. */
TEST(each_kind_is_a_row_of_a_table_of_ops_or_says_why_not)
{
	for (int k = 0; k < OP_KINDS; k++) {
		bool listed = false;

		for (size_t i = 0; i < listed_meanings(); i++)
			listed |= listed_meaning(i)->kind == (enum op_kind)k;
		if (listed == (op_traits[k].unlisted != NULL))
			test_fail(__FILE__, __LINE__, "%s", op_traits[k].name);
		CHECK((op_traits[k].runs == OP_RUNS_HERE) == listed);
	}
}

TEST(a_kind_is_named_as_its_row_of_a_table)
{
	struct op o = { .fn = "" };
	char name[48];

	for (size_t i = 0; i < listed_meanings(); i++) {
		const struct listed_meaning *is = listed_meaning(i);
		struct listed x = { 0 };

		o.kind = is->kind, o.fn = is->fn, o.reduce = is->reduce, o.out_dtype = DT_FP8;
		listed_kind_name(&o, name, sizeof name);
		CHECK_OK(listed_cell(&x, LISTED_OP, name, NULL), (struct err){ .msg = "" });
		CHECK(str_prefix(listed_op_name(&x), op_kind_name(is->kind)));
	}
	CHECK_STR(name, "convert:fp8");
	o = (struct op){ .kind = OP_ELEMENTWISE, .fn = "gelu" };
	listed_kind_name(&o, name, sizeof name);
	CHECK_STR(name, "elementwise:gelu");
	o.fn = "causal_conv"; /* none of a row's */
	listed_kind_name(&o, name, sizeof name);
	CHECK_STR(name, "elementwise");
	o = (struct op){ .kind = OP_REDUCE, .reduce = OP_RED_ARGMAX };
	listed_kind_name(&o, name, sizeof name);
	CHECK_STR(name, "reduce:argmax");
	o = (struct op){ .kind = OP_SORT, .fn = "stable" };
	listed_kind_name(&o, name, sizeof name);
	CHECK_STR(name, "sort");
}

static const char *text(struct op o, enum op_role wrote)
{
	static char buf[160];
	struct op_tensor t = { .role = wrote };
	struct op_operand x = { .write = true };
	const struct op_stream s = { .tensors = &t, .operands = &x };

	o.n_operands = 1;
	o.family = o.family ? o.family : "";
	op_text(&s, &o, buf, sizeof buf);
	return buf;
}

#define TEXT(want, ...) CHECK_STR(text((struct op){ __VA_ARGS__ }, OP_ACTIVATION), want)

TEST(an_op_is_called_by_its_sizes)
{
	const struct op concat = { .kind = OP_CONCAT, .shape = { .elems = 9 } };

	TEXT("gemv 64x32", .kind = OP_GEMM, .shape = { .batch = 1, .m = 1, .n = 32, .k = 64 });
	TEXT("gemm 2x64x32", .kind = OP_GEMM, .shape = { .batch = 1, .m = 2, .n = 32, .k = 64 });
	TEXT("conv 2x64x32", .kind = OP_GEMM, .family = "conv", .shape = { .m = 2, .n = 32, .k = 64 });
	TEXT("bmm 3x1x64x32", .kind = OP_GEMM, .shape = { .batch = 3, .m = 1, .n = 32, .k = 64 });
	TEXT("attention 8x64 kv 100", .kind = OP_ATTENTION,
	     .shape = { .batch = 1, .heads = 8, .q_len = 1, .kv_len = 100, .head_dim = 64 });
	TEXT("attention 8x64 kv 100 q 5 batch 2", .kind = OP_ATTENTION,
	     .shape = { .batch = 2, .heads = 8, .q_len = 5, .kv_len = 100, .head_dim = 64 });
	TEXT("silu 12", .kind = OP_ELEMENTWISE, .fn = "silu", .shape = { .elems = 12 });
	TEXT("rope 12", .kind = OP_ROPE, .fn = "", .shape = { .elems = 12, .rows = 3, .cols = 4 });
	TEXT("bf16 to fp8 12", .kind = OP_CONVERT, .fn = "to", .dtype = DT_BF16, .out_dtype = DT_FP8,
	     .shape = { .elems = 12 });
	TEXT("softmax 3x4", .kind = OP_SOFTMAX, .shape = { .rows = 3, .cols = 4 });
	TEXT("mean 4", .kind = OP_REDUCE, .fn = "mean", .shape = { .rows = 1, .cols = 4 });
	TEXT("topk 2 of 3x4", .kind = OP_TOPK, .shape = { .rows = 3, .cols = 4, .top = 2 });
	TEXT("topk 2 of 4", .kind = OP_TOPK, .shape = { .rows = 1, .cols = 4, .top = 2 });
	TEXT("host read 16 B", .kind = OP_HOST_SYNC, .dtype = DT_INT64, .shape = { .elems = 2 });
	CHECK_STR(text(concat, OP_ACTIVATION), "concat 9");
	CHECK_STR(text(concat, OP_KV), "concat kv 9");
}

TEST(a_text_knows_its_words_and_its_room)
{
	const struct op_stream s = { 0 };
	char to[24];

	for (int k = 0; k < OP_KINDS; k++) {
		const struct op o = { .kind = (enum op_kind)k, .family = "", .shape = { .m = 2, .rows = 2 } };

		for (size_t size = 1; size < sizeof to; size++) {
			memset(to, '!', sizeof to);
			op_text(&s, &o, to, size);
			CHECK(strlen(to) < size && to[size] == '!');
		}
		if (strchr(to, '{'))
			test_fail(__FILE__, __LINE__, "%s: '%s'", op_traits[k].name, to);
	}
}

SUITE(t_op, T(what_is_reduced_is_read_and_not_written),
      T(operands_have_the_dimensions_of_their_kind_and_reads_come_first),
      T(each_kind_is_a_row_of_a_table_of_ops_or_says_why_not), T(a_kind_is_named_as_its_row_of_a_table),
      T(an_op_is_called_by_its_sizes), T(a_text_knows_its_words_and_its_room));
