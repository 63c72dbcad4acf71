/* l2_none.c - the trivial twin of the L2: none. Every request goes to the level below as it is, at no cost. */
#include <stdlib.h>

#include "arch/mem/l2.h"
#include "arch/mem/memq.h"

#define REQUESTS 256

struct l2_none {
	struct comp comp;
	struct memq *down;
	struct memq_wait wait;
	uint32_t held;
	uint64_t passed_bytes;
};

static bool l2_none_room(const struct comp *c)
{
	return memq_free_for(((const struct l2_none *)c)->down, MEMQ_ASK);
}

static bool l2_none_take(struct comp *c, struct mem_req *r)
{
	struct l2_none *l = (struct l2_none *)c;
	struct memq_sub *s;

	if (!memq_wait_turn(&l->wait, r->from) || !(s = memq_take(l->down, MEMQ_ASK))) {
		memq_wait_add(&l->wait, r->from);
		return false;
	}
	l->held++;
	l->passed_bytes += r->bytes;
	s->owner = r;
	s->rq.runs = r->runs;
	s->rq.n_runs = r->n_runs;
	s->rq.bytes = r->bytes;
	s->rq.write = r->write;
	s->rq.cls = r->cls;
	s->rq.urgency = r->urgency;
	s->rq.no_keep = r->no_keep;
	s->rq.one_core = r->one_core;
	s->rq.not_before = ps_max(r->not_before, evq_now(c->env.q));
	r->t_level = s->rq.not_before;
	r->level = RES_DRAM;
	memq_send(l->down, s);
	return true;
}

static void l2_none_reply(struct comp *c, struct mem_req *q)
{
	struct l2_none *l = (struct l2_none *)c;
	struct memq_sub *s = (struct memq_sub *)q; /* rq is its first member */
	struct mem_req *r = s->owner;

	r->t_dram = q->t_dram;
	r->t_dram_done = q->t_dram_done;
	r->t_first = q->t_first;
	r->dram_bytes += q->dram_bytes;
	l->held--;
	memq_give(l->down, s);
	memq_wait_wake(&l->wait, c, l2_none_room);
	r->from->ops->reply(r->from, r);
}

static void l2_none_retry(struct comp *c, struct comp *below)
{
	struct l2_none *l = (struct l2_none *)c;

	(void)below;
	memq_retry(l->down);
	memq_wait_wake(&l->wait, c, l2_none_room);
}

static void l2_none_explain(const struct comp *c, struct str *out)
{
	const struct l2_none *l = (const struct l2_none *)c;

	str_addf(out, "l2: none; %u requests with dram, %u of them refused so far, %u refused senders waiting", l->held,
	         memq_waiting(l->down, MEMQ_ASK), l->wait.n);
}

static void l2_none_reset(struct comp *c)
{
	struct l2_none *l = (struct l2_none *)c;

	memq_reset(l->down);
	memq_wait_reset(&l->wait);
	l->held = 0;
}

static void l2_none_release(struct comp *c)
{
	struct l2_none *l = (struct l2_none *)c;

	if (!l)
		return;
	memq_free(l->down);
	free(l);
}

static struct comp *l2_none_make(const struct comp_env *env, const void *cfg, struct err *e)
{
	struct l2_none *l = calloc(1, sizeof *l);

	(void)cfg;
	if (!l) {
		err_set(e, ERR_NOMEM, "out of memory for 'l2_none'");
		return NULL;
	}
	l->comp.ops = &l2_none_ops;
	l->comp.env = *env;
	if (!(l->down = memq_new(&l->comp, env->below, REQUESTS, 0, e)) ||
	    stat_add(env->stats, "l2.passed_bytes", "B", "bytes that went by where there is no L2", STAT_COUNT,
	             &l->passed_bytes, e) < 0) {
		err_add(e, "making 'l2_none'");
		l2_none_release(&l->comp);
		return NULL;
	}
	return &l->comp;
}

const struct comp_ops l2_none_ops = {
	.kind = "l2_none",
	.make = l2_none_make,
	.free = l2_none_release,
	.send = l2_none_take,
	.reply = l2_none_reply,
	.retry = l2_none_retry,
	.explain = l2_none_explain,
	.reset = l2_none_reset,
};
