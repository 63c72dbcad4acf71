#include "sim/engine/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/watch.h"
#include "sim/base/rng.h"
#include "sim/engine/analytic.h"
#include "sim/engine/machine.h"
#include "sim/engine/run_gpu.h"
#include "sim/engine/run_memo.h"
#include "workloads/work.h"

#define PPM 1000000u

/* --- which experts a pass picks ---------------------------------------------------------------------------- */

struct picks {
	uint32_t **now;   /* [route][slot]: the expert */
	uint32_t *before; /* by route: the one over the same weights a step earlier; its own: a pass earlier */
	uint32_t *scratch;
};

/* A routed tensor that the route's products read: routes over the same one are the same layer's, in other steps. */
static uint32_t weights_of(const struct op_stream *s, uint32_t route)
{
	for (size_t i = 0; i < s->n_ops; i++)
		for (uint32_t k = 0; s->ops[i].routed_by == (int32_t)route && k < s->ops[i].n_operands; k++) {
			const struct op_operand *x = &s->operands[s->ops[i].first_operand + k];

			if (!x->write && s->tensors[x->tensor].route >= 0)
				return x->tensor;
		}
	return UINT32_MAX;
}

static int picks_new(struct picks *p, const struct op_stream *s, struct arena *a, struct err *e)
{
	const size_t n = s->n_routes ? s->n_routes : 1;
	uint32_t *weights = arena_array(a, n, sizeof *weights);
	size_t most = 1;

	p->now = arena_array(a, n, sizeof *p->now);
	p->before = arena_array(a, n, sizeof *p->before);
	for (uint32_t r = 0; p->now && p->before && weights && r < s->n_routes; r++) {
		const struct op_route *t = &s->routes[r];

		if (t->top > t->experts)
			return err_set(e, ERR_IO, "router %u picks %u of %u experts", r, t->top, t->experts);
		if (t->experts > most)
			most = t->experts;
		if (!(p->now[r] = arena_array(a, t->top ? t->top : 1, sizeof **p->now)))
			p->now = NULL;
		weights[r] = weights_of(s, r);
		p->before[r] = r;
		for (uint32_t q = 0; q < r; q++)
			if (weights[q] == weights[r] && s->routes[q].top == t->top) {
				p->before[r] = q;                                    /* the latest so far */
				p->before[q] = p->before[q] >= q ? r : p->before[q]; /* the first follows the last */
			}
	}
	p->scratch = arena_array(a, most, sizeof *p->scratch);
	return weights && p->now && p->before && p->scratch ? 0
	                                                    : err_set(e, ERR_NOMEM, "out of memory for expert picks");
}

/* `n` of `pool` without replacement, moved to the pool's front. */
static void draw(struct rng *g, uint32_t *pool, uint32_t size, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i + (uint32_t)rng_below(g, size - i), t = pool[i];

		pool[i] = pool[k];
		pool[k] = t;
	}
}

/* Every pick of the step before stays with probability `keep`; the rest come from the experts it did not pick. */
static void follow(struct picks *p, const struct op_stream *s, uint32_t r, struct rng *g, uint32_t keep_ppm)
{
	const uint32_t n = s->routes[r].experts, top = s->routes[r].top, *was = p->now[p->before[r]];
	uint32_t free_n = 0, used = 0;

	for (uint32_t i = 0; i < n; i++) {
		bool taken = false;

		for (uint32_t k = 0; k < top; k++)
			taken |= was[k] == i;
		if (!taken)
			p->scratch[free_n++] = i;
	}
	draw(g, p->scratch, free_n, free_n < top ? free_n : top);
	for (uint32_t k = 0; k < top; k++)
		p->now[r][k] = rng_below(g, PPM) >= keep_ppm && used < free_n ? p->scratch[used++] : was[k];
}

static void first_picks(struct picks *p, const struct op_stream *s, struct rng *g, uint32_t keep_ppm)
{
	for (uint32_t r = 0; r < s->n_routes; r++) {
		const uint32_t n = s->routes[r].experts, top = s->routes[r].top;

		if (p->before[r] < r) {
			follow(p, s, r, g, keep_ppm);
			continue;
		}
		for (uint32_t i = 0; i < n; i++)
			p->scratch[i] = i;
		draw(g, p->scratch, n, top);
		if (top)
			memcpy(p->now[r], p->scratch, top * sizeof *p->scratch);
	}
}

static void next_picks(struct picks *p, const struct op_stream *s, struct rng *g, uint32_t keep_ppm)
{
	for (uint32_t r = 0; r < s->n_routes; r++)
		follow(p, s, r, g, keep_ppm);
}

uint32_t run_expert_reuse(const struct op_stream *s)
{
	uint64_t top = 0, experts = 0;

	for (size_t r = 0; r < s->n_routes; r++) {
		top += s->routes[r].top;
		experts += s->routes[r].experts;
	}
	return experts ? (uint32_t)(top * PPM / experts) : 0;
}

