/* figure.h - the scalars of a run, a row each: what a figure is called, what it counts in, where it shows.
 *
 * Everything that knows figures one by one is made of these rows, or walks them: the members of a result, the columns
 * that a results file keeps, the JSON of npusim run, the columns of npusim sweep, the names in expressions. So a new
 * figure is one row, kept as ROW, and the line of the engine that sets its member. Rows stand in the order of the JSON;
 * texts for people choose their own.
 *
 * A NUMBER is whole, in base units (ps, bytes, fJ), and a member of every result. A results file keeps it
 *   COLUMN    in a column of run and of point, named like the member (one more of these takes a new schema),
 *   ROW       where it is not 0, as a row among the statistics, named like the member: any new one, in any file, or
 *   DROPPED   not at all.
 * What is MADE comes of those, and of what was measured, and is kept nowhere.
 * A pipeline has the mean of its chips; `pipe` says where that is wrong.
 *
 * Leaves out: what a run was asked (seed, start), texts (roofline_bound), what there is by op, kind or resource. */
#ifndef NPUSIM_RESULTS_FIGURE_H
#define NPUSIM_RESULTS_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define FIGURES(NUMBER, MADE) \
	NUMBER(total_ps, COLUMN, FIGURE_US, .pipe = FIGURE_PIPE_APART, .json = "total_us", .part = FIGURE_HEAD, .name = "latency_us", .also = "total_us", \
	       .place = 10, .brief = true, .zero = FIGURE_NULL, .help = "simulated time, all but ops that no rule knows") \
	NUMBER(cycles, COLUMN, FIGURE_COUNT, .pipe = FIGURE_PIPE_APART, .json = "cycles", .part = FIGURE_HEAD, .name = "cycles", .place = 90, \
	       .zero = FIGURE_NULL, \
	       .help = "of the machine's clock in that time") \
	MADE(figure_dram_bytes, FIGURE_BYTES, .json = "dram_bytes", .part = FIGURE_HEAD, .name = "dram_bytes", .place = 50, \
	     .brief = true, .help = "read from DRAM and written to it") \
	NUMBER(flops, COLUMN, FIGURE_COUNT, .json = "flops", .part = FIGURE_HEAD, .name = "flops", .place = 80, \
	       .help = "operations that the ops ask for") \
	NUMBER(energy_fj, ROW, FIGURE_UJ, .pipe = FIGURE_PIPE_APART, .json = "energy_uj", .part = FIGURE_HEAD, .name = "energy_uj", .place = 120, \
	       .zero = FIGURE_NULL, .help = "that the machine takes, where its power is modelled") \
	MADE(figure_edp, .unit = "uJ us", .name = "edp", .place = 122, .zero = FIGURE_NULL, \
	     .help = "energy times simulated time") \
	MADE(figure_power, .unit = "W", .json = "power_w", .part = FIGURE_HEAD, .name = "power_w", .zero = FIGURE_NULL, \
	     .of = FIGURE_OF_BOTH, .help = "energy over simulated time") \
	NUMBER(clock_khz, DROPPED, FIGURE_MHZ, .pipe = FIGURE_PIPE_APART, .level = true, .json = "clock_mhz", .part = FIGURE_HEAD, \
	       .zero = FIGURE_NULL, .help = "that a modelled board runs at, a cap of its power considered") \
	NUMBER(area_nm2, ROW, FIGURE_MM2, .pipe = FIGURE_PIPE_ALL, .level = true, .json = "area_mm2", .part = FIGURE_HEAD, .name = "area_mm2", .place = 240, \
	       .zero = FIGURE_NULL, .early = true, .of = FIGURE_OF_BOTH, .help = "of the machine's die, or dies (npusim config area); it takes no run") \
	NUMBER(cost_uusd, ROW, FIGURE_USD, .pipe = FIGURE_PIPE_ALL, .level = true, .json = "cost_usd", .part = FIGURE_HEAD, .name = "cost_usd", .place = 242, \
	       .zero = FIGURE_NULL, .early = true, \
	       .of = FIGURE_OF_BOTH, .help = "dies by wafer and yield and DRAM by the GB (npusim config cost): no package, test, board, design or margin") \
	NUMBER(roofline_ps, COLUMN, FIGURE_US, .pipe = FIGURE_PIPE_TIME, .json = "roofline_us", .part = FIGURE_HEAD, .name = "roofline_us", .place = 20, \
	       .brief = true, .help = "time that no run can be under, however it is mapped: necessary work at its peak") \
	NUMBER(mapped_ps, ROW, FIGURE_US, .pipe = FIGURE_PIPE_TIME, .json = "mapped_us", .part = FIGURE_HEAD, .name = "mapped_us", .place = 130, \
	       .zero = FIGURE_NULL, .help = "work as it was mapped, at its peak: on the resource that has most of it") \
	MADE(figure_mfu, .unit = "", .json = "mfu", .part = FIGURE_HEAD, .name = "mfu", .place = 140, .zero = FIGURE_NULL, \
	     .help = "of the time, what multiply-adds need at the peak of the fastest unit for their formats") \
	MADE(figure_bandwidth_use, .unit = "", .json = "bandwidth_use", .part = FIGURE_HEAD, .name = "bandwidth_use", \
	     .place = 150, .zero = FIGURE_NULL, .help = "of the time, what DRAM's bytes need at the peak of its pins") \
	MADE(figure_kernels, .unit = "us", .json = "measured_us", .part = FIGURE_HEAD, .name = "measured_kernel_us", \
	     .help = "measured kernels; scripts' measured_us, while names know measured_us with copies and sets") \
	MADE(figure_measured, .unit = "us", .name = "measured_us", .help = "measured kernels, copies and sets") \
	MADE(figure_wall, .unit = "us", .json = "measured_wall_us", .part = FIGURE_HEAD, .name = "measured_wall_us", \
	     .zero = FIGURE_NULL, .help = "measured from the step's start to its end, without profiler") \
	NUMBER(carried_ps, COLUMN, FIGURE_US, .pipe = FIGURE_PIPE_TIME, .json = "carried_us", .part = FIGURE_HEAD, .name = "carried_us", .place = 110, \
	       .help = "measured time of ops that no rule knows, outside all others") \
	NUMBER(wall_graph_ps, DROPPED, FIGURE_US, .pipe = FIGURE_PIPE_OVER, .make = figure_wall_graph, .json = "wall_graph_us", .part = FIGURE_WALL, \
	       .zero = FIGURE_ABSENT, .help = "of a GPU with its host, all launched as one graph") \
	NUMBER(wall_eager_ps, DROPPED, FIGURE_US, .pipe = FIGURE_PIPE_OVER, .json = "wall_eager_us", .part = FIGURE_WALL, .zero = FIGURE_ABSENT, \
	       .help = "the same, launched one by one; 0: no host is modelled") \
	NUMBER(energy_eager_fj, DROPPED, FIGURE_UJ, .pipe = FIGURE_PIPE_APART, .json = "energy_eager_uj", .part = FIGURE_WALL, .zero = FIGURE_ABSENT, \
	       .help = "of the board in wall_eager_us: it waits for its host") \
	NUMBER(energy_period_fj, ROW, FIGURE_UJ, .pipe = FIGURE_PIPE_APART, .json = "energy_period_uj", .part = FIGURE_WALL, .name = "energy_period_uj", .place = 124, \
	       .zero = FIGURE_ABSENT, .help = "until power.latency_target: the run, then a machine that waits at its lowest clock") \
	NUMBER(steps, DROPPED, FIGURE_COUNT, .pipe = FIGURE_PIPE_APART, .level = true, .json = "passes", .part = FIGURE_EFFORT, .help = "times the workload was run") \
	NUMBER(events, COLUMN, FIGURE_COUNT, .pipe = FIGURE_PIPE_APART, .json = "events", .part = FIGURE_EFFORT, .name = "events", .place = 100, \
	       .help = "served in the measured pass") \
	MADE(figure_speedup_kernels, .unit = "", .json = "speedup_kernels", .part = FIGURE_REST, .zero = FIGURE_NULL, \
	     .help = "measured kernels over simulated time, with what is carried") \
	MADE(figure_speedup_wall, .unit = "", .json = "speedup_wall", .part = FIGURE_REST, .zero = FIGURE_NULL, \
	     .help = "measured wall time over simulated time, with what is carried") \
	MADE(figure_copies, .unit = "us", .json = "measured_copies_us", .part = FIGURE_REST, \
	     .help = "measured copies and sets") \
	NUMBER(dram_read_bytes, COLUMN, FIGURE_BYTES, .json = "dram_read_bytes", .part = FIGURE_REST, .name = "dram_read_bytes", \
	       .place = 30, .help = "read from DRAM") \
	NUMBER(dram_write_bytes, COLUMN, FIGURE_BYTES, .json = "dram_write_bytes", .part = FIGURE_REST, .name = "dram_write_bytes", \
	       .place = 40, .help = "written to DRAM") \
	NUMBER(dirty_bytes, COLUMN, FIGURE_BYTES, .pipe = FIGURE_PIPE_APART, .level = true, .json = "dirty_bytes", .part = FIGURE_REST, .name = "dirty_bytes", .place = 60, \
	       .help = "still to be written at the end") \
	NUMBER(compulsory_bytes, COLUMN, FIGURE_BYTES, .json = "compulsory_bytes", .part = FIGURE_REST, .name = "compulsory_bytes", \
	       .place = 70, .help = "each tensor once, as stored, less what the chip could keep: necessary of any run") \
	NUMBER(first_read_bytes, ROW, FIGURE_BYTES, .json = "first_read_bytes", .part = FIGURE_REST, .name = "first_read_bytes", \
	       .place = 160, .help = "of the read ones, first reads of what was not on chip") \
	NUMBER(macs_ps, ROW, FIGURE_US, .json = "macs_us", .part = FIGURE_REST, .name = "macs_us", \
	       .place = 170, .help = "multiply-adds at the peak of the fastest unit for their formats") \
	NUMBER(pins_ps, ROW, FIGURE_US, .json = "pins_us", .part = FIGURE_REST, .name = "pins_us", \
	       .place = 180, .help = "DRAM's bytes at the peak of its pins") \
	NUMBER(tokens, ROW, FIGURE_COUNT, .pipe = FIGURE_PIPE_APART, .json = "tokens", .part = FIGURE_REST, .name = "new_tokens", \
	       .place = 190, .zero = FIGURE_ABSENT, .missing = FIGURE_OF_RUNS, \
	       .help = "new tokens of all sequences, of all the workload's steps") \
	MADE(figure_tokens_per_s, .unit = "/s", .name = "tokens_per_s", .also = "tokens_s", .zero = FIGURE_NULL, \
	     .of = FIGURE_OF_BOTH, .help = "new tokens over simulated time") \
	MADE(figure_token_uj, .unit = "uJ", .name = "uj_per_token", .zero = FIGURE_NULL, .of = FIGURE_OF_BOTH, .help = "energy over new tokens") \
	NUMBER(workload_steps, ROW, FIGURE_COUNT, .level = true, .json = "workload_steps", .part = FIGURE_REST, .name = "workload_steps", \
	       .place = 200, .zero = FIGURE_ABSENT, .missing = FIGURE_OF_RUNS, \
	       .help = "steps that the workload is made of") \
	NUMBER(fused_ps, ROW, FIGURE_US, .json = "fused_us", .part = FIGURE_REST, .name = "fused_us", \
	       .place = 210, .zero = FIGURE_ABSENT, .missing = FIGURE_OF_RUNS, \
	       .help = "of the GPU that it is set beside, fused and under a graph") \
	NUMBER(spread_ppm, ROW, FIGURE_COUNT, .level = true, .json = "spread_ppm", .part = FIGURE_REST, .name = "spread_ppm", \
	       .place = 220, .zero = FIGURE_ABSENT, .missing = FIGURE_OF_RUNS, \
	       .help = "how sure the time is: of its logarithm, upwards, four times in five") \
	NUMBER(spread_down_ppm, ROW, FIGURE_COUNT, .level = true, .json = "spread_down_ppm", .part = FIGURE_REST, .name = "spread_down_ppm", \
	       .place = 222, .zero = FIGURE_ABSENT, .missing = FIGURE_OF_RUNS, .help = "the same downwards; 0: as upwards") \
	NUMBER(interval_from, ROW, FIGURE_COUNT, .level = true, .json = "interval_from", .part = FIGURE_REST, .name = "interval_from", \
	       .place = 224, .zero = FIGURE_ABSENT, .missing = FIGURE_OF_RUNS, \
	       .help = "an NPU's interval is by 1: silicon of its family, 2: what that was fitted to, 3: other families") \
	NUMBER(fused_spread_ppm, ROW, FIGURE_COUNT, .level = true, .json = "fused_spread_ppm", .part = FIGURE_REST, .name = "fused_spread_ppm", \
	       .place = 230, .zero = FIGURE_ABSENT, .missing = FIGURE_OF_RUNS, \
	       .help = "the same of fused_ps over the time, upwards") \
	NUMBER(fused_down_ppm, ROW, FIGURE_COUNT, .level = true, .json = "fused_down_ppm", .part = FIGURE_REST, .name = "fused_down_ppm", \
	       .place = 232, .zero = FIGURE_ABSENT, .missing = FIGURE_OF_RUNS, .help = "the same downwards; 0: as upwards") \
	NUMBER(part_layers, ROW, FIGURE_COUNT, .level = true, .json = "part_layers", .part = FIGURE_REST, .name = "part_layers", \
	       .place = 250, .zero = FIGURE_ABSENT, .missing = FIGURE_OF_RUNS, .help = "of a model's layers, those that ran; 0: all") \
	NUMBER(part_of_layers, ROW, FIGURE_COUNT, .level = true, .json = "part_of_layers", .part = FIGURE_REST, .name = "part_of_layers", \
	       .place = 252, .zero = FIGURE_ABSENT, .missing = FIGURE_OF_RUNS, .help = "how many it has, where a part of them ran") \
	NUMBER(part_experts, ROW, FIGURE_COUNT, .level = true, .json = "part_experts", .part = FIGURE_REST, .name = "part_experts", \
	       .place = 254, .zero = FIGURE_ABSENT, .missing = FIGURE_OF_RUNS, .help = "of a layer's experts, those that are there; 0: all") \
	NUMBER(part_of_experts, ROW, FIGURE_COUNT, .level = true, .json = "part_of_experts", .part = FIGURE_REST, .name = "part_of_experts", \
	       .place = 256, .zero = FIGURE_ABSENT, .missing = FIGURE_OF_RUNS, .help = "how many it has, where a part of them is") \
	NUMBER(unknown_kernels, ROW, FIGURE_COUNT, .level = true, .json = "unknown_kernels", .part = FIGURE_REST, .name = "unknown_kernels", \
	       .place = 258, .zero = FIGURE_ABSENT, .missing = FIGURE_OF_RUNS, \
	       .help = "names of kernels, where no rule knows any of them: there is no answer then") \
	NUMBER(links_bytes, ROW, FIGURE_BYTES, .json = "links_bytes", .part = FIGURE_REST, .name = "links_bytes", \
	       .place = 260, .zero = FIGURE_ABSENT, .missing = FIGURE_OF_RUNS, .help = "that a chip sends over its links") \
	NUMBER(links_ps, ROW, FIGURE_US, .pipe = FIGURE_PIPE_TIME, .json = "links_us", .part = FIGURE_REST, .name = "links_us", \
	       .place = 262, .zero = FIGURE_ABSENT, .help = "that collectives take of the links") \
	NUMBER(chips, ROW, FIGURE_COUNT, .pipe = FIGURE_PIPE_ALL, .level = true, .json = "chips", .part = FIGURE_REST, .name = "chips", \
	       .place = 264, .zero = FIGURE_ABSENT, \
	       .help = "that the workload is split over: energy, area and cost are of them all, all else is one's, of unlike ones the mean's") \
	NUMBER(bubble_ps, ROW, FIGURE_US, .pipe = FIGURE_PIPE_APART, .json = "bubble_us", .part = FIGURE_REST, .name = "bubble_us", \
	       .place = 266, .zero = FIGURE_ABSENT, \
	       .help = "that a chip of a pipeline waits for the other stages, in the mean") \
	NUMBER(max_uhz, ROW, FIGURE_PER_S, .level = true, .make = figure_max_rate, .name = "max_rate", .place = 300, .brief = true, \
	       .zero = FIGURE_NULL, .of = FIGURE_OF_TRAFFIC, \
	       .help = "requests a second, the most that keep both bounds ('find_rate'); 0: none does") \
	NUMBER(rates_tried, ROW, FIGURE_COUNT, .level = true, .name = "rates_tried", .place = 301, .zero = FIGURE_NULL, \
	       .of = FIGURE_OF_TRAFFIC, .help = "until max_rate was found") \
	NUMBER(requests_uhz, ROW, FIGURE_PER_S, .level = true, .name = "requests_per_s", .place = 302, .zero = FIGURE_NULL, \
	       .of = FIGURE_OF_TRAFFIC, .help = "requests that are done") \
	NUMBER(machine_uhz, ROW, FIGURE_PER_S, .level = true, .name = "tokens_per_s_machine", .place = 304, .brief = true, \
	       .zero = FIGURE_NULL, .of = FIGURE_OF_TRAFFIC, .help = "tokens that are produced, from the first arrival to the last token") \
	NUMBER(user_uhz, ROW, FIGURE_PER_S, .level = true, .name = "tokens_per_s_user", .place = 306, .brief = true, .zero = FIGURE_NULL, \
	       .of = FIGURE_OF_TRAFFIC, .help = "of one request: one over the mean time of a token after the first") \
	NUMBER(ttft_p50_ps, ROW, FIGURE_MS, .level = true, .name = "ttft_p50_ms", .place = 310, .zero = FIGURE_NULL, .of = FIGURE_OF_TRAFFIC, \
	       .help = "from a request's arrival to its first token, half of them") \
	NUMBER(ttft_p99_ps, ROW, FIGURE_MS, .level = true, .name = "ttft_p99_ms", .place = 312, .brief = true, .zero = FIGURE_NULL, \
	       .of = FIGURE_OF_TRAFFIC, .help = "the same, 99 in a hundred") \
	NUMBER(tpot_p50_ps, ROW, FIGURE_MS, .level = true, .name = "tpot_p50_ms", .place = 314, .zero = FIGURE_NULL, .of = FIGURE_OF_TRAFFIC, \
	       .help = "each token of a request after the first, half of them") \
	NUMBER(tpot_p99_ps, ROW, FIGURE_MS, .level = true, .name = "tpot_p99_ms", .place = 316, .brief = true, .zero = FIGURE_NULL, \
	       .of = FIGURE_OF_TRAFFIC, .help = "the same, 99 in a hundred") \
	NUMBER(e2e_p50_ps, ROW, FIGURE_MS, .level = true, .name = "e2e_p50_ms", .place = 318, .zero = FIGURE_NULL, .of = FIGURE_OF_TRAFFIC, \
	       .help = "from a request's arrival to its last token, half of them") \
	NUMBER(e2e_p99_ps, ROW, FIGURE_MS, .level = true, .name = "e2e_p99_ms", .place = 320, .zero = FIGURE_NULL, .of = FIGURE_OF_TRAFFIC, \
	       .help = "the same, 99 in a hundred") \
	NUMBER(within_ppm, ROW, FIGURE_SHARE, .level = true, .name = "within_bounds", .place = 322, \
	       .of = FIGURE_OF_TRAFFIC, .help = "of the requests, those within both bounds, a share") \
	NUMBER(narrowed_bytes, DROPPED, FIGURE_BYTES, .json = "narrowed_bytes", .part = FIGURE_REST, \
	       .help = "spared by weights.dtype and kv.dtype")
