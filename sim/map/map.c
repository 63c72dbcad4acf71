#include "sim/map/map.h"

#include <stdlib.h>
#include <string.h>

#include "arch/mem/cache_lru.h"
#include "sim/map/map_cost.h"

#define NO_CMD UINT32_MAX

/* The program while it grows; copied into the arena at the end. */
struct builder {
	struct isa_cmd *cmds;
	size_t n_cmds, cap_cmds;
	struct isa_insn *insns;
	size_t n_insns, cap_insns;
	struct isa_remainders *edges;
	size_t n_edges, cap_edges;
	uint32_t *deps;
	size_t n_deps, cap_deps;
	uint32_t *members;
	size_t n_members, cap_members;
	uint8_t *has_succ;
	size_t cap_succ;
	uint32_t batch, in_batch, since_sync, moves;
};

static int map_grow(void **p, size_t *cap, size_t need, size_t size, struct err *e)
{
	void *q;
	size_t want = *cap ? *cap : 256;

	if (need <= *cap)
		return 0;
	while (want < need)
		want *= 2;
	if (!(q = realloc(*p, want * size)))
		return err_set(e, ERR_NOMEM, "out of memory for the tile program");
	*p = q;
	*cap = want;
	return 0;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Sorts and dedups the dependencies collected since `from`. */
static uint32_t tidy_deps(struct builder *b, size_t from)
{
	size_t n = from;

	if (b->n_deps == from)
		return 0;
	qsort(b->deps + from, b->n_deps - from, sizeof *b->deps, compare_u32);
	for (size_t i = from; i < b->n_deps; i++)
		if (n == from || b->deps[i] != b->deps[n - 1])
			b->deps[n++] = b->deps[i];
	b->n_deps = n;
	return (uint32_t)(n - from);
}

static int add_dep(struct builder *b, uint32_t cmd, struct err *e)
{
	if (map_grow((void **)&b->deps, &b->cap_deps, b->n_deps + 1, sizeof *b->deps, e) < 0)
		return -1;
	b->deps[b->n_deps++] = cmd;
	return 0;
}

/* A dependency on a carried op is one on whatever was last before it. */
static int group_deps(struct builder *b, const struct op_stream *s, const uint32_t *last_cmd, uint32_t first,
                      uint32_t n, struct err *e)
{
	for (uint32_t k = first; k < first + n; k++)
		for (uint32_t i = 0; i < s->ops[k].n_deps; i++) {
			uint32_t d = s->deps[s->ops[k].first_dep + i];

			if (d < first && last_cmd[d] != NO_CMD && add_dep(b, last_cmd[d], e) < 0)
				return -1;
		}
	return 0;
}

static void new_batch(struct builder *b)
{
	b->batch++;
	b->in_batch = 0;
}

static int32_t route_of(const struct mapper *m, const uint32_t *last_cmd, const struct fuse_group *g)
{
	for (uint32_t k = g->first; k < g->first + g->n; k++) {
		int32_t r = m->s->ops[k].routed_by;
		uint32_t by;

		if (r < 0)
			continue;
		by = m->s->routes[r].sync_op != UINT32_MAX ? m->s->routes[r].sync_op : m->s->routes[r].topk_op;
		if (by != UINT32_MAX && by < g->first && last_cmd[by] != NO_CMD)
			return (int32_t)last_cmd[by];
	}
	return -1;
}

/* Groups of ops that are one command: one, or several side by side. */
struct lot {
	const struct fuse_group *const *g;
	uint32_t n;
};

/* What the next command waits for. */
static int find_deps(struct builder *b, const struct mapper *m, const struct lot *l, const uint32_t *last_cmd,
                     bool sync, bool chained, struct err *e)
{
	if (chained)
		return add_dep(b, (uint32_t)b->n_cmds - 1, e);
	for (uint32_t i = 0; i < l->n; i++)
		if (group_deps(b, m->s, last_cmd, l->g[i]->first, l->g[i]->n, e) < 0)
			return -1;
	/* The host waits for the whole stream: everything since its last decision that nobody else waits for. */
	for (uint32_t k = b->since_sync; sync && k < b->n_cmds; k++)
		if (!b->has_succ[k] && add_dep(b, k, e) < 0)
			return -1;
	return 0;
}

/* Instructions that have tiles of their own at the edges; those of products side by side may share a table in the candidate. */
static size_t uneven(const struct map_candidate *d)
{
	size_t n = 0;

	for (uint32_t i = 0; i < d->n && d->n_edges; i++)
		n += d->insn[i].edges > 0;
	return n;
}

static void add_insns(struct builder *b, const struct map_candidate *d)
{
	uint32_t moves[3] = { 0, 0, 0 };

	if (d->n) /* the first may have none, and then there is no array */
		memcpy(b->insns + b->n_insns, d->insn, d->n * sizeof *d->insn);
	for (uint32_t i = 0; i < d->n && d->n_edges; i++)
		if (d->insn[i].edges) {
			b->edges[b->n_edges] = d->edges[d->insn[i].edges - 1];
			b->insns[b->n_insns + i].edges = (uint32_t)++b->n_edges;
		}
	b->n_insns += d->n;
	for (uint32_t i = 0; i < d->n; i++)
		if (isa_is_move(&d->insn[i]))
			moves[d->insn[i].when]++;
	for (int w = 0; w < 3; w++)
		if (moves[w] > b->moves)
			b->moves = moves[w];
}

/* A single row lies as it is; and on most machines all rows do. */
static uint64_t laid_out(const struct mapper *m, const struct fuse_group *g)
{
	uint64_t n = 0;

	for (uint32_t k = g->first; k < g->first + g->n && m->c->dispatch.layout; k++) {
		const struct op_shape *s = &m->s->ops[k].shape;

		if (m->s->ops[k].kind == OP_GEMM && s->m > 1)
			n += (s->batch ? s->batch : 1) * s->m * (s->k + s->n);
	}
	return n;
}

/* The draft becomes a command that does the ops of all groups; a chained one goes on with what the one before has left. */
static int emit_lot(struct builder *b, const struct mapper *m, const struct map_candidate *d, const struct lot *l,
                    const uint32_t *last_cmd, bool chained, struct err *e)
{
	const struct fuse_group *g = l->g[0];
	const bool sync = g->n == 1 && m->s->ops[g->first].kind == OP_HOST_SYNC;
	const uint32_t ops = l->n * g->n; /* those side by side are alike */
	struct isa_cmd *c;
	size_t deps = b->n_deps;

	if (map_grow((void **)&b->cmds, &b->cap_cmds, b->n_cmds + 1, sizeof *b->cmds, e) < 0 ||
	    map_grow((void **)&b->insns, &b->cap_insns, b->n_insns + d->n, sizeof *b->insns, e) < 0 ||
	    map_grow((void **)&b->edges, &b->cap_edges, b->n_edges + uneven(d), sizeof *b->edges, e) < 0 ||
	    map_grow((void **)&b->members, &b->cap_members, b->n_members + ops, sizeof *b->members, e) < 0 ||
	    map_grow((void **)&b->has_succ, &b->cap_succ, b->n_cmds + 1, 1, e) < 0 ||
	    find_deps(b, m, l, last_cmd, sync, chained, e) < 0)
		return -1;
	if (!chained && b->in_batch && b->in_batch + l->n > m->c->dispatch.batch)
		new_batch(b);
	b->in_batch += chained ? 0 : l->n;
	c = &b->cmds[b->n_cmds];
	*c = (struct isa_cmd){
		.first_insn = (uint32_t)b->n_insns,
		.n_insns = d->n,
		.first_dep = (uint32_t)deps,
		.first_op = (uint32_t)b->n_members,
		.n_ops = ops,
		.tiles = d->tiles,
		.trips = { d->trips[0], d->trips[1], d->trips[2] },
		.batch = b->batch,
		.dispatches = d->dispatches,
		.routed_by = route_of(m, last_cmd, g),
		.sync = sync,
		.chained = chained,
		.ahead = d->ahead,
		.slot_bytes = d->slot_bytes,
		.fixed_bytes = d->fixed_bytes,
		.laid_out = laid_out(m, g) * l->n,
		.pattern = g->pattern,
		.why = d->why,
	};
	c->n_deps = tidy_deps(b, deps);
	for (uint32_t i = 0; i < c->n_deps; i++)
		b->has_succ[b->deps[deps + i]] = 1;
	b->has_succ[b->n_cmds] = 0;
	add_insns(b, d);
	for (uint32_t i = 0; i < l->n; i++)
		for (uint32_t k = 0; k < g->n; k++)
			b->members[b->n_members++] = l->g[i]->first + k;
	b->n_cmds++;
	if (sync) {
		b->since_sync = (uint32_t)b->n_cmds - 1;
		new_batch(b);
	}
	return 0;
}

static int emit(struct builder *b, const struct mapper *m, const struct map_candidate *d, const struct fuse_group *g,
                const uint32_t *last_cmd, bool chained, struct err *e)
{
	return emit_lot(b, m, d, &(struct lot){ &g, 1 }, last_cmd, chained, e);
}

static int too_small(const struct mapper *m, const struct op *o, struct err *e)
{
	struct str have = STR_INIT;

	if (o->kind == OP_GEMM && map_fixed(m))
		return err_set(
			e, ERR_CONFIG,
			"'mapping' leaves no way to do op %u (%s): its tiles do not fit SRAM, or it has no such loops",
			o->id, o->name ? o->name : op_kind_name(o->kind));
	cfg_format_value(CFG_T_BYTES, sram_size(&m->c->sram), &have);
	err_set(e, ERR_CONFIG, "'sram.size' of %s is too small: not one tile of op %u (%s) fits in %u core%s of it%s",
	        str_c(&have), o->id, o->name ? o->name : op_kind_name(o->kind), m->c->cores, m->c->cores > 1 ? "s" : "",
	        m->c->sram.pin ? " beside the pinned part" : "");
	str_free(&have);
	return -1;
}

/* As it is drafted; or in blocks, of which the first is. */
static int emit_blocks(struct builder *b, const struct mapper *m, struct map_candidate *d, uint32_t op,
                       const struct map_cutting *c, const uint32_t *last_cmd, struct err *e)
{
	const struct fuse_group alone = { op, 1, NULL };

	if (map_bound_commands(&m->s->ops[op], d, c->blocks, e) < 0)
		return -1;
	if (c->blocks == 1)
		return emit(b, m, d, &alone, last_cmd, false, e);
	for (uint64_t k = 0; map_block(m, op, c->cut, c->blocks, k, d); k++)
		if (emit(b, m, d, &alone, last_cmd, k > 0, e) < 0)
			return -1;
	return 0;
}

/* An attention as a table names it, in the parts it then has; the first is drafted. */
static int emit_named(struct builder *b, const struct mapper *m, struct map_candidate *d, uint32_t op,
                      const uint32_t *last_cmd, struct err *e)
{
	const struct fuse_group alone = { op, 1, NULL };

	for (uint64_t k = 0; k == 0 || map_attention(m, &m->s->ops[op], k, d); k++)
		if (map_bound_commands(&m->s->ops[op], d, k + 1, e) < 0 ||
		    emit(b, m, d, &alone, last_cmd, k > 0, e) < 0)
			return -1;
	return 0;
}

/* Members one by one, for a fusion that does not fit or does not pay, and for what was never fused. */
static int emit_single(struct builder *b, struct mapper *m, struct map_candidate *d, uint32_t op, uint32_t *last_cmd,
                       struct map_result *out, struct err *e)
{
	const struct op *o = &m->s->ops[op];
	struct map_cutting c;

	if (!op_is_timed(o)) {
		out->cmd_of_op[op] = NO_CMD;
		last_cmd[op] = b->n_cmds ? (uint32_t)b->n_cmds - 1 : NO_CMD;
		return 0;
	}
	map_capacity(m, op, 1);
	if (o->kind == OP_COLLECTIVE) {
		const struct fuse_group alone = { op, 1, NULL };

		if (!map_collective(m, o, d))
			return too_small(m, o, e);
		if (emit(b, m, d, &alone, last_cmd, false, e) < 0)
			return -1;
	} else if (map_attention(m, o, 0, d)) {
		if (emit_named(b, m, d, op, last_cmd, e) < 0)
			return -1;
	} else if (!map_blocks(m, op, d, &c)) {
		return too_small(m, o, e);
	} else if (emit_blocks(b, m, d, op, &c, last_cmd, e) < 0) {
		return -1;
	}
	last_cmd[op] = out->cmd_of_op[op] = (uint32_t)b->n_cmds - 1;
	out->op_work_ps[op] = d->predicted;
	return 0;
}

/* What is drafted, as one command of several ops. */
static int emit_as_one(struct builder *b, const struct mapper *m, const struct map_candidate *d,
                       const struct map_fusion *what, uint32_t *last_cmd, struct map_result *out, struct err *e)
{
	const struct fuse_group g = { what->first_op, what->n_ops, what->pattern };

	if (map_bound_commands(&m->s->ops[g.first], d, 1, e) < 0 || emit(b, m, d, &g, last_cmd, false, e) < 0)
		return -1;
	for (uint32_t k = g.first; k < g.first + g.n; k++)
		last_cmd[k] = out->cmd_of_op[k] = (uint32_t)b->n_cmds - 1;
	out->fusions[out->n_fusions++] = *what;
	return 0;
}

/* What is drafted, as one command of groups side by side. */
static int emit_beside(struct builder *b, const struct mapper *m, const struct map_candidate *d,
                       const struct fuse_group *groups, const struct map_coschedule_set *w, uint32_t *last_cmd,
                       struct map_result *out, struct err *e)
{
	const struct fuse_group *all[MAP_COSCHEDULED];

	for (uint32_t i = 0; i < w->n; i++)
		all[i] = &groups[w->group[i]];
	if (map_bound_commands(&m->s->ops[all[0]->first], d, 1, e) < 0 ||
	    emit_lot(b, m, d, &(struct lot){ all, w->n }, last_cmd, false, e) < 0)
		return -1;
	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t k = all[i]->first; k < all[i]->first + all[i]->n; k++)
			last_cmd[k] = out->cmd_of_op[k] = (uint32_t)b->n_cmds - 1;
	return 0;
}

