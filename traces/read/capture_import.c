/* capture_import.c - two passes: names, devices, calls and ranges; then, with the ops known, what the device did. */
#include "traces/read/capture_import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/read/capture_spool.h"
#include "traces/read/cuda_names.h"
#include "traces/read/nvtx_op.h"

#define MOST       (UINT64_C(1) << 62) /* sums of two do not overflow */
#define NAMES_MOST ((size_t)256 << 20) /* bytes of all names */

struct reader {
	struct tracedb *db;
	struct input *in;
	struct capture_spool *spool;
	struct capture_record rec;
	char **names;
	size_t n_names, cap, name_bytes;
	int64_t base_ns;
	char *command;
	int64_t lost;
	bool ended;
	struct nvtx_op op;
	struct str text;
	input_progress *progress;
	void *arg;
};

static int fault(const struct reader *r, const char *what, struct err *e)
{
	err_set(e, ERR_IO, "%s", what);
	capture_spool_at(r->spool, e);
	return -1;
}

/* --- numbers and names ----------------------------------------------------------------------------------------- */

static int moment(const struct reader *r, int i, int64_t *ns, struct err *e)
{
	if (r->rec.v[i] >= MOST)
		return fault(r, "a time is out of range", e);
	*ns = (int64_t)r->rec.v[i] - r->base_ns;
	return 0;
}

static int span(const struct reader *r, int from, int to, int64_t *start, int64_t *dur, struct err *e)
{
	int64_t end;

	if (moment(r, from, start, e) < 0 || moment(r, to, &end, e) < 0)
		return -1;
	if (end < *start)
		return fault(r, "a time runs backwards", e);
	*dur = end - *start;
	return 0;
}

static int bytes(const struct reader *r, int i, int64_t *v, struct err *e)
{
	if (r->rec.v[i] >= MOST)
		return fault(r, "a number of bytes is out of range", e);
	*v = (int64_t)r->rec.v[i];
	return 0;
}

static const char *name(const struct reader *r, int i, struct err *e)
{
	const uint64_t id = r->rec.v[i];

	if (id > r->n_names) {
		fault(r, "a name is used before it is given", e);
		return NULL;
	}
	return id == 0 || !*r->names[id - 1] ? "(unnamed)" : r->names[id - 1];
}

static int take_name(struct reader *r, struct err *e)
{
	const size_t n = strlen(r->rec.text) + 1;

	if (r->rec.v[NAME_ID] != r->n_names + 1)
		return fault(r, "a name's number is not the next", e);
	if (r->name_bytes + n > NAMES_MOST)
		return fault(r, "its names are longer than 256 MiB together", e);
	if (r->n_names == r->cap) {
		const size_t cap = r->cap ? 2 * r->cap : 64;
		char **more = realloc(r->names, cap * sizeof *more);

		if (!more)
			return err_nomem(e, NULL);
		r->names = more;
		r->cap = cap;
	}
	if (!(r->names[r->n_names] = malloc(n)))
		return err_nomem(e, NULL);
	memcpy(r->names[r->n_names++], r->rec.text, n);
	r->name_bytes += n;
	return 0;
}

/* --- the first pass: all but what the device did ---------------------------------------------------------------- */

static int take_device(struct reader *r, struct err *e)
{
	const uint64_t *v = r->rec.v;
	struct trace_device d = { .id = (int64_t)v[DEVICE_ID], .name = r->rec.text };

	if (v[DEVICE_MAJOR] > INT32_MAX || v[DEVICE_MINOR] > INT32_MAX || v[DEVICE_SMS] > INT32_MAX)
		return fault(r, "a device's number is out of range", e);
	if (bytes(r, DEVICE_MEMORY, &d.mem_bytes, e) < 0 || bytes(r, DEVICE_SMEM, &d.smem_per_sm, e) < 0 ||
	    bytes(r, DEVICE_REGISTERS, &d.regs_per_sm, e) < 0)
		return -1;
	d.sm_major = (int32_t)v[DEVICE_MAJOR];
	d.sm_minor = (int32_t)v[DEVICE_MINOR];
	d.sms = (int32_t)v[DEVICE_SMS];
	return tracedb_put_device(r->db, &d, e);
}

static int take_call(struct reader *r, struct err *e)
{
	struct trace_call c = { .name = name(r, CALL_NAME, e),
		                .thread = (int64_t)r->rec.v[CALL_THREAD],
		                .correlation = (int64_t)r->rec.v[CALL_CORRELATION] };

	if (!c.name || span(r, CALL_START, CALL_END, &c.start_ns, &c.dur_ns, e) < 0)
		return -1;
	return tracedb_put_call(r->db, &c, e);
}

