#include "sim/report/serve_timeline.h"

#define STEPS 1 /* the only thread */

static void counter(struct serve_timeline *w, const char *name, ps_t at, uint64_t v)
{
	struct out_json j;

	chrome_open_event(&w->c, &j, "C", name, STEPS, STEPS);
	chrome_time(&j, "ts", (int64_t)(at / PS_NS));
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
	                  STEPS, STEPS);
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
	counter(w, "decoding", t->start, t->seqs);
	counter(w, "waiting", t->start, t->waiting);
	counter(w, "kv blocks", t->start, t->blocks);
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

int serve_timeline_open(struct serve_timeline *w, const char *path, struct err *e)
{
	*w = (struct serve_timeline){ .watcher = { step, failed, w } };
	if (outfile_open(&w->file, path, e) < 0)
		return -1;
	chrome_begin(&w->c, &w->file, "ask for fewer requests, with '--number' or in a shorter list");
	chrome_name(&w->c, "process_name", STEPS, STEPS, "server");
	chrome_name(&w->c, "thread_name", STEPS, STEPS, "steps");
	return 0;
}

int serve_timeline_close(struct serve_timeline *w, int rc, struct err *e)
{
	rc = rc == 0 ? failed(w, e) : rc;
	if (rc == 0)
		chrome_end(&w->c);
	return outfile_close(&w->file, rc, e);
}
