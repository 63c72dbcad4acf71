#include "sim/engine/pass.h"

#include <string.h>

#include "arch/watch.h"
#include "sim/engine/evaluator.h"
#include "sim/engine/pass_clock.h"
#include "sim/engine/pass_count.h"
#include "sim/engine/pass_energy.h"
#include "sim/engine/picks.h"
#include "sim/engine/roofline.h"
#include "sim/engine/run_memo.h"
#include "workloads/work.h"

/* A machine, in whichever fidelity. */
struct built {
	const struct pass_ops *ops;
	void *m;
	uint64_t top; /* the full clock */
};

/* Of a tensor's instance, what the program has loaded, from its begin on, and stored. */
struct seen {
	uint64_t end, stored;
};

/* Bytes that a load takes, nothing before it has loaded, and nothing before it can have stored; and not on chip. */
static uint64_t first_read(const struct built *g, const struct isa_insn *x, uint64_t addr, bool kv, struct seen *seen)
{
	const uint64_t last = x->offset + x->bytes, from = ps_max(x->offset, seen->end);
	uint64_t n, own;

	if (last <= from)
		return 0;
	seen->end = last;
	n = last - from - g->ops->resident(g->m, addr + from, last - from, kv);
	own = ps_min(n, seen->stored);
	seen->stored -= own;
	return n - own;
}

/* Bytes that exist before the pass, are loaded in it and are not on chip at its start. The same again (another pass of blocks,
 * a table all layers share, an expert picked again) is one read. */
static uint64_t first_reads(const struct built *g, const struct isa_prog *p, const struct op_stream *s,
                            const uint32_t *const *picks, struct arena *a, struct err *e)
{
	size_t *first = arena_array(a, p->n_tensors + 1, sizeof *first); /* of a tensor's instances */
	struct seen *seen;
	uint64_t bytes = 0;

	for (size_t i = 0; first && i < p->n_tensors; i++)
		first[i + 1] = first[i] + p->tensors[i].instances;
	if (!first || !(seen = arena_array(a, first[p->n_tensors] + 1, sizeof *seen))) {
		err_set(e, ERR_NOMEM, "out of memory for what is on chip");
		return 0;
	}
	for (uint32_t i = 0; i < p->n_insns; i++) {
		const struct isa_insn *x = &p->insns[i];
		const struct isa_tensor *t = &p->tensors[x->tensor];
		const uint32_t instance = x->code == ISA_LOAD && x->route >= 0 ? picks[x->route][x->slot] : 0;

		if (x->code == ISA_STORE)
			seen[first[x->tensor]].stored += x->bytes;
		if (x->code != ISA_LOAD || !(x->early || s->tensors[x->tensor].external) ||
		    (x->pinned && g->ops->pinned(g->m, x->tensor)))
			continue;
		bytes += first_read(g, x, t->addr + t->stride * instance, s->tensors[x->tensor].role == OP_KV,
		                    &seen[first[x->tensor] + instance]);
	}
	return bytes;
}

/* --- per op ------------------------------------------------------------------------------------------------ */

/* Busy time a command's bytes and math need, resource by resource. */
static void busy_of(const uint64_t *peak, const struct core_account *a, ps_t *busy)
{
	memcpy(busy, a->busy, sizeof a->busy);
	busy[RES_DRAM] = clock_transfer(a->dram_bytes, peak[RES_DRAM]);
	if (peak[RES_L2])
		busy[RES_L2] = clock_transfer(a->mem_bytes, peak[RES_L2]);
	busy[RES_DMA] = clock_transfer(a->mem_bytes, peak[RES_DMA]);
}