/* clang-format on */

#define FIGURE_US      .unit = "us", .raw = "ps", .per = 1e6
#define FIGURE_UJ      .unit = "uJ", .raw = "fJ", .per = 1e9
#define FIGURE_MM2     .unit = "mm2", .raw = "nm2", .per = 1e12
#define FIGURE_USD     .unit = "USD", .raw = "uUSD", .per = 1e6
#define FIGURE_MHZ     .unit = "MHz", .raw = "kHz", .per = 1e3
#define FIGURE_BYTES   .unit = "B", .raw = "B", .per = 1
#define FIGURE_MS      .unit = "ms", .raw = "ps", .per = 1e9
#define FIGURE_PER_S   .unit = "/s", .raw = "uHz", .per = 1e6
#define FIGURE_SHARE   .unit = "", .raw = "ppm", .per = 1e6
#define FIGURE_COUNT   .unit = "", .raw = "", .per = 1
#define FIGURE_OF_RUNS "it is said of single runs (npusim run)"

/* The numbers of a run; a struct that has FIGURE_MEMBERS has each as a member of its own, and all of them together as
 * `figures`. */
#define FIGURE_MEMBER(member, ...) uint64_t member;
#define FIGURE_NO_MEMBER(...)
struct figures {
	FIGURES(FIGURE_MEMBER, FIGURE_NO_MEMBER)
};
#define FIGURE_MEMBERS \
	union { \
		struct figures figures; \
		struct { \
			FIGURES(FIGURE_MEMBER, FIGURE_NO_MEMBER) \
		}; \
	}

