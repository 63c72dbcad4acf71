/* dram.c - the block around dram_tile: a bounded queue of requests, their order, replies, statistics.
 *
 * Requests wait in the queue and are handed to dram_tile in pieces, just early enough that the bus never runs dry
 * (`ahead`): so a request somebody waits for overtakes what is only fetched ahead, at the next piece. Write-backs,
 * which nobody waits for, gather in a write queue that is drained when no other request is at the door or when it has
 * filled to its high mark, then down to its low mark: turning the bus pays off. Small ones share a place of that queue,
 * in order of address, as far as the channels' own write queues (`dram.write_queue`) would hold them all at its high
 * mark: a controller writes what it holds of a row together. Otherwise first come, first served. A piece's service is
 * closed form.
 * Written bytes count when they go out, not when they come: what is left in the write queue counts for the pass that it
 * takes time in. */
#include "arch/mem/dram.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "arch/mem/dram_tile.h"
#include "arch/mem/memq.h"
#include "arch/watch.h"

#define PIECE_PS  (100 * PS_NS) /* of pin time: what an urgent request may have to wait for */
#define PIECE_MIN 4096
/* How far ahead of the bus pieces are handed out: a row conflict of the slowest kind and a piece. No device time is in
 * it, else a shorter latency would look less far ahead, and a stream could become slower (p_memory.c found 5 %). */
#define AHEAD_PS (200 * PS_NS)

struct entry {
	struct ev ev;       /* it ends */
	struct mem_req *rq; /* NULL: posted, its sender does not keep it */
	struct entry *next; /* in the queue, or spare */
	const struct mem_run *runs;
	struct mem_run own[MEMQ_RUNS]; /* of posted requests */
	uint32_t n_runs, run;          /* next to serve: runs[run], from `offset` */
	uint64_t offset, bytes;
	bool write;
	ps_t door, end;
};

struct dram {
	struct comp comp;
	struct dram_timing t;
	struct dram_tile *tile;
	struct entry *entries, *spare;
	struct line {
		struct entry *first, **last;
	} asked, posted;    /* waiting, in order of arrival */
	struct entry *last; /* that came to posted, while it is there; else NULL */
	uint32_t n_posted, high, low;
	bool draining;
	struct ev issue;
	ps_t ahead, bus_end;
	ps_t origin;       /* refreshes are due from there on */
	uint64_t piece;    /* bytes */
	uint64_t together; /* bytes of posted writes that share a place in the queue */
	uint32_t queue;
	uint64_t held; /* entries in use; a statistic too */
	ps_t busy_since, last_end;
	uint64_t windows; /* refresh windows counted so far */
	struct memq_wait wait;
	struct dram_tile_stats s;
	uint64_t read_bytes, write_bytes, rounding_bytes, read_requests, write_requests, refusals, refreshes, busy_ps;
	uint64_t held_most;
	uint64_t posted_bytes; /* in the write queue */
	uint64_t streak;       /* written without a pause of the bus, so far */
	uint64_t in_air;       /* handed out before the last pass was over, and not through the pins by then */
};

static bool dram_room(const struct comp *c)
{
	return ((const struct dram *)c)->spare != NULL;
}

static void count_refreshes(struct dram *d)
{
	uint64_t n = dram_tile_windows(&d->t, evq_now(d->comp.env.q) - d->origin);

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
	if (--d->held == 0) {
		d->busy_ps += ev->when - d->busy_since;
		watch_busy(d->comp.env.watch, RES_DRAM, d->busy_since, ev->when, WATCH_NO_CMD);
	}
	watch_level(d->comp.env.watch, WATCH_DRAM, ev->when, d->held);
	count_refreshes(d);
	memq_wait_wake(&d->wait, &d->comp, dram_room);
	if (r)
		r->from->ops->reply(r->from, r);
}

/* The next request of a line at the door, the most urgent first; NULL: none is there yet, and *when is when one will
 * be. */
static struct entry **next_in(struct line *l, ps_t now, ps_t *when)
{
	struct entry **best = NULL;
	int most = -1;

	for (struct entry **x = &l->first; *x && most < MEM_BLOCKING; x = &(*x)->next) {
		int urgency = (*x)->rq ? mem_urgency((*x)->rq) : MEM_AHEAD;

		if ((*x)->door > now) {
			*when = ps_min(*when, (*x)->door);
		} else if (urgency > most) {
			most = urgency;
			best = x;
		}
	}
	return best;
}

