/* run_result.h - what a run is asked and what it answers: plain data that all engines fill and all reports read. */
#ifndef NPUSIM_SIM_ENGINE_RUN_RESULT_H
#define NPUSIM_SIM_ENGINE_RUN_RESULT_H

#include "arch/power/energy.h"
#include "arch/res.h"
#include "results/op_figure.h"
#include "sim/base/arena.h"
#include "sim/map/map.h"
#include "workloads/op.h"

/* sim/engine/run.h says what each is. */
enum run_start { RUN_STEADY, RUN_COLD, RUN_RESIDENT };
static inline enum map_start run_map_start(enum run_start s)
{
	return s == RUN_RESIDENT ? MAP_RESIDENT : s == RUN_COLD ? MAP_COLD : MAP_STEADY;
}
#define RUN_STARTS 3
enum run_fidelity { RUN_EVENT, RUN_ANALYTIC }; /* what is asked; sim/engine/engine.h: who answers */

struct run_memo;
struct engine_ops;

struct run_opts {
	enum run_start start;
	uint64_t seed;
	bool reuse_given;
	uint32_t reuse_ppm;
	enum run_fidelity fidelity;
	/* sim/engine/run_memo.h, shared by runs one after another: a result's `map` lives until the next one. NULL: a memo of its
	 * own, and `map` lives as long as the arena. */
	struct run_memo *memo;
	const struct map_result *program; /* of the stream; NULL: it is mapped */
	const struct watch *watch;        /* looks on during the measured pass, with events; NULL: nobody */
};

/* What a run is that nobody asked anything of: steady, with events, drawn from RUN_SEED. */
#define RUN_SEED 1
static inline struct run_opts run_opts_default(void)
{
	return (struct run_opts){ .start = RUN_STEADY, .seed = RUN_SEED, .fidelity = RUN_EVENT };
}

#define RUN_NO_CMD UINT32_MAX

/* One op of the stream. A fused command's time is shared out by its members' own work. */
struct run_op {
	OP_FIGURE_MEMBERS; /* span_ps and all the others */
	enum res bound;
	uint32_t stall_ppm[RES_COUNT]; /* sum to 1,000,000 */
	uint32_t cmd;                  /* of the program; RUN_NO_CMD: carried, or there is no program */
	bool carried;
};

/* What a part of the machine took; all of them sum to the run's energy. */
struct run_energy {
	const struct energy_row *row;
	uint64_t fj;
};

struct run_stat {
	const char *name, *unit, *help;
	uint64_t value;
	bool level;
};

struct run_result {
	const struct op_stream *stream;
	const struct engine_ops *engine; /* that made it */
	const struct map_result *map;    /* the program that was run; NULL: launches were */
	struct run_op *ops;              /* n_ops of the stream */
	FIGURE_MEMBERS;                  /* total_ps and all the others */
	ps_t copies_ps;                  /* a GPU's: of total_ps, that of copies and sets */
	ps_t *launch_ps;          /* a GPU's: of each launch of the stream; NULL: others were run in their place */
	ps_t floor_ps[RES_COUNT]; /* necessary work over its peak: the roofline's terms */
	ps_t peak_ps[RES_COUNT];  /* total work on each resource, as mapped, over its peak */
	ps_t stall_ps[RES_COUNT]; /* of the whole run; sums to total_ps */
	enum res roofline_bound;
	struct run_energy *energy; /* NULL: the machine has no model of power */
	size_t n_energy;
	uint32_t reuse_ppm;
	struct run_stat *stats;
	size_t n_stats;
	uint64_t config_hash;
};

const char *run_start_name(enum run_start s); /* "steady" */
const char *run_fidelity_name(enum run_fidelity f);
int run_fidelity_parse(const char *text, enum run_fidelity *f, struct err *e);
int run_start_parse(const char *text, enum run_start *s, struct err *e);
/* Of RES_COUNT times: the first largest, and shares in millionths that sum to one million exactly, where the rest of
 * rounding is the bound's. */
enum res run_largest(const ps_t *v);
/* The one definition of what bounds an op, which tables, JSON, page and timeline show: the resource that most of its time
 * was waited for (`stall`); of an op that cost no time, the one it keeps busy longest. */
enum res run_bound(const ps_t *stall, const ps_t *busy);
/* What is known of the ops of a run, and of one of them: OP_KNOWN_*. */
unsigned run_known(const struct run_result *r);
unsigned run_op_known(const struct run_result *r, const struct run_op *o);
/* What was needed at a peak as a share of a whole run, which has nobody else's time. */
double run_share(ps_t need, ps_t total);
void run_shares(const ps_t *v, enum res bound, uint32_t *ppm);
/* As what the op's command was fused; NULL: it was not, or it has none. */
const char *run_pattern(const struct run_result *r, const struct run_op *o);

#endif
