/* serve_watch.c - looks on while requests are served: some steps for a check, all of them for a timeline. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/serve.h"
#include "sim/report/chrome.h"

#define STEPS 1 /* the timeline's only thread */

struct sample {
	struct sched_step step;
	struct sched_piece *pieces;
};

/* Every so many steps one is kept; twice as many when there is no room. */
struct kept {
	struct sample *v;
	size_t n, cap;
	uint64_t seen, stride;
};

struct serve_watch {
	struct kept kept[SERVE_KINDS];
	bool timeline, failed;
	struct outfile file;
	struct chrome c;
	struct err e;
};

static void name_all(struct serve_watch *w)
{
	chrome_name(&w->c, "process_name", STEPS, STEPS, "server");
	chrome_name(&w->c, "thread_name", STEPS, STEPS, "steps");
}

struct serve_watch *serve_watch_new(const char *timeline, uint64_t samples, struct err *e)
{
	struct serve_watch *w = calloc(1, sizeof *w);

	for (int k = 0; w && k < SERVE_KINDS; k++) {
		w->kept[k] = (struct kept){ calloc(samples + 1, sizeof *w->kept[k].v), 0, samples, 0, 1 };
		if (!w->kept[k].v) {
			serve_watch_free(w);
			w = NULL;
		}
	}
	if (!w) {
		err_nomem(e, "for steps that are kept");
		return NULL;
	}
	if (timeline && outfile_open(&w->file, timeline, e) < 0) {
		serve_watch_free(w);
		return NULL;
	}
	if ((w->timeline = timeline != NULL)) {
		chrome_begin(&w->c, &w->file, "ask for fewer requests, with '--number' or in a shorter list");
		name_all(w);
	}
	return w;
}

/* --- samples ----------------------------------------------------------------------------------------------------------- */

static void thin(struct kept *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->n; i++)
		if (i % 2 == 0)
			w->v[kept++] = w->v[i];
		else
			free(w->v[i].pieces);
	w->n = kept;
	w->stride *= 2;
}

static void serve_watch_keep(struct kept *w, const struct sched_step *s)
{
	struct sample *x;

	if (!w->cap || w->seen++ % w->stride)
		return;
	if (w->n == w->cap) {
		thin(w);
		if ((w->seen - 1) % w->stride)
			return;
	}
	x = &w->v[w->n];
	*x = (struct sample){ .step = *s };
	if (s->n_pieces) {
		if (!(x->pieces = malloc(s->n_pieces * sizeof *x->pieces)))
			return; /* a check of one step less */
		memcpy(x->pieces, s->pieces, s->n_pieces * sizeof *x->pieces);
	}
	x->step.pieces = x->pieces;
	w->n++;
}

static int cmd_serve_watch_check(const struct kept *w, struct cost_table *t, struct serve_check *out, struct err *e)
{
	*out = (struct serve_check){ .n = w->n };
	for (size_t i = 0; i < w->n; i++) {
		struct sched_cost a, b;
		double off;

		if (cost_exact(t, &w->v[i].step, &a, e) < 0 || cost_of(t, &w->v[i].step, &b, e) < 0)
			return -1;
		off = fabs((double)b.time / (double)a.time - 1);
		out->mean += 100 * off / (double)w->n;
		out->most = 100 * off > out->most ? 100 * off : out->most;
	}
	return 0;
}

int serve_watch_check(struct serve_watch *w, struct cost_table *t, struct serve_check out[SERVE_KINDS], struct err *e)
{
	for (int k = 0; k < SERVE_KINDS; k++)
		if (cmd_serve_watch_check(&w->kept[k], t, &out[k], e) < 0)
			return -1;
	return 0;
}

/* --- a timeline --------------------------------------------------------------------------------------------------------- */

static void counter(struct serve_watch *w, const char *name, ps_t at, uint64_t v)
{
	struct out_json j;

	chrome_open_event(&w->c, &j, "C", name, STEPS, STEPS);
	chrome_time(&j, "ts", (int64_t)(at / PS_NS));
	out_json_open(&j, "args", '{');
	out_json_u64(&j, name, v);
	out_json_close(&j, '}');
	chrome_close_event(&j);
}

static void span(struct serve_watch *w, const struct sched_tick *t)
{
	const int64_t from = (int64_t)(t->start / PS_NS);
	struct out_json j;

	chrome_open_event(&w->c, &j, "X", !t->n_pieces ? "decode" : t->seqs ? "mixed" : "prompt", STEPS, STEPS);
	chrome_span(&j, "step", from, (int64_t)((t->start + t->time) / PS_NS) - from);
	out_json_open(&j, "args", '{');
	out_json_u64(&j, "decoding", t->seqs);
	out_json_u64(&j, "prompts", t->n_pieces);
	out_json_u64(&j, "prompt_tokens", t->prompt_tokens);
	out_json_u64(&j, "produced", t->made);
	out_json_close(&j, '}');
	chrome_close_event(&j);
}

void serve_watch_step(struct serve_watch *w, const struct sched_step *s, const struct sched_tick *t)
{
	serve_watch_keep(&w->kept[s->n_pieces ? SERVE_PROMPTS : SERVE_DECODE], s);
	if (!w->timeline || w->failed)
		return;
	span(w, t);
	counter(w, "decoding", t->start, t->seqs);
	counter(w, "waiting", t->start, t->waiting);
	counter(w, "kv blocks", t->start, t->blocks);
	w->failed = chrome_flush(&w->c, &w->e) < 0;
}

int serve_watch_failed(const struct serve_watch *w, struct err *e)
{
	if (w->failed)
		*e = w->e;
	return w->failed ? -1 : 0;
}

int serve_watch_close(struct serve_watch *w, int rc, struct err *e)
{
	if (!w->timeline)
		return rc;
	w->timeline = false;
	rc = rc == 0 ? serve_watch_failed(w, e) : rc;
	if (rc == 0)
		chrome_end(&w->c);
	return outfile_close(&w->file, rc, e);
}

void serve_watch_free(struct serve_watch *w)
{
	struct err none = ERR_INIT;

	if (!w)
		return;
	serve_watch_close(w, -1, &none);
	for (int k = 0; k < SERVE_KINDS; k++) {
		for (size_t i = 0; i < w->kept[k].n; i++)
			free(w->kept[k].v[i].pieces);
		free(w->kept[k].v);
	}
	free(w);
}
