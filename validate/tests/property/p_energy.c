/* Energy of an NPU's runs: the sum of its parts, alike in both fidelities, never less for more. */
#include "arch/machine/machine_ceiling.h"
#include "arch/machine/machine_shipped.h"
#include "validate/tests/runbed.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

#include <stdio.h>
#include <stdlib.h>

#define ROUNDS    test_rounds(10, 20, 60)
#define APART_PPM 20000

static const char *const powered[] = { "die.node=n7", "power.dram=hbm3e", "power.clock_gating=false" };
#define POWERED 3

static bool run(struct runbed *b, const char *config, enum run_start start, enum run_fidelity f, struct run_result *x)
{
	const struct run_opts o = { .start = start, .seed = 7, .fidelity = f };

	return runbed_run(b, config, config ? NULL : powered, config ? 0 : POWERED, &o, x);
}

/* I1 of sim/engine/pass_energy.h, and of pass_count.h. */
static void check_sums(const struct run_result *x)
{
	uint64_t parts = 0, ops = 0;

	CHECK(x->energy && x->energy_fj);
	for (size_t i = 0; i < x->n_energy; i++)
		parts += x->energy[i].fj;
	for (size_t i = 0; i < x->stream->n_ops; i++)
		ops += x->ops[i].energy_fj;
	CHECK_U64(parts, x->energy_fj);
	CHECK_U64(ops, x->energy_fj);
}

TEST(parts_and_ops_sum_to_the_energy_to_the_last_femtojoule)
{
	struct rng r;
	size_t n = 0;

	rng_seed(&r, test_seed(), "energy");
	for (int i = 0; i < 2 * ROUNDS; i++) {
		struct runbed b;
		struct run_result x, y;

		runbed_random(&b, &r);
		if (run(&b, NULL, i % 3 ? RUN_STEADY : RUN_COLD, i % 2 ? RUN_ANALYTIC : RUN_EVENT, &x)) {
			check_sums(&x);
			n++;
			CHECK(run(&b, NULL, i % 3 ? RUN_STEADY : RUN_COLD, i % 2 ? RUN_ANALYTIC : RUN_EVENT, &y));
			CHECK_U64(x.energy_fj, y.energy_fj);
			CHECK(memcmp(x.ops, y.ops, b.s->n_ops * sizeof *x.ops) == 0);
		}
		runbed_down(&b);
	}
	CHECK(n > (size_t)ROUNDS);
}

/* Of what is done; what waits goes with the time, in which the two differ. */
static uint64_t done(const struct run_result *x)
{
	uint64_t fj = 0;

	for (size_t i = 0; i < x->n_energy; i++)
		fj += i < NPU_WAITS ? 0 : x->energy[i].fj;
	return fj;
}

