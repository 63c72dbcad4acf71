/* ablate_doc.h - what is told of an ablation with its workloads, run: as a document, and as a page. */
#ifndef NPUSIM_SIM_REPORT_ABLATE_DOC_H
#define NPUSIM_SIM_REPORT_ABLATE_DOC_H

#include "sim/report/explain.h"
#include "sim/study/ablate_court.h"

struct ablate_doc {
	const struct ablation *x;
	const char *fidelity; /* of all runs; "both": each says its own */
	const char *build;
	struct ablate_result *results;    /* by workload */
	uint64_t *tokens;                 /* of a step; 0: not known */
	const struct explain_line *lines; /* sim/report/ablate_explain.h */
	size_t n_lines;
};

/* "in closed form": how all of it was simulated. */
const char *ablate_how_run(const struct ablate_doc *v);
/* Tokens a second of a run of that workload; 0: not known. */
double ablate_rate(const struct ablate_doc *v, size_t workload, const struct ablate_run *r);
void ablate_doc(struct doc *d, const struct ablate_doc *v);
/* A page for any browser: of each change whether it is as claimed, on which workload, by how much and why. */
void ablate_page(const struct ablate_doc *v, struct str *out);
/* The best a change does on a workload: the one it names, else where it saves most. -1: it was not run. */
int ablate_shows(const struct ablate_doc *v, size_t change);

#endif
