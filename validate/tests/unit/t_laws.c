/* t_laws.c - laws over tables: one test walks a table of the product to its end, so that a new row is tested by being one.
 * Units, figures of a pipeline, kinds of op, number formats, memories, and each word and switch of a machine. */
#include <stdlib.h>

#include "arch/machine/machine_area.h"
#include "arch/machine/machine_conf.h"
#include "results/figure.h"
#include "sim/engine/run_stages.h"
#include "validate/tests/runbed.h"
#include "validate/tests/synth.h"
#include "validate/tests/tablebed.h"
#include "validate/tests/unitbed.h"
#include "workloads/listed.h"

#define N(a) (sizeof(a) / sizeof *(a))

/* --- units ------------------------------------------------------------------------------------------------------------ */

#define SCHEMA(id, name, ...) name##_schema,
static const struct cfg_field *const schemas[UNIT_COUNT] = { UNITS(SCHEMA) };
#undef SCHEMA

static bool has(const struct cfg_field *rows, const char *key)
{
	while (rows->key && strcmp(rows->key, key) != 0)
		rows++;
	return rows->key != NULL;
}

/* With `pairs` it multiplies narrow weights as they are, where its section knows that. */
static void unit_up(struct unitbed *b, enum unit u, bool pairs)
{
	unitbed_up(b, u, schemas[u],
	           pairs && has(schemas[u], "w4a8") ? "units: 4\nw8a16: true\nw4a16: true\nw4a8: true\n"
	                                            : "units: 4\n");
	b->env.cores = 8;
	CHECK(b->ops == unit_table[u]);
}

/* Its time; 0: the unit takes no such product, or it says so. */
static ps_t planned(const struct unitbed *b, enum dtype weight, enum dtype with, const uint64_t mnk[3])
{
	const struct unit_job j = {
		.work = UNIT_PRODUCT, .dtype = weight, .with = with, .m = mnk[0], .n = mnk[1], .k = mnk[2]
	};
	const uint64_t peak = b->ops->peak ? b->ops->peak(&b->env, weight, with) : 0;
	struct unit_plan p;

	if (!partition_plan(b->ops, &b->env, &j, NULL, &p))
		return 0;
	if (!peak || p.work < mnk[0] * mnk[1] * mnk[2] || p.span < clock_span(p.work / peak, b->env.clock_khz))
		test_fail(__FILE__, __LINE__, "%s: %s with %s takes %llu ps for %llu of %llu a cycle", b->ops->name,
		          dtype_name(weight), dtype_name(with), (unsigned long long)p.span, (unsigned long long)p.work,
		          (unsigned long long)peak);
	return p.span;
}

/* Weights that are narrower than activations: as they are where the unit says so, and never slower, else as if they were as wide. */
static void pair_agrees(const struct unitbed *b, enum dtype weight, enum dtype with, const uint64_t mnk[3])
{
	const ps_t span = planned(b, weight, with, mnk), wide = planned(b, with, with, mnk);
	const bool native = b->ops->native && b->ops->native(&b->env, weight, with);

	if (dtype_bits(weight) >= dtype_bits(with) || !span || !wide)
		return;
	if (native ? span > wide || b->ops->peak(&b->env, weight, with) < b->ops->peak(&b->env, with, with)
	           : span != wide || b->ops->peak(&b->env, weight, with) != b->ops->peak(&b->env, with, with))
		test_fail(__FILE__, __LINE__, "%s, %s: %s with %s takes %llu ps, %llu as wide", b->ops->name,
		          native ? "native" : "not native", dtype_name(weight), dtype_name(with),
		          (unsigned long long)span, (unsigned long long)wide);
}

TEST(no_unit_is_over_its_peak_and_pairs_of_formats_are_as_it_says)
{
	static const uint64_t shapes[][3] = { { 1, 256, 256 }, { 16, 100, 65 }, { 300, 129, 513 } };
	size_t products = 0;

	for (int u = 0; u < UNIT_COUNT; u++)
		for (int pairs = 0; pairs < 2; pairs++) {
			struct unitbed b;

			unit_up(&b, (enum unit)u, pairs);
			for (int d = DT_NONE + 1; d < DTYPES; d++)
				for (int w = DT_NONE + 1; w < DTYPES; w++)
					for (size_t i = 0; i < N(shapes); i++)
						pair_agrees(&b, (enum dtype)d, (enum dtype)w, shapes[i]);
			products += planned(&b, DT_BF16, DT_BF16, shapes[0]) > 0;
		}
	CHECK(products >= 2 * (UNIT_COUNT - 1));
}

