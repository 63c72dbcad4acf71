/* t_workload.c - one spec: what of it is taken or refused, and the same stream by every road. */
#include "sim/base/path.h"
#include "sim/workload/workload.h"

#include <stdio.h>
#include <string.h>

#include "validate/tests/test.h"

static const struct workload_reader npu = { .source = &path_source };

static void give(struct workload_spec *s, enum workload_key k)
{
	static const char *const texts[WORKLOAD_KEYS] = {
		[WORKLOAD_KEY_TRACE] = "t.db",    [WORKLOAD_KEY_RANGE] = "r",    [WORKLOAD_KEY_MODEL] = "m",
		[WORKLOAD_KEY_PROGRAM] = "p.txt", [WORKLOAD_KEY_QUANT] = "bf16", [WORKLOAD_KEY_KV] = "bf16",
		[WORKLOAD_KEY_STYLE] = "npu",     [WORKLOAD_KEY_SKEW] = "1",     [WORKLOAD_KEY_REWRITE] = "kv-append",
		[WORKLOAD_KEY_RULES] = "r.tsv",   [WORKLOAD_KEY_DTYPE] = "bf16", [WORKLOAD_KEY_ATTENTION] = "mla",
		[WORKLOAD_KEY_PHASE] = "decode",  [WORKLOAD_KEY_NORMS] = "part", [WORKLOAD_KEY_TP] = "2",
		[WORKLOAD_KEY_PP] = "2",          [WORKLOAD_KEY_EP] = "2",       [WORKLOAD_KEY_DP] = "2"
	};

	if (workload_rows[k].type == WORKLOAD_COUNT)
		*(uint64_t *)workload_place(s, k) = 2;
	else
		*(const char **)workload_place(s, k) = texts[k];
}

/* A row that is refused says why, and workload_check refuses that and nothing else. */
TEST(each_row_is_taken_or_refused_with_its_reason)
{
	static const enum workload_key source[] = { [WORKLOAD_TRACE] = WORKLOAD_KEY_TRACE,
		                                    [WORKLOAD_LAID] = WORKLOAD_KEY_MODEL,
		                                    [WORKLOAD_MODEL] = WORKLOAD_KEY_MODEL,
		                                    [WORKLOAD_PROGRAM] = WORKLOAD_KEY_PROGRAM };
	size_t taken = 0;

	for (int by = 0; by < WORKLOAD_ASKERS; by++)
		for (int of = WORKLOAD_TRACE; of < WORKLOAD_SOURCES; of++)
			for (int k = 0; k < WORKLOAD_KEYS; k++) {
				struct workload_spec s = { .trace = NULL };
				struct err e = ERR_INIT;
				char why[256], own[256];
				const char *said, *no;

				if (of == WORKLOAD_LAID && workload_askers[by].file)
					continue; /* two sources */
				give(&s, source[of]);
				if (of == WORKLOAD_LAID)
					give(&s, WORKLOAD_KEY_TRACE);
				no = workload_refused(source[of], WORKLOAD_NONE, (enum workload_asker)by, own,
				                      sizeof own);
				if (!no && of == WORKLOAD_LAID)
					no = workload_refused(WORKLOAD_KEY_TRACE, WORKLOAD_NONE,
					                      (enum workload_asker)by, own, sizeof own);
				give(&s, (enum workload_key)k);
				if (workload_rows[k].of & ~(1u << of) && k != (int)source[of] &&
				    !(of == WORKLOAD_LAID && k == WORKLOAD_KEY_TRACE) &&
				    (k == WORKLOAD_KEY_TRACE || k == WORKLOAD_KEY_MODEL || k == WORKLOAD_KEY_PROGRAM))
					continue; /* two sources */
				said = workload_refused((enum workload_key)k, (enum workload_source)of,
				                        (enum workload_asker)by, why, sizeof why);
				if (k == WORKLOAD_KEY_SKEW && of == WORKLOAD_TRACE && !said)
					s.batch = 2; /* of a trace it goes with one */
				taken += !said && !no;
				CHECK((workload_check(&s, (enum workload_asker)by, &e) < 0) == (said || no));
				if (said && !no)
					CHECK_STR(e.msg, said);
			}
	CHECK(taken > 100);
}

