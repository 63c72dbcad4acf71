/* What events and time cost, a board's power by its launches' counts, and the clock that a cap leaves. */
#include "arch/gpu/gpu_math.h"
#include "arch/gpu/gpu_power.h"
#include "arch/machine/machine_conf.h"
#include "arch/machine/machine_gpu.h"
#include "validate/tests/test.h"

#define DEVICE \
	"kind: gpu\nname: toy\nclock: 2 GHz\ncores: 100\ndram: {kind: fixed, fixed_bandwidth: 1 TB/s}\n" \
	"power: {idle: 100 W, idle_low: 50 W, cap: 400 W, reach: 1, gap: 0, slope: 0.5, lit: 20 W, awake: 40 W,\n" \
	"  awake_rate: 1 TB/s, dram_read: 50 pJ, l2: 10 pJ, mac: 1 pJ, instruction: 5 pJ}\n"

struct bed {
	struct machine_conf *conf;
	struct gpu g;
};

static void bed_up(struct bed *b, const char *text)
{
	struct err e = ERR_INIT;

	b->conf = machine_conf_parse(text, strlen(text), "toy", NULL, 0, &e);
	CHECK_OK(b->conf ? 0 : -1, e);
	b->g = machine_gpu(&b->conf->cfg);
}

static void bed_down(struct bed *b)
{
	machine_conf_free(b->conf);
}

/* --- amounts ----------------------------------------------------------------------------------------------------- */

TEST(amounts_are_whole_and_saturate)
{
	CHECK_U64(energy_over(1000000, 1000000), 1000000000); /* 1 W over 1 us: 1 uJ */
	CHECK_U64(energy_over(700000000, UINT64_C(1000000000000)),
	          UINT64_C(700000000000000000) / UINT64_C(1000) * 1000);
	CHECK_U64(energy_events(3, 7, ENERGY_ONE), 21);
	CHECK_U64(energy_events(3, 7, 500000), 10); /* rounded down, once */
	CHECK_U64(energy_scale(UINT64_MAX, ENERGY_ONE), UINT64_MAX);
	CHECK_U64(energy_scale(UINT64_MAX, 500000), UINT64_MAX / 2);
	CHECK_U64(energy_scale(UINT64_MAX, 2 * ENERGY_ONE), UINT64_MAX);
	CHECK_U64(energy_events(UINT64_MAX, 2, ENERGY_ONE), UINT64_MAX);
	CHECK_U64(energy_add(UINT64_MAX - 1, 3), UINT64_MAX);
	CHECK_U64(energy_power(1000000000, 1000000), 1000000);
	CHECK_U64(energy_power(5, 0), 0);
}

TEST(a_scale_beyond_64_bits_agrees_with_one_within)
{
	for (uint64_t v = 1; v < UINT64_C(1) << 42; v = v * 3 + 1)
		for (uint64_t s = 1; s < 4000000; s = s * 5 + 3) {
			CHECK_U64(energy_scale(v, s), v * s / ENERGY_ONE);
			/* 2^20 times as much leaves 64 bits: within what was rounded before. */
			if (v < UINT64_C(1) << 40) {
				const uint64_t big = energy_scale(v << 20, s), small = (v * s) / ENERGY_ONE << 20;

				CHECK(big >= small && big - small <= UINT64_C(1) << 20);
			}
		}
}

/* --- a board ----------------------------------------------------------------------------------------------------- */

TEST(a_launch_takes_what_its_rows_say)
{
	struct gpu_activity x = { .sms = 50 };
	struct gpu_energy e;
	struct bed b;

	bed_up(&b, DEVICE);
	x.n[GPU_EVENT_dram_read] = 1000000;
	x.n[GPU_EVENT_l2] = 1000000; /* a microsecond of the network at 1 TB/s */
	x.n[GPU_EVENT_mac] = 2000000;
	gpu_energy_of(&b.g, &x, 10 * PS_US, &e);
	CHECK_U64(e.part[GPU_WAIT_idle], UINT64_C(1000000000000)); /* 100 W, 10 us */
	CHECK_U64(e.part[GPU_WAIT_lit], UINT64_C(100000000000));   /* 20 W, half of the SMs */
	CHECK_U64(e.part[GPU_WAIT_awake], UINT64_C(40000000000));  /* 40 W, 1 us */
	CHECK_U64(e.part[GPU_WAITS + GPU_EVENT_dram_read], UINT64_C(50000000000));
	CHECK_U64(e.part[GPU_WAITS + GPU_EVENT_l2], UINT64_C(10000000000));
	CHECK_U64(e.part[GPU_WAITS + GPU_EVENT_mac], UINT64_C(2000000000));
	CHECK_U64(gpu_energy_sum(&e), UINT64_C(1202000000000));
	bed_down(&b);
}

