/* partition.h - one product over many cores: which part each core has, and what they then owe each other.
 *
 * Models: m x k activations times k x n weights, cut into m x n x k parts, one a core; cores that are left have none. All
 * parts are as large as the largest of them, so the fullest core sets the time and the others wait (unit_plan.idle).
 * Parts of n want the same activations and parts of m the same weights: each such byte goes to several cores
 * (partition_copies), which fills their scratchpads and ports as often. Parts of k make partial sums of 32 bits, of which
 * each core adds up a k-th: in log2(k) steps, a transfer's set-up each, cores swap halves of what they have
 * (reduce-scatter by recursive halving); or the network adds up on its way (noc.reduce), in one step in which every core
 * sends all it has.
 * Of all cuts the one of least time is taken: the longer of what a core computes and what comes in at its port, the exchange,
 * and half of what is waited for at the end, as products that follow each other hide it. Among equals the one that copies
 * least. Cuts of k are powers of two, of m 1, 3, 5 and 7 times those, and n takes the cores that are left: for given parts of
 * m and k more cores are never slower, so a machine of more cores has no slower cut. n also takes the largest of m's kind, and
 * half as many: fewer copies. Weights that stay in a unit's arrays are cut as they lie there (unit_job.stationary_split).
 * Leaves out: adding up, which keeps pace with the port; who is whose neighbour: groups of a power of two lie together.
 * Source of the exchange: Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH,
 * IJHPCA 19 (2005). */
#ifndef NPUSIM_ARCH_NPU_PARTITION_H
#define NPUSIM_ARCH_NPU_PARTITION_H

#include "arch/npu/unit.h"

/* What one core takes for parts that were asked for: a search asks for the same again and again. All zeros at first; grows. */
struct partition_memo {
	uint64_t machine; /* whoever asks sets it: a hash of all that plans hang on besides the job */
	struct partition_known *at;
	uint32_t places, missed; /* missed: since it last grew */
};
void partition_memo_clear(struct partition_memo *m);

/* False: the unit cannot do such a job. Work other than products is the unit's own to spread. `memo` may be NULL. */
bool partition_plan(const struct unit_ops *unit, const struct unit_env *u, const struct unit_job *j,
                    struct partition_memo *memo, struct unit_plan *out);
/* What a search can use: cuts of which a core's math takes no longer than `span`, and of which all cores, each as full as the
 * fullest, have no more than `capacity` bytes of both operands. */
struct partition_limits {
	ps_t span;
	uint64_t capacity;
};

/* The cuts of which no other takes less time and copies fewer bytes, of those that take hardly longer than the fastest and
 * keep to `limits`; the fastest first. `memo` may be NULL. */
#define PARTITION_WAYS 5
int partition_ways(const struct unit_ops *unit, const struct unit_env *u, const struct unit_job *j,
                   const struct partition_limits *limits, struct partition_memo *memo,
                   struct unit_plan out[PARTITION_WAYS]);
/* A core's part of a cut product, and a core as a machine of its own. */
struct unit_job partition_part(const struct unit_job *j, const struct unit_split *s);
struct unit_env partition_core(const struct unit_env *u);
/* A product that is cut already, as another like it; `memo` may be NULL. */
bool partition_as(const struct unit_ops *unit, const struct unit_env *u, const struct unit_job *j,
                  const struct unit_split *s, struct partition_memo *memo, struct unit_plan *out);
/* A core's part of the exchange of rows x cols partial sums among k cores: time of its port, and hops until the last. */
ps_t partition_exchange(const struct unit_env *u, uint64_t rows, uint64_t cols, uint32_t k, ps_t *latency);

/* Operands of a product: A[m,k], B[k,n], C[m,n]. Cores that want the same byte; bytes of `bytes` that the fullest has. */
enum partition_operand { PARTITION_A, PARTITION_B, PARTITION_C };
uint32_t partition_copies(const struct unit_split *s, enum partition_operand o);
uint64_t partition_share(const struct unit_split *s, enum partition_operand o, const uint64_t mnk[3], uint64_t bytes);

#endif
