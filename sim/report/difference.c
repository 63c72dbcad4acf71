#include "sim/report/difference.h"

#include <string.h>

#define GPUS "gpu" /* all run kernels by one table and one model */

/* A machine of no family is of one with what --set makes of it. */
static const char *group_of(const struct machine_cfg *c)
{
	if (machine_runs(c) == MACHINE_LAUNCHES)
		return GPUS;
	return strcmp(c->family, MACHINE_NO_FAMILY) == 0 ? c->name : c->family;
}

/* A GPU's errors are by family of kernel, an NPU's by kind of op. */
static void put(struct interval_side *out, const struct interval_shares *times, const struct baseline *b)
{
	interval_weigh(b && b->known && strcmp(out->group, GPUS) == 0 ? &b->accuracy : NULL, times, &out->errors);
}

bool difference_side(const struct run_report *r, const struct verdict *v, const struct baseline *b,
                     struct interval_side *out)
{
	struct interval_shares times = { .n = 0 };

	if (!v->interval)
		return false;
	*out = (struct interval_side){ group_of(&r->conf->cfg), r->result->config_hash, v->from, v->time, { 0 } };
	for (size_t i = 0; i < r->stream->n_ops; i++) {
		const struct op *o = &r->stream->ops[i];

		if (!r->result->ops[i].carried)
			interval_add(&times, strcmp(out->group, GPUS) == 0 ? o->family : op_kind_name(o->kind),
			             (double)r->result->ops[i].span_ps);
	}
	put(out, &times, b);
	return true;
}

bool difference_stored(const struct res_stored *r, const struct baseline *b, struct arena *a, struct interval_side *out)
{
	struct interval_shares times = { .n = 0 };
	struct err ignored = ERR_INIT;
	struct machine_conf *c = machine_conf_parse(r->run.config_text, strlen(r->run.config_text), r->run.config_path,
	                                            NULL, 0, &ignored);
	struct verdict v;
	const char *group = c ? arena_strdup(a, group_of(&c->cfg)) : NULL;

	machine_conf_free(c);
	run_verdict_stored(r, &v);
	if (!group || !v.interval || !r->run.ops)
		return false;
	*out = (struct interval_side){ group, r->run.config_hash, v.from, v.time, { 0 } };
	for (size_t i = 0; i < r->workload.n_ops; i++) {
		const struct res_work_op *o = &r->workload.ops[i];

		if (!r->run.ops[i].carried)
			interval_add(&times, strcmp(group, GPUS) == 0 ? o->family : o->kind,
			             (double)r->run.ops[i].span_ps);
	}
	put(out, &times, b);
	return true;
}

struct interval_range difference_range(const struct interval_side *x, const struct interval_side *y,
                                       const struct baseline *b)
{
	const bool new = x->from == INTERVAL_OTHERS && y->from == INTERVAL_OTHERS;

	return interval_pair_range(x, y,
	                           !b || !b->has_interval ? 0
	                           : new                  ? b->interval.shared_family
	                                                  : b->interval.shared);
}
