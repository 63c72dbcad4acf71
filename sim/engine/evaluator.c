#include "sim/engine/evaluator.h"

#include "sim/engine/analytic_memory.h"

struct evaluator {
	const struct machine_cfg *c;
	struct analytic *a; /* NULL: not asked yet */
	struct cp_result results[MAP_EVALUATED];
};

static bool made(struct evaluator *j, const struct isa_prog *p, struct err *e)
{
	if (j->a)
		return true;
	if (!(j->a = analytic_new(j->c, p, e)))
		return false;
	if (analytic_times_only(j->a, e) == 0)
		return true;
	analytic_free(j->a);
	j->a = NULL;
	return false;
}

static bool ends(void *self, const struct isa_prog *p, bool warm, ps_t out[MAP_EVALUATED])
{
	struct evaluator *j = self;
	struct err e = ERR_INIT;

	if (!made(j, p, &e) || analytic_program(j->a, p, &e) < 0)
		return false;
	if (warm)
		analytic_warm(j->a, NULL);
	if (analytic_step(j->a, NULL, j->results, &e) < 0)
		return false;
	for (size_t i = 0; i < p->n_cmds; i++)
		out[i] = j->results[i].retired;
	return true;
}

static bool dram(void *self, struct map_dram *out)
{
	static const struct isa_prog none = { .n_cmds = 0 };
	struct evaluator *j = self;
	struct err e = ERR_INIT;

	if (!made(j, &none, &e))
		return false;
	hierarchy_dram(analytic_levels(j->a), out);
	return true;
}

int evaluator_map(const struct op_stream *s, const struct machine_cfg *c, const struct map_opts *o, struct arena *a,
                  struct map_result *out, struct err *e)
{
	struct evaluator j = { .c = c };
	const struct map_evaluator asked = { ends, dram, &j };
	struct map_opts evaluated = *o;
	int rc;

	evaluated.evaluator = &asked;
	rc = map_stream(s, c, &evaluated, a, out, e);
	analytic_free(j.a);
	return rc;
}
