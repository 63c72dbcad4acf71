/* serve_kept.c - some of the steps that were served, simulated as they are: how far the table was off. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/serve/serve_int.h"

struct sample {
	struct sched_step step;
	struct sched_piece *pieces;
};

/* Every so many steps one is kept; twice as many when there is no room. */
struct spread {
	struct sample *v;
	size_t n, cap;
	uint64_t seen, stride;
};

struct serve_kept {
	struct spread of[SERVE_KINDS];
};

struct serve_kept *serve_kept_new(uint64_t most, struct err *e)
{
	struct serve_kept *x = calloc(1, sizeof *x);

	for (int k = 0; x && k < SERVE_KINDS; k++) {
		x->of[k] = (struct spread){ calloc(most + 1, sizeof *x->of[k].v), 0, most, 0, 1 };
		if (!x->of[k].v) {
			serve_kept_free(x);
			x = NULL;
		}
	}
	if (!x)
		err_nomem(e, "for steps that are kept");
	return x;
}

void serve_kept_free(struct serve_kept *x)
{
	if (!x)
		return;
	for (int k = 0; k < SERVE_KINDS; k++) {
		for (size_t i = 0; i < x->of[k].n; i++)
			free(x->of[k].v[i].pieces);
		free(x->of[k].v);
	}
	free(x);
}

static void thin(struct spread *w)
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

static void keep(struct spread *w, const struct sched_step *s)
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

static int check(const struct spread *w, struct cost_table *t, struct serve_check *out, struct err *e)
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

void serve_kept_add(struct serve_kept *x, const struct sched_step *s)
{
	keep(&x->of[s->n_pieces ? SERVE_PROMPTS : SERVE_DECODE], s);
}

int serve_kept_check(const struct serve_kept *x, struct cost_table *t, struct serve_check out[SERVE_KINDS],
                     struct err *e)
{
	for (int k = 0; k < SERVE_KINDS; k++)
		if (check(&x->of[k], t, &out[k], e) < 0)
			return -1;
	return 0;
}

size_t serve_kept_count(const struct serve_kept *x, enum serve_kind of)
{
	return x->of[of].n;
}

const struct sched_step *serve_kept_step(const struct serve_kept *x, enum serve_kind of, size_t i)
{
	return &x->of[of].v[i].step;
}