static int emit_group(struct builder *b, struct mapper *m, struct map_candidate *d, const struct fuse_group *g,
                      uint32_t *last_cmd, struct map_result *out, struct err *e)
{
	struct map_fusion what;

	if (g->n > 1 && map_chain(m, g, d, out->op_work_ps, &what))
		return emit_as_one(b, m, d, &what, last_cmd, out, e);
	for (uint32_t k = g->first; k < g->first + g->n; k++)
		if (emit_single(b, m, d, k, last_cmd, out, e) < 0)
			return -1;
	return 0;
}

static int emit_groups(struct builder *b, struct mapper *m, struct map_candidate *d, const struct fuse_group *groups,
                       size_t n_groups, uint32_t *last_cmd, struct map_result *out, struct err *e)
{
	struct map_coschedule *beside = map_coschedule_new(m, groups, n_groups);

	if (!beside)
		return err_set(e, ERR_NOMEM, "out of memory for the mapper");
	for (size_t i = 0, n = 1; i < n_groups; i += n, n = 1) {
		const size_t left = map_coschedule_left(beside, i, m->c->dispatch.join ? m->c->dispatch.batch : 1);
		struct map_coschedule_set set;
		struct map_fusion joined;
		int done = 0;

		if (left && (n = map_horizontal(m, &groups[i], left, d, out->op_work_ps, &joined)) > 1)
			done = emit_as_one(b, m, d, &joined, last_cmd, out, e);
		else if (left && map_coschedule(m, beside, i, &set, d, out->op_work_ps))
			done = emit_beside(b, m, d, groups, &set, last_cmd, out, e);
		else if (left)
			done = emit_group(b, m, d, &groups[i], last_cmd, out, e);
		if (done < 0)
			return -1;
	}
	return 0;
}