static uint64_t apart_ppm(uint64_t x, uint64_t y)
{
	return (uint64_t)((double)(x > y ? x - y : y - x) * 1e6 / (double)(y ? y : 1));
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

TEST(what_random_machines_do_takes_as_much_in_both_fidelities)
{
	uint64_t ppm[60];
	size_t n = 0;
	struct rng r;

	rng_seed(&r, test_seed(), "energy apart");
	for (int i = 0; i < ROUNDS; i++) {
		struct runbed b;
		struct run_result x, y;

		runbed_random(&b, &r);
		if (run(&b, NULL, RUN_STEADY, RUN_ANALYTIC, &x) && run(&b, NULL, RUN_STEADY, RUN_EVENT, &y)) {
			/* units' part is the program's, whatever the fidelity */
			for (int k = NPU_WAITS; k <= NPU_WAITS + NPU_EVENT_compare; k++)
				CHECK_U64(x.energy[k].fj, y.energy[k].fj);
			ppm[n++] = apart_ppm(done(&x), done(&y));
		}
		runbed_down(&b);
	}
	qsort(ppm, n, sizeof *ppm, by_size);
	printf("energy of what is done, %zu random machines: median %llu ppm apart, worst %llu\n", n,
	       (unsigned long long)ppm[n / 2], (unsigned long long)ppm[n - 1]);
	CHECK(n > (size_t)ROUNDS / 2 && ppm[n / 2] <= APART_PPM);
}

TEST(traced_steps_take_as_much_in_both_fidelities)
{
	static const char *const traces[] = { "kineto_dsocr_b1_c1024", "kineto_llama1b_b1_c256" };
	static const char *const configs[] = { "configs/npu/dsocr.yaml", "configs/npu/edge.yaml" };

	for (int t = 0; t < 2; t++) {
		struct runbed b;

		runbed_traced(&b, traces[t], "decode_step_1");
		for (int i = 0; i < 2; i++) {
			struct run_result x, y;

			CHECK(run(&b, configs[i], RUN_STEADY, RUN_ANALYTIC, &x));
			CHECK(run(&b, configs[i], RUN_STEADY, RUN_EVENT, &y));
			check_sums(&x);
			check_sums(&y);
			printf("%s on %s: %.3f mJ, events %.3f mJ\n", traces[t], configs[i], (double)x.energy_fj / 1e12,
			       (double)y.energy_fj / 1e12);
			CHECK(apart_ppm(x.energy_fj, y.energy_fj) <= APART_PPM);
		}
		runbed_down(&b);
	}
}

/* A unit's multiply-adds and steps are those that its statistic has. */
TEST(what_units_do_is_counted_as_often_as_it_is_done)
{
	struct rng r;

	rng_seed(&r, test_seed(), "energy counts");
	for (int i = 0; i < ROUNDS; i++) {
		/* every cost 1 fJ, and the clock where the voltage is nominal: parts are counts */
		static const char *const ones[] = { "die.node=n7",         "power.dram=hbm3e",    "clock=1.98 GHz",
			                            "power.mac_bf16=1 fJ", "power.mac_fp32=1 fJ", "power.mac_fp16=1 fJ",
			                            "power.mac_int8=1 fJ", "power.mac_fp8=1 fJ",  "power.mac_int4=1 fJ",
			                            "power.alu=1 fJ",      "power.sfu=1 fJ",      "power.convert=1 fJ",
			                            "power.compare=1 fJ" };
		const struct run_opts o = { .start = RUN_COLD, .seed = 7, .fidelity = RUN_EVENT };
		struct runbed b;
		struct run_result x;

		runbed_random(&b, &r);
		if (runbed_run(&b, NULL, ones, sizeof ones / sizeof *ones, &o, &x)) {
			uint64_t macs[UNIT_COUNT] = { 0 }, steps = 0;

			for (int k = 0; k < NPU_EVENTS; k++) {
				const uint64_t fj = x.energy[NPU_WAITS + k].fj;

				if (k < UNIT_COUNT * NPU_FORMATS)
					macs[k / NPU_FORMATS] += fj;
				else if (k <= NPU_EVENT_compare)
					steps += fj;
			}
			for (int u = 0; u < UNIT_COUNT; u++)
				CHECK_U64(macs[u] + (unit_table[u]->last_resort ? steps : 0),
				          runbed_stat(&x, unit_table[u]->work_stat));
		}
		runbed_down(&b);
	}
}

struct took {
	uint64_t fj;
	ps_t t;
};

static struct took product(const char *machine, uint64_t m, uint64_t n, uint64_t k, enum run_fidelity f)
{
	const struct run_opts o = { .start = RUN_COLD, .seed = 1, .fidelity = f };
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_load(machine, NULL, 0, &e);
	struct run_result x;

	CHECK_OK(c ? 0 : -1, e);
	CHECK_OK(run_stream(synth_product(a, m, n, k), c, &o, a, &x, &e), e);
	machine_conf_free(c);
	arena_free(a);
	return (struct took){ x.energy_fj, x.total_ps };
}

/* Where a mapping is found that makes more work faster, less time leaks less: that alone may save. Mappings are chosen by time:
 * of two that take as long one may move more bytes. */
#define MOVES_MORE 20 /* a part of the energy */
static void no_less(const struct took *less, const struct took *more)
{
	CHECK(more->fj + less->fj / MOVES_MORE >= less->fj || more->t < less->t);
}

TEST(more_work_never_takes_less)
{
	static const char *const machines[] = { "dsocr", "edge", "tpu-v4", "h200-twin", "imc-256m" };

	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		struct took rows = { 0, 0 }, columns = { 0, 0 }, deep = { 0, 0 };

		for (uint64_t m = 1; m <= 1024; m *= 2) {
			const struct took r = product(machines[i], m, 1024, 1024, RUN_ANALYTIC),
					  c = product(machines[i], 8, 256 * m, 512, RUN_ANALYTIC),
					  d = product(machines[i], 8, 512, 256 * m, RUN_ANALYTIC);

			no_less(&rows, &r);
			no_less(&columns, &c);
			no_less(&deep, &d);
			rows = r, columns = c, deep = d;
		}
	}
}