/* Divides what is left over a command's members by their own work; the last takes the rest, so nothing is lost. */
static uint64_t pass_part(uint64_t weight, uint64_t *weight_left, uint64_t *left)
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
	const struct isa_prog *p = &r->map->prog;
	const struct op_stream *s = r->stream;
	uint64_t peak[RES_COUNT];

	machine_peaks(c, peak);
	for (size_t i = 0; i < s->n_ops; i++) {
		r->ops[i].cmd = r->map->cmd_of_op[i];
		r->ops[i].macs_ps = r->map->floor.op_math_ps[i];
		r->ops[i].carried = r->map->cmd_of_op[i] == UINT32_MAX;
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

		busy_of(peak, a, busy);
		/* What was fetched or computed while the commands before it ran cost it nothing. */
		limit = ps_min(busy[run_largest(busy)], span);
		bound = run_bound(a->stall, busy);
		run_shares(a->stall, bound, ppm);
		for (uint32_t n = 0; n < cmd->n_ops; n++) {
			weights += r->map->op_work_ps[p->members[cmd->first_op + n]];
			dram_weights += work_of(s, &s->ops[p->members[cmd->first_op + n]]).read_bytes;
		}
		for (uint32_t n = 0; n < cmd->n_ops; n++) {
			uint32_t op = p->members[cmd->first_op + n];
			struct run_op *o = &r->ops[op];
			uint64_t w = r->map->op_work_ps[op], wl = weights, dw = work_of(s, &s->ops[op]).read_bytes,
				 dl = dram_weights;
			ps_t took;

			if (!o->span_ps && !o->start_ps)
				o->start_ps = at;
			took = pass_part(w, &weights, &span);
			o->span_ps += took;
			at += took;
			o->limit_ps += pass_part(w, &wl, &limit);
			o->mem_bytes += pass_part(dw, &dram_weights, &mem);
			o->dram_bytes += pass_part(dw, &dl, &dram);
			o->bound = bound;
			memcpy(o->stall_ppm, ppm, sizeof ppm);
		}
		for (int x = 0; x < RES_COUNT; x++)
			r->stall_ps[x] += a->stall[x];
		r->links_ps += a->busy[RES_LINK];
	}
	r->links_bytes = pass_count_links(p);
	r->peak_ps[RES_LINK] = r->links_ps;
	r->mapped_ps = ps_max(r->mapped_ps, r->links_ps);
	for (size_t i = 0; i < s->n_ops; i++)
		r->ops[i].pins_ps = clock_transfer(r->ops[i].dram_bytes, peak[RES_DRAM]);
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

/* The program without what it stores, and without what the table has in DRAM. */
static int without_stores(const struct isa_prog *p, const struct op_stream *s, struct arena *a, struct isa_prog *out,
                          struct err *e)
{
	struct isa_insn *insns = arena_array(a, p->n_insns + 1, sizeof *insns);

	*out = *p;
	if (!insns)
		return err_set(e, ERR_NOMEM, "out of memory for a program");
	if (p->n_insns)
		memcpy(insns, p->insns, p->n_insns * sizeof *insns);
	for (size_t i = 0; i < p->n_insns; i++)
		if (insns[i].code == ISA_STORE || (insns[i].code == ISA_LOAD && !op_may_lie(s, insns[i].tensor)))
			insns[i].bytes = 0;
	out->insns = insns;
	return 0;
}

/* The pass before the one that is measured. Where that one is to begin with operands on chip, and no more, it stores nothing: its
 * results would be owed to DRAM, and to write them is not what is measured. Nor is where between two refreshes it ends. */
static int warm_up(const struct built *g, const struct isa_prog *p, const struct op_stream *s, enum run_start start,
                   const uint32_t *const *picks, struct cp_result *res, struct arena *a, struct err *e)
{
	struct isa_prog quiet = *p;

	if (start == RUN_RESIDENT && without_stores(p, s, a, &quiet, e) < 0)
		return -1;
	if (g->ops->warm(g->m, &quiet, picks, res, e) < 0)
		return err_add(e, "warming up");
	if (start == RUN_RESIDENT && g->ops->rest)
		g->ops->rest(g->m);
	return 0;
}

