/* npusim.h - libnpusim: what a workload takes on an NPU or a GPU.
 *
 *   npusim *n = npusim_open(NULL, &e);
 *   npusim_machine *m = npusim_machine_named(n, "dsocr", NULL, 0, &e);
 *   const char *what[] = { "model=llama-3.2-1b", "batch=4" };
 *   npusim_work *w = npusim_work_new(n, what, 2, &e);
 *   npusim_result *r = npusim_eval(m, w, NULL, 0, &e);
 *   double us;
 *
 *   npusim_get(r, "total_us", &us, &e);
 *
 * Names and values are those of the command line: KEY=VALUE as in `npusim run --KEY VALUE`, of a machine as in `--set KEY=VALUE`.
 * Figures are those of `npusim run --format json`.
 *
 * What is opened is closed by whoever opened it, in any order: what something was made of stays until the last that needs it is
 * closed; NULL is closed as well. A function that fails returns NULL, -1 or 0 as it says and fills `e`, which may be NULL; nothing
 * is printed, no process is started or ended, no signal or environment is touched, and the caller's locale does not matter.
 * An npusim and all that was made of it are used by one thread at a time; two of them by two threads without a lock.
 *
 * Structs begin with their size, so that they may grow: begin with the _INIT of each. */
#ifndef NPUSIM_H
#define NPUSIM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NPUSIM_API __attribute__((visibility("default")))
#else
#define NPUSIM_API
#endif

typedef struct npusim npusim;                 /* data files, and what was found out so far */
typedef struct npusim_machine npusim_machine; /* a configuration, checked */
typedef struct npusim_work npusim_work;       /* a workload */
typedef struct npusim_result npusim_result;   /* an answer */

/* --- errors ------------------------------------------------------------------------------------------------------------ */

enum npusim_code {
	NPUSIM_OK = 0,
	NPUSIM_USAGE = 2,  /* an argument, a key or its value */
	NPUSIM_CONFIG = 3, /* what stands in a machine's or another data file */
	NPUSIM_INPUT = 4,  /* a file cannot be read, or is not what it should be */
	NPUSIM_STUCK = 5,  /* the machine can make no progress */
	NPUSIM_NOMEM = 6
};

struct npusim_error {
	size_t size;
	int code;         /* enum npusim_code */
	int line, column; /* in `file`, from 1; 0: not known */
	char file[256];   /* what was read; "": the fault is in no file */
	char message[1024];
};
#define NPUSIM_ERROR_INIT \
	{ \
		sizeof(struct npusim_error), NPUSIM_OK, 0, 0, "", "" \
	}

/* --- data -------------------------------------------------------------------------------------------------------------- */

/* Where machines, kinds of DRAM, tables and models come from. Names are those of the files that come with npusim, from their top:
 * "configs/npu/dsocr.yaml", "workloads/models/llama-3.2-1b.yaml". */
struct npusim_source {
	size_t size;
	const char *root; /* a folder with all of them; NULL: the functions below have them */
	/* A file's bytes, which stay as they are until npusim_close; NULL: there is none of that name. */
	const char *(*read)(void *arg, const char *name, size_t *bytes);
	/* The i-th of all names, from 0; NULL behind the last. */
	const char *(*name)(void *arg, size_t i);
	void *arg;
};
#define NPUSIM_SOURCE_INIT \
	{ \
		sizeof(struct npusim_source), NULL, NULL, NULL, NULL \
	}

/* `from` NULL: what was installed with the library. It is copied, its `arg` is not. */
NPUSIM_API npusim *npusim_open(const struct npusim_source *from, struct npusim_error *e);
NPUSIM_API void npusim_close(npusim *n);
NPUSIM_API const char *npusim_release(void); /* "0.1.0" */

/* --- machines ---------------------------------------------------------------------------------------------------------- */

/* Of a configuration's text, YAML as `npusim config explain` lists it. */
NPUSIM_API npusim_machine *npusim_machine_new(npusim *n, const char *yaml, size_t bytes, const char *const *sets,
                                              size_t n_sets, struct npusim_error *e);
/* Of one that comes with npusim ("dsocr", "h200"), of a data file, or of a file where the data are files. */
NPUSIM_API npusim_machine *npusim_machine_named(npusim *n, const char *name, const char *const *sets, size_t n_sets,
                                                struct npusim_error *e);
