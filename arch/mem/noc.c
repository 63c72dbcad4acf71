#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "arch/mem/bw_server.h"
#include "arch/mem/memq.h"
#include "arch/mem/noc.h"

#define HOPS 1024 /* requests under way; beyond it senders wait */

enum { TO_L2, TO_KV, TARGETS };

/* A request on its way: what the level behind sees, and whose it is. */
struct hop {
	struct mem_req rq;         /* first member: a reply's request is its hop */
	struct bw_server_job ride; /* on the links back */
	struct ev ev;              /* back at the sender */
	ps_t way;                  /* from there to it */
	struct mem_req *up;
	struct hop *next;
};

struct target {
	struct comp *comp; /* NULL: absent */
	struct memq_wait wait;
	bool refused; /* it owes us a retry */
};

struct noc {
	struct comp comp;
	struct target to[TARGETS];
	struct hop *hops, *spare;
	uint32_t under_way, cores;
	struct noc_shape shape;
	struct bw_server up, down; /* where directions share their links both go up */
	uint64_t requests, kv_requests, down_bytes, up_bytes, copied_bytes, core_bytes, busy_ps, refusals;
};

static bool noc_room(const struct noc *n, int to)
{
	return n->spare && !n->to[to].refused;
}

static bool room_l2(const struct comp *c)
{
	return noc_room((const struct noc *)c, TO_L2);
}

static bool room_kv(const struct comp *c)
{
	return noc_room((const struct noc *)c, TO_KV);
}

static void wake(struct noc *n)
{
	memq_wait_wake(&n->to[TO_L2].wait, &n->comp, room_l2);
	memq_wait_wake(&n->to[TO_KV].wait, &n->comp, room_kv);
}

static void noc_count(struct noc *n, const struct mem_req *r)
{
	n->requests++;
	if (r->between)
		n->core_bytes += r->bytes;
	else if (r->write)
		n->down_bytes += r->bytes;
	else
		n->up_bytes += r->bytes;
	if (r->copies > 1)
		n->copied_bytes += (r->copies - 1) * r->bytes;
}

static struct hop *noc_begin(struct noc *n, struct mem_req *r)
{
	struct hop *h = n->spare;

	n->spare = h->next;
	h->up = r;
	h->rq = (struct mem_req){
		.runs = r->runs,
		.n_runs = r->n_runs,
		.bytes = r->bytes,
		.write = r->write,
		.cls = r->cls,
		.urgency = r->urgency,
		.from = &n->comp,
		.one_core = r->one_core,
		.no_keep = r->no_keep,
		.not_before = ps_max(evq_now(n->comp.env.q), r->not_before) + n->shape.latency,
	};
	return h;
}

static void undo(struct noc *n, struct hop *h)
{
	h->next = n->spare;
	n->spare = h;
}

/* Bytes for cores, the first there at `first`: they take their time on the links, and then their way. */
static void ride(struct noc *n, struct hop *h, ps_t first, ps_t way)
{
	struct mem_req *r = h->up;
	const ps_t span = noc_span(&n->shape, n->cores, r, &r->noc_load);

	n->busy_ps += span;
	h->way = way;
	if (span) {
		r->t_first = bw_server_put(&n->up, &h->ride, r, first, span) + way;
	} else {
		r->t_first = first + way;
		evq_push(n->comp.env.q, &h->ev, ps_max(first, evq_now(n->comp.env.q)) + way);
	}
}

/* Bytes that are nowhere but in other cores: they come from there, and no level is asked. */
static bool take_between(struct noc *n, struct mem_req *r)
{
	struct hop *h;

	if (!n->spare || !memq_wait_turn(&n->to[TO_L2].wait, r->from)) {
		memq_wait_add(&n->to[TO_L2].wait, r->from);
		n->refusals++;
		return false;
	}
	h = noc_begin(n, r);
	noc_count(n, r);
	n->under_way++;
	r->level = RES_NOC;
	r->t_arrive = r->t_level = h->rq.not_before - n->shape.latency;
	r->hit_bytes = r->bytes;
	ride(n, h, r->t_arrive, n->shape.between);
	return true;
}

