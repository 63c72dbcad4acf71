#include "sim/engine/run_gpu.h"

#include <string.h>

#include "arch/gpu/gpu_geometry.h"
#include "arch/gpu/gpu_math.h"
#include "arch/machine/machine_gpu.h"
#include "sim/engine/run_memo.h"
#include "workloads/work.h"

/* Where a launch's time went: what is not its body is launch overhead or waiting, the body is its bound's. */
static void stalls_of(const struct gpu_time *t, ps_t *stall)
{
	ps_t rest = t->start + t->finish;

	stall[RES_DISPATCH] += t->launch;
	stall[RES_DEPENDENCY] += rest;
	stall[t->bound == RES_DISPATCH ? RES_DEPENDENCY : t->bound] += t->total - t->launch - rest;
}

static void op_result(const struct gpu *g, const struct gpu_work *w, const struct op *o, ps_t *took,
                      struct run_result *r)
{
	struct run_op *x = &r->ops[o->id];
	ps_t stall[RES_COUNT] = { 0 };

	x->start_ps = r->total_ps;
	for (uint32_t n = 0; n < o->n_launches; n++) {
		const struct gpu_launch *l = &w->launches[o->first_launch + n];
		struct gpu_time t = gpu_time(g, l);

		x->us_ps += t.total;
		took[o->first_launch + n] = t.total;
		x->limit_ps += ps_max(t.memory, t.pipe);
		x->dram_bytes += l->mem.read - l->mem.read_hit + l->mem.write_back;
		x->mem_bytes += l->mem.read + l->mem.write;
		r->dram_read_bytes += l->mem.read - l->mem.read_hit;
		r->dram_write_bytes += l->mem.write_back;
		stalls_of(&t, stall);
	}
	x->bound = run_largest(stall);
	run_shares(stall, x->bound, x->stall_ppm);
	x->flops = work_of(w->stream, o).flops;
	r->flops += x->flops;
	r->total_ps += x->us_ps;
	for (int k = 0; k < RES_COUNT; k++)
		r->stall_ps[k] += stall[k];
}

/* What must at least be: bytes over the pins and the L2, math over its pipe at full clock. */
static void roofline(const struct machine_cfg *c, const struct gpu *g, struct run_result *r)
{
	ps_t math = 0;

	for (size_t i = 0; i < r->stream->n_ops; i++)
		if (!r->ops[i].carried)
			math += gpu_math_time(g, r->stream->ops[i].dtype, work_of(r->stream, &r->stream->ops[i]).macs,
			                      g->sms);
	r->compulsory_bytes = r->dram_read_bytes;
	r->peak_ps[RES_DRAM] = clock_transfer(r->dram_read_bytes + r->dram_write_bytes, dram_peak(&c->mem.dram));
	r->peak_ps[RES_MATRIX] = math;
	for (size_t i = 0; i < r->stream->n_ops; i++)
		r->peak_ps[RES_L2] += clock_transfer(r->ops[i].mem_bytes, g->c->l2_rate);
	for (int k = 0; k < RES_COUNT; k++)
		if (r->peak_ps[k] > r->roofline_ps) {
			r->roofline_ps = r->peak_ps[k];
			r->roofline_bound = (enum res)k;
		}
}

/* A command an op, so that whoever asks for an op's command finds it; nothing is fused. */
static int one_command_an_op(struct run_result *r, struct arena *a, struct err *e)
{
	const size_t n = r->stream->n_ops;
	struct isa_cmd *cmds = arena_array(a, n ? n : 1, sizeof *cmds);

	r->map.cmd_of_op = arena_array(a, n ? n : 1, sizeof *r->map.cmd_of_op);
	if (!cmds || !r->map.cmd_of_op)
		return err_set(e, ERR_NOMEM, "out of memory for %zu ops", n);
	for (uint32_t i = 0; i < n; i++)
		r->map.cmd_of_op[i] = r->stream->ops[i].kind == OP_OPAQUE ? UINT32_MAX : i;
	r->map.prog.cmds = cmds;
	r->map.prog.n_cmds = n;
	return 0;
}

/* Those of the trace where it is of this device, else what a library here would make. */
static int launches(const struct gpu *g, const struct kernels *k, const struct op_stream *s, struct arena *a,
                    struct op_stream *x, struct gpu_work *w, struct err *e)
{
	*x = *s;
	return gpu_geometry_foreign(g, s) ? gpu_geometry_work(g, k, s, a, x, w, e) : gpu_work_make(s, k, a, w, e);
}

int run_gpu(const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *o, struct arena *a,
            struct run_result *out, struct err *e)
{
	struct gpu g = machine_gpu(&conf->cfg);
	struct run_memo *own = o->memo ? NULL : run_memo_new(e), *memo = o->memo ? o->memo : own;
	const struct kernels *kernels = memo ? run_memo_kernels(memo, e) : NULL;
	struct gpu_traffic *t = kernels ? gpu_traffic_new(&conf->cfg.mem, conf->cfg.clock, e) : NULL;
	struct gpu_work w;
	struct host_wall wall;
	struct op_stream x;
	ps_t *took;
	int rc = -1;

	memset(out, 0, sizeof *out);
	out->stream = s;
	out->config_hash = cfg_hash(conf->raw);
	out->steps = o->start == RUN_STEADY ? 2 : 1;
	out->reuse_ppm = run_expert_reuse(s);
	if (!t || !(out->ops = arena_array(a, s->n_ops ? s->n_ops : 1, sizeof *out->ops)) ||
	    one_command_an_op(out, a, e) < 0 || launches(&g, kernels, s, a, &x, &w, e) < 0 ||
	    !(took = arena_array(a, x.n_launches + 1, sizeof *took)) ||
	    gpu_work_run(&w, o->start == RUN_STEADY, t, e) < 0) {
		if (!e->kind)
			err_set(e, ERR_NOMEM, "out of memory for results");
		goto out;
	}
	for (uint32_t i = 0; i < s->n_ops; i++) {
		out->ops[i].cmd = out->map.cmd_of_op[i];
		out->ops[i].carried = s->ops[i].kind == OP_OPAQUE;
		if (out->ops[i].carried)
			out->carried_ps += s->ops[i].measured_ns * 1000;
		else
			op_result(&g, &w, &x.ops[i], took, out);
	}
	out->launch_ps = x.launches == s->launches ? took : NULL;
	wall = host_wall(&conf->cfg.gpu.host, &x, took);
	out->wall_eager_ps = wall.eager;
	out->wall_graph_ps = wall.graph;
	out->cycles = clock_cycles(out->total_ps, conf->cfg.clock);
	roofline(&conf->cfg, &g, out);
	rc = 0;
out:
	gpu_traffic_free(t);
	run_memo_free(own);
	return rc;
}