static int pass_measure(const struct built *g, const struct machine_cfg *c, struct picks *picks,
                        const struct run_opts *o, struct arena *a, struct run_result *r, struct err *e)
{
	const struct isa_prog *p = &r->map->prog;
	const uint32_t *const *now = (const uint32_t *const *)picks->now;
	struct stat_reg *st = g->ops->stats(g->m);
	struct cp_result *res = arena_array(a, p->n_cmds ? p->n_cmds : 1, sizeof *res);
	struct rng rng;
	uint64_t events;
	ps_t began;

	if (!res)
		return err_set(e, ERR_NOMEM, "out of memory for results");
	rng_seed(&rng, o->seed, "experts");
	picks_first(picks, r->stream, &rng, r->reuse_ppm);
	if (o->start != RUN_COLD) {
		if (warm_up(g, p, r->stream, o->start, now, res, a, e) < 0)
			return -1;
		picks_next(picks, r->stream, &rng, r->reuse_ppm);
		r->steps++;
	}
	r->first_read_bytes = first_reads(g, p, r->stream, now, a, e);
	if (e->kind)
		return -1;
	stat_snapshot(st);
	events = g->ops->events ? g->ops->events(g->m) : 0;
	began = g->ops->now ? g->ops->now(g->m) : 0;
	if (g->ops->watch && o->watch) {
		g->ops->watch(g->m, o->watch);
		o->watch->begin(o->watch->ctx, began);
	}
	if (g->ops->step(g->m, p, now, res, e) < 0)
		return -1;
	r->steps++;
	r->events = g->ops->events ? g->ops->events(g->m) - events : 0;
	r->total_ps = p->n_cmds ? res[p->n_cmds - 1].retired - began : 0;
	r->cycles = clock_cycles(r->total_ps, c->clock);
	r->dram_read_bytes = stat_get(st, "dram.read_bytes");
	r->dram_write_bytes = stat_get(st, "dram.write_bytes");
	r->dirty_bytes = stat_get_or(st, "l2.dirty_bytes", 0) + stat_get_or(st, "kv_buffer.dirty_bytes", 0) +
	                 stat_get(st, "dram.posted_bytes");
	if (roofline_of(st, c, o->start, now, a, r, e) < 0)
		return -1;
	give_to_ops(c, res, began, r);
	for (size_t i = 0; i < r->stream->n_ops; i++)
		r->flops += r->ops[i].flops;
	if (pass_energy(c, g->top, st, o->start, a, r, e) < 0)
		return -1;
	return stat_check(st, e) < 0 ? -1 : keep_stats(st, a, r, e);
}

static int map(const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *how, struct arena *a,
               struct map_result *out, struct err *e)
{
	const struct machine_cfg *c = &conf->cfg;
	struct map_opts o = { .start = run_map_start(how->start) };
	struct run_memo *own;
	int rc;

	if (how->program) {
		*out = *how->program;
		return 0;
	}
	if (how->memo)
		return run_memo_map(how->memo, s, c, o.start, out, e);
	if (!(own = run_memo_new_from(conf->source, e)))
		return -1;
	rc = run_memo_patterns(own, &c->fusion, &o.patterns, e);
	if (rc == 0)
		rc = evaluator_map(s, c, &o, a, out, e);
	run_memo_free(own);
	return rc;
}

/* Results that nothing of the program reads leave the chip where a compiler copies operands first. */
static void leave_results(const struct isa_prog *p, const struct machine_cfg *c, uint8_t *state, uint8_t left)
{
	if (c->mapping.policy != MAPPING_COPY_FIRST)
		return;
	for (size_t i = 0; i < p->n_insns; i++)
		if (p->insns[i].code == ISA_STORE)
			state[p->insns[i].tensor] = left;
	for (size_t i = 0; i < p->n_insns; i++)
		if (p->insns[i].code == ISA_LOAD)
			state[p->insns[i].tensor] = 0;
}

/* Holds in the scratchpad what the program moves, as far as it fits: after the pass that warms up it is not moved again. */
static int hold(struct map_result *m, const struct op_stream *s, const struct machine_cfg *c, struct arena *a,
                struct err *e)
{
	uint64_t room = sram_size(&c->sram) * c->cores;
	struct isa_prog *p = &m->prog;
	struct isa_insn *insns = arena_array(a, p->n_insns + 1, sizeof *insns); /* a memo keeps the program as it is */
	enum { UNSEEN, HELD, LEFT };
	uint8_t *state = arena_alloc(a, p->n_tensors + 1);
	uint64_t *bytes =
		arena_array(a, p->n_tensors + 1, sizeof *bytes); /* as they are stored, as far as they are moved */

