/* serve.c - npusim serve: options, what they mean, and the serving of a list of requests. */
#define _POSIX_C_SOURCE 200809L /* sysconf */
#include "sim/cli/serve.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "arch/gpu/gpu_power.h"
#include "arch/machine/machine_gpu.h"
#include "sim/base/path.h"
#include "sim/engine/pass_energy.h"
#include "sim/engine/run_result.h"
#include "sim/ui/outfile.h"

#define MAX_BATCH  64
#define MAX_TOKENS 2048
#define CHUNK      512
#define BLOCK      16
#define BLOCK_MOST 1024
#define CHECKED    4
#define CHECK_MOST 10000
#define REQUESTS   1000
#define SHARE      900000
#define NOT_GIVEN  UINT32_MAX
#define NONE_GIVEN UINT64_MAX

/* --- what a step takes ------------------------------------------------------------------------------------------------ */

/* Drafting: a pass over what decodes for each token, prompts' pieces with the first. */
static int drafted(struct serve_run *r, const struct sched_step *s, struct sched_cost *out, struct err *e)
{
	const struct sched_step more = { .seqs = s->seqs, .context_sum = s->context_sum };
	struct sched_cost first, next = { 0, 0 };
	uint64_t passes = s->seqs ? r->policy.draft - 1 : 0;

	if (cost_of(r->draft.cost, s, &first, e) < 0 || (passes && cost_of(r->draft.cost, &more, &next, e) < 0))
		return -1;
	first.time += passes * next.time;
	first.energy_fj += passes * next.energy_fj;
	if (!r->draft.w.model) {
		first.time = first.time / 1000000 * r->o->draft_ppm + first.time % 1000000 * r->o->draft_ppm / 1000000;
		first.energy_fj = energy_scale(first.energy_fj, r->o->draft_ppm);
	}
	out->time += first.time;
	out->energy_fj = energy_add(out->energy_fj, first.energy_fj);
	return 0;
}

static int step_cost(void *ctx, const struct sched_step *s, struct sched_cost *out, struct err *e)
{
	struct serve_run *r = ctx;

	if (serve_watch_failed(r->watch, e) < 0 || cost_of(r->own.cost, s, out, e) < 0)
		return -1;
	return r->draft.cost ? drafted(r, s, out, e) : 0;
}

static void step_seen(void *ctx, const struct sched_step *s, const struct sched_tick *t)
{
	struct serve_run *r = ctx;

	serve_watch_step(r->watch, s, t);
}

/* --- the machine and its models ------------------------------------------------------------------------------------------- */

static int side(struct serve_run *r, struct serve_side *x, const struct workload_spec *o, uint32_t queries,
                struct err *e)
{
	const bool exact = r->o->steps && strcmp(r->o->steps, "exact") == 0;
	const struct build_group one = { 1, 1, 0, false };

	if (workload_describe(o, &(struct workload_reader){ &path_source, &r->conf->cfg, NULL, NULL, NULL }, &x->w, e) <
	    0)
		return -1;
	x->w.how.phase = BUILD_STEP;
	x->w.how.groups = &one;
	x->w.how.n_groups = 1;
	if (build_check(x->w.model, &x->w.how, e) < 0)
		return -1;
	x->w.how.groups = NULL;
	x->w.how.n_groups = 0;
	if (!(x->steps = steps_new(r->conf, x->w.model, &x->w.how, r->policy.block, &r->how, (uint32_t)r->o->jobs, e)))
		return -1;
	return (x->cost = cost_new(queries, exact, steps_simulate, x->steps, e)) ? 0 : -1;
}

/* The draft's own model, or the model itself at a share of its cost. */
static int draft_side(struct serve_run *r, struct err *e)
{
	const struct workload_spec small = { .model = r->o->draft_model };

	if (r->o->draft_model)
		return side(r, &r->draft, &small, 1, e) < 0 ? err_add(e, "reading option '--draft-model'") : 0;
	if (!r->o->draft_ppm)
		return 0;
	return (r->draft.cost = cost_new(1, false, steps_simulate, r->own.steps, e)) ? 0 : -1;
}

static void side_free(struct serve_side *x)
{
	cost_free(x->cost);
	steps_free(x->steps);
	workload_free(&x->w);
}