/* Reads before write-backs, unless those are being drained. */
static struct entry **next_entry(struct dram *d, ps_t now, struct line **from, ps_t *when)
{
	struct entry **x = NULL;

	d->draining = d->n_posted > (d->draining ? d->low : d->high);
	*from = d->draining ? &d->posted : &d->asked;
	if ((x = next_in(*from, now, when)))
		return x;
	*from = d->draining ? &d->asked : &d->posted;
	return next_in(*from, now, when);
}

/* A piece's bytes, as if the pins were one wide bus: no bin of a timeline can have more than they carry. */
__attribute__((cold, noinline)) static void tell(const struct dram *d, bool write, uint64_t bytes, ps_t now)
{
	const ps_t from = now + d->t.t_controller;

	watch_moved(d->comp.env.watch, RES_DRAM, write, from, from + clock_transfer(bytes, d->t.peak), bytes);
}

static void land(struct dram *d)
{
	d->write_bytes += d->in_air;
	d->posted_bytes -= d->in_air;
	d->in_air = 0;
}

/* A piece that was handed out. */
static void count_written(struct dram *d, const struct entry *x, uint64_t bytes, ps_t now)
{
	land(d);
	d->write_bytes += bytes;
	d->posted_bytes -= x->rq ? 0 : bytes;
	d->streak = bytes + (d->bus_end > now ? d->streak : 0);
}

/* Serves up to a piece of it; true when that was its last. */
static bool serve_piece(struct dram *d, struct entry *x, ps_t now)
{
	struct mem_run runs[MEMQ_RUNS];
	uint64_t left = d->piece, bytes = 0, bursts = d->s.bursts;
	uint32_t n = 0;
	ps_t end;

	while (left && x->run < x->n_runs && n < MEMQ_RUNS) {
		const struct mem_run *r = &x->runs[x->run];
		uint64_t take = r->bytes - x->offset < left ? r->bytes - x->offset : left;

		if (take)
			runs[n++] = (struct mem_run){ r->addr + x->offset, take };
		bytes += take;
		left -= take;
		x->offset += take;
		if (x->offset == r->bytes) {
			x->run++;
			x->offset = 0;
		}
	}
	end = dram_tile_serve(d->tile, now - d->origin + d->t.t_controller, runs, n, x->write, &d->s) + d->origin;
	if (x->rq && x->end == 0)
		x->rq->t_first = end - clock_transfer(bytes, d->t.peak);
	x->end = ps_max(x->end, end);
	if (d->comp.env.watch)
		tell(d, x->write, bytes, now);
	if (x->write)
		count_written(d, x, bytes, now);
	d->bus_end = d->s.bus_end + d->origin;
	d->rounding_bytes += (d->s.bursts - bursts) * d->t.burst_bytes - bytes; /* I2 */
	return x->run == x->n_runs;
}

static void issue(struct dram *d)
{
	ps_t now = evq_now(d->comp.env.q), when = PS_NEVER;

	while (d->asked.first || d->posted.first) {
		struct entry **at, *x;
		struct line *from;

		if (d->bus_end > now + d->ahead) {
			when = d->bus_end - d->ahead;
			break;
		}
		if (!(at = next_entry(d, now, &from, &when)))
			break;
		x = *at;
		if (!serve_piece(d, x, now))
			continue;
		*at = x->next;
		if (from->last == &x->next)
			from->last = at;
		if (d->last == x)
			d->last = NULL;
		d->n_posted -= !x->rq;
		d->last_end = x->end;
		if (x->rq)
			x->rq->t_dram_done = x->end;
		evq_push(d->comp.env.q, &x->ev, ps_max(now, x->end));
	}
	if (when == PS_NEVER || (!d->asked.first && !d->posted.first))
		return;
	evq_cancel(d->comp.env.q, &d->issue);
	evq_push(d->comp.env.q, &d->issue, when);
}

static void on_issue(void *owner, struct ev *ev)
{
	(void)ev;
	issue(owner);
}

