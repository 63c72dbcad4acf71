/* job.h - what npusim run is asked: one run, or a request's stages, on a machine, or a run on several; what is kept of it, and the document of it.
 *
 * Everything that can be wrong is read before the simulation starts, the results file first of all. What cannot be stored is still
 * shown, as the time was spent: then the document is whole, and an error is returned. */
#ifndef NPUSIM_SIM_REPORT_JOB_H
#define NPUSIM_SIM_REPORT_JOB_H

#include "sim/report/staged.h"

struct job {
	const char *config, *stages; /* as people call it, several with commas between; NULL: one run */
	const char *const *sets;
	int n_sets;
	struct workload_spec workload; /* of all stages */
	struct run_opts how;
	staged_read *read;
	uint64_t top; /* ops in the table; JOB_TOP: as many as the page has */
	bool allow_opaque, explain_fusion, whole;
	bool buys;                                /* what to buy next is asked */
	const char *explain_map;                  /* of this op; NULL: of none */
	const char *results, *program, *timeline; /* files to write; NULL: none */
};
#define JOB_TOP UINT64_MAX

/* What is asked in vain, without reading anything. */
int job_check(const struct job *j, struct err *e);
int job_run(const struct job *j, struct doc *d, struct err *e);

#endif
