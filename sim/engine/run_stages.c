#include "sim/engine/run_stages.h"

#include <string.h>

#include "arch/gpu/gpu_power.h"
#include "arch/machine/machine_gpu.h"
#include "sim/engine/pass_energy.h"
#include "sim/engine/run_chips.h"

__extension__ typedef unsigned __int128 u128;

static const struct energy_row waits_row = { .block = "stages", .name = "waits", .help = "chips that wait for others" };

static uint64_t parts(const struct op_stream *s)
{
	return s->micro ? s->micro : 1;
}

ps_t run_stages_time(const struct op_stream *s, const ps_t *time, uint64_t *often)
{
	const uint64_t micro = parts(s);
	ps_t sum = 0, total;
	uint32_t slow = 0;
	bool full;

	for (uint32_t i = 0; i < s->n_stages; i++) {
		sum += time[i] * s->stages[i].times;
		slow = time[i] > time[slow] ? i : slow;
	}
	full = s->turns && micro * time[slow] > sum;
	total = full ? micro * time[slow] : s->turns ? sum : sum + (micro - 1) * time[slow];
	for (uint32_t i = 0; often && i < s->n_stages; i++)
		often[i] = (full ? 0 : s->stages[i].times) + (i != slow || (s->turns && !full) ? 0
		                                              : full                           ? micro
		                                                                               : micro - 1);
	return total;
}

/* --- one run of several ----------------------------------------------------------------------------------------------- */

struct joined {
	const struct op_stream *s;
	const struct machine_conf *conf;
	struct run_result *of; /* each kind's */
	uint64_t *often;       /* in the step's time */
	uint64_t stages;       /* all of them */
	struct run_result *to;
};

static uint64_t times_done(const struct joined *j, uint32_t k)
{
	return j->s->stages[k].times * parts(j->s);
}

/* Of a chip in the mean. */
static uint64_t mean(const struct joined *j, uint32_t k, uint64_t n)
{
	return (uint64_t)(((u128)n * times_done(j, k) + j->stages / 2) / j->stages);
}

/* What stage `k` adds to a figure that has `sum` of those before it. */
static uint64_t add_figure(const struct joined *j, uint32_t k, const struct figure *f, uint64_t sum)
{
	const uint64_t x = figure_number(f, &j->of[k].figures);

	switch (f->pipe) {
	case FIGURE_PIPE_TIME:
		return sum + j->often[k] * x;
	case FIGURE_PIPE_ALL:
		return sum + j->s->stages[k].times * x;
	case FIGURE_PIPE_MEAN:
		return f->level ? (x > sum ? x : sum) : sum + mean(j, k, x);
	case FIGURE_PIPE_OVER:
	case FIGURE_PIPE_APART:
		break;
	}
	return sum;
}

static void add_figures(const struct joined *j, uint32_t k)
{
	struct figures *to = &j->to->figures;

	for (const struct figure *f = figure_table; f->help; f++)
		if (f->member)
			figure_set(f, to, add_figure(j, k, f, figure_number(f, to)));
}

static void add_times(const struct joined *j, uint32_t k)
{
	const struct run_result *x = &j->of[k];
	struct run_result *r = j->to;
	const uint64_t n = j->often[k];

	r->copies_ps += n * x->copies_ps;
	for (int i = 0; i < RES_COUNT; i++) {
		r->floor_ps[i] += n * x->floor_ps[i];
		r->peak_ps[i] += n * x->peak_ps[i];
		r->stall_ps[i] += n * x->stall_ps[i];
	}
}

/* Figures that are no sum of the stages'. */
static void add_apart(const struct joined *j, uint32_t k)
{
	const struct run_result *x = &j->of[k];
	struct run_result *r = j->to;

	r->dirty_bytes += mean(j, k, x->dirty_bytes) / parts(j->s);
	r->bubble_ps += mean(j, k, x->total_ps); /* busy, until all are in */
	r->events += x->events;
	r->clock_khz = !r->clock_khz || x->clock_khz < r->clock_khz ? x->clock_khz : r->clock_khz;
}

/* What follows `at` in time. */
static void add_ops(const struct joined *j, uint32_t k, size_t first, ps_t at)
{
	const uint64_t n = j->often[k];

	for (size_t i = 0; i < j->s->stages[k].stream->n_ops; i++) {
		struct run_op *o = &j->to->ops[first + i];

		*o = j->of[k].ops[i];
		o->cmd = RUN_NO_CMD;
		o->start_ps = at + n * o->start_ps;
		o->span_ps *= n;
		o->limit_ps *= n;
		o->macs_ps *= n;
		o->pins_ps *= n;
		o->dram_bytes = mean(j, k, o->dram_bytes);
		o->mem_bytes = mean(j, k, o->mem_bytes);
		o->flops = mean(j, k, o->flops);
		o->energy_fj *= times_done(j, k);
	}
}

/* --- energy ----------------------------------------------------------------------------------------------------------- */

static uint64_t waiting(const struct machine_conf *conf, ps_t t)
{
	const struct gpu g = machine_gpu(&conf->cfg);

	return machine_runs(&conf->cfg) == MACHINE_LAUNCHES ? gpu_energy_idle(&g, t)
	                                                    : pass_energy_waiting(&conf->cfg, t);
}