static void *map_copy(struct arena *a, const void *p, size_t n, size_t size)
{
	void *q = arena_array(a, n ? n : 1, size);

	if (q && n)
		memcpy(q, p, n * size);
	return q;
}

/* Reverse of the dependencies, so that a completion finds who waits. */
static int add_succ(struct isa_prog *p, struct arena *a, struct err *e)
{
	size_t n_deps = 0, at = 0;
	uint32_t *first = arena_array(a, p->n_cmds + 1, sizeof *first), *succ, *fill;

	for (size_t i = 0; i < p->n_cmds; i++)
		n_deps += p->cmds[i].n_deps;
	succ = arena_array(a, n_deps ? n_deps : 1, sizeof *succ);
	fill = arena_array(a, p->n_cmds + 1, sizeof *fill);
	if (!first || !succ || !fill)
		return err_set(e, ERR_NOMEM, "out of memory for the tile program");
	for (size_t i = 0; i < p->n_cmds; i++)
		for (uint32_t k = 0; k < p->cmds[i].n_deps; k++)
			first[p->deps[p->cmds[i].first_dep + k] + 1]++;
	for (size_t i = 0; i < p->n_cmds; i++) {
		at += first[i + 1];
		first[i + 1] = (uint32_t)at;
	}
	for (uint32_t i = 0; i < p->n_cmds; i++)
		for (uint32_t k = 0; k < p->cmds[i].n_deps; k++) {
			uint32_t d = p->deps[p->cmds[i].first_dep + k];

			succ[first[d] + fill[d]++] = i;
		}
	p->succ = succ;
	p->first_succ = first;
	return 0;
}

