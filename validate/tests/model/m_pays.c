/* m_pays.c - every mechanism that one may buy: a committed workload on which it pays, one on which it does not, and by how
 * much. Both fidelities say so. Gains are thousandths of the time without it that it takes off; a closed form's figure and an
 * event's stand here, and hold within SLACK. */
#include "sim/build/build.h"
#include "validate/tests/runbed.h"
#include "validate/tests/test.h"

#include <stdlib.h>

#define SLACK  20 /* thousandths */
#define PAYS   30 /* at least */
#define NAUGHT 5  /* at the most */

/* A table of ops in workloads/ops/pays, or a model's decode step with 256 tokens before it. */
struct side {
	const char *workload;
	int closed, event; /* gain */
};

static const struct row {
	const char *config, *base[3]; /* of both */
	const char *without, *with;
	struct side pays, not ;
} rows[] = {
	/* long groups share their control out; rows of 40 waste most of one */
	{ "edge",
	  { "core.control=4" },
	  "core.thread_group=32",
	  "core.thread_group=256",
	  { "silu-long.csv", 290, 290 },
	  { "softmax-short.csv", -848, -848 } },
	/* many groups hide the latency of five dependent steps; one group fills the pipeline and waits all the same */
	{ "edge",
	  { "core.unit_latency=24", "core.control=0" },
	  "core.depth=8",
	  "core.depth=64",
	  { "silu-long.csv", 465, 465 },
	  { "norm-decode.csv", -37, -37 } },
	{ "edge",
	  { "core.control=0", "core.unit_latency=0" },
	  "vector.act=0",
	  "vector.act=16",
	  { "silu-long.csv", 320, 313 },
	  { "gemv-decode.csv", 0, 0 } },
	{ "edge",
	  { "vector.lanes=8", "core.control=0", "core.unit_latency=0" },
	  "vector.norm=0",
	  "vector.norm=32",
	  { "norm-prompt.csv", 324, 318 },
	  { "silu-long.csv", 0, 0 } },
	/* tiles of activations that every column of tiles reads again, from an L2 that does not hold them; a stream of weights reads
	 * nothing twice. What a quarter of that evicts, the victim cache has */
	{ "dsocr",
	  { "dma.width=256 B", "l2.size=4 MiB" },
	  "l1.size=0",
	  "l1.size=1 MiB",
	  { "gemm-prompt.csv", 47, 152 },
	  { "gemv-decode.csv", 0, 0 } },
	{ "dsocr",
	  { "dma.width=256 B", "l2.size=4 MiB", "l1.size=128 KiB" },
	  "l1.victim=0",
	  "l1.victim=768 KiB",
	  { "gemm-prompt.csv", 51, 173 },
	  { "gemv-decode.csv", 0, 0 } },
	/* weights in the L2 and results that go through it: a step waits for dispatches and short loads, one behind another. From
	 * DRAM it waits for bytes, however they are asked for */
	{ "dsocr",
	  { "weights.dtype=int4", "sram.forward=false", "dispatch.latency=1 us" },
	  "dispatch.join=false",
	  "dispatch.join=true",
	  { "gemma-3-1b", 52, 53 },
	  { NULL, 0, 0 } },
	{ "dsocr",
	  { NULL },
	  "dispatch.join=false",
	  "dispatch.join=true",
	  { NULL, 0, 0 },
	  { "deepseek-v2-lite", 0, -9 } },
	/* lanes with a row each read columns of weights whose rows meet few banks; with many rows of activations nobody waits for
	 * that, and nothing is padded */
	{ "dsocr",
	  { "gemv.rows_over_lanes=true", "matrix.units=0", "mapping.loops=stream" },
	  "sram.pad=false",
	  "sram.pad=true",
	  { "gemv-decode.csv", 48, 48 },
	  { "gemm-prompt.csv", 0, 0 } },
	{ "imc-256m",
	  { NULL },
	  "imc.keep=false",
	  "imc.keep=true",
	  { "gemv-decode.csv", 989, 989 },
	  { "attention-prompt.csv", 0, 0 } },
	{ "dsocr",
	  { "matrix.sparse=true" },
	  "weights.sparsity=none",
	  "weights.sparsity=2:4",
	  { "gemm-prompt.csv", 230, 229 },
	  { "attention-prompt.csv", 0, 0 } },
};

