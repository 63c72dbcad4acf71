#include "sim/serve/steps.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/pool.h"
#include "sim/engine/run.h"
#include "sim/engine/run_memo.h"

#define GPU_ENTRY  4
#define DESCRIPTOR 64
#define FRAME_MAX  ((size_t)1 << 20) /* bytes of a point with its pieces */
#define MORE       2                 /* layers */

struct steps {
	struct machine_conf conf; /* but for its capacity as the machine's */
	struct model *model;      /* but for its context as the model */
	struct build_how how;
	struct run_opts run;
	struct run_memo *memo, *own_memo; /* own NULL: it is the caller's */
	struct pool *pool;                /* NULL: nobody was needed yet */
	uint32_t jobs, first_alike;
	bool gpu;
};

static bool alike(const struct model *m, uint32_t i, uint32_t k)
{
	return model_same_layers(m, i, k);
}

/* The first layer from which on all are alike; the last one where formats differ by layer. */
static uint32_t first_alike(const struct model *m, const struct build_how *how)
{
	const uint32_t n = how->layers ? how->layers : m->layers;
	uint32_t i = n - 1;

	while (!how->quant->more && i && alike(m, i - 1, n - 1) &&
	       scheme_same_layers(how->quant, (int32_t)i - 1, (int32_t)n - 1, m->layers))
		i--;
	return i;
}

struct steps *steps_new(const struct machine_conf *conf, const struct model *m, const struct build_how *how,
                        uint32_t block, const struct run_opts *run, uint32_t jobs, struct err *e)
{
	struct steps *s = calloc(1, sizeof *s);

	if (s)
		s->memo = run->memo ? run->memo : (s->own_memo = run_memo_new(e));
	if (!s || !s->memo || !(s->model = malloc(sizeof *s->model))) {
		steps_free(s);
		if (!e->kind)
			err_nomem(e, "for the steps of a server");
		return NULL;
	}
	s->conf = *conf;
	s->conf.cfg.mem.dram.capacity = 0;
	*s->model = *m;
	s->model->context = 0;
	s->gpu = machine_runs(&conf->cfg) == MACHINE_LAUNCHES;
	s->how = *how;
	s->how.phase = BUILD_STEP;
	s->how.block = block;
	s->how.entry = s->gpu ? GPU_ENTRY : DESCRIPTOR * (m->mla.kv_rank ? 1 : 2);
	s->run = *run;
	s->jobs = jobs ? jobs : 1;
	s->first_alike = first_alike(m, how);
	return s;
}

void steps_free(struct steps *s)
{
	if (!s)
		return;
	pool_free(s->pool);
	run_memo_free(s->own_memo);
	free(s->model);
	free(s);
}

/* --- one step ---------------------------------------------------------------------------------------------------------- */

/* Descriptors of blocks beyond those of the tiles that move the same bytes. */
static ps_t steps_gather(const struct steps *s, const struct op_stream *x)
{
	const struct dma_cfg *d = &s->conf.cfg.dma;
	uint64_t blocks = 0, tiles = 0;

	if (s->gpu || !s->how.block)
		return 0;
	for (size_t i = 0; i < x->n_ops; i++) {
		const struct op *o = &x->ops[i];

		for (uint32_t k = 0; o->kind == OP_ATTENTION && k < o->n_operands; k++) {
			const struct op_operand *p = &x->operands[o->first_operand + k];
			const enum op_role role = x->tensors[p->tensor].role;

			if (role == OP_INDEX)
				blocks += p->bytes / DESCRIPTOR;
			else if (role == OP_KV && !p->write)
				tiles += div_up(p->touched, d->tile);
		}
	}
	return blocks > tiles ? div_up((blocks - tiles) * d->setup, (uint64_t)d->engines * s->conf.cfg.cores) : 0;
}

static int groups_of(const struct cost_point *p, struct arena *a, struct build_how *how, struct err *e)
{
	struct build_group *g = arena_array(a, (size_t)p->n_pieces + 1, sizeof *g);
	uint32_t n = 0;

	if (!g)
		return err_nomem(e, "for a step");
	if (p->seqs)
		g[n++] = (struct build_group){ p->seqs, p->queries, p->context, false };
	for (uint32_t i = 0; i < p->n_pieces; i++)
		g[n++] = (struct build_group){ 1, p->pieces[i].tokens, p->pieces[i].context, true };
	how->groups = g;
	how->n_groups = n;
	return 0;
}

/* `layers` 0: as many as asked for. */
static int built(const struct steps *s, const struct cost_point *p, uint32_t layers, struct arena *a,
                 struct op_stream *x, struct err *e)
{
	struct build_how how = s->how;

