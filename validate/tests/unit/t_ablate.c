/* t_ablate.c - named changes on made-up machines whose answers are known, what is said of each, and files that are none. */
#include "sim/study/ablate_court.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One row against 8192 x 4096 weights of two bytes: 64 MiB over 100 GB/s, which all else can follow. */
#define MACHINE \
	"name: m\nkind: npu\ncores: 16\ngemv: {units: 4, lanes: 64}\nl2: {size: 0 B}\ndma: {tile: 1 MiB}\nsram: {size: 1 MiB}\n" \
	"dram: {kind: fixed, fixed_bandwidth: 100 GB/s, fixed_latency: 1 ns}\n"
#define HEAD "ablation: 1\nbase: m.yaml\nstart: cold\nworkloads:\n- {name: w, model: llama-3.2-1b}\n"

struct bed {
	struct arena *a;
	struct err e;
	struct ablation *x;
	struct ablate_result r;
};

static void put(const char *name, const char *text)
{
	char path[512];
	FILE *f = fopen(test_path(path, sizeof path, "%s", name), "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void load(struct bed *b, const char *rest)
{
	char text[4096], path[512];

	memset(b, 0, sizeof *b);
	b->a = arena_new(0);
	put("m.yaml", MACHINE);
	snprintf(text, sizeof text, "%s%s", HEAD, rest);
	put("a.yaml", text);
	b->x = ablate_load(test_path(path, sizeof path, "a.yaml"), &b->e);
}

static void ask(struct bed *b, unsigned jobs)
{
	const struct ablate_how how = { .fidelity = RUN_ANALYTIC, .seed = 1, .jobs = jobs };

	CHECK(b->x != NULL);
	CHECK_OK(ablate_run(b->x, 0, synth_product(b->a, 1, 8192, 4096), &how, b->a, &b->r, &b->e), b->e);
}

static void down(struct bed *b)
{
	ablate_free(b->x);
	arena_free(b->a);
}

static const char *why(const struct bed *b, size_t change, struct str *s)
{
	str_clear(s);
	ablate_why(b->x, &b->r, change, s);
	return str_c(s);
}

/* Twice the bandwidth is half of the time, alone as with the others; more of what nobody waits for is nothing. */
TEST(each_change_has_its_worth_alone_and_to_all)
{
	struct str s = STR_INIT;
	struct bed b;

	load(&b,
	     "changes:\n- {name: wide, set: {dram.fixed_bandwidth: 200 GB/s}}\n- {name: lanes, set: {gemv.lanes: 128}}\n");
	ask(&b, 1);
	CHECK(fabs(ablate_alone(b.x, &b.r, 0).value - 0.5) < 0.03);
	CHECK(fabs(ablate_missed(&b.r, 0).value - 1.0) < 0.06);
	CHECK(fabs(ablate_alone(b.x, &b.r, 1).value) < 0.005);
	CHECK_U64(ablate_verdict_of(b.x, &b.r, 0), ABLATE_RIGHT);
	CHECK_U64(ablate_verdict_of(b.x, &b.r, 1), ABLATE_NOTHING);
	CHECK_HAS(why(&b, 0, &s), "less waited for dram");
	CHECK_HAS(why(&b, 1, &s), "alone it changes nothing");
	CHECK(b.r.base.dram_bytes >= 64 << 20);
	str_free(&s);
	down(&b);
}

TEST(what_costs_is_wrong_unless_it_is_not_missed)
{
	struct bed b;

	load(&b, "changes:\n- {name: half, set: {dram.fixed_bandwidth: 50 GB/s}}\n"
	         "- {name: fewer lanes, set: {gemv.lanes: 32}, expects: no slower}\n"
	         "- {name: half, too, set: {dram.fixed_bandwidth: 60 GB/s}, expects: no slower}\n");
	CHECK(b.x == NULL); /* a comma in a name wants quotes */
	down(&b);
	load(&b, "changes:\n- {name: half, set: {dram.fixed_bandwidth: 50 GB/s}}\n"
	         "- {name: fewer lanes, set: {gemv.lanes: 32}, expects: no slower}\n"
	         "- {name: also half, set: {dram.fixed_bandwidth: 60 GB/s}, expects: no slower}\n");
	ask(&b, 1);
	CHECK_U64(ablate_verdict_of(b.x, &b.r, 0), ABLATE_WRONG);
	CHECK_U64(ablate_verdict_of(b.x, &b.r, 1), ABLATE_RIGHT);
	CHECK_U64(ablate_verdict_of(b.x, &b.r, 2), ABLATE_WRONG);
	down(&b);
}

/* Lanes that are too few for twice the bandwidth: neither pays what both do. */
TEST(what_pays_with_the_others_alone_is_said_to)
{
	struct bed b;

	load(&b,
	     "set: {gemv.lanes: 1, gemv.units: 1, matrix.units: 0, vector.units: 1, vector.lanes: 1, cores: 40,"
	     " dram.fixed_bandwidth: 110 GB/s}\n"
	     "changes:\n- {name: lanes, set: {gemv.lanes: 8}}\n- {name: wide, set: {dram.fixed_bandwidth: 800 GB/s}}\n");
	ask(&b, 1);
	CHECK(ablate_missed(&b.r, 1).value > 0.5);
	CHECK(ablate_missed(&b.r, 0).value > 0.5);
	down(&b);
}

/* Of who claims joules the time is not asked, and what stands apart is in no run of all. */
TEST(a_claim_of_energy_is_judged_by_joules)
{
	struct str s = STR_INIT;
	struct bed b;

	load(&b, "set: {power.dram_read: 50 pJ, power.clock_gating: false}\n"
	         "changes:\n- {name: gated, set: {power.clock_gating: true}, expects: less energy}\n"
	         "- {name: slow, set: {clock: 200 MHz}, expects: less energy, apart: true}\n"
	         "- {name: dear, set: {power.dram_read: 90 pJ}, expects: less energy}\n");
	ask(&b, 1);
	CHECK_U64(ablate_runs(b.x, 0), 7); /* base, all, three alone, all but gated and all but dear */
	CHECK_U64(ablate_verdict_of(b.x, &b.r, 0), ABLATE_RIGHT);
	CHECK_U64(ablate_verdict_of(b.x, &b.r, 2), ABLATE_WRONG);
	CHECK_HAS(why(&b, 0, &s), "of the energy");
	CHECK(!b.r.without[1].run);
	CHECK(b.r.alone[1].total_ps > b.r.base.total_ps && b.r.all.total_ps == b.r.base.total_ps);
	CHECK(b.r.alone[1].energy_fj < b.r.base.energy_fj);
	CHECK_U64(ablate_verdict_of(b.x, &b.r, 1), ABLATE_RIGHT);
	str_free(&s);
	down(&b);
}

TEST(what_is_not_modelled_is_never_judged)
{
	struct str s = STR_INIT;
	struct bed b;

	load(&b,
	     "changes:\n- {name: wide, set: {dram.fixed_bandwidth: 200 GB/s}}\n- {name: links, not_modelled: one chip}\n");
	ask(&b, 1);
	CHECK_U64(ablate_verdict_of(b.x, &b.r, 1), ABLATE_NOT_MODELLED);
	CHECK_STR(why(&b, 1, &s), "one chip");
	CHECK_U64(ablate_runs(b.x, 0), 2);
	str_free(&s);
	down(&b);
}

TEST(workers_do_not_change_the_answer)
{
	static const char changes[] =
		"changes:\n- {name: a, set: {dram.fixed_bandwidth: 200 GB/s}}\n- {name: b, set: {cores: 8}}\n"
		"- {name: c, set: {gemv.lanes: 32}}\n";
	struct bed b, c;

	load(&b, changes);
	ask(&b, 1);
	load(&c, changes);
	ask(&c, 3);
	CHECK_U64(b.r.base.total_ps, c.r.base.total_ps);
	CHECK_U64(b.r.all.total_ps, c.r.all.total_ps);
	for (size_t i = 0; i < 3; i++) {
		CHECK_U64(b.r.alone[i].total_ps, c.r.alone[i].total_ps);
		CHECK_U64(b.r.without[i].total_ps, c.r.without[i].total_ps);
	}
	down(&b);
	down(&c);
}

/* --- the court ----------------------------------------------------------------------------------------------------- */

#define COURT \
	"ablation: 1\nbase: m.yaml\nstart: cold\nworkloads:\n- {name: v, model: llama-3.2-1b, suite: decode}\n" \
	"- {name: w, model: llama-3.2-1b, suite: decode}\n- {name: x, model: llama-3.2-1b, suite: prefill}\n" \
	"- {name: y, model: llama-3.2-1b, suite: other, only: true}\nexchange: {cores: 8}\nchanges:\n"

/* The base takes 1000 us and the exchange as much more as is said, on every workload, by events and the closed form alike. */
#define N_COURT 4
struct case_ {
	struct ablation *x;
	struct ablate_run forms[N_COURT][3], event[N_COURT];
	struct ablate_result r[N_COURT];
	struct ablate_run none;
	struct ablate_court v;
};

static const struct ablate_run *took(struct ablate_run *form, struct ablate_run *event, uint64_t us, uint64_t form_us,
                                     uint64_t mm2)
{
	*form = (struct ablate_run){ .run = true, .by = RUN_ANALYTIC, .total_ps = form_us * 1000000 };
	*event = (struct ablate_run){ .run = true, .by = RUN_EVENT, .total_ps = us * 1000000, .form = form };
	event->area_nm2 = mm2 * 1000000000000;
	return event;
}

/* What a change of `more` mm2 makes of v, w and x (0: it is not run on that), in us. */
static enum ablate_ruling ruled(struct case_ *c, const char *change, uint64_t v, uint64_t w, uint64_t x, uint64_t more)
{
	const uint64_t us[N_COURT] = { v, w, x, 0 };
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	char text[2048], path[512];

	put("m.yaml", MACHINE "die: {node: n5}\n");
	snprintf(text, sizeof text, COURT "%s", change);
	put("a.yaml", text);
	memset(c, 0, sizeof *c);
	CHECK((c->x = ablate_load(test_path(path, sizeof path, "a.yaml"), &e)) != NULL);
	for (size_t i = 0; i < N_COURT; i++) {
		took(&c->forms[i][0], &c->r[i].base, 1000, 1000, 500);
		took(&c->forms[i][1], &c->r[i].exchange, 1100, 1100, 400);
		if (us[i])
			took(&c->forms[i][2], &c->event[i], us[i], us[i], 500 + more);
		c->r[i].alone = &c->event[i];
		c->r[i].without = &c->none;
	}
	ablate_court(c->x, c->r, 0, &c->v);
	arena_free(a);
	return c->v.ruling;
}

static enum ablate_ruling rules(const char *change, uint64_t v, uint64_t w, uint64_t x, uint64_t more)
{
	struct case_ c;
	const enum ablate_ruling r = ruled(&c, change, v, w, x, more);

	ablate_free(c.x);
	return r;
}

#define FASTER "- {name: a, set: {l2.size: 1 MiB}}\n"
#define SPARED "- {name: a, set: {l2.size: 1 MiB}, expects: no slower}\n"

TEST(a_claim_is_judged_by_the_mean_of_each_suite)
{
	struct case_ c;

	CHECK_U64(rules(FASTER, 900, 900, 900, 0), ABLATE_RULED_RIGHT);
	CHECK_U64(rules(FASTER, 900, 900, 1000, 0), ABLATE_RULED_PART);
	CHECK_U64(rules(FASTER, 1000, 1000, 1000, 0), ABLATE_RULED_WRONG);
	CHECK_U64(rules(FASTER, 1100, 1100, 1000, 0), ABLATE_RULED_WRONG);
	CHECK_U64(rules(FASTER, 800, 1400, 1000, 0), ABLATE_RULED_WRONG); /* what one gains the other loses */
	CHECK_U64(rules(SPARED, 1005, 1005, 900, 0), ABLATE_RULED_RIGHT);
	CHECK_U64(rules(SPARED, 1050, 1050, 1000, 0), ABLATE_RULED_PART);
	CHECK_U64(rules(SPARED, 1050, 1050, 1050, 0), ABLATE_RULED_WRONG);
	CHECK_U64(ruled(&c, FASTER, 810, 1000, 1000, 0), ABLATE_RULED_PART);
	CHECK(fabs(c.v.suites[0].saves - 0.1) < 1e-9 && fabs(c.v.suites[0].high - 0.19) < 1e-9 && c.v.suites[0].n == 2);
	CHECK_U64(c.v.suites[0].best, 0);
	CHECK(!c.v.suites[2].n); /* its workload is for changes that name it */
	ablate_free(c.x);
}

/* 100 mm2 are worth a tenth here: half as much area has to save more than half of that. */
TEST(who_spends_area_has_to_beat_what_it_does_elsewhere)
{
	struct case_ c;

	CHECK_U64(rules(FASTER, 960, 960, 960, 0), ABLATE_RULED_RIGHT);
	CHECK_U64(rules(FASTER, 960, 960, 960, 50), ABLATE_RULED_WRONG);
	CHECK_U64(rules(FASTER, 900, 900, 900, 50), ABLATE_RULED_RIGHT);
	CHECK_U64(rules(SPARED, 1000, 1000, 1000, 50),
	          ABLATE_RULED_RIGHT); /* it claims not to be missed, nothing else */
	CHECK_U64(ruled(&c, FASTER, 900, 900, 900, 100), ABLATE_RULED_WRONG);
	CHECK(fabs(c.v.suites[0].owes - 0.1) < 1e-9 && fabs(c.v.area - 1e14) < 1);
	ablate_free(c.x);
}

/* Events say 3 % and the closed form the opposite: the two differ by more than the effect. */
TEST(what_the_fidelities_differ_by_is_no_ruling)
{
	struct case_ c;

	ruled(&c, FASTER, 970, 970, 1000, 0);
	c.forms[0][2].total_ps = c.forms[1][2].total_ps = UINT64_C(1030000000);
	ablate_court(c.x, c.r, 0, &c.v);
	CHECK_U64(c.v.suites[0].effect, ABLATE_OPEN);
	CHECK_U64(c.v.ruling, ABLATE_RULED_OPEN);
	CHECK(fabs(c.v.suites[0].half - 0.06) < 1e-9);
	ablate_free(c.x);
}

/* All parts of a change together; one over another's machine, and one against it. */
TEST(changes_may_be_measured_from_each_other)
{
	struct bed b;

	load(&b, "changes:\n- {name: wide, of: both, set: {dram.fixed_bandwidth: 200 GB/s}}\n"
	         "- {name: wider, over: wide, of: both, set: {dram.fixed_bandwidth: 400 GB/s}}\n"
	         "- {name: other, versus: wide, set: {dram.fixed_bandwidth: 300 GB/s}}\n"
	         "- {name: both, parts: true}\n");
	ask(&b, 1);
	CHECK(fabs(ablate_alone(b.x, &b.r, 0).value - 0.5) < 0.03);
	CHECK(fabs(ablate_alone(b.x, &b.r, 1).value - 0.5) < 0.05);
	CHECK(fabs(ablate_alone(b.x, &b.r, 2).value - 0.333) < 0.05);
	CHECK_U64(b.r.alone[1].total_ps, b.r.alone[3].total_ps);
	CHECK(!b.r.without[3].run && b.x->changes[3].n_sets == 2);
	down(&b);
}

/* --- files ------------------------------------------------------------------------------------------------------------- */

static void refused(const char *rest, const char *part, int line)
{
	struct bed b;

	load(&b, rest);
	CHECK(b.x == NULL);
	CHECK_HAS(b.e.msg, part);
	CHECK_U64((uint64_t)b.e.line, (uint64_t)line);
	CHECK_U64(err_exit_code(&b.e), 3);
	down(&b);
}

TEST(a_file_that_is_none_has_its_line)
{
	refused("", "has 'changes'", 1);
	refused("changes: []\n", "'changes' is empty", 6);
	refused("changes: {a: b}\n", "'changes' is empty", 6);
	refused("changes:\n- {name: a, set: {l2.sise: 1 MiB}}\n", "did you mean 'l2.size'?", 7);
	refused("changes:\n- {name: a, set: {cores: 16}}\n", "'a' changes nothing: the base has cores=16 already", 7);
	refused("changes:\n- {name: a, set: {cores: 0}}\n", "'cores'", 7);
	refused("changes:\n- {name: a, set: {}}\n", "'set' is a mapping", 7);
	refused("changes:\n- {set: {cores: 8}}\n", "a change has no 'name'", 7);
	refused("changes:\n- {name: a}\n", "none of them: it has one of 'set', 'not_modelled' and 'parts: true'", 7);
	refused("changes:\n- {name: a, set: {cores: 8}, not_modelled: x}\n", "several of them", 7);
	refused("changes:\n- {name: a, not_modelled: x}\n", "nothing to run", 7);
	refused("changes:\n- {name: a, set: {cores: 8}}\n- {name: a, set: {cores: 4}}\n", "two changes are called 'a'",
	        8);
	refused("changes:\n- {name: a, set: {cores: 8}, pays: v}\n", "is no workload of this file", 7);
	refused("changes:\n- {name: a, set: {cores: 8}, expects: miracles}\n", "faster, no slower or less energy", 7);
	refused("changes:\n- {name: a, sets: {cores: 8}}\n", "'set'", 7);
	refused("changes:\n- {name: a, set: {cores: 8}, over: b}\n", "'b' is no change of this file", 7);
	refused("changes:\n- {name: a, set: {cores: 8}, over: a}\n", "no change by a 'set' of its own", 7);
	refused("changes:\n- {name: a, set: {cores: 8}}\n- {name: b, set: {cores: 8}, over: a}\n",
	        "'b' changes nothing: a has cores=8 already", 8);
	refused("changes:\n- {name: a, set: {cores: 8}}\n- {name: b, set: {cores: 4}, over: a, versus: a}\n",
	        "both 'over' and 'versus'", 8);
	refused("changes:\n- {name: a, set: {cores: 8}}\n- {name: b, parts: true}\n", "'b' has no parts", 8);
	refused("changes:\n- {name: a, set: {cores: 8}, of: b}\n- {name: b, set: {cores: 4}}\n",
	        "'b' has no 'parts: true'", 7);
	refused("changes:\n- {name: a, set: {cores: 8}, suites: [s]}\n", "'s' is no suite of this file", 7);
	refused("exchange: {cores: 32}\nchanges:\n- {name: a, set: {cores: 8}}\n", "takes none", 6);
	refused("changes: [1]\n", "a change is a mapping", 6);
	refused("set: {kind: gpu}\nchanges:\n- {name: a, set: {cores: 8}}\n", "kind", 6);
}

static void workloads_say(const char *workloads, const char *part)
{
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	char text[2048], path[512];

	put("m.yaml", MACHINE);
	snprintf(text, sizeof text, "ablation: 1\nbase: m.yaml\n%s\nchanges: [{name: a, set: {cores: 8}}]\n",
	         workloads);
	put("a.yaml", text);
	CHECK(ablate_load(test_path(path, sizeof path, "a.yaml"), &e) == NULL);
	CHECK_HAS(e.msg, part);
	arena_free(a);
}

TEST(a_workload_that_is_none_has_its_line)
{
	workloads_say("", "has 'workloads'");
	workloads_say("workloads: []", "has 'workloads'");
	workloads_say("workloads: [{name: w}]", "the workload is missing");
	workloads_say("workloads: [{name: w, model: m, trace: t}]", "two workloads");
	workloads_say("workloads: [{name: w, model: m, range: r}]", "'range' is of a trace");
	workloads_say("workloads: [{name: w, trace: t, phase: decode}]", "'phase' is of a model");
	workloads_say("workloads: [{name: w, program-in: t}]", "mapped for one machine");
	workloads_say("workloads: [{name: w, model: m, batch: 0}]", "0");
	workloads_say("workloads: [{name: w, model: m}, {name: w, model: m}]", "two workloads are called 'w'");
	workloads_say("workloads: [{name: w, model: m, only: true}]", "one has no 'only'");
	workloads_say("workloads: [{name: w, model: m, what: x}]", "what");
}

/* --- two fidelities ------------------------------------------------------------------------------------------------ */

/* What a change and the base took in closed form and with events, in nanoseconds. */
static enum ablate_verdict judged(struct bed *b, uint64_t base_form, uint64_t base_event, uint64_t form, uint64_t event)
{
	const struct ablate_run forms[] = { { .run = true, .by = RUN_ANALYTIC, .total_ps = base_form * 1000 },
		                            { .run = true, .by = RUN_ANALYTIC, .total_ps = form * 1000 } };
	struct ablate_run alone = forms[1], none = { .run = false };
	const struct ablate_result r = {
		.base = { .run = true, .by = RUN_EVENT, .total_ps = base_event * 1000, .form = &forms[0] },
		.alone = &alone,
		.without = &none
	};
	enum ablate_verdict v;

	if (event)
		alone = (struct ablate_run){
			.run = true, .by = RUN_EVENT, .total_ps = event * 1000, .form = &forms[1]
		};
	v = ablate_verdict_of(b->x, &r, 0);
	CHECK(ablate_unsure_alone(b->x, &r, 0) == (v == ABLATE_WITHIN));
	return v;
}

TEST(what_is_within_the_two_fidelities_is_no_verdict)
{
	struct bed b;

	load(&b, "changes:\n- {name: wide, set: {dram.fixed_bandwidth: 200 GB/s}}\n");
	/* In closed form alone: under twice what the two are apart, 2 % at the least, is open; beyond it stands. */
	CHECK_U64(judged(&b, 1000, 1000, 970, 0), ABLATE_WITHIN);
	CHECK_U64(judged(&b, 1000, 1000, 1000, 0), ABLATE_WITHIN);
	CHECK_U64(judged(&b, 1000, 1000, 950, 0), ABLATE_RIGHT);
	CHECK_U64(judged(&b, 1000, 1000, 1050, 0), ABLATE_WRONG);
	CHECK_U64(judged(&b, 900, 1000, 780, 0), ABLATE_WITHIN);
	CHECK_U64(judged(&b, 900, 1000, 700, 0), ABLATE_RIGHT);
	/* With events: they count, unless the closed form says otherwise by as much. */
	CHECK_U64(judged(&b, 1000, 1000, 1010, 960), ABLATE_WITHIN);
	CHECK_U64(judged(&b, 1000, 1000, 970, 1010), ABLATE_WITHIN);
	CHECK_U64(judged(&b, 1000, 1000, 900, 960), ABLATE_WITHIN);
	CHECK_U64(judged(&b, 1000, 1000, 970, 960), ABLATE_RIGHT);
	CHECK_U64(judged(&b, 1000, 1000, 1020, 1030), ABLATE_WRONG);
	CHECK_U64(judged(&b, 1000, 1000, 1002, 998), ABLATE_NOTHING);
	CHECK_U64(judged(&b, 900, 1000, 864, 961), ABLATE_RIGHT);
	down(&b);
	load(&b, "changes:\n- {name: fewer lanes, set: {gemv.lanes: 32}, expects: no slower}\n");
	CHECK_U64(judged(&b, 1000, 1000, 1005, 960), ABLATE_RIGHT);
	CHECK_U64(judged(&b, 1000, 1000, 960, 1030), ABLATE_WITHIN);
	CHECK_U64(judged(&b, 1000, 1000, 1025, 1030), ABLATE_WRONG);
	down(&b);
	/* The closed form takes no notice of these: its agreement is none. */
	load(&b, "changes:\n- {name: few misses, set: {l2.mshrs: 2}}\n");
	CHECK_U64(judged(&b, 1000, 1000, 500, 0), ABLATE_WITHIN);
	CHECK_U64(judged(&b, 1000, 1000, 1000, 970), ABLATE_RIGHT);
	CHECK_U64(judged(&b, 1000, 1000, 1000, 1000), ABLATE_NOTHING);
	down(&b);
}

/* What is clear in closed form stays in it; the rest, and the base, are run with events, whoever runs them. */
TEST(events_are_run_where_the_closed_form_says_too_little)
{
	struct ablate_how how = { .both = true, .seed = 1, .jobs = 1 };
	struct ablate_worth one[2];
	struct bed b;

	load(&b,
	     "changes:\n- {name: wide, set: {dram.fixed_bandwidth: 200 GB/s}}\n- {name: lanes, set: {gemv.lanes: 128}}\n");
	for (how.jobs = 1; how.jobs <= 2; how.jobs++) {
		CHECK_OK(ablate_run(b.x, 0, synth_product(b.a, 1, 8192, 4096), &how, b.a, &b.r, &b.e), b.e);
		CHECK(b.r.base.by == RUN_EVENT && b.r.base.form && b.r.all.by == RUN_EVENT);
		CHECK(ablate_alone(b.x, &b.r, 0).by == RUN_ANALYTIC && !ablate_alone(b.x, &b.r, 0).both);
		CHECK(fabs(ablate_alone(b.x, &b.r, 0).value - 0.5) < 0.03);
		CHECK(ablate_alone(b.x, &b.r, 1).by == RUN_EVENT && ablate_alone(b.x, &b.r, 1).both);
		CHECK(ablate_missed(&b.r, 1).by == RUN_EVENT);
		CHECK(b.r.without[0].by == RUN_ANALYTIC); /* no verdict hangs on it */
		one[how.jobs - 1] = ablate_alone(b.x, &b.r, 1);
	}
	CHECK(one[0].value == one[1].value && one[0].form == one[1].form);
	down(&b);
}

/* Of 900 us of three steps and 1,000 of one: what each saves of its own time counts by that time. */
TEST(a_mix_counts_each_workload_by_its_time_and_weight)
{
	struct ablate_workload w[] = { { .name = "a", .weight = 3 }, { .name = "b", .weight = 1 }, { .name = "none" } };
	struct ablate_change c = { .name = "c", .pays = -1, .ref = -1 };
	struct ablation x = { .workloads = w, .n_workloads = 3, .changes = &c, .n_changes = 1 };
	struct ablate_run alone[] = { { .run = true, .by = RUN_ANALYTIC, .total_ps = 150 },
		                      { .run = true, .by = RUN_ANALYTIC, .total_ps = 1000 },
		                      { .run = false } },
			  without[3] = { { .run = false } };
	struct ablate_result r[3];
	struct ablate_worth mix;

	for (int i = 0; i < 3; i++)
		r[i] = (struct ablate_result){ .base = { .run = true, .by = RUN_ANALYTIC, .total_ps = i ? 1000 : 300 },
			                       .alone = &alone[i],
			                       .without = &without[i] };
	mix = ablate_mix(&x, r, 0, false);
	CHECK(mix.known && mix.by == RUN_ANALYTIC);
	CHECK(mix.value > 450.0 / 1900 - 1e-9 && mix.value < 450.0 / 1900 + 1e-9);
	CHECK(!ablate_mix(&x, r, 0, true).known);
	w[2].weight = 1; /* which was not run with the change */
	CHECK(!ablate_mix(&x, r, 0, false).known);
}

SUITE(t_ablate, T(a_mix_counts_each_workload_by_its_time_and_weight), T(a_claim_is_judged_by_the_mean_of_each_suite),
      T(who_spends_area_has_to_beat_what_it_does_elsewhere), T(what_the_fidelities_differ_by_is_no_ruling),
      T(changes_may_be_measured_from_each_other), T(each_change_has_its_worth_alone_and_to_all),
      T(what_costs_is_wrong_unless_it_is_not_missed), T(what_pays_with_the_others_alone_is_said_to),
      T(a_claim_of_energy_is_judged_by_joules), T(what_is_not_modelled_is_never_judged),
      T(workers_do_not_change_the_answer), T(a_file_that_is_none_has_its_line), T(a_workload_that_is_none_has_its_line),
      T(what_is_within_the_two_fidelities_is_no_verdict), T(events_are_run_where_the_closed_form_says_too_little));
