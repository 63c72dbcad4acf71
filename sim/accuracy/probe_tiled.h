/* probe_tiled.h - measured kernels of a GPU beside what their descriptions (arch/tiled) give: rows of our own measurements, each
 * a description of its own (traces/h100/micro/tiled.csv) or some keys of one that comes with npusim
 * (traces/h100/micro/described_cupti.csv), or pairs of a trace's kernels with asynchronous copy on and off (traces/h200/micro). */
#ifndef NPUSIM_SIM_ACCURACY_PROBE_TILED_H
#define NPUSIM_SIM_ACCURACY_PROBE_TILED_H

#include "sim/accuracy/cases.h"
#include "traces/text/input.h"

/* A kernel, in us; or a pair of them: then the times' ratio, without asynchronous copy over with it. */
struct probe_tiled_row {
	char *name;
	size_t kind; /* whose description: of `kinds` */
	double measured, simulated;
	bool fitted;
	const char *bound;
};

struct probe_tiled {
	struct probe_tiled_row *v;
	size_t n, cap;
	char **kinds; /* names of descriptions that come with npusim, in the order of their first rows */
	size_t n_kinds;
};
#define PROBE_TILED_INIT \
	{ \
		NULL, 0, 0, NULL, 0 \
	}
void probe_tiled_free(struct probe_tiled *r);

bool probe_tiled_is_table(struct input *in); /* of our own measurements; reads from the beginning afterwards */
int probe_tiled_table(struct input *in, const struct gpu *g, struct probe_tiled *r, struct err *e);
/* `own`: of the device that numbers of that form were fitted to, an H200 (configs/calibrate/h200-attention.yaml). */
int probe_tiled_pairs(const struct cases *c, const struct gpu *g, bool own, struct probe_tiled *r, struct err *e);

/* How far off all are, those that were fitted to, or those that were not. */
enum probe_tiled_part { PROBE_TILED_ALL, PROBE_TILED_FITTED, PROBE_TILED_HELD_OUT, PROBE_TILED_PARTS };
struct probe_tiled_sum {
	size_t n, same; /* same: of pairs, those for which the copy helps in both or in neither */
	double mean;    /* of |simulated / measured - 1| */
};
struct probe_tiled_sum probe_tiled_sum(const struct probe_tiled *r, enum probe_tiled_part of);

/* One description's rows: `bias` is the mean with its sign, `order` the share of their pairs, a fifth or more apart as measured,
 * of which the simulated times have the same order. */
struct probe_tiled_kind {
	const char *kernel;
	size_t n;
	double mean, bias, worst, order;
};
struct probe_tiled_kind probe_tiled_kind(const struct probe_tiled *r, size_t i);

#endif
