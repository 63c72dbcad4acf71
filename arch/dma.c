#include "arch/dma.h"

#include <assert.h>
#include <stdlib.h>

const struct cfg_field dma_schema[] = {
	CFG_U32(struct dma_cfg, engines, "engines", "1", 1, 64, NULL, "DMA engines a core", "one TMA unit per SM (H100 whitepaper)"),
	CFG_BYTES(struct dma_cfg, width, "width", "64 B", 1, 1024, cfg_pow2,
	          "bytes a cycle and engine", "64 B a cycle from L2 to one SM (H100: 5.5 TB/s over 132 SMs at 1.7 GHz is 25 to 64 B)"),
	CFG_U32(struct dma_cfg, stages, "stages", "8", 1, 64, NULL,
	        "tiles of one command held in SRAM at a time; 2 is double buffering",
	        "our choice: covers DRAM latency with small tiles; nvjet kernels use 12 to 16 stages (their names)"),
	CFG_U32(struct dma_cfg, outstanding, "outstanding", "32", 1, 1024, NULL,
	        "tile descriptors in flight on the chip", "our choice: four commands of eight stages"),
	CFG_PS(struct dma_cfg, setup, "setup", "20 ns", 0, PS_US, NULL,
	       "of a descriptor, before its first byte is asked for", "our choice: about 30 cycles to read and decode 64 B"),
	CFG_END
};

struct queue { struct dma_xfer *head, *tail; };

struct dma {
	struct comp comp;            /* so that replies find us */
	struct dma_cfg cfg;
	struct comp *below;
	uint64_t rate;               /* bytes/s */
	struct queue demand, prefetch;
	uint32_t in_flight;
	bool refused;                /* the NoC owes us a retry */
	ps_t free_at, busy;
	uint64_t bytes_read, bytes_written, busy_ps, transfers;
};

uint64_t dma_rate(const struct dma_cfg *c, uint32_t cores)
{
	return (uint64_t)c->engines * c->width * cores;
}

static void put(struct queue *q, struct dma_xfer *x)
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

static void pump(struct dma *d)
{
	while (!d->refused && d->in_flight < d->cfg.outstanding) {
		struct queue *q = d->demand.head ? &d->demand : &d->prefetch;
		struct dma_xfer *x = q->head;

		if (!x)
			return;
		x->t_sent = evq_now(d->comp.env.q);
		x->req.not_before = x->t_sent + d->cfg.setup;
		if (!comp_send(d->below, &x->req)) {
			d->refused = true;
			return;
		}
		pop(q);
		d->in_flight++;
	}
}

static void finished(void *owner, struct ev *ev)
{
	struct dma_xfer *x = owner;

	x->t_done = ev->when;
	x->done(x->owner, x);
}

static void on_reply(struct comp *c, struct mem_req *r)
{
	struct dma *d = (struct dma *)c;
	struct dma_xfer *x = r->tag;
	ps_t now = evq_now(d->comp.env.q), span = clock_transfer(r->bytes, d->rate), start;

	assert(d->in_flight > 0); /* I1 */
	d->in_flight--;
	x->t_reply = now;
	/* Bytes stream through the engine as they arrive: it may have begun up to `span` before the last one came. */
	start = now > span ? now - span : 0;
	if (start < d->free_at)
		start = d->free_at;
	d->free_at = start + span;
	d->busy_ps += span;
	d->transfers++;
	if (r->write)
		d->bytes_written += r->bytes;
	else
		d->bytes_read += r->bytes;
	ev_init(&x->ev, EV_REPLY, finished, x);
	evq_push(d->comp.env.q, &x->ev, ps_max(now, d->free_at));
	pump(d);
}

static void on_retry(struct comp *c, struct comp *below)
{
	struct dma *d = (struct dma *)c;

	(void)below;
	d->refused = false;
	pump(d);
}

static void explain(const struct comp *c, struct str *out)
{
	dma_explain((const struct dma *)c, out);
}

static void release(struct comp *c)
{
	free(c);
}

static const struct comp_ops dma_ops = {
	.kind = "dma", .free = release, .reply = on_reply, .retry = on_retry, .explain = explain,
};

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
	d->below = env->below;
	d->rate = dma_rate(cfg, cores) * env->clock_khz * 1000;
	if (stat_add(env->stats, "dma.read_bytes", "B", "bytes brought into SRAM", STAT_COUNT, &d->bytes_read, e) < 0 ||
	    stat_add(env->stats, "dma.write_bytes", "B", "bytes sent out of SRAM", STAT_COUNT, &d->bytes_written, e) < 0 ||
	    stat_add(env->stats, "dma.transfers", "", "tile transfers", STAT_COUNT, &d->transfers, e) < 0 ||
	    stat_add(env->stats, "dma.busy_ps", "ps", "engine time used", STAT_COUNT, &d->busy_ps, e) < 0) {
		dma_free(d);
		return NULL;
	}
	return d;
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
	r->t_level = r->t_dram = r->t_dram_done = 0;
	r->hit_bytes = r->dram_bytes = 0;
	r->level = RES_L2;
	r->posted = r->no_keep = false;
	put(x->demand ? &d->demand : &d->prefetch, x);
	pump(d);
}

ps_t dma_busy(const struct dma *d)
{
	return d->busy_ps;
}

void dma_explain(const struct dma *d, struct str *out)
{
	str_addf(out, "dma: %u of %u descriptors in flight, demand queue %s, prefetch queue %s%s", d->in_flight,
	         d->cfg.outstanding, d->demand.head ? "waiting" : "empty", d->prefetch.head ? "waiting" : "empty",
	         d->refused ? ", refused by the level below" : "");
}