static void load(struct runbed *b, const char *workload)
{
	struct build_how how = { .style = BUILD_NPU, .batch = 1, .context = 256, .tokens = 1 };
	struct model *m;

	if (strstr(workload, ".csv")) {
		runbed_ops(b, workload);
		return;
	}
	*b = (struct runbed){ .a = arena_new(0), .yaml = STR_INIT, .e = ERR_INIT };
	CHECK((m = model_load(workload, &b->e)) != NULL);
	how.kv = m->dtype;
	CHECK((how.quant = scheme_find("bf16", &b->e)) != NULL);
	CHECK_OK(build_stream(m, &how, b->a, &b->traced, &b->e), b->e);
	b->s = &b->traced;
	model_free(m);
}

static ps_t total(const struct row *r, const char *set, const char *workload, enum run_fidelity f)
{
	const struct run_opts o = { .start = RUN_STEADY, .seed = 1, .fidelity = f };
	const char *sets[4];
	struct run_result x;
	struct runbed b;
	char config[80];
	int n = 0;

	snprintf(config, sizeof config, "configs/npu/%s.yaml", r->config);
	for (; n < 3 && r->base[n]; n++)
		sets[n] = r->base[n];
	sets[n++] = set;
	load(&b, workload);
	CHECK(runbed_run(&b, config, sets, n, &o, &x));
	CHECK(x.roofline_ps <= x.total_ps);
	runbed_down(&b);
	return x.total_ps;
}

static int gain(const struct row *r, const struct side *s, enum run_fidelity f)
{
	const ps_t without = total(r, r->without, s->workload, f), with = total(r, r->with, s->workload, f);
	const int permille = (int)(((int64_t)without - (int64_t)with) * 1000 / (int64_t)without),
		  said = f == RUN_EVENT ? s->event : s->closed;

	printf("%s: %s -> %s on %s, %s: %.3f -> %.3f us, %d of 1,000 less\n", r->config, r->without, r->with,
	       s->workload, f == RUN_EVENT ? "events" : "closed form", (double)without / 1e6, (double)with / 1e6,
	       permille);
	if (abs(permille - said) > SLACK)
		test_fail(__FILE__, __LINE__, "%s on %s: %d of 1,000 less, and %d is said", r->with, s->workload,
		          permille, said);
	return permille;
}

TEST(each_mechanism_pays_where_it_should_and_nowhere_else)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (enum run_fidelity f = RUN_EVENT; f <= RUN_ANALYTIC; f++) {
			if (rows[i].pays.workload)
				CHECK(gain(&rows[i], &rows[i].pays, f) >= PAYS);
			if (rows[i].not .workload)
				CHECK(gain(&rows[i], &rows[i].not, f) <= NAUGHT);
		}
}

/* Four products of 4 bits, 41,943,040 weights and a 16-bit scale for 128 of them: from DRAM the first time, and then not at
 * all. What is written the first time takes its time then alone. */
TEST(weights_that_stay_in_arrays_are_moved_and_written_once)
{
	const uint64_t bytes = 41943040 / 2 + 41943040 / 128 * 2;
	ps_t busy[2][2];

	for (enum run_fidelity f = RUN_EVENT; f <= RUN_ANALYTIC; f++)
		for (enum run_start start = RUN_STEADY; start <= RUN_COLD; start++) {
			const struct run_opts o = { .start = start, .seed = 1, .fidelity = f };
			struct run_result x;
			struct runbed b;

			runbed_ops(&b, "gemv-decode.csv");
			CHECK(runbed_run(&b, "configs/npu/imc-256m.yaml", NULL, 0, &o, &x));
			CHECK_U64(x.map->held_bytes, bytes);
			CHECK_U64(runbed_stat(&x, "sram.pinned_hit_bytes"), start == RUN_COLD ? 0 : bytes);
			CHECK_U64(x.dram_read_bytes / (bytes / 100), start == RUN_COLD ? 100 : 0);
			CHECK_U64(runbed_stat(&x, "imc.macs"), 41943040);
			busy[f][start] = runbed_stat(&x, "imc.busy_ps");
			runbed_down(&b);
		}
	CHECK_U64(busy[RUN_EVENT][RUN_STEADY], busy[RUN_ANALYTIC][RUN_STEADY]);
	CHECK_U64(busy[RUN_EVENT][RUN_COLD], busy[RUN_ANALYTIC][RUN_COLD]);
	/* 32 rows of an array for each of the four, a row a cycle of 1 ns, and as many more as lie in one array */
	CHECK(busy[RUN_EVENT][RUN_COLD] >= busy[RUN_EVENT][RUN_STEADY] + 4 * 32 * PS_NS);
}

SUITE(m_pays, T(weights_that_stay_in_arrays_are_moved_and_written_once),

      SLOW(each_mechanism_pays_where_it_should_and_nowhere_else));
