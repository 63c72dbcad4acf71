/* sweep_int.h - what the files of the sweep share. */
#ifndef NPUSIM_SIM_STUDY_SWEEP_INT_H
#define NPUSIM_SIM_STUDY_SWEEP_INT_H

#include "sim/base/str.h"
#include "sim/study/sweep.h"

static inline int sweep_no_memory(struct err *e)
{
	return err_set(e, ERR_NOMEM, "no memory for the sweep");
}

/* sweep_axis.c: reads one entry of `axes`; rounds and adds the value at `fraction` (0 to 1) of a continuous range. */
int sweep_axis_read(struct sweep *s, const struct ynode *key, const struct ynode *value, struct sweep_axis *out,
                    struct err *e);
int sweep_axis_add(struct sweep *s, struct sweep_axis *x, double fraction, uint32_t *index, struct err *e);

/* sweep_points.c, for a search: adds the point at this place of every dimension (0 to 1), unless it is there, was excluded, or
 * `where` excludes it; then checks those that were added. */
int sweep_add_place(struct sweep *s, const double *place, struct err *e);
int sweep_check_new(struct sweep *s, struct err *e);
void sweep_maker_free(struct sweep_maker *m); /* what is not in the sweep's arena */

/* sweep_expr.c: `where`, which asks the configuration alone; sweep_read_expressions reads the others. */
int sweep_read_where(struct sweep *s, struct err *e);

/* Points of a guided sample's generation: the next is bred from the best of them, and of fewer there is little to choose. */
#define SWEEP_GENERATION_LEAST 8
#define SWEEP_GENERATION_MOST  1024

/* sweep_workload.c. A key model.*: of the workload, not of the machine. */
#define SWEEP_MODEL "model"
bool sweep_of_model(const char *key);
int sweep_workload_read(struct sweep *s, struct err *e); /* `workload:`, after the root's own keys */
/* Is there a value for an expression? A trace says nothing of what it was measured at. */
bool sweep_workload_known(const struct sweep *s, const char *key);
/* What the n_axes `sets` of a point change in its spec; texts live in `sets`. */
void sweep_workload_of(const struct sweep *s, const char *const *sets, struct workload_spec *w);
uint64_t sweep_workload_hash(const struct sweep *s, const char *const *sets, uint64_t h);
static inline struct cfg *sweep_schema(const struct sweep *s, const char *key)
{
	return sweep_of_model(key) ? s->model : s->schema;
}

/* sweep_hash.c: of the points' configurations, or of what a search asks for. */
uint64_t sweep_hash(const struct sweep *s);

/* sweep_mix.c: the slowest part's time; the statistic that a part's time is kept as, "mix.NAME_ns". */
#define SWEEP_MIX_WORST "mix.worst_ns"
const char *sweep_mix_stat(const char *part, struct arena *a);

#endif