	how.layers = layers ? layers : how.layers;
	return groups_of(p, a, &how, e) < 0 ? -1 : build_stream(s->model, &how, a, x, e);
}

/* A step of its own: its stream and what came of it, which go when `told` has seen them. */
typedef void told_fn(const struct steps *s, const struct op_stream *x, const struct run_result *r, void *out);

static int run_of(struct steps *s, const struct cost_point *p, uint32_t layers, told_fn *told, void *out, struct err *e)
{
	struct arena *a = arena_new(0);
	struct run_opts how = s->run;
	struct run_result r;
	struct op_stream x;
	int rc = -1;

	how.memo = s->memo;
	run_memo_forget(s->memo); /* streams come and go */
	if (!a) {
		err_nomem(e, "for a step");
	} else if (built(s, p, layers, a, &x, e) == 0 && run_stream(&x, &s->conf, &how, a, &r, e) == 0) {
		told(s, &x, &r, out);
		rc = 0;
	}
	arena_free(a);
	return rc;
}

/* Attention: of prompts alone. */
static void costs(const struct steps *s, const struct op_stream *x, const struct run_result *r, void *to)
{
	struct cost_seen *out = to;

	*out = (struct cost_seen){ .time = r->total_ps + steps_gather(s, x), .energy_fj = r->energy_fj };
	for (size_t i = 0; i < x->n_ops; i++)
		if (x->ops[i].kind == OP_ATTENTION && x->ops[i].phase == OP_PREFILL) {
			out->attention += r->ops[i].span_ps;
			out->attention_fj += r->ops[i].energy_fj;
		}
}

static int steps_cost(struct steps *s, const struct cost_point *p, uint32_t layers, struct cost_seen *out,
                      struct err *e)
{
	return run_of(s, p, layers, costs, out, e);
}

static void holds(const struct steps *s, const struct op_stream *x, const struct run_result *r, void *to)
{
	struct steps_held *out = to;

	(void)s;
	(void)x;
	out->time = r->total_ps;
	memcpy(out->stall, r->stall_ps, sizeof out->stall);
}

int steps_hold(struct steps *s, const struct cost_point *p, struct steps_held *out, struct err *e)
{
	return run_of(s, p, 0, holds, out, e);
}

struct shown {
	steps_show_fn *show;
	void *arg;
};

static void shows(const struct steps *s, const struct op_stream *x, const struct run_result *r, void *to)
{
	const struct shown *w = to;

	(void)s;
	w->show(w->arg, x, r);
}

int steps_show(struct steps *s, const struct cost_point *p, steps_show_fn *show, void *arg, struct err *e)
{
	return run_of(s, p, 0, shows, &(struct shown){ show, arg }, e);
}

/* --- layers that are alike ------------------------------------------------------------------------------------------------- */

static uint64_t further(uint64_t few, uint64_t more, uint32_t layers)
{
	return more + (more > few ? (more - few) * layers / MORE : 0);
}

/* A board at its cap lowers the clock of the whole step by what all of its layers take. */
static bool capped(const struct steps *s, const struct cost_seen *few, const struct cost_seen *more)
{
	const uint64_t cap = s->conf.cfg.gpu.power.cap;

	return cap && more->time > few->time &&
	       energy_power((more->energy_fj - few->energy_fj) / build_split_of(&s->how).tp, more->time - few->time) >
	               cap / 20 * 19;
}

/* A GPU's launches follow one another, and layers that are alike take as long each: the first of them and MORE more tell
 * the rest. False: they do not here. */
static bool by_layers(struct steps *s, const struct cost_point *p, struct cost_seen *out)
{
	const uint32_t n = s->how.layers ? s->how.layers : s->model->layers, first = s->first_alike;
	struct cost_seen few, more;
	struct err none = ERR_INIT;
	uint32_t rest;

	if (!s->gpu || n - first < 3 * MORE || steps_cost(s, p, first + 1, &few, &none) < 0 ||
	    steps_cost(s, p, first + 1 + MORE, &more, &none) < 0 || capped(s, &few, &more))
		return false;
	rest = n - first - 1 - MORE;
	*out = (struct cost_seen){ .time = further(few.time, more.time, rest),
		                   .attention = further(few.attention, more.attention, rest),
		                   .energy_fj = further(few.energy_fj, more.energy_fj, rest),
		                   .attention_fj = further(few.attention_fj, more.attention_fj, rest) };
	return true;
}

static int steps_one(struct steps *s, const struct cost_point *p, struct cost_seen *out, struct err *e)
{
	if (by_layers(s, p, out) || steps_cost(s, p, 0, out, e) == 0)
		return 0;
	return err_add(e, "simulating a step of %u sequences and %u pieces of prompts", p->seqs, p->n_pieces);
}

