/* res_sweep.h - sweeps in the results database: many designs on one workload.
 *
 * A sweep is known by what it asks: the workload, how a point is run, and the configurations of its points in order;
 * not by its file's name, its objectives, or who runs it. So the same sweep goes on where it stopped, and its shards
 * meet again. A point is known by its number in the sweep. It has its settings, totals, sums by kind of op, resources
 * and statistics, and no ops. A point that could not be simulated is a row with its reason.
 *
 * Points come in any order and read back in their own; nothing stored depends on the number of workers or on when a
 * point was done. Rows of one sweep made by different builds do not mix unless asked for. Views for others:
 * v_sweeps, v_points, v_values, v_stats, v_kinds, v_ops (of runs). */
#ifndef NPUSIM_RESULTS_DB_RES_SWEEP_H
#define NPUSIM_RESULTS_DB_RES_SWEEP_H

#include "results/db/res.h"

struct res_axis {
	const char *key, *unit;
};

struct res_sweep {
	int64_t id;                        /* when read */
	const char *name, *text;           /* the sweep file: its path and what stands in it */
	const char *base_path, *base_text; /* the machine that the points change */
	const char *start, *fidelity;
	uint64_t seed, configs_hash; /* of all points' configurations in order */
	uint32_t reuse_ppm;
	size_t n_points, n_axes;
	const struct res_axis *axes;
	int64_t workload_id; /* when read */
	size_t done, failed; /* when read */
};

/* clang-format off */
struct res_value { const char *text; bool is_number; double number; };
/* clang-format on */
struct res_kind {
	const char *kind;
	uint64_t ops;
	ps_t span_ps, limit_ps;
	uint64_t dram_bytes, mem_bytes, flops;
};

struct res_point {
	uint64_t point; /* its number in the sweep, from 0 */
	uint64_t config_hash;
	const char *build;
	const struct res_value *values; /* as many as the sweep has axes */
	bool failed;
	const char *reason; /* failed: why; all that follows is 0 then */
	FIGURE_MEMBERS;     /* those that a file keeps are read back */
	const char *roofline_bound;
	size_t n_kinds, n_resources, n_stats;
	const struct res_kind *kinds;
	const struct res_resource *resources;
	const struct res_stat *stats;
};

/* Stores what the sweep asks, or finds it. Rows of another build than `build` are an error unless `mixed`. */
int res_put_sweep(struct resdb *r, const struct res_workload *w, const struct res_sweep *s, const char *build,
                  bool mixed, int64_t *id, struct err *e);
/* Stores points, all in one transaction. One that is there already stays, unless it had failed. */
int res_put_points(struct resdb *r, int64_t sweep, const struct res_point *p, size_t n, size_t n_axes, struct err *e);

/* Copies those points that another sweep of the file has computed, as `taken` says: the same configuration by its hash,
 * workload, start, fidelity, seed and build. So a study whose axes grow runs only what is new. Of a point its number,
 * configuration, build and values must be there. */
int res_adopt_points(struct resdb *r, int64_t sweep, const struct res_point *p, size_t n, size_t n_axes, bool *taken,
                     struct err *e);

/* All sweeps in order of their numbers; everything read lives in `a`. */
int res_list_sweeps(struct resdb *r, struct arena *a, struct res_sweep **out, size_t *n, struct err *e);
int res_get_workload(struct resdb *r, int64_t id, struct arena *a, struct res_workload *out, struct err *e);
/* The points there are, in order. */
int res_get_points(struct resdb *r, const struct res_sweep *s, struct arena *a, struct res_point **out, size_t *n,
                   struct err *e);
/* How a reason begins where it was no fault of the point: its process was killed, say. */
#define RES_DIED "its process died"
bool res_point_died(const struct res_point *p);

/* status[point]: 0 not there, 1 done, 2 failed, 3 failed because its process died; of s->n_points points. */
int res_get_status(struct resdb *r, const struct res_sweep *s, uint8_t *status, struct err *e);

/* Takes over all sweeps and runs of another file. Doing so again changes nothing; a point of which the two files say
 * different things is an error, and then nothing of that sweep is taken. */
struct res_merged {
	size_t sweeps, points, points_new, runs, runs_new;
};
int res_merge(struct resdb *into, struct resdb *from, bool mixed, struct res_merged *m, struct err *e);

#endif
