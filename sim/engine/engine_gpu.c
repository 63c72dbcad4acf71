/* engine_gpu.c - launches one after the other in closed form, over the same op stream and memory as a machine of commands.
 *
 * What the L2 finds is by events, or in closed form, too (gpu_l2_form.h): two engines that differ in that alone.
 * Total is the sum of the launches: a graph's nodes follow each other without a gap that can be seen (validate/cuda
 * micro_graph: a node's period is its own duration). What a host adds when it launches them one by one is told apart
 * (wall_eager_ps, wall_graph_ps).
 * Where another device was traced, or none, products and attention are laid out anew (arch/gpu/gpu_geometry.h).
 * Where the board's power is modelled, each launch has its energy, and a cap lowers the clock of all of them alike: the
 * controller looks at a longer time than a step takes (arch/gpu/gpu_power.h). Kernels follow each other without gaps in
 * that; a host that is late leaves the board waiting, whose energy is told apart (energy_eager_fj).
 * Leaves out: kernels of several streams at once, fusion (the launches are the program), statistics of the memory. */
#include <string.h>

#include "arch/gpu/gpu_geometry.h"
#include "arch/gpu/gpu_math.h"
#include "arch/gpu/gpu_power.h"
#include "arch/machine/machine_gpu.h"
#include "sim/engine/engine.h"
#include "sim/engine/gpu_l2_form.h"
#include "sim/engine/picks.h"
#include "sim/engine/run_memo.h"
#include "traces/trace.h"
#include "workloads/work.h"

/* Where a launch's time went: what is not its body is launch overhead or waiting, the body is its bound's. */
static void stalls_of(const struct gpu_time *t, ps_t *stall)
{
	ps_t rest = t->start + t->finish;

	stall[RES_DISPATCH] += t->launch;
	stall[RES_DEPENDENCY] += rest;
	stall[t->bound == RES_DISPATCH ? RES_DEPENDENCY : t->bound] += t->total - t->launch - rest;
}

/* --- energy ------------------------------------------------------------------------------------------------------ */

/* Whose time is the links'. */
static bool is_collective(const struct op *o)
{
	return o->kind == OP_COLLECTIVE && op_is_timed(o);
}

/* Data of random values toggle; those of one value do not, whatever the format. */
static int count_work(const struct gpu *g, const struct gpu_work *w, struct arena *a, const struct gpu_activity **out,
                      struct err *e)
{
	struct gpu_activity *x;

	*out = NULL;
	if (!gpu_power_known(g))
		return 0;
	if (!(x = arena_array(a, w->n + 1, sizeof *x)))
		return err_set(e, ERR_NOMEM, "out of memory for %zu launches", w->n);
	for (size_t i = 0; i < w->n; i++)
		x[i] = gpu_activity(g, &w->launches[i], !g->cfg->power.constant);
	*out = x;
	return 0;
}

static void launch_energy(const struct gpu *g, const struct gpu_activity *x, ps_t t, struct run_op *o,
                          struct run_result *r)
{
	struct gpu_energy e;

	gpu_energy_of(g, x, t, &e);
	for (int i = 0; i < GPU_ENERGIES; i++)
		r->energy[i].fj = energy_add(r->energy[i].fj, e.part[i]);
	o->energy_fj = energy_add(o->energy_fj, gpu_energy_sum(&e));
}

static int energy_rows(const struct gpu_activity *x, struct arena *a, struct run_result *r, struct err *e)
{
	if (!x)
		return 0;
	if (!(r->energy = arena_array(a, GPU_ENERGIES, sizeof *r->energy)))
		return err_set(e, ERR_NOMEM, "out of memory for results");
	r->n_energy = GPU_ENERGIES;
	for (int i = 0; i < GPU_ENERGIES; i++)
		r->energy[i] = (struct run_energy){ .row = &gpu_energy_rows[i] };
	return 0;
}

/* By the links' closed form, the library's own launch included; the board waits meanwhile. */
static void add_collective(const struct machine_cfg *c, const struct gpu *g, bool power, const struct op *o,
                           struct run_op *x, ps_t *took, ps_t *stall, struct run_result *r)
{
	static const struct gpu_activity waits = { 0 };
	const struct link_time t = map_collective_time(&c->links, o);

	x->start_ps = r->total_ps;
	for (uint32_t n = 0; n < o->n_launches; n++)
		took[o->first_launch + n] = n ? 0 : t.total;
	if (power)
		launch_energy(g, &waits, t.total, x, r);
	x->span_ps += t.total;
	x->limit_ps += t.wire;
	stall[RES_LINK] += t.total;
	r->links_ps += t.total;
	r->links_bytes += t.sent;
}