static const struct unit_job jobs[] = {
	{ .work = UNIT_PRODUCT, .dtype = DT_BF16, .with = DT_BF16, .m = 16, .n = 256, .k = 256 },
	{ .work = UNIT_MAP, .elems = 4096, .alu = 2, .sfu = 1 },
	{ .work = UNIT_REDUCE, .rows = 16, .cols = 256, .passes = 2, .alu = 1 },
	{ .work = UNIT_SORT, .rows = 16, .cols = 256 },
	{ .work = UNIT_DEQUANT, .elems = 4096, .dtype = DT_INT4, .with = DT_BF16 },
};

/* Each sort of job is some unit's, and each unit does some, with an instruction, a name and its statistics. */
TEST(each_unit_does_something_and_each_job_is_done)
{
	for (int u = 0; u < UNIT_COUNT; u++) {
		const struct unit_ops *x = unit_table[u];
		bool any = false;
		struct unitbed b;

		unit_up(&b, (enum unit)u, false);
		for (size_t i = 0; i < N(jobs); i++) {
			struct unit_plan p;

			if (!x->plan(&b.env, &jobs[i], &p))
				continue;
			any = true;
			CHECK(p.span > 0 && p.work > 0 && p.why);
		}
		CHECK(any && x->name && x->label && x->busy_stat && x->work_stat && x->knobs);
		CHECK(str_prefix(x->busy_stat, x->name) && str_prefix(x->work_stat, x->name));
	}
	for (size_t i = 0; i < N(jobs); i++) {
		bool done = false;

		for (int u = 0; u < UNIT_COUNT; u++) {
			struct unitbed b;

			unit_up(&b, (enum unit)u, false);
			done |= b.ops->plan(&b.env, &jobs[i], &(struct unit_plan){ 0 });
		}
		CHECK(done);
	}
}

/* dsocr with this one alone to multiply, in a process whose costs are known. */
static struct machine_conf *with_unit(enum unit u, unsigned units)
{
	const char *sets[UNIT_COUNT + 2] = { "die.node=n7", "power.dram=hbm3e" };
	char text[UNIT_COUNT][64];
	struct err e = ERR_INIT;
	struct machine_conf *c;
	int n = 2;

	for (int i = 0; i < UNIT_COUNT; i++)
		if (i == (int)u || !unit_table[i]->last_resort) {
			snprintf(text[i], sizeof text[i], "%s.units=%u", unit_table[i]->name, i == (int)u ? units : 0);
			sets[n++] = text[i];
		}
	c = machine_conf_load("dsocr", sets, n, &e);
	CHECK_OK(c ? 0 : -1, e);
	return c;
}

static uint64_t block_area(const struct machine_conf *c, const char *name)
{
	struct err e = ERR_INIT;
	struct tech *t = tech_load(c->cfg.die.node, &e);
	uint64_t nm2 = 0;
	struct area a;

	CHECK_OK(t ? 0 : -1, e);
	machine_area(&c->cfg, t, &a);
	for (int i = 0; i < AREA_COUNT; i++)
		nm2 += strcmp(area_name((enum area_block)i), name) == 0 ? area_of(&a.block[i]) : 0;
	tech_free(t);
	return nm2;
}

TEST(each_unit_has_its_area_and_twice_as_many_take_more)
{
	for (int u = 0; u < UNIT_COUNT; u++) {
		struct machine_conf *c = with_unit((enum unit)u, 2), *more = with_unit((enum unit)u, 4);
		const uint64_t nm2 = block_area(c, unit_table[u]->name);

		if (!nm2 || block_area(more, unit_table[u]->name) <= nm2)
			test_fail(__FILE__, __LINE__, "%s: %llu nm2", unit_table[u]->name, (unsigned long long)nm2);
		machine_conf_free(c);
		machine_conf_free(more);
	}
}

static uint64_t block_energy(const struct run_result *x, const char *block)
{
	uint64_t fj = 0;

	for (size_t i = 0; i < x->n_energy; i++)
		fj += strcmp(x->energy[i].row->block, block) == 0 ? x->energy[i].fj : 0;
	return fj;
}