static int take_mark(struct reader *r, struct err *e)
{
	const uint64_t *v = r->rec.v;
	struct tracedb_mark m = { .thread = (int64_t)v[MARK_THREAD],
		                  .name = (int64_t)v[MARK_NAME],
		                  .domain = (int64_t)v[MARK_DOMAIN] };

	if (moment(r, MARK_TIME, &m.start_ns, e) < 0 || !name(r, MARK_NAME, e) || !name(r, MARK_DOMAIN, e))
		return -1;
	return v[MARK_EDGE] == EDGE_BEGIN ? tracedb_put_begin(r->db, (int64_t)v[MARK_ID], &m, e)
	                                  : tracedb_put_end(r->db, (int64_t)v[MARK_ID], m.start_ns, e);
}

static int take_node(struct reader *r, struct err *e)
{
	const uint64_t *v = r->rec.v;
	int64_t at;

	if (v[NODE_ID] >= MOST || v[NODE_FROM] >= MOST)
		return fault(r, "a graph's node is out of range", e);
	if (moment(r, NODE_TIME, &at, e) < 0)
		return -1;
	return tracedb_put_node(r->db, (int64_t)v[NODE_ID], (int64_t)v[NODE_FROM], at, (int64_t)v[NODE_THREAD], e);
}

static int take_host(struct reader *r, struct err *e)
{
	switch (r->rec.kind) {
	case SPOOL_NAME:
		return take_name(r, e);
	case SPOOL_DEVICE:
		return take_device(r, e);
	case SPOOL_CALL:
		return take_call(r, e);
	case SPOOL_MARK:
		return take_mark(r, e);
	case SPOOL_NODE:
		return take_node(r, e);
	case SPOOL_LOST:
		r->lost += (int64_t)(r->rec.v[LOST_RECORDS] & UINT32_MAX);
		return 0;
	case SPOOL_END:
		r->ended = true;
		return 0;
	default:
		return 0;
	}
}

/* --- between: ranges, and the ops among them -------------------------------------------------------------------- */

static int put_mark(void *arg, const struct tracedb_mark *m, struct err *e)
{
	struct reader *r = arg;
	struct trace_range x = { .thread = m->thread, .start_ns = m->start_ns, .dur_ns = m->end_ns - m->start_ns };

	x.name = m->name && *r->names[m->name - 1] ? r->names[m->name - 1] : "(unnamed)";
	if (x.dur_ns < 0)
		return err_set(e, ERR_IO, "range '%.80s' in '%s' runs backwards", x.name, input_name(r->in));
	if (!m->domain && nvtx_is_op(x.name))
		return nvtx_put_op(&r->op, r->db, &x, e);
	if (m->domain) {
		str_clear(&r->text);
		str_add(&r->text, r->names[m->domain - 1]);
		str_addc(&r->text, ':');
		str_add(&r->text, x.name);
		if (r->text.failed)
			return err_nomem(e, NULL);
		x.name = str_c(&r->text);
	}
	return tracedb_put_range(r->db, &x, false, e);
}

/* --- the second pass: what the device did ----------------------------------------------------------------------- */

static int put_launch(struct reader *r, struct trace_launch *l, struct err *e)
{
	const uint64_t *v = r->rec.v;

	/* The profiler could not tell when it ran. */
	if (v[ACT_START] == 0 || v[ACT_END] == 0) {
		r->lost++;
		return 0;
	}
	if (v[ACT_NODE] >= MOST)
		return fault(r, "a graph's node is out of range", e);
	l->correlation = (int64_t)v[ACT_CORRELATION];
	l->device = (int64_t)v[ACT_DEVICE];
	l->context = (int64_t)v[ACT_CONTEXT];
	l->stream = (int64_t)v[ACT_STREAM];
	l->graph = (int64_t)v[ACT_GRAPH];
	l->graph_node = (int64_t)v[ACT_NODE];
	if (span(r, ACT_START, ACT_END, &l->start_ns, &l->dur_ns, e) < 0)
		return -1;
	return tracedb_put_launch(r->db, l, 0, e);
}

static int put_kernel(struct reader *r, struct err *e)
{
	const uint64_t *v = r->rec.v;
	struct trace_launch l = { .kind = TRACE_KERNEL, .bytes = -1, .name = name(r, ACT_NAME, e) };

	if (!l.name)
		return -1;
	for (int k = 0; k < 3; k++) {
		l.grid[k] = (uint32_t)v[KERNEL_GRID + k];
		l.block[k] = (uint32_t)v[KERNEL_BLOCK + k];
		l.cluster[k] = (uint32_t)v[KERNEL_CLUSTER + k];
	}
	l.registers = (uint32_t)v[KERNEL_REGISTERS];
	l.smem_static = v[KERNEL_STATIC];
	l.smem_dynamic = v[KERNEL_DYNAMIC];
	l.local = v[KERNEL_LOCAL];
	return put_launch(r, &l, e);
}

