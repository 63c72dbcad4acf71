#include "sim/engine/analytic_repeat.h"

#include <stdlib.h>
#include <string.h>

#define RELEASES 256 /* that are waited for at once, at the most */
#define GAPS     4   /* that a tile leaves in a server's bookings, at the most */

struct server_mark {
	ps_t end, last;
	uint32_t n, between;
};

struct repeat {
	struct repeat_loop was;
	struct server_mark server[HIERARCHY_SERVERS], unit[RES_COUNT];
	struct release releases[RELEASES];
	ps_t *slot, *replies; /* in their order */
	uint32_t outstanding, next_reply[2];
	uint64_t transfers, posts, bursts;
	ps_t posted, posted_at, all_posts;
	/* Of DRAM's bus. */
	ps_t idle, gap_from;
	uint32_t filled, gaps;
};

struct repeat *repeat_new(const struct machine_cfg *c, struct err *e)
{
	struct repeat *r = calloc(1, sizeof *r);

	if (r && (r->slot = calloc(c->dma.stages, sizeof *r->slot)) &&
	    (r->replies = calloc(c->dma.outstanding, sizeof *r->replies))) {
		r->outstanding = c->dma.outstanding;
		return r;
	}
	repeat_free(r);
	err_set(e, ERR_NOMEM, "out of memory for a machine in closed form");
	return NULL;
}

void repeat_free(struct repeat *r)
{
	if (!r)
		return;
	free(r->slot);
	free(r->replies);
	free(r);
}

static struct server_mark mark_of(const struct server *s)
{
	return (struct server_mark){ s->end, s->last, s->n, s->between };
}

static uint32_t wrapped(uint32_t at, uint32_t size)
{
	return at < size ? at : at - size;
}

bool repeat_mark(struct repeat *r, const struct repeat_loop *l)
{
	struct hierarchy *h = l->mem;
	const struct server *bus = &h->dram_server;
	struct server *all[HIERARCHY_SERVERS];

	if (l->end - l->first > RELEASES)
		return false;
	r->was = *l;
	hierarchy_servers(h, all);
	for (int i = 0; i < HIERARCHY_SERVERS; i++)
		r->server[i] = mark_of(all[i]);
	for (int i = 0; i < RES_COUNT; i++)
		r->unit[i] = mark_of(&l->unit[i]);
	for (uint32_t i = l->first; i != l->end; i++)
		r->releases[i - l->first] = l->releases[i & l->mask];
	for (uint32_t i = 0; i < l->stages; i++)
		r->slot[i] = l->slot[wrapped(l->place + i, l->stages)];
	for (int i = 0; i < 2; i++)
		r->next_reply[i] = h->next_reply[i];
	for (uint32_t i = 0; i < r->outstanding; i++)
		r->replies[i] = h->replies[1][wrapped(h->next_reply[1] + i, r->outstanding)];
	r->transfers = h->n.dma_transfers;
	r->posts = h->n_posts;
	r->bursts = h->n_bursts;
	r->posted = h->posted;
	r->posted_at = h->posted_at;
	r->all_posts = h->all_posts;
	r->idle = bus->idle;
	r->filled = bus->filled;
	r->gaps = bus->n;
	r->gap_from = bus->first < bus->n ? bus->gap[bus->first].from : 0;
	return true;
}

/* A server that the tile did not use is free when any other will, and one that it used is as it was before, but later. */
static bool server_repeats(const struct server_mark *was, const struct server *s, ps_t by, ps_t floor)
{
	if (s->between != was->between || s->n < was->n || s->n - was->n > GAPS)
		return false;
	if (s->end == was->end && s->n == was->n)
		return s->end <= floor;
	return s->end - was->end == by && (s->n == was->n || s->last - was->last == by);
}

static bool servers_repeat(const struct repeat *r, const struct repeat_loop *l, ps_t by)
{
	struct server *all[HIERARCHY_SERVERS];

	hierarchy_servers(l->mem, all);
	for (int i = 0; i < HIERARCHY_SERVERS; i++)
		if (!server_repeats(&r->server[i], all[i], by, r->was.admitted))
			return false;
	for (int i = 0; i < RES_COUNT; i++)
		if (!server_repeats(&r->unit[i], &l->unit[i], by, r->was.admitted))
			return false;
	return true;
}

/* A moment that is waited for by nobody who comes later than `floor` counts as that. */
static bool moves_on(ps_t was, ps_t floor_was, ps_t is, ps_t floor)
{
	return ps_max(was, floor_was) - floor_was == ps_max(is, floor) - floor;
}

static bool places_repeat(const struct repeat *r, const struct repeat_loop *l, ps_t by)
{
	const struct hierarchy *h = l->mem;
	const ps_t from = r->was.admitted, to = l->admitted;

	if (l->end - l->first != r->was.end - r->was.first || l->used != r->was.used)
		return false;
	for (uint32_t i = 0; i < l->end - l->first; i++) {
		const struct release *x = &r->releases[i], *y = &l->releases[(l->first + i) & l->mask];

		if (y->when - x->when != by || y->bytes != x->bytes)
			return false;
	}
	for (uint32_t i = 0; i < l->stages; i++)
		if (!moves_on(r->slot[i], from, l->slot[wrapped(l->place + i, l->stages)], to))
			return false;
	for (uint32_t i = 0; i < r->outstanding; i++)
		if (!moves_on(r->replies[i], from, h->replies[1][wrapped(h->next_reply[1] + i, r->outstanding)], to))
			return false;
	return true;
}

