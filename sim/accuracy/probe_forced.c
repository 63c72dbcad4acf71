#include "sim/accuracy/probe_forced.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/machine/machine_conf.h"
#include "arch/machine/machine_shipped.h"
#include "sim/base/rng.h"
#include "sim/engine/run.h"
#include "sim/engine/run_memo.h"
#include "sim/lower/lower.h"
#include "traces/db/tracedb.h"
#include "traces/read/ops_csv.h"
#include "workloads/rules.h"

#define TILES_MOST 4096 /* of a product: events of more take long, and say no more */
#define TRIES      200  /* a triple, before it is said that there are none */
#define PICK(r, v) ((v)[rng_below(r, sizeof(v) / sizeof *(v))])

struct maker {
	struct rng r;
	struct arena *a;
	const char **config;
	size_t n_configs;
	struct rules *rules;
	struct run_memo *memo;
	struct err *e;
};

/* --- drawing ---------------------------------------------------------------------------------------------------------- */

/* As many of each doubling, and any number within. */
static uint64_t probe_forced_size_of(struct rng *r, uint64_t least, int doublings)
{
	const uint64_t n = least << rng_below(r, (uint64_t)doublings);

	return n + rng_below(r, n);
}

static uint64_t parts_of(struct rng *r)
{
	return 1 + rng_below(r, UINT64_C(1) << rng_below(r, 7));
}

static const char *machine_of(struct maker *k, const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	return arena_printf(k->a, "%.*s", (int)strcspn(name, "."), name);
}

/* A quarter to twice of what it has. */
static int draw_machine(struct maker *k, struct probe_forced *x)
{
	static const char *const networks[] = { "ideal", "crossbar", "ring", "mesh" };
	static const unsigned quarters[] = { 1, 2, 3, 4, 6, 8 };
	struct machine_conf *c;
	uint64_t cores;

	x->config = k->config[rng_below(&k->r, k->n_configs)];
	if (!(c = machine_conf_load(x->config, NULL, 0, k->e)))
		return -1;
	cores = ((uint64_t)c->cfg.cores * PICK(&k->r, quarters) + 3) / 4;
	machine_conf_free(c);
	x->machine = machine_of(k, x->config);
	x->sets[0] = arena_printf(k->a, "cores=%" PRIu64, cores);
	x->sets[1] = arena_printf(k->a, "noc.kind=%s", PICK(&k->r, networks));
	return 0;
}

static void draw_product(struct maker *k, struct probe_forced *x)
{
	static const char *const formats[][2] = {
		{ "bf16", "" }, { "bf16", "" }, { "int8", "" }, { "bf16", "int8" }, { "bf16", "int4" }
	};
	const char *const *f = PICK(&k->r, formats);

	x->m = probe_forced_size_of(&k->r, 1, 12);
	x->n = probe_forced_size_of(&k->r, 32, 8);
	x->k = probe_forced_size_of(&k->r, 32, 8);
	x->dtype = f[0];
	x->weights = f[1];
	x->start = rng_below(&k->r, 2) ? RUN_COLD : RUN_STEADY;
}

/* A tile is a size's part, rounded up. */
static void draw_mapping(struct maker *k, struct probe_forced *x)
{
	static const char *const stays[] = { "none", "a", "b", "ab", "c", "ac", "bc", "abc" };
	uint64_t p[3];

	do {
		for (int d = 0; d < 3; d++)
			p[d] = parts_of(&k->r);
	} while (p[0] * p[1] * p[2] > TILES_MOST);
	x->sets[2] = arena_printf(k->a, "mapping.loops=%s", rng_below(&k->r, 2) ? "nmk" : "mnk");
	x->sets[3] = arena_printf(k->a, "mapping.tile_m=%" PRIu64, (x->m + p[0] - 1) / p[0]);
	x->sets[4] = arena_printf(k->a, "mapping.tile_n=%" PRIu64, (x->n + p[1] - 1) / p[1]);
	x->sets[5] = arena_printf(k->a, "mapping.tile_k=%" PRIu64, (x->k + p[2] - 1) / p[2]);
	x->sets[6] = arena_printf(k->a, "mapping.stays=%s", PICK(&k->r, stays));
}

