/* lay_time.h - how long a cache was, from how long attention took; see lay_time.c. */
#ifndef NPUSIM_SIM_REPORT_LAY_TIME_H
#define NPUSIM_SIM_REPORT_LAY_TIME_H

#include "sim/workload/workload.h"

/* The cache's length that attention's time speaks for, on the GPU that was traced as its configuration describes it; 0: none, as
 * that GPU is not described or its attention cannot be told. Between the bounds. For struct workload_reader. */
workload_context_by_time lay_time_context;

#endif