/* Transfers of the tile; all were waited for, and fewer than there are descriptors. */
static uint32_t transfers(const struct repeat *r, const struct hierarchy *h)
{
	return wrapped(h->next_reply[1] + r->outstanding - r->next_reply[1], r->outstanding);
}

/* A tile's write-backs take DRAM's time: that of long ago which nobody wanted, as far as there is any. */
static bool from_idle(const struct repeat *r, const struct hierarchy *h, ps_t by)
{
	return h->posted == r->posted && (!h->posted || h->posted_at - r->posted_at == by) &&
	       h->dram_server.filled == r->filled && h->dram_server.idle + (h->all_posts - r->all_posts) == r->idle;
}

/* Or of the oldest stretch that is free, where no new one takes its place among those that are remembered, */
static bool from_gap(const struct repeat *r, const struct hierarchy *h)
{
	const struct server *s = &h->dram_server;

	return h->posted == 0 && r->posted == 0 && s->idle == 0 && r->idle == 0 && s->n == r->gaps && s->first < s->n &&
	       s->gap[s->first].to <= r->was.admitted &&
	       s->gap[s->first].from == r->gap_from + (h->all_posts - r->all_posts);
}

/* or they gather. */
static bool gathered(const struct repeat *r, const struct hierarchy *h, ps_t by)
{
	return (h->dram_server.idle == 0 || !h->c->mem.l2.write_back) && h->dram_server.filled == r->filled &&
	       h->n_bursts == r->bursts && h->posted_at - r->posted_at == by &&
	       h->posted == r->posted + (h->all_posts - r->all_posts) && h->posted <= h->posted_most;
}

/* What of a stretch can be taken so that some of it is still left. */
static ps_t gap_room(const struct server_gap *g)
{
	return g->to - g->from - ps_min(SERVER_SMALL_GAP + 1, g->to - g->from);
}

/* How many more of the tile's write-backs go where its own went. */
static uint32_t may_write(const struct repeat *r, const struct hierarchy *h, ps_t by, uint32_t most)
{
	const struct server *s = &h->dram_server;
	const ps_t more = h->all_posts - r->all_posts;
	ps_t room;

	if (h->n_posts == r->posts)
		return most;
	if (!more)
		return 0;
	if (from_idle(r, h, by))
		room = s->idle;
	else if (from_gap(r, h))
		room = gap_room(&s->gap[s->first]);
	else if (gathered(r, h, by))
		room = h->posted_most - h->posted;
	else
		return 0;
	return (uint32_t)ps_min(most, room / more);
}

uint32_t repeat_tiles(const struct repeat *r, const struct repeat_loop *l, uint32_t most)
{
	const struct hierarchy *h = l->mem;
	const ps_t by = l->admitted - r->was.admitted;

	if (by == 0 || l->turn - r->was.turn != by || l->over - r->was.over != by ||
	    h->next_reply[0] != r->next_reply[0] || h->n.dma_transfers - r->transfers != transfers(r, h) ||
	    !servers_repeat(r, l, by) || !places_repeat(r, l, by))
		return 0;
	return may_write(r, h, by, most);
}

static void server_again(const struct server_mark *was, struct server *s, ps_t by, uint32_t tiles)
{
	struct server_gap gap[GAPS];
	const uint32_t n = s->n - was->n;
	ps_t later = 0;

	if (s->end == was->end)
		return;
	if (n)
		memcpy(gap, &s->gap[was->n], n * sizeof *gap);
	for (uint32_t t = 0; n && t < tiles; t++) {
		later += by;
		for (uint32_t i = 0; i < n; i++)
			server_gap_add(s, gap[i].from + later, gap[i].to + later);
	}
	s->end += tiles * by;
}

static void write_again(const struct repeat *r, struct hierarchy *h, ps_t by, uint32_t tiles)
{
	const ps_t more = tiles * (h->all_posts - r->all_posts);

	if (h->n_posts == r->posts)
		return;
	if (from_idle(r, h, by)) {
		h->dram_server.idle -= more;
	} else if (from_gap(r, h)) {
		h->dram_server.gap[h->dram_server.first].from += more;
	} else {
		h->posted += more;
	}
	h->posted_at += tiles * by;
}

void repeat_take(const struct repeat *r, struct repeat_loop *l, uint32_t tiles)
{
	struct hierarchy *h = l->mem;
	struct server *all[HIERARCHY_SERVERS];
	const ps_t by = l->admitted - r->was.admitted, slot = l->slot[wrapped(l->place + l->stages - 1, l->stages)];
	const uint32_t n = transfers(r, h);
	ps_t later = 0;

	hierarchy_servers(h, all);
	for (int i = 0; i < HIERARCHY_SERVERS; i++)
		server_again(&r->server[i], all[i], by, tiles);
	for (int i = 0; i < RES_COUNT; i++)
		server_again(&r->unit[i], &l->unit[i], by, tiles);
	for (uint32_t i = l->first; i != l->end; i++)
		l->releases[i & l->mask].when += tiles * by;
	for (uint32_t t = 0; t < tiles; t++) {
		later += by;
		l->slot[l->place] = slot + later;
		l->place = wrapped(l->place + 1, l->stages);
		for (uint32_t i = 0; i < n; i++) { /* each the one a tile before, so much later */
			h->replies[1][h->next_reply[1]] =
				h->replies[1][wrapped(h->next_reply[1] + r->outstanding - n, r->outstanding)] + by;
			h->next_reply[1] = wrapped(h->next_reply[1] + 1, r->outstanding);
		}
	}
	write_again(r, h, by, tiles);
	l->admitted += tiles * by;
	l->turn += tiles * by;
	l->over += tiles * by;
}