TEST(at_half_the_clock_core_events_take_the_square_of_the_voltage_and_dram_what_it_did)
{
	struct gpu_activity x = { .sms = 100 };
	struct gpu_energy e;
	struct bed b;
	struct gpu at;

	bed_up(&b, DEVICE);
	at = gpu_at_clock(&b.g, 1000000); /* 3/4 of the voltage: 9/16 */
	x.n[GPU_EVENT_mac] = 16000000;
	x.n[GPU_EVENT_dram_read] = 1000;
	gpu_energy_of(&at, &x, PS_US, &e);
	CHECK_U64(e.part[GPU_WAITS + GPU_EVENT_mac], UINT64_C(9000000000));
	CHECK_U64(e.part[GPU_WAITS + GPU_EVENT_dram_read], 50000000);
	CHECK_U64(e.part[GPU_WAIT_lit], UINT64_C(5625000000)); /* 20 W, 9/16, half the ticks */
	CHECK(e.part[GPU_WAIT_idle] > UINT64_C(50000000000) && e.part[GPU_WAIT_idle] < UINT64_C(60000000000));
	bed_down(&b);
}

TEST(idle_falls_with_the_clock_and_never_below_its_low)
{
	uint64_t last = 0;
	struct bed b;

	bed_up(&b, DEVICE);
	for (uint64_t khz = 15000; khz <= b.g.top; khz += 15000) {
		const struct gpu at = gpu_at_clock(&b.g, khz);
		const uint64_t fj = gpu_energy_idle(&at, PS_US);

		CHECK(fj >= last && fj >= UINT64_C(50000000000) && fj <= UINT64_C(100000000000));
		last = fj;
	}
	CHECK_U64(last, UINT64_C(100000000000));
	bed_down(&b);
}

/* --- the cap --------------------------------------------------------------------------------------------------------- */

/* Power that goes with the cube of the clock: 1000 W at 2 GHz. */
static uint64_t cubed(const struct gpu *at, void *arg)
{
	const uint64_t mhz = at->clock / 1000;

	++*(int *)arg;
	return mhz * mhz * mhz / 8;
}

TEST(the_cap_leaves_the_highest_step_that_fits)
{
	struct bed b;
	int asked = 0;

	bed_up(&b, DEVICE);
	/* 400 W: 1473.6 MHz, so 98 steps of 15 */
	CHECK_U64(gpu_power_clock(&b.g, cubed, &asked), 1470000);
	CHECK(asked < 12);
	b.conf->cfg.gpu.power.cap = 1000000000;
	CHECK_U64(gpu_power_clock(&b.g, cubed, &asked), b.g.top);
	b.conf->cfg.gpu.power.cap = 0;
	CHECK_U64(gpu_power_clock(&b.g, cubed, &asked), b.g.top);
	b.conf->cfg.gpu.power.cap = 1; /* nothing fits: the lowest step */
	CHECK_U64(gpu_power_clock(&b.g, cubed, &asked), GPU_CLOCK_STEP);
	bed_down(&b);
}

static uint64_t little(const struct gpu *at, void *arg)
{
	(void)at;
	(void)arg;
	return 1;
}

/* A device whose costs are at 2 GHz, and one that is the same at a locked clock of half: as the first at that clock. */
TEST(a_locked_clock_has_less_voltage)
{
	const struct gpu_activity x = { .sms = 100,
		                        .n = { [GPU_EVENT_mac] = 1000000000, [GPU_EVENT_dram_read] = 1000000 } };
	struct gpu_energy a, b, wrong;
	struct bed full, locked, own;
	struct gpu half;

	bed_up(&full, DEVICE);
	bed_up(&locked, "kind: gpu\nname: toy\nclock: 1 GHz\ncores: 100\ndram: {kind: fixed, fixed_bandwidth: 1 TB/s}\n"
	                "power: {clock: 2 GHz, idle: 100 W, idle_low: 50 W, cap: 400 W, reach: 1, gap: 0, slope: 0.5,\n"
	                "  lit: 20 W, awake: 40 W, awake_rate: 1 TB/s, dram_read: 50 pJ, l2: 10 pJ, mac: 1 pJ,\n"
	                "  instruction: 5 pJ}\n");
	bed_up(&own, "kind: gpu\nname: toy\nclock: 1 GHz\ncores: 100\ndram: {kind: fixed, fixed_bandwidth: 1 TB/s}\n"
	             "power: {idle: 100 W, idle_low: 50 W, cap: 400 W, reach: 1, gap: 0, slope: 0.5, lit: 20 W,\n"
	             "  awake: 40 W, awake_rate: 1 TB/s, dram_read: 50 pJ, l2: 10 pJ, mac: 1 pJ, instruction: 5 pJ}\n");
	half = gpu_at_clock(&full.g, 1000000);
	gpu_energy_of(&half, &x, PS_MS, &a);
	gpu_energy_of(&locked.g, &x, PS_MS, &b);
	gpu_energy_of(&own.g, &x, PS_MS, &wrong);
	CHECK_U64(gpu_energy_sum(&a), gpu_energy_sum(&b));
	CHECK(gpu_energy_sum(&b) < gpu_energy_sum(&wrong));
	CHECK_U64(locked.g.clock, 1000000);
	CHECK_U64(locked.g.top, 2000000);
	/* What is locked is not raised, whatever the cap leaves. */
	CHECK_U64(gpu_power_clock(&locked.g, little, NULL), 1000000);
	CHECK_U64(gpu_tensor_clock(&locked.g, 1800000), gpu_tensor_clock(&half, 1800000));
	bed_down(&full);
	bed_down(&locked);
	bed_down(&own);
}