/* --- the machine, in either fidelity ----------------------------------------------------------------------- */

struct engine {
	struct machine *m;
	struct analytic *a; /* one of both */
	const struct isa_prog *p;
};

static uint64_t resident(const struct engine *g, uint64_t addr, uint64_t bytes, bool kv)
{
	return g->a ? analytic_resident(g->a, addr, bytes, kv) : machine_resident(g->m, addr, bytes, kv);
}

static bool pinned(const struct engine *g, uint32_t tensor)
{
	return g->a ? analytic_pinned(g->a, tensor) : machine_pinned(g->m, tensor);
}

static int warm(const struct engine *g, const uint32_t *const *picks, struct cp_result *res, struct err *e)
{
	if (!g->a)
		return machine_step(g->m, g->p, picks, res, e);
	analytic_warm(g->a, picks);
	return 0;
}

static int step(const struct engine *g, const uint32_t *const *picks, struct cp_result *res, struct err *e)
{
	return g->a ? analytic_step(g->a, picks, res, e) : machine_step(g->m, g->p, picks, res, e);
}

/* --- the roofline ------------------------------------------------------------------------------------------ */

/* Bytes of the first touch of every tensor that exist before the pass and are not on chip at its start. */
static uint64_t compulsory(const struct engine *g, const struct isa_prog *p, const struct op_stream *s,
                           const uint32_t *const *picks, struct arena *a, struct err *e)
{
	size_t *first = arena_array(a, p->n_tensors + 1, sizeof *first); /* of a tensor's instances */
	uint64_t bytes = 0;
	uint8_t *seen;

	for (size_t i = 0; first && i < p->n_tensors; i++)
		first[i + 1] = first[i] + p->tensors[i].instances;
	if (!first || !(seen = arena_alloc(a, first[p->n_tensors] + 1))) {
		err_set(e, ERR_NOMEM, "out of memory for the roofline");
		return 0;
	}
	for (uint32_t i = 0; i < p->n_insns; i++) {
		const struct isa_insn *x = &p->insns[i];
		const struct isa_tensor *t = &p->tensors[x->tensor];
		uint32_t instance = x->code == ISA_LOAD && x->route >= 0 ? picks[x->route][x->slot] : 0;

		/* The same bytes again (another pass of blocks, a table all layers share, an expert picked again) are
		 * one read. */
		if (x->code != ISA_LOAD || !x->early || x->bytes == 0 || seen[first[x->tensor] + instance])
			continue;
		seen[first[x->tensor] + instance] = 1;
		if (x->pinned && pinned(g, x->tensor))
			continue;
		bytes += x->bytes - resident(g, t->addr + x->offset + t->stride * instance, x->bytes,
		                             s->tensors[x->tensor].role == OP_KV);
	}
	return bytes;
}

static uint32_t host_trips(const struct isa_prog *p)
{
	uint32_t n = 0;

	for (size_t i = 0; i < p->n_cmds; i++)
		n += p->cmds[i].sync;
	return n;
}

/* Every term is work that must be done over the peak that does it: the run cannot be shorter. */
static void roofline(const struct stat_reg *st, const struct machine_cfg *c, struct run_result *r)
{
	const struct isa_prog *p = &r->map.prog;
	uint64_t batches = p->n_cmds ? p->cmds[p->n_cmds - 1].batch : 0;

	r->peak_ps[RES_DRAM] = clock_transfer(r->compulsory_bytes, dram_peak(&c->mem.dram));
	if (c->mem.l2.size)
		r->peak_ps[RES_L2] = clock_transfer(stat_get(st, "l2.read_bytes") + stat_get(st, "l2.write_bytes"),
		                                    l2_bandwidth(&c->mem.l2, c->clock));
	if (c->mem.kv_buffer.size)
		r->peak_ps[RES_KV] = clock_transfer(stat_get(st, "kv_buffer.hit_bytes"), c->mem.kv_buffer.bandwidth);
	r->peak_ps[RES_DMA] = clock_transfer(stat_get(st, "dma.read_bytes") + stat_get(st, "dma.write_bytes"),
	                                     dma_rate(&c->dma, c->cores) * c->clock * 1000);
	for (int i = 0; i < UNIT_COUNT; i++)
		r->peak_ps[unit_table[i]->res] = stat_get(st, unit_table[i]->busy_stat);
	r->peak_ps[RES_DISPATCH] =
		batches * c->dispatch.interval + (c->dispatch.dynamic ? host_trips(p) * c->dispatch.branch : 0);
	if (p->n_cmds) /* else nothing is launched */
		r->peak_ps[RES_HOST] =
			c->dispatch.launch + (c->dispatch.dynamic ? 0 : host_trips(p) * c->dispatch.host);
	for (int k = 0; k < RES_COUNT; k++)
		if (r->peak_ps[k] > r->roofline_ps) {
			r->roofline_ps = r->peak_ps[k];
			r->roofline_bound = (enum res)k;
		}
}

