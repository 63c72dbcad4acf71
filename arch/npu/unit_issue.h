/* unit_issue.h - how a vector unit issues thread groups: what a group costs beside its work, and what hides its latencies.
 *
 * Models: elements come in groups of `core.thread_group`; one macro-op works on one group, on the unit's lanes in so many
 * cycles as the group is longer than they are. A group that is not full takes as long as a full one: rows that are shorter
 * than a group, and the rest of a longer row, waste what is left of it (divergence).
 * Issue: a group costs `core.control` cycles a turn (a pass over its elements): index, compare, branch, addresses. Long
 * groups share them out over more elements; this is the strip-mining of vector machines, T_loop of Hennessy and Patterson,
 * Computer Architecture, appendix on vector processors.
 * Latency: a macro-op that depends on the one before it on the same group issues `core.unit_latency` cycles after it.
 * Meanwhile others of the unit's groups do; `core.depth` of them are in flight, so of a group's chain of dependent steps at
 * least steps * latency / depth cycles are the unit's (Little's law), and a unit with few groups waits for the chain, which
 * is latency and not busy time. What depth costs is its filling: as many cycles of latency each time.
 * Both 0, the default: control is free and every latency hidden; elements are then spread over all lanes evenly.
 * Leaves out: masks that change within a group; groups of different commands that hide each other's chains. */
#ifndef NPUSIM_ARCH_NPU_UNIT_ISSUE_H
#define NPUSIM_ARCH_NPU_UNIT_ISSUE_H

#include "arch/npu/unit.h"

/* One group's work on one unit. */
struct issue_work {
	uint64_t exec;  /* cycles of its lanes */
	uint32_t turns; /* passes, each with its control */
	uint32_t steps; /* macro-ops that depend on each other */
};

struct issue_time {
	uint64_t busy;    /* cycles until the unit can take the next */
	uint64_t exposed; /* from there until the last of its chains is through */
};

static inline bool issue_modelled(const struct unit_env *u)
{
	return u->control || u->unit_latency;
}

/* Groups that rows of `cols` elements are. */
static inline uint64_t issue_groups(const struct unit_env *u, uint64_t rows, uint64_t cols)
{
	return rows * div_up(cols, u->group);
}

/* `groups` on one unit. */
struct issue_time issue_time(const struct unit_env *u, uint64_t groups, const struct issue_work *w);

#endif
