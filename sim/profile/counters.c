/* counters.c - metrics by launch, found again by name, geometry and order. */
#include "sim/profile/counters.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/str.h"

#define SOL "GPU Speed Of Light Throughput: "
#define MEM "Memory Workload Analysis: "
#define PCT ".avg.pct_of_peak_sustained_elapsed"

/* Several names of one counter: the first that a launch has stands. `scale` brings it to our unit. */
static const struct alias {
	const char *name;
	enum counter k;
	double scale;
} aliases[] = {
	{ "gpu__time_duration.sum", COUNTER_DURATION_US, 1e-3 },
	{ SOL "Duration", COUNTER_DURATION_US, 1e-3 },
	{ "sm__throughput" PCT, COUNTER_SM_PCT, 1 },
	{ SOL "Compute (SM) Throughput", COUNTER_SM_PCT, 1 },
	{ "dram__throughput" PCT, COUNTER_DRAM_PCT, 1 },
	{ "gpu__dram_throughput" PCT, COUNTER_DRAM_PCT, 1 },
	{ SOL "DRAM Throughput", COUNTER_DRAM_PCT, 1 },
	{ "gpu__compute_memory_throughput" PCT, COUNTER_MEM_PCT, 1 },
	{ SOL "Memory Throughput", COUNTER_MEM_PCT, 1 },
	{ "dram__bytes.sum.per_second", COUNTER_MEM_GBS, 1e-9 },
	{ MEM "Memory Throughput", COUNTER_MEM_GBS, 1e-9 },
	{ "l1tex__t_sector_hit_rate.pct", COUNTER_L1_HIT_PCT, 1 },
	{ MEM "L1/TEX Hit Rate", COUNTER_L1_HIT_PCT, 1 },
	{ "l1tex__throughput.avg.pct_of_peak_sustained_active", COUNTER_L1_PCT, 1 },
	{ SOL "L1/TEX Cache Throughput", COUNTER_L1_PCT, 1 },
	{ "lts__t_sector_hit_rate.pct", COUNTER_L2_HIT_PCT, 1 },
	{ MEM "L2 Hit Rate", COUNTER_L2_HIT_PCT, 1 },
	{ "lts__throughput" PCT, COUNTER_L2_PCT, 1 },
	{ SOL "L2 Cache Throughput", COUNTER_L2_PCT, 1 },
	{ "sm__warps_active.avg.pct_of_peak_sustained_active", COUNTER_OCCUPANCY_PCT, 1 },
	{ "Occupancy: Achieved Occupancy", COUNTER_OCCUPANCY_PCT, 1 },
	{ "sm__maximum_warps_per_active_cycle_pct", COUNTER_THEORETICAL_PCT, 1 },
	{ "Occupancy: Theoretical Occupancy", COUNTER_THEORETICAL_PCT, 1 },
	{ MEM "Mem Busy", COUNTER_BUSY_PCT, 1 },
	{ MEM "Max Bandwidth", COUNTER_MAX_BANDWIDTH_PCT, 1 },
	{ "dram__bytes_read.sum", COUNTER_READ, 1 },
	{ "dram__bytes_write.sum", COUNTER_WRITTEN, 1 },
	{ "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", COUNTER_FADD, 1 },
	{ "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", COUNTER_FMUL, 1 },
	{ "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", COUNTER_FFMA, 1 },
	{ "sm__ops_path_tensor_src_bf16_dst_fp32.sum", COUNTER_TENSOR16, 1 },
	{ "sm__ops_path_tensor_src_fp16_dst_fp32.sum", COUNTER_TENSOR16, 1 },
	{ "sm__ops_path_tensor_src_tf32_dst_fp32.sum", COUNTER_TENSOR32, 1 },
	{ "sm__ops_path_tensor_src_fp8.sum", COUNTER_TENSOR8, 1 },
	{ "sm__inst_executed_pipe_tensor.sum", COUNTER_TENSOR_INST, 1 },
};
enum { ALIASES = sizeof aliases / sizeof *aliases };

/* Those of a table of counters. */
#define BY_NAME(id, name) { #name, COUNTER_##id, 1 },
static const struct alias own[] = { METRIC_SHOWN(BY_NAME) METRIC_REST(BY_NAME) METRIC_ALSO(BY_NAME) };
#undef BY_NAME
enum { OWN = sizeof own / sizeof *own };

const char *counter_name(enum counter k)
{
	return k < COUNTERS ? own[k].name : ""; /* METRIC_SHOWN and METRIC_REST are in the enum's order */
}

/* One profiled launch: its key with geometry, and its name with template arguments. */
struct entry {
	int64_t launch;
	uint64_t key, full;
	struct counted x;
};
struct counters {
	struct entry *v;
	size_t n, cap;  /* in order of launch id */
	size_t *by_key; /* numbers, in order of key, then launch */
	size_t *next;   /* of the first of a key in by_key: how many were handed out */
	bool lend;
};

/* --- names ------------------------------------------------------------------------------------------------- */

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* What tools agree on: the words, without "void", casts like "(int)", namespaces and parameters; those of template
 * arguments only if `full`. */
