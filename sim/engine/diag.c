#include "sim/engine/diag.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/engine/engine.h"

#define SLACK_PERCENT 2 /* of data sheets, which round */
#define FILLED        0.5
#define FAR_MORE      8

__attribute__((format(printf, 3, 4))) static void say(struct diag_list *to, const char *what, const char *fmt, ...)
{
	struct diag *x = &to->v[to->n];
	va_list args;

	if (to->n == DIAG_MOST)
		return;
	x->what = what;
	va_start(args, fmt);
	vsnprintf(x->text, sizeof x->text, fmt, args);
	va_end(args);
	to->n++;
}

static double gb_s(uint64_t bytes_per_s)
{
	return (double)bytes_per_s / 1e9;
}

static bool under(uint64_t what, uint64_t of)
{
	return what / (100 - SLACK_PERCENT) < of / 100;
}

/* --- the machine ------------------------------------------------------------------------------------------- */

static void say_rates(const struct machine_cfg *c, struct diag_list *to)
{
	uint64_t peak[RES_COUNT];

	machine_peaks(c, peak);
	if (under(peak[RES_DMA], dram_reachable(&c->mem.dram)))
		say(to, "dma",
		    "the DMA carries %.4g GB/s and DRAM gives %.4g: dma.width, dma.engines, cores or clock must grow for the"
		    " rest to be of use",
		    gb_s(peak[RES_DMA]), gb_s(peak[RES_DRAM]));
	if (peak[RES_L2] && under(peak[RES_L2], peak[RES_DRAM]))
		say(to, "l2",
		    "the L2 carries %.4g GB/s and DRAM gives %.4g: l2.banks, l2.bank_width or clock must grow for the rest to"
		    " be of use",
		    gb_s(peak[RES_L2]), gb_s(peak[RES_DRAM]));
}

static void say_sparsity(const struct machine_cfg *c, struct diag_list *to)
{
	if (c->weights.sparsity && !machine_sparsity(c).of)
		say(to, "sparsity",
		    "no unit takes weights of weights.sparsity %s, so they are stored and multiplied whole: matrix.sparse or"
		    " gemv.sparse must be true, of units that are there",
		    machine_sparsity_name(c));
}

/* There and back, on an idle machine. */
static ps_t way(const struct machine_cfg *c)
{
	const struct memory_cfg *m = &c->mem;
	const ps_t dram = dram_is_fixed(&m->dram) ? m->dram.fixed_latency
	                                          : dram_unloaded(&m->dram, DRAM_ROW_EMPTY) + m->dram.t_controller;

	return c->dma.setup + 2 * m->noc.latency + dram + (m->l2.size ? m->l2.latency + m->l2.miss_latency : 0);
}

static void say_in_flight(const struct machine_cfg *c, struct diag_list *to)
{
	const uint64_t sram = (sram_size(&c->sram) - c->sram.pin) * c->cores, peak = dram_peak(&c->mem.dram);
	const uint32_t tiles = c->dma.stages < c->dma.outstanding ? c->dma.stages : c->dma.outstanding;
	const uint64_t asked = tiles * c->dma.tile, held = asked < sram ? asked : sram;
	const ps_t latency = way(c);
	const double need = (double)peak * (double)latency / 1e12;

	if ((double)held < need)
		say(to, "in_flight",
		    "%.4g KiB in flight (%s) cover %.0f %% of DRAM's %.4g GB/s times its %.0f ns unloaded, %.4g KiB: %s",
		    (double)held / 1024,
		    held < asked                         ? "all of SRAM"
		    : c->dma.outstanding < c->dma.stages ? "dma.outstanding times dma.tile"
		                                         : "dma.stages times dma.tile",
		    100 * (double)held / need, gb_s(peak), (double)latency / 1e3, need / 1024,
		    held < asked ? "sram.size must grow" : "more or larger tiles keep it busy");
}

/* The fastest pins of a kind that a standard or, where it has none, a part that is sold has, Mbit/s. */
static const struct {
	const char *kind; /* begins dram.kind */
	uint64_t mbps;
	const char *source;
} standards[] = {
	{ "ddr4-", 3200, "JEDEC JESD79-4" },
	{ "ddr5-", 8800, "JEDEC JESD79-5C" },
	{ "gddr6-", 24000, "Micron's GDDR6X; JEDEC JESD250 ends at 16000" },
	{ "gddr7-", 32000, "JEDEC JESD239, the first speed bins" },
	{ "hbm2-", 2400, "JEDEC JESD235C" },
	{ "hbm2e-", 3600, "JEDEC JESD235D" },
	{ "hbm3-", 6400, "JEDEC JESD238" },
	{ "hbm3e-", 9800, "vendors' data sheets, as configs/dram/hbm3e-9600.yaml" },
	{ "hbm4-", 8000, "JEDEC JESD270-4" },
	{ "lpddr5-", 6400, "JEDEC JESD209-5" },
	{ "lpddr5x-", 8533, "JEDEC JESD209-5B" },
};

