/* bound.c - launch by launch, summed by name and by what a histogram asks. */
#include "sim/profile/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/lower/lower.h"
#include "sim/profile/classify.h"
#include "sim/profile/waves.h"
#include "workloads/work.h"

double bound_intensity(double flops, double bytes)
{
	return bytes > 0 ? flops / bytes : NAN;
}

double bound_value(const struct bound_same *b, enum counter k)
{
	if (k == COUNTER_DURATION_US && b->ns && b->count) /* the trace's own, before that of a profiler's run */
		return (double)b->ns / (double)b->count / 1e3;
	if (b->x && !isnan(b->x->v[k]))
		return b->x->v[k];
	if (k == COUNTER_MEM_GBS && b->time > 0 && b->bytes > 0)
		return b->bytes / b->time / 1e9;
	if (k == COUNTER_THEORETICAL_PCT)
		return b->theoretical;
	if (k == COUNTER_OCCUPANCY_PCT)
		return b->active;
	return NAN;
}

double bound_mean(const struct bound *b, int class, enum counter k)
{
	uint64_t n = 0;
	double sum = 0;

	for (int c = 0; c < ROOF_CLASSES; c++) {
		if (class != ROOF_CLASSES && class != c)
			continue;
		sum += b->class_sum[c][k];
		n += b->class_n[c][k];
	}
	return n ? sum / (double)n : NAN;
}

/* --- one launch -------------------------------------------------------------------------------------------- */

/* Or all that an aggregated profile has of one name. */
struct launch {
	const char *name;
	struct bound_same s;
	double flops;        /* in the time of its bytes; not a number: not known */
	double memory, math; /* percent of the peaks; of memory DRAM's, or its busiest level's where that decides */
	double busiest;      /* not a number: not counted */
	enum roof_pipe pipe;
	enum roof_class class;
	const struct rule *rule; /* NULL: none */
};

static double percent(double part, double time, double peak)
{
	return time > 0 ? 100 * part / time / peak : NAN;
}

/* Of what nobody timed: the side of the ridge it is on. */
static enum roof_class untimed(double intensity, double ridge)
{
	if (isnan(intensity) || isnan(ridge))
		return ROOF_UNKNOWN;
	return intensity < ridge ? ROOF_MEMORY : ROOF_COMPUTE;
}

/* A ridge is one of DRAM, so what is above it is held against DRAM. Else its busiest level of memory counts: an L2 at 94 % holds
 * a kernel as DRAM does. The percentage that decided is the one that stays. */
static void by_use(struct launch *b, double ridge, const struct roof_rule *rule)
{
	const double intensity = bound_intensity(b->flops, b->s.bytes);

	b->class = roof_classify(rule, intensity, ridge, b->memory, b->math);
	if (b->class == ROOF_COMPUTE || !(b->busiest > b->memory))
		return;
	b->memory = b->busiest;
	b->class = roof_classify(rule, intensity, ridge, b->memory, b->math);
}

static void classify(struct launch *b, const struct roof *f, const struct roof_rule *rule)
{
	if (isnan(b->memory))
		b->memory = percent(b->s.bytes, b->s.time, f->bandwidth);
	if (isnan(b->math))
		b->math = percent(b->flops, b->s.time, f->flops[b->pipe]);
	if (!(b->s.time > 0) && (isnan(b->memory) || isnan(b->math)))
		b->class = untimed(bound_intensity(b->flops, b->s.bytes), roof_ridge(f, b->pipe));
	else if (isnan(b->memory) || isnan(b->math))
		b->class = ROOF_UNKNOWN;
	else
		by_use(b, roof_ridge(f, b->pipe), rule);
}

static void by_counters(struct launch *b, const struct counted *x)
{
	unsigned bits;
	double flops;

	b->s.counted = true;
	if (x->v[COUNTER_DURATION_US] > 0)
		b->s.time = x->v[COUNTER_DURATION_US] / 1e6;
	if (!counted_bytes(x, &b->s.bytes))
		b->s.bytes = x->v[COUNTER_MEM_GBS] * 1e9 * b->s.time;
	if (counted_flops(x, &flops, &bits)) { /* else what its op needs stands */
		b->flops = flops;
		if (flops > 0)
			b->pipe = bits > 32   ? ROOF_FP32
			          : bits > 16 ? ROOF_TF32
			          : bits > 8  ? ROOF_BF16
			          : bits > 4  ? ROOF_FP8
			                      : ROOF_FP4;
	}
	b->memory = x->v[COUNTER_DRAM_PCT];
	b->busiest = x->v[COUNTER_MEM_PCT];
	b->math = x->v[COUNTER_SM_PCT];
}