/* Puts a run among others in order of address; runs that touch become one. */
static void put_run(struct entry *x, struct mem_run r)
{
	struct mem_run *own = x->own;
	uint32_t i = x->n_runs;

	while (i > 0 && own[i - 1].addr > r.addr)
		i--;
	if (i > 0 && own[i - 1].addr + own[i - 1].bytes == r.addr) {
		own[i - 1].bytes += r.bytes;
		if (i < x->n_runs && r.addr + r.bytes == own[i].addr) {
			own[i - 1].bytes += own[i].bytes;
			memmove(&own[i], &own[i + 1], (--x->n_runs - i) * sizeof *own);
		}
	} else if (i < x->n_runs && r.addr + r.bytes == own[i].addr) {
		own[i].addr = r.addr;
		own[i].bytes += r.bytes;
	} else {
		memmove(&own[i + 1], &own[i], (x->n_runs++ - i) * sizeof *own);
		own[i] = r;
	}
}

/* Whether a posted request fits beside the one that came last: then it is there. */
static bool dram_join(struct dram *d, const struct mem_req *r, ps_t door)
{
	struct entry *x = d->last;

	if (!x || x->run || x->offset || x->n_runs + r->n_runs > MEMQ_RUNS || x->bytes + r->bytes > d->together)
		return false;
	for (uint32_t i = 0; i < r->n_runs; i++)
		put_run(x, r->runs[i]);
	x->bytes += r->bytes;
	x->door = ps_max(x->door, door);
	return true;
}

static bool dram_own_take(struct comp *c, struct mem_req *r)
{
	struct dram *d = (struct dram *)c;
	ps_t now = evq_now(d->comp.env.q);
	struct entry *x = d->spare;
	struct line *l;

	if (!x || !memq_wait_turn(&d->wait, r->from)) {
		memq_wait_add(&d->wait, r->from); /* I3 */
		d->refusals++;
		return false;
	}
	assert(!r->posted || r->n_runs <= MEMQ_RUNS);
	d->posted_bytes += r->posted ? r->bytes : 0;
	if (r->posted && dram_join(d, r, ps_max(now, r->not_before))) {
		d->write_requests++;
		return true;
	}
	d->spare = x->next;
	if (d->held++ == 0)
		d->busy_since = now;
	watch_level(d->comp.env.watch, WATCH_DRAM, now, d->held);
	if (d->held > d->held_most)
		d->held_most = d->held;
	if (r->write) {
		d->write_requests++;
	} else {
		d->read_bytes += r->bytes;
		d->read_requests++;
	}
	x->door = ps_max(now, r->not_before);
	x->end = 0;
	x->bytes = r->bytes;
	x->run = 0;
	x->offset = 0;
	x->write = r->write;
	x->n_runs = r->n_runs;
	x->rq = r->posted ? NULL : r;
	x->runs = r->runs;
	if (r->posted) {
		x->n_runs = 0;
		x->runs = x->own;
		for (uint32_t i = 0; i < r->n_runs; i++)
			put_run(x, r->runs[i]);
		d->last = x;
	} else {
		r->t_dram = x->door;
		r->dram_bytes = r->write ? 0 : r->bytes;
	}
	x->next = NULL;
	l = r->posted ? &d->posted : &d->asked;
	*l->last = x;
	l->last = &x->next;
	d->n_posted += r->posted;
	issue(d);
	return true;
}

/* Nothing waits to be handed to the banks. */
static bool idle(const struct comp *c)
{
	const struct dram *d = (const struct dram *)c;

	return !d->asked.first && !d->posted.first;
}

/* All that somebody waited for is there, so the last pieces are write-backs; they are through the pins but for what those
 * can pass in the time that is left. */
static void pass_over(struct comp *c)
{
	struct dram *d = (struct dram *)c;
	const ps_t now = evq_now(c->env.q), left = d->bus_end > now ? d->bus_end - now : 0;

	if (d->held) {
		d->busy_ps += now - d->busy_since;
		watch_busy(c->env.watch, RES_DRAM, d->busy_since, now, WATCH_NO_CMD);
		d->busy_since = now;
	}
	land(d);
	d->in_air = ps_min(d->streak, left * (d->t.peak / 1000000) / 1000000);
	d->write_bytes -= d->in_air;
	d->posted_bytes += d->in_air;
}

static void dram_explain(const struct comp *c, struct str *out)
{
	const struct dram *d = (const struct dram *)c;

	str_addf(out, "dram: %llu of %u requests held", (unsigned long long)d->held, d->queue);
	if (d->held)
		str_addf(out, ", the last one taken ends at %llu ps", (unsigned long long)d->last_end);
	str_addf(out, ", %u refused senders waiting", d->wait.n);
}