/* A product is done on the one unit that there is, is busy there and takes its energy there, with events and without. */
TEST(what_a_unit_does_is_its_time_and_its_energy)
{
	for (int u = 0; u < UNIT_COUNT; u++)
		for (enum run_fidelity f = RUN_EVENT; f <= RUN_ANALYTIC; f++) {
			const struct run_opts o = { .seed = 1, .fidelity = f };
			struct machine_conf *c = with_unit((enum unit)u, 2);
			struct arena *a = arena_new(0);
			struct op_stream *s = synth_product(a, 16, 512, 512);
			struct err e = ERR_INIT;
			struct run_result x;

			CHECK_OK(run_stream(s, c, &o, a, &x, &e), e);
			if (!runbed_stat(&x, unit_table[u]->busy_stat) || !runbed_stat(&x, unit_table[u]->work_stat) ||
			    !block_energy(&x, unit_table[u]->name))
				test_fail(__FILE__, __LINE__, "%s did nothing, or without energy", unit_table[u]->name);
			machine_conf_free(c);
			arena_free(a);
		}
}

/* --- a pipeline's figures --------------------------------------------------------------------------------------------- */

/* A stage's run with every number another one. */
static int stage_run(const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *o,
                     struct arena *a, struct run_result *out, struct err *e)
{
	static const struct energy_row row = { .block = "b", .name = "n", .help = "h" };
	uint64_t n = 1000000000 + s->addr_end;

	(void)conf;
	(void)o;
	(void)e;
	memset(out, 0, sizeof *out);
	for (const struct figure *f = figure_table; f->help; f++)
		if (f->member)
			figure_set(f, &out->figures, n += 7919);
	out->energy_eager_fj = out->energy_fj;
	out->energy = arena_array(a, 1, sizeof *out->energy);
	*out->energy = (struct run_energy){ &row, out->energy_fj };
	out->n_energy = 1;
	return 0;
}

static uint64_t of_stage(const struct op_stream *s, uint32_t k, const struct figure *f)
{
	struct arena *a = arena_new(0);
	struct run_result x;
	uint64_t n;

	stage_run(s->stages[k].stream, NULL, NULL, a, &x, NULL);
	n = figure_number(f, &x.figures);
	arena_free(a);
	return n;
}

static void check_figure(const struct op_stream *s, const struct figure *f, uint64_t got)
{
	const uint64_t x = of_stage(s, 0, f), y = of_stage(s, 1, f);
	const uint32_t n = s->stages[0].times, m = s->stages[1].times;
	/* of one micro-batch a stage counts in the time as often as there are chips of it */
	const uint64_t sum = n * x + m * y, mean = (sum + (n + m) / 2) / (n + m);
	const uint64_t want = f->pipe != FIGURE_PIPE_MEAN ? sum : f->level ? ps_max(x, y) : mean;

	if (got > want + 1 || want > got + 1)
		test_fail(__FILE__, __LINE__, "%s of a pipeline is %llu, not %llu: stages have %llu and %llu",
		          f->member, (unsigned long long)got, (unsigned long long)want, (unsigned long long)x,
		          (unsigned long long)y);
}

/* A figure that is new is a pipeline's by being a row: nothing that stages have is lost on the way. */
TEST(a_pipeline_has_every_figure_of_its_stages)
{
	/* said of the whole, before and after */
	static const char *const whole[] = { "tokens", "energy_period_fj" };
	struct op_stream of[2] = { { .addr_end = 3 }, { .addr_end = 100 } };
	struct op_stage stages[2] = { { &of[0], 2 }, { &of[1], 3 } };
	const struct op_stream s = { .stages = stages, .n_stages = 2, .micro = 1 };
	const struct run_opts o = run_opts_default();
	struct arena *a = arena_new(0);
	struct run_result x = { .stream = &s };
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_load("dsocr", NULL, 0, &e);

	CHECK_OK(c ? 0 : -1, e);
	CHECK_OK(run_stages(&s, c, &o, stage_run, a, &x, &e), e);
	for (const struct figure *f = figure_table; f->help; f++) {
		bool of_whole = false;

		for (size_t i = 0; f->member && i < N(whole); i++)
			of_whole |= strcmp(f->member, whole[i]) == 0;
		if (!f->member || of_whole)
			continue;
		if (!figure_number(f, &x.figures))
			test_fail(__FILE__, __LINE__, "%s of a pipeline is 0", f->member);
		if (f->pipe != FIGURE_PIPE_APART)
			check_figure(&s, f, figure_number(f, &x.figures));
	}
	CHECK_U64(x.total_ps,
	          2 * of_stage(&s, 0, figure_named("latency_us")) + 3 * of_stage(&s, 1, figure_named("latency_us")));
	machine_conf_free(c);
	arena_free(a);
}

