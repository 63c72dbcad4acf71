/* t_program.c - tile programs as text: the same time read as written, times by hand, and what is refused where. */
#include "sim/program/program.h"

#include <stdlib.h>

#include "arch/machine/machine_shipped.h"
#include "sim/engine/engine.h"
#include "sim/program/program_int.h"
#include "traces/text/input.h"
#include "validate/tests/runbed.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

/* --- there and back ---------------------------------------------------------------------------------------------- */

static struct machine_conf *machine(const char *text)
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_parse(text, strlen(text), "m.yaml", NULL, 0, &e);

	CHECK_OK(c ? 0 : -1, e);
	return c;
}

static int read_program(const char *text, const struct machine_cfg *c, struct arena *a, struct program *p,
                        struct err *e)
{
	struct input *in = input_mem(text, strlen(text), "x.txt", e);
	int rc;

	CHECK(in);
	rc = program_read(in, c, a, p, e);
	input_free(in);
	return rc;
}

static void same_run(const struct run_result *x, const struct run_result *y)
{
	CHECK_U64(x->total_ps, y->total_ps);
	CHECK_U64(x->roofline_ps, y->roofline_ps);
	CHECK_U64(x->mapped_ps, y->mapped_ps);
	CHECK_U64(x->dram_read_bytes, y->dram_read_bytes);
	CHECK_U64(x->flops, y->flops);
	for (int r = 0; r < RES_COUNT; r++)
		CHECK_U64(x->stall_ps[r], y->stall_ps[r]);
	for (size_t i = 0; i < x->stream->n_ops; i++) {
		CHECK_U64(x->ops[i].span_ps, y->ops[i].span_ps);
		CHECK(x->ops[i].bound == y->ops[i].bound);
	}
	CHECK_U64(x->n_stats, y->n_stats);
	for (size_t i = 0; i < x->n_stats; i++)
		if (x->stats[i].value != y->stats[i].value)
			test_fail(__FILE__, __LINE__, "%s is %llu, and was %llu", x->stats[i].name,
			          (unsigned long long)y->stats[i].value, (unsigned long long)x->stats[i].value);
}

/* False: the machine cannot run the stream. */
static bool there_and_back(const struct op_stream *s, const struct machine_conf *c, struct arena *a, struct run_opts o,
                           size_t *uneven)
{
	struct run_result x, y;
	struct str text = STR_INIT, again = STR_INIT;
	struct program p;
	struct err e = ERR_INIT;

	if (run_stream(s, c, &o, a, &x, &e) < 0) {
		CHECK(e.kind == ERR_CONFIG);
		return false;
	}
	program_write(s, x.map, &text);
	if (read_program(str_c(&text), &c->cfg, a, &p, &e) < 0)
		test_fail(__FILE__, __LINE__, "%d: %s", e.line, e.msg);
	program_write(&p.stream, &p.map, &again);
	CHECK_STR(str_c(&again), str_c(&text));
	/* Every field that a mapper writes is in the text: one that is new and in no row fails here. */
	CHECK_U64(p.map.prog.n_insns, x.map->prog.n_insns);
	for (size_t i = 0; i < p.map.prog.n_insns; i++)
		CHECK(memcmp(&p.map.prog.insns[i], &x.map->prog.insns[i], sizeof *p.map.prog.insns) == 0);
	CHECK_U64(p.map.prog.n_edges, x.map->prog.n_edges);
	for (size_t i = 0; i < p.map.prog.n_edges; i++) {
		CHECK_U64(p.map.prog.edges[i].loops, x.map->prog.edges[i].loops);
		CHECK(memcmp(p.map.prog.edges[i].at, x.map->prog.edges[i].at, sizeof p.map.prog.edges[i].at) == 0);
	}
	*uneven += x.map->prog.n_edges;
	o.program = &p.map;
	CHECK_OK(run_stream(&p.stream, c, &o, a, &y, &e), e);
	same_run(&x, &y);
	str_free(&text);
	str_free(&again);
	return true;
}

TEST(a_measured_step_takes_the_same_time_as_it_was_written)
{
	static const char *const machines[] = { "dsocr", "edge", "tpu-v6e" };
	struct runbed b;
	size_t uneven = 0;

	runbed_traced(&b, "kineto_dsocr_b1_c1024", "decode_step_1");
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		struct machine_conf *c;
		char path[512];

		snprintf(path, sizeof path, "%s/configs/npu/%s.yaml", test_root(), machines[i]);
		c = machine_conf_load(path, NULL, 0, &b.e);
		CHECK_OK(c ? 0 : -1, b.e);
		CHECK(there_and_back(b.s, c, b.a, (struct run_opts){ .seed = 1 }, &uneven));
		CHECK(there_and_back(b.s, c, b.a,
		                     (struct run_opts){ .seed = 3, .fidelity = RUN_ANALYTIC, .start = RUN_COLD },
		                     &uneven));
		machine_conf_free(c);
	}
	runbed_down(&b);
}

TEST(random_steps_on_random_machines_do_too)
{
	size_t uneven = 0;
	int ran = 0;

	for (uint64_t seed = 0; seed < 40; seed++) {
		struct machine_conf *c;
		struct runbed b;
		struct rng r;

		rng_seed(&r, seed, "program");
		runbed_random(&b, &r);
		c = machine(str_c(&b.yaml));
		ran += there_and_back(b.s, c, b.a,
		                      (struct run_opts){ .seed = seed,
		                                         .start = (enum run_start)(seed % 3),
		                                         .fidelity = seed & 1 ? RUN_ANALYTIC : RUN_EVENT },
		                      &uneven);
		machine_conf_free(c);
		runbed_down(&b);
	}
	CHECK(ran > 20);
}

