#include "arch/mem/memslot.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct memslots {
	struct comp *self;
	struct memslot *slots, *spare;
	uint64_t *deps; /* of all slots */
	uint32_t n, words, held, filling;
	ps_t latency;
	void (*freed)(struct comp *self, const struct mem_req *r, ps_t from, ps_t to);
	ps_t free_at[MEM_BLOCKING + 1]; /* by urgency: when the last of it is served */
	struct memslot **waiting;       /* slots with deps > 0, in no order that matters */
	uint32_t n_waiting;
	struct memslot *settled; /* answered next; only within settle() */
};

static void answer(void *owner, struct ev *ev)
{
	struct memslots *m = owner;
	struct memslot *s = (struct memslot *)ev; /* ev is its first member */
	struct mem_req *r = s->rq;

	s->rq = NULL;
	s->next = m->spare;
	m->spare = s;
	m->held--;
	m->freed(m->self, r, s->ready - s->span, s->ready);
	r->from->ops->reply(r->from, r); /* I1 */
}

struct memslots *memslots_new(struct comp *self, uint32_t n, ps_t latency,
                              void (*freed)(struct comp *self, const struct mem_req *r, ps_t from, ps_t to),
                              struct err *e)
{
	struct memslots *m = calloc(1, sizeof *m);

	if (!m)
		goto nomem;
	m->self = self;
	m->n = n;
	m->words = (n + 63) / 64;
	m->latency = latency;
	m->freed = freed;
	m->slots = calloc(n, sizeof *m->slots);
	m->deps = calloc((size_t)n * m->words, sizeof *m->deps);
	m->waiting = calloc(n, sizeof *m->waiting);
	if (!m->slots || !m->deps || !m->waiting || evq_reserve(self->env.q, n) < 0)
		goto nomem;
	for (uint32_t i = 0; i < n; i++)
		ev_init(&m->slots[i].ev, EV_REPLY, answer, m);
	memslots_reset(m);
	return m;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for the requests a level holds");
	memslots_free(m);
	return NULL;
}

void memslots_free(struct memslots *m)
{
	if (!m)
		return;
	free(m->slots);
	free(m->deps);
	free(m->waiting);
	free(m);
}

void memslots_reset(struct memslots *m)
{
	m->spare = m->settled = NULL;
	m->held = m->filling = m->n_waiting = 0;
	memset(m->free_at, 0, sizeof m->free_at);
	memset(m->deps, 0, (size_t)m->n * m->words * sizeof *m->deps);
	for (uint32_t i = m->n; i-- > 0;) {
		struct memslot *s = &m->slots[i];
		struct ev ev;

		evq_cancel(m->self->env.q, &s->ev);
		ev = s->ev;
		*s = (struct memslot){ .ev = ev, .idx = i, .dep = &m->deps[(size_t)i * m->words], .next = m->spare };
		m->spare = s;
	}
}

bool memslots_room(const struct memslots *m)
{
	return m->spare != NULL;
}

uint32_t memslots_held(const struct memslots *m)
{
	return m->held;
}

uint32_t memslots_filling(const struct memslots *m)
{
	return m->filling;
}

struct memslot *memslots_take(struct memslots *m, struct mem_req *r)
{
	struct memslot *s = m->spare;

	assert(s && !r->posted); /* a posted request cannot wait: it is for the lowest level only */
	m->spare = s->next;
	m->held++;
	s->rq = r;
	s->run = 0;
	s->late = 0;
	s->first = PS_NEVER;
	s->hit_below = 0;
	s->line = UINT64_MAX;
	s->walked = false;
	s->next = NULL;
	assert(!s->ask && !s->fill && !s->asked && !s->deps);
	return s;
}

/* It is served that much later, and so are its first byte and its answer. */
static void give_way(struct memslots *m, struct memslot *s, ps_t begin, ps_t span)
{
	const ps_t when = s->ev.when + span;

	s->ready += span;
	if (s->start >= begin) {
		s->start += span;
		s->rq->t_level += span;
		s->rq->t_first += span;
	}
	if (ev_idle(&s->ev))
		return;
	evq_cancel(m->self->env.q, &s->ev);
	evq_push(m->self->env.q, &s->ev, when);
}

/* Those of them that are served by then are not in its way, nor is it in theirs. */
static void pass_others(struct memslots *m, const struct memslot *own, uint8_t urgency, ps_t *begin, ps_t span)
{
	for (uint32_t i = 0; i < m->n; i++) /* some may have become more urgent since they came */
		if (m->slots[i].rq && &m->slots[i] != own && mem_urgency(m->slots[i].rq) >= urgency)
			*begin = ps_max(*begin, m->slots[i].ready);
	for (uint32_t i = 0; i < m->n; i++)
		if (m->slots[i].rq && &m->slots[i] != own && mem_urgency(m->slots[i].rq) < urgency &&
		    m->slots[i].ready > *begin)
			give_way(m, &m->slots[i], *begin, span);
}

