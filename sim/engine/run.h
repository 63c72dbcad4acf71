/* run.h - a run: an op stream on a machine, from lowering to results. No printing.
 *
 * `start` steady, the default, runs the region once to warm up and then measures it; cold measures the first pass.
 * Which experts a pass picks is not in a trace: every pick is kept from the pass before with probability
 * expert_reuse (default: top over experts, what independent draws give), the others are drawn anew. */
#ifndef NPUSIM_SIM_ENGINE_RUN_H
#define NPUSIM_SIM_ENGINE_RUN_H

#include "arch/machine/machine_conf.h"
#include "sim/base/arena.h"
#include "sim/map/map.h"
#include "workloads/op.h"

enum run_start { RUN_STEADY, RUN_COLD };
enum run_fidelity { RUN_EVENT, RUN_ANALYTIC }; /* sim/engine/machine, sim/engine/analytic; a GPU has one */

struct run_memo;

struct run_opts {
	enum run_start start;
	uint64_t seed;
	bool reuse_given;
	uint32_t reuse_ppm;
	enum run_fidelity fidelity;
	/* sim/engine/run_memo.h, shared by runs one after another: a result's `map` lives until the next one. NULL: a memo of its
	 * own, and `map` lives as long as the arena. */
	struct run_memo *memo;
	const struct watch *watch; /* looks on during the measured pass, with events; NULL: nobody */
};

/* One op of the stream. A fused command's time is shared out by its members' own work. */
struct run_op {
	ps_t us_ps;    /* what it added to the run; all ops sum to the total */
	ps_t start_ps; /* when the run's front reached it */
	ps_t limit_ps; /* busy time on its fullest resource */
	enum res bound;
	uint32_t stall_ppm[RES_COUNT]; /* sum to 1,000,000 */
	uint64_t dram_bytes, mem_bytes, flops;
	uint32_t cmd; /* UINT32_MAX: carried */
	bool carried;
};

struct run_stat {
	const char *name, *unit, *help;
	uint64_t value;
	bool level;
};

struct run_result {
	const struct op_stream *stream;
	struct map_result map;
	struct run_op *ops; /* n_ops of the stream */
	ps_t total_ps, roofline_ps, carried_ps;
	ps_t *launch_ps; /* a GPU's: of each launch of the stream; NULL: others were run in their place */
	ps_t wall_eager_ps, wall_graph_ps; /* a GPU's, with its host (arch/gpu/host.h); 0: no host is modelled */
	ps_t peak_ps[RES_COUNT];           /* total work on each resource over its peak: the roofline's terms */
	ps_t stall_ps[RES_COUNT];          /* of the whole run; sums to total_ps */
	enum res roofline_bound;
	uint64_t cycles, flops, dram_read_bytes, dram_write_bytes, dirty_bytes, compulsory_bytes;
	uint64_t events;           /* served in the measured pass */
	uint32_t reuse_ppm, steps; /* passes run */
	struct run_stat *stats;
	size_t n_stats;
	uint64_t config_hash;
};

/* Chance that an expert a step picked is picked again, when picks are independent: top over experts. */
uint32_t run_expert_reuse(const struct op_stream *s);
/* Of RES_COUNT times: the first largest, and shares in millionths that sum to one million exactly, where the rest of
 * rounding is the bound's. */
enum res run_largest(const ps_t *v);
void run_shares(const ps_t *v, enum res bound, uint32_t *ppm);
int run_stream(const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *o, struct arena *a,
               struct run_result *out, struct err *e);

#endif