static void refused(struct workload_spec s, const char *part)
{
	struct err e = ERR_INIT;

	CHECK(workload_check(&s, WORKLOAD_RUN, &e) < 0 && e.kind == ERR_USAGE);
	CHECK_HAS(e.msg, part);
}

TEST(values_that_cannot_be_are_refused_before_anything_is_read)
{
	refused((struct workload_spec){ .trace = NULL }, "the workload is missing");
	refused((struct workload_spec){ .trace = "t", .program = "p" }, "two workloads");
	refused((struct workload_spec){ .trace = "t", .model = "m", .phase = "decode" }, "a trace laid over a model");
	refused((struct workload_spec){ .model = "m", .program = "p" }, "two workloads");
	refused((struct workload_spec){ .model = "m", .batch = 65537 }, "for option '--batch'");
	refused((struct workload_spec){ .model = "m", .phase = "decod" }, "did you mean 'decode'");
	refused((struct workload_spec){ .model = "m", .kv = "fp7" }, "fp7");
	refused((struct workload_spec){ .model = "m", .quant = "nvfp5" }, "nvfp4");
	refused((struct workload_spec){ .model = "m", .skew = "5" }, "from 0 to 4");
	refused((struct workload_spec){ .trace = "t", .rewrite = "kv_append" }, "did you mean 'kv-append'");
	refused((struct workload_spec){ .trace = "t", .skew = "1" }, "'--skew' is of a model");
	refused((struct workload_spec){ .model = "m", .range = "r" }, "'--phase' says what of it");
}

TEST(a_program_needs_a_machine)
{
	struct err e = ERR_INIT;
	struct workload w;

	CHECK(workload_read(&(struct workload_spec){ .program = "workloads/programs/mlp.txt" }, &npu, &w, &e) < 0);
	CHECK_HAS(e.msg, "a program");
	workload_free(&w);
}

/* A sweep asks again of what was read. */
static void again(const struct workload_spec *base, const struct workload_spec *to)
{
	struct err e = ERR_INIT;
	struct workload w, whole;
	struct op_stream s;

	CHECK_OK(workload_read(base, &npu, &w, &e), e);
	CHECK_OK(workload_again(&w, to, &npu, w.in.arena, &s, &e), e);
	CHECK_OK(workload_read(to, &npu, &whole, &e), e);
	CHECK(strcmp(w.stream.digest, whole.stream.digest) != 0);
	CHECK_STR(s.digest, whole.stream.digest);
	CHECK_U64(s.n_ops, whole.stream.n_ops);
	workload_free(&whole);
	workload_free(&w);
}

TEST(a_stream_asked_again_is_the_one_that_is_read)
{
	static char path[4096];

	again(&(struct workload_spec){ .model = "qwen2-0.5b" },
	      &(struct workload_spec){ .model = "qwen2-0.5b", .batch = 4, .context = 64, .style = "eager" });
	snprintf(path, sizeof path, "%s/traces/h200/steps/kineto_llama8b_b1_c2048.json.gz", test_root());
	again(&(struct workload_spec){ .trace = path, .range = "decode_step_1" },
	      &(struct workload_spec){ .trace = path, .range = "decode_step_1", .batch = 4, .rewrite = "native-bf16" });
}

/* What a trace is called, and that nothing of it is measured, at another batch. */
TEST(a_trace_at_another_batch_says_so)
{
	static char path[4096];
	struct err e = ERR_INIT;
	struct workload w;

	snprintf(path, sizeof path, "%s/traces/h200/steps/kineto_llama8b_b1_c2048.json.gz", test_root());
	CHECK_OK(workload_read(&(struct workload_spec){ .trace = path, .range = "decode_step_1", .batch = 16 }, &npu,
	                       &w, &e),
	         e);
	CHECK_HAS(w.in.trace.range, "decode_step_1 at batch 16, 2048 tokens in the cache (measured at 1, 2048)");
	CHECK(w.scaled && w.in.trace.wall_ns == -1);
	CHECK_U64(workload_tokens(&w), 16);
	CHECK_U64(w.own.n_ops, w.stream.n_ops);
	workload_free(&w);
}

SUITE(t_workload, T(each_row_is_taken_or_refused_with_its_reason),
      T(values_that_cannot_be_are_refused_before_anything_is_read), T(a_program_needs_a_machine),
      T(a_stream_asked_again_is_the_one_that_is_read), T(a_trace_at_another_batch_says_so));
