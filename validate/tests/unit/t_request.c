/* t_request.c - a request's stages: what is read of a list, what is behind what, which steps stand for which. */
#include "sim/workload/request.h"

#include <math.h>
#include <string.h>

#include "validate/tests/test.h"

static struct arena *read_ok(const char *list, const struct workload_spec *all, struct request *r)
{
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;

	CHECK_OK(request_parse(list, all, a, r, &e), e);
	return a;
}

static void refused(const char *list, struct workload_spec all, const char *part)
{
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct request r;

	CHECK(request_parse(list, &all, a, &r, &e) < 0);
	CHECK_U64(e.kind, ERR_USAGE);
	CHECK_HAS(e.msg, part);
	arena_free(a);
}

static void said(const struct request_stage *s, const char *want)
{
	struct str t = STR_INIT;

	request_text(s, &t);
	CHECK_STR(str_c(&t), want);
	str_free(&t);
}

TEST(each_stage_is_a_workload_of_its_own)
{
	const struct workload_spec all = { .model = "deepseek-ocr", .quant = "fp8" };
	struct request r;
	struct arena *a = read_ok("vision : image = 1024 ;vision:image=640, batch=6;; prefill:tokens=923;"
	                          " decode:tokens=256,quant=bf16;",
	                          &all, &r);

	CHECK_U64(r.n, 4);
	CHECK_STR(r.v[0].name, "vision 1");
	CHECK_STR(r.v[1].name, "vision 2");
	CHECK_STR(r.v[2].name, "prefill");
	CHECK_STR(r.v[1].spec.phase, "vision");
	CHECK_U64(r.v[0].spec.image, 1024);
	CHECK_U64(r.v[1].spec.batch, 6);
	CHECK_STR(r.v[2].spec.quant, "fp8");
	CHECK_STR(r.v[3].spec.quant, "bf16");
	/* A decode's tokens are steps, behind the prompt. */
	CHECK_U64(r.v[3].steps, 256);
	CHECK_U64(r.v[3].spec.tokens, 0);
	CHECK_U64(r.v[3].spec.context, 923);
	CHECK_U64(request_step(&r.v[3], 255).context, 923 + 255);
	said(&r.v[0], "1 picture of 1024 x 1024 pixels");
	said(&r.v[1], "6 pictures of 640 x 640 pixels");
	said(&r.v[2], "923 new tokens behind 0");
	said(&r.v[3], "256 steps behind 923 to 1178 tokens");
	arena_free(a);
}

TEST(a_stage_begins_behind_what_is_in_the_cache)
{
	const struct workload_spec all = { .model = "m" }, deep = { .model = "m", .context = 5000 };
	struct request r;
	struct arena *a =
		read_ok("prefill:tokens=100; prefill; decode:tokens=10; vision; prefill:tokens=7; decode", &all, &r);

	CHECK_U64(r.v[0].spec.context, 0);
	CHECK_U64(r.v[1].spec.context, 100);
	CHECK_U64(r.v[2].spec.context, 100 + WORKLOAD_PROMPT);
	CHECK_U64(r.v[4].spec.context, 110 + WORKLOAD_PROMPT);
	CHECK_U64(r.v[5].spec.context, 117 + WORKLOAD_PROMPT);
	CHECK(!r.v[5].grows && r.v[5].steps == 1);
	arena_free(a);
	/* Alone it is as without stages, and what is given holds. */
	a = read_ok("decode:tokens=3", &all, &r);
	CHECK_U64(r.v[0].spec.context, WORKLOAD_CONTEXT);
	arena_free(a);
	a = read_ok("prefill; decode; decode:context=9", &deep, &r);
	CHECK_U64(r.v[0].spec.context, 5000);
	CHECK_U64(r.v[1].spec.context, 5000);
	CHECK_U64(r.v[2].spec.context, 9);
	arena_free(a);
}

TEST(a_measured_range_keeps_its_context_unless_one_is_given)
{
	const struct workload_spec all = { .trace = "t.db" }, none = { .trace = NULL };
	struct request r;
	struct arena *a = read_ok(
		"prefill:range=p; decode:range=d,tokens=5; decode:tokens=5,context=40; decode:range=d", &all, &r);

	CHECK(!r.v[0].spec.phase && !r.v[1].spec.phase);
	CHECK_U64(r.v[1].steps, 5);
	CHECK(!r.v[1].grows && !r.v[1].spec.context && !r.v[1].spec.tokens);
	CHECK(r.v[2].grows && r.v[2].spec.context == 40);
	CHECK_U64(r.v[3].spec.context, 0);
	said(&r.v[0], "p");
	said(&r.v[1], "d, 5 steps as it was measured");
	said(&r.v[2], "t.db, 5 steps behind 40 to 44 tokens");
	said(&r.v[3], "d");
	arena_free(a);
	/* One stage of a model, one of a trace: behind a range nobody knows how much there is. */
	a = read_ok("prefill:trace=t.db; decode:model=m", &none, &r);
	CHECK_STR(r.v[1].spec.phase, "decode");
	CHECK_U64(r.v[1].spec.context, WORKLOAD_CONTEXT);
	arena_free(a);
}

