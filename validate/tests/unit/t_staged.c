/* t_staged.c - a request on a machine: one stage is the plain run, parts are the whole, blocks are all their steps. */
#include "sim/report/staged.h"

#include <math.h>
#include <string.h>

#include "sim/base/path.h"
#include "validate/tests/test.h"

#define N(a) (sizeof(a) / sizeof *(a))

static int read_work(const struct workload_spec *s, const struct machine_cfg *m, struct workload *w, struct err *e)
{
	return workload_read(s, &(struct workload_reader){ .source = &path_source, .machine = m }, w, e);
}

struct bed {
	struct arena *a;
	struct staged_job j;
	struct staged x;
	struct err e;
};

static void up(struct bed *b, const char *config, enum run_fidelity f)
{
	memset(b, 0, sizeof *b);
	b->a = arena_new(0);
	b->j.machines = machine_base_load(config, NULL, 0, &b->e);
	CHECK_OK(b->j.machines ? 0 : -1, b->e);
	b->j.conf = machine_base_conf(b->j.machines, NULL, 0, &b->e);
	CHECK_OK(b->j.conf ? 0 : -1, b->e);
	b->j.config = config;
	b->j.how = run_opts_default();
	b->j.how.fidelity = f;
	b->j.read = read_work;
}

static void ask(struct bed *b, const char *list, const struct workload_spec *all)
{
	CHECK_OK(request_parse(list, all, b->a, &b->x.request, &b->e), b->e);
	CHECK_OK(staged_run(&b->j, b->a, &b->x, &b->e), b->e);
}

static void down(struct bed *b)
{
	staged_free(&b->x);
	machine_conf_free((struct machine_conf *)b->j.conf);
	machine_base_free(b->j.machines);
	arena_free(b->a);
}

static const struct {
	const char *config;
	enum run_fidelity f;
} machines[] = { { "dsocr", RUN_EVENT }, { "dsocr", RUN_ANALYTIC }, { "h200", RUN_ANALYTIC } };

static const char *measured(char path[512])
{
	snprintf(path, 512, "%s/traces/h200/kineto_dsocr_b1_c1024.json.gz", test_root());
	return path;
}

static const struct workload_spec small = { .model = "qwen3-0.6b", .layers = 2 };

/* --- one stage ---------------------------------------------------------------------------------------------------- */

static struct resdb *db_open(enum db_mode mode)
{
	struct err e = ERR_INIT;
	char path[512];
	struct resdb *r = res_open(test_path(path, sizeof path, "r.db"), mode, &e);

	CHECK_OK(r ? 0 : -1, e);
	return r;
}

static void as_plain(struct bed *b, const char *list, const struct workload_spec *all,
                     const struct workload_spec *plain)
{
	struct eval_job j = { NULL, b->j.conf, NULL, b->j.how };
	struct resdb *db = db_open(DB_WRITE);
	struct baseline *line;
	struct workload w;
	struct eval x;

	ask(b, list, all);
	CHECK_OK(read_work(plain, &b->j.conf->cfg, &w, &b->e), b->e);
	j.w = &w;
	CHECK_OK(eval_run(&j, w.in.arena, &x, &b->e), b->e);
	line = baseline_new(&path_source, plain->trace ? &w.in.trace : NULL);
	eval_verdict(&j, line, w.in.arena, &x);
	CHECK(memcmp(&x.result.figures, &b->x.all.figures, sizeof x.result.figures) == 0);
	CHECK(memcmp(&x.result.figures, &b->x.stage[0].sum.figures, sizeof x.result.figures) == 0);
	CHECK(memcmp(x.result.stall_ps, b->x.all.stall_ps, sizeof x.result.stall_ps) == 0);
	/* Stored, it is the same run to the last op, or it would be stored again. */
	CHECK_OK(run_store(&x.report, db, 1, w.in.arena, &b->e), b->e);
	CHECK_OK(staged_store(&b->x, db, 1, b->a, &b->e), b->e);
	CHECK(b->x.stored == x.report.stored && b->x.stored_again);
	CHECK_OK(res_close(db, 0, &b->e), b->e);
	baseline_free(line);
	workload_free(&w);
}

TEST(one_stage_of_one_step_is_the_plain_run)
{
	struct bed b;

	for (size_t i = 0; i < N(machines); i++) {
		struct workload_spec plain = small;

		up(&b, machines[i].config, machines[i].f);
		plain.context = 300;
		as_plain(&b, "decode:context=300", &small, &plain);
		down(&b);
		up(&b, machines[i].config, machines[i].f);
		plain.context = 0;
		plain.phase = "prefill";
		plain.tokens = 64;
		as_plain(&b, "prefill:tokens=64", &small, &plain);
		down(&b);
	}
}

TEST(one_range_is_the_plain_run)
{
	char trace[512];
	const struct workload_spec all = { .trace = measured(trace) },
				   plain = { .trace = trace, .range = "decode_step_1" };
	struct bed b;

	for (size_t i = 1; i < N(machines); i++) {
		up(&b, machines[i].config, machines[i].f);
		as_plain(&b, "decode:range=decode_step_1", &all, &plain);
		CHECK(!b.x.all.unmeasured && b.x.all.measured.kernel_ns > 0);
		down(&b);
	}
}