static bool noc_take(struct comp *c, struct mem_req *r)
{
	struct noc *n = (struct noc *)c;
	int to = r->cls == MEM_KV && n->to[TO_KV].comp ? TO_KV : TO_L2;
	struct target *t = &n->to[to];
	struct bw_server *down = n->shape.one_way ? &n->up : &n->down;
	ps_t at, span;
	struct hop *h;

	assert(!r->posted); /* a posted request may not be kept until the far side takes it */
	if (r->between)
		return take_between(n, r);
	if (!noc_room(n, to) || !memq_wait_turn(&t->wait, r->from))
		goto refuse;
	h = noc_begin(n, r);
	/* What is written takes its time on the links before it is at the door. */
	span = r->write ? noc_span(&n->shape, n->cores, r, &r->noc_load) : 0;
	at = h->rq.not_before;
	if (span)
		h->rq.not_before = bw_server_when(down, MEM_BLOCKING, at, span);
	if (!comp_send(t->comp, &h->rq)) {
		t->refused = true;
		undo(n, h);
		goto refuse;
	}
	if (span)
		bw_server_pass(down, MEM_BLOCKING, at, span);
	n->busy_ps += span;
	r->t_arrive = h->rq.not_before;
	n->under_way++;
	n->kv_requests += to == TO_KV;
	noc_count(n, r);
	return true;
refuse:
	memq_wait_add(&t->wait, r->from);
	n->refusals++;
	return false;
}

/* Both directions of the ports at once, and of the links where there are two. It gives way to nobody: math waits for it. */
static ps_t exchange(struct comp *c, ps_t span)
{
	struct noc *n = (struct noc *)c;
	const ps_t now = evq_now(c->env.q);
	ps_t over;

	if (!n->shape.port) /* any number of bytes: the cores' engines alone are in the way */
		return now + span;
	over = bw_server_pass(&n->up, MEM_BLOCKING, now, span);
	n->busy_ps += span;
	if (n->shape.one_way)
		return over;
	n->busy_ps += span;
	return ps_max(over, bw_server_pass(&n->down, MEM_BLOCKING, now, span));
}

static void back(void *owner, struct ev *ev)
{
	struct noc *n = owner;
	struct hop *h = (struct hop *)(void *)((char *)ev - offsetof(struct hop, ev));
	struct mem_req *r = h->up;

	h->next = n->spare;
	n->spare = h;
	n->under_way--;
	wake(n);
	r->from->ops->reply(r->from, r); /* I1 */
}

static void noc_reply(struct comp *c, struct mem_req *q)
{
	struct noc *n = (struct noc *)c;
	struct hop *h = (struct hop *)q; /* rq is its first member */
	struct mem_req *r = h->up;

	r->t_level = q->t_level;
	r->t_dram = q->t_dram;
	r->t_dram_done = q->t_dram_done;
	r->level = q->level;
	r->hit_bytes = q->hit_bytes;
	r->dram_bytes = q->dram_bytes;
	if (r->write)
		evq_push(c->env.q, &h->ev, evq_now(c->env.q) + n->shape.latency);
	else
		ride(n, h, q->t_first, n->shape.latency);
}

static void carried_up(void *owner, struct ev *ev)
{
	struct noc *n = owner;
	struct hop *h = (struct hop *)(void *)((char *)ev - offsetof(struct hop, ride));

	bw_server_over(&n->up, &h->ride);
	evq_push(n->comp.env.q, &h->ev, ev->when + h->way);
}

static void noc_retry(struct comp *c, struct comp *below)
{
	struct noc *n = (struct noc *)c;

	for (int i = 0; i < TARGETS; i++)
		if (n->to[i].comp == below)
			n->to[i].refused = false;
	wake(n);
}

static void noc_explain(const struct comp *c, struct str *out)
{
	const struct noc *n = (const struct noc *)c;

	str_addf(out, "noc: %u of %u requests under way, %u senders waiting for l2%s, %u for kv_buffer%s", n->under_way,
	         HOPS, n->to[TO_L2].wait.n, n->to[TO_L2].refused ? " (which refuses)" : "", n->to[TO_KV].wait.n,
	         n->to[TO_KV].refused ? " (which refuses)" : "");
}

