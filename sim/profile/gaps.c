/* gaps.c - launches in order of time on each device, and what is between them. */
#include "sim/profile/gaps.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *text;
} causes[GAP_CAUSES] = {
	[GAP_HOST] = { "host", "the host had not launched yet" },
	[GAP_SYNC] = { "sync", "the host had waited for the device" },
	[GAP_COPY] = { "copy", "the host had waited for a copy's result" },
	[GAP_LAUNCH] = { "launch", "from the host's call to the device" },
	[GAP_STREAM] = { "stream", "queued behind its own stream" },
	[GAP_OTHER_STREAM] = { "other_stream", "queued, behind another stream" },
	[GAP_GRAPH] = { "graph", "between nodes of one graph" },
	[GAP_UNKNOWN] = { "unknown", "the profile has no call of it" },
};

const char *gap_cause_name(enum gap_cause c)
{
	return causes[c].name;
}

const char *gap_cause_text(enum gap_cause c)
{
	return causes[c].text;
}

#define LONGEST ((int64_t)1 << 48) /* 78 hours; so sums of some thousand devices fit */
#define DEVICES 4096

static int64_t end_of(const struct trace_launch *l)
{
	return l->start_ns + l->dur_ns;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* A launch, with what the host did before it. */
struct item {
	const struct trace_launch *l;
	int64_t waited_ns;     /* when the host began to wait, between the call before and this one; -1: it did not */
	enum gap_cause waited; /* GAP_COPY, GAP_SYNC */
	size_t window;         /* 1 + the occurrence of the range; 0: there is none */
};

static int by_call(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	if (a->l->host_start_ns != b->l->host_start_ns)
		return a->l->host_start_ns < b->l->host_start_ns ? -1 : 1;
	return a->l->id < b->l->id ? -1 : a->l->id > b->l->id;
}

static int gaps_by_time(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	if (a->l->device != b->l->device)
		return a->l->device < b->l->device ? -1 : 1;
	if (a->l->start_ns != b->l->start_ns)
		return a->l->start_ns < b->l->start_ns ? -1 : 1;
	return a->l->id < b->l->id ? -1 : a->l->id > b->l->id;
}

static int by_stream(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	if (a->l->device == b->l->device && a->l->stream != b->l->stream)
		return a->l->stream < b->l->stream ? -1 : 1;
	return gaps_by_time(x, y);
}

static int gaps_by_value(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

static int64_t median(int64_t *v, size_t n)
{
	if (n)
		qsort(v, n, sizeof *v, gaps_by_value);
	return n ? v[(n - 1) / 2] : 0;
}

/* --- the host ---------------------------------------------------------------------------------------------- */

/* What the host waited for between each call and the one before it. Items are in order of calls. */
static void find_waits(const struct trace *t, struct item *v, size_t n)
{
	size_t s = 0, first = 0; /* first: of the calls at one moment, which are a graph's nodes */

	while (first < n) {
		const int64_t at = v[first].l->host_start_ns;
		const struct trace_launch *before = first ? v[first - 1].l : NULL;
		const int64_t since = before ? before->host_start_ns : INT64_MIN;
		int64_t waited = -1;
		size_t to = first;

		while (s < t->n_syncs && t->sync_ns[s] < since)
			s++;
		if (before && before->blocking) /* a call that waits itself, unless a synchronise follows */
			waited = before->host_start_ns;
		if (before && s < t->n_syncs && t->sync_ns[s] < at)
			waited = t->sync_ns[s];
		for (; to < n && v[to].l->host_start_ns == at; to++) {
			v[to].waited_ns = waited;
			v[to].waited = before && before->blocking ? GAP_COPY : GAP_SYNC;
		}
		first = to;
	}
}

static void find_windows(const struct trace *t, struct item *v, size_t n)
{
	for (size_t r = 0; t->range && r < t->n_ranges; r++) {
		const struct trace_range *w = &t->ranges[r];

		for (size_t i = 0; strcmp(w->name, t->range) == 0 && i < n; i++) {
			const struct trace_launch *l = v[i].l;
			const int64_t at = l->host_start_ns < 0 ? l->start_ns : l->host_start_ns;

			if (at >= w->start_ns && at < w->start_ns + w->dur_ns)
				v[i].window = r + 1;
		}
	}
}

static void sum_calls(const struct item *v, size_t n, int64_t *lead, struct gaps *g)
{
	for (size_t i = 0; i < n; i++) {
		const struct trace_launch *l = v[i].l;

		lead[g->calls++] = l->start_ns - l->host_start_ns;
		if ((i == 0 || l->host_start_ns != v[i - 1].l->host_start_ns) && g->call_ns < LONGEST)
			g->call_ns += l->host_dur_ns;
	}
	g->lead_ns = median(lead, g->calls);
}

/* --- one gap ----------------------------------------------------------------------------------------------- */

static enum gap_cause queued(const struct trace_launch *before, const struct trace_launch *l)
{
	if (l->graph && l->graph == before->graph)
		return GAP_GRAPH;
	return l->stream == before->stream ? GAP_STREAM : GAP_OTHER_STREAM;
}

static struct gap gap_of(const struct item *x, const struct trace_launch *before)
{
	const struct trace_launch *l = x->l;
	struct gap g = { .start_ns = end_of(before), .before = before, .end = l };
	const int64_t call = l->host_start_ns, from = g.start_ns, to = l->start_ns;
	const int64_t late = call > from ? least(call, to) - from : 0;

	g.ns = to - from;
	if (call < 0 && l->graph && l->graph == before->graph) {
		g.part_ns[GAP_GRAPH] = g.ns;
	} else if (call < 0) {
		g.part_ns[GAP_UNKNOWN] = g.ns;
	} else {
		const int64_t waited = x->waited_ns < 0 ? 0 : most(0, least(late, from - x->waited_ns));

		g.part_ns[x->waited] += waited;
		g.part_ns[GAP_HOST] += late - waited;
		g.part_ns[call + l->host_dur_ns > from ? GAP_LAUNCH : queued(before, l)] += g.ns - late;
	}
	for (int c = 0; c < GAP_CAUSES; c++)
		if (g.part_ns[c] > g.part_ns[g.cause])
			g.cause = (enum gap_cause)c;
	return g;
}

static void count_gap(struct gaps *g, const struct gap *x)
{
	int b = 0;

	g->v[g->n++] = *x;
	g->idle_ns += x->ns;
	g->cause[x->cause].count++;
	for (int c = 0; c < GAP_CAUSES; c++)
		g->cause[c].ns += x->part_ns[c];
	while (x->ns >= g->bin[b].to_ns)
		b++;
	g->bin[b].count++;
	g->bin[b].ns += x->ns;
}

/* --- sweeps over time -------------------------------------------------------------------------------------- */

/* The gaps, from launches by device and time. */
static void find_gaps(const struct item *v, size_t n, struct gaps *g)
{
	const struct trace_launch *last = NULL; /* what ends last so far */
	int64_t kernel_end = 0;
	size_t window = 0;

	for (size_t i = 0; i < n; i++) {
		const struct trace_launch *l = v[i].l;
		const bool fresh = !last || last->device != l->device;
		int64_t busy_from;

		if (fresh) {
			g->devices++;
			kernel_end = l->start_ns;
			g->span_ns -= l->start_ns;
		} else if (l->start_ns > end_of(last)) {
			const struct gap x = gap_of(&v[i], last);

			if (window == v[i].window)
				count_gap(g, &x);
			else
				g->between_ns += x.ns;
		}
		busy_from = fresh ? l->start_ns : most(l->start_ns, end_of(last));
		g->other_ns += most(0, end_of(l) - busy_from); /* busy; kernels' time is taken off below */
		if (l->kind == TRACE_KERNEL) {
			g->kernel_ns += most(0, end_of(l) - most(l->start_ns, kernel_end));
			kernel_end = most(kernel_end, end_of(l));
		}
		g->kernels += l->kind == TRACE_KERNEL;
		if (fresh || end_of(l) >= end_of(last))
			last = l;
		window = v[i].window;
		if (i + 1 == n || v[i + 1].l->device != l->device)
			g->span_ns += end_of(last);
	}
	g->others = n - g->kernels;
	g->other_ns -= g->kernel_ns;
	g->span_ns -= g->between_ns;
}

/* A stream begins or ceases to be busy. */
struct edge {
	int64_t device, ns;
	size_t stream;
	int step;
};

static int by_edge(const void *x, const void *y)
{
	const struct edge *a = x, *b = y;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->step != b->step ? a->step - b->step : a->stream < b->stream ? -1 : a->stream > b->stream;
}

static int by_busy(const void *x, const void *y)
{
	const struct gap_stream *a = x, *b = y;

	if (a->busy_ns != b->busy_ns)
		return a->busy_ns > b->busy_ns ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

/* Streams and the stretches in which each is busy, from launches by stream and time. */
static size_t find_streams(const struct item *v, size_t n, struct edge *edges, struct gaps *g)
{
	struct gap_stream *s = NULL;
	size_t n_edges = 0;
	int64_t end = 0;

	for (size_t i = 0; i < n; i++) {
		const struct trace_launch *l = v[i].l;

		if (!s || s->device != l->device || s->stream != l->stream) {
			s = &g->streams[g->n_streams++];
			*s = (struct gap_stream){ .device = l->device, .stream = l->stream };
			end = l->start_ns;
		}
		s->kernels += l->kind == TRACE_KERNEL;
		s->others += l->kind != TRACE_KERNEL;
		if (end_of(l) <= end)
			continue;
		edges[n_edges++] = (struct edge){ l->device, most(l->start_ns, end), g->n_streams - 1, 1 };
		edges[n_edges++] = (struct edge){ l->device, end_of(l), g->n_streams - 1, -1 };
		s->busy_ns += end_of(l) - most(l->start_ns, end);
		end = end_of(l);
	}
	return n_edges;
}

/* Which stream is busy alone is known by the sum of the numbers of those that are. */
static void sweep_streams(struct edge *edges, size_t n, struct gaps *g)
{
	size_t busy = 0, which = 0;

	if (n)
		qsort(edges, n, sizeof *edges, by_edge);
	for (size_t i = 0; i < n; i++) {
		const int64_t ns = i && edges[i].device == edges[i - 1].device ? edges[i].ns - edges[i - 1].ns : 0;

		if (busy == 1)
			g->streams[which].alone_ns += ns;
		else if (busy > 1)
			g->overlap_ns += ns;
		busy += (size_t)edges[i].step;
		which += edges[i].step > 0 ? edges[i].stream : -edges[i].stream;
	}
}

/* --- all of it --------------------------------------------------------------------------------------------- */

static void make_bins(struct gaps *g)
{
	static const int64_t us[GAP_BINS - 1] = { 1, 2, 5, 10, 20, 50, 100, 1000 };

	for (int b = 0; b < GAP_BINS; b++) {
		g->bin[b].from_ns = b ? g->bin[b - 1].to_ns : 0;
		g->bin[b].to_ns = b + 1 < GAP_BINS ? 1000 * us[b] : INT64_MAX;
	}
}

static const char *path_of(const struct trace *t)
{
	return t->path ? t->path : "the trace";
}

static int no_timeline(const struct trace *t, struct err *e)
{
	return err_set(
		e, ERR_IO,
		"'%s' does not say when its kernels ran, only for how long, so there are no gaps to see: import a"
		" timeline (PyTorch profiler, Nsight Systems, 'npusim trace record')",
		path_of(t));
}

static int gaps_check(const struct trace *t, struct err *e)
{
	if (t->n_files > 1)
		return err_set(e, ERR_USAGE, "'%s' holds %zu files, and gaps are of one run: give one of the files",
		               path_of(t), t->n_files);
	for (size_t i = 0; i < t->n_launches; i++) {
		const struct trace_launch *l = &t->launches[i];

		if (l->start_ns < 0 || l->start_ns > LONGEST || l->dur_ns < 0 || l->dur_ns > LONGEST ||
		    l->host_start_ns > LONGEST || l->host_dur_ns > LONGEST)
			return err_set(e, ERR_IO, "'%s' has a launch at a time that no trace has: number %lld, %s",
			               path_of(t), (long long)l->id, l->name);
	}
	return t->n_launches ? 0 : no_timeline(t, e);
}

static size_t count_devices(const struct item *v, size_t n)
{
	size_t devices = n > 0;

	for (size_t i = 1; i < n; i++)
		devices += v[i].l->device != v[i - 1].l->device;
	return devices;
}

int gaps_of(const struct trace *t, struct arena *a, struct gaps *out, struct err *e)
{
	const size_t n = t->n_launches, room = n ? n : 1;
	struct item *v = arena_array(a, room, sizeof *v);
	struct edge *edges = arena_array(a, 2 * room, sizeof *edges);
	int64_t *sorted = arena_array(a, room, sizeof *sorted);
	size_t called = 0;

	memset(out, 0, sizeof *out);
	if (gaps_check(t, e) < 0)
		return -1;
	out->v = arena_array(a, room, sizeof *out->v);
	out->streams = arena_array(a, room, sizeof *out->streams);
	if (!v || !edges || !sorted || !out->v || !out->streams)
		return err_nomem(e, "for the gaps");
	make_bins(out);
	for (size_t i = 0; i < n; i++)
		v[i] = (struct item){ .l = &t->launches[i], .waited_ns = -1, .waited = GAP_SYNC };
	qsort(v, n, sizeof *v, by_call);
	while (called < n && v[called].l->host_start_ns < 0) /* those without a call come first */
		called++;
	find_waits(t, v + called, n - called);
	find_windows(t, v, n);
	sum_calls(v + called, n - called, sorted, out);
	qsort(v, n, sizeof *v, gaps_by_time);
	if (count_devices(v, n) > DEVICES)
		return err_set(e, ERR_IO, "'%s' has launches on more than %d devices", path_of(t), DEVICES);
	find_gaps(v, n, out);
	if (out->n == 0 && out->calls == 0 && n > 1)
		return no_timeline(t, e);
	for (size_t i = 0; i < out->n; i++)
		sorted[i] = out->v[i].ns;
	out->median_ns = median(sorted, out->n);
	qsort(v, n, sizeof *v, by_stream);
	sweep_streams(edges, find_streams(v, n, edges, out), out);
	qsort(out->streams, out->n_streams, sizeof *out->streams, by_busy);
	return 0;
}