/* --- whatever there is runs ------------------------------------------------------------------------------------------- */

#define SIDE 64 /* of products */

/* What holds of every run; false: the machine is refused. */
static bool runs_on(const struct op_stream *s, const struct machine_conf *c, enum run_fidelity f, struct run_result *x,
                    struct err *e)
{
	const struct run_opts o = { .start = RUN_COLD, .seed = 7, .fidelity = f };
	struct arena *a = arena_new(0);
	ps_t spans = 0, stalls = 0;
	const bool ran = run_stream(s, c, &o, a, x, e) == 0;

	for (size_t i = 0; ran && i < s->n_ops; i++)
		spans += x->ops[i].carried ? 0 : x->ops[i].span_ps;
	for (int i = 0; ran && i < RES_COUNT; i++)
		stalls += x->stall_ps[i];
	if (ran && (!x->total_ps || x->total_ps < x->roofline_ps || spans != x->total_ps || stalls != x->total_ps))
		test_fail(__FILE__, __LINE__, "%llu ps, ops %llu, stalls %llu, roofline %llu",
		          (unsigned long long)x->total_ps, (unsigned long long)spans, (unsigned long long)stalls,
		          (unsigned long long)x->roofline_ps);
	arena_free(a);
	return ran;
}

/* In both fidelities; false: the machine is refused, by a text that has `key`. */
static bool runs(const struct op_stream *s, struct machine_base *base, const char *const *sets, int n, const char *key,
                 struct run_result x[2])
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_base_conf(base, sets, n, &e);
	bool ran = c != NULL;

	printf("with %s\n", n ? sets[n - 1] : "nothing set"); /* shown where it fails */
	for (enum run_fidelity f = RUN_EVENT; ran && f <= RUN_ANALYTIC; f++)
		ran = runs_on(s, c, f, &x[f == RUN_ANALYTIC], &e);
	if (!ran) {
		CHECK(e.kind == ERR_CONFIG);
		CHECK_HAS(e.msg, key);
	}
	machine_conf_free(c);
	return ran;
}

static struct machine_base *base_of(const char *config)
{
	struct err e = ERR_INIT;
	struct machine_base *base = machine_base_load(config, NULL, 0, &e);

	CHECK_OK(base ? 0 : -1, e);
	return base;
}

/* A norm, products of one and of several rows, attention over a cache and what follows: small, since it runs some hundred times. */
static void a_step(struct runbed *b)
{
	runbed_table(b, "op,m,n,k,heads,q_len,kv_len,head_dim,rows,cols\n"
	                "norm,,,,,,,,4,128\n"
	                "gemm,4,128,128,,,,,,\n"
	                "attention,,,,2,1,64,64,,\n"
	                "softmax,,,,,,,,4,128\n"
	                "gemm,1,256,128,,,,,,\n"
	                "elementwise:silu,,,,,,,,1,256\n");
}

/* Each other value of a parameter that has words, or is on or off. How many run. */
static size_t each_other(const struct op_stream *s, struct machine_base *base, const struct cfg *now, size_t at)
{
	static const char *const flags[] = { "false", "true", NULL };
	const struct cfg_row row = cfg_at(now, at);
	const char *const *words = row.field->type == CFG_T_BOOL ? flags : row.field->names;
	size_t ran = 0;

	for (size_t i = 0; words[i]; i++) {
		struct run_result x[2];
		char set[160];
		const char *sets[] = { "l2.size=1 MiB", "l1.size=64 KiB", set };

		snprintf(set, sizeof set, "%s=%s", row.key, words[i]);
		ran += i != cfg_raw(now, at) && runs(s, base, sets, N(sets), row.key, x);
	}
	return ran;
}

