/* f_serve.c - any words where a server's load and policy are asked for: what is taken is served to the end, over a machine whose steps'
 * times are a formula.
 *
 * Words of the first line: length of prompts, of outputs, rate, skew, then whole numbers: requests, longest sequence, when,
 * and those of the policy. Lines behind it are the requests, as a table, in place of drawn ones. Beyond not crashing: every
 * token is produced once, nobody holds more blocks than there are, and times and sums are those of t_sched. */
#include <assert.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/serve/latency.h"
#include "sim/serve/sched.h"
#include "validate/tests/fuzz/targets.h"

#define REQUESTS 50
#define LONGEST  1000 /* tokens of a sequence: steps are what takes time here */

struct asked {
	struct arrive_plan plan;
	struct sched_policy p;
};

static uint64_t number(char **at)
{
	const char *word = strtok_r(NULL, " ", at);

	return word ? strtoull(word, NULL, 10) : 0;
}

static int parse(char *line, struct asked *x, struct err *e)
{
	char *at = NULL;
	const char *prompt = strtok_r(line, " ", &at), *output = prompt ? strtok_r(NULL, " ", &at) : NULL,
		   *rate = output ? strtok_r(NULL, " ", &at) : NULL;

	*x = (struct asked){ .plan = { .n = 1 } };
	if (!rate)
		return err_set(e, ERR_USAGE, "too few words");
	if (arrive_length_parse(prompt, "prompt", &x->plan.prompt, e) < 0 ||
	    arrive_length_parse(output, "output", &x->plan.output, e) < 0 ||
	    arrive_rate_parse(rate, &x->plan.gap, e) < 0)
		return -1;
	x->plan.n = 1 + number(&at) % REQUESTS;
	x->plan.context = 2 + (uint32_t)(number(&at) % LONGEST);
	x->plan.when = (enum arrive_when)(number(&at) % 3);
	x->p = (struct sched_policy){ .max_batch = (uint32_t)number(&at),
		                      .max_tokens = (uint32_t)number(&at),
		                      .chunk = (uint32_t)number(&at),
		                      .block = (uint32_t)number(&at),
		                      .blocks = number(&at),
		                      .reserve_all = number(&at) % 2,
		                      .preempt = (enum sched_preempt)(number(&at) % 2),
		                      .block_bytes = number(&at),
		                      .swap_rate = number(&at),
		                      .overhead = number(&at) % PS_MS,
		                      .draft = (uint32_t)number(&at),
		                      .accept_ppm = (uint32_t)number(&at),
		                      .seed = number(&at) };
	x->plan.seed = x->p.seed;
	return 0;
}

static int cost(void *ctx, const struct sched_step *s, struct sched_cost *out, struct err *e)
{
	(void)ctx;
	(void)e;
	*out = (struct sched_cost){ 5 * PS_MS + s->seqs * 100 * PS_US + s->context_sum * PS_NS +
		                            s->prompt_tokens * 20 * PS_US,
		                    s->seqs + s->prompt_tokens };
	return 0;
}

static void check(const struct asked *x, const struct arrivals *a, const struct sched_result *r)
{
	sched_u128 in_system = 0;
	struct latency sum;
	struct err e = ERR_INIT;
	uint64_t outputs = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct sched_request *q = &r->v[i];

		assert(a->v[i].at <= q->begun && q->begun < q->first && q->first <= q->last && q->last <= r->end);
		in_system += q->last - a->v[i].at;
		outputs += a->v[i].output;
	}
	assert(r->in_system == in_system && r->in_system == r->waiting + r->running && r->made == outputs);
	assert(r->blocks_peak <= x->p.blocks && r->batch_peak <= x->p.max_batch && r->worked <= r->busy);
	assert(!x->p.reserve_all || !r->preemptions);
	assert(r->steps == r->decode_steps + r->prompt_steps + r->mixed_steps && r->accepted <= r->checked);
	assert(latency_sum(a, r, &sum, &e) == 0 && sum.of[LATENCY_TTFT].n == a->n);
}

static bool is_long(const struct arrivals *a)
{
	if (a->n > REQUESTS)
		return true;
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].prompt > LONGEST || a->v[i].output > LONGEST)
			return true;
	return false;
}

static int read_table(const char *table, struct arrivals *a, struct err *e)
{
	struct input *in = input_mem(table, strlen(table), "fuzz", e);
	int rc;

	if (!in)
		abort();
	rc = arrive_read(in, a, e);
	input_free(in);
	return rc;
}

static void serve(const struct asked *x, const struct arrivals *a)
{
	struct err e = ERR_INIT;
	struct sched_result r = { .v = NULL };

	if (is_long(a))
		return;
	if (sched_check(&x->p, a, 0, NULL, &e) < 0) {
		assert(e.kind != ERR_NONE && e.msg[0]);
		return;
	}
	if (sched_run(&x->p, a, cost, NULL, NULL, &r, &e) == 0)
		check(x, a, &r);
	else
		assert(e.kind != ERR_NONE && e.msg[0]);
	sched_free(&r);
}

int fuzz_serve(const uint8_t *bytes, size_t n)
{
	struct err e = ERR_INIT;
	struct arrivals a = { .v = NULL };
	char *text = malloc(n + 1), *table;
	struct asked x;
	int rc;

	if (!text)
		abort();
	if (n)
		memcpy(text, bytes, n);
	text[n] = '\0';
	if ((table = strchr(text, '\n')))
		*table++ = '\0';
	rc = parse(text, &x, &e);
	if (rc == 0)
		rc = table && *table ? read_table(table, &a, &e) : arrive_make(&x.plan, &a, &e);
	if (rc == 0)
		serve(&x, &a);
	else
		assert(e.kind != ERR_NONE && e.msg[0]);
	arrive_free(&a);
	free(text);
	return 0;
}
