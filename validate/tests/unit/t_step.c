/* t_step.c - steps of several requests: what their groups share, and what each has of its own. */
#include "sim/build/build.h"
#include "sim/lower/lower.h"
#include "validate/tests/test.h"
#include "workloads/work.h"

struct built {
	struct arena *a;
	struct model *m;
	struct build_how how;
	struct op_stream s;
	struct err e;
};

static void take(struct built *x, const char *name, enum build_style style)
{
	*x = (struct built){ .a = arena_new(0), .e = ERR_INIT };
	x->m = model_load(name, &x->e);
	CHECK_OK(x->m ? 0 : -1, x->e);
	x->how = (struct build_how){ .phase = BUILD_STEP, .style = style, .kv = x->m->dtype };
	x->how.quant = scheme_find("bf16", &x->e);
}

static void make(struct built *x, const struct build_group *g, uint32_t n)
{
	x->how.groups = g;
	x->how.n_groups = n;
	CHECK_OK(build_stream(x->m, &x->how, x->a, &x->s, &x->e), x->e);
	CHECK_OK(lower_check(&x->s, &x->e), x->e);
}

static void drop(struct built *x)
{
	model_free(x->m);
	arena_free(x->a);
}

struct sums {
	uint64_t ops, macs, read, written, weights, kv, index;
};

static struct sums sum(const struct op_stream *s, enum op_kind kind)
{
	struct sums x = { 0 };

	for (size_t i = 0; i < s->n_ops; i++) {
		const struct work w = work_of(s, &s->ops[i]);

		if (s->ops[i].kind != kind)
			continue;
		x.ops++;
		x.macs += w.macs;
		x.read += w.read_bytes;
		x.written += w.write_bytes;
		x.weights += w.role_read_bytes[OP_WEIGHT];
		x.kv += w.role_read_bytes[OP_KV];
		x.index += w.role_read_bytes[OP_INDEX];
	}
	return x;
}

