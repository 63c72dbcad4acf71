/* serve.h - what the files of npusim serve share: what is asked, and what came of it. */
#ifndef NPUSIM_SIM_CLI_SERVE_H
#define NPUSIM_SIM_CLI_SERVE_H

#include "arch/machine/machine_conf.h"
#include "sim/cli/cmd.h"
#include "sim/serve/latency.h"
#include "sim/serve/steps.h"
#include "sim/ui/out.h"

/* As given on the command line; NULL and 0: the default. */
struct serve_opts {
	const char *config, *requests, *rate, *prompt, *output, *arrivals, *reserve, *preempt, *kv_memory, *swap_rate,
		*draft_model, *fidelity, *start, *steps, *timeline, *write, *format;
	struct opt_list sets;
	struct workload_spec workload;
	uint64_t n, batch, tokens, chunk, block, draft, seed, jobs, check;
	uint32_t accept_ppm, draft_ppm, share_ppm;
	ps_t overhead, slo_ttft, slo_tpot;
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

struct serve_watch;

struct serve_run {
	const struct serve_opts *o;
	struct machine_conf *conf;
	struct serve_side own, draft; /* draft.cost NULL: drafts cost nothing */
	struct run_opts how;
	struct arrivals arrivals;
	struct sched_policy policy;
	uint64_t capacity, kv_bytes; /* of the memory; of it for the cache; 0: the cache's was given */
	struct sched_result result;
	struct latency latency;
	size_t simulated; /* steps, before some were checked */
	struct serve_check check[SERVE_KINDS];
	struct serve_watch *watch;
	double joules, idle_joules; /* not a number: no power is modelled */
};

/* serve_watch.c: looks on, keeps some steps, and writes a timeline where one is asked for. */
struct serve_watch *serve_watch_new(const char *timeline, uint64_t samples, struct err *e);
void serve_watch_step(struct serve_watch *w, const struct sched_step *s, const struct sched_tick *t);
/* Whether its timeline can no longer be written: nobody need go on then. */
int serve_watch_failed(const struct serve_watch *w, struct err *e);
int serve_watch_close(struct serve_watch *w, int rc, struct err *e); /* the timeline, whole or not at all */
void serve_watch_free(struct serve_watch *w);
/* The steps kept, simulated as they are. */
int serve_watch_check(struct serve_watch *w, struct cost_table *t, struct serve_check out[SERVE_KINDS], struct err *e);

/* serve_memory.c: what of the memory is the cache's, in blocks. */
int serve_memory(struct serve_run *r, struct err *e);

/* serve_show.c */
void serve_table(const struct serve_run *r, struct str *out);
void serve_json(const struct serve_run *r, struct str *out);
void serve_csv(const struct serve_run *r, struct str *out); /* the requests */

#endif
