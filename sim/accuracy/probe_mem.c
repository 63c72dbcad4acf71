#include "sim/accuracy/probe_mem.h"

#include <stdlib.h>

#include "arch/mem/memory_alone.h"
#include "sim/base/rng.h"

#define MIB      (UINT64_C(1) << 20)
#define SMALLEST (UINT64_C(64) << 10)
#define BLOCK    (UINT64_C(4) << 10)

/* What is asked for: tiles in order from `base`, again from there after `bytes`; or blocks in the order of `cycle`, and
 * of each the whole or one line. */
struct load {
	bool one_core;
	enum { READ, WRITE, COPY, TRIAD, CHASE } kind;
	uint64_t base, bytes, size, to; /* size: of a request; to: arrays are so far apart */
	const uint32_t *cycle;          /* of bytes / BLOCK blocks */
	uint64_t n, skip; /* requests, those of a copy or triad as one; the first `skip` are not measured */
};

struct slot {
	struct mem_req rq; /* first member: a reply's request is its slot */
	struct mem_run run;
	ps_t sent;
	struct slot *next; /* in the queue to send */
	uint32_t part;     /* of a copy or triad: which array comes next; the last is written */
};

struct probe {
	struct comp comp;
	struct memory_alone memory;
	struct evq *q;                    /* its clock */
	struct slot *slots, *head, *tail; /* to send */
	struct load load;
	struct rng rng;
	uint64_t made, done;
	uint32_t window;
	bool blocked;
	ps_t from; /* measured from then on */
	/* of the load under way */
	uint64_t *ps; /* latencies, room for `room` */
	uint64_t n_ps, room, bytes, hit_bytes, hit_ps, hits;
};

/* Requests that belong together, one to each array. */
static uint32_t parts(const struct load *l)
{
	return l->kind == TRIAD ? 3 : l->kind == COPY ? 2 : 1;
}

static void queue(struct probe *p, struct slot *s)
{
	s->next = NULL;
	if (p->tail)
		p->tail->next = s;
	else
		p->head = s;
	p->tail = s;
}

/* The next request of the load, in a slot; false: there is none. */
static bool probe_mem_fill(struct probe *p, struct slot *s)
{
	const struct load *l = &p->load;
	uint64_t at;
	bool write = l->kind == WRITE || (s->part && s->part == parts(l) - 1);

	if (s->part) {
		at = s->run.addr + l->to;
	} else {
		if (p->made == l->n)
			return false;
		at = l->base + p->made % (l->bytes / l->size) * l->size;
		if (l->cycle)
			at = l->cycle[p->made % (l->bytes / BLOCK)] * BLOCK;
		if (l->kind == CHASE && l->size < BLOCK)
			at += rng_below(&p->rng, BLOCK / l->size) * l->size;
		p->made++;
	}
	s->run = (struct mem_run){ at, l->size };
	s->rq = (struct mem_req){
		.runs = &s->run,
		.n_runs = 1,
		.bytes = l->size,
		.write = write,
		.cls = MEM_ACTIVATION,
		.from = &p->comp,
		.one_core = l->one_core,
	};
	return true;
}

/* A chase waits a while at random between answer and question, or it could fall into step with the refresh and always
 * meet it, or never. */
static ps_t pause_of(struct probe *p)
{
	return p->load.kind == CHASE ? clock_edge(rng_below(&p->rng, 1024), p->comp.env.clock_khz) : 0;
}

static void pump(struct probe *p)
{
	while (!p->blocked && p->head) {
		struct slot *s = p->head;

		if (!s->rq.bytes && !probe_mem_fill(p, s)) {
			p->head = s->next;
			p->tail = p->head ? p->tail : NULL;
			continue;
		}
		s->rq.not_before = s->sent = evq_now(p->q) + pause_of(p);
		if (!comp_send(p->comp.env.below, &s->rq)) {
			p->blocked = true;
			return;
		}
		p->head = s->next;
		p->tail = p->head ? p->tail : NULL;
	}
}

static void probe_mem_start(struct probe *p)
{
	p->from = evq_now(p->q);
	p->n_ps = p->bytes = p->hit_bytes = p->hit_ps = p->hits = 0;
}

