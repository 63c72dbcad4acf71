/* sweep.h - many designs on one workload: from a YAML file to points, and from points to stored rows.
 *
 * The file:
 *   sweep: 1                        the format's version
 *   base: configs/npu/dsocr.yaml    the machine that the points change
 *   trace: FILE                     the workload: a trace database, or a profile that is imported on the way, or else
 *   workload: {name: MODEL, batch: 16, ...}    a model by its description; keys are the options of `npusim run`, those that
 *                                   make sense of a trace may stand here for one, too; each may be an axis: model.batch
 *   workloads: [{model: MODEL, weight: 0.7}, ...]    several with weights in place of both (sim/workload/mix.h): times, bytes
 *                                   and joules are means over the steps; mix.worst_ns the slowest part's, mix.NAME_ns each part's time
 *   serve: {rate: 4/s, prompt: 512, ...}     the model's workload is requests that arrive (sim/serve/serve_options.h has the words); a
 *                                   point's figures are then those of serving them: max_rate, ttft_p99_ms, tokens_per_s_user, ...
 *   range, rewrite, start, seed, expert_reuse, rules, fidelity   as the options of `npusim run`
 *   axes: {KEY: [v, ...] | v | {from: a, to: b, steps: n, scale: linear|log}}     any canonical key
 *   link: [[KEY, KEY], ...]         axes that move together: one step of all of them at a time
 *   where: EXPR | [EXPR, ...]       over configuration values: what does not hold is no point
 *   sample: grid | {kind: random|lhs, n: N, seed: S}    in samples a range without `steps` is continuous
 *         | {kind: guided, n: N, seed: S, generation: G}  a search for the front of the objectives (sweep_search.c) in N
 *                                   points, G (8 to 1024) at a time; a point drawn again, or excluded by `where`, does not count
 *   columns: {NAME: EXPR}           values to print, and names for what follows
 *   objectives: [EXPR | {name: N, minimize|maximize: EXPR}]     (an EXPR alone is minimised)
 *   constraints: EXPR | [EXPR, ...] over results too: the row says whether they hold
 * EXPR: sim/base/expr.h. Names: every canonical key (bytes, bytes/s, Hz, ps, fractions), latency_us and the other figures
 * (results/figure.h), every statistic, stall.RES and needs.RES in us, kind.KIND in us, columns above.
 *
 * Points of a grid are numbered with the last axis fastest. Every point's configuration is read and checked before the
 * first one runs; one that cannot be built (a cache that is no whole number of sets) keeps its number and is a failed
 * row with the reason. Values of a range are rounded so that machines can be built of them: bytes to 1/64 of the power
 * of two below, others in logarithmic steps to three digits, powers of two where the key wants one.
 *
 * Running: workers (sim/base/pool.h) are forked after the workload was lowered and share it; each gets one point at a time and sends
 * its row back; the calling process alone writes SQLite, as rows come in. So kill -9 at any moment loses at most the
 * points in flight, and no row depends on the number of workers or on order. A worker that dies (out of memory, killed)
 * is replaced, and its point tried once more; if that one dies as well the row says so, and the next run tries again.
 *
 * Leaves out: more than one base; axes of a mix's workloads. */
#ifndef NPUSIM_SIM_STUDY_SWEEP_H
#define NPUSIM_SIM_STUDY_SWEEP_H

#include "arch/machine/machine_conf.h"
#include "results/db/res_sweep.h"
#include "sim/base/arena.h"
#include "sim/base/expr.h"
#include "sim/base/str.h"
#include "sim/engine/run.h"
#include "sim/serve/serve_options.h"
#include "sim/workload/mix.h"

#define SWEEP_POINTS_MAX 100000 /* without --max */

enum sweep_sample { SWEEP_GRID, SWEEP_RANDOM, SWEEP_LHS, SWEEP_GUIDED };
enum sweep_goal { SWEEP_COLUMN, SWEEP_MINIMIZE, SWEEP_MAXIMIZE };

struct sweep_axis {
	const char *key;
	const struct cfg_field *field;
	const struct ynode *at; /* in the file */
	struct res_value *values;
	const char **sets; /* "l2.size=64 MiB" */
	size_t n, cap;
	bool continuous, log; /* continuous: values are added as they are drawn */
	uint64_t from, to;
	size_t dim; /* axes of one dimension move together */
};