#define FIGURE_ONE(...) +1
enum { FIGURE_ROWS = FIGURES(FIGURE_ONE, FIGURE_ONE) }; /* how many there are */

/* What was measured of the same workload. */
struct figure_measured {
	uint64_t kernel_ns, measured_ns; /* kernels; with copies and sets */
	uint64_t modelled_ns;            /* kernels of the ops that are simulated; 0: unknown */
	int64_t wall_ns;                 /* -1: unknown */
};

/* What a step takes: what is simulated, and as measured what no rule knows. */
static inline uint64_t figure_whole_ps(const struct figures *x)
{
	return x->total_ps ? x->total_ps + x->carried_ps : 0;
}

enum figure_kept { FIGURE_MADE, FIGURE_COLUMN, FIGURE_ROW, FIGURE_DROPPED };
enum figure_part { FIGURE_NOWHERE, FIGURE_HEAD, FIGURE_WALL, FIGURE_EFFORT, FIGURE_REST }; /* of the JSON, in order */
enum figure_zero { FIGURE_ZERO, FIGURE_NULL, FIGURE_ABSENT }; /* what 0 means: itself, not known, does not apply */

/* A row is of a step, or of a machine under traffic (sim/serve/traffic.h). */
enum figure_of { FIGURE_OF_STEPS, FIGURE_OF_BOTH, FIGURE_OF_TRAFFIC };