/* --- several ------------------------------------------------------------------------------------------------------ */

static uint64_t dram_of_ops(const struct staged *x)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < x->request.n; i++)
		for (const struct staged_point *p = x->stage[i].points; p; p = p->next)
			for (size_t k = 0; k < p->w.stream.n_ops; k++)
				sum += p->x.result.ops[k].dram_bytes * p->steps;
	return sum;
}

static void stored_adds_up(struct bed *b)
{
	struct resdb *db = db_open(DB_WRITE);
	struct res_stored s;
	uint64_t span = 0, energy = 0, stall = 0, dram = 0, flops = 0, work = 0;

	CHECK_OK(staged_store(&b->x, db, 1, b->a, &b->e), b->e);
	CHECK(b->x.stored > 0 && !b->x.stored_again);
	CHECK_OK(staged_store(&b->x, db, 1, b->a, &b->e), b->e);
	CHECK(b->x.stored_again);
	CHECK_OK(res_get(db, b->x.stored, b->a, &s, &b->e), b->e);
	for (size_t i = 0; i < s.run.n_ops; i++) {
		CHECK(s.run.ops[i].start_ps <= s.run.total_ps);
		span += s.run.ops[i].span_ps;
		dram += s.run.ops[i].dram_bytes;
		flops += s.run.ops[i].flops;
		work += s.workload.ops[i].flops;
	}
	for (size_t i = 0; i < s.run.n_energy; i++)
		energy += s.run.energy[i].fj;
	for (size_t i = 0; i < s.run.n_resources; i++)
		stall += s.run.resources[i].stall_ps;
	CHECK_U64(s.run.total_ps, b->x.all.figures.total_ps);
	CHECK_U64(span, s.run.total_ps);
	CHECK_U64(stall, s.run.total_ps);
	CHECK_U64(energy, b->x.all.figures.energy_fj);
	CHECK_U64(dram, dram_of_ops(&b->x));
	CHECK_U64(flops, s.run.flops);
	CHECK_U64(work, s.run.flops);
	CHECK_HAS(s.workload.range, "decode: 7 steps behind 64 to 70 tokens");
	CHECK_OK(res_close(db, 0, &b->e), b->e);
}

/* All that is a sum, of the stages and of the steps that ran. */
static void parts_add_up(struct bed *b)
{
	for (const struct figure *f = figure_table; f->help; f++) {
		uint64_t stages = 0, steps = 0;

		if (f->kept == FIGURE_MADE || f->level || strcmp(f->member, "tokens") == 0)
			continue;
		for (size_t i = 0; i < b->x.request.n; i++) {
			stages += figure_number(f, &b->x.stage[i].sum.figures);
			for (struct staged_point *p = b->x.stage[i].points; p; p = p->next)
				steps += figure_number(f, &p->x.result.figures) * p->steps;
		}
		CHECK_U64(figure_number(f, &b->x.all.figures), stages);
		CHECK_U64(stages, steps);
	}
	CHECK_U64(b->x.stage[b->x.request.n - 1].until_ps, b->x.all.figures.total_ps);
	CHECK(b->x.all.interval && b->x.all.low_ps < (double)b->x.all.figures.total_ps &&
	      b->x.all.high_ps > (double)b->x.all.figures.total_ps);
}

static void parts_on(size_t i)
{
	struct bed b;

	up(&b, machines[i].config, machines[i].f);
	ask(&b, "prefill:tokens=64; decode:tokens=7", &small);
	parts_add_up(&b);
	stored_adds_up(&b);
	CHECK(b.x.all.n_energy && b.x.all.figures.energy_fj);
	down(&b);
}

TEST(parts_are_the_whole_to_the_last_unit)
{
	parts_on(1);
}

TEST(so_are_those_of_events_and_of_launches)
{
	parts_on(0);
	parts_on(2);
}