static void op_result(const struct machine_cfg *c, const struct gpu *g, const struct gpu_work *w,
                      const struct gpu_activity *work, const struct op *o, ps_t *took, struct run_result *r)
{
	struct run_op *x = &r->ops[o->id];
	ps_t stall[RES_COUNT] = { 0 };

	x->start_ps = r->total_ps;
	if (is_collective(o))
		add_collective(c, g, work != NULL, o, x, took, stall, r);
	for (uint32_t n = 0; n < o->n_launches && !is_collective(o); n++) {
		const struct gpu_launch *l = &w->launches[o->first_launch + n];
		struct gpu_time t = gpu_time(g, l);

		x->span_ps += t.total;
		if (work)
			launch_energy(g, &work[o->first_launch + n], t.total, x, r);
		took[o->first_launch + n] = t.total;
		x->limit_ps += ps_min(ps_max(t.memory, t.pipe), t.total);
		x->dram_bytes += l->mem.read - l->mem.read_hit + l->mem.write_back;
		x->mem_bytes += l->mem.read + l->mem.write;
		r->dram_read_bytes += l->mem.read - l->mem.read_hit;
		r->dram_write_bytes += l->mem.write_back;
		stalls_of(&t, stall);
		if (l->at->kind != TRACE_KERNEL)
			r->copies_ps += t.total;
	}
	x->bound = run_bound(stall, stall);
	run_shares(stall, x->bound, x->stall_ppm);
	x->flops = work_of(w->stream, o).flops;
	r->flops += x->flops;
	r->total_ps += x->span_ps;
	r->energy_fj = energy_add(r->energy_fj, x->energy_fj);
	for (int k = 0; k < RES_COUNT; k++)
		r->stall_ps[k] += stall[k];
}

/* What must at least be: bytes over the pins and the L2, math over its pipe at full clock. The launches are given, so
 * what they need is what is necessary. */
static void roofline(const struct machine_cfg *c, const struct gpu *g, struct run_result *r)
{
	const uint64_t pins = dram_peak(&c->mem.dram);
	ps_t math = 0;

	for (size_t i = 0; i < r->stream->n_ops; i++) {
		struct run_op *x = &r->ops[i];

		if (!x->carried)
			x->macs_ps = gpu_math_time(g, r->stream->ops[i].dtype,
			                           work_of(r->stream, &r->stream->ops[i]).macs, g->sms);
		x->pins_ps = clock_transfer(x->dram_bytes, pins);
		math += x->macs_ps;
	}
	r->macs_ps = math;
	r->compulsory_bytes = r->first_read_bytes = r->dram_read_bytes;
	r->peak_ps[RES_DRAM] = r->pins_ps = clock_transfer(r->dram_read_bytes + r->dram_write_bytes, pins);
	r->peak_ps[RES_MATRIX] = math;
	for (size_t i = 0; i < r->stream->n_ops; i++)
		r->peak_ps[RES_L2] += clock_transfer(r->ops[i].mem_bytes, g->c->l2_rate);
	memcpy(r->floor_ps, r->peak_ps, sizeof r->floor_ps);
	r->roofline_bound = run_largest(r->peak_ps);
	r->roofline_ps = r->peak_ps[r->roofline_bound];
	/* Of the mapped work alone: by another algorithm collectives may take less. */
	r->peak_ps[RES_LINK] = r->links_ps;
	r->mapped_ps = ps_max(r->roofline_ps, r->links_ps);
}

/* Those of the trace where it is of this device, else what a library here would make. */
static int launches(const struct gpu *g, const struct kernels *k, const struct op_stream *s, struct arena *a,
                    struct op_stream *x, struct gpu_work *w, struct err *e)
{
	*x = *s;
	return gpu_geometry_foreign(g, s) ? gpu_geometry_work(g, k, s, a, x, w, e) : gpu_work_make(s, k, a, w, e);
}

static int check_work(const struct gpu *g, const struct op_stream *s, struct err *e)
{
	const uint64_t some = UINT64_C(1000000000000);

	for (size_t i = 0; i < s->n_ops; i++) {
		const ps_t took = gpu_math_time(g, s->ops[i].dtype, some, g->sms);

		if (map_bound_op(s, &s->ops[i], (double)some * 1e12 / (double)took, e) < 0)
			return -1;
	}
	return 0;
}

/* A host launches what is carried, too. */
static void carry(const struct op_stream *s, const struct op *o, ps_t *took)
{
	for (uint32_t n = o->first_launch; n < o->first_launch + o->n_launches; n++)
		took[n] = s->launches[n].measured_ns * 1000;
}

