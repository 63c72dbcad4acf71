#include "sim/serve/curve.h"

#include <math.h>

static int point(struct serve_run *r, uint32_t loop, struct curve_point *p, struct err *e)
{
	struct sched_result x;
	int rc;

	*p = (struct curve_point){ .loop = r->policy.loop = loop };
	if ((rc = serve_list(r, &r->arrivals, &x, e)) == 0 &&
	    (rc = latency_sum(&r->arrivals, &x, &p->latency, e)) == 0) {
		const ps_t mean = p->latency.of[LATENCY_TPOT].mean;

		p->machine = (double)x.made * 1e12 / (double)x.end;
		p->user = mean ? 1e12 / (double)mean : NAN;
	}
	sched_free(&x);
	return rc;
}

int curve_make(struct serve_run *r, struct curve_point out[CURVE_POINTS], struct err *e)
{
	const uint64_t most = r->arrivals.n < r->policy.max_batch ? r->arrivals.n : r->policy.max_batch;
	int n = 0;

	for (uint64_t loop = 1; n < CURVE_POINTS; loop = 2 * loop < most ? 2 * loop : most) {
		if (point(r, (uint32_t)loop, &out[n++], e) < 0)
			return -1;
		if (loop == most)
			break;
	}
	return n;
}
