/* lower.c - from a trace to an op stream: launches into ops, ops into shapes, and the passes that follow. */
#include "sim/lower/lower.h"

#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/str.h"
#include "sim/lower/lower_int.h"
#include "workloads/place.h"

#define DECODE_MAX_M 64 /* rows a product has at the most in a decode step: one a sequence of the batch */

static uint64_t ns(int64_t v)
{
	return v > 0 ? (uint64_t)v : 0;
}

/* --- launches into ops ------------------------------------------------------------------------------------------- */

/* Launches of one framework op in a row are one op: a set before a product, a split-K reduction behind it, the many
 * kernels of a large top-k. Ops that merely wrap others (a compiled graph, a custom op) launch different things, so
 * outside the framework's own namespace the rules must agree. Without framework ops only a rule's word joins. */
static bool joins(const struct lop *prev, const struct trace_launch *l, const struct rule *u)
{
	const struct trace_op *a = prev->main->op, *b = l->op;

	if ((u && u->listed) || (prev->rule && prev->rule->listed))
		return false;
	if ((u && u->syncs) || (prev->rule && prev->rule->syncs))
		return false; /* what the host waits for is an op of its own */
	if (a && b) {
		if (a->id != b->id || (l->graph && l->correlation != prev->main->correlation))
			return false; /* another op, or its graph once more */
		return str_prefix(b->name, "aten::") || prev->only_parts || (u && (u->joins_previous || u->part)) ||
		       (u && prev->rule && u->kind == prev->rule->kind);
	}
	return u && u->joins_previous && prev->rule && prev->rule->kind == u->kind;
}

static void lower_join(struct lop *o, const struct trace_launch *l, const struct rule *u)
{
	o->n_launches++;
	if (u && u->joins_previous && u->kind == OP_ATTENTION)
		o->algorithm = u->algorithm;
	if (o->only_parts && !(u && u->part)) { /* the set came first, here is the kernel */
		o->main = l;
		o->rule = u;
		o->algorithm = u ? u->algorithm : OP_ATTN_FLASH;
		o->only_parts = false;
	}
}

struct stream_slot {
	int64_t device, stream;
	uint32_t last;
	bool used;
};

static struct stream_slot *lower_stream_of(struct stream_slot *slots, uint32_t cap, const struct trace_launch *l)
{
	uint64_t h = hash_mix(hash_u64(hash_u64(HASH_INIT, (uint64_t)l->device), (uint64_t)l->stream));
	uint32_t at = (uint32_t)h & (cap - 1);

	while (slots[at].used && (slots[at].device != l->device || slots[at].stream != l->stream))
		at = (at + 1) & (cap - 1);
	if (!slots[at].used)
		slots[at] = (struct stream_slot){ l->device, l->stream, NO_OP, true };
	return &slots[at];
}

static uint32_t pow2_above(uint64_t n)
{
	uint32_t c = 16;

	while (c < n)
		c *= 2;
	return c;
}

static int group(struct lowering *w)
{
	const struct trace *t = w->t;
	uint32_t n = (uint32_t)t->n_launches, cap = pow2_above(2 * (uint64_t)n + 1);
	struct stream_slot *slots = arena_array(w->a, cap, sizeof *slots);

	if (!(w->lops = arena_array(w->a, n, sizeof *w->lops)) ||
	    !(w->launch_op = arena_array(w->a, n, sizeof *w->launch_op)) || !slots)
		return lower_nomem(w);
	for (uint32_t i = 0; i < n; i++) {
		const struct trace_launch *l = &t->launches[i];
		const struct rule *u = rules_match(w->rules, l);
		struct stream_slot *s = lower_stream_of(slots, cap, l);
		struct lop *o;

		if (s->last != NO_OP && joins(&w->lops[s->last], l, u)) {
			lower_join(&w->lops[s->last], l, u);
			w->launch_op[i] = s->last;
			continue;
		}
		o = &w->lops[w->n];
		o->rule = u;
		o->main = l;
		o->algorithm = u ? u->algorithm : OP_ATTN_FLASH;
		o->only_parts = u && u->part;
		o->n_launches = 1;
		o->region = o->route = -1;
		w->launch_op[i] = s->last = w->n++;
	}
	return 0;
}