static void probe_mem_reply(struct comp *c, struct mem_req *r)
{
	struct probe *p = (struct probe *)c;
	struct slot *s = (struct slot *)r; /* rq is its first member */
	ps_t took = evq_now(p->q) - s->sent;

	if (p->n_ps < p->room)
		p->ps[p->n_ps++] = took;
	p->bytes += r->bytes;
	p->hit_bytes += r->hit_bytes;
	if (r->hit_bytes == r->bytes) {
		p->hit_ps += took;
		p->hits++;
	}
	s->part = (s->part + 1) % parts(&p->load);
	p->done += !s->part;
	if (!s->part && p->done == p->load.skip)
		probe_mem_start(p);
	s->rq.bytes = 0;
	queue(p, s);
	pump(p);
}

static void probe_mem_retry(struct comp *c, struct comp *below)
{
	struct probe *p = (struct probe *)c;

	(void)below;
	p->blocked = false;
	pump(p);
}

static void probe_mem_explain(const struct comp *c, struct str *out)
{
	const struct probe *p = (const struct probe *)c;

	str_addf(out, "probe: %llu of %llu requests done", (unsigned long long)p->done, (unsigned long long)p->load.n);
}

static const struct comp_ops probe_ops = {
	.kind = "probe", .reply = probe_mem_reply, .retry = probe_mem_retry, .explain = probe_mem_explain
};

/* Runs a load to its end; *took is its time. */
static int probe_mem_run(struct probe *p, const struct load *l, ps_t *took, struct err *e)
{
	uint64_t room = l->n * parts(l);

	if (room > p->room) {
		uint64_t *more = realloc(p->ps, room * sizeof *more);

		if (!more)
			return err_set(e, ERR_NOMEM, "out of memory for %llu latencies", (unsigned long long)room);
		p->ps = more;
		p->room = room;
	}
	p->load = *l;
	p->made = p->done = 0;
	probe_mem_start(p);
	p->head = p->tail = NULL;
	for (uint32_t i = 0; i < (l->kind == CHASE ? 1 : p->window); i++) {
		p->slots[i] = (struct slot){ .next = NULL };
		queue(p, &p->slots[i]);
	}
	pump(p);
	while (p->done < l->n)
		if (!evq_step(p->q))
			return err_set(e, ERR_STUCK, "the memory is stuck: %llu of %llu requests were answered",
			               (unsigned long long)p->done, (unsigned long long)l->n);
	*took = evq_now(p->q) - p->from;
	while (evq_step(p->q)) /* what is posted goes out before the next load */
		continue;
	return 0;
}

static int probe_mem_by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static struct probe_mem_point probe_mem_measured(struct probe *p, const char *what, uint64_t ws, ps_t took,
                                                 uint64_t peak)
{
	struct probe_mem_point x = { .what = what, .ws_bytes = ws, .hit_ns = -1, .miss_ns = -1 };
	uint64_t sum = 0;

	for (uint64_t i = 0; i < p->n_ps; i++)
		sum += p->ps[i];
	qsort(p->ps, p->n_ps, sizeof *p->ps, probe_mem_by_value);
	x.hit = p->bytes ? (double)p->hit_bytes / (double)p->bytes : 0;
	x.gbps = took ? (double)p->bytes * 1000 / (double)took : 0;
	x.efficiency = peak ? x.gbps * 1e9 / (double)peak : -1;
	x.mean_ns = (double)sum / (double)p->n_ps / 1000;
	x.p99_ns = (double)p->ps[(p->n_ps * 99 + 99) / 100 - 1] / 1000;
	if (p->hits)
		x.hit_ns = (double)p->hit_ps / (double)p->hits / 1000;
	if (p->hits < p->n_ps)
		x.miss_ns = (double)(sum - p->hit_ps) / (double)(p->n_ps - p->hits) / 1000;
	return x;
}

static void down(struct probe *p)
{
	memory_alone_down(&p->memory);
	free(p->slots);
	free(p->ps);
}

static int probe_mem_up(struct probe *p, const struct machine_cfg *c, const struct probe_mem_opts *o,
                        struct probe_mem_opts *r, struct err *e)
{
	uint64_t caches = c->mem.l2.size + c->mem.l2.victim;

