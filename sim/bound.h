/* bound.h - the kernels of a trace under a roofline: bytes, operations, intensity and class.
 *
 * Of a launch with counters (see counters.h) bytes are those to and from DRAM, and use is what the profiler says of
 * DRAM and SMs; its time then is the profiler's, as bytes and time must be of one run. Of others it is what its op
 * needs (workloads/work.h): operands once each, wherever they came from, over the measured time; so use of memory can
 * be above 100 % of DRAM's where the L2 gave them. An op of several launches gives each a share by its time.
 * Where a database holds both, the profiled launches of Nsight Compute lend their counters and are no kernels here.
 * A name's row is the sum of its launches; its class is the one most of its time is in. */
#ifndef NPUSIM_SIM_BOUND_H
#define NPUSIM_SIM_BOUND_H

#include "sim/counters.h"
#include "sim/roof.h"
#include "workloads/rules.h"

/* One launch, or what an aggregated profile says of all of one name. */
struct bound_launch {
	const char *name;
	uint64_t count, ns;          /* of the trace */
	double time;                 /* s, that bytes and operations are of */
	double bytes, flops;         /* not a number: not known */
	double memory, math;         /* percent of the peaks */
	enum roof_pipe pipe;
	enum roof_class class;
	bool counted;                /* by counters, not by its op */
	const struct counted *x;     /* NULL: none */
	const char *friendly, *library, *family;
};

struct bound_kernel {
	const char *name, *friendly, *library, *family;
	uint64_t count, ns, class_ns[ROOF_CLASSES];
	double time, bytes, flops;   /* over launches where both are known */
	double memory, math;         /* means by time */
	double known_ns;             /* time of launches with a class */
	uint64_t pipe_ns[ROOF_PIPES], counted_ns;
	enum roof_class class;
	enum roof_pipe pipe;
};

struct bound {
	struct roof roof;
	struct roof_rule rule;
	struct bound_launch *launches; size_t n_launches;
	struct bound_kernel *kernels; size_t n_kernels; /* longest first */
	uint64_t count, ns, class_count[ROOF_CLASSES], class_ns[ROOF_CLASSES];
	uint64_t counted_ns;
};

/* All arrays live in `a`; what is in them points into the trace, the rules and the counters. */
int bound_trace(const struct trace *t, struct rules *r, struct counters *c, const struct roof *roof,
                const struct roof_rule *rule, struct arena *a, struct bound *out, struct err *e);
/* A metric of a launch: counted, or for duration and bytes a second what is known without counters. */
double bound_value(const struct bound_launch *b, enum counter k);
double bound_intensity(double flops, double bytes);        /* not a number where either is not, or 0 bytes */

#endif
