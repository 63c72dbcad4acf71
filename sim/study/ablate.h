/* ablate.h - a machine and named changes to it: each alone, all together, all but one, on one workload or several.
 *
 *   ablation: 1
 *   base: CONFIG.yaml                    the machine that the changes are made to
 *   set: {KEY: VALUE, ...}               over it, for all runs; may be left out
 *   exchange: {KEY: VALUE, ...}          what area is taken from where a change needs more (ablate_court.h); may be left out
 *   workloads: a list of
 *     {name: NAME, trace: FILE, range: NAME}           a trace, or any profile
 *     {name: NAME, model: MODEL, phase: decode, ...}   a model by its description; keys are the options of `npusim run`
 *     {..., only: true}                  only for the changes that name it under `pays`, or its suite under `suites`
 *     {..., suite: NAME}                 one of those that a claim is judged by together (ablate_court.h)
 *     {..., alone: true}                 no runs of all but each
 *     {..., weight: W}                   so many of the steps of a mix of those that have one
 *   changes: a list of
 *     name: NAME                         what tables call it
 *     says: TEXT                         what is claimed, in the words of who claims it; may be left out
 *     set: {KEY: VALUE, ...}             the change; or
 *     not_modelled: TEXT                 why there is none: such a change is listed and never judged
 *     mechanism: TEXT                    how it works, in a sentence
 *     expects: faster | no slower | less energy
 *                                        what is claimed: that the time falls (the default), that the part is not missed, or
 *                                        that a run takes fewer joules, whatever its time
 *     apart: true                        a way to run the machine and no part of it: judged alone, in no run of all
 *     pays: NAME                         a workload in which the mechanism shows; may be left out
 *     suites: [NAME, ...]                what it is claimed of; all that are not `only` where it is left out
 *     over: NAME                         made to the machine that has that change, and measured from it
 *     versus: NAME                       measured from the machine that has that change in its place: it claims to be the better one
 *     of: NAME                           a part of that change, which has `parts: true` in place of a `set`: all of those together
 *
 * What a change is worth alone and what it is worth to a machine with all the others differ where two changes serve the same thing
 * (both alone win what either wins), or one pays only with the other: so both stand in the answer.
 * Every run is one of its own, steady unless `start: cold`.
 *
 * The closed form is off events by some amount, and two runs may be off in opposite ways: a difference that it has under twice
 * that spread says nothing (the spread of this workload's own base, and ABLATE_SPREAD at the least). So unless one fidelity is
 * asked for, all runs are in closed form, and those whose difference decides a verdict and is that small, or changes a key that
 * the closed form leaves out, are made again with events, and events count. Where the two then differ by as much as the
 * effect is large, in sign above all, it is `within error` and never a verdict.
 * Leaves out: pairs and larger parts of the list (npusim limits has pairs); values between (npusim sweep). */
#ifndef NPUSIM_SIM_STUDY_ABLATE_H
#define NPUSIM_SIM_STUDY_ABLATE_H

#include "arch/machine/machine_conf.h"
#include "sim/engine/run_result.h"
#include "sim/workload/workload.h"

#define ABLATE_CHANGES   200
#define ABLATE_WORKLOADS 32
#define ABLATE_SUITES    8
#define ABLATE_JOBS      512

struct ablate_workload {
	const char *name;
	struct workload_spec spec;
	int suite;        /* -1: none */
	bool only, alone; /* alone: no runs of all but each */
	double weight;    /* 0: it is no part of the mix */
};

enum ablate_expects { ABLATE_FASTER, ABLATE_NO_SLOWER, ABLATE_LESS_ENERGY };

struct ablate_change {
	const char *name, *says, *mechanism, *not_modelled;
	const char *const *sets; /* KEY=VALUE */
	size_t n_sets;
	enum ablate_expects expects;
	bool apart, parts;
	int pays;        /* the workload; -1: none is named */
	int ref;         /* the change that it is measured from; -1: the base */
	bool over;       /* made to that one's machine */
	const char *of;  /* the change it is a part of; NULL: none */
	uint32_t suites; /* by bit */
};

struct ablation {
	struct arena *a;
	const char *path, *base;
	const char *const *sets, *const *exchange;
	size_t n_sets, n_exchange;
	struct machine_base *machines; /* the base with them: what the changes are made to */
	enum run_start start;
	struct ablate_workload *workloads;
	size_t n_workloads;
	const char *suites[ABLATE_SUITES];
	size_t n_suites;
	struct ablate_change *changes;
	size_t n_changes, n_run; /* of them those that are changes */
};

