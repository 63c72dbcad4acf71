/* sweep.h - what the files of npusim sweep share: stored points with all that is said about them. */
#ifndef NPUSIM_SIM_CLI_SWEEP_H
#define NPUSIM_SIM_CLI_SWEEP_H

#include "sim/cli/cmd.h"
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

/* What an expression is worth for every point of the view, in order; NULL entries where it has no value. The array is
 * in the view's arena. */
int sweep_view_values(struct sweep_view *v, struct expr *x, struct expr_value **out, struct err *e);
/* Whether each point meets all constraints; a failed point does not. */
int sweep_view_feasible(struct sweep_view *v, bool **out, struct err *e);
/* Whether each point meets all of these conditions of the command line, each a --where of its own. */
int sweep_view_where(struct sweep_view *v, const struct opt_list *where, bool **out, struct err *e);
#define SWEEP_WHERE_HELP "only points for which this holds; of several, for which all hold"

/* After a wide sweep at analytic fidelity: which of its points to run again with events (by point, in v's arena; *n of
 * them), and how far the two are apart. */
bool *sweep_promising(struct sweep_view *v, uint32_t share_ppm, size_t *n, struct err *e);
int sweep_print_again(struct sweep_view *wide, struct sweep_view *again, enum out_format f, uint64_t rows,
                      struct str *out, struct err *e);

struct sweep_totals {
	size_t done, failed, died, missing, feasible; /* died: of the failed, those whose process did */
	bool bounded;
};
/* csv and json have all points and columns; a table has `rows` points and the columns a person looks at. */
int sweep_print(struct sweep_view *v, enum out_format f, uint64_t rows, struct sweep_totals *t, struct str *out,
                struct err *e);

#endif