static int keep_shape(struct lowering *w, struct lop *o, const struct shape *sh)
{
	o->s = sh->s;
	o->dtype = sh->dtype, o->out_dtype = sh->out_dtype, o->acc_dtype = sh->acc_dtype;
	o->open_groups = sh->open_groups;
	o->open_index = sh->open_index, o->open_estimate = sh->open_estimate;
	o->n_in = sh->n_in, o->n_out = sh->n_out;
	if (sh->open_index)
		o->n_out = 1; /* made once the positions are known */
	o->in = arena_array(w->a, o->n_in + o->n_out, sizeof *o->in);
	if (!o->in)
		return lower_nomem(w);
	o->out = o->in + o->n_in;
	memcpy(o->in, sh->in, sh->n_in * sizeof *o->in);
	memcpy(o->out, sh->out, sh->n_out * sizeof *o->out);
	return 0;
}

static int read_shapes(struct lowering *w)
{
	struct shape *sh = arena_alloc(w->a, sizeof *sh);

	if (!sh)
		return lower_nomem(w);
	for (uint32_t i = 0; i < w->n; i++) {
		struct lop *o = &w->lops[i];

		o->opaque = true;
		if (!o->rule)
			o->why = "no rule matches the kernel's name";
		else if (o->main->doubted)
			o->why = "its measured time contradicts its sizes";
		else if (o->rule->kind == OP_OPAQUE)
			o->why = "the rule says it is not modelled";
		else if (o->rule->listed && lower_listed_read(w, o) < 0)
			return -1;
		else if (!o->rule->listed)
			o->opaque = shape_read(o->rule->reader, o->main, sh, &o->why) < 0;
		if (o->opaque || o->listed)
			continue;
		if (keep_shape(w, o, sh) < 0)
			return -1;
		if (o->rule->math != DT_NONE)
			o->dtype = o->rule->math;
		if (o->rule->kind == OP_HOST_SYNC)
			o->n_out = 0;
	}
	return 0;
}

/* --- steps ------------------------------------------------------------------------------------------------------- */

#define CASE_PREFIX "case|" /* annotations of a benchmark: case|KIND|SHAPE|REP */
#define MAX_RANGES  1024    /* more annotations than that are not looked at for steps */

/* The commonest of the names that end in a number, without it; NULL when no two are alike. */
static const char *common_base(const struct trace *t, size_t *base_n)
{
	const char *base = NULL;
	uint32_t most = 1;

	for (size_t i = 0; i < t->n_ranges; i++) {
		const char *name = t->ranges[i].name;
		size_t n = lower_base_len(name);
		uint32_t same = 0;

		if (name[n] == '\0' || (base && *base_n == n && strncmp(base, name, n) == 0))
			continue;
		for (size_t j = i; j < t->n_ranges; j++)
			same += strncmp(t->ranges[j].name, name, n) == 0 && lower_base_len(t->ranges[j].name) == n;
		if (same > most)
			most = same, base = name, *base_n = n;
	}
	return base;
}

/* Numbers ops by the annotation they were launched in: those named `base` and a number, or cases where it is NULL. A
 * launch outside of all stays with the one before it. Returns how many lie inside. */
static size_t number_steps(struct lowering *w, const char *base, size_t n)
{
	const struct trace *t = w->t;
	const struct trace_range *now = NULL;
	uint32_t step = 0;
	size_t inside = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		const struct trace_launch *l = w->lops[i].main;
		int64_t at = l->host_start_ns >= 0 ? l->host_start_ns : l->start_ns;

		for (size_t j = 0; j < t->n_ranges && t->ranges[j].start_ns <= at; j++) {
			const struct trace_range *r = &t->ranges[j];

			/* Unsigned: an annotation of a foreign file may begin further back than a time can say. */
			if (r->dur_ns <= 0 || (uint64_t)at - (uint64_t)r->start_ns >= (uint64_t)r->dur_ns)
				continue;
			if (base ? strncmp(r->name, base, n) != 0 || lower_base_len(r->name) != n
			         : !str_prefix(r->name, CASE_PREFIX))
				continue;
			inside++;
			step += now && r != now;
			now = r;
			break;
		}
		w->lops[i].step = step;
	}
	w->n_steps = step + 1;
	return inside;
}