static uint64_t power(const struct run_result *x)
{
	return energy_power(x->energy_fj, x->total_ps);
}

/* --- the ceiling ------------------------------------------------------------------------------------------------- */

static double ceiling(const struct machine_conf *c)
{
	struct err e = ERR_INIT;
	struct tech *t = tech_load(c->cfg.die.node, &e);
	struct area a;
	uint64_t uw;

	CHECK_OK(t ? 0 : -1, e);
	machine_area(&c->cfg, t, &a);
	uw = machine_ceiling(&c->cfg, t, &a);
	tech_free(t);
	return (double)uw;
}

/* One product, or rows without one. */
static struct op_stream *work(struct arena *a, const uint64_t *mnk, enum dtype d)
{
	struct op_stream *s = synth_product(a, mnk[0], mnk[1], mnk[2]);

	for (size_t i = 0; i < s->n_ops; i++)
		s->ops[i].dtype = s->ops[i].out_dtype = d;
	for (size_t i = 0; i < s->n_tensors; i++)
		s->tensors[i].bytes = s->tensors[i].bytes / 2 * dtype_bits(d) / 8;
	return s;
}

static double power_of(const struct machine_conf *c, const struct op_stream *s, struct arena *a, enum run_start start,
                       enum run_fidelity f)
{
	const struct run_opts o = { .start = start, .seed = 1, .fidelity = f };
	struct err e = ERR_INIT;
	struct run_result x;

	CHECK_OK(run_stream(s, c, &o, a, &x, &e), e);
	return (double)power(&x);
}

/* Full arrays, one row, a few rows; in every format, whatever the format does to the rate. */
TEST(no_product_takes_more_than_the_ceiling_of_a_shipped_machine)
{
	struct arena *all = arena_new(0);
	struct err none = ERR_INIT;
	const char **machines;
	size_t n;
	static const uint64_t shapes[][3] = { { 2048, 2048, 2048 }, { 1, 4096, 4096 }, { 16, 1024, 4096 } };
	static const size_t sizes = sizeof shapes / sizeof *shapes;

	CHECK_OK(machine_shipped_npus(all, &machines, &n, &none), none);
	for (size_t i = 0; i < n; i++) {
		struct err e = ERR_INIT;
		struct machine_conf *c = test_turn(i, 5) ? machine_conf_load(machines[i], NULL, 0, &e) : NULL;
		double most = 0, at_most;

		if (!test_turn(i, 5))
			continue;
		CHECK_OK(c ? 0 : -1, e);
		at_most = ceiling(c);
		for (size_t k = 0; k < (DTYPES - 1) * sizes * 2; k++) {
			struct arena *a = arena_new(0);
			const double w =
				power_of(c, work(a, shapes[k / 2 % sizes], (enum dtype)(DT_NONE + 1 + k / 2 / sizes)),
			                 a, k % 3 ? RUN_STEADY : RUN_COLD, k % 2 ? RUN_ANALYTIC : RUN_EVENT);

			most = w > most ? w : most;
			arena_free(a);
		}
		printf("%s: at most %.1f W, %.1f W seen\n", machines[i], at_most / 1e6, most / 1e6);
		CHECK(at_most > 0 && most <= at_most);
		machine_conf_free(c);
	}
	arena_free(all);
}

