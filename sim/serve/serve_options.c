/* serve_options.c - what is asked in people's words, checked: the policy, the requests and how steps are run. */
#include "sim/serve/serve_options.h"

#include <inttypes.h>
#include <string.h>

#include "sim/serve/serve_pools.h"

#define MAX_BATCH  64
#define MAX_TOKENS 2048
#define CHUNK      512
#define BLOCK      16
#define BLOCK_MOST 1024
#define CHECK_MOST 10000
#define KV_MOST    UINT64_C(1000000000000000)

/* Without an engine's. */
static const struct preset no_engine = { .max_batch = MAX_BATCH, .max_tokens = MAX_TOKENS, .chunk = CHUNK };

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
	if (!o->draft &&
	    (o->accept_ppm != SERVE_NOT_GIVEN || o->ask.draft_model || o->ask.draft_ppm != SERVE_NOT_GIVEN))
		return err_set(e, ERR_USAGE, "option '--%s' is of drafted tokens: '--draft K' says how many",
		               o->accept_ppm != SERVE_NOT_GIVEN ? "accept"
		               : o->ask.draft_model             ? "draft-model"
		                                                : "draft-share");
	if (o->draft && o->accept_ppm == SERVE_NOT_GIVEN)
		return err_set(e, ERR_USAGE, "how many drafted tokens are right is missing: '--accept 0.7'");
	if (o->draft && o->accept_ppm > 1000000)
		return err_set(e, ERR_USAGE, "a chance of %g, for option '--accept': it lies between 0 and 1",
		               o->accept_ppm / 1e6);
	if (o->ask.draft_model && o->ask.draft_ppm != SERVE_NOT_GIVEN)
		return err_set(e, ERR_USAGE,
		               "a draft's model has its own cost: give '--draft-model' or '--draft-share'");
	p->draft = (uint32_t)o->draft;
	p->accept_ppm = o->draft ? o->accept_ppm : 0;
	return 0;
}

static int policy(const struct serve_opts *o, const struct preset *h, struct sched_policy *p, struct err *e)
{
	struct err inner = ERR_INIT;
	bool swap;

	if (at_most(o->batch, SCHED_BATCH, "max-batch", e) < 0 ||
	    at_most(o->tokens, ARRIVE_TOKENS, "max-tokens", e) < 0 ||
	    at_most(o->concurrency, ARRIVE_MOST, "concurrency", e) < 0 ||
	    at_most(o->chunk == SERVE_NONE_GIVEN ? 0 : o->chunk, ARRIVE_TOKENS, "chunk", e) < 0 ||
	    check_block(o->block ? o->block : BLOCK, e) < 0 || speculation(o, p, e) < 0 ||
	    word(o->reserve, "reserve", "prompt", "all", &p->reserve_all, e) < 0 ||
	    word(o->preempt, "preempt", "recompute", "swap", &swap, e) < 0)
		return -1;
	p->max_batch = o->batch ? (uint32_t)o->batch : h->max_batch;
	p->chunk = o->chunk == SERVE_NONE_GIVEN ? h->chunk : (uint32_t)o->chunk;
	p->max_tokens = o->tokens ? (uint32_t)o->tokens : h->max_tokens;
	if (!o->tokens && h == &no_engine && p->max_tokens < (uint64_t)p->max_batch * (1 + p->draft) + p->chunk)
		p->max_tokens = p->max_batch * (1 + p->draft) + p->chunk;
	p->block = o->block ? (uint32_t)o->block : BLOCK;
	p->preempt = swap ? SCHED_SWAP : SCHED_RECOMPUTE;
	p->reserve_all |= h->reserve_all && !o->reserve;
	p->overhead = o->overhead ? o->overhead : h->step;
	p->sequence = h->sequence;
	p->ahead = h->ahead;
	p->request = h->request;
	p->prompt_token = h->prompt_token;
	p->prefix = h->prefix || o->prefix;
	p->loop = (uint32_t)o->concurrency;
	p->seed = o->ask.seed;
	if (cfg_parse_value(CFG_T_RATE, o->swap_rate ? o->swap_rate : "32 GB/s", &p->swap_rate, &inner) < 0 ||
	    !p->swap_rate)
		return err_set(e, ERR_USAGE, "%s, for option '--swap-rate'",
		               inner.kind ? inner.msg : "nothing is swapped at 0 B/s");
	return 0;
}

/* Drawn lists are of one request a second then, and stretched. */
static int check_find(struct serve_opts *o, struct err *e)
{
	struct serve_ask *a = &o->ask;

	if (!o->find)
		return o->limits ? err_set(e, ERR_USAGE,
		                           "what '--limits' doubles things for is a rate: '--find-rate' finds it")
		                 : 0;
	if (a->rate)
		return err_set(e, ERR_USAGE, "'--find-rate' finds what '--rate' gives: leave one out");
	if (!a->slo_ttft && !a->slo_tpot)
		return err_set(e, ERR_USAGE,
		               "the rate is found for bounds: --slo-ttft '200 ms', --slo-tpot '30 ms', or both");
	if (!a->slo_ppm || a->slo_ppm > 1000000)
		return err_set(e, ERR_USAGE, "a share lies above 0 and is 100 %% at most, for option '--share'");
	if (!a->requests)
		a->rate = "1/s";
	return 0;
}

