/* api.h - what the files of npusim.h share. Each thing counts who holds it and holds what it was made of, so that they may be
 * closed in any order. */
#ifndef NPUSIM_SIM_API_API_H
#define NPUSIM_SIM_API_API_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* locale_t */
#endif

#include <locale.h>

#include "arch/machine/machine_conf.h"
#include "sim/base/json.h"
#include "sim/npusim.h"
#include "sim/report/eval.h"

struct api_source {
	struct source source; /* first: who is called back has this */
	struct npusim_source data;
};

struct npusim {
	unsigned holders;
	union {
		struct source_root root;
		struct api_source memory;
	} data;
	const struct source *source;
	struct run_memo *memo;
	locale_t plain; /* "C", whatever the caller's: numbers are read and written with a point */
};

struct npusim_machine {
	unsigned holders;
	struct npusim *n;
	struct npusim_machine *of;     /* whose values it has but for some; NULL: of none */
	struct machine_base *machines; /* with all assignments in force */
	struct machine_conf *conf;
	const char *name;
};

#define API_RUNS (MACHINE_LAUNCHES + 1) /* kinds of machine */

/* A workload is read for a kind of machine, and a program for a machine, when it first runs there. */
struct npusim_work {
	unsigned holders;
	struct npusim *n;
	struct arena *arena; /* of the texts in `spec` */
	struct workload_spec spec;
	bool have[API_RUNS];
	struct workload w[API_RUNS];
	uint64_t program_of; /* the machine's hash */
	struct baseline *baseline;
};

struct npusim_result {
	struct npusim_machine *m;
	struct npusim_work *w;
	struct run_program *program;
	struct arena *arena;
	struct eval_job job;
	struct eval eval;
	bool judged, bought;             /* what is said of the run is known; what to buy next, too */
	struct str text;                 /* the document; empty: not made yet */
	const struct json *root, *plain; /* the same as a tree; without what to buy next */
};

/* Within a call this thread has the plain locale; `n` NULL: nothing changes. */
locale_t api_enter(const struct npusim *n);
void api_leave(locale_t was);
/* Sets `e` of a library's caller, and gives up the value -1. */
int api_fail(const struct err *from, struct npusim_error *e);
void api_clear(struct npusim_error *e);
void api_hold(struct npusim *n);
void api_machine_hold(struct npusim_machine *m);
void api_work_hold(struct npusim_work *w);
struct run_memo *api_memo(struct npusim *n, struct err *e);
/* KEY=VALUE of an evaluation, over what is in *how. */
int api_options(const char *const *v, size_t n, struct run_opts *how, struct err *e);
/* The stream for this machine. */
const struct workload *api_work_for(struct npusim_work *w, const struct machine_conf *conf, struct err *e);
/* Nothing is NULL that is said to be there. */
int api_texts(const char *const *v, size_t n, const char *what, struct err *e);

#endif
