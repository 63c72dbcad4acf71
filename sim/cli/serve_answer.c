/* serve_answer.c - what npusim serve answers: what becomes of requests at a given rate, the largest rate within limits, or a curve. */
#include "sim/cli/serve.h"
#include "sim/report/serve_doc.h"
#include "sim/report/serve_page.h"
#include "sim/report/serve_timeline.h"
#include "sim/ui/progress.h"

/* results/report/embed.S */
extern const char report_page[], report_page_end[];

/* What is told, to whom it is told; `found` and `v` as serve_doc and serve_doc_curve have them. */
struct told {
	struct serve_run *r;
	const struct serve_range *sure;
	const struct capacity_doc *found;
	const struct curve_point *v;
	size_t n;
};

static void tell(struct doc *d, const struct told *x)
{
	if (x->v)
		serve_doc_curve(d, x->r, x->v, x->n);
	else
		serve_doc(d, x->r, x->found, x->sure);
}

static int write_page(const struct told *x, const char *path, struct err *e)
{
	const struct page_template t = { report_page, report_page_end, NULL };
	struct str json = STR_INIT, html = STR_INIT;
	struct doc d;
	int rc;

	doc_init(&d, OUT_JSON, 0, &json);
	tell(&d, x);
	doc_end(&d);
	rc = json.failed ? err_nomem(e, "for a page")
	                 : serve_page(&t, x->r, x->found, x->sure, str_c(&json), x->v != NULL, &html, e);
	if (rc == 0)
		rc = outfile_write(path, &html, e);
	str_free(&json);
	str_free(&html);
	return rc;
}

/* To people, and into the page where one is asked for. */
static int answer(struct doc *d, const struct told *x, const struct serve_line *l, struct err *e)
{
	if (l->output && write_page(x, l->output, e) < 0)
		return -1;
	tell(d, x);
	return 0;
}

/* With how sure it is, where that is known. */
static int answer_sure(struct doc *d, struct told *x, const struct serve_line *l, struct err *e)
{
	struct serve_range sure;
	int rc = serve_range(x->r, &sure, e);

	x->sure = rc > 0 ? &sure : NULL;
	if (rc >= 0)
		rc = answer(d, x, l, e);
	serve_range_free(&sure);
	return rc;
}

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
		rc = answer_sure(d, &(struct told){ .r = r, .found = &v }, l, e);
		if (rc == 0 && !(c.rate[CAPACITY_BOTH] > 0))
			rc = err_set(e, ERR_BOUND, "no rate of requests keeps the limits");
	}
	arena_free(a);
	return rc;
}

static int given_rate(struct serve_run *r, const struct serve_line *l, struct doc *d, struct err *e)
{
	if (serve_answer_run(r, l->o->timeline, e) < 0 || serve_sum(r, e) < 0)
		return -1;
	return answer_sure(d, &(struct told){ .r = r }, l, e) < 0 ? -1 : bounds(r, e);
}

static int curve(struct serve_run *r, const struct serve_line *l, struct doc *d, struct err *e)
{
	struct curve_point v[CURVE_POINTS];
	const int n = curve_make(r, v, e);

	return n < 0 ? -1 : answer(d, &(struct told){ .r = r, .v = v, .n = (size_t)n }, l, e);
}

int serve_answer(struct serve_run *r, const struct serve_line *l, struct doc *d, struct err *e)
{
	const struct serve_opts *o = l->o;

	if (l->write && !o->find && write_list(&r->arrivals, l->write, e) < 0)
		return -1;
	return serve_size(r, e) < 0 ? -1 : (o->curve ? curve : o->find ? find_rate : given_rate)(r, l, d, e);
}