void memslots_serve(struct memslots *m, struct memslot *s, ps_t at, ps_t span)
{
	const uint8_t urgency = mem_urgency(s->rq);
	ps_t less = 0;

	for (uint8_t u = 0; u <= MEM_BLOCKING; u++)
		*(u < urgency ? &less : &at) = ps_max(u < urgency ? less : at, m->free_at[u]);
	if (less > at)
		pass_others(m, s, urgency, &at, span);
	m->free_at[urgency] = at + span;
	for (uint8_t u = 0; u < urgency; u++)
		if (m->free_at[u] > at)
			m->free_at[u] += span;
	s->span = span;
	s->start = s->rq->t_level = at;
	s->ready = at + span;
}

/* Ids name their slot and do not repeat for billions of fills: a stale one in a chunk matches nobody. */
void memslots_fill(struct memslots *m, struct memslot *s)
{
	if (s->fill)
		return;
	if (++s->generation >= UINT32_MAX / m->n)
		s->generation = 1;
	s->fill = s->generation * m->n + s->idx;
	m->filling++;
}

bool memslots_depend(struct memslots *m, struct memslot *s, uint32_t id)
{
	const struct memslot *on = &m->slots[id % m->n];
	uint64_t bit = UINT64_C(1) << (on->idx & 63);

	if (on->fill != id)
		return false;
	if (on == s || (s->dep[on->idx / 64] & bit))
		return true;
	s->dep[on->idx / 64] |= bit;
	if (s->deps++ == 0)
		m->waiting[m->n_waiting++] = s;
	return true;
}

void memslots_asked(struct memslot *s)
{
	s->asked++;
}

static void ready_one(struct memslots *m, struct memslot *s)
{
	if (s->walked && s->asked == 0 && s->deps == 0) {
		s->next = m->settled;
		m->settled = s;
	}
}

/* Everybody who waited for the fill of slot `on`. */
static void release_waiting(struct memslots *m, const struct memslot *on)
{
	uint64_t bit = UINT64_C(1) << (on->idx & 63);
	uint32_t word = on->idx / 64;

	for (uint32_t i = m->n_waiting; i-- > 0;) {
		struct memslot *s = m->waiting[i];

		if (!(s->dep[word] & bit))
			continue;
		s->dep[word] &= ~bit;
		if (on->rq->t_dram) { /* it waited for DRAM too, if by another's request */
			if (s->rq->t_dram == 0)
				s->rq->t_dram = s->start;
			s->rq->t_dram_done = ps_max(s->rq->t_dram_done, on->rq->t_dram_done);
		}
		if (--s->deps == 0) {
			m->waiting[i] = m->waiting[--m->n_waiting]; /* the last one has been looked at */
			ready_one(m, s);
		}
	}
}

/* What is found here streams out from the start on, the rest as it comes. */
static ps_t first_byte(const struct memslot *s)
{
	return s->rq->hit_bytes > s->hit_below || s->first == PS_NEVER ? s->start : ps_max(s->start, s->first);
}

static void settle(struct memslots *m, struct memslot *s)
{
	ready_one(m, s);
	while ((s = m->settled)) {
		m->settled = s->next;
		s->next = NULL;
		if (s->fill) {
			s->fill = 0;
			m->filling--;
			release_waiting(m, s);
		}
		s->rq->t_first = first_byte(s) + m->latency + s->late;
		evq_push(m->self->env.q, &s->ev, ps_max(evq_now(m->self->env.q), s->ready) + m->latency + s->late);
	}
}

void memslots_answered(struct memslots *m, struct memslot *s, const struct memq_sub *sub)
{
	struct mem_req *r = s->rq;

	if (sub->rq.t_dram && (r->t_dram == 0 || sub->rq.t_dram < r->t_dram))
		r->t_dram = sub->rq.t_dram;
	r->t_dram_done = ps_max(r->t_dram_done, sub->rq.t_dram_done);
	r->dram_bytes += sub->rq.dram_bytes;
	r->hit_bytes += sub->rq.hit_bytes;
	s->hit_below += sub->rq.hit_bytes;
	s->first = ps_min(s->first, sub->rq.t_first);
	assert(s->asked > 0);
	s->asked--;
	settle(m, s);
}

void memslots_walked(struct memslots *m, struct memslot *s)
{
	s->walked = true;
	settle(m, s);
}
