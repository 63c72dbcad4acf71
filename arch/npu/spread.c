#include "arch/npu/spread.h"

#define PPM 1000000

static uint64_t part_of(uint64_t bytes, uint64_t size, uint32_t parts)
{
	const uint64_t rows = div_up(size, parts);

	return size > rows ? bytes / size * rows + div_up(bytes % size * rows, size) : bytes;
}

uint32_t spread_copies(const struct unit_split *s, enum spread_operand o)
{
	return o == SPREAD_A ? s->n : o == SPREAD_B ? s->m : 1;
}

/* Of C each has its own part in the end, also of the sums over parts of k. */
uint64_t spread_share(const struct unit_split *s, enum spread_operand o, const uint64_t mnk[3], uint64_t bytes)
{
	if (o != SPREAD_B)
		bytes = part_of(bytes, mnk[0], s->m);
	if (o != SPREAD_A)
		bytes = part_of(bytes, mnk[1], s->n);
	return o == SPREAD_C ? div_up(bytes, s->k) : part_of(bytes, mnk[2], s->k);
}

static ps_t port_time(const struct unit_env *u, uint64_t bytes)
{
	return u->port ? clock_span(div_up(bytes, u->port), u->clock_khz) : 0;
}

/* Halves are swapped with a core 1, 2, 4, ... further on: in log2(k) steps, of k - 1 hops together where those are on the
 * way. The network needs one step, and all of the partial sums. */
ps_t spread_exchange(const struct unit_env *u, uint64_t rows, uint64_t cols, uint32_t k, ps_t *latency)
{
	const uint64_t partial = 4 * rows * cols;
	const uint32_t steps = log2_up(k);
	const ps_t hops = (u->routed ? k - 1 : steps) * u->hop, halves = port_time(u, div_up(partial, k) * (k - 1)),
		   whole = port_time(u, partial);

	*latency = 0;
	if (k == 1)
		return 0;
	if (u->reduce && whole + u->step < halves + steps * u->step) {
		*latency = u->step + hops;
		return whole;
	}
	*latency = steps * u->step + hops;
	return halves;
}

struct spread {
	const struct unit_ops *unit;
	const struct unit_env *all, *one; /* the machine's cores, and one of them */
	const struct unit_job *job;
	struct unit_plan *best;
	ps_t least;
	uint64_t copied;
};

struct unit_job spread_part(const struct unit_job *j, const struct unit_split *s)
{
	struct unit_job part = *j;

	part.m = div_up(part.m, s->m);
	part.n = div_up(part.n, s->n);
	part.k = div_up(part.k, s->k);
	return part;
}

static bool plan_part(const struct spread *x, const struct unit_split *s, const struct unit_job *part,
                      struct unit_plan *p)
{
	const bool sparse = x->unit->sparse && x->unit->sparse(x->one);
	const struct unit_job *j = x->job;
	const uint64_t k = sparse ? unit_present(j, j->k) : j->k, part_k = sparse ? unit_present(j, part->k) : part->k;

	if (!x->unit->plan(x->one, part, p))
		return false;
	p->split = *s;
	p->exchange = spread_exchange(x->all, part->m, part->n, s->k, &p->exchange_latency);
	p->work = j->m * j->n * k;
	p->idle = (uint32_t)(PPM - (double)p->work * PPM /
	                                   ((double)part->m * (double)part->n * (double)part_k * x->all->cores));
	return true;
}

static void try(struct spread *x, const struct unit_split *s)
{
	const struct unit_job part = spread_part(x->job, s);
	struct unit_plan p;
	uint64_t bytes, copied;
	ps_t cost;

	if (!plan_part(x, s, &part, &p))
		return;
	bytes = dtype_bytes(part.with ? part.with : DT_BF16, part.m * part.k) +
	        (part.held ? 0 : unit_present(&part, dtype_bytes(part.dtype, part.n * part.k)));
	copied = bytes * s->m * s->n * s->k;
	cost = ps_max(p.span, port_time(x->all, bytes)) + p.exchange + (p.latency + p.exchange_latency) / 2;
	if (cost > x->least || (cost == x->least && copied >= x->copied))
		return;
	x->least = cost;
	x->copied = copied;
	*x->best = p;
}

static void product(struct spread *x)
{
	const uint32_t cores = x->all->cores;

	for (uint32_t k = 1; k <= cores && k <= x->job->k; k *= 2)
		for (uint32_t m = 1; m <= cores / k && (m == 1 || m / 2 < x->job->m); m *= 2) {
			const uint32_t left = cores / k / m, most = left < x->job->n ? left : (uint32_t)x->job->n,
				       below = most ? 1u << (31 - __builtin_clz(most)) : 0;

			try(x, &(struct unit_split){ m, most, k });
			if (below < most)
				try(x, &(struct unit_split){ m, below, k });
		}
}

struct unit_env spread_core(const struct unit_env *u)
{
	struct unit_env one = *u;

	one.cores = 1;
	return one;
}

bool spread_plan(const struct unit_ops *unit, const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	const struct unit_env one = spread_core(u);
	struct spread x = { unit, u, &one, j, out, PS_NEVER, UINT64_MAX };

	if (j->work != UNIT_PRODUCT)
		return unit->plan(u, j, out);
	product(&x);
	return x.least < PS_NEVER;
}

bool spread_as(const struct unit_ops *unit, const struct unit_env *u, const struct unit_job *j,
               const struct unit_split *s, struct unit_plan *out)
{
	const struct unit_env one = spread_core(u);
	const struct spread x = { unit, u, &one, j, out, 0, 0 };
	const struct unit_job part = spread_part(j, s);

	return plan_part(&x, s, &part, out);
}