/* --- per op ------------------------------------------------------------------------------------------------ */

enum res run_largest(const ps_t *v)
{
	int best = 0;

	for (int k = 1; k < RES_COUNT; k++)
		if (v[k] > v[best])
			best = k;
	return (enum res)best;
}

void run_shares(const ps_t *v, enum res bound, uint32_t *ppm)
{
	ps_t total = 0;
	uint32_t sum = 0;

	for (int k = 0; k < RES_COUNT; k++)
		total += v[k];
	for (int k = 0; k < RES_COUNT; k++) {
		/* Stalls are under 2^44 ps (17 s) each, so the product fits. */
		ppm[k] = total ? (uint32_t)((total >> 44 ? v[k] >> 20 : v[k]) * PPM /
		                            (total >> 44 ? total >> 20 : total))
		               : 0;
		sum += ppm[k];
	}
	ppm[bound] += PPM - sum;
}

/* Busy time a command's bytes and math need, resource by resource. */
static void busy_of(const struct machine_cfg *c, const struct core_account *a, ps_t *busy)
{
	memcpy(busy, a->busy, sizeof a->busy);
	busy[RES_DRAM] = clock_transfer(a->dram_bytes, dram_peak(&c->mem.dram));
	if (c->mem.l2.size)
		busy[RES_L2] = clock_transfer(a->mem_bytes, l2_bandwidth(&c->mem.l2, c->clock));
	busy[RES_DMA] = clock_transfer(a->mem_bytes, dma_rate(&c->dma, c->cores) * c->clock * 1000);
}

/* Divides what is left over a command's members by their own work; the last takes the rest, so nothing is lost. */
static uint64_t part(uint64_t weight, uint64_t *weight_left, uint64_t *left)
{
	uint64_t mine;

	if (*weight_left <= weight)
		mine = *left;
	else
		mine = *left / *weight_left * weight + *left % *weight_left * weight / *weight_left;
	*weight_left -= weight < *weight_left ? weight : *weight_left;
	*left -= mine;
	return mine;
}

static void give_to_ops(const struct machine_cfg *c, const struct cp_result *res, ps_t began, struct run_result *r)
{
	const struct isa_prog *p = &r->map.prog;
	const struct op_stream *s = r->stream;

	for (size_t i = 0; i < s->n_ops; i++) {
		r->ops[i].cmd = r->map.cmd_of_op[i];
		r->ops[i].carried = r->map.cmd_of_op[i] == UINT32_MAX;
		if (r->ops[i].carried)
			r->carried_ps += s->ops[i].measured_ns * 1000;
		else
			r->ops[i].flops = work_of(s, &s->ops[i]).flops;
	}
	for (size_t k = 0; k < p->n_cmds; k++) {
		const struct isa_cmd *cmd = &p->cmds[k];
		const struct core_account *a = &res[k].acc;
		ps_t busy[RES_COUNT], span = res[k].span, at = res[k].retired - span - began, limit;
		uint64_t weights = 0, dram_weights = 0, mem = a->mem_bytes, dram = a->dram_bytes;
		enum res bound;
		uint32_t ppm[RES_COUNT];

		busy_of(c, a, busy);
		limit = busy[run_largest(busy)];
		bound = span ? run_largest(a->stall) : run_largest(busy);
		run_shares(a->stall, bound, ppm);
		for (uint32_t n = 0; n < cmd->n_ops; n++) {
			weights += r->map.op_work_ps[p->members[cmd->first_op + n]];
			dram_weights += work_of(s, &s->ops[p->members[cmd->first_op + n]]).read_bytes;
		}
		for (uint32_t n = 0; n < cmd->n_ops; n++) {
			uint32_t op = p->members[cmd->first_op + n];
			struct run_op *o = &r->ops[op];
			uint64_t w = r->map.op_work_ps[op], wl = weights, dw = work_of(s, &s->ops[op]).read_bytes,
				 dl = dram_weights;
			ps_t took;

			if (!o->us_ps && !o->start_ps)
				o->start_ps = at;
			took = part(w, &weights, &span);
			o->us_ps += took;
			at += took;
			o->limit_ps += part(w, &wl, &limit);
			o->mem_bytes += part(dw, &dram_weights, &mem);
			o->dram_bytes += part(dw, &dl, &dram);
			o->bound = bound;
			memcpy(o->stall_ppm, ppm, sizeof ppm);
		}
		for (int x = 0; x < RES_COUNT; x++)
			r->stall_ps[x] += a->stall[x];
	}
}

