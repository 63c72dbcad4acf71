#include "sim/report/score_doc.h"

void score_doc_errors(struct doc *d, const char *key, const struct score *s)
{
	doc_count(d, key, s->n);
	doc_real(d, "mape", 2, s->mape);
	doc_real(d, "median_ape", 2, s->median_ape);
	doc_real(d, "p90_ape", 2, s->p90_ape);
	doc_real(d, "bias", 2, s->bias);
	doc_real(d, "weighted_ape", 2, s->weighted_ape);
}

void score_doc_sums(struct doc *d, const struct score *s)
{
	doc_real(d, "measured_us", 1, s->measured_us);
	doc_real(d, "simulated_us", 1, s->simulated_us);
}

int score_worse_first(double x, double y)
{
	x = x < 0 ? -x : x;
	y = y < 0 ? -y : y;
	return (x < y) - (x > y);
}
