/* t_scale.c - measured steps asked at another batch and context: against one that was measured there, and what is refused. */
#include "sim/build/scale.h"

#include "sim/build/build.h"
#include "sim/lower/lower.h"
#include "traces/read/format.h"
#include "validate/tests/stepbed.h"
#include "workloads/work.h"

static void scaled(struct step *x, uint64_t batch, uint64_t context, struct op_stream *out)
{
	struct scale_step was;

	CHECK_OK(scale_stream(&x->s, (struct scale_step){ batch, context, 0 }, x->b.a, out, &was, &x->b.e), x->b.e);
	CHECK_OK(lower_check(out, &x->b.e), x->b.e);
}

/* Op by op: kind, work, and the grid of what the framework lays out. */
static void same_ops(const struct op_stream *a, const struct op_stream *b)
{
	CHECK_U64(a->n_ops, b->n_ops);
	for (size_t i = 0; i < a->n_ops && i < b->n_ops; i++) {
		const struct op *x = &a->ops[i], *y = &b->ops[i];
		const struct work v = work_of(a, x), w = work_of(b, y);

		CHECK(x->kind == y->kind);
		CHECK_U64(v.flops, w.flops);
		CHECK_U64(v.read_bytes, w.read_bytes);
		CHECK_U64(v.write_bytes, w.write_bytes);
		CHECK_U64(v.role_read_bytes[OP_KV], w.role_read_bytes[OP_KV]);
		CHECK_STR(x->name, y->name);
	}
}

static void same_grids(const struct op_stream *a, const struct op_stream *b)
{
	for (size_t i = 0; i < a->n_ops && i < b->n_ops; i++) {
		const struct op_launch *l = &a->launches[a->ops[i].first_launch],
				       *k = &b->launches[b->ops[i].first_launch];

		if (a->ops[i].kind == OP_GEMM || a->ops[i].kind == OP_ATTENTION)
			continue;
		for (int d = 0; d < 3; d++) {
			CHECK_U64(l->grid[d], k->grid[d]);
			CHECK_U64(l->block[d], k->block[d]);
		}
	}
}

/* Llama-3-8B on an H200, batch 1 behind 2,048 tokens and batch 16 behind 512: one from the other, both ways. */
TEST(a_step_of_one_sequence_becomes_the_measured_one_of_sixteen_to_the_byte)
{
	struct step one, many;
	struct op_stream up, down;

	take(&one, "h200/steps/kineto_llama8b_b1_c2048.json.gz", "decode_step_1");
	take(&many, "h200/steps/kineto_llama8b_b16_c512.json.gz", "decode_step_1");
	scaled(&one, 16, 512, &up);
	same_ops(&up, &many.s);
	same_grids(&up, &many.s);
	scaled(&many, 1, 2048, &down);
	same_ops(&down, &one.s);
	drop(&one);
	drop(&many);
}

TEST(what_is_asked_as_it_was_is_what_was_measured)
{
	struct step x;
	struct op_stream s;

	take(&x, "h200/kineto_dsocr_b1_c1024.json.gz", "decode_step_1");
	scaled(&x, 0, 0, &s);
	same_ops(&s, &x.s);
	same_grids(&s, &x.s);
	CHECK_U64(s.n_launches, x.s.n_launches);
	CHECK_U64(s.measured_ns, 0);
	scaled(&x, 1, 4096, &s); /* experts are no matter where the batch stays */
	CHECK_U64(s.n_ops, x.s.n_ops);
	drop(&x);
}

/* Of a cache that grows: keys and values of 3,072 tokens more, 10 heads of 128 in 12 layers, read by attention. */
TEST(a_longer_context_reads_more_cache_and_no_more_of_anything_else)
{
	uint64_t was = 0, is = 0, kv = 0;
	struct step x;
	struct op_stream s;

	take(&x, "h200/kineto_dsocr_b1_c1024.json.gz", "decode_step_1");
	scaled(&x, 0, 4096, &s);
	for (size_t i = 0; i < s.n_ops; i++) {
		const struct work v = work_of(&x.s, &x.s.ops[i]), w = work_of(&s, &s.ops[i]);

		was += v.read_bytes - v.role_read_bytes[OP_KV];
		is += w.read_bytes - w.role_read_bytes[OP_KV];
		if (s.ops[i].kind == OP_ATTENTION)
			kv += w.role_read_bytes[OP_KV] - v.role_read_bytes[OP_KV];
	}
	CHECK_U64(is, was);
	CHECK_U64(kv, UINT64_C(12) * 2 * 3072 * 10 * 128 * 2);
	drop(&x);
}