/* Steps are annotations of one name up to a trailing number that together launch almost everything there is; only
 * then is the n-th weight of a step the n-th of the others. Cases of a benchmark are told by their prefix. Else the
 * selection is one step. */
static void find_steps(struct lowering *w)
{
	const struct trace *t = w->t;
	const char *base;
	size_t n = 0;

	w->n_steps = 1;
	if (t->range || !t->n_ranges)
		return;
	for (size_t i = 0; i < t->n_ranges && !w->cases; i++)
		w->cases = str_prefix(t->ranges[i].name, CASE_PREFIX);
	if (w->cases) {
		number_steps(w, NULL, 0);
		return;
	}
	if (t->n_ranges > MAX_RANGES || !(base = common_base(t, &n)))
		return;
	w->steps_share = number_steps(w, base, n) * 10 >= (size_t)w->n * 9;
	for (uint32_t i = 0; i < w->n && !w->steps_share; i++)
		w->lops[i].step = 0;
	if (!w->steps_share)
		w->n_steps = 1;
}

/* --- the stream -------------------------------------------------------------------------------------------------- */

static int make_ops(struct lowering *w)
{
	struct op_stream *s = w->out;
	uint32_t next = 0;

	if (!(s->ops = arena_array(w->a, w->n, sizeof *s->ops)))
		return lower_nomem(w);
	s->n_ops = w->n;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct lop *l = &w->lops[i];
		struct op *o = &s->ops[i];

		o->id = i;
		o->kind = l->opaque ? OP_OPAQUE : l->rule->kind;
		o->family = l->rule ? l->rule->family : "other";
		o->rule = l->rule ? l->rule->name : "none";
		o->name = o->fn = "";
		o->layer = o->routed_by = -1;
		o->types = l->main->op ? l->main->op->types : NULL;
		o->first_launch = next;
		o->n_launches = l->n_launches;
		next += l->n_launches;
		if (l->opaque)
			continue;
		o->shape = l->s;
		o->dtype = l->dtype, o->out_dtype = l->out_dtype, o->acc_dtype = l->acc_dtype;
		o->cost = l->rule->cost;
		o->fn = l->rule->fn;
		o->reduce = l->rule->reduce;
		o->algorithm = l->algorithm;
		o->listed = l->listed != NULL;
	}
	return 0;
}

static int put_launches(struct lowering *w)
{
	const struct trace *t = w->t;
	struct op_stream *s = w->out;
	uint32_t n = (uint32_t)t->n_launches, cap = pow2_above(2 * (uint64_t)n + 1);
	uint32_t *next = arena_array(w->a, w->n, sizeof *next);
	struct stream_slot *slots = arena_array(w->a, cap, sizeof *slots);

	if (!(s->launches = arena_array(w->a, n, sizeof *s->launches)) || !next || !slots)
		return lower_nomem(w);
	s->n_launches = n;
	for (uint32_t i = 0; i < n; i++) {
		const struct trace_launch *l = &t->launches[i];
		struct op *o = &s->ops[w->launch_op[i]];
		uint32_t at = o->first_launch + next[w->launch_op[i]]++;
		struct op_launch *x = &s->launches[at];
		struct stream_slot *q = lower_stream_of(slots, cap, l);
		uint64_t took = ns(l->dur_ns);

		*x = (struct op_launch){ .trace_id = l->id,
			                 .name = l->name,
			                 .start_ns = ns(l->start_ns),
			                 .measured_ns = took,
			                 .registers = l->registers,
			                 .smem_static = l->smem_static,
			                 .smem_dynamic = l->smem_dynamic,
			                 .local = l->local,
			                 .stream = l->stream,
			                 .waits_for = -1,
			                 .kind = (uint8_t)l->kind,
			                 .link = (uint8_t)l->link };
		x->host_start_ns = ns(l->host_start_ns);
		memcpy(x->grid, l->grid, sizeof x->grid);
		memcpy(x->block, l->block, sizeof x->block);
		memcpy(x->cluster, l->cluster, sizeof x->cluster);
		if (!x->cluster[0])
			rules_cluster(w->rules, l, x->cluster);
		if (q->last != NO_OP) {
			x->waits_for = (int32_t)q->last;
			x->wait_kind = l->graph ? OP_WAIT_GRAPH : OP_WAIT_STREAM;
		}
		q->last = at;
		o->measured_ns += took;
		s->measured_ns += took;
		if (l->kind == TRACE_KERNEL)
			s->kernel_ns += took;
		if (o->kind == OP_OPAQUE)
			s->opaque_ns += took;
	}
	return 0;
}

