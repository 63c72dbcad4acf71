/* The table of kernel templates: what its errors say, and what the shipped one reads from real names. */
#include "arch/gpu/kernels.h"

#include "validate/tests/test.h"

static void refused(const char *text, int line, const char *part)
{
	struct err e = ERR_INIT;
	struct kernels *k = kernels_parse(text, strlen(text), "t.yaml", &e);

	if (k)
		test_fail(__FILE__, __LINE__, "\"%s\" was taken", text);
	CHECK_HAS(e.msg, part);
	CHECK(e.kind == ERR_CONFIG);
	CHECK_U64(e.line, line);
}

TEST(faults_are_placed_and_name_the_nearest_word)
{
	refused("kernels:\n- {name: a, kernel: x, form: steam}\n", 2, "'stream'");
	refused("kernels:\n- {name: a, kernel: x, form: stream, moves: red}\n", 2, "'reads'");
	refused("kernels:\n- {name: a, kernel: x, form: stream, numbers: {stages: 1, step: 2}}\n", 2, "'steps'");
	refused("kernels:\n- {name: a, kernel: x, form: stream, numbers: {steps: -1}}\n", 2, "-1");
	refused("kernels:\n- {name: a, kernel: x, form: stream, numbers: 3}\n", 2, "'numbers'");
	refused("kernels:\n- {name: a, kernel: '(x', form: stream}\n", 2, "not a regular expression");
	refused("kernels:\n- {name: a, kernel: '(x)(y)', form: stream, from_name: [steps]}\n", 2, "2 groups");
	refused("kernels:\n- {name: a, kernel: x, form: stream}\n- {name: a, kernel: y, form: stream}\n", 3, "twice");
	refused("kernels:\n- {kernel: x, form: stream}\n", 2, "'name'");
	refused("kernels:\n- {name: a, form: stream}\n", 2, "'kernel'");
	refused("kernels:\n- {name: a, kernel: x}\n", 2, "'form'");
	refused("kernels:\n- {name: a, kernl: x, form: stream}\n", 2, "'kernel'");
	refused("kernels:\n- x\n", 2, "mapping");
	refused("kernels: x\n", 1, "list");
	refused("{}\n", 1, "'kernels'");
}

TEST(groups_are_numbers_or_words_that_stand_there_or_not)
{
	static const char text[] = "kernels:\n- {name: a, kernel: '^k_([0-9]+)x([0-9]+)(_coop)?(z*)', form: product,\n"
				   "   from_name: [tile_m, tile_n, cooperates, _], numbers: {stages: 4}}\n";
	struct err e = ERR_INIT;
	struct kernels *k = kernels_parse(text, strlen(text), "t.yaml", &e);
	struct kernel x;

	CHECK_OK(k ? 0 : -1, e);
	x = kernels_match(k, "k_64x128_coop", NULL);
	CHECK(x.form == KERNEL_PRODUCT);
	CHECK_U64(x.tile_m, 64);
	CHECK_U64(x.tile_n, 128);
	CHECK_U64(x.cooperates, 1);
	CHECK_U64(x.stages, 4);
	CHECK_U64(kernels_match(k, "k_8x64", NULL).cooperates, 0);
	x = kernels_match(k, "other", NULL);
	CHECK(x.form == KERNEL_PLAIN);
	CHECK_STR(x.name, "");
	kernels_free(k);
}

TEST(a_row_may_ask_for_the_rule_of_its_op)
{
	static const char text[] =
		"kernels:\n- {name: a, kernel: x, op: '^mean$', form: rows}\n- {name: b, kernel: x, form: stream}\n";
	struct err e = ERR_INIT;
	struct kernels *k = kernels_parse(text, strlen(text), "t.yaml", &e);

	CHECK_OK(k ? 0 : -1, e);
	CHECK_STR(kernels_match(k, "x", "mean").name, "a");
	CHECK_STR(kernels_match(k, "x", "means").name, "b");
	CHECK_STR(kernels_match(k, "x", NULL).name, "b");
	kernels_free(k);
}

/* As PyTorch 2.11 names it, up to the tile; the same in fp8, and on a device whose kernel no other row has. */
TEST(the_shipped_table_reads_the_tile_of_a_grouped_product)
{
	static const char head[] =
		"_ZN7cutlass13device_kernelIN2at4cuda6detail25enable_3x_kernel_for_sm9xINS_4gemm6kernel13GemmUniversalI"
		"NS5_17GroupProblemShapeIN4cute5tupleIJiiiEEEEENS5_10collective13CollectiveMmaINS5_39";
	static const char bf16[] =
		"MainloopSm90ArrayTmaGmmaWarpSpecializedILi4ENSA_IJNS9_1CILi2EEENSG_ILi1EEESI_EEENS5_40"
		"KernelPtrArrayTmaWarpSpecializedPingpongEEENSA_IJNSG_ILi64EEENSG_ILi128EEESN_EEE";
	static const char fp8[] =
		"MainloopSm90ArrayTmaGmmaWarpSpecializedFP8ILi3ENSA_IJNS9_1CILi2EEENSG_ILi1EEESI_EEENS5_52"
		"KernelPtrArrayTmaWarpSpecializedCooperativeFP8FastAccumEEENSA_IJNSG_ILi128EEENSG_ILi256EEE";
	static const struct {
		const char *name, *row;
		uint32_t tile_n, tile_m, stages;
	} rows[] = { { bf16, "grouped", 64, 128, 4 },
		     { fp8, "grouped_large", 128, 256, 3 },
		     { "MainloopSm100ArrayTmaUmmaWarpSpecializedILi6E", "grouped_any", 64, 128, 4 } };
	struct err e = ERR_INIT;
	struct kernels *k = kernels_load(NULL, &e);

	CHECK_OK(k ? 0 : -1, e);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char name[640];
		struct kernel x;

		snprintf(name, sizeof name, "%s%s", head, rows[i].name);
		x = kernels_match(k, name, "cutlass_grouped");
		CHECK_STR(x.name, rows[i].row);
		CHECK(x.form == KERNEL_GROUPED && x.tile_n == rows[i].tile_n && x.tile_m == rows[i].tile_m &&
		      x.stages == rows[i].stages && x.tile_k && x.cluster_n == 2);
	}
	kernels_free(k);
}

