/* bound.h - the kernels of a trace under a roofline: bytes, operations, intensity and class.
 *
 * Of a launch with counters (see counters.h) bytes are those to and from DRAM, and use is what the profiler says of
 * DRAM and SMs; its time then is the profiler's, as bytes and time must be of one run. Of others it is what its op
 * needs (workloads/work.h): operands once each, wherever they came from, over the measured time; so use of memory can
 * be above 100 % of DRAM's where the L2 gave them. An op of several launches gives each a share by its time.
 * Occupancies that were not counted are of the launch's geometry. Where a database holds both, the profiled launches of Nsight Compute lend their counters and are no kernels here.
 * What nobody timed (rows of a table of ops) is memory- or compute-bound by the side of the ridge it is on.
 * A name's row is the sum of its launches; its class is the one most of its time is in. Launches come in pieces of a trace
 * and are gone after; what is kept grows with names and with durations that differ, not with launches. */
#ifndef NPUSIM_SIM_PROFILE_BOUND_H
#define NPUSIM_SIM_PROFILE_BOUND_H

#include "sim/profile/counters.h"
#include "sim/profile/roof.h"
#include "workloads/rules.h"

/* Launches of the same duration, bytes and counters, or what an aggregated profile says of all of one name. */
struct bound_same {
	uint64_t count, ns;         /* of the trace, together */
	double time, bytes;         /* s, and bytes in that time; not a number: not known */
	double theoretical, active; /* occupancy by its geometry (waves.h); not a number: not known */
	bool counted;               /* by counters, not by its op */
	const struct counted *x;    /* NULL: none */
};

struct bound_kernel {
	const char *name, *friendly, *library, *family;
	uint64_t count, ns, class_ns[ROOF_CLASSES], class_count[ROOF_CLASSES];
	uint64_t known;            /* launches whose bytes and operations are */
	double time, bytes, flops; /* over these; time 0: nobody timed them */
	double memory, math;       /* means by time */
	double known_ns;           /* time of launches with a class */
	uint64_t pipe_ns[ROOF_PIPES], pipe_count[ROOF_PIPES], counted_ns;
	enum roof_class class;
	enum roof_pipe pipe;
};

struct bound {
	struct roof roof;
	struct roof_rule rule;
	struct bound_same *same;
	size_t n_same; /* in no order */
	struct bound_kernel *kernels;
	size_t n_kernels; /* longest first */
	uint64_t count, ns, class_count[ROOF_CLASSES], class_ns[ROOF_CLASSES];
	uint64_t counted_ns;
	/* Of each class the sums of its launches' metrics (bound_value), and how many have them. */
	double class_sum[ROOF_CLASSES][COUNTERS_SHOWN];
	uint64_t class_n[ROOF_CLASSES][COUNTERS_SHOWN];
};

/* What launches are judged by: how kernels become ops, what was counted, the peaks, and the classes' rule. */
struct bound_criteria {
	struct rules *rules;
	struct counters *counters;
	const struct roof *roof;
	const struct roof_rule *rule;
};

/* Of a whole trace. All arrays live in `a`; what is in them points into the rules and the counters. */
int bound_trace(const struct trace *t, const struct bound_criteria *by, struct arena *a, struct bound *out,
                struct err *e);
/* The same piece by piece, in the trace's order; an op's launches are in one of them. The end adds the statistics of `t`
 * and nothing else of it. */
struct bound_build;
struct bound_build *bound_begin(const struct bound_criteria *by, struct arena *a, struct bound *out, struct err *e);
int bound_add(struct bound_build *b, const struct trace *piece, struct err *e);
int bound_end(struct bound_build *b, const struct trace *t, struct err *e);
void bound_free(struct bound_build *b);
/* A metric of a launch: counted, or for duration and bytes a second what is known without counters. */
double bound_value(const struct bound_same *b, enum counter k);
/* Mean over the launches of a class, each counted once, or over all (ROOF_CLASSES); not a number: none has it. */
double bound_mean(const struct bound *b, int class, enum counter k);
double bound_intensity(double flops, double bytes); /* not a number where either is not, or 0 bytes */

#endif
