#include "sim/report/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/chrome.h"
#include "sim/report/series.h"

#define GAPS    64 /* idle times remembered, for work that gave way */
#define STREAMS 64 /* measured ones with a thread of their own; beyond, all is in the last */

/* What moved, read and written; then levels. */
enum { BYTES_READ, BYTES_WRITTEN, BYTES_BOTH };
#define SERIES_OF(r)    ((size_t)(r)*2)
#define SERIES_LEVEL(l) ((size_t)RES_COUNT * 2 + (size_t)(l))
#define SERIES_POWER    ((size_t)RES_COUNT * 2 + WATCH_LEVELS)
#define SERIES_ALL      (SERIES_POWER + 1)

/* A thread of spans. The last one is held back, as the next may go on where it ends. */
struct lane {
	bool any;
	ps_t from, to, busy;
	uint64_t parts;
	uint32_t cmd;
	struct gap {
		ps_t from, to;
	} gaps[GAPS];
	uint32_t n_gaps, first_gap;
};

struct timeline {
	struct watch watch;
	struct outfile file;
	struct chrome c;
	const struct op_stream *stream;
	const struct machine_conf *conf;
	const char *device;
	const struct run_result *r;
	struct series series;
	struct lane lanes[RES_COUNT];
	struct {
		ps_t at;
		uint64_t value;
	} levels[WATCH_LEVELS];
	ps_t zero, end, moved_to[RES_COUNT];
	bool began;
	struct err failed; /* while it looked on: there is nobody to tell then */
};

/* Nearest, so that spans which touch still do. */
static int64_t ns_of(ps_t t)
{
	return (int64_t)((t + PS_NS / 2) / PS_NS);
}

/* --- spans ------------------------------------------------------------------------------------------------- */

/* What a command is called: its first op. */
static const char *cmd_name(const struct timeline *t, uint32_t cmd, uint32_t *op)
{
	const struct isa_prog *p = t->r->map ? &t->r->map->prog : NULL;

	*op = UINT32_MAX;
	if (!p || cmd >= p->n_cmds || p->cmds[cmd].n_ops == 0)
		return NULL;
	*op = p->members[p->cmds[cmd].first_op];
	return t->stream->ops[*op].name;
}

static void timeline_put(struct timeline *t, enum res res, const struct lane *l)
{
	struct out_json j;
	uint32_t op;
	const char *name = cmd_name(t, l->cmd, &op);
	const int64_t from = ns_of(l->from);

	if (t->failed.kind) /* nothing more is to come of it */
		return;
	chrome_open_event(&t->c, &j, "X", name ? name : res_name(res), TIMELINE_SIMULATED, TIMELINE_LANES + (int)res);
	chrome_span(&j, res_name(res), from, ns_of(l->to) - from);
	out_json_open(&j, "args", '{');
	if (name) {
		out_json_u64(&j, "command", l->cmd);
		out_json_u64(&j, "op", op);
	}
	out_json_u64(&j, "parts", l->parts);
	out_json_u64(&j, "busy_ps", l->to - l->from);
	out_json_close(&j, '}');
	chrome_close_event(&j);
	chrome_flush(&t->c, &t->failed);
}

static void remember_gap(struct lane *l, ps_t from, ps_t to)
{
	if (from >= to)
		return;
	l->gaps[(l->first_gap + l->n_gaps) % GAPS] = (struct gap){ from, to };
	if (l->n_gaps < GAPS)
		l->n_gaps++;
	else
		l->first_gap = (l->first_gap + 1) % GAPS;
}

/* Time that was worked before what is there already: into the idle times before it, the latest first. */
static void put_earlier(struct timeline *t, enum res res, uint32_t cmd, ps_t span)
{
	struct lane *l = &t->lanes[res];

	while (span && l->n_gaps) {
		struct gap *g = &l->gaps[(l->first_gap + l->n_gaps - 1) % GAPS];
		const ps_t part = ps_min(span, g->to - g->from);
		const struct lane one = { .from = g->to - part, .to = g->to, .parts = 1, .cmd = cmd };

		timeline_put(t, res, &one);
		span -= part;
		g->to -= part;
		l->n_gaps -= g->from == g->to;
	}
}

static void on_busy(void *ctx, enum res res, ps_t from, ps_t to, uint32_t cmd)
{
	struct timeline *t = ctx;
	struct lane *l = &t->lanes[res];
	const ps_t last = l->any ? l->to : 0;

	if (!t->began || to == from)
		return;
	/* Work from before the pass, a write-back say, is not the pass's. */
	from = from > t->zero ? from - t->zero : 0;
	to = to > t->zero ? to - t->zero : 0;
	t->end = ps_max(t->end, to);
	if (from < last) {
		put_earlier(t, res, cmd, ps_min(last, to) - from);
		from = last;
	}
	if (to <= from)
		return;
	if (l->any && l->cmd == cmd && from == last) {
		l->to = to;
		l->parts++;
		return;
	}
	if (l->any)
		timeline_put(t, res, l);
	remember_gap(l, last, from);
	l->any = true;
	l->from = from;
	l->to = to;
	l->parts = 1;
	l->cmd = cmd;
}

