/* report_sweep.h - what the two files share that tell the report's page of a sweep. */
#ifndef NPUSIM_SIM_CLI_REPORT_SWEEP_H
#define NPUSIM_SIM_CLI_REPORT_SWEEP_H

#include "sim/cli/report.h"
#include "sim/study/study.h"

/* An axis with the values that occur among the points that count: numbers in order, others as they come. */
struct report_axis {
	const struct res_value **values;
	size_t n;
	bool follows; /* moves with an axis before it ('link') */
};

struct report_sweep {
	struct study *t; /* all points that count */
	size_t n_axes;
	struct report_axis *axes;
	uint32_t *value; /* of every point of the view that counts, by axis: which of its values */
};

int report_curves(struct out_json *j, const struct report_sweep *r, struct err *e);

#endif