struct sweep_column {
	const char *name;
	struct expr *x;
	enum sweep_goal goal;
};

struct sweep {
	struct arena *a;
	struct yaml *y;
	const char *path, *text;
	const char *base, *base_text; /* as written; what stands in it */
	const char *start, *fidelity;
	struct workload_spec workload; /* as the file says, where axes have changed nothing yet */
	struct mix mix;                /* in its place, where n is not 0 */
	struct serve_opts *serve;      /* traffic: what its model serves; NULL: it is run by itself */
	const char *serve_text;        /* as it was given: "rate=4/s,prompt=512" */
	uint64_t serve_hash;
	bool traffic; /* points are served requests */
	uint64_t seed;
	bool reuse_given;
	uint32_t reuse_ppm;
	struct sweep_axis *axes;
	size_t n_axes, n_dims;
	enum sweep_sample sample;
	uint64_t sample_n, sample_seed;
	size_t generation, generations; /* guided: points of one; how many there were */
	struct exprs *exprs;
	struct expr **where, **constraints;
	size_t n_where, n_constraints;
	struct sweep_column *columns; /* columns and objectives in the order of the file */
	size_t n_columns;
	uint32_t *index;                       /* n_points x n_axes: which value */
	double *places;                        /* guided: n_points x n_dims, 0 to 1 */
	struct sweep_maker *maker;             /* sweep_points.c */
	uint64_t *hashes;                      /* of the points' configurations; 0: refused */
	const char **refused;                  /* why a point cannot be built; NULL: it can */
	size_t n_points, n_refused, n_dropped; /* dropped: by where */
	struct cfg *model;                     /* keys model.*: what of the workload may be an axis */
	struct cfg *schema;                    /* all keys of machines there are, for names */
	struct machine_cfg schema_target;
	struct machine_base *machines; /* what the points' machines are made of */
	const char **stats;            /* names of statistics that some point has */
	size_t n_stats, cap_stats;
};

/* Reads the file; nothing is expanded yet, and only `where` of the expressions is known. */
struct sweep *sweep_load(const char *path, struct err *e);
/* A sweep as a results database keeps it: its text and its base's. */
struct sweep *sweep_parse(const char *text, const char *name, const char *base_text, struct err *e);
void sweep_free(struct sweep *s);

/* Instead of the file's sample: a search of `n` points. Before sweep_expand. */
void sweep_guide(struct sweep *s, uint64_t n);
/* Makes the points (of a guided sample: the first generation) and checks each; more than `max` is an error. Then reads the expressions over results. */
int sweep_expand(struct sweep *s, uint64_t max, void (*progress)(void *arg, size_t done, size_t of), void *arg,
                 struct err *e);
/* For points that are stored: their statistics' names, then the expressions over results. */
int sweep_know_stats(struct sweep *s, const struct res_point *p, size_t n, struct err *e);
int sweep_read_expressions(struct sweep *s, struct err *e);

/* What a stored value of a configuration is in expressions: Hz of kHz, a fraction of millionths. */
double sweep_number(enum cfg_type t, uint64_t raw);
/* The point's assignments, as many as there are axes. */
void sweep_sets(const struct sweep *s, size_t point, const char **sets);
struct machine_conf *sweep_conf(const struct sweep *s, const char *const *sets, struct err *e);

/* --- values of expressions --------------------------------------------------------------------------------- */

/* A point as expressions see it; conf may be NULL where no expression names a key that is not an axis. */
struct sweep_row {
	const struct sweep *s;
	const struct machine_conf *conf;
	const struct res_point *point; /* NULL: only the configuration is known */
	const struct res_value *values;
	const struct res_workload *workload; /* NULL where no expression names what was measured */
};
int sweep_value(const struct sweep_row *row, struct expr *x, struct expr_value *out, struct err *e);
/* Finds names for expr_new; `arg` is the sweep. sweep_find_config knows configuration keys alone. */
int sweep_find(void *arg, const char *name, struct err *e);
int sweep_find_config(void *arg, const char *name, struct err *e);
bool sweep_needs_conf(const struct sweep *s, const struct expr *x);