/* What overlaps shares a way that carries no more: it goes after what is on it already. */
static void on_moved(void *ctx, enum res res, bool write, ps_t from, ps_t to, uint64_t bytes)
{
	struct timeline *t = ctx;
	const ps_t span = to - from;

	if (!t->began)
		return;
	from = ps_max(from > t->zero ? from - t->zero : 0, t->moved_to[res]);
	to = from + span;
	t->moved_to[res] = to;
	series_add(&t->series, SERIES_OF(res) + write, from, to, bytes);
}

static void hold_level(struct timeline *t, enum watch_level what, ps_t until)
{
	series_hold(&t->series, SERIES_LEVEL(what), t->levels[what].at, until, t->levels[what].value);
	t->levels[what].at = until;
}

static void on_level(void *ctx, enum watch_level what, ps_t at, uint64_t value)
{
	struct timeline *t = ctx;

	if (!t->began)
		return;
	hold_level(t, what, at - t->zero);
	t->end = ps_max(t->end, at - t->zero);
	t->levels[what].value = what == WATCH_SRAM ? value >> 10 : value; /* KiB: a product with time has room */
}

static void on_begin(void *ctx, ps_t at)
{
	struct timeline *t = ctx;

	t->began = true;
	t->zero = at;
}

/* --- the ops ----------------------------------------------------------------------------------------------- */

static void put_op(struct timeline *t, const struct op *o, const struct run_op *x)
{
	const int64_t from = ns_of(x->start_ps);
	struct out_json j;

	chrome_open_event(&t->c, &j, "X", o->name, TIMELINE_SIMULATED, TIMELINE_OPS);
	chrome_span(&j, op_kind_name(o->kind), from, ns_of(x->start_ps + x->span_ps) - from);
	out_json_open(&j, "args", '{');
	out_json_u64(&j, "op", o->id);
	out_json_text(&j, "kind", op_kind_name(o->kind));
	if (o->layer >= 0)
		out_json_int(&j, "layer", o->layer);
	out_json_text(&j, "bound", res_name(x->bound));
	for (const struct op_figure *f = op_figure_table; f->help; f++)
		if (f->timeline && op_figure_known(f, run_op_known(t->r, x)))
			out_json_u64(&j, f->timeline, op_figure_number(f, &x->figures));
	out_json_u64(&j, "measured_ns", o->measured_ns);
	out_json_open(&j, "stall_ppm", '{');
	for (int k = 0; k < RES_COUNT; k++)
		if (x->stall_ppm[k])
			out_json_u64(&j, res_name((enum res)k), x->stall_ppm[k]);
	out_json_close(&j, '}');
	out_json_close(&j, '}');
	chrome_close_event(&j);
}

/* A GPU's launches, one after the other within their op. */
static void put_launches(struct timeline *t, const struct op *o, ps_t at)
{
	for (uint32_t k = 0; k < o->n_launches; k++) {
		const struct op_launch *l = &t->stream->launches[o->first_launch + k];
		const ps_t took = t->r->launch_ps[o->first_launch + k];
		const int64_t from = ns_of(at);
		struct out_json j;

		chrome_open_event(&t->c, &j, "X", l->name, TIMELINE_SIMULATED, TIMELINE_LANES);
		chrome_span(&j, "kernel", from, ns_of(at + took) - from);
		out_json_open(&j, "args", '{');
		out_json_u64(&j, "op", o->id);
		out_json_u64(&j, "busy_ps", took);
		out_json_u64(&j, "measured_ns", l->measured_ns);
		out_json_close(&j, '}');
		chrome_close_event(&j);
		at += took;
	}
}

static int tid_of(int64_t *streams, int *n, int64_t stream)
{
	for (int i = 0; i < *n; i++)
		if (streams[i] == stream)
			return TIMELINE_STREAMS + i;
	if (*n == STREAMS)
		return TIMELINE_STREAMS + STREAMS - 1;
	streams[*n] = stream;
	return TIMELINE_STREAMS + (*n)++;
}

/* Where the measured part begins: its first activity. */
static uint64_t first_start(const struct op_stream *s)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < s->n_launches; i++)
		first = s->launches[i].start_ns < first ? s->launches[i].start_ns : first;
	return first;
}

