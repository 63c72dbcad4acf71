/* workload_doubt.c - operations whose sizes contradict what they were measured to take: passed through at their measured time.
 *
 * A trace's launches are sized by what their framework operator was called with. Where that operator is not the one that the
 * kernel works for, or a part of a call is not recorded, a size may be wrong by orders of magnitude, and nothing in it shows.
 * But the card that ran the launch is known: its own model, given these sizes and the recorded grid, must come near the time that
 * was measured. FAR times off is no model error (the worst kernel class is off by a factor of two), so such a launch is treated as
 * one that no rule knows.
 * Leaves out: launches under LITTLE, where fixed costs decide; collectives, which wait for other chips; copies and sets, whose
 * bytes are recorded; cards without a configuration. */
#include <stdlib.h>

#include "arch/gpu/kernels.h"
#include "arch/machine/machine_conf.h"
#include "sim/engine/gpu_baseline.h"
#include "sim/workload/workload_int.h"
#include "traces/trace.h"

#define FAR    10
#define LITTLE (20 * PS_US)

static bool contradicts(const struct op_stream *s, const struct op *o, ps_t simulated)
{
	const ps_t measured = o->measured_ns * 1000, more = ps_max(measured, simulated),
		   less = ps_min(measured, simulated);

	if (o->kind == OP_OPAQUE || o->kind == OP_COLLECTIVE || o->kind == OP_HOST_SYNC || o->listed ||
	    !o->n_launches || s->launches[o->first_launch].kind != TRACE_KERNEL)
		return false;
	return measured && simulated && more > LITTLE && more / FAR > less;
}

/* What is said of them, by the one whose times are farthest apart. */
static const char *doubt_text(const struct workload *w, const struct gpu_baseline *b, size_t n, uint64_t ns,
                              uint32_t worst)
{
	const struct op *o = &w->own.ops[worst];

	return arena_printf(
		w->in.arena,
		"%zu operations (%.6g us) are passed through at their measured time, for by their sizes the %s would"
		" take more than %d times as long, or as short: op %u (%s), %.4g us measured, %.4g us simulated",
		n, (double)ns / 1e3, w->in.trace.devices[0].name, FAR, worst, o->name, (double)o->measured_ns / 1e3,
		(double)b->op_ps[worst] / 1e6);
}

static double apart(const struct op *o, ps_t simulated)
{
	const double x = (double)o->measured_ns * 1000 / (double)simulated;

	return x < 1 ? 1 / x : x;
}

static int by_id(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Marks the launches of the operations that contradict; how many operations, or -1. */
static int mark(struct workload *w, const struct gpu_baseline *b, struct err *e)
{
	const struct op_stream *s = &w->own;
	int64_t *ids = arena_array(w->in.arena, s->n_launches + 1, sizeof *ids);
	size_t n = 0, n_ids = 0;
	uint32_t worst = 0;
	uint64_t ns = 0;

	if (!ids)
		return err_nomem(e, "for a trace");
	for (uint32_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];

		if (!contradicts(s, o, b->op_ps[i]))
			continue;
		if (!n || apart(o, b->op_ps[i]) > apart(&s->ops[worst], b->op_ps[worst]))
			worst = i;
		n++;
		ns += o->measured_ns;
		for (uint32_t k = 0; k < o->n_launches; k++)
			ids[n_ids++] = s->launches[o->first_launch + k].trace_id;
	}
	if (!n)
		return 0;
	qsort(ids, n_ids, sizeof *ids, by_id);
	for (size_t i = 0; i < w->in.trace.n_launches; i++)
		w->in.trace.launches[i].doubted =
			bsearch(&w->in.trace.launches[i].id, ids, n_ids, sizeof *ids, by_id) != NULL;
	if (!(w->doubted = doubt_text(w, b, n, ns, worst)))
		return err_nomem(e, "for a trace");
	return (int)n;
}

int workload_doubt(struct workload *w, const struct source *from, struct err *e)
{
	struct err none = ERR_INIT;
	char path[512];
	struct machine_conf *gpu = NULL;
	struct kernels *kernels = NULL;
	struct gpu_baseline b;
	int n = 0;

	if (!w->in.trace.n_devices ||
	    gpu_baseline_config_from(from, w->in.trace.devices[0].name, path, sizeof path) < 0)
		return 0;
	if ((gpu = machine_conf_load_from(from, path, NULL, 0, &none)) &&
	    (kernels = kernels_load_from(from, NULL, &none)) &&
	    gpu_baseline_run(&w->own, gpu, kernels, NULL, w->in.arena, &b, &none) == 0)
		n = mark(w, &b, e);
	kernels_free(kernels);
	machine_conf_free(gpu);
	return n;
}
