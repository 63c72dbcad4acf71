/* dram_fixed.c - the trivial twin of DRAM: one pipe of `fixed_bandwidth` and a latency. No banks, no refresh, no
 * turnaround: what it takes longer than this, a run owes to the real one. What somebody waits for goes first (bw_server.h), by
 * bytes where the real one does by pieces. */
#include <stdlib.h>

#include "arch/mem/bw_server.h"
#include "arch/mem/dram.h"
#include "arch/mem/memq.h"
#include "arch/watch.h"

struct entry {
	struct bw_server_job ride; /* in the pipe: its event comes the latency later */
	struct mem_req *rq;        /* NULL: posted */
	struct entry *next;        /* spare */
	uint64_t bytes;
	bool write;
};

static const struct mem_req posted; /* of no urgency: what is posted is not kept */

struct dram_fixed {
	struct comp comp;
	uint64_t bandwidth;
	ps_t latency;
	struct bw_server pipe;
	struct entry *entries, *spare;
	uint32_t queue, held;
	struct memq_wait wait;
	uint64_t read_bytes, write_bytes, read_requests, write_requests, refusals, busy_ps;
	uint64_t posted_bytes; /* of the last pass, not through the pipe when it was over */
	ps_t posted_ps;
};

static bool dram_fixed_room(const struct comp *c)
{
	return ((const struct dram_fixed *)c)->spare != NULL;
}

static void finished(void *owner, struct ev *ev)
{
	struct dram_fixed *d = owner;
	struct entry *x = (struct entry *)ev; /* ev is its ride's first member, and that its own */
	struct mem_req *r = x->rq;
	const ps_t end = ev->when - d->latency, span = clock_transfer(x->bytes, d->bandwidth);

	bw_server_over(&d->pipe, &x->ride);
	watch_busy(d->comp.env.watch, RES_DRAM, end - span, end, WATCH_NO_CMD);
	watch_moved(d->comp.env.watch, RES_DRAM, x->write, end - span, end, x->bytes);
	x->next = d->spare;
	d->spare = x;
	d->held--;
	watch_level(d->comp.env.watch, WATCH_DRAM, ev->when, d->held);
	memq_wait_wake(&d->wait, &d->comp, dram_fixed_room);
	if (r) {
		r->t_dram_done = ev->when;
		r->from->ops->reply(r->from, r);
	}
}

static bool dram_fixed_take(struct comp *c, struct mem_req *r)
{
	struct dram_fixed *d = (struct dram_fixed *)c;
	const ps_t door = ps_max(evq_now(d->comp.env.q), r->not_before), span = clock_transfer(r->bytes, d->bandwidth);
	ps_t first;
	struct entry *x = d->spare;

	if (!x || !memq_wait_turn(&d->wait, r->from)) {
		memq_wait_add(&d->wait, r->from);
		d->refusals++;
		return false;
	}
	d->spare = x->next;
	d->held++;
	d->busy_ps += span;
	watch_level(d->comp.env.watch, WATCH_DRAM, evq_now(d->comp.env.q), d->held);
	if (r->write) {
		d->write_bytes += r->bytes;
		d->write_requests++;
	} else {
		d->read_bytes += r->bytes;
		d->read_requests++;
	}
	x->rq = r->posted ? NULL : r;
	x->bytes = r->bytes;
	x->write = r->write;
	/* All of them are as much later as the latency, so none is in another's way for it. */
	first = bw_server_put(&d->pipe, &x->ride, x->rq ? x->rq : &posted, door + d->latency, span);
	if (x->rq) {
		r->t_dram = door;
		r->t_first = first;
		r->dram_bytes = r->write ? 0 : r->bytes;
	}
	return true;
}