TEST(lists_that_cannot_be_are_refused)
{
	const struct workload_spec model = { .model = "m" }, trace = { .trace = "t.db" };
	struct str many = STR_INIT;

	refused("decod", model, "did you mean 'decode'");
	refused("decode:tokns=5", model, "did you mean 'tokens'");
	refused("decode:tokens=5,context", model, "'tokens'");
	refused("decode:tokens", model, "'tokens' has no value");
	refused("decode:tokens=", model, "'tokens' has no value");
	refused("decode:tokens=0", model, "from 1 to");
	refused("decode:tokens=-1", model, "'tokens'");
	refused("decode:tokens=99999999999999999999999", model, "'tokens'");
	refused("decode:tokens=5,tokens=6", model, "given twice");
	refused("decode:phase=prefill", model, "first word");
	refused("decode:range=r", model, "'--range' is of a trace");
	refused("prefill:tokens=5", trace, "'--tokens' is of a model");
	refused("vision:image=640", trace, "'--image' is of a model");
	refused("decode", (struct workload_spec){ .trace = NULL }, "the workload is missing");
	refused("decode", (struct workload_spec){ .model = "m", .phase = "decode" }, "'--phase'");
	refused("decode", (struct workload_spec){ .program = "p.txt" }, "'--program-in'");
	refused(" ; ;", model, "there is no stage");
	refused("decode:=5", model, "stage '");
	refused(":", model, "unknown stage");
	for (int i = 0; i <= REQUEST_STAGES; i++)
		str_add(&many, "decode;");
	refused(str_c(&many), model, "more than 32 stages");
	str_free(&many);
}

TEST(a_value_may_have_commas)
{
	const struct workload_spec all = { .trace = "t.db" };
	struct request r;
	struct arena *a = read_ok("decode:rewrite=kv-append,native-bf16,context=7", &all, &r);

	CHECK_STR(r.v[0].spec.rewrite, "kv-append,native-bf16");
	CHECK_U64(r.v[0].spec.context, 7);
	arena_free(a);
}

/* Whatever the number of steps: blocks follow each other, and what was run stays a step that stands for some. */
TEST(blocks_are_all_steps_and_keep_what_was_run)
{
	struct request_block b[REQUEST_BLOCKS], was[REQUEST_BLOCKS];

	for (uint64_t steps = 1; steps < 2000; steps += 1 + steps / 37) {
		const struct request_stage s = { .steps = steps, .grows = true };
		size_t had = 0;

		for (unsigned cuts = 0; cuts <= REQUEST_CUTS + 1; cuts++) {
			const size_t n = request_blocks(&s, cuts, b);
			uint64_t next = 0;
			size_t kept = 0;

			CHECK(n <= REQUEST_BLOCKS && n <= steps && n >= had);
			for (size_t i = 0; i < n; i++) {
				CHECK_U64(b[i].first, next);
				CHECK(b[i].n && b[i].at >= b[i].first && b[i].at < b[i].first + b[i].n);
				next += b[i].n;
				kept += kept < had && was[kept].at == b[i].at;
			}
			CHECK_U64(next, steps);
			CHECK_U64(kept, had);
			memcpy(was, b, sizeof was);
			had = n;
		}
	}
}

/* Time that is linear in the context: the sum is that of all steps, of an even number but for half a step's growth. */
TEST(blocks_are_exact_where_time_is_linear)
{
	struct request_block b[REQUEST_BLOCKS];

	for (uint64_t steps = 1; steps < 3000; steps += 7)
		for (unsigned cuts = 0; cuts <= REQUEST_CUTS; cuts++) {
			const struct request_stage s = { .steps = steps, .grows = true };
			const size_t n = request_blocks(&s, cuts, b);
			double sum = 0;
			const double all = 1000.0 * (double)steps + 3.0 * (double)steps * (double)(steps - 1) / 2;

			for (size_t i = 0; i < n; i++)
				sum += (double)b[i].n * (1000.0 + 3.0 * (double)b[i].at);
			CHECK(steps & 1 ? sum == all : fabs(sum - all) <= 3.0 * (double)steps / 2);
		}
}

TEST(steps_that_are_alike_are_one)
{
	const struct request_stage s = { .steps = 1000, .grows = false };
	struct request_block b[REQUEST_BLOCKS];

	CHECK_U64(request_blocks(&s, REQUEST_CUTS, b), 1);
	CHECK_U64(b[0].n, 1000);
}

SUITE(t_request, T(each_stage_is_a_workload_of_its_own), T(a_stage_begins_behind_what_is_in_the_cache),
      T(a_measured_range_keeps_its_context_unless_one_is_given), T(lists_that_cannot_be_are_refused),
      T(a_value_may_have_commas), T(blocks_are_all_steps_and_keep_what_was_run),
      T(blocks_are_exact_where_time_is_linear), T(steps_that_are_alike_are_one));