/* --- running ---------------------------------------------------------------------------------------------------------- */

static int probe_forced_stream_of(struct maker *k, const struct probe_forced *x, struct arena *a, struct op_stream *s)
{
	const char *text =
		arena_printf(a, "op,m,n,k,dtype,weight_dtype\ngemm,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,%s\n", x->m,
	                     x->n, x->k, x->dtype, x->weights);
	struct tracedb *db = text ? tracedb_open(":memory:", DB_WRITE, k->e) : NULL;
	struct input *in = db ? input_mem(text, strlen(text), "a product", k->e) : NULL;
	struct trace_import_stats imported;
	struct lower_stats lowered;
	struct trace t;
	int rc = text ? -1 : err_nomem(k->e, "for a product");

	if (in && ops_csv_import(db, in, NULL, NULL, &imported, k->e) == 0 && tracedb_load(db, NULL, a, &t, k->e) == 0)
		rc = lower_trace(&t, k->rules, a, s, &lowered, k->e);
	input_free(in);
	tracedb_free(db);
	return rc;
}

/* 1: it was run; 0: there is no such machine, or the mapping does not fit it. */
static int run_both(struct maker *k, struct probe_forced *x)
{
	struct run_opts how = { .start = x->start, .seed = 1, .memo = k->memo };
	struct arena *a = arena_new(0);
	struct machine_conf *c = NULL;
	struct run_result r;
	struct op_stream s;
	int rc = -1;

	run_memo_forget(k->memo);
	if (!a || probe_forced_stream_of(k, x, a, &s) < 0)
		goto out;
	if ((c = machine_conf_load(x->config, x->sets, PROBE_FORCED_SETS, k->e))) {
		how.fidelity = RUN_ANALYTIC;
		if (run_stream(&s, c, &how, a, &r, k->e) == 0) {
			x->form = r.total_ps;
			how.fidelity = RUN_EVENT;
			if ((rc = run_stream(&s, c, &how, a, &r, k->e)) == 0)
				x->event = r.total_ps;
			rc = rc < 0 ? rc : 1;
		}
	}
	if (rc < 0 && k->e->kind == ERR_CONFIG) {
		err_clear(k->e);
		rc = 0;
	}
out:
	machine_conf_free(c);
	arena_free(a);
	return rc;
}

static int probe_forced_draw(struct maker *k, struct probe_forced *x)
{
	for (int i = 0; i < TRIES; i++) {
		int rc;

		*x = (struct probe_forced){ .config = NULL };
		if (draw_machine(k, x) < 0)
			return -1;
		draw_product(k, x);
		draw_mapping(k, x);
		for (int j = 0; j < PROBE_FORCED_SETS; j++)
			if (!x->sets[j])
				return err_nomem(k->e, "for a mapping");
		if ((rc = run_both(k, x)) != 0)
			return rc < 0 ? -1 : 0;
	}
	return err_set(k->e, ERR_CONFIG, "of %d mappings none fits its machine", TRIES);
}

int probe_forced(uint64_t seed, size_t n, struct arena *a, struct probe_forced *out,
                 void (*progress)(void *arg, size_t done), void *arg, struct err *e)
{
	struct maker k = { .a = a, .e = e };
	int rc = machine_shipped_npus(a, &k.config, &k.n_configs, e);

	if (rc == 0 && (!(k.rules = rules_load(NULL, e)) || !(k.memo = run_memo_new(e))))
		rc = -1;
	rng_seed(&k.r, seed, "forced mappings");
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (progress)
			progress(arg, i);
		rc = probe_forced_draw(&k, &out[i]);
	}
	run_memo_free(k.memo);
	rules_free(k.rules);
	return rc;
}