/* What the levels behind hold; the network itself holds nothing. */
static uint64_t resident(const struct comp *c, uint64_t addr, uint64_t bytes)
{
	const struct noc *n = (const struct noc *)c;
	uint64_t found = 0;

	for (int i = 0; i < TARGETS; i++)
		if (n->to[i].comp && n->to[i].comp->ops->resident)
			found += n->to[i].comp->ops->resident(n->to[i].comp, addr, bytes);
	return found;
}

static void noc_reset(struct comp *c)
{
	struct noc *n = (struct noc *)c;

	n->spare = NULL;
	for (uint32_t i = HOPS; i-- > 0;) {
		evq_cancel(c->env.q, &n->hops[i].ev);
		evq_cancel(c->env.q, &n->hops[i].ride.ev);
		n->hops[i].next = n->spare;
		n->spare = &n->hops[i];
	}
	n->under_way = 0;
	bw_server_reset(&n->up, c->env.q);
	bw_server_reset(&n->down, c->env.q);
	for (int i = 0; i < TARGETS; i++) {
		memq_wait_reset(&n->to[i].wait);
		n->to[i].refused = false;
	}
}

static void noc_release(struct comp *c)
{
	struct noc *n = (struct noc *)c;

	if (!n)
		return;
	free(n->hops);
	free(n);
}

static const struct comp_ops noc_ops = {
	.kind = "noc",
	.free = noc_release,
	.send = noc_take,
	.reply = noc_reply,
	.retry = noc_retry,
	.exchange = exchange,
	.explain = noc_explain,
	.resident = resident,
	.reset = noc_reset,
};

static int noc_register_stats(struct noc *n, struct err *e)
{
	const struct stat_row rows[] = {
		{ "noc.requests", "", "tile requests carried", STAT_COUNT, &n->requests },
		{ "noc.kv_requests", "", "tile requests carried to the KV buffer", STAT_COUNT, &n->kv_requests },
		{ "noc.down_bytes", "B", "bytes written by the cores", STAT_COUNT, &n->down_bytes },
		{ "noc.up_bytes", "B", "bytes read by the cores", STAT_COUNT, &n->up_bytes },
		{ "noc.copied_bytes", "B", "bytes delivered to further cores that want the same", STAT_COUNT,
		  &n->copied_bytes },
		{ "noc.core_bytes", "B", "bytes that came from other cores", STAT_COUNT, &n->core_bytes },
		{ "noc.busy_ps", "ps", "time that requests took of the fullest links", STAT_COUNT, &n->busy_ps },
		{ "noc.refusals", "", "tile requests refused because the level behind refused", STAT_COUNT,
		  &n->refusals },
	};

	return stat_add_all(n->comp.env.stats, rows, sizeof rows / sizeof *rows, e);
}

struct comp *noc_new(const struct comp_env *env, const struct noc_cfg *cfg, struct comp *l2, struct comp *kv,
                     struct err *e)
{
	struct noc *n = calloc(1, sizeof *n);

	if (!n)
		goto nomem;
	n->comp.ops = &noc_ops;
	n->comp.env = *env;
	n->shape = noc_shape(cfg, env->clock_khz);
	n->cores = cfg->cores ? cfg->cores : 1;
	n->to[TO_L2].comp = l2;
	n->to[TO_KV].comp = kv;
	if (!(n->hops = calloc(HOPS, sizeof *n->hops)) || evq_reserve(env->q, HOPS) < 0)
		goto nomem;
	for (uint32_t i = 0; i < HOPS; i++) {
		ev_init(&n->hops[i].ev, EV_REPLY, back, n);
		ev_init(&n->hops[i].ride.ev, EV_REPLY, carried_up, n);
	}
	if (noc_register_stats(n, e) < 0)
		goto fail;
	noc_reset(&n->comp);
	return &n->comp;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for 'noc'");
fail:
	noc_release((struct comp *)n);
	return NULL;
}
