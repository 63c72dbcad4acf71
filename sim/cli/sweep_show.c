/* sweep_show.c - what a sweep found, and its promising points once more with events. */
#include "sim/cli/sweep.h"

#include <stdio.h>

#include "sim/report/sweep_again_doc.h"
#include "sim/report/sweep_doc.h"
#include "sim/ui/progress.h"

int sweep_show(struct resdb *db, int64_t id, const struct sweep_opts *o, struct doc *d, struct err *e)
{
	struct sweep_view v;
	struct sweep_totals t;
	int rc = sweep_view_open(&v, db, id, e);

	if (rc == 0)
		rc = sweep_doc(d, &v, o->rows, &t, e);
	if (rc == 0 && t.failed)
		fprintf(stderr, "npusim: note: %zu of %zu points failed; their rows say why\n", t.failed, v.n);
	if (rc == 0 && t.missing && o->shard_n > 1)
		fprintf(stderr, "npusim: note: %zu points are other shards': 'npusim merge' joins them\n", t.missing);
	if (rc == 0 && t.died)
		rc = err_set(
			e, ERR_BOUND,
			"%zu of %zu points ha%s no result: the process that simulated %s died, and another over it again;"
			" the same command tries once more",
			t.died, v.n, t.died == 1 ? "s" : "ve", t.died == 1 ? "it" : "them");
	else if (rc == 0 && !t.missing && t.done == 0)
		rc = err_set(e, ERR_BOUND, "all %zu points failed", t.failed);
	else if (rc == 0 && !t.missing && t.bounded && t.feasible == 0)
		rc = err_set(e, ERR_BOUND, "no point meets all constraints");
	sweep_view_free(&v);
	return rc;
}

/* The promising points of a sweep at analytic fidelity once more, with events: a sweep of its own in the database,
 * whose number is *again. */
static int run_again(struct sweep *s, struct sweep_job *job, struct resdb *db, uint32_t share_ppm, int64_t id,
                     int64_t *again, struct err *e)
{
	struct sweep_view wide;
	struct sweep_watch running = { .label = "again" };
	struct sweep_done done;
	size_t n;
	int rc = -1;

	if (sweep_view_open(&wide, db, id, e) == 0 && (job->only = sweep_view_promising(&wide, share_ppm, &n, e))) {
		s->fidelity = "event";
		job->how.fidelity = RUN_EVENT;
		job->arg = &running;
		job->before = NULL;
		rc = sweep_run(s, job, db, &done, e);
		progress_free(running.line);
		*again = done.id;
	}
	job->only = NULL; /* it was the view's */
	sweep_view_free(&wide);
	return rc;
}

/* Both sweeps side by side. */
static int show_again(struct resdb *db, const int64_t ids[2], const struct sweep_opts *o, struct doc *d, struct err *e)
{
	struct str said = STR_INIT;
	struct sweep_view v[2] = { { .a = NULL }, { .a = NULL } };
	int rc = sweep_view_open(&v[0], db, ids[0], e);

	if (rc == 0 && (rc = sweep_view_open(&v[1], db, ids[1], e)) == 0)
		rc = sweep_again_doc(d, &v[0], &v[1], o->rows, &said, e);
	if (rc == 0 && said.len)
		fprintf(stderr, "npusim: %s", str_c(&said));
	str_free(&said);
	sweep_view_free(&v[0]);
	sweep_view_free(&v[1]);
	return rc;
}

int sweep_again(struct sweep *s, struct sweep_job *job, struct resdb *db, const struct sweep_opts *o, int64_t id,
                struct doc *d, struct err *e)
{
	int64_t ids[2] = { id, -1 };

	if (run_again(s, job, db, o->again_ppm, ids[0], &ids[1], e) < 0)
		return -1;
	return show_again(db, ids, o, d, e);
}
