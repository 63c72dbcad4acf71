#include "results/op_figure.h"

#include <string.h>

double op_figure_use(uint64_t need, uint64_t span)
{
	return span ? (double)(need < span ? need : span) / (double)span : 0;
}

static double op_figure_mfu(const struct op_figures *x)
{
	return op_figure_use(x->macs_ps, x->span_ps);
}

static double op_figure_bandwidth_use(const struct op_figures *x)
{
	return op_figure_use(x->pins_ps, x->span_ps);
}

#define NUMBER_ROW(m, how, ...) \
	{ .kept = FIGURE_##how, .member = #m, .at = offsetof(struct op_figures, m), __VA_ARGS__ },
#define MADE_ROW(how, ...) { .make = how, __VA_ARGS__ },

const struct op_figure op_figure_table[] = { OP_FIGURES(NUMBER_ROW, MADE_ROW){ .help = NULL } };

bool op_figure_known(const struct op_figure *f, unsigned known)
{
	const unsigned needs = f->needs | OP_KNOWN_RUN;

	return (known & needs) == needs;
}

uint64_t op_figure_number(const struct op_figure *f, const struct op_figures *x)
{
	uint64_t n;

	memcpy(&n, (const char *)x + f->at, sizeof n);
	return n;
}

void op_figure_set(const struct op_figure *f, struct op_figures *x, uint64_t number)
{
	memcpy((char *)x + f->at, &number, sizeof number);
}

struct figure_value op_figure_value(const struct op_figure *f, const struct op_figures *x, unsigned known)
{
	const bool has = op_figure_known(f, known);
	uint64_t n;

	if (f->make)
		return (struct figure_value){ .known = has && x->span_ps, .x = has ? f->make(x) : 0 };
	n = op_figure_number(f, x);
	return (struct figure_value){ has, f->per == 1, n, (double)n / f->per };
}
