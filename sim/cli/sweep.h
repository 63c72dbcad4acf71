/* sweep.h - what the files of npusim sweep share. */
#ifndef NPUSIM_SIM_CLI_SWEEP_H
#define NPUSIM_SIM_CLI_SWEEP_H

#include "sim/cli/cmd.h"
#include "sim/study/sweep_view.h"

#define SWEEP_WHERE_HELP "only points for which this holds; of several, for which all hold"

/* How far apart points are that ran again with events. */
int sweep_print_again(struct sweep_view *wide, struct sweep_view *again, uint64_t rows, struct doc *d, struct err *e);

struct sweep_totals {
	size_t done, failed, died, missing, feasible; /* died: of the failed, those whose process did */
	bool bounded;
};
/* csv and json have all points and columns; a table has `rows` points and the columns a person looks at. */
int sweep_print(struct sweep_view *v, uint64_t rows, struct sweep_totals *t, struct doc *d, struct err *e);

#endif
