/* run_sum.c - sums over ops that the reports of npusim run share. */
#include "sim/report/run.h"

#include <string.h>

#include "sim/report/run_verdict.h"
#include "workloads/known.h"

static uint64_t kernel_ns(const struct op_stream *s, const struct op *o)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < o->n_launches; i++)
		if (s->launches[o->first_launch + i].kind == TRACE_KERNEL)
			ns += s->launches[o->first_launch + i].measured_ns;
	return ns;
}

static void run_sum_add_op(struct run_sum *k, const struct op *op, const struct run_op *r, uint64_t kernels)
{
	k->ops++;
	k->unmeasured += ops_listed_unmeasured(op);
	k->measured_ns += op->measured_ns;
	if (r->carried) {
		k->carried++;
		k->carried_ns += op->measured_ns;
		return;
	}
	k->kernel_ns += kernels;
	k->span_ps += r->span_ps;
	k->limit_ps += r->limit_ps;
	k->macs_ps += ps_min(r->macs_ps, r->span_ps);
	k->pins_ps += ps_min(r->pins_ps, r->span_ps);
	for (int x = 0; x < RES_COUNT; x++)
		k->stall_ps[x] += (double)r->span_ps * r->stall_ppm[x] / 1e6;
}

void run_sum_ops(const struct run_report *r, struct run_sum kinds[OP_KINDS], struct run_sum *all)
{
	memset(kinds, 0, OP_KINDS * sizeof *kinds);
	memset(all, 0, sizeof *all);
	for (size_t i = 0; i < r->stream->n_ops; i++) {
		const struct op *o = &r->stream->ops[i];
		const uint64_t kernels = kernel_ns(r->stream, o);

		run_sum_add_op(&kinds[o->kind], o, &r->result->ops[i], kernels);
		run_sum_add_op(all, o, &r->result->ops[i], kernels);
	}
}

int run_order_kinds(const struct run_sum kinds[OP_KINDS], int order[OP_KINDS])
{
	int n = 0;

	for (int k = 0; k < OP_KINDS; k++) {
		int at = n;

		if (!kinds[k].ops)
			continue;
		for (; at > 0; at--) {
			const struct run_sum *a = &kinds[order[at - 1]];

			if (a->span_ps > kinds[k].span_ps ||
			    (a->span_ps == kinds[k].span_ps && a->measured_ns >= kinds[k].measured_ns))
				break;
			order[at] = order[at - 1];
		}
		order[at] = k;
		n++;
	}
	return n;
}

struct figure_measured run_measured(const struct run_report *r, const struct run_sum *all)
{
	if (all->unmeasured)
		return (struct figure_measured){ .wall_ns = r->stream->wall_ns };
	return (struct figure_measured){ r->stream->kernel_ns, r->stream->measured_ns, all->kernel_ns,
		                         r->stream->wall_ns };
}

uint64_t run_tokens(const struct run_report *r)
{
	if (workload_is_part(&r->part) || (r->verdict && !r->verdict->us))
		return 0;
	return r->verdict ? r->verdict->tokens : r->tokens;
}

double run_tokens_per_s(const struct run_report *r)
{
	return r->result->total_ps ? (double)run_tokens(r) * 1e12 / (double)figure_whole_ps(&r->result->figures) : 0;
}
