#include "arch/mem/bw_server.h"

#include <string.h>

void bw_server_reset(struct bw_server *l, struct evq *q)
{
	l->q = q;
	l->first = NULL;
	l->newest = 0;
	memset(l->gap, 0, sizeof l->gap);
	memset(l->free_at, 0, sizeof l->free_at);
}

/* Behind all that is as urgent. */
static ps_t when(const struct bw_server *l, uint8_t urgency, ps_t begin)
{
	for (uint8_t u = urgency; u <= MEM_BLOCKING; u++)
		begin = ps_max(begin, l->free_at[u]);
	return begin;
}

/* What is less urgent and not over by then ends that much later. */
static void book(struct bw_server *l, struct bw_server_job *less, uint8_t urgency, ps_t begin, ps_t span)
{
	l->free_at[urgency] = begin + span;
	for (uint8_t u = 0; u < urgency; u++)
		if (l->free_at[u] > begin)
			l->free_at[u] += span;
	for (; less; less = less->behind) {
		const ps_t then = less->ev.when + span;

		if (less->ev.when <= begin)
			continue;
		evq_cancel(l->q, &less->ev);
		evq_push(l->q, &less->ev, then);
	}
}

/* The place in the line behind all that is as urgent. */
static struct bw_server_job **bw_server_behind(struct bw_server *l, uint8_t urgency)
{
	struct bw_server_job **at = &l->first;

	while (*at && mem_urgency((*at)->rq) >= urgency)
		at = &(*at)->behind;
	return at;
}

/* Nothing rides, and nothing did since the last of all ended. */
static void was_idle(struct bw_server *l, ps_t until)
{
	const ps_t from = when(l, 0, 0);

	if (from >= until)
		return;
	l->newest = (l->newest + 1) & (BW_SERVER_GAPS - 1);
	l->gap[l->newest] = (struct bw_server_gap){ from, until };
}

/* How much of `span` the way had time for since `first`, no longer ago than `span`; that is taken. */
static ps_t used_since(struct bw_server *l, ps_t first, ps_t span)
{
	ps_t used = 0;

	for (uint32_t i = 1; i <= BW_SERVER_GAPS && used < span; i++) {
		struct bw_server_gap *g = &l->gap[(l->newest + i) & (BW_SERVER_GAPS - 1)];
		const ps_t from = ps_max(g->from, first), time = g->to > from ? ps_min(g->to - from, span - used) : 0;

		used += time;
		g->to = time ? from : g->to; /* what was idle before is left for who began earlier */
	}
	return used;
}

ps_t bw_server_put(struct bw_server *l, struct bw_server_job *r, const struct mem_req *rq, ps_t first, ps_t span)
{
	const uint8_t urgency = mem_urgency(rq);
	struct bw_server_job **at = bw_server_behind(l, urgency);
	const ps_t now = evq_now(l->q);
	ps_t begin = ps_max(first, now), rest, end;

	was_idle(l, now);
	rest = span - used_since(l, ps_max(first, now > span ? now - span : 0), span);
	for (const struct bw_server_job *x = l->first; x != *at; x = x->behind)
		begin = ps_max(begin, x->ev.when);
	begin = when(l, urgency, begin);
	r->behind = *at;
	r->rq = rq;
	*at = r;
	end = begin + rest;
	book(l, r->behind, urgency, begin, rest);
	evq_push(l->q, &r->ev, end);
	return end - ps_max(span, now > first ? now - first : 0);
}

void bw_server_over(struct bw_server *l, struct bw_server_job *r)
{
	struct bw_server_job **at = &l->first;

	/* Mostly the first; behind one that waits for what only passes, a less urgent one may end earlier. */
	while (*at != r)
		at = &(*at)->behind;
	*at = r->behind;
}

ps_t bw_server_when(const struct bw_server *l, uint8_t urgency, ps_t at, ps_t span)
{
	return when(l, urgency, at) + span;
}

ps_t bw_server_pass(struct bw_server *l, uint8_t urgency, ps_t at, ps_t span)
{
	const ps_t begin = when(l, urgency, at);

	was_idle(l, evq_now(l->q));
	book(l, *bw_server_behind(l, urgency), urgency, begin, span);
	return begin + span;
}