/* The same with some values otherwise: costs what they touch. */
NPUSIM_API npusim_machine *npusim_machine_with(npusim_machine *m, const char *const *sets, size_t n_sets,
                                               struct npusim_error *e);
NPUSIM_API void npusim_machine_free(npusim_machine *m);

/* A parameter, as `npusim config explain` has it; of one that follows from others the value that it comes to. */
struct npusim_parameter {
	size_t size;
	const char *key, *value; /* "l2.size", "192 MiB" */
	const char *range, *help;
	const char *source; /* where the value is from */
	int given;          /* by the configuration or an assignment, and no default */
};
typedef void npusim_parameter_fn(void *arg, const struct npusim_parameter *x);
/* Calls `each` for the one of that key, NULL: for all; texts stay until it returns. -1: there is none of that key, and the nearest is
 * named. */
NPUSIM_API int npusim_parameters(npusim_machine *m, const char *key, npusim_parameter_fn *each, void *arg,
                                 struct npusim_error *e);

/* --- workloads --------------------------------------------------------------------------------------------------------- */

/* One of "model=NAME", "trace=FILE", "program-in=FILE", and what is asked of it: "batch=4", "context=2048", "phase=prefill",
 * "quant=fp8", "rewrite=kv-append" ...: every option of `npusim run` that is of a workload. A trace is a file of the system. */
NPUSIM_API npusim_work *npusim_work_new(npusim *n, const char *const *spec, size_t n_spec, struct npusim_error *e);
NPUSIM_API void npusim_work_free(npusim_work *w);

/* --- answers ----------------------------------------------------------------------------------------------------------- */

/* The workload on the machine; both of one npusim. Options, all with defaults: "start=steady", "fidelity=event" (or analytic: in
 * closed form), "seed=1", "expert-reuse=0.5". */
NPUSIM_API npusim_result *npusim_eval(npusim_machine *m, npusim_work *w, const char *const *options, size_t n_options,
                                      struct npusim_error *e);
NPUSIM_API void npusim_result_free(npusim_result *r);

/* A number of the document by its path, "total_us", "ops[3].stalls.dram", "interval.low"; true and false are 1 and 0. -1: there is
 * none, or it is null. Figures of the whole run ("total_us", "energy_uj") are there at once; for the first that is not, all that
 * is said of the run is found out; for "verdict" and "next_..." also what to buy next, which takes as long as some runs in closed
 * form. */
NPUSIM_API int npusim_get(npusim_result *r, const char *path, double *value, struct npusim_error *e);
/* A text, "verdict[0]", "ops[3].name"; it stays until the result is closed. */
NPUSIM_API int npusim_text(npusim_result *r, const char *path, const char **text, struct npusim_error *e);
/* How many there are in a list or an object, "ops", "verdict". */
NPUSIM_API int npusim_count(npusim_result *r, const char *path, size_t *n, struct npusim_error *e);
/* The document, byte by byte what `npusim run --format json` prints, cut to `size` with a NUL at its end. Returns the bytes it has
 * without that; 0: it could not be made. */
NPUSIM_API size_t npusim_json(npusim_result *r, char *buf, size_t size, struct npusim_error *e);

/* What one change of the machine does, of every parameter that can be changed alone: more of it, less, without it, another way. */
struct npusim_limit {
	size_t size;
	const char *move;             /* "more", "less", "without", ... */
	const char *key, *now, *then; /* as a configuration has them */
	const char *refused;          /* why it cannot be; NULL: it was run */
	double us;                    /* of the workload then; of what was refused 0 */
	double saves;                 /* of the time, 0.25: a quarter; below 0: it costs */
	int within;                   /* as much as the closed form may be off: no answer */
};
typedef void npusim_limit_fn(void *arg, const struct npusim_limit *x);
/* Calls `each` for every one, by move, within one the greatest first; texts stay until it returns. Of an NPU; options as of
 * npusim_eval, and in closed form by default. Takes some hundred runs, one after the other. */
NPUSIM_API int npusim_limits(npusim_machine *m, npusim_work *w, const char *const *options, size_t n_options,
                             npusim_limit_fn *each, void *arg, struct npusim_error *e);

#ifdef __cplusplus
}
#endif

#endif
