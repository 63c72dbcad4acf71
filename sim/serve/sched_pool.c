#include "sim/serve/sched_pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/serve/sched_int.h"

struct machine {
	struct sched s;
	struct pools *of;
	ps_t link;                /* free from then on */
	uint32_t sent, last_sent; /* whose caches are on their way from here, by their ends */
};

struct pools {
	const struct sched_plan *p;
	const struct arrivals *a;
	struct sched_pools *r;
	struct sched_tables tables[SCHED_POOLS];
	struct machine *v[SCHED_POOLS];
	uint32_t turn[SCHED_POOLS]; /* of a router that takes all in turn */
	uint32_t came;
	size_t left;
	bool done;
};

static struct machine *route(struct pools *x, uint32_t pool)
{
	const uint32_t n = x->p->pool[pool].machines;
	struct machine *best = &x->v[pool][0];

	if (x->p->router == SCHED_ROBIN)
		return &x->v[pool][x->turn[pool]++ % n];
	for (uint32_t k = 1; k < n; k++)
		if (x->v[pool][k].s.in_system < best->s.in_system)
			best = &x->v[pool][k];
	return best;
}

static void give(struct pools *x, uint32_t pool, uint32_t i, ps_t at)
{
	struct machine *m = route(x, pool);

	x->r->way[i].machine[pool] = (uint32_t)(m - x->v[pool]);
	sched_give(&m->s, i, at);
}

/* --- what moves ------------------------------------------------------------------------------------------------------- */

static ps_t fetch(void *ctx, uint32_t i, ps_t now)
{
	struct machine *to = ctx;
	struct pools *x = to->of;
	struct sched_way *w = &x->r->way[i];
	struct machine *from = &x->v[0][w->machine[0]];
	struct sched_move m;

	x->p->move(x->p->ctx, x->a->v[i].prompt, &m);
	w->from = ps_max(now, ps_max(from->link, to->link));
	if (from->s.p->stops) {
		w->from = from->s.until == PS_NEVER ? w->from : ps_max(w->from, from->s.until);
		from->s.hold = w->from + m.time;
		from->s.r->busy += m.time;
	}
	w->to = from->link = to->link = w->from + m.time;
	*(from->sent == SCHED_NONE ? &from->sent : &x->tables[0].after[from->last_sent]) = i;
	from->last_sent = i;
	x->tables[0].after[i] = SCHED_NONE;
	x->r->moves++;
	x->r->moved_bytes += m.bytes;
	x->r->moved_fj += m.energy_fj;
	x->r->moving += m.time;
	x->r->moving_most = ps_max(x->r->moving_most, m.time);
	x->r->waiting += w->from - x->r->all.v[i].first;
	return w->to;
}

static void forget(void *ctx, uint32_t i, ps_t now)
{
	const struct machine *to = ctx;

	sched_release(&to->of->v[0][to->of->r->way[i].machine[0]].s, i, now);
}

static void moved(struct pools *x, struct machine *from)
{
	const uint32_t i = from->sent;

	from->sent = x->tables[0].after[i];
	sched_release(&from->s, i, x->r->way[i].to);
}

/* --- events ----------------------------------------------------------------------------------------------------------- */

enum event { COMES, MOVED, ENDS, BEGINS };

struct next {
	ps_t at;
	enum event what;
	uint32_t pool;
	struct machine *m;
};

static void sooner(struct next *n, ps_t at, enum event what, uint32_t pool, struct machine *m)
{
	if (at < n->at || (at == n->at && what < n->what))
		*n = (struct next){ at, what, pool, m };
}

static struct next next_of(struct pools *x)
{
	struct next n = { x->came < x->a->n ? x->r->all.v[x->came].at : PS_NEVER, COMES, 0, NULL };

	for (uint32_t p = 0; p < x->p->pools; p++)
		for (uint32_t k = 0; k < x->p->pool[p].machines; k++) {
			struct machine *m = &x->v[p][k];

			if (m->sent != SCHED_NONE)
				sooner(&n, x->r->way[m->sent].to, MOVED, p, m);
			if (m->s.until != PS_NEVER)
				sooner(&n, m->s.until, ENDS, p, m);
			else
				sooner(&n, sched_next(&m->s), BEGINS, p, m);
		}
	return n;
}

static void finish(struct pools *x, uint32_t pool, struct machine *m)
{
	sched_finish(&m->s, x->p->seen, x->p->pool[pool].ctx);
	for (uint32_t k = 0; k < m->s.n_filled; k++)
		give(x, 1, m->s.filled[k], m->s.now);
}

