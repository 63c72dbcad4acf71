/* trace_export.c - npusim trace export: a trace as a timeline that ui.perfetto.dev and chrome://tracing open, or
 * its launches as CSV.
 *
 * In the timeline a device is a process and its streams are threads; the host is a process with the framework's ops and
 * the annotations by thread, and one thread of launch calls; arrows lead from the call to what ran. Threads are
 * numbered from 1 in order of appearance, as viewers take small numbers only; their names say what they were. Launches
 * come some at a time (tracedb_load_pieces) and go to the file as they come: memory does not grow with the trace. */
#include "sim/cli/cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/report/chrome.h"

#define HOST_PID   1000000
#define CALLS_TID  1
#define TRACKS_MAX 4096 /* beyond, more than a person can look at, all is in the last */

struct options {
	const char *to, *range;
};

/* --- the timeline ------------------------------------------------------------------------------------------ */

/* A stream of a device, or a thread of the host. */
struct track {
	int64_t process, id;
};
struct tracks {
	struct track *v;
	size_t n, cap;
};

static int track_of(struct tracks *t, int64_t process, int64_t id, int *tid, struct err *e)
{
	size_t i = 0;

	while (i < t->n && (t->v[i].process != process || t->v[i].id != id))
		i++;
	if (i == TRACKS_MAX) {
		i--;
	} else if (i == t->n) {
		if (t->n == t->cap) {
			const size_t cap = t->cap ? 2 * t->cap : 32;
			struct track *v = realloc(t->v, cap * sizeof *v);

			if (!v)
				return err_nomem(e, "for the threads");
			t->v = v;
			t->cap = cap;
		}
		t->v[t->n++] = (struct track){ process, id };
	}
	*tid = (int)i + CALLS_TID + 1;
	return 0;
}

struct timeline {
	struct chrome c;
	struct tracks tracks;
	int64_t *wide; /* ids of ops that may go on in the next piece, in order */
	size_t n_wide;
	int64_t from, to; /* of the host's calls so far */
};

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

