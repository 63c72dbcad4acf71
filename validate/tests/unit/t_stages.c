/* t_stages.c - an answer by its stages: by attention, by annotations, and each one's sums under a roof. */
#include <math.h>

#include "sim/profile/stages.h"
#include "validate/tests/mktrace.h"

#define HEADS(b, q, k, h, kv) \
	"bf16[" b "," q "," h ",64] bf16[" b "," k "," kv ",64] bf16[" b "," k "," kv ",64] - - =1 =1 =0. "

static const struct roof roof = {
	.name = "by hand", .bandwidth = 4e12, .effective = 4e12, .flops = { 60e12, 400e12, 800e12, 1600e12, NAN }
};

struct bed {
	struct mk m;
	struct rules *rules;
	struct err e;
};

static void up(struct bed *b)
{
	memset(b, 0, sizeof *b);
	mk_open(&b->m);
	CHECK((b->rules = rules_load(NULL, &b->e)));
}

static void down(struct bed *b)
{
	rules_free(b->rules);
	mk_close(&b->m);
}

static void look(struct bed *b, struct stages *s)
{
	const struct roof_rule rule = ROOF_RULE;
	const struct bound_criteria by = { .rules = b->rules, .roof = &roof, .rule = &rule };
	uint64_t launches = 0;

	CHECK_OK(stages_of(&b->m.t, &by, b->m.a, s, &b->e), b->e);
	for (int i = 0; i < STAGES; i++)
		launches += s->row[i].launches;
	CHECK_U64(launches, b->m.t.n_launches);
}

static void product(struct bed *b, const char *args)
{
	mk_kernel(&b->m, "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", "aten::mm", args);
}

static void attention(struct bed *b, const char *args, const char *causal)
{
	mk_kernel(&b->m, "void pytorch_flash::flash_fwd_kernel<x>", "aten::_flash_attention_forward",
	          arena_printf(b->m.a, "%s%s", args, causal));
}

static void lookup(struct bed *b, const char *args)
{
	mk_kernel(&b->m, "void at::native::(anonymous namespace)::indexSelectSmallIndex<x>", "aten::embedding", args);
}

static void vision(struct bed *b)
{
	for (int i = 0; i < 2; i++) {
		product(b, "bf16[257,1024] bf16[1024,1024]");
		attention(b, HEADS("1", "257", "257", "16", "16"), "=False");
		product(b, "bf16[257,1024] bf16[1024,4096]");
	}
}

static void step(struct bed *b, const char *rows, const char *tokens, const char *heads, const char *causal)
{
	lookup(b, tokens);
	for (int i = 0; i < 2; i++) {
		product(b, rows);
		attention(b, heads, causal);
		product(b, rows);
	}
}

static void decode(struct bed *b)
{
	step(b, "bf16[1,512] bf16[512,512]", "bf16[32000,512] i64[1,1]", HEADS("1", "1", "301", "8", "8"), "=False");
	product(b, "bf16[1,512] bf16[512,32000]");
}

/* A picture, its prompt, three tokens: 7, 5, 1 for the last row of the prompt, 3 of 7. */
static void answer(struct bed *b, const char *causal)
{
	vision(b);
	step(b, "bf16[300,512] bf16[512,512]", "bf16[32000,512] i64[1,300]", HEADS("1", "300", "300", "8", "8"),
	     causal);
	product(b, "bf16[1,512] bf16[512,32000]");
	for (int i = 0; i < 3; i++)
		decode(b);
}

static void check_answer(const struct stages *s)
{
	CHECK_U64(s->row[STAGE_VISION].launches, 6);
	CHECK_U64(s->row[STAGE_VISION].passes, 1);
	CHECK_U64(s->row[STAGE_PREFILL].launches, 8);
	CHECK_U64(s->row[STAGE_PREFILL].passes, 1);
	CHECK_U64(s->row[STAGE_DECODE].launches, 24);
	CHECK_U64(s->row[STAGE_DECODE].passes, 3);
	CHECK_U64(s->row[STAGE_OTHER].launches, 0);
	CHECK_U64(s->row[STAGE_PREFILL].q_max, 300);
	CHECK_U64(s->row[STAGE_DECODE].q_max, 1);
	CHECK_U64(s->row[STAGE_DECODE].kv_max, 301);
}

TEST(attention_tells_vision_prefill_and_decode)
{
	struct stages s;
	struct bed b;

	up(&b);
	answer(&b, "=True");
	look(&b, &s);
	check_answer(&s);
	CHECK_U64(s.row[STAGE_VISION].named + s.row[STAGE_DECODE].named, 0);
	down(&b);
}

