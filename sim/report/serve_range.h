/* serve_range.h - how sure it is what requests wait for: an interval that holds each figure four times in five.
 *
 * Typical steps are simulated as they are, and their intervals (sim/accuracy/interval.h) are those of all steps: one of those that only
 * decode, one of those with prompts, the mean of the logarithms where there are several. Then the list is served twice more, with all steps
 * at the one end and all at the other: so what queues behind a slower step waits for it, too, and a rate that the machine keeps either way
 * is sure. A figure lies between the least and the most of the three times.
 * Joules: what stands still takes its power longer; by how much a meter would differ is not in it. Nor are the host's constants, lengths
 * that were drawn, or a model's experts. Errors of decode and of prompts are taken to go together, which is wider than if they did not. */
#ifndef NPUSIM_SIM_REPORT_SERVE_RANGE_H
#define NPUSIM_SIM_REPORT_SERVE_RANGE_H

#include "sim/accuracy/interval.h"
#include "sim/serve/serve.h"

struct serve_range {
	struct interval_range step[SERVE_KINDS]; /* true time over simulated */
	bool any[SERVE_KINDS];                   /* there were such steps */
	struct serve_again fast, slow;
};

/* After serve_sum. 1: made; 0: nobody knows how far such a machine is off; -1: error. serve_range_free in any case. */
int serve_range(struct serve_run *r, struct serve_range *out, struct err *e);
void serve_range_free(struct serve_range *x);
/* The least and the most of three; those that are no number do not count. */
struct interval_range serve_range_over(double is, double fast, double slow);

#endif
