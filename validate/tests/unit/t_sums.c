/* t_sums.c - kernels summed by op, layer, stream and family; orders; a filter. */
#include "sim/profile/sums.h"

#include "validate/tests/mktrace.h"

struct bed {
	struct mk m;
	struct rules *rules;
	struct err e;
};

static void up(struct bed *b)
{
	static const char *const mm = "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT";
	struct trace_launch *l;

	memset(b, 0, sizeof *b);
	mk_open(&b->m);
	CHECK((b->rules = rules_load(NULL, &b->e)));
	for (int i = 0; i < 2; i++) {
		mk_kernel(&b->m, mm, "aten::mm", "bf16[5,64] bf16[64,64]");
		mk_kernel(&b->m, "void pytorch_flash::flash_fwd_kernel<x>", "aten::_flash_attention_forward",
		          "bf16[1,5,4,16] bf16[1,5,4,16] bf16[1,5,4,16] - - =5 =5 =0. =True");
		l = mk_kernel(&b->m, mm, "aten::mm", "bf16[5,64] bf16[64,64]");
		l->dur_ns = 5000;
		l->stream = 9;
		mk_kernel(&b->m, "CUDAFunctor_add<c10::BFloat16>", "aten::add", "bf16[5,64] bf16[5,64] =1");
	}
	mk_copy(&b->m, TRACE_COPY_DTOH, 8, false, NULL);
	mk_kernel(&b->m, "no rule knows this", NULL, NULL);
}

static void down(struct bed *b)
{
	rules_free(b->rules);
	mk_close(&b->m);
}

static struct sums of(struct bed *b, enum sums_by by, const char *filter)
{
	struct sums s;

	CHECK_OK(sums_of(&b->m.t, by, filter, b->rules, b->m.a, &s, &b->e), b->e);
	return s;
}

TEST(rows_have_their_kernels_and_copies_are_none)
{
	struct sums s;
	struct bed b;

	up(&b);
	s = of(&b, SUMS_OP, NULL);
	CHECK(s.n == 4 && s.count == 9 && s.ns == 17000);
	CHECK_STR(s.v[0].key, "aten::mm");
	CHECK_STR(s.v[0].family, "gemm");
	CHECK(s.v[0].count == 4 && s.v[0].ns == 12000 && s.v[0].longest_ns == 5000);
	CHECK_STR(s.v[3].key, "");
	CHECK_STR(s.v[3].family, "unknown");
	s = of(&b, SUMS_STREAM, NULL);
	CHECK_U64(s.n, 2);
	CHECK_STR(s.v[0].key, "device 0 stream 9");
	CHECK_U64(s.v[1].ns, 7000);
	s = of(&b, SUMS_FAMILY, NULL);
	CHECK_U64(s.n, 4);
	down(&b);
}

/* A filter takes no attention away before layers are counted by it. */
TEST(layers_are_of_the_whole_trace_whatever_passes)
{
	struct sums all, products;
	struct bed b;

	up(&b);
	all = of(&b, SUMS_LAYER, NULL);
	products = of(&b, SUMS_LAYER, "^nvjet");
	CHECK(all.n >= 2 && products.n >= 2);
	CHECK_U64(products.count, 4);
	CHECK_U64(products.ns, 12000);
	down(&b);
}

TEST(a_filter_looks_at_names_and_families_blind_to_case)
{
	struct bed b;

	up(&b);
	CHECK_U64(of(&b, SUMS_OP, "GEMM|functor_add").n, 2);
	CHECK(sums_of(&b.m.t, SUMS_OP, "nothing like it", b.rules, b.m.a, &(struct sums){ 0 }, &b.e) == -1);
	CHECK_HAS(b.e.msg, "no kernel in 'by hand' has 'nothing like it'");
	err_clear(&b.e);
	CHECK(sums_of(&b.m.t, SUMS_OP, "(", b.rules, b.m.a, &(struct sums){ 0 }, &b.e) == -1);
	CHECK_HAS(b.e.msg, "no regular expression");
	err_clear(&b.e);
	CHECK_OK(sums_filter(&b.m.t, "attention", b.rules, &b.e), b.e);
	CHECK_U64(b.m.t.n_launches, 2);
	down(&b);
}

TEST(orders_and_their_names)
{
	const struct sums_value a = { "a", 10, 1000, 150 }, z = { "z", 2, 900, 800 };
	enum sums_order o;
	enum sums_by by;
	struct err e = { 0 };

	CHECK(sums_compare(SUMS_TOTAL, &a, &z) < 0);
	CHECK(sums_compare(SUMS_COUNT, &a, &z) < 0);
	CHECK(sums_compare(SUMS_MEAN, &a, &z) > 0);
	CHECK(sums_compare(SUMS_LONGEST, &a, &z) > 0);
	CHECK(sums_compare(SUMS_NAME, &a, &z) < 0);
	CHECK_OK(sums_order_parse("longest", &o, &e), e);
	CHECK(o == SUMS_LONGEST);
	CHECK_OK(sums_order_parse(NULL, &o, &e), e);
	CHECK(o == SUMS_TOTAL);
	CHECK(sums_order_parse("longst", &o, &e) == -1);
	CHECK_HAS(e.msg, "did you mean 'longest'");
	err_clear(&e);
	CHECK(sums_parse("layers", &by, &e) == -1);
	CHECK_HAS(e.msg, "did you mean 'layer'");
}

SUITE(t_sums, T(rows_have_their_kernels_and_copies_are_none), T(layers_are_of_the_whole_trace_whatever_passes),
      T(a_filter_looks_at_names_and_families_blind_to_case), T(orders_and_their_names));