/* Nests whose loops end in smaller rounds, of moves and math, of sums that two cores exchange, of weights made wider first. */
TEST(so_do_products_that_no_tile_divides)
{
	struct machine_conf *c = machine("cores: 2\nsram: {size: 8 KiB}\ngemv: {units: 0}\nmatrix: {rows: 4, cols: 4}\n"
	                                 "dma: {tile: 1 KiB}\nl2: {size: 0 B}\nweights: {dtype: int4}\n");
	size_t uneven = 0;

	for (uint64_t i = 0; i < 20; i++) {
		struct arena *a = arena_new(0);

		CHECK(there_and_back(synth_product(a, 60 + 7 * i, 101 + i, 150 + 11 * i), c, a,
		                     (struct run_opts){ .seed = 1, .fidelity = i & 1 ? RUN_ANALYTIC : RUN_EVENT },
		                     &uneven));
		arena_free(a);
	}
	CHECK(uneven > 50);
	machine_conf_free(c);
}

/* A model's step as it is mapped for a machine is no faster than that machine, to the reader. */
static void taken(const char *config, const char *const *sets, int n, const char *model, const struct build_how *how)
{
	struct runbed b;
	struct machine_conf *c;
	struct run_opts o = { .seed = 1, .fidelity = RUN_ANALYTIC };
	struct run_result x;
	struct str text = STR_INIT;
	struct program p;

	runbed_model(&b, model, how);
	CHECK((c = machine_conf_load(config, sets, n, &b.e)) != NULL);
	CHECK_OK(run_stream(b.s, c, &o, b.a, &x, &b.e), b.e);
	program_write(b.s, x.map, &text);
	if (read_program(str_c(&text), &c->cfg, b.a, &p, &b.e) < 0)
		test_fail(__FILE__, __LINE__, "%s, %s: %d: %s", config, model, b.e.line, b.e.msg);
	str_free(&text);
	machine_conf_free(c);
	runbed_down(&b);
}

/* Grouped, over a latent, of routed experts: a token each of two sequences, and a prompt. */
static const char *const families[] = { "llama-3.2-1b", "deepseek-v2-lite", "gpt-oss-20b" };
static const struct build_how hows[] = {
	{ .phase = BUILD_DECODE, .style = BUILD_NPU, .batch = 2, .context = 512, .tokens = 1, .layers = 2 },
	{ .phase = BUILD_PREFILL, .style = BUILD_NPU, .batch = 1, .tokens = 48, .layers = 2 }
};

TEST(what_is_mapped_for_any_machine_is_taken)
{
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	const char **machines;
	size_t n;

	CHECK_OK(machine_shipped_npus(a, &machines, &n, &e), e);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < 6; k++)
			if (test_turn(i + k, 5))
				taken(machines[i], NULL, 0, families[k / 2], &hows[k % 2]);
	arena_free(a);
}

/* One product of the batch of picks, whose weights are an operand each: in blocks each command has those of its picks alone. */
TEST(so_are_experts_as_one_product)
{
	const struct build_how how = {
		.phase = BUILD_DECODE, .style = BUILD_FUSED, .batch = 1, .context = 512, .tokens = 1, .layers = 2
	};
	static const char *const sets[] = { "sram.size=1 MiB", "sram.size=128 KiB" };
	char config[512];

	snprintf(config, sizeof config, "%s/configs/npu/dsocr.yaml", test_root());
	for (size_t i = 0; i < 2; i++)
		taken(config, &sets[i], 1, "deepseek-ocr", &how);
}

/* Weights and caches that are stored narrower, thinner, that stay in SRAM or in arrays; attention in blocks of queries. */
TEST(so_is_what_a_machine_narrows_and_holds)
{
	static const char *const sets[][3] = { { "weights.dtype=int4", "kv.dtype=int8", "gemv.w4a16=true" },
		                               { "weights.sparsity=2:4", "matrix.sparse=true", "gemv.sparse=true" },
		                               { "weights.dtype=nvfp4", "weights.sparsity=2:4", "matrix.sparse=true" },
		                               { "sram.pin=64 KiB", "fusion.enabled=false", "sram.forward=false" },
		                               { "imc.units=64", "weights.dtype=int8", "activations.dtype=int8" },
		                               { "sram.size=96 KiB", "attention.masked=compute", "l2.size=0 B" } };
	char config[512];

	snprintf(config, sizeof config, "%s/configs/npu/dsocr.yaml", test_root());
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		for (size_t k = 0; k < 2; k++)
			if (test_turn(i + k, 2))
				taken(config, sets[i], 3, families[k], &hows[(i + k) % 2]);
}

/* --- by hand ------------------------------------------------------------------------------------------------------ */

/* A doorbell of 2 us, 350 ns from what a command waits for to its units, 20 ns between two dispatches. */
static const char hand[] = "clock: 1 GHz\ncores: 1\n";

static ps_t time_of(const char *body, const char *yaml)
{
	struct machine_conf *c = machine(yaml);
	struct arena *a = arena_new(0);
	struct str text = STR_INIT;
	struct run_opts o = { .seed = 1, .start = RUN_COLD };
	struct run_result x;
	struct program p;
	struct err e = ERR_INIT;
	ps_t t;

	str_addf(&text, "program 1\n%s", body);
	if (read_program(str_c(&text), &c->cfg, a, &p, &e) < 0)
		test_fail(__FILE__, __LINE__, "%d: %s\n%s", e.line, e.msg, body);
	o.program = &p.map;
	CHECK_OK(run_stream(&p.stream, c, &o, a, &x, &e), e);
	t = x.total_ps;
	arena_free(a);
	machine_conf_free(c);
	str_free(&text);
	return t;
}