static int freeze(struct builder *b, const struct op_stream *s, struct arena *a, struct isa_prog *p, struct err *e)
{
	struct isa_tensor *t = arena_array(a, s->n_tensors ? s->n_tensors : 1, sizeof *t);

	p->cmds = map_copy(a, b->cmds, b->n_cmds, sizeof *b->cmds);
	p->insns = map_copy(a, b->insns, b->n_insns, sizeof *b->insns);
	p->edges = map_copy(a, b->edges, b->n_edges, sizeof *b->edges);
	p->deps = map_copy(a, b->deps, b->n_deps, sizeof *b->deps);
	p->members = map_copy(a, b->members, b->n_members, sizeof *b->members);
	if (!t || !p->cmds || !p->insns || !p->edges || !p->deps || !p->members)
		return err_set(e, ERR_NOMEM, "out of memory for the tile program");
	for (size_t i = 0; i < s->n_tensors; i++)
		t[i] = (struct isa_tensor){ s->tensors[i].addr, s->tensors[i].stride, s->tensors[i].instances };
	p->tensors = t;
	p->n_tensors = s->n_tensors;
	p->n_cmds = b->n_cmds;
	p->n_insns = b->n_insns;
	p->n_edges = b->n_edges;
	p->max_tile_moves = b->moves ? b->moves : 1;
	return add_succ(p, a, e);
}

