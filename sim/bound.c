/* bound.c - launch by launch, then by name. */
#include "sim/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/classify.h"
#include "sim/hash.h"
#include "sim/lower.h"
#include "workloads/work.h"

static int no_memory(struct err *e)
{
	return err_set(e, ERR_NOMEM, "no memory for the kernels' classes");
}

double bound_intensity(double flops, double bytes)
{
	return bytes > 0 ? flops / bytes : NAN;
}

double bound_value(const struct bound_launch *b, enum counter k)
{
	if (k == COUNTER_DURATION_US && b->ns && b->count) /* the trace's own, before that of a profiler's run */
		return (double)b->ns / (double)b->count / 1e3;
	if (b->x && !isnan(b->x->v[k]))
		return b->x->v[k];
	if (k == COUNTER_MEM_GBS && b->time > 0 && b->bytes > 0)
		return b->bytes / b->time / 1e9;
	return NAN;
}

/* --- one launch -------------------------------------------------------------------------------------------- */

static double percent(double part, double time, double peak)
{
	return time > 0 ? 100 * part / time / peak : NAN;
}

static void classify(struct bound_launch *b, const struct roof *f, const struct roof_rule *rule)
{
	if (isnan(b->memory))
		b->memory = percent(b->bytes, b->time, f->bandwidth);
	if (isnan(b->math))
		b->math = percent(b->flops, b->time, f->flops[b->pipe]);
	if (isnan(b->memory) || isnan(b->math))
		b->class = ROOF_UNKNOWN;
	else
		b->class = roof_classify(rule, bound_intensity(b->flops, b->bytes), roof_ridge(f, b->pipe), b->memory,
		                         b->math);
}

static void by_counters(struct bound_launch *b, const struct counted *x)
{
	unsigned bits;
	double flops;

	b->x = x;
	b->counted = true;
	if (x->v[COUNTER_DURATION_US] > 0)
		b->time = x->v[COUNTER_DURATION_US] / 1e6;
	if (!counted_bytes(x, &b->bytes))
		b->bytes = x->v[COUNTER_MEM_GBS] * 1e9 * b->time;
	if (counted_flops(x, &flops, &bits)) { /* else what its op needs stands */
		b->flops = flops;
		if (flops > 0)
			b->pipe = bits > 32 ? ROOF_FP32 : bits > 16 ? ROOF_TF32 : bits > 8 ? ROOF_BF16 : ROOF_FP8;
	}
	b->memory = x->v[COUNTER_DRAM_PCT];
	b->math = x->v[COUNTER_SM_PCT];
}

/* Whether counters can classify at all: some metrics alone (occupancy) cannot. */
static bool says_enough(const struct counted *x)
{
	double bytes;

	return counted_bytes(x, &bytes) || !isnan(x->v[COUNTER_DRAM_PCT]) || !isnan(x->v[COUNTER_MEM_GBS]);
}

static void by_op(struct bound_launch *b, const struct op_stream *s, const struct op *o)
{
	const struct work w = work_of(s, o);
	const double share = o->measured_ns ? (double)b->ns / (double)o->measured_ns : 0;

	if (o->kind == OP_OPAQUE)
		return;
	b->bytes = share * ((double)w.read_bytes + (double)w.write_bytes);
	b->flops = share * (double)w.flops;
	b->pipe = o->kind == OP_GEMM || o->kind == OP_ATTENTION ? roof_pipe_of(o->dtype) : ROOF_FP32;
}

static struct bound_launch start(const char *name, uint64_t count, uint64_t ns, const struct rule *r)
{
	struct bound_launch b = { .name = name,
		                  .count = count,
		                  .ns = ns,
		                  .time = (double)ns / 1e9,
		                  .bytes = NAN,
		                  .flops = NAN,
		                  .memory = NAN,
		                  .math = NAN };

	b.family = r && r->family && *r->family ? r->family : "unknown";
	b.library = r && r->library && *r->library ? r->library : "unknown";
	b.friendly = r && r->friendly && *r->friendly ? r->friendly : NULL;
	return b;
}

/* --- all of them ------------------------------------------------------------------------------------------- */

struct ids {
	int64_t id;
	uint32_t op;
};