/* A mask in place of a causal flag looks like an encoder's attention, but has the heads of the decode. */
TEST(a_prefill_with_a_mask_has_the_heads_of_its_decode)
{
	struct stages s;
	struct bed b;

	up(&b);
	answer(&b, "=False");
	look(&b, &s);
	check_answer(&s);
	down(&b);
}

/* Without a lookup between them: the projector is the picture's, as its rows are. */
TEST(products_of_other_rows_end_a_stage)
{
	struct stages s;
	struct bed b;

	up(&b);
	vision(&b);
	product(&b, "bf16[257,1024] bf16[1024,512]");
	product(&b, "bf16[300,512] bf16[512,512]");
	attention(&b, HEADS("1", "300", "300", "8", "8"), "=True");
	look(&b, &s);
	CHECK_U64(s.row[STAGE_VISION].launches, 7);
	CHECK_U64(s.row[STAGE_PREFILL].launches, 2);
	down(&b);
}

TEST(annotations_tell_first_and_begin_passes)
{
	struct trace_range r[] = {
		{ .name = "generate", .start_ns = 0, .dur_ns = 1000000 },
		{ .name = "encode_image", .start_ns = 0, .dur_ns = 9000 },
		{ .name = "decode_step_0", .start_ns = 9000, .dur_ns = 12000 },
		{ .name = "decode_step_1", .start_ns = 21000, .dur_ns = 12000 },
	};
	struct stages s;
	struct bed b;

	up(&b);
	vision(&b);
	decode(&b);
	decode(&b);
	mk_kernel(&b.m, "no rule knows this", NULL, NULL); /* of the last stage, by no annotation */
	b.m.t.ranges = r;
	b.m.t.n_ranges = 4;
	look(&b, &s);
	CHECK_U64(s.row[STAGE_VISION].launches, 6);
	CHECK_U64(s.row[STAGE_VISION].named, 6);
	CHECK_U64(s.row[STAGE_DECODE].launches, 17);
	CHECK_U64(s.row[STAGE_DECODE].named, 16);
	r[1].name = "decode of an image"; /* two stages: tells none, and attention does */
	look(&b, &s);
	CHECK_U64(s.row[STAGE_VISION].launches, 6);
	CHECK_U64(s.row[STAGE_VISION].named, 0);
	r[1].name = "prefill";
	look(&b, &s);
	CHECK_U64(s.row[STAGE_VISION].launches, 0);
	CHECK_U64(s.row[STAGE_PREFILL].launches, 6);
	down(&b);
}

TEST(words_of_an_annotation)
{
	CHECK(stage_of_text("decode_step_1") == STAGE_DECODE);
	CHECK(stage_of_text("DecodeStep") == STAGE_DECODE);
	CHECK(stage_of_text("layers.3.decoder") == STAGE_OTHER);
	CHECK(stage_of_text("model.vision#0") == STAGE_VISION);
	CHECK(stage_of_text("Prefill(273)") == STAGE_PREFILL);
	CHECK(stage_of_text("prefill and decode") == STAGE_OTHER);
	CHECK(stage_of_text("visit") == STAGE_OTHER);
	CHECK(stage_of_text("") == STAGE_OTHER);
}

/* One product of bf16 in 1 us: 2 x 1 x 512 x 512 operations, 2 x (512 x 512 + 512 + 512) bytes, 4 TB/s. */
TEST(a_stage_is_under_the_roof_of_its_device)
{
	const double bytes = 2.0 * (512 * 512 + 1024);
	const struct stage_sum *x;
	struct stages s;
	struct bed b;

	up(&b);
	product(&b, "bf16[1,512] bf16[512,512]");
	mk_kernel(&b.m, "no rule knows this", NULL, NULL);
	look(&b, &s);
	x = &s.row[STAGE_OTHER].sum;
	CHECK_U64(x->kernels, 2);
	CHECK_U64(x->known, 1);
	CHECK_U64(x->known_ns, 1000);
	CHECK(fabs(x->flops - 2.0 * 512 * 512) < 1e-6 && fabs(x->bytes - bytes) < 1e-6 && fabs(x->time - 1e-6) < 1e-15);
	CHECK(fabs(x->roof - bytes / 4e12) < 1e-15);
	CHECK_U64(s.row[STAGE_OTHER].n_families, 2);
	down(&b);
}

SUITE(t_stages, T(attention_tells_vision_prefill_and_decode), T(a_prefill_with_a_mask_has_the_heads_of_its_decode),
      T(products_of_other_rows_end_a_stage), T(annotations_tell_first_and_begin_passes), T(words_of_an_annotation),
      T(a_stage_is_under_the_roof_of_its_device));