TEST(times_by_hand)
{
	const ps_t start = 2 * PS_US + 350 * PS_NS;

	CHECK_U64(time_of("", hand), 0);
	CHECK_U64(time_of("command\n pre vector vector span=1us\n", hand), start + PS_US);
	/* One after the other: the second waits for the first, and is woken. */
	CHECK_U64(
		time_of("command\n pre vector vector span=1us\ncommand after=0\n pre vector vector span=300ns\n", hand),
		start + PS_US + 350 * PS_NS + 300 * PS_NS);
	/* Side by side on one unit: it serves one after the other. */
	CHECK_U64(time_of("command\n pre vector vector span=1us\ncommand\n pre vector vector span=300ns\n", hand),
	          start + PS_US + 300 * PS_NS);
	/* On two units: the second was dispatched 20 ns later, and is long done. */
	CHECK_U64(time_of("command\n pre vector vector span=1us\ncommand\n pre gemv gemv span=300ns\n", hand),
	          start + PS_US);
	/* A loop of four tiles, the last one shorter, and what comes behind it; results are there `latency` later. */
	CHECK_U64(
		time_of("command tiles=4\n tile gemv gemv span=100ns last_span=40ns\n post vector vector span=7 latency=50ns\n",
	                hand),
		start + 340 * PS_NS + 7 + 50 * PS_NS);
	/* A nest of 2 x 3: what stays through the inner loop is done in its first round only, here in tiles 0 and 3. The vector
	 * unit is busy from 10 to 110 and from 110 to 210 ns, and the products long done beside it. */
	CHECK_U64(
		time_of("command tiles=6 trips=1x2x3\n tile gemv gemv span=10ns\n tile vector vector span=100ns stays=3\n",
	                "clock: 1 GHz\ncores: 1\ndma: {sync: 0 ps}\n"),
		start + 210 * PS_NS);
}

/* A nest of 2 x 2 x 3 that ends in smaller rounds of the first and third loop. In each of the second loop's two rounds: two
 * full tiles of 300 bytes and 100 ns, one of 100 and 30 where the third loop ends, two of 90 and 60 where the first does,
 * one of 30 and 10 where both do: 300 + 300 + 100 + 90 + 90 + 30 bytes are all of the tensor, twice. */
#define UNEVEN(bytes, edge) \
	"tensor w bytes=" bytes " external\ncommand tiles=12 trips=2x2x3 slot=300\n" \
	" tile load w by=300 step=3x0x1\n  edge 1 by=90\n" edge "  edge 3 by=100\n" \
	" tile gemv gemv span=100ns work=300\n  edge 1 span=60ns work=90\n  edge 3 span=30ns latency=5ns work=100\n" \
	"  edge 13 span=10ns latency=0 work=30\n"

TEST(tiles_where_loops_end_are_as_small_as_they_are_said_to_be)
{
	static const char
		*const yaml = "clock: 1 GHz\ncores: 1\nl2: {size: 0 B}\ndma: {sync: 0 ps}\n",
		       *const math = "command tiles=12 trips=2x2x3\n tile gemv gemv span=100ns\n  edge 1 span=60ns\n"
				     "  edge 3 span=30ns latency=5ns\n  edge 13 span=10ns\n";
	struct machine_conf *c = machine(yaml);
	struct arena *a = arena_new(0);
	struct program p;
	struct err e = ERR_INIT;
	size_t uneven = 0;

	CHECK_U64(time_of(math, yaml), 2 * PS_US + 350 * PS_NS + 2 * (2 * 100 + 30 + 2 * 60 + 10) * PS_NS);
	CHECK_OK(read_program("program 1\n" UNEVEN("910", "  edge 13 by=30\n"), &c->cfg, a, &p, &e), e);
	CHECK_U64(p.stream.ops[0].shape.k, 2 * 910); /* the work of all tiles */
	for (int f = RUN_EVENT; f <= RUN_ANALYTIC; f++) {
		struct run_opts o = {
			.seed = 1, .start = RUN_COLD, .fidelity = (enum run_fidelity)f, .program = &p.map
		};
		struct run_result x;

		CHECK_OK(run_stream(&p.stream, c, &o, a, &x, &e), e);
		CHECK_U64(runbed_stat(&x, "dma.read_bytes"), 2 * 910);
		CHECK_U64(runbed_stat(&x, "dma.transfers"), 12);
		CHECK_U64(runbed_stat(&x, "gemv.busy_ps"), 2 * 360 * PS_NS);
		CHECK_U64(runbed_stat(&x, "gemv.macs"), 2 * 910);
	}
	CHECK(there_and_back(&p.stream, c, a, (struct run_opts){ .seed = 1, .program = &p.map }, &uneven));
	CHECK_U64(uneven, 2);
	arena_free(a);
	machine_conf_free(c);
}