/* In the figure's unit; `n` where that is whole. */
struct figure_value {
	bool known, whole;
	uint64_t n;
	double x;
};
typedef struct figure_value figure_make_fn(const struct figures *x, const struct figure_measured *m);

/* What a pipeline has of its stages' (sim/engine/run_stages.c). MEAN: of a chip; of a level the largest. TIME: a part of the
 * step's time, as often as a stage is a part of that. ALL: of all chips. OVER: a time that stages wait for each other in.
 * APART: run_stages.c makes it of more than this figure. */
enum figure_pipe { FIGURE_PIPE_MEAN, FIGURE_PIPE_TIME, FIGURE_PIPE_ALL, FIGURE_PIPE_OVER, FIGURE_PIPE_APART };

struct figure {
	const char *json;       /* in npusim run's JSON; NULL: not there */
	enum figure_part part;  /* where in it */
	const char *name;       /* in expressions, stored views and sweeps; NULL: in none */
	const char *also;       /* a second name in expressions */
	const char *unit, *raw; /* of its value; of the number, whose value is number / per */
	double per;
	enum figure_zero zero;
	const char *missing; /* why sweeps do not know it: no column, refused in expressions; null where it is 0 */
	enum figure_of of;
	int place;  /* among the columns of npusim sweep, with gaps for newcomers; 0: none */
	bool brief; /* also where that prints for people */
	bool early; /* the machine has it before anything runs */
	bool level; /* a state of a machine or of a run: runs one after another have no sum of it */
	enum figure_pipe pipe;
	const char *help;
	enum figure_kept kept;
	const char *member; /* of struct figures, and where it is kept; NULL: made */
	size_t at;          /* its offset */
	figure_make_fn *make;
};

/* All of them, up to one without help. */
extern const struct figure figure_table[];
/* The figure an expression means by `name`; NULL: none. */
const struct figure *figure_named(const char *name);
/* Of a row of traffic, or of a step's. */
bool figure_is_of(const struct figure *f, bool traffic);
/* Those with a place, by place: the one after `f` (NULL: the first), or NULL. */
const struct figure *figure_after(const struct figure *f, bool traffic);

/* `m` may be NULL where no measured figure is asked for. */
struct figure_value figure_value(const struct figure *f, const struct figures *x, const struct figure_measured *m);
/* Measured kernels, and wall time, over the whole step's: carried ops are in both sides, as measured. 0: unknown. */
double figure_ratio_kernels(const struct figures *x, const struct figure_measured *m);
double figure_ratio_wall(const struct figures *x, const struct figure_measured *m);
double figure_ratio_fused(const struct figures *x); /* of the traced GPU, fused and graphed */
/* The number of a figure that is one, as it is kept. */
uint64_t figure_number(const struct figure *f, const struct figures *x);
void figure_set(const struct figure *f, struct figures *x, uint64_t number);

#endif
