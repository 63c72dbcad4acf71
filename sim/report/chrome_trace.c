#include "sim/report/chrome_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define HOST_PID   1000000
#define CALLS_TID  1
#define TRACKS_MAX 4096 /* beyond, more than a person can look at, all is in the last */

static int track_of(struct chrome_trace *t, int64_t process, int64_t id, int *tid, struct err *e)
{
	size_t i = 0;

	while (i < t->n && (t->tracks[i].process != process || t->tracks[i].id != id))
		i++;
	if (i == TRACKS_MAX) {
		i--;
	} else if (i == t->n) {
		if (t->n == t->cap) {
			const size_t cap = t->cap ? 2 * t->cap : 32;
			struct chrome_track *v = realloc(t->tracks, cap * sizeof *v);

			if (!v)
				return err_nomem(e, "for the threads");
			t->tracks = v;
			t->cap = cap;
		}
		t->tracks[t->n++] = (struct chrome_track){ process, id };
	}
	*tid = (int)i + CALLS_TID + 1;
	return 0;
}

static void put_dims(struct out_json *j, const char *key, const uint32_t v[3])
{
	out_json_open(j, key, '[');
	for (int i = 0; i < 3; i++)
		out_json_int(j, NULL, v[i]);
	out_json_close(j, ']');
}

static void launch_args(struct out_json *j, const struct trace_launch *l)
{
	out_json_open(j, "args", '{');
	out_json_int(j, "launch", l->id);
	out_json_int(j, "correlation", l->correlation);
	if (l->op)
		out_json_text(j, "op", l->op->name);
	if (l->kind == TRACE_KERNEL) {
		put_dims(j, "grid", l->grid);
		put_dims(j, "block", l->block);
		if (l->cluster[0])
			put_dims(j, "cluster", l->cluster);
		out_json_int(j, "registers", l->registers);
		out_json_u64(j, "static_smem", l->smem_static);
		out_json_u64(j, "dynamic_smem", l->smem_dynamic);
	} else {
		out_json_int(j, "bytes", l->bytes);
	}
	if (l->graph)
		out_json_int(j, "graph", l->graph);
	out_json_close(j, '}');
}

static int put_launch(struct chrome_trace *t, const struct trace_launch *l, struct err *e)
{
	static const char *const cats[] = {
		[TRACE_KERNEL] = "kernel", [TRACE_MEMCPY] = "gpu_memcpy", [TRACE_MEMSET] = "gpu_memset"
	};
	const int64_t pid = l->device + 1;
	struct out_json j;
	int tid;

	if (track_of(t, pid, l->stream, &tid, e) < 0)
		return -1;
	chrome_open_event(&t->c, &j, "X", l->name, pid, tid);
	chrome_span(&j, cats[l->kind], l->start_ns, l->dur_ns);
	launch_args(&j, l);
	out_json_close(&j, '}');
	if (l->host_start_ns >= 0) {
		chrome_open_event(&t->c, &j, "X", "launch", HOST_PID, CALLS_TID);
		chrome_span(&j, "runtime", l->host_start_ns, l->host_dur_ns);
		out_json_close(&j, '}');
		chrome_arrow(&t->c, "s", "launch", l->id, HOST_PID, CALLS_TID, l->host_start_ns);
		chrome_arrow(&t->c, "f", "launch", l->id, pid, tid, l->start_ns);
	}
	return chrome_flush(&t->c, e);
}

static int put_host(struct chrome_trace *t, const char *cat, const char *name, int64_t start, int64_t dur,
                    int64_t thread, struct err *e)
{
	struct out_json j;
	int tid;

	if (track_of(t, HOST_PID, thread, &tid, e) < 0)
		return -1;
	chrome_open_event(&t->c, &j, "X", name, HOST_PID, tid);
	chrome_span(&j, cat, start, dur);
	out_json_close(&j, '}');
	return chrome_flush(&t->c, e);
}

static int by_op(const void *x, const void *y)
{
	const struct trace_op *const *a = x, *const *b = y;

	return (*a)->id < (*b)->id ? -1 : (*a)->id > (*b)->id;
}

/* When the host launched it, or where no call is known the device began. */
static int64_t called(const struct trace_launch *l)
{
	return l->host_start_ns >= 0 ? l->host_start_ns : l->start_ns;
}

