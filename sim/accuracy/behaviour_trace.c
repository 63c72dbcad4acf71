/* behaviour_trace.c - committed traces through all that a measured kernel goes through: the rules that lower it, the L2, the
 * clock under a cap, the host that launches it. */
#include <stdio.h>

#include "sim/accuracy/behaviour_int.h"
#include "sim/accuracy/cases.h"
#include "sim/base/path.h"
#include "traces/read/kineto.h"

/* Bytes that go through an L2 one event after the other take a second where it is large. */
#define SMALL_L2 (UINT64_C(8) << 20)

/* EVERYWHERE: on each device, and through its L2. SMALL: only on a device whose L2 is small. LOWERED: there, too, but not
 * through the L2: a step of a large model moves gigabytes. */
enum where { EVERYWHERE, SMALL, LOWERED };

static const struct {
	const char *path;
	enum where where;
} traces[] = {
	{ "traces/h200/capture/kineto_decode.json.gz", EVERYWHERE },
	{ "traces/h200/operators/train_0200.json.gz", SMALL },
	{ "traces/h200/operators/train_0280.json.gz", SMALL },
	{ "traces/h200/operators/train_0320.json.gz", SMALL },
	{ "traces/h200/operators/train2_0000.json.gz", SMALL },
	{ "traces/h200/operators/train2_0360.json.gz", SMALL },
	{ "traces/h200/operators/own_fp32.json.gz", SMALL },
	{ "traces/h200/steps/kineto_olmoe_b1_c1024.json.gz", LOWERED },
};

static int read_trace(const char *name, struct arena *a, struct trace *out, struct err *e)
{
	struct trace_import_stats st = { 0 };
	struct tracedb *db = NULL;
	struct input *in = NULL;
	char path[512];
	int rc = path_data(name, path, sizeof path, e);

	if (rc == 0)
		rc = (in = input_open(path, e)) && (db = tracedb_open(":memory:", DB_WRITE, e)) &&
		                     kineto_import(db, in, NULL, NULL, &st, e) == 0
		             ? tracedb_load(db, NULL, a, out, e)
		             : -1;
	tracedb_free(db);
	input_free(in);
	return rc;
}

/* Every sample's time, on the device whose launches they are. */
static int samples(struct behaviour_maker *x, struct cases *c, struct err *e)
{
	char family[96];

	if (cases_time_capped(c, &x->g, e) < 0)
		return -1;
	for (size_t i = 0; i < c->n; i++) {
		snprintf(family, sizeof family, "traced %s", c->v[i].cls);
		if (behaviour_add_time(x, family, c->v[i].time.total, 0, e) < 0)
			return -1;
	}
	return 0;
}

/* An L2 told by distance: a tensor is found where fewer bytes than NEAR went by since it was touched. */
#define NEAR (UINT64_C(4) << 20)

struct recent {
	uint64_t *last; /* by tensor: bytes that had gone by, plus 1; 0: never touched */
	uint64_t by;
};

static int touch(void *arg, const struct gpu_range *r, struct gpu_mem *m, struct err *e)
{
	struct recent *x = arg;
	const uint64_t last = x->last[r->tensor];
	const bool near = last && x->by - (last - 1) < NEAR;

	(void)e;
	if (r->write) {
		m->write += r->bytes;
		m->write_back += near ? 0 : r->bytes;
	} else {
		m->read += r->bytes;
		m->read_hit += near ? r->bytes : 0;
	}
	x->by += r->bytes;
	x->last[r->tensor] = x->by + 1;
	return 0;
}

static int move_all(const struct op_stream *s, struct gpu_work *w, struct arena *a, struct err *e)
{
	struct recent x = { .last = arena_array(a, s->n_tensors + 1, sizeof *x.last) };

	if (!x.last)
		return err_nomem(e, "for a trace's tensors");
	for (uint32_t i = 0; i < s->n_ops; i++)
		if (gpu_work_move_by(w, i, 1, touch, &x, e) < 0)
			return -1;
	return 0;
}

/* The launches that this device's libraries make of the trace's ops, and its host's time over them. */
static int launches(struct behaviour_maker *x, const struct op_stream *s, struct arena *a, struct err *e)
{
	struct op_stream own;
	struct gpu_work w;
	struct host_wall wall;
	ps_t *took;

	own = *s;
	if ((gpu_geometry_foreign(&x->g, s) ? gpu_geometry_work(&x->g, x->k, s, a, &own, &w, e)
	                                    : gpu_work_make(s, x->k, a, &w, e)) < 0)
		return -1;
	if (move_all(&own, &w, a, e) < 0)
		return -1;
	if (!(took = arena_array(a, w.n + 1, sizeof *took)))
		return err_nomem(e, "for a trace's launches");
	for (size_t i = 0; i < w.n; i++) {
		took[i] = gpu_time(&x->g, &w.launches[i]).total;
		if (behaviour_add(x, "lowered launches", &w.launches[i], e) < 0)
			return -1;
	}
	wall = host_wall(&x->m->gpu.host, w.stream, took);
	return behaviour_add_time(x, "host, one by one", wall.eager, 0, e) < 0 ||
	                       behaviour_add_time(x, "host, as a graph", wall.graph, 0, e) < 0
	               ? -1
	               : 0;
}

static int of_trace(struct behaviour_maker *x, const char *path, enum where where, const struct cases_rules *rotation,
                    struct arena *a, struct err *e)
{
	struct trace t;
	struct cases c;

	if (read_trace(path, a, &t, e) < 0 || cases_make(&t, x->rules, x->k, a, &c, e) < 0 ||
	    launches(x, &c.stream, a, e) < 0)
		return -1;
	/* Samples are of this device's own launches alone. */
	if (where == LOWERED || gpu_geometry_foreign(&x->g, &c.stream))
		return 0;
	return cases_move(&c, rotation, x->m, e) < 0 || samples(x, &c, e) < 0 ? -1 : 0;
}

int behaviour_traces(struct behaviour_maker *x, struct err *e)
{
	struct cases_rules *rotation = cases_rules_load(NULL, e);
	int rc = rotation ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < BEHAVIOUR_COUNT(traces); i++) {
		struct arena *a = arena_new(0);

		if (!a)
			rc = err_nomem(e, "for a trace");
		else if (traces[i].where == EVERYWHERE || x->m->mem.l2.size <= SMALL_L2)
			rc = of_trace(x, traces[i].path, traces[i].where, rotation, a, e);
		arena_free(a);
	}
	cases_rules_free(rotation);
	return rc;
}
