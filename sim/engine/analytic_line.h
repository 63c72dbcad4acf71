/* analytic_line.h - a server's time: when it is free, and what is booked in it (DRAM bus, L2, engines, units).
 *
 * Bookings come in program order, which is not the order of time: a later command's prefetch may come before an
 * earlier one's demand. So a booking fills the free stretches from its own time on, several if it must, as the event
 * model's servers do when what somebody waits for goes first and prefetches take what is left.
 * Invariant: I1 no moment is booked twice, so a server never does more than its rate. */
#ifndef NPUSIM_SIM_ENGINE_ANALYTIC_LINE_H
#define NPUSIM_SIM_ENGINE_ANALYTIC_LINE_H

#include <stdint.h>

#include "sim/base/clock.h"

#define LINE_GAPS     191
#define LINE_FRACTION 24
#define LINE_SMALL    (2 * PS_NS) /* a free stretch not worth remembering */

struct line {
	ps_t end; /* free from here on; before it, where a gap is: */
	struct line_gap {
		ps_t from, to;
	} gap[LINE_GAPS];        /* by time */
	uint32_t first, n;       /* gaps first .. n - 1 */
	ps_t last;               /* no gap ends later */
	ps_t idle;               /* time that was free and is forgotten */
	uint64_t per_byte, most; /* ps, times 2^LINE_FRACTION; bytes up to which the product fits */
};

struct line_span {
	ps_t start, end;
};

void line_init(struct line *l, uint64_t bytes_per_s); /* free from 0 on */
void line_clear(struct line *l);
void line_forget(struct line *l, ps_t before);                          /* nothing will be booked before */
void line_drop(struct line *l);                                         /* the oldest gaps */
struct line_span line_book_between(struct line *l, ps_t at, ps_t span); /* line_book, wherever there is room */
ps_t line_fill_between(struct line *l, ps_t from, ps_t to, ps_t span);  /* line_fill, likewise */

/* The end moves, and what it leaves free is a gap if it is worth one. */
static inline void line_end(struct line *l, ps_t start, ps_t end)
{
	if (start > l->end + LINE_SMALL) {
		if (l->n == LINE_GAPS)
			line_drop(l);
		l->gap[l->n++] = (struct line_gap){ l->end, start };
		l->last = start;
	}
	l->end = end;
}

/* Nearly always behind all that is booked. */
static inline struct line_span line_book(struct line *l, ps_t at, ps_t span)
{
	const ps_t start = l->end > at ? l->end : at, end = start + span;

	if (at < l->last)
		return line_book_between(l, at, span);
	if (span)
		line_end(l, start, end);
	return (struct line_span){ start, end };
}

/* Of `span`, as much as is free between two moments, the earliest first; returns how much that was. */
static inline ps_t line_fill(struct line *l, ps_t from, ps_t to, ps_t span)
{
	if (span == 0 || from >= to || (l->end >= to && l->last <= from))
		return 0;
	return line_fill_between(l, from, to, span);
}

static inline ps_t line_span_of(const struct line *l, uint64_t bytes)
{
	if (bytes > l->most)
		return (bytes >> LINE_FRACTION) * l->per_byte + l->per_byte;
	return ((bytes * l->per_byte) >> LINE_FRACTION) + (bytes != 0);
}

#endif
