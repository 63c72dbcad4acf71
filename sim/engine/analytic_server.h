/* analytic_server.h - a server's time: when it is free, and what is booked in it (DRAM bus, L2, engines, units).
 *
 * Bookings come in program order, which is not the order of time: a later command's prefetch may come before an
 * earlier one's demand. So a booking fills the free stretches from its own time on, several if it must, as the event
 * model's servers do when what somebody waits for goes first and prefetches take what is left.
 * Invariant: I1 no moment is booked twice, so a server never does more than its rate. */
#ifndef NPUSIM_SIM_ENGINE_ANALYTIC_SERVER_H
#define NPUSIM_SIM_ENGINE_ANALYTIC_SERVER_H

#include <stdint.h>

#include "sim/base/clock.h"

#define SERVER_GAPS      191
#define SERVER_FRACTION  24
#define SERVER_SMALL_GAP (2 * PS_NS) /* a free stretch not worth remembering */

struct server {
	ps_t end; /* free from here on; before it, where a gap is: */
	struct server_gap {
		ps_t from, to;
	} gap[SERVER_GAPS]; /* by time */
	uint32_t first, n;  /* gaps first .. n - 1 */
	ps_t last;          /* no gap ends later */
	ps_t idle;          /* time that was free and is forgotten */
	uint32_t between,
		filled; /* how often something was booked before what was booked already, and asked for what is free */
	uint64_t per_byte, most; /* ps, times 2^SERVER_FRACTION; bytes up to which the product fits */
};

struct booking {
	ps_t start, end;
};

void server_init(struct server *s, uint64_t bytes_per_s); /* free from 0 on */
void server_clear(struct server *s);
void server_forget(struct server *s, ps_t before);                         /* nothing will be booked before */
void server_drop_gaps(struct server *s);                                   /* the oldest gaps */
struct booking server_book_between(struct server *s, ps_t at, ps_t span);  /* server_book, wherever there is room */
ps_t server_fill_between(struct server *s, ps_t from, ps_t to, ps_t span); /* server_fill, likewise */

/* Of [from, to), what is booked; from on a moment that is not forgotten. */
ps_t server_busy(const struct server *s, ps_t from, ps_t to);

static inline void server_gap_add(struct server *s, ps_t from, ps_t to)
{
	if (s->n == SERVER_GAPS)
		server_drop_gaps(s);
	s->gap[s->n++] = (struct server_gap){ from, to };
	s->last = to;
}

/* The end moves, and what it leaves free is a gap if it is worth one. */
static inline void server_extend(struct server *s, ps_t start, ps_t end)
{
	if (start > s->end + SERVER_SMALL_GAP)
		server_gap_add(s, s->end, start);
	s->end = end;
}

/* Nearly always behind all that is booked. */
static inline struct booking server_book(struct server *s, ps_t at, ps_t span)
{
	const ps_t start = s->end > at ? s->end : at, end = start + span;

	if (at < s->last)
		return server_book_between(s, at, span);
	if (span)
		server_extend(s, start, end);
	return (struct booking){ start, end };
}

/* Of `span`, as much as is free between two moments, the earliest first; returns how much that was. */
static inline ps_t server_fill(struct server *s, ps_t from, ps_t to, ps_t span)
{
	if (span == 0 || from >= to || (s->end >= to && s->last <= from))
		return 0;
	return server_fill_between(s, from, to, span);
}

static inline ps_t server_time_of(const struct server *s, uint64_t bytes)
{
	if (bytes > s->most)
		return (bytes >> SERVER_FRACTION) * s->per_byte + s->per_byte;
	return ((bytes * s->per_byte) >> SERVER_FRACTION) + (bytes != 0);
}

#endif