static void each_of_type(enum cfg_type type, size_t least)
{
	struct err e = ERR_INIT;
	struct machine_base *base = base_of("edge");
	struct machine_conf *c = machine_base_conf(base, NULL, 0, &e);
	struct runbed b;
	size_t ran = 0;

	CHECK_OK(c ? 0 : -1, e);
	a_step(&b);
	for (size_t i = 0; i < cfg_count(c->raw); i++)
		if (cfg_at(c->raw, i).field->type == type)
			ran += each_other(b.s, base, c->raw, i);
	if (ran < least)
		test_fail(__FILE__, __LINE__, "%zu run", ran);
	machine_conf_free(c);
	machine_base_free(base);
	runbed_down(&b);
}

/* A policy, a network, a dataflow, a rule of a mapper: whatever a machine can be set to by a word runs, or is refused by its name. */
TEST(every_word_of_a_machine_runs)
{
	each_of_type(CFG_T_ENUM, l2_policies().n + networks().n);
}

TEST(every_switch_of_a_machine_runs)
{
	each_of_type(CFG_T_BOOL, 20);
}

TEST(every_policy_runs_on_every_network)
{
	const struct words policies = l2_policies(), kinds = networks();
	struct machine_base *base = base_of("edge");
	struct runbed b;

	a_step(&b);
	for (size_t p = 0; p < policies.n; p++)
		for (size_t k = 0; k < kinds.n; k++) {
			char policy[64], kind[64];
			const char *sets[] = { "l2.size=1 MiB", policy, kind };
			struct run_result x[2];

			snprintf(policy, sizeof policy, "l2.policy=%s", policies.v[p]);
			snprintf(kind, sizeof kind, "noc.kind=%s", kinds.v[k]);
			CHECK(runs(b.s, base, sets, N(sets), "", x));
			CHECK(x[0].dram_read_bytes > 0 && x[1].dram_read_bytes > 0);
		}
	machine_base_free(base);
	runbed_down(&b);
}

/* Bytes move at no more than its peak, and take its energy where configs/tech/dram.yaml has that. */
TEST(every_memory_runs_and_takes_energy)
{
	struct arena *a = arena_new(0);
	const struct words kinds = memories(a);
	struct machine_base *base = base_of("edge");
	struct runbed b;

	a_step(&b);
	for (size_t k = 0; k < kinds.n; k++) {
		char kind[64];
		const char *sets[] = { "l2.size=1 MiB", "dram.channels=4", "die.node=n7", kind };
		struct run_result x[2];

		snprintf(kind, sizeof kind, "dram.kind=%s", kinds.v[k]);
		CHECK(runs(b.s, base, sets, N(sets), "", x));
		for (int f = 0; f < 2; f++)
			if (!x[f].dram_read_bytes || x[f].total_ps < x[f].pins_ps ||
			    !x[f].energy_fj != (tech_dram_kind(kinds.v[k]) < 0))
				test_fail(__FILE__, __LINE__, "%s: %llu bytes in %llu ps, %llu at its peak, %llu fJ",
				          kinds.v[k], (unsigned long long)x[f].dram_read_bytes,
				          (unsigned long long)x[f].total_ps, (unsigned long long)x[f].pins_ps,
				          (unsigned long long)x[f].energy_fj);
	}
	machine_base_free(base);
	runbed_down(&b);
	arena_free(a);
}

/* One product with weights and activations in these formats. */
static struct op_stream *in_formats(struct arena *a, enum dtype weight, enum dtype with)
{
	struct op_stream *s = synth_product(a, 16, SIDE, SIDE);

	for (size_t i = 0; i < s->n_tensors; i++) {
		const enum dtype d = s->tensors[i].role == OP_WEIGHT ? weight : with;

		s->tensors[i].dtype = d;
		s->tensors[i].bytes = dtype_bytes(d, s->tensors[i].bytes / 2);
	}
	for (size_t i = 0; i < s->n_operands; i++)
		s->operands[i].bytes = s->operands[i].touched = s->tensors[s->operands[i].tensor].bytes;
	s->ops[0].dtype = s->ops[0].out_dtype = with;
	return s;
}