/* Of a kind's chips between its micro-batches, of a step that takes `total`. */
static uint64_t kind_waits(const struct joined *j, uint32_t k, ps_t total, ps_t own)
{
	const ps_t busy = own * parts(j->s);

	return total > busy ? waiting(j->conf, total - busy) * j->s->stages[k].times * j->of[k].chips : 0;
}

/* To ops by what they take of the stage's time, the rest to the last of them. */
static void waits_to_ops(const struct joined *j, uint32_t k, size_t first, uint64_t fj)
{
	const struct op_stream *s = j->s->stages[k].stream;
	const ps_t all = j->of[k].total_ps;
	uint64_t left = fj;

	for (size_t i = 0; i < s->n_ops; i++) {
		const uint64_t mine = all ? (uint64_t)((u128)fj * j->of[k].ops[i].span_ps / all) : 0;
		const uint64_t now = i + 1 == s->n_ops ? left : ps_min(mine, left);

		j->to->ops[first + i].energy_fj = energy_add(j->to->ops[first + i].energy_fj, now);
		left -= now;
	}
}

static int add_energy(const struct joined *j, struct arena *a, struct err *e)
{
	const size_t n = j->of[0].n_energy;
	struct run_result *r = j->to;
	size_t first = 0;

	if (!j->of[0].energy)
		return 0;
	if (!(r->energy = arena_array(a, n + 1, sizeof *r->energy)))
		return err_nomem(e, "for results");
	for (size_t i = 0; i < n; i++)
		r->energy[i].row = j->of[0].energy[i].row;
	r->energy[n].row = &waits_row;
	r->n_energy = n + 1;
	for (uint32_t k = 0; k < j->s->n_stages; k++) {
		const uint64_t waits = kind_waits(j, k, r->total_ps, j->of[k].total_ps);

		for (size_t i = 0; i < n; i++)
			r->energy[i].fj = energy_add(r->energy[i].fj, j->of[k].energy[i].fj * times_done(j, k));
		r->energy[n].fj = energy_add(r->energy[n].fj, waits);
		r->energy_fj = energy_add(r->energy_fj, energy_add(j->of[k].energy_fj * times_done(j, k), waits));
		if (j->of[k].energy_eager_fj)
			r->energy_eager_fj =
				energy_add(r->energy_eager_fj,
			                   energy_add(j->of[k].energy_eager_fj * times_done(j, k),
			                              kind_waits(j, k, r->wall_eager_ps, j->of[k].wall_eager_ps)));
		waits_to_ops(j, k, first, waits);
		first += j->s->stages[k].stream->n_ops;
	}
	return 0;
}

/* --- the whole ---------------------------------------------------------------------------------------------------------- */

/* Of times that each stage has: when all of them are over. */
static void over(const struct joined *j, ps_t *scratch)
{
	for (const struct figure *f = figure_table; f->help; f++) {
		if (!f->member || f->pipe != FIGURE_PIPE_OVER)
			continue;
		for (uint32_t k = 0; k < j->s->n_stages; k++)
			scratch[k] = figure_number(f, &j->of[k].figures);
		figure_set(f, &j->to->figures, run_stages_time(j->s, scratch, NULL));
	}
}

static int join(const struct joined *j, ps_t *scratch, struct arena *a, struct err *e)
{
	struct run_result *r = j->to;
	size_t first = 0;
	ps_t at = 0;

	for (uint32_t k = 0; k < j->s->n_stages; k++)
		scratch[k] = j->of[k].total_ps;
	r->total_ps = run_stages_time(j->s, scratch, j->often);
	for (uint32_t k = 0; k < j->s->n_stages; k++) {
		add_figures(j, k);
		add_times(j, k);
		add_apart(j, k);
		add_ops(j, k, first, at);
		first += j->s->stages[k].stream->n_ops;
		at += j->often[k] * j->of[k].total_ps;
	}
	r->bubble_ps = r->total_ps - ps_min(r->bubble_ps, r->total_ps);
	r->steps = j->of[0].steps;
	r->reuse_ppm = j->of[0].reuse_ppm;
	r->cycles = clock_cycles(r->total_ps, r->clock_khz ? r->clock_khz : j->conf->cfg.clock);
	r->roofline_bound = run_largest(r->floor_ps);
	over(j, scratch);
	return add_energy(j, a, e);
}

int run_stages(const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *o, run_stage_fn *run,
               struct arena *a, struct run_result *out, struct err *e)
{
	struct joined j = { .s = s, .conf = conf, .to = out };
	struct run_opts how = *o;
	ps_t *scratch = arena_array(a, s->n_stages, sizeof *scratch);

	how.watch = NULL;
	if (!scratch || !(j.of = arena_array(a, s->n_stages, sizeof *j.of)) ||
	    !(j.often = arena_array(a, s->n_stages, sizeof *j.often)))
		return err_nomem(e, "for the stages of a pipeline");
	for (uint32_t k = 0; k < s->n_stages; k++) {
		if (run(s->stages[k].stream, conf, &how, a, &j.of[k], e) < 0)
			return -1;
		j.of[k].map = NULL; /* the next stage's may take its place */
		j.stages += s->stages[k].times;
	}
	return join(&j, scratch, a, e);
}
