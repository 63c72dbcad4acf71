#include "results/figure.h"

#include <string.h>

/* --- what is made ------------------------------------------------------------------------------------------ */

static struct figure_value figure_bytes(uint64_t n)
{
	return (struct figure_value){ true, true, n, (double)n };
}

static struct figure_value us(uint64_t ns)
{
	return (struct figure_value){ .known = true, .x = (double)ns / 1e3 };
}

static struct figure_value figure_dram_bytes(const struct figures *x, const struct figure_measured *m)
{
	(void)m;
	return figure_bytes(x->dram_read_bytes + x->dram_write_bytes);
}

static struct figure_value figure_kernels(const struct figures *x, const struct figure_measured *m)
{
	(void)x;
	return m->kernel_ns ? us(m->kernel_ns) : (struct figure_value){ .known = false }; /* nobody measured any */
}

static struct figure_value figure_measured(const struct figures *x, const struct figure_measured *m)
{
	(void)x;
	return us(m->measured_ns);
}

static struct figure_value figure_copies(const struct figures *x, const struct figure_measured *m)
{
	(void)x;
	return us(m->measured_ns - m->kernel_ns);
}

static struct figure_value figure_wall(const struct figures *x, const struct figure_measured *m)
{
	(void)x;
	return m->wall_ns < 0 ? (struct figure_value){ .known = false } : us((uint64_t)m->wall_ns);
}

/* A graph's launch takes time even of nothing; without an activity there is no wall time to speak of. */
static struct figure_value figure_wall_graph(const struct figures *x, const struct figure_measured *m)
{
	(void)m;
	return (struct figure_value){ .known = x->wall_eager_ps != 0, .x = (double)x->wall_graph_ps / 1e6 };
}

double figure_ratio_kernels(const struct figures *x, const struct figure_measured *m)
{
	return x->total_ps && m->modelled_ns
	               ? ((double)m->modelled_ns * 1e3 + (double)x->carried_ps) / (double)figure_whole_ps(x)
	               : 0;
}

double figure_ratio_wall(const struct figures *x, const struct figure_measured *m)
{
	return m->wall_ns < 0 || !x->total_ps ? 0 : (double)m->wall_ns * 1e3 / (double)figure_whole_ps(x);
}

double figure_ratio_fused(const struct figures *x)
{
	return x->total_ps && x->fused_ps ? (double)(x->fused_ps + x->carried_ps) / (double)figure_whole_ps(x) : 0;
}

static struct figure_value figure_power(const struct figures *x, const struct figure_measured *m)
{
	(void)m;
	return (struct figure_value){ .known = x->energy_fj && x->total_ps,
		                      .x = x->total_ps ? (double)x->energy_fj / (double)x->total_ps / 1e3 : 0 };
}

static struct figure_value figure_tokens_per_s(const struct figures *x, const struct figure_measured *m)
{
	(void)m;
	return (struct figure_value){ .known = x->tokens && x->total_ps,
		                      .x = x->total_ps ? (double)x->tokens * 1e12 / (double)figure_whole_ps(x) : 0 };
}

static struct figure_value figure_token_uj(const struct figures *x, const struct figure_measured *m)
{
	(void)m;
	return (struct figure_value){ .known = x->tokens && x->energy_fj && !x->carried_ps,
		                      .x = x->tokens ? (double)x->energy_fj / 1e9 / (double)x->tokens : 0 };
}

/* No rate may be kept, which is an answer: it was looked for. */
static struct figure_value figure_max_rate(const struct figures *x, const struct figure_measured *m)
{
	(void)m;
	return (struct figure_value){ .known = x->max_uhz || x->rates_tried, .x = (double)x->max_uhz / 1e6 };
}

static struct figure_value figure_edp(const struct figures *x, const struct figure_measured *m)
{
	(void)m;
	return (struct figure_value){ .known = x->energy_fj != 0,
		                      .x = (double)x->energy_fj / 1e9 * ((double)x->total_ps / 1e6) };
}

static struct figure_value ratio(double v)
{
	return (struct figure_value){ .known = v > 0, .x = v };
}

static struct figure_value figure_speedup_kernels(const struct figures *x, const struct figure_measured *m)
{
	return ratio(figure_ratio_kernels(x, m));
}

static struct figure_value figure_speedup_wall(const struct figures *x, const struct figure_measured *m)
{
	return ratio(figure_ratio_wall(x, m));
}

/* What is needed at a peak as a share of the time. More than that is products on two kinds of unit at once, or bytes whose
 * writing outlasts the run. */
static struct figure_value use(const struct figures *x, uint64_t need, bool known)
{
	const double share = x->total_ps ? (double)need / (double)x->total_ps : 0;

	return (struct figure_value){ .known = known && x->total_ps, .x = share < 1 ? share : 1 };
}

static struct figure_value figure_mfu(const struct figures *x, const struct figure_measured *m)
{
	(void)m;
	return use(x, x->macs_ps, x->macs_ps != 0);
}

static struct figure_value figure_bandwidth_use(const struct figures *x, const struct figure_measured *m)
{
	(void)m;
	/* 0 although bytes moved: of a build that did not know it */
	return use(x, x->pins_ps, x->pins_ps || !(x->dram_read_bytes + x->dram_write_bytes));
}

/* --- the table --------------------------------------------------------------------------------------------- */

#define NUMBER_ROW(m, how, ...) { .kept = FIGURE_##how, .member = #m, .at = offsetof(struct figures, m), __VA_ARGS__ },
#define MADE_ROW(how, ...)      { .make = how, __VA_ARGS__ },

const struct figure figure_table[] = { FIGURES(NUMBER_ROW, MADE_ROW){ .help = NULL } };

const struct figure *figure_named(const char *name)
{
	for (const struct figure *f = figure_table; f->help; f++)
		if ((f->name && strcmp(f->name, name) == 0) || (f->also && strcmp(f->also, name) == 0))
			return f;
	/* As JSON calls it, where no figure has that name. */
	for (const struct figure *f = figure_table; f->help; f++)
		if (f->json && strcmp(f->json, name) == 0)
			return f;
	return NULL;
}

bool figure_is_of(const struct figure *f, bool traffic)
{
	return f->of == FIGURE_OF_BOTH || (f->of == FIGURE_OF_TRAFFIC) == traffic;
}

const struct figure *figure_after(const struct figure *after, bool traffic)
{
	const int place = after ? after->place : 0;
	const struct figure *next = NULL;

	for (const struct figure *f = figure_table; f->help; f++)
		if (!f->missing && figure_is_of(f, traffic) && f->place > place && (!next || f->place < next->place))
			next = f;
	return next;
}

uint64_t figure_number(const struct figure *f, const struct figures *x)
{
	uint64_t n;

	memcpy(&n, (const char *)x + f->at, sizeof n);
	return n;
}

void figure_set(const struct figure *f, struct figures *x, uint64_t number)
{
	memcpy((char *)x + f->at, &number, sizeof number);
}

struct figure_value figure_value(const struct figure *f, const struct figures *x, const struct figure_measured *m)
{
	uint64_t n;

	if (f->make)
		return f->make(x, m);
	if (!f->member)
		return (struct figure_value){ .known = false };
	n = figure_number(f, x);
	return (struct figure_value){ f->zero == FIGURE_ZERO || n, f->per == 1, n, (double)n / f->per };
}