static void refused(const struct op_stream *s, struct arena *a, struct scale_step to, const char *why)
{
	struct err e = ERR_INIT;
	struct scale_step was;
	struct op_stream out;

	CHECK(scale_stream(s, to, a, &out, &was, &e) == -1);
	CHECK(e.kind == ERR_CONFIG);
	CHECK_HAS(e.msg, why);
}

static void built(const char *model, enum build_phase phase, struct arena *a, struct model **m, struct op_stream *s)
{
	struct build_how how = { .phase = phase, .style = BUILD_EAGER, .batch = 4, .context = 1024, .tokens = 1 };
	struct err e = ERR_INIT;

	*m = model_load(model, &e);
	CHECK_OK(*m ? 0 : -1, e);
	how.kv = (*m)->dtype;
	how.quant = scheme_find("bf16", &e);
	how.tokens = phase == BUILD_PREFILL ? 8 : 1;
	CHECK_OK(build_stream(*m, &how, a, s, &e), e);
}

TEST(what_cannot_be_scaled_is_refused_with_its_reason)
{
	const struct scale_step eight = { 8, 0, 0 };
	struct arena *a = arena_new(0);
	struct model *m;
	struct op_stream s;

	built("deepseek-ocr", BUILD_DECODE, a, &m, &s);
	refused(&s, a, (struct scale_step){ 0, 2048, 500 }, "'--skew' is how a batch");
	s.ops[s.routes[0].topk_op].shape.top = 7;
	refused(&s, a, eight, "rows, and its 4 sequences pick 28");
	model_free(m);
	built("llama-3.2-1b", BUILD_DECODE, a, &m, &s);
	refused(&s, a, (struct scale_step){ 8, 0, 500 }, "picks no experts");
	model_free(m);
	built("llama-3.2-1b", BUILD_PREFILL, a, &m, &s);
	refused(&s, a, eight, "8 queries a sequence");
	model_free(m);
	built("gemma-3-1b", BUILD_DECODE, a, &m, &s);
	refused(&s, a, eight, "windows");
	model_free(m);
	built("llama-3.2-1b", BUILD_DECODE, a, &m, &s);
	s.ops[3].listed = true;
	refused(&s, a, eight, "a table of ops");
	s.ops[3].listed = false;
	s.ops[3].kind = OP_OPAQUE;
	refused(&s, a, eight, "known by its time alone");
	s.n_ops = 2;
	s.ops[1].kind = OP_ELEMENTWISE;
	refused(&s, a, eight, "no attention");
	model_free(m);
	arena_free(a);
}

TEST(built_steps_scale_to_what_is_built_at_that_batch)
{
	struct arena *a = arena_new(0);
	struct model *m, *n;
	struct op_stream s, out, at;
	struct scale_step was;
	struct err e = ERR_INIT;
	struct build_how how = { .style = BUILD_EAGER, .batch = 12, .context = 300, .tokens = 1 };

	built("llama-3.2-1b", BUILD_DECODE, a, &m, &s);
	CHECK_OK(scale_stream(&s, (struct scale_step){ 12, 300, 0 }, a, &out, &was, &e), e);
	CHECK_U64(was.batch, 4);
	CHECK_U64(was.context, 1024);
	n = model_load("llama-3.2-1b", &e);
	how.kv = n->dtype;
	how.quant = scheme_find("bf16", &e);
	CHECK_OK(build_stream(n, &how, a, &at, &e), e);
	same_ops(&out, &at);
	model_free(m);
	model_free(n);
	arena_free(a);
}

static void built_at(const char *model, uint32_t batch, uint32_t skew, struct arena *a, struct model **m,
                     struct op_stream *s)
{
	struct build_how how = { .style = BUILD_EAGER, .batch = batch, .context = 1024, .tokens = 1, .skew = skew };
	struct err e = ERR_INIT;

	*m = model_load(model, &e);
	CHECK_OK(*m ? 0 : -1, e);
	how.kv = (*m)->dtype;
	how.quant = scheme_find("bf16", &e);
	CHECK_OK(build_stream(*m, &how, a, s, &e), e);
}

