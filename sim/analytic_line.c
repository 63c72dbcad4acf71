#include "sim/analytic_line.h"

#include <stdbool.h>
#include <string.h>

#define SMALL (2 * PS_NS) /* a free stretch not worth remembering */

void line_init(struct line *l, uint64_t bytes_per_s)
{
	const uint64_t ps = UINT64_C(1000000000000);

	/* In two steps: 10^12 times 2^24 is just within 64 bits. */
	l->per_byte = bytes_per_s ? (ps << LINE_FRACTION) / bytes_per_s + 1 : 0;
	l->most = l->per_byte ? UINT64_MAX / l->per_byte : UINT64_MAX;
	line_clear(l);
}

void line_clear(struct line *l)
{
	l->first = 0;
	l->n = 1;
	l->idle = 0;
	l->gap[0] = (struct line_gap){ 0, PS_NEVER };
}

void line_forget(struct line *l, ps_t before)
{
	for (; l->first + 1 < l->n && l->gap[l->first].to <= before; l->first++)
		l->idle += l->gap[l->first].to - l->gap[l->first].from;
}

/* Room for one more gap; where there is none, the oldest go. */
static void make_room(struct line *l, uint32_t *i)
{
	uint32_t drop;

	if (l->n < LINE_GAPS)
		return;
	drop = l->first > LINE_GAPS / 4 ? l->first : LINE_GAPS / 4;
	memmove(l->gap, l->gap + drop, (l->n - drop) * sizeof *l->gap);
	l->n -= drop;
	l->first = 0;
	*i = *i > drop ? *i - drop : 0;
}

/* Gap i loses [from, to), which lies in it; returns the number of the gap after what was taken. */
static uint32_t cut(struct line *l, uint32_t i, ps_t from, ps_t to)
{
	struct line_gap *g = &l->gap[i];
	const bool left = from > g->from + SMALL, right = g->to > to + SMALL;

	if (left && right) {
		make_room(l, &i);
		g = &l->gap[i];
		memmove(g + 1, g, (l->n - i) * sizeof *g);
		l->n++;
		g[0].to = from;
		g[1].from = to;
		return i + 1;
	}
	if (left) {
		g->to = from;
		return i + 1;
	}
	if (right) {
		g->from = to;
		return i;
	}
	memmove(g, g + 1, (l->n - i - 1) * sizeof *g);
	l->n--;
	return i;
}

struct line_span line_book(struct line *l, ps_t at, ps_t span)
{
	uint32_t i = l->n - 1;
	struct line_span s;

	while (i > l->first && l->gap[i - 1].to > at)
		i--;
	s.start = ps_max(l->gap[i].from, at);
	s.end = s.start;
	for (ps_t from = s.start;;) {
		ps_t room = l->gap[i].to - from;

		if (span <= room) {
			s.end = from + span;
			if (span)
				cut(l, i, from, s.end);
			return s;
		}
		span -= room;
		i = cut(l, i, from, l->gap[i].to);
		from = l->gap[i].from;
	}
}

ps_t line_fill(struct line *l, ps_t from, ps_t to, ps_t span)
{
	ps_t left = span;
	uint32_t i = l->n - 1;

	while (i > l->first && l->gap[i - 1].to > from)
		i--;
	while (left && i < l->n && l->gap[i].from < to) {
		ps_t start = ps_max(l->gap[i].from, from), end = ps_min(l->gap[i].to, to), room;

		if (end <= start) {
			i++;
			continue;
		}
		room = ps_min(end - start, left);
		left -= room;
		i = cut(l, i, start, start + room);
	}
	return span - left;
}
