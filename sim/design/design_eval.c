/* design_eval.c - designs run by workers, which stay and keep what they mapped. */
#include <stdlib.h>
#include <string.h>

#include "sim/design/design_int.h"

#define FRAME_MAX ((size_t)64 << 20)

struct design_runner {
	const struct design_question *q;
	const struct sweep *s;
	struct pool *pool;
	struct design_asked *v; /* those that are run now */
	struct arena *a;
};

static void *start(void *arg)
{
	const struct design_runner *r = arg;

	return sweep_memos(&r->q->job);
}

static void end(void *arg, void *memos)
{
	const struct design_runner *r = arg;

	sweep_memos_free(&r->q->job, memos);
}

/* The fidelity, then each KEY=VALUE with a NUL behind it. */
static void job_of(void *arg, size_t i, struct str *to)
{
	const struct design_runner *r = arg;

	str_addc(to, r->v[i].by == RUN_ANALYTIC ? 'a' : 'e');
	for (size_t k = 0; k < r->s->n_axes; k++)
		str_addn(to, r->v[i].sets[k], strlen(r->v[i].sets[k]) + 1);
}

static void work(void *arg, void *memos, const char *bytes, size_t n, struct str *result)
{
	const struct design_runner *r = arg;
	struct sweep_job job = r->q->job;
	struct arena *a = arena_new(0);
	const char *sets[DESIGN_AXES], *p = bytes + 1;
	struct res_point row = { .point = 0 };
	struct err e = ERR_INIT;

	(void)n;
	job.how.fidelity = *bytes == 'a' ? RUN_ANALYTIC : RUN_EVENT;
	job.memos = memos;
	job.how.memo = memos ? job.memos[0] : NULL;
	for (size_t k = 0; k < r->s->n_axes; k++, p += strlen(p) + 1)
		sets[k] = p;
	if (!a || sweep_eval(r->s, &job, sets, r->q->look, r->q->look_arg, a, &row, &e) < 0)
		row = (struct res_point){ .failed = true, .reason = e.kind ? e.msg : "out of memory" };
	sweep_pack(&row, result);
	arena_free(a);
}

static int take(void *arg, size_t i, const struct pool_result *x, struct err *e)
{
	struct design_runner *r = arg;
	struct res_point *row = &r->v[i].row;

	if (x->lost) {
		*row = (struct res_point){ .failed = true, .reason = arena_strdup(r->a, x->lost) };
		return row->reason ? 0 : design_no_memory(e);
	}
	return sweep_unpack(x->bytes, x->n, r->a, row) < 0 ? design_no_memory(e) : 0;
}

struct design_runner *design_runner_new(const struct design_question *q, const struct sweep *s, struct err *e)
{
	struct design_runner *r = calloc(1, sizeof *r);
	const struct pool_how how = { .backend = q->backend,
		                      .workers = q->job.jobs > 1 ? q->job.jobs : 0,
		                      .frame_max = FRAME_MAX,
		                      .start = start,
		                      .end = end,
		                      .work = work,
		                      .arg = r };

	if (!r) {
		design_no_memory(e);
		return NULL;
	}
	r->q = q;
	r->s = s;
	if ((r->pool = pool_new(&how, e)))
		return r;
	free(r);
	return NULL;
}

void design_runner_free(struct design_runner *r)
{
	if (!r)
		return;
	pool_free(r->pool);
	free(r);
}

int design_runner_run(struct design_runner *r, struct design_asked *v, size_t n, struct arena *a, struct err *e)
{
	const struct pool_batch batch = { .n = n, .job = job_of, .result = take, .arg = r };

	r->v = v;
	r->a = a;
	return n ? pool_run(r->pool, &batch, e) : 0;
}
