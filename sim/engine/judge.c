#include "sim/engine/judge.h"

#include "sim/engine/analytic_memory.h"

struct judge {
	const struct machine_cfg *c;
	struct analytic *a; /* NULL: not asked yet */
	struct cp_result results[MAP_JUDGED];
};

static bool made(struct judge *j, const struct isa_prog *p, struct err *e)
{
	if (j->a)
		return true;
	if (!(j->a = analytic_new(j->c, p, e)))
		return false;
	analytic_times_only(j->a);
	return true;
}

static bool ends(void *self, const struct isa_prog *p, bool warm, ps_t out[MAP_JUDGED])
{
	struct judge *j = self;
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
	struct judge *j = self;
	struct err e = ERR_INIT;

	if (!made(j, &none, &e))
		return false;
	hierarchy_dram(analytic_levels(j->a), out);
	return true;
}

int judge_map(const struct op_stream *s, const struct machine_cfg *c, const struct map_opts *o, struct arena *a,
              struct map_result *out, struct err *e)
{
	struct judge j = { .c = c };
	const struct map_judge asked = { ends, dram, &j };
	struct map_opts judged = *o;
	int rc;

	judged.judge = &asked;
	rc = map_stream(s, c, &judged, a, out, e);
	analytic_free(j.a);
	return rc;
}