TEST(the_shipped_table_reads_a_products_tile)
{
	struct err e = ERR_INIT;
	char path[4096];
	struct kernels *k;
	struct kernel x;

	snprintf(path, sizeof path, "%s/configs/kernels/cuda.yaml", test_root());
	k = kernels_load(path, &e);
	CHECK_OK(k ? 0 : -1, e);
	x = kernels_match(k, "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", "nvjet");
	CHECK(x.form == KERNEL_PRODUCT);
	CHECK_U64(x.tile_m, 64);
	CHECK_U64(x.tile_n, 8);
	CHECK_U64(x.tile_k, 64);
	CHECK_U64(x.stages, 16);
	CHECK_U64(x.cluster_m, 4);
	CHECK_U64(x.cluster_n, 1);
	CHECK_U64(x.by_columns, 0);
	CHECK_U64(kernels_match(k, "nvjet_sm90_tst_64x32_64x16_1x2_h_bz_TNT", "nvjet").by_columns, 1);
	CHECK(kernels_match(k, "Memset (Device)", NULL).form == KERNEL_SET);
	CHECK(kernels_match(k, "Memcpy DtoH (Device -> Pageable)", NULL).form == KERNEL_COPY);
	kernels_free(k);
}

TEST(defaults_go_by_the_ops_kind_its_tokens_and_what_the_launch_does)
{
	static const char text[] =
		"kernels:\n- {name: a, kernel: '^a$', form: rows}\ndefaults:\n"
		"- {name: join, kinds: [gemm], launch: beside, form: walk, moves: writes}\n"
		"- {name: few, kinds: [gemm, attention], tokens: 4, form: dot, numbers: {unroll: 4}}\n"
		"- {name: many, kinds: [gemm], form: walk, numbers: {tensor: 1}}\n";
	struct err e = ERR_INIT;
	struct kernels *k = kernels_parse(text, strlen(text), "t.yaml", &e);
	struct op o = { .kind = OP_GEMM, .shape = { .m = 4 } };
	struct kernel_number n;

	CHECK_OK(k ? 0 : -1, e);
	CHECK_U64(kernels_count(k), 4);
	CHECK_STR(kernels_match(k, "b", NULL).name, "");
	CHECK_STR(kernels_default(k, &o, false).name, "few");
	CHECK_U64(kernels_default(k, &o, false).unroll, 4);
	CHECK_STR(kernels_default(k, &o, true).name, "join");
	CHECK(kernels_default(k, &o, true).moves == KERNEL_MOVES_WRITES);
	o.shape.m = 5;
	CHECK_STR(kernels_default(k, &o, false).name, "many");
	o = (struct op){ .kind = OP_ATTENTION, .shape = { .m = 5, .q_len = 1 } };
	CHECK_STR(kernels_default(k, &o, false).name, "few");
	CHECK_STR(kernels_default(k, &o, true).name, "");
	o.kind = OP_SORT;
	CHECK(kernels_default(k, &o, false).form == KERNEL_PLAIN);
	CHECK_OK(kernels_number(k, "few", "unroll", &n, &e), e);
	CHECK_U64(n.value, 4);
	kernels_free(k);
	refused("kernels: []\ndefaults: x\n", 2, "list");
	refused("kernels: []\ndefaults:\n- {name: a, kinds: [gemm]}\n", 3, "'form'");
	refused("kernels: []\ndefaults:\n- {name: a, kinds: [gem], form: rows}\n", 3, "'gemm'");
	refused("kernels: []\ndefaults:\n- {name: a, kinds: [gemm], form: rows, launch: man}\n", 3, "'main'");
}

TEST(the_shipped_table_has_a_default_for_every_kind_that_moves_bytes)
{
	struct err e = ERR_INIT;
	char path[4096];
	struct kernels *k;

	snprintf(path, sizeof path, "%s/configs/kernels/cuda.yaml", test_root());
	k = kernels_load(path, &e);
	CHECK_OK(k ? 0 : -1, e);
	for (int kind = 0; kind < OP_KINDS; kind++) {
		struct op o = { .kind = (enum op_kind)kind };

		if (kind == OP_COLLECTIVE || kind == OP_HOST_SYNC || kind == OP_OPAQUE)
			continue;
		CHECK(kernels_default(k, &o, false).form != KERNEL_PLAIN);
		CHECK(kernels_default(k, &o, true).form != KERNEL_PLAIN);
	}
	kernels_free(k);
}

SUITE(t_kernels, T(faults_are_placed_and_name_the_nearest_word), T(groups_are_numbers_or_words_that_stand_there_or_not),
      T(a_row_may_ask_for_the_rule_of_its_op), T(the_shipped_table_reads_the_tile_of_a_grouped_product),
      T(the_shipped_table_reads_a_products_tile), T(defaults_go_by_the_ops_kind_its_tokens_and_what_the_launch_does),
      T(the_shipped_table_has_a_default_for_every_kind_that_moves_bytes));
