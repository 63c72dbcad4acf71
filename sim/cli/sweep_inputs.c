/* sweep_inputs.c - what a sweep's points run: the file's workload, or the command line's in its place. */
#define _POSIX_C_SOURCE 200809L /* access */
#include "sim/cli/sweep.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "sim/report/run.h"
#include "sim/study/split.h"

#define OPAQUE_MAX_PCT 5 /* as for a run */

/* A point's own stream; `arg` is struct sweep_inputs. */
int sweep_inputs_build(void *arg, const struct workload_spec *w, struct arena *a, struct op_stream *out, struct err *e)
{
	const struct sweep_inputs *in = arg;

	return workload_again(&in->w, w, &(struct workload_reader){ &path_source, in->machine, NULL, NULL, NULL }, a,
	                      out, e);
}

/* The file's, or what the command line has in its place. */
static int asked_for(const struct sweep_opts *o, const struct sweep *s, struct workload_spec *w, struct err *e)
{
	const struct ynode *root = yaml_root(s->y), *map = ynode_get(root, "workload");

	*w = s->workload;
	if (o->workload.trace && w->model)
		return err_set(e, ERR_USAGE, "'%s' has a workload, a model: '-t' would be another", s->path);
	if (o->workload.trace)
		w->trace = o->workload.trace;
	if (o->workload.range)
		w->range = o->workload.range;
	if (o->workload.rules)
		w->rules = o->workload.rules;
	if (workload_source(w) == WORKLOAD_NONE)
		return yaml_err(
			s->y, map ? map : root, e, "%s",
			map ? "the workload says no model: 'name'"
			    : "the workload is missing: 'trace: FILE', or -t FILE, or 'workload: {name: MODEL}'");
	if (w->trace && access(w->trace, R_OK) < 0) {
		err_sys(e, ERR_IO, errno, "cannot read '%s'", w->trace);
		return o->workload.trace ? -1 : err_at(e, s->path, ynode_get(root, "trace")->line, 0);
	}
	return workload_check(w, WORKLOAD_SWEEP_FILE, e) < 0 ? -1 : sweep_workload_check(s, w, e);
}

/* Points at other batches than the trace was measured at: nothing of them is measured. */
static void unmeasured(struct res_workload *w)
{
	w->kernel_ns = w->measured_ns = 0;
	w->wall_ns = -1;
}

int sweep_inputs_read(struct sweep_inputs *in, const struct sweep_opts *o, const struct sweep *s,
                      struct workload_spec *asked, struct err *e)
{
	struct workload_spec whole; /* what the points split, each as its machine likes best */

	in->machine = &s->schema_target;
	if (s->mix.n) {
		if (o->workload.trace || o->workload.range || o->workload.rules)
			return err_set(e, ERR_USAGE, "'%s' has several workloads: '-t' would be another", s->path);
		if (mixed_read(&s->mix, in->machine, o->allow_opaque, &in->mix, e) < 0)
			return -1;
		in->workload = in->mix.workload;
		return 0;
	}
	if (asked_for(o, s, asked, e) < 0)
		return -1;
	whole = split_without(asked);
	if (cmd_workload_read(&whole, in->machine, &in->w, e) < 0 ||
	    run_workload(&in->w.stream, &in->w.in.trace, in->w.model ? 0 : in->w.rules_hash, in->w.in.arena,
	                 &in->workload, e) < 0)
		return -1;
	if (sweep_workload_varies(s))
		unmeasured(&in->workload);
	if (s->serve && !(in->workload.range = arena_printf(in->w.in.arena, "requests: %s", s->serve_text)))
		return err_nomem(e, "for a sweep's traffic");
	return o->allow_opaque ? 0 : workload_opaque(&in->w.stream, OPAQUE_MAX_PCT, e);
}

void sweep_inputs_free(struct sweep_inputs *in)
{
	workload_free(&in->w);
	mixed_free(&in->mix);
}
