/* serve.h - a list of requests served on a machine by a policy: what is asked, and what came of it.
 *
 * In this order: serve_load reads the machine, its models and the requests; serve_size gives the cache its blocks and looks
 * whether each request can be served; serve_steps serves them; serve_sum says what that was. What is between two of them is
 * the caller's: writing the list, opening and closing a timeline. */
#ifndef NPUSIM_SIM_SERVE_SERVE_H
#define NPUSIM_SIM_SERVE_SERVE_H

#include "arch/machine/machine_conf.h"
#include "sim/serve/latency.h"
#include "sim/serve/sched_pool.h"
#include "sim/serve/steps.h"
#include "sim/workload/workload.h"

/* Whether steps go on while a cache moves. */
enum serve_copies { SERVE_COPIES_UNKNOWN, SERVE_COPIES_BESIDE, SERVE_COPIES_STOP };

/* NULL and 0: the default. */
struct serve_ask {
	const struct machine_conf *machine; /* in place of the two that follow; must live as long */
	const char *config, *const *sets;
	const char *prefill, *decode; /* in place of config: machines of two pools, "h200:2" (serve_pools.h) */
	enum sched_router router;
	enum serve_copies copies;
	uint64_t kv_rate; /* bytes/s at which a cache moves; 0: as the machines' links have it */
	ps_t kv_latency;
	bool several, chunk_given; /* pools are asked for; `policy.chunk` was */
	int n_sets;
	struct workload_spec workload;
	const char *requests; /* a list of them; NULL: drawn, by what follows */
	const char *rate, *prompt, *output, *arrivals;
	const char *kv_memory, *draft_model;
	const struct cfg *engine;  /* its constants, in `policy`; NULL: no host */
	enum op_library attention; /* the engine's */
	bool mixed;                /* one call of it a step */
	uint64_t n, seed, jobs, check;
	uint32_t draft_ppm, share_ppm; /* a drafted token's share of a step; the memory's that is used */
	ps_t slo_ttft, slo_tpot;       /* 0: no limit */
	uint32_t slo_ppm;              /* of the requests are to meet them (capacity.h) */
	bool exact, start_given;       /* every step is simulated; `how.start` was asked for */
	bool find;                     /* of what traffic.h asks: the largest rate that keeps both limits */
	struct sched_policy policy;    /* block_bytes and blocks are found */
	struct run_opts how;
};

/* Steps that were simulated as they are, beside what the table made of them: those that only decode, and those with prompts. */
struct serve_check {
	size_t n;
	double mean, most; /* percent, of what a step takes as it is */
};
enum serve_kind { SERVE_DECODE, SERVE_PROMPTS, SERVE_KINDS };

/* A model on the machine: its steps, and the table of what they take. */
struct serve_side {
	struct workload w;
	struct steps *steps;
	struct cost_table *cost;
	struct steps_memory memory;
};

/* Who is told of each step; `failed` -1: none more is wanted. */
struct serve_watcher {
	void (*step)(void *arg, const struct sched_step *s, const struct sched_tick *t);
	int (*failed)(void *arg, struct err *e);
	void *arg;
};

struct serve_pools;
struct serve_kept; /* steps that are kept: for the check, and typical ones */

struct serve_run {
	const struct serve_ask *o;
	const struct machine_conf *conf;
	struct machine_conf *own_conf; /* NULL: the ask's */
	struct serve_side own, draft;  /* draft.cost NULL: drafts cost nothing */
	struct run_opts how;
	struct arrivals arrivals;
	struct sched_policy policy;
	uint64_t capacity, kv_bytes; /* of a chip's memory; of it for the cache; 0: the cache's was given */
	struct sched_result result;
	struct latency latency;
	struct latency_off beside[LATENCIES]; /* what the list has measured */
	size_t simulated;                     /* steps, before some were checked */
	struct serve_check check[SERVE_KINDS];
	double joules, idle_joules; /* not a number: no power is modelled */

	struct serve_kept *kept, *typical;
	uint64_t stretch_ppm[SERVE_KINDS];   /* 0: a step takes its time (serve_again) */
	const struct serve_watcher *watcher; /* NULL: none */
	struct serve_pools *pools;           /* NULL: it is one machine */
};

/* `o` must live as long. serve_free whether it fails or not. */
int serve_load(struct serve_run *r, const struct serve_ask *o, struct err *e);
int serve_size(struct serve_run *r, struct err *e);
int serve_steps(struct serve_run *r, const struct serve_watcher *w, struct err *e);
int serve_sum(struct serve_run *r, struct err *e);
/* Another list on the machine as it was sized; nobody is told, nothing is kept. `out` is freed by sched_free whether it fails or not. */
int serve_list(struct serve_run *r, const struct arrivals *a, struct sched_result *out, struct err *e);
/* The machine of pool `pool`: of one machine alone itself. */
struct serve_run *serve_pool_run(struct serve_run *r, uint32_t pool);
/* The typical steps of a kind as they are, of pool `pool`: each is shown. After serve_steps. */
int serve_show(struct serve_run *r, uint32_t pool, enum serve_kind of, steps_show_fn *show, void *arg, struct err *e);
/* Of its time a step takes so many millionths; 0: its time. By pool. */
struct serve_stretch {
	uint64_t ppm[SCHED_POOLS][SERVE_KINDS];
};
/* The list once more, as if steps were stretched: what waits then, and the joules, in which what stands
 * still takes its power longer. serve_again_free whether it fails or not. */
struct serve_again {
	struct sched_result result;
	struct latency latency;
	double joules;
};
int serve_again(struct serve_run *r, const struct serve_stretch *s, struct serve_again *out, struct err *e);
void serve_again_free(struct serve_again *x);
/* How a list is drawn: when they come, and how long they are. */
int serve_plan(const struct serve_ask *o, struct arrive_plan *p, struct err *e);
/* The list that another seed draws, of so many requests. */
int serve_draw(const struct serve_run *r, uint64_t seed, size_t n, struct arrivals *out, struct err *e);
/* That share each layer of the model, in a machine. */
uint32_t serve_chips(const struct serve_run *r);
uint32_t serve_all_chips(const struct serve_run *r); /* of all machines of all pools */
void serve_free(struct serve_run *r);

#endif