/* CUPTI counts kinds of memory from 1, 0 is unknown. */
static int put_copy(struct reader *r, struct err *e)
{
	const uint64_t *v = r->rec.v;
	struct trace_launch l = { .kind = TRACE_MEMCPY };
	char text[80];

	if (bytes(r, COPY_BYTES, &l.bytes, e) < 0)
		return -1;
	l.dir = cuda_copy((int64_t)v[COPY_DIR], (int64_t)v[COPY_FROM] - 1, (int64_t)v[COPY_TO] - 1, text, sizeof text);
	l.name = text;
	return put_launch(r, &l, e);
}

static int put_set(struct reader *r, struct err *e)
{
	struct trace_launch l = { .kind = TRACE_MEMSET };
	char text[40];

	if (bytes(r, SET_BYTES, &l.bytes, e) < 0)
		return -1;
	snprintf(text, sizeof text, "Memset (%s)", cuda_memory((int64_t)r->rec.v[SET_MEMORY] - 1));
	l.name = text;
	return put_launch(r, &l, e);
}

static int take_device_side(struct reader *r, struct err *e)
{
	switch (r->rec.kind) {
	case SPOOL_KERNEL:
		return put_kernel(r, e);
	case SPOOL_COPY:
		return put_copy(r, e);
	case SPOOL_SET:
		return put_set(r, e);
	default:
		return 0;
	}
}

/* --- both ------------------------------------------------------------------------------------------------------ */

/* The first record says which process it was, before the import begins. 1 there, 0 an empty file, -1 error. */
static int look(struct reader *r, struct err *e)
{
	int rc;

	if (!(r->spool = capture_spool_new(r->in, e)))
		return -1;
	if ((rc = capture_spool_next(r->spool, &r->rec, e)) == 1) {
		if (r->rec.kind != SPOOL_PROCESS)
			rc = fault(r, "the first record is of no process", e);
		else if (moment(r, PROCESS_START, &r->base_ns, e) < 0)
			rc = -1;
		else if (!(r->command = malloc(strlen(r->rec.text) + 1)))
			rc = err_nomem(e, NULL);
		else
			strcpy(r->command, r->rec.text);
	}
	capture_spool_free(r->spool);
	r->spool = NULL;
	return rc;
}

static int pass(struct reader *r, int (*take)(struct reader *r, struct err *e), uint64_t *cut, struct err *e)
{
	uint64_t n = 0;
	int rc;

	if (!(r->spool = capture_spool_new(r->in, e)))
		return -1;
	while ((rc = capture_spool_next(r->spool, &r->rec, e)) == 1) {
		if (n++ > 0 && r->rec.kind == SPOOL_PROCESS)
			rc = fault(r, "a second process", e);
		else
			rc = take(r, e);
		if (rc < 0)
			break;
		if (r->progress && n % 65536 == 0)
			r->progress(r->arg, input_done(r->in), input_size(r->in));
	}
	*cut = capture_spool_cut(r->spool);
	capture_spool_free(r->spool);
	r->spool = NULL;
	return rc;
}

static void reader_free(struct reader *r)
{
	for (size_t i = 0; i < r->n_names; i++)
		free(r->names[i]);
	free(r->names);
	free(r->command);
	nvtx_op_free(&r->op);
	str_free(&r->text);
}

/* 0, 2 when the device did nothing, -1 error. */
static int read_all(struct reader *r, uint64_t *cut, struct err *e)
{
	struct trace_import_stats st;

	if (pass(r, take_host, cut, e) < 0 || tracedb_each_mark(r->db, put_mark, r, e) < 0 ||
	    pass(r, take_device_side, cut, e) < 0)
		return -1;
	tracedb_stats(r->db, &st);
	return st.kernels + st.copies + st.sets == 0 ? 2 : 0;
}

int capture_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                   struct trace_import_stats *st, struct err *e)
{
	char hash[INPUT_DIGEST];
	struct trace_import src = { input_name(in), "npusim", hash, 0, -1, true, NULL };
	struct reader r = {
		.db = db, .in = in, .op = { .name = STR_INIT }, .text = STR_INIT, .progress = progress, .arg = arg
	};
	uint64_t cut = 0;
	int rc;

	if (input_digest(in, hash, e) < 0 || (rc = look(&r, e)) < 0) {
		rc = -1;
	} else if (rc == 0) {
		rc = 2;
	} else {
		src.command = *r.command && !tracedb_redacts(db) ? r.command : NULL;
		src.base_ns = r.base_ns;
		rc = tracedb_begin(db, &src, e);
	}
	if (rc == 0) {
		if ((rc = read_all(&r, &cut, e)) == 0)
			rc = tracedb_finish(db, &src, st, e);
		if (rc != 0)
			tracedb_abort(db);
	}
	if (rc == 0 && st) {
		st->cut = (int64_t)cut;
		st->lost = r.lost;
		st->killed = !r.ended;
		st->command = *r.command != '\0';
	}
	reader_free(&r);
	return rc;
}