/* Whether counters can classify at all: some metrics alone (occupancy) cannot. */
static bool diag_enough(const struct counted *x)
{
	double bytes;

	return counted_bytes(x, &bytes) || !isnan(x->v[COUNTER_DRAM_PCT]) || !isnan(x->v[COUNTER_MEM_GBS]);
}

static void by_op(struct launch *b, const struct op_stream *s, const struct op *o)
{
	const struct work w = work_of(s, o);
	const double share = o->measured_ns ? (double)b->s.ns / (double)o->measured_ns : 1.0 / (double)o->n_launches;

	if (o->kind == OP_OPAQUE)
		return;
	b->s.bytes = share * ((double)w.read_bytes + (double)w.write_bytes);
	b->flops = share * (double)w.flops;
	b->pipe = op_is_product(o->kind) ? roof_pipe_of(o->dtype) : ROOF_FP32;
}

static struct launch bound_start(const char *name, uint64_t count, uint64_t ns, const struct rule *r)
{
	return (struct launch){ .name = name,
		                .s = { .count = count,
		                       .ns = ns,
		                       .time = (double)ns / 1e9,
		                       .bytes = NAN,
		                       .theoretical = NAN,
		                       .active = NAN },
		                .flops = rule_only_moves(r) ? 0 : NAN,
		                .memory = NAN,
		                .math = NAN,
		                .busiest = NAN,
		                .rule = r };
}

/* --- by name ----------------------------------------------------------------------------------------------- */

static int bound_by_time(const void *x, const void *y)
{
	const struct bound_kernel *a = x, *b = y;

	return a->ns != b->ns ? (a->ns > b->ns ? -1 : 1) : strcmp(a->name, b->name);
}

static void add_to(struct bound_kernel *k, const struct launch *b)
{
	k->count += b->s.count;
	k->ns += b->s.ns;
	k->class_ns[b->class] += b->s.ns;
	k->class_count[b->class] += b->s.count;
	k->pipe_ns[b->pipe] += b->s.ns;
	k->pipe_count[b->pipe] += b->s.count;
	k->counted_ns += b->s.counted ? b->s.ns : 0;
	if (!isnan(b->s.bytes) && !isnan(b->flops)) {
		k->bytes += b->s.bytes;
		k->flops += b->flops;
		k->time += b->s.time;
		k->known += b->s.count;
	}
	if (b->class != ROOF_UNKNOWN) {
		k->memory += b->memory * (double)b->s.ns;
		k->math += b->math * (double)b->s.ns;
		k->known_ns += (double)b->s.ns;
	}
}

static int bound_finish(struct bound_kernel *k, struct arena *a, struct err *e)
{
	for (int i = 0; i < ROOF_CLASSES; i++)
		if (k->class_ns[i] > k->class_ns[k->class] ||
		    (k->ns == 0 && k->class_count[i] > k->class_count[k->class]))
			k->class = (enum roof_class)i;
	for (int i = 0; i < ROOF_PIPES; i++)
		if (k->pipe_ns[i] > k->pipe_ns[k->pipe] || (k->ns == 0 && k->pipe_count[i] > k->pipe_count[k->pipe]))
			k->pipe = (enum roof_pipe)i;
	k->memory = k->known_ns > 0 ? k->memory / k->known_ns : NAN;
	k->math = k->known_ns > 0 ? k->math / k->known_ns : NAN;
	if (!k->known)
		k->bytes = k->flops = NAN;
	if (!k->friendly && !(k->friendly = classify_short_name(k->name, a)))
		return err_nomem(e, "for the kernels' classes");
	return 0;
}

/* Kernels by their name, and by the address it has in this piece, which keeps one copy of each: so few launches need a
 * look at the text. */
