/* dram.c - the block around dram_tile: a bounded queue of requests, replies, statistics.
 *
 * A request is served in closed form when it is taken; what is kept is only when it ends. */
#include "arch/dram.h"

#include <assert.h>
#include <stdlib.h>

#include "arch/dram_tile.h"
#include "arch/memq.h"

struct entry {
	struct ev ev;                /* it ends */
	struct mem_req *rq;          /* NULL: posted */
	struct entry *next;          /* spare */
};

struct dram {
	struct comp comp;
	struct dram_timing t;
	struct dram_tile *tile;
	struct entry *entries, *spare;
	uint32_t queue;
	uint64_t held;               /* entries in use; a statistic too */
	ps_t busy_since, last_end;
	uint64_t windows;            /* refresh windows counted so far */
	struct memq_wait wait;
	struct dram_tile_stats s;
	uint64_t read_bytes, write_bytes, rounding_bytes, read_requests, write_requests, refusals, refreshes, busy_ps;
	uint64_t held_most;
};

static bool room(const struct comp *c)
{
	return ((const struct dram *)c)->spare != NULL;
}

static void count_refreshes(struct dram *d)
{
	uint64_t n = dram_tile_windows(&d->t, evq_now(d->comp.env.q));

	if (n > d->windows)
		d->refreshes += (n - d->windows) * d->t.units;
	d->windows = n;
}

static void finished(void *owner, struct ev *ev)
{
	struct dram *d = owner;
	struct entry *x = (struct entry *)ev; /* ev is its first member */
	struct mem_req *r = x->rq;

	assert(d->held > 0);
	x->next = d->spare;
	d->spare = x;
	if (--d->held == 0)
		d->busy_ps += ev->when - d->busy_since;
	count_refreshes(d);
	memq_wait_wake(&d->wait, &d->comp, room);
	if (r)
		r->from->ops->reply(r->from, r);
}

static bool take(struct comp *c, struct mem_req *r)
{
	struct dram *d = (struct dram *)c;
	ps_t now = evq_now(d->comp.env.q), door = ps_max(now, r->not_before);
	struct entry *x = d->spare;
	uint64_t bursts = d->s.bursts;

	if (!x || !memq_wait_turn(&d->wait, r->from)) {
		memq_wait_add(&d->wait, r->from); /* I3 */
		d->refusals++;
		return false;
	}
	d->spare = x->next;
	if (d->held++ == 0)
		d->busy_since = now;
	if (d->held > d->held_most)
		d->held_most = d->held;
	d->last_end = dram_tile_serve(d->tile, door + d->t.t_controller, r->runs, r->n_runs, r->write, &d->s);
	d->rounding_bytes += (d->s.bursts - bursts) * d->t.burst_bytes - r->bytes; /* I2 */
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
		r->t_dram_done = d->last_end;
		r->dram_bytes = r->write ? 0 : r->bytes;
	}
	evq_push(d->comp.env.q, &x->ev, d->last_end);
	return true;
}

static void explain(const struct comp *c, struct str *out)
{
	const struct dram *d = (const struct dram *)c;

	str_addf(out, "dram: %llu of %u requests held", (unsigned long long)d->held, d->queue);
	if (d->held)
		str_addf(out, ", the last one taken ends at %llu ps", (unsigned long long)d->last_end);
	str_addf(out, ", %u refused senders waiting", d->wait.n);
}

static void reset(struct comp *c)
{
	struct dram *d = (struct dram *)c;

	d->spare = NULL;
	for (uint32_t i = d->queue; i-- > 0;) {
		evq_cancel(d->comp.env.q, &d->entries[i].ev);
		d->entries[i].rq = NULL;
		d->entries[i].next = d->spare;
		d->spare = &d->entries[i];
	}
	d->held = 0;
	d->last_end = 0;
	d->windows = dram_tile_windows(&d->t, evq_now(d->comp.env.q));
	memq_wait_reset(&d->wait);
	dram_tile_reset(d->tile);
}

static void release(struct comp *c)
{
	struct dram *d = (struct dram *)c;

	if (!d)
		return;
	dram_tile_free(d->tile);
	free(d->entries);
	free(d);
}

static int register_stats(struct dram *d, struct err *e)
{
	const struct { const char *name, *unit, *help; enum stat_kind kind; const uint64_t *at; } rows[] = {
		{ "dram.read_bytes", "B", "bytes read, as asked", STAT_COUNT, &d->read_bytes },
		{ "dram.write_bytes", "B", "bytes written, as asked", STAT_COUNT, &d->write_bytes },
		{ "dram.rounding_bytes", "B", "bytes moved beyond those asked: whole bursts", STAT_COUNT, &d->rounding_bytes },
		{ "dram.read_requests", "", "tile requests that read", STAT_COUNT, &d->read_requests },
		{ "dram.write_requests", "", "tile requests that write", STAT_COUNT, &d->write_requests },
		{ "dram.refusals", "", "requests refused because the queue was full", STAT_COUNT, &d->refusals },
		{ "dram.row_hits", "", "bursts that found their row open", STAT_COUNT, &d->s.row_hits },
		{ "dram.row_misses", "", "bursts that had to open a row", STAT_COUNT, &d->s.activates },
		{ "dram.activates", "", "rows opened, without those a refresh closed", STAT_COUNT, &d->s.activates },
		{ "dram.refreshes", "", "all-bank refreshes, over pseudo-channels", STAT_COUNT, &d->refreshes },
		{ "dram.turnarounds", "", "changes of bus direction, over pseudo-channels", STAT_COUNT, &d->s.turnarounds },
		{ "dram.bus_ps", "ps", "data-bus time, summed over pseudo-channels", STAT_COUNT, &d->s.bus_ps },
		{ "dram.busy_ps", "ps", "time with a request held", STAT_COUNT, &d->busy_ps },
		{ "dram.held_most", "", "most requests held at a time", STAT_LEVEL, &d->held_most },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (stat_add(d->comp.env.stats, rows[i].name, rows[i].unit, rows[i].help, rows[i].kind, rows[i].at, e) < 0)
			return -1;
	return 0;
}

static struct comp *make(const struct comp_env *env, const void *cfg, struct err *e)
{
	const struct dram_cfg *k = cfg;
	struct dram *d = calloc(1, sizeof *d);

	if (!d)
		goto nomem;
	d->comp.ops = &dram_ops;
	d->comp.env = *env;
	d->t = dram_timing(k);
	d->queue = k->queue;
	if (!(d->entries = calloc(k->queue, sizeof *d->entries)) || evq_reserve(env->q, k->queue) < 0)
		goto nomem;
	for (uint32_t i = 0; i < k->queue; i++)
		ev_init(&d->entries[i].ev, EV_REPLY, finished, d);
	if (!(d->tile = dram_tile_new(&d->t, e)) || register_stats(d, e) < 0)
		goto fail;
	reset(&d->comp);
	return &d->comp;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for 'dram'");
fail:
	release((struct comp *)d);
	return NULL;
}

const struct comp_ops dram_ops = {
	.kind = "dram", .make = make, .free = release, .send = take, .explain = explain, .reset = reset,
};