static int by_number(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* Ops in order, some several times: each once that is not known from the piece before. Those that end after all that was
 * launched so far may enclose launches of the next piece too. */
static int put_each(struct chrome_trace *t, const struct trace_op *const *v, size_t n, struct err *e)
{
	int64_t *wide = calloc(n ? n : 1, sizeof *wide);
	size_t n_wide = 0;
	int rc = wide ? 0 : err_nomem(e, "for the ops");

	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (i && v[i] == v[i - 1])
			continue;
		if (v[i]->dur_ns > t->to - v[i]->start_ns)
			wide[n_wide++] = v[i]->id;
		if (!t->n_wide || !bsearch(&v[i]->id, t->wide, t->n_wide, sizeof *t->wide, by_number))
			rc = put_host(t, "cpu_op", v[i]->name, v[i]->start_ns, v[i]->dur_ns, v[i]->thread, e);
	}
	free(t->wide);
	t->wide = wide;
	t->n_wide = n_wide;
	return rc;
}

/* The ops that launched something and those around them, each once. */
static int put_ops(struct chrome_trace *t, const struct trace *x, struct err *e)
{
	const struct trace_op **v = NULL;
	size_t n = 0, cap = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < x->n_launches; i++)
		for (const struct trace_op *o = x->launches[i].op; o && (n == 0 || v[n - 1] != o); o = o->up) {
			if (n == cap) {
				const struct trace_op **w = realloc(v, (cap = cap ? 2 * cap : 1024) * sizeof *w);

				if (!w) {
					rc = err_nomem(e, "for the ops");
					break;
				}
				v = w;
			}
			v[n++] = o;
		}
	if (n)
		qsort(v, n, sizeof *v, by_op);
	if (rc == 0)
		rc = put_each(t, v, n, e);
	free(v);
	return rc;
}

/* With a range: those that overlap what was selected. */
static int put_ranges(struct chrome_trace *t, const struct trace *x, struct err *e)
{
	for (size_t i = 0; i < x->n_ranges; i++) {
		const struct trace_range *r = &x->ranges[i];

		if (x->range && (r->start_ns > t->to || r->start_ns + r->dur_ns < t->from))
			continue;
		if (put_host(t, "user_annotation", r->name, r->start_ns, r->dur_ns, r->thread, e) < 0)
			return -1;
	}
	return 0;
}

static void put_names(struct chrome_trace *t, const struct trace *x)
{
	char name[96];

	for (size_t i = 0; i < t->n; i++) {
		const struct chrome_track *k = &t->tracks[i];
		const bool host = k->process == HOST_PID;

		snprintf(name, sizeof name, "%s %" PRId64, host ? "thread" : "stream", k->id);
		chrome_name(&t->c, "thread_name", k->process, (int)i + CALLS_TID + 1, name);
		if (host)
			continue;
		snprintf(name, sizeof name, "GPU %" PRId64, k->process - 1);
		for (size_t d = 0; d < x->n_devices; d++)
			if (x->devices[d].id == k->process - 1)
				snprintf(name, sizeof name, "GPU %" PRId64 ": %.60s", k->process - 1,
				         x->devices[d].name);
		chrome_name(&t->c, "process_name", k->process, (int)i + CALLS_TID + 1, name);
	}
	chrome_name(&t->c, "process_name", HOST_PID, CALLS_TID, "host");
	chrome_name(&t->c, "thread_name", HOST_PID, CALLS_TID, "launch calls");
}

int chrome_trace_piece(struct chrome_trace *t, const struct trace *x, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < x->n_launches; i++) {
		const int64_t at = called(&x->launches[i]);

		t->from = at < t->from ? at : t->from;
		t->to = at > t->to ? at : t->to;
		rc = put_launch(t, &x->launches[i], e);
	}
	return rc < 0 ? -1 : put_ops(t, x, e);
}

void chrome_trace_begin(struct chrome_trace *t, struct outfile *o)
{
	*t = (struct chrome_trace){ .from = INT64_MAX, .to = INT64_MIN };
	chrome_begin(&t->c, o, "take a part of the trace, one step say, with '--range'");
}

int chrome_trace_end(struct chrome_trace *t, const struct trace *x, struct err *e)
{
	if (put_ranges(t, x, e) < 0)
		return -1;
	put_names(t, x);
	chrome_end(&t->c);
	return 0;
}

void chrome_trace_free(struct chrome_trace *t)
{
	free(t->tracks);
	free(t->wide);
}