static ps_t inverse(const struct gpu *at, void *arg)
{
	(void)arg;
	return UINT64_C(2000000000000000) / at->clock; /* 1 ms at 2 GHz */
}

TEST(pace_takes_the_lowest_step_that_is_in_time)
{
	struct bed b;
	char text[600];

	snprintf(text, sizeof text, "%s", DEVICE);
	snprintf(strstr(text, "  awake_rate"), 100, "%s",
	         "  mode: pace, latency_target: 1.6 ms, awake_rate: 1 TB/s}\n");
	bed_up(&b, text);
	CHECK_U64(gpu_power_pace(&b.g, inverse, NULL), 1260000); /* 1.587 ms; a step less takes 1.606 */
	b.conf->cfg.gpu.power.latency_target = 900 * PS_US;
	CHECK_U64(gpu_power_pace(&b.g, inverse, NULL), 2000000); /* nothing is fast enough */
	b.conf->cfg.gpu.power.latency_target = 1000 * PS_MS;
	CHECK_U64(gpu_power_pace(&b.g, inverse, NULL), 510000); /* no board was measured below */
	b.conf->cfg.gpu.power.mode = GPU_RACE;
	CHECK_U64(gpu_power_pace(&b.g, inverse, NULL), 2000000);
	bed_down(&b);
}

TEST(tensor_cores_slow_down_only_below_what_bursts_leave_them)
{
	struct bed b;

	bed_up(&b, DEVICE); /* droop 0.912 of 2 GHz: 1824 MHz */
	CHECK_U64(gpu_tensor_clock(&b.g, 1600000), 1600000);
	b.g.clock = 1824000;
	CHECK_U64(gpu_tensor_clock(&b.g, 1600000), 1600000);
	b.g.clock = 912000;
	CHECK_U64(gpu_tensor_clock(&b.g, 1600000), 800000);
	bed_down(&b);
}

static void refused(const char *text, const char *part)
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_parse(text, strlen(text), "toy", NULL, 0, &e);

	CHECK(!c);
	CHECK_HAS(e.msg, part);
	machine_conf_free(c);
}

TEST(a_cap_that_no_clock_fits_under_is_refused)
{
	refused("kind: gpu\npower: {idle: 100 W, idle_low: 60 W, cap: 60 W}\n", "'power.cap' is 60 W");
	refused("kind: gpu\npower: {idle: 50 W, idle_low: 60 W}\n", "more than 'power.idle'");
	refused("kind: gpu\npower: {idle: 50}\n", "'power.idle' needs a unit: write '50 W'");
	refused("kind: gpu\npower: {mac: -1 pJ}\n", "negative");
	refused("kind: gpu\npower: {idle: 50 W, mode: pace}\n", "give 'power.latency_target'");
	refused("kind: gpu\npower: {mode: pace, latency_target: 1 ms}\n", "give 'power.idle'");
}

SUITE(t_power, T(amounts_are_whole_and_saturate), T(a_scale_beyond_64_bits_agrees_with_one_within),
      T(a_launch_takes_what_its_rows_say),
      T(at_half_the_clock_core_events_take_the_square_of_the_voltage_and_dram_what_it_did),
      T(idle_falls_with_the_clock_and_never_below_its_low), T(the_cap_leaves_the_highest_step_that_fits),
      T(a_locked_clock_has_less_voltage), T(pace_takes_the_lowest_step_that_is_in_time),
      T(tensor_cores_slow_down_only_below_what_bursts_leave_them), T(a_cap_that_no_clock_fits_under_is_refused));