static uint64_t name_key(const char *name, bool full)
{
	static const char *const casts[] = { "(int)", "(bool)", "(unsigned int)", "(unsigned long)", "(long)" };
	uint64_t h = HASH_INIT;
	int angle = 0;

	for (const char *p = strncmp(name, "void ", 5) == 0 ? name + 5 : name; *p;) {
		size_t n = 0, word;

		for (size_t i = 0; n == 0 && i < sizeof casts / sizeof *casts; i++)
			n = strncmp(p, casts[i], strlen(casts[i])) == 0 ? strlen(casts[i]) : 0;
		for (word = 0; n == 0 && in_word(p[word]); word++)
			;
		if (n == 0 && word && p[word] == ':' && p[word + 1] == ':')
			n = word + 2;
		else if (n == 0 && strncmp(p, "<unnamed>::", 11) == 0)
			n = 11;
		else if (n == 0 && strncmp(p, "unnamed>::", 10) == 0) /* what a search for "...::<" leaves of it */
			n = 10;
		else if (n == 0 && strncmp(p, "(anonymous namespace)::", 23) == 0)
			n = 23;
		if (n || *p == ' ') {
			p += n ? n : 1;
			continue;
		}
		if (*p == '(' && angle == 0)
			break;
		n = word ? word : 1;
		angle += *p == '<';
		if (word && (angle == 0 || full))
			h = hash_u64(hash_bytes(h, p, n), n);
		angle -= *p == '>' && angle > 0;
		p += n;
	}
	return h;
}

static uint64_t launch_key(const char *name, const uint32_t grid[3], const uint32_t block[3])
{
	uint64_t h = name_key(name, false);

	for (int i = 0; i < 3; i++)
		h = hash_u64(hash_u64(h, grid[i]), block[i]);
	return h;
}

/* --- loading ----------------------------------------------------------------------------------------------- */

static struct entry *entry_of(const struct counters *c, int64_t launch)
{
	size_t lo = 0, hi = c ? c->n : 0;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (c->v[mid].launch < launch)
			lo = mid + 1;
		else
			hi = mid;
	}
	return c && lo < c->n && c->v[lo].launch == launch ? &c->v[lo] : NULL;
}

static int add_launch(void *arg, const struct trace_launch *l, struct err *e)
{
	struct counters *c = arg;
	struct entry *x;

	if (c->n == c->cap) {
		const size_t cap = c->cap ? 2 * c->cap : 256;
		struct entry *v = realloc(c->v, cap * sizeof *v);

		if (!v)
			return err_nomem(e, "for the counters");
		c->v = v;
		c->cap = cap;
	}
	x = &c->v[c->n++];
	*x = (struct entry){ .launch = l->id,
		             .key = launch_key(l->name, l->grid, l->block),
		             .full = name_key(l->name, true) };
	for (int k = 0; k < COUNTERS; k++)
		x->x.v[k] = NAN;
	return 0;
}

struct aliased {
	struct counters *c;
	const struct alias *a;
};

static int add_value(void *arg, int64_t launch, double value, struct err *e)
{
	const struct aliased *to = arg;
	struct entry *x = entry_of(to->c, launch);

	(void)e;
	if (x && isnan(x->x.v[to->a->k]))
		x->x.v[to->a->k] = value * to->a->scale;
	return 0;
}

struct order {
	uint64_t key;
	size_t i;
};

static int by_key(const void *x, const void *y)
{
	const struct order *a = x, *b = y;

	return a->key != b->key ? (a->key < b->key ? -1 : 1) : a->i < b->i ? -1 : a->i > b->i;
}

static int make_index(struct counters *c, struct err *e)
{
	struct order *o = calloc(c->n ? c->n : 1, sizeof *o);

	c->by_key = calloc(c->n ? c->n : 1, sizeof *c->by_key);
	c->next = calloc(c->n ? c->n : 1, sizeof *c->next);
	if (!o || !c->by_key || !c->next) {
		free(o);
		return err_nomem(e, "for the counters");
	}
	for (size_t i = 0; i < c->n; i++)
		o[i] = (struct order){ c->v[i].key, i };
	qsort(o, c->n, sizeof *o, by_key);
	for (size_t i = 0; i < c->n; i++)
		c->by_key[i] = o[i].i;
	free(o);
	return 0;
}

struct counters *counters_load(struct tracedb *t, struct err *e)
{
	struct counters *c = calloc(1, sizeof *c);
	int rc;

	if (!c) {
		err_nomem(e, "for the counters");
		return NULL;
	}
	rc = tracedb_each_counted(t, add_launch, c, e);
	for (size_t i = 0; rc == 0 && c->n && i < ALIASES; i++)
		rc = tracedb_each_value(t, aliases[i].name, add_value, &(struct aliased){ c, &aliases[i] }, e);
	for (size_t i = 0; rc == 0 && c->n && i < OWN; i++)
		rc = tracedb_each_value(t, own[i].name, add_value, &(struct aliased){ c, &own[i] }, e);
	if (rc == 0 && c->n)
		rc = tracedb_any_uncounted(t, &c->lend, e);
	if (rc == 0)
		rc = make_index(c, e);
	if (rc == 0)
		return c;
	counters_free(c);
	return NULL;
}

