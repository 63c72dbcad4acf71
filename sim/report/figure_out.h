/* figure_out.h - figures on their way out: as members of JSON; of ops as columns and cells of a table, too. */
#ifndef NPUSIM_SIM_REPORT_FIGURE_OUT_H
#define NPUSIM_SIM_REPORT_FIGURE_OUT_H

#include "results/op_figure.h"
#include "sim/ui/out.h"

/* All of one part. */
void figure_json(struct out_json *j, enum figure_part part, const struct figures *x, const struct figure_measured *m);

/* The same of an op: null is what is not known of it. */
void op_figure_json(struct out_json *j, enum op_part part, const struct op_figures *x, unsigned known);
/* Columns of one part to the end of `cols`, which has *n and room for OP_FIGURE_ROWS more. */
void op_figure_csv_cols(enum op_part part, struct out_col *cols, int *n);
void op_figure_csv(struct out_table *t, enum op_part part, const struct op_figures *x, unsigned known);
/* The same of the table for people, of what a run knows; every op there knows it, too. */
void op_figure_table_cols(enum op_part part, unsigned known, struct out_col *cols, int *n);
void op_figure_table_cells(struct out_table *t, enum op_part part, const struct op_figures *x, unsigned known);
/* Names, and an op's values, for the report's page. */
void op_figure_page_names(struct out_json *j, enum op_part part);
void op_figure_page(struct out_json *j, enum op_part part, const struct op_figures *x, unsigned known);

#endif
