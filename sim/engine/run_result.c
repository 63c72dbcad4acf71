#include "sim/engine/run_result.h"

#include <string.h>

#define PPM 1000000u

enum res run_largest(const ps_t *v)
{
	int best = 0;

	for (int k = 1; k < RES_COUNT; k++)
		if (v[k] > v[best])
			best = k;
	return (enum res)best;
}

enum res run_bound(const ps_t *stall, const ps_t *busy)
{
	const enum res most = run_largest(stall);

	return stall[most] ? most : run_largest(busy);
}

unsigned run_known(const struct run_result *r)
{
	return OP_KNOWN_RUN | OP_KNOWN_USE | (r->energy ? OP_KNOWN_POWER : 0);
}

unsigned run_op_known(const struct run_result *r, const struct run_op *o)
{
	return o->carried ? 0 : run_known(r);
}

double run_share(ps_t need, ps_t total)
{
	return total ? (double)need / (double)total : 0;
}

void run_shares(const ps_t *v, enum res bound, uint32_t *ppm)
{
	ps_t total = 0;
	uint32_t sum = 0;

	for (int k = 0; k < RES_COUNT; k++)
		total += v[k];
	for (int k = 0; k < RES_COUNT; k++) {
		/* Stalls are under 2^44 ps (17 s) each, so the product fits. */
		ppm[k] = total ? (uint32_t)((total >> 44 ? v[k] >> 20 : v[k]) * PPM /
		                            (total >> 44 ? total >> 20 : total))
		               : 0;
		sum += ppm[k];
	}
	ppm[bound] += PPM - sum;
}

const char *run_pattern(const struct run_result *r, const struct run_op *o)
{
	return r->map && o->cmd != RUN_NO_CMD ? r->map->prog.cmds[o->cmd].pattern : NULL;
}

static const char *const starts[RUN_STARTS] = {
	[RUN_STEADY] = "steady", [RUN_COLD] = "cold", [RUN_RESIDENT] = "resident"
};

const char *run_start_name(enum run_start s)
{
	return starts[s];
}

int run_start_parse(const char *text, enum run_start *s, struct err *e)
{
	for (int i = 0; i < RUN_STARTS; i++)
		if (strcmp(starts[i], text) == 0) {
			*s = (enum run_start)i;
			return 0;
		}
	return err_set(e, ERR_USAGE, "unknown start '%s': it is steady, cold or resident", text);
}

const char *run_fidelity_name(enum run_fidelity f)
{
	return f == RUN_ANALYTIC ? "analytic" : "event";
}

int run_fidelity_parse(const char *text, enum run_fidelity *f, struct err *e)
{
	*f = strcmp(text, "analytic") == 0 ? RUN_ANALYTIC : RUN_EVENT;
	return *f == RUN_ANALYTIC || strcmp(text, "event") == 0
	               ? 0
	               : err_set(e, ERR_USAGE, "unknown fidelity '%s': it is event or analytic", text);
}