	*r = *o;
	r->tile = o->tile ? o->tile : c->dma.tile;
	r->window = o->window ? o->window : 2 * c->dma.outstanding;
	r->largest = o->largest ? o->largest : 8 * caches > 16 * MIB ? 8 * caches : 16 * MIB;
	r->samples = o->samples ? o->samples : 4000;
	*p = (struct probe){ .window = r->window };
	while (!o->tile && (r->tile > SMALLEST || (r->tile & (r->tile - 1))))
		r->tile = r->tile > SMALLEST ? SMALLEST : r->tile & (r->tile - 1);
	if (r->tile > SMALLEST || (r->tile & (r->tile - 1)))
		return err_set(e, ERR_USAGE, "a tile is a power of two up to the smallest working set, 64 KiB");
	if (r->largest < SMALLEST)
		return err_set(e, ERR_USAGE, "the smallest working set is 64 KiB, larger than the largest");
	if (!(p->slots = calloc(p->window, sizeof *p->slots))) {
		err_set(e, ERR_NOMEM, "out of memory for %u requests", p->window);
		return -1;
	}
	rng_seed(&p->rng, r->seed, "probe");
	return 0;
}

/* A machine with nothing in its caches, for the next point. */
static int fresh(struct probe *p, const struct machine_cfg *c, struct err *e)
{
	memory_alone_down(&p->memory);
	if (memory_alone_up(&p->memory, &c->mem, c->clock, e) < 0)
		return err_add(e, "building the memory of '%s'", c->name);
	p->q = p->memory.env.q;
	p->comp = (struct comp){ &probe_ops, p->memory.env };
	return 0;
}

/* 64 KiB, 128, 192, 256, 384, ... */
static uint64_t larger(uint64_t ws)
{
	if (ws == SMALLEST)
		return 2 * ws;
	return ws & (ws - 1) ? ws / 3 * 4 : ws / 2 * 3;
}

static struct load reads(const struct probe_mem_opts *o, uint64_t bytes, uint64_t least)
{
	uint64_t passes = bytes < least ? (least + bytes - 1) / bytes : 1;

	return (struct load){
		.kind = READ, .bytes = bytes / o->tile * o->tile, .size = o->tile, .n = passes * (bytes / o->tile)
	};
}

/* A random order of the set's blocks, in which they are then read round and round. */
static uint32_t *cycle_of(struct probe *p, uint64_t blocks, struct err *e)
{
	uint32_t *c = malloc(blocks * sizeof *c);

	if (!c) {
		err_set(e, ERR_NOMEM, "out of memory for a set of %llu blocks", (unsigned long long)blocks);
		return NULL;
	}
	for (uint64_t i = 0; i < blocks; i++) {
		uint64_t k = rng_below(&p->rng, i + 1);

		c[i] = c[k];
		c[k] = (uint32_t)i;
	}
	return c;
}

static int chase(struct probe *p, const struct machine_cfg *c, const struct probe_mem_opts *r, uint64_t ws,
                 struct probe_mem_point *x, struct err *e)
{
	uint64_t blocks = ws / BLOCK, line = c->mem.l2.line < BLOCK ? c->mem.l2.line : BLOCK;
	struct load warm = { .kind = READ, .bytes = ws, .size = BLOCK, .n = 2 * blocks, .one_core = true };
	struct load lines = { .kind = CHASE, .one_core = true, .bytes = ws, .size = line, .n = r->samples };
	uint32_t *cycle = cycle_of(p, blocks, e);
	ps_t took;
	int rc = -1;

	warm.cycle = lines.cycle = cycle;
	if (cycle && fresh(p, c, e) == 0 && probe_mem_run(p, &warm, &took, e) == 0 &&
	    probe_mem_run(p, &lines, &took, e) == 0) {
		*x = probe_mem_measured(p, "chase", ws, took, 0);
		x->gbps = (double)line / x->mean_ns; /* without the pauses */
		rc = 0;
	}
	free(cycle);
	return rc;
}