TEST(an_answer_has_the_prompts_token_and_those_of_its_steps)
{
	struct bed b;

	up(&b, "dsocr", RUN_ANALYTIC);
	/* A prompt in two pieces, an answer, another prompt and its answer; two sequences. */
	ask(&b, "prefill:tokens=32; prefill:tokens=16; decode:tokens=5; prefill:tokens=8; decode:tokens=3",
	    &(struct workload_spec){ .model = "qwen3-0.6b", .batch = 2 });
	CHECK_U64(b.x.stage[0].tokens, 0);
	CHECK_U64(b.x.stage[1].tokens, 2);
	CHECK_U64(b.x.stage[2].tokens, 10);
	CHECK_U64(b.x.stage[3].tokens, 2);
	CHECK_U64(b.x.decoded, 16);
	CHECK_U64(b.x.tokens, 20);
	CHECK_U64(b.x.all.figures.tokens, 20);
	CHECK_U64(b.x.first_ps, b.x.stage[1].until_ps);
	CHECK_U64(b.x.decode_ps, b.x.stage[2].sum.figures.total_ps + b.x.stage[4].sum.figures.total_ps);
	down(&b);
	/* A part of a model makes none. */
	up(&b, "dsocr", RUN_ANALYTIC);
	ask(&b, "prefill:tokens=32; decode:tokens=5", &small);
	CHECK(b.x.part && !b.x.all.figures.tokens);
	down(&b);
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

static double apart(struct bed *b, const struct workload_spec *all, const char *list)
{
	uint64_t each = 0;

	ask(b, list, all);
	for (uint64_t i = 0; i < b->x.request.v[0].steps; i++) {
		const struct workload_spec s = request_step(&b->x.request.v[0], i);
		struct run_result r;
		struct workload w;

		CHECK_OK(read_work(&s, &b->j.conf->cfg, &w, &b->e), b->e);
		CHECK_OK(run_stream(&w.stream, b->j.conf, &b->j.how, w.in.arena, &r, &b->e), b->e);
		each += r.total_ps;
		workload_free(&w);
	}
	return fabs((double)b->x.all.figures.total_ps / (double)each - 1);
}

/* Every step run by itself, beside the few that stand for all. */
TEST(a_few_steps_stand_for_all)
{
	const struct workload_spec model = { .model = "deepseek-ocr" };
	struct bed b;

	for (size_t at = 0; at < N(machines); at++) {
		if (!test_turn(at, 3))
			continue;
		up(&b, machines[at].config, machines[at].f);
		/* Past lengths at which kernels and tiles change. */
		CHECK(apart(&b, &model, "decode:tokens=40,context=1004") < 0.005);
		CHECK(b.x.all.runs < 30);
		down(&b);
	}
}

TEST(a_measured_step_grows_or_stays)
{
	char trace[512];
	const struct workload_spec all = { .trace = measured(trace) };
	struct bed b;

	up(&b, "dsocr", RUN_ANALYTIC);
	ask(&b, "decode:range=decode_step_1; decode:range=decode_step_1,tokens=3", &all);
	CHECK_U64(3 * b.x.stage[0].sum.figures.total_ps, b.x.stage[1].sum.figures.total_ps);
	CHECK_U64(b.x.all.runs, 2);
	CHECK_U64(4 * b.x.stage[0].sum.measured.kernel_ns, b.x.all.measured.kernel_ns);
	down(&b);
	up(&b, "dsocr", RUN_ANALYTIC);
	CHECK(apart(&b, &all, "decode:range=decode_step_1,tokens=12,context=2000") < 0.005);
	CHECK(b.x.all.unmeasured);
	down(&b);
}

/* More joules than a figure counts: told all the same, and stored without. */
TEST(a_long_answer_has_its_joules)
{
	struct resdb *db = db_open(DB_WRITE);
	struct res_stored s;
	struct bed b;
	double parts = 0;

	up(&b, "dsocr", RUN_ANALYTIC);
	ask(&b, "decode:tokens=100000,context=1000", &(struct workload_spec){ .model = "llama-3.1-8b" });
	CHECK(b.x.all.beyond && !b.x.all.figures.energy_fj);
	for (size_t i = 0; i < b.x.all.n_energy; i++)
		parts += b.x.all.energy[i].uj;
	CHECK(b.x.all.uj > 1e10 && fabs(parts / b.x.all.uj - 1) < 1e-9);
	CHECK(b.x.all.uj > 100 * (double)b.x.all.figures.total_ps / 1e6); /* 100 W */
	CHECK_OK(staged_store(&b.x, db, 1, b.a, &b.e), b.e);
	CHECK_OK(res_get(db, b.x.stored, b.a, &s, &b.e), b.e);
	CHECK(!s.run.energy_fj && !s.run.n_energy);
	CHECK_U64(s.run.total_ps, b.x.all.figures.total_ps);
	CHECK_OK(res_close(db, 0, &b.e), b.e);
	down(&b);
}

TEST(what_cannot_run_is_said_before_anything_does)
{
	struct bed b;

	up(&b, "dsocr", RUN_ANALYTIC);
	CHECK_OK(request_parse("decode; decode:tokens=9000", &(struct workload_spec){ .model = "deepseek-ocr" }, b.a,
	                       &b.x.request, &b.e),
	         b.e);
	CHECK(staged_run(&b.j, b.a, &b.x, &b.e) < 0);
	CHECK_HAS(b.e.msg, "reading stage 'decode 2'");
	CHECK(!b.x.stage[0].points);
	down(&b);
}

SUITE(t_staged, SLOW(one_stage_of_one_step_is_the_plain_run), SLOW(one_range_is_the_plain_run),
      T(parts_are_the_whole_to_the_last_unit), SLOW(so_are_those_of_events_and_of_launches),
      SLOW(an_answer_has_the_prompts_token_and_those_of_its_steps), SLOW(a_few_steps_stand_for_all),
      T(a_long_answer_has_its_joules), SLOW(a_measured_step_grows_or_stays),
      T(what_cannot_run_is_said_before_anything_does));