static void narrow(struct mapper *m, uint32_t tensor, const struct precision_cfg *c, uint64_t k)
{
	const enum quant q = (enum quant)c->quant;
	const uint32_t bits = dtype_bits(quant_dtype(q));

	if (!bits || bits >= dtype_bits(m->s->tensors[tensor].dtype))
		return;
	m->format[tensor].quant = (uint8_t)q;
	m->format[tensor].group = c->group         ? c->group
	                          : quant_group(q) ? quant_group(q)
	                                           : (uint32_t)ps_max(1, ps_min(k, UINT32_MAX));
}

/* Only what a product or attention streams is stored narrower: norms, tables and the embedding stay. */
static void choose_narrow(struct mapper *m)
{
	for (size_t i = 0; i < m->s->n_ops; i++) {
		const struct op *o = &m->s->ops[i];

		if (!op_is_product(o->kind) && o->kind != OP_CONCAT)
			continue;
		for (uint32_t k = 0; k < o->n_operands; k++) {
			const uint32_t t = m->s->operands[o->first_operand + k].tensor;
			const enum op_role role = m->s->tensors[t].role;

			if (role == OP_WEIGHT && o->kind == OP_GEMM) {
				narrow(m, t, &m->c->weights, o->shape.k);
				m->format[t].sparse = m->sparse;
			}
			if (role == OP_KV)
				narrow(m, t, &m->c->kv, o->kind == OP_ATTENTION ? o->shape.head_dim : 128);
		}
	}
}

/* Weight-stationary across steps: the first weights in program order that fit. A routed expert may change: never. */
static void choose_pinned(struct mapper *m)
{
	uint64_t room = m->c->sram.pin * m->c->cores;

	for (size_t i = 0; i < m->s->n_ops; i++) {
		const struct op *o = &m->s->ops[i];

		for (uint32_t k = 0; o->kind == OP_GEMM && k < o->n_operands; k++) {
			uint32_t t = m->s->operands[o->first_operand + k].tensor;
			const struct op_tensor *x = &m->s->tensors[t];
			uint64_t bytes = map_stored_bytes(m, t, x->bytes);

			if (x->role == OP_WEIGHT && x->route < 0 && x->external && !m->pinned[t] && !m->stationary[t] &&
			    bytes <= room) {
				m->pinned[t] = 1;
				room -= bytes;
			}
		}
	}
}

/* Without spilling the whole KV cache that the stream touches must fit the buffer, in its chunks. */
static int check_kv(struct mapper *m, struct err *e)
{
	uint64_t *end = arena_array(m->a, m->s->n_tensors ? m->s->n_tensors : 1, sizeof *end), chunks = 0;
	struct str need = STR_INIT, have = STR_INIT;

	if (!m->c->mem.kv_buffer.size || m->c->mem.kv_buffer.spill)
		return 0;
	if (!end)
		return err_set(e, ERR_NOMEM, "out of memory for the mapper");
	for (size_t i = 0; i < m->s->n_tensors; i++)
		end[i] = 0;
	for (size_t i = 0; i < m->s->n_operands; i++) {
		const struct op_operand *x = &m->s->operands[i];
		uint64_t to = map_stored_bytes(m, x->tensor, x->offset) + map_stored_bytes(m, x->tensor, x->touched);

		end[x->tensor] = to > end[x->tensor] ? to : end[x->tensor];
	}
	for (size_t i = 0; i < m->s->n_tensors; i++) {
		const struct op_tensor *t = &m->s->tensors[i];

		if (t->role == OP_KV && end[i])
			chunks += div_up(t->addr + end[i], KV_CHUNK) - t->addr / KV_CHUNK;
	}
	if (chunks * KV_CHUNK <= m->c->mem.kv_buffer.size)
		return 0;
	cfg_format_value(CFG_T_BYTES, chunks * KV_CHUNK, &need);
	cfg_format_value(CFG_T_BYTES, m->c->mem.kv_buffer.size, &have);
	err_set(e, ERR_CONFIG,
	        "'kv_buffer.spill' is off and the KV cache of this run does not fit: it takes %s, 'kv_buffer.size' is "
	        "%s",
	        str_c(&need), str_c(&have));
	str_free(&need);
	str_free(&have);
	return -1;
}