TEST(an_op_of_a_program_without_ops_is_what_its_command_does)
{
	struct machine_conf *c = machine(hand);
	struct arena *a = arena_new(0);
	struct program p;
	struct err e = ERR_INIT;

	CHECK_OK(read_program("program 1\r\n"
	                      "tensor w role=weight bytes=1MiB external   # a comment\r\n"
	                      "\ttensor \"a name\" bytes=4KiB\n\n"
	                      "command tiles=4 slot=64KiB held=4096\n"
	                      "  tile load w early\n"
	                      "  tile gemv gemv span=10ns work=100 last_work=50\n"
	                      "  post store \"a name\" bytes=1KiB offset=3KiB\n"
	                      "command held=4KiB after=0\n"
	                      "  pre load \"a name\"\n",
	                      &c->cfg, a, &p, &e),
	         e);
	CHECK_U64(p.stream.n_ops, 2);
	CHECK(p.stream.ops[0].kind == OP_GEMM && p.stream.ops[1].kind == OP_COPY);
	CHECK_U64(p.stream.ops[0].shape.k, 350);
	CHECK_U64(p.stream.ops[0].n_operands, 2);
	CHECK_U64(p.stream.tensors[1].addr % 256, 0);
	CHECK(p.stream.tensors[1].addr >= p.stream.tensors[0].addr + (1 << 20));
	CHECK_U64(p.map.prog.insns[0].tile_bytes, 256 << 10);
	CHECK_U64(p.map.prog.insns[0].bytes, 1 << 20);
	CHECK_U64(p.map.prog.insns[2].bytes, 1024);
	CHECK_U64(p.map.prog.insns[2].src, ISA_SRAM);
	CHECK_U64(p.map.prog.max_tile_moves, 1);
	CHECK_U64(p.map.cmd_of_op[1], 1);
	arena_free(a);
	machine_conf_free(c);
}

/* Names of strangers come back as they were, and stay in their line. */
TEST(any_name_goes_there_and_back)
{
	static const char name[] = "a \"b\" \\ c\n# d\x01=\xc3\xa9";
	struct machine_conf *c = machine(hand);
	struct arena *a = arena_new(0);
	struct op_tensor t[3] = {
		{ .name = name, .bytes = 64, .instances = 1, .layer = -1, .route = -1, .external = true },
		{ .name = name, .bytes = 64, .addr = 512, .instances = 1, .layer = -1, .route = -1 },
		{ .bytes = 64, .addr = 1024, .instances = 1, .layer = -1, .route = -1 }
	};
	struct op_operand x[3] = { { .tensor = 0, .bytes = 64, .touched = 64 },
		                   { .tensor = 1, .write = true, .bytes = 64, .touched = 64 },
		                   { .tensor = 2, .write = true, .bytes = 64, .touched = 64 } };
	struct op o = { .kind = OP_OPAQUE,
		        .name = name,
		        .family = name,
		        .fn = name,
		        .layer = -1,
		        .routed_by = -1,
		        .n_operands = 3 };
	struct op_stream s = { .ops = &o, .n_ops = 1, .tensors = t, .n_tensors = 3, .operands = x, .n_operands = 3 };
	struct map_result m = { .op_work_ps = &(uint64_t){ 1 } };
	struct str text = STR_INIT;
	struct program p;
	struct err e = ERR_INIT;

	program_write(&s, &m, &text);
	if (read_program(str_c(&text), &c->cfg, a, &p, &e) < 0)
		test_fail(__FILE__, __LINE__, "%d: %s\n%s", e.line, e.msg, str_c(&text));
	CHECK_STR(p.stream.ops[0].name, name);
	CHECK_STR(p.stream.ops[0].family, name);
	CHECK_STR(p.stream.tensors[0].name, name);
	CHECK_U64(p.stream.n_tensors, 3);
	str_free(&text);
	arena_free(a);
	machine_conf_free(c);
}

/* --- what is refused ----------------------------------------------------------------------------------------------- */

static void refused_by(const char *yaml, const char *text, int line, const char *why)
{
	struct machine_conf *c = machine(yaml);
	struct arena *a = arena_new(0);
	struct program p;
	struct err e = ERR_INIT;

	if (read_program(text, &c->cfg, a, &p, &e) == 0)
		test_fail(__FILE__, __LINE__, "taken:\n%s", text);
	if (!strstr(e.msg, why) || e.line != line)
		test_fail(__FILE__, __LINE__, "%d: %s\nand not %d: %s\n%s", e.line, e.msg, line, why, text);
	CHECK_STR(line ? e.file : "x.txt", "x.txt");
	arena_free(a);
	machine_conf_free(c);
}

static void refused(const char *body, int line, const char *why)
{
	struct str text = STR_INIT;

	str_addf(&text, "program 1\n%s", body);
	refused_by(hand, str_c(&text), line, why);
	str_free(&text);
}

