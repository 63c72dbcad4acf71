#include "arch/mem/carry.h"

#include <string.h>

void carry_reset(struct carry *l, struct evq *q)
{
	l->q = q;
	l->first = NULL;
	l->newest = 0;
	memset(l->gap, 0, sizeof l->gap);
	memset(l->free_at, 0, sizeof l->free_at);
}

/* Behind all that is as urgent. */
static ps_t when(const struct carry *l, uint8_t urgency, ps_t begin)
{
	for (uint8_t u = urgency; u <= MEM_BLOCKING; u++)
		begin = ps_max(begin, l->free_at[u]);
	return begin;
}

/* What is less urgent and not over by then ends that much later. */
static void book(struct carry *l, struct carry_ride *less, uint8_t urgency, ps_t begin, ps_t span)
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
static struct carry_ride **behind(struct carry *l, uint8_t urgency)
{
	struct carry_ride **at = &l->first;

	while (*at && mem_urgency((*at)->rq) >= urgency)
		at = &(*at)->behind;
	return at;
}

/* Nothing rides, and nothing did since the last of all ended. */
static void was_idle(struct carry *l, ps_t until)
{
	const ps_t from = when(l, 0, 0);

	if (from >= until)
		return;
	l->newest = (l->newest + 1) & (CARRY_GAPS - 1);
	l->gap[l->newest] = (struct carry_gap){ from, until };
}

/* How much of `span` the way had time for since `first`; that is taken. */
static ps_t used_since(struct carry *l, ps_t first, ps_t span)
{
	ps_t used = 0;

	for (uint32_t i = 1; i <= CARRY_GAPS && used < span; i++) {
		struct carry_gap *g = &l->gap[(l->newest + i) & (CARRY_GAPS - 1)];
		const ps_t from = ps_max(g->from, first), time = g->to > from ? ps_min(g->to - from, span - used) : 0;

		used += time;
		g->from = time ? from + time : g->from;
	}
	return used;
}

ps_t carry_put(struct carry *l, struct carry_ride *r, const struct mem_req *rq, ps_t first, ps_t span)
{
	const uint8_t urgency = mem_urgency(rq);
	struct carry_ride **at = behind(l, urgency);
	const ps_t now = evq_now(l->q);
	ps_t begin = ps_max(first, now), rest, end;

	was_idle(l, now);
	rest = span - used_since(l, ps_max(first, now > span ? now - span : 0), span);
	for (const struct carry_ride *x = l->first; x != *at; x = x->behind)
		begin = ps_max(begin, x->ev.when);
	begin = when(l, urgency, begin);
	r->behind = *at;
	r->rq = rq;
	*at = r;
	end = begin + rest;
	book(l, r->behind, urgency, begin, rest);
	evq_push(l->q, &r->ev, end);
	return ps_max(first, end > span ? end - span : 0);
}

void carry_over(struct carry *l, struct carry_ride *r)
{
	struct carry_ride **at = &l->first;

	/* Mostly the first; behind one that waits for what only passes, a less urgent one may end earlier. */
	while (*at != r)
		at = &(*at)->behind;
	*at = r->behind;
}

ps_t carry_when(const struct carry *l, uint8_t urgency, ps_t at, ps_t span)
{
	return when(l, urgency, at) + span;
}

ps_t carry_pass(struct carry *l, uint8_t urgency, ps_t at, ps_t span)
{
	const ps_t begin = when(l, urgency, at);

	was_idle(l, evq_now(l->q));
	book(l, *behind(l, urgency), urgency, begin, span);
	return begin + span;
}
