/* cases_clock.c - the clock that a board under a cap measures its samples at (cases.h). */
#include "sim/accuracy/cases.h"

#include "arch/gpu/gpu_power.h"

static int count(const struct cases *c, const struct gpu *g, size_t from, size_t to, struct gpu_activity *x,
                 struct err *e)
{
	if (!x)
		return err_nomem(e, "for what launches do");
	for (size_t i = from; i < to; i++)
		x[i - from] = gpu_activity(g, &c->work.launches[i], !g->cfg->power.constant);
	return 0;
}

static struct gpu under_cap(const struct cases *c, const struct gpu *g, size_t from, size_t to,
                            const struct gpu_activity *x)
{
	struct gpu_running r = { c->work.launches + from, x, to - from };

	return gpu_at_clock(g, gpu_power_clock_of(g, &r));
}

static int time_steps(struct cases *c, const struct gpu *g, struct arena *a, struct err *e)
{
	struct gpu_activity *x = arena_array(a, c->work.n + 1, sizeof *x);
	struct gpu at;

	if (count(c, g, 0, c->work.n, x, e) < 0)
		return -1;
	at = under_cap(c, g, 0, c->work.n, x);
	cases_time(c, &at);
	return 0;
}

static int time_cases(struct cases *c, const struct gpu *g, struct arena *a, struct err *e)
{
	cases_time(c, g);
	for (size_t i = 0; i < c->n; i++) {
		const struct sample *s = &c->v[i];
		const struct op *first = &c->stream.ops[s->first_op], *last = first + s->n_ops - 1;
		const size_t from = first->first_launch, to = last->first_launch + last->n_launches;
		struct gpu_activity *x;
		struct gpu at;

		if (s->before * s->time.total < GPU_POWER_LOOK)
			continue;
		x = arena_array(a, to - from + 1, sizeof *x);
		if (count(c, g, from, to, x, e) < 0)
			return -1;
		at = under_cap(c, g, from, to, x);
		cases_time_one(c, i, &at);
	}
	return 0;
}

int cases_time_capped(struct cases *c, const struct gpu *g, struct err *e)
{
	struct arena *a;
	int rc;

	if (!gpu_power_known(g)) {
		cases_time(c, g);
		return 0;
	}
	if (!(a = arena_new(0)))
		return err_nomem(e, "for a board's power");
	rc = c->of_cases ? time_cases(c, g, a, e) : time_steps(c, g, a, e);
	arena_free(a);
	return rc;
}
