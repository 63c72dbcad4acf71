/* t_attend.c - algorithms of attention by name: what is counted in closed form is what a model's ops do. */
#include "sim/build/build.h"
#include "sim/lower/lower.h"
#include "validate/tests/test.h"
#include "workloads/work.h"

#include <string.h>

struct bed {
	struct model *m;
	struct arena *a;
	struct op_stream s;
	struct build_how how;
	struct err e;
};

/* One layer as an NPU's mapper takes it. */
static void up(struct bed *b, const char *model, enum build_phase phase, uint32_t batch, uint64_t n)
{
	*b = (struct bed){ .e = ERR_INIT, .a = arena_new(0) };
	CHECK(b->a && (b->m = model_load(model, &b->e)));
	b->how = (struct build_how){ .phase = phase,
		                     .style = BUILD_NPU,
		                     .batch = batch,
		                     .context = phase == BUILD_DECODE ? n : 0,
		                     .tokens = phase == BUILD_DECODE ? 1 : n,
		                     .quant = scheme_find("bf16", &b->e),
		                     .kv = DT_BF16,
		                     .layers = 1 };
}

static void down(struct bed *b)
{
	model_free(b->m);
	arena_free(b->a);
}

static int build(struct bed *b, enum attend_way w)
{
	b->how.attend = w;
	return build_check(b->m, &b->how, &b->e) == 0 ? build_stream(b->m, &b->how, b->a, &b->s, &b->e) : -1;
}

static struct attend_shape shape_of(const struct bed *b)
{
	const struct model_heads h = model_heads_of(b->m, 0);
	const struct model_mla *l = &b->m->mla;
	struct attend_shape s = { .batch = b->how.batch,
		                  .heads = h.heads,
		                  .kv_heads = h.kv_heads,
		                  .q_len = b->how.tokens,
		                  .kv_len = b->how.context + b->how.tokens,
		                  .dim = h.dim,
		                  .v_dim = h.v_dim,
		                  .causal = b->how.tokens > 1,
		                  .bits = 16,
		                  .kv_bits = 16,
		                  .weight_bits = 16 };

	if (l->kv_rank)
		s.rank = l->kv_rank, s.rope = l->rope, s.nope = l->nope;
	return s;
}

/* All that stands between the queries and the product behind attention. */
static bool is_attention(const struct op *o)
{
	return o->kind == OP_ATTENTION || o->kind == OP_SOFTMAX || (o->kind == OP_GEMM && o->shape.batch > 1) ||
	       (o->kind == OP_REDUCE && o->reduce == OP_RED_SUM);
}

static struct attend_count counted(const struct bed *b)
{
	struct attend_count c = { .ops = 0 };

	for (size_t i = 0; i < b->s.n_ops; i++) {
		const struct work w = work_of(&b->s, &b->s.ops[i]);

		if (!is_attention(&b->s.ops[i]))
			continue;
		c.ops++;
		c.macs += w.macs;
		c.read += w.read_bytes;
		c.write += w.write_bytes;
	}
	return c;
}

static void same(struct bed *b, enum attend_way w)
{
	const struct attend_shape s = shape_of(b);
	const struct attend_count want = attend_count(w, &s);
	struct attend_count got;

	CHECK(build(b, w) == 0 && lower_check(&b->s, &b->e) == 0);
	got = counted(b);
	CHECK_U64(got.ops, want.ops);
	CHECK_U64(got.macs, want.macs);
	CHECK_U64(got.read, want.read);
	CHECK_U64(got.write, want.write);
}

TEST(ops_bytes_and_products_are_those_of_the_closed_form)
{
	static const char *const models[] = { "llama-3.2-1b", "qwen2.5-7b", "tinyllama-1.1b" };
	static const uint64_t decode[] = { 1, 511, 2000 }, prompts[] = { 2, 100, 700 };

	for (size_t m = 0; m < sizeof models / sizeof *models; m++)
		for (size_t i = 0; i < 6; i++) {
			struct bed b;

			up(&b, models[m], i < 3 ? BUILD_DECODE : BUILD_PREFILL, 1 + (uint32_t)i % 3,
			   i < 3 ? decode[i] : prompts[i - 3]);
			for (int w = ATTEND_FLASH; w <= ATTEND_MATERIALISED; w++)
				same(&b, (enum attend_way)w);
			down(&b);
		}
}

TEST(a_latent_is_multiplied_as_it_is_cached)
{
	struct bed b;

	up(&b, "deepseek-v2-lite", BUILD_DECODE, 3, 1000);
	same(&b, ATTEND_MLA);
	down(&b);
	up(&b, "deepseek-v2-lite", BUILD_PREFILL, 2, 300);
	same(&b, ATTEND_MLA);
	down(&b);
}

