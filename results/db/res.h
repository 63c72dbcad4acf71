/* res.h - the results database: runs, and what each operation of them cost.
 *
 * A run is stored with its whole resolved configuration, its seed and the build that made it, so that any number in
 * a report can be had again from its row. The workload (the op stream with its measured times) is stored once and
 * shared by all runs over it; op ids of such runs line up. One run is one transaction: it is there whole or not at
 * all. A run that is there already - same configuration, workload, build, options and the same result to the last
 * op - is not stored again: its number is given back.
 *
 * Simulated times are integer picoseconds, measured ones integer nanoseconds; the columns say which. */
#ifndef NPUSIM_RESULTS_DB_RES_H
#define NPUSIM_RESULTS_DB_RES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/op_figure.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/db_mode.h"
#include "sim/base/err.h"

#define RES_APP_ID 0x6e726573u /* "nres" */
#define RES_SCHEMA 10          /* user_version that this build writes */

struct resdb;

/* Opening for writing makes the file; a file made by this handle goes again when nothing was stored in it. */
struct resdb *res_open(const char *path, enum db_mode mode, struct err *e);
void res_free(struct resdb *r);
/* How a writer ends well: as res_free, and `rc`, but -1 where it was 0 and what is stored is not in the file itself yet.
 * NULL is fine. */
int res_close(struct resdb *r, int rc, struct err *e);

/* One op of a workload: what it is and what it took where it was measured. */
struct res_work_op {
	const char *name, *kind, *family, *rule;
	int32_t layer;
	uint32_t n_launches;
	int64_t launch; /* trace.db id of the first; -1: none */
	uint64_t measured_ns, read_bytes, write_bytes, flops;
};

struct res_workload {
	const char *source, *digest; /* where it came from, and the digest of that */
	const char *range;           /* NULL: all of it */
	uint64_t rules_hash;
	uint64_t kernel_ns, measured_ns, opaque_ns;
	int64_t wall_ns; /* -1: unknown */
	size_t n_ops;
	const struct res_work_op *ops;
};

struct res_stall {
	const char *resource;
	uint32_t ppm;
};

/* What the run made of op i of the workload. */
struct res_op {
	bool carried;      /* opaque: its times and bytes are 0 */
	unsigned known;    /* OP_KNOWN_*: what was stored by schema 5 has no OP_KNOWN_USE */
	OP_FIGURE_MEMBERS; /* those that a file keeps are read back */
	const char *bound; /* NULL when carried */
	uint32_t n_stalls;
	const struct res_stall *stalls; /* nonzero ones */
};

struct res_resource {
	const char *name;
	ps_t stall_ps, peak_ps;
};
struct res_stat {
	const char *name, *unit;
	uint64_t value;
	bool level;
};

/* One change of the run's machine (sim/study/limits.h); `per_ppm` in res_limits scales gains of rows with a step. */
struct res_limit {
	const char *key, *now, *then, *move;
	double step;          /* 0: taken as it is */
	ps_t total_ps;        /* of the run that judged it */
	ps_t base_ps;         /* what that is held against; 0: the run's */
	const char *fidelity; /* of both; NULL: the run's */
	bool within;          /* error: no more than the two fidelities differ by, and so nothing that one could tell */
	const char *refused;  /* why the machine cannot be built so; NULL: it was run */
};
struct res_limits {
	uint32_t per_ppm;
	size_t n;
	const struct res_limit *rows; /* as they were judged: by move, the greatest sure gain first */
};

/* What the machine, or the run, cannot do (sim/engine/diag.h): a line for people. */
struct res_warning {
	const char *what, *text;
};

/* A part of the run's energy; all of them sum to it. */
struct res_energy {
	const char *block, *name;
	uint64_t fj;
};

/* What a run was found to gain from a change of its machine (sim/study/marginal.h). */
struct res_next {
	const char *kind;             /* "amount", "choice" */
	const char *key, *now, *then; /* NULL: nothing that was tried pays */
	double saves, low, high;      /* of the time; how sure */
	double mm2, watts;            /* more; what is not known of all these is NaN */
	const char *beyond;           /* why nobody builds it; NULL */
};

struct res_run {
	int64_t id; /* res_get and res_list */
	const char *config_name, *config_path, *config_text, *build, *start, *fidelity;
	uint64_t config_hash, seed;
	uint32_t reuse_ppm;
	uint64_t host_ns; /* what simulating it took; no part of the result */
	FIGURE_MEMBERS;   /* those that a file keeps are read back */
	const char *roofline_bound;
	size_t n_ops, n_resources, n_stats;
	const struct res_op *ops; /* as many as the workload has */
	const struct res_resource *resources;
	const struct res_stat *stats;
	const struct res_warning *warnings;
	size_t n_warnings;
	const struct res_energy *energy;
	size_t n_energy; /* 0: its power was not modelled */
	const struct res_next *next;
	size_t n_next;            /* 0: nobody asked */
	const char *asked;        /* of the workload: a line an option, "model=llama-3.2-1b"; NULL: not known */
	const char *given;        /* of the machine, as YAML: what does not follow from the rest; NULL: not known */
	struct res_limits limits; /* res_get; n 0: 'npusim limits' stored none */
};

/* Stores a run; *again: it was there already. `id` is its number in this file. */
int res_put_run(struct resdb *r, const struct res_workload *w, const struct res_run *run, int64_t *id, bool *again,
                struct err *e);

/* What limits found about a stored run, instead of what it found before. */
int res_put_limits(struct resdb *r, int64_t run, const struct res_limits *l, struct err *e);

/* A stored run with its workload; all of it lives in `a`. An unknown number says which there are. */
struct res_stored {
	struct res_run run;
	struct res_workload workload;
	int64_t workload_id;
};
int res_get(struct resdb *r, int64_t id, struct arena *a, struct res_stored *out, struct err *e);
/* All runs in order of their numbers, without ops, resources and statistics. */
int res_list(struct resdb *r, struct arena *a, struct res_stored **out, size_t *n, struct err *e);

#endif
