#include "arch/mem/carry.h"

#include <string.h>

void carry_reset(struct carry *l, struct evq *q)
{
	l->q = q;
	l->first = NULL;
	memset(l->free_at, 0, sizeof l->free_at);
}

/* Books its time behind all that is as urgent; what is less urgent ends that much later. */
static ps_t book(struct carry *l, uint8_t urgency, ps_t begin, ps_t span)
{
	for (uint8_t u = urgency; u <= MEM_BLOCKING; u++)
		begin = ps_max(begin, l->free_at[u]);
	l->free_at[urgency] = begin + span;
	for (uint8_t u = 0; u < urgency; u++)
		if (l->free_at[u] > begin)
			l->free_at[u] += span;
	return begin;
}

void carry_put(struct carry *l, struct carry_ride *r, const struct mem_req *rq, ps_t span)
{
	struct carry_ride **at = &l->first;
	const uint8_t urgency = mem_urgency(rq);
	const ps_t now = evq_now(l->q);
	ps_t begin = now > span ? now - span : 0;

	for (; *at && mem_urgency((*at)->rq) >= urgency; at = &(*at)->behind)
		begin = ps_max(begin, (*at)->ev.when);
	r->behind = *at;
	r->rq = rq;
	*at = r;
	begin = book(l, urgency, begin, span);
	evq_push(l->q, &r->ev, begin + span);
	for (r = r->behind; r; r = r->behind) {
		const ps_t then = r->ev.when + span;

		evq_cancel(l->q, &r->ev);
		evq_push(l->q, &r->ev, then);
	}
}

void carry_over(struct carry *l, struct carry_ride *r)
{
	struct carry_ride **at = &l->first;

	/* Mostly the first; behind one that waits for what only passes, a less urgent one may end earlier. */
	while (*at != r)
		at = &(*at)->behind;
	*at = r->behind;
}

ps_t carry_pass(struct carry *l, uint8_t urgency, ps_t at, ps_t span)
{
	return book(l, urgency, at, span) + span;
}
