/* limits.h - what each part of one design is worth on one workload: what more of it buys, and what less of it costs.
 *
 * The workload is run again with one thing changed at a time, and the change is stated as a share of the base's time.
 *   more, less   every amount that has a better direction, times and by 1 + step (100 %: doubled and halved; of a latency
 *                the other way round), by the smallest change its rule allows that is at least as much
 *   switch       a choice taken otherwise: on and off, another dataflow, another format of weights or KV cache
 *   add, remove  a part that is not there, of a size that fits the workload or its neighbours; a part that is, taken out
 *   pair         two of what could buy something, together: those where, with either of them alone, the time is waited for
 *                what the other serves. Kept are pairs that save clearly more than both do alone
 * All amounts whose `less` costs nothing are then made less together: what nobody misses alone may be missed together.
 * Unless one fidelity is asked for, all are run in closed form, and with events those single changes that are too near the base
 * for it (as in ablate.h: under twice what it is off events on the base, LIMITS_SPREAD at the least), those of keys that it
 * leaves out, and the best answers. Events then count; a difference no larger than what the two differ by is within error: it
 * is nothing to buy, and nothing to do without.
 * Rows do not depend on the number of workers, which are processes: each run is in one of them.
 * Leaves out: three at a time, cost in area and energy, what a narrower format does to a model's answers. */
#ifndef NPUSIM_SIM_STUDY_LIMITS_H
#define NPUSIM_SIM_STUDY_LIMITS_H

#include "arch/machine/machine_conf.h"
#include "sim/base/arena.h"
#include "sim/engine/run.h"
#include "sim/serve/traffic.h"

#define LIMITS_JOBS  512 /* workers */
#define LIMITS_PAIRS 100 /* tried, unless asked otherwise */

#define LIMITS_SPREAD 0.02 /* of a run's time: what p_analytic holds traced steps to, closed form from events */

enum limits_move { LIMITS_MORE, LIMITS_LESS, LIMITS_SWITCH, LIMITS_ADD, LIMITS_REMOVE, LIMITS_PAIR, LIMITS_MOVES };

struct limits_row {
	enum limits_move move;
	const char *key;        /* of a pair "a + b", and so its values */
	const char *now, *then; /* as a user writes them */
	double step; /* how much more or less: 0.25 is a quarter; 0: gains are of the row as it is, not scaled */
	const char *const *sets; /* KEY=VALUE that make it */
	size_t n_sets;
	ps_t total_ps;
	ps_t stall_ps[RES_COUNT]; /* what that was waited for */
	const char *beyond;       /* why nobody builds it, in words; NULL: one could, or not what there is either */
	const char *refused;      /* why the machine cannot be built so, or cannot do the work; NULL: it was run */
	ps_t alone_ps[2];         /* of a pair's two; the base's where one is refused alone */
	ps_t event_ps;            /* with events; 0: not asked */
	uint32_t serves;          /* resources, a bit each, that it may relieve */
};

struct limits_result {
	ps_t base_ps, event_ps; /* event_ps: with events, 0: not asked */
	enum res bound;         /* of the roofline */
	ps_t stall_ps[RES_COUNT];
	struct limits_row
		*rows; /* by move, within one the greatest gain first; of pairs the greatest beyond their two */
	size_t n;
	size_t runs, event_runs, pairs_tried;
	const char **free; /* parameters whose `less` costs nothing, each alone, in the order of the machine's */
	size_t n_free;
	struct limits_row all_free; /* all of them together, where there are any */
};

struct limits_part {
	const struct op_stream *stream; /* the first is what `add` sizes parts for */
	double weight;                  /* all of them: 1 */
};
/* One design, one workload, and how far each parameter is moved. */
struct limits_question {
	const char *config;
	const char *const *sets; /* KEY=VALUE, over the configuration */
	int n_sets;
	const struct op_stream *stream;
	const struct limits_part
		*parts; /* in its place: a mix, whose time is the mean over its steps; n_parts 0: none */
	size_t n_parts;
	const struct serve_ask
		*serve;     /* in its place: requests, whose mean time from arrival to last token it is; NULL: none */
	traffic_fn *served; /* traffic_point, with `serve`: a build that serves nothing has none */
	struct run_opts run;
	uint32_t step_ppm;
	unsigned jobs;                      /* workers; 0: one */
	const struct pool_backend *backend; /* who makes them; NULL: all is run here */
	size_t pairs;                       /* tried at most */
	bool events;                        /* with events, too, what the closed form says too little of */
	void (*progress)(void *arg, size_t done, size_t of); /* may be NULL; `of` grows when pairs are known */
	void *arg;
};

/* A machine that runs launches, not commands, is ERR_CONFIG. */
int limits_run_on(const struct limits_question *q, struct machine_base *machines, struct arena *a,
                  struct limits_result *out, struct err *e);
/* The same of the question's configuration. */
int limits_run(const struct limits_question *q, struct arena *a, struct limits_result *out, struct err *e);
const char *limits_move_name(enum limits_move m); /* "more" */
/* The first parameter of the machine of which more relieves what is waited for there, and nothing else. */
bool limits_own_key(const struct machine_conf *c, enum res r, char key[64]);
/* Whether its figures are with events, and whether they are within error. */
bool limits_by_events(const struct limits_result *r, const struct limits_row *row);
bool limits_within(const struct limits_result *r, const struct limits_row *row);
/* What a row saves, by events where they were run, as a fraction of the base's time; of `more` and `less` per `fraction_ppm` of the resource. */
double limits_gain(const struct limits_result *r, const struct limits_row *row, uint32_t fraction_ppm);
/* What a pair saves more than its two do alone. */
double limits_beyond(const struct limits_result *r, const struct limits_row *pair);
/* It was run, and lost less of the time than one would notice. */
bool limits_costs_nothing(const struct limits_result *r, const struct limits_row *row);
/* The first row of a kind, which is its best; NULL: none that was run saves anything beyond error. */
const struct limits_row *limits_best(const struct limits_result *r, enum limits_move m);

#endif
