/* job_int.h - several machines, for job.c alone. */
#ifndef NPUSIM_SIM_REPORT_JOB_INT_H
#define NPUSIM_SIM_REPORT_JOB_INT_H

#include "sim/report/job.h"

/* "A,B": several machines, where no file is called so. */
bool job_is_machines(const struct job *j);
int job_machines(const struct job *j, struct doc *d, struct err *e);

#endif