static void say_pins(const struct dram_cfg *c, struct diag_list *to)
{
	for (size_t i = 0; i < sizeof standards / sizeof *standards && !dram_is_fixed(c); i++)
		if (strncmp(c->kind, standards[i].kind, strlen(standards[i].kind)) == 0 &&
		    under(standards[i].mbps * 1000000, c->pin_mbps * 1000000))
			say(to, "pin_rate",
			    "%" PRIu64 " Mbit/s a pin are beyond %.*s, which has %" PRIu64
			    " (%s), and its banks stay as they are: more dram.channels, a faster dram.kind or less"
			    " dram.bandwidth",
			    c->pin_mbps, (int)strlen(standards[i].kind) - 1, standards[i].kind, standards[i].mbps,
			    standards[i].source);
}

static void say_real(const struct real_beyond *v, size_t n, struct diag_list *to)
{
	for (size_t i = 0; i < n; i++)
		say(to, v[i].what, "%s", v[i].text);
}

void diag_machine(const struct machine_cfg *c, struct diag_list *to)
{
	struct real_beyond beyond[REAL_MOST];

	if (machine_runs(c) == MACHINE_COMMANDS) {
		say_rates(c, to);
		say_sparsity(c, to);
		say_in_flight(c, to);
	}
	say_pins(&c->mem.dram, to);
	say_real(beyond, real_machine(c, 1, beyond), to);
}

/* --- a run ------------------------------------------------------------------------------------------------- */

struct fullest {
	double share;
	uint32_t op;
	bool used;
};

/* Of what the unit can do while it is busy, what the product keeps it at. */
static double share_of(const struct unit_env *u, const struct unit_ops *ops, const struct map_pair *p,
                       const struct isa_insn *i)
{
	const double peak = (double)unit_peak(ops, u, (enum dtype)p->weight, (enum dtype)p->with, p->passes) *
	                    (double)u->clock_khz / 1e9;

	return i->span && peak > 0 ? (double)i->work / ((double)i->span * peak) : 0;
}

static void find_fullest(const struct machine_cfg *c, const struct run_result *r, enum unit unit, struct fullest *out)
{
	const struct unit_env u = machine_unit(c, unit);
	const struct isa_prog *p = &r->map->prog;

	for (size_t i = 0; i < p->n_insns; i++) {
		const struct isa_insn *x = &p->insns[i];
		double share;

		if (x->unit != unit_table[unit]->res || !x->work || !r->map->floor.op_pair[x->op].with)
			continue;
		share = share_of(&u, unit_table[unit], &r->map->floor.op_pair[x->op], x);
		if (!out->used || share > out->share)
			*out = (struct fullest){ share, x->op, true };
	}
}

/* Some op that moved far more than is ever in flight had DRAM near its peak. */
static bool kept_dram_busy(const struct machine_cfg *c, const struct run_result *r)
{
	const double in_flight = (double)dram_peak(&c->mem.dram) * (double)way(c) / 1e12;

	for (size_t i = 0; i < r->stream->n_ops; i++)
		if ((double)r->ops[i].dram_bytes > FAR_MORE * in_flight &&
		    op_figure_use(r->ops[i].pins_ps, r->ops[i].span_ps) > FILLED)
			return true;
	return false;
}

static void diag_drop(struct diag_list *l, const char *what)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].what, what) != 0)
			l->v[n++] = l->v[i];
	l->n = n;
}

/* What else the form leaves out (engine_form_covers) has no value at which it is not there. */
static void say_form(const struct machine_cfg *c, struct diag_list *to)
{
	const struct l2_cfg *l2 = &c->mem.l2;

	if (l2->size && (l2->policy == CACHE_DRRIP || l2->write_block))
		say(to, "form", "%s: --fidelity event tells",
		    l2->policy == CACHE_DRRIP
		            ? "in closed form the duel of l2.policy drrip is fought by some of the sets and may fall otherwise"
		            : "the closed form leaves out l2.write_block");
}

void diag_work(const char *doubted, struct diag_list *to)
{
	if (doubted)
		say(to, "doubted", "%s", doubted);
}

void diag_run(const struct machine_cfg *c, const struct run_result *r, struct diag_list *to)
{
	struct real_beyond power;

	diag_machine(c, to);
	if (r->energy_fj && r->total_ps &&
	    real_power(c, r->chips > 1 ? (unsigned)r->chips : 1, (double)r->energy_fj / (double)r->total_ps / 1e3,
	               &power))
		say_real(&power, 1, to);
	if (r->engine == &engine_analytic)
		say_form(c, to);
	if (r->map && kept_dram_busy(c, r))
		diag_drop(to, "in_flight");
	for (int i = 0; i < UNIT_COUNT && r->map; i++) {
		struct fullest f = { .used = false };

		if (!unit_table[i]->peak || unit_table[i]->last_resort || !c->unit[i].units)
			continue;
		find_fullest(c, r, (enum unit)i, &f);
		if (f.used && f.share < FILLED)
			say(to, "unfilled",
			    "no op fills the %s units: the fullest, op %" PRIu32
			    " (%s), has work for %.2g %% of them while they are busy: fewer or smaller ones (%s.%s) would do, or"
			    " units of another shape",
			    unit_table[i]->label, f.op, r->stream->ops[f.op].name, 100 * f.share, unit_table[i]->name,
			    unit_table[i]->knobs[0]);
	}
}
