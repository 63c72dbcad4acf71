#include "sim/engine/analytic_server.h"

#include <stdbool.h>
#include <string.h>

void server_init(struct server *s, uint64_t bytes_per_s)
{
	const uint64_t ps = UINT64_C(1000000000000);

	/* In two steps: 10^12 times 2^24 is just within 64 bits. */
	s->per_byte = bytes_per_s ? (ps << SERVER_FRACTION) / bytes_per_s + 1 : 0;
	s->most = s->per_byte ? UINT64_MAX / s->per_byte : UINT64_MAX;
	server_clear(s);
}

void server_clear(struct server *s)
{
	s->end = s->last = s->idle = 0;
	s->first = s->n = 0;
}

void server_forget(struct server *s, ps_t before)
{
	for (; s->first < s->n && s->gap[s->first].to <= before; s->first++)
		s->idle += s->gap[s->first].to - s->gap[s->first].from;
}

void server_drop_gaps(struct server *s)
{
	uint32_t drop = s->first > SERVER_GAPS / 4 ? s->first : SERVER_GAPS / 4;

	memmove(s->gap, s->gap + drop, (s->n - drop) * sizeof *s->gap);
	s->n -= drop;
	s->first = 0;
}

/* Gap i loses [from, to), which lies in it; returns the number of the gap after what was taken. */
static uint32_t analytic_server_cut(struct server *s, uint32_t i, ps_t from, ps_t to)
{
	struct server_gap *g = &s->gap[i];
	const bool left = from > g->from + SERVER_SMALL_GAP, right = g->to > to + SERVER_SMALL_GAP;

	if (left && right) {
		if (s->n == SERVER_GAPS) {
			server_drop_gaps(s);
			i = i > SERVER_GAPS - s->n ? i - (SERVER_GAPS - s->n) : 0;
			g = &s->gap[i];
		}
		memmove(g + 1, g, (s->n - i) * sizeof *g);
		s->n++;
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
	memmove(g, g + 1, (s->n - i - 1) * sizeof *g);
	s->n--;
	return i;
}

/* The first gap that ends after `at`; n: none. */
static uint32_t gap_after(const struct server *s, ps_t at)
{
	uint32_t i = s->n;

	while (i > s->first && s->gap[i - 1].to > at)
		i--;
	return i;
}

struct booking server_book_between(struct server *s, ps_t at, ps_t span)
{
	uint32_t i = gap_after(s, at);
	struct booking b = { ps_max(i < s->n ? s->gap[i].from : s->end, at), 0 };
	ps_t from = b.start;

	s->between++;
	while (i < s->n && span > s->gap[i].to - from) {
		span -= s->gap[i].to - from;
		i = analytic_server_cut(s, i, from, s->gap[i].to);
		from = i < s->n ? s->gap[i].from : s->end;
	}
	b.end = from + span;
	if (span && i < s->n) {
		analytic_server_cut(s, i, from, b.end);
	} else if (span) {
		server_extend(s, from, b.end);
	}
	s->last = s->first < s->n ? s->gap[s->n - 1].to : 0;
	return b;
}

ps_t server_fill_between(struct server *s, ps_t from, ps_t to, ps_t span)
{
	const bool oldest = s->first < s->n && s->gap[s->first].to > from;
	uint32_t i = oldest ? s->first : gap_after(s, from);
	ps_t left = span, start, end;

	s->filled++;
	while (left && i < s->n && s->gap[i].from < to) {
		start = ps_max(s->gap[i].from, from);
		end = ps_min(ps_min(s->gap[i].to, to), start + left);
		left -= end - start;
		i = analytic_server_cut(s, i, start, end);
	}
	start = ps_max(s->end, from);
	if (left && start < to) {
		end = ps_min(to, start + left);
		left -= end - start;
		server_extend(s, start, end);
	}
	s->last = s->first < s->n ? s->gap[s->n - 1].to : 0;
	return span - left;
}

ps_t server_busy(const struct server *s, ps_t from, ps_t to)
{
	ps_t busy;

	to = ps_min(to, s->end);
	if (to <= from)
		return 0;
	busy = to - from;
	for (uint32_t i = s->n; i > s->first && s->gap[i - 1].to > from; i--) {
		const ps_t start = ps_max(s->gap[i - 1].from, from), end = ps_min(s->gap[i - 1].to, to);

		busy -= end > start ? end - start : 0;
	}
	return busy;
}
