#include "arch/npu/dma.h"

#include <assert.h>
#include <stdlib.h>

#include "arch/watch.h"
#include "sim/base/ratio.h"

const struct cfg_field dma_schema[] = {
	CFG_U32(struct dma_cfg, engines, "engines", "1", 1, 64, NULL, "DMA engines a core",
	        "one TMA unit per SM (H100 whitepaper)"),
	CFG_BYTES(struct dma_cfg, width, "width", "64 B", 1, 1024, cfg_pow2, "bytes a cycle and engine",
	          "64 B a cycle from L2 to one SM (H100: 5.5 TB/s over 132 SMs at 1.7 GHz is 25 to 64 B)"),
	CFG_BYTES(struct dma_cfg, tile, "tile", "64 KiB", 1024, UINT64_C(1) << 30, NULL,
	          "largest tile that is streamed, all cores together; times dma.stages it must cover bandwidth times "
	          "latency",
	          "our choice: 1 KiB a core of 64; nvjet kernels stream 64 x 64 to 256 x 64 tiles of 16 bits, 8 to 32 "
	          "KiB an SM"),
	CFG_U32(struct dma_cfg, stages, "stages", "8", 1, 64, NULL,
	        "tiles of one command held in SRAM at a time; 2 is double buffering",
	        "our choice: covers DRAM latency with small tiles; nvjet kernels use 12 to 16 stages (their names)"),
	CFG_U32(struct dma_cfg, outstanding, "outstanding", "32", 1, 1024, NULL,
	        "tile descriptors in flight on the chip", "our choice: four commands of eight stages"),
	CFG_PS(struct dma_cfg, setup, "setup", "20 ns", 0, PS_US, NULL,
	       "of a descriptor, before its first byte is asked for",
	       "our choice: about 30 cycles to read and decode 64 B"),
	CFG_PS(struct dma_cfg, sync, "sync", "0 ns", 0, 100 * PS_US, NULL,
	       "of a tile of a loop, before its math: its unit waits for the tile's bytes to be signalled and starts the "
	       "next transfers",
	       "none: a sequencer of its own does that"),
	CFG_END
};

struct queue {
	struct dma_xfer *head, *tail;
};

struct dma {
	struct comp comp; /* so that replies find us */
	struct dma_cfg cfg;
	struct comp *below, *between;
	uint64_t port; /* bytes a cycle between network and core */
	uint64_t rate; /* bytes/s */
	struct queue demand, prefetch;
	uint32_t in_flight[2]; /* by x->demand */
	uint32_t cores;
	bool refused; /* the NoC owes us a retry */
	struct bw_server engines;
	uint64_t bytes_read, bytes_written, busy_ps, transfers;
};

uint64_t dma_rate(const struct dma_cfg *c, uint32_t cores)
{
	return (uint64_t)c->engines * c->width * cores;
}

static void dma_put(struct queue *q, struct dma_xfer *x)
{
	x->next = NULL;
	if (q->tail)
		q->tail->next = x;
	else
		q->head = x;
	q->tail = x;
}

static struct dma_xfer *pop(struct queue *q)
{
	struct dma_xfer *x = q->head;

	q->head = x->next;
	if (!q->head)
		q->tail = NULL;
	return x;
}

static struct queue *next_queue(struct dma *d)
{
	if (d->demand.head && d->in_flight[true] < d->cfg.outstanding)
		return &d->demand;
	if (d->prefetch.head && d->in_flight[false] < d->cfg.outstanding)
		return &d->prefetch;
	return NULL;
}

static void pump(struct dma *d)
{
	struct queue *q;

	while (!d->refused && (q = next_queue(d))) {
		struct dma_xfer *x = q->head;

		x->t_sent = x->req.not_before = evq_now(d->comp.env.q) + d->cfg.setup;
		if (!comp_send(x->req.between ? d->between : d->below, &x->req)) {
			d->refused = true;
			return;
		}
		pop(q);
		d->in_flight[x->demand]++;
		watch_level(d->comp.env.watch, WATCH_DMA, evq_now(d->comp.env.q), d->in_flight[0] + d->in_flight[1]);
	}
}

/* All engines' bytes: those of the fullest core, in each. */
static uint64_t dma_load(const struct dma *d, const struct mem_req *r)
{
	return r->share ? r->share * d->cores : r->bytes;
}

static void finished(void *owner, struct ev *ev)
{
	struct dma_xfer *x = owner;
	struct dma *d = x->dma;

	bw_server_over(&d->engines, &x->ride);
	x->t_done = ev->when;
	if (d->comp.env.watch) {
		const ps_t from = ev->when - clock_transfer(dma_load(d, &x->req), d->rate);

		watch_busy(d->comp.env.watch, RES_DMA, from, ev->when, WATCH_NO_CMD);
		watch_moved(d->comp.env.watch, RES_DMA, x->req.write, from, ev->when,
		            x->req.bytes * (x->req.copies ? x->req.copies : 1));
	}
	x->done(x->owner, x);
}

