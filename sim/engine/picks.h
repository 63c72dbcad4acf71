/* picks.h - which experts a pass picks.
 *
 * A trace does not say: every pick is kept from the step before with a probability, the others are drawn anew from those
 * that were not picked. Steps that follow each other in a stream are told by the weights their routers choose from. */
#ifndef NPUSIM_SIM_ENGINE_PICKS_H
#define NPUSIM_SIM_ENGINE_PICKS_H

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "workloads/op.h"

struct picks {
	uint32_t **now;   /* [route][slot]: the expert */
	uint32_t *before; /* by route: the one over the same weights a step earlier; its own: a pass earlier */
	uint32_t *scratch;
};

int picks_new(struct picks *p, const struct op_stream *s, struct arena *a, struct err *e);
void picks_first(struct picks *p, const struct op_stream *s, struct rng *g, uint32_t keep_ppm);
void picks_next(struct picks *p, const struct op_stream *s, struct rng *g, uint32_t keep_ppm); /* of the next pass */
/* Chance that an expert a step picked is picked again, when picks are independent: top over experts. */
uint32_t picks_reuse(const struct op_stream *s);

#endif