/* All that can be wrong without a run is said here: unknown keys, a change that changes nothing, a machine that cannot be. */
struct ablation *ablate_load(const char *path, struct err *e);
void ablate_free(struct ablation *x);
/* Only the workloads that are named, in the file's order; none: all. Changes keep those they name. */
int ablate_choose(struct ablation *x, const char *const *names, int n_names, struct err *e);

/* What its machine is made of: of one that is `over` another, that one's first. NULL: out of memory. */
const char *const *ablate_change_sets(const struct ablation *x, const struct ablate_change *c, struct arena *a,
                                      size_t *n);

#define ABLATE_NOTICED 0.005 /* of a time, or energy: less than that nobody would notice */
#define ABLATE_SPARED  0.01  /* of it: a part that costs no more than this to be without is not missed */
#define ABLATE_SPREAD  0.02  /* of a run's time: what p_analytic holds traced steps to, closed form from events */

/* One run. */
struct ablate_run {
	bool run;             /* asked for */
	enum run_fidelity by; /* whose figures these are */
	ps_t total_ps, stall_ps[RES_COUNT];
	uint64_t dram_bytes, energy_fj, area_nm2;
	const char *refused;           /* why the machine cannot be, or cannot do the work; NULL: it was run */
	const struct ablate_run *form; /* the same in closed form, where events were run after it; NULL */
};
struct ablate_result {
	struct ablate_run base, all;        /* all: not run where the workload is for some changes alone */
	struct ablate_run exchange;         /* the base with x->exchange */
	struct ablate_run *alone, *without; /* by change */
};
struct ablate_how {
	bool both;                  /* in closed form, and with events where that says too little */
	enum run_fidelity fidelity; /* else */
	uint64_t seed;
	unsigned jobs;                                       /* workers; 0: one */
	void (*progress)(void *arg, size_t done, size_t of); /* `of` grows when it is known what is run with events */
	void *arg;
};
int ablate_run(const struct ablation *x, size_t workload, const struct op_stream *s, const struct ablate_how *how,
               struct arena *a, struct ablate_result *out, struct err *e);
/* Runs that a workload takes, but those with events after the closed form. */
size_t ablate_runs(const struct ablation *x, size_t workload);

/* What a change is worth: positive saves, as a fraction of the time of what it is measured from; of `without` what it costs the
 * whole to miss it. */
struct ablate_worth {
	bool known; /* both were run */
	enum run_fidelity by;
	double value;
	bool both; /* `form` is the same in closed form */
	double form;
};
struct ablate_worth ablate_alone(const struct ablation *x, const struct ablate_result *r, size_t change);
struct ablate_worth ablate_missed(const struct ablate_result *r, size_t change);
/* The same in joules. */
struct ablate_worth ablate_joules(const struct ablation *x, const struct ablate_result *r, size_t change);
/* What the exchange saves, which is mostly less than nothing. */
struct ablate_worth ablate_exchange(const struct ablate_result *r);
/* By how much such a figure may be off: what events and closed form differ by, of the effect where both were run; `r`'s base. */
double ablate_half(const struct ablation *x, const struct ablate_result *r, size_t change,
                   const struct ablate_worth *w);
/* The machine that a change is measured from. */
const struct ablate_run *ablate_ref(const struct ablation *x, const struct ablate_result *r, size_t change);

/* The same of the mix of those workloads that have a weight, as a fraction of the mean time of its steps: unknown where one of them
 * was not run so, or there is none. `results` by workload. */
struct ablate_worth ablate_mix(const struct ablation *x, const struct ablate_result *results, size_t change,
                               bool missed);

enum ablate_verdict {
	ABLATE_NOT_MODELLED, /* never judged */
	ABLATE_NOT_RUN,      /* on this workload */
	ABLATE_REFUSED,      /* the machine cannot be built so, or cannot do the work */
	ABLATE_RIGHT,        /* as claimed */
	ABLATE_NOTHING,      /* claimed to be faster or to take less, and less than one would notice */
	ABLATE_WRONG,        /* slower, or more */
	ABLATE_TOGETHER,     /* alone it does nothing, and all together would miss it */
	ABLATE_WITHIN        /* the effect is no larger than what events and closed form differ by */
};
enum ablate_verdict ablate_verdict_of(const struct ablation *x, const struct ablate_result *r, size_t change);
const char *ablate_verdict_name(enum ablate_verdict v);
/* Does the verdict hang on a figure in closed form that says too little: that of the run alone, or of all the others? */
bool ablate_unsure_alone(const struct ablation *x, const struct ablate_result *r, size_t change);
bool ablate_unsure_missed(const struct ablation *x, const struct ablate_result *r, size_t change);
const char *ablate_expects_name(enum ablate_expects x); /* as a file has it */
/* A sentence: by how much, and what is waited for less or more. */
void ablate_why(const struct ablation *x, const struct ablate_result *r, size_t change, struct str *out);

#endif