TEST(no_step_of_a_random_machine_takes_more_than_its_ceiling)
{
	struct rng r;
	size_t n = 0;

	rng_seed(&r, test_seed(), "energy ceiling");
	for (int i = 0; i < 2 * ROUNDS; i++) {
		struct runbed b;
		struct err e = ERR_INIT;
		struct machine_conf *c;

		runbed_random(&b, &r);
		if ((c = machine_conf_parse(b.yaml.p, b.yaml.len, "ceiling", powered, POWERED, &e))) {
			const struct run_opts o = { .start = RUN_STEADY,
				                    .seed = 7,
				                    .fidelity = i % 2 ? RUN_ANALYTIC : RUN_EVENT };
			struct run_result x;

			if (run_stream(b.s, c, &o, b.a, &x, &e) == 0 && x.total_ps) {
				CHECK((double)power(&x) <= ceiling(c));
				n++;
			}
		}
		machine_conf_free(c);
		runbed_down(&b);
	}
	CHECK(n > (size_t)ROUNDS);
}

/* --- the clock --------------------------------------------------------------------------------------------------- */

/* False: no clock fits, which is said. */
static bool capped(struct runbed *b, uint64_t cap, enum run_fidelity f, struct run_result *x)
{
	const struct run_opts o = { .start = RUN_STEADY, .seed = 7, .fidelity = f };
	const char *sets[POWERED + 1];
	struct err e = ERR_INIT;
	struct machine_conf *c;
	char text[64];
	int rc;

	memcpy(sets, powered, sizeof powered);
	snprintf(text, sizeof text, "power.cap=%llu uW", (unsigned long long)cap);
	sets[POWERED] = text;
	c = machine_conf_parse(b->yaml.p, b->yaml.len, "capped", sets, POWERED + 1, &e);
	rc = c ? run_stream(b->s, c, &o, b->a, x, &e) : -1;
	if (rc < 0)
		CHECK_HAS(e.msg, "'power.cap' is ");
	machine_conf_free(c);
	return rc == 0;
}

/* I1 of pass_clock.h, and a lower cap never gives a higher clock. */
TEST(a_cap_is_kept_and_never_makes_a_run_faster)
{
	struct rng r;
	int lowered = 0;

	rng_seed(&r, test_seed(), "energy cap");
	for (int i = 0; i < ROUNDS; i++) {
		const enum run_fidelity f = i % 2 ? RUN_ANALYTIC : RUN_EVENT;
		struct runbed b;
		struct run_result full, x;
		uint64_t before;

		runbed_random(&b, &r);
		if (run(&b, NULL, RUN_STEADY, f, &full) && full.total_ps) {
			before = full.clock_khz;
			for (int percent = 120; percent >= 60; percent -= 25) {
				const uint64_t cap = power(&full) / 100 * (uint64_t)percent;

				if (!capped(&b, cap, f, &x))
					break;
				check_sums(&x);
				CHECK(power(&x) <= cap);
				CHECK(x.total_ps >= full.total_ps);
				CHECK(x.clock_khz <= before);
				CHECK(percent > 100 ? x.clock_khz == full.clock_khz && x.total_ps == full.total_ps
				                    : x.clock_khz < full.clock_khz);
				before = x.clock_khz;
				lowered += x.clock_khz < full.clock_khz;
			}
		}
		runbed_down(&b);
	}
	CHECK(lowered > ROUNDS / 4);
}

TEST(pace_keeps_its_time_at_a_lower_clock_and_less_power)
{
	struct rng r;
	int slower = 0;

	rng_seed(&r, test_seed(), "energy pace");
	for (int i = 0; i < ROUNDS; i++) {
		struct runbed b;
		struct run_result race, pace;

		runbed_random(&b, &r);
		if (run(&b, NULL, RUN_STEADY, RUN_ANALYTIC, &race) && race.total_ps) {
			const ps_t target = race.total_ps + race.total_ps / 4;
			const struct run_opts o = { .start = RUN_STEADY, .seed = 7, .fidelity = RUN_ANALYTIC };
			char text[64];
			const char *sets[] = { powered[0], powered[1], powered[2], text, "power.mode=pace" };

			snprintf(text, sizeof text, "power.latency_target=%llu ps", (unsigned long long)target);
			CHECK(runbed_run(&b, NULL, sets, 4, &o, &race));
			CHECK(runbed_run(&b, NULL, sets, 5, &o, &pace));
			check_sums(&pace);
			CHECK(pace.total_ps <= target);
			CHECK(race.energy_period_fj > race.energy_fj);
			if (pace.clock_khz < race.clock_khz) {
				slower++;
				CHECK(power(&pace) < power(&race));
			}
		}
		runbed_down(&b);
	}
	CHECK(slower > ROUNDS / 4);
}

