/* api_work.c - workloads of npusim.h: KEY=VALUE by the rows of a workload's spec. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/api/api.h"
#include "sim/study/split.h"

/* --- what comes of it -------------------------------------------------------------------------------------- */

/* What can be found wrong before there is a machine is found here. */
static int api_work_look(struct npusim_work *w, struct err *e)
{
	const struct workload_reader by = { .source = w->n->source };
	struct workload x = { .model = NULL };
	int rc = workload_check(&w->spec, WORKLOAD_LIBRARY, e);

	if (rc == 0 && w->spec.model) {
		const struct workload_spec whole = split_without(&w->spec);

		rc = workload_describe(&whole, &by, &x, e);
		workload_free(&x);
	} else if (rc == 0 && w->spec.trace) {
		rc = workload_read(&w->spec, &by, &w->w[MACHINE_COMMANDS], e);
		w->have[MACHINE_COMMANDS] = true;
	}
	return rc;
}

npusim_work *npusim_work_new(npusim *n, const char *const *spec, size_t n_spec, struct npusim_error *e)
{
	const locale_t was = api_enter(n);
	struct npusim_work *w = NULL;
	struct err err = ERR_INIT;

	api_clear(e);
	if (!n)
		err_set(&err, ERR_USAGE, "npusim_work_new: the npusim is NULL");
	else if (api_texts(spec, n_spec, "npusim_work_new", &err) == 0) {
		if (!(w = calloc(1, sizeof *w)) || !(w->arena = arena_new(0)))
			err_nomem(&err, "for a workload");
		if (w) {
			w->holders = 1;
			w->n = n;
			api_hold(n);
		}
		for (size_t i = 0; i < n_spec && !err.kind; i++)
			workload_assign(&w->spec, spec[i], w->arena, &err);
		if (!err.kind && api_work_look(w, &err) == 0) {
			api_leave(was);
			return w;
		}
	}
	api_leave(was);
	npusim_work_free(w);
	api_fail(&err, e);
	return NULL;
}

struct api_split {
	const struct source *source;
	const struct machine_cfg *machine;
};

static int api_split_build(void *arg, const struct workload_spec *s, struct arena *a, struct op_stream *out,
                           struct err *e)
{
	const struct api_split *x = arg;
	const struct workload model = { .source = WORKLOAD_MODEL };

	return workload_again(&model, s, &(struct workload_reader){ .source = x->source, .machine = x->machine }, a,
	                      out, e);
}

/* The spec with the split that this machine likes best where that is asked. */
static int settle(struct npusim_work *w, const struct machine_conf *conf, struct workload_spec *spec, struct err *e)
{
	struct api_split x = { w->n->source, &conf->cfg };
	const struct run_opts how = run_opts_default();
	uint32_t tried;

	*spec = w->spec;
	return split_asked(spec) ? split_best(spec, conf, &how, api_split_build, &x, w->arena, &tried, e) : 0;
}

const struct workload *api_work_for(struct npusim_work *w, const struct machine_conf *conf, struct err *e)
{
	const struct workload_reader by = { .source = w->n->source, .machine = &conf->cfg };
	const enum machine_runs runs = w->spec.trace ? MACHINE_COMMANDS : machine_runs(&conf->cfg);
	struct workload *x = &w->w[runs];
	struct workload_spec spec;

	if (w->have[runs] && split_asked(&w->spec) && w->program_of != cfg_hash(conf->raw)) {
		err_set(e, ERR_USAGE, "this workload's split was found for another machine: make a workload for each");
		return NULL;
	}
	if (w->have[runs] && w->spec.program && w->program_of != cfg_hash(conf->raw)) {
		err_set(e, ERR_USAGE, "this program was read for another machine: make a workload for each");
		return NULL;
	}
	if (w->have[runs])
		return x;
	if (settle(w, conf, &spec, e) < 0)
		return NULL;
	if (workload_read(&spec, &by, x, e) < 0) {
		workload_free(x);
		return NULL;
	}
	w->have[runs] = true;
	w->program_of = cfg_hash(conf->raw);
	return x;
}

void api_work_hold(struct npusim_work *w)
{
	w->holders++;
}

void npusim_work_free(npusim_work *w)
{
	if (!w || --w->holders)
		return;
	if (w->n->memo)
		run_memo_forget(w->n->memo); /* another stream may lie where this one lies */
	baseline_free(w->baseline);
	for (int i = 0; i < API_RUNS; i++)
		if (w->have[i])
			workload_free(&w->w[i]);
	arena_free(w->arena);
	npusim_close(w->n);
	free(w);
}