static int keep_stats(struct stat_reg *st, struct arena *a, struct run_result *r, struct err *e)
{
	r->n_stats = stat_count(st);
	if (!(r->stats = arena_array(a, r->n_stats ? r->n_stats : 1, sizeof *r->stats)))
		return err_set(e, ERR_NOMEM, "out of memory for statistics");
	for (size_t i = 0; i < r->n_stats; i++) {
		struct stat_view v = stat_at(st, i);

		/* The registry goes with the machine, the result stays. */
		r->stats[i] = (struct run_stat){ arena_strdup(a, v.name), arena_strdup(a, v.unit),
			                         arena_strdup(a, v.help), v.value, v.kind == STAT_LEVEL };
	}
	return 0;
}

static int measure(const struct engine *g, const struct machine_cfg *c, struct picks *picks, const struct run_opts *o,
                   struct arena *a, struct run_result *r, struct err *e)
{
	const struct isa_prog *p = &r->map.prog;
	const uint32_t *const *now = (const uint32_t *const *)picks->now;
	struct stat_reg *st = g->a ? analytic_stats(g->a) : machine_stats(g->m);
	struct cp_result *res = arena_array(a, p->n_cmds ? p->n_cmds : 1, sizeof *res);
	struct rng rng;
	uint64_t events;
	ps_t began;

	if (!res)
		return err_set(e, ERR_NOMEM, "out of memory for results");
	rng_seed(&rng, o->seed, "experts");
	first_picks(picks, r->stream, &rng, r->reuse_ppm);
	if (o->start == RUN_STEADY) {
		if (warm(g, now, res, e) < 0)
			return err_add(e, "warming up");
		next_picks(picks, r->stream, &rng, r->reuse_ppm);
		r->steps++;
	}
	r->compulsory_bytes = compulsory(g, p, r->stream, now, a, e);
	if (e->kind)
		return -1;
	stat_snapshot(st);
	events = g->m ? machine_events(g->m) : 0;
	began = g->m ? machine_now(g->m) : 0;
	if (g->m && o->watch) {
		machine_watch(g->m, o->watch);
		o->watch->begin(o->watch->ctx, began);
	}
	if (step(g, now, res, e) < 0)
		return -1;
	r->steps++;
	r->events = g->m ? machine_events(g->m) - events : 0;
	r->total_ps = p->n_cmds ? res[p->n_cmds - 1].retired - began : 0;
	r->cycles = clock_cycles(r->total_ps, c->clock);
	r->dram_read_bytes = stat_get(st, "dram.read_bytes");
	r->dram_write_bytes = stat_get(st, "dram.write_bytes");
	r->dirty_bytes = stat_get(st, "l2.dirty_bytes") + stat_get(st, "kv_buffer.dirty_bytes");
	roofline(st, c, r);
	give_to_ops(c, res, began, r);
	for (size_t i = 0; i < r->stream->n_ops; i++)
		r->flops += r->ops[i].flops;
	return keep_stats(st, a, r, e);
}

static int map(const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *o, struct arena *a,
               struct run_result *out, struct err *e)
{
	const struct fuse_patterns *patterns;
	struct run_memo *own;
	int rc;

	if (o->memo)
		return run_memo_map(o->memo, s, &conf->cfg, &out->map, e);
	if (!(own = run_memo_new(e)))
		return -1;
	rc = run_memo_patterns(own, &conf->cfg.fusion, &patterns, e);
	if (rc == 0)
		rc = map_stream(s, &conf->cfg, patterns, a, &out->map, e);
	run_memo_free(own);
	return rc;
}

int run_stream(const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *o, struct arena *a,
               struct run_result *out, struct err *e)
{
	struct engine g = { NULL, NULL, &out->map.prog };
	struct picks picks;
	int rc = -1;

	if (conf->cfg.kind == MACHINE_GPU)
		return run_gpu(s, conf, o, a, out, e);
	memset(out, 0, sizeof *out);
	out->stream = s;
	out->config_hash = cfg_hash(conf->raw);
	out->reuse_ppm = o->reuse_given ? o->reuse_ppm : run_expert_reuse(s);
	if (!(out->ops = arena_array(a, s->n_ops ? s->n_ops : 1, sizeof *out->ops)))
		return err_set(e, ERR_NOMEM, "out of memory for results");
	if (map(s, conf, o, a, out, e) < 0 || picks_new(&picks, s, a, e) < 0)
		goto out;
	if (o->fidelity == RUN_ANALYTIC)
		g.a = analytic_new(&conf->cfg, g.p, e);
	else
		g.m = machine_new(&conf->cfg, NULL, e);
	if ((!g.a && !g.m) || measure(&g, &conf->cfg, &picks, o, a, out, e) < 0)
		goto out;
	rc = 0;
out:
	machine_free(g.m);
	analytic_free(g.a);
	return rc;
}
