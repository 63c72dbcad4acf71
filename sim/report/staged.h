/* staged.h - a request on a machine: its stages one after the other, and the whole answer as their sum.
 *
 * Each block of a stage (sim/workload/request.h) is a run as `npusim run` makes it, warm-up included, and counts as often as it
 * has steps; blocks are cut finer until that changes the stage's time by less than one part of REQUEST_NEAR. A sum is over whole
 * runs, in base units: times, bytes and joules of the stages are those of the whole to the last unit, and so are the ops'. Femtojoules of more than 9,223 J
 * are beyond what is counted in them: such an energy is told, and not stored.
 *
 * First token: the end of the first prompt, which makes it; a prompt of several stages ends with the last of them. An answer's
 * tokens are those of its decodes and the one of each prompt, of all sequences.
 * Interval: errors of the stages are taken to go together, so the whole's bounds are the sums of theirs.
 *
 * Leaves out: what a stage finds on chip of the one before (each runs as --start says), and a change of clock between stages. */
#ifndef NPUSIM_SIM_REPORT_STAGED_H
#define NPUSIM_SIM_REPORT_STAGED_H

#include "sim/report/eval.h"
#include "sim/workload/request.h"

struct staged_energy {
	const struct energy_row *row;
	uint64_t fj;
	double uj;
};
/* What is said of runs one after another. */
struct staged_sum {
	struct figures figures;
	struct figure_measured measured; /* of traces; 0 and -1 where anything of it was not measured */
	bool unmeasured;
	ps_t stall_ps[RES_COUNT], floor_ps[RES_COUNT], peak_ps[RES_COUNT];
	struct staged_energy *energy; /* NULL: no power is modelled */
	size_t n_energy;
	double uj;              /* all of it */
	bool beyond;            /* that is more than a figure counts: energy_fj and the parts' fj are 0 */
	uint64_t runs, steps;   /* simulated; that they stand for */
	bool interval;          /* how wide the time's interval is is known: */
	double low_ps, high_ps; /* its bounds */
	enum interval_from from;
};

/* A step that was run. */
struct staged_point {
	uint64_t step, steps; /* which; how many it stands for */
	struct workload w;
	struct eval x;
	struct staged_point *next;
};

struct staged_stage {
	const struct request_stage *of;
	struct staged_point *points; /* in order of their steps */
	struct baseline *baseline;
	struct staged_sum sum;
	uint64_t tokens;   /* new ones of the answer, of all sequences; 0: none, or of a part of a model */
	ps_t until_ps;     /* from the request's start to the stage's end */
	double finer;      /* by how much the last cut changed the time, a fraction; 0: nothing was cut */
	const char *what;  /* request_text */
	const char *range; /* as the first of its runs is called */
};

struct staged {
	struct request request;
	struct staged_stage stage[REQUEST_STAGES];
	struct staged_sum all;
	uint64_t tokens, decoded; /* of the answer; of them those of decodes */
	ps_t first_ps, decode_ps; /* to the first token, 0: no prompt is read; of all decodes */
	bool part;                /* of a model: it makes no tokens */
	int64_t stored;
	bool stored_again;
};

typedef int staged_read(const struct workload_spec *s, const struct machine_cfg *m, struct workload *w, struct err *e);
struct staged_job {
	struct machine_base *machines;
	const struct machine_conf *conf; /* of them, as they are */
	const char *config;              /* as people call it */
	struct run_opts how;
	staged_read *read;
	bool allow_opaque;
};

/* x->request is read. All lives in `a`, and what was read until staged_free, also after a failure. */
int staged_run(const struct staged_job *j, struct arena *a, struct staged *x, struct err *e);
void staged_free(struct staged *x);

/* As one run, whose ops are those of the runs, each as often as it counts; of one run it is that run. */
int staged_store(struct staged *x, struct resdb *db, uint64_t host_ns, struct arena *a, struct err *e);

struct staged_view {
	const struct staged_job *job;
	bool whole;               /* all tables */
	const char *results_path; /* NULL: not stored */
};
void staged_doc(struct doc *d, const struct staged *x, const struct staged_view *v);

#endif