/* --- requests ----------------------------------------------------------------------------------------------------------------- */

static int drawn(struct serve_run *r, struct err *e)
{
	const struct serve_opts *o = r->o;
	struct arrive_plan p = { .n = o->n ? o->n : REQUESTS, .context = r->own.w.model->context, .seed = o->seed };
	const char *when = o->arrivals ? o->arrivals : o->rate ? "poisson" : "at-once";

	p.when = strcmp(when, "poisson") == 0    ? ARRIVE_POISSON
	         : strcmp(when, "constant") == 0 ? ARRIVE_CONSTANT
	                                         : ARRIVE_AT_ONCE;
	if (p.when == ARRIVE_AT_ONCE && strcmp(when, "at-once") != 0)
		return err_set(e, ERR_USAGE, "unknown arrivals '%s': they are poisson, constant or at-once", when);
	if (p.when == ARRIVE_AT_ONCE ? o->rate != NULL : !o->rate)
		return err_set(e, ERR_USAGE,
		               o->rate ? "what arrives at once has no rate: options '--rate' and '--arrivals at-once'"
		                       : "how often requests arrive is missing: '--rate 4/s'");
	if ((o->rate && arrive_rate_parse(o->rate, &p.gap, e) < 0) ||
	    arrive_length_parse(o->prompt ? o->prompt : "512", "prompt", &p.prompt, e) < 0 ||
	    arrive_length_parse(o->output ? o->output : "128", "output", &p.output, e) < 0)
		return -1;
	return arrive_make(&p, &r->arrivals, e);
}

static int read_list(struct serve_run *r, struct err *e)
{
	struct input *in = input_open(r->o->requests, e);
	int rc = in ? arrive_read(in, &r->arrivals, e) : -1;

	input_free(in);
	return rc;
}

static int requests(struct serve_run *r, struct err *e)
{
	struct str text = STR_INIT;
	int rc = r->o->requests ? read_list(r, e) : drawn(r, e);

	if (rc == 0 && r->o->write) {
		arrive_write(&r->arrivals, &text);
		rc = outfile_write(r->o->write, &text, e);
	}
	str_free(&text);
	return rc;
}

/* --- the whole ------------------------------------------------------------------------------------------------------------------ */

/* What waits takes power too, where that is known. */
static void energy(struct serve_run *r)
{
	const struct gpu g = machine_gpu(&r->conf->cfg);
	const bool gpu = machine_runs(&r->conf->cfg) == MACHINE_LAUNCHES;
	uint64_t ms; /* of waiting, fJ */

	r->joules = r->idle_joules = NAN;
	if (!r->result.energy_fj)
		return;
	ms = !gpu ? pass_energy_waiting(&r->conf->cfg, PS_MS) : gpu_power_known(&g) ? gpu_energy_idle(&g, PS_MS) : 0;
	r->idle_joules = (double)ms / 1e15 * (double)(r->result.end - r->result.worked) / (double)PS_MS;
	r->joules = (double)r->result.energy_fj / 1e15 + r->idle_joules;
}

static int prepared(struct serve_run *r, struct err *e)
{
	const struct model *m;

	if (!(r->conf = machine_conf_load(r->o->config, r->o->sets.v, r->o->sets.n, e)))
		return -1;
	if (!r->o->start && machine_runs(&r->conf->cfg) == MACHINE_LAUNCHES)
		r->how.start = RUN_COLD;
	if (side(r, &r->own, &r->o->workload, 1 + r->policy.draft, e) < 0 || draft_side(r, e) < 0 || requests(r, e) < 0)
		return -1;
	m = r->own.w.model;
	if (m->context && m->context % r->policy.block)
		return err_set(e, ERR_USAGE,
		               "a block of %u tokens does not divide the context of %u that model '%s' takes",
		               r->policy.block, m->context, m->name);
	if (serve_memory(r, e) < 0)
		return -1;
	return sched_check(&r->policy, &r->arrivals, m->context, r->o->requests, e);
}

