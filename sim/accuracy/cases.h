/* cases.h - what a GPU model is held against: samples of a measured trace, each with its launches.
 *
 * A sample is one launch; where annotations read `case|KIND|SHAPE|REP` it is one case: the median over REP of the sum
 * of its device activities, copies and sets included. Its class is the family of what took longest in it.
 * Whether operands lie in the L2 is a result of what ran before: for a trace of steps all launches in order, once to
 * warm up; for a case the calls a benchmark makes on other copies (configs/cases/NAME.yaml).
 * Split: a hash of KIND and SHAPE, or of the source and step of a launch, puts two fifths in the held-out part.
 * Leaves out: activities of ops no rule knows (counted). */
#ifndef NPUSIM_SIM_ACCURACY_CASES_H
#define NPUSIM_SIM_ACCURACY_CASES_H

#include "arch/gpu/gpu_work.h"
#include "arch/machine/machine_cfg.h"
#include "sim/lower/lower.h"
#include "traces/trace.h"

enum sample_split { SAMPLE_FITTED, SAMPLE_HELD_OUT, SAMPLE_ALL }; /* all: both, where samples are asked for */

struct sample {
	const char *name;  /* "gemm_bf16 K=4096,M=1,N=4096"; of a launch: its op */
	const char *cls;   /* family */
	const char *group; /* annotation around a launch, a step say; "" for none; of a case: its KIND */
	uint64_t measured_ns, low_ns, high_ns; /* median, least and largest over repetitions */
	uint32_t reps;
	uint32_t first_op, n_ops; /* ops of the repetition that is simulated */
	uint32_t launch;          /* of the stream; UINT32_MAX: a case, all of its ops' launches */
	enum sample_split split;
	uint64_t hash;        /* for folds */
	uint64_t before;      /* calls right before those that are timed, as far as is known; of a case */
	ps_t around;          /* what the benchmark's way of measuring adds: stated, not modelled */
	struct gpu_time time; /* filled by cases_time; the parts summed over a case's launches */
};

struct cases {
	struct arena *arena;
	const char *path;
	const struct trace *trace;
	struct op_stream stream;
	struct gpu_work work;
	struct sample *v;
	size_t n;
	uint64_t opaque_ns; /* measured time no sample stands for */
	bool of_cases;      /* of a benchmark, not of steps */
};

const char *sample_split_name(enum sample_split s); /* "held-out" */
int sample_split_parse(const char *text, enum sample_split *out, struct err *e);
static inline bool sample_split_has(enum sample_split asked, enum sample_split of)
{
	return asked == SAMPLE_ALL || asked == of;
}
/* Where a sample belongs, by the hash of what it is. */
enum sample_split cases_split(uint64_t hash);

struct cases_rules;
struct cases_rules *cases_rules_load(const char *path, struct err *e); /* NULL: the default table */
void cases_rules_free(struct cases_rules *r);

/* `t` and the arena must outlive the cases. */
int cases_make(const struct trace *t, struct rules *rules, const struct kernels *k, struct arena *a, struct cases *out,
               struct err *e);
/* What the caches of this machine make of every sample's bytes: fills the launches' `mem`. */
int cases_move(struct cases *c, const struct cases_rules *r, const struct machine_cfg *m, struct err *e);
/* Every sample's time on this device; needs cases_move once, and again only when the memory changes. */
void cases_time(struct cases *c, const struct gpu *g);
/* The same on a board that has a cap or keeps a time, at the clock which that leaves: of steps all launches' together, as `run` has
 * it; of a case its own, where the calls before it last as long as the controller looks at. In bursts a cap is not felt. */
int cases_time_capped(struct cases *c, const struct gpu *g, struct err *e);
void cases_time_one(struct cases *c, size_t i, const struct gpu *g);
/* Another value for one number of a kernel template, in all launches of it. */
void cases_put(struct cases *c, const struct kernel_number *n, uint32_t value);

#endif
