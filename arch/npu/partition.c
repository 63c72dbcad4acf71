#include "arch/npu/partition.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/ratio.h"

#define PPM 1000000

/* Of a memo: at first and at the most; powers of two. */
#define PLACES_LEAST 128
#define PLACES_MOST  16384

static uint64_t partition_part_of(uint64_t bytes, uint64_t size, uint32_t parts)
{
	const uint64_t rows = div_up(size, parts);

	return size > rows ? bytes / size * rows + div_up(bytes % size * rows, size) : bytes;
}

uint32_t partition_copies(const struct unit_split *s, enum partition_operand o)
{
	return o == PARTITION_A ? s->n : o == PARTITION_B ? s->m : 1;
}

/* Of C each has its own part in the end, also of the sums over parts of k. */
uint64_t partition_share(const struct unit_split *s, enum partition_operand o, const uint64_t mnk[3], uint64_t bytes)
{
	if (o != PARTITION_B)
		bytes = partition_part_of(bytes, mnk[0], s->m);
	if (o != PARTITION_A)
		bytes = partition_part_of(bytes, mnk[1], s->n);
	return o == PARTITION_C ? div_up(bytes, s->k) : partition_part_of(bytes, mnk[2], s->k);
}

static ps_t time_at(const struct unit_env *u, uint64_t rate, uint64_t bytes)
{
	return rate ? clock_span(div_up(bytes, rate), u->clock_khz) : 0;
}

/* Halves are swapped with a core 1, 2, 4, ... further on: in log2(k) steps, of k - 1 hops together where those are on the
 * way. The network needs one step, and all of the partial sums. */
