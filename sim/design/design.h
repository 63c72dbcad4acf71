/* design.h - the machine that reaches a goal at the least price: a search over a space of designs, and why its answer is one.
 *
 *   goal       reach, within: comparisons that hold (tokens_per_s >= 1500); minimise or maximise: what is then best. Expressions
 *              are those of sweeps (sim/study/sweep.h)
 *   space      axes of a sweep's file, or those of configs/design for the machine's kind; machines that nobody can build
 *              (sim/engine/real.h) are not in it
 *   search     in closed form, a batch after the other: each draws on what all before it were worth, by a Gaussian process over
 *              the axes (design_model.h), and takes the designs that are likely to meet the goal at a lower price
 *   events     then the best are run with events, until no design that should be better is left; events then count
 *   proof      each design a step away from the best in one axis that would be better: it fails, and by how much
 *   steps      from the machine as it is to the best, a change at a time, each with what held the one before
 *
 * What a workload is run on is shared: it is lowered once, workers keep what they mapped. Answers depend neither on the
 * number of workers nor on time.
 * With `sure`, a bound has to hold at both ends of each design's interval.
 * Leaves out: several objectives at once (npusim sweep --guided), what a narrower format does to a model's answers. */
#ifndef NPUSIM_SIM_DESIGN_DESIGN_H
#define NPUSIM_SIM_DESIGN_DESIGN_H

#include "sim/base/pool.h"
#include "sim/engine/real.h"
#include "sim/study/sweep.h"

#define DESIGN_BOUNDS 16
#define DESIGN_AXES   24
#define DESIGN_FORMS  300 /* designs run in closed form, unless asked otherwise */
#define DESIGN_EVENTS 60  /* and with events */
#define DESIGN_JOBS   512
/* No search takes more, whatever is asked: designs run with events in all, and events that they serve: a minute of two cores at
 * some 400,000 a second, of which a run's measured pass is half. Counted, not timed, so that answers are the same everywhere. */
#define DESIGN_EVENTS_MOST 300
#define DESIGN_WORK        UINT64_C(24000000)

struct design_question {
	const char *config;
	const char *const *sets; /* KEY=VALUE over it, for all designs */
	int n_sets;
	const char *
		axes_file; /* a file with `axes:`; NULL: of `axes`, and without these the list for the machine's kind */
	const char *const *axes; /* KEY=VALUE,VALUE...; over a file's */
	size_t n_axes;
	const char *const *bounds; /* comparisons */
	size_t n_bounds;
	const char *objective; /* NULL: the die's area */
	bool maximise;
	bool unreal; /* machines that nobody can build are in the space, too */
	struct sweep_job
		job; /* the workload or the mix, and how it is run; fidelity RUN_EVENT: both, RUN_ANALYTIC: no events */
	size_t forms, events; /* the most to run; of events also what lies beside the best, which comes in addition */
	const struct pool_backend *backend; /* who makes job.jobs workers; NULL: all is run here */
	uint64_t seed;
	/* How sure a run's time is: may set spread_ppm and spread_down_ppm of its row. With `sure`, the share that lies inside: bounds
	 * hold at both ends. */
	sweep_look *look;
	void *look_arg;
	double sure; /* 0: not asked */
	void (*progress)(void *arg, size_t done, size_t of);
	void *arg;
};

/* A bound, and what a design has of it. */
struct design_figure {
	const char *text; /* "tokens_per_s >= 1500" */
	const char *left; /* "tokens_per_s" */
	double value;     /* of the left side; NAN: it has none */
	double margin;    /* of a bound: how far it is met, as a share of what is asked; below 0 it fails */
};

/* One machine. */
struct design_one {
	const char *const *sets; /* KEY=VALUE, one an axis */
	bool by_events, failed;
	const char *why; /* failed: it cannot be built, or cannot do the work */
	bool meets;      /* all bounds */
	double objective;
	struct design_figure bound[DESIGN_BOUNDS];
	struct figures figures;
	enum res held; /* what most of its time is waited for, and the share */
	double held_share;
	double low, high;                     /* of its time, where `look` says so; else 1 */
	const double *part_us;                /* of a mix: each part's time; NULL: no mix, or it failed */
	struct real_beyond beyond[REAL_MOST]; /* what nobody could build or feed of it */
	size_t n_beyond;
};

struct design_step {
	const char *key, *from, *to;
	struct design_one after;
};
/* A design beside the best that would be better. */
struct design_beside {
	const char *key, *from, *to;
	struct design_one one;
	const char *fails; /* the bound that it fails by most, or why it cannot be */
};

struct design_result {
	struct sweep *s;        /* the space; holds its texts */
	struct design_one base; /* the machine as it is */
	struct design_one best; /* reached: meets all bounds; else the nearest to that */
	bool reached, changed;  /* changed: it is not the base */
	struct design_one second;
	bool has_second; /* it meets them, too, at a higher price */
	struct design_step *steps;
	size_t n_steps;
	struct design_beside *beside;
	size_t n_beside;
	const struct design_one **tried; /* all that were run and are no failures */
	size_t n_tried;
	const char **
		ends; /* axes at whose end the best lies, where the bounds or the price might ask for more: "l2.size 0 B" */
	size_t n_ends;
	double space;           /* designs there are */
	size_t forms, events;   /* run by the search, no more than asked */
	uint64_t work;          /* events that they served */
	size_t spared;          /* designs that no run was left for: neighbours of the best may be among them */
	size_t explained;       /* and for the way to its answer */
	size_t unreal, refused; /* of those looked at: nobody can build them; not machines at all */
	const char *unreal_why; /* of one of them */
};

/* What is asked for, as people say it; NULL: not said. */
struct design_goals {
	const char *const *reach, *const *within;
	int n_reach, n_within;
	const char *minimise, *maximise;
};
/* All bounds, into `bounds`, of room for DESIGN_BOUNDS, and what is then best: the die, or the rate where nothing is to be reached. */
int design_goals(const struct design_goals *g, const char **bounds, struct design_question *q, struct err *e);

/* The sweep file's text of the question's axes, over this machine: for people to see and keep. In `a`. */
const char *design_axes(const struct design_question *q, struct arena *a, struct err *e);
/* What of the kind's list the machine's file does not say, with what stands in its place: "l2.size 48 MiB"; parts that are not
 * there are left out. In `a`. */
int design_unsaid(const struct machine_conf *c, struct arena *a, const char ***out, size_t *n, struct err *e);
/* Twice as much of what the kind's list has, what moves together at once; what a machine has none of is left out. In `a`. */
struct design_double {
	const char *key, *now, *then; /* as a user writes them; of the first */
	const char **sets;
	size_t n_sets;
};
int design_doubles(const struct machine_conf *c, struct arena *a, struct design_double **out, size_t *n, struct err *e);
/* The space: who asks for it frees it with sweep_free. */
struct sweep *design_space(const struct design_question *q, struct arena *a, struct err *e);
/* All lives in `a`, but out->s, which design_free frees. */
int design_run(const struct design_question *q, struct arena *a, struct design_result *out, struct err *e);
void design_free(struct design_result *r);

#endif