static void dram_reset(struct comp *c)
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
	d->last_end = d->bus_end = 0;
	d->asked = (struct line){ NULL, &d->asked.first };
	d->posted = (struct line){ NULL, &d->posted.first };
	d->n_posted = 0;
	d->posted_bytes = d->streak = d->in_air = 0;
	d->last = NULL;
	d->draining = false;
	evq_cancel(d->comp.env.q, &d->issue);
	d->origin = evq_now(d->comp.env.q);
	d->windows = 0;
	memq_wait_reset(&d->wait);
	dram_tile_reset(d->tile);
}

static void dram_release(struct comp *c)
{
	struct dram *d = (struct dram *)c;

	if (!d)
		return;
	dram_tile_free(d->tile);
	free(d->entries);
	free(d);
}

static int dram_register_stats(struct dram *d, struct err *e)
{
	const struct stat_row rows[] = {
		{ "dram.read_bytes", "B", "bytes read, as asked", STAT_COUNT, &d->read_bytes },
		{ "dram.write_bytes", "B", "bytes written, when they were", STAT_COUNT, &d->write_bytes },
		{ "dram.posted_bytes", "B", "bytes to be written that wait", STAT_LEVEL, &d->posted_bytes },
		{ "dram.rounding_bytes", "B", "bytes moved beyond those asked: whole bursts", STAT_COUNT,
		  &d->rounding_bytes },
		{ "dram.read_requests", "", "tile requests that read", STAT_COUNT, &d->read_requests },
		{ "dram.write_requests", "", "tile requests that write", STAT_COUNT, &d->write_requests },
		{ "dram.refusals", "", "requests refused because the queue was full", STAT_COUNT, &d->refusals },
		{ "dram.row_hits", "", "bursts that found their row open", STAT_COUNT, &d->s.row_hits },
		{ "dram.row_misses", "", "bursts that had to open a row", STAT_COUNT, &d->s.activates },
		{ "dram.activates", "", "rows opened, without those a refresh closed", STAT_COUNT, &d->s.activates },
		{ "dram.refreshes", "", "refreshes, over pseudo-channels", STAT_COUNT, &d->refreshes },
		{ "dram.turnarounds", "", "changes of bus direction, over pseudo-channels", STAT_COUNT,
		  &d->s.turnarounds },
		{ "dram.bus_ps", "ps", "data-bus time, summed over pseudo-channels", STAT_COUNT, &d->s.bus_ps },
		{ "dram.busy_ps", "ps", "time with a request held", STAT_COUNT, &d->busy_ps },
		{ "dram.held_most", "", "most requests held at a time", STAT_LEVEL, &d->held_most },
	};

	return stat_add_all(d->comp.env.stats, rows, sizeof rows / sizeof *rows, e);
}

static struct comp *dram_make(const struct comp_env *env, const void *cfg, struct err *e)
{
	const struct dram_cfg *k = cfg;
	struct dram *d = calloc(1, sizeof *d);

	if (!d)
		goto nomem;
	d->comp.ops = &dram_ops;
	d->comp.env = *env;
	d->t = dram_timing(k);
	d->queue = k->queue;
	d->high = k->queue / 4; /* reads keep three quarters of the queue */
	d->low = k->queue / 16;
	d->piece = round_up(dram_peak(k) / (1000000000000 / PIECE_PS) + 1, PIECE_MIN);
	d->together = d->high ? (uint64_t)d->t.write_reach * d->t.units * d->t.burst_bytes / d->high : 0;
	d->ahead = AHEAD_PS;
	ev_init(&d->issue, EV_WORK, on_issue, d);
	if (!(d->entries = calloc(k->queue, sizeof *d->entries)) || evq_reserve(env->q, k->queue) < 0)
		goto nomem;
	for (uint32_t i = 0; i < k->queue; i++)
		ev_init(&d->entries[i].ev, EV_REPLY, finished, d);
	if (!(d->tile = dram_tile_new(&d->t, e)) || dram_register_stats(d, e) < 0)
		goto fail;
	dram_reset(&d->comp);
	return &d->comp;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for 'dram'");
fail:
	dram_release((struct comp *)d);
	return NULL;
}

const struct comp_ops dram_ops = {
	.kind = "dram",
	.make = dram_make,
	.free = dram_release,
	.send = dram_own_take,
	.explain = dram_explain,
	.idle = idle,
	.pass_over = pass_over,
	.reset = dram_reset,
};