/* An arrow from what begins earlier to the other: viewers know no other direction. */
static void put_arrow(struct timeline *t, const struct op *o, const struct run_op *x, int tid, int64_t measured_at)
{
	const int64_t at = ns_of(x->start_ps);
	const bool measured_first = measured_at < at;

	if (ns_of(x->start_ps + x->span_ps) == at)
		return; /* nothing for it to end at */
	chrome_arrow(&t->c, measured_first ? "f" : "s", "op", o->id, TIMELINE_SIMULATED, TIMELINE_OPS, at);
	chrome_arrow(&t->c, measured_first ? "s" : "f", "op", o->id, TIMELINE_MEASURED, tid, measured_at);
}

static void put_measured(struct timeline *t, const struct op *o, uint64_t zero, int64_t *streams, int *n)
{
	static const char *const cats[] = { "kernel", "copy", "set" };

	for (uint32_t k = 0; k < o->n_launches; k++) {
		const struct op_launch *l = &t->stream->launches[o->first_launch + k];
		const int tid = tid_of(streams, n, l->stream);
		const int64_t at = (int64_t)(l->start_ns - zero);
		struct out_json j;

		chrome_open_event(&t->c, &j, "X", l->name, TIMELINE_MEASURED, tid);
		chrome_span(&j, cats[l->kind < 3 ? l->kind : 0], at, (int64_t)l->measured_ns);
		out_json_open(&j, "args", '{');
		out_json_u64(&j, "op", o->id);
		out_json_text(&j, "name", o->name);
		out_json_int(&j, "launch", l->trace_id);
		out_json_close(&j, '}');
		chrome_close_event(&j);
		if (k == 0 && !t->r->ops[o->id].carried)
			put_arrow(t, o, &t->r->ops[o->id], tid, at);
	}
}

static int timeline_put_ops(struct timeline *t, struct err *e)
{
	const uint64_t zero = first_start(t->stream);
	int64_t streams[STREAMS];
	char name[64];
	int n = 0;

	for (size_t i = 0; i < t->stream->n_ops; i++) {
		const struct op *o = &t->stream->ops[i];
		const struct run_op *x = &t->r->ops[i];

		if (!x->carried) {
			put_op(t, o, x);
			t->end = ps_max(t->end, x->start_ps + x->span_ps);
			/* Launches follow each other. Commands fetch ahead: what an op waits for is not when it came. */
			if (machine_runs(&t->conf->cfg) == MACHINE_LAUNCHES)
				series_add(&t->series, SERIES_OF(RES_DRAM), x->start_ps, x->start_ps + x->span_ps,
				           x->dram_bytes);
			if (t->r->energy)
				series_add(&t->series, SERIES_POWER, x->start_ps, x->start_ps + x->span_ps,
				           x->energy_fj);
			if (t->r->launch_ps)
				put_launches(t, o, x->start_ps);
		}
		put_measured(t, o, zero, streams, &n);
		if (chrome_flush(&t->c, e) < 0)
			return -1;
	}
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, i == STREAMS - 1 ? "stream %lld and others" : "stream %lld",
		         (long long)streams[i]);
		chrome_name(&t->c, "thread_name", TIMELINE_MEASURED, TIMELINE_STREAMS + i, name);
	}
	return 0;
}

/* --- counters ---------------------------------------------------------------------------------------------- */

/* One counter of up to two series: an event wherever a value changes, 0 at the end. */
static int put_counter(struct timeline *t, const char *name, const char *const *keys, size_t k, size_t n, double scale,
                       struct err *e)
{
	uint64_t last[2] = { 0, 0 };

	for (size_t bin = 0; bin <= t->series.used; bin++) {
		uint64_t v[2] = { 0, 0 };
		struct out_json j;

		for (size_t i = 0; i < n && bin < t->series.used; i++)
			v[i] = series_at(&t->series, k + i, bin);
		if (bin && memcmp(v, last, sizeof v) == 0)
			continue;
		memcpy(last, v, sizeof v);
		chrome_open_event(&t->c, &j, "C", name, TIMELINE_SIMULATED, TIMELINE_OPS);
		chrome_time(&j, "ts", (int64_t)(bin * (t->series.width / PS_NS)));
		out_json_open(&j, "args", '{');
		for (size_t i = 0; i < n; i++)
			out_json_real(&j, keys[i], (double)v[i] * scale / (double)t->series.width);
		out_json_close(&j, '}');
		chrome_close_event(&j);
		if (chrome_flush(&t->c, e) < 0)
			return -1;
	}
	return 0;
}

static bool used(const struct timeline *t, size_t k, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t bin = 0; bin < t->series.used; bin++)
			if (series_at(&t->series, k + i, bin))
				return true;
	return false;
}