struct names {
	struct {
		const char *name;
		size_t kernel;
	} * slots;
	size_t *by_text;        /* 1 + kernel; 0: free */
	size_t n, n_slots;      /* of both, a power of two, at most half full; n addresses */
	uint64_t *hash;         /* of each kernel's text */
	struct bound_kernel *v; /* as many as half the slots */
};

static size_t slot_of(const struct names *t, const char *name)
{
	size_t i = (size_t)hash_mix((uint64_t)(uintptr_t)name) & (t->n_slots - 1);

	while (t->slots[i].name && t->slots[i].name != name)
		i = (i + 1) & (t->n_slots - 1);
	return i;
}

static size_t *text_slot(const struct names *t, uint64_t hash, const char *name)
{
	size_t i = (size_t)hash_mix(hash) & (t->n_slots - 1), k;

	while ((k = t->by_text[i]) && (t->hash[k - 1] != hash || strcmp(t->v[k - 1].name, name) != 0))
		i = (i + 1) & (t->n_slots - 1);
	return &t->by_text[i];
}

static bool bound_grow(struct names *t, size_t kernels)
{
	const size_t n = t->n_slots ? 2 * t->n_slots : 256;
	struct names more = { .slots = calloc(n, sizeof *more.slots),
		              .by_text = calloc(n, sizeof *more.by_text),
		              .n_slots = n,
		              .hash = realloc(t->hash, n / 2 * sizeof *more.hash),
		              .v = realloc(t->v, n / 2 * sizeof *more.v) };

	if (more.hash)
		t->hash = more.hash;
	if (more.v)
		t->v = more.v;
	if (!more.hash || !more.v || !more.slots || !more.by_text) {
		free(more.slots);
		free(more.by_text);
		return false;
	}
	for (size_t i = 0; i < t->n_slots; i++)
		if (t->slots[i].name)
			more.slots[slot_of(&more, t->slots[i].name)] = t->slots[i];
	for (size_t k = 0; k < kernels; k++)
		*text_slot(&more, t->hash[k], t->v[k].name) = k + 1;
	free(t->slots);
	free(t->by_text);
	t->slots = more.slots;
	t->by_text = more.by_text;
	t->n_slots = more.n_slots;
	return true;
}

/* Those of another piece may come to lie at the addresses of this one's. */
static void forget_addresses(struct names *t)
{
	if (t->n)
		memset(t->slots, 0, t->n_slots * sizeof *t->slots);
	t->n = 0;
}

static const char *known(const char *text)
{
	return text && *text ? text : "unknown";
}

/* The kernel of a launch's name, a new one at need; NULL: no memory. */
static struct bound_kernel *kernel_of(struct bound *out, struct names *t, const struct launch *b, struct arena *a)
{
	const size_t most = t->n > out->n_kernels ? t->n : out->n_kernels;
	size_t at, *k;
	uint64_t hash;

	if (t->n_slots && t->slots[at = slot_of(t, b->name)].name)
		return &t->v[t->slots[at].kernel];
	if (2 * (most + 1) > t->n_slots && !bound_grow(t, out->n_kernels))
		return NULL;
	hash = hash_str(HASH_INIT, b->name);
	if (!*(k = text_slot(t, hash, b->name))) {
		const struct rule *r = b->rule;
		const char *name = arena_strdup(a, b->name);

		if (!name)
			return NULL;
		t->hash[out->n_kernels] = hash;
		t->v[out->n_kernels] = (struct bound_kernel){
			.name = name,
			.friendly = r && r->listed                     ? name
			            : r && r->friendly && *r->friendly ? r->friendly
			                                               : NULL,
			.library = known(r ? r->library : NULL),
			.family = known(r ? r->family : NULL),
		};
		*k = ++out->n_kernels;
	}
	at = slot_of(t, b->name);
	t->slots[at].name = b->name;
	t->slots[at].kernel = *k - 1;
	t->n++;
	return &t->v[*k - 1];
}

/* --- by what a histogram asks ------------------------------------------------------------------------------ */

struct sames {
	struct bound_same *v;
	size_t n, cap, *slots; /* 1 + number, twice cap of them; 0: free */
};