/* What the launches took and moved, op by op, and the host's time over them. */
static void results(const struct machine_cfg *c, const struct gpu *g, const struct gpu_work *w,
                    const struct gpu_activity *work, ps_t *took, struct run_result *r)
{
	const struct op_stream *s = r->stream;
	struct host_wall wall;

	for (uint32_t i = 0; i < s->n_ops; i++) {
		r->ops[i].cmd = RUN_NO_CMD;
		r->ops[i].carried =
			s->ops[i].kind == OP_OPAQUE || (s->ops[i].kind == OP_COLLECTIVE && !op_is_timed(&s->ops[i]));
		if (!r->ops[i].carried) {
			op_result(c, g, w, work, &w->stream->ops[i], took, r);
			continue;
		}
		r->carried_ps += s->ops[i].measured_ns * 1000;
		carry(w->stream, &w->stream->ops[i], took);
	}
	r->launch_ps = w->stream->launches == s->launches ? took : NULL;
	wall = host_wall(&c->gpu.host, w->stream, took);
	/* A model's collectives are no launches of the stream: what waits for them waits behind its kernels. */
	for (uint32_t i = 0; i < s->n_ops; i++)
		if (is_collective(&s->ops[i]) && !s->ops[i].n_launches) {
			wall.eager += r->ops[i].span_ps;
			wall.graph += r->ops[i].span_ps;
		}
	r->wall_eager_ps = wall.eager;
	r->wall_graph_ps = wall.graph;
	if (work) {
		r->clock_khz = g->clock;
		if (g->cfg->power.latency_target > r->total_ps)
			r->energy_period_fj = energy_add(
				r->energy_fj,
				gpu_energy_idle(&(struct gpu){ .clock = g->top, .top = g->top, .cfg = g->cfg },
			                        g->cfg->power.latency_target - r->total_ps));
		r->energy_eager_fj = energy_add(
			r->energy_fj, gpu_energy_idle(g, wall.eager > r->total_ps ? wall.eager - r->total_ps : 0));
	}
	r->cycles = clock_cycles(r->total_ps, g->clock);
	roofline(c, g, r);
}

/* Each launch's bytes through the L2. */
static int move_bytes(const struct machine_cfg *c, const struct run_opts *o, struct gpu_work *w, struct arena *a,
                      struct err *e)
{
	struct gpu_traffic *t;
	int rc;

	if (o->fidelity == RUN_ANALYTIC)
		return gpu_l2_form(w, &c->mem.l2, o->start != RUN_COLD, a, e);
	if (!(t = gpu_traffic_new(&c->mem, c->clock, e)))
		return -1;
	rc = gpu_work_run(w, o->start != RUN_COLD, t, e);
	gpu_traffic_free(t);
	return rc;
}

static int engine_gpu_run(const struct machine_conf *conf, const struct run_opts *o, struct arena *a,
                          struct run_result *out, struct err *e)
{
	struct gpu g = machine_gpu(&conf->cfg);
	struct run_memo *own = o->memo ? NULL : run_memo_new_from(conf->source, e), *memo = o->memo ? o->memo : own;
	const struct kernels *kernels = memo ? run_memo_kernels(memo, e) : NULL;
	struct map_footprint need;
	struct gpu_work w;
	struct op_stream x;
	const struct gpu_activity *work;
	ps_t *took;
	int rc = -1;

	out->steps = o->start != RUN_COLD ? 2 : 1;
	out->reuse_ppm = picks_reuse(out->stream);
	if (!kernels || check_work(&g, out->stream, e) < 0 || map_footprint(out->stream, NULL, a, &need, e) < 0 ||
	    map_capacity_check(&need, &conf->cfg.mem.dram, e) < 0 ||
	    launches(&g, kernels, out->stream, a, &x, &w, e) < 0)
		goto out;
	if (!(took = arena_array(a, x.n_launches + 1, sizeof *took))) {
		err_set(e, ERR_NOMEM, "out of memory for results");
		goto out;
	}
	if (move_bytes(&conf->cfg, o, &w, a, e) < 0 || count_work(&g, &w, a, &work, e) < 0 ||
	    energy_rows(work, a, out, e) < 0)
		goto out;
	if (work)
		g = gpu_at_clock(&g, gpu_power_clock_of(&g, &(struct gpu_running){ w.launches, work, w.n }));
	results(&conf->cfg, &g, &w, work, took, out);
	rc = 0;
out:
	run_memo_free(own);
	return rc;
}

static int stats(const struct machine_cfg *c, stat_each_fn *each, void *arg, struct err *e)
{
	struct gpu_traffic *t = gpu_traffic_new(&c->mem, c->clock, e);

	(void)each; /* results have none */
	(void)arg;
	if (!t)
		return err_add(e, "building the machine '%s'", c->name);
	gpu_traffic_free(t);
	return 0;
}

static bool can(const struct machine_cfg *c, enum run_fidelity f)
{
	return machine_runs(c) == MACHINE_LAUNCHES && f == RUN_EVENT;
}

static bool can_form(const struct machine_cfg *c, enum run_fidelity f)
{
	return machine_runs(c) == MACHINE_LAUNCHES && f == RUN_ANALYTIC;
}

const struct engine_ops engine_gpu = { .fidelity = "event",
	                               .how = "a GPU's launches in closed form, its L2 by events",
	                               .can = can,
	                               .run = engine_gpu_run,
	                               .stats = stats };

const struct engine_ops engine_gpu_form = { .fidelity = "analytic",
	                                    .how = "a GPU's launches in closed form, its L2 too, equal layers once",
	                                    .can = can_form,
	                                    .run = engine_gpu_run,
	                                    .stats = stats };
