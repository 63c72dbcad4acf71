/* ablate_court.h - a claim judged on suites of workloads that are fixed before anything is run.
 *
 * On a suite a change saves the mean over its workloads (of ratios of time, so that none counts for being long; of energy where that
 * is claimed), give or take what the fidelities differ by there (ablate_half), in the mean, and ABLATE_NOTICED at the least.
 * A change that makes the die larger owes its area: what the `exchange` of the file costs on the same workloads, by as much of it as
 * the area is of what it gives back. Who spends area has to beat what the same area does elsewhere; who saves some gets nothing.
 *
 *   pays     what it saves, less what its area is worth, is more than what it may be off by; of a part that is not to be missed:
 *            it costs at most ABLATE_SPARED
 *   loses    it is less than nothing by as much
 *   open     that is more than one would notice, and less than what it may be off by
 *   nothing  the rest
 *
 * A claim is right where it pays on all suites that it is of, right in part where on some, open where on none and some are open, and
 * else wrong. That it pays on one workload, or on one that it names itself, stands beside the verdict and changes nothing. */
#ifndef NPUSIM_SIM_STUDY_ABLATE_COURT_H
#define NPUSIM_SIM_STUDY_ABLATE_COURT_H

#include "sim/study/ablate.h"

enum ablate_effect { ABLATE_NO_EFFECT, ABLATE_PAYS, ABLATE_LOSES, ABLATE_OPEN };
struct ablate_suite {
	size_t n;         /* workloads that it was run on; 0: none, and the rest says nothing */
	double saves;     /* of what is claimed, as a fraction: time, or energy */
	double half;      /* saves may be off by */
	double low, high; /* of one workload */
	size_t best;      /* the workload of `high` */
	double time;      /* saved: as `saves`, unless energy is claimed */
	double owes;      /* time that its area is worth elsewhere */
	double energy;    /* saved */
	enum ablate_effect effect;
};

enum ablate_ruling { ABLATE_RULED_RIGHT, ABLATE_RULED_PART, ABLATE_RULED_WRONG, ABLATE_RULED_OPEN, ABLATE_NOT_RULED };
struct ablate_court {
	enum ablate_ruling ruling;
	struct ablate_suite suites[ABLATE_SUITES]; /* by x->suites */
	double area;                               /* nm2 more than what it is measured from */
};

/* `r`: by workload. */
void ablate_court(const struct ablation *x, const struct ablate_result *r, size_t change, struct ablate_court *out);
const char *ablate_ruling_name(enum ablate_ruling v);
const char *ablate_effect_name(enum ablate_effect v);
/* Sentences: on each suite by how much, at what area, and where else it pays. */
void ablate_court_why(const struct ablation *x, const struct ablate_result *r, size_t change, struct str *out);

#endif