/* Steps end, and clients leave before they begin. */
static int work(struct pools *x, const struct next *n, struct err *e)
{
	struct sched *s = &n->m->s;
	const size_t before = s->left;

	if (n->what == ENDS)
		finish(x, n->pool, n->m);
	else if (sched_begin(s, n->at, x->p->cost, x->p->pool[n->pool].ctx, e) < 0)
		return -1;
	for (size_t k = before; k < s->left; k++)
		sched_loop(&x->r->all, &x->p->pool[0].policy, ++x->left, s->now);
	return 0;
}

static int events(struct pools *x, struct err *e)
{
	while (x->left < x->a->n) {
		const struct next n = next_of(x);

		assert(n.at != PS_NEVER);
		if (n.what == COMES)
			give(x, 0, x->came++, n.at);
		else if (n.what == MOVED)
			moved(x, n.m);
		else if (work(x, &n, e) < 0)
			return -1;
	}
	return 0;
}

/* --- the whole ---------------------------------------------------------------------------------------------------------- */

static bool open(struct pools *x)
{
	struct sched_pools *r = x->r;
	uint32_t done = 0;

	for (uint32_t p = 0; p < x->p->pools; p++)
		r->machines += x->p->pool[p].machines;
	r->way = calloc(x->a->n, sizeof *r->way);
	r->machine = calloc(r->machines, sizeof *r->machine);
	if (!sched_result_new(&r->all, &x->p->pool[0].policy, x->a) || !r->way || !r->machine)
		return false;
	for (uint32_t p = 0; p < x->p->pools; p++) {
		const uint32_t n = x->p->pool[p].machines;

		x->v[p] = calloc(n, sizeof *x->v[p]);
		if (!x->v[p] || !sched_tables_new(&x->tables[p], x->a, n))
			return false;
		for (uint32_t k = 0; k < n; k++, done++) {
			struct machine *m = &x->v[p][k];

			*m = (struct machine){ .of = x, .sent = SCHED_NONE };
			r->machine[done].v = r->all.v;
			r->machine[done].gaps = r->all.gaps;
			if (!sched_open(&m->s, &x->p->pool[p].policy, x->a, &x->tables[p], k, &r->machine[done]))
				return false;
			m->s.pool = p;
			m->s.machine = k;
			m->s.fetch = fetch;
			m->s.forget = forget;
			m->s.fetch_ctx = m;
		}
	}
	return true;
}

static void close(struct pools *x)
{
	for (uint32_t p = 0; p < x->p->pools; p++) {
		for (uint32_t k = 0; x->v[p] && k < x->p->pool[p].machines; k++) {
			assert(!x->done || x->v[p][k].s.pager.used == 0);
			sched_close(&x->v[p][k].s);
		}
		free(x->v[p]);
		sched_tables_free(&x->tables[p]);
	}
}

static void add(struct sched_result *to, const struct sched_result *r)
{
	to->end = ps_max(to->end, r->end);
	to->busy += r->busy;
	to->worked += r->worked;
	to->steps += r->steps;
	to->decode_steps += r->decode_steps;
	to->prompt_steps += r->prompt_steps;
	to->mixed_steps += r->mixed_steps;
	to->made += r->made;
	to->checked += r->checked;
	to->accepted += r->accepted;
	to->prompt_tokens += r->prompt_tokens;
	to->recomputed += r->recomputed;
	to->found += r->found;
	to->shared += r->shared;
	to->evicted += r->evicted;
	to->pages_peak += r->pages_peak;
	to->preemptions += r->preemptions;
	to->swapped_bytes += r->swapped_bytes;
	to->blocks_peak += r->blocks_peak;
	to->gone += r->gone;
	to->batch_peak = r->batch_peak > to->batch_peak ? r->batch_peak : to->batch_peak;
	to->in_system += r->in_system;
	to->waiting += r->waiting;
	to->running += r->running;
	to->blocks_ps += r->blocks_ps;
	to->seqs_sum += r->seqs_sum;
	to->energy_fj += r->energy_fj;
}

int sched_pool_run(const struct sched_plan *p, const struct arrivals *a, struct sched_pools *out, struct err *e)
{
	struct pools x = { .p = p, .a = a, .r = out };
	int rc;

	memset(out, 0, sizeof *out);
	rc = open(&x) ? events(&x, e) : err_nomem(e, "for requests");
	x.done = rc == 0;
	for (uint32_t i = 0; out->machine && i < out->machines; i++)
		add(&out->all, &out->machine[i]);
	close(&x);
	return rc;
}

void sched_pools_free(struct sched_pools *x)
{
	sched_free(&x->all);
	free(x->machine);
	free(x->way);
	x->machine = NULL;
	x->way = NULL;
}
