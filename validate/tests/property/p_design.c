/* p_design.c - a search for a design against all designs there are, and against luck. */
#include <math.h>
#include <stdlib.h>

#include "sim/design/design.h"
#include "sim/engine/real.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

#define BUDGET 100
#define GOALS  6

static const char *const axes[] = { "cores=16,24,32,48,64,96",
	                            "dram.channels=16,24,32,48,64,80,96",
	                            "l2.size=24 MiB,48 MiB,96 MiB,192 MiB",
	                            "gemv.units=1,2,4",
	                            "matrix.cols=32,64,128",
	                            "clock=1 GHz,1.4 GHz" };
enum { AXES = sizeof axes / sizeof *axes };

/* Every other core count and channel count: what a gate exhausts, one half or the other by its seed. */
static const char *const halves[2][AXES] = {
	{ "cores=16,32,64", "dram.channels=16,32,64,96", "l2.size=24 MiB,96 MiB", "gemv.units=1,2,4",
	  "matrix.cols=32,64,128", "clock=1 GHz,1.4 GHz" },
	{ "cores=24,48,96", "dram.channels=16,24,48,80", "l2.size=48 MiB,192 MiB", "gemv.units=1,2,4",
	  "matrix.cols=32,64,128", "clock=1 GHz,1.4 GHz" },
};

enum { LATENCY, AREA, ENERGY, POWER, EDP, PRODUCT, FIGURES_OF };
static const char *const names[FIGURES_OF] = { "latency_us", "area_mm2", "energy_uj",
	                                       "power_w",    "edp",      "area_mm2 * latency_us" };

struct bed {
	struct arena *a;
	struct err e;
	struct res_workload w;
	struct design_question q;
	double (*all)[FIGURES_OF]; /* of each design that can be built */
	size_t n;
};

static void up(struct bed *b)
{
	struct rng r;

	memset(b, 0, sizeof *b);
	rng_seed(&r, 5, "step");
	b->a = arena_new(0);
	b->w = (struct res_workload){ .source = "model", .digest = "1", .wall_ns = -1 };
	b->q = (struct design_question){ .config = "dsocr",
		                         .axes = axes,
		                         .n_axes = AXES,
		                         .job = { .stream = synth_step(&r, b->a, 1, false),
		                                  .workload = &b->w,
		                                  .how = { .start = RUN_STEADY, .seed = 1, .fidelity = RUN_ANALYTIC } },
		                         .forms = BUDGET,
		                         .seed = 1 };
}

static void down(struct bed *b)
{
	free(b->all);
	arena_free(b->a);
}

static void figures_of(const struct res_point *p, double *v)
{
	v[LATENCY] = (double)p->total_ps / 1e6;
	v[AREA] = (double)p->area_nm2 / 1e12;
	v[ENERGY] = (double)p->energy_fj / 1e9;
	v[POWER] = (double)p->energy_fj / (double)p->total_ps / 1e3;
	v[EDP] = v[ENERGY] * v[LATENCY];
	v[PRODUCT] = v[AREA] * v[LATENCY];
}

/* Every design, by the sweep's own evaluation; at least so many can be built. */
static void exhaust(struct bed *b, size_t least)
{
	struct arena *a = arena_new(0);
	struct sweep *s = design_space(&b->q, a, &b->e);
	struct run_memo **memos = sweep_memos(&b->q.job);
	struct sweep_job job = b->q.job;
	size_t at[AXES] = { 0 }, all = 1, k = 0, n;

	CHECK_OK(s ? 0 : -1, b->e);
	CHECK_U64(n = s->n_axes, b->q.n_axes);
	job.how.memo = memos[0];
	for (size_t i = 0; i < n; i++)
		all *= s->axes[i].n;
	b->all = calloc(all, sizeof *b->all);
	while (k < n) {
		struct arena *own = arena_new(0);
		struct res_point p = { .point = 0 };
		struct real_beyond beyond[REAL_MOST];
		const char *sets[AXES];
		struct machine_conf *c;

		for (size_t i = 0; i < n; i++)
			sets[i] = s->axes[i].sets[at[i]];
		c = sweep_conf(s, sets, &b->e);
		CHECK_OK(c ? 0 : -1, b->e);
		if (!real_machine(&c->cfg, 1, beyond)) {
			CHECK_OK(sweep_eval(s, &job, sets, NULL, NULL, own, &p, &b->e), b->e);
			figures_of(&p, b->all[b->n++]);
		}
		machine_conf_free(c);
		arena_free(own);
		for (k = 0; k < n && ++at[k] == s->axes[k].n; k++)
			at[k] = 0;
	}
	CHECK(b->n >= least);
	sweep_memos_free(&b->q.job, memos);
	sweep_free(s);
	arena_free(a);
}

