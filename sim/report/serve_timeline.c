#include "sim/report/serve_timeline.h"

#include <stdio.h>

#include "sim/serve/serve_pools.h"

#define FIRST 1 /* process, and its only thread; each machine is one */

static uint32_t process(const struct serve_timeline *w, const struct sched_tick *t)
{
	return (t->pool ? w->second : FIRST) + t->machine;
}

static void counter(struct serve_timeline *w, const char *name, const struct sched_tick *t, uint64_t v)
{
	struct out_json j;

	chrome_open_event(&w->c, &j, "C", name, process(w, t), (int)process(w, t));
	chrome_time(&j, "ts", (int64_t)(t->start / PS_NS));
	out_json_open(&j, "args", '{');
	out_json_u64(&j, name, v);
	out_json_close(&j, '}');
	chrome_close_event(&j);
}

static void span(struct serve_timeline *w, const struct sched_tick *t)
{
	const int64_t from = (int64_t)(t->start / PS_NS);
	struct out_json j;

	/* Blocks go to the host and back, and nothing is worked for. */
	chrome_open_event(&w->c, &j, "X",
	                  !t->n_pieces ? (t->seqs ? "decode" : "moves")
	                  : t->seqs    ? "mixed"
	                               : "prompt",
	                  process(w, t), (int)process(w, t));
	chrome_span(&j, "step", from, (int64_t)((t->start + t->time) / PS_NS) - from);
	out_json_open(&j, "args", '{');
	out_json_u64(&j, "decoding", t->seqs);
	out_json_u64(&j, "prompts", t->n_pieces);
	out_json_u64(&j, "prompt_tokens", t->prompt_tokens);
	out_json_u64(&j, "produced", t->made);
	out_json_close(&j, '}');
	chrome_close_event(&j);
}

static void step(void *arg, const struct sched_step *s, const struct sched_tick *t)
{
	struct serve_timeline *w = arg;

	(void)s;
	if (w->failed)
		return;
	span(w, t);
	counter(w, "decoding", t, t->seqs);
	counter(w, "waiting", t, t->waiting);
	counter(w, "kv blocks", t, t->blocks);
	w->failed = chrome_flush(&w->c, &w->e) < 0;
}

/* Nobody need go on then. */
static int failed(void *arg, struct err *e)
{
	const struct serve_timeline *w = arg;

	if (w->failed)
		*e = w->e;
	return w->failed ? -1 : 0;
}

static void names(struct serve_timeline *w, const struct serve_run *r)
{
	const struct serve_pools *x = r->pools;
	uint32_t at = FIRST;

	for (uint32_t p = 0; p < (x ? x->n : 1); p++)
		for (uint32_t k = 0; k < (x ? x->pool[p].machines : 1); k++, at++) {
			char name[128] = "server";

			if (p && !k)
				w->second = at;
			if (x)
				snprintf(name, sizeof name, "%s %u, %s",
				         x->n < 2 ? "server"
				         : p      ? "decode"
				                  : "prefill",
				         k + 1, x->pool[p].r->conf->cfg.name);
			chrome_name(&w->c, "process_name", at, (int)at, name);
			chrome_name(&w->c, "thread_name", at, (int)at, "steps");
		}
}

int serve_timeline_open(struct serve_timeline *w, const char *path, const struct serve_run *r, struct err *e)
{
	*w = (struct serve_timeline){ .watcher = { step, failed, w } };
	if (outfile_open(&w->file, path, e) < 0)
		return -1;
	chrome_begin(&w->c, &w->file, "ask for fewer requests, with '--number' or in a shorter list");
	names(w, r);
	return 0;
}

int serve_timeline_close(struct serve_timeline *w, int rc, struct err *e)
{
	rc = rc == 0 ? failed(w, e) : rc;
	if (rc == 0)
		chrome_end(&w->c);
	return outfile_close(&w->file, rc, e);
}