static uint64_t bytes_of_experts(const struct op_stream *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_operands; i++)
		if (s->tensors[s->operands[i].tensor].route >= 0)
			n += s->operands[i].touched;
	return n;
}

/* DeepSeek-OCR measured at batch 1: 11 routers of 64 experts, of which a token picks 6, each three products of 1,280 x
 * 896. Of B tokens 64 (1 - (58/64)^B) different ones are expected: 11.44, 49.26 and 63.9 of them. */
TEST(another_batch_picks_other_experts_and_as_many_as_are_expected)
{
	const struct {
		uint64_t batch, hit;
	} at[] = { { 1, 6 }, { 2, 11 }, { 4, 21 }, { 16, 51 }, { 64, 64 } };
	struct step x;

	take(&x, "h200/kineto_dsocr_b1_c1024.json.gz", "decode_step_1");
	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		uint64_t rows = 0, products = 0;
		struct op_stream s;

		scaled(&x, at[i].batch, 0, &s);
		for (size_t k = 0; k < s.n_ops; k++)
			if (s.ops[k].routed_by == 0) {
				rows += s.ops[k].shape.m;
				products++;
			}
		CHECK_U64(s.routes[0].top, at[i].hit);
		CHECK_U64(products, 3 * at[i].hit);
		CHECK_U64(rows, 3 * 6 * at[i].batch);
		CHECK_U64(bytes_of_experts(&s), 11 * 3 * at[i].hit * 1280 * 896 * 2);
		CHECK_U64(s.n_ops, x.s.n_ops + 11 * 5 * (at[i].hit - 6));
	}
	drop(&x);
}

/* The measured step, and a built one of four sequences, become what is built at 16, at 1 and with skewed picks. */
TEST(experts_scale_to_what_is_built_at_that_batch)
{
	const struct {
		uint32_t batch, skew;
	} to[] = { { 16, 0 }, { 1, 0 }, { 3, 0 }, { 16, 800 } };
	struct arena *a = arena_new(0);
	struct model *m, *n;
	struct op_stream s, out, at;
	struct scale_step was;
	struct err e = ERR_INIT;
	struct step x;

	take(&x, "h200/kineto_dsocr_b1_c1024.json.gz", "decode_step_1");
	built("deepseek-ocr", BUILD_DECODE, a, &m, &s);
	for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
		built_at("deepseek-ocr", to[i].batch, to[i].skew, a, &n, &at);
		CHECK_OK(scale_stream(&s, (struct scale_step){ to[i].batch, 0, to[i].skew }, a, &out, &was, &e), e);
		CHECK_OK(lower_check(&out, &e), e);
		same_ops(&out, &at);
		if (to[i].batch != 1) {
			CHECK_OK(scale_stream(&x.s, (struct scale_step){ to[i].batch, 0, to[i].skew }, a, &out, &was,
			                      &e),
			         e);
			CHECK_U64(bytes_of_experts(&out), bytes_of_experts(&at));
			CHECK_U64(out.routes[3].top, at.routes[3].top);
		}
		model_free(n);
	}
	model_free(m);
	arena_free(a);
	drop(&x);
}

TEST(memory_that_runs_out_is_an_error)
{
	struct arena *a = arena_new(0);
	struct model *m;
	struct op_stream s, out;
	struct scale_step was;

	built("deepseek-ocr", BUILD_DECODE, a, &m, &s);
	for (size_t limit = 1000; limit < 4000000; limit *= 3) {
		struct arena *small = arena_new(limit);
		struct err e = ERR_INIT;

		if (scale_stream(&s, (struct scale_step){ 16, 0, 0 }, small, &out, &was, &e) < 0)
			CHECK(e.kind == ERR_NOMEM);
		arena_free(small);
	}
	model_free(m);
	arena_free(a);
}

SUITE(t_scale, SLOW(a_step_of_one_sequence_becomes_the_measured_one_of_sixteen_to_the_byte),
      T(what_is_asked_as_it_was_is_what_was_measured),
      T(a_longer_context_reads_more_cache_and_no_more_of_anything_else),
      T(what_cannot_be_scaled_is_refused_with_its_reason), T(built_steps_scale_to_what_is_built_at_that_batch),
      T(another_batch_picks_other_experts_and_as_many_as_are_expected), T(experts_scale_to_what_is_built_at_that_batch),
      T(memory_that_runs_out_is_an_error));