static int ascending(const void *x, const void *y)
{
	const double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

struct goal {
	int objective, of[2], n;
	double most[2];
};

/* A bound that some tenth to half of the designs keep. */
static double threshold(const struct bed *b, int figure, struct rng *r)
{
	double *v = calloc(b->n, sizeof *v), x;

	for (size_t i = 0; i < b->n; i++)
		v[i] = b->all[i][figure];
	qsort(v, b->n, sizeof *v, ascending);
	x = v[b->n / 10 + rng_below(r, b->n * 4 / 10)];
	free(v);
	return x;
}

static bool holds(const struct goal *g, const double *v)
{
	for (int i = 0; i < g->n; i++)
		if (v[g->of[i]] > g->most[i])
			return false;
	return true;
}

/* The best of `tries` designs drawn at random; 0: of all. */
static double best_of(const struct bed *b, const struct goal *g, size_t tries, struct rng *r)
{
	double best = HUGE_VAL;

	for (size_t i = 0; i < (tries ? tries : b->n); i++) {
		const double *v = b->all[tries ? rng_below(r, b->n) : i];

		if (holds(g, v))
			best = fmin(best, v[g->objective]);
	}
	return best;
}

static void draw(const struct bed *b, struct rng *r, struct goal *g)
{
	do {
		g->objective = (int)rng_below(r, FIGURES_OF);
		g->n = 1 + (int)rng_below(r, 2);
		for (int i = 0; i < g->n; i++) {
			do
				g->of[i] = (int)rng_below(r, PRODUCT);
			while (g->of[i] == g->objective || (i && g->of[1] == g->of[0]));
			g->most[i] = threshold(b, g->of[i], r);
		}
	} while (isinf(best_of(b, g, 0, NULL)));
}

TEST(a_search_finds_the_best_of_all_designs_to_a_percent_and_more_than_luck)
{
	const int goals = test_rounds(2, GOALS, 100);
	struct bed b;
	struct rng r;

	up(&b);
	b.q.axes = test_rounds(0, 0, 1) ? axes : halves[test_seed() % 2];
	exhaust(&b, (size_t)test_rounds(300, 300, 2000));
	rng_seed(&r, test_seed(), "goals");
	for (int i = 0; i < goals; i++) {
		struct design_result out;
		struct arena *a = arena_new(0);
		char text[2][64];
		const char *bounds[2] = { text[0], text[1] };
		struct goal g;
		double all, luck;

		draw(&b, &r, &g);
		for (int k = 0; k < g.n; k++)
			snprintf(text[k], sizeof text[k], "%s <= %.17g", names[g.of[k]], g.most[k]);
		b.q.bounds = bounds;
		b.q.n_bounds = (size_t)g.n;
		b.q.objective = names[g.objective];
		b.q.seed = (uint64_t)i;
		CHECK_OK(design_run(&b.q, a, &out, &b.e), b.e);
		all = best_of(&b, &g, 0, NULL);
		luck = best_of(&b, &g, 10 * BUDGET, &r);
		if (getenv("NPUSIM_TEST_SAY"))
			printf("%s: %s%s%s: %.6g of %.6g, luck %.6g, %zu runs\n", names[g.objective], text[0],
			       g.n > 1 ? ", " : "", g.n > 1 ? text[1] : "", out.best.objective, all, luck, out.forms);
		CHECK(out.forms <= BUDGET && out.explained <= 3 * AXES * AXES); /* never more than was asked */
		if (!out.reached || out.best.objective > 1.01 * all || out.best.objective > 1.02 * luck)
			test_fail(__FILE__, __LINE__,
			          "least %s with %s%s%s: %.9g%s, and there is %.9g (luck %.9g); %zu runs",
			          names[g.objective], text[0], g.n > 1 ? ", " : "", g.n > 1 ? text[1] : "",
			          out.best.objective, out.reached ? "" : " does not hold", all, luck, out.forms);
		CHECK(out.best.objective > all * (1 - 1e-9));
		design_free(&out);
		arena_free(a);
	}
	down(&b);
}

/* With events, which count: of a space small enough to run all of it with them. */
TEST(events_have_the_last_word)
{
	static const char *const few[] = { "cores=16,32,64", "dram.channels=32,48,64,80", "l2.size=48 MiB,192 MiB",
		                           "gemv.units=1,4" };
	const int goals = test_rounds(1, 3, 20);
	struct bed b;
	struct rng r;

	up(&b);
	b.q.axes = few;
	b.q.n_axes = sizeof few / sizeof *few;
	b.q.job.how.fidelity = RUN_EVENT;
	b.q.forms = 40;
	b.q.events = 24;
	exhaust(&b, 30);
	rng_seed(&r, test_seed(), "events");
	for (int i = 0; i < goals; i++) {
		struct design_result out;
		struct arena *a = arena_new(0);
		const double most = threshold(&b, LATENCY, &r);
		const struct goal g = {
			.objective = i % 2 ? ENERGY : AREA, .of = { LATENCY }, .n = 1, .most = { most }
		};
		const double all = best_of(&b, &g, 0, NULL);
		char text[64];
		const char *bounds[1] = { text };

		snprintf(text, sizeof text, "latency_us <= %.17g", most);
		b.q.bounds = bounds;
		b.q.n_bounds = 1;
		b.q.objective = names[g.objective];
		CHECK_OK(design_run(&b.q, a, &out, &b.e), b.e);
		if (!out.reached || !out.best.by_events || out.best.objective > 1.01 * all)
			test_fail(__FILE__, __LINE__, "least %s with %s: %.9g%s, and there is %.9g by events",
			          b.q.objective, text, out.best.objective, out.reached ? "" : " does not hold", all);
		CHECK((double)out.best.figures.total_ps / 1e6 <= most * (1 + 1e-9));
		CHECK(out.events <= 60 && out.events <= DESIGN_EVENTS_MOST && out.forms <= 40 && out.work > 0);
		design_free(&out);
		arena_free(a);
	}
	down(&b);
}

/* Of few runs, an answer by events all the same, or one line why there is none; never a search without an end. */
TEST(a_search_ends_whatever_it_may_run)
{
	const char *bounds[] = { "latency_us <= 40" };

	for (size_t forms = 1; forms <= 40; forms += forms < 4 ? 1 : 9)
		for (size_t events = 1; events <= 3; events += 2) {
			struct arena *a = arena_new(0);
			struct design_result out;
			struct bed b;

			up(&b);
			b.q.job.how.fidelity = RUN_EVENT;
			b.q.bounds = bounds;
			b.q.n_bounds = 1;
			b.q.objective = "area_mm2";
			b.q.forms = forms;
			b.q.events = events;
			if (design_run(&b.q, a, &out, &b.e) == 0)
				CHECK(out.best.by_events && out.forms <= forms + 1);
			else
				CHECK_HAS(b.e.msg, "can be built");
			design_free(&out);
			arena_free(a);
			down(&b);
		}
}

/* Unneeded changes are taken back, the way leads from the machine to the design, and what lies beside it fails. */
TEST(an_answer_says_why_it_is_one)
{
	const char *bounds[] = { "latency_us <= 12", "power_w <= 400" };
	struct design_result out;
	struct arena *a = arena_new(0);
	struct bed b;

	up(&b);
	b.q.bounds = bounds;
	b.q.n_bounds = 2;
	b.q.objective = "area_mm2";
	CHECK_OK(design_run(&b.q, a, &out, &b.e), b.e);
	CHECK(out.reached && out.changed && out.n_steps > 0);
	for (size_t i = 0; i < out.n_steps; i++)
		CHECK(strcmp(out.steps[i].from, out.steps[i].to) != 0);
	CHECK_U64(out.steps[out.n_steps - 1].after.figures.total_ps, out.best.figures.total_ps);
	for (size_t i = 0; i < out.n_beside; i++) {
		CHECK(out.beside[i].one.objective < out.best.objective);
		CHECK(out.beside[i].fails && !out.beside[i].one.meets);
	}
	CHECK(!out.has_second || (out.second.meets && out.second.objective > out.best.objective));
	design_free(&out);
	arena_free(a);
	down(&b);
}

SUITE(p_design, SLOW(a_search_finds_the_best_of_all_designs_to_a_percent_and_more_than_luck),
      SLOW(events_have_the_last_word), SLOW(a_search_ends_whatever_it_may_run), SLOW(an_answer_says_why_it_is_one));