/* What rides now is posted, all else was waited for. */
static void pass_over(struct comp *c)
{
	struct dram_fixed *d = (struct dram_fixed *)c;
	const ps_t now = evq_now(c->env.q);

	d->write_bytes += d->posted_bytes;
	d->busy_ps += d->posted_ps;
	d->posted_bytes = d->posted_ps = 0;
	for (const struct bw_server_job *r = d->pipe.first; r; r = r->behind) {
		const struct entry *x = (const struct entry *)r;
		const ps_t span = clock_transfer(x->bytes, d->bandwidth), end = r->ev.when - d->latency,
			   left = ps_min(span, end > now ? end - now : 0);

		d->posted_ps += left;
		d->posted_bytes += left == span ? x->bytes : left * (d->bandwidth / 1000000) / 1000000;
	}
	d->write_bytes -= d->posted_bytes;
	d->busy_ps -= d->posted_ps;
}

static void dram_fixed_explain(const struct comp *c, struct str *out)
{
	const struct dram_fixed *d = (const struct dram_fixed *)c;

	str_addf(out, "dram: %u of %u requests held, %u refused senders waiting", d->held, d->queue, d->wait.n);
}

static void dram_fixed_reset(struct comp *c)
{
	struct dram_fixed *d = (struct dram_fixed *)c;

	d->spare = NULL;
	for (uint32_t i = d->queue; i-- > 0;) {
		evq_cancel(d->comp.env.q, &d->entries[i].ride.ev);
		d->entries[i].rq = NULL;
		d->entries[i].next = d->spare;
		d->spare = &d->entries[i];
	}
	d->held = 0;
	d->posted_bytes = d->posted_ps = 0;
	bw_server_reset(&d->pipe, c->env.q);
	memq_wait_reset(&d->wait);
}

static void dram_fixed_release(struct comp *c)
{
	struct dram_fixed *d = (struct dram_fixed *)c;

	if (!d)
		return;
	free(d->entries);
	free(d);
}

static int dram_fixed_register_stats(struct dram_fixed *d, struct err *e)
{
	const struct stat_row rows[] = {
		{ "dram.read_bytes", "B", "bytes read, as asked", STAT_COUNT, &d->read_bytes },
		{ "dram.write_bytes", "B", "bytes written, when they were", STAT_COUNT, &d->write_bytes },
		{ "dram.read_requests", "", "tile requests that read", STAT_COUNT, &d->read_requests },
		{ "dram.write_requests", "", "tile requests that write", STAT_COUNT, &d->write_requests },
		{ "dram.refusals", "", "requests refused because the queue was full", STAT_COUNT, &d->refusals },
		{ "dram.posted_bytes", "B", "bytes to be written that wait", STAT_LEVEL, &d->posted_bytes },
		{ "dram.busy_ps", "ps", "time the pipe was busy", STAT_COUNT, &d->busy_ps },
	};

	return stat_add_all(d->comp.env.stats, rows, sizeof rows / sizeof *rows, e);
}

static struct comp *dram_fixed_make(const struct comp_env *env, const void *cfg, struct err *e)
{
	const struct dram_cfg *k = cfg;
	struct dram_fixed *d = calloc(1, sizeof *d);

	if (!d)
		goto nomem;
	d->comp.ops = &dram_fixed_ops;
	d->comp.env = *env;
	d->bandwidth = dram_fixed_rate(k);
	d->latency = k->fixed_latency;
	d->queue = k->queue;
	if (!(d->entries = calloc(k->queue, sizeof *d->entries)) || evq_reserve(env->q, k->queue) < 0)
		goto nomem;
	for (uint32_t i = 0; i < k->queue; i++)
		ev_init(&d->entries[i].ride.ev, EV_REPLY, finished, d);
	if (dram_fixed_register_stats(d, e) < 0)
		goto fail;
	dram_fixed_reset(&d->comp);
	return &d->comp;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for 'dram'");
fail:
	dram_fixed_release((struct comp *)d);
	return NULL;
}

const struct comp_ops dram_fixed_ops = {
	.kind = "dram_fixed",
	.make = dram_fixed_make,
	.free = dram_fixed_release,
	.send = dram_fixed_take,
	.explain = dram_fixed_explain,
	.pass_over = pass_over,
	.reset = dram_fixed_reset,
};
