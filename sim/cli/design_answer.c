/* design_answer.c - what npusim design answers: the search, its document, and the file or the page of the design. */
#include "sim/cli/design.h"

#include "sim/base/path.h"
#include "sim/report/baseline.h"
#include "sim/report/design_explain.h"
#include "sim/report/design_page.h"
#include "sim/report/run_verdict.h"
#include "sim/study/split.h"
#include "sim/ui/number.h"
#include "sim/ui/outfile.h"
#include "sim/ui/progress.h"

/* results/report/embed.S */
extern const char report_page[], report_page_end[];

static void on_progress(void *arg, size_t done, size_t of)
{
	(void)of;
	progress_set(arg, done);
}

static int write_page(const struct design_doc *v, struct err *e)
{
	const struct page_template t = { report_page, report_page_end, NULL };
	struct str html = STR_INIT;
	int rc = design_page(&t, v, &html, e);

	if (rc == 0)
		rc = outfile_write(v->written, &html, e);
	str_free(&html);
	return rc;
}

static int not_reached(double space, struct err *e)
{
	struct str n = STR_INIT;

	number_count(&n, space);
	err_set(e, ERR_BOUND, "no design that was run, of %s, reaches the goal; the nearest is above", str_c(&n));
	str_free(&n);
	return -1;
}

static int search(const struct design_opts *o, struct design_question *q, struct arena *a, struct doc *d, struct err *e)
{
	struct design_result r;
	struct design_doc v = { .r = &r,
		                .machine = o->config,
		                .objective = q->objective,
		                .maximise = q->maximise,
		                .bounds = q->bounds,
		                .n_bounds = q->n_bounds,
		                .written = o->output,
		                .workload = q->job.n_parts ? q->job.workload->source : q->job.stream->source,
		                .parts = q->job.parts,
		                .n_parts = q->job.n_parts };
	struct explain_line lines[EXPLAIN_LINES];
	int n, rc = design_run(q, a, &r, e);

	if (rc == 0 && (rc = n = design_explain(&v, a, lines, e)) >= 0) {
		rc = 0;
		v.lines = lines;
		v.n_lines = (size_t)n;
	}

	if (rc == 0 && o->output)
		rc = str_suffix(o->output, ".html") ? write_page(&v, e) : design_doc_write(&v, e);
	if (rc == 0) {
		design_doc(d, &v);
		if (!r.reached)
			rc = not_reached(r.space, e);
	}
	design_free(&r);
	return rc;
}

/* The workload or the mix, read for this machine. */
int design_answer(const struct design_opts *o, struct machine_conf *c, struct design_question *q, struct arena *a,
                  struct doc *d, struct err *e)
{
	struct baseline *b = baseline_new(&path_source, NULL);
	struct serve_opts traffic = SERVE_OPTS_INIT;
	struct mixed m = { .n = 0 };
	struct mix mix = { .n = 0 };
	int rc = -1;

	traffic.ask.workload = o->workload;
	if ((o->mix && mix_parse(o->mix, a, &mix, e) < 0) ||
	    (o->serve && (serve_options_parse(o->serve, a, &traffic, e) < 0 || serve_options(&traffic, e) < 0)))
		goto out;
	if (!o->mix) {
		mix.v[0] = (struct mix_part){ "the workload", split_without(&o->workload), 1 };
		mix.n = 1;
	}
	if (mixed_read(&mix, &c->cfg, o->allow_opaque, &m, e) < 0)
		goto out;
	q->job.stream = m.parts[0].stream;
	q->job.parts = m.parts;
	q->job.n_parts = o->mix ? m.n : 0;
	q->job.workload = &m.workload;
	q->job.spec = o->workload;
	q->job.build = split_build;
	q->job.build_arg = &c->cfg;
	if (o->serve)
		q->job.serve = &traffic.ask;
	q->look = run_verdict_row;
	q->look_arg = b;
	q->progress = on_progress;
	q->arg = progress_new("design", "designs", q->forms);
	rc = search(o, q, a, d, e);
	progress_free(q->arg);
out:
	cfg_free(traffic.engine_rows);
	mixed_free(&m);
	baseline_free(b);
	return rc;
}