static int put_launch(struct timeline *t, const struct trace_launch *l, struct err *e)
{
	static const char *const cats[] = {
		[TRACE_KERNEL] = "kernel", [TRACE_MEMCPY] = "gpu_memcpy", [TRACE_MEMSET] = "gpu_memset"
	};
	const int64_t pid = l->device + 1;
	struct out_json j;
	int tid;

	if (track_of(&t->tracks, pid, l->stream, &tid, e) < 0)
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

static int put_host(struct timeline *t, const char *cat, const char *name, int64_t start, int64_t dur, int64_t thread,
                    struct err *e)
{
	struct out_json j;
	int tid;

	if (track_of(&t->tracks, HOST_PID, thread, &tid, e) < 0)
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
static int put_each(struct timeline *t, const struct trace_op *const *v, size_t n, struct err *e)
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
static int trace_export_put_ops(struct timeline *t, const struct trace *x, struct err *e)
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
static int put_ranges(struct timeline *t, const struct trace *x, struct err *e)
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

static void put_names(struct timeline *t, const struct trace *x)
{
	char name[96];

	for (size_t i = 0; i < t->tracks.n; i++) {
		const struct track *k = &t->tracks.v[i];
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

static int put_piece(struct timeline *t, const struct trace *x, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < x->n_launches; i++) {
		const int64_t at = called(&x->launches[i]);

		t->from = at < t->from ? at : t->from;
		t->to = at > t->to ? at : t->to;
		rc = put_launch(t, &x->launches[i], e);
	}
	return rc < 0 ? -1 : trace_export_put_ops(t, x, e);
}

/* --- csv --------------------------------------------------------------------------------------------------- */

#define CSV_HEAD \
	"launch,kind,name,start_ns,dur_ns,device,context,stream,correlation,grid_x,grid_y,grid_z,block_x," \
	"block_y,block_z,cluster_x,cluster_y,cluster_z,registers,static_smem,dynamic_smem,bytes,op," \
	"host_start_ns,host_dur_ns\n"

static int put_rows(struct outfile *s, const struct trace *x, struct err *e)
{
	static const char *const kinds[] = {
		[TRACE_KERNEL] = "kernel", [TRACE_MEMCPY] = "copy", [TRACE_MEMSET] = "set"
	};

	for (size_t i = 0; i < x->n_launches; i++) {
		const struct trace_launch *l = &x->launches[i];

		str_addf(&s->text, "%" PRId64 ",%s,", l->id, kinds[l->kind]);
		str_add_cell(&s->text, l->name);
		str_addf(&s->text, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, l->start_ns,
		         l->dur_ns, l->device, l->context, l->stream, l->correlation);
		for (int k = 0; k < 9; k++)
			str_addf(&s->text, ",%u", k < 3 ? l->grid[k] : k < 6 ? l->block[k - 3] : l->cluster[k - 6]);
		str_addf(&s->text, ",%u,%" PRIu64 ",%" PRIu64 ",", l->registers, l->smem_static, l->smem_dynamic);
		if (l->bytes >= 0)
			str_addf(&s->text, "%" PRId64, l->bytes);
		str_addc(&s->text, ',');
		if (l->op)
			str_add_cell(&s->text, l->op->name);
		if (l->host_start_ns >= 0)
			str_addf(&s->text, ",%" PRId64 ",%" PRId64 "\n", l->host_start_ns, l->host_dur_ns);
		else
			str_add(&s->text, ",,\n");
		if (outfile_flush(s, e) < 0)
			return -1;
	}
	return 0;
}

/* --- the command ------------------------------------------------------------------------------------------- */

static int kind_of(const char *path, bool *csv, struct err *e)
{
	const char *dot = path ? strrchr(path, '.') : NULL;

	if (!path)
		return err_set(e, ERR_USAGE, "the file to write is missing: -o FILE.json (a timeline) or -o FILE.csv");
	*csv = dot && strcasecmp(dot, ".csv") == 0;
	if (*csv || (dot && strcasecmp(dot, ".json") == 0))
		return 0;
	return err_set(e, ERR_USAGE, "'%s' ends in neither .json nor .csv, which say what to write", path);
}

struct export
{
	const char *to;
	bool csv, open;
	struct outfile file;
	struct timeline t;
	size_t n;
};

/* The file is made when there is something to write. */
static int write_piece(void *arg, const struct trace *piece, struct err *e)
{
	struct export *x = arg;

	if (!x->open) {
		if (outfile_open(&x->file, x->to, e) < 0)
			return -1;
		x->open = true;
		if (x->csv)
			str_add(&x->file.text, CSV_HEAD);
		else
			chrome_begin(&x->t.c, &x->file, "take a part of the trace, one step say, with '--range'");
	}
	x->n += piece->n_launches;
	return x->csv ? put_rows(&x->file, piece, e) : put_piece(&x->t, piece, e);
}

static int trace_export_finish(struct export *x, const struct trace *t, struct err *e)
{
	if (x->csv)
		return 0;
	if (put_ranges(&x->t, t, e) < 0)
		return -1;
	put_names(&x->t, t);
	chrome_end(&x->t.c);
	return 0;
}

static int export(const char *path, const struct options *o, bool csv, struct str *out, struct err *e)
{
	struct export x = { .to = o->to, .csv = csv, .t = { .from = INT64_MAX, .to = INT64_MIN } };
	struct measured t;
	int rc = cmd_measured((struct measured_from){ path, o->range, .each = write_piece, .each_arg = &x }, &t, e);

	if (rc == 0 && !x.open)
		rc = err_set(e, ERR_IO,
		             "no launches in '%s': its %zu kernels are known only as statistics; 'trace top' shows"
		             " them",
		             path, t.trace.n_stats);
	if (rc == 0)
		rc = trace_export_finish(&x, &t.trace, e);
	if ((rc = outfile_close(&x.file, rc, e)) == 0)
		str_addf(out, "%zu launches of '%s' are in '%s'%s\n", x.n, path, o->to,
		         csv ? "" : ": open it at ui.perfetto.dev");
	free(x.t.tracks.v);
	free(x.t.wide);
	measured_free(&t);
	return rc;
}

int cmd_trace_export(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { NULL, NULL };
	const struct opt opts[] = {
		{ 'o', "output", OPT_WRITE, &o.to, "FILE",
		  "what to write: .json is a timeline in Chrome's format, .csv a row a"
		  " launch" },
		{ 0, "range", OPT_TEXT, &o.range, "NAME", CMD_RANGE_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace export T.db -o FILE [--range NAME]",
		"Writes a trace for other tools. The timeline has a process a device with a thread a stream, and the "
		"host with its"
		" ops, annotations and launch calls, from which arrows lead to what they launched; ui.perfetto.dev and"
		" chrome://tracing open it. Times in CSV are ns from the trace's first event.",
		"npusim trace export /tmp/t.db -o /tmp/t.json --range decode_step_1\n"
		"npusim trace export /tmp/t.db -o /tmp/launches.csv\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);
	bool csv;

	if (rc == 0 && (rc = kind_of(o.to, &csv, e)) == 0)
		rc = export(args.v[0], &o, csv, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
