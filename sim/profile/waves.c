/* waves.c - one look at each launch's geometry, and sums by kernel. */
#include "sim/profile/waves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/profile/classify.h"

static uint64_t waves_product(const uint32_t v[3])
{
	const uint64_t two = (uint64_t)(v[0] ? v[0] : 1) * (v[1] ? v[1] : 1);
	uint64_t all;

	return __builtin_mul_overflow(two, v[2] ? v[2] : 1, &all) ? UINT64_MAX : all;
}

struct waves_launch waves_of(const struct roof *r, const struct trace_launch *l)
{
	struct waves_launch w = { .theoretical = NAN, .active = NAN, .device = NAN, .waves = NAN, .limit = "" };
	const uint64_t threads = waves_product(l->block), cluster = waves_product(l->cluster);
	struct occupancy o;
	double warps;

	if (!r->sms || !l->grid[0] || !l->block[0] || threads > r->sm.threads)
		return w;
	w.blocks = waves_product(l->grid);
	w.threads = (uint32_t)threads;
	o = occupancy_of(&r->sm, r->sms, w.threads, l->registers, l->smem_static + l->smem_dynamic,
	                 cluster < r->sms ? (uint32_t)cluster : r->sms);
	w.per_sm = o.ctas;
	w.limit = o.limit;
	if (!o.ctas || !o.sms)
		return w;
	warps = 100.0 * o.warps / (r->sm.threads / 32);
	w.theoretical = warps * o.ctas;
	w.waves = (double)w.blocks / ((double)o.ctas * o.sms);
	w.device = warps * fmin(o.ctas, (double)w.blocks / r->sms);
	w.active = warps * fmin(o.ctas, fmax(1, (double)w.blocks / r->sms));
	return w;
}

/* --- by kernel --------------------------------------------------------------------------------------------- */

struct table {
	size_t *slots, n_slots; /* 1 + row; 0: free */
	struct waves *out;
	size_t cap;
	struct arena *a;
};

static bool is_row(const struct waves_row *r, const struct trace_launch *l, const struct waves_launch *w)
{
	return r->threads == w->threads && r->registers == l->registers &&
	       r->smem == l->smem_static + l->smem_dynamic && r->per_sm == w->per_sm && strcmp(r->name, l->name) == 0;
}

static size_t waves_probe(const struct table *t, uint64_t hash)
{
	return (size_t)hash_mix(hash) & (t->n_slots - 1);
}

static uint64_t hash_of(const char *name, uint32_t threads, uint32_t registers, uint64_t smem)
{
	return hash_u64(hash_u64(hash_u64(hash_str(HASH_INIT, name), threads), registers), smem);
}

static int widen(struct table *t, struct err *e)
{
	struct waves_row *v = arena_array(t->a, t->cap ? 2 * t->cap : 256, sizeof *v);

	t->cap = t->cap ? 2 * t->cap : 256;
	t->n_slots = 2 * t->cap;
	t->slots = arena_array(t->a, t->n_slots, sizeof *t->slots);
	if (!v || !t->slots)
		return err_nomem(e, "for the kernels' geometry");
	if (t->out->n)
		memcpy(v, t->out->v, t->out->n * sizeof *v);
	t->out->v = v;
	for (size_t i = 0; i < t->out->n; i++) {
		size_t at = waves_probe(t, hash_of(v[i].name, v[i].threads, v[i].registers, v[i].smem));

		while (t->slots[at])
			at = (at + 1) & (t->n_slots - 1);
		t->slots[at] = i + 1;
	}
	return 0;
}

static struct waves_row *waves_row_of(struct table *t, const struct trace_launch *l, const struct waves_launch *w,
                                      const struct rule *rule, struct err *e)
{
	const uint64_t smem = l->smem_static + l->smem_dynamic;
	struct waves_row *r;
	size_t at;

	if (t->out->n == t->cap && widen(t, e) < 0)
		return NULL;
	at = waves_probe(t, hash_of(l->name, w->threads, l->registers, smem));
	for (; t->slots[at]; at = (at + 1) & (t->n_slots - 1))
		if (is_row(&t->out->v[t->slots[at] - 1], l, w))
			return &t->out->v[t->slots[at] - 1];
	t->slots[at] = ++t->out->n;
	r = &t->out->v[t->out->n - 1];
	*r = (struct waves_row){ .name = l->name,
		                 .limit = w->limit,
		                 .threads = w->threads,
		                 .registers = l->registers,
		                 .per_sm = w->per_sm,
		                 .smem = smem,
		                 .blocks_min = w->blocks,
		                 .theoretical = w->theoretical };
	r->family = rule && rule->family && *rule->family ? rule->family : "unknown";
	r->friendly = rule && rule->friendly && *rule->friendly ? rule->friendly : classify_short_name(l->name, t->a);
	if (r->friendly)
		return r;
	err_nomem(e, "for the kernels' geometry");
	return NULL;
}