static int put_counters(struct timeline *t, struct err *e)
{
	static const char *const both[] = { "read GB/s", "write GB/s" }, *const mean[] = { "GB/s" },
				 *const watts[] = { "W" };
	static const struct {
		const char *name, *key;
	} levels[WATCH_LEVELS] = {
		[WATCH_COMMANDS] = { "commands in flight", "commands" },
		[WATCH_DMA] = { "DMA descriptors in flight", "descriptors" },
		[WATCH_L2] = { "L2 requests held", "requests" },
		[WATCH_DRAM] = { "DRAM requests held", "requests" },
		[WATCH_SRAM] = { "SRAM taken", "KiB" },
	};
	char name[64];

	for (int r = 0; r < RES_COUNT; r++) {
		if (!used(t, SERIES_OF(r), 2))
			continue;
		snprintf(name, sizeof name, t->began ? "%s bandwidth" : "%s bandwidth, mean of each op",
		         res_name((enum res)r));
		/* Bytes in a picosecond are TB/s. */
		if (put_counter(t, name, t->began ? both : mean, SERIES_OF(r), t->began ? 2 : 1, 1e3, e) < 0)
			return -1;
	}
	for (int l = 0; l < WATCH_LEVELS; l++)
		if (used(t, SERIES_LEVEL(l), 1) &&
		    put_counter(t, levels[l].name, &levels[l].key, SERIES_LEVEL(l), 1, 1, e) < 0)
			return -1;
	/* Femtojoules in a picosecond are mW. */
	return used(t, SERIES_POWER, 1) ? put_counter(t, "power, mean of each op", watts, SERIES_POWER, 1, 1e-3, e) : 0;
}

/* --- the file ---------------------------------------------------------------------------------------------- */

static void put_names(struct timeline *t)
{
	char name[CFG_STR_MAX + 96];

	snprintf(name, sizeof name, "simulated: %s", t->conf->cfg.name);
	chrome_name(&t->c, "process_name", TIMELINE_SIMULATED, TIMELINE_OPS, name);
	chrome_rank(&t->c, "process_sort_index", TIMELINE_SIMULATED, TIMELINE_OPS, 1);
	chrome_name(&t->c, "thread_name", TIMELINE_SIMULATED, TIMELINE_OPS, "ops");
	chrome_rank(&t->c, "thread_sort_index", TIMELINE_SIMULATED, TIMELINE_OPS, 0);
	if (t->r->launch_ps)
		chrome_name(&t->c, "thread_name", TIMELINE_SIMULATED, TIMELINE_LANES, "kernels");
	for (int r = 0; r < RES_COUNT; r++)
		if (t->lanes[r].any) {
			chrome_name(&t->c, "thread_name", TIMELINE_SIMULATED, TIMELINE_LANES + r,
			            res_name((enum res)r));
			chrome_rank(&t->c, "thread_sort_index", TIMELINE_SIMULATED, TIMELINE_LANES + r, r + 1);
		}
	if (t->stream->n_launches == 0)
		return;
	snprintf(name, sizeof name, "measured: %.80s", t->device ? t->device : "GPU");
	chrome_name(&t->c, "process_name", TIMELINE_MEASURED, TIMELINE_STREAMS, name);
	chrome_rank(&t->c, "process_sort_index", TIMELINE_MEASURED, TIMELINE_STREAMS, 2);
}

struct timeline *timeline_open(const char *path, const struct op_stream *s, const struct machine_conf *conf,
                               const char *device, const struct run_result *r, struct err *e)
{
	struct timeline *t = calloc(1, sizeof *t);

	if (!t) {
		err_nomem(e, "for a timeline");
		return NULL;
	}
	t->watch = (struct watch){ t, on_begin, on_busy, on_moved, on_level };
	t->stream = s;
	t->conf = conf;
	t->device = device;
	t->r = r;
	if (series_init(&t->series, SERIES_ALL, e) < 0 || outfile_open(&t->file, path, e) < 0) {
		series_free(&t->series);
		free(t);
		return NULL;
	}
	chrome_begin(&t->c, &t->file,
	             "take a part of the work, one step of a trace with '--range' or some layers of a model with"
	             " '--layers'");
	return t;
}

const struct watch *timeline_watch(struct timeline *t)
{
	return &t->watch;
}

static int timeline_finish(struct timeline *t, struct err *e)
{
	if (t->failed.kind) {
		*e = t->failed;
		return -1;
	}
	for (int r = 0; r < RES_COUNT; r++)
		if (t->lanes[r].any)
			timeline_put(t, (enum res)r, &t->lanes[r]);
	if (timeline_put_ops(t, e) < 0)
		return -1;
	for (int l = 0; l < WATCH_LEVELS; l++)
		hold_level(t, (enum watch_level)l, t->end);
	if (put_counters(t, e) < 0)
		return -1;
	put_names(t);
	chrome_end(&t->c);
	return 0;
}

int timeline_close(struct timeline *t, int rc, struct err *e)
{
	if (!t)
		return rc;
	if (rc == 0)
		rc = timeline_finish(t, e);
	rc = outfile_close(&t->file, rc, e);
	series_free(&t->series);
	free(t);
	return rc;
}