/* Of one process of several: all that take part do as it does. */
static void set_chips(struct op_stream *s)
{
	for (size_t i = 0; i < s->n_ops; i++)
		if (s->ops[i].kind == OP_COLLECTIVE && s->ops[i].shape.peers > s->chips)
			s->chips = s->ops[i].shape.peers;
}

/* A step decodes when each of its products has few rows and its attention one query; a listed row is a step. */
static void set_phases(struct lowering *w)
{
	struct op_stream *s = w->out;

	for (uint32_t i = 0, end; i < w->n; i = end) {
		enum op_phase phase = OP_DECODE;

		for (end = i; end < w->n && w->lops[end].step == w->lops[i].step && (end == i || !w->lops[i].listed);
		     end++) {
			const struct op *o = &s->ops[end];

			/* Each has the one where the other has nothing. */
			if (op_is_product(o->kind) && (o->shape.m > DECODE_MAX_M || o->shape.q_len > 1))
				phase = OP_PREFILL;
		}
		for (uint32_t j = i; j < end; j++)
			s->ops[j].phase = phase;
	}
}

static void lower_count(const struct lowering *w, struct lower_stats *st)
{
	const struct op_stream *s = w->out;
	uint64_t types[LOWER_TYPES];

	memcpy(types, st->types, sizeof types);
	*st = (struct lower_stats){
		.launches = s->n_launches, .ops = s->n_ops, .kernel_ns = s->kernel_ns, .opaque_ns = s->opaque_ns
	};
	for (size_t i = 0; i < s->n_ops; i++)
		for (uint32_t j = 0; j < s->ops[i].n_launches; j++) {
			const struct op_launch *l = &s->launches[s->ops[i].first_launch + j];

			if (l->kind != TRACE_KERNEL)
				continue;
			st->kernels++;
			if (s->ops[i].kind != OP_OPAQUE)
				st->lowered_kernel_ns += l->measured_ns;
		}
	for (uint32_t i = 0; i < w->n; i++)
		st->inferred_groups += w->lops[i].route >= 0;
	for (size_t i = 0; i < s->n_tensors; i++)
		st->inferred_tensors += s->tensors[i].inferred;
	memcpy(st->types, types, sizeof types);
}

int lower_trace(const struct trace *t, struct rules *r, struct arena *a, struct op_stream *out, struct lower_stats *st,
                struct err *e)
{
	struct trace typed;
	struct lowering w = {
		.t = &typed, .rules = r, .a = a, .e = e, .out = out, .ints = NO_VAL, .shared_in = NO_VAL
	};

	*out = (struct op_stream){ .digest = t->digest, .wall_ns = t->wall_ns };
	if (t->n_devices && t->devices[0].sms > 0) {
		out->sms = (uint32_t)t->devices[0].sms;
		out->capability = (uint32_t)(t->devices[0].sm_major * 10 + t->devices[0].sm_minor);
	}
	if (t->n_launches > UINT32_MAX / 64)
		return err_set(e, ERR_IO, "%zu device activities are more than one op stream holds", t->n_launches);
	out->source = t->range ? arena_printf(a, "%s %s", t->path, t->range) : t->path;
	if (!out->source && t->range)
		return lower_nomem(&w);
	memset(st, 0, sizeof *st);
	if (lower_types(t, r, a, &typed, st, e) < 0 || lower_recurrent(&typed, r, a, e) < 0)
		return -1;
	if (group(&w) < 0 || read_shapes(&w) < 0 || make_ops(&w) < 0)
		return -1;
	find_steps(&w);
	if (lower_regions(&w) < 0 || lower_groups(&w) < 0 || lower_tensors(&w) < 0 || lower_layers(&w) < 0 ||
	    lower_sequences(&w) < 0 || put_launches(&w) < 0)
		return -1;
	out->cases = w.cases;
	set_phases(&w);
	set_chips(w.out);
	if (lower_names(&w) < 0 || place_stream(out, ERR_IO, a, e) < 0)
		return -1;
	lower_count(&w, st);
	return 0;
}