static void waves_add(struct waves_row *r, struct waves *s, const struct waves_launch *w, uint64_t ns, double achieved)
{
	r->count++;
	r->ns += ns;
	r->blocks_min = w->blocks < r->blocks_min ? w->blocks : r->blocks_min;
	r->blocks_max = w->blocks > r->blocks_max ? w->blocks : r->blocks_max;
	r->device += w->device * (double)ns;
	r->active += w->active * (double)ns;
	r->waves += w->waves * (double)ns;
	s->count++;
	s->ns += ns;
	if (!isnan(achieved)) {
		r->achieved += achieved * (double)ns;
		r->counted_ns += ns;
		s->achieved += achieved * (double)ns;
		s->counted_ns += ns;
	}
	if (isnan(w->waves))
		return;
	s->known_ns += ns;
	s->theoretical += w->theoretical * (double)ns;
	s->device += w->device * (double)ns;
	s->active += w->active * (double)ns;
	for (int i = 0; i < WAVES_BINS; i++)
		if (w->waves >= s->bin[i].from && w->waves < s->bin[i].to) {
			s->bin[i].count++;
			s->bin[i].ns += ns;
		}
}

static double mean(double sum, uint64_t ns)
{
	return ns ? sum / (double)ns : NAN;
}

static int waves_by_time(const void *x, const void *y)
{
	const struct waves_row *a = x, *b = y;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (strcmp(a->name, b->name) != 0)
		return strcmp(a->name, b->name);
	if (a->threads != b->threads)
		return a->threads < b->threads ? -1 : 1;
	return a->smem != b->smem ? (a->smem < b->smem ? -1 : 1) : a->registers < b->registers ? -1 : 1;
}

static void waves_finish(struct waves *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct waves_row *r = &s->v[i];

		r->device = mean(r->device, r->ns);
		r->active = mean(r->active, r->ns);
		r->waves = mean(r->waves, r->ns);
		r->achieved = mean(r->achieved, r->counted_ns);
	}
	s->theoretical = mean(s->theoretical, s->known_ns);
	s->device = mean(s->device, s->known_ns);
	s->active = mean(s->active, s->known_ns);
	s->achieved = mean(s->achieved, s->counted_ns);
	if (s->n)
		qsort(s->v, s->n, sizeof *s->v, waves_by_time);
}

int waves_trace(const struct trace *t, const struct roof *r, struct rules *rules, struct counters *c, struct arena *a,
                struct waves *out, struct err *e)
{
	static const double bins[WAVES_BINS] = { 0, 0.25, 0.5, 1, 2, 5 };
	const bool lend = counters_lend(c);
	struct table table = { .out = out, .a = a };

	*out = (struct waves){ .n = 0 };
	if (!r->sms)
		return err_set(
			e, ERR_USAGE,
			"peaks alone do not say what an SM holds: give the device with '-c FILE', such as -c h200");
	for (int i = 0; i < WAVES_BINS; i++)
		out->bin[i] = (struct waves_bin){ bins[i], i + 1 < WAVES_BINS ? bins[i + 1] : INFINITY, 0, 0 };
	for (size_t i = 0; i < t->n_launches; i++) {
		const struct trace_launch *l = &t->launches[i];
		const struct waves_launch w = waves_of(r, l);
		const struct counted *x;
		struct waves_row *row;

		if (l->kind != TRACE_KERNEL || (lend && counters_own(c, l->id)))
			continue;
		if (!(row = waves_row_of(&table, l, &w, rules_match(rules, l), e)))
			return -1;
		x = counters_next(c, l);
		waves_add(row, out, &w, (uint64_t)l->dur_ns, x ? x->v[COUNTER_OCCUPANCY_PCT] : NAN);
	}
	waves_finish(out);
	return 0;
}
