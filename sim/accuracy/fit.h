/* fit.h - calibration: a GPU's few parameters from microbenchmarks and, where none measures one, from a fit.
 *
 * A plan (configs/calibrate/NAME.yaml) lists what a microbenchmark measured (a row of a CSV file) and what is fitted,
 * with bounds from physics: parameters of the configuration, and numbers of kernel templates that their code would
 * tell but nobody counted (cycles of serial instructions). The fit minimises the mean over samples of a robust loss of
 * log(simulated / measured): quadratic within 5 %, linear beyond, so that no single kernel pulls. Parameters that no
 * sample shares, directly or through others, are searched apart; whoever has few samples may bound what one counts. NLopt's Sbplx (Rowan's subplex) searches in the
 * logarithm of each, from the plan's start and not from the file's value. K folds, by the samples' own hash, are
 * fitted and scored in turn: their values are a parameter's interval, their errors the cross-validated error. Only
 * samples of the fitted split are looked at. Fitted values are rounded to four significant digits.
 * Deterministic for one build of the mathematical library; another may differ in the last digit. */
#ifndef NPUSIM_SIM_ACCURACY_FIT_H
#define NPUSIM_SIM_ACCURACY_FIT_H

#include "arch/machine/machine_conf.h"
#include "sim/accuracy/cases.h"
#include "sim/base/pool.h"

#define FIT_MAX 160

struct fit_param {
	const char *name; /* "gpu.launch", "rms_norm.cycles" */
	bool of_kernel;
	size_t row;                  /* of the configuration */
	struct kernel_number number; /* of a template; its value is the table's */
	uint64_t from, to, start;    /* raw, in stored units */
	const char *reason;          /* why it is fitted, and what bounds it, for the report */
	uint64_t given;              /* value before the fit */
	size_t samples;              /* out: of the fitted split that depend on it */
	uint64_t value;              /* out: of all folds together */
	uint64_t low, high;          /* out: least and largest over folds */
	double sensitivity; /* out: points of mean error of those samples when it is 10 % off, the larger side */
};

struct fit_measured {
	size_t row;
	const char *csv, *name; /* file, and the row's name and parameters */
	uint64_t value, given;
};

struct fit_plan {
	const char *path;
	struct arena *arena;
	struct fit_measured *measured;
	size_t n_measured;
	struct fit_param *fit;
	size_t n_fit;
};

struct fit_report {
	size_t samples;  /* of the fitted split */
	size_t searches; /* groups of parameters that share no sample */
	unsigned evaluations;
	double mape, cv_mape; /* on the samples fitted; mean over them, each scored by the other folds' values */
};

/* Reads the plan and the measurements it names, and sets those in the configuration. `path` must outlive it. */
struct fit_plan *fit_plan_load(const char *path, struct machine_conf *conf, const struct kernels *k, struct err *e);
void fit_plan_free(struct fit_plan *p);
/* Leaves what was fitted of the configuration in it, with a source. */
void fit_plan_keep(const struct fit_plan *p, struct cfg *c, const char *source);
/* An error where a value is not the one that was given. */
int fit_plan_changed(const struct fit_plan *p, struct err *e);

/* What it is fitted to. */
struct fit_data {
	struct cases *sets; /* launches of theirs get the fitted values */
	size_t n_sets;
	unsigned folds; /* of the cross-validation; 0: none */
	bool all;       /* samples of the held-out split too: they are all that is given */
	bool by_set;    /* a fold is a set, `folds` of them: what they tell of each other */
	unsigned most;  /* evaluations of a search, times its parameters; 0: 600 */
	double most_off; /* an error counts as so much (of a logarithm) and hardly more: few odd samples do not decide; 0: all of it */
	bool all_move; /* a parameter that moves no sample is refused */
	bool rugged; /* times jump where what is mapped changes: the search begins where a scan of each parameter is best */
	/* Sets the simulated time of a sample, of an engine that knows no launches; NULL: a GPU's model. */
	void (*time)(void *engine, size_t set, size_t sample);
	void *engine;
	/* Where most of a time's price is to find out how to go about a sample: ways that are found under a number are taken again
	 * under it, whatever the parameters; 0: those of the parameters. Searches then go by ways that were found at a few places
	 * for all folds, find them anew where they end, and go on while that is better. NULL: ways are found at each step. */
	void (*hold)(void *engine, uint64_t number);
	/* Is told before samples are timed that parameters have changed: what follows from them follows anew. NULL: nothing does. */
	void (*settle)(void *engine);
	unsigned
		jobs; /* workers for folds, made by `backend`; 0: they are fitted here, one after the other, to the same values */
	const struct pool_backend *backend;
	void (*progress)(void *arg, double part); /* is told how far it is, of 1; may be NULL */
	void *arg;
};

/* Leaves the fitted values in the configuration and the launches. */
int fit_run(struct fit_plan *p, struct machine_conf *conf, const struct fit_data *data, struct fit_report *out,
            struct err *e);

uint64_t fit_round(uint64_t v); /* to four significant digits */

#endif