/* --- running ----------------------------------------------------------------------------------------------- */

/* Refuses axes that make no sense of the workload, `w`: the file's, or one that is given in its place. */
int sweep_workload_check(const struct sweep *s, const struct workload_spec *w, struct err *e);
bool sweep_workload_varies(const struct sweep *s); /* some axis is the workload's */

/* The stream of a point's workload, into `a`. */
typedef int sweep_build(void *arg, const struct workload_spec *w, struct arena *a, struct op_stream *out,
                        struct err *e);

/* "1/4": the first of four; NULL: all of them, one of one. */
int sweep_shard(const char *text, uint64_t *i, uint64_t *n, struct err *e);

/* One workload of a mix. */
struct sweep_part {
	const char *name;
	const struct op_stream *stream;
	double weight; /* all of them: 1 */
};
struct run_memo;

struct sweep_job {
	const struct op_stream *stream; /* where axes are the workload's, the one that they start from */
	const struct sweep_part *parts; /* in its place: a mix of so many */
	size_t n_parts;
	struct run_memo *const
		*memos; /* as many, where how.memo is of a mix: each keeps what it knows of one stream; NULL: none */
	struct workload_spec spec;     /* of it */
	const struct serve_ask *serve; /* in place of the stream: requests; NULL: none */
	sweep_build *build;            /* asked where axes are the workload's */
	void *build_arg;
	const struct res_workload *workload;
	struct run_opts how;
	uint32_t reuse_ppm; /* as the runs will have it */
	unsigned jobs;
	uint64_t shard, shards;                                  /* 1 .. shards; points are dealt out like cards */
	const bool *only;                                        /* of all points, those to run; NULL: all */
	bool retry, mixed;                                       /* retry: failed points run again */
	void (*before)(void *arg, const size_t *todo, size_t n); /* the points that are going to run; may be NULL */
	void (*progress)(void *arg, size_t done, size_t of);     /* after each write: points run, to run */
	void *arg;
	void (*row)(void *arg, const struct res_point *p); /* each row that is run, before it is stored; may be NULL */
	void *row_arg;
};
struct sweep_done {
	int64_t id;
	size_t mine, there, ran;
}; /* points of this shard; of them stored before; run now */
int sweep_run(const struct sweep *s, const struct sweep_job *job, struct resdb *db, struct sweep_done *done,
              struct err *e);
/* The same for a guided sample: generation after generation, adding points to `s`. All points are this shard's. */
int sweep_search(struct sweep *s, const struct sweep_job *job, struct resdb *db, struct sweep_done *done,
                 struct err *e);
/* What is seen of each run besides its row: of the job's stream, or of a part. May change the row's figures. */
typedef void sweep_look(void *arg, const struct machine_conf *c, const struct run_result *x, struct res_point *row);
/* The machine of these assignments here and now; everything in `a`. `look` may be NULL. */
int sweep_eval(const struct sweep *s, const struct sweep_job *job, const char *const *sets, sweep_look *look, void *arg,
               struct arena *a, struct res_point *out, struct err *e);
/* One row of the rows of a mix's parts, in `a`. */
int sweep_mix(const struct sweep_part *parts, const struct res_point *rows, size_t n, struct arena *a,
              struct res_point *out, struct err *e);
/* A part's time in a mix's row; NAN: it says none. */
double sweep_part_us(const char *part, const struct res_point *row, struct arena *a);
/* What workers of this job keep from point to point: job->memos, of which how.memo is the first. */
struct run_memo **sweep_memos(const struct sweep_job *job);
void sweep_memos_free(const struct sweep_job *job, struct run_memo **v);
/* A row as bytes, without its values, which the reader has. The reader's texts and lists live in `a`. */
void sweep_pack(const struct res_point *p, struct str *out);
int sweep_unpack(const char *bytes, size_t n, struct arena *a, struct res_point *out);
/* One point here and now, as a worker does it; everything in `a`. A failure is a failed row, not an error. */
void sweep_point(const struct sweep *s, const struct sweep_job *job, size_t point, struct arena *a,
                 struct res_point *out);

#endif
