#include "sim/report/kinds.h"

#include <string.h>

static int place_of(const struct res_run *r, const char *resource)
{
	for (size_t i = 0; i < r->n_resources && i < RES_COUNT; i++)
		if (strcmp(r->resources[i].name, resource) == 0)
			return (int)i;
	return -1;
}

static void kinds_add(const struct res_run *r, const struct res_op *o, struct kinds_row *k)
{
	k->span_ps += o->span_ps;
	k->limit_ps += o->limit_ps;
	for (uint32_t s = 0; s < o->n_stalls; s++) {
		const int at = place_of(r, o->stalls[s].resource);

		if (at >= 0)
			k->stall_ps[at] += (double)o->span_ps * o->stalls[s].ppm / 1e6;
	}
}

size_t kinds_of(const struct res_stored *r, struct kinds_row rows[OP_KINDS])
{
	size_t n = 0;

	for (size_t i = 0; i < r->workload.n_ops; i++) {
		const struct res_work_op *w = &r->workload.ops[i];
		const struct res_op *o = &r->run.ops[i];
		size_t k = 0;

		while (k < n && strcmp(rows[k].name, w->kind) != 0)
			k++;
		if (k == OP_KINDS)
			continue;
		if (k == n)
			rows[n++] = (struct kinds_row){ .name = w->kind };
		rows[k].ops++;
		rows[k].carried += o->carried;
		rows[k].carried_ns += o->carried ? w->measured_ns : 0;
		rows[k].measured_ns += o->carried ? 0 : w->measured_ns;
		if (!o->carried)
			kinds_add(&r->run, o, &rows[k]);
	}
	return n;
}