TEST(lines_that_cannot_be_read)
{
	refused_by(hand, "", 1, "its first line is 'program 1'");
	refused_by(hand, "\n# only this\n", 2, "its first line is 'program 1'");
	refused_by(hand, "{\"json\": 1}\n", 1, "a quote begins in the middle");
	refused_by(hand, "tensor x\n", 1, "its first line is 'program 1'");
	refused_by(hand, "program 2\n", 1, "reads programs of version 1");
	refused_by(hand, "program 1\nprogram 1\n", 2, "stands once");
	refused("tensr x bytes=4\n", 2, "did you mean 'tensor'");
	refused("x=3\n", 2, "unknown word");
	refused("tensor\n", 2, "'tensor' is followed by a name");
	refused("tensor \"\" bytes=4\n", 2, "is empty");
	refused("tensor x bytes=4 bytes=4\n", 2, "'bytes' is given twice");
	refused("tensor x byte=4\n", 2, "did you mean 'bytes'");
	refused("tensor x bytes\n", 2, "'bytes' has no value");
	refused("tensor x bytes=\n", 2, "is no whole number");
	refused("tensor x bytes=4KB\n", 2, "is no number of bytes");
	refused("tensor x bytes=-4\n", 2, "is no whole number");
	refused("tensor x bytes=18446744073709551616\n", 2, "is no whole number");
	refused("tensor x bytes=17179869184GiB\n", 2, "is too large");
	refused("tensor x bytes=4 instances=4294967296\n", 2, "is too large");
	refused("tensor x bytes=4 external=yes\n", 2, "'external' takes no value");
	refused("tensor x bytes=4 externl\n", 2, "did you mean 'external'");
	refused("tensor x bytes=4 role=wieght\n", 2, "unknown role 'wieght': did you mean 'weight'");
	refused("tensor x bytes=4 dtype=bf17\n", 2, "did you mean 'bf16'");
	refused("tensor x bytes=4\n\ntensor x bytes=4\n", 4, "there is a tensor 'x' already");
	refused("tensor \"x bytes=4\n", 2, "the quote does not close");
	refused("tensor \"x\\n\" bytes=4\n", 2, "an escape other than");
	refused("tensor \"x\"y bytes=4\n", 2, "right behind one");
	refused("tensor \"x\\x00\" bytes=4\n", 2, "an escape other than");
	refused("op gem p\n", 2, "did you mean 'gemm'");
	refused("op gemm\n", 2, "a kind and a name");
	refused("op copy x elems=4 after=0\n", 2, "there are 0 so far");
	refused("reads x\n", 2, "stands below an op");
	refused("op copy x elems=4\n reads y\n", 3, "there is no tensor 'y' above");
	refused("pre load x\n", 2, "stands below a command");
	refused("command\n pre lod x\n", 3, "did you mean 'load'");
	refused("command\n pre load x\n", 3, "there is no tensor 'x' above");
	refused("command\n pre gemv vectr\n", 3, "did you mean 'vector'");
	refused("command\n pre gemv\n", 3, "the unit that runs it");
	refused("command\n pre gemv gemv span=4h\n", 3, "is no time");
	refused("command trips=2x2\n", 2, "is not three whole numbers");
	refused("command tiles=2 trips=1x1x2\n tile gemv gemv stays=4\n", 3, "names no loops");
	refused("command after=0\n", 2, "there are 0 so far");
	refused("command\ncommand after=1\n", 3, "there are 1 so far");
	refused("command\ncommand after=0,\n", 3, "is no list of numbers");
	refused("command ops=0\n", 2, "each command is one");
	refused("op copy x elems=4\ncommand\n", 3, "says which it does");
	refused("op copy x elems=4\ncommand ops=1\n", 3, "there are 1");
	refused("op copy x elems=4\ncommand ops=0-\n", 3, "is no op and no range");
	refused("op copy x elems=4\nop copy y elems=4\ncommand ops=1,0\n", 4, "not in order");
	refused("op copy x elems=4\nop copy y elems=4\ncommand ops=0,0\n", 4, "not in order");
	refused("op copy x elems=4\nop copy y elems=4\ncommand ops=0,\n", 4, "is no op and no range");
	refused("op copy x elems=4\nop copy y elems=4\ncommand ops=0,5\n", 4, "there are 2");
	refused("op copy x elems=4\ncommand ops=0\nop copy y elems=4\n", 4, "before the first command");
	refused("route experts=4 top=5\n", 2, "picks 1 or more of its experts");
}