/* By hand: 4 heads of 8, 2 of keys, one query past 1024 keys, in 16 bits. */
TEST(counts_by_hand)
{
	const struct attend_shape s = { .batch = 1,
		                        .heads = 4,
		                        .kv_heads = 2,
		                        .q_len = 1,
		                        .kv_len = 1024,
		                        .dim = 8,
		                        .v_dim = 8,
		                        .bits = 16,
		                        .kv_bits = 16 };
	const struct attend_count f = attend_count(ATTEND_FLASH, &s), m = attend_count(ATTEND_MATERIALISED, &s),
				  k = attend_count(ATTEND_SPLIT_KV, &s);

	CHECK_U64(f.macs, 4 * 1024 * 16);
	CHECK_U64(f.read, 4 * 8 * 2 + 2 * 2 * 1024 * 8 * 2);
	CHECK_U64(f.write, 4 * 8 * 2);
	CHECK_U64(f.buffer, 0);
	CHECK_U64(m.macs, f.macs);
	CHECK_U64(m.buffer, 2 * 4 * 1024 * 2);
	CHECK_U64(m.read, f.read + m.buffer);
	/* Two parts: queries twice; 4 rows of 8 sums, a maximum and a sum in fp32, of each. */
	CHECK_U64(k.ops, 3);
	CHECK_U64(k.buffer, 2 * 4 * 10 * 4);
	CHECK_U64(k.read, f.read + 4 * 8 * 2 + k.buffer);
	CHECK_U64(k.write, f.write + k.buffer);
}

TEST(a_causal_mask_spares_flash_half_and_materialised_nothing)
{
	const struct attend_shape s = { .batch = 1,
		                        .heads = 1,
		                        .kv_heads = 1,
		                        .q_len = 100,
		                        .kv_len = 100,
		                        .dim = 4,
		                        .v_dim = 4,
		                        .causal = true,
		                        .bits = 16,
		                        .kv_bits = 16 };

	CHECK_U64(attend_count(ATTEND_FLASH, &s).macs, 100 * 101 / 2 * 8);
	CHECK_U64(attend_count(ATTEND_MATERIALISED, &s).macs, 100 * 100 * 8);
}

TEST(parts_cover_the_keys)
{
	CHECK_U64(attend_parts(1, 1), 1);
	CHECK_U64(attend_parts(1, 512), 1);
	CHECK_U64(attend_parts(1, 513), 2);
	CHECK_U64(attend_parts(1, 1 << 20), ATTEND_PARTS);
	CHECK_U64(attend_parts(64, 1 << 20), 1);
	for (uint64_t n = 1; n < 9000; n += 7) {
		const uint64_t parts = attend_parts(1, n);

		CHECK_U64(attend_part_from(n, parts, 0), 0);
		CHECK_U64(attend_part_from(n, parts, parts), n);
		for (uint64_t i = 0; i < parts; i++)
			CHECK(attend_part_from(n, parts, i) < attend_part_from(n, parts, i + 1));
	}
}

/* Unasked, nothing changes: decode over a latent is absorbed, a prompt expands it. */
TEST(by_default_a_latent_is_absorbed_in_decode_alone)
{
	struct bed b;

	up(&b, "deepseek-v2-lite", BUILD_DECODE, 1, 64);
	CHECK(build(&b, ATTEND_OWN) == 0);
	CHECK_U64(counted(&b).ops, 3);
	CHECK(build(&b, ATTEND_FLASH) == 0);
	CHECK_U64(counted(&b).ops, 1);
	down(&b);
	up(&b, "deepseek-v2-lite", BUILD_PREFILL, 1, 64);
	CHECK(build(&b, ATTEND_OWN) == 0);
	CHECK_U64(counted(&b).ops, 1);
	down(&b);
}

TEST(what_a_model_or_style_cannot_do_is_refused)
{
	struct bed b;

	up(&b, "llama-3.2-1b", BUILD_DECODE, 1, 64);
	CHECK(build(&b, ATTEND_MLA) < 0 && b.e.kind == ERR_USAGE && strstr(b.e.msg, "over a latent"));
	err_clear(&b.e);
	b.how.style = BUILD_LLAMACPP;
	CHECK(build(&b, ATTEND_FLASH) < 0 && b.e.kind == ERR_USAGE && strstr(b.e.msg, "its own way"));
	down(&b);
}

SUITE(t_attend, T(ops_bytes_and_products_are_those_of_the_closed_form), T(a_latent_is_multiplied_as_it_is_cached),
      T(counts_by_hand), T(a_causal_mask_spares_flash_half_and_materialised_nothing), T(parts_cover_the_keys),
      T(by_default_a_latent_is_absorbed_in_decode_alone), T(what_a_model_or_style_cannot_do_is_refused));
