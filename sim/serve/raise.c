#include "sim/serve/raise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/serve/serve_pools.h"

#define ENOUGH 1.005

/* The list at the rate at which it is drawn, or as it was read. */
static int same_list(const struct serve_run *r, const struct capacity *found, const struct arrivals *of,
                     struct arrivals *out, struct err *e)
{
	if (!r->o->requests)
		return serve_draw(r, found->seed, of->n, out, e);
	*out = *of;
	out->ids = (struct str)STR_INIT;
	out->pages_lent = true;
	if (!(out->v = malloc(of->n * sizeof *out->v)))
		return err_nomem(e, "for a list of requests");
	memcpy(out->v, of->v, of->n * sizeof *out->v);
	return 0;
}

static void change(struct serve_pools *x, enum raise_by by, int so_many)
{
	if (by == RAISE_LINKS)
		x->faster = (uint32_t)((int)x->faster + so_many);
	if (by == RAISE_FIRST || by == RAISE_BOTH)
		x->pool[0].machines = (uint32_t)((int)x->pool[0].machines + so_many);
	if (by == RAISE_DECODE || by == RAISE_BOTH)
		x->pool[1].machines = (uint32_t)((int)x->pool[1].machines + so_many);
}

int raise_rates(struct serve_run *r, const struct capacity *found, struct raise *out, struct err *e)
{
	struct arrivals kept = r->arrivals;
	const double near = found->rate[CAPACITY_BOTH];
	int rc = 0;

	for (int by = 0; by < RAISES; by++)
		out->rate[by] = NAN;
	for (int by = 0; by < RAISES && rc == 0 && near > 0 && isfinite(near); by++) {
		struct capacity c;

		if (by && r->pools->n < 2)
			break;
		change(r->pools, (enum raise_by)by, 1);
		if ((rc = same_list(r, found, &kept, &r->arrivals, e)) == 0 &&
		    (rc = capacity_find(r, 0, capacity_beside(found), &c, e)) == 0)
			out->rate[by] = c.rate[CAPACITY_BOTH];
		arrive_free(&r->arrivals);
		change(r->pools, (enum raise_by)by, -1);
	}
	r->arrivals = kept;
	return rc;
}

enum raise_by raise_held_by(const struct raise *x, const struct capacity *found)
{
	enum raise_by best = RAISES;
	double most = ENOUGH * found->rate[CAPACITY_BOTH];

	for (int by = 0; by < RAISES; by++)
		if (by != RAISE_BOTH && x->rate[by] > most) {
			most = x->rate[by];
			best = (enum raise_by)by;
		}
	return best == RAISES && x->rate[RAISE_BOTH] > most ? RAISE_BOTH : best;
}
