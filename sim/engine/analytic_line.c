#include "sim/engine/analytic_line.h"

#include <stdbool.h>
#include <string.h>

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
	l->end = l->last = l->idle = 0;
	l->first = l->n = 0;
}

void line_forget(struct line *l, ps_t before)
{
	for (; l->first < l->n && l->gap[l->first].to <= before; l->first++)
		l->idle += l->gap[l->first].to - l->gap[l->first].from;
}

void line_drop(struct line *l)
{
	uint32_t drop = l->first > LINE_GAPS / 4 ? l->first : LINE_GAPS / 4;

	memmove(l->gap, l->gap + drop, (l->n - drop) * sizeof *l->gap);
	l->n -= drop;
	l->first = 0;
}

/* Gap i loses [from, to), which lies in it; returns the number of the gap after what was taken. */
static uint32_t cut(struct line *l, uint32_t i, ps_t from, ps_t to)
{
	struct line_gap *g = &l->gap[i];
	const bool left = from > g->from + LINE_SMALL, right = g->to > to + LINE_SMALL;

	if (left && right) {
		if (l->n == LINE_GAPS) {
			line_drop(l);
			i = i > LINE_GAPS - l->n ? i - (LINE_GAPS - l->n) : 0;
			g = &l->gap[i];
		}
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

/* The first gap that ends after `at`; n: none. */
static uint32_t gap_after(const struct line *l, ps_t at)
{
	uint32_t i = l->n;

	while (i > l->first && l->gap[i - 1].to > at)
		i--;
	return i;
}

struct line_span line_book_between(struct line *l, ps_t at, ps_t span)
{
	uint32_t i = gap_after(l, at);
	struct line_span s = { ps_max(i < l->n ? l->gap[i].from : l->end, at), 0 };
	ps_t from = s.start;

	while (i < l->n && span > l->gap[i].to - from) {
		span -= l->gap[i].to - from;
		i = cut(l, i, from, l->gap[i].to);
		from = i < l->n ? l->gap[i].from : l->end;
	}
	s.end = from + span;
	if (span && i < l->n) {
		cut(l, i, from, s.end);
	} else if (span) {
		line_end(l, from, s.end);
	}
	l->last = l->first < l->n ? l->gap[l->n - 1].to : 0;
	return s;
}

ps_t line_fill_between(struct line *l, ps_t from, ps_t to, ps_t span)
{
	const bool oldest = l->first < l->n && l->gap[l->first].to > from;
	uint32_t i = oldest ? l->first : gap_after(l, from);
	ps_t left = span, start, end;

	while (left && i < l->n && l->gap[i].from < to) {
		start = ps_max(l->gap[i].from, from);
		end = ps_min(ps_min(l->gap[i].to, to), start + left);
		left -= end - start;
		i = cut(l, i, start, end);
	}
	start = ps_max(l->end, from);
	if (left && start < to) {
		end = ps_min(to, start + left);
		left -= end - start;
		line_end(l, start, end);
	}
	l->last = l->first < l->n ? l->gap[l->n - 1].to : 0;
	return span - left;
}
