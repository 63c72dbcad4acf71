/* sweep_view.h - stored points, and what expressions make of them. */
#ifndef NPUSIM_SIM_STUDY_SWEEP_VIEW_H
#define NPUSIM_SIM_STUDY_SWEEP_VIEW_H

#include "sim/study/sweep.h"

/* A stored sweep read back: its expressions know the statistics of its points. Everything in `a` or in `s`. */
struct sweep_view {
	struct arena *a;
	struct sweep *s;
	struct res_sweep head;
	struct res_workload workload;
	struct res_point *points;
	size_t n;
};
/* `id` 0: the last sweep of the file. */
int sweep_view_open(struct sweep_view *v, struct resdb *db, int64_t id, struct err *e);
void sweep_view_free(struct sweep_view *v);
/* "l2-size" of "configs/studies/l2-size.yaml": what a picture is called. */
#define SWEEP_NAME_MAX 200
void sweep_stem(const char *path, char name[SWEEP_NAME_MAX]);
/* The machine of a stored point, from the base and the point's settings. */
struct machine_conf *sweep_view_conf(struct sweep_view *v, const struct res_point *p, struct err *e);

/* What keeps anybody from building a stored point (sim/engine/real.h), its text in the view's arena; NULL: nothing. */
const char *sweep_view_beyond(struct sweep_view *v, const struct res_point *p, const char **words);

/* What an expression is worth for every point of the view, in order; NULL entries where it has no value. The array is
 * in the view's arena. */
int sweep_view_values(struct sweep_view *v, struct expr *x, struct expr_value **out, struct err *e);
/* Whether each point meets all constraints; a failed point does not. */
int sweep_view_feasible(struct sweep_view *v, bool **out, struct err *e);
/* Whether each point meets all of these conditions of the command line, each a --where of its own. */
int sweep_view_where(struct sweep_view *v, const char *const *where, int n, bool **out, struct err *e);

/* After a wide sweep at analytic fidelity: which of its points to run again with events, by point, in v's arena; *n of them.
 * The feasible points that the fewest others dominate over the sweep's objectives: the front first, then what lies behind
 * it. With one objective that is the order it gives. */
bool *sweep_view_promising(struct sweep_view *v, uint32_t share_ppm, size_t *n, struct err *e);

#endif