static uint64_t near_rate(const struct machine_cfg *c)
{
	const uint64_t dma = dma_rate(&c->dma, c->cores) * c->clock * 1000;

	return c->mem.l2.size ? ps_min(dma, l2_bandwidth(&c->mem.l2, c->clock)) : dma;
}

static uint64_t dram_rate(const struct machine_cfg *c)
{
	return ps_min(near_rate(c), dram_peak(&c->mem.dram));
}

static ps_t mem_latency(const struct machine_cfg *c)
{
	return dram_unloaded(&c->mem.dram, DRAM_ROW_EMPTY) + 2 * c->mem.noc.latency + c->dma.setup +
	       (c->mem.l2.size ? c->mem.l2.latency + c->mem.l2.miss_latency : 0);
}

/* All that the mapper and its evaluator read of a machine. Unused bytes of a section may differ: then the answer is no. */
bool map_same(const struct machine_cfg *a, const struct machine_cfg *b)
{
#define SAME(m) (memcmp(&a->m, &b->m, sizeof a->m) == 0)
	return SAME(clock) && SAME(cores) && SAME(core) && SAME(dispatch) && SAME(dma) && SAME(sram) && SAME(unit) &&
	       SAME(fusion) && SAME(weights) && SAME(activations) && SAME(kv) && SAME(mapping) && SAME(attention) &&
	       SAME(links) && SAME(mem);
#undef SAME
}

/* The most that its units could do together, whatever they are given. */
static double macs_per_s(const struct mapper *m)
{
	double n = 0;

	for (int i = 0; i < UNIT_COUNT; i++) {
		uint64_t most = 0;

		for (enum dtype d = DT_NONE + 1; d < DTYPES && unit_table[i]->peak && m->unit[i].cfg->units; d++)
			most = ps_max(most, unit_table[i]->peak(&m->unit[i], d, d));
		n += (double)most;
	}
	return n * (double)m->c->clock * 1000;
}

static int check_work(const struct mapper *m, struct err *e)
{
	const double rate = macs_per_s(m);

	for (size_t i = 0; i < m->s->n_ops; i++)
		if (map_bound_op(m->s, &m->s->ops[i], rate, e) < 0)
			return -1;
	return 0;
}

/* How much of so many bytes that a pass uses is gone from the L2 before the next one asks again: all of it goes by in one order. */
static double gone(const struct mapper *m, double bytes)
{
	const struct l2_cfg *l2 = &m->c->mem.l2;

	return m->start == MAP_COLD || !l2->size ? 1 : cache_lost(bytes, (double)l2->size, l2->ways);
}

/* Of what a router chooses, a step has the part that the step before had too; the rest was not asked for. */
static void find_far(struct mapper *m, const struct map_lower_bound *f)
{
	double all = (double)f->read_bytes + (double)f->write_bytes, picked = 0, experts = 0, over;

	for (size_t i = 0; i < f->n_routed; i++)
		picked += (double)f->routed[i].touched;
	for (uint32_t i = 0; i < m->s->n_tensors; i++)
		if (m->s->tensors[i].route >= 0)
			experts += (double)map_stored_bytes(m, i, m->s->tensors[i].bytes) * m->s->tensors[i].instances;
	all += picked;
	m->alone = m->s->n_ops == 1;
	m->far[0] = m->far[1] = gone(m, all);
	if (experts > picked && m->start != MAP_RESIDENT && m->far[1] < 1 - picked / experts)
		m->far[1] = 1 - picked / experts;
	over = all > (double)m->c->mem.l2.size ? all - (double)m->c->mem.l2.size : 0;
	m->back = over <= 0 ? 0 : m->start == MAP_COLD ? over / all : 1;
}

/* At a start with operands on chip, what lies in SRAM: as the program comes to it, as long as there is room (sim/engine/pass.c does
 * so). Results that nothing reads leave where a compiler copies operands first. */