static bool same(const struct sums *a, const struct sums *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

/* A step of one group is what the phases decode and prefill have been all along. */
static void one_group(const char *model, enum build_style style, struct build_group g)
{
	struct built step, phase;

	take(&step, model, style);
	make(&step, &g, 1);
	take(&phase, model, style);
	phase.how.phase = g.prompt ? BUILD_PREFILL : BUILD_DECODE;
	phase.how.batch = g.batch;
	phase.how.context = g.context;
	phase.how.tokens = g.tokens;
	make(&phase, NULL, 0);
	CHECK_U64(step.s.n_ops, phase.s.n_ops);
	for (int k = 0; k < OP_KINDS; k++) {
		const struct sums a = sum(&step.s, (enum op_kind)k), b = sum(&phase.s, (enum op_kind)k);

		/* rope's table has a row for each token of the step; a prompt's sequences share it */
		CHECK(same(&a, &b) || (g.prompt && g.batch > 1 && k == OP_ROPE));
	}
	drop(&step);
	drop(&phase);
}

TEST(a_step_of_one_group_is_the_phase_of_that_name)
{
	for (int style = BUILD_FUSED; style <= BUILD_NPU; style++) {
		one_group("llama-3.1-8b", (enum build_style)style, (struct build_group){ 5, 1, 777, false });
		one_group("llama-3.1-8b", (enum build_style)style, (struct build_group){ 1, 300, 0, true });
		one_group("deepseek-ocr", (enum build_style)style, (struct build_group){ 3, 1, 100, false });
		one_group("deepseek-v3", (enum build_style)style, (struct build_group){ 2, 64, 128, true });
	}
}

/* Products are of all rows and read each weight once; each group attends to its own cache. */
TEST(groups_share_products_and_have_attention_each)
{
	static const struct build_group both[] = { { 6, 1, 1000, false }, { 1, 250, 512, true } };
	static const struct build_group rows[] = { { 256, 1, 0, false } };
	struct built mixed, decode, prompt, all;

	take(&mixed, "llama-3.1-8b", BUILD_NPU);
	make(&mixed, both, 2);
	take(&decode, "llama-3.1-8b", BUILD_NPU);
	make(&decode, &both[0], 1);
	take(&prompt, "llama-3.1-8b", BUILD_NPU);
	make(&prompt, &both[1], 1);
	take(&all, "llama-3.1-8b", BUILD_NPU);
	make(&all, rows, 1);
	const struct sums a = sum(&mixed.s, OP_ATTENTION), d = sum(&decode.s, OP_ATTENTION),
			  p = sum(&prompt.s, OP_ATTENTION), g = sum(&mixed.s, OP_GEMM), w = sum(&all.s, OP_GEMM);
	CHECK_U64(a.ops, d.ops + p.ops);
	CHECK_U64(a.macs, d.macs + p.macs);
	CHECK_U64(a.kv, d.kv + p.kv);
	CHECK_U64(a.read, d.read + p.read);
	CHECK_U64(a.written, d.written + p.written);
	CHECK_U64(g.ops, w.ops);
	CHECK_U64(g.weights, w.weights);
	CHECK_U64(mixed.m->vocab * (uint64_t)mixed.m->hidden * (256 - 7), w.macs - g.macs); /* seven rows of logits */
	CHECK_U64(build_tokens(&mixed.how), 256);
	drop(&mixed);
	drop(&decode);
	drop(&prompt);
	drop(&all);
}

/* What lets a server's step say its sequences' mean length: attention to a cache is linear in it. */
TEST(lengths_of_a_group_may_be_said_by_their_mean)
{
	static const struct build_group apart[] = {
		{ 1, 1, 100, false }, { 1, 1, 900, false }, { 1, 1, 2300, false }, { 1, 1, 700, false }
	};
	static const struct build_group mean = { 4, 1, 1000, false };
	struct built x, y;

	for (int mla = 0; mla < 2; mla++) {
		take(&x, mla ? "deepseek-v3" : "llama-3.1-8b", BUILD_FUSED);
		make(&x, apart, 4);
		take(&y, mla ? "deepseek-v3" : "llama-3.1-8b", BUILD_FUSED);
		make(&y, &mean, 1);
		struct sums a = sum(&x.s, OP_ATTENTION), b = sum(&y.s, OP_ATTENTION);
		CHECK_U64(a.ops, 4 * b.ops);
		a.ops = b.ops;
		CHECK(same(&a, &b));
		drop(&x);
		drop(&y);
	}
}

/* Drafted tokens are more rows of each sequence, and each asks for logits. */
TEST(tokens_to_check_are_rows_with_logits_each)
{
	static const struct build_group plain = { 4, 1, 1000, false }, check = { 4, 5, 996, false };
	struct built x, y;

	take(&x, "llama-3.1-8b", BUILD_NPU);
	make(&x, &plain, 1);
	take(&y, "llama-3.1-8b", BUILD_NPU);
	make(&y, &check, 1);
	CHECK_U64(sum(&y.s, OP_GEMM).macs, 5 * sum(&x.s, OP_GEMM).macs);
	CHECK_U64(sum(&y.s, OP_GEMM).weights, sum(&x.s, OP_GEMM).weights);
	CHECK_U64(sum(&y.s, OP_ATTENTION).kv, sum(&x.s, OP_ATTENTION).kv); /* 1,001 keys of each, both times */
	drop(&x);
	drop(&y);
}

/* 33 blocks of 32 tokens each hold 1,025 to 1,056 keys; one entry each, once a layer. */
TEST(a_paged_cache_has_an_entry_a_block)
{
	static const struct build_group g[] = { { 3, 1, 1024, false }, { 1, 64, 0, true } };
	struct built x, y;

	take(&x, "llama-3.1-8b", BUILD_NPU);
	make(&x, g, 2);
	take(&y, "llama-3.1-8b", BUILD_NPU);
	y.how.block = 32;
	y.how.entry = 8;
	make(&y, g, 2);
	CHECK_U64(sum(&x.s, OP_ATTENTION).index, 0);
	CHECK_U64(sum(&y.s, OP_ATTENTION).index, 32u * (3 * 33 + 2) * 8);
	CHECK_U64(sum(&y.s, OP_ATTENTION).kv, sum(&x.s, OP_ATTENTION).kv);
	drop(&x);
	drop(&y);
}

TEST(every_shipped_model_builds_a_step_or_says_why_not)
{
	static const struct build_group g[] = { { 3, 2, 70, false }, { 1, 33, 0, true }, { 2, 17, 48, true } };
	char **names;
	size_t n, built = 0;
	struct err e = ERR_INIT;

	CHECK_OK(model_list(&names, &n, &e), e);
	for (size_t i = 0; i < n; i++)
		for (int style = BUILD_FUSED; style <= BUILD_NPU; style++) {
			struct built x;

			take(&x, names[i], (enum build_style)style);
			x.how.groups = g;
			x.how.n_groups = 3;
			x.how.layers = x.m->layers < 5 ? x.m->layers : 5;
			x.how.block = 16;
			x.how.entry = 4;
			if (build_check(x.m, &x.how, &x.e) == 0) {
				CHECK_OK(build_stream(x.m, &x.how, x.a, &x.s, &x.e), x.e);
				CHECK_OK(lower_check(&x.s, &x.e), x.e);
				built++;
			}
			drop(&x);
		}
	CHECK(built > n);
	model_list_free(names, n);
}

TEST(a_step_that_is_none_is_refused)
{
	static const struct build_group none = { 0, 1, 10, false }, longer = { 1, 2, 131071, false };
	struct built x;

	take(&x, "llama-3.1-8b", BUILD_EAGER);
	x.how.groups = &none;
	x.how.n_groups = 1;
	CHECK(build_check(x.m, &x.how, &x.e) < 0);
	CHECK_HAS(x.e.msg, "styles fused and npu");
	err_clear(&x.e);
	x.how.style = BUILD_NPU;
	CHECK(build_check(x.m, &x.how, &x.e) < 0);
	CHECK_HAS(x.e.msg, "no part of a step");
	err_clear(&x.e);
	x.how.n_groups = 0;
	CHECK(build_check(x.m, &x.how, &x.e) < 0);
	CHECK_HAS(x.e.msg, "without a sequence");
	err_clear(&x.e);
	x.how.groups = &longer;
	x.how.n_groups = 1;
	CHECK(build_check(x.m, &x.how, &x.e) < 0);
	CHECK_HAS(x.e.msg, "131072");
	drop(&x);
}

SUITE(t_step, SLOW(a_step_of_one_group_is_the_phase_of_that_name), T(groups_share_products_and_have_attention_each),
      T(lengths_of_a_group_may_be_said_by_their_mean), T(tokens_to_check_are_rows_with_logits_each),
      T(a_paged_cache_has_an_entry_a_block), T(every_shipped_model_builds_a_step_or_says_why_not),
      T(a_step_that_is_none_is_refused));
