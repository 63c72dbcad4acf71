#include "sim/cli/score_out.h"

void score_json(struct out_json *j, const struct score *s, bool whole)
{
	out_json_u64(j, whole ? "samples" : "n", s->n);
	out_json_real(j, "mape", s->mape);
	out_json_real(j, "median_ape", s->median_ape);
	out_json_real(j, "p90_ape", s->p90_ape);
	out_json_real(j, "bias", s->bias);
	out_json_real(j, "weighted_ape", s->weighted_ape);
	out_json_real(j, "measured_us", s->measured_us);
	out_json_real(j, "simulated_us", s->simulated_us);
}

int score_worse_first(double x, double y)
{
	x = x < 0 ? -x : x;
	y = y < 0 ? -y : y;
	return (x < y) - (x > y);
}