static void find_lying(struct mapper *m)
{
	uint64_t room = sram_size(&m->c->sram) * m->c->cores;

	for (uint32_t i = 0; m->start == MAP_RESIDENT && i < m->s->n_ops; i++)
		for (uint32_t k = 0; k < m->s->ops[i].n_operands; k++) {
			const struct op_operand *x = &m->s->operands[m->s->ops[i].first_operand + k];
			const uint64_t bytes = map_stored_bytes(m, x->tensor, m->s->tensors[x->tensor].bytes);

			if (m->resident[x->tensor] || !op_may_lie(m->s, x->tensor) ||
			    m->s->tensors[x->tensor].instances > 1 || bytes > room ||
			    (m->c->mapping.policy == MAPPING_COPY_FIRST && m->last_read[x->tensor] == UINT32_MAX))
				continue;
			m->resident[x->tensor] = 1;
			room -= bytes;
		}
}

static int prepare(struct mapper *m, struct err *e)
{
	const struct machine_cfg *c = m->c;
	size_t n = m->s->n_tensors ? m->s->n_tensors : 1;
	uint32_t *first_write = arena_array(m->a, n, sizeof *first_write),
		 *last_read = arena_array(m->a, n, sizeof *last_read);

	m->pinned = arena_alloc(m->a, n);
	m->resident = arena_alloc(m->a, n);
	m->format = arena_array(m->a, n, sizeof *m->format);
	m->trial = map_evaluation_new(m->a);
	m->asked = map_asked_new(m->a);
	m->few = map_subset_new(m->a);
	m->member = arena_array(m->a, MAP_COSCHEDULED, sizeof *m->member);
	if (!m->trial || !m->asked || !m->few || !m->member || !first_write || !last_read || !m->pinned ||
	    !m->resident || !m->format)
		return err_set(e, ERR_NOMEM, "out of memory for the mapper");
	for (size_t i = 0; i < n; i++)
		first_write[i] = last_read[i] = UINT32_MAX;
	for (uint32_t i = 0; i < m->s->n_ops; i++)
		for (uint32_t k = 0; k < m->s->ops[i].n_operands; k++) {
			const struct op_operand *x = &m->s->operands[m->s->ops[i].first_operand + k];

			if (!x->write)
				last_read[x->tensor] = i;
			else if (first_write[x->tensor] == UINT32_MAX)
				first_write[x->tensor] = i;
		}
	m->first_write = first_write;
	m->last_read = last_read;
	for (int i = 0; i < UNIT_COUNT; i++)
		m->unit[i] = machine_unit(c, (enum unit)i);
	if (check_work(m, e) < 0)
		return -1;
	m->near_rate = near_rate(c);
	m->dram_rate = dram_rate(c);
	m->mem_latency = mem_latency(c);
	m->sparse = machine_sparsity(c);
	m->all_sram = m->capacity = m->sram = (sram_size(&c->sram) - c->sram.pin) * c->cores;
	choose_narrow(m);
	find_lying(m);
	if (map_stationary(m, e) < 0)
		return -1;
	choose_pinned(m);
	if (map_reuse_new(m, e) < 0)
		return -1;
	return check_kv(m, e);
}

/* All that a core's part of a product hangs on: units and what is around them. */
static uint64_t units_of(const struct machine_cfg *c)
{
	uint64_t h = hash_bytes(HASH_INIT, &c->clock, sizeof c->clock);

	h = hash_bytes(hash_bytes(h, &c->core, sizeof c->core), &c->sram, sizeof c->sram);
	return hash_bytes(hash_bytes(h, &c->unit, sizeof c->unit), &c->mem.noc, sizeof c->mem.noc);
}

int map_stream(const struct op_stream *s, const struct machine_cfg *c, const struct map_opts *o, struct arena *a,
               struct map_result *out, struct err *e)
{
	struct mapper m = { .s = s, .c = c, .a = a, .evaluator = o->evaluator, .log = o->log, .start = o->start };
	struct map_memo *own = NULL;
	struct map_levels levels;
	struct builder b = { 0 };
	struct map_candidate *d = malloc(sizeof *d);
	struct fuse_group *groups = NULL;
	size_t n_groups = 0;
	uint32_t *last_cmd = arena_array(a, s->n_ops ? s->n_ops : 1, sizeof *last_cmd);
	int rc = -1;