/* No weight is read in part, whatever its format. */
TEST(every_format_of_weights_runs_with_every_format_of_activations)
{
	const char *const none = "l2.size=0";
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_load("edge", &none, 1, &e);

	CHECK_OK(c ? 0 : -1, e);
	for (int w = DT_NONE + 1; w < DTYPES; w++)
		for (int d = DT_NONE + 1; d < DTYPES; d++) {
			struct arena *a = arena_new(0);
			const struct op_stream *s = in_formats(a, (enum dtype)w, (enum dtype)d);
			struct run_result x;

			CHECK(runs_on(s, c, (w + d) % 2 ? RUN_ANALYTIC : RUN_EVENT, &x, &e));
			if (x.dram_read_bytes < dtype_bytes((enum dtype)w, SIDE * SIDE))
				test_fail(__FILE__, __LINE__, "%s with %s reads %llu bytes", dtype_name((enum dtype)w),
				          dtype_name((enum dtype)d), (unsigned long long)x.dram_read_bytes);
			arena_free(a);
		}
	machine_conf_free(c);
}

/* Sizes for whoever needs them. */
static const struct {
	const char *name, *value;
} sizes[] = { { "batch", "2" },     { "heads", "8" }, { "kv_heads", "8" }, { "q_len", "1" },
	      { "kv_len", "128" },  { "m", "16" },    { "n", "256" },      { "k", "8" },
	      { "head_dim", "64" }, { "rows", "16" }, { "cols", "256" },   { "elements", "4096" } };

static bool must_have(const struct listed *x, const char *column)
{
	for (int c = 0; c < LISTED_COUNT; c++)
		if (strcmp(listed_column_name((enum listed_column)c), column) == 0)
			return listed_needs(x, (enum listed_column)c) ||
			       (c == LISTED_ELEMENTS && listed_takes(x, LISTED_ELEMENTS)); /* or rows and cols */
	return false;
}

/* A row of a table of ops with no more sizes than it must have. */
static void listed_row(const struct listed_meaning *is, struct str *table)
{
	const struct op o = { .kind = is->kind, .fn = is->fn, .reduce = is->reduce, .out_dtype = DT_FP8 };
	struct listed x = { .algorithm = OP_ATTN_ANY };
	char name[48];

	listed_kind_name(&o, name, sizeof name);
	CHECK_OK(listed_cell(&x, LISTED_OP, name, NULL), (struct err){ .msg = "" });
	str_addf(table, "\n%s", name);
	for (size_t i = 0; i < N(sizes); i++)
		str_addf(table, ",%s", must_have(&x, sizes[i].name) ? sizes[i].value : "");
}

TEST(every_kind_of_op_that_a_table_can_have_runs)
{
	static const char *const configs[] = { "edge", "h200" };
	bool seen[OP_KINDS] = { false };
	struct str table = STR_INIT;
	struct run_result x[2];
	struct runbed b;

	str_addf(&table, "op");
	for (size_t i = 0; i < N(sizes); i++)
		str_addf(&table, ",%s", sizes[i].name);
	for (size_t i = 0; i < listed_meanings(); i++)
		listed_row(listed_meaning(i), &table);
	runbed_table(&b, str_c(&table));
	CHECK(b.s->n_ops >= listed_meanings());
	for (size_t i = 0; i < N(configs); i++) {
		struct machine_base *base = base_of(configs[i]);

		CHECK(runs(b.s, base, NULL, 0, "", x));
		machine_base_free(base);
	}
	for (size_t i = 0; i < b.s->n_ops; i++)
		seen[b.s->ops[i].kind] = true;
	for (int k = 0; k < OP_KINDS; k++)
		if (seen[k] != !op_traits[k].unlisted)
			test_fail(__FILE__, __LINE__, "%s does not run", op_traits[k].name);
	runbed_down(&b);
	str_free(&table);
}

SUITE(t_laws, T(no_unit_is_over_its_peak_and_pairs_of_formats_are_as_it_says),
      T(each_unit_does_something_and_each_job_is_done), T(each_unit_has_its_area_and_twice_as_many_take_more),
      T(what_a_unit_does_is_its_time_and_its_energy), T(a_pipeline_has_every_figure_of_its_stages),
      T(every_word_of_a_machine_runs), T(every_switch_of_a_machine_runs), T(every_policy_runs_on_every_network),
      T(every_memory_runs_and_takes_energy), T(every_format_of_weights_runs_with_every_format_of_activations),
      T(every_kind_of_op_that_a_table_can_have_runs));
