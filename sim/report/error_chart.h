/* error_chart.h - simulated times against measured ones: a GPU's samples, or rows of tables of ops with the worst named. */
#ifndef NPUSIM_SIM_REPORT_ERROR_CHART_H
#define NPUSIM_SIM_REPORT_ERROR_CHART_H

#include "results/plot/plot.h"
#include "sim/accuracy/cases.h"

/* Samples of a split. */
struct plot *error_chart(const struct cases *sets, size_t n, enum sample_split split, const char *machine,
                         struct arena *a, struct err *e);
/* `on_chip`: operands were there before each. */
struct plot *error_rows_chart(const struct cases *c, const char *machine, bool on_chip, struct arena *a, struct err *e);

#endif