static int by_id(const void *x, const void *y)
{
	const struct ids *a = x, *b = y;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* Launch id to op, in order of id. */
static struct ids *op_index(const struct op_stream *s, struct arena *a)
{
	struct ids *v = arena_array(a, s->n_launches ? s->n_launches : 1, sizeof *v);

	for (size_t i = 0; v && i < s->n_ops; i++)
		for (uint32_t k = 0; k < s->ops[i].n_launches; k++) {
			const uint32_t at = s->ops[i].first_launch + k;

			v[at] = (struct ids){ s->launches[at].trace_id, (uint32_t)i };
		}
	if (v && s->n_launches)
		qsort(v, s->n_launches, sizeof *v, by_id);
	return v;
}

static int add_launches(struct bound *out, const struct trace *t, struct rules *r, struct counters *c, struct arena *a,
                        struct err *e)
{
	struct op_stream s = { 0 };
	struct lower_stats st;
	struct ids *ids;
	size_t own = 0, kernels = 0;
	bool lend;         /* there are others than those Nsight Compute ran */
	bool ops = false;  /* without the framework's ops there are no shapes, and nothing to lower */

	for (size_t i = 0; i < t->n_launches; i++) {
		kernels += t->launches[i].kind == TRACE_KERNEL;
		ops = ops || t->launches[i].op;
		own += t->launches[i].kind == TRACE_KERNEL && counters_own(c, t->launches[i].id);
	}
	lend = own < kernels || t->n_stats;
	if (kernels > own && ops && lower_trace(t, r, a, &s, &st, e) < 0)
		return -1;
	if (!(ids = op_index(&s, a)))
		return no_memory(e);
	for (size_t i = 0; i < t->n_launches; i++) {
		const struct trace_launch *l = &t->launches[i];
		const struct counted *x;
		struct bound_launch *b = &out->launches[out->n_launches];
		const struct ids want = { l->id, 0 }, *at;

		if (l->kind != TRACE_KERNEL || (lend && counters_own(c, l->id)))
			continue;
		*b = start(l->name, 1, (uint64_t)l->dur_ns, rules_match(r, l));
		at = s.n_launches ? bsearch(&want, ids, s.n_launches, sizeof *ids, by_id) : NULL;
		if (at)
			by_op(b, &s, &s.ops[at->op]);
		if ((x = counters_next(c, l))) {
			b->x = x;
			if (says_enough(x))
				by_counters(b, x);
		}
		classify(b, &out->roof, &out->rule);
		out->n_launches++;
	}
	return 0;
}

static int add_stats(struct bound *out, const struct trace *t, struct rules *r, struct counters *c, struct arena *a,
                     struct err *e)
{
	for (size_t i = 0; i < t->n_stats; i++) {
		const struct trace_stat *k = &t->stats[i];
		const struct trace_launch l = { .name = k->name };
		struct counted *x = arena_alloc(a, sizeof *x);
		struct bound_launch *b = &out->launches[out->n_launches++];

		if (!x)
			return no_memory(e);
		*b = start(k->name, (uint64_t)k->instances, (uint64_t)k->total_ns, rules_match(r, &l));
		if (counters_mean(c, k->name, x)) {
			b->x = x;
			if (says_enough(x))
				by_counters(b, x);
		}
		classify(b, &out->roof, &out->rule);
	}
	return 0;
}

/* --- by name ----------------------------------------------------------------------------------------------- */

static int by_time(const void *x, const void *y)
{
	const struct bound_kernel *a = x, *b = y;

	return a->ns != b->ns ? (a->ns > b->ns ? -1 : 1) : strcmp(a->name, b->name);
}

static void add_to(struct bound_kernel *k, const struct bound_launch *b)
{
	k->count += b->count;
	k->ns += b->ns;
	k->class_ns[b->class] += b->ns;
	k->pipe_ns[b->pipe] += b->ns;
	k->counted_ns += b->counted ? b->ns : 0;
	if (!isnan(b->bytes) && !isnan(b->flops)) {
		k->bytes += b->bytes;
		k->flops += b->flops;
		k->time += b->time;
	}
	if (b->class != ROOF_UNKNOWN) {
		k->memory += b->memory * (double)b->ns;
		k->math += b->math * (double)b->ns;
		k->known_ns += (double)b->ns;
	}
}

static int finish(struct bound_kernel *k, struct arena *a, struct err *e)
{
	for (int i = 0; i < ROOF_CLASSES; i++)
		if (k->class_ns[i] > k->class_ns[k->class])
			k->class = (enum roof_class)i;
	for (int i = 0; i < ROOF_PIPES; i++)
		if (k->pipe_ns[i] > k->pipe_ns[k->pipe])
			k->pipe = (enum roof_pipe)i;
	k->memory = k->known_ns > 0 ? k->memory / k->known_ns : NAN;
	k->math = k->known_ns > 0 ? k->math / k->known_ns : NAN;
	if (!(k->time > 0))
		k->bytes = k->flops = NAN;
	if (!k->friendly && !(k->friendly = classify_short_name(k->name, a)))
		return no_memory(e);
	return 0;
}

/* Kernels by the address of their name: a trace keeps one copy of each, so few launches need a look at the text. */
struct names {
	struct {
		const char *name;
		size_t kernel;
	} *slots;
	size_t n, n_slots;                   /* a power of two, at most half full */
	uint64_t *hash;                      /* of each kernel's text */
	struct bound_kernel *v;              /* as many as half the slots */
};

static size_t slot_of(const struct names *t, const char *name)
{
	size_t i = (size_t)hash_mix((uint64_t)(uintptr_t)name) & (t->n_slots - 1);

	while (t->slots[i].name && t->slots[i].name != name)
		i = (i + 1) & (t->n_slots - 1);
	return i;
}

static bool grow(struct names *t)
{
	const size_t n = t->n_slots ? 2 * t->n_slots : 256;
	struct names more = { .slots = calloc(n, sizeof *more.slots), .n_slots = n };
	uint64_t *hash = realloc(t->hash, n / 2 * sizeof *hash);
	struct bound_kernel *v = realloc(t->v, n / 2 * sizeof *v);

	if (hash)
		t->hash = hash;
	if (v)
		t->v = v;
	if (!hash || !v || !more.slots) {
		free(more.slots);
		return false;
	}
	for (size_t i = 0; i < t->n_slots; i++)
		if (t->slots[i].name)
			more.slots[slot_of(&more, t->slots[i].name)] = t->slots[i];
	free(t->slots);
	t->slots = more.slots;
	t->n_slots = more.n_slots;
	return true;
}

/* The kernel of a launch's name, a new one at need; NULL: no memory. */
static struct bound_kernel *kernel_of(struct bound *out, struct names *t, const struct bound_launch *b)
{
	size_t at, k = 0;
	uint64_t hash;

	if (t->n_slots && t->slots[at = slot_of(t, b->name)].name)
		return &t->v[t->slots[at].kernel];
	if (2 * (t->n + 1) > t->n_slots && !grow(t))
		return NULL;
	hash = hash_str(HASH_INIT, b->name);
	while (k < out->n_kernels && (t->hash[k] != hash || strcmp(t->v[k].name, b->name) != 0))
		k++;
	if (k == out->n_kernels) {
		t->hash[k] = hash;
		t->v[out->n_kernels++] = (struct bound_kernel){
			.name = b->name, .friendly = b->friendly, .library = b->library, .family = b->family
		};
	}
	at = slot_of(t, b->name);
	t->slots[at].name = b->name;
	t->slots[at].kernel = k;
	t->n++;
	return &t->v[k];
}

static int sum_names(struct bound *out, struct arena *a, struct err *e)
{
	const size_t n = out->n_launches;
	struct names t = { .n = 0 };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		const struct bound_launch *b = &out->launches[i];
		struct bound_kernel *k = kernel_of(out, &t, b);

		if (!k) {
			rc = no_memory(e);
			break;
		}
		add_to(k, b);
		out->count += b->count;
		out->ns += b->ns;
		out->class_count[b->class] += b->count;
		out->class_ns[b->class] += b->ns;
		out->counted_ns += b->counted ? b->ns : 0;
	}
	if (rc == 0 && !(out->kernels = arena_array(a, out->n_kernels + 1, sizeof *out->kernels)))
		rc = no_memory(e);
	if (rc == 0 && out->n_kernels)
		memcpy(out->kernels, t.v, out->n_kernels * sizeof *t.v);
	free(t.slots);
	free(t.hash);
	free(t.v);
	for (size_t i = 0; rc == 0 && i < out->n_kernels; i++)
		rc = finish(&out->kernels[i], a, e);
	if (rc == 0 && out->n_kernels)
		qsort(out->kernels, out->n_kernels, sizeof *out->kernels, by_time);
	return rc;
}

int bound_trace(const struct trace *t, struct rules *r, struct counters *c, const struct roof *roof,
                const struct roof_rule *rule, struct arena *a, struct bound *out, struct err *e)
{
	*out = (struct bound){ .roof = *roof, .rule = *rule };
	if (!(out->launches = arena_array(a, t->n_launches + t->n_stats + 1, sizeof *out->launches)))
		return no_memory(e);
	if (add_launches(out, t, r, c, a, e) < 0 || add_stats(out, t, r, c, a, e) < 0)
		return -1;
	return sum_names(out, a, e);
}