void counters_free(struct counters *c)
{
	if (!c)
		return;
	free(c->v);
	free(c->by_key);
	free(c->next);
	free(c);
}

size_t counters_count(const struct counters *c)
{
	return c->n;
}

bool counters_own(const struct counters *c, int64_t launch)
{
	return entry_of(c, launch) != NULL;
}

bool counters_lend(const struct counters *c)
{
	return c && c->lend;
}

/* --- joining ----------------------------------------------------------------------------------------------- */

const struct counted *counters_next(struct counters *c, const struct trace_launch *l)
{
	const struct entry *own = entry_of(c, l->id);
	const uint64_t key = own || !c || !c->n ? 0 : launch_key(l->name, l->grid, l->block);
	size_t lo = 0, hi = c ? c->n : 0, n = 0;

	if (own)
		return &own->x;
	if (!c)
		return NULL;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (c->v[c->by_key[mid]].key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo + n < c->n && c->v[c->by_key[lo + n]].key == key)
		n++;
	return n ? &c->v[c->by_key[lo + c->next[lo]++ % n]].x : NULL;
}

bool counters_mean(const struct counters *c, const char *name, struct counted *out)
{
	const uint64_t full = name_key(name, true);
	size_t n[COUNTERS] = { 0 };
	bool any = false;

	memset(out, 0, sizeof *out);
	for (size_t i = 0; c && i < c->n; i++)
		for (int k = 0; c->v[i].full == full && k < COUNTERS; k++)
			if (!isnan(c->v[i].x.v[k])) {
				out->v[k] += c->v[i].x.v[k];
				n[k]++;
				any = true;
			}
	for (int k = 0; k < COUNTERS; k++)
		out->v[k] = n[k] ? out->v[k] / (double)n[k] : NAN;
	return any;
}

struct by_launch {
	int64_t id;
	double bytes;
	uint64_t ns;
};

static int by_launch_id(const void *x, const void *y)
{
	const struct by_launch *a = x, *b = y;

	return a->id < b->id ? -1 : a->id > b->id;
}

int counters_ops(struct counters *c, const struct trace *t, const struct op_stream *s, struct arena *a,
                 struct counted_ops *out, struct err *e)
{
	struct by_launch *v = arena_array(a, t->n_launches + 1, sizeof *v);
	size_t n = 0;

	out->bytes = arena_array(a, s->n_ops + 1, sizeof *out->bytes);
	out->ns = arena_array(a, s->n_ops + 1, sizeof *out->ns);
	if (!v || !out->bytes || !out->ns)
		return err_nomem(e, "for the counters");
	for (size_t i = 0; i < t->n_launches; i++) { /* in the trace's order, which tells launches of one name apart */
		const struct trace_launch *l = &t->launches[i];
		const struct counted *x = l->kind == TRACE_KERNEL ? counters_next(c, l) : NULL;

		if (x && counted_bytes(x, &v[n].bytes)) {
			v[n].ns = (uint64_t)l->dur_ns;
			v[n++].id = l->id;
		}
	}
	qsort(v, n, sizeof *v, by_launch_id);
	for (size_t i = 0; i < s->n_ops; i++)
		for (uint32_t k = 0; k < s->ops[i].n_launches; k++) {
			const struct by_launch want = { .id = s->launches[s->ops[i].first_launch + k].trace_id };
			const struct by_launch *at = n ? bsearch(&want, v, n, sizeof *v, by_launch_id) : NULL;

			out->bytes[i] += at ? at->bytes : 0;
			out->ns[i] += at ? at->ns : 0;
		}
	return 0;
}

bool counted_bytes(const struct counted *x, double *bytes)
{
	const double r = x->v[COUNTER_READ], w = x->v[COUNTER_WRITTEN];

	*bytes = (isnan(r) ? 0 : r) + (isnan(w) ? 0 : w);
	return !isnan(r) || !isnan(w);
}

bool counted_flops(const struct counted *x, double *flops, unsigned *bits)
{
	static const struct {
		enum counter k;
		double each;
		unsigned bits;
	} parts[] = {
		{ COUNTER_FADD, 1, 33 },     { COUNTER_FMUL, 1, 33 },     { COUNTER_FFMA, 2, 33 },
		{ COUNTER_TENSOR16, 1, 16 }, { COUNTER_TENSOR32, 1, 32 }, { COUNTER_TENSOR8, 1, 8 },
	};
	double most = -1;
	bool any = false, cores = false;

	*flops = 0;
	*bits = 33;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		const double v = x->v[parts[i].k] * parts[i].each;

		if (isnan(v))
			continue;
		any = true;
		cores = cores || parts[i].bits > 32;
		*flops += v;
		if (v > most && v > 0) {
			most = v;
			*bits = parts[i].bits;
		}
	}
	/* A part is not the whole: instructions of tensor pipes without their operations, tensor pipes alone that idle.
	 */
	if (*bits > 32 && x->v[COUNTER_TENSOR_INST] > 0)
		return false;
	return any && (cores || *flops > 0);
}
