#include "sim/engine/run_result.h"

#define PPM 1000000u

enum res run_largest(const ps_t *v)
{
	int best = 0;

	for (int k = 1; k < RES_COUNT; k++)
		if (v[k] > v[best])
			best = k;
	return (enum res)best;
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