	memset(out, 0, sizeof *out);
	out->cmd_of_op = arena_array(a, s->n_ops ? s->n_ops : 1, sizeof *out->cmd_of_op);
	out->op_work_ps = arena_array(a, s->n_ops ? s->n_ops : 1, sizeof *out->op_work_ps);
	if (!d || !last_cmd || !out->cmd_of_op || !out->op_work_ps) {
		err_set(e, ERR_NOMEM, "out of memory for the mapper");
		goto out;
	}
	if (!(m.memo = o->memo) && !(m.memo = own = map_memo_new(e)))
		goto out;
	m.spread = map_memo_spread(m.memo);
	m.spread->machine = units_of(c);
	if (prepare(&m, e) < 0 || map_footprint(s, m.format, a, &out->need, e) < 0 ||
	    map_lower_bound(&m, &out->floor, e) < 0 ||
	    fuse_stream(s, &c->fusion, o->patterns, a, &groups, &n_groups, e) < 0)
		goto out;
	find_far(&m, &out->floor);
	m.sig = map_sig_all(&m);
	map_levels(&m, &levels);
	m.levels = &levels;
	if (!(out->fusions = arena_array(a, n_groups ? n_groups : 1, sizeof *out->fusions))) {
		err_set(e, ERR_NOMEM, "out of memory for the mapper");
		goto out;
	}
	if (map_reuse(&m, groups, n_groups, d, e) < 0 ||
	    emit_groups(&b, &m, d, groups, n_groups, last_cmd, out, e) < 0 ||
	    map_reuse_emit(&m, b.members, b.cmds, b.n_cmds, e) < 0)
		goto out;
	out->held_bytes = m.stationary_bytes;
	for (uint32_t i = 0; i < s->n_tensors; i++)
		out->narrowed_bytes += s->tensors[i].bytes - map_stored_bytes(&m, i, s->tensors[i].bytes);
	rc = freeze(&b, s, a, &out->prog, e);
out:
	map_memo_free(own);
	free(d);
	free(b.cmds);
	free(b.insns);
	free(b.edges);
	free(b.deps);
	free(b.members);
	free(b.has_succ);
	return rc;
}

static uint32_t most_moves(const struct isa_prog *p)
{
	uint32_t most = 1;

	for (size_t k = 0; k < p->n_cmds; k++) {
		uint32_t moves[3] = { 0, 0, 0 };

		for (uint32_t i = 0; i < p->cmds[k].n_insns; i++) {
			const struct isa_insn *x = &p->insns[p->cmds[k].first_insn + i];

			moves[x->when] += isa_is_move(x);
			most = moves[x->when] > most ? moves[x->when] : most;
		}
	}
	return most;
}

static int given_program(struct map_result *out, const struct op_stream *s, const uint64_t *shares, struct arena *a,
                         struct err *e)
{
	struct isa_prog *p = &out->prog;
	struct isa_tensor *t = arena_array(a, s->n_tensors + 1, sizeof *t);

	out->cmd_of_op = arena_array(a, s->n_ops + 1, sizeof *out->cmd_of_op);
	out->op_work_ps = arena_array(a, s->n_ops + 1, sizeof *out->op_work_ps);
	if (!t || !out->cmd_of_op || !out->op_work_ps)
		return err_set(e, ERR_NOMEM, "out of memory for the tile program");
	for (size_t i = 0; i < s->n_tensors; i++)
		t[i] = (struct isa_tensor){ s->tensors[i].addr, s->tensors[i].stride, s->tensors[i].instances };
	p->tensors = t;
	p->n_tensors = s->n_tensors;
	p->max_tile_moves = most_moves(p);
	for (size_t i = 0; i < s->n_ops; i++) {
		out->cmd_of_op[i] = NO_CMD;
		out->op_work_ps[i] = shares[i];
	}
	for (uint32_t k = 0; k < p->n_cmds; k++)
		for (uint32_t i = 0; i < p->cmds[k].n_ops; i++)
			out->cmd_of_op[p->members[p->cmds[k].first_op + i]] = k;
	return add_succ(p, a, e);
}

int map_given(const struct op_stream *s, const struct machine_cfg *c, const struct isa_prog *p, const uint64_t *shares,
              struct arena *a, struct map_result *out, struct err *e)
{
	struct mapper m = { .s = s, .c = c, .a = a };

	memset(out, 0, sizeof *out);
	out->prog = *p;
	if (given_program(out, s, shares, a, e) < 0)
		return -1;
	if (prepare(&m, e) < 0 || map_footprint(s, m.format, a, &out->need, e) < 0)
		return -1;
	out->held_bytes = m.stationary_bytes;
	return map_lower_bound(&m, &out->floor, e);
}
