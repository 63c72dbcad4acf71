#include "sim/report/serve_range.h"

#include <math.h>

#include "sim/base/path.h"
#include "sim/report/run_verdict.h"
#include "sim/serve/serve_pools.h"

/* Typical steps of a machine, as they are shown. */
struct typical {
	const struct machine_conf *conf;
	const struct baseline *baseline;
	struct arena *arena;
	double low, high; /* sums of logarithms */
	size_t n;
	bool unknown;
};

static void shown(void *arg, const struct op_stream *x, const struct run_result *result)
{
	struct typical *t = arg;
	const struct run_report r = { .conf = t->conf, .stream = x, .result = result };
	struct interval_range range;

	if (!run_verdict_range(&r, t->baseline, t->arena, &range)) {
		t->unknown = true;
		return;
	}
	t->low += log(range.low);
	t->high += log(range.high);
	t->n++;
}

/* 1: there are such steps; 0: none, or nothing is known of them; `unknown` then. */
static int steps_of(struct serve_run *r, uint32_t pool, enum serve_kind of, const struct baseline *b,
                    struct interval_range *out, bool *unknown, struct err *e)
{
	const struct serve_run *x = serve_pool_run(r, pool);
	struct typical t = { .conf = x->conf, .baseline = b, .arena = arena_new(0) };
	int rc;

	if (!t.arena)
		return err_nomem(e, "for an interval");
	rc = serve_show(r, pool, of, shown, &t, e);
	arena_free(t.arena);
	*unknown |= t.unknown;
	if (rc < 0 || !t.n)
		return rc;
	*out = (struct interval_range){ exp(t.low / (double)t.n), exp(t.high / (double)t.n) };
	return 1;
}

static uint64_t millionths(double x)
{
	return x * 1e6 < 1 ? 1 : (uint64_t)(x * 1e6 + 0.5);
}

static int both_ends(struct serve_run *r, struct serve_range *x, struct err *e)
{
	struct serve_stretch fast, slow;

	for (int k = 0; k < SCHED_POOLS; k++)
		for (int i = 0; i < SERVE_KINDS; i++) {
			fast.ppm[k][i] = x->any[i] ? millionths(x->step[i].low) : 0;
			slow.ppm[k][i] = x->any[i] ? millionths(x->step[i].high) : 0;
		}
	return serve_again(r, &fast, &x->fast, e) < 0 || serve_again(r, &slow, &x->slow, e) < 0 ? -1 : 1;
}

/* Of two pools the one has prompts alone, the other none. */
int serve_range(struct serve_run *r, struct serve_range *out, struct err *e)
{
	const uint32_t pools = r->pools ? r->pools->n : 1;
	struct baseline *b = baseline_new(&path_source, NULL);
	bool unknown = false;
	int rc = 0;

	*out = (struct serve_range){ .any = { false } };
	if (!b)
		return err_nomem(e, "for an interval");
	for (int i = 0; i < SERVE_KINDS && rc >= 0; i++) {
		rc = steps_of(r, i == SERVE_DECODE ? pools - 1 : 0, (enum serve_kind)i, b, &out->step[i], &unknown, e);
		out->any[i] = rc > 0;
	}
	baseline_free(b);
	return rc < 0 ? -1 : unknown ? 0 : both_ends(r, out, e);
}

void serve_range_free(struct serve_range *x)
{
	serve_again_free(&x->fast);
	serve_again_free(&x->slow);
}

struct interval_range serve_range_over(double is, double fast, double slow)
{
	return (struct interval_range){ fmin(is, fmin(fast, slow)), fmax(is, fmax(fast, slow)) };
}