TEST(programs_that_cannot_be_run)
{
#define W "tensor w bytes=64 external\n"
	refused("tensor x\n", 2, "has 0 bytes");
	refused("tensor x bytes=4 instances=0\n", 2, "0 instances");
	refused("tensor x bytes=4 instances=2 stride=3\n", 2, "lie over each other");
	refused("tensor x bytes=4 addr=17592186044416\n", 2, "behind 2^44");
	refused("tensor x bytes=4 addr=18446744073709551615\n", 2, "behind 2^44");
	refused("op gemm p m=0 n=4 k=4\n", 2, "op 0 has a shape of 0: give 'm'");
	refused("op gemm p n=4\n", 2, "give 'k'");
	refused("op attention p heads=4 q_len=1 kv_len=0 head_dim=64\n", 2, "give 'kv_len'");
	refused("op softmax p rows=4 cols=0\n", 2, "give 'cols'");
	refused("op copy c elems=0\n", 2, "give 'elems'");
	refused("command\n pre gemv gemv shape=1x0x4 span=4\n", 3, "'shape' has a 0");
	refused("command\n pre gemv gemv shape=0x0x0 span=4\n", 3, "'shape' has a 0");
	refused("tensor x bytes=4 route=0\n", 2, "of router 0, and there are 0");
	refused("route experts=4 top=2\ntensor x bytes=4 instances=3 route=0\n", 3, "3 instances for the 4 experts");
	refused(W "tensor x bytes=4 addr=300 external\n", 3, "overlap, and both are external");
	refused(W "op copy c elems=4\n reads w offset=60 bytes=5\n", 3, "outside of tensor 'w'");
	refused(W "op copy c elems=4\n reads w bytes=5 touched=6\n", 3, "outside of tensor 'w'");
	refused("tensor x bytes=4\nop copy c elems=4\n reads x\n", 3, "before anything writes it");
	refused(W "op copy c elems=4 routed=0\n", 3, "routed by router 0");
	refused("op copy c elems=4\nop copy c elems=4\nop copy d elems=4 after=0,1,0\n", 4, "names 0 twice");
	refused(W "op copy c elems=4\ncommand ops=0\n pre load w\n", 5, "no op of the command reads or writes 'w'");
	refused(W "command\n pre load w bytes=65\n", 3, "outside of tensor 'w'");
	refused(W "op copy c elems=4\n reads w\ncommand ops=0\n pre load w offset=1 bytes=64\n", 6,
	        "bytes 1 to 65 of tensor");
	refused(W "command\n post load w\n", 4, "loads stand before the loop or in it");
	refused(W "command\n tile load w\n", 4, "its command has no tiles");
	refused(W "command\n pre load w by=4\n", 4, "are of what stands in the loop");
	refused(W "command tiles=2\n tile load w by=0\n", 4, "in tiles of none");
	refused(W "command tiles=2\n tile load w stays=1\n", 4, "which has none: give 'trips'");
	refused(W "command tiles=1000000 trips=1x1000x1000\n tile load w step=0x9000000x9000000\n", 4, "lead out of");
	refused("tensor w bytes=1GiB external\ncommand tiles=10000 trips=1x1x10000\n tile load w by=1GiB\n", 4,
	        "again and again");
	refused(W "op copy c elems=4\n reads w\ncommand ops=0\n pre load w\n pre vector vector pinned span=5\n", 7,
	        "stands behind a pinned load");
	refused(W "command\n pre load w route=0\n", 4, "router 0 makes no pick 0");
	refused("command tiles=1048577\n", 2, "are more than");
	refused("command tiles=7 trips=1x2x3\n", 2, "are not 7 tiles");
	refused("command held=1GiB\n", 2, "the machine's SRAM has");
	refused("command tiles=1 held=200KiB slot=100KiB\n", 2, "and 102400 a tile");
	refused("command batch=4\ncommand batch=3\n", 3, "batches go on: 3 follows 4");
	refused("command chained\n", 2, "chained to none");
	refused("command\ncommand routed=1\n", 3, "is not before this one");
	refused("command\ncommand\ncommand after=1,1\n", 4, "names 1 twice");
	refused("command\n pre gemvv gemv\n", 3, "did you mean");
	refused("command\n pre gemv dram span=4\n", 3, "'dram' is no unit that computes");
	refused("command\n pre gemv gemv span=2000000ms\n", 3, "busy for more than 1000 s");
	refused("command tiles=1000\n tile gemv gemv work=10000000000000000\n", 3, "more than a counter holds");
	refused_by("cores: 1\nmatrix: {units: 0}\n", "program 1\ncommand\n pre gemm matrix span=4\n", 3,
	           "the machine has no matrix unit ('matrix.units' is 0)");
	refused_by("cores: 1\nfusion: {enabled: false}\n", "program 1\ncommand\n pre fused_begin fusion span=4\n", 3,
	           "no fusion engine");
	refused(W "command\n pre load w from=sram\n", 4, "comes from SRAM, and no command before stores it there");
	refused("tensor y bytes=64\ncommand\n post store y to=sram\n", 4, "stay in SRAM, and commands keep 0");
	refused("command keeps=1GiB\n", 2, "keeps 1073741824 bytes, and the machine's SRAM has 262144 free");
	refused("command keeps=200KiB\ncommand held=100KiB frees=200KiB\n", 3, "the machine's SRAM has 57344");
	refused("command keeps=64 frees=65\n", 2, "frees 65 bytes, and commands keep 64");
	refused("command keeps=64\n", 1, "64 bytes stay in SRAM behind the last command");
	refused(W "command\n pre load w copies=2\n", 4, "there are 1 cores");
	refused(W "command\n pre load w share=65\n", 4, "a core has a part of its bytes");
	refused("command\n pre gemv gemv idle=1000001\n", 3, "in millionths");
	refused("op copy c elems=4\ncommand ops=0\n pre gemv gemv op=1\n", 4, "which is none of its command's");
}

/* A core of 4 GEMV units of 32 multiply-adds at 1 GHz does 128 a cycle of 1 ns; its 4 vector units do 128 ALU, 16 special and 128
 * converting steps. */
TEST(no_unit_is_faster_than_its_peak)
{
	const ps_t start = 2 * PS_US + 350 * PS_NS;

	refused("command\n pre gemv gemv work=1000000000000 span=1\n", 3,
	        "1000000000000 multiply-adds keep the machine's GEMV units busy for 7812500000000 ps at the least");
	refused(W "command\n pre load w\n pre gemv gemv work=1024 span=7999\n", 5, "8000 ps at the least");
	CHECK_U64(
		time_of("tensor w bytes=512 external\ncommand\n pre load w from=mem\n pre gemv gemv work=1024 span=8000\n",
	                hand) >= start + 8000,
		1);
	/* Eight bits take half as long. */
	refused(W "command\n pre load w\n pre gemv gemv work=1024 span=3999 dtype=int8\n", 5, "4000 ps at the least");
	refused("command\n pre sfu vector work=2720 span=9999\n", 3,
	        "2720 steps keep the machine's vector units busy for 10000");
	refused("command\n pre sort vector work=1280 span=9999\n", 3, "busy for 10000 ps");
	CHECK_U64(time_of("command\n pre sfu vector work=2720 span=10000\n", hand), start + 10000);
	/* Each kind of tile. */
	refused(W "command tiles=4\n tile load w\n tile gemv gemv work=128 span=1000 last_work=128 last_span=999\n", 5,
	        "1000 ps at the least");
	refused("tensor w bytes=2KiB external\ncommand tiles=4 trips=2x1x2\n tile load w by=512 step=2x0x1\n"
	        " tile gemv gemv work=256 span=2000\n  edge 1 work=128 span=999\n",
	        5, "128 multiply-adds");
	refused("command\n pre send noc work=1 span=5\n", 3, "'noc' is none");
}