static int check_list(const struct serve_opts *o, struct err *e)
{
	const char *stray = o->ask.rate       ? "rate"
	                    : o->ask.n        ? "requests-n"
	                    : o->ask.prompt   ? "prompt"
	                    : o->ask.output   ? "output"
	                    : o->ask.arrivals ? "arrivals"
	                                      : NULL;

	if (o->ask.requests && stray)
		return err_set(e, ERR_USAGE,
		               "option '--%s' is of requests that are drawn, and '-r' gives a list of them",
		               strcmp(stray, "requests-n") == 0 ? "number" : stray);
	if (!o->ask.requests && !o->ask.rate && !o->ask.arrivals)
		return err_set(
			e, ERR_USAGE,
			"the requests are missing: a list, -r REQUESTS.csv, or drawn ones, '--rate 4/s --number 1000"
			" --prompt 512 --output 128'");
	return at_most(o->ask.n, ARRIVE_MOST, "number", e);
}

/* A closed loop's requests come when others leave. */
static int check_loop(struct serve_opts *o, struct err *e)
{
	if (o->curve && (o->concurrency || o->timeline))
		return err_set(e, ERR_USAGE, "'--curve' is several closed loops: leave '--%s' out",
		               o->concurrency ? "concurrency" : "timeline");
	if (!o->concurrency && !o->curve)
		return 0;
	if (o->ask.rate || o->find || o->ask.arrivals)
		return err_set(e, ERR_USAGE,
		               "with '--%s' a request comes when one leaves: option '--%s' says it otherwise",
		               o->curve ? "curve" : "concurrency",
		               o->find       ? "find-rate"
		               : o->ask.rate ? "rate"
		                             : "arrivals");
	if (!o->ask.requests)
		o->ask.arrivals = "at-once";
	return 0;
}

/* Each machine is one, or several of them. */
static int pools(struct serve_opts *o, struct err *e)
{
	struct serve_ask *a = &o->ask;
	struct err inner = ERR_INIT;
	bool robin, stop;

	if (a->config && (a->prefill || a->decode))
		return err_set(e, ERR_USAGE, "'-c' names machines that do all of a request: leave out '--%s'",
		               a->prefill ? "prefill" : "decode");
	if (!a->prefill != !a->decode)
		return err_set(e, ERR_USAGE, "'--%s' is missing: one pool computes prompts, the other decodes",
		               a->prefill ? "decode" : "prefill");
	a->several = a->decode || (a->config && serve_pools_count(a->config));
	if (!a->decode && (o->kv_rate || o->kv_copy || a->kv_latency))
		return err_set(e, ERR_USAGE, "option '--%s' is of caches that move from '--prefill' to '--decode'",
		               o->kv_rate   ? "kv-rate"
		               : o->kv_copy ? "kv-copy"
		                            : "kv-latency");
	if (!a->several && o->router)
		return err_set(e, ERR_USAGE, "option '--router' is of several machines, as in '-c %s:4'", a->config);
	if (a->kv_latency && !o->kv_rate)
		return err_set(e, ERR_USAGE, "option '--kv-latency' is of a rate: --kv-rate '50 GB/s'");
	if (o->kv_rate &&
	    (cfg_parse_value(CFG_T_RATE, o->kv_rate, &a->kv_rate, &inner) < 0 || !a->kv_rate || a->kv_rate > KV_MOST))
		return err_set(e, ERR_USAGE, "%s, for option '--kv-rate'",
		               inner.kind ? inner.msg : "caches move at more than 0 B/s and at 1 PB/s at the most");
	if (word(o->router, "router", "least", "robin", &robin, e) < 0 ||
	    word(o->kv_copy, "kv-copy", "beside", "stop", &stop, e) < 0)
		return -1;
	a->router = robin ? SCHED_ROBIN : SCHED_LEAST;
	a->copies = !o->kv_copy ? SERVE_COPIES_UNKNOWN : stop ? SERVE_COPIES_STOP : SERVE_COPIES_BESIDE;
	return 0;
}

int serve_options(struct serve_opts *o, struct err *e)
{
	struct serve_ask *a = &o->ask;
	struct arrive_plan drawn;

	a->start_given = o->start;
	a->how.start = RUN_STEADY;
	a->chunk_given = o->chunk != SERVE_NONE_GIVEN;
	if (pools(o, e) < 0 || workload_check(&a->workload, WORKLOAD_SERVE, e) < 0 || check_loop(o, e) < 0 ||
	    check_find(o, e) < 0 || check_list(o, e) < 0 || (!a->requests && serve_plan(a, &drawn, e) < 0) ||
	    run_fidelity_parse(o->fidelity, &a->how.fidelity, e) < 0 ||
	    (o->start && run_start_parse(o->start, &a->how.start, e) < 0) ||
	    word(o->steps, "steps", "grid", "exact", &a->exact, e) < 0 || at_most(a->check, CHECK_MOST, "check", e) < 0)
		return -1;
	if (!a->share_ppm || a->share_ppm > 1000000)
		return err_set(e, ERR_USAGE,
		               "a share of the memory lies above 0 and is 1 at most, for option '--memory'");
	if (a->exact)
		a->check = 0;
	if (o->engine && strcmp(o->engine, "none") != 0 && preset_load(o->engine, &o->preset, &o->engine_rows, e) < 0)
		return -1;
	a->engine = o->engine_rows;
	a->attention = (enum op_library)o->preset.attention;
	a->mixed = o->preset.mixed;
	if (a->engine && o->preset.beside && a->copies == SERVE_COPIES_UNKNOWN)
		a->copies = SERVE_COPIES_BESIDE;
	a->find = o->find;
	if (policy(o, a->engine ? &o->preset : &no_engine, &a->policy, e) < 0)
		return -1;
	if (a->draft_ppm == SERVE_NOT_GIVEN)
		a->draft_ppm = 0;
	a->how.seed = a->seed;
	return 0;
}