static int served(struct serve_run *r, struct err *e)
{
	int rc;

	if (!(r->watch = serve_watch_new(r->o->timeline, r->o->check, e)))
		return -1;
	rc = sched_run(&r->policy, &r->arrivals, step_cost, step_seen, r, &r->result, e);
	r->simulated = cost_simulated(r->own.cost) + (r->draft.cost ? cost_simulated(r->draft.cost) : 0);
	if (serve_watch_close(r->watch, rc, e) < 0 || serve_watch_check(r->watch, r->own.cost, r->check, e) < 0)
		return -1;
	energy(r);
	return latency_sum(&r->arrivals, &r->result, &r->latency, e);
}

/* A bound of the user: of 99 requests in a hundred. */
static int bounds(const struct serve_run *r, struct err *e)
{
	const struct {
		const char *what;
		ps_t most, is;
	} of[] = { { "TTFT", r->o->slo_ttft, r->latency.of[LATENCY_TTFT].p99 },
		   { "TPOT", r->o->slo_tpot, r->latency.of[LATENCY_TPOT].p99 } };

	for (int i = 0; i < 2; i++)
		if (of[i].most && of[i].is > of[i].most)
			return err_set(e, ERR_BOUND,
			               "the 99th percentile of %s is %.6g ms, above the %.6g ms asked for", of[i].what,
			               (double)of[i].is / 1e9, (double)of[i].most / 1e9);
	return 0;
}

static int serve(const struct serve_opts *o, const struct sched_policy *p, const struct run_opts *how,
                 enum out_format f, struct str *out, struct err *e)
{
	struct serve_run r = { .o = o, .policy = *p, .how = *how };
	int rc = prepared(&r, e) < 0 || served(&r, e) < 0 ? -1 : 0;

	if (rc == 0) {
		if (f == OUT_JSON)
			serve_json(&r, out);
		else if (f == OUT_CSV)
			serve_csv(&r, out);
		else
			serve_table(&r, out);
		rc = bounds(&r, e);
	}
	serve_watch_free(r.watch);
	sched_free(&r.result);
	arrive_free(&r.arrivals);
	side_free(&r.draft);
	side_free(&r.own);
	machine_conf_free(r.conf);
	return rc;
}

/* --- options -------------------------------------------------------------------------------------------------------------------- */

static int word(const char *given, const char *option, const char *one, const char *other, bool *second, struct err *e)
{
	*second = given && strcmp(given, other) == 0;
	if (!given || *second || strcmp(given, one) == 0)
		return 0;
	return err_set(e, ERR_USAGE, "'%s' is unknown, for option '--%s': it is %s or %s", given, option, one, other);
}

static int at_most(uint64_t v, uint64_t most, const char *option, struct err *e)
{
	return v <= most ? 0
	                 : err_set(e, ERR_USAGE, "%" PRIu64 " is more than %" PRIu64 ", for option '--%s'", v, most,
	                           option);
}

/* Contexts that models are made for are multiples of powers of two; one that is not is refused by name. */
static int check_block(uint64_t block, struct err *e)
{
	uint64_t down = 1;

	while (2 * down <= block && 2 * down <= BLOCK_MOST)
		down *= 2;
	if (block == down)
		return 0;
	return err_set(e, ERR_USAGE,
	               "a block of %" PRIu64
	               " tokens, for option '--block': it is a power of two from 1 to %d, so that it divides"
	               " a model's context; the next one down is %" PRIu64,
	               block, BLOCK_MOST, down);
}

static int speculation(const struct serve_opts *o, struct sched_policy *p, struct err *e)
{
	if (at_most(o->draft, SCHED_DRAFT, "draft", e) < 0)
		return -1;
	if (!o->draft && (o->accept_ppm != NOT_GIVEN || o->draft_model || o->draft_ppm != NOT_GIVEN))
		return err_set(e, ERR_USAGE, "option '--%s' is of drafted tokens: '--draft K' says how many",
		               o->accept_ppm != NOT_GIVEN ? "accept"
		               : o->draft_model           ? "draft-model"
		                                          : "draft-share");
	if (o->draft && o->accept_ppm == NOT_GIVEN)
		return err_set(e, ERR_USAGE, "how many drafted tokens are right is missing: '--accept 0.7'");
	if (o->draft && o->accept_ppm > 1000000)
		return err_set(e, ERR_USAGE, "a chance of %g, for option '--accept': it lies between 0 and 1",
		               o->accept_ppm / 1e6);
	if (o->draft_model && o->draft_ppm != NOT_GIVEN)
		return err_set(e, ERR_USAGE,
		               "a draft's model has its own cost: give '--draft-model' or '--draft-share'");
	p->draft = (uint32_t)o->draft;
	p->accept_ppm = o->draft ? o->accept_ppm : 0;
	return 0;
}