static size_t *slot_of_same(const struct sames *t, const struct bound_same *x)
{
	uint64_t h = hash_mix(x->ns ^ hash_mix((uint64_t)(uintptr_t)x->x + x->counted));
	size_t i;

	h = hash_mix(hash_bytes(hash_bytes(h, &x->time, sizeof x->time), &x->bytes, sizeof x->bytes));
	h = hash_mix(hash_bytes(h, &x->active, sizeof x->active));
	for (i = (size_t)h & (2 * t->cap - 1); t->slots[i]; i = (i + 1) & (2 * t->cap - 1)) {
		const struct bound_same *y = &t->v[t->slots[i] - 1];

		if (y->ns / y->count == x->ns && y->x == x->x && y->counted == x->counted &&
		    memcmp(&y->time, &x->time, sizeof x->time) == 0 &&
		    memcmp(&y->bytes, &x->bytes, sizeof x->bytes) == 0 &&
		    memcmp(&y->theoretical, &x->theoretical, sizeof x->theoretical) == 0 &&
		    memcmp(&y->active, &x->active, sizeof x->active) == 0)
			break;
	}
	return &t->slots[i];
}

static bool grow_sames(struct sames *t)
{
	const size_t cap = t->cap ? 2 * t->cap : 1024;
	struct bound_same *v = realloc(t->v, cap * sizeof *v);
	size_t *slots = calloc(2 * cap, sizeof *slots);

	if (v)
		t->v = v;
	if (!v || !slots) {
		free(slots);
		return false;
	}
	free(t->slots);
	t->slots = slots;
	t->cap = cap;
	for (size_t i = 0; i < t->n; i++) {
		struct bound_same one = t->v[i];

		one.ns /= one.count;
		*slot_of_same(t, &one) = i + 1;
	}
	return true;
}

/* --- all of them ------------------------------------------------------------------------------------------- */

struct bound_build {
	struct bound *out;
	struct rules *rules;
	struct counters *counters;
	struct arena *a, *piece; /* of the answer; of what is lowered of a piece */
	struct names names;
	struct sames same;
};

/* Its name's and class's part of the sums. */
static int sum_up(struct bound_build *b, struct launch *l, struct err *e)
{
	struct bound *out = b->out;
	struct bound_kernel *k = kernel_of(out, &b->names, l, b->a);

	if (!k)
		return err_nomem(e, "for the kernels' classes");
	classify(l, &out->roof, &out->rule);
	add_to(k, l);
	for (int i = 0; i < COUNTERS_SHOWN; i++) {
		const double v = bound_value(&l->s, (enum counter)i);

		if (isnan(v))
			continue;
		out->class_sum[l->class][i] += v * (double)l->s.count;
		out->class_n[l->class][i] += l->s.count;
	}
	out->count += l->s.count;
	out->ns += l->s.ns;
	out->class_count[l->class] += l->s.count;
	out->class_ns[l->class] += l->s.ns;
	out->counted_ns += l->s.counted ? l->s.ns : 0;
	return 0;
}

static int keep_same(struct sames *t, const struct bound_same *x, struct err *e)
{
	size_t *slot;

	if (t->n == t->cap && !grow_sames(t))
		return err_nomem(e, "for the kernels' classes");
	if (!*(slot = slot_of_same(t, x))) {
		t->v[t->n] = *x;
		*slot = ++t->n;
		return 0;
	}
	t->v[*slot - 1].count++;
	t->v[*slot - 1].ns += x->ns;
	return 0;
}

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

/* Without the framework's ops there are no shapes, and nothing to lower. */
static bool has_ops(const struct trace *t, const struct counters *c)
{
	bool kernels = false, ops = false;

	for (size_t i = 0; i < t->n_launches && !(kernels && ops); i++) {
		kernels = kernels || (t->launches[i].kind == TRACE_KERNEL && !counters_own(c, t->launches[i].id));
		ops = ops || t->launches[i].op;
	}
	return kernels && ops;
}

