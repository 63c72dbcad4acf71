/* serve_answer.c - what npusim serve answers: what becomes of requests at a given rate, the largest rate within limits, or a curve. */
#include "sim/cli/serve.h"
#include "sim/report/serve_doc.h"
#include "sim/report/serve_timeline.h"
#include "sim/ui/progress.h"

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

static int write_list(const struct arrivals *a, const char *path, struct err *e)
{
	struct str text = STR_INIT;
	int rc;

	arrive_write(a, &text);
	rc = outfile_write(path, &text, e);
	str_free(&text);
	return rc;
}

static int serve_answer_run(struct serve_run *r, const char *timeline, struct err *e)
{
	struct serve_timeline t;

	if (!timeline)
		return serve_steps(r, NULL, e);
	if (serve_timeline_open(&t, timeline, r, e) < 0)
		return -1;
	return serve_timeline_close(&t, serve_steps(r, &t.watcher, e), e);
}

static void on_progress(void *arg, size_t done)
{
	progress_set(arg, done);
}

/* The largest rate, then what raises it; the list is then that rate's. */
static int found(struct serve_run *r, const struct serve_opts *o, struct capacity *c, struct raise *more,
                 struct capacity_doc *v, struct arena *a, struct err *e)
{
	struct progress *p = o->limits ? progress_new("serve", "knobs", 0) : NULL;
	struct knob *knobs = NULL;
	int rc = capacity_find(r, CAPACITY_DRAWS, 0, c, e);

	*v = (struct capacity_doc){ .o = r->o, .c = c };
	if (rc == 0 && o->limits && (rc = knobs_try(r, c, on_progress, p, a, &knobs, &v->n, e)) == 0)
		v->knobs = knobs;
	if (rc == 0 && r->pools && (rc = raise_rates(r, c, more, e)) == 0)
		v->raise = more;
	progress_free(p);
	return rc;
}

/* At the rate that was found, whose limits hold. */
static int find_rate(struct serve_run *r, const struct serve_line *l, struct doc *d, struct err *e)
{
	struct arena *a = arena_new(0);
	struct capacity_doc v;
	struct capacity c;
	struct raise more;
	int rc = -1;

	if (!a)
		err_nomem(e, "for a rate");
	else if (found(r, l->o, &c, &more, &v, a, e) == 0 &&
	         (!l->write || write_list(&r->arrivals, l->write, e) == 0) &&
	         serve_answer_run(r, l->o->timeline, e) == 0 && serve_sum(r, e) == 0) {
		serve_doc(d, r, &v);
		rc = c.rate[CAPACITY_BOTH] > 0 ? 0 : err_set(e, ERR_BOUND, "no rate of requests keeps the limits");
	}
	arena_free(a);
	return rc;
}

static int given_rate(struct serve_run *r, const struct serve_line *l, struct doc *d, struct err *e)
{
	if (serve_answer_run(r, l->o->timeline, e) < 0 || serve_sum(r, e) < 0)
		return -1;
	serve_doc(d, r, NULL);
	return bounds(r, e);
}

static int curve(struct serve_run *r, const struct serve_line *l, struct doc *d, struct err *e)
{
	struct curve_point v[CURVE_POINTS];
	const int n = curve_make(r, v, e);

	(void)l;
	if (n < 0)
		return -1;
	serve_doc_curve(d, r, v, (size_t)n);
	return 0;
}

int serve_answer(struct serve_run *r, const struct serve_line *l, struct doc *d, struct err *e)
{
	const struct serve_opts *o = l->o;

	if (l->write && !o->find && write_list(&r->arrivals, l->write, e) < 0)
		return -1;
	return serve_size(r, e) < 0 ? -1 : (o->curve ? curve : o->find ? find_rate : given_rate)(r, l, d, e);
}