static void on_reply(struct comp *c, struct mem_req *r)
{
	struct dma *d = (struct dma *)c;
	struct dma_xfer *x = r->tag;
	const ps_t span = clock_transfer(dma_load(d, r), d->rate);

	assert(d->in_flight[x->demand] > 0); /* I1 */
	d->in_flight[x->demand]--;
	watch_level(d->comp.env.watch, WATCH_DMA, evq_now(d->comp.env.q), d->in_flight[0] + d->in_flight[1]);
	x->t_reply = evq_now(d->comp.env.q);
	d->busy_ps += span;
	d->transfers++;
	if (r->write)
		d->bytes_written += r->bytes;
	else
		d->bytes_read += r->bytes * (r->copies ? r->copies : 1);
	ev_init(&x->ride.ev, EV_REPLY, finished, x);
	/* What leaves goes through at once, whatever its answer then takes. */
	bw_server_put(&d->engines, &x->ride, r, r->write ? r->not_before : r->t_first, span);
	pump(d);
}

static void on_retry(struct comp *c, struct comp *below)
{
	struct dma *d = (struct dma *)c;

	(void)below;
	d->refused = false;
	pump(d);
}

static void dma_own_explain(const struct comp *c, struct str *out)
{
	dma_explain((const struct dma *)c, out);
}

static void dma_release(struct comp *c)
{
	free(c);
}

static const struct comp_ops dma_ops = {
	.kind = "dma",
	.free = dma_release,
	.reply = on_reply,
	.retry = on_retry,
	.explain = dma_own_explain,
};

static int dma_register_stats(struct dma *d, struct err *e)
{
	const struct stat_row rows[] = {
		{ "dma.read_bytes", "B", "bytes brought into SRAM", STAT_COUNT, &d->bytes_read },
		{ "dma.write_bytes", "B", "bytes sent out of SRAM", STAT_COUNT, &d->bytes_written },
		{ "dma.transfers", "", "tile transfers", STAT_COUNT, &d->transfers },
		{ "dma.busy_ps", "ps", "engine time used", STAT_COUNT, &d->busy_ps },
	};

	return stat_add_all(d->comp.env.stats, rows, sizeof rows / sizeof *rows, e);
}

struct dma *dma_new(const struct comp_env *env, const struct dma_cfg *cfg, uint32_t cores, struct err *e)
{
	struct dma *d = calloc(1, sizeof *d);

	if (!d) {
		err_set(e, ERR_NOMEM, "out of memory for 'dma'");
		return NULL;
	}
	d->comp.ops = &dma_ops;
	d->comp.env = *env;
	d->cfg = *cfg;
	d->below = d->between = env->below;
	d->cores = cores;
	bw_server_reset(&d->engines, env->q);
	d->rate = dma_rate(cfg, cores) * env->clock_khz * 1000;
	if (dma_register_stats(d, e) < 0) {
		dma_free(d);
		return NULL;
	}
	return d;
}

void dma_between(struct dma *d, struct comp *network, uint64_t port)
{
	d->between = network;
	d->port = port;
}

ps_t dma_exchange_span(const struct dma_cfg *c, uint64_t port, ps_t span)
{
	const uint64_t width = dma_rate(c, 1);

	return ratio_of(span, port, width);
}

ps_t dma_exchange(struct dma *d, ps_t span)
{
	const ps_t now = evq_now(d->comp.env.q), mine = dma_exchange_span(&d->cfg, d->port, span);
	ps_t over = now + span;

	if (d->between->ops->exchange)
		over = d->between->ops->exchange(d->between, span);
	if (mine) {
		const ps_t sent = bw_server_pass(&d->engines, MEM_BLOCKING, now, mine);

		watch_busy(d->comp.env.watch, RES_DMA, sent - mine, sent, WATCH_NO_CMD);
		d->busy_ps += mine;
		over = ps_max(over, sent);
	}
	return over;
}

void dma_watch(struct dma *d, const struct watch *w)
{
	d->comp.env.watch = w;
}

void dma_free(struct dma *d)
{
	free(d);
}

void dma_submit(struct dma *d, struct dma_xfer *x)
{
	struct mem_req *r = &x->req;

	x->dma = d;
	x->t_issue = evq_now(d->comp.env.q);
	r->runs = &x->run;
	r->n_runs = 1;
	r->bytes = x->run.bytes;
	r->from = &d->comp;
	r->tag = x;
	r->t_l1 = r->t_arrive = r->t_level = r->t_dram = r->t_dram_done = r->t_first = 0;
	r->hit_bytes = r->dram_bytes = 0;
	r->level = RES_L2;
	r->posted = r->no_keep = r->one_core = false;
	r->noc_load = 0;
	x->demand = mem_urgency(r) > MEM_AHEAD;
	dma_put(x->demand ? &d->demand : &d->prefetch, x);
	pump(d);
}

void dma_explain(const struct dma *d, struct str *out)
{
	str_addf(out, "dma: %u urgent and %u other of %u descriptors in flight, urgent queue %s, prefetch queue %s%s",
	         d->in_flight[true], d->in_flight[false], d->cfg.outstanding, d->demand.head ? "waiting" : "empty",
	         d->prefetch.head ? "waiting" : "empty", d->refused ? ", refused by the level below" : "");
}