static int policy(const struct serve_opts *o, struct sched_policy *p, struct err *e)
{
	struct err inner = ERR_INIT;
	bool swap;

	if (at_most(o->batch, SCHED_BATCH, "max-batch", e) < 0 ||
	    at_most(o->tokens, ARRIVE_TOKENS, "max-tokens", e) < 0 ||
	    at_most(o->chunk == NONE_GIVEN ? 0 : o->chunk, ARRIVE_TOKENS, "chunk", e) < 0 ||
	    check_block(o->block ? o->block : BLOCK, e) < 0 || speculation(o, p, e) < 0 ||
	    word(o->reserve, "reserve", "prompt", "all", &p->reserve_all, e) < 0 ||
	    word(o->preempt, "preempt", "recompute", "swap", &swap, e) < 0)
		return -1;
	p->max_batch = o->batch ? (uint32_t)o->batch : MAX_BATCH;
	p->chunk = o->chunk == NONE_GIVEN ? CHUNK : (uint32_t)o->chunk;
	p->max_tokens = o->tokens ? (uint32_t)o->tokens : MAX_TOKENS;
	if (!o->tokens && p->max_tokens < (uint64_t)p->max_batch * (1 + p->draft) + p->chunk)
		p->max_tokens = p->max_batch * (1 + p->draft) + p->chunk;
	p->block = o->block ? (uint32_t)o->block : BLOCK;
	p->preempt = swap ? SCHED_SWAP : SCHED_RECOMPUTE;
	p->overhead = o->overhead;
	p->seed = o->seed;
	if (cfg_parse_value(CFG_T_RATE, o->swap_rate ? o->swap_rate : "32 GB/s", &p->swap_rate, &inner) < 0 ||
	    !p->swap_rate)
		return err_set(e, ERR_USAGE, "%s, for option '--swap-rate'",
		               inner.kind ? inner.msg : "nothing is swapped at 0 B/s");
	return 0;
}

static int check_list(const struct serve_opts *o, struct err *e)
{
	const char *stray = o->rate       ? "rate"
	                    : o->n        ? "requests-n"
	                    : o->prompt   ? "prompt"
	                    : o->output   ? "output"
	                    : o->arrivals ? "arrivals"
	                                  : NULL;

	if (o->requests && stray)
		return err_set(e, ERR_USAGE,
		               "option '--%s' is of requests that are drawn, and '-r' gives a list of them",
		               strcmp(stray, "requests-n") == 0 ? "number" : stray);
	if (!o->requests && !o->rate && !o->arrivals)
		return err_set(
			e, ERR_USAGE,
			"the requests are missing: a list, -r REQUESTS.csv, or drawn ones, '--rate 4/s --number 1000"
			" --prompt 512 --output 128'");
	return at_most(o->n, ARRIVE_MOST, "number", e);
}

static int serve_check_options(struct serve_opts *o, struct sched_policy *p, struct run_opts *how, enum out_format *f,
                               struct err *e)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	bool exact;

	if (!o->config)
		return err_set(e, ERR_USAGE, "the machine is missing: -c CONFIG.yaml");
	if (workload_check(&o->workload, WORKLOAD_SERVE, e) < 0 || check_list(o, e) < 0 ||
	    run_fidelity_parse(o->fidelity, &how->fidelity, e) < 0 ||
	    (o->start && run_start_parse(o->start, &how->start, e) < 0) ||
	    word(o->steps, "steps", "grid", "exact", &exact, e) < 0 || at_most(o->jobs, STEPS_JOBS, "jobs", e) < 0 ||
	    at_most(o->check, CHECK_MOST, "check", e) < 0)
		return -1;
	if (!o->share_ppm || o->share_ppm > 1000000)
		return err_set(e, ERR_USAGE,
		               "a share of the memory lies above 0 and is 1 at most, for option '--memory'");
	if (exact)
		o->check = 0;
	if (o->jobs == 0)
		o->jobs = cpus < 1 ? 1 : cpus < STEPS_JOBS ? (uint64_t)cpus : STEPS_JOBS;
	if (policy(o, p, e) < 0)
		return -1;
	if (o->draft_ppm == NOT_GIVEN)
		o->draft_ppm = 0;
	how->seed = o->seed;
	return cmd_format(o->format, f, e);
}