int bound_add(struct bound_build *b, const struct trace *t, struct err *e)
{
	const bool lend = counters_lend(b->counters);
	struct op_stream s = { 0 };
	struct lower_stats st;
	struct ids *ids;

	forget_addresses(&b->names);
	arena_reset(b->piece);
	if (has_ops(t, b->counters) && lower_trace(t, b->rules, b->piece, &s, &st, e) < 0)
		return -1;
	if (!(ids = op_index(&s, b->piece)))
		return err_nomem(e, "for the kernels' classes");
	for (size_t i = 0; i < t->n_launches; i++) {
		const struct trace_launch *l = &t->launches[i];
		const struct ids want = { l->id, 0 }, *at;
		struct waves_launch w;
		struct launch x;

		if (l->kind != TRACE_KERNEL || (lend && counters_own(b->counters, l->id)))
			continue;
		x = bound_start(l->name, 1, (uint64_t)l->dur_ns, rules_match(b->rules, l));
		w = waves_of(&b->out->roof, l);
		x.s.theoretical = w.theoretical;
		x.s.active = w.active;
		at = s.n_launches ? bsearch(&want, ids, s.n_launches, sizeof *ids, by_id) : NULL;
		if (at)
			by_op(&x, &s, &s.ops[at->op]);
		if ((x.s.x = counters_next(b->counters, l)) && diag_enough(x.s.x))
			by_counters(&x, x.s.x);
		if (sum_up(b, &x, e) < 0 || keep_same(&b->same, &x.s, e) < 0)
			return -1;
	}
	return 0;
}

static int add_stats(struct bound_build *b, const struct trace *t, struct err *e)
{
	forget_addresses(&b->names);
	for (size_t i = 0; i < t->n_stats; i++) {
		const struct trace_stat *k = &t->stats[i];
		const struct trace_launch l = { .name = k->name };
		struct counted *c = arena_alloc(b->a, sizeof *c);
		struct launch x =
			bound_start(k->name, (uint64_t)k->instances, (uint64_t)k->total_ns, rules_match(b->rules, &l));

		if (!c)
			return err_nomem(e, "for the kernels' classes");
		if (counters_mean(b->counters, k->name, c)) {
			x.s.x = c;
			if (diag_enough(c))
				by_counters(&x, c);
		}
		if (sum_up(b, &x, e) < 0)
			return -1;
		b->out->same[b->out->n_same++] = x.s;
	}
	return 0;
}

struct bound_build *bound_begin(const struct bound_criteria *by, struct arena *a, struct bound *out, struct err *e)
{
	struct bound_build *b = calloc(1, sizeof *b);

	*out = (struct bound){ .roof = *by->roof, .rule = *by->rule };
	if (!b || !(b->piece = arena_new(0))) {
		err_nomem(e, "for the kernels' classes");
		free(b);
		return NULL;
	}
	b->out = out;
	b->rules = by->rules;
	b->counters = by->counters;
	b->a = a;
	return b;
}

void bound_free(struct bound_build *b)
{
	if (!b)
		return;
	arena_free(b->piece);
	free(b->names.slots);
	free(b->names.by_text);
	free(b->names.hash);
	free(b->names.v);
	free(b->same.v);
	free(b->same.slots);
	free(b);
}

int bound_end(struct bound_build *b, const struct trace *t, struct err *e)
{
	struct bound *out = b->out;

	if (!(out->same = arena_array(b->a, b->same.n + t->n_stats + 1, sizeof *out->same)))
		return err_nomem(e, "for the kernels' classes");
	if (b->same.n)
		memcpy(out->same, b->same.v, b->same.n * sizeof *out->same);
	out->n_same = b->same.n;
	if (add_stats(b, t, e) < 0)
		return -1;
	if (!(out->kernels = arena_array(b->a, out->n_kernels + 1, sizeof *out->kernels)))
		return err_nomem(e, "for the kernels' classes");
	if (out->n_kernels)
		memcpy(out->kernels, b->names.v, out->n_kernels * sizeof *out->kernels);
	for (size_t i = 0; i < out->n_kernels; i++)
		if (bound_finish(&out->kernels[i], b->a, e) < 0)
			return -1;
	if (out->n_kernels)
		qsort(out->kernels, out->n_kernels, sizeof *out->kernels, bound_by_time);
	return 0;
}

int bound_trace(const struct trace *t, const struct bound_criteria *by, struct arena *a, struct bound *out,
                struct err *e)
{
	struct bound_build *b = bound_begin(by, a, out, e);
	int rc = b && bound_add(b, t, e) == 0 ? bound_end(b, t, e) : -1;

	bound_free(b);
	return rc;
}
