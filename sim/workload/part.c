#include "sim/workload/part.h"

#include <inttypes.h>

struct workload_part workload_part_of(const struct model *m, const struct build_how *how)
{
	struct workload_part p = { .layers = 0 };

	if (m && how->layers && how->layers < m->layers) {
		p.layers = how->layers;
		p.of_layers = m->layers;
	}
	if (m && how->experts && how->experts < m->moe.experts) {
		p.experts = how->experts;
		p.of_experts = m->moe.experts;
	}
	return p;
}

bool workload_is_part(const struct workload_part *p)
{
	return p->layers || p->experts;
}

void workload_part_text(const struct workload_part *p, struct str *out)
{
	if (p->layers)
		str_addf(out, "%" PRIu64 " of %" PRIu64 " layers", p->layers, p->of_layers);
	if (p->experts)
		str_addf(out, "%s%" PRIu64 " of %" PRIu64 " experts", p->layers ? ", " : "", p->experts, p->of_experts);
}
