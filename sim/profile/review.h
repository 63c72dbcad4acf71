/* review.h - a published profile report held against the tables it was made from.
 *
 * A review is a YAML file (traces/rtx5090/review.yaml is one):
 *   review: 1
 *   title: TEXT
 *   profile: {file: CSV, steps: N}      as 'nsys stats' writes it
 *   counters: CSV                       a row a profiled kernel: kernel, row (of the profile, 0: not in it), class (that the
 *                                       report gives it), grid, block, the metrics of counters.h by name, dram_bytes,
 *                                       tensor_ops, name
 *   device: GPU.yaml                    whose peaks count
 *   top: [34.4, ...]                    shares that the report prints, longest first
 *   means: {METRIC: [compute, memory, balanced, all]}    that it prints
 *   longest: [[404.70, compute], ...]   that it prints
 *   claims: [{at: WHERE, says: TEXT, printed: NUMBER, is: EXPR, why: TEXT}, {at, says, holds: EXPR, why}, {at, says, why}]
 * Of a claim with `printed`, the expression must give what is printed, as exactly as it is printed; of one with `holds`,
 * it must be true; one with neither does not hold, for a reason that the tables do not show. `why` explains one that does
 * not hold, and is required then. Expressions are expr.h's over:
 *   topN.share|us|count|mean_us|median_us|min_us|max_us     the profile's Nth row; sumN.share|us: its first N together
 *   total.us|kernels|names, step.us|kernels, FAMILY.share|us|count      families as 'trace top' has them
 *   kN.METRIC|dram_mb|tflops|intensity|grid|row_max_us|row_median_us    profiled kernel N; grid: blocks
 *   SET.count, SET.METRIC (mean), SET.sum.METRIC, SET.least.METRIC, SET.most.METRIC, SET.belowN.METRIC, SET.overN.METRIC
 *            (how many are below N, or at least N); SET: all, compute, memory, balanced (as the report has them), outside
 *            (not in the profile), slower (longer than the longest of their row in it), counted (operations), longestN
 *   longestN.compute|memory|balanced|outside    how many of the N longest are
 *   rule.compute|memory|balanced        how many the report's own rule puts there
 *   ridge.bf16|fp32, peak.bf16|fp32 (TFLOP/s), peak.gbps, effective.gbps
 * The report's rule: memory-bound with an intensity below the ridge and memory throughput meaningfully above that of the
 * SMs, compute-bound at or above it the other way round, else balanced; "meaningfully" is ROOF_RULE's margin. Memory
 * throughput is the profiler's "Memory Throughput", which is that of the busiest level. */
#ifndef NPUSIM_SIM_PROFILE_REVIEW_H
#define NPUSIM_SIM_PROFILE_REVIEW_H

#include "sim/profile/classify.h"
#include "sim/profile/counters.h"
#include "sim/profile/roof.h"

#define REVIEW_ALL ROOF_CLASSES /* a column of means: after those of the report's classes */

struct review_kernel {
	const char *name;
	uint64_t number, row, blocks; /* row: of the profile; 0: not in it */
	enum roof_class said, rule;   /* ROOF_MEMORY, _COMPUTE, _BALANCED */
	double v[COUNTERS_SHOWN], dram_bytes, flops;
	double intensity; /* not a number: no operations were counted */
};

struct review_mean {
	enum counter metric;
	double printed[3], got[3], all_printed, all_got;
}; /* by enum roof_class */

enum review_verdict { REVIEW_HOLDS, REVIEW_DIFFERS, REVIEW_CONTRADICTED, REVIEW_TEXT };
struct review_claim {
	const char *at, *says, *printed, *is, *why; /* printed, is: "" where there is none */
	double got;
	enum review_verdict verdict;
};

struct review {
	const char *title, *profile;
	uint64_t steps;
	struct trace trace; /* of the profile: statistics */
	struct classify families;
	struct roof roof;
	struct review_kernel *kernels;
	size_t n_kernels;
	size_t *longest; /* kernels, by time */
	double *top;
	size_t n_top; /* printed shares */
	struct {
		double us;
		enum roof_class class;
	} * longest_printed;
	size_t n_longest;
	struct review_mean *means;
	size_t n_means;
	struct review_claim *claims;
	size_t n_claims;
};

/* All lives in `a`. `rules` puts kernels into families. */
int review_load(const char *path, struct rules *rules, struct arena *a, struct review *out, struct err *e);
double review_share(const struct review *s, size_t row); /* percent of the profile's time; rows from 0 */
/* Mean of a metric over the kernels that the report puts into a class, or over all (REVIEW_ALL). */
double review_mean_of(const struct review *s, int class, enum counter k);

#endif