ps_t partition_exchange(const struct unit_env *u, uint64_t rows, uint64_t cols, uint32_t k, ps_t *latency)
{
	const uint64_t partial = 4 * rows * cols;
	const uint32_t steps = log2_up(k);
	const ps_t hops = (u->routed ? k - 1 : steps) * u->hop,
		   halves = time_at(u, u->swap, div_up(partial, k) * (k - 1)), whole = time_at(u, u->swap, partial);

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

/* An exchange is over when a core's engines are, too. */
static ps_t by_engines(const struct unit_env *u, ps_t exchange)
{
	if (!u->engine || u->swap <= u->engine)
		return exchange;
	return ratio_of(exchange, u->swap, u->engine);
}

/* A cut, by what it is compared. */
struct cut {
	struct unit_split split;
	ps_t cost;
	uint64_t copied;
};

struct spread {
	const struct unit_ops *unit;
	const struct unit_env *all, *one; /* the machine's cores, and one of them */
	const struct unit_job *job;
	struct unit_job part; /* m, n and k are a core's */
	uint64_t how;         /* what a core's plan depends on besides those */
	uint64_t macs;        /* a cycle of one core, at the most */
	uint32_t a_bits, b_bits;
	const struct partition_limits *limits;
	struct partition_memo *memo; /* or NULL */
	struct unit_plan plan;       /* without a memo: the last one */
	int n;
	struct cut best[PARTITION_WAYS];
};

struct unit_job partition_part(const struct unit_job *j, const struct unit_split *s)
{
	struct unit_job part = *j;

	part.m = div_up(part.m, s->m);
	part.n = div_up(part.n, s->n);
	part.k = div_up(part.k, s->k);
	return part;
}

static uint64_t how_of(const struct unit_ops *unit, const struct unit_job *j, const struct partition_memo *memo)
{
	return (memo ? memo->machine : 0) ^ ((uint64_t)unit->res + 1) ^ (uint64_t)j->of << 32 ^
	       (uint64_t)j->keep << 40 ^ (uint64_t)j->held << 48 ^ (uint64_t)j->in_part << 47 ^
	       (uint64_t)j->passes << 8 ^ (uint64_t)j->dtype << 52 ^ (uint64_t)j->with << 58;
}

struct partition_known {
	uint64_t how, m, n, k;
	struct unit_plan plan;
	bool can;
};

void partition_memo_clear(struct partition_memo *m)
{
	free(m->at);
	*m = (struct partition_memo){ 0 };
}

static struct partition_known *known_at(const struct partition_memo *memo, uint64_t how, uint64_t m, uint64_t n,
                                        uint64_t k)
{
	const uint64_t h = ((m * 0x9e3779b97f4a7c15 ^ n) * 0x9e3779b97f4a7c15 ^ k) * 0x9e3779b97f4a7c15 + how;

	return &memo->at[h >> 32 & (memo->places - 1)];
}

/* Twice as large once it missed as often as it has places; without memory for that it stays as it is. */
static void memo_grow(struct partition_memo *m)
{
	const uint32_t places = m->places ? 2 * m->places : PLACES_LEAST;
	struct partition_memo larger = { m->machine, calloc(places, sizeof *larger.at), places, 0 };

	if (!larger.at)
		return;
	for (uint32_t i = 0; i < m->places; i++) {
		const struct partition_known *x = &m->at[i];

		if (x->how | x->m)
			*known_at(&larger, x->how, x->m, x->n, x->k) = *x;
	}
	free(m->at);
	*m = larger;
}

/* Of the part at hand; NULL: the unit cannot. It stands until the next is asked for. */
static const struct unit_plan *core_plan(struct spread *x)
{
	const struct unit_job *part = &x->part;
	struct partition_memo *memo = x->memo;
	struct partition_known *y;

	if (memo && memo->missed >= memo->places && memo->places < PLACES_MOST)
		memo_grow(memo);
	if (!memo || !memo->places)
		return x->unit->plan(x->one, part, &x->plan) ? &x->plan : NULL;
	y = known_at(memo, x->how, part->m, part->n, part->k);
	if (y->how != x->how || y->m != part->m || y->n != part->n || y->k != part->k) {
		*y = (struct partition_known){ .how = x->how, .m = part->m, .n = part->n, .k = part->k };
		y->can = x->unit->plan(x->one, part, &y->plan);
		memo->missed++;
	}
	return y->can ? &y->plan : NULL;
}

static void take_part(struct spread *x, const struct unit_split *s)
{
	x->part.m = div_up(x->job->m, s->m);
	x->part.n = div_up(x->job->n, s->n);
	x->part.k = div_up(x->job->k, s->k);
}

/* All of a plan; false: the unit cannot. */
static bool plan_cut(struct spread *x, const struct unit_split *s, struct unit_plan *p)
{
	const bool sparse = x->unit->sparse && x->unit->sparse(x->one);
	const struct unit_job *j = x->job, *part = &x->part;
	const struct unit_plan *core;
	uint64_t k, part_k;

	take_part(x, s);
	if (!(core = core_plan(x)))
		return false;
	*p = *core;
	k = sparse ? unit_present(j, j->k) : j->k, part_k = sparse ? unit_present(j, part->k) : part->k;
	p->split = *s;
	p->exchange = partition_exchange(x->all, part->m, part->n, s->k, &p->exchange_latency);
	p->work = j->m * j->n * k;
	p->idle = (uint32_t)(PPM - (double)p->work * PPM /
	                                   ((double)part->m * (double)part->n * (double)part_k * x->all->cores));
	return true;
}

#define HARDLY 8 /* longer, by an eighth */

static ps_t most_of(const struct spread *x)
{
	return x->n ? x->best[0].cost + x->best[0].cost / HARDLY : PS_NEVER - 1;
}

/* One more of those of which none takes less and copies less; of too many the one that takes longest goes. */
static void partition_keep(struct spread *x, const struct cut *c)
{
	int at = 0, end = 0;

	while (at < x->n &&
	       (x->best[at].cost < c->cost || (x->best[at].cost == c->cost && x->best[at].copied <= c->copied)))
		if (x->best[at++].copied <= c->copied)
			return;
	if (at == PARTITION_WAYS)
		return;
	x->n -= x->n == PARTITION_WAYS;
	for (int i = x->n++; i > at; i--)
		x->best[i] = x->best[i - 1];
	x->best[at] = *c;
	for (int i = 0; i < x->n; i++)
		if (x->best[i].cost <= most_of(x) && (i <= at || x->best[i].copied < c->copied))
			x->best[end++] = x->best[i];
	x->n = end;
}

static uint64_t partition_bytes_of(uint32_t bits, uint64_t values)
{
	return bits * values / 8 + (bits * values % 8 != 0);
}

static void try(struct spread *x, const struct unit_split *s)
{
	struct cut c = { .split = *s };
	const struct unit_plan *p;
	ps_t exchange = 0, latency = 0, in;
	uint64_t bytes;

	take_part(x, s);
	bytes = partition_bytes_of(x->a_bits, x->part.m * x->part.k) +
	        (x->part.held ? 0 : unit_present(&x->part, partition_bytes_of(x->b_bits, x->part.n * x->part.k)));
	if (bytes * x->all->cores > x->limits->capacity)
		return;
	in = ps_max(time_at(x->all, x->all->port, bytes), time_at(x->all, x->all->engine, bytes));
	if (in > most_of(x) || !(p = core_plan(x)) || p->span > x->limits->span)
		return;
	if (s->k > 1)
		exchange = by_engines(x->all, partition_exchange(x->all, x->part.m, x->part.n, s->k, &latency));
	c.cost = ps_max(p->span, in) + exchange + (p->latency + latency) / 2;
	c.copied = bytes * s->m * s->n * s->k;
	if (c.cost <= most_of(x))
		partition_keep(x, &c);
}

/* The next of 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ... */
static uint32_t next_part(uint32_t n)
{
	return n + (n < 4 ? 1 : 1u << (29 - __builtin_clz(n)));
}

static uint32_t part_below(uint32_t most)
{
	const uint32_t step = most < 4 ? 1 : 1u << (29 - __builtin_clz(most));

	return most / step * step;
}

/* All cuts, and the multiply-adds that the fullest core has by each. */
#define MAX_SPLITS 768
struct splits {
	struct unit_split at[MAX_SPLITS];
	uint64_t macs[MAX_SPLITS];
	uint32_t n, first; /* first: of the fewest */
};

static void add_split(struct splits *s, const struct unit_job *j, uint32_t m, uint32_t n, uint32_t k, uint64_t mk)
{
	const uint64_t macs = mk * div_up(j->n, n);

	if (s->n == MAX_SPLITS)
		return;
	s->at[s->n] = (struct unit_split){ m, n, k };
	s->macs[s->n] = macs;
	s->first = macs < s->macs[s->first] ? s->n : s->first;
	s->n++;
}

static void find_splits(const struct spread *x, struct splits *s)
{
	const struct unit_job *j = x->job;
	const uint32_t cores = x->all->cores;

	s->n = s->first = 0;
	if (j->held && j->stationary_split.n) {
		const uint32_t m = (uint32_t)ps_min(ps_max(1, j->stationary_split.m), j->m),
			       n = (uint32_t)ps_min(j->stationary_split.n, j->n),
			       k = (uint32_t)ps_min(j->stationary_split.k, j->k);

		add_split(s, j, m, n, k, div_up(j->m, m) * div_up(j->k, k));
		return;
	}
	for (uint32_t k = 1; k <= cores && k <= j->k; k *= 2)
		for (uint32_t m = 1; m <= cores / k && (m == 1 || m <= j->m); m = next_part(m)) {
			const uint32_t left = cores / k / m, most = left < j->n ? left : (uint32_t)j->n,
				       below = part_below(most);
			const uint64_t mk = div_up(j->m, m) * div_up(j->k, k);

			add_split(s, j, m, most, k, mk);
			if (below < most)
				add_split(s, j, m, below, k, mk);
			if (below > 1)
				add_split(s, j, m, below / 2, k, mk);
		}
}

/* Multiply-adds that one core does in so long. */
static double macs_in(const struct spread *x, ps_t t)
{
	const double macs = (double)t * (double)x->all->clock_khz / 1e9 * (double)x->macs;

	return x->macs ? x->job->of ? macs * x->job->of / x->job->keep : macs : 1e300;
}

/* However a product is cut, some core has its part of all; the cut by which the fullest has least comes first. */
static void partition_product(struct spread *x)
{
	const struct unit_job *j = x->job;
	const double most = macs_in(x, x->limits->span);
	struct splits s;

	if ((double)j->m * (double)j->n * (double)j->k / x->all->cores > most)
		return;
	find_splits(x, &s);
	if (!s.n || (double)s.macs[s.first] > most)
		return;
	try(x, &s.at[s.first]);
	for (uint32_t i = 0; i < s.n; i++)
		if (i != s.first && (double)s.macs[i] <= most && (double)s.macs[i] <= macs_in(x, most_of(x)))
			try(x, &s.at[i]);
}

struct unit_env partition_core(const struct unit_env *u)
{
	struct unit_env one = *u;

	one.cores = 1;
	return one;
}

int partition_ways(const struct unit_ops *unit, const struct unit_env *u, const struct unit_job *j,
                   const struct partition_limits *limits, struct partition_memo *memo,
                   struct unit_plan out[PARTITION_WAYS])
{
	const struct unit_env one = partition_core(u);
	struct spread x = { .unit = unit, .all = u, .one = &one, .job = j, .part = *j, .limits = limits, .memo = memo };
	int n = 0;

	x.how = how_of(unit, j, memo);
	x.macs = unit->peak ? unit_peak(unit, &one, j->dtype, j->with, j->passes) : 0;
	x.a_bits = dtype_bits(j->with ? j->with : DT_BF16);
	x.b_bits = dtype_bits(j->dtype);
	partition_product(&x);
	for (int i = 0; i < x.n; i++)
		n += plan_cut(&x, &x.best[i].split, &out[n]);
	return n;
}

bool partition_plan(const struct unit_ops *unit, const struct unit_env *u, const struct unit_job *j,
                    struct partition_memo *memo, struct unit_plan *out)
{
	const struct partition_limits any = { PS_NEVER - 1, UINT64_MAX };
	struct unit_plan ways[PARTITION_WAYS];

	if (j->work != UNIT_PRODUCT)
		return unit->plan(u, j, out);
	if (!partition_ways(unit, u, j, &any, memo, ways))
		return false;
	*out = ways[0];
	return true;
}

bool partition_as(const struct unit_ops *unit, const struct unit_env *u, const struct unit_job *j,
                  const struct unit_split *s, struct partition_memo *memo, struct unit_plan *out)
{
	const struct unit_env one = partition_core(u);
	struct spread x = { .unit = unit, .all = u, .one = &one, .job = j, .part = *j, .memo = memo };

	x.how = how_of(unit, j, memo);
	return plan_cut(&x, s, out);
}