/* --- several side by side -------------------------------------------------------------------------------------------------- */

struct batch {
	const struct cost_point *points;
	struct cost_seen *out;
	bool *done;
};

/* A worker's answer; not good: the calling process finds out why. */
struct seen {
	struct cost_seen cost;
	bool good;
};

/* A point as bytes: itself, its pieces behind it. */
static void point_of(void *arg, size_t i, struct str *to)
{
	const struct batch *b = arg;
	struct cost_point p = b->points[i];

	p.pieces = NULL;
	str_addn(to, (const char *)&p, sizeof p);
	str_addn(to, (const char *)b->points[i].pieces, p.n_pieces * sizeof *p.pieces);
}

static void work(void *arg, void *state, const char *job, size_t n, struct str *result)
{
	struct err none = ERR_INIT;
	struct cost_point p;
	struct seen x;

	(void)state, (void)n;
	memset(&x, 0, sizeof x);
	memcpy(&p, job, sizeof p);
	p.pieces = (const struct sched_piece *)(const void *)(job + sizeof p);
	x.good = steps_one(arg, &p, &x.cost, &none) == 0;
	str_addn(result, (const char *)&x, sizeof x);
}

static int seen(void *arg, size_t i, const struct pool_result *r, struct err *e)
{
	struct batch *b = arg;
	struct seen x;

	(void)e;
	if (r->lost)
		return 0;
	memcpy(&x, r->bytes, sizeof x);
	b->done[i] = x.good;
	if (x.good)
		b->out[i] = x.cost;
	return 0;
}

/* Workers have what was found out here so far, and keep what they find out: where there are some, a single point is theirs, too. */
static void run_pool(struct steps *s, struct batch *b, size_t n)
{
	const struct pool_how how = { .backend = &pool_processes,
		                      .workers = s->jobs < STEPS_JOBS ? s->jobs : STEPS_JOBS,
		                      .frame_max = FRAME_MAX,
		                      .work = work,
		                      .arg = s };
	const struct pool_batch batch = { .n = n, .job = point_of, .result = seen, .arg = b };
	struct err none = ERR_INIT;

	if (s->jobs > 1 && n > 1 && !s->pool)
		s->pool = pool_new(&how, &none);
	if (s->pool)
		pool_run(s->pool, &batch, &none);
}

/* What a worker could not do, or did not live to do, is done here: then whatever it was happens to the command itself. */
int steps_simulate(void *ctx, const struct cost_point *p, size_t n, struct cost_seen *out, struct err *e)
{
	struct steps *s = ctx;
	struct batch b = { p, out, calloc(n ? n : 1, sizeof *b.done) };
	int rc = 0;

	if (!b.done)
		return err_nomem(e, "for the steps of a server");
	run_pool(s, &b, n);
	for (size_t i = 0; i < n && rc == 0; i++)
		if (!b.done[i])
			rc = steps_one(s, &p[i], &out[i], e);
	free(b.done);
	return rc;
}

/* --- memory ------------------------------------------------------------------------------------------------------------------- */

/* As this machine stores it. */
static int steps_need(struct steps *s, const struct cost_point *p, struct map_footprint *out, struct err *e)
{
	struct arena *a = arena_new(0);
	struct op_stream x;
	struct map_result m;
	int rc = -1;

	if (!a)
		return err_nomem(e, "for a step");
	run_memo_forget(s->memo);
	if (built(s, p, 0, a, &x, e) == 0) {
		if (s->gpu) {
			rc = map_footprint(&x, NULL, a, out, e);
		} else if ((rc = run_memo_map(s->memo, &x, &s->conf.cfg, false, &m, e)) == 0) {
			*out = m.need;
		}
	}
	arena_free(a);
	return rc;
}

int steps_memory(struct steps *s, uint32_t seqs, uint32_t queries, uint32_t tokens, struct steps_memory *out,
                 struct err *e)
{
	enum { SHORT = 32, LONG = 64 }; /* within any window */
	const struct sched_piece piece = { tokens, 0 };
	const struct cost_point p[3] = { { 1, 1, SHORT - 1, NULL, 0 },
		                         { 1, 1, LONG - 1, NULL, 0 },
		                         { seqs, queries, 1, &piece, tokens ? 1 : 0 } };
	struct map_footprint n[3];

	for (int i = 0; i < 3; i++)
		if (steps_need(s, &p[i], &n[i], e) < 0)
			return -1;
	*out = (struct steps_memory){ .weights = n[1].weights,
		                      .token = (n[1].kv - n[0].kv) / (LONG - SHORT),
		                      .rest = n[2].rest };
	out->sequence = n[1].kv - out->token * LONG;
	return 0;
}