	if (!insns || !state || !bytes)
		return err_set(e, ERR_NOMEM, "out of memory for a program");
	if (p->n_insns)
		memcpy(insns, p->insns, p->n_insns * sizeof *insns);
	leave_results(p, c, state, LEFT);
	for (size_t i = 0; i < p->n_insns; i++)
		if (isa_is_move(&insns[i]))
			bytes[insns[i].tensor] = ps_max(bytes[insns[i].tensor], insns[i].offset + insns[i].bytes);
	for (size_t i = 0; i < p->n_insns; i++) {
		struct isa_insn *x = &insns[i];
		const uint64_t all = bytes[x->tensor];

		if (!isa_is_move(x))
			continue;
		if (state[x->tensor] == UNSEEN) {
			state[x->tensor] =
				s->tensors[x->tensor].instances == 1 && all <= room && op_may_lie(s, x->tensor) ? HELD
														: LEFT;
			room -= state[x->tensor] == HELD ? all : 0;
		}
		x->pinned = x->pinned || state[x->tensor] == HELD;
	}
	p->insns = insns;
	return 0;
}

/* A mapped program, to be run at one clock or several. */
struct job {
	const struct pass_ops *ops;
	const struct machine_conf *conf;
	const struct run_opts *o;
	const struct map_result *m;
	const struct run_result *asked;
};

/* `r` has what does not depend on the clock, and its ops. */
static int run_at(const struct job *j, uint64_t khz, const struct run_opts *o, struct arena *a, struct run_result *r,
                  struct err *e)
{
	struct map_result slowed = *j->m;
	struct machine_cfg c = j->conf->cfg;
	struct built g = { j->ops, NULL, c.clock };
	struct picks picks;
	int rc;

	c.clock = khz;
	r->map = &slowed;
	if (pass_slowed(&j->m->prog, g.top, khz, a, &slowed.prog, e) < 0 || picks_new(&picks, r->stream, a, e) < 0 ||
	    !(g.m = j->ops->make(&c, &slowed.prog, e)))
		return -1;
	rc = pass_measure(&g, &c, &picks, o, a, r, e);
	j->ops->free(g.m);
	r->map = j->m;
	return rc;
}

/* One of several: nobody looks on, and nothing of it is kept. */
static int try_at(void *self, uint64_t khz, struct run_result *r, struct err *e)
{
	const struct job *j = self;
	struct run_opts o = *j->o;
	struct arena *a = arena_new(0);
	int rc = -1;

	*r = *j->asked;
	o.watch = NULL;
	if (!a || !(r->ops = arena_array(a, r->stream->n_ops + 1, sizeof *r->ops)))
		err_set(e, ERR_NOMEM, "out of memory for results");
	else
		rc = run_at(j, khz, &o, a, r, e);
	arena_free(a);
	return rc;
}

int pass_run(const struct pass_ops *ops, const struct machine_conf *conf, const struct run_opts *o, struct arena *a,
             struct run_result *out, struct err *e)
{
	struct map_result *m = arena_alloc(a, sizeof *m);
	struct job j = { ops, conf, o, m, out };
	uint64_t khz;

	if (!m)
		return err_set(e, ERR_NOMEM, "out of memory for a program");
	out->reuse_ppm = o->reuse_given ? o->reuse_ppm : picks_reuse(out->stream);
	if (map(out->stream, conf, o, a, m, e) < 0 || map_capacity_check(&m->need, &conf->cfg.mem.dram, e) < 0)
		return -1;
	if (o->start == RUN_RESIDENT && hold(m, out->stream, &conf->cfg, a, e) < 0)
		return -1;
	out->narrowed_bytes = m->narrowed_bytes;
	if (!(khz = pass_clock(&conf->cfg, try_at, &j, e)))
		return -1;
	return run_at(&j, khz, o, a, out, e);
}

int pass_stats(const struct pass_ops *ops, const struct machine_cfg *c, stat_each_fn *each, void *arg, struct err *e)
{
	static const struct isa_prog nothing = { .n_cmds = 0 };
	void *m = ops->make(c, &nothing, e);
	struct stat_reg *st = m ? ops->stats(m) : NULL;

	for (size_t i = 0; each && st && i < stat_count(st); i++) {
		const struct stat_view v = stat_at(st, i);

		each(arg, &v);
	}
	if (m)
		ops->free(m);
	return m ? 0 : -1;
}
