/* limits_store.h - what was found of a design, stored with it as a run. */
#ifndef NPUSIM_SIM_REPORT_LIMITS_STORE_H
#define NPUSIM_SIM_REPORT_LIMITS_STORE_H

#include "results/db/res.h"
#include "sim/study/limits.h"
#include "sim/workload/workload.h"

/* The design itself as a run, as `npusim run` would store it, with what was found about it. */
int limits_store(struct resdb *db, const struct limits_question *q, const struct workload *w,
                 const struct limits_result *x, struct err *e);

#endif
