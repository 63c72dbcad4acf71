/* figure_out.h - figures on their way out: as members of JSON, as columns and cells of a table. */
#ifndef NPUSIM_SIM_CMD_FIGURE_OUT_H
#define NPUSIM_SIM_CMD_FIGURE_OUT_H

#include "results/figure.h"
#include "sim/ui/out.h"

/* All of one part. */
void figure_json(struct out_json *j, enum figure_part part, const struct figures *x, const struct figure_measured *m);
struct out_col figure_col(const struct figure *f);
/* Its value; null where it has none, or where there is no result. */
void figure_cell(struct out_table *t, const struct figure *f, bool result, const struct figures *x);

#endif
