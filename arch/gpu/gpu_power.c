#include "arch/gpu/gpu_power.h"

#define MILLION ENERGY_ONE

#define FITTED "fitted by npusim calibrate --energy, configs/calibrate/h200-energy.yaml"
#define NONE   "our choice: no power is modelled until a board's is given"

#define COST(name, block, scaled, unit, help) \
	CFG_ENERGY(struct gpu_power_cfg, name, #name, "0 fJ", 0, UINT64_C(1000000000), NULL, "a " #unit " " help, NONE),

static const char *const mode_names[] = { "race", "pace", NULL };

const struct cfg_field gpu_power_schema[] = {
	CFG_FREQ(struct gpu_power_cfg, clock, "clock", "0 Hz", 0, 10000000, NULL,
	         "the full clock, at which costs are: a lower `clock` is a locked one, at less voltage. 0: as `clock`",
	         "our choice: costs are at the clock that a file gives"),
	CFG_ENUM(
		struct gpu_power_cfg, mode, "mode", "race", mode_names,
		"race: run at the full clock, then wait for the rest of latency_target; pace: at the slowest clock that"
		" meets it",
		"our choice: what boards do by themselves"),
	CFG_PS(struct gpu_power_cfg, latency_target, "latency_target", "0", 0, 1000 * PS_MS, NULL,
	       "time that a run may take: pace slows down to it, and the energy until then is told; 0: none", "none"),
	CFG_POWER(struct gpu_power_cfg, idle, "idle", "0 W", 0, UINT64_C(100000000000), NULL,
	          "of the board, clocks up and nothing to do; 0: no power is modelled", NONE),
	CFG_POWER(struct gpu_power_cfg, idle_low, "idle_low", "0 W", 0, UINT64_C(100000000000), NULL,
	          "the same at the lowest clocks", NONE),
	CFG_POWER(struct gpu_power_cfg, cap, "cap", "0 W", 0, UINT64_C(100000000000), NULL,
	          "what the board may take; its clock falls until it fits. 0: no cap", NONE),
	CFG_PPM(struct gpu_power_cfg, reach, "reach", "0.993", 100000, 1000000, "of the cap, what is taken under it",
	        "measured on an H200: 690 to 699 W of 700 (traces/h200/energy)"),
	CFG_PPM(struct gpu_power_cfg, slope, "slope", "0.45", 0, 1000000,
	        "of the core's voltage at the full clock, what is gone at none, in proportion",
	        "clocks and powers of capped products on an H200 (traces/h200/energy); other forms fit alike"),
	CFG_PS(struct gpu_power_cfg, gap, "gap", "1 us", 0, PS_MS, NULL,
	       "of a launch, in which no SM has a CTA; half of a short one",
	       "small kernels of an H200 (traces/h200/energy): 0.7 to 1.5 us fit alike"),
	CFG_PPM(struct gpu_power_cfg, droop, "droop", "0.912", 100000, 1000000,
	        "of the full clock, what products run at in bursts: a cap below that slows them",
	        "products of 3072 to 16384 cubed in bursts and capped, cycles alike (traces/h200/energy, operators)"),
	CFG_BOOL(struct gpu_power_cfg, constant, "constant", "false", "data are of one value: nothing toggles",
	         "our choice: weights and activations look random"),
	CFG_POWER(struct gpu_power_cfg, lit, "lit", "0 W", 0, UINT64_C(100000000000), NULL,
	          "of all SMs while they have a CTA", NONE),
	CFG_POWER(struct gpu_power_cfg, awake, "awake", "0 W", 0, UINT64_C(100000000000), NULL,
	          "of L2 and network while bytes move", NONE),
	CFG_RATE(struct gpu_power_cfg, awake_rate, "awake_rate", "1 TB/s", 1000000, UINT64_C(1) << 50, NULL,
	         "at which they are awake all the time",
	         "elementwise kernels of an H200 (traces/h200/energy): 0.6 to 2 TB/s fit alike"),
	GPU_EVENT_ROWS(COST) CFG_END
};

const struct energy_row gpu_energy_rows[GPU_ENERGIES] = {
#define X(name, block, help) { #block, #name, "", help, 0 },
	GPU_WAIT_ROWS(X)
#undef X
#define X(name, block, scaled, unit, help) { #block, #name, #unit, help, scaled },
		GPU_EVENT_ROWS(X)
#undef X
};

/* Of idle over idle_low, what is left at a clock: measured on an H100 (EnergAIzer's artifact: 72.1 W at 510 MHz, 74 at 945,
 * 77.6 at 1170, 82 at 1290, 91 at 1440, 101 at 1530, 110 at 1710, 117 at 1800, 120 from 1875 on), over 1980 MHz. */
static const struct {
	uint32_t clock, left; /* millionths of the full clock; of idle over idle_low */
} shape[] = { { 257576, 0 },      { 477273, 39666 },  { 590909, 114823 }, { 651515, 206681 }, { 727273, 394572 },
	      { 772727, 603340 }, { 863636, 791232 }, { 909091, 937370 }, { 946970, 1000000 } };
#define SHAPES (sizeof shape / sizeof *shape)

static uint64_t idle(const struct gpu *g)
{
	const struct gpu_power_cfg *p = &g->cfg->power;
	const uint64_t clock = g->clock * MILLION / g->top, more = p->idle - p->idle_low;
	uint64_t left;

	if (clock <= shape[0].clock)
		return p->idle_low;
	for (size_t i = 1; i < SHAPES; i++)
		if (clock < shape[i].clock) {
			left = shape[i - 1].left + (uint64_t)(shape[i].left - shape[i - 1].left) *
			                                   (clock - shape[i - 1].clock) /
			                                   (shape[i].clock - shape[i - 1].clock);
			return p->idle_low + energy_scale(more, left);
		}
	return p->idle;
}

/* The core's voltage squared, over that at the full clock. */
static uint64_t voltage2(const struct gpu *g)
{
	const uint64_t slope = g->cfg->power.slope, off = MILLION - g->clock * MILLION / g->top;
	const uint64_t v = MILLION - slope * off / MILLION;

	return v * v / MILLION;
}

int gpu_power_check(const struct gpu_power_cfg *p, struct err *e)
{
	struct str cap = STR_INIT, idle = STR_INIT;
	int rc = 0;

	cfg_format_value(CFG_T_POWER, p->cap, &cap);
	cfg_format_value(CFG_T_POWER, p->idle_low, &idle);
	if (p->cap && p->idle && energy_scale(p->cap, p->reach) <= p->idle_low)
		rc = err_set(e, ERR_CONFIG,
		             "'power.cap' is %s, and the board takes %s with nothing to do at its lowest clocks"
		             " ('power.idle_low'): no clock fits under it",
		             str_c(&cap), str_c(&idle));
	else if (p->mode == GPU_PACE && (!p->latency_target || !p->idle))
		rc = err_set(e, ERR_CONFIG, "'power.mode' is pace, and %s",
		             p->idle ? "there is no time to keep: give 'power.latency_target'"
		                     : "no power is modelled: give 'power.idle'");
	else if (p->idle_low > p->idle)
		rc = err_set(e, ERR_CONFIG, "'power.idle_low' is %s, more than 'power.idle'", str_c(&idle));
	str_free(&cap);
	str_free(&idle);
	return rc;
}

bool gpu_power_known(const struct gpu *g)
{
	return g->cfg->power.idle != 0;
}

void gpu_energy_of(const struct gpu *g, const struct gpu_activity *x, ps_t t, struct gpu_energy *out)
{
	const struct gpu_power_cfg *p = &g->cfg->power;
	const uint64_t v2 = voltage2(g), tick = v2 * (g->clock * MILLION / g->top) / MILLION;
	const ps_t busy = t - ps_min(p->gap, t / 2), lit = g->sms ? energy_scale(busy, x->sms * MILLION / g->sms) : 0;
	const ps_t awake = ps_min(busy, clock_transfer(x->n[GPU_EVENT_l2], p->awake_rate));

	out->part[GPU_WAIT_idle] = energy_over(idle(g), t);
	out->part[GPU_WAIT_lit] = energy_scale(energy_over(p->lit, lit), tick);
	out->part[GPU_WAIT_awake] = energy_scale(energy_over(p->awake, awake), tick);
	for (int i = 0; i < GPU_EVENTS; i++)
		out->part[GPU_WAITS + i] =
			energy_events(x->n[i], p->cost[i], gpu_energy_rows[GPU_WAITS + i].scaled ? v2 : MILLION);
}

uint64_t gpu_energy_idle(const struct gpu *g, ps_t t)
{
	return energy_over(idle(g), t);
}

void gpu_energy_add(struct gpu_energy *sum, const struct gpu_energy *x)
{
	for (int i = 0; i < GPU_ENERGIES; i++)
		sum->part[i] = energy_add(sum->part[i], x->part[i]);
}

uint64_t gpu_energy_sum(const struct gpu_energy *x)
{
	uint64_t all = 0;

	for (int i = 0; i < GPU_ENERGIES; i++)
		all = energy_add(all, x->part[i]);
	return all;
}

struct gpu gpu_at_clock(const struct gpu *g, uint64_t khz)
{
	struct gpu at = *g;

	at.clock = khz;
	return at;
}

/* Products of zeros on an H200, far below any cap: at 70 % of the tensor cores' rate 1965 to 1980 MHz, at 82 to 84 % 1755
 * to 1845 (traces/h200/energy). */
#define BUSY 750000

uint64_t gpu_power_droop(const struct gpu *g, const struct gpu_activity *x, uint64_t cycles)
{
	const uint64_t macs = x->n[GPU_EVENT_mac], rate = x->n[GPU_EVENT_mac_fp8] ? g->c->flop_fp8 : g->c->flop_bf16;
	const uint64_t most = cycles * g->sms / 1000 * (rate / 2);

	if (!most || macs / most < BUSY / 1000)
		return g->top;
	return g->top * g->cfg->power.droop / MILLION / GPU_CLOCK_STEP * GPU_CLOCK_STEP;
}

/* Power rises with the clock: the highest step that fits is found by halves. */
uint64_t gpu_power_clock(const struct gpu *g, gpu_power_fn *watts, void *arg)
{
	const uint64_t cap = energy_scale(g->cfg->power.cap, g->cfg->power.reach);
	uint64_t low = 1, high = g->clock / GPU_CLOCK_STEP;

	if (!gpu_power_known(g) || !cap || watts(g, arg) <= cap)
		return g->clock;
	while (low < high) { /* the answer is in [low, high) or is low */
		const uint64_t mid = (low + high) / 2;
		struct gpu at = gpu_at_clock(g, mid * GPU_CLOCK_STEP);

		if (watts(&at, arg) <= cap)
			low = mid + 1;
		else
			high = mid;
	}
	return (low > 1 ? low - 1 : 1) * GPU_CLOCK_STEP;
}

/* Time falls with the clock: the lowest step that is in time is found by halves, from the lowest that a board was
 * measured at. */
uint64_t gpu_power_pace(const struct gpu *g, gpu_took_fn *took, void *arg)
{
	const struct gpu_power_cfg *p = &g->cfg->power;
	uint64_t low = g->top * shape[0].clock / MILLION / GPU_CLOCK_STEP, high = g->clock / GPU_CLOCK_STEP;

	if (!gpu_power_known(g) || p->mode != GPU_PACE || took(g, arg) >= p->latency_target)
		return g->clock;
	while (low < high) {
		const uint64_t mid = (low + high) / 2;
		struct gpu at = gpu_at_clock(g, mid * GPU_CLOCK_STEP);

		if (took(&at, arg) <= p->latency_target)
			high = mid;
		else
			low = mid + 1;
	}
	return ps_min(low * GPU_CLOCK_STEP, g->clock);
}

/* --- launches that run over and over ----------------------------------------------------------------------------- */

bool gpu_power_counts(const struct gpu_launch *l)
{
	return l->op->kind != OP_OPAQUE && l->op->kind != OP_COLLECTIVE;
}

static uint64_t mean_power(const struct gpu *at, void *arg)
{
	const struct gpu_running *r = arg;
	uint64_t fj = 0;
	ps_t t = 0;

	for (size_t i = 0; i < r->n; i++) {
		struct gpu_energy e;
		ps_t took;

		if (!gpu_power_counts(&r->l[i]))
			continue;
		took = gpu_time(at, &r->l[i]).total;
		gpu_energy_of(at, &r->x[i], took, &e);
		fj = energy_add(fj, gpu_energy_sum(&e));
		t += took;
	}
	return energy_power(fj, t);
}

static ps_t all_take(const struct gpu *at, void *arg)
{
	const struct gpu_running *r = arg;
	ps_t t = 0;

	for (size_t i = 0; i < r->n; i++)
		t += gpu_power_counts(&r->l[i]) ? gpu_time(at, &r->l[i]).total : 0;
	return t;
}

uint64_t gpu_power_clock_of(const struct gpu *g, struct gpu_running *r)
{
	const struct gpu capped = gpu_at_clock(g, gpu_power_clock(g, mean_power, r));

	return gpu_power_pace(&capped, all_take, r);
}