/* A part of what a table of ops takes on dsocr, with some values set. */
static uint64_t part_of(const char *table, const char *const *sets, int n, const char *block, const char *name)
{
	const struct run_opts o = { .start = RUN_COLD, .seed = 7, .fidelity = RUN_ANALYTIC };
	struct runbed b;
	struct run_result x;
	uint64_t fj = 0;

	runbed_table(&b, table);
	CHECK(runbed_run(&b, "configs/npu/dsocr.yaml", sets, n, &o, &x));
	for (size_t i = 0; i < x.n_energy; i++)
		if (strcmp(x.energy[i].row->block, block) == 0 && strcmp(x.energy[i].row->name, name) == 0)
			fj += x.energy[i].fj;
	runbed_down(&b);
	return fj;
}

/* Of one row the weights are nearly all that the scratchpad is asked for; a unit that widens them first reads 16 bits. */
TEST(weights_of_4_bits_are_read_as_such_where_a_unit_multiplies_them_so)
{
	static const char narrow[] = "op,m,n,k,dtype,weight_dtype\ngemv,1,4096,4096,bf16,int4\n",
			  wide[] = "op,m,n,k,dtype\ngemv,1,4096,4096,bf16\n";
	static const char *const as_they_are[] = { "gemv.w4a16=true" };
	const uint64_t of_16 = part_of(wide, NULL, 0, "sram", "sram_operand"),
		       widened = part_of(narrow, NULL, 0, "sram", "sram_operand"),
		       of_4 = part_of(narrow, as_they_are, 1, "sram", "sram_operand");

	CHECK(of_16);
	CHECK_U64(widened, of_16);
	/* a quarter; activations and sums of one row are small */
	CHECK(of_4 * 4 > of_16 && of_4 * 4 < of_16 + of_16 / 100);
}

TEST(a_units_own_multiply_add_takes_what_its_section_says)
{
	static const char table[] = "op,m,n,k,dtype\ngemv,1,1024,2048,bf16\n";
	static const char *const one[] = { "gemv.mac_energy=50 fJ", "clock=1 GHz" },
				 *const twice[] = { "gemv.mac_energy=100 fJ", "clock=1 GHz" },
				 *const other[] = { "matrix.mac_energy=50 fJ" };
	const uint64_t fj = part_of(table, one, 2, "gemv", "mac_bf16");

	CHECK(fj && fj <= UINT64_C(50) * 1024 * 2048); /* times the square of the clock's voltage */
	CHECK(part_of(table, twice, 2, "gemv", "mac_bf16") - 2 * fj <= 1);
	CHECK_U64(part_of(table, other, 1, "gemv", "mac_bf16"), part_of(table, NULL, 0, "gemv", "mac_bf16"));
}

SUITE(p_energy, T(weights_of_4_bits_are_read_as_such_where_a_unit_multiplies_them_so),
      T(a_units_own_multiply_add_takes_what_its_section_says),
      SLOW(parts_and_ops_sum_to_the_energy_to_the_last_femtojoule),
      SLOW(what_random_machines_do_takes_as_much_in_both_fidelities),
      SLOW(traced_steps_take_as_much_in_both_fidelities), SLOW(what_units_do_is_counted_as_often_as_it_is_done),
      SLOW(more_work_never_takes_less), SLOW(a_cap_is_kept_and_never_makes_a_run_faster),
      SLOW(pace_keeps_its_time_at_a_lower_clock_and_less_power),
      SLOW(no_product_takes_more_than_the_ceiling_of_a_shipped_machine),
      SLOW(no_step_of_a_random_machine_takes_more_than_its_ceiling));