TEST(a_program_does_what_its_ops_ask_for)
{
#define PRODUCT \
	"tensor x bytes=64 external\ntensor w role=weight bytes=16KiB external\ntensor y bytes=512\n" \
	"op gemm p n=256 k=32\n reads x\n reads w\n writes y\n"
#define MATH  " pre gemv gemv work=8192 span=64000\n"
#define STORE " post store y\n"
	struct machine_conf *c = machine(hand);
	struct arena *a = arena_new(0);
	struct program p;
	struct err e = ERR_INIT;

	CHECK_OK(read_program("program 1\n" PRODUCT "command ops=0\n pre load x\n pre load w\n" MATH STORE, &c->cfg, a,
	                      &p, &e),
	         e);
	refused(PRODUCT "command ops=0\n pre load x\n pre load w\n pre gemv gemv work=8191 span=64000\n" STORE, 5,
	        "op 0 takes 8192 multiply-adds, and its commands do 8191");
	refused(PRODUCT "command ops=0\n pre load x\n pre load w bytes=16\n" MATH STORE, 5,
	        "op 0 reads 16384 bytes of 'w', and its commands load 16 of them");
	refused(PRODUCT "command ops=0\n pre load x\n" MATH STORE, 5, "load 0 of them");
	refused(PRODUCT "command ops=0\n pre load x\n pre load w\n" MATH " post store y bytes=8\n", 5,
	        "op 0 writes 512 bytes of 'y', and its commands store 8 of them");
	refused(PRODUCT "op copy q elems=4\ncommand ops=1\n", 5, "no command does op 0");
	/* In two commands, a half each. */
	CHECK_OK(
		read_program(
			"program 1\n" PRODUCT
			"command ops=0\n pre load x\n pre load w bytes=8KiB\n pre gemv gemv work=4096 span=32000\n post store y bytes=256\n"
			"command ops=0\n pre load x\n pre load w offset=8KiB\n pre gemv gemv work=4096 span=32000\n post store y offset=256\n",
			&c->cfg, a, &p, &e),
		e);
	/* Four bits of sixteen, as the machine stores weights. */
	refused_by("clock: 1 GHz\ncores: 1\nweights: {dtype: int4}\n",
	           "program 1\n" PRODUCT "command ops=0\n pre load x\n pre load w bytes=4095\n" MATH STORE, 5,
	           "reads 4096 bytes");
	arena_free(a);
	machine_conf_free(c);
}

TEST(a_program_without_ops_loads_what_it_multiplies)
{
#define XW "tensor x bytes=64 external\ntensor w role=weight bytes=16KiB external\n"
	refused(XW "command\n pre load x\n pre load w bytes=16\n pre gemv gemv shape=1x256x32 work=8192 span=64000\n",
	        7, "a tile multiplies 8192 weights, and its command loads 40 values in all");
	refused(XW "command\n pre load x\n pre load w bytes=16\n pre gemv gemv work=8192 span=64000\n", 4,
	        "8192 multiply-adds of the 40 values that it loads: there are 400 pairs");
	refused(XW "command\n pre load x\n pre load w\n pre gemv gemv shape=1x256x32 work=1 span=1000\n", 7,
	        "a tile of its shape takes 8192 multiply-adds, and 'work' is 1");
	refused(XW "command\n pre load x\n pre load w\n pre gemv gemv shape=1x256x32 work=8193 span=65000\n", 7,
	        "and 'work' is 8193");
	CHECK_U64(time_of(XW "command\n pre load x\n pre load w\n pre gemv gemv shape=1x256x32 work=8192 span=64000\n",
	                  hand) > 0,
	          1);
}

/* Tiles that do not come to the end of what they move leave the rest where it is. */
TEST(tiles_move_all_of_it)
{
	refused(W "command tiles=16\n tile load w by=1\n", 4, "its tiles have 16 bytes, and 64 are to be moved");
	refused(W "command tiles=4 trips=2x1x2\n tile load w by=16\n", 4, "its tiles have 16 bytes");
	refused(W "command tiles=4 trips=2x1x2\n tile load w by=16 step=3x0x1\n", 4, "its tiles have 32 bytes");
	refused(W "command tiles=4 trips=2x1x2\n tile load w by=16 step=1x0x1\n", 4, "its tiles have 48 bytes");
	CHECK_U64(time_of(W "command tiles=4 trips=2x1x2 slot=64\n tile load w by=16 step=1x0x2\n", hand) > 0, 1);
}

TEST(edges_that_cannot_be)
{
	refused("edge 1 by=3\n", 2, "stands below an instruction in a nest");
	refused(W "command tiles=4\n tile load w\n  edge 1 by=3\n", 5, "in a nest of loops ('trips')");
#define NEST W "command tiles=4 trips=2x1x2\n tile load w by=16 step=2x0x1\n"
	refused(NEST "  edge by=3\n", 5, "followed by the loops that end");
	refused(NEST "  edge 4 by=3\n", 5, "names no loops");
	refused(NEST "  edge 1 by=3\n  edge 1 by=3\n", 6, "edge 1 is given twice");
	refused(NEST "  edge 1 bye=3\n", 5, "did you mean 'by'");
	refused(NEST "  edge 1 by=17\n", 4, "edge 1 is no part of a full tile");
	refused(NEST "  edge 1 by=16 span=3\n", 4, "edge 1 is no part of a full tile");
	refused(NEST "  edge 1 by=4\n  edge 3 by=4\n", 4, "where loops 13 end is not said: give 'edge 13'");
	refused(NEST "  edge 2 by=4\n", 4, "no edge where loop 2 ends");
	refused(UNEVEN("911", "  edge 13 by=30\n"), 4, "its tiles have 910 bytes, and 911 are to be moved");
	refused(UNEVEN("910", ""), 4, "where loops 13 end is not said");
	refused("command tiles=4 trips=2x1x2\n tile gemv gemv span=4\n  edge 1 span=2000000ms\n", 3,
	        "busy for more than 1000 s");
	refused("command tiles=4 trips=2x1x2\n tile gemv gemv span=4\n  edge 1 by=4\n", 3, "is no part of a full tile");
	refused("command tiles=4 trips=2x1x2\n tile gemv gemv span=4 stays=1\n  edge 1 span=4\n", 3,
	        "no edge where loop 1 ends");
}