int cmd_serve(int argc, char **argv, struct str *out, struct err *e)
{
	struct serve_opts o = { .fidelity = "analytic",
		                .seed = 1,
		                .chunk = NONE_GIVEN,
		                .check = CHECKED,
		                .accept_ppm = NOT_GIVEN,
		                .draft_ppm = NOT_GIVEN,
		                .share_ppm = SHARE };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG", "the machine, in YAML" },
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.workload, WORKLOAD_SERVE) },
		{ 'r', "requests", OPT_READ, &o.requests, "REQUESTS.csv",
		  "the list: columns arrival_s (or arrival_ms; without either all come at once), prompt and output, in tokens" },
		{ 0, "rate", OPT_TEXT, &o.rate, "RATE", "draw requests: so many arrive, 4/s or 30/min" },
		{ 0, "number", OPT_COUNT, &o.n, "N", "of requests that are drawn; 1000 by default" },
		{ 0, "prompt", OPT_TEXT, &o.prompt, "LENGTH",
		  "of requests that are drawn, in tokens: 512 (default), uniform:128:1024, exp:512, lognormal:512:0.8" },
		{ 0, "output", OPT_TEXT, &o.output, "LENGTH", "the same of what is produced; 128 by default" },
		{ 0, "arrivals", OPT_TEXT, &o.arrivals, "poisson|constant|at-once",
		  "how they arrive: at random (default), evenly, or all before the first step" },
		{ 0, "write-requests", OPT_WRITE, &o.write, "FILE.csv",
		  "write the list there, drawn or read, as -r reads it" },
		{ 0, "max-batch", OPT_COUNT, &o.batch, "N", "sequences at a time; 64 by default" },
		{ 0, "max-tokens", OPT_COUNT, &o.tokens, "N",
		  "tokens of a step, of sequences that decode and of prompts; 2048 by default, or as many as the batch and a chunk"
		  " need" },
		{ 0, "chunk", OPT_U64, &o.chunk, "N",
		  "tokens of prompts in a step beside whatever decodes; 512 by default. 0: prompts are computed whole, in steps of their"
		  " own, and nobody decodes meanwhile" },
		{ 0, "block", OPT_COUNT, &o.block, "TOKENS",
		  "of a block of the paged KV cache, a power of two; 16 by default" },
		{ 0, "memory", OPT_PPM, &o.share_ppm, "SHARE",
		  "of 'dram.capacity' to be used; what weights and activations leave of it is the cache's. 90 % by default" },
		{ 0, "kv-memory", OPT_TEXT, &o.kv_memory, "SIZE", "of the cache, in place of that: '8 GiB'" },
		{ 0, "reserve", OPT_TEXT, &o.reserve, "prompt|all",
		  "blocks that must be free before a request is let in: its prompt's (default), or those of all its output, too: then"
		  " nobody ever gives up blocks" },
		{ 0, "preempt", OPT_TEXT, &o.preempt, "recompute|swap",
		  "what becomes of who gives up blocks: its tokens are computed again (default), or its blocks go to the host and"
		  " back" },
		{ 0, "swap-rate", OPT_TEXT, &o.swap_rate, "RATE",
		  "to the host and back; '32 GB/s' by default, as PCIe 4.0 with 16 lanes" },
		{ 0, "draft", OPT_COUNT, &o.draft, "K",
		  "speculate: each step checks K drafted tokens of each sequence; none by default" },
		{ 0, "accept", OPT_PPM, &o.accept_ppm, "P",
		  "the chance that a drafted token is right where those before it are" },
		{ 0, "draft-model", OPT_READ, &o.draft_model, "MODEL",
		  "who drafts, on the same machine: a step of its own for each token" },
		{ 0, "draft-share", OPT_PPM, &o.draft_ppm, "SHARE",
		  "what a drafted token costs of a step without speculation, in place of a model: 0 (default) where drafts are looked up"
		  " in the prompt, some 5 % for heads on the model itself" },
		{ 0, "overhead", OPT_PS, &o.overhead, "TIME", "of the host between two steps; 0 ns by default" },
		{ 0, "slo-ttft", OPT_PS, &o.slo_ttft, "TIME",
		  "a bound for the time to the first token: exit code 1 where more than 1 % of the requests take longer" },
		{ 0, "slo-tpot", OPT_PS, &o.slo_tpot, "TIME", "the same for the time of each token after the first" },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE",
		  "change a parameter of the machine first; may be repeated" },
		{ 0, "fidelity", OPT_TEXT, &o.fidelity, "event|analytic",
		  "how steps are simulated: in closed form (default), or with events, which takes several times as long" },
		{ 0, "start", OPT_TEXT, &o.start, "steady|cold",
		  "what is on chip when a step begins, as for 'npusim run'. By default what a step like it leaves (steady); on a GPU nothing"
		  " (cold), which takes half as long to simulate and is within 0.1 % of it, as weights are many times its L2" },
		{ 0, "steps", OPT_TEXT, &o.steps, "grid|exact",
		  "simulate steps on a grid of batch, context and chunk and read the others off lines between them (default), or every step that"
		  " differs in anything" },
		{ 0, "check", OPT_U64, &o.check, "N",
		  "simulate up to N of the steps that only decode, and of those with prompts, as they are, and say how far the grid was"
		  " off; 4 by default" },
		{ 'j', "jobs", OPT_COUNT, &o.jobs, "N",
		  "workers; as many as there are processors by default. The answer does not depend on it" },
		{ 0, "seed", OPT_U64, &o.seed, "N", "of everything drawn at random; 1 by default" },
		{ 0, "timeline", OPT_WRITE, &o.timeline, "OUT.json",
		  "write steps, batch, queue and blocks over time there, for ui.perfetto.dev" },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP "; csv has the requests" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim serve -c CONFIG -m MODEL (-r REQUESTS.csv | --rate RATE [--number N] [--prompt LENGTH] [--output LENGTH]) [options]",
		"Serves requests that arrive over time on one machine, as an inference engine does: continuous batching, prompts in chunks"
		" beside what decodes, a paged KV cache, speculation. It says how long people wait for the first token (TTFT) and for each"
		" one after it (TPOT), how many tokens and requests a second that is, how full the memory gets, and what it takes in"
		" joules where the machine's power is modelled. Each distinct step is simulated once, so a thousand requests take seconds."
		" Nothing is stored in a database: --format json and csv are what to keep.",
		"npusim serve -c configs/npu/dsocr.yaml -m llama-3.1-8b --rate 2/s --prompt 512 --output 128\n"
		"npusim serve -c configs/npu/dsocr.yaml -m llama-3.1-8b -r workloads/requests/chat.csv\n"
		"npusim serve -c configs/gpu/h200.yaml -m llama-3.1-8b --rate 20/s --slo-ttft '500 ms' --slo-tpot '30 ms'\n"
		"npusim serve -c configs/npu/dsocr.yaml -m llama-3.1-8b --arrivals at-once --max-batch 32 --chunk 0\n"
		"npusim serve -c configs/npu/dsocr.yaml -m llama-3.1-8b --rate 2/s --draft 4 --accept 0.7 --draft-model llama-3.2-1b\n"
		"npusim serve -c configs/npu/dsocr.yaml -m llama-3.1-8b --rate 2/s --kv-memory '2 GiB' --preempt swap --timeline /tmp/serve.json\n",
		opts,
		0,
		0
	};
	struct run_opts how = { .start = RUN_STEADY };
	struct opt_list args = { NULL, 0 };
	struct sched_policy p = { 0 };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = serve_check_options(&o, &p, &how, &f, e)) == 0)
		rc = serve(&o, &p, &how, f, out, e);
	opt_list_free(&args);
	opt_list_free(&o.sets);
	return rc < 0 ? -1 : 0;
}