int probe_mem_latency(const struct machine_cfg *c, const struct probe_mem_opts *o, struct probe_mem_opts *r,
                      struct probe_mem_point *points, struct err *e)
{
	struct probe p;
	int n = 0;

	if (probe_mem_up(&p, c, o, r, e) < 0)
		return -1;
	for (uint64_t ws = SMALLEST; !r->n_sets && ws <= r->largest && n < PROBE_MEM_POINTS; ws = larger(ws))
		if (chase(&p, c, r, ws, &points[n++], e) < 0)
			goto fail;
	for (; n < r->n_sets && n < PROBE_MEM_POINTS; n++) {
		uint64_t ws = (r->sets[n] + BLOCK / 2) / BLOCK * BLOCK;

		if (chase(&p, c, r, ws ? ws : BLOCK, &points[n], e) < 0)
			goto fail;
	}
	down(&p);
	return n;
fail:
	down(&p);
	return -1;
}

int probe_mem_l2(const struct machine_cfg *c, const struct probe_mem_opts *o, struct probe_mem_opts *r,
                 struct probe_mem_point *points, struct err *e)
{
	uint64_t peak = l2_bandwidth(&c->mem.l2, c->clock);
	struct probe p;
	ps_t took;
	int n = 0;

	if (!c->mem.l2.size)
		return err_set(e, ERR_CONFIG, "this machine has no L2: 'l2.size' is 0");
	if (probe_mem_up(&p, c, o, r, e) < 0)
		return -1;
	for (uint64_t ws = SMALLEST; ws <= r->largest && n < PROBE_MEM_POINTS; ws = larger(ws)) {
		struct load warm = reads(r, ws, 2 * ws), again = reads(r, ws, 32 * MIB);

		if (fresh(&p, c, e) < 0 || probe_mem_run(&p, &warm, &took, e) < 0 ||
		    probe_mem_run(&p, &again, &took, e) < 0)
			goto fail;
		points[n++] = probe_mem_measured(&p, "read", ws, took, peak);
	}
	down(&p);
	return n;
fail:
	down(&p);
	return -1;
}

int probe_mem_stream(const struct machine_cfg *c, const struct probe_mem_opts *o, struct probe_mem_opts *r,
                     struct probe_mem_point *points, struct err *e)
{
	static const struct {
		const char *name;
		int kind;
	} kernels[] = {
		{ "read", READ },
		{ "write", WRITE },
		{ "triad", TRIAD },
		{ "copy", COPY },
	};
	uint64_t caches = c->mem.l2.size + c->mem.l2.victim;
	struct probe p;
	int n = 0;

	if (probe_mem_up(&p, c, o, r, e) < 0)
		return -1;
	if (!o->largest && r->largest < 256 * MIB)
		r->largest = 256 * MIB;
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
		/* Measured where caches and queues are full, hashed sets too: what goes in comes out. */
		uint64_t first = (2 * caches + 4 * MIB) / r->tile, then = r->largest / r->tile;
		struct load l = {
			.kind = kernels[i].kind, .bytes = (first + then) * r->tile, .size = r->tile,
			.n = first + then, .skip = first,
		}, after;
		struct probe_mem_point x;
		ps_t took, from;

		l.to = l.bytes / MIB * MIB + 17 * MIB; /* the arrays do not lie a power of two apart */
		if (fresh(&p, c, e) < 0 || probe_mem_run(&p, &l, &took, e) < 0)
			goto fail;
		from = p.from;
		x = probe_mem_measured(&p, kernels[i].name, p.bytes, took, 0);
		/* A write is answered before DRAM has it: a read of other bytes, behind them all, ends when it has. */
		after = (struct load){
			.kind = READ,
			.base = 3 * l.to,
			.bytes = r->tile,
			.size = r->tile,
			.n = 1,
		};
		if (probe_mem_run(&p, &after, &took, e) < 0)
			goto fail;
		if (l.kind != READ)
			x.gbps = (double)x.ws_bytes * 1000 / (double)(p.from + took - from);
		x.efficiency = x.gbps * 1e9 / (double)dram_peak(&c->mem.dram);
		points[n++] = x;
	}
	down(&p);
	return n;
fail:
	down(&p);
	return -1;
}