TEST(what_is_not_text_is_refused)
{
	static const char zero[] = "program 1\ntensor x\0 bytes=4\n";
	struct machine_conf *c = machine(hand);
	struct arena *a = arena_new(0);
	struct program p;
	struct err e = ERR_INIT;
	struct input *in = input_mem(zero, sizeof zero - 1, "x.txt", &e);

	CHECK(program_read(in, &c->cfg, a, &p, &e) == -1);
	CHECK_HAS(e.msg, "a zero byte");
	CHECK_U64(e.line, 2);
	input_free(in);
	arena_free(a);
	machine_conf_free(c);
}

TEST(memory_that_runs_out_is_an_error_wherever_it_does)
{
	static const char text[] =
		"program 1\nroute experts=4 top=2\ntensor w bytes=64 instances=4 route=0 external\n"
		"op gemm p n=4 k=4\n reads w\ncommand ops=0\n pre load w\n pre gemv gemv work=16 span=4\n";
	struct machine_conf *c = machine(hand);
	size_t failures = 0, limit = 0;
	struct err e;
	int rc;

	do {
		struct arena *a = arena_new(limit += 512);
		struct program p;

		e = (struct err)ERR_INIT;
		if ((rc = read_program(text, &c->cfg, a, &p, &e)) < 0)
			CHECK(e.kind == ERR_NOMEM);
		failures += rc < 0;
		arena_free(a);
	} while (rc < 0 && limit < 10000000);
	CHECK(rc == 0 && failures > 10);
	machine_conf_free(c);
}

TEST(the_example_by_hand_runs)
{
	struct machine_conf *c;
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct run_opts o = { .seed = 1 };
	struct run_result x;
	struct program p;
	struct input *in;
	char path[512];

	snprintf(path, sizeof path, "%s/configs/npu/dsocr.yaml", test_root());
	c = machine_conf_load(path, NULL, 0, &e);
	CHECK_OK(c ? 0 : -1, e);
	snprintf(path, sizeof path, "%s/workloads/programs/mlp.txt", test_root());
	in = input_open(path, &e);
	CHECK_OK(in ? program_read(in, &c->cfg, a, &p, &e) : -1, e);
	o.program = &p.map;
	CHECK_OK(run_stream(&p.stream, c, &o, a, &x, &e), e);
	CHECK_U64(x.flops, UINT64_C(3) * 2 * 1280 * 6848 + 6848);
	CHECK_U64(runbed_stat(&x, "gemv.macs"), UINT64_C(3) * 1280 * 6848);
	CHECK(x.total_ps > x.mapped_ps && x.total_ps < 2 * x.mapped_ps);
	input_free(in);
	arena_free(a);
	machine_conf_free(c);
}

/* A field that is new has a line for who writes by hand. */
TEST(every_field_is_explained)
{
	static const struct program_field *const tables[] = { program_route_fields,    program_tensor_fields,
		                                              program_op_fields,       program_operand_fields,
		                                              program_command_fields,  program_insn_fields,
		                                              program_remainder_fields };
	struct str text = STR_INIT;
	char path[512], part[4096], key[64];
	size_t n;
	FILE *f;

	snprintf(path, sizeof path, "%s/workloads/programs/README.md", test_root());
	CHECK((f = fopen(path, "r")) != NULL);
	while ((n = fread(part, 1, sizeof part, f)) > 0)
		str_addn(&text, part, n);
	fclose(f);
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (const struct program_field *x = tables[i]; x->key; x++) {
			snprintf(key, sizeof key, "`%s`", x->key);
			if (!strstr(str_c(&text), key))
				test_fail(__FILE__, __LINE__, "%s is not in workloads/programs/README.md", key);
		}
	str_free(&text);
}

SUITE(t_program, T(every_field_is_explained), SLOW(a_measured_step_takes_the_same_time_as_it_was_written),
      SLOW(random_steps_on_random_machines_do_too), T(so_do_products_that_no_tile_divides), T(times_by_hand),
      T(tiles_where_loops_end_are_as_small_as_they_are_said_to_be), T(edges_that_cannot_be),
      T(an_op_of_a_program_without_ops_is_what_its_command_does), T(any_name_goes_there_and_back),
      SLOW(what_is_mapped_for_any_machine_is_taken), T(so_are_experts_as_one_product),
      SLOW(so_is_what_a_machine_narrows_and_holds), T(no_unit_is_faster_than_its_peak),
      T(a_program_does_what_its_ops_ask_for), T(a_program_without_ops_loads_what_it_multiplies),
      T(tiles_move_all_of_it), T(lines_that_cannot_be_read), T(programs_that_cannot_be_run),
      T(what_is_not_text_is_refused), T(memory_that_runs_out_is_an_error_wherever_it_does),
      T(the_example_by_hand_runs));
