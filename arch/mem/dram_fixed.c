/* dram_fixed.c - the trivial twin of DRAM: one pipe of `fixed_bandwidth` and a latency. No banks, no refresh, no
 * turnaround: what it takes longer than this, a run owes to the real one. */
#include <stdlib.h>

#include "arch/mem/dram.h"
#include "arch/mem/memq.h"
#include "arch/watch.h"

struct entry {
	struct ev ev;
	struct mem_req *rq; /* NULL: posted */
	struct entry *next;
};

struct dram_fixed {
	struct comp comp;
	uint64_t bandwidth;
	ps_t latency, free_at;
	struct entry *entries, *spare;
	uint32_t queue, held;
	struct memq_wait wait;
	uint64_t read_bytes, write_bytes, read_requests, write_requests, refusals, busy_ps;
};

static bool room(const struct comp *c)
{
	return ((const struct dram_fixed *)c)->spare != NULL;
}

static void finished(void *owner, struct ev *ev)
{
	struct dram_fixed *d = owner;
	struct entry *x = (struct entry *)ev; /* ev is its first member */
	struct mem_req *r = x->rq;

	x->next = d->spare;
	d->spare = x;
	d->held--;
	watch_level(d->comp.env.watch, WATCH_DRAM, ev->when, d->held);
	memq_wait_wake(&d->wait, &d->comp, room);
	if (r)
		r->from->ops->reply(r->from, r);
}

static bool take(struct comp *c, struct mem_req *r)
{
	struct dram_fixed *d = (struct dram_fixed *)c;
	ps_t door = ps_max(evq_now(d->comp.env.q), r->not_before), span, end;
	struct entry *x = d->spare;

	if (!x || !memq_wait_turn(&d->wait, r->from)) {
		memq_wait_add(&d->wait, r->from);
		d->refusals++;
		return false;
	}
	d->spare = x->next;
	d->held++;
	span = clock_transfer(r->bytes, d->bandwidth);
	d->free_at = ps_max(d->free_at, door) + span;
	d->busy_ps += span;
	end = d->free_at + d->latency;
	watch_busy(d->comp.env.watch, RES_DRAM, d->free_at - span, d->free_at, WATCH_NO_CMD);
	watch_moved(d->comp.env.watch, RES_DRAM, r->write, d->free_at - span, d->free_at, r->bytes);
	watch_level(d->comp.env.watch, WATCH_DRAM, evq_now(d->comp.env.q), d->held);
	if (r->write) {
		d->write_bytes += r->bytes;
		d->write_requests++;
	} else {
		d->read_bytes += r->bytes;
		d->read_requests++;
	}
	x->rq = NULL;
	if (!r->posted) {
		x->rq = r;
		r->t_dram = door;
		r->t_dram_done = end;
		r->t_first = end - span;
		r->dram_bytes = r->write ? 0 : r->bytes;
	}
	evq_push(d->comp.env.q, &x->ev, end);
	return true;
}

static void explain(const struct comp *c, struct str *out)
{
	const struct dram_fixed *d = (const struct dram_fixed *)c;

	str_addf(out, "dram: %u of %u requests held, the pipe is free at %llu ps, %u refused senders waiting", d->held,
	         d->queue, (unsigned long long)d->free_at, d->wait.n);
}

static void reset(struct comp *c)
{
	struct dram_fixed *d = (struct dram_fixed *)c;

	d->spare = NULL;
	for (uint32_t i = d->queue; i-- > 0;) {
		evq_cancel(d->comp.env.q, &d->entries[i].ev);
		d->entries[i].rq = NULL;
		d->entries[i].next = d->spare;
		d->spare = &d->entries[i];
	}
	d->held = 0;
	d->free_at = 0;
	memq_wait_reset(&d->wait);
}

static void release(struct comp *c)
{
	struct dram_fixed *d = (struct dram_fixed *)c;

	if (!d)
		return;
	free(d->entries);
	free(d);
}

static int register_stats(struct dram_fixed *d, struct err *e)
{
	const struct stat_row rows[] = {
		{ "dram.read_bytes", "B", "bytes read, as asked", STAT_COUNT, &d->read_bytes },
		{ "dram.write_bytes", "B", "bytes written, as asked", STAT_COUNT, &d->write_bytes },
		{ "dram.read_requests", "", "tile requests that read", STAT_COUNT, &d->read_requests },
		{ "dram.write_requests", "", "tile requests that write", STAT_COUNT, &d->write_requests },
		{ "dram.refusals", "", "requests refused because the queue was full", STAT_COUNT, &d->refusals },
		{ "dram.busy_ps", "ps", "time the pipe was busy", STAT_COUNT, &d->busy_ps },
	};

	return stat_add_all(d->comp.env.stats, rows, sizeof rows / sizeof *rows, e);
}

static struct comp *make(const struct comp_env *env, const void *cfg, struct err *e)
{
	const struct dram_cfg *k = cfg;
	struct dram_fixed *d = calloc(1, sizeof *d);

	if (!d)
		goto nomem;
	d->comp.ops = &dram_fixed_ops;
	d->comp.env = *env;
	d->bandwidth = k->fixed_bandwidth;
	d->latency = k->fixed_latency;
	d->queue = k->queue;
	if (!(d->entries = calloc(k->queue, sizeof *d->entries)) || evq_reserve(env->q, k->queue) < 0)
		goto nomem;
	for (uint32_t i = 0; i < k->queue; i++)
		ev_init(&d->entries[i].ev, EV_REPLY, finished, d);
	if (register_stats(d, e) < 0)
		goto fail;
	reset(&d->comp);
	return &d->comp;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for 'dram'");
fail:
	release((struct comp *)d);
	return NULL;
}

const struct comp_ops dram_fixed_ops = {
	.kind = "dram_fixed",
	.make = make,
	.free = release,
	.send = take,
	.explain = explain,
	.reset = reset,
};
