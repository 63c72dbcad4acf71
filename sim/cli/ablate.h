/* ablate.h - what the files of npusim ablate share: an ablation with its workloads, run. */
#ifndef NPUSIM_SIM_CLI_ABLATE_H
#define NPUSIM_SIM_CLI_ABLATE_H

#include "sim/cli/cmd.h"
#include "sim/study/ablate.h"

struct ablate_view {
	const struct ablation *x;
	const char *fidelity; /* of all runs; "both": each says its own */
	const char *build;
	struct ablate_result *results; /* by workload */
	uint64_t *tokens;              /* of a step; 0: not known */
};

/* "in closed form": how all of it was simulated. */
const char *ablate_how_run(const struct ablate_view *v);
/* Tokens a second of a run of that workload; 0: not known. */
double ablate_rate(const struct ablate_view *v, size_t workload, const struct ablate_run *r);
void ablate_table(const struct ablate_view *v, struct str *out);
void ablate_csv(const struct ablate_view *v, struct str *out);
void ablate_json(const struct ablate_view *v, struct str *out);
/* A page for any browser: of each change whether it is as claimed, on which workload, by how much and why. */
void ablate_page(const struct ablate_view *v, struct str *out);
/* The best a change does on a workload: the one it names, else where it saves most. -1: it was not run. */
int ablate_shows(const struct ablate_view *v, size_t change);

#endif
